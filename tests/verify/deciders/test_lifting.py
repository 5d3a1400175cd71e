"""Linear systems by elimination modulo a prime and p-adic lifting, against substitution, Bareiss and known ranks."""

import random
from fractions import Fraction

import pytest

from solvers import clock
from verify.checker.exact import dot
from verify.deciders import lifting
from verify.deciders import rounding as exactify
from verify.deciders.lifting import PRIMES, pivots_modulo, solve_by_lifting
from verify.deciders.rounding import rank, solve_by_few, solve_exactly


def integer_matrix(seed, rows, columns, bits, inner=None):
    """Integers of so many bits and either sign, about one in five 0; of rank at most `inner`."""
    draw = random.Random(seed)
    number = lambda: draw.choice([0, 1, 1, 1, 1]) * draw.randint(-(2**bits), 2**bits)  # noqa: E731
    if inner is None:
        return [[number() for _ in range(columns)] for _ in range(rows)]
    left, right = integer_matrix(seed, rows, inner, bits), integer_matrix(seed + 1, inner, columns, bits)
    return [[dot(row, column).numerator for column in zip(*right, strict=True)] for row in left]


def times(matrix, x):
    return [dot(row, x) for row in matrix]


@pytest.mark.parametrize(("rows", "columns", "inner"), [(1, 1, None), (3, 3, None), (5, 9, None), (9, 5, None)])
@pytest.mark.parametrize("bits", [2, 60, 300])
def test_the_solution_is_that_of_elimination(rows, columns, inner, bits):
    matrix = integer_matrix(bits, rows, columns, bits, inner)
    for right in (times(matrix, range(columns)), [5 - 3 * k for k in range(rows)]):
        whole = [int(value) for value in right]
        exact = [[Fraction(value) for value in row] for row in matrix]
        assert solve_by_lifting(matrix, whole) == solve_exactly(exact, [Fraction(value) for value in whole])


@pytest.mark.parametrize(("rows", "columns", "inner"), [(8, 8, 3), (6, 12, 4), (12, 6, 4), (30, 30, 29)])
def test_dependent_equations(rows, columns, inner):
    matrix = integer_matrix(1, rows, columns, 40, inner)
    x = solve_by_lifting(matrix, [int(value) for value in times(matrix, range(1, columns + 1))])
    assert times(matrix, x) == times(matrix, range(1, columns + 1))
    assert sum(map(bool, x)) <= inner
    assert solve_by_lifting(matrix, [1] + [0] * (rows - 1)) is None
    rows_, columns_ = pivots_modulo(matrix)
    assert len(rows_) == len(columns_) == inner


def test_equations_in_floats():
    draw = random.Random(0)
    matrix = [[Fraction(draw.gauss(0, 1)) for _ in range(60)] for _ in range(50)]
    right = [Fraction(draw.gauss(0, 1)) for _ in range(50)]
    for solve in (solve_exactly, solve_by_few):
        x = solve(matrix, right)
        assert times(matrix, x) == right
        assert sum(map(bool, x)) == 50
    assert rank(matrix) == 50
    assert rank([*matrix[:40], matrix[0]]) == 40


def test_what_a_column_has_in_common_makes_no_number_longer():
    """Columns times large odd numbers: the denominator gets each of them once, not all of them together."""
    draw = random.Random(1)
    matrix = [[draw.randint(-9, 9) for _ in range(30)] for _ in range(30)]
    factors = [2**200 + 2 * k + 1 for k in range(30)]
    scaled = [[Fraction(value * factor) for value, factor in zip(row, factors, strict=True)] for row in matrix]
    x = solve_exactly(scaled, [Fraction(k) for k in range(30)])
    assert times(scaled, x) == list(range(30))
    assert max(value.denominator.bit_length() for value in x) < 201 + 30 * 6


def test_a_prime_that_divides_the_determinant_is_no_answer():
    p, q, r = PRIMES
    assert solve_by_lifting([[p, 0], [0, 1]], [3, 4]) == [Fraction(3, p), 4]
    assert solve_by_lifting([[p * q, 1], [0, p]], [1, p]) == [0, 1]
    assert solve_by_lifting([[p * q * r]], [1]) is None  # documented: wrong where every prime divides it
    assert solve_by_lifting([[p, 0], [0, p], [1, 1]], [p, p, 3]) is None


def test_nothing_to_solve():
    assert solve_by_lifting([], []) == []
    assert solve_by_lifting([[], []], [0, 0]) == []
    assert solve_by_lifting([[], []], [0, 1]) is None
    assert solve_by_lifting([[0, 0]], [0]) == [0, 0]
    assert pivots_modulo([]) == ([], [])


def test_too_many_unknowns_are_left(monkeypatch):
    monkeypatch.setattr(lifting, "MOST_UNKNOWNS", 2)
    assert solve_by_lifting([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, 2, 3]) is None
    assert solve_by_lifting([[1, 0, 0], [0, 1, 0]], [1, 2]) == [1, 2, 0]


@pytest.mark.parametrize("size", [10, 40])
def test_elimination_and_lifting_look_at_the_clock(size):
    """With a clock that moves by one at each look, the time needed is known; any deadline before it ends the work."""
    matrix = [[Fraction(value) for value in row] for row in integer_matrix(3, size, size, 60)]
    right = [Fraction(k + 1) for k in range(size)]
    looks = [0]

    def tick():
        looks[0] += 1
        return float(looks[0])

    with clock.reading(tick):
        assert times(matrix, solve_exactly(matrix, right, deadline=1e9)) == right
        needed = looks[0]
        assert needed >= size
        for deadline in {0, 1, size // 2, min(size, needed - 1), needed // 2, needed - 1}:
            looks[0] = 0
            assert solve_exactly(matrix, right, deadline=deadline) is None
            assert looks[0] <= deadline + 1
        looks[0] = 0
        assert solve_by_few(matrix, right, deadline=0) is None
        assert (min(len(matrix), size) > exactify.FEW) == (size == 40)
