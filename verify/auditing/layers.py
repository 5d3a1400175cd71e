"""Each layer by itself, the others as they are, where an audit is asked about that as well.

What is found of a layer is also said of the network: better parameters of one layer are a better network, and where
they lie arbitrarily near, the network is no local optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from verify.auditing.asked import Asked
from verify.auditing.clock import INTERRUPTED, LATE, Clock
from verify.auditing.depth import is_of_other_depth
from verify.auditing.fitting import follows
from verify.auditing.steps import Known, Step
from verify.checker.certificate import HOMOGENEOUS
from verify.checker.single_layers import LayerNotLocal
from verify.deciders.finding import Finding, Question, Verdict, decide
from verify.deciders.layers.answering import LayerAnswers, layer_answers
from verify.deciders.proposal import Proposal
from verify.deciders.time_limits import share
from verify.problem.network import Network
from verify.problem.phrases import NOT_BY_MORE, layers_not_asked

__all__ = ["DEPTH_LAYERS", "LAYERS", "LAYERS_AGAIN", "LAYERS_FOLLOWED"]

SHARE = 0.25
"""The part of the time that is left which the layers have together."""

KEPT = 0.1
"""The part of the time limit that is left when searches that were cut short are taken up again."""

STEP = "each layer by itself"


def _is_asked(asked: Asked, found: Known) -> bool:
    return asked.terms.layers and found.layers is None


def _answered(asked: Asked, clock: Clock, found: Known) -> Known:
    """The answers, each search in its share of the time; better networks are candidates of the searches after it."""
    if found.subject.network is None or not HOMOGENEOUS.holds(asked.problem):
        why = layers_not_asked(asked.problem, fits=found.subject.network is not None)
        return replace(found, layers=(), notes=(*found.notes, why))
    return _with(found, _searched(asked, clock, found.subject.network, clock.share(SHARE)))


def _searched(asked: Asked, clock: Clock, network: Network, end: float | None) -> tuple[LayerAnswers, ...]:
    def attempt(left: int, search: Callable[[], Proposal]) -> Proposal:
        if clock.is_interrupted:
            return Proposal(reason=INTERRUPTED)
        return clock.attempt(STEP, search, lambda reason: Proposal(reason=reason), share(end, 1 / left))

    layers = layer_answers(
        asked.problem,
        network,
        asked.terms.tol,
        given=asked.network,
        attempt=attempt,
        with_bounds=True,
    )
    around = asked.network.surroundings
    return tuple(one if one.better is None else replace(one, better=one.better.placed(around)) for one in layers)


def _with(found: Known, layers: tuple[LayerAnswers, ...]) -> Known:
    better = [one.better for one in layers if one.better is not None]
    return replace(found, layers=layers, farther=(*found.farther, *better))


def _answered_again(asked: Asked, clock: Clock, found: Known) -> Known:
    """With the time that all other steps left, where searches were cut short in their share of it."""
    before, network = found.layers, found.subject.network
    if not before or network is None or not clock.has(STEP) or clock.is_interrupted or clock.is_late:
        return found
    clock.withdraw(STEP, LATE)
    after = _searched(asked, clock, network, clock.before(KEPT))
    return _with(found, tuple(max(pair, key=_known) for pair in zip(before, after, strict=True)))


def _known(one: LayerAnswers) -> tuple[int, Fraction]:
    """How many of the two questions are answered, then how narrow the bracket is."""
    answered = sum(finding.certificate is not None for finding in (one.local, one.optimal))
    bracket = one.bracket
    return answered, Fraction(0) if bracket is None else bracket.lower / (bracket.upper or 1)


def _way_down(found: Known) -> LayerNotLocal | None:
    """That of the first layer that is no local optimum by itself."""
    proofs = (one.local.certificate for one in found.layers or ())
    return next((proof for proof in proofs if isinstance(proof, LayerNotLocal)), None)


def _is_followed(_: Asked, found: Known) -> bool:
    return _way_down(found) is not None


def _followed(asked: Asked, _: Clock, found: Known) -> Known:
    """No local optimum, where that is open and a layer is none by itself; then no global one, by whatever little."""
    proof = _way_down(found)
    if proof is None or found.findings[Question.LOCAL_OPTIMUM].verdict is not Verdict.UNDECIDED:
        return found
    lie = f"better parameters of layer {proof.layer} alone (counting from 0) lie arbitrarily near"
    proposal = Proposal(certificate=proof, reason=lie)
    local = decide(Question.LOCAL_OPTIMUM, asked.problem, asked.network, proposal)
    found = found.with_findings(local)
    for question in (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH):
        found = found.with_findings(_global(asked, found, question, local, lie))
    return found


def _global(asked: Asked, found: Known, question: Question, local: Finding, lie: str) -> Finding:
    before = found.findings[question]
    if before.verdict is not Verdict.UNDECIDED or local.verdict is not Verdict.REFUTED:
        return before
    refuted = follows(question, found.subject, local, lie, asked.terms.tol)
    if refuted.verdict is not Verdict.UNDECIDED:
        return refuted
    return replace(before, reason=f"{lie}, {NOT_BY_MORE}")


DEPTH_LAYERS = Step(
    name=STEP,
    accepts=lambda asked, found: _is_asked(asked, found) and is_of_other_depth(asked.problem),
    run=_answered,
)
LAYERS = Step(name=STEP, accepts=_is_asked, run=_answered)
LAYERS_AGAIN = Step(name=STEP, accepts=lambda asked, _: asked.terms.layers, run=_answered_again)
LAYERS_FOLLOWED = Step(
    name="what follows from single layers", accepts=_is_followed, run=_followed, without=lambda _, found, __: found
)
