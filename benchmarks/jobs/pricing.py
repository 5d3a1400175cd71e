"""Pricing at the optimal multipliers: max |h(u)| on the unit ball, proved; the rival enumerates and projects."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.optimize import nnls

from benchmarks.instances import bands, max_margin
from benchmarks.measuring import Plan, measure
from benchmarks.table import Row, seconds
from solvers.arrays import Floats
from solvers.pricing.search import ascend, bound_tree
from solvers.programs.arrangements import cell_blocks, generic_count
from verify.auditing.loop import certified_bracket

SLACK = 1e-6
RIVAL_SECONDS = 60.0
SIZES = ((175, 5), (60, 8), (52, 10))  # supports of about 40 points


def run(plan: Plan) -> Iterator[Row]:
    """One row for each size."""
    for points, columns in ((12, 3),) if plan.quick else SIZES:
        rows, weights = optimal_dual(points, columns)
        largest = max(ascend(rows, s * weights, 0.0, _starts(rows))[1][0] for s in (1.0, -1.0))
        beta = float(largest) * (1 + SLACK)
        taken, (bound, count) = measure(partial(price, rows, weights, beta), plan)
        start = time.perf_counter()
        value, cells = by_enumeration(rows, weights, 1.0 if plan.quick else RIVAL_SECONDS)
        theirs = time.perf_counter() - start
        total = generic_count(*rows.shape)
        whole = cells >= total
        # A cell and its opposite, both signs of h: all cells take theirs * total / cells seconds, if the rest is alike.
        rival = f"enumeration with projection: {seconds(theirs)} s"
        if not whole:
            rival += f" for {cells / total:.1e} of {total:.2g} cells"
        agrees = f"; it found {value:.9g}, the bound is {bound:.9g}" if whole else ""
        yield Row(
            "pricing",
            f"bands ({points}, {columns}), support {len(rows)}",
            taken,
            rival=rival,
            ratio=f"{'' if whole else '≈ '}{theirs * total / max(cells, 1) / taken.seconds:.3g}×",
            goal="≥ 100×",
            note=f"proved within {max(bound / largest - 1, 0.0):.1e}, {count} nodes{agrees}",
        )


def optimal_dual(points: int, columns: int) -> tuple[Floats, Floats]:
    """The support's rows, and c_i = lambda_i y_i, at the certified multipliers."""
    rows, labels = bands(points, columns, 0)
    lower = certified_bracket(max_margin(rows, labels), tol=1e-6, time_limit=120.0).lower
    if lower is None or not lower.multipliers:
        raise RuntimeError("no multipliers were found in two minutes")
    support = [i for i, _ in lower.multipliers]
    return rows[support], np.array([float(value) for _, value in lower.multipliers]) * labels[support]


def price(rows: Floats, weights: Floats, beta: float) -> tuple[float, int]:
    """The proved bound of |h|, and the nodes of the trees: local ascents, then the trees for both signs."""
    bound, count = 0.0, 0
    for sign in (1.0, -1.0):
        ascend(rows, sign * weights, 0.0, _starts(rows))
        tree = bound_tree(rows, sign * weights, 0.0, beta, max_violators=1)
        bound, count = max(bound, tree.bound), count + tree.count
    return bound, count


def _starts(rows: Floats) -> Floats:
    return np.concatenate([np.random.default_rng(0).standard_normal((160, rows.shape[1])), rows, -rows])


def by_enumeration(rows: Floats, weights: Floats, limit: float) -> tuple[float, int]:
    """The rival: for every cell the gradient of h there, projected onto the cell; (largest |h|, cells seen).

    Cells whose gradient is shorter than the best value so far need no projection. Stops after `limit` seconds.
    """
    best, seen = 0.0, 0
    end = time.perf_counter() + limit
    for signs, _ in cell_blocks(rows):
        gradients = np.where(signs > 0, weights, 0.0) @ rows
        for sign in (1.0, -1.0):
            sizes = np.linalg.norm(gradients, axis=1)
            for place in np.flatnonzero(sizes > best):
                # The projection of p on {s_i x_i.u >= 0} is p + A^T m with m >= 0 the nearest to making it zero.
                inward = signs[place, :, None] * rows
                _, distance = nnls(inward.T, -sign * gradients[place], maxiter=1000)
                best = max(best, float(distance))
        seen += len(signs)
        if time.perf_counter() > end:
            break
    return best, seen
