"""Enclosures of log(1 + e^-q) and of entropies, against decimals of many more digits."""

from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.checker.errors import CertificateError
from verify.checker.exact import Field
from verify.checker.logarithms import BITS, entropy_below, logit, softplus

DIGITS = Context(prec=140)
NEAR = Fraction(1, 10**120)
WIDE = Fraction(1, 2 ** (BITS - 16))
"""Of what is rounded some 600 times to 2^-BITS."""


def decimal(number):
    return DIGITS.divide(Decimal(number.numerator), Decimal(number.denominator))


def reference(q):
    """log(1 + e^-q), to NEAR."""
    return Fraction(DIGITS.ln(DIGITS.add(1, DIGITS.exp(DIGITS.minus(decimal(abs(q))))))) + max(-q, Fraction(0))


def entropy(p):
    return -sum((x * Fraction(DIGITS.ln(decimal(x))) for x in (p, 1 - p) if x), Fraction(0))


@given(q=st.fractions(-400, 400) | st.fractions(-1, 1, max_denominator=10**30))
@settings(max_examples=300)
def test_the_logistic_loss_is_enclosed(q):
    low, high = softplus(q)
    assert low - NEAR <= reference(q) <= high + NEAR
    assert high - low <= WIDE
    assert low < high


@pytest.mark.parametrize("q", [0, 1, -1, Fraction(1, 2), 255, 256, 257, 10**6, -(10**6), Fraction(1, 10**90)])
def test_the_logistic_loss_where_the_method_changes(q):
    low, high = softplus(Fraction(q))
    assert low - NEAR <= reference(Fraction(q)) <= high + NEAR
    assert low >= 0
    assert high - low <= WIDE


@given(p=st.fractions(0, 1) | st.fractions(0, Fraction(1, 10**20)))
@settings(max_examples=300)
def test_entropies_are_bounded_from_below(p):
    for share in (p, 1 - p):
        low = entropy_below(share)
        assert low <= entropy(share) + NEAR
        assert entropy(share) - low <= WIDE


def test_entropies_by_hand():
    """0 at the ends, exactly; log 2 at one half, at most by what rounding takes."""
    assert entropy_below(Fraction(0)) == entropy_below(Fraction(1)) == 0
    low, high = softplus(Fraction(0))
    assert low - WIDE <= entropy_below(Fraction(1, 2)) <= high
    assert str(decimal(low))[:20] == str(decimal(high))[:20] == "0.693147180559945309"


def test_irrational_arguments_are_refused():
    root = Field((-2, 0, 1), (Fraction(1), Fraction(2))).number([Fraction(0), Fraction(1)])
    for function in (softplus, entropy_below):
        with pytest.raises(CertificateError, match="irrational"):
            function(root / 2)


@given(
    p=st.fractions(0, 1).filter(lambda p: 0 < p < 1) | st.sampled_from([Fraction(1, 10**40), 1 - Fraction(1, 10**40)])
)
@settings(max_examples=200)
def test_the_logit_is_enclosed(p):
    low, high = logit(p)
    exact = Fraction(DIGITS.ln(decimal(1 - p))) - Fraction(DIGITS.ln(decimal(p)))
    assert low - NEAR <= exact <= high + NEAR
    assert low < high <= low + WIDE
    assert logit(Fraction(1, 2))[0] < 0 < logit(Fraction(1, 2))[1]
