"""The any-width max-margin optimum to a certified relative gap of 1e-6, from nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.instances import bands, max_margin, relative_gap
from benchmarks.measuring import Plan, measure
from benchmarks.table import Row
from verify.auditing.loop import certified_bracket

GAP = 1e-6
GOALS = {(60, 3): "", (200, 3): "10 s", (50, 5): "15 s", (1000, 3): "60 s", (50, 8): "120 s", (50, 10): "solved"}
LIMIT = 300.0


def run(plan: Plan) -> Iterator[Row]:
    """One row for each size."""
    for points, columns in ((20, 3),) if plan.quick else GOALS:
        problem = max_margin(*bands(points, columns, 0))
        time, bracket = measure(partial(certified_bracket, problem, tol=GAP, time_limit=LIMIT), plan)
        leaves = sum(len(tree) for tree in bracket.lower.trees) if bracket.lower else 0
        yield Row(
            "convex optimum",
            f"bands ({points}, {columns})",
            time,
            relative_gap(bracket),
            goal=GOALS.get((points, columns), ""),
            note=f"{bracket.status}; {bracket.witnesses[0].width} neurons, {leaves} nodes in the proof",
        )
