"""How time grows with n (at fixed d and support), with d and with k: the exponents of power laws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.auditing import LIMIT
from benchmarks.instances import as_trained, bands, best_network, max_margin, more_points
from benchmarks.measuring import Measurement, Plan, measure
from benchmarks.table import Row, seconds
from verify.auditing.loop import audit, certified_bracket

FEWER = 3


def run(plan: Plan) -> Iterator[Row]:
    """Three rows."""
    fewer = Plan(min(plan.repeat, FEWER), plan.quick)
    yield _row("n (audit, d = 3, k = 10, same support)", _by_points, (30, 60, 120) if plan.quick else N, fewer)
    yield _row("d (optimum of 40 points to 1e-6)", _by_columns, (2, 3, 4) if plan.quick else D, fewer)
    yield _row("k (audit, n = 300, d = 3)", _by_width, (10, 20, 40) if plan.quick else K, fewer)


N = (1000, 3000, 10_000, 30_000)
D = (3, 4, 5, 6, 7, 8)
K = (12, 25, 50, 100, 200)

Prepared = Callable[[int], Callable[[], object]]


def _row(name: str, prepare: Callable[[Plan], Prepared], sizes: Sequence[int], plan: Plan) -> Row:
    prepared = prepare(plan)
    times: list[Measurement] = []
    for size in sizes:
        try:
            time, _ = measure(prepared(size), plan)
        except MemoryError:
            break
        times.append(time)
    reached = sizes[: len(times)]
    if len(reached) < 2:
        return Row("growth", f"against {name}", note=f"MemoryError at {sizes[len(reached)]}")
    listed = ", ".join(f"{size}: {seconds(time.processor)}" for size, time in zip(reached, times, strict=True))
    power = np.polyfit(np.log(reached), np.log([time.processor for time in times]), 1)[0]
    factor = np.exp(np.polyfit(reached, np.log([time.processor for time in times]), 1)[0])
    words = f"CPU seconds {listed}; exponent {power:.2f}"
    if name.startswith("d"):
        words += f", factor {factor:.2f} for each further column"
    if reached != sizes:
        words += f"; MemoryError at {sizes[len(reached)]}"
    return Row("growth", f"against {name}", times[-1], note=words)


def _by_points(plan: Plan) -> Prepared:
    rows, labels = bands(30 if plan.quick else 1000, 3, 0, gap=0.1)
    best = best_network(max_margin(rows, labels))

    def prepared(points: int) -> Callable[[], object]:
        more, names = more_points(best, rows, labels, points, seed=7)
        network = as_trained(best, more, names, 10, seed=1)
        return lambda: audit(network, (more[:, :-1], names), time_limit=LIMIT)

    return prepared


def _by_columns(_: Plan) -> Prepared:
    def prepared(columns: int) -> Callable[[], object]:
        problem = max_margin(*bands(40, columns, 0))
        return lambda: certified_bracket(problem, tol=1e-6, time_limit=LIMIT)

    return prepared


def _by_width(plan: Plan) -> Prepared:
    rows, labels = bands(30 if plan.quick else 300, 3, 0)
    best = best_network(max_margin(rows, labels))

    def prepared(width: int) -> Callable[[], object]:
        network = as_trained(best, rows, labels, width, seed=1)
        return lambda: audit(network, (rows[:, :-1], labels), time_limit=LIMIT)

    return prepared
