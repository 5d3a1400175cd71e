"""Is the network stationary for a loss with weight decay? Multipliers prove it, a separating vector refutes it.

Networks that were trained with weight decay have neurons whose kinks are at points nearly, and neurons that have nearly
vanished: read as they are they are far from stationary, and with these put onto their kinks, or to 0, they may be near
it. So both are tried: the network as it is, then others near it.
The floats of `solvers.kkt.loss_residual` are guesses; the checker decides on their rational forms.

Source: `docs/mathematics.md`, 14.4 "Stationary points of a loss".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.exact import dot, squared_norm
from verify.checker.multipliers import gap_of
from verify.checker.objectives import Objective
from verify.checker.statement import squared_norms
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.exact_systems import solution_near
from verify.deciders.proposal import Proposal, certified
from verify.deciders.rounding import ceil_dyadic, dyadic
from verify.deciders.stationarity.kinks import kinked
from verify.deciders.stationarity.loss_model import LossSubject, loss_subject
from verify.deciders.stationarity.loss_refutation import balance_separator, loss_separator
from verify.deciders.stationarity.weightless import weightless
from verify.deciders.time_limits import is_late
from verify.deciders.witnesses import network_with
from verify.numbers.counts import count
from verify.numbers.decimals import denied, small
from verify.numbers.floats import float_weights, to_float
from verify.problem.network import Network
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.kkt.loss_residual import LossFit

__all__ = ["loss_refuted_exactly", "loss_stationarity"]

HELD = Fraction(1, 1000)
"""Up to this it is told of a network that is refuted exactly what the conditions do hold up to."""

SHARES = (Fraction(0), Fraction(1, 10**4), Fraction(1, 10), Fraction(1))
"""Of the tolerance, what delta may be: little first."""

ROUNDING = Fraction(1, 10**9)  # for multipliers that are rounded, relative and absolute

EXACTLY = 1e-7
"""Floats up to this epsilon may be an exact point."""

VANISHED = 1e-6
"""A neuron that is smaller than this part of the network is tried as 0."""

BITS = 60

EXACT = {"epsilon": Fraction(0), "delta": Fraction(0)}

OUT_OF_RANGE = "its numbers are out of the range of floats"

MOST_TERMS = 2 * 10**7


def loss_stationarity(
    problem: Problem,
    network: Network,
    given: Network,
    tolerance: Fraction,
    *,
    reach: Fraction | None = None,
    deadline: float | None = None,
) -> Proposal:
    """Whether `network` is stationary up to epsilon, delta <= `tolerance`, or one near it; 0: exactly.

    reach: how far one near it may be, relative to its norm; by default the tolerance.
    deadline: a moment of `solvers.clock.now()` after which no further guesses are tried.
    Sound. Complete up to rounding for a given pattern of kinks, but at points with kinks where a multiplier may have
    either sign.
    """
    zeros = _of_zeros(problem, network, given, tolerance)
    subject = None if zeros is not None else loss_subject(problem, network, given)
    if subject is None:
        return zeros or Proposal(reason=OUT_OF_RANGE)
    unbalanced = balance_separator(problem, subject, tolerance)
    exact = None if unbalanced else _exactly(problem, subject)
    if exact is not None:
        return exact
    nearly = None
    if unbalanced is None or not tolerance:
        allowed = (tolerance if reach is None else reach) if tolerance else HELD
        nearly = _nearly(problem, subject, tolerance or HELD, allowed, deadline)
    if nearly is not None and tolerance:
        return nearly
    refuted = unbalanced or loss_separator(problem, subject, tolerance, deadline)
    if refuted is None:
        late = "; the time limit was reached" if is_late(deadline) else ""
        within = f" to within {denied(tolerance)}" if tolerance else ", exactly"
        refuted = Proposal(reason=f"neither multipliers nor a separating vector were found{within}{late}")
    if nearly is None or not isinstance(nearly.certificate, Stationary):
        return refuted
    held = f"{refuted.reason}; the conditions hold up to {_size(nearly.certificate)}"
    return replace(refuted, reason=held, beside=nearly.certificate, numbers={**refuted.numbers, **nearly.numbers})


def loss_refuted_exactly(
    problem: Problem, network: Network, given: Network, *, deadline: float | None = None
) -> Proposal:
    """That `network` is exactly not stationary, whatever it is within a tolerance."""
    subject = loss_subject(problem, network, given)
    if subject is None:
        zeros = _of_zeros(problem, network, given, Fraction(0))
        is_refuted = zeros is not None and isinstance(zeros.certificate, NotStationary)
        return zeros if zeros is not None and is_refuted else Proposal(reason=OUT_OF_RANGE)
    found = balance_separator(problem, subject, Fraction(0))
    found = found or loss_separator(problem, subject, Fraction(0), deadline)
    return found or Proposal(reason="no separating vector was found")


def _of_zeros(problem: Problem, network: Network, given: Network, tolerance: Fraction) -> Proposal | None:
    if not isinstance(problem.goal, Objective) or any(squared_norms(problem, network)[:2]):
        return None
    return weightless(problem, problem.goal, network, given, tolerance)


# ------------------------------------------------------------------------------------------------- exactly


def _exactly(problem: Problem, subject: LossSubject) -> Proposal | None:
    """Exact multipliers and kink products near the float ones: linear equations, once it is known what is at an end."""
    from solvers.kkt.loss_residual import fit_losses

    fit = fit_losses(subject.model, 0.0)
    if fit is None or fit.epsilon > EXACTLY:
        return None
    system = _ExactSystem(problem, subject, fit)
    solution = system.solution()
    if solution is None:
        return None
    multipliers = {i: c for i, c in enumerate(subject.best) if i not in system.corners}
    multipliers |= {i: solution[q] for q, i in enumerate(system.corners)}
    products = dict(zip(system.kinks, solution[len(system.corners) :], strict=True))
    return _proved(problem, subject, multipliers, products)


def _proved(
    problem: Problem, subject: LossSubject, c: dict[int, Fraction], products: dict[tuple[int, int], Fraction]
) -> Proposal | None:
    proof = certified(problem, subject.given, written(problem, subject, c, products, Fraction(0), Fraction(0)))
    if proof is None:
        return None
    used = count(len(proof.multipliers), "multiplier")
    return Proposal(
        certificate=proof,
        reason=f"an exact stationary point, with {used}",
        numbers=dict(EXACT),
    )


class _ExactSystem:
    """The residual as linear equations in c_i of the corners, then c_i g_ij of the kinks."""

    def __init__(self, problem: Problem, subject: LossSubject, fit: LossFit) -> None:
        self.problem, self.subject = problem, subject
        self.corners = [i for i, (low, high) in enumerate(subject.ranges) if low < high]
        self.kinks = sorted(fit.kink_products)
        self.places = {i: q for q, i in enumerate(self.corners)}
        self.width = len(self.corners) + len(self.kinks)
        guess = [fit.multipliers[i] for i in self.corners] + [fit.kink_products[kink] for kink in self.kinks]
        self.guess = np.array(guess)

    def solution(self) -> list[Fraction] | None:
        """The exact variables; None where the guess does not lead to any."""
        lines, right = self._equations()
        more, ends = self._at_ends()
        return solution_near([*lines, *more], [*right, *ends], self.guess, [False] * self.width)

    def _equations(self) -> tuple[list[list[Fraction]], list[Fraction]]:
        problem, network = self.problem, self.subject.network
        decay, slope = self.subject.asked.decay, problem.architecture.slope
        at_kinks = {kink: q for q, kink in enumerate(self.kinks, len(self.corners))}
        lines: list[list[Fraction]] = []
        right: list[Fraction] = []
        for j, (w, v) in enumerate(zip(network.hidden_weights, network.output_weights, strict=True)):
            values = [dot(w, row) for row in problem.rows]
            slopes = [Fraction(1) if z > 0 else slope for z in values]
            for column in (*network.architecture.masks[j], None):
                line, rest = [Fraction(0)] * self.width, Fraction(0)
                for i, row in enumerate(problem.rows):
                    factor = values[i] * slopes[i] if column is None else v * row[column]
                    if not factor:
                        continue
                    if column is not None and (i, j) in at_kinks:
                        line[at_kinks[i, j]] += factor
                        continue
                    factor = factor if column is None else factor * slopes[i]
                    if i in self.places:
                        line[self.places[i]] += factor
                    else:
                        rest += factor * self.subject.best[i]
                own = decay.output * v if column is None else decay.hidden * w[column]
                is_counted = column is None or column in problem.norm_columns
                lines.append(line)
                right.append((own if is_counted else Fraction(0)) - rest)
        if problem.has_output_bias:
            lines.append([Fraction(q < len(self.corners)) for q in range(self.width)])
            rest = sum((c for i, c in enumerate(self.subject.best) if i not in self.places), Fraction(0))
            right.append((decay.output_bias or 0) * network.output_bias - rest)
        return lines, right

    def _at_ends(self) -> tuple[list[list[Fraction]], list[Fraction]]:
        """What is at an end of its interval, up to rounding, as equations."""
        slope, ranges = self.problem.architecture.slope, self.subject.ranges
        lines: list[list[Fraction]] = []
        right: list[Fraction] = []

        def fix(place: int, other: int | None, factor: Fraction, value: Fraction) -> None:
            line = [Fraction(0)] * self.width
            line[place] = Fraction(1)
            if other is not None:
                line[other] -= factor
            lines.append(line)
            right.append(Fraction(0) if other is not None else value)

        for q, i in enumerate(self.corners):
            for end in ranges[i]:
                if abs(self.guess[q] - to_float(end)) <= EXACTLY * max(1.0, abs(to_float(end))):
                    fix(q, None, Fraction(0), end)
                    break
        for q, (i, _) in enumerate(self.kinks, len(self.corners)):
            place = self.places.get(i)
            whole = self.guess[place] if place is not None else to_float(self.subject.best[i])
            for factor in (Fraction(1), slope):
                if abs(self.guess[q] - to_float(factor) * whole) <= EXACTLY * max(1e-3, abs(whole)):
                    fix(q, place, factor, factor * self.subject.best[i])
                    break
        return lines, right


def written(
    problem: Problem,
    subject: LossSubject,
    c: dict[int, Fraction],
    products: dict[tuple[int, int], Fraction],
    epsilon: Fraction,
    delta: Fraction,
) -> Stationary:
    """The certificate; for labels lambda_i = y_i c_i."""
    signs = problem.targets if subject.asked.loss.labels else [Fraction(1)] * len(problem.targets)
    slope = problem.architecture.slope
    kept = [(i, j) for i, j in sorted(products) if products[i, j] != slope * c.get(i, Fraction(0))]
    return Stationary(
        subject=subject.parameters,
        moved=subject.moved,
        multipliers=tuple((i, signs[i] * c[i]) for i in sorted(c) if c[i]),
        kink_products=tuple((i, j, signs[i] * products[i, j]) for i, j in kept),
        epsilon=epsilon,
        delta=delta,
    )


# ------------------------------------------------------------------------------------------------- nearly


def _nearly(
    problem: Problem, subject: LossSubject, tolerance: Fraction, reach: Fraction, deadline: float | None
) -> Proposal | None:
    """A proof that the conditions hold up to the tolerance, of the network or of one on its near-kinks."""
    for candidate in itertools.chain([subject], _others(problem, subject, reach)):
        if is_late(deadline):
            return None
        found = _up_to(problem, candidate, tolerance)
        if found is not None:
            return found
    return None


def _up_to(problem: Problem, subject: LossSubject, tolerance: Fraction) -> Proposal | None:
    from solvers.kkt.loss_residual import fit_losses

    if subject.model.weights.size * len(problem.rows) > MOST_TERMS:
        return None
    for share in SHARES:
        fit = fit_losses(subject.model, to_float(share * tolerance * Fraction(99, 100)))
        if fit is None or fit.epsilon > to_float(tolerance):
            continue
        c, products = _rational(problem, subject, fit)
        gap = gap_of(problem, subject.values, c, subject.asked) / subject.size
        delta = ceil_dyadic(gap, 20) if gap else Fraction(0)
        epsilon = ceil_dyadic(Fraction(fit.epsilon) * (1 + ROUNDING) + ROUNDING, 20)
        if max(epsilon, delta) > tolerance:
            continue
        proof = certified(problem, subject.given, written(problem, subject, c, products, epsilon, delta))
        if proof is not None:
            return Proposal(
                certificate=proof,
                reason=f"a stationary point to within {_size(proof)}",
                numbers={"epsilon": epsilon, "delta": delta},
            )
    return None


def _rational(
    problem: Problem, subject: LossSubject, fit: LossFit
) -> tuple[dict[int, Fraction], dict[tuple[int, int], Fraction]]:
    """The multipliers and kink products of a fit as short numbers, within their bounds."""
    slope, asked = problem.architecture.slope, subject.asked
    c: dict[int, Fraction] = {}
    for i, y in enumerate(problem.targets):
        short = dyadic(float(fit.multipliers[i]), BITS)
        c[i] = short if asked.loss.admits(y, short) else subject.best[i]
    products: dict[tuple[int, int], Fraction] = {}
    for (i, j), product in fit.kink_products.items():
        low, high = sorted((slope * c[i], c[i]))
        products[i, j] = min(max(dyadic(product, BITS), low), high)
    return c, products


def _size(proof: Stationary) -> str:
    """Up to what the conditions hold, rounded up, and of which network."""
    moved = f" after moving it by at most {small(proof.moved)} onto its kinks" if proof.moved else ""
    return f"ε = {small(proof.epsilon)}, δ = {small(proof.delta)}{moved}"


def _others(problem: Problem, subject: LossSubject, reach: Fraction) -> Iterator[LossSubject]:
    """Networks near this one, at most `reach` of its norm away: without what vanished, on more and more of its
    near-kinks.
    """
    network = _without_vanished(subject.network)
    seen = {subject.network.parameters}
    for candidate in itertools.chain([network], kinked(problem, network, float_weights(network), every=False)):
        if candidate.parameters in seen:
            continue
        seen.add(candidate.parameters)
        other = loss_subject(problem, candidate, subject.given)
        if other is not None and other.moved <= reach:
            yield other


def _without_vanished(network: Network) -> Network:
    """The same with the neurons 0 that nearly are; itself where none is."""
    limit = Fraction(VANISHED) ** 2 * sum(squared_norm(layer) for layer in network.parameters)
    pairs = list(zip(network.hidden_weights, network.output_weights, strict=True))
    gone = [bool(v or any(w)) and squared_norm([*w, v]) < limit for w, v in pairs]
    if not any(gone):
        return network
    zeros = [Fraction(0)] * len(network.hidden_weights[0])
    hidden = [zeros if is_gone else list(w) for is_gone, (w, _) in zip(gone, pairs, strict=True)]
    outgoing = [Fraction(0) if is_gone else v for is_gone, (_, v) in zip(gone, pairs, strict=True)]
    moved = network_with(network, hidden)
    return Network(network.architecture, (moved.parameters[0], outgoing, *network.parameters[2:]))
