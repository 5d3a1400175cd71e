"""The subdifferential of a loss at an output, against the definition: what is below the loss everywhere."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.losses import PARAMETERS, point_loss
from verify.deciders.subgradients import subgradients

NUMBERS = st.fractions(-3, 3, max_denominator=8)
GRID = [Fraction(k, 16) for k in range(-160, 161)]


@pytest.mark.parametrize("name", PARAMETERS)
@given(data=st.data())
@settings(max_examples=60)
@pytest.mark.one_in(2)
def test_they_are_those_that_support_the_loss(name, data):
    """-c supports l(y, .) at z, for both ends, and nothing beyond them does."""
    loss = point_loss(name)
    y = data.draw(st.sampled_from([Fraction(1), Fraction(-1)]) if loss.labels else NUMBERS)
    corner = data.draw(st.sampled_from([None, loss.tube, -loss.tube, Fraction(1, 4)]))
    z = data.draw(NUMBERS) if corner is None else (y if loss.labels else y - corner)
    low, high = subgradients(loss, y, z)
    assert low <= high
    here, near = loss.value(y, z), Fraction(1, 10**6)
    for c in (low, high):
        assert loss.admits(y, c)
        assert all(loss.value(y, t) >= here - c * (t - z) for t in GRID)
        assert here - loss.dual(y, c) + c * z == 0
    for c, step in ((low - Fraction(1, 100), near), (high + Fraction(1, 100), -near)):
        assert loss.value(y, z + step) < here - c * step or not loss.admits(y, c)


@pytest.mark.parametrize(
    ("name", "y", "z", "ends"),
    [
        ("hinge", 1, 1, (0, 1)),
        ("hinge", -1, -1, (-1, 0)),
        ("hinge", 1, 2, (0, 0)),
        ("hinge", -1, 0, (-1, -1)),
        ("absolute", 2, 2, (-1, 1)),
        ("epsilon-insensitive", 1, "1/2", (0, 1)),
        ("epsilon-insensitive", 1, "3/2", (-1, 0)),
        ("epsilon-insensitive", 1, 1, (0, 0)),
        ("huber", 1, 0, ("1/4", "1/4")),
        ("squared-hinge", -1, 0, (-1, -1)),
    ],
)
def test_by_hand(name, y, z, ends):
    assert subgradients(point_loss(name), Fraction(y), Fraction(z)) == tuple(map(Fraction, ends))
