"""The any-width min-norm optimum (interpolation) to a certified relative gap of 1e-6."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.instances import min_norm, relative_gap, targets
from benchmarks.measuring import Plan, measure
from benchmarks.table import Row
from verify.auditing.loop import certified_bracket

SIZES = ((20, 3), (40, 3))


def run(plan: Plan) -> Iterator[Row]:
    """One row for each size."""
    for points, columns in ((6, 2),) if plan.quick else SIZES:
        problem = min_norm(*targets(points, columns, 0))
        time, bracket = measure(partial(certified_bracket, problem, tol=1e-6, time_limit=120.0), plan)
        width = bracket.witnesses[0].width if bracket.witnesses else 0
        yield Row(
            "min-norm optimum",
            f"Gaussian targets ({points}, {columns})",
            time,
            relative_gap(bracket),
            note=f"{bracket.status}; {width} neurons",
        )
