"""Time to a certified relative gap of 1e-6 on the any-width max-margin optimum, against all cells in cvxpy + Clarabel.

Data: numpy.random.default_rng(seed), Gaussian, n points, d columns of which the last is 1 (a penalised bias), labels +1
where |x_1| > 0.7. Sizes (60, 3) for both sides, alternating in one process, and (200, 3) for the bracket alone.
The rival stops at Clarabel's floats; the bracket is exact, and the checker has accepted both of its ends.

    python benchmarks/first_bound.py --runs 5
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from solvers.conic import solve_all_cells
from solvers.instance import Instance
from verify import Architecture, Bias, Dataset, Goal, Problem
from verify.auditing import certified_bracket

if TYPE_CHECKING:
    from collections.abc import Callable

GAP = 1e-6


def bands(points: int, columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows, shape (points, columns), last column 1, and their labels."""
    rows = np.random.default_rng(seed).standard_normal((points, columns))
    rows[:, -1] = 1.0
    return rows, np.where(np.abs(rows[:, 0]) > 0.7, 1.0, -1.0)


def bracket(rows: np.ndarray, labels: np.ndarray, limit: float | None = None) -> tuple[float, float]:
    """The certified bracket of the optimum."""
    shape = Architecture.two_layer(rows.shape[1] - 1, 1, bias=True)
    problem = Problem(Dataset(rows[:, :-1], labels), shape, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)
    lower, upper = certified_bracket(problem, tol=GAP, time_limit=limit).ends
    return float(lower or 0), float("inf") if upper is None else float(upper)


def enumerate_cells(rows: np.ndarray, labels: np.ndarray) -> float:
    """The rival's value."""
    return solve_all_cells(Instance(rows, labels, margin=True)).value


def timed(function: Callable[..., object], *arguments: object) -> tuple[float, object]:
    """Seconds and result of one call."""
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main() -> None:
    """Run the comparison and print one line per size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="runs of each side (default 5)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the data (default 0)")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one bracket (default 60)")
    arguments = parser.parse_args()
    names = ("numpy", "cvxpy", "clarabel", "scipy")
    print(f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in names))

    small = bands(60, 3, arguments.seed)
    bracket(*bands(12, 3, arguments.seed))  # imports and first calls are not timed
    enumerate_cells(*bands(12, 3, arguments.seed))
    ours, theirs = [], []
    for _ in range(arguments.runs):
        seconds, ends = timed(bracket, *small, arguments.time_limit)
        ours.append(seconds)
        seconds, value = timed(enumerate_cells, *small)
        theirs.append(seconds)
    report("(60, 3)", statistics.median(ours), ends)
    ratio = statistics.median(theirs) / statistics.median(ours)
    print(
        f"(60, 3)   all cells {statistics.median(theirs):.2f} s, value {value:.8f}; the bracket is {ratio:.1f}x faster"
    )

    large = bands(200, 3, arguments.seed)
    runs = [timed(bracket, *large, arguments.time_limit) for _ in range(arguments.runs)]
    report("(200, 3)", statistics.median(seconds for seconds, _ in runs), runs[-1][1])


def report(size: str, seconds: float, ends: object) -> None:
    """Print the median time and the gap reached."""
    lower, upper = ends  # type: ignore[misc]
    gap = upper / lower - 1 if lower > 0 else float("inf")
    print(f"{size:9} bracket {seconds:.2f} s, [{lower:.8f}, {upper:.8f}], relative gap {gap:.1e} (asked {GAP:.0e})")


if __name__ == "__main__":
    main()
