"""A diagnosis in rows of text, for print and notebooks: what is noticed, then the ladder of improvements."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from verify.numbers.counts import count
from verify.numbers.decimals import about
from verify.numbers.intervals import Interval
from verify.problem.phrases import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verify.diagnosis.ladder import Rung
    from verify.diagnosis.neurons import Neurons
    from verify.diagnosis.points import PointGroups

__all__ = ["HEAD", "RELAXED", "noticed", "rungs"]

HEAD = ("network", "neurons", "objective", "excess")
RELAXED = "On what it fits (the audit .relaxed of the result):"


def noticed(points: PointGroups, neurons: Neurons) -> list[str]:
    """What is noticed about points and neurons, a line each; both are counted from 0."""
    lines: list[str] = []
    if points.violated:
        lines.append(f"does not fit: {named(points.violated, 'point')}; none is further off than point {points.worst}")
    if points.least is not None:
        lines.append(f"least margin: {about(points.least, 6)}, at {count(len(points.active), 'point')}")
    for indices, what in ((neurons.dead, "dead"), (neurons.zero, "all weights zero")):
        if indices:
            lines.append(f"{what}: {named(indices, 'neuron')}")
    if neurons.unbalanced:
        indices = [imbalance.neuron for imbalance in neurons.unbalanced]
        lines.append(f"unbalanced, at the highest cost first: {named(indices, 'neuron')}")
    if neurons.turn_hints:
        indices = [neuron for neuron, _ in neurons.turn_hints]
        lines.append(f"turned from the KKT direction (floats), most first: {named(indices, 'neuron')}")
    lines += [f"alike (floats): {named(group, 'neuron')}" for group in neurons.doubled_hints[:3]]
    return lines


def rungs(ladder: Sequence[Rung]) -> list[tuple[str, ...]]:
    """The ladder, a row for each rung."""
    return [_rung(rung) for rung in ladder]


def _rung(rung: Rung) -> tuple[str, ...]:
    width = "" if rung.network is None else str(rung.network.width)
    excess = "" if rung.excess is None else str(Interval(*map(Fraction, rung.excess)))
    return rung.step.value, width, about(rung.objective, 7), excess
