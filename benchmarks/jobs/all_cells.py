"""The bracket against its rival: the convex program over all cells, in cvxpy + Clarabel.

That is out of reach beyond (60, 3).
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.instances import bands, max_margin, relative_gap
from benchmarks.measuring import Plan, measure_both
from benchmarks.table import Row, faster, seconds
from solvers.instance import ProblemInstance
from solvers.programs.restricted import solve_all_cells
from verify.auditing.loop import certified_bracket


def run(plan: Plan) -> Iterator[Row]:
    """One row: both sides in alternation, in one process."""
    points, columns = (12, 3) if plan.quick else (60, 3)
    rows, labels = bands(points, columns, 0)
    problem = max_margin(rows, labels)
    ours, theirs = measure_both(
        lambda: certified_bracket(problem, tol=1e-6),
        lambda: solve_all_cells(ProblemInstance(rows, labels, margin=True)).value,
        plan,
    )
    yield Row(
        "convex optimum",
        f"bands ({points}, {columns})",
        ours[0],
        relative_gap(ours[1]),
        rival=f"all cells in cvxpy + Clarabel: {seconds(theirs[0].seconds)} s, no certificate",
        ratio=faster(ours[0], theirs[0]),
        goal="≥ 20×",
        note=f"its value is {theirs[1]:.8g}, ours {float(ours[1].ends[1] or 0):.8g}",
    )
