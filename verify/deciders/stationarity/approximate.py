"""Multipliers with a rational residual: the KKT conditions hold up to epsilon and delta."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.exact import dot, sqrt_upper
from verify.checker.fit import bias_scale, weighted_norm
from verify.checker.stationary import Stationary
from verify.deciders.proposal import Proposal, certified
from verify.deciders.rounding import ceil_dyadic, dyadic
from verify.deciders.stationarity.fits import fits_within
from verify.deciders.stationarity.kinks import with_kinks
from verify.deciders.stationarity.model import KktSubject, bias_pull
from verify.deciders.stationarity.writing import stationary
from verify.deciders.time_limits import is_late, poll
from verify.numbers.decimals import small
from verify.numbers.floats import to_float
from verify.problem.members import has_margin, trains_all
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.kkt.residual import KktFit

__all__ = ["HELD", "as_it_is", "prove_within", "with_what_holds"]

HELD = Fraction(1, 1000)
"""Up to this it is told of a network that is refuted exactly what the KKT conditions do hold up to."""


MOST_TERMS = 2 * 10**6
"""Multipliers times weights beyond which it is not told what the conditions of a network far from them hold up to."""


ROUNDING = Fraction(1, 10**9)  # for multipliers that are rounded, relative and absolute


def prove_within(
    problem: Problem, subject: KktSubject, tolerance: Fraction, deadline: float | None
) -> tuple[Proposal | None, tuple[KktSubject, KktFit] | None]:
    """A proof that the conditions hold up to the tolerance, near-kinks tried as kinks; else the best fit that is found.

    The fit is of the network as it is, not moved onto kinks.
    """
    best: KktFit | None = None
    for candidate in itertools.chain([subject], with_kinks(problem, subject, tolerance)):
        if is_late(deadline):
            break
        fits = list(fits_within(problem, candidate, tolerance, deadline))
        if candidate is subject:
            best = min(fits, key=lambda fit: max(fit.epsilon, fit.delta), default=None)
        if fits and max(fits[-1].epsilon, fits[-1].delta) <= to_float(tolerance):
            nearly = _prove_nearly(problem, candidate, fits[-1], tolerance)
            if nearly is not None:
                return nearly, None
    return None, None if best is None else (subject, best)


def _prove_nearly(problem: Problem, subject: KktSubject, fit: KktFit, tolerance: Fraction) -> Proposal | None:
    multipliers, products = _rational(problem, fit)
    epsilon, delta = _exact_residual(problem, subject, multipliers, products)
    if max(epsilon, delta) > tolerance:
        return None
    return _approximate(problem, subject, stationary(problem, subject, multipliers, products, epsilon, delta))


def as_it_is(problem: Problem, subject: KktSubject, fit: KktFit) -> Proposal | None:
    """The proof of what a fit leaves, a little above its floats; None where that would take long."""
    if np.count_nonzero(fit.multipliers) * subject.model.weights.size > MOST_TERMS:
        return None
    above = [ceil_dyadic(Fraction(size) * (1 + ROUNDING) + ROUNDING, 20) for size in (fit.epsilon, fit.delta)]
    epsilon, delta = above if has_margin(problem.goal) else (above[0], Fraction(0))
    return _approximate(problem, subject, stationary(problem, subject, *_rational(problem, fit), epsilon, delta))


def _rational(problem: Problem, fit: KktFit) -> tuple[dict[int, Fraction], dict[tuple[int, int], Fraction]]:
    """The multipliers and kink products of a fit as short numbers, the products between a lambda_i and lambda_i."""
    slope = problem.architecture.slope
    multipliers = {int(i): dyadic(float(fit.multipliers[i]), 45) for i in np.flatnonzero(fit.multipliers)}
    products: dict[tuple[int, int], Fraction] = {}
    for (i, j), product in fit.kink_products.items():
        if i in multipliers:
            low, high = sorted((slope * multipliers[i], multipliers[i]))
            products[i, j] = min(max(dyadic(product, 45), low), high)
    return multipliers, products


def _approximate(problem: Problem, subject: KktSubject, certificate: Stationary) -> Proposal | None:
    proof = certified(problem, subject.given, certificate)
    if proof is None:
        return None
    return Proposal(
        certificate=proof,
        reason=f"a KKT point to within {_size(proof)}",
        numbers={"epsilon": proof.epsilon, "delta": proof.delta},
    )


def _size(proof: Stationary) -> str:
    """Up to what the conditions hold, rounded up, and of which network."""
    moved = f" after moving it by at most {small(proof.moved)} onto its kinks" if proof.moved else ""
    return f"ε = {small(proof.epsilon)}, δ = {small(proof.delta)}{moved}"


def _exact_residual(
    problem: Problem,
    subject: KktSubject,
    multipliers: dict[int, Fraction],
    products: dict[tuple[int, int], Fraction],
) -> tuple[Fraction, Fraction]:
    """Rational upper bounds of epsilon and delta (short ones)."""
    network, slope = subject.network, problem.architecture.slope
    counted = set(problem.norm_columns)
    kinks = set(subject.kinks)
    total = Fraction(0)
    signed = {i: m * subject.factors[i] for i, m in multipliers.items()}
    for j, (w, v, mask) in enumerate(
        zip(network.hidden_weights, network.output_weights, network.architecture.masks, strict=True)
    ):
        pull = [Fraction(0)] * len(w)
        push = Fraction(0)
        for i, weight in signed.items():
            poll()
            row = problem.rows[i % len(problem.rows)]
            z = dot(w, row)
            if (i, j) in kinks:
                share = products.get((i, j), slope * multipliers[i]) * (
                    weight / multipliers[i] if multipliers[i] else 0
                )
            else:
                share = weight if z > 0 else slope * weight
            for c in mask:
                pull[c] += share * row[c]
            push += weight * (z if z > 0 else slope * z)
        total += sum(((w[c] if c in counted else 0) - v * pull[c]) ** 2 for c in mask)
        total += (v - push) ** 2 if trains_all(problem.trained) else 0
    if (wanted := bias_pull(problem, network)) is not None:
        missed = wanted - sum(signed.values(), Fraction(0))
        total += bias_scale(problem, network) * missed**2 / problem.decay.of_bias
    norm = weighted_norm(problem, network)
    delta = sum((m * subject.slacks[i] for i, m in multipliers.items()), Fraction(0)) / norm
    return sqrt_upper(total / norm, 20), sqrt_upper(delta * delta, 20) if delta > 0 else Fraction(0)


def with_what_holds(refuted: Proposal, nearly: Proposal | None) -> Proposal:
    """The refutation with the proof beside it of what the conditions do hold up to."""
    if nearly is None or not isinstance(nearly.certificate, Stationary):
        return refuted
    held = f"{refuted.reason}; the KKT conditions hold up to {_size(nearly.certificate)}"
    return replace(refuted, reason=held, beside=nearly.certificate, numbers={**refuted.numbers, **nearly.numbers})
