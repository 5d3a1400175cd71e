"""Lemma 4 of arXiv:2603.04895v2, section 4.1.

    min |w_1|^2 + |w_2|^2 subject to max(w_1.x_i, 0) - max(w_2.x_i, 0) = y_i for all i
        = the same with the pattern fixed, the convex program (9), for one pattern of the two neurons

The text that we have lost its formulas; this is rebuilt from the proof.
"""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.lai2026.exact_descent import preactivations
from verify.claims.lai2026.hypotheses import has_labels, is_pair, stacked, weights_of
from verify.claims.lai2026.least_norms import pattern_program
from verify.claims.records import Claim, Instance, Judgement, failed, held
from verify.claims.theorems import run_alone
from verify.problem.problem import outputs
from verify.strategies import interpolating_pairs

__all__ = ["CLAIMS", "interpolates", "is_in_a_pattern_program"]


def interpolates(instance: Instance) -> bool:
    """Every label is met."""
    return outputs(instance.problem, instance.network) == list(instance.data.targets)


def is_in_a_pattern_program(instance: Instance) -> Judgement:
    """The weights satisfy the constraints of one program (9), whose solution meets all labels and is no longer."""
    z = preactivations(weights_of(instance), instance.data.inputs)
    both = [(second if y > 0 else first) > 0 for first, second, y in zip(*z, instance.data.targets, strict=True)]
    found, mine = pattern_program(instance, both), stacked(weights_of(instance))
    if found is None:
        return failed("its program has no solution")
    d = instance.data.dimension
    first, second = preactivations([found[:d], found[d:]], instance.data.inputs)
    if any(
        max(a, Fraction(0)) - max(b, Fraction(0)) != y
        for a, b, y in zip(first, second, instance.data.targets, strict=True)
    ):
        return failed("the solution of its program does not meet a label")
    if dot(found, found) > dot(mine, mine):
        return failed("the solution of its program is longer")
    return held("the solution of its program meets all labels and is no longer")


_REBUILT = "the text that we have lost its formulas, which are rebuilt from the proof"


CLAIMS = (
    Claim(
        id="lai2026.lem4",
        source="arXiv:2603.04895v2, Lemma 4",
        statement="A positive and a negative neuron that meet all labels satisfy the constraints of the convex program "
        "(9) of one pattern, whose solution meets them as well: the least norm is that of such a program.",
        setting=is_pair,
        hypotheses={"nonzero-labels": has_labels, "interpolates": interpolates},
        conclusion=is_in_a_pattern_program,
        instances=interpolating_pairs().map(lambda drawn: Instance(*drawn)),
        regime=f"up to 3 points and dimensions; {_REBUILT}",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
