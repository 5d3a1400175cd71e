"""The best networks of any width with several outputs: directions are added where ||H(u)|| is above the price.

Source: `docs/vector.md`, 6 "The search".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.arrays import Floats
from solvers.clock import is_late
from solvers.pricing.dual_function import bias_frame, to_frame
from solvers.pricing.search import ascend
from solvers.vectors.vector_instance import VectorInstance, activated
from solvers.vectors.vector_master import MasterPoint, solve_master

__all__ = ["VectorGuess", "longest", "search_vectors"]

ROUNDS, PER_ROUND, KEPT = 60, 12, 160
NEARLY_ONE = 1e-12
"""By how much less than 1 the product of two directions may be that are taken to be one."""

SIDES, SEEDS, FAR = 12, 80, 1e5
"""With free biases: sides that ascents begin with, and from how many directions; the bias of a neuron that stands for a
constant.
"""

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
    rows = problem.rows
    others = [_folded(problem, random)] if problem.is_free else [rows, -rows, random.normal(size=(16, rows.shape[1]))]
    directions = problem.unit(np.concatenate([first, *others]))
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
    each is then a start of ascents of q.H for its last q. With free biases ascents of q.H for several q come first, as
    these find the best bias.
    """
    seeds = problem.unit(np.concatenate([starts, random.normal(size=(RANDOM_STARTS, starts.shape[1]))]))
    every = _sided(problem, multipliers, seeds, random) if problem.is_free else _followed(problem, multipliers, seeds)
    chosen = _distinct(problem, every, _lengths(problem, multipliers, every))[:FINALISTS]
    sides = problem.vector(multipliers, every[chosen])[:POLISHED]
    peaks = [found[:4] for found in _ascents(problem, multipliers, sides, every[chosen])]
    every = problem.unit(np.concatenate([every[chosen], *peaks]))
    lengths = _lengths(problem, multipliers, every)
    chosen = _distinct(problem, every, lengths)
    return every[chosen], lengths[chosen]


def _folded(problem: VectorInstance, random: np.random.Generator) -> Floats:
    """With a free bias: directions with their kinks at points; some of one w with all of them meet any targets."""
    heads = random.normal(size=(3, problem.counted))
    heads = np.concatenate([heads, -heads, random.normal(size=(16, problem.counted))])
    kinks = -heads @ problem.rows[:, :-1].T
    whole = [np.column_stack([np.tile(w, (len(z), 1)), z]) for w, z in zip(heads[:6], kinks[:6], strict=True)]
    picked = kinks[np.arange(len(heads)), random.integers(kinks.shape[1], size=len(heads))]
    some = np.column_stack([heads, picked])
    return some if problem.is_loss else np.concatenate([some, *whole])


def _ascents(problem: VectorInstance, multipliers: Floats, sides: Floats, starts: Floats) -> list[Floats]:
    """Local maxima of q.H for each side q (B, K)."""
    return [
        ascend(
            problem.rows,
            multipliers @ q,
            problem.slope,
            starts,
            free=problem.is_free,
            finalists=FINALISTS if problem.is_free else 64,
            compiled=None if problem.is_free else False,
        )[0]
        for q in sides / np.maximum(np.linalg.norm(sides, axis=1, keepdims=True), 1e-300)
    ]


def _sided(problem: VectorInstance, multipliers: Floats, seeds: Floats, random: np.random.Generator) -> Floats:
    """Maxima of q.H for random combinations q of the C_i, with the seeds."""
    sides = random.normal(size=(SIDES, len(multipliers))) @ multipliers
    found = _ascents(problem, multipliers, sides, random.permutation(seeds)[:SEEDS])
    return problem.unit(np.concatenate([seeds, *found]))


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


def _distinct(problem: VectorInstance, directions: Floats, lengths: Floats) -> list[int]:
    """The places of directions that differ, the longest first, so many that a round may use them."""
    directions = _compared(problem, directions)
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
    heads, sums = _merged(problem, directions[used], point.outputs[used])
    scale = np.sqrt(np.sqrt(mu_v / mu_w) * np.linalg.norm(sums, axis=1))[:, None]
    hidden, output = heads * scale, sums / scale
    shift = point.shift
    if shift is not None and problem.is_free and problem.output_bias != 0:
        far = np.zeros((1, directions.shape[1]))  # a constant of one more neuron, for nearly nothing
        far[0, -1] = FAR * max(1.0, float(np.linalg.norm(shift)))
        hidden, output = np.concatenate([hidden, far]), np.concatenate([output, shift[None] / far[0, -1]])
        shift = None if problem.output_bias is None else np.zeros_like(shift)
    if not len(hidden):
        hidden, output = np.zeros((1, directions.shape[1])), np.zeros((1, point.outputs.shape[1]))
    is_closed = largest <= problem.price * (1 + tol)
    return VectorGuess(point.multipliers, largest, hidden, output, shift, is_closed)


def _compared(problem: VectorInstance, directions: Floats) -> Floats:
    """Vectors of norm 1 whose products tell how far directions are apart: with a free bias, where the points are."""
    if not problem.is_free:
        return directions
    _, middle, reach = bias_frame(problem.rows)
    framed = to_frame(directions, middle, reach)
    return framed / np.linalg.norm(framed, axis=1, keepdims=True)


def _merged(problem: VectorInstance, directions: Floats, outputs: Floats) -> tuple[Floats, Floats]:
    """One neuron for each set of directions that differ by nearly nothing: that of the longest V_j, with their sum."""
    places = _compared(problem, directions)
    order = np.argsort(-np.linalg.norm(outputs, axis=1))
    heads: list[int] = []
    sums: list[Floats] = []
    for k in order:
        same = next((q for q, j in enumerate(heads) if places[j] @ places[k] > 1 - NEARLY_ONE), None)
        if same is None:
            heads.append(int(k))
            sums.append(outputs[k])
        else:
            sums[same] = sums[same] + outputs[k]
    is_kept = [bool(np.linalg.norm(total) > 0) for total in sums]
    return directions[np.array(heads, int)[is_kept]], np.array(sums).reshape(-1, outputs.shape[1])[is_kept]
