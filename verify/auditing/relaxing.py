"""The question that a network does fit, where it does not fit the one that is asked: the same with less asked of it.

Min-norm: the targets within a tolerance, as wide as the network's largest residual. Max-margin: the points that are on
their sides, without the others. Either is a relaxation: every network that fits all fits it too, so that its best
objective is at most that of the question asked, and the network in question has an objective and an excess there.
"""

from __future__ import annotations

from fractions import Fraction
from operator import mul

from verify.checker.codec import LIMIT
from verify.numbers.decimals import at_most, value
from verify.problem.members import has_margin, trains_all
from verify.problem.network import Network
from verify.problem.problem import Dataset, Problem, outputs

__all__ = ["is_relaxation_note", "relaxation_note", "relaxed"]

WITHIN, WITHOUT = "asked with the tolerance", "asked without the"

DIGITS = 2
"""Of the tolerance: the largest residual, rounded up."""


def relaxed(problem: Problem, network: Network) -> Problem | None:
    """The relaxed problem that `network` fits; None where it fits as it is, or fits at no point.

    None as well for depths other than 2, for shared weights and for fixed output weights, which are not decided.
    """
    if problem.architecture.limits() is not None or not trains_all(problem.trained):
        return None
    values, targets = outputs(problem, network), problem.data.targets
    if not has_margin(problem.goal):
        largest = max(abs(f - y) for f, y in zip(values, targets, strict=True))
        if largest <= problem.fit_tolerance or max(largest.as_integer_ratio()) >= LIMIT:
            return None
        return problem.within(Fraction(at_most(largest, DIGITS)))
    kept = [i for i, margin in enumerate(map(mul, targets, values)) if margin > 0]
    if not 0 < len(kept) < len(targets):
        return None
    return Problem(
        Dataset([problem.data.inputs[i] for i in kept], [targets[i] for i in kept]).placed(problem.data.surroundings),
        problem.architecture,
        goal=problem.goal,
        bias=problem.bias,
        trained=problem.trained,
    )


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
