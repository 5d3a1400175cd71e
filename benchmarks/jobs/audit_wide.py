"""The audit of a wide trained network: n = 1000, d = 3, k = 100."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.auditing import audited
from benchmarks.instances import as_trained, bands, best_network, max_margin
from benchmarks.measuring import Plan
from benchmarks.table import Row


def run(plan: Plan) -> Iterator[Row]:
    """One row."""
    points, columns, width = (30, 3, 12) if plan.quick else (1000, 3, 100)
    rows, labels = bands(points, columns, 0)
    network = as_trained(best_network(max_margin(rows, labels)), rows, labels, width, seed=1)
    row, _ = audited(f"bands n = {points}, d = {columns}", network, rows, labels, plan, goal="5 s")
    yield row
