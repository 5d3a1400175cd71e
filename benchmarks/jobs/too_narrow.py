"""Widths at which nothing fits: data of a teacher with a neuron more, and random labels; the states, and the proof."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.jobs.own_width import GRID
from benchmarks.measuring import Plan, measure
from benchmarks.table import Row
from solvers.arrays import Floats
from verify.numbers.decimals import at_least

if TYPE_CHECKING:
    from verify.deciders.own_width.record import WidthBracket
    from verify.problem.problem import Problem

MOST_NODES, WORK = 200, 15.0
"""States, and seconds of work (`solvers.clock.by_work`), after which a row ends: what is open then is said in it."""

ANY = Fraction(10**6)
"""A gap that any network closes, as it is only asked whether there is one."""

TAUGHT = {2: ((1, 2, 3), (10, 30)), 3: ((1, 2, 3), (8, 20))}
LABELS = {2: ((1, 2, 3), (6, 10, 16)), 3: ((1, 2, 3), (6, 10, 16))}
"""By columns: numbers of neurons, and of points."""


def run(plan: Plan) -> Iterator[Row]:
    """One row for each question at which no network was found: nothing fits, or that is open."""
    once = Plan(repeat=1, quick=plan.quick)
    for sizes, is_taught in ((TAUGHT, True), (LABELS, False)):
        for columns, (widths, counts) in sizes.items():
            for width in widths[:1] if plan.quick else widths:
                for points in counts[:1] if plan.quick else counts:
                    for bias in ("none", "penalised", "free"):
                        yield from _rows(once, columns, width, points, bias, is_taught=is_taught)


def _rows(plan: Plan, columns: int, width: int, points: int, bias: str, *, is_taught: bool) -> Iterator[Row]:
    from verify.deciders.own_width.searching import bracket_at_width, until_done

    for goal in ("max-margin", "min-norm") if is_taught else ("max-margin",):
        rows, targets, outgoing = _drawn(columns, width, points, bias, goal, is_taught=is_taught)
        for trained in ("both", "hidden"):
            problem = _posed(rows, targets, outgoing, trained, bias, goal)
            search = partial(bracket_at_width, problem, (), tol=ANY, max_nodes=MOST_NODES)
            time, found = measure(partial(until_done, search, None, WORK), plan)
            if not found.objectives:
                data = "a teacher of one neuron more" if is_taught else "random labels"
                size = f"{columns} columns, {width} neurons, n = {points}"
                yield Row("too narrow", f"{goal}, bias {bias}, {trained}, {size}, {data}", time, note=_told(found))


def _told(found: WidthBracket) -> str:
    if found.nothing is None:
        low = "" if found.lower is None else f", {_bound(found.lower.bracket[0])}"
        return f"{found.status}, {found.nodes} states, {found.left} open{low}"
    length = len(found.nothing.canonical_text()) / 1000
    return f"nothing fits, {found.nodes} states, certificate of {length:.1f} kB"


def _bound(lower: Fraction | None) -> str:
    return f"any network that fits has an objective of at least {at_least(lower or Fraction(0), 4)}"


def _drawn(
    columns: int, width: int, points: int, bias: str, goal: str, *, is_taught: bool
) -> tuple[Floats, Floats, Floats]:
    """Points without their bias, targets, and output weights of the width; of a teacher those of its first neurons."""
    random, targets = np.random.default_rng([columns, width, points, is_taught]), np.zeros(0)
    while len(set(np.sign(targets[targets != 0]).tolist())) < 2:
        rows, weights = (
            np.round(GRID * random.standard_normal((size, columns))) / GRID for size in (points, width + 1)
        )
        if bias != "none":
            rows[:, -1] = 1.0
        outgoing = random.choice([-1.0, 1.0], width + 1)
        targets = np.maximum(rows @ weights.T, 0.0) @ outgoing if is_taught else random.choice([-1.0, 1.0], points)
    if goal == "max-margin":
        rows, targets = rows[targets != 0], np.sign(targets[targets != 0])
    return rows[:, : columns - (bias != "none")], targets, outgoing[:width]


def _posed(rows: Floats, targets: Floats, outgoing: Floats, trained: str, bias: str, goal: str) -> Problem:
    from verify.auditing.loop import pose
    from verify.problem.network import Network

    offsets = None if bias == "none" else [0] * len(outgoing)
    shape = Network.two_layer([[0] * rows.shape[1]] * len(outgoing), outgoing.tolist(), b=offsets)
    data = [[Fraction(x) for x in row] for row in rows.tolist()], targets.tolist()
    return pose(shape, data, goal=goal, trained=trained, bias=None if offsets is None else bias)
