"""Own widths: of the stored cases, of the example networks, and of these pruned to the fewest neurons that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import Plan, measure
from benchmarks.table import Row
from solvers.any_width.scaling import scaled
from solvers.own_width.incumbents import Incumbents
from solvers.own_width.setting import Setting
from verify.auditing.asking_several import of_one_output
from verify.auditing.loop import audit, pose
from verify.auditing.record import Audit
from verify.checker.errors import InputError
from verify.deciders.finding import Verdict
from verify.deciders.global_optimality.candidates import networks_near
from verify.deciders.global_optimality.instance import as_instance
from verify.numbers.decimals import at_least, at_most
from verify.numbers.floats import float_outgoing, float_weights
from verify.problem.network import Network
from verify.problem.problem import Dataset, Problem, objective
from verify.readers import read, read_case, read_data

ROOT = Path(__file__).parent.parent.parent
PRUNED = ("moons-40", "iris-pair", "signs-1d")


def run(plan: Plan) -> Iterator[Row]:
    """One row for each whose own width was searched, or is open: how it ended, and after how many states."""
    once = Plan(repeat=1, quick=plan.quick)
    named = [*_pruned(), *_examples(), *_cases()]
    for name, asked in named[:3] if plan.quick else named:
        time, found = measure(asked, once)
        if found is not None and (note := told(found)) is not None:
            yield Row("open widths", name, time, note=note)


def told(found: Audit) -> str | None:
    """The verdict about its width, the bracket and the states; None where it is decided without a search."""
    finding, ends = found.global_optimum, found.bracket_own_width
    if found.is_infeasible_at_width:
        return f"{finding.verdict.value}: nothing of this width fits"
    if ends is None:
        is_open = finding.verdict is Verdict.UNDECIDED and found.fits.verdict is not Verdict.REFUTED
        return f"{finding.verdict.value}: {finding.reason}" if is_open else None
    low, high = ends
    return f"{finding.verdict.value}, {at_least(low)} to {at_most(high)}: {finding.reason}"


def _cases() -> Iterator[tuple[str, Callable[[], Audit | None]]]:
    for path in sorted((ROOT / "cases").glob("*/*/case.json")):
        if "rejected" not in path.parts:
            yield f"case {path.parent.parent.name}/{path.parent.name}", partial(_of_case, path)


def _audited(network: Network, data: Dataset, **options: Any) -> Audit:
    return of_one_output(audit(network, data, **options))


def _of_case(path: Path) -> Audit | None:
    try:
        case = read_case(path)
        problem = case.problem
        return _audited(
            case.network,
            problem.data,
            goal=problem.goal,
            bias=problem.bias,
            trained=problem.trained,
            fit_tol=problem.fit_tolerance or None,
            relax=False,
        )
    except InputError:
        return None


def _examples() -> Iterator[tuple[str, Callable[[], Audit | None]]]:
    for folder in sorted(path.parent for path in (ROOT / "examples").glob("*/data.npz")):
        for path in sorted(folder.glob("*.npz")):
            if path.name != "data.npz":
                yield (
                    f"{folder.name}, {path.stem}",
                    partial(_audited, read(path, output_bias="neuron"), read_data(folder / "data.npz")),
                )


def _pruned() -> Iterator[tuple[str, Callable[[], Audit | None]]]:
    for name in PRUNED:
        data = read_data(ROOT / "examples" / name / "data.npz")
        for path in sorted((ROOT / "examples" / name).glob("*.npz")):
            if path.name == "data.npz":
                continue
            found = pruned(read(path, output_bias="neuron"), data)
            if found is not None:
                yield f"{name}, {path.stem}, {found.width} neurons", partial(_audited, found, data, relax=False)


def pruned(network: Network, data: Dataset) -> Network | None:
    """With as few neurons as still fit: they are left out one by one, of the least |v_j| ||w_j|| first, and the others
    become the best network on their sides; None where the network does not fit.
    """
    problem = pose(network, data)
    if objective(problem, network) is None:
        return None
    while network.width > 1:
        sizes = [
            v * v * sum((z * z for z in w), Fraction(0))
            for w, v in zip(network.hidden_weights, network.output_weights, strict=True)
        ]
        order = sorted(range(network.width), key=lambda j: sizes[j])
        fewer = next(filter(None, (_without(problem, network, j) for j in order)), None)
        if fewer is None:
            break
        network = fewer
    return network


def _without(problem: Problem, network: Network, neuron: int) -> Network | None:
    """The best network on the sides of all neurons but one, and of those that it then has; None where nothing fits."""
    outgoing, weights = float_outgoing(network), float_weights(network)
    kept = [
        (0, 1 if outgoing[j] > 0 else -1, abs(outgoing[j]) * weights[j]) for j in range(len(outgoing)) if j != neuron
    ]
    known = scaled(as_instance(problem))
    found = Incumbents(Setting(known, [0] * len(kept), 1e-6, None, np.random.default_rng(0)))
    found.descend(kept)
    for atoms in found.networks:
        for near in networks_near(problem, as_instance(problem), known.unscaled(atoms)):
            if near.width < network.width and objective(problem, near) is not None:
                return near
    return None
