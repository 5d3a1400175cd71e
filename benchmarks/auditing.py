"""What the audit jobs share: the time of a whole audit, its checks included."""

from __future__ import annotations

from benchmarks.instances import relative_gap
from benchmarks.measuring import Plan, measure
from benchmarks.table import Row, seconds
from solvers.arrays import Floats
from verify.auditing.asking_several import of_one_output
from verify.auditing.loop import audit
from verify.auditing.record import Audit
from verify.deciders.finding import Ending
from verify.problem.network import Network

LIMIT = 120.0


def audited(
    instance: str, network: Network, rows: Floats, labels: Floats, plan: Plan, *, goal: str = "", tol: float = 1e-6
) -> tuple[Row, Audit]:
    """The row and the last audit: reading the arrays, all questions, every certificate checked."""
    time, found = measure(lambda: audit(network, (rows[:, :-1], labels), tol=tol, time_limit=LIMIT), plan)
    result = of_one_output(found)
    verdicts = "/".join(f.verdict.value for f in (result.fits, result.stationary, result.global_any_width))
    note = f"{result.status}; fits/stationary/global: {verdicts}"
    if result.excess is not None:
        note += f"; excess {float(result.excess[0]):.2%}"
    if result.ending is Ending.TIME:
        note += f" (limit {seconds(LIMIT)} s)"
    name = f"{instance}, k = {network.width}"
    return Row("audit", name, time, relative_gap(result.bracket), goal=goal, note=note), result
