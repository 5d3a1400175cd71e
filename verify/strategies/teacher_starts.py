"""Balanced networks whose multiples gradient flow starts from, on points with the targets of a teacher neuron.

Everything that the assumptions of arXiv:2306.06479, section 3, exclude as a corner case is left out by moving on to
the next of a few fixed neighbours, never by a filter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count, product

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot, sqrt_upper
from verify.deciders.rounding import rank
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset, Goal, Problem
from verify.quantities.yardsticks import pull, yardstick
from verify.strategies.numbers import Vector, combination, orthonormal, positive_rationals, times, vectors
from verify.strategies.teachers import teacher_shapes

__all__ = ["correlated_starts", "is_generic", "krylov", "two_teacher_starts"]


@st.composite
def correlated_starts(
    draw: DrawFn, *, width: int = 4, dimensions: tuple[int, ...] = (2, 3, 4), pairs: bool = False
) -> tuple[Problem, Network]:
    """Points within 45 degrees of a teacher, n = d or d + 1, and a balanced network of 2 to `width` neurons.

    Neuron 0 has a positive output weight, neuron 1 a negative one, and both are active at some point. Assumption 1
    holds: the second moments of the points and v* generate the whole space; no neuron starts on a kink or along the
    pull of all points; and no yardstick meets two kinks at once. Shrinks to d = n = 2 and two neurons.
    pairs: neuron 2 is like neuron 0, so that there are two such neurons at least.
    """
    shape = draw(teacher_shapes(dimensions=dimensions))
    d, teacher = len(shape.teacher), shape.teacher
    spread = Fraction(draw(st.sampled_from([2, 1, 3])), 4)
    offsets, lengths = list(shape.offsets), list(shape.lengths)
    if draw(st.booleans()):
        offsets.append(combination([Fraction(1, 2), Fraction(1, 2)], offsets[:2]))
        lengths.append(draw(positive_rationals(2)))
    directions = [combination([Fraction(1), spread], [teacher, q]) for q in offsets]
    rows = _spanning(directions, lengths, teacher)
    targets = [dot(teacher, row) for row in rows]
    asked = [1, -1, 1] if pairs else [1, -1]
    size = draw(st.integers(len(asked), width))
    signs = [*asked, *(draw(st.sampled_from([-1, 1])) for _ in range(size - len(asked)))]
    neurons: list[Vector] = []
    across = _basis_across(teacher)
    for k, sign in enumerate(signs):
        least = 1 if k < len(asked) else 0
        at = draw(vectors(d - 2, 2)), draw(st.integers(least, len(rows))), draw(st.booleans())
        factor = draw(positive_rationals(1))
        units = _beside(teacher, across, directions, *at)
        turned = (times(-1, u) if least and all(dot(u, x) <= 0 for x in rows) else u for u in units)
        neurons.append(times(factor, next(u for u in turned if is_generic(u, sign, rows, targets))))
    return _posed(rows, targets, neurons, signs)


@st.composite
def two_teacher_starts(draw: DrawFn, *, width: int = 3) -> tuple[Problem, Network]:
    """Points around v with targets v.x, and points around -v' with targets -(-c v').x: orthogonally separable.

    d = 2 or 3, d points of each class, c = 1 or less. The tangents of the angles between a point and its axis are at
    most 1/2, and v' is within 15 degrees of v, so that points of different classes are more than 90 degrees apart. For
    each class there is a neuron of its sign that starts active there; their pulls differ by 20 % at least, by a factor
    of the second class. Shrinks to d = 2.
    """
    d = draw(st.sampled_from([2, 3]))
    axis, *basis = draw(orthonormal(d))
    t = Fraction(draw(st.integers(0, 1)), 8)
    turned = combination([(1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)], [axis, basis[0]])
    across = combination([-2 * t / (1 + t * t), (1 - t * t) / (1 + t * t)], [axis, basis[0]])
    first = [_around(axis, basis, *_offset(draw, d - 1, k)) for k in range(d)]
    second = [times(-1, _around(turned, [across, *basis[1:]], *_offset(draw, d - 1, k))) for k in range(d)]
    scale = Fraction(draw(st.sampled_from([2, 4, 3])), 4)
    values = [dot(axis, x) for x in first], [scale * dot(turned, x) for x in second]  # the second are negative
    squares = [dot(g, g) for g in (pull(first, values[0]), pull(second, values[1]))]
    if Fraction(25, 36) < squares[1] / squares[0] < Fraction(36, 25):
        second, values = [times(Fraction(1, 2), x) for x in second], (values[0], [v / 4 for v in values[1]])
    rows, targets = [*first, *second], [*values[0], *values[1]]
    size = draw(st.integers(2, width))
    signs = [1, -1, *(draw(st.sampled_from([-1, 1])) for _ in range(size - 2))]
    neurons: list[Vector] = []
    for sign in signs:
        start, factor = draw(vectors(d - 1, 2)), draw(positive_rationals(1))
        own = first if sign > 0 else second
        units = (times(-1, u) if all(dot(u, x) <= 0 for x in own) else u for u in _neighbours(start))
        unit = next(u for u in units if all(dot(u, x) for x in rows))
        neurons.append(times(factor, unit))
    return _posed(rows, targets, neurons, signs)


def _offset(draw: DrawFn, size: int, index: int) -> tuple[Fraction, list[Fraction]]:
    """A length, and coordinates across the axis, |q| < 1/2; those of the numbers 0 .. size are affinely independent."""
    raw = [Fraction(-draw(st.integers(0, 1)), 8) for _ in range(size)]
    corner = [Fraction(c == index, 4) for c in range(size)]
    return draw(positive_rationals(2)), [b + a * (c < index) for c, (a, b) in enumerate(zip(raw, corner, strict=True))]


def _around(axis: Vector, basis: Sequence[Vector], length: Fraction, across: Sequence[Fraction]) -> Vector:
    return times(length, combination([Fraction(1), *across], [axis, *basis]))


def _posed(
    rows: Sequence[Vector], targets: Sequence[Fraction], neurons: Sequence[Vector], signs: Sequence[int]
) -> tuple[Problem, Network]:
    sizes = [_length(z) for z in neurons]
    network = Network.two_layer(neurons, [s * a for s, a in zip(signs, sizes, strict=True)])
    return pose(network, Dataset(rows, targets), goal=Goal.MIN_NORM), network


def _length(z: Vector) -> Fraction:
    """|z|, which is rational."""
    return sqrt_upper(dot(z, z))


def _neighbours(first: Sequence[Fraction]) -> Iterator[Vector]:
    """Rational unit vectors by stereographic projection from `first` on, along a curve that no hyperplane contains."""
    for k in count():
        t = [value + Fraction(k, 16) ** (c + 1) for c, value in enumerate(first)]
        square = dot(t, t)
        yield ((1 - square) / (1 + square), *(2 * value / (1 + square) for value in t))


def _basis_across(unit: Vector) -> list[Vector]:
    """A rational orthonormal basis of what is orthogonal to a unit vector: a Householder reflection."""
    d = len(unit)
    axes = [tuple(Fraction(i == j) for j in range(d)) for i in range(d)]
    step = [a - b for a, b in zip(axes[0], unit, strict=True)]
    square = dot(step, step)
    return [combination([Fraction(1), -2 * dot(step, e) / square], [e, tuple(step)]) if square else e for e in axes[1:]]


def _beside(
    teacher: Vector, across: Sequence[Vector], directions: Sequence[Vector], at: Vector, active: int, is_turned: bool
) -> Iterator[Vector]:
    """Unit vectors ((1 - t^2) b + 2 t v*) / (1 + t^2), b orthogonal to v*, that are ON at about `active` points."""
    for k, weights in enumerate(_neighbours(at)):
        b = combination(times(-1 if is_turned else 1, weights), across)
        heights = sorted((dot(b, x) for x in directions), reverse=True)
        heights = [heights[0] + Fraction(1, 2), *heights, heights[-1] - Fraction(1, 2)]
        t = -(heights[active] + heights[active + 1]) / 4 + Fraction(k, 64)
        yield combination([(1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)], [b, teacher])


def is_generic(
    z: Sequence[Fraction], sign: int, rows: Sequence[Sequence[Fraction]], targets: Sequence[Fraction]
) -> bool:
    """No kink at the start, not along the pull of all points, no two kinks at once on the way."""
    everything = pull(rows, targets)
    is_aligned = dot(z, everything) ** 2 == dot(z, z) * dot(everything, everything)
    if is_aligned or any(not dot(z, x) for x in rows):
        return False
    *passed, last = yardstick(z, sign, rows, targets)
    return last.end is None and all(len(stage.points) == 1 for stage in passed)


def krylov(rows: Sequence[Sequence[Fraction]], teacher: Sequence[Fraction]) -> list[list[Fraction]]:
    """v*, A v*, .., A^(d-1) v* with A = sum_i x_i x_i^T.

    A basis exactly when the eigenvalues of A are distinct and v* is in no span of fewer than d eigenvectors.
    """
    found = [list(teacher)]
    for _ in teacher[1:]:
        weights = [dot(x, found[-1]) for x in rows]
        found.append([dot(weights, column) for column in zip(*rows, strict=True)])
    return found


def _spanning(directions: Sequence[Vector], lengths: Sequence[Fraction], teacher: Vector) -> list[Vector]:
    """The points, some of them longer where `krylov` is no basis otherwise."""
    rows = [times(r, x) for r, x in zip(lengths, directions, strict=True)]
    for factors in product((1, 2, 3), repeat=len(directions)):
        if rank(krylov(rows, teacher)) == len(teacher):
            break
        rows = [times(r * f, x) for r, f, x in zip(lengths, factors, directions, strict=True)]
    return rows
