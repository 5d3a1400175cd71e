"""How much of a direction the points of a leaf see, in rational numbers: norms, and how far a free bias reaches.

Nothing here is trusted: it repeats what the checker computes, so that leaves are written with the numbers it asks for.

Source: `docs/mathematics.md`, 5.4 "A free bias".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from verify.checker.dual_trees import Case, centred
from verify.checker.exact import sqrt_upper, squared_norm
from verify.deciders.hidden.geometry import Geometry
from verify.problem.members import has_margin
from verify.problem.problem import Problem

__all__ = ["NormBounds", "with_bounded_sums"]


def _growing(problem: Problem, case: Case, total: Fraction) -> bool:
    """Whether s h grows without end along a free bias in the cone of a case.   total: C = sum c_i."""
    _, cone, sign = case
    rises = sign * total > 0 and not any(side < 0 for side in cone)
    falls = sign * total < 0 and not any(side > 0 for side in cone) and problem.architecture.slope > 0
    return rises or falls


def _total(problem: Problem, multipliers: Mapping[int, Fraction]) -> Fraction:
    targets = problem.data.targets
    return sum((z * targets[i] if has_margin(problem.goal) else z for i, z in multipliers.items()), Fraction(0))


def with_bounded_sums(
    geometry: Geometry, cases: Iterable[Case], multipliers: Mapping[int, Fraction]
) -> dict[int, Fraction]:
    """The multipliers with what rounding left of sum c_i taken from the largest, where a free bias asks for that."""
    problem, found = geometry.problem, dict(multipliers)
    total = _total(problem, found)
    if not any(geometry.sees_free(case[0]) and _growing(problem, case, total) for case in cases):
        return found
    for i in sorted(found, key=lambda i: -abs(found[i])):
        is_margin = has_margin(problem.goal)
        value = found[i] - total * (problem.data.targets[i] if is_margin else 1)
        if value >= 0 or not is_margin:
            return {**found, i: value}
    return found


class NormBounds:
    """Of the listed points, as the neurons of a case see them, its cone that of the whole case.

    reach: B, 0 without a free bias; None where s h grows without end along it.
    """

    def __init__(self, geometry: Geometry, case: Case, listed: Mapping[int, Fraction]) -> None:
        self.geometry, self.mask = geometry, case[0]
        self.has_bias = geometry.sees_free(self.mask)
        self.reach: Fraction | None = Fraction(0)
        if not self.has_bias:
            return
        problem, counted = geometry.problem, len(geometry.counted(self.mask))
        rows = centred([[problem.rows[i][column] for column in self.mask] for i in listed], counted)
        self._rows = dict(zip(listed, rows, strict=True))
        self._sizes = {i: sqrt_upper(squared_norm(row[:counted])) for i, row in self._rows.items()}
        is_bounded = not _growing(problem, case, _total(problem, listed))
        self.reach = max(self._sizes.values(), default=Fraction(0)) if is_bounded else None

    def size(self, i: int) -> Fraction:
        """At most how large |x_i.u| is, of ||u||; only with a reach."""
        if not self.has_bias:
            return sqrt_upper(self.geometry.product(self.mask, i, i))
        return self._sizes[i] + (self.reach or 0)

    def parts(self, factors: Mapping[int, Fraction]) -> tuple[Fraction, Fraction]:
        """||z_w||^2 and B |z_b| of z, the sum of factors_i x_i; only with a reach, or where z_b is 0."""
        if not self.has_bias:
            return self.geometry.squared_norm(self.mask, factors), Fraction(0)
        columns = zip(*(self._rows[i] for i in factors), strict=True)
        z = [sum((a * x for a, x in zip(factors.values(), column, strict=True)), Fraction(0)) for column in columns]
        *head, bias = z or [Fraction(0)]
        return squared_norm(head), (self.reach or 0) * abs(bias)
