"""Lemma 4 of arXiv:2603.04895v2, section 4.1.

    min |w_1|^2 + |w_2|^2 subject to max(w_1.x_i, 0) - max(w_2.x_i, 0) = y_i for all i
        = the same with the pattern fixed, the convex program (9), for one pattern of the two neurons

The text that we have lost its formulas; this is rebuilt from the proof.

The audit of a pair finds the best network and proves it, both ends of its value being one number. The program of that
network's pattern, whose optimum is found exactly, has to have it: another optimum violates the lemma. That no neuron is
on across, whatever the points, is the variant that is refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.lai2026.audited_limits import audited_at
from verify.claims.lai2026.exact_descent import Primal, preactivations
from verify.claims.lai2026.hypotheses import has_both_labels, has_labels, is_pair
from verify.claims.lai2026.least_norms import is_best_exactly
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.least_norm import least_norm
from verify.problem.posing import pose
from verify.problem.problem import Goal, Trained
from verify.strategies import feature_pairs

__all__ = ["CLAIMS", "has_its_program", "is_in_a_pattern_program"]

Pattern = Callable[[Instance, Primal], list[list[int]]]

SIZES = ((1, 1), (2, 2), (2, 3), (4, 4), (4, 8), (6, 12), (6, 64), (8, 64), (8, 256))
"""(points, dimension): where d is about n, neurons are on at labels of the other sign."""


def of_the_best(instance: Instance, z: Primal) -> list[list[int]]:  # noqa: ARG001
    """The sides of the best network, a kink being off."""
    return [[1 if value > 0 else -1 for value in line] for line in z]


def never_across(instance: Instance, z: Primal) -> list[list[int]]:  # noqa: ARG001
    """Each neuron on at the labels of its sign and off elsewhere, which is not always the best pattern."""
    signs, labels = instance.network.output_weights, instance.data.targets
    return [[1 if s * y > 0 else -1 for y in labels] for s in signs]


def has_its_program(pattern: Pattern) -> Callable[[Instance], Judgement]:
    """Whether the optimum of the pattern's program is the best network."""

    def judged(instance: Instance) -> Judgement:
        found = audited_at(instance, instance.network.hidden_weights)
        best = found.better_own_width
        if best is None or found.bracket_own_width is None or not is_best_exactly(found):
            return undecided("the audit does not prove the best value exactly")
        z = preactivations(best.hidden_weights, instance.data.inputs)
        problem = pose(best, instance.data, goal=Goal.MIN_NORM, trained=Trained.HIDDEN)
        pairs = [(j, i) for j in range(2) for i in range(len(instance.data))]
        solved = least_norm(Geometry(problem), pattern(instance, z), pairs)
        if solved is None:
            return undecided("the program of the pattern is not solved")
        value = sum((dot(w, w) for w in solved.hidden), Fraction(0)) / 2
        both = sum(min(first, second) > 0 for first, second in zip(*z, strict=True))
        if value != found.bracket_own_width.lower:
            return failed("the program of the pattern has another optimum", measured=both)
        return held(measured=both)

    return judged


def is_in_a_pattern_program(instance: Instance) -> Judgement:
    """The program (9) of the best network's pattern has the best value, which the audit proves."""
    return has_its_program(of_the_best)(instance)


SQUARE = ((4, 4), (6, 6))
"""(points, dimension) of its false variant."""

CLAIMS = (
    Claim(
        id="lai2026.lem4",
        source="arXiv:2603.04895v2, Lemma 4",
        statement="The least norm of a positive and a negative neuron is that of the convex program (9) of a pattern.",
        setting=is_pair,
        hypotheses={"nonzero-labels": has_labels},
        conclusion=is_in_a_pattern_program,
        instances=feature_pairs(sizes=SIZES).map(lambda drawn: Instance(*drawn)),
        regime="n up to 8 and d up to 256, mostly about n; the text that we have lost its formulas, which are rebuilt "
        "from the proof",
        quantity="points at which both neurons are on",
        examples=60,
        could_fail=has_both_labels,
        variants=(
            Variant(
                name="never-across",
                statement="It is that of the pattern in which no neuron is on at a label of the other sign.",
                conclusion=has_its_program(never_across),
                instances=feature_pairs(sizes=SQUARE).map(lambda drawn: Instance(*drawn)),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
