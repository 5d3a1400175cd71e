"""The best network of a width, labels and targets of a teacher of that width: how many states until 1e-6 is proved."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.measuring import Plan, measure
from benchmarks.table import Row
from solvers.arrays import Floats
from solvers.instance import ProblemInstance
from solvers.own_width.search import search

if TYPE_CHECKING:
    from verify.problem.problem import Problem

GAP, MOST_NODES, GRID = 1e-6, 150, 1024
OPEN = ", open"
"""In the note of a row whose gap is larger than that."""

BOTH = {2: ((1, 2, 3, 4), (10, 30, 50)), 3: ((1, 2, 3), (8, 20, 30)), 4: ((2, 3), (10, 12))}
SMALL = {3: ((4,), (8, 12))}
SIZES = (BOTH, SMALL)
"""By columns: numbers of neurons, and of points."""

LARGEST = {
    (2, "both"): {1: 3, 2: 13, 3: 33, 4: 43}, (3, "both"): {1: 3, 2: 17, 3: 183, 4: 25}, (4, "both"): {2: 31, 3: 17},
    (2, "hidden"): {1: 11, 2: 37, 3: 37, 4: 73}, (3, "hidden"): {1: 13, 2: 437, 3: 31, 4: 17},
    (4, "hidden"): {2: 61, 3: 15},
}  # fmt: skip
"""By columns and trained layers, then neurons: the most states of a first search, on 104 problems of such data, about
five a cell and one or two of four columns. No draw of a cell is to take more than twice as many.
"""


def drawn(
    seed: int, columns: int, width: int, points: int, *, margin: bool, bias: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Gaussian points, what a Gaussian network of the width says of them, exactly, and its output weights, 1 or -1;
    for a margin without points at which that is 0. A network that says 0 everywhere is drawn again.
    bias: the last column is 1.
    """
    random, outputs = np.random.default_rng([seed, columns, width, points]), np.zeros(0)
    while not outputs.any():
        rows, weights = (np.round(GRID * random.standard_normal((size, columns))) / GRID for size in (points, width))
        if bias:
            rows[:, -1] = 1.0
        outgoing = random.choice([-1.0, 1.0], width)
        outputs = np.maximum(rows @ weights.T, 0.0) @ outgoing
    if margin:
        rows, outputs = rows[outputs != 0], np.sign(outputs[outputs != 0])
    return rows, outputs, outgoing


def teacher(seed: int, columns: int, width: int, points: int, *, margin: bool, bias: bool = False) -> ProblemInstance:
    """The question where both layers are trained."""
    rows, outputs, _ = drawn(seed, columns, width, points, margin=margin, bias=bias)
    return ProblemInstance(rows=rows, targets=outputs, margin=margin)


def hidden_teacher(seed: int, columns: int, width: int, points: int, *, margin: bool, bias: bool = False) -> Problem:
    """The question where the output weights are the teacher's."""
    from verify.auditing.loop import pose
    from verify.problem.network import Network

    rows, outputs, outgoing = drawn(seed, columns, width, points, margin=margin, bias=bias)
    data = [[Fraction(x) for x in row[: columns - bias]] for row in rows.tolist()], outputs.tolist()
    hidden = [[0] * (columns - bias)] * width
    shape = Network.two_layer(hidden, outgoing.tolist(), b=[0] * width if bias else None)
    return pose(shape, data, goal="max-margin" if margin else "min-norm", trained="hidden")


def run(plan: Plan) -> Iterator[Row]:
    """One row for each number of columns, neurons and points, each goal, and each set of trained layers, and then one
    for all draws of such a cell.
    """
    states, left = defaultdict[tuple[int, int, str], list[int]](list), Counter[tuple[int, int, str]]()
    seeds = range(1 if plan.quick else 3)
    for sizes in SIZES[:1] if plan.quick else SIZES:
        for columns, (widths, counts) in sizes.items():
            for width in widths[:2] if plan.quick else widths:
                for points in counts[:1] if plan.quick else counts:
                    for seed in seeds:
                        for trained, nodes, row in _rows(plan, seed, columns, width, points):
                            states[columns, width, trained].append(nodes)
                            left[columns, width, trained] += OPEN in row.note
                            yield row
    for (columns, width, trained), nodes in sorted(states.items()):
        name = f"{columns} columns, {width} neurons, {trained}: states of {len(nodes)} draws"
        note = f"median {statistics.median(nodes):g}, largest {max(nodes)}"
        if ended := left[columns, width, trained]:
            note += f", {ended} left open"
        yield Row("own width", name, goal=f"at most {2 * LARGEST[columns, trained][width]}", note=note)


def _rows(plan: Plan, seed: int, columns: int, width: int, points: int) -> Iterator[tuple[str, int, Row]]:
    """The trained layers, the states, and the row of each question."""
    from verify.deciders.own_width.searching import bracket_at_width

    for bias in (False, True):
        for margin in (True, False):
            goal = f"{'max-margin' if margin else 'min-norm'}{', bias' if bias else ''}"
            size = f"{columns} columns, {width} neurons, n = {points}, seed {seed}"
            instance = teacher(seed, columns, width, points, margin=margin, bias=bias)
            time, found = measure(partial(search, instance, [0] * width, tol=GAP, max_nodes=MOST_NODES), plan)
            upper = min((atoms.value for atoms in found.networks), default=float("inf"))
            note = _told(found.status, found.nodes, found.lower, upper)
            yield "both", found.nodes, Row("own width", f"{goal}, both, {size}", time, note=note)
            problem = hidden_teacher(seed, columns, width, points, margin=margin, bias=bias)
            time, bracket = measure(partial(bracket_at_width, problem, (), max_nodes=MOST_NODES), plan)
            low, high = (None if end is None else float(end) for end in bracket.ends)
            nodes = bracket.nodes - bracket.sharpening
            note = _told(bracket.status, nodes, low or 0.0, float("inf") if high is None else high, bracket.sharpening)
            yield "hidden", nodes, Row("own width", f"{goal}, hidden, {size}", time, note=note)


def _told(status: str, nodes: int, lower: float, upper: float, more: int = 0) -> str:
    """more: states that made both ends equal after the gap was small enough."""
    after = f" and {more} to make both ends equal" if more else ""
    gap = upper / max(lower, 1e-300) - 1
    return f"{status}, {nodes} states{after}, gap {gap:.0e}{OPEN if gap > GAP * (1 + GAP) else ''}"
