"""Numbers and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from verify.checker.exact import dot

Vector = tuple[Fraction, ...]

DENOMINATORS: Final = (1, 2, 3, 4)


def rationals(bound: int = 4) -> SearchStrategy[Fraction]:
    """p/q in [-bound, bound] with q in {1, 2, 3, 4}. Shrinks to 0, then to small integers."""
    return st.sampled_from(DENOMINATORS).flatmap(
        lambda q: st.integers(-bound * q, bound * q).map(lambda p: Fraction(p, q))
    )


def positive_rationals(bound: int = 4) -> SearchStrategy[Fraction]:
    """p/q in (0, bound] with q in {1, 2, 3, 4}. Shrinks to 1."""
    return st.sampled_from(DENOMINATORS).flatmap(lambda q: st.integers(1, bound * q).map(lambda p: Fraction(p, q)))


def slopes(*, linear: bool = True) -> SearchStrategy[Fraction]:
    """Slopes of an activation: 0, 1/4, 1/2, 3/10 and, if `linear`, 1. Shrinks to 0 (ReLU)."""
    choices = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 10)]
    return st.sampled_from([*choices, Fraction(1)] if linear else choices)


def leaky_slopes() -> SearchStrategy[Fraction]:
    """Slopes strictly between 0 and 1: 1/2, 1/4, 3/10, 2/3. Shrinks to 1/2."""
    return st.sampled_from([Fraction(1, 2), Fraction(1, 4), Fraction(3, 10), Fraction(2, 3)])


def vectors(dimension: int, bound: int = 4) -> SearchStrategy[Vector]:
    """`dimension` rationals. Shrinks to 0."""
    return st.tuples(*[rationals(bound)] * dimension)


def unit_vectors(dimension: int) -> SearchStrategy[Vector]:
    """Rational points of the unit sphere except (-1, 0, ..), by stereographic projection. Shrinks to (1, 0, .., 0)."""

    def lift(t: Vector) -> Vector:
        square = dot(t, t)
        return ((1 - square) / (1 + square), *(2 * value / (1 + square) for value in t))

    return vectors(dimension - 1, 2).map(lift)


def orthonormal(dimension: int) -> SearchStrategy[tuple[Vector, ...]]:
    """Rational orthonormal bases: a Householder reflection. Shrinks to the coordinate axes, the first turned round."""

    def reflect(u: Vector) -> tuple[Vector, ...]:
        return tuple(tuple((i == j) - 2 * u[i] * u[j] for j in range(dimension)) for i in range(dimension))

    return unit_vectors(dimension).map(reflect)


def labels(count: int) -> SearchStrategy[tuple[int, ...]]:
    """`count` labels in {1, -1}. Shrinks to all 1."""
    return st.tuples(*[st.sampled_from([1, -1])] * count)


def nonzero() -> SearchStrategy[Fraction]:
    """Rationals other than 0. Shrinks to 1."""
    return st.tuples(st.sampled_from([1, -1]), positive_rationals()).map(lambda pair: pair[0] * pair[1])


def times(factor: Fraction | int, row: Sequence[Fraction]) -> Vector:
    """The multiple of a vector."""
    return tuple(factor * value for value in row)


def negative(row: Sequence[Fraction]) -> Vector:
    """The opposite vector."""
    return times(-1, row)


def combination(weights: Sequence[Fraction], rows: Sequence[Vector]) -> Vector:
    """sum_k weights_k rows_k."""
    return tuple(dot(weights, column) for column in zip(*rows, strict=True))


def shifted(w: Vector, height: Fraction, p: Vector) -> Vector:
    """height w + (p made orthogonal to w), for |w| = 1."""
    return combination([height - dot(p, w), Fraction(1)], [w, p])
