"""Exact networks from float guesses: from directions u_j = |v_j| w_j, and interpolating ones for min-norm (repair).

Everything returned is a candidate whose exact objective the checker recomputes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from verify.errors import InputError
from verify.exact import sqrt_upper
from verify.exactify import dyadic, solve_by_few
from verify.network import Network
from verify.problem import Goal, Problem, outputs
from verify.time_limits import poll

__all__ = [
    "EXACT_EQUATIONS",
    "distance",
    "float_near",
    "float_rows",
    "float_weights",
    "interpolate",
    "merge_directions",
    "network_of_directions",
    "repair",
]

Array = NDArray[np.float64]

EXACT_EQUATIONS = 60
"""The most interpolation equations that are solved exactly; more would give numbers longer than the checker reads."""

KINK_SHARE = 1e-7  # a preactivation below this part of its reach is pushed to this size on its own side
CONSTANT_COST = 1e-10  # what a constant (free bias, w = 0) may cost, relative to the value


LARGEST_FLOAT = 2.0**1000


def float_near(number: Fraction) -> float:
    """The nearest float; for numbers beyond `LARGEST_FLOAT` that one, with their sign, so that sums stay finite."""
    if abs(number.numerator) > int(LARGEST_FLOAT) * number.denominator:
        return LARGEST_FLOAT if number > 0 else -LARGEST_FLOAT
    return float(number)


@lru_cache(maxsize=2)
def float_rows(problem: Problem) -> Array:
    """The lifted rows as floats, shape (n, c); not to be written to."""
    rows = np.array([[float_near(entry) for entry in row] for row in problem.rows])
    rows.flags.writeable = False
    return rows


def float_weights(network: Network) -> tuple[Array, NDArray[np.bool_]]:
    """The hidden weights of a depth-2 network as floats, and where its masks leave room for one; shapes (k, c)."""
    weights = np.array([[float_near(value) for value in row] for row in network.hidden_weights])
    allowed = np.zeros(weights.shape, bool)
    for j, mask in enumerate(network.architecture.masks):
        allowed[j, list(mask)] = True
    return weights, allowed


def norms(directions: Array) -> Array:
    """The norm of each row, without overflow or underflow on the way."""
    largest = np.abs(directions).max(axis=1, initial=0.0)
    return largest * np.linalg.norm(directions / np.where(largest > 0, largest, 1.0)[:, None], axis=1)


def reaches(rows: Array, weights: Array, *, bias: bool) -> Array:
    """How large w_j.x_i could be, (k, n): ||w|| ||x||, plus |b| when the last column is a bias.

    What "near a kink" is measured by: it follows rotations, and rescaling x with the bias.
    """
    if not bias:
        return norms(weights)[:, None] * norms(rows)[None, :]
    heads = norms(weights[:, :-1])[:, None] * norms(rows[:, :-1])[None, :]
    return heads + np.abs(weights[:, -1:]) * np.abs(rows[:, -1])


def network_of_directions(
    problem: Problem, directions: Array, signs: Sequence[int], masks: Sequence[int], bits: int = 53
) -> Network:
    """The balanced network with u_j = `directions`[j] (J, c), output signs and mask classes: v_j = s_j ||u_j||^(1/2).

    With a free bias a direction without weights is a constant; it is made by one neuron with a large bias, nearly for
    free.
    """
    counted = list(problem.norm_columns)
    sizes = norms(directions[:, counted])
    total = max(float(sizes.sum()), 1e-300)
    classes = problem.mask_classes
    hidden: list[Fraction] = []
    outgoing: list[Fraction] = []
    for u, size, sign, mask in zip(directions, sizes, signs, masks, strict=True):
        if size > 1e-9 * total or len(counted) == directions.shape[1]:
            root = float(np.sqrt(size))
            w = u / root if root > 0 else u * 0.0
        else:
            w = np.where(np.isin(np.arange(len(u)), counted), 0.0, u)
            root = float(np.sqrt(2 * CONSTANT_COST * total))
            w = w / root
        hidden += [dyadic(float(w[column]), bits) for column in classes[mask]]
        outgoing.append(dyadic(float(sign) * root, bits))
    shape = problem.architecture.with_width_of([classes[mask] for mask in masks])
    return Network(shape, (hidden, outgoing))


def merge_directions(
    rows: Array, directions: Array, signs: Sequence[int], masks: Sequence[int], slope: float, *, bias: bool
) -> tuple[Array, list[int], list[int]]:
    """Sum the directions that share an output sign, a mask and a closed cell: same function, fewer neurons, less norm.

    Linear networks (slope 1): s u and -s (-u) are one neuron, so all of a mask class merge.
    """
    merged: list[Array] = []
    kept_signs: list[int] = []
    kept_masks: list[int] = []
    cells: list[NDArray[np.int8]] = []
    order = np.argsort(-norms(directions), kind="stable")
    for j in order:
        u, sign, mask = directions[j], int(signs[j]), int(masks[j])
        if slope == 1.0 and sign < 0:
            u, sign = -u, 1
        z = rows @ u
        tolerance = 1e-8 * reaches(rows, u[None], bias=bias)[0]
        cell = np.where(np.abs(z) <= tolerance, 0, np.sign(z)).astype(np.int8)
        if slope == 1.0:
            cell[:] = 0
        for q in range(len(merged)):
            if kept_signs[q] == sign and kept_masks[q] == mask and not (cells[q] * cell < 0).any():
                merged[q] = merged[q] + u
                cells[q] = np.where(cells[q] == 0, cell, cells[q])
                break
        else:
            merged.append(u)
            kept_signs.append(sign)
            kept_masks.append(mask)
            cells.append(cell)
    return np.array(merged), kept_signs, kept_masks


def repair(problem: Problem, network: Network) -> Network | None:
    """A network near `network` with f(x_i) = y_i exactly: same v, same activation pattern; None where none was found.

    Within a pattern f is linear in the w_j. A float least-norm step comes first (preactivations near zero are pushed
    away from it on their own side), then one exact correction of as many weights as there are independent equations.
    Incomplete: gives up for more than `EXACT_EQUATIONS` points, or when the pattern does not hold.
    """
    if len(problem.rows) > EXACT_EQUATIONS or problem.architecture.limits() is not None:
        return None
    if outputs(problem, network) == list(problem.data.targets):
        return network
    rows = float_rows(problem)
    targets = np.array([float_near(y) for y in problem.data.targets])
    slope = float(problem.architecture.slope)
    v = np.array([float_near(value) for value in network.output_weights])
    weights, allowed = float_weights(network)
    free = [column for column in range(weights.shape[1]) if column not in problem.norm_columns]
    moved = _float_step(rows, targets, weights, v, slope, allowed, bias=problem.architecture.bias, free_columns=free)
    if moved is None:
        return None
    return _exact_step(problem, network, moved, allowed)


def _float_step(
    rows: Array,
    targets: Array,
    weights: Array,
    v: Array,
    slope: float,
    allowed: NDArray[np.bool_],
    *,
    bias: bool,
    free_columns: list[int],
) -> Array | None:
    """Weights (k, c) near the given ones that fit in floats and keep their pattern by a visible distance."""
    on = weights @ rows.T > 0
    if not all(
        np.isfinite(given).all() and np.abs(given).max(initial=0.0) < 1e140 for given in (rows, weights, v, targets)
    ):
        return None  # LAPACK may not come back from numbers that overflow
    place = np.flatnonzero(allowed.ravel())
    fit = np.einsum("j,ji,ic->ijc", v, np.where(on, 1.0, slope), rows).reshape(len(rows), -1)[:, place]
    push = KINK_SHARE * np.maximum(reaches(rows, weights, bias=bias), 1e-9 * reaches(rows, weights, bias=bias).max())
    held: set[tuple[int, int]] = set()
    columns = np.abs(rows).max(axis=0)
    columns[columns == 0] = 1.0
    columns[free_columns] /= 1e4  # a free bias costs nothing: move it rather than the weights
    units = np.broadcast_to(1.0 / columns, weights.shape).ravel()[place]
    for _ in range(6):
        poll()
        equations, right = [fit], [targets - (fit @ weights.ravel()[place])]
        for j, i in sorted(held):
            line = np.zeros(weights.shape)
            line[j] = rows[i]
            equations.append(line.ravel()[None, place])
            goal = push[j, i] if on[j, i] else -push[j, i]
            right.append(np.array([goal - rows[i] @ weights[j]]))
        matrix, values = np.concatenate(equations), np.concatenate(right)
        step = units * np.linalg.lstsq(matrix * units, values, rcond=1e-12)[0]
        moved = weights.copy().ravel()
        moved[place] += step
        moved = moved.reshape(weights.shape)
        if np.abs(matrix @ step - values).max() > 1e-6 * max(float(np.abs(targets).max()), 1e-300):
            return None
        z = moved @ rows.T
        bad = np.argwhere((np.where(on, z, -z) < push / 2) & (slope < 1))
        new = {(int(j), int(i)) for j, i in bad if np.any(rows[i]) and np.any(allowed[j])} - held
        if not new:
            return moved
        held |= new
    return None


def _exact_step(problem: Problem, network: Network, moved: Array, allowed: NDArray[np.bool_]) -> Network | None:
    """Correct the rounding of the float step exactly."""
    rows, slope, v = problem.rows, problem.architecture.slope, network.output_weights
    hidden = [[Fraction(float(value)) for value in row] for row in moved]
    place = [(j, c) for j in range(len(hidden)) for c in range(len(hidden[0])) if allowed[j, c]]
    on = [[_sign(row, w) > 0 for row in rows] for w in hidden]
    fit: list[list[Fraction]] = []
    for i in range(len(rows)):
        poll()
        fit.append([v[j] * (1 if on[j][i] else slope) * rows[i][c] for j, c in place])
    start = network_with(network, hidden)
    residual = [y - f for y, f in zip(problem.data.targets, outputs(problem, start), strict=True)]
    step = solve_by_few(fit, residual)
    if step is None:
        return None
    for (j, c), change in zip(place, step, strict=True):
        hidden[j][c] += change
    try:
        repaired = network_with(network, hidden)
        return repaired if outputs(problem, repaired) == list(problem.data.targets) else None
    except InputError:  # numbers longer than the core keeps
        return None


def _sign(row: Sequence[Fraction], weights: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(row, weights, strict=True)), Fraction(0))


def network_with(network: Network, hidden: Sequence[Sequence[Fraction]]) -> Network:
    """The same depth-2 network with other hidden weights (k rows of c columns)."""
    masks = network.architecture.masks
    flat = [row[c] for row, mask in zip(hidden, masks, strict=True) for c in mask]
    return Network(network.architecture, (flat, network.parameters[1]))


def distance(network: Network, given: Network) -> Fraction:
    """An upper bound of ||network - given|| / ||given||."""
    if network is given:
        return Fraction(0)
    pairs = [
        (a, b) for la, lb in zip(network.parameters, given.parameters, strict=True) for a, b in zip(la, lb, strict=True)
    ]
    size = sum((b * b for _, b in pairs), Fraction(0))
    apart = sum(((a - b) ** 2 for a, b in pairs), Fraction(0))
    return sqrt_upper(apart / size, 20) if size else Fraction(0)


def interpolate(
    problem: Problem,
    directions: Array,
    signs: Sequence[int],
    masks: Sequence[int],
    *,
    wider: bool = True,
    seed: int = 0,
) -> Iterable[Network]:
    """Networks near the given directions that interpolate exactly: first one of the same width, then (`wider`) another
    one.

    The wider one adds small neurons whose outputs at the data absorb the residual exactly.
    """
    if problem.goal is not Goal.MIN_NORM or len(problem.rows) > EXACT_EQUATIONS:
        return
    base = network_of_directions(problem, directions, signs, masks)
    repaired = repair(problem, base)
    if repaired is not None:
        yield repaired
    if not wider:
        return
    absorbed = _absorb(problem, base, directions, masks, seed)
    if absorbed is not None:
        yield absorbed


def _absorb(problem: Problem, base: Network, directions: Array, masks: Sequence[int], seed: int) -> Network | None:
    random = np.random.default_rng(seed)
    rows, slope, classes = problem.rows, problem.architecture.slope, problem.mask_classes
    pool: list[tuple[int, list[Fraction]]] = []
    for mask, seen in enumerate(classes):
        guesses = _guesses(problem, seen, 3 * len(rows) + 10, random)
        own = [u[list(seen)] for u, m in zip(directions, masks, strict=True) if m == mask]
        for u in [*own, *guesses]:
            size = float(norms(u[None, :])[0])
            if size > 0:
                full = [Fraction(0)] * len(rows[0])
                for column, value in zip(seen, u, strict=True):
                    full[column] = dyadic(float(value) / size, 20)
                pool.append((mask, full))
    residual = [y - f for y, f in zip(problem.data.targets, outputs(problem, base), strict=True)]
    features: list[list[Fraction]] = []
    for row in rows:
        poll()
        features.append([_activation(_sign(row, u), slope) for _, u in pool])
    amounts = solve_by_few(features, residual, 1e-10)
    if amounts is None:
        return None
    hidden, outgoing = list(base.parameters[0]), list(base.parameters[1])
    seen_masks = list(base.architecture.masks)
    for (mask, u), amount in zip(pool, amounts, strict=True):
        if amount:
            size = float(norms(np.array([[float(u[c]) for c in problem.norm_columns]]))[0])
            root = dyadic((float(abs(amount)) / max(size, 1e-12)) ** 0.5, 20) or Fraction(1, 2**200)
            hidden += [u[column] * root for column in classes[mask]]
            outgoing.append(amount / root)
            seen_masks.append(classes[mask])
    try:
        network = Network(problem.architecture.with_width_of(seen_masks), (hidden, outgoing))
        return network if outputs(problem, network) == list(problem.data.targets) else None
    except InputError:
        return None


def _guesses(problem: Problem, seen: Sequence[int], count: int, random: np.random.Generator) -> Array:
    """Random directions (count, len(seen)) in the units of the columns; a bias puts the breakpoint among the points."""
    rows = float_rows(problem)[:, list(seen)]
    units = np.abs(rows).max(axis=0)
    units[units == 0] = 1.0
    guesses = random.standard_normal((count, len(seen))) / units
    if problem.architecture.bias and len(rows[0]) > 1 and seen[-1] == len(problem.rows[0]) - 1:
        mixed = random.dirichlet(np.ones(min(len(rows), 3)), size=count)
        chosen = np.array([random.choice(len(rows), mixed.shape[1], replace=False) for _ in range(count)])
        centres = np.einsum("kq,kqc->kc", mixed, rows[chosen][..., :-1])
        guesses[:, -1] = -np.einsum("kc,kc->k", guesses[:, :-1], centres)
    return guesses


def _activation(z: Fraction, slope: Fraction) -> Fraction:
    return z if z > 0 else slope * z
