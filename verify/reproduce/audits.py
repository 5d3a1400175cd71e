"""An audit as plain values, for the numbers of a figure."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from solvers.paper_data.dataset import PaperData
from verify.auditing.asking_several import of_one_output
from verify.auditing.loop import audit
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.problem import Dataset
from verify.reproduce.spec import NamedValues

__all__ = ["audited"]


def audited(
    data: PaperData, W: Iterable[Iterable[object]], v: Iterable[object], *, slope: object = 0, time_limit: float = 60.0
) -> NamedValues:
    """Verdicts, objective, bracket and the best network known of `Network.two_layer(W, v)` on max-margin data.

    Numbers are floats nearest to exact ones; of the bracket the lower end is rounded down and the upper end up, so that
    it stays one.
    """
    found = of_one_output(
        audit(
            Network.two_layer(W, v, slope=slope),
            Dataset(data.inputs.tolist(), data.targets.tolist()),
            goal="max-margin",
            time_limit=time_limit,
            relax=False,
        )
    )
    best = found.better
    bracket = found.bracket
    return {
        "verdicts": {name: finding.verdict.value for name, finding in found.findings.items()},
        "objective": None if found.objective is None else to_float(found.objective),
        "bracket": None if bracket is None else [_below(bracket[0]), _above(bracket[1])],
        "excess": None if found.excess is None else [to_float(end) for end in found.excess],
        "better": None if best is None else _weights(best),
        "moved": None if found.stationary.moved is None else to_float(found.stationary.moved),
    }


def _weights(network: Network) -> NamedValues:
    """W and v of a dense network of depth 2 without bias."""
    first, second = network.parameters
    columns = len(first) // network.width
    rows = [[to_float(w) for w in first[j * columns : (j + 1) * columns]] for j in range(network.width)]
    return {"W": rows, "v": [to_float(v) for v in second]}


def _below(value: Fraction) -> float:
    near = to_float(value)
    return near if Fraction(near) <= value else float(np.nextafter(near, -np.inf))


def _above(value: Fraction) -> float:
    near = to_float(value)
    return near if Fraction(near) >= value else float(np.nextafter(near, np.inf))
