"""The audit of a trained network in many columns: n = 200, d = 10, k = 20."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.auditing import audited
from benchmarks.instances import as_trained, bands, best_network, linear, max_margin
from benchmarks.measuring import Plan
from benchmarks.table import Row


def run(plan: Plan) -> Iterator[Row]:
    """Two rows: classes that a few neurons separate, and bands, which take dozens."""
    points, columns = (20, 4) if plan.quick else (200, 10)
    for name, data, goal in (("linear", linear, "5 s"), ("bands", bands, "")):
        rows, labels = data(points, columns, 0)
        best = best_network(max_margin(rows, labels), tol=1e-6 if name == "linear" else 1e-2)
        network = as_trained(best, rows, labels, 20, seed=1)
        row, _ = audited(f"{name} n = {points}, d = {columns}", network, rows, labels, plan, goal=goal, tol=1e-6)
        yield row
