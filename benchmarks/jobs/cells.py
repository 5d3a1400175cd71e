"""Cells of a central arrangement per second, all streamed; the rival is a tree of linear programs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.measuring import Measurement, Plan, measure
from benchmarks.table import Row
from solvers.programs.arrangements import cell_blocks, generic_count
from solvers.programs.linear import solve_lp

SIZES = ((60, 4), (40, 6), (30, 10))
LONGEST = 30.0
RIVAL_SECONDS = 10.0


def run(plan: Plan) -> Iterator[Row]:
    """One row for each size: the rate over all cells, or over those listed in `LONGEST` seconds."""
    theirs = lp_rate(np.random.default_rng(0).standard_normal((12, 4)), 1.0 if plan.quick else RIVAL_SECONDS)
    for points, columns in ((12, 3),) if plan.quick else SIZES:
        rows = np.random.default_rng(0).standard_normal((points, columns))
        taken, count = measure(partial(count_cells, rows, LONGEST), plan)
        total = generic_count(points, columns)
        listed = "all" if count == total else f"stopped after {count / total:.1%} of"
        if count > total:
            listed = "MORE THAN"
        rate = count / taken.seconds
        yield Row(
            "cell enumeration",
            f"Gaussian ({points}, {columns})",
            taken,
            rival=f"tree of linear programs (HiGHS, (12, 4)): {theirs:.3g} cells/s",
            ratio=f"{rate / theirs:.3g}×",
            goal="10⁷ cells/s",
            note=f"{listed} {total} cells; {rate:.3g} cells/s ({_cpu_rate(count, taken):.3g} per CPU second)",
        )


def count_cells(rows: np.ndarray, limit: float) -> int:
    """How many cells there are, or come within `limit` seconds."""
    end = time.perf_counter() + limit
    count = 0
    for signs, _ in cell_blocks(rows):
        count += len(signs)
        if time.perf_counter() > end:
            break
    return count


def lp_rate(rows: np.ndarray, limit: float) -> float:
    """Cells per second of a depth-first tree that asks a linear program whether a sign vector has an inside."""
    start = time.perf_counter()
    found = 0
    stack: list[list[float]] = [[1.0], [-1.0]]
    while stack and time.perf_counter() - start < limit:
        signs = stack.pop()
        side = -np.array(signs)[:, None] * rows[: len(signs)]
        box = np.array([[-1.0, 1.0]] * rows.shape[1] + [[0.0, 1.0]])
        cost = np.append(np.zeros(rows.shape[1]), -1.0)
        inside = solve_lp(cost, np.column_stack([side, np.ones(len(side))]), np.zeros(len(side)), bounds=box)
        if not inside.is_usable or inside.value > -1e-9:
            continue
        if len(signs) == len(rows):
            found += 1
        else:
            stack += [[*signs, 1.0], [*signs, -1.0]]
    return max(found, 1) / (time.perf_counter() - start)


def _cpu_rate(count: int, taken: Measurement) -> float:
    return count / max(taken.processor, 1e-9)
