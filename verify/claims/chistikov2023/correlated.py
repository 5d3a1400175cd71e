"""What arXiv:2306.06479 assumes of points that are correlated with a teacher neuron, and its constants of them.

The network of an instance is z_j with output weights s_j |z_j|; training starts at small multiples of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log, sqrt
from typing import final

import numpy as np

from solvers.arrays import Floats
from verify.checker.exact import dot
from verify.claims.records import Instance
from verify.deciders.rounding import rank, solve_exactly
from verify.numbers.floats import to_float, to_floats, to_matrix
from verify.problem.members import has_bias, has_margin
from verify.strategies import correlated_starts
from verify.strategies.teacher_starts import krylov
from verify.strategies.yardsticks import Stage, half_tangent, log_growth, pull, yardstick

__all__ = [
    "ASSUMPTION_1",
    "EPSILON",
    "POINTS",
    "STARTS",
    "STARTS_OF_LOW_DIMENSION",
    "Constants",
    "Floats",
    "Yardstick",
    "constants",
    "has_a_positive_active_neuron",
    "is_balanced",
    "is_correlated",
    "is_generated_by_the_teacher",
    "is_off_the_common_pull",
    "is_off_the_kinks",
    "is_taught",
    "meets_one_kink_at_a_time",
    "teacher_of",
    "yardsticks_of",
]


EPSILON = 0.25
"""epsilon of Assumption 2, the largest: the least is asked of the scale, and the least is promised."""


@final
@dataclass(frozen=True, slots=True)
class Yardstick:
    """alpha_j of an active neuron j: its sign s_j and its stages, with the times tau at which they end."""

    neuron: int
    sign: int
    stages: tuple[Stage, ...]

    @property
    def times(self) -> list[float]:
        """tau^1 < tau^2 < .., of the kinks met."""
        return np.cumsum([stage.duration for stage in self.stages if stage.end is not None]).tolist()

    @property
    def order(self) -> list[int]:
        """The points whose kinks are met, where it is one at a time."""
        return [point for stage in self.stages for point in stage.points]

    def log_growth(self, time: float) -> float:
        """log |alpha| / |z| at a time."""
        return log_growth(self.stages, self.sign, time)

    def half_tangent(self, time: float) -> float:
        """tan of half the angle to the last pull, at a time in the last stage."""
        last, since = self.stages[-1], time - sum(stage.duration for stage in self.stages[:-1])
        rate = sqrt(to_float(dot(last.pull, last.pull)))
        return half_tangent(last.start, last.pull) * np.exp(-self.sign * rate * since)


@lru_cache(maxsize=64)
def yardsticks_of(instance: Instance) -> tuple[Yardstick, ...]:
    """Those of all neurons that are active at some point."""
    data, network = instance.data, instance.network
    found: list[Yardstick] = []
    for j, (z, a) in enumerate(zip(network.hidden_weights, network.output_weights, strict=True)):
        if any(dot(z, x) > 0 for x in data.inputs):
            sign = 1 if a > 0 else -1
            found.append(Yardstick(j, sign, tuple(yardstick(z, sign, data.inputs, data.targets))))
    return tuple(found)


@lru_cache(maxsize=64)
def teacher_of(instance: Instance) -> tuple[Fraction, ...] | None:
    """v* with v*.x_i = y_i for all i, exactly, when there is only one."""
    rows = instance.data.inputs
    found = solve_exactly(rows, instance.data.targets)
    return None if found is None or rank(rows) < len(rows[0]) else tuple(found)


def is_balanced(instance: Instance) -> bool:
    """|v_j| = |w_j| > 0 for every neuron: ReLU, no bias, least norm as the goal."""
    problem, network = instance.problem, instance.network
    plain = not has_margin(problem.goal) and not has_bias(problem.bias) and instance.slope == 0
    pairs = zip(network.hidden_weights, network.output_weights, strict=True)
    return plain and all(a and a * a == dot(w, w) for w, a in pairs)


def is_taught(instance: Instance) -> bool:
    """Points that span d > 1 dimensions, with targets v*.x_i > 0, |v*| = 1; a balanced network without zeros."""
    teacher = teacher_of(instance)
    return (
        is_balanced(instance)
        and teacher is not None
        and len(teacher) > 1
        and dot(teacher, teacher) == 1
        and min(instance.data.targets) > 0
    )


def is_correlated(instance: Instance) -> bool:
    """Every point is within 45 degrees of the teacher v*, |v*| = 1."""
    data = instance.data
    return all(y > 0 and 2 * y * y > dot(x, x) for x, y in zip(data.inputs, data.targets, strict=True))


def has_a_positive_active_neuron(instance: Instance) -> bool:
    """J_+ is not empty."""
    return any(found.sign > 0 for found in yardsticks_of(instance))


def is_off_the_kinks(instance: Instance) -> bool:
    """No point is on the kink of a neuron at the start."""
    return all(dot(z, x) for z in instance.network.hidden_weights for x in instance.data.inputs)


def is_off_the_common_pull(instance: Instance) -> bool:
    """No active neuron with a negative output weight points along gamma of all points."""
    gamma, network = pull(instance.data.inputs, instance.data.targets), instance.network
    return not any(
        dot(z, gamma) > 0 and dot(z, gamma) ** 2 == dot(z, z) * dot(gamma, gamma)
        for z, a in zip(network.hidden_weights, network.output_weights, strict=True)
        if a < 0
    )


def is_generated_by_the_teacher(instance: Instance) -> bool:
    """Distinct directions, X X^T has distinct eigenvalues, and v* is in no span of fewer than d eigenvectors."""
    teacher, rows = teacher_of(instance), instance.data.inputs
    if teacher is None or rank(krylov(rows, teacher)) < len(teacher):
        return False
    pairs = [(a, b) for i, a in enumerate(rows) for b in rows[:i]]
    return not any(dot(a, b) > 0 and dot(a, b) ** 2 == dot(a, a) * dot(b, b) for a, b in pairs)


def meets_one_kink_at_a_time(instance: Instance) -> bool:
    """No yardstick has two points on its kink at once."""
    return all(len(stage.points) <= 1 for found in yardsticks_of(instance) for stage in found.stages)


ASSUMPTION_1 = {
    "45-degrees": is_correlated,
    "positive-active": has_a_positive_active_neuron,
    "off-kinks": is_off_the_kinks,
    "off-common-pull": is_off_the_common_pull,
    "generated": is_generated_by_the_teacher,
    "one-kink-at-a-time": meets_one_kink_at_a_time,
}
"""Parts (i) to (iv), and the angles of section 2; (v) chooses among flows, and the solver's is of that kind."""


