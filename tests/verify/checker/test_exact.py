"""Exact numbers: what enters, what is refused, and that the bounds bound."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.timing import cpu_seconds
from verify.checker import statement
from verify.checker.codec import MAX_DIGITS, MAX_LONG_DIGITS, load_json, rational_text
from verify.checker.errors import CertificateError, InputError, IsoptimalError, ShapeError
from verify.checker.exact import common_integers, dot, sqrt_lower, sqrt_upper, squared_norm, value_text
from verify.deciders.rounding import primitive
from verify.numbers.values import array, is_exact_input, parse_rational, rational, vector

fractions = st.fractions()
positive = st.fractions(min_value=0).flatmap(lambda q: st.integers(-300, 300).map(lambda k: q * Fraction(2) ** k))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(3602879701896397, 36028797018963968)),
        (Fraction(-1, 3), Fraction(-1, 3)),
        ("-1/3", Fraction(-1, 3)),
        (np.float64(0.5), Fraction(1, 2)),
        (np.float32(0.1), Fraction(13421773, 134217728)),
        (np.int8(-7), Fraction(-7)),
        (np.array(5), Fraction(5)),
        (np.array(0.5), Fraction(1, 2)),
        (Decimal("0.1"), Fraction(1, 10)),
    ],
)
def test_numbers_enter_with_their_exact_value(value: object, expected: Fraction) -> None:
    assert rational(value) == expected
    assert type(rational(value).numerator) is int


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.True_,
        1j,
        float("nan"),
        float("inf"),
        np.float32("-inf"),
        None,
        object(),
        [1],
        b"1",
        np.array([0.5]),
        pytest.param(10**MAX_DIGITS, id="too long"),
    ],
)
def test_anything_else_is_refused_with_its_place(value: object) -> None:
    with pytest.raises(InputError, match=r"^W\[0\]"):
        rational(value, "W[0]")


@pytest.mark.parametrize("text", ["0", "7", "-7", "1/3", "-22/7", pytest.param("9" * MAX_DIGITS, id="long")])
def test_canonical_text_is_read_and_written(text: str) -> None:
    assert rational_text(parse_rational(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "", "-", "+1", "-0", "01", "1_0", " 1", "1 ", "1\n", "1/0", "2/4", "2/1", "0/3", "1/-3", "1/03", "0.5", "1e0",
        "nan", "٣", "１", "1/", "/2", "--1", "1/2/3",
        pytest.param("9" * (MAX_DIGITS + 1), id="too long"),
        pytest.param("1/" + "9" * (MAX_DIGITS + 1), id="too long below"),
    ],
)  # fmt: skip
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^here is"):
        parse_rational(text, "here")


def test_a_float_is_not_given_exactly() -> None:
    assert all(map(is_exact_input, [1, Fraction(1, 2), "1/2", np.int64(3)]))
    assert not any(map(is_exact_input, [1.0, np.float32(1)]))


def test_vectors_and_arrays_name_their_entries() -> None:
    assert vector(np.array([1.0, 0.25])) == (1, Fraction(1, 4))
    with pytest.raises(InputError, match=r"^v\[1\] is nan"):
        vector([0, float("nan")], "v")
    for value in ("12", 3, None, {"a": 1}, np.array(1.0)):
        with pytest.raises(ShapeError, match=r"^v is"):
            array(value, "v")


def test_vector_arithmetic() -> None:
    assert dot([Fraction(1, 2), Fraction(3)], [Fraction(4), Fraction(1, 3)]) == 3
    assert dot([], []) == 0
    assert common_integers([[Fraction(1, 2), Fraction(1, 3)], [Fraction(-5)]]) == ([[3, 2], [-30]], 6)
    assert common_integers([]) == ([], 1)
    assert squared_norm(iter([Fraction(1, 2), Fraction(-1, 3)])) == Fraction(13, 36)


@given(st.lists(st.integers(), min_size=1), st.integers(min_value=1))
def test_primitive_vectors_name_lines(integers: list[int], factor: int) -> None:
    line, size = primitive(integers)
    assert primitive([factor * z for z in integers]) == (line, factor * size)
    assert primitive([-z for z in integers]) == (line, size)
    assert tuple(integers) in (tuple(size * z for z in line), tuple(-size * z for z in line))


def test_the_zero_vector_is_on_no_line() -> None:
    assert primitive([0, 0]) == ((0, 0), 0)
    assert primitive([]) == ((), 0)


@given(positive, st.sampled_from([1, 10, 40, 100]))
def test_roots_are_bracketed(number: Fraction, bits: int) -> None:
    low, high = sqrt_lower(number, bits), sqrt_upper(number, bits)
    assert 0 <= low * low <= number <= high * high
    assert high - low <= high * Fraction(2) ** -bits


def test_roots_of_squares_are_exact() -> None:
    assert sqrt_lower(Fraction(9, 16)) == sqrt_upper(Fraction(9, 16)) == Fraction(3, 4)
    assert sqrt_lower(Fraction(0)) == sqrt_upper(Fraction(0)) == 0
    with pytest.raises(InputError, match="negative"):
        sqrt_upper(Fraction(-1))


@given(st.builds(lambda q, k: q * Fraction(10) ** k, fractions, st.integers(-100, 100)))
def test_enclosures_enclose(number: Fraction) -> None:
    text = value_text(number)
    if not text.startswith("a number between"):
        assert text == str(number)
        assert len(text) <= 60
        return
    *_, low, conjunction, high = text.split()
    assert conjunction == "and"
    assert Fraction(low) <= number <= Fraction(high)
    assert Fraction(high) - Fraction(low) <= abs(number) * Fraction(10) ** -4


def test_enclosures_are_short_and_plain() -> None:
    root = sqrt_upper(Fraction(2), 200)
    assert value_text(root) == "a number between 1.41421 and 1.41422"
    assert value_text(-root) == "a number between -1.41422 and -1.41421"
    assert value_text(root / 10**30) == "a number between 1.41421E-30 and 1.41422E-30"
    assert value_text(Fraction(10) ** 10**5 + 1) == "a number between 1.00000E+100000 and 1.00001E+100000"
    assert value_text(Fraction(1) - Fraction(1, 10**50)) == "a number between 0.999999 and 1.00000"


def test_a_common_denominator_is_bounded() -> None:
    numbers = [Fraction(1, 2**13_000 + 2 * i + 1) for i in range(300)]

    def refused() -> None:
        with pytest.raises(InputError, match=r"^300 numbers have a common denominator of over \d+ bits; round them"):
            common_integers([numbers])

    assert cpu_seconds(refused) < 5


def test_canonical_json() -> None:
    found = statement.Layer(2, 1, Fraction(1, 2), entries=[[0, None]])
    assert found.canonical_text() == '{"bias":false,"entries":[[0,null]],"inputs":2,"outputs":1,"slope":"1/2"}'


def test_errors_are_one_family() -> None:
    error = CertificateError("trees[0]", "is missing")
    assert str(error) == "trees[0]: is missing"
    assert str(error.within("lower")) == "lower.trees[0]: is missing"
    assert str(CertificateError("", "is no object")) == "is no object"
    assert str(CertificateError("[1]", "is no object").within("lower")) == "lower[1]: is no object"
    assert isinstance(error, IsoptimalError)
    assert issubclass(ShapeError, InputError)
    assert issubclass(InputError, ValueError)


@pytest.mark.parametrize("length", [3999, 4000, 4001, 4300, 4301, 7999, 8001, 12_345, MAX_DIGITS - 1, MAX_DIGITS])
def test_texts_of_long_rationals(length):
    digits = ("1234567890" * (length // 10 + 1))[:length]
    for text in (digits, f"-{digits}", f"1/{digits}", "1" + "0" * (length - 1), f"-3/1{'0' * (length - 1)}"):
        number = parse_rational(text)
        assert rational_text(number) == text
        assert parse_rational(rational_text(number)) == number
    with pytest.raises(InputError, match=f"at most {MAX_DIGITS} digits"):
        parse_rational("1" * (MAX_DIGITS + 1))


def test_long_texts_that_are_not_canonical():
    long = "7" * 5000
    for text in (
        f"0{long}",
        f"{long}/1",
        f"{long}/{long}",
        f"{long}/7",
        f"7/{long}",
        f"0/{long}",
        f"+{long}",
        f"{long}/-3",
    ):
        with pytest.raises(InputError):
            parse_rational(text)


def test_a_long_rational_takes_little_time_to_read_and_write():
    number = Fraction(*(int.from_bytes(Random(k).randbytes(8_300)) for k in (0, 1)))
    text = rational_text(number)
    assert 2 * MAX_DIGITS - 50 < len(text) <= 2 * MAX_DIGITS + 1
    assert rational_text(parse_rational(text)) == text
    assert cpu_seconds(lambda: rational_text(parse_rational(text))) < 0.1


@pytest.mark.parametrize("digit", ["7", "\\u0037"], ids=["plain", "escaped"])
def test_a_text_of_long_numbers_does_not_take_minutes(digit):
    """More digits of long numbers than the limit are refused before any is converted."""
    number = f'"{("7" * 3999 + digit) * 5}"'
    allowed = MAX_LONG_DIGITS // (len(number) - 2)
    assert len(load_json(f"[{', '.join([number] * allowed)}]")) == allowed
    text = f"[{', '.join([number] * (allowed + 1))}]"

    def refused() -> None:
        with pytest.raises(CertificateError, match="has too many long numbers: its numbers of more than 4000 digits"):
            load_json(text)

    assert cpu_seconds(refused) < 1


def test_short_numbers_do_not_count_as_long():
    number = f'"{"7" * 4000}/{"3" * 4000}"'
    text = f"[{', '.join([number] * 2500)}]"
    assert len(text) > MAX_LONG_DIGITS
    assert len(load_json(text)) == 2500
