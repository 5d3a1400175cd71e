"""Each layer by itself, the others as they are, where an audit is asked about that as well.

What is found of a layer is also said of the network: better parameters of one layer are a better network, and where
they lie arbitrarily near, the network is no local optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from verify.auditing.asked import Asked
from verify.auditing.clock import INTERRUPTED, Clock
from verify.auditing.depth import is_of_other_depth
from verify.auditing.fitting import follows
from verify.auditing.steps import Known, Step
from verify.checker.certificate import HOMOGENEOUS
from verify.checker.single_layers import LayerNotLocal
from verify.deciders.finding import Finding, Question, Verdict, decide
from verify.deciders.layers.answering import layer_answers
from verify.deciders.proposal import Proposal
from verify.deciders.time_limits import share
from verify.problem.phrases import NOT_BY_MORE, layers_not_asked

__all__ = ["DEPTH_LAYERS", "LAYERS", "LAYERS_FOLLOWED"]

SHARE = 0.25
"""The part of the time that is left which the layers have together."""

STEP = "each layer by itself"


def _is_asked(asked: Asked, found: Known) -> bool:
    return asked.terms.layers and found.layers is None


def _answered(asked: Asked, clock: Clock, found: Known) -> Known:
    """The answers, each search in its share of the time; better networks are candidates of the searches after it."""
    if found.subject.network is None or not HOMOGENEOUS.holds(asked.problem):
        why = layers_not_asked(asked.problem, fits=found.subject.network is not None)
        return replace(found, layers=(), notes=(*found.notes, why))
    end = clock.share(SHARE)

    def attempt(left: int, search: Callable[[], Proposal]) -> Proposal:
        if clock.is_interrupted:
            return Proposal(reason=INTERRUPTED)
        return clock.attempt(STEP, search, lambda reason: Proposal(reason=reason), share(end, 1 / left))

    layers = layer_answers(
        asked.problem,
        found.subject.network,
        asked.terms.tol,
        given=asked.network,
        attempt=attempt,
        with_bounds=True,
    )
    around = asked.network.surroundings
    layers = tuple(one if one.better is None else replace(one, better=one.better.placed(around)) for one in layers)
    better = [one.better for one in layers if one.better is not None]
    return replace(found, layers=layers, farther=(*found.farther, *better))


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
LAYERS_FOLLOWED = Step(
    name="what follows from single layers", accepts=_is_followed, run=_followed, without=lambda _, found, __: found
)
