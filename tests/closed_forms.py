"""Closed forms of the papers' problems, found once for all tests, and exact numbers as sympy expressions."""

from functools import cache
from pathlib import Path

import sympy

from verify.checker.exact import Algebraic
from verify.deciders.closed_forms import find_closed_forms
from verify.readers import read_case

CASES = Path(__file__).parents[1] / "cases"
LOWER, UPPER = "symbolic-lower-bound.json", "symbolic-upper-bound.json"
STATIONARY, OPTIMUM = "symbolic-stationary.json", "symbolic-global-optimum.json"
X = sympy.Symbol("x")
THEOREM, TIE = "max-margin/vardi2022-theorem-3-2", "max-margin/tie-needs-clarke"


@cache
def found(name):
    case = read_case(CASES / name / "case.json")
    return case, find_closed_forms(case.problem, case.network)


def exactly(number):
    """A number of the core as a sympy expression, independently of `closed_form`."""
    if not isinstance(number, Algebraic):
        return sympy.Rational(number.numerator, number.denominator)
    t = sympy.Symbol("t")
    polynomial = sympy.Poly([int(c) for c in reversed(number.field.polynomial)], t)
    low, high = (sympy.Rational(q.numerator, q.denominator) for q in number.field.interval)
    (root,) = [root for root in sympy.real_roots(polynomial) if low < root < high]
    return sum(sympy.Rational(c.numerator, c.denominator) * root**k for k, c in enumerate(number.coefficients))
