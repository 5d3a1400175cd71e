"""Which network an audit is about: the given one, or one near it that meets the targets exactly; chosen once, first.

A min-norm network in floats has several repairs, and what can be said depends on the kinks that they keep: an optimum
that was moved off a kink is no KKT point any more. So the one is chosen that is proved to be an exact KKT point, else
one that is so nearly, and all further questions are about it. Where every repair lost a kink of the given network, that
it is not stationary says nothing of the given one, and is not said: the question stays open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import final

import numpy as np

from verify.checker.exact import sqrt_upper
from verify.checker.statement import pattern
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.fit.repairs import repairs
from verify.deciders.global_optimality.infeasibility import meetable_bias
from verify.deciders.hidden.nearby import nearby_points
from verify.deciders.proposal import FLOAT_FAILURES, Proposal, how_floats_failed
from verify.deciders.stationarity import exact_hidden_point, stationarity
from verify.deciders.time_limits import TimeIsUpError, is_late, share
from verify.deciders.witnesses import at_output_bias, distance, dot_product_scales, with_output_bias
from verify.numbers.floats import float_rows, float_weights
from verify.problem.members import has_margin, margins, trains_all
from verify.problem.network import Network
from verify.problem.problem import Problem, objective, outputs

__all__ = ["Chosen", "Subject", "candidates", "changed", "choose", "lost_kinks"]

ROUNDING = 1e-9
"""Preactivations below this part of their `verify.deciders.witnesses.dot_product_scales` are kinks up to rounding."""

MISSED = Fraction(1, 1000)
"""A network that misses a target by more than this part of the largest one is not near one that meets them all."""

CANCELLED = Fraction(1, 10**12)
"""It may miss it by this part of what its neurons could give there: rounding, where what they give cancels."""


@final
@dataclass(frozen=True)
class Subject:
    """What an audit is about, and what is computed of it once.

    network: what the answers are about, which fits: the given network, or one near it; None where none is known.
    """

    problem: Problem
    given: Network
    network: Network | None

    @cached_property
    def values(self) -> list[Fraction]:
        """f(x_i) of the given network."""
        return outputs(self.problem, self.given)

    @cached_property
    def margins(self) -> list[Fraction]:
        """q_i of the given network: y_i f(x_i) for max-margin."""
        return margins(self.problem, self.values)

    @cached_property
    def residuals(self) -> list[Fraction]:
        """|f(x_i) - y_i| of the given network."""
        return [abs(value - y) for value, y in zip(self.values, self.problem.data.targets, strict=True)]

    @cached_property
    def objective(self) -> Fraction | None:
        """Of the network that fits; None without one."""
        return None if self.network is None else objective(self.problem, self.network)

    @property
    def asked(self) -> Network:
        """The network that is judged: the one that fits, else the given one."""
        return self.given if self.network is None else self.network

    def at(self, network: Network) -> Subject:
        """The same with answers about another network; itself where it is that one."""
        return self if network is self.network else Subject(self.problem, self.given, network)


@final
@dataclass(frozen=True, slots=True)
class Chosen:
    """A network that fits exactly, and whether it is stationary."""

    network: Network
    stationary: Proposal


def candidates(
    problem: Problem,
    distinct: Problem,
    network: Network,
    tolerance: Fraction,
    deadline: float | None = None,
    reach: Fraction | None = None,
) -> tuple[list[Network], list[Network]]:
    """Networks near the given one that fit exactly, that one first; and those that were found and are not near.

    Near: the neurons are changed by at most `tolerance` of their size (`changed`), and the given network misses no
    target by much (`MISSED`). Neither depends on the units of inputs and outputs, or on how neurons are balanced.
    reach: how far its weights may be moved instead, relative to their norm; by default they may be by any amount.
    distinct: the problem without copies of its points. Max-margin, or within a fit tolerance: the given one only, and
    where the output weights are given exact KKT points near it as well.
    """
    pairs = list(zip(outputs(problem, network), problem.data.targets, strict=True))
    if has_margin(problem.goal):
        fits = all(value * y > 0 for value, y in pairs)
    else:
        fits = all(abs(value - y) <= problem.fit_tolerance for value, y in pairs)
    found: list[Network] = [network] if fits else []
    is_whole = trains_all(problem.trained)
    if (is_whole or not fits) and (has_margin(problem.goal) or (fits and problem.fit_tolerance)):
        return found, []
    farther: list[Network] = []
    try:
        with np.errstate(all="ignore"):
            others = _repairs(distinct, network, deadline)
            share = max(MISSED, tolerance if reach is None else reach)
            is_close = has_margin(problem.goal) or _nearly_fits(distinct, network, share)
            for repaired in others if is_whole else chain(others, nearby_points(distinct, network, deadline)):
                if reach is None:
                    is_near = is_close and changed(distinct, repaired, network) <= tolerance
                else:
                    is_near = is_close and distance(repaired, network) <= reach
                kind = found if is_near else farther
                if repaired not in kind:
                    kind.append(repaired)
    except (*FLOAT_FAILURES, TimeIsUpError):
        pass
    return found, farther


def _repairs(problem: Problem, network: Network, deadline: float | None) -> Iterable[Network]:
    """The repairs, with the output bias of the network, or one near it with which targets can be met."""
    plain, bias = Network(network.architecture, network.parameters[:2]), network.output_bias
    if not problem.has_output_bias:
        return repairs(problem, network, deadline)
    bias = meetable_bias(problem, bias)
    found = repairs(at_output_bias(problem, bias), plain, deadline)
    return (with_output_bias(problem, repaired, bias) for repaired in found)


def changed(problem: Problem, network: Network, given: Network) -> Fraction:
    """How far neurons v relu(w.x) with other w are changed: an upper bound of ||(v_j dw_jc X_c)|| / ||(v_j w_jc X_c)||.

    X_c: the largest |x_ic| of a column, so that weights count by what they do at the data. From neurons that are all 0
    any change is 1.
    """
    if network is given:
        return Fraction(0)
    scales = [max(abs(row[c]) for row in problem.rows) ** 2 for c in range(len(problem.rows[0]))]
    apart = size = Fraction(0)
    for v, w, other in zip(given.output_weights, given.hidden_weights, network.hidden_weights, strict=True):
        apart += v * v * sum((scale * (b - a) ** 2 for scale, a, b in zip(scales, w, other, strict=True) if a != b), 0)
        size += v * v * sum((scale * a * a for scale, a in zip(scales, w, strict=True)), Fraction(0))
    return sqrt_upper(apart / size, 20) if size else Fraction(apart > 0)


def _nearly_fits(problem: Problem, network: Network, share: Fraction) -> bool:
    """Whether no target is missed by more than this part of the largest one, or than what rounding does."""
    allowed = share * max(map(abs, problem.data.targets))
    for i, (value, y) in enumerate(zip(outputs(problem, network), problem.data.targets, strict=True)):
        if abs(value - y) <= allowed:
            continue
        row = problem.rows[i]
        neurons = zip(network.hidden_weights, network.output_weights, strict=True)
        most = sum(
            (abs(v) * sum(abs(a * b) for a, b in zip(w, row, strict=True)) for w, v in neurons),
            abs(network.output_bias),
        )
        if abs(value - y) > CANCELLED * most:
            return False
    return True


def choose(
    problem: Problem,
    given: Network,
    found: Sequence[Network],
    allowed: Fraction,
    deadline: float | None,
    reach: Fraction | None = None,
) -> Chosen:
    """The candidate of which most is proved: an exact KKT point, a KKT point up to `allowed`, else the nearest.

    found: at least one network, as `candidates` gives them.   deadline: a moment of `solvers.clock.now()`.
    reach: how far one may be from a given network that fits itself, relative to its norm; by default `allowed`.
    """
    best: tuple[int, Chosen] | None = None
    is_whole = trains_all(problem.trained)
    for network in _worth_asking(problem, given, found, allowed if reach is None else reach):
        if is_late(deadline) and (best is not None or not is_whole):
            break
        try:
            if not is_whole:  # others are asked about once it is known that none is an exact KKT point
                exact = exact_hidden_point(problem, network, given)
                if exact is not None:
                    return Chosen(network, exact)
                continue
            subject = Chosen(network, _stationarity(problem, network, given, allowed, deadline))
        except TimeIsUpError:
            if best is None and is_whole:
                raise
            if best is None:
                break
            return _without_lost_kinks(problem, given, best[1])
        rank = _rank(subject.stationary)
        if best is None or rank < best[0]:
            best = rank, subject
        if rank == 0 or (is_whole and rank == 1 and network is not given):
            break
    if best is None or best[0] > 1:
        nearest = min(
            [given] if given in found and not is_whole else found,
            key=lambda network: (not is_whole and bool(lost_kinks(problem, given, network)), distance(network, given)),
        )
        if best is None or best[1].network is not nearest:
            best = 2, Chosen(nearest, _stationarity(problem, nearest, given, allowed, deadline))
    return _without_lost_kinks(problem, given, best[1])


def _worth_asking(problem: Problem, given: Network, found: Sequence[Network], reach: Fraction) -> Iterable[Network]:
    """The given network; others near enough beside it only where it has kinks up to rounding that they make exact."""
    if given not in found:
        return found
    if not reach or (trains_all(problem.trained) and not lost_kinks(problem, given, given)):
        return [given]
    return [given, *(network for network in found if network is not given and distance(network, given) <= reach)]


def _stationarity(
    problem: Problem, network: Network, given: Network, allowed: Fraction, deadline: float | None
) -> Proposal:
    """What the search proposes; that it failed leaves the question open."""
    try:
        with np.errstate(all="ignore"):
            return stationarity(problem, network, given, allowed, deadline=share(deadline, 0.5))
    except FLOAT_FAILURES as error:
        return Proposal(reason=f"the floating-point search failed ({how_floats_failed(error)})")


def _rank(proposal: Proposal) -> int:
    proof = proposal.certificate
    if isinstance(proof, Stationary):
        return 1 if proof.epsilon or proof.delta else 0
    return 2 if proof is None else 3


def lost_kinks(problem: Problem, given: Network, network: Network) -> list[tuple[int, int]]:
    """(neuron, point) where a preactivation of the given network is 0 up to rounding, and not 0 at `network`."""
    if problem.architecture.slope == 1:
        return []
    weights, rows = float_weights(given), float_rows(problem)
    reach = dot_product_scales(rows, weights, bias=problem.architecture.bias)
    with np.errstate(all="ignore"):
        near = (np.abs(weights @ rows.T) <= ROUNDING * reach) & (reach > 0)
    signs = pattern(problem, network)
    return [(j, i) for j, i in np.argwhere(near).tolist() if signs[j][i] and given.output_weights[j]]


def _without_lost_kinks(problem: Problem, given: Network, subject: Chosen) -> Chosen:
    """The subject, its refutation left out where it may come from a kink that only the given network has."""
    proof = subject.stationary.certificate
    if subject.network is given or not isinstance(proof, NotStationary) or _is_imbalance(problem, proof):
        return subject
    lost = lost_kinks(problem, given, subject.network)
    if not lost:
        return subject
    j, i = lost[0]
    reason = (
        f"neuron {j} has its kink at point {i} up to rounding, and no network near it was found that fits exactly and "
        "keeps such kinks"
    )
    return replace(subject, stationary=Proposal(reason=reason, numbers=subject.stationary.numbers))


def _is_imbalance(problem: Problem, proof: NotStationary) -> bool:
    """Whether this separates by one neuron that is out of balance, for which kinks do not matter."""
    if len(proof.vectors) != 1:
        return False
    hidden, outgoing, *output_bias = proof.vectors[0]
    if any(chain(*output_bias)):
        return False
    owners = problem.architecture.layers[0].places
    moved = {j for j, v in enumerate(outgoing) if v}
    moved |= {j for j, row in enumerate(owners) if any(q is not None and hidden[q] for q in row)}
    return len(moved) == 1
