"""How far audits go beyond a time limit: many points, many columns, and both goals."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.instances import relative_gap
from benchmarks.measuring import Plan, measure
from benchmarks.table import Row, seconds
from solvers.arrays import Floats
from solvers.clock import reading
from verify.auditing.asking_several import of_one_output
from verify.auditing.loop import audit
from verify.problem.network import Network

SIZES = ((200, 784, 10), (200, 784, 50), (4273, 30, 20), (569, 30, 10), (569, 30, 50))
"""Points, columns, neurons."""

LIMITS = (5.0, 20.0)
SHARE, SECONDS = 0.1, 1.0
"""What may be used beyond the limit: this part of it, and these seconds of processor time."""


def run(plan: Plan) -> Iterator[Row]:
    """One row for each size, goal and limit; the limit is one of processor time, so that other work does not count."""
    for points, columns, width in ((20, 5, 3),) if plan.quick else SIZES:
        for goal in ("max-margin", "min-norm"):
            network, data = given(points, columns, width, goal)
            for limit in (1.0,) if plan.quick else LIMITS:
                yield _row(f"{goal}, n = {points}, d = {columns}, k = {width}", network, data, goal, limit)


def given(points: int, columns: int, width: int, goal: str) -> tuple[Network, tuple[Floats, Floats]]:
    """A network with random weights, Gaussian points, and its outputs there as targets, or their signs."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((points, columns))
    W = random.standard_normal((width, columns)) / np.sqrt(columns)
    v = random.standard_normal(width) / np.sqrt(width)
    outputs = np.maximum(rows @ W.T, 0.0) @ v
    return Network.two_layer(W, v), (rows, np.where(outputs > 0, 1.0, -1.0) if goal == "max-margin" else outputs)


def _row(instance: str, network: Network, data: tuple[Floats, Floats], goal: str, limit: float) -> Row:
    with reading(time.process_time):
        used, found = measure(lambda: audit(network, data, goal=goal, time_limit=limit), Plan(repeat=1))
    result = of_one_output(found)
    allowed = (1 + SHARE) * limit + SECONDS
    word = "within" if used.processor <= allowed else "BEYOND"
    note = f"limit {seconds(limit)} s, CPU {seconds(used.processor)} s: {word} {seconds(allowed)} s; {result.status}"
    return Row("time limit", instance, used, relative_gap(result.bracket), goal="10 % + 1 s", note=note)
