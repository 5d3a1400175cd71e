"""Gradient descent of the hidden layer for the squared loss, in primal and dual variables; and what it is compared to.

    R(W) = 1/2 sum_i (f(x_i) - y_i)^2,   f(x) = sum_j s_j max(w_j.x, 0),   s_j = +-1 fixed,   w_j = X^T a_j

With G = X X^T the predictions z_j = X w_j = G a_j (primal) and the coefficients a_j (dual) are all there is:

    a_j <- a_j - eta s_j D_j (f - y),   z_j <- z_j - eta s_j G D_j (f - y),   D_j = diag(z_ji > 0)

so an iteration costs n^2 whatever the dimension. A part of w_j orthogonal to the rows never changes and is left out.

Source: arXiv:2603.04895v2, equations (2) to (4), (7), (8). The formulas are lost in the text we have and were rebuilt
from the proofs in its appendices B and C.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import lsq_linear

from solvers.arrays import Bits, Floats, Indices

__all__ = ["PrimalDualDescent", "descend", "interpolant", "least_norm_one", "least_norm_two", "span_norm"]

FITTED = 1e-12
"""Of the largest |y_i|: when nothing active misses its target by more, descent has ended."""
FITS = 1e-9
"""Of the largest |y_i|: an error of an interpolant that is rounding."""
UNDECIDED, OFF, ON = 0, 1, 2


@dataclass(frozen=True, slots=True)
class PrimalDualDescent:
    """What was passed through.

    iterations (T,): those recorded, the first and the last among them.   primals, duals: (T, k, n).   risks (T,).
    settled: the iteration from which no activation changed any more.   ended: whether nothing active is left to fit.
    """

    iterations: NDArray[np.int64]
    primals: Floats
    duals: Floats
    risks: Floats
    settled: int
    ended: bool


def descend(
    gram: Floats,
    targets: Floats,
    signs: ArrayLike,
    duals: Floats,
    *,
    step: float,
    iterations: int,
    checkpoints: int = 60,
) -> PrimalDualDescent:
    """Gradient descent from the coefficients `duals` (k, n), with derivative 0 at z = 0.

    gram: (n, n).   signs: (k,), +-1.   checkpoints: recorded iterations, even in the logarithm, and all of the first 8.
    """
    s, a = np.asarray(signs, dtype=np.float64)[:, None], np.array(duals, dtype=np.float64)
    kept = set(np.unique(np.geomspace(1, iterations, checkpoints).astype(int)).tolist()) | set(range(9))
    z = a @ gram
    on, settled, ended, close = z > 0, 0, False, FITTED * np.abs(targets).max()
    rows: list[tuple[int, Floats, Floats, float]] = []
    for t in range(iterations + 1):
        off_target = (s * np.where(on, z, 0.0)).sum(axis=0) - targets
        pull = s * np.where(on, off_target, 0.0)
        ended = bool(np.abs(pull).max() <= close)
        if t in kept or ended or t == iterations:
            rows.append((t, z, a.copy(), float(off_target @ off_target) / 2))
        if ended:
            break
        a -= step * pull
        z = z - step * (pull @ gram)
        now = z > 0
        if (now != on).any():
            on, settled = now, t + 1
    times, primals, coefficients, risks = zip(*rows, strict=True)
    return PrimalDualDescent(
        np.array(times), np.array(primals), np.array(coefficients), np.array(risks), settled, ended
    )


def interpolant(gram: Floats, chosen: Bits, targets: Floats, start: Floats) -> Floats:
    """The coefficients of the nearest w to X^T start with x_i.w = y_i at the chosen points: the limit of linear
    regression by gradient descent on them (Lemma 2).
    """
    result = np.array(start)
    if chosen.any():
        missing = targets[chosen] - gram[chosen] @ start
        result[chosen] += cho_solve(cho_factor(gram[np.ix_(chosen, chosen)]), missing)
    return result


def least_norm_one(gram: Floats, targets: Floats) -> Floats:
    """The coefficients of min 1/2 |w|^2 subject to w.x_i = y_i where y_i > 0, w.x_i <= 0 elsewhere (equation 7).

    By its dual, min 1/2 a.G a - a.max(y, 0) with a_i <= 0 where y_i <= 0, as a bounded least-squares problem.
    """
    factor = cholesky(gram)
    right = solve_triangular(factor, np.maximum(targets, 0.0), trans=1)
    free = targets > 0
    if free.all():
        return cho_solve((factor, False), targets)
    bounds = np.full(len(targets), -np.inf), np.where(free, np.inf, 0.0)
    return lsq_linear(factor, right, bounds, method="bvls", tol=1e-14).x


def least_norm_two(gram: Floats, targets: Floats, *, most_nodes: int = 5000) -> tuple[Floats, int]:
    """The coefficients (2, n) of the least |w+|^2 + |w-|^2 with max(w+.x_i, 0) - max(w-.x_i, 0) = y_i (equation 8).

    At a point the neuron of y_i's sign, `own`, is on, and the other is off, own.x_i = |y_i|, or on, (own - other).x_i =
    |y_i| (Lemma 4). Undecided points are relaxed to own.x_i >= |y_i|, (own - other).x_i >= |y_i|, which both imply;
    best first, the worst fitted point is decided until the best relaxation fits all. Also returns the number of nodes;
    RuntimeError when there would be more than `most_nodes`.
    """
    if (targets == 0).any():
        raise ValueError("a target is 0: it has no sign")
    n, sizes = len(targets), np.abs(targets)
    own = np.where(targets > 0, 0, 1)
    queue: list[tuple[float, int, NDArray[np.int8], Floats]] = []

    def push(state: NDArray[np.int8], count: int) -> None:
        value, duals = _relaxed(gram, sizes, own, state)
        heapq.heappush(queue, (value, count, state, duals))

    push(np.full(n, UNDECIDED, dtype=np.int8), 1)
    count = 1
    while True:
        _, _, state, duals = heapq.heappop(queue)
        z = np.maximum(duals @ gram, 0.0)
        missed = np.where(state == UNDECIDED, np.abs(z[0] - z[1] - targets), 0.0)
        worst = int(missed.argmax())
        if missed[worst] <= FITS * sizes.max():
            return duals, count
        if count + 2 > most_nodes:
            raise RuntimeError(f"{count} nodes did not decide which neurons of the least norm are on where")
        for decided in (OFF, ON):
            child = state.copy()
            child[worst] = decided
            count += 1
            push(child, count)


def _relaxed(gram: Floats, sizes: Floats, own: Indices, state: NDArray[np.int8]) -> tuple[float, Floats]:
    """The least norm with two constraints a point: undecided own >= |y|, own - other >= |y|; other off: own = |y|,
    -other >= 0; other on: own - other = |y|, other >= 0. By the dual, a bounded least-squares problem.
    """
    n = len(sizes)
    on_own = np.concatenate([np.where(state == ON, 0.0, 1.0), np.where(state == UNDECIDED, 1.0, 0.0)])
    on_other = np.concatenate([np.zeros(n), np.full(n, -1.0)])
    on_own[:n][state == ON], on_other[:n][state == ON] = 1.0, -1.0
    on_other[n:][state == ON] = 1.0
    right = np.concatenate([sizes, np.where(state == UNDECIDED, sizes, 0.0)])
    point, mine = np.tile(np.arange(n), 2), np.tile(own, 2)
    rows = np.zeros((2, n, 2 * n))  # a = rows @ nu
    constraint = np.arange(2 * n)
    rows[mine, point, constraint] = on_own
    rows[1 - mine, point, constraint] = on_other
    factor = cholesky(sum(part.T @ gram @ part for part in rows))
    lower = np.concatenate([np.where(state == UNDECIDED, 0.0, -np.inf), np.zeros(n)])
    aim = solve_triangular(factor, right, trans=1)
    nu = lsq_linear(factor, aim, (lower, np.full(2 * n, np.inf)), method="bvls", tol=1e-14).x
    return float(right @ nu - nu @ (factor.T @ (factor @ nu)) / 2), rows @ nu


def span_norm(gram: Floats, duals: Floats) -> float:
    """The norm of all w_j = X^T a_j together; duals (n,) or (k, n)."""
    return float(np.sqrt(max(0.0, float(((duals @ gram) * duals).sum()))))
