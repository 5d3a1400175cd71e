"""The audit on very many points: n = 10^5, d = 3, k = 10, with the support of a problem of 10^3 points."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.auditing import audited
from benchmarks.instances import as_trained, bands, best_network, max_margin, more_points
from benchmarks.measuring import Plan
from benchmarks.table import Row


def run(plan: Plan) -> Iterator[Row]:
    """Two rows; the second says whether the brackets meet."""
    few, many = (30, 300) if plan.quick else (1000, 100_000)
    rows, labels = bands(few, 3, 0, gap=0.1)
    best = best_network(max_margin(rows, labels))
    network = as_trained(best, rows, labels, 10, seed=1)
    name = "bands, gap 0.1,"
    row, small = audited(f"{name} n = {few}, d = 3", network, rows, labels, plan)
    yield row
    more, names = more_points(best, rows, labels, many, seed=7)
    network = as_trained(best, more, names, 10, seed=1)
    row, large = audited(
        f"{name} n = {many}, d = 3, same support", network, more, names, plan, goal="15 s, same bracket"
    )
    same = "no bracket to compare"
    if small.bracket and large.bracket:
        meets = small.bracket[0] <= large.bracket[1] and large.bracket[0] <= small.bracket[1]
        same = "same bracket" if meets else f"ANOTHER bracket than for n = {few}"
    yield Row(row.job, row.instance, row.time, row.gap, goal=row.goal, note=f"{row.note}; {same}")
