"""Stationarity of networks without weights that count, for a loss: only biases are left, and they give one number.

With W = v = 0 all residuals are 0 but two, and both are about sum c_i: mu_b b - sum c_i of an output bias b, and s(b_j)
sum c_i of a neuron with a free bias b_j. So the network is stationary when the c_i with -c_i in the subdifferentials of
the losses, which are intervals, can add up to that number. Epsilon and delta are relative to M = 0, so that each of
them asks the same. Complete.

Source: `docs/mathematics.md`, 14.4 "Stationary points of a loss".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from verify.checker.fit import neurons
from verify.checker.objectives import Objective
from verify.checker.statement import Rows
from verify.checker.stationary import Stationary
from verify.deciders.proposal import Proposal, certified
from verify.deciders.stationarity.loss_refutation import refuted_by
from verify.deciders.subgradients import subgradients
from verify.deciders.witnesses import distance
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs

__all__ = ["weightless"]

KAPPAS = (Fraction(0), *(Fraction(2) ** power for power in range(0, 80, 8)))
"""The larger kappa, the less is lost; the smaller it is, the shorter is the certificate."""


def weightless(
    problem: Problem, asked: Objective, network: Network, given: Network, tolerance: Fraction
) -> Proposal | None:
    """Whether a network with W = v = 0 on the columns that count is stationary; None where no proof was accepted."""
    outer = zip(problem.targets, outputs(problem, network), strict=True)
    ranges = [subgradients(asked.loss, y, z) for y, z in outer]
    pulls = _pulls(problem, asked, network)
    wanted = {pull for pull, _ in pulls}
    moved = distance(network, given)
    chosen = _adding_up_to(ranges, wanted.pop() if wanted else None) if len(wanted) < 2 else None
    if chosen is not None:
        signs = problem.targets if asked.loss.labels else [Fraction(1)] * len(chosen)
        multipliers = tuple((i, y * c) for i, (y, c) in enumerate(zip(signs, chosen, strict=True)) if c)
        about = None if network is given else network.parameters
        proof = certified(problem, given, Stationary(multipliers=multipliers, subject=about, moved=moved))
        reason = "no weight changes the outputs at first order"
        exact = {"epsilon": Fraction(0), "delta": Fraction(0)}
        return None if proof is None else Proposal(certificate=proof, reason=reason, numbers=exact)
    vectors = list(_vectors(network, pulls))
    tried = (refuted_by(problem, network, given, moved, z, tolerance, kappa) for kappa in KAPPAS for z in vectors)
    return next((refuted for refuted in tried if refuted is not None), None)


def _pulls(problem: Problem, asked: Objective, network: Network) -> list[tuple[Fraction, tuple[int | None, Fraction]]]:
    """What sum c_i has to be, for the output bias (None) and each neuron whose bias is not 0; and df along it."""
    slope, found = problem.architecture.slope, list[tuple[Fraction, tuple[int | None, Fraction]]]()
    if problem.has_output_bias:
        found.append(((asked.decay.output_bias or 0) * network.output_bias, (None, Fraction(1))))
    for j, (w, _) in enumerate(neurons(network)):
        bias = w[-1] if problem.architecture.bias else Fraction(0)
        if value := bias if bias > 0 else slope * bias:
            found.append((Fraction(0), (j, value)))
    return found


def _adding_up_to(ranges: Sequence[tuple[Fraction, Fraction]], total: Fraction | None) -> list[Fraction] | None:
    """c_i within these ranges, with this sum; without one the nearest ones to 0."""
    near = [low if low > 0 else min(high, Fraction(0)) for low, high in ranges]
    if total is None:
        return near
    left = total - sum(near, Fraction(0))
    for i, (low, high) in enumerate(ranges):
        step = min(left, high - near[i]) if left > 0 else max(left, low - near[i])
        near[i] += step
        left -= step
    return None if left else near


def _vectors(network: Network, pulls: Sequence[tuple[Fraction, tuple[int | None, Fraction]]]) -> Iterator[Rows]:
    """Directions along which f changes by one number everywhere, or along two of them not at all."""
    for _, (place, value) in pulls[:1]:
        for sign in (1, -1):
            yield _along(network, {place: sign / value})
    for _, (place, value) in pulls[1:2]:
        for sign in (1, -1):
            yield _along(network, {pulls[0][1][0]: Fraction(sign), place: -sign / value})


def _along(network: Network, steps: dict[int | None, Fraction]) -> Rows:
    hidden, output, *more = network.parameters
    outer = tuple(steps.get(j, Fraction(0)) for j in range(len(output)))
    rest = tuple((steps.get(None, Fraction(0)),) for _ in more)
    return tuple(Fraction(0) for _ in hidden), outer, *rest
