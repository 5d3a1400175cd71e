"""What regularised losses cost beside max-margin on the same points, and free hidden biases beside penalised ones.

The bracket of the best objective of any width, to a relative gap of 1e-4, from nothing: its nodes and its time are put
beside those of the same points with max-margin, or with penalised hidden biases. Points and targets are Gaussian, the
labels the signs of the targets.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.instances import max_margin, min_norm, relative_gap, targets
from benchmarks.measuring import Measurement, Plan, measure
from benchmarks.table import Row
from verify.auditing.loop import certified_bracket
from verify.problem.objectives import loss_asked
from verify.problem.problem import Bias, Problem

if TYPE_CHECKING:
    from verify.deciders.global_optimality.record import Bracket

GAP, LIMIT, SEEDS, BIASES = 1e-4, 300.0, 3, (Bias.PENALISED, Bias.FREE)
DECAY = "0.01"
"""Of the mean loss, of both layers."""

LARGEST = {
    (20, 3): {"hinge": 0.7, "squared-hinge": 0.9, "logistic": 0.9, "absolute": 1.8, "squared": 1.5},
    (40, 3): {"hinge": 0.8, "squared-hinge": 1.2, "logistic": 1.6, "absolute": 3.7, "squared": 2.3},
    (20, 5): {"hinge": 1.0, "squared-hinge": 1.1, "logistic": 1.7, "absolute": 2.5, "squared": 2.2},
    (30, 5): {"hinge": 0.9, "squared-hinge": 1.5, "logistic": 1.8, "squared": 6.7},
}
"""By points and columns: the nodes of a loss over those of max-margin as first measured; twice that is the goal."""

_Bracketed = tuple[Measurement, "Bracket"]


def run(plan: Plan) -> Iterator[Row]:
    """For each size and seed a row of max-margin, two of each loss: penalised and free hidden biases."""
    for points, columns in [(8, 2)] if plan.quick else LARGEST:
        goals = LARGEST.get((points, columns), {"hinge": 1.0})
        for seed in range(1 if plan.quick else SEEDS):
            rows, values = targets(points, columns, seed)
            hard = max_margin(rows, np.sign(values))
            size = f"({points}, {columns}), seed {seed}"
            base = _bracketed(hard, plan)
            yield _row(f"max-margin {size}", base, None, "")
            for loss, ratio in goals.items():
                asked = loss_asked(loss, DECAY)
                data = hard.data if asked.has_labels else min_norm(rows, values).data
                shape, goal = hard.architecture, asked.on(points)
                soft, freed = (Problem(data, shape, goal=goal, bias=bias) for bias in BIASES)
                penalised = _bracketed(soft, plan)
                yield _row(f"{loss} {size}", penalised, base, f"at most {2 * ratio:g} times the nodes")
                free = _bracketed(freed, plan)
                yield _row(f"{loss}, free biases, {size}", free, penalised, "at most 2 times the nodes")


def _bracketed(problem: Problem, plan: Plan) -> _Bracketed:
    return measure(partial(certified_bracket, problem, tol=GAP, time_limit=LIMIT), plan, budget=10.0)


def _nodes(bracket: Bracket) -> int:
    return sum(len(tree) for tree in bracket.lower.trees) if bracket.lower else 0


def _row(instance: str, found: _Bracketed, beside: _Bracketed | None, goal: str) -> Row:
    time, bracket = found
    note = f"{bracket.status}, {_nodes(bracket)} nodes"
    if beside is not None:
        nodes, seconds = _nodes(bracket) / max(_nodes(beside[1]), 1), time.processor / beside[0].processor
        note += f", {nodes:.2f} times the nodes and {seconds:.2f} times the time"
    return Row("loss sizes", instance, time, relative_gap(bracket), goal=goal, note=note)
