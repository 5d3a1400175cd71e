"""Preactivations and outputs in floats, with bounds of their error: only what these leave in doubt is computed exactly.

So an exact statement about 1e5 points costs a few exact evaluations and one matrix product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import final

import numpy as np

from solvers.arrays import Bits, Floats
from verify.deciders.time_limits import poll
from verify.numbers.floats import float_factors, float_outgoing, float_rows, float_targets, float_weights, to_float
from verify.problem.members import factors, has_margin, trains_all
from verify.problem.network import Network
from verify.problem.problem import Dataset, Problem, half_squared_norm, objective, outputs

UNIT = 2.0**-52  # twice the unit roundoff of a double: the error bounds below hold with room to spare
AT_ONCE = 500  # points between two looks at the clock
SMALLEST, LARGEST = 1e-70, 1e70  # between them, products of three numbers neither overflow nor lose bits


@final
@dataclass(frozen=True, slots=True)
class Estimates:
    """A depth-2 network on its data, as floats.

    rows (n, c), targets (n,), weights (k, c), outgoing (k,); preactivations w_j.x_i (k, n) and outputs f(x_i) (n,),
    each within its error bound of the exact value (an infinite one where the numbers are out of the range of floats).
    """

    rows: Floats
    targets: Floats
    weights: Floats
    outgoing: Floats
    preactivations: Floats
    preactivation_errors: Floats
    outputs: Floats
    output_errors: Floats


def estimate(problem: Problem, network: Network, like: Estimates | None = None) -> Estimates:
    """The estimates; the data are taken over from those of another network. OverflowError beyond floats."""
    rows = float_rows(problem) if like is None else like.rows
    targets = float_targets(problem) if like is None else like.targets
    weights = float_weights(network)
    outgoing = float_outgoing(network)
    slope, bias = to_float(problem.architecture.slope), to_float(network.output_bias)
    (k, c), n = weights.shape, len(rows)
    with np.errstate(all="ignore"):
        z = weights @ rows.T
        reach = np.abs(weights) @ np.abs(rows).T
        values = outgoing @ np.maximum(z, slope * z) + bias
        errors = (c + 4) * UNIT * reach
        output_errors = (c + k + 8) * UNIT * (np.abs(outgoing) @ reach + abs(bias))
    pairs = [(rows, problem.rows), (weights, network.hidden_weights), (outgoing[None], (network.output_weights,))]
    pairs.append((np.array([[bias]]), ((network.output_bias,),)))
    if not all(_in_range(floats, exact) for floats, exact in pairs) or 0 < slope < SMALLEST:
        errors, output_errors = np.full((k, n), np.inf), np.full(n, np.inf)
    return Estimates(rows, targets, weights, outgoing, z, errors, values, output_errors)


def _in_range(floats: Floats, exact: Sequence[Sequence[Fraction]]) -> bool:
    sizes = np.abs(floats)
    inside = (sizes == 0) | ((sizes >= SMALLEST) & (sizes <= LARGEST))
    return bool(inside.all()) and not any(exact[i][c] for i, c in np.argwhere(sizes == 0))


def outputs_at(problem: Problem, network: Network, points: Iterable[int]) -> dict[int, Fraction]:
    """f(x_i) at some of the points, exactly."""
    chosen = [int(i) for i in points]
    if not chosen:
        return {}
    if 2 * len(chosen) >= len(problem.data):
        every = outputs(problem, network)  # often known already
        return {i: every[i] for i in chosen}
    found: dict[int, Fraction] = {}
    for first in range(0, len(chosen), AT_ONCE):
        poll()
        some = chosen[first : first + AT_ONCE]
        part = problem.posed_on(
            Dataset([problem.data.inputs[i] for i in some], [problem.data.targets[i] for i in some])
        )
        found |= zip(some, outputs(part, network), strict=True)
    return found


def least_margins(problem: Problem, network: Network, estimates: Estimates) -> tuple[Fraction, tuple[int, ...]]:
    """The least q_i (of a goal with a margin), exactly, and all points that have it."""
    every = factors(problem)
    sizes = float_factors(problem, clamp=False)
    margins = sizes * estimates.outputs
    errors = np.abs(sizes) * estimates.output_errors + 2 * UNIT * np.abs(margins) + SMALLEST
    ceiling = float((margins + errors).min())
    doubtful = np.flatnonzero(~(margins - errors > ceiling))
    exact = outputs_at(problem, network, doubtful)
    found = {i: every[i] * value for i, value in exact.items()}
    least = min(found.values())
    return least, tuple(i for i, margin in found.items() if margin == least)


def residuals(problem: Problem, estimates: Estimates) -> tuple[Floats, Bits]:
    """|f(x_i) - y_i| (min-norm), and where it is above the fit tolerance for certain."""
    apart, tolerance, errors = _apart(problem, estimates)
    return apart, apart > tolerance + errors


def residual_errors(problem: Problem, estimates: Estimates) -> Floats:
    """What bounds the error of the floats that `residuals` gives."""
    return _apart(problem, estimates)[2]


def _apart(problem: Problem, estimates: Estimates) -> tuple[Floats, float, Floats]:
    """|f(x_i) - y_i|, the fit tolerance, and what bounds the error of their difference."""
    try:
        tolerance = to_float(problem.fit_tolerance)
    except OverflowError:
        tolerance = np.inf
    sizes = np.abs(estimates.targets) + tolerance
    return (
        np.abs(estimates.outputs - estimates.targets),
        tolerance,
        estimates.output_errors + 4 * UNIT * sizes + SMALLEST,
    )


def exact_objective(problem: Problem, network: Network, estimates: Estimates) -> Fraction | None:
    """What `verify.problem.problem.objective` gives, at depth 2."""
    if not problem.asks_fit or problem.has_output_bias:
        return objective(problem, network)
    if has_margin(problem.goal):
        least, _ = least_margins(problem, network, estimates)
        power = 1 if trains_all(problem.trained) else 2
        return half_squared_norm(problem, network) / least**power if least > 0 else None
    _, surely_missed = residuals(problem, estimates)
    if surely_missed.any():
        return None
    if problem.fit_tolerance == 0:
        fits = tuple(outputs(problem, network)) == problem.data.targets
    else:
        apart, tolerance, errors = _apart(problem, estimates)
        exact = outputs_at(problem, network, np.flatnonzero(~(apart < tolerance - errors)))
        fits = all(abs(f - problem.data.targets[i]) <= problem.fit_tolerance for i, f in exact.items())
    return half_squared_norm(problem, network) if fits else None


def is_silent(problem: Problem, network: Network, estimates: Estimates, neuron: int) -> bool:
    """Whether the neuron adds exactly 0 to the output at every point of the data."""
    w, v, slope = network.hidden_weights[neuron], network.output_weights[neuron], problem.architecture.slope
    if not v or not any(w):
        return True
    z, errors = estimates.preactivations[neuron], estimates.preactivation_errors[neuron]
    if (z > errors).any() or (slope and (z < -errors).any()):
        return False
    doubtful = (int(i) for i in np.flatnonzero(~(z < -errors)))
    exact = (sum(map(mul, w, problem.rows[i])) for i in doubtful)
    return not any(value > 0 or (slope and value) for value in exact)
