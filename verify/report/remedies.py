"""What would help a network that does not fit: which points to leave out, and whether training on can help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul
from sys import float_info

import numpy as np

from solvers.arrays import Floats
from verify.checker.errors import InputError
from verify.checker.exact import dot
from verify.numbers.floats import float_outgoing, float_rows, float_targets, float_weights, to_float, to_floats
from verify.problem.members import has_margin, margins
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs
from verify.readers.reading import DataReading
from verify.readers.scalings import Scaling, scaled_inputs
from verify.readers.standardising import standardised

__all__ = [
    "droppable",
    "fits_by_least_squares",
    "fits_when_bent",
    "fits_when_freer",
    "is_at_rest",
    "is_out_of_range",
    "on_their_sides",
    "right_standardised",
    "right_unscaled",
    "unlearnt",
]

RESTING = 1e-5
"""A gradient smaller than this part of what the residuals could give, were they in line with it, is none."""

LARGEST_FLOAT = Fraction(float_info.max)

ULPS = Fraction(4, 2**52)
"""What rounding to doubles changes a mean and a standard deviation by, relatively, and a little more."""


def droppable(problem: Problem, conflict: Iterable[int]) -> list[int]:
    """The points of a conflict without any one of which some network of some width fits all the others.

    Only what is proved: none where neurons are linear, or where a point and its opposite are both there.
    """
    if problem.architecture.slope == 1:
        return []
    return [i for i in sorted(conflict) if _is_met(problem, [k for k in range(len(problem.data)) if k != i])]


def fits_when_bent(problem: Problem) -> bool:
    """Whether it is proved that some network of some width fits all points, if its neurons have a kink."""
    return _is_met(problem, range(len(problem.data)))


def fits_when_freer(problem: Problem, *, bias: bool) -> bool:
    """Whether it is proved that some network of some width fits all points, if its neurons have a kink and see all.

    And with a bias, where `bias` is true; and whether the squared loss does not lead away from that.
    """
    rows = [(*x, Fraction(1)) if bias else x for x in problem.data.inputs]
    is_led = has_margin(problem.goal) or _fit_by_directions(problem, rows)
    return is_led and _are_met(problem, rows, range(len(rows)))


def _is_met(problem: Problem, chosen: Sequence[int]) -> bool:
    """Whether some network of some width with these masks fits at the chosen points; only what is proved."""
    columns = len(problem.rows[0])
    if all(len(mask) < columns for mask in problem.architecture.masks):
        return False
    return _are_met(problem, problem.rows, chosen)


def _are_met(problem: Problem, rows: Sequence[tuple[Fraction, ...]], chosen: Sequence[int]) -> bool:
    """Whether networks of some width reach every value at rows of different directions, and these can be the targets.

    With a kink at 0 the functions w -> act(w.x) are linearly independent if no two rows x are parallel, so that the
    outputs at one row of each direction are arbitrary. At a positive multiple of a row, f is that multiple.
    """
    wanted: dict[tuple[Fraction, ...], list[tuple[Fraction, Fraction]]] = {}
    for i in chosen:
        row, target = rows[i], problem.targets[i]
        size = abs(next((entry for entry in row if entry), Fraction(0)))
        if not size:
            if has_margin(problem.goal) or abs(target) > problem.fit_tolerance:
                return False
            continue
        direction = tuple(entry / size for entry in row)
        if tuple(-entry for entry in direction) in wanted:
            return False
        wanted.setdefault(direction, []).append((target, size))
    return all(_agree(problem, values) for values in wanted.values())


def _agree(problem: Problem, values: Sequence[tuple[Fraction, Fraction]]) -> bool:
    """Whether one c has size c within the tolerance of each target (max-margin: on its side)."""
    if has_margin(problem.goal):
        return len({target > 0 for target, _ in values}) == 1
    within = problem.fit_tolerance
    least = max((target - within) / size for target, size in values)
    return least <= min((target + within) / size for target, size in values)


def fits_by_least_squares(problem: Problem, slope: Fraction) -> bool:
    """Whether what the squared loss of neurons of this slope leads to, at any width, may meet the targets (floats).

    It may not where the least squares at points of one direction, or those of a linear function, miss one.
    """
    if has_margin(problem.goal):
        return True
    return _fit_linearly(problem) if slope == 1 else _fit_by_directions(problem, problem.rows)


def _fit_by_directions(problem: Problem, rows: Sequence[tuple[Fraction, ...]]) -> bool:
    """At rows of one direction f is c times their size: whether the c of least squares meets their targets."""
    held: dict[tuple[Fraction, ...], list[tuple[Fraction, Fraction]]] = {}
    for row, target in zip(rows, problem.targets, strict=True):
        size = abs(next((entry for entry in row if entry), Fraction(0)))
        if size:
            held.setdefault(tuple(entry / size for entry in row), []).append((target, size))
    slopes = ((values, sum(y * s for y, s in values) / sum(s * s for _, s in values)) for values in held.values())
    return all(abs(c * s - y) <= problem.fit_tolerance for values, c in slopes for y, s in values)


def _fit_linearly(problem: Problem) -> bool:
    """Whether the linear function of least squares, of all that some neuron sees, meets the targets (floats)."""
    import numpy as np

    seen = sorted({c for mask in problem.architecture.masks for c in mask})
    try:
        rows = np.ascontiguousarray(float_rows(problem, clamp=False)[:, seen])
        targets = float_targets(problem, clamp=False)
    except OverflowError:
        return False
    apart = np.abs(rows @ np.linalg.lstsq(rows, targets)[0] - targets).max(initial=0.0)
    return bool(apart <= to_float(problem.fit_tolerance) + RESTING * np.abs(targets).max(initial=0.0))


def unlearnt(problem: Problem, network: Network) -> list[int]:
    """The points that are missed, though not 0, where no neuron is active: the loss has no gradient there (depth 2)."""
    if problem.architecture.slope or problem.architecture.limits() is not None:
        return []
    found: list[int] = []
    for i, (f, y) in enumerate(zip(outputs(problem, network), problem.targets, strict=True)):
        is_missed = f * y <= 0 if has_margin(problem.goal) else abs(f - y) > problem.fit_tolerance
        row = problem.rows[i]
        if is_missed and any(row) and all(dot(w, row) <= 0 for w in network.hidden_weights):
            found.append(i)
    return found


def right_standardised(problem: Problem, network: Network) -> int:
    """The number of points on their sides once the data are standardised by their own mean and standard deviation.

    Exact; 0 where the rounding of these to doubles may account for a side, for data that were scaled already, and for
    goals other than max-margin.
    """
    around = problem.data.surroundings
    if not has_margin(problem.goal) or (around is not None and around.is_scaled):
        return 0
    try:
        moved = problem.posed_on(standardised(DataReading(problem.data), "data").data)
    except InputError:
        return 0
    least = _rounding(problem, moved, network)
    is_told = all(not f or abs(f) > least for f in outputs(moved, network))
    return on_their_sides(moved, network) if is_told else 0


def _rounding(problem: Problem, moved: Problem, network: Network) -> Fraction:
    """By how much the outputs of a network of depth 2 at standardised points may be off, as means and deviations are.

    x' = (x - mean) / scale is off by the rounding of the mean, |mean| / scale = |x / scale - x'| ulps, and by that of
    the scale; slopes of at most 1 add these up over the neurons.
    """
    bend = max(abs(problem.architecture.slope), Fraction(1))
    off = [Fraction(0)] * len(network.hidden_weights[0])
    columns = range(problem.data.dimension)
    for c in columns:
        old, new = [row[c] for row in problem.data.inputs], [row[c] for row in moved.data.inputs]
        spread, shown = max(old) - min(old), max(new) - min(new)
        scale = spread / shown if shown else Fraction(1)
        mean = abs(old[0] - new[0] * scale)
        off[c] = ULPS * (mean / scale + max(map(abs, new)))
    reach = (sum(map(mul, map(abs, w), off), Fraction(0)) for w in network.hidden_weights)
    return bend * sum((abs(v) * size for v, size in zip(network.output_weights, reach, strict=True)), Fraction(0))


def right_unscaled(problem: Problem, network: Network) -> int:
    """The number of points on their sides once the scaling of the points is undone: they may have been scaled before.

    Exact; 0 for data that were not scaled, and for goals other than max-margin.
    """
    around = problem.data.surroundings
    if not has_margin(problem.goal) or around is None or around.inputs is None:
        return 0
    place = "the scaler of the points"
    undone = Scaling(*around.inputs).wide(problem.data.dimension, place).inverse()
    return on_their_sides(problem.posed_on(scaled_inputs(problem.data, undone, place)), network)


def on_their_sides(problem: Problem, network: Network) -> int:
    """The number of points that the network has on their sides, exactly."""
    return sum(y * f > 0 for y, f in zip(problem.targets, outputs(problem, network), strict=True))


def is_learnt(problem: Problem, network: Network) -> bool:
    """Whether training stops at once, as the squared loss is as small as it gets there (floats)."""
    if has_margin(problem.goal):
        return False
    from solvers.training.losses import smallest_squared

    try:
        residuals = to_floats(f - y for f, y in zip(outputs(problem, network), problem.targets, strict=True))
        targets = float_targets(problem, clamp=False)
    except OverflowError:
        return False
    with np.errstate(over="ignore"):  # a square that overflows is not small
        return float((residuals**2).mean()) <= 2 * smallest_squared(targets)


def is_out_of_range(problem: Problem, network: Network) -> bool:
    """Whether squares of the weights or of the outputs may be beyond floats, where no training starts."""
    weights = (*(w for row in network.hidden_weights for w in row), *network.output_weights)
    numbers = (*outputs(problem, network), *weights)
    return len(numbers) * max(map(abs, numbers)) ** 2 > LARGEST_FLOAT


def is_at_rest(problem: Problem, network: Network) -> bool:
    """Whether the gradient of the loss nearly vanishes at a network of depth 2 that does not fit (floats).

    In the weights of each neuron, before it and behind it, beside what it could be there, whatever the units of data
    and weights. The loss is the squared one, and for a margin the logistic one.
    """
    values, targets = outputs(problem, network), problem.targets
    try:
        if has_margin(problem.goal):
            found = to_floats(margins(problem, values))
            residuals = -float_targets(problem, clamp=False) / (1 + np.exp(np.clip(found, -700.0, 700.0)))
        else:
            residuals = to_floats(f - y for f, y in zip(values, targets, strict=True))
        rows = float_rows(problem, clamp=False)
        weights = float_weights(network, clamp=False)
        outgoing = float_outgoing(network, clamp=False)
    except OverflowError:
        return False
    residuals, rows, weights, outgoing = (*map(_in_units, (residuals, rows)), _in_units(weights, 1), np.sign(outgoing))
    with np.errstate(all="ignore"):  # what overflows is not at rest
        z = rows @ weights.T
        slopes = np.where(z > 0, 1.0, to_float(problem.architecture.slope))
        pulls, sizes = (slopes * outgoing).T, (slopes * z) ** 2
        loss = float(residuals @ residuals)
        incoming = (((pulls * residuals) @ rows) ** 2).sum(axis=1), loss * (pulls**2 @ (rows**2).sum(axis=1))
        onward = (residuals @ (slopes * z)) ** 2, loss * sizes.sum(axis=0)
    return all(np.isfinite(most).all() and (found <= RESTING**2 * most).all() for found, most in (incoming, onward))


def _in_units(numbers: Floats, axis: int | None = None) -> Floats:
    """The same in units of the largest, so that no square of it is beyond floats."""
    largest = np.abs(numbers).max(axis=axis, keepdims=True)
    return numbers / np.where(largest > 0, largest, 1.0)
