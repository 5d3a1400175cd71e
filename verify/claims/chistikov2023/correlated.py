"""What arXiv:2306.06479 assumes of points that are correlated with a teacher neuron, and its constants of them.

The network of an instance is z_j with output weights s_j |z_j|; training starts at small multiples of it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from solvers.arrays import Floats
from verify.checker.exact import dot
from verify.claims.records import Instance
from verify.deciders.rounding import rank
from verify.problem.members import has_bias, has_margin
from verify.quantities.correlated import EPSILON, Constants, Yardstick, teacher, yardsticks
from verify.quantities.correlated import constants as constants_of
from verify.quantities.yardsticks import pull
from verify.strategies import correlated_starts
from verify.strategies.teacher_starts import krylov

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


@lru_cache(maxsize=64)
def yardsticks_of(instance: Instance) -> tuple[Yardstick, ...]:
    """Those of all neurons that are active at some point."""
    return yardsticks(instance.network, instance.data)


@lru_cache(maxsize=64)
def teacher_of(instance: Instance) -> tuple[Fraction, ...] | None:
    """v* with v*.x_i = y_i for all i, exactly, when there is only one."""
    return teacher(instance.data)


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


@lru_cache(maxsize=64)
def constants(instance: Instance) -> Constants:
    """delta, Delta, T_0 and the eigenvectors."""
    return constants_of(instance.network, instance.data)


POINTS = "d = 2, 3, 4; n = d or d + 1; 2 to 4 neurons"


STARTS = correlated_starts().map(lambda drawn: Instance(*drawn))


STARTS_OF_LOW_DIMENSION = correlated_starts(dimensions=(2, 3)).map(lambda drawn: Instance(*drawn))
