"""Numbers of a real algebraic field: arithmetic and signs against digits and sympy, and what is refused."""

import math
import operator
from fractions import Fraction
from functools import cache

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from verify.checker.errors import CertificateError, InputError
from verify.checker.exact import BITS, Algebraic, Field, is_rational, sqrt_upper


def field(polynomial, low, high):
    return Field(tuple(polynomial), (Fraction(low), Fraction(high)))


def number(of, *coefficients):
    return of.number(list(map(Fraction, coefficients)))


ROOT_17 = field((-17, 0, 1), 4, 5)
FIELDS = [
    ROOT_17,
    field((-2, 0, 1), 1, 2),
    field((-2, 0, 0, 1), 1, 2),
    field((-1, -1, 0, 0, 0, 1), 1, 2),  # t^5 - t - 1, not solvable
    field((1, 0, -10, 0, 1), 3, 4),  # sqrt(2) + sqrt(3)
    field((-3, 0, 4), Fraction(1, 2), 1),  # not monic: sqrt(3)/2
    field((-1, 3, 0, -1), Fraction(3, 2), Fraction(8, 5)),  # three real roots, a negative leading coefficient
]


@cache
def near_root(of):
    """t to 80 digits: sympy's root of the polynomial within the interval."""
    t = sympy.Symbol("t")
    polynomial = sympy.Poly([int(c) for c in reversed(of.polynomial)], t)
    low, high = (sympy.Rational(q.numerator, q.denominator) for q in of.interval)
    (root,) = [r for r in polynomial.nroots(n=90, maxsteps=500) if r.is_real and low < r < high]
    return Fraction(str(root))


def near(x, of):
    """A rational within 1e-60 or so."""
    coefficients = x.coefficients if isinstance(x, Algebraic) else [Fraction(x)]
    return sum(c * near_root(of) ** k for k, c in enumerate(coefficients))


rationals = st.fractions(min_value=-50, max_value=50, max_denominator=40)


@st.composite
def pairs(draw):
    """Two numbers of one field, the second one perhaps rational or an int."""
    of = draw(st.sampled_from(FIELDS))
    size = len(of.polynomial) - 1
    polynomials = st.lists(rationals, min_size=size, max_size=size)
    first = of.number(draw(polynomials))
    assume(isinstance(first, Algebraic))
    return of, first, draw(st.one_of(polynomials.map(of.number), rationals, st.integers(-9, 9)))


@given(pairs())
@settings(max_examples=300, deadline=None)
def test_arithmetic_and_order_agree_with_digits(drawn):
    of, a, b = drawn
    near_a, near_b = near(a, of), near(b, of)
    for rule in (operator.add, operator.sub, operator.mul):
        assert abs(near(rule(a, b), of) - rule(near_a, near_b)) < Fraction(1, 10**60)
        assert abs(near(rule(b, a), of) - rule(near_b, near_a)) < Fraction(1, 10**60)
    apart = abs(near_a - near_b) > Fraction(1, 10**60)
    for rule in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        assert rule(a, b) == (rule(near_a, near_b) if apart else rule(0, 0))
        assert rule(b, a) == (rule(near_b, near_a) if apart else rule(0, 0))
    assert (a == b) <= (hash(a) == hash(b))
    assert abs(float(a) - float(near_a)) <= 1e-15 * abs(float(a))
    assert bool(a)


@given(pairs())
@settings(max_examples=60, deadline=None)
def test_products_agree_with_sympy(drawn):
    of, a, b = drawn
    t = sympy.Symbol("t")

    def poly(x):
        coefficients = x.coefficients if isinstance(x, Algebraic) else [Fraction(x)]
        terms = [sympy.Rational(c.numerator, c.denominator) * t**k for k, c in enumerate(coefficients)]
        return sympy.Poly(sum(terms, sympy.Integer(0)), t, domain="QQ")

    modulus = sympy.Poly([int(c) for c in reversed(of.polynomial)], t, domain="QQ")
    assert poly(a * b) == (poly(a) * poly(b)).rem(modulus)
    assert poly(a**3) == (poly(a) ** 3).rem(modulus)


