"""That the gap of Theorems 2 and 4 of arXiv:2603.04895v2 is an artefact of the step; a conjecture of ours.

    as in Theorem 2, starts in proportion to the step  ==>  |lim w(t) - w*| is of the order of the step

so that gradient flow would end at the least norm of (7), and of (8), itself. Trained by the product with a step, a
quarter and a sixteenth of it; the distances are those that audits of the ends prove. One that does not at least halve
when the step is a quarter violates it, as would be the case where a point slides on a kink and is released late.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.auditing.record import Audit
from verify.claims.lai2026.audited_limits import audited_at
from verify.claims.lai2026.exact_descent import step_size
from verify.claims.lai2026.hypotheses import has_both_labels, is_hidden_regression, is_small_and_positive
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.strategies import positive_start
from verify.training import train

__all__ = ["CLAIMS", "falls_with_the_step"]

SIZES = ((4, 256), (4, 256), (6, 576), (8, 512))

STEPS = 400
"""Of the largest step; more where it is smaller."""

PARTS = (1, 4, 16)


def ended_with(instance: Instance, part: int) -> Audit:
    """The audit of where training ends whose step and start are 1 / `part` of the instance's."""
    network = instance.network
    start = Network.two_layer([[w / part for w in row] for row in network.hidden_weights], network.output_weights)
    step = to_float(step_size(instance)) * len(instance.data) / part
    run = train(
        instance.data, start=start, loss="squared", method="descent", step=step, schedule="constant", hidden_only=True,
        max_evaluations=STEPS * part,
    )  # fmt: skip
    return audited_at(instance, run.network.hidden_weights)


def falls_by(factor: Fraction) -> Callable[[Instance], Judgement]:
    """Whether a quarter of the step makes the distance at least `factor` times smaller, twice."""

    def judged(instance: Instance) -> Judgement:
        ends = [ended_with(instance, part).distance_own_width for part in PARTS]
        found = [pair for pair in ends if pair is not None]
        if len(found) < len(ends):
            return undecided("an audit does not say how far the least norm is")
        ratio = found[0].upper / found[-1].lower if found[-1].lower else None
        for before, after in pairwise(found):
            if after.lower * factor > before.upper:
                return failed("the distance does not fall with the step", measured=ratio)
            if after.upper * factor > before.lower:
                return undecided("the ends of the audits leave it open")
        return held(measured=ratio)

    return judged


def falls_with_the_step(instance: Instance) -> Judgement:
    """A quarter of the step at least halves the proved distance from the least norm, twice."""
    return falls_by(Fraction(2))(instance)


def is_one_or_pair(instance: Instance) -> bool:
    """One positive neuron, or a pair."""
    return is_hidden_regression(instance) and instance.network.output_weights in ((1,), (1, -1))


@st.composite
def starts(draw: DrawFn) -> Instance:
    """`positive_start` of one neuron or a pair."""
    n, d = draw(st.sampled_from(SIZES))
    signs = draw(st.sampled_from([(1,), (1, -1)]))
    return Instance(*positive_start(draw(st.integers(0, 2**16)), n, d, signs))


CLAIMS = (
    Claim(
        id="lai2026.step-size",
        source="arXiv:2603.04895v2, a conjecture about Theorems 2 and 4; ours, not the paper's",
        statement="The distance of the limit of gradient descent from the least norm falls with the step: a quarter of "
        "it at least halves it.",
        setting=is_one_or_pair,
        hypotheses={"both-labels": has_both_labels, "small-positive-start": is_small_and_positive},
        sharp={"small-positive-start": "min-norm/lai2026-pair-starts-best"},
        conclusion=falls_with_the_step,
        instances=starts(),
        regime="not in the paper; n from 4 to 8, d from 256 to 576; step and start times 1, 1/4, 1/16",
        quantity="distance at the step / at a sixteenth of it",
        trains=True,
        examples=20,
        could_fail=always,
        variants=(
            Variant(
                name="eighth",
                statement="A quarter of the step makes it an eighth.",
                conclusion=falls_by(Fraction(8)),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
