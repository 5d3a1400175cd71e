"""The answers about each layer by itself: verdicts with the certificates that the checker accepted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import NoReturn, final

from verify.checker.certificate import HOMOGENEOUS, Certificate
from verify.checker.exact import squared_norm
from verify.checker.layer_facts import LayerProof, improved, layer_bracket
from verify.checker.single_layers import LayerBetter, LayerLocal, LayerNotLocal, LayerOptimal
from verify.deciders.finding import Verdict
from verify.deciders.layers.local import local_by_itself
from verify.deciders.layers.optimal import BETTER_BY_ITSELF, least_by_itself, optimal_by_itself
from verify.deciders.proposal import FLOAT_FAILURES, Proposal, certified, how_floats_failed
from verify.deciders.witnesses import distance
from verify.numbers.intervals import Interval
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["Attempt", "LayerAnswers", "LayerFinding", "layer_answers"]

_SAYS = {
    LayerLocal: Verdict.PROVED,
    LayerNotLocal: Verdict.REFUTED,
    LayerOptimal: Verdict.PROVED,
    LayerBetter: Verdict.REFUTED,
}

LARGEST = 2 * 10**5
"""Parameters of a network times points up to which a layer is looked at exactly."""
LARGE = "the network has too many parameters, or the data too many points, to look at the layer exactly"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LayerFinding:
    """An answer about one layer; it has no truth value, as its verdict has none.

    reason: one sentence, of what is proved or of why it is open.   certificate: None where it is open.
    """

    verdict: Verdict
    reason: str
    certificate: LayerProof | None = None

    def __bool__(self) -> NoReturn:
        raise TypeError("a finding has no truth value: ask `.verdict is Verdict.PROVED`")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LayerAnswers:
    """A layer by itself, the others as they are, counted from 0: is it a local optimum, is it a global one.

    optimal: within the tolerance with which it was asked.
    bound: how small its squared norm is at least, where that is not what `optimal` is about; None where it is not
    known.
    squared_norm: of its own parameters.   bracket: two ends of the least squared norm of parameters that fit in its
    place with no smaller margin.   excess: how far above that its own is, relative; None where nothing is known.
    better: the network with better parameters in its place, where some are known.
    """

    layer: int
    local: LayerFinding
    optimal: LayerFinding
    squared_norm: Fraction
    bound: LayerOptimal | None = None
    better: Network | None = None

    @property
    def certificates(self) -> dict[str, LayerProof]:
        """The certificates by what they are about: "local", "optimal", "bound"."""
        found = {"local": self.local.certificate, "optimal": self.optimal.certificate, "bound": self.bound}
        return {what: proof for what, proof in found.items() if proof is not None}

    @property
    def bracket(self) -> Interval | None:
        """Two ends of the least squared norm."""
        return Interval.of(layer_bracket(self.squared_norm, self.certificates)[0])

    @property
    def excess(self) -> Interval | None:
        """How far above the least squared norm that of the layer is, relative."""
        return Interval.of(layer_bracket(self.squared_norm, self.certificates)[1])


Attempt = Callable[[int, Callable[[], Proposal]], Proposal]
"""Does a search, the number of those that are left with it given; where it is cut short, the proposal says why."""


def layer_answers(
    problem: Problem,
    network: Network,
    tolerance: Fraction,
    *,
    given: Network | None = None,
    attempt: Attempt = lambda _, search: search(),
    with_bounds: bool = False,
) -> tuple[LayerAnswers, ...]:
    """The answers about each layer of a network that fits; none where layers are untrained or a bias is free.

    tolerance: how much smaller the squared norm of other parameters may be, in parts of theirs, for "global".
    given: the network near which this one is, which certificates then name as their subject; by default this one.
    attempt: does each search, in its share of the time.
    with_bounds: where a layer is not proved to be a global optimum, how small its squared norm may be as well, and
    parameters as near to that as they are found.
    """
    if not HOMOGENEOUS.holds(problem):
        return ()
    many = len(network.parameters)
    return tuple(
        _OneLayer(problem, network, given or network, layer, tolerance, attempt, SEARCHES * (many - layer)).answers(
            with_bounds=with_bounds
        )
        for layer in range(many)
    )


SEARCHES = 3
"""About each layer at most."""


@final
@dataclass(frozen=True, slots=True)
class _OneLayer:
    """left: how many searches there are with those of this layer."""

    problem: Problem
    network: Network
    given: Network
    layer: int
    tolerance: Fraction
    attempt: Attempt
    left: int

    def answers(self, *, with_bounds: bool) -> LayerAnswers:
        """Local, then global, then, unless that is proved, how small the norm of the layer may be."""
        problem, network, layer, tolerance = self.problem, self.network, self.layer, self.tolerance
        square = squared_norm(network.parameters[layer])
        if problem.architecture.parameter_count * len(problem.data) > LARGEST:
            is_open = LayerFinding(verdict=Verdict.UNDECIDED, reason=LARGE)
            return LayerAnswers(layer=layer, local=is_open, optimal=is_open, squared_norm=square)
        local = self._searched(0, partial(local_by_itself, problem, network, layer))
        down = local.certificate if isinstance(local.certificate, LayerNotLocal) else None
        optimal = self._searched(1, partial(optimal_by_itself, problem, network, layer, tolerance, down))
        found = LayerAnswers(
            layer=layer, local=self._finding(local), optimal=self._finding(optimal), squared_norm=square
        )
        if found.optimal.verdict is Verdict.PROVED or not with_bounds:
            return found
        better = optimal.certificate if isinstance(optimal.certificate, LayerBetter) else None
        least = self._searched(2, partial(least_by_itself, problem, network, layer, tolerance, better))
        if isinstance(least.beside, LayerBetter):
            better = least.beside
            proposal = Proposal(certificate=better, reason=BETTER_BY_ITSELF)
            found = replace(found, optimal=self._finding(proposal))
        if better is not None and found.optimal.verdict is Verdict.REFUTED:
            found = replace(found, better=Network.of(improved(network, better)))
        bound = self._about_given(least.certificate)
        return replace(found, bound=bound if isinstance(bound, LayerOptimal) else None)

    def _searched(self, done: int, search: Callable[[], Proposal]) -> Proposal:
        """What a search proposes; why there is nothing where floats failed, or it was cut short."""

        def guarded() -> Proposal:
            try:
                return search()
            except FLOAT_FAILURES as error:
                return Proposal(reason=how_floats_failed(error))

        return self.attempt(self.left - done, guarded)

    def _finding(self, proposal: Proposal) -> LayerFinding:
        """What a proposal supports: its certificate is checked here."""
        proof = self._about_given(proposal.certificate)
        if proof is None:
            return LayerFinding(verdict=Verdict.UNDECIDED, reason=proposal.reason)
        return LayerFinding(verdict=_SAYS[type(proof)], reason=proposal.reason, certificate=proof)

    def _about_given(self, proof: Certificate | None) -> LayerProof | None:
        """The certificate, about the network as one near the given one, when the checker accepts it."""
        if not isinstance(proof, LayerLocal | LayerNotLocal | LayerOptimal | LayerBetter):
            return None
        if self.network.parameters != self.given.parameters:
            apart = distance(self.network, self.given)
            proof = replace(proof, subject=self.network.parameters, moved=apart)
        return certified(self.problem, self.given, proof)
