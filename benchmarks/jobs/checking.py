"""The checker alone: seconds per 10^4 leaves of a lower bound in d = 5, against solving again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.instances import bands, max_margin, relative_gap
from benchmarks.measuring import Plan, measure
from benchmarks.table import Row, seconds
from verify.auditing.loop import certified_bracket
from verify.checker import Accepted, check


def run(plan: Plan) -> Iterator[Row]:
    """One row for each size."""
    for points in (20,) if plan.quick else (50, 150, 300):
        problem = max_margin(*bands(points, 5, 0))
        solving, bracket = measure(partial(certified_bracket, problem, tol=1e-6, time_limit=120.0), Plan(1))
        proof = bracket.lower
        if proof is None:
            yield Row("certificate check", f"bands ({points}, 5)", note="no lower bound to check")
            continue
        time, result = measure(partial(check, problem, None, proof), plan)
        leaves = sum(not isinstance(node, int) for tree in proof.trees for node in tree)
        rate = time.seconds / leaves * 1e4
        verdict = "accepted" if isinstance(result, Accepted) else "REFUSED"
        yield Row(
            "certificate check",
            f"bands ({points}, 5): {leaves} leaves, {len(proof.multipliers)} multipliers",
            time,
            relative_gap(bracket),
            rival=f"solving again: {seconds(solving.seconds)} s",
            ratio=f"{solving.seconds / time.seconds:.3g}×",
            goal="≤ 1 s per 10⁴ leaves",
            note=f"{verdict}; {seconds(rate)} s per 10⁴ leaves ({seconds(time.processor / leaves * 1e4)} s CPU)",
        )
