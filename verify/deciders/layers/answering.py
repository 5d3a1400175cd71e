"""The answers about each layer by itself: verdicts with the certificates that the checker accepted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, final

from verify.checker import Accepted
from verify.checker.certificate import HOMOGENEOUS, Certificate
from verify.checker.single_layers import LayerBetter, LayerLocal, LayerNotLocal, LayerOptimal
from verify.deciders.finding import Verdict
from verify.deciders.layers.local import local_by_itself
from verify.deciders.layers.optimal import optimal_by_itself
from verify.deciders.proposal import FLOAT_FAILURES, Proposal, checked, how_floats_failed
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["LayerAnswers", "LayerFinding", "layer_answers"]

_SAYS = {
    LayerLocal: Verdict.PROVED,
    LayerNotLocal: Verdict.REFUTED,
    LayerOptimal: Verdict.PROVED,
    LayerBetter: Verdict.REFUTED,
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LayerFinding:
    """An answer about one layer; it has no truth value, as its verdict has none.

    reason: one sentence, of what is proved or of why it is open.   certificate: None where it is open.
    """

    verdict: Verdict
    reason: str
    certificate: Certificate | None = None

    def __bool__(self) -> NoReturn:
        raise TypeError("a finding has no truth value: ask `.verdict is Verdict.PROVED`")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LayerAnswers:
    """A layer by itself, the others as they are, counted from 0: is it a local optimum, is it a global one.

    optimal: within the tolerance with which it was asked.
    """

    layer: int
    local: LayerFinding
    optimal: LayerFinding


def layer_answers(problem: Problem, network: Network, tolerance: Fraction) -> tuple[LayerAnswers, ...]:
    """The answers about each layer of a network that fits; none where layers are untrained or a bias is free.

    tolerance: how much smaller the squared norm of other parameters may be, in parts of theirs, for "global".
    """
    if not HOMOGENEOUS.holds(problem):
        return ()
    found: list[LayerAnswers] = []
    for layer in range(len(network.parameters)):
        local = _answered(problem, network, lambda l=layer: local_by_itself(problem, network, l))
        near = local.certificate if isinstance(local.certificate, LayerNotLocal) else None
        optimal = _answered(
            problem, network, lambda l=layer, n=near: optimal_by_itself(problem, network, l, tolerance, n)
        )
        found.append(LayerAnswers(layer=layer, local=local, optimal=optimal))
    return tuple(found)


def _answered(problem: Problem, network: Network, search: Callable[[], Proposal]) -> LayerFinding:
    """What a proposal supports: its certificate is checked here."""
    try:
        proposal = search()
    except FLOAT_FAILURES as error:
        return LayerFinding(verdict=Verdict.UNDECIDED, reason=how_floats_failed(error))
    proof = proposal.certificate
    if proof is None or not isinstance(checked(problem, network, proof), Accepted):
        return LayerFinding(verdict=Verdict.UNDECIDED, reason=proposal.reason)
    return LayerFinding(verdict=_SAYS[type(proof)], reason=proposal.reason, certificate=proof)
