"""The parts of the search for closed forms: many digits, one field, linear algebra over it, formulas."""

from fractions import Fraction

import pytest
import sympy
from mpmath import mp

from tests.closed_forms import X, exactly, found
from verify.checker.exact import Algebraic, Field
from verify.deciders.closed_forms.active_set import find_active_set
from verify.deciders.closed_forms.elimination import inverse, solve
from verify.deciders.closed_forms.expressions import closed_form
from verify.deciders.closed_forms.polishing import DIGITS, polish
from verify.deciders.closed_forms.recognition import in_digits, recognise


def test_a_solution_of_many_digits():
    case, _ = found("max-margin/lyu2021-theorem-6-2-hinted")
    active = find_active_set(case.problem, 1e-3)
    polished = polish(case.problem, active, Fraction(1, 10))
    with mp.workdps(DIGITS):
        for vector in polished.vectors:
            assert abs(sum(x * x for x in vector) - 1) < mp.mpf(10) ** -(DIGITS - 5)


@pytest.mark.parametrize("text", ["sqrt(2)", "sqrt(2)+sqrt(3)", "7**(1/4)/3", "(1+sqrt(5))/2 - 2/7", "cbrt(2) + 1"])
def test_numbers_are_recognised_in_one_field(text):
    expression = sympy.sympify(text)
    with mp.workdps(DIGITS + 20):
        value = mp.mpf(sympy.N(expression, DIGITS + 20))
        numbers = recognise([value, value**2 / 3, -value, mp.mpf(0), mp.mpf(2) / 7])
    assert isinstance(numbers[0], Algebraic)
    assert numbers[1:] == [numbers[0] ** 2 / 3, -numbers[0], 0, Fraction(2, 7)]
    assert sympy.minimal_polynomial(exactly(numbers[0]) - expression, X) == X
    with mp.workdps(DIGITS):
        assert abs(in_digits(numbers[0]) - value) < mp.mpf(10) ** -(DIGITS - 10)


def test_what_is_no_number_of_small_degree_is_not_recognised():
    with mp.workdps(DIGITS + 20):
        assert recognise([mp.pi + 0]) is None
        assert recognise([mp.sqrt(2), mp.e + 0]) is None
        assert recognise([mp.sqrt(2), mp.sqrt(3), mp.sqrt(5), mp.sqrt(7)]) is None  # degree 16
        assert recognise([mp.mpf(10**60 + 57) / (10**60 + 7)]) is None


def test_linear_algebra_over_a_field():
    of = Field((-2, 0, 0, 1), (Fraction(1), Fraction(2)))
    t = of.number([Fraction(0), Fraction(1)])
    assert inverse(Fraction(2)) == Fraction(1, 2)
    assert inverse(1 + t) * (1 + t) == 1
    x = [t, 1 - t]
    matrix = [[Fraction(0), t], [t, Fraction(1)], [t, 1 + t]]
    right = [sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) for row in matrix]
    assert solve(matrix, right) == x
    assert solve(matrix, [right[0], right[1], right[2] + 1]) is None
    assert solve([[t, t], [t, t]], [t, t]) is None


@pytest.mark.parametrize(
    ("polynomial", "interval", "coefficients", "text"),
    [
        ((-17, 0, 1), (4, 5), (0, "1/34"), "sqrt(17)/34"),
        ((-17, 0, 1), (4, 5), ("1/2", "-8/17"), "1/2 - 8/sqrt(17)"),
        ((-17, 0, 1), (4, 5), (0, "-1"), "-sqrt(17)"),
        ((1, 0, -10, 0, 1), (3, 4), (0, 1), "sqrt(2) + sqrt(3)"),
        ((-1, -1, 0, 0, 0, 1), (1, 2), (0, 1), "the root of x**5 - x - 1 near 1.16730397826"),
        ((-17, 0, 0, 0, 1), (2, 3), (0, 1), "17**(1/4)"),
        ((-2, 0, 0, 1), (1, 2), (0, 1), "2**(1/3)"),
        ((1, -3, 0, 1), ("3/2", 2), (0, 1), "the root of x**3 - 3*x + 1 near 1.53208888624"),
    ],
)
def test_formulas(polynomial, interval, coefficients, text):
    of = Field(polynomial, tuple(map(Fraction, interval)))
    assert closed_form(of.number(list(map(Fraction, coefficients)))).text == text
