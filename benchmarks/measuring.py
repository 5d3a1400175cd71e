"""Medians of wall and processor time, beside a fixed reference computation."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

BUDGET = 60.0
"""Seconds after which no further run of the same thing is begun."""

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Plan:
    """repeat: runs of each side.   quick: tiny sizes only."""

    repeat: int = 5
    quick: bool = False


@dataclass(frozen=True, slots=True)
class Measurement:
    """Medians over `runs` runs: wall seconds, processor seconds, wall time over that of the reference beside it."""

    runs: int
    seconds: float
    processor: float
    references: float


@dataclass(frozen=True, slots=True)
class _Run:
    seconds: float
    processor: float
    reference: float


def measure(function: Callable[[], T], plan: Plan, budget: float = BUDGET) -> tuple[Measurement, T]:
    """Time `function` and return its last result; fewer runs than planned when they take longer than `budget`."""
    runs, result = [], None
    began = time.perf_counter()
    while True:
        run, result = _timed(function)
        runs.append(run)
        if len(runs) >= plan.repeat or time.perf_counter() - began > budget:
            return _medians(runs), result


def measure_both(
    ours: Callable[[], T], theirs: Callable[[], U], plan: Plan, budget: float = 2 * BUDGET
) -> tuple[tuple[Measurement, T], tuple[Measurement, U]]:
    """Time two functions in alternation, in one process."""
    our_runs, their_runs = [], []
    began = time.perf_counter()
    while True:
        run, our_result = _timed(ours)
        our_runs.append(run)
        run, their_result = _timed(theirs)
        their_runs.append(run)
        if len(our_runs) >= plan.repeat or time.perf_counter() - began > budget:
            return (_medians(our_runs), our_result), (_medians(their_runs), their_result)


def _timed(function: Callable[[], T]) -> tuple[_Run, T]:
    before = reference()
    start, start_cpu = time.perf_counter(), time.process_time()
    result = function()
    seconds, processor = time.perf_counter() - start, time.process_time() - start_cpu
    return _Run(seconds, processor, (before + reference()) / 2), result


def _medians(runs: list[_Run]) -> Measurement:
    return Measurement(
        len(runs),
        statistics.median(run.seconds for run in runs),
        statistics.median(run.processor for run in runs),
        statistics.median(run.seconds / run.reference for run in runs),
    )


def reference() -> float:
    """Wall seconds of a fixed computation: whole numbers of 60 bits in Python, then small linear systems in numpy."""
    start = time.perf_counter()
    total, value = 0, 2**60 - 93
    for step in range(100_000):
        value = value * 6364136223846793005 + step & 2**60 - 1
        total += value * value
    matrix = np.random.default_rng(0).standard_normal((200, 20, 20)) + 20 * np.eye(20)
    for _ in range(10):
        np.linalg.inv(matrix)
    return time.perf_counter() - start


def warm_up() -> None:
    """Import the solvers and compile their kernels, which no figure is about."""
    from benchmarks.instances import bands, best_network, max_margin
    from solvers.pricing.search import ascend, bound_tree

    random = np.random.default_rng(0)
    rows, weights = random.standard_normal((60, 4)), random.standard_normal(60)
    _, values = ascend(rows, weights, 0.0, random.standard_normal((100, 4)))
    bound_tree(rows, weights, 0.0, 1.05 * float(values[0]))
    best_network(max_margin(*bands(20, 3, 0)))
    for _ in range(3):
        reference()
