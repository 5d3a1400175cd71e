"""What the product says of where descent ends: the audit with given output weights, its certificates and distances."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from verify.auditing.asked import Terms, posed
from verify.auditing.clock import Clock
from verify.auditing.fitting import INFEASIBILITY, UNSUPPORTED
from verify.auditing.loop import answered
from verify.auditing.own_width import OWN_WIDTH
from verify.auditing.record import Audit
from verify.auditing.searching import IMPROVED
from verify.checker.fit import Fits
from verify.claims.lai2026.exact_descent import captured
from verify.claims.records import Instance, Judgement, failed, held
from verify.deciders.finding import Ending, Question, Verdict, decide
from verify.deciders.proposal import Proposal
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset, Goal, Problem, Trained
from verify.readers.given import given

__all__ = ["audited_at", "audited_limit", "certified_fit", "posed_for"]

Weights = Sequence[Sequence[Fraction]]

ASKED = (UNSUPPORTED, INFEASIBILITY, IMPROVED, OWN_WIDTH)
"""The steps of these audits: claims ask for the least norm, and how far it is, not whether the end is stationary."""

TERMS = Terms(tol=Fraction(1, 10**6), relax=False)


def posed_for(instance: Instance) -> tuple[Dataset, tuple[Fraction, ...]]:
    """The data whose labels the neurons can meet, and the output weights.

    One positive neuron cannot meet negative labels: they become 0, as in (7).
    """
    data, signs = instance.data, instance.network.output_weights
    if min(signs) < 0:
        return data, signs
    return Dataset(data.inputs, [max(y, Fraction(0)) for y in data.targets]), signs


def _network(instance: Instance, weights: Weights) -> Network:
    return Network.two_layer(weights, instance.network.output_weights)


def certified_fit(instance: Instance, weights: Weights) -> Judgement:
    """Whether the network with these hidden weights meets all labels exactly, by a certificate."""
    data, _ = posed_for(instance)
    network = _network(instance, weights)
    problem: Problem = pose(network, data, goal=Goal.MIN_NORM, trained=Trained.HIDDEN)
    found = decide(Question.FITS, problem, network, Proposal(certificate=Fits(margin=Fraction(0)), reason="it fits"))
    return held() if found.verdict is Verdict.PROVED else failed("the limit does not meet every label")


def audited_at(instance: Instance, weights: Weights) -> Audit:
    """The audit of the network with these hidden weights, only these being trained, at its own width.

    Whether it is stationary or a local optimum is not asked. KeyboardInterrupt at Ctrl-C.
    """
    data, _ = posed_for(instance)
    read = given(_network(instance, weights), data)
    asked = posed(read, TERMS, goal=Goal.MIN_NORM, bias=None, trained=Trained.HIDDEN, fit_tol=None)
    found = answered(asked, Clock(None), ASKED)
    if found.ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    return found


@lru_cache(maxsize=8)
def audited_limit(instance: Instance) -> Audit | None:
    """The audit of where descent from the instance's network ends; None where that is not known."""
    found = captured(instance)
    return None if found is None else audited_at(instance, found.limit)
