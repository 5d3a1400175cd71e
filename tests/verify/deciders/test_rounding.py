"""Rounding to dyadic numbers, and exact solutions of linear systems against sympy."""

import math
import random
from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from verify.checker.exact import dot
from verify.deciders.rounding import ceil_dyadic, dyadic, solve_by_few, solve_exactly

positive = st.fractions(min_value=Fraction(1, 10**12), max_value=10**12)
bits = st.integers(1, 60)


def significant_bits(number):
    """The bits of a dyadic number between its first and its last 1."""
    assert number.denominator & (number.denominator - 1) == 0
    odd = abs(number.numerator)
    while odd and odd % 2 == 0:
        odd //= 2
    return odd.bit_length()


# ------------------------------------------------------------------------------------------------- dyadic numbers


@given(st.floats(allow_nan=False, allow_infinity=False), bits)
def test_dyadic_is_the_nearest_with_so_many_bits(value, count):
    found = dyadic(value, count)
    assert significant_bits(found) <= count + 1
    assert abs(found - Fraction(value)) <= abs(Fraction(value)) / 2**count
    assert (found > 0, found < 0) == (value > 0, value < 0)
    assert dyadic(-value, count) == -found


def test_dyadic_keeps_floats_with_few_bits():
    for value in (1.0, -0.75, 1 / 3, 2.0**-1074, 1.7976931348623157e308):
        assert dyadic(value, 53) == Fraction(value)
        assert dyadic(value) == Fraction(value) or value == 1 / 3 or value > 1e300
    assert dyadic(1 / 3, 3) == Fraction(11, 32)  # four bits of 0.01010101


@pytest.mark.parametrize("value", [0.0, -0.0, math.nan, math.inf, -math.inf])
def test_zero_and_what_is_no_number_are_zero(value):
    assert dyadic(value) == 0


@given(positive, bits)
def test_the_ceiling_is_close_above(value, count):
    high = ceil_dyadic(value, count)
    assert value <= high <= value + value / 2 ** (count - 1)
    assert significant_bits(high) <= count + 1


@given(st.integers(1, 2**40), st.integers(-60, 60))
def test_the_ceiling_keeps_short_dyadic_numbers(integer, power):
    value = integer * Fraction(2) ** power
    assert ceil_dyadic(value, 41) == value


@pytest.mark.parametrize("value", [Fraction(1, 10**400), Fraction(10**400, 3)])
def test_numbers_beyond_the_range_of_floats(value):
    assert value < ceil_dyadic(value) <= value + value / 2**38


def test_zero_has_no_bits():
    assert ceil_dyadic(Fraction(0)) == 0


# ------------------------------------------------------------------------------------------------- linear systems


def product(matrix, x):
    return [dot(row, x) for row in matrix]


def consistent(matrix, right):
    """Whether a solution exists, by the ranks that sympy finds."""
    whole = sympy.Matrix([[sympy.Rational(str(v)) for v in [*row, r]] for row, r in zip(matrix, right, strict=True)])
    return whole.rank() == whole[:, :-1].rank()


def rational_matrix(seed, rows, columns, rank=None, digits=1):
    """A matrix of this rank (at most) with a right side that is in its range for even seeds."""
    rng = random.Random(seed)

    def number():
        return Fraction(rng.randint(-(10**digits), 10**digits), rng.choice([1, 1, 2, 3, 7]))

    inner = min(rows, columns) if rank is None else rank
    left = [[number() for _ in range(inner)] for _ in range(rows)]
    right = [[number() for _ in range(columns)] for _ in range(inner)]
    matrix = [[dot(row, column) for column in zip(*right, strict=True)] for row in left]
    x = [number() for _ in range(columns)]
    return matrix, product(matrix, x) if seed % 2 == 0 else [number() for _ in range(rows)]


SHAPES = [(1, 1, None), (3, 3, None), (2, 5, None), (5, 2, None), (4, 4, 2), (6, 3, 1), (3, 7, 2), (5, 5, 4)]


@pytest.mark.parametrize("solve", [solve_exactly, solve_by_few])
@pytest.mark.parametrize(("rows", "columns", "rank"), SHAPES)
@pytest.mark.parametrize("digits", [1, 30])
@pytest.mark.parametrize("seed", range(4))
def test_there_is_a_solution_exactly_when_sympy_says_so(solve, rows, columns, rank, digits, seed):
    matrix, right = rational_matrix(seed, rows, columns, rank, digits)
    x = solve(matrix, right)
    assert (x is not None) == consistent(matrix, right)
    if x is not None:
        assert len(x) == columns
        assert product(matrix, x) == right
        whole = sympy.Matrix([[sympy.Rational(str(v)) for v in row] for row in matrix])
        assert sum(map(bool, x)) <= whole.rank()


