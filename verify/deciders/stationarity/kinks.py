"""The network moved onto its near-kinks: exact zeros there, each neuron moved as little as floats can tell."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from verify.checker.errors import InputError
from verify.checker.exact import dot
from verify.checker.statement import pattern
from verify.deciders.rounding import dyadic, solve_by_few
from verify.deciders.stationarity.model import KktSubject, is_one_sided, kkt_subject
from verify.deciders.time_limits import poll
from verify.deciders.witnesses import dot_product_scales, network_with
from verify.numbers.floats import float_rows, float_weights, keep_floats_of
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

__all__ = ["kinked", "with_kinks"]

KINK_TOLERANCES = (1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Preactivations below these parts of their `verify.deciders.witnesses.dot_product_scales` are tried as kinks."""


def with_kinks(problem: Problem, subject: KktSubject, tolerance: Fraction) -> Iterator[KktSubject]:
    """The network moved onto its near-kinks, for growing tolerances; at most `tolerance` away."""
    if not is_one_sided(problem):
        return
    for moved in kinked(problem, subject.network, subject.model.weights):
        candidate = kkt_subject(problem, moved, subject.given)
        if candidate is None or candidate.moved > tolerance:
            continue
        if objective(problem, moved) is None:
            continue
        yield candidate


def kinked(problem: Problem, network: Network, weights: np.ndarray, *, every: bool = True) -> Iterator[Network]:
    """The network moved onto its near-kinks, for growing tolerances.

    weights: its hidden weights in floats, times any number.   every: False leaves a neuron as it is of which hardly
    anything would be left; else there is no such network.
    """
    if problem.architecture.slope == 1:
        return
    rows = float_rows(problem)
    sizes = dot_product_scales(rows, weights, bias=problem.architecture.bias)
    near = np.abs(weights @ rows.T) / np.maximum(sizes, 1e-300)
    near[sizes == 0] = np.inf
    is_kink = np.array(pattern(problem, network)) == 0  # exactly, which a product of floats does not tell
    tried: bytes = (is_kink & (sizes > 0)).tobytes()
    for share in KINK_TOLERANCES:
        close = near <= share
        if close.tobytes() == tried:
            continue
        tried = close.tobytes()
        moved = _snap(problem, network, close, every=every)
        if moved is None:
            continue
        keep_floats_of(network, moved)
        yield moved


def _snap(problem: Problem, network: Network, close: np.ndarray, *, every: bool) -> Network | None:
    """The network with x_i.w_j = 0 exactly where `close` (k, n), each neuron moved as little as floats can tell."""
    hidden = [list(row) for row in network.hidden_weights]
    for j, mask in enumerate(network.architecture.masks):
        poll()
        points = [int(i) for i in np.flatnonzero(close[j])]
        if not points:
            continue
        lines = [[problem.rows[i][c] for c in mask] for i in points]
        numbers = float_rows(problem, clamp=False)[np.ix_(points, mask)]
        w = float_weights(network, clamp=False)[j, list(mask)]
        step = np.linalg.lstsq(numbers, -numbers @ w, rcond=1e-10)[0]
        if np.linalg.norm(step) > 0.1 * np.linalg.norm(w):
            if every:
                return None  # only the zero vector has all these kinks
            continue
        start = [dyadic(float(value), 53) for value in w + step]
        correction = solve_by_few(lines, [-dot(line, start) for line in lines])
        if correction is None:
            return None
        for c, value, change in zip(mask, start, correction, strict=True):
            hidden[j][c] = value + change
    try:
        return network_with(network, hidden)
    except InputError:
        return None
