"""Exact multipliers: the columns of a float solution are independent, and solved for exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from verify.checker.codec import rational_text
from verify.checker.exact import dot
from verify.checker.stationary import Stationary
from verify.deciders.proposal import Proposal, certified
from verify.deciders.rounding import solve_exactly
from verify.deciders.stationarity.fits import active_constraints, branches
from verify.deciders.stationarity.model import KktSubject, bias_pull
from verify.deciders.stationarity.writing import stationary
from verify.deciders.time_limits import is_late, poll
from verify.numbers.counts import count
from verify.problem.members import trains_all
from verify.problem.problem import Problem

__all__ = ["exact_point", "prove_exactly"]


def prove_exactly(problem: Problem, subject: KktSubject, deadline: float | None) -> Proposal | None:
    """Exact multipliers on the support of the float ones, whose columns are independent: one solution at most."""
    active = active_constraints(subject)
    if not len(active) or len(subject.kinks) > 400:
        return None
    for fit in branches(problem, subject, 1.0, active):
        if is_late(deadline):
            return None
        if fit.epsilon > 1e-6:
            continue
        columns = [_exact_gradient(problem, subject, i, ends) for i, ends, _ in fit.basis]
        target = _exact_parameters(problem, subject)
        matrix = [list(entries) for entries in zip(*columns, strict=True)] if columns else []
        weights = solve_exactly(matrix, target, deadline=deadline) if columns else None
        if weights is None:
            continue
        multipliers: dict[int, Fraction] = {}
        products: dict[tuple[int, int], Fraction] = {}
        slope = problem.architecture.slope
        kinks = set(subject.kinks)
        for (i, ends, _), weight in zip(fit.basis, weights, strict=True):
            multipliers[i] = multipliers.get(i, Fraction(0)) + weight
            for j in range(len(subject.network.output_weights)):
                if (i, j) in kinks:
                    part = weight if ends[j] else slope * weight
                    products[i, j] = products.get((i, j), Fraction(0)) + part
        certificate = stationary(problem, subject, multipliers, products, Fraction(0), Fraction(0))
        proof = certified(problem, subject.given, certificate)
        if proof is not None:
            return Proposal(
                certificate=proof,
                reason=exact_point(certificate),
                numbers={"epsilon": Fraction(0), "delta": Fraction(0)},
            )
    return None


def exact_point(proof: Stationary) -> str:
    """What the certificate proves, with its multipliers at the points that it is about."""
    used = proof.multipliers
    text = ", ".join(f"λ_{i} = {rational_text(multiplier)}" for i, multiplier in used)
    return (
        f"an exact KKT point with {text}"
        if len(text) <= 80
        else f"an exact KKT point with {count(len(used), 'multiplier')}"
    )


def _exact_parameters(problem: Problem, subject: KktSubject) -> list[Fraction]:
    counted = set(problem.norm_columns)
    hidden = [
        value if c in counted else Fraction(0)
        for row, mask in zip(subject.network.hidden_weights, subject.network.architecture.masks, strict=True)
        for c, value in enumerate(row)
        if c in mask
    ]
    pull = bias_pull(problem, subject.network)
    last = [] if pull is None else [pull]
    return hidden + (list(subject.network.output_weights) if trains_all(problem.trained) else []) + last


def _exact_gradient(problem: Problem, subject: KktSubject, point: int, ends: NDArray[np.bool_]) -> list[Fraction]:
    """h_i with slope 1 where `ends`[j] at kinks, in the order of `_exact_parameters`."""
    sign = subject.factors[point]
    poll()
    row, slope = problem.rows[point % len(problem.rows)], problem.architecture.slope
    kinks = set(subject.kinks)
    hidden: list[Fraction] = []
    outgoing: list[Fraction] = []
    network = subject.network
    for j, (w, v, mask) in enumerate(
        zip(network.hidden_weights, network.output_weights, network.architecture.masks, strict=True)
    ):
        z = dot(w, row)
        on = bool(ends[j]) if (point, j) in kinks else z > 0
        factor = sign * v * (1 if on else slope)
        hidden += [factor * row[c] for c in mask]
        outgoing.append(sign * (z if z > 0 else slope * z))
    last = [Fraction(sign)] if problem.has_output_bias else []
    return hidden + (outgoing if trains_all(problem.trained) else []) + last
