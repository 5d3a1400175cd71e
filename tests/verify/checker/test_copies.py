"""Channels that are given out to copies: the same function and norm, and what is refused."""

from fractions import Fraction
from itertools import chain, pairwise
from random import Random

import pytest

from tests.depth_cases import shape
from tests.second_checker.depth_near import given_out
from tests.second_checker.questions import Net
from tests.second_checker.texts import RefusedError
from verify import Architecture, Network
from verify.checker.copies import with_copies
from verify.checker.depth_ball import Ball
from verify.checker.errors import CertificateError

F = Fraction
HALF = (F(1, 3), F(2, 3), F(2, 3))
"""Shares of three, whose squares add up to 1."""


def output(network, x):
    return Ball(network, F(1), frozenset()).output(x)


def listed(shares):
    return [[*entry[:-1], str(entry[-1])] for entry in shares]


def net_of(network):
    return Net(network.to_json()["architecture"], network.to_json()["parameters"])


def given(network, empty, shares):
    """With copies; the second checker makes the same of it."""
    found = with_copies(network, empty, shares)
    assert [*chain(*found.parameters)] == given_out(net_of(network), empty, listed(shares))
    return found


def told(network, empty, shares):
    """The place of what both checkers refuse."""
    with pytest.raises(CertificateError) as refusal:
        with_copies(network, empty, shares)
    with pytest.raises(RefusedError):
        given_out(net_of(network), empty, listed(shares))
    return refusal.value.place


def dense(sizes, numbers):
    return Network(shape(sizes, [0] * (len(sizes) - 2)), numbers)


def with_empty(random, sizes, empty):
    """A dense ReLU network with these units at 0."""
    pairs = pairwise(sizes)
    rows = [[[F(random.randint(-3, 3)) for _ in range(a)] for _ in range(b)] for a, b in pairs]
    for l, j in empty:
        rows[l][j] = [F(0)] * sizes[l]
        for row in rows[l + 1]:
            row[j] = F(0)
    return dense(sizes, [[*chain(*own)] for own in rows])


def test_by_hand():
    found = given(dense([1, 2, 1], [[5, 0], [10, 0]]), {(0, 1)}, [(0, 0, 0, F(3, 5)), (0, 0, 1, F(4, 5))])
    assert found.parameters == ((3, 4), (6, 8))
    back = given(dense([1, 2, 1], [[0, 5], [0, 10]]), {(0, 0)}, [(0, 1, 0, F(3, 5)), (0, 1, 1, F(4, 5))])
    assert back.parameters == ((3, 4), (6, 8))
    above = given(dense([1, 1, 1], [[5], [10]]), (), [])
    assert above.parameters == ((5,), (10,))


@pytest.mark.parametrize("seed", range(8))
def test_the_function_and_the_norm_stay_as_they_are(seed):
    """Copies of units of two layers, one above the other."""
    random = Random(seed)
    empty = {(0, 1), (0, 3), (1, 0), (1, 2)}
    made = with_empty(random, [2, 4, 3, 1], empty)
    lower = [(0, 0, 0, HALF[0]), (0, 0, 1, HALF[1]), (0, 0, 3, HALF[2])]
    shares = [*lower, (1, 1, 0, HALF[2]), (1, 1, 1, HALF[1]), (1, 1, 2, HALF[0])]
    found = given(made, empty, shares)
    assert sum(w * w for w in chain(*found.parameters)) == sum(w * w for w in chain(*made.parameters))
    for x in ((1, 2), (-1, 1), (3, -2), (0, -1)):
        assert output(found, tuple(map(F, x))) == output(made, tuple(map(F, x)))
    moved = given(made, empty, lower)
    assert output(moved, (F(1), F(2))) == output(made, (F(1), F(2)))
    wide = given(
        made, {(0, 1), (0, 3)}, [(0, 0, 0, F(3, 5)), (0, 0, 1, F(4, 5)), (0, 2, 2, F(4, 5)), (0, 2, 3, F(3, 5))]
    )
    assert output(wide, (F(-1), F(2))) == output(made, (F(-1), F(2)))


def test_channels_of_a_convolution():
    made = Network(Architecture.convolution(2, patches=2, channels=2), [[0, 0, 5, 10], [0, 0, -15, 20]])
    found = given(made, {(0, 0), (0, 1)}, [(0, 2, 0, F(3, 5)), (0, 2, 2, F(4, 5))])
    assert found.parameters == ((3, 6, 4, 8), (-9, 12, -12, 16))
    second = given(made, {(0, 0), (0, 1)}, [(0, 3, 1, F(3, 5)), (0, 3, 3, F(4, 5))])
    assert second.parameters == found.parameters
    assert told(made, {(0, 0)}, [(0, 2, 0, F(3, 5)), (0, 2, 2, F(4, 5))]) == "[0]", "half of a channel"
    assert told(made, {(0, 0), (0, 1)}, [(0, 2, 1, F(3, 5)), (0, 2, 2, F(4, 5))]) == "[0]", "other positions"


@pytest.mark.parametrize(
    ("shares", "place"),
    [
        ([(0, 0, 0, F(3, 5)), (0, 0, 1, F(-4, 5))], "[1]"),
        ([(0, 0, 0, F(-3, 5)), (0, 0, 1, F(4, 5))], "[0]"),
        ([(0, 0, 0, F(1)), (0, 0, 1, F(0))], "[1]"),
        ([(0, 0, 0, F(3, 5)), (0, 0, 1, F(3, 5))], ""),
        ([(0, 0, 0, F(1, 2)), (0, 0, 1, F(1, 2))], ""),
        ([(0, 0, 0, F(4, 5)), (0, 0, 1, F(4, 5))], ""),
        ([(0, 0, 1, F(1))], ""),
        ([(0, 0, 0, F(3, 5)), (0, 0, 3, F(4, 5))], "[1]"),
        ([(0, 0, 0, F(3, 5)), (0, 0, 7, F(4, 5))], "[1]"),
        ([(1, 0, 0, F(3, 5)), (1, 0, 1, F(4, 5))], "[1]"),
        ([(0, 0, 0, F(3, 5)), (0, 0, 1, F(4, 5)), (0, 2, 1, F(3, 5)), (0, 2, 2, F(4, 5))], "[2]"),
    ],
)
def test_what_is_refused(shares, place):
    made = dense([1, 4, 1], [[5, 0, 3, 1], [10, 0, 2, 1]])
    assert told(made, {(0, 1)}, shares) == place
