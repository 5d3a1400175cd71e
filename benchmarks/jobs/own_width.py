"""The best network of a width, labels and targets of a teacher of that width: how many states until 1e-6 is proved."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.measuring import Plan, measure
from benchmarks.table import Row
from solvers.instance import ProblemInstance
from solvers.own_width.search import search

GAP, MOST_NODES = 1e-6, 1000
SIZES = {2: ((1, 2, 3, 4), (10, 30, 50)), 3: ((1, 2, 3), (8, 20, 30)), 4: ((2, 3), (10, 12))}


def teacher(seed: int, columns: int, width: int, points: int, *, margin: bool) -> ProblemInstance:
    """Gaussian points, and what a Gaussian network of the width says of them; without points at which that is 0."""
    random = np.random.default_rng([seed, columns, width, points])
    rows, weights = random.standard_normal((points, columns)), random.standard_normal((width, columns))
    outputs = np.maximum(rows @ weights.T, 0.0) @ random.choice([-1.0, 1.0], width)
    if margin:
        rows, outputs = rows[outputs != 0], np.sign(outputs[outputs != 0])
    return ProblemInstance(rows=rows, targets=outputs, margin=margin)


def run(plan: Plan) -> Iterator[Row]:
    """One row for each number of columns, neurons and points, and each goal."""
    for columns, (widths, counts) in SIZES.items():
        for width in widths[:2] if plan.quick else widths:
            for points in counts[:1] if plan.quick else counts:
                for margin in (True, False):
                    instance = teacher(0, columns, width, points, margin=margin)
                    time, found = measure(partial(search, instance, [0] * width, tol=GAP, max_nodes=MOST_NODES), plan)
                    upper = min((atoms.value for atoms in found.networks), default=float("inf"))
                    goal = "max-margin" if margin else "min-norm"
                    yield Row(
                        "own width",
                        f"{goal}, {columns} columns, {width} neurons, n = {points}",
                        time,
                        note=f"{found.status}, {found.nodes} states, gap {upper / max(found.lower, 1e-300) - 1:.0e}",
                    )
