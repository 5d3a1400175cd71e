"""The best objective of networks of other depths from both sides: bounds, and better networks by descent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain

from solvers.instance import SearchStatus
from verify.checker.depth import is_own, power_of
from verify.checker.depth_bounds import (
    DeepBetterNetwork,
    DeepOptimalWithin,
    DeepUpperBound,
    LowerBoundOfDepth,
)
from verify.checker.exact import root_ends
from verify.deciders.depth.bounds import crude_bound, is_linear, linear_bound
from verify.deciders.depth.improving import candidates
from verify.deciders.depth.one_activation import has_one_activation, one_activation_search
from verify.deciders.depth.pooled import is_pooled, pooled_search
from verify.deciders.depth.record import PowerBounds
from verify.deciders.depth.relu import has_relu_layers, relu_search
from verify.deciders.proposal import Proposal, certified
from verify.deciders.time_limits import is_late
from verify.numbers.decimals import allowed
from verify.problem.network import Network
from verify.problem.phrases import any_width, shape_of
from verify.problem.problem import Problem, power_of_objective

__all__ = [
    "better",
    "bounds",
    "is_bracketed",
    "is_closed",
    "none_is_better",
    "over_widths",
    "searched",
    "with_networks",
]


def bounds(problem: Problem) -> PowerBounds:
    """The lower bounds, the best first."""
    found: list[LowerBoundOfDepth] = []
    if is_linear(problem) and (linear := linear_bound(problem)) is not None:
        found.append(linear)
    if (crude := crude_bound(problem)) is not None:
        found.append(crude)
    return PowerBounds(lower=_best_first(found))


def _best_first(found: Iterable[LowerBoundOfDepth]) -> tuple[LowerBoundOfDepth, ...]:
    return tuple(sorted(found, key=lambda proof: proof.bracket[0] or 0, reverse=True))


def is_bracketed(problem: Problem) -> bool:
    """Whether there is a search over any widths, or any number of channels, of the problem."""
    return is_pooled(problem) or has_one_activation(problem) or has_relu_layers(problem)


def over_widths(
    problem: Problem, known: PowerBounds, network: Network, tolerance: float, deadline: float | None
) -> PowerBounds:
    """With what the search over any widths finds, begun from a network: over any number of channels, of pooled ones.

    tolerance: the relative gap of the objective that it is to close.
    """
    if has_relu_layers(problem):
        search = relu_search(problem, tolerance, deadline)
    else:
        search_of = pooled_search if is_pooled(problem) else one_activation_search
        search = search_of(problem, network, tolerance, deadline)
    lower = _best_first((*known.lower, *([] if search.lower is None else [search.lower])))
    status = search.status if search.status is SearchStatus.TIME else known.status
    return with_networks(problem, replace(known, lower=lower, status=status), search.witnesses)


def searched(problem: Problem, known: PowerBounds, networks: Sequence[Network], deadline: float | None) -> PowerBounds:
    """With the networks and those that descents lead to, from the best known one of the own shape, else the first one,
    and from random starts.
    """
    start = next(iter(known.below(None, problem.architecture)), networks[0])
    start = start if start.architecture == problem.architecture else networks[0]
    found = with_networks(problem, known, chain(networks, candidates(problem, start, deadline)))
    return replace(found, status=SearchStatus.TIME) if is_late(deadline) else found


def with_networks(problem: Problem, known: PowerBounds, networks: Iterable[Network]) -> PowerBounds:
    """With those of the networks that fit, the best first, and the upper bound that the best one gives."""
    found: dict[Network, Fraction] = {network: value for value, network in known.witnesses}
    for other in networks:
        value = power_of_objective(problem, other)
        if value is not None:
            found[other] = value[0] / value[1]
    witnesses = tuple(sorted(((value, other) for other, value in found.items()), key=lambda pair: pair[0]))
    if not witnesses:
        return known
    value, best = witnesses[0]
    upper = DeepUpperBound(witness=best, power=power_of(problem), bracket=(None, value))
    return replace(known, upper=certified(problem, None, upper), witnesses=witnesses)


def is_closed(problem: Problem, known: PowerBounds, tolerance: Fraction) -> bool:
    """Whether a known network of the problem's own shape is the best of the family within the tolerance."""
    least = max((proof.bracket[0] or 0 for proof in known.lower), default=0)
    most = (1 + tolerance) ** power_of(problem) * least
    own = (value for value, network in known.witnesses if is_own(network.architecture, problem.architecture))
    return any(value <= most for value in own)


def none_is_better(
    problem: Problem, network: Network, mine: Fraction, known: PowerBounds, tolerance: Fraction
) -> Proposal | None:
    """That the network is optimal in its family within the tolerance, by the best bound; None where it is not known."""
    for lower in known.lower[:1]:
        least = lower.bracket[0] or Fraction(0)
        if not least and mine:
            continue
        own = root_ends(mine / least, power_of(problem))[1] - 1 if least else Fraction(0)
        proof = certified(problem, network, DeepOptimalWithin(tolerance=own, lower=lower))
        if own <= tolerance and proof is not None:
            more = f" by more than {allowed(own)} (relative)" if own else ""
            return Proposal(certificate=proof, reason=f"no network of {any_width(problem)} is better{more}")
    return None


def better(
    problem: Problem, network: Network, mine: Fraction, known: PowerBounds, tolerance: Fraction, *, own_width: bool
) -> Proposal | None:
    """The first network that is better by more than the tolerance; None where none is known."""
    for other in known.below(mine, problem.architecture if own_width else None):
        scope = "own-width" if own_width or is_own(other.architecture, problem.architecture) else "any-width"
        proof = certified(problem, network, DeepBetterNetwork(witness=other, tolerance=tolerance, scope=scope))
        if proof is not None:
            shape = shape_of(problem, other.architecture)
            return Proposal(certificate=proof, reason=f"a network of {shape} fits and is better")
    return None