@final
@dataclass(frozen=True, slots=True)
class Constants:
    """Of section 3, in floats.

    eta (d,): the eigenvalues of X X^T / n, falling.   basis (d, d): their eigenvectors u_k as columns, with v*.u_k > 0.
    teacher (d,): nu*_k = v*.u_k.   gamma (d,), of all points.   delta, bound (Delta).   rest (T_0): when all kinks have
    been met, and 1 more.
    """

    eta: Floats
    basis: Floats
    teacher: Floats
    gamma: Floats
    delta: float
    bound: float
    rest: float

    @property
    def pull(self) -> float:
        """|gamma|."""
        return float(np.linalg.norm(self.gamma))

    def aligned(self, scale: float) -> float:
        """T_1 = epsilon log(1 / lambda) / |gamma|."""
        return EPSILON * log(1 / scale) / self.pull


@lru_cache(maxsize=64)
def constants(instance: Instance) -> Constants:
    """delta, Delta, T_0 and the eigenvectors."""
    data = instance.data
    rows = to_matrix(data.inputs)
    z = to_matrix(instance.network.hidden_weights)
    targets = to_floats(data.targets)
    n, d = rows.shape
    values, vectors = np.linalg.eigh(rows.T @ rows / n)
    eta, basis = values[::-1].copy(), vectors[:, ::-1].copy()
    teacher = np.linalg.lstsq(rows, targets, rcond=None)[0]
    basis *= np.where(teacher @ basis < 0, -1.0, 1.0)
    gamma = rows.T @ targets / n
    sizes = np.linalg.norm(rows, axis=1)
    units = rows / sizes[:, None]
    gaps = (np.sqrt(eta[:-1]) - np.sqrt(eta[1:])) * (d - 1)
    neurons = np.linalg.norm(z, axis=1)
    parts = [sizes.min(), (units @ units.T).min(), gaps.min(), np.sqrt(eta[-1])]
    parts += [(teacher @ basis).min() * np.sqrt(d), neurons.min()]
    last = 0.0
    for found in yardsticks_of(instance):
        parts += _of_a_yardstick(found, units)
        last = max([last, *found.times])
    largest = float(max(sizes.max(), neurons.max(), 1.0))
    return Constants(
        eta, basis, np.asarray(teacher @ basis, dtype=np.float64), gamma, float(min(parts)), largest, last + 1.0
    )


def _of_a_yardstick(found: Yardstick, units: Floats) -> list[float]:
    """Its part in delta. The |cosines| along a stage, which moves in a plane without a kink, are least at its ends."""
    first = found.stages[0]
    t = half_tangent(first.start, first.pull)
    parts = [(1 - t * t) / (1 + t * t) if found.sign > 0 else 2 * t / (1 + t * t)]
    before: frozenset[int] = frozenset()
    for stage in found.stages:
        if stage.end is None:
            break
        others = [i for i in range(len(units)) if i not in stage.points | before]
        for point in (stage.start, stage.end):
            alpha = to_floats(point)
            cosines = units @ alpha / np.linalg.norm(alpha)
            parts += np.abs(cosines[others]).tolist()
            if found.sign < 0 and stage is first and point is stage.start:
                parts += cosines[list(stage.points)].tolist()
        parts.append(stage.duration)
        before = stage.points
    return parts


POINTS = "d = 2, 3, 4; n = d or d + 1; 2 to 4 neurons"


STARTS = correlated_starts().map(lambda drawn: Instance(*drawn))


STARTS_OF_LOW_DIMENSION = correlated_starts(dimensions=(2, 3)).map(lambda drawn: Instance(*drawn))
