"""pyscnn on interpolation with a small penalty: how far above its own optimum does it stop? Only where it is installed.

pyscnn minimises loss + penalty * sum ||u_j||; a network that interpolates has no loss, so penalty * (our certified
upper bound of the least sum ||u_j||) bounds its optimum from above.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.instances import min_norm, relative_gap, targets
from benchmarks.measuring import Plan, measure_both
from benchmarks.table import Row, faster, seconds
from solvers.arrays import Floats
from verify.auditing.loop import certified_bracket

PENALTIES = (1e-4, 1e-6)
NEURONS = 200


def run(plan: Plan) -> Iterator[Row]:
    """One row for each penalty."""
    try:
        from scnn.optimize import optimize  # type: ignore[import-not-found]
        from scnn.regularizers import NeuronGL1  # type: ignore[import-not-found]
    except ImportError as error:
        yield Row("pyscnn", "Gaussian targets (20, 3)", note=f"skipped: {error.name} is not installed")
        return
    points = 6 if plan.quick else 20
    rows, values = targets(points, 3, 0)
    problem = min_norm(rows, values)

    def theirs(penalty: float) -> float:
        """Its last objective."""
        settings = {"regularizer": NeuronGL1(penalty), "dtype": "float64", "unitize_data": False}
        _, metrics = optimize("relu", NEURONS, _copied(rows), _copied(values), **settings)
        return float(metrics.objective[-1])

    for penalty in PENALTIES[:1] if plan.quick else PENALTIES:
        (ours, bracket), (time, reached) = measure_both(
            partial(certified_bracket, problem, tol=1e-6),
            partial(theirs, penalty),
            plan,
        )
        bound = penalty * float(bracket.ends[1] or np.inf)
        yield Row(
            "pyscnn",
            f"Gaussian targets ({points}, 3), penalty {penalty:.0e}",
            ours,
            relative_gap(bracket),
            rival=f"pyscnn: {seconds(time.seconds)} s, no certificate",
            ratio=faster(ours, time),
            note=f"it stops at {reached:.5g}, its optimum is at most {bound:.5g}: {reached / bound:.3g} times that",
        )


def _copied(array: Floats) -> Floats:
    return np.array(array)
