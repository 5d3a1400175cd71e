"""Points with targets v*.x of one teacher neuron v*, |v*| = 1, that is positive on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot
from verify.deciders.rounding import solve_exactly
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.strategies.kkt import KKTPoint
from verify.strategies.numbers import combination, nonzero, orthonormal, positive_rationals, times
from verify.strategies.pairs import split_sizes

__all__ = ["TeacherShape", "single_teachers", "teacher_shapes", "z_matrix_teachers"]

_Vector = tuple[Fraction, ...]

_POSITIVE_UNITS: dict[int, tuple[tuple[Fraction, ...], ...]] = {
    2: tuple(tuple(Fraction(q, c) for q in (a, b)) for a, b, c in ((3, 4, 5), (20, 21, 29), (4, 3, 5))),
    3: tuple(tuple(Fraction(q, 3) for q in row) for row in ((2, 2, 1), (2, 1, 2), (1, 2, 2))),
    4: ((Fraction(1, 2),) * 4,),
}


class TeacherShape:
    """Points x_i = r_i (v* + spread q_i), with q_i orthogonal to v*, affinely independent and |q_i| <= 1.

    The tangent of the angle between v* and x_i is spread |q_i|: below 45 degrees for spread < 1.
    """

    def __init__(
        self, teacher: _Vector, offsets: Sequence[_Vector], lengths: Sequence[Fraction], sizes: Sequence[Fraction]
    ) -> None:
        self.teacher, self.offsets, self.lengths, self.sizes = teacher, tuple(offsets), tuple(lengths), tuple(sizes)

    def centred(self) -> TeacherShape:
        """With the teacher along the middle of the directions: sum_i q_i = 0."""
        middle = combination([Fraction(1, len(self.offsets))] * len(self.offsets), self.offsets)
        halves = [combination([Fraction(1, 2), Fraction(-1, 2)], [q, middle]) for q in self.offsets]
        return TeacherShape(self.teacher, halves, self.lengths, self.sizes)

    def spread(self, spread: Fraction) -> KKTPoint:
        """The min-norm problem with n = d, and the balanced network of rank 1 along v* with sum |w_j|^2 = 1."""
        rows = [
            times(r, combination([Fraction(1), spread], [self.teacher, q]))
            for r, q in zip(self.lengths, self.offsets, strict=True)
        ]
        return taught(self.teacher, rows, self.sizes)


def taught(teacher: _Vector, rows: Sequence[_Vector], sizes: Sequence[Fraction]) -> KKTPoint:
    """Points, their targets v*.x, ReLU neurons of the given sizes along v*; multipliers with sum lambda_i x_i = v*."""
    data = Dataset(rows, [dot(teacher, row) for row in rows])
    network = Network.two_layer([times(r, teacher) for r in sizes], sizes)
    problem = Problem(data, network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    multipliers = solve_exactly([list(column) for column in zip(*rows, strict=True)], teacher) or []
    return KKTPoint(problem, network, tuple(multipliers), ())


@st.composite
def teacher_shapes(draw: DrawFn, *, width: int = 1, dimensions: Sequence[int] = (2, 3, 4)) -> TeacherShape:
    """n = d points around a teacher, and at least `width` neurons. Shrinks to the first d and few digits."""
    d = draw(st.sampled_from(dimensions))
    teacher, *basis = draw(orthonormal(d))
    first = [draw(nonzero()) for _ in basis]
    raw = [first]
    for k in range(d - 1):  # q_{k+1} - q_0 has the last nonzero coordinate k
        step = [draw(nonzero()) if c < k else Fraction(0) for c in range(d - 1)]
        step[k] = draw(nonzero())
        raw.append([a + b for a, b in zip(first, step, strict=True)])
    reach = max(sum(map(abs, row), Fraction(0)) for row in raw)  # at least the length
    offsets = [combination([value / reach for value in row], basis) for row in raw]
    lengths = [draw(positive_rationals(2)) for _ in range(d)]
    return TeacherShape(teacher, offsets, lengths, draw(split_sizes(width)))


@st.composite
def single_teachers(draw: DrawFn, *, width: int = 1, within_45_degrees: bool = True) -> KKTPoint:
    """Points with n = d around a teacher, and a network of rank 1 along it. Shrinks to d = 2 and a small spread.

    within_45_degrees: of the teacher; else anywhere on its positive side.
    """
    shape = draw(teacher_shapes(width=width))
    spreads = [1, 4, 12, 15] if within_45_degrees else [15, 20, 32, 64]
    spread = Fraction(draw(st.sampled_from(spreads)), 16)
    return shape.spread(spread)


@st.composite
def z_matrix_teachers(draw: DrawFn, *, width: int = 1) -> KKTPoint:
    """x_i = r_i (e_i + k (1, .., 1)) in a random orthonormal basis, k >= 1: the inverse Gram matrix is a Z-matrix.

    It is R^-1 (I - t J) R^-1 with R diagonal, J all ones and t > 0. The teacher is within 45 degrees of all points.
    Shrinks to d = 2, k = 1 + 1.
    """
    d = draw(st.sampled_from([2, 3, 4]))
    k = 1 + draw(positive_rationals())
    basis = draw(orthonormal(d))
    teacher = combination(draw(st.sampled_from(_POSITIVE_UNITS[d])), basis)
    rows = [times(draw(positive_rationals(2)), combination([k + (i == c) for c in range(d)], basis)) for i in range(d)]
    return taught(teacher, rows, draw(split_sizes(width)))