def test_a_number_without_powers_is_a_fraction():
    t = number(ROOT_17, 0, 1)
    assert isinstance(t, Algebraic)
    assert not is_rational(t)
    for rational in (t * t, t - t, 0 * t, t**0, t + (3 - t)):
        assert type(rational) is Fraction
        assert is_rational(rational)
    assert (t * t, t - t, t**0, t + (3 - t)) == (17, 0, 1, 3)
    assert number(ROOT_17) == 0
    assert number(ROOT_17, 1, 0, 0, 1) == 1 + 17 * t


def test_quotients_are_by_rationals_only():
    t = number(ROOT_17, 0, 1)
    assert t / 2 == t * Fraction(1, 2)
    assert t / Fraction(1, 3) == 3 * t
    with pytest.raises(CertificateError, match="divides by an irrational number"):
        1 / t
    with pytest.raises(CertificateError, match="divides by an irrational number"):
        t / t
    with pytest.raises(ZeroDivisionError):
        t / 0


def test_numbers_that_agree_in_forty_digits_are_told_apart():
    t = number(ROOT_17, 0, 1)
    short = Fraction(math.floor(near_root(ROOT_17) * 10**40), 10**40)
    assert short < t < short + Fraction(1, 10**40)
    assert t != short
    assert t - short + Fraction(1, 10**41) > 0
    assert number(field((-17, 0, 1), 4, 5), 0, 1) == t  # the same field, built again


def test_what_is_equal_needs_no_digits():
    third = number(FIELDS[2], 0, 1)
    assert third * third * third == 2
    assert (1 + third) ** 2 == 1 + 2 * third + third * third
    assert not third - third


@pytest.mark.parametrize("bits", [4, 40, 300])
def test_bounds_of_numbers_and_of_their_roots(bits):
    t = number(ROOT_17, 0, 1)
    for x in (t, 1 / Fraction(7) * t, 5 - t, t / 10**30):
        assert abs(x) == abs(-x) == x
        assert abs(x.upper() - near(x, ROOT_17)) < Fraction(1, 10**80)
        root = sqrt_upper(x, bits)
        assert x <= root * root <= x * (1 + Fraction(1, 2**bits)) ** 2
    with pytest.raises(InputError, match="negative"):
        sqrt_upper(-t)


def test_the_conjugate_is_another_number():
    of = field((1, 0, -10, 0, 1), 3, 4)
    other = field((1, 0, -10, 0, 1), Fraction(3, 10), Fraction(4, 10))  # sqrt(3) - sqrt(2)
    assert number(of, 0, 1) > 3
    assert number(other, 0, 1) < 1


def test_two_fields_do_not_mix():
    a, b = number(ROOT_17, 0, 1), number(FIELDS[1], 0, 1)
    assert a != b
    for rule in (operator.add, operator.sub, operator.mul, operator.lt):
        with pytest.raises(CertificateError, match="different fields"):
            rule(a, b)


@pytest.mark.parametrize("other", [1.5, "1", None, 1j])
def test_only_exact_numbers_mix(other):
    t = number(ROOT_17, 0, 1)
    assert t != other
    for rule in (operator.add, operator.sub, operator.mul, operator.lt):
        with pytest.raises(TypeError, match=r"no exact number|unsupported operand"):
            rule(t, other)


