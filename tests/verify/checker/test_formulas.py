"""Formulas of a closed form: those that are written are those of the exact numbers, and no others."""

from fractions import Fraction

import pytest

from tests.timing import cpu_seconds
from verify.checker.exact import Algebraic, Field
from verify.checker.formulas import is_decimal_of, is_formula_of
from verify.deciders.closed_forms.expressions import closed_form

F = Fraction
ROOT17 = Algebraic(Field((-17, 0, 1), (F(4), F(5))), (F(0), F(8, 17)))  # 8 / sqrt 17
FOURTH = Algebraic(Field((-2, 0, 0, 0, 1), (F(1), F(2))), (F(0), F(1)))
NESTED = Algebraic(Field((1, 0, -10, 0, 1), (F(3), F(4))), (F(0), F(1)))  # sqrt 2 + sqrt 3
CUBIC = Algebraic(Field((-2, -1, 0, 1), (F(1), F(2))), (F(0), F(1)))


@pytest.mark.parametrize(
    "number", [F(0), F(1), F(-5, 2), F(10**30, 7), -ROOT17, ROOT17, FOURTH, FOURTH * FOURTH * FOURTH, NESTED, CUBIC + 1]
)
def test_what_is_written_agrees(number):
    form = closed_form(number)
    assert is_formula_of(form.text, number), form
    assert is_formula_of(form.latex, number), form
    assert is_decimal_of(form.decimal, number), form
    for other in (number + F(1, 10**40), number * 2 + 1):
        assert not is_formula_of(form.text, other)
        assert not is_formula_of(form.latex, other)
    assert not is_decimal_of(form.decimal, number + F(1, 10**9) * (1 + abs(number)))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1 + sqrt(2)/2 - sqrt(2)/2", F(1)),
        ("-(3 - 5)", F(2)),
        ("+3", F(3)),
        ("2 3", F(6)),
        (r"\frac{1}{2} \cdot \left(2 + 2\right)", F(2)),
        (r"\sqrt[4]{16}", F(2)),
        (r"16^{\frac{3}{4}}", F(8)),
        ("4**(-1/2)", F(1, 2)),
        ("2**3**1", F(8)),
        ("8/17*sqrt(17)", ROOT17),
        ("the root of x**2 - 4 near 2", F(2)),
        (r"\text{the root of } x^{2} - 4 \text{ near } 2.0", F(2)),
    ],
)
def test_formulas(text, number):
    assert is_formula_of(text, number)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "1",
            "2.0",
            "x",
            "proved",
            "2)",
            "(2",
            "(",
            "2 +",
            "sqrt 4",
            "sqrt(-4)",
            "2/(1 - 1)",
            r"\frac{4}",
            "+ 2 ]",
        ),
        *("2**0 * 2", "2**17/2**16", "2**(1/3)", "2**sqrt(1 + sqrt(2))", "[2]", f"{'(' * 30}2{')' * 30}", "²"),
        *(
            "the root of x**2 - 4 near 2.1",
            "the root of x**2 - 5 near 2",
            "the root of x near 2",
            "the root of x - 2 near",
        ),
        *(f"2{'0' * 5000}", "9**9**9", "2 near 2"),
    ],
)
def test_what_is_no_formula_of_two(text):
    assert not is_formula_of(text, F(2))


@pytest.mark.parametrize("text", ["", "2.1", "2.", ".2e1", "2e99999", "nan", "inf", "1/2", "2_0", "２"])
def test_what_is_no_decimal_of_two(text):
    assert not is_decimal_of(text, F(2))


@pytest.mark.parametrize(
    "text",
    [
        "^".join(["2"] * 1000),
        "9" * 3999 + "^16^1",
        "(" * 19 + "9" * 3000 + "^16)" * 19,
        "+".join(f"1/{'9' * 60}{i}" for i in range(60)),
        "1+" * 100_000 + "1",
        "sqrt(" * 1000 + "2" + ")" * 1000,
    ],
)
def test_a_formula_that_would_take_long_is_none(text):
    assert not is_formula_of(text, F(2))
    assert cpu_seconds(lambda: is_formula_of(text, F(2))) < 5
