"""The refutation for equations: in every sign branch a vector that is orthogonal to every gradient, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.exact import dot
from verify.checker.statement import Rows
from verify.checker.stationary import NotStationary
from verify.deciders.proposal import certified
from verify.deciders.rounding import dyadic, solve_by_few
from verify.deciders.stationarity.fits import kink_points, sign_vectors
from verify.deciders.stationarity.model import KktSubject
from verify.deciders.time_limits import poll
from verify.deciders.witnesses import norms
from verify.numbers.floats import to_float
from verify.problem.members import trains_all
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.kkt.residual import KktFit

__all__ = ["min_norm_separators"]


def min_norm_separators(problem: Problem, subject: KktSubject, tolerance: Fraction) -> NotStationary | None:
    """One separating vector per sign branch, made exactly orthogonal to every gradient.

    Two families are: (w_j, -v_j) for each neuron (it is unbalanced), and vectors without output part, but of constant
    neurons (w_j = 0, v_j = 0 with a free bias), that are orthogonal to the gradients with respect to those weights.
    """
    from solvers.kkt.residual import fit_multipliers

    points = kink_points(problem, subject)
    vectors = []
    for negative in sign_vectors(points):
        fit = fit_multipliers(subject.model, 1.0, free_signs=True, negative=negative)
        direction = _orthogonal(problem, subject, fit, negative)
        if direction is None:
            return None
        vectors.append(direction)
    if not vectors:
        return None
    certificate = NotStationary(
        subject=subject.parameters,
        moved=subject.moved,
        epsilon=tolerance,
        delta=Fraction(0),
        kappa=Fraction(0),
        vectors=tuple(vectors),
    )
    return certified(problem, subject.given, certificate)


def _orthogonal(problem: Problem, subject: KktSubject, fit: KktFit, negative: frozenset[int]) -> Rows | None:
    network, model = subject.network, subject.model
    k, c = model.weights.shape
    z = fit.residual
    outgoing = network.output_weights
    shares: list[Fraction] = []
    flat = z[: k * c].reshape(k, c).copy()
    for j in range(k):  # z_w + (z_v / v) w has no output part left
        share = dyadic(float(-z[k * c + j] / model.outgoing[j]), 30) if model.outgoing[j] else Fraction(0)
        shares.append(share / subject.unit)
        flat[j] -= to_float(share) * model.weights[j]
    place = [(j, column) for j, mask in enumerate(network.architecture.masks) for column in mask]
    is_whole = trains_all(problem.trained)
    constant = [j for j in range(k) if is_whole and not outgoing[j] and any(network.hidden_weights[j])]
    kinks = set(subject.kinks)
    lines: list[list[Fraction]] = []
    levels = np.ones((k, c)) if model.levels is None else model.levels[: k * c].reshape(k, c)
    ends, units = {sign: model.best_ends(sign * z) for sign in (1, -1)}, model.units()
    for i in range(len(problem.rows)):
        poll()
        here = [j for j in range(k) if (i, j) in kinks and outgoing[j] != 0]
        slopes = [Fraction(1) if (model.on[j, i] or (j in here)) else problem.architecture.slope for j in range(k)]
        if here:
            gain, best = ends[-1 if i in negative else 1]
            if gain[i] < -1e-9 * units[i]:
                continue
            slopes = [
                (Fraction(1) if best[j, i] else problem.architecture.slope) if j in here else slopes[j]
                for j in range(k)
            ]
        last = [Fraction(1)] * (model.bias is not None)
        heads = [slopes[j] * dot(network.hidden_weights[j], problem.rows[i]) for j in constant]
        lines.append([*(outgoing[j] * slopes[j] * problem.rows[i][column] for j, column in place), *heads, *last])
        reach = 1e-7 * norms(model.rows[i] * levels)
        level = [q for q in here if abs(float(model.rows[i] @ flat[q])) <= reach[q]]  # both ends active: each stays so
        idle = [Fraction(0)] * (len(constant) + len(last))
        lines += [[*(problem.rows[i][column] if j == q else Fraction(0) for j, column in place), *idle] for q in level]
    biases = [] if model.bias is None else [z[-1] * model.bias.weight]
    moves = (*(flat[j, column] for j, column in place), *z[k * c :][constant], *biases)
    start = [dyadic(float(value), 30) for value in moves]
    zeros = [Fraction(0)] * len(start)
    others = len(constant) + len(biases)
    sizes = [Fraction(float(levels[j, column])) for j, column in place] + [Fraction(1)] * others
    level_lines = [[entry * size for entry, size in zip(line, sizes, strict=True)] for line in lines]
    correction = solve_by_few(level_lines, [-dot(line, start) for line in lines]) if lines else zeros
    if correction is None:
        return None
    found = [value + change * size for value, change, size in zip(start, correction, sizes, strict=True)]
    weights = network.hidden_weights
    hidden = [value + shares[j] * weights[j][column] for value, (j, column) in zip(found, place, strict=False)]
    heads = dict(zip(constant, found[len(place) :], strict=False))
    tails = tuple(heads.get(j, -share * v) for j, (share, v) in enumerate(zip(shares, outgoing, strict=True)))
    return (tuple(hidden), tails, *([tuple(found[-1:])] if biases else []))
