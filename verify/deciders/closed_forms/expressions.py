"""Exact numbers as formulas: rational, a + b sqrt(m), nested roots, or else the root of a polynomial near a decimal.

The formula is computed from the minimal polynomial of the exact number, and is compared with it to 100 digits: among
the at most eight roots of that polynomial this leaves no doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from verify.checker.codec import MAX_WHOLE_DIGITS, rational_text
from verify.checker.exact import Algebraic
from verify.deciders.closed_forms.records import ClosedForm

if TYPE_CHECKING:
    from sympy import Expr, Poly

__all__ = ["closed_form"]

LONGEST = 100
"""Characters of a formula with radicals; a longer one is written as the root of its polynomial."""

COMPARED = 100  # digits


def closed_form(number: Fraction) -> ClosedForm:
    """The formula of an exact number, rational or algebraic."""
    import sympy

    if not isinstance(number, Algebraic):
        exact = sympy.Rational(number.numerator, number.denominator)
        text = rational_text(number)
        latex = sympy.latex(exact) if len(text) <= MAX_WHOLE_DIGITS else text  # which sympy cannot write
        return ClosedForm(text, latex, _decimal(exact))
    polynomial = _minimal_polynomial(number)
    target = _value(number)
    for root in _radicals(polynomial):
        if root.is_real is not False and abs(sympy.N(root, COMPARED + 20) - target) < 10.0**-COMPARED:
            text, latex = _written(root)
            if len(text) <= LONGEST:
                return ClosedForm(text, latex, _decimal(target))
    decimal = _decimal(target)
    body, latex = str(polynomial.as_expr()), sympy.latex(polynomial.as_expr())
    return ClosedForm(
        f"the root of {body} near {decimal}", rf"\text{{the root of }} {latex} \text{{ near }} {decimal}", decimal
    )


def _minimal_polynomial(number: Algebraic) -> Poly:
    """The irreducible factor of the resultant of P(t) and x - number(t) that vanishes at the number."""
    import sympy

    t, x = sympy.symbols("t x")
    modulus, element = (
        sum(sympy.Rational(c.numerator, c.denominator) * t**k for k, c in enumerate(p))
        for p in (number.field.polynomial, number.coefficients)
    )
    factors = sympy.factor_list(sympy.Poly(sympy.resultant(modulus, x - element, t), x))[1]
    target = _value(number)
    return min((factor for factor, _ in factors), key=lambda factor: abs(factor.eval(target)))


def _value(number: Algebraic) -> Expr:
    """The number in decimals, with digits to spare."""
    import sympy

    low, high = number.field.enclosure(number.coefficients)
    middle = (low + high) / 2
    return sympy.N(sympy.Rational(middle.numerator, middle.denominator), COMPARED + 20)


def _radicals(polynomial: Poly) -> list[Expr]:
    """The roots that can be written with real radicals."""
    import sympy

    if polynomial.degree() not in (2, 4) and len(polynomial.terms()) > 2:
        return []  # Cardano's formula says less than the polynomial, and longer ones take minutes
    found = sympy.roots(polynomial, cubics=False, quintics=False)
    return [sympy.sqrtdenest(root) for root in found if not root.has(sympy.I)]


def _written(root: Expr) -> tuple[str, str]:
    """Text and LaTeX; a sum of square roots with 8/sqrt(17) where that is shorter than 8*sqrt(17)/17."""
    import sympy

    parts: list[tuple[Fraction, int]] = []
    for term in sympy.Add.make_args(sympy.expand(root)):
        coefficient, rest = cast("tuple[Any, Any]", term.as_coeff_Mul())
        if rest == 1 or (rest.is_Pow and rest.exp == sympy.Rational(1, 2) and rest.base.is_Integer):
            parts.append((Fraction(coefficient.p, coefficient.q), 1 if rest == 1 else int(rest.base)))
        else:
            return str(root), sympy.latex(root)
    text, latex = "", ""
    for coefficient, radicand in sorted(parts, key=lambda part: part[1]):
        sign = "-" if coefficient < 0 else "+"
        joint = f" {sign} " if text else sign.strip("+")
        text += joint + _term(abs(coefficient), radicand, "sqrt({})", "*", _fraction_text)
        latex += joint + _term(abs(coefficient), radicand, r"\sqrt{{{}}}", " ", _fraction_latex)
    return text, latex


def _term(coefficient: Fraction, radicand: int, root: str, times: str, fraction: Callable[[str, str], str]) -> str:
    p, q = coefficient.numerator, coefficient.denominator
    if radicand == 1:
        return fraction(str(p), str(q))
    shown = root.format(radicand)

    def product(factor: int) -> str:
        return shown if factor == 1 else f"{factor}{times}{shown}"

    above = fraction(product(p), str(q))
    if q % radicand:
        return above
    below = fraction(str(p), product(q // radicand))
    return below if len(below) < len(above) else above


def _fraction_text(above: str, below: str) -> str:
    return above if below == "1" else f"{above}/({below})" if "*" in below else f"{above}/{below}"


def _fraction_latex(above: str, below: str) -> str:
    return above if below == "1" else rf"\frac{{{above}}}{{{below}}}"


def _decimal(number: Expr) -> str:
    import sympy

    text = str(sympy.N(number, 12))
    return text.rstrip("0").rstrip(".") if number.is_Rational and "." in text and "e" not in text else text
