"""The question that a network does fit, where it does not fit the one that is asked: the same with less asked of it.

Min-norm: the targets within a tolerance, as wide as the network's largest residual. Max-margin: the points that are on
their sides, without the others. Either is a relaxation: every network that fits all fits it too, so that its best
objective is at most that of the question asked, and the network in question has an objective and an excess there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from operator import mul

from verify.checker.bounds import LowerBound
from verify.checker.codec import LIMIT
from verify.checker.multipliers import bound_of, coefficients
from verify.deciders.proposal import certified
from verify.deciders.simplified import Simplified
from verify.numbers.decimals import at_most, value
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Dataset, Problem, outputs

__all__ = ["bound_of_all", "is_relaxation_note", "relaxation_note", "relaxed"]

WITHIN, WITHOUT = "asked with the tolerance", "asked without the"

DIGITS = 2
"""Of the tolerance: the largest residual, rounded up."""


def relaxed(problem: Problem, network: Network) -> Problem | None:
    """The relaxed problem that `network` fits; None where it fits as it is, or fits at no point.

    None as well where nothing more is decided (`Problem.is_decided`).
    """
    if not problem.is_decided:
        return None
    values, targets = outputs(problem, network), problem.data.targets
    if not has_margin(problem.goal):
        largest = max(abs(f - y) for f, y in zip(values, targets, strict=True))
        if largest <= problem.fit_tolerance or max(largest.as_integer_ratio()) >= LIMIT:
            return None
        return problem.within(Fraction(at_most(largest, DIGITS)))
    kept = _on_their_sides(targets, values)
    if not 0 < len(kept) < len(targets):
        return None
    return Problem(
        Dataset([problem.data.inputs[i] for i in kept], [targets[i] for i in kept]).placed(problem.data.surroundings),
        problem.architecture,
        goal=problem.goal,
        bias=problem.bias,
        trained=problem.trained,
        output_weights=problem.output_weights,
        output_bias=problem.output_bias,
    )


def _on_their_sides(targets: Sequence[Fraction], values: Sequence[Fraction]) -> tuple[int, ...]:
    return tuple(i for i, margin in enumerate(map(mul, targets, values)) if margin > 0)


def bound_of_all(problem: Problem, network: Network, easier: Problem, proof: LowerBound) -> LowerBound | None:
    """A lower bound of the relaxed problem of `network` as one of the problem asked, which is at least as high.

    The multipliers stand at the points that were kept, the others have none, and c, h and beta are the same. Min-norm:
    the dual value, sum lambda_i y_i - eps sum |lambda_i|, grows as eps falls.

    Source: `docs/mathematics.md`, 5.7 "Bracket, gap and excess".
    """
    kept = tuple(range(len(problem.data)))
    if has_margin(problem.goal):
        kept = _on_their_sides(problem.data.targets, outputs(problem, network))
    shift = (Fraction(0),) * problem.data.dimension
    places = Simplified(given=problem, problem=easier, kept=kept, groups=(), shift=shift, size=0, height=0)
    moved = places.returned_bound(proof)
    value = bound_of(problem, coefficients(problem, moved.multipliers), moved.beta)
    return certified(problem, None, replace(moved, bracket=(value, None)))


def relaxation_note(problem: Problem, easier: Problem) -> str:
    """What of `problem` is not asked in `easier`, for the report about that one."""
    if not has_margin(problem.goal):
        return f"{WITHIN} {value(easier.fit_tolerance)}, which the network's largest residual takes"
    left_out = len(problem.data) - len(easier.data)
    off = "point that is not on its side" if left_out == 1 else f"{left_out} points that are not on their sides"
    return f"{WITHOUT} {off}; points are counted among the others"


def is_relaxation_note(note: object) -> bool:
    """Whether that is what `relaxation_note` says, the first note of the audit that asked so."""
    return isinstance(note, str) and note.startswith((WITHIN, WITHOUT))