@pytest.mark.parametrize(
    ("polynomial", "interval", "reason"),
    [
        ((-17, 1), (16, 18), "degree from 2"),
        ((-17, 0, 0), (4, 5), "degree from 2"),  # zero leading coefficient
        ((), (4, 5), "degree from 2"),
        ((-2, *[0] * 16, 1), (1, 2), "degree from 2 to 16"),
        ((Fraction(-17, 2), 0, 1), (2, 3), "integer"),
        ((-(10**100), 0, 1), (1, 10**60), "100 digits"),
        ((-17, 0, 1), (4,), "a list of 2"),
        ((-17, 0, 1), (4, 5, 6), "a list of 2"),
        ((-17, 0, 1), (5, 4), "low < high"),
        ((-17, 0, 1), (4, 4), "low < high"),
        ((-17, 0, 1), (-5, -4), "0 <= low"),
        ((-17, 0, 1), (5, 6), "one root"),  # none
        ((-17, 0, 1), (-5, 5), "0 <= low"),  # two
        ((1, 0, -10, 0, 1), (0, 4), "one root"),  # two, and no change of sign
        ((-6, 11, -6, 1), (0, 4), "one root"),  # 1, 2 and 3: a change of sign
        ((1, -2, 1), (0, 2), "one root"),  # a double root
        ((-1, 3, -3, 1), (0, 2), "one root"),  # a triple one, with a change of sign
        ((-16, 0, 1), (4, 5), "one root"),  # at the end
    ],
)
def test_fields_without_one_simple_root_are_refused(polynomial, interval, reason):
    with pytest.raises(CertificateError, match=reason):
        Field(polynomial, tuple(map(Fraction, interval)))


def test_a_reducible_polynomial_never_misjudges():
    """(t^2 - 2)(t - 1)(t - 3): elements that are 0 in disguise are refused, all others have their sign."""
    t2 = sympy.Symbol("t")
    expanded = sympy.Poly((t2**2 - 2) * (t2 - 1) * (t2 - 3), t2).all_coeffs()
    of = field([int(c) for c in reversed(expanded)], Fraction(141, 100), Fraction(142, 100))
    t = number(of, 0, 1)
    assert Fraction(19, 10) < t * t
    assert t * t < 2 + Fraction(1, 10**30)
    for rule in (operator.eq, operator.ne, operator.lt, operator.ge):
        with pytest.raises(CertificateError, match=f"{BITS} bits cannot tell apart"):
            rule(t * t, 2)


def test_a_root_that_is_rational_is_handled():
    """(t - 3/2)(t^2 + 1), met exactly by bisection."""
    of = field((-3, 2, -3, 2), Fraction(7, 5), Fraction(8, 5))
    t = number(of, 0, 1)
    assert Fraction(149, 100) < t < Fraction(151, 100)
    with pytest.raises(CertificateError, match="cannot tell apart"):
        _ = t == Fraction(3, 2)


def test_texts_and_json():
    t = number(ROOT_17, 0, 1)
    assert str(1 - t / 34) == "1 + -1/34 t with -17 + 1 t^2 = 0 and t between 4 and 5"
    assert (1 - t / 34).to_json() == {
        "field": {"polynomial": [-17, 0, 1], "interval": ["4", "5"]},
        "coefficients": ["1", "-1/34"],
    }
    assert number(FIELDS[2], 0, 1).to_json()["coefficients"] == ["0", "1"]


@pytest.mark.parametrize("coefficients", [(), (1,), (1, 0), (0, 1, 1), (0, 1, 0)])
def test_an_element_has_one_form(coefficients):
    with pytest.raises(CertificateError, match="coefficients: must be at least 2"):
        Algebraic(ROOT_17, tuple(map(Fraction, coefficients)))


def test_numbers_that_grow_too_long_are_refused():
    t = number(ROOT_17, 0, 1)
    long = t * Fraction(10**15_000 + 1, 10**14_999 + 7)
    with pytest.raises(CertificateError, match="at most 20000 digits"):
        _ = long * (1 + long)


def test_an_interval_of_too_many_digits_is_refused():
    """Every sign would take as long as its numbers are."""
    far = Fraction(10**100 + 1, 10**100)
    with pytest.raises(CertificateError, match="100 digits"):
        Field((-2, 0, 1), (far, Fraction(2)))
