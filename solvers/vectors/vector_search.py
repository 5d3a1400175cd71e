"""The best networks of any width with several outputs: directions are added where ||H(u)|| is above the price.

Source: `docs/vector.md`, 6 "The search".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.arrays import Floats
from solvers.clock import is_late
from solvers.pricing.search import ascend
from solvers.vectors.vector_instance import VectorInstance, activated
from solvers.vectors.vector_master import MasterPoint, solve_master

__all__ = ["VectorGuess", "longest", "search_vectors"]

ROUNDS, PER_ROUND, KEPT = 60, 12, 160
NEARLY_ONE = 1e-12
"""By how much less than 1 the product of two directions may be that are taken to be one."""

RANDOM_STARTS, STEPS, FINALISTS, POLISHED = 200, 30, 16, 4
"""Of the search for the longest H: starts beside the columns, steps of each, and how many of the best are improved."""


@dataclass(slots=True, eq=False)
class VectorGuess:
    """The best dual point and the best network that were found, in floats.

    multipliers: C_i, shape (n, K).   largest: the largest ||H(u)|| found, on unit directions.   hidden, output, shift:
    w_j (width, c), V_j (width, K), b.   is_closed: whether no direction is longer than the price by more than asked.
    """

    multipliers: Floats
    largest: float
    hidden: Floats
    output: Floats
    shift: Floats | None
    is_closed: bool


def search_vectors(
    problem: VectorInstance, first: Floats, tol: float, deadline: float | None, seed: int = 0
) -> VectorGuess | None:
    """Columns are generated until ||H|| is at most m (1 + tol) wherever ascents look, or the deadline.

    first: directions to begin with, shape (J, c), such as those of a network. None where no program was solved.
    """
    random = np.random.default_rng(seed)
    rows = problem.rows[np.linalg.norm(problem.rows, axis=1) > 0]
    directions = _unit(np.concatenate([first, rows, -rows, random.normal(size=(16, problem.rows.shape[1]))]))
    best: VectorGuess | None = None
    for _ in range(ROUNDS):
        point = solve_master(problem, directions)
        if point is None:
            return best
        found, lengths = longest(problem, point.multipliers, directions, random)
        largest = float(lengths.max(initial=0.0))
        best = _guess(problem, directions, point, largest, tol)
        if best.is_closed or is_late(deadline):
            return best
        used = np.linalg.norm(point.outputs, axis=1) > 1e-9 * max(float(np.abs(point.outputs).max()), 1e-300)
        if len(directions) > KEPT:
            directions = directions[used]
        directions = np.concatenate([directions, found[lengths > problem.price * (1 + tol / 4)][:PER_ROUND]])
    return best


def longest(
    problem: VectorInstance, multipliers: Floats, starts: Floats, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Unit directions where ||H(u)|| is locally largest, nearly, and those lengths, the longest first.

    Many starts follow the gradient of q.H for the side q of H, which is turned to H at each step; of the best of them
    each is then a start of ascents of q.H for its last q.
    """
    seeds = np.concatenate([starts, random.normal(size=(RANDOM_STARTS, starts.shape[1]))])
    every = _followed(problem, multipliers, _unit(seeds))
    chosen = _distinct(every, _lengths(problem, multipliers, every))[:FINALISTS]
    sides = _unit(problem.vector(multipliers, every[chosen]))[:POLISHED]
    peaks = [ascend(problem.rows, multipliers @ q, problem.slope, every[chosen], compiled=False)[0] for q in sides]
    every = _unit(np.concatenate([every[chosen], *(found[:4] for found in peaks)]))
    lengths = _lengths(problem, multipliers, every)
    chosen = _distinct(every, lengths)
    return every[chosen], lengths[chosen]


def _followed(problem: VectorInstance, multipliers: Floats, directions: Floats) -> Floats:
    """For each direction the best one on its way."""
    best, lengths = directions, _lengths(problem, multipliers, directions)
    for step in range(STEPS):
        values = directions @ problem.rows.T
        slopes = np.where(values > 0, 1.0, problem.slope)
        vectors = activated(values, problem.slope) @ multipliers
        gradients = (slopes * (vectors @ multipliers.T)) @ problem.rows
        sizes = np.linalg.norm(gradients, axis=1, keepdims=True)
        heads = np.where(sizes > 0, gradients / np.where(sizes > 0, sizes, 1.0), directions)
        directions = directions + heads * (1.0 if step < STEPS // 2 else 2.0 ** (STEPS // 2 - step))
        norms = np.linalg.norm(directions, axis=1, keepdims=True)
        directions = directions / np.where(norms > 0, norms, 1.0)
        now_long = _lengths(problem, multipliers, directions)
        is_better = now_long > lengths
        best = np.where(is_better[:, None], directions, best)
        lengths = np.where(is_better, now_long, lengths)
    return best


def _lengths(problem: VectorInstance, multipliers: Floats, directions: Floats) -> Floats:
    return np.linalg.norm(problem.vector(multipliers, directions), axis=1)


def _distinct(directions: Floats, lengths: Floats) -> list[int]:
    """The places of directions that differ, the longest first, so many that a round may use them."""
    chosen: list[int] = []
    for k in np.argsort(-lengths):
        if not chosen or float((directions[chosen] @ directions[k]).max()) < 1 - 1e-9:
            chosen.append(int(k))
        if len(chosen) >= 2 * PER_ROUND:
            break
    return chosen


def _guess(problem: VectorInstance, directions: Floats, point: MasterPoint, largest: float, tol: float) -> VectorGuess:
    """The network of the program, its neurons balanced: mu_w ||w_j||^2 = mu_v ||V_j||^2."""
    sizes = np.linalg.norm(point.outputs, axis=1)
    used = sizes > 1e-8 * max(float(sizes.max(initial=0.0)), 1e-300)
    mu_w, mu_v = problem.decays
    heads, sums = _merged(directions[used], point.outputs[used])
    scale = np.sqrt(np.sqrt(mu_v / mu_w) * np.linalg.norm(sums, axis=1))[:, None]
    hidden, output = heads * scale, sums / scale
    if not len(hidden):
        hidden, output = np.zeros((1, directions.shape[1])), np.zeros((1, point.outputs.shape[1]))
    is_closed = largest <= problem.price * (1 + tol)
    return VectorGuess(point.multipliers, largest, hidden, output, point.shift, is_closed)


def _merged(directions: Floats, outputs: Floats) -> tuple[Floats, Floats]:
    """One neuron for each set of directions that differ by nearly nothing: that of the longest V_j, with their sum."""
    order = np.argsort(-np.linalg.norm(outputs, axis=1))
    heads: list[int] = []
    sums: list[Floats] = []
    for k in order:
        same = next((q for q, j in enumerate(heads) if directions[j] @ directions[k] > 1 - NEARLY_ONE), None)
        if same is None:
            heads.append(int(k))
            sums.append(outputs[k])
        else:
            sums[same] = sums[same] + outputs[k]
    is_kept = [bool(np.linalg.norm(total) > 0) for total in sums]
    return directions[np.array(heads, int)[is_kept]], np.array(sums).reshape(-1, outputs.shape[1])[is_kept]


def _unit(vectors: Floats) -> Floats:
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors[sizes[:, 0] > 0] / sizes[sizes[:, 0] > 0]