@pytest.mark.parametrize("seed", range(4))
def test_a_regular_system_has_the_solution_of_sympy(seed):
    matrix, right = rational_matrix(seed, 6, 6, digits=2)
    whole = sympy.Matrix([[sympy.Rational(str(v)) for v in row] for row in matrix])
    expected = whole.LUsolve(sympy.Matrix([sympy.Rational(str(v)) for v in right]))
    for solve in (solve_exactly, solve_by_few):
        assert [str(v) for v in solve(matrix, right)] == [str(v) for v in expected]


def test_free_variables_are_zero():
    assert solve_exactly([[Fraction(0), Fraction(2), Fraction(4)]], [Fraction(6)]) == [0, 3, 0]
    assert solve_by_few([[Fraction(0), Fraction(2), Fraction(4)]], [Fraction(6)]) == [0, 0, Fraction(3, 2)]


@pytest.mark.parametrize("solve", [solve_exactly, solve_by_few])
def test_small_systems(solve):
    one, zero = Fraction(1), Fraction(0)
    assert solve([[zero]], [zero]) == [0]
    assert solve([[zero, zero]], [one]) is None
    assert solve([[one], [one]], [one, Fraction(2)]) is None
    assert solve([[one], [one], [zero]], [one, one, zero]) == [1]
    assert solve([[one], [one], [zero]], [one, one, one]) is None
    assert solve([[one], [-one]], [zero, zero]) == [0]
    assert solve([], []) == []
    assert solve([[], []], [zero, zero]) == []
    assert solve([[], []], [zero, one]) is None


@pytest.mark.parametrize("solve", [solve_exactly, solve_by_few])
@pytest.mark.parametrize("power", [-200, 200])
def test_scaled_systems(solve, power):
    matrix, right = rational_matrix(0, 4, 4)
    scale = Fraction(10) ** power
    x = solve(matrix, right)
    assert solve([[scale * v for v in row] for row in matrix], right) == [v / scale for v in x]
    assert solve(matrix, [scale * v for v in right]) == [v * scale for v in x]


@pytest.mark.parametrize("solve", [solve_exactly, solve_by_few])
@pytest.mark.parametrize("tiny", [Fraction(1, 10**12), Fraction(1, 10**200)])
def test_rows_and_columns_of_different_sizes(solve, tiny):
    one, zero = Fraction(1), Fraction(0)
    assert solve([[one, zero], [zero, tiny]], [one, tiny]) == [1, 1]
    assert solve([[tiny, one], [zero, one]], [one, zero]) == [1 / tiny, 0]
    assert solve([[tiny, one], [tiny, one]], [one, zero]) is None


def test_hilbert():
    """Ill-conditioned beyond floats: exact elimination does not mind, the floats of `solve_by_few` see a lower rank."""
    size = 14
    matrix = [[Fraction(1, i + j + 1) for j in range(size)] for i in range(size)]
    x = [Fraction(i + 1, 3) for i in range(size)]
    right = product(matrix, x)
    assert solve_exactly(matrix, right) == x
    few = solve_by_few(matrix, right)
    assert few is None or product(matrix, few) == right


def test_columns_are_chosen_by_their_condition():
    """The first two columns are nearly parallel: the solution uses the third."""
    tiny = Fraction(1, 10**14)
    matrix = [[Fraction(1), Fraction(1) + tiny, Fraction(0)], [Fraction(1), Fraction(1), Fraction(1)]]
    x = solve_by_few(matrix, [Fraction(1), Fraction(0)])
    assert product(matrix, x) == [1, 0]
    assert max(map(abs, x)) < 10


def test_entries_beyond_floats_are_no_columns_to_choose_from():
    assert solve_by_few([[Fraction(10) ** 300, Fraction(1)]], [Fraction(1)]) == [Fraction(1, 10**300), 0]


def test_a_zero_right_side_always_has_the_zero_solution():
    tiny = Fraction(1, 10**20)
    matrix = [[Fraction(1), Fraction(1)], [Fraction(1), Fraction(1) + tiny]]
    for solve in (solve_exactly, solve_by_few):
        assert solve(matrix, [Fraction(0), Fraction(0)]) == [0, 0]
