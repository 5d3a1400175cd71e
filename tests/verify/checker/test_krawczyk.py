"""Krawczyk's test with logits: what is accepted is a root, by decimals of many digits; more in `test_enclosure`."""

from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.checker.krawczyk import UNIT, Box, Logit, has_root

F = Fraction
DIGITS = Context(prec=60)


def box(centre, radius):
    return Box((F(1), F(centre)), (F(0), F(radius)))


def exact(number):
    return DIGITS.divide(Decimal(number.numerator), Decimal(number.denominator))


def value(z, a, b, most):
    """a z + b + log((most - z) / z)."""
    return F(DIGITS.ln(exact(most - z))) - F(DIGITS.ln(exact(z))) + a * z + b


small = st.fractions(min_value=-4, max_value=4, max_denominator=16)


@given(small, small, st.fractions(F(1, 64), 3, max_denominator=64), st.integers(2, 12), st.integers(-64, 64))
@settings(max_examples=300)
def test_a_box_that_is_accepted_holds_a_root(a, b, centre, bits, inverse):
    """With opposite signs at its ends, for any Y whatever."""
    most, radius = F(2), F(1, 2**bits)
    equations = [[({1: a, 0: b}, UNIT)]]
    if has_root(equations, box(centre, radius), [[inverse]], 256, {0: Logit(1, most, F(1))}):
        low, high = value(centre - radius, a, b, most), value(centre + radius, a, b, most)
        assert low * high < 0


@pytest.mark.parametrize("most", [F(1), F(1, 80), F(3)])
@pytest.mark.parametrize("share", [F(1, 2), F(1, 3), F(1, 10**6)])
@pytest.mark.parametrize("factor", [1, -1])
def test_a_root_is_found(most, share, factor):
    """factor log((most - z) / z) = factor log((1 - share) / share): within 2^-90, with the slope of that for Y."""
    z = share * most
    right = F(DIGITS.ln(exact(1 - share))) - F(DIGITS.ln(exact(share)))
    slope = -factor * (1 / z + 1 / (most - z))
    equations = [[({0: -factor * right}, UNIT)]]
    denominator = 1 << 80
    inverse, logits = [[round(denominator / slope)]], {0: Logit(1, most, F(factor))}
    radius = z / 2**90
    assert has_root(equations, box(z, radius), inverse, denominator, logits)
    assert has_root(equations, box(z * (1 + F(1, 2**92)), radius), inverse, denominator, logits)
    assert not has_root(equations, box(z * (1 + F(1, 2**88)), radius), inverse, denominator, logits)
    assert not has_root(equations, box(z, radius), [[0]], 1, logits)


@pytest.mark.parametrize(
    ("centre", "radius"), [(F(1, 8), F(1, 8)), (F(1, 8), F(1, 4)), (F(7, 8), F(1, 8)), (F(-1, 2), F(1, 8))]
)
def test_boxes_beyond_what_a_logarithm_has(centre, radius):
    assert Logit(1, F(1), F(1)).around(box(centre, radius)) is None
    assert not has_root([[({1: F(1)}, UNIT)]], box(centre, radius), [[1]], 1, {0: Logit(1, F(1), F(1))})


@given(st.fractions(F(1, 100), F(99, 100), max_denominator=1000), st.fractions(-1, 1, max_denominator=50))
@settings(max_examples=200)
def test_what_is_said_of_a_box_holds_at_its_points(centre, part):
    """The value, slope and rest enclose log((1 - z) / z) at each point of the box."""
    radius = min(centre, 1 - centre) / 3
    at, slope, beside = Logit(1, F(1), F(1)).around(box(centre, radius))
    h = part * radius
    assert abs(value(centre + h, F(0), F(0), F(1)) - at - slope * h) <= beside + F(1, 10**50)
    assert beside < 1
