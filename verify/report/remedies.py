"""What would make a question answerable that no network answers: which points to leave out, decided exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from verify.problem import Goal, Problem

__all__ = ["droppable", "fits_when_bent"]


def droppable(problem: Problem, conflict: Iterable[int]) -> list[int]:
    """The points of a conflict without any one of which some network of some width fits all the others.

    Only what is proved: none where neurons are linear, or where a point and its opposite are both there.
    """
    if problem.architecture.slope == 1:
        return []
    return [i for i in sorted(conflict) if _is_met(problem, [k for k in range(len(problem.data)) if k != i])]


def fits_when_bent(problem: Problem) -> bool:
    """Whether it is proved that some network of some width fits all points, if its neurons have a kink."""
    return _is_met(problem, range(len(problem.data)))


def _is_met(problem: Problem, chosen: Sequence[int]) -> bool:
    """Whether networks of some width reach every value at rows of different directions, and these can be the targets.

    With a kink at 0 the functions w -> act(w.x) are linearly independent if no two rows x are parallel, so that the
    outputs at one row of each direction are arbitrary. At a positive multiple of a row, f is that multiple.
    """
    columns = len(problem.rows[0])
    if all(len(mask) < columns for mask in problem.architecture.masks):
        return False
    wanted: dict[tuple[Fraction, ...], list[tuple[Fraction, Fraction]]] = {}
    for i in chosen:
        row, target = problem.rows[i], problem.targets[i]
        size = abs(next((entry for entry in row if entry), Fraction(0)))
        if not size:
            if problem.goal is Goal.MAX_MARGIN or abs(target) > problem.fit_tolerance:
                return False
            continue
        direction = tuple(entry / size for entry in row)
        if tuple(-entry for entry in direction) in wanted:
            return False
        wanted.setdefault(direction, []).append((target, size))
    return all(_agree(problem, values) for values in wanted.values())


def _agree(problem: Problem, values: Sequence[tuple[Fraction, Fraction]]) -> bool:
    """Whether one c has size c within the tolerance of each target (max-margin: on its side)."""
    if problem.goal is Goal.MAX_MARGIN:
        return len({target > 0 for target, _ in values}) == 1
    within = problem.fit_tolerance
    least = max((target - within) / size for target, size in values)
    return least <= min((target + within) / size for target, size in values)
