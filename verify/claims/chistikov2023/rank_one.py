"""Networks of rank 1 along the teacher of a basis, as in sections 6 and 7 of arXiv:2306.06479."""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.records import Instance
from verify.deciders.rounding import solve_exactly
from verify.problem.members import has_bias, has_margin
from verify.quantities.teacher_cones import inverse_columns

__all__ = ["is_rank_one", "teacher_of_a_basis"]


def teacher_of_a_basis(instance: Instance) -> list[Fraction] | None:
    """v* with v*.x_i = y_i for n = d independent points."""
    rows = instance.data.inputs
    if len(rows) != len(rows[0]) or inverse_columns(rows) is None:
        return None
    return solve_exactly(rows, instance.data.targets)


def is_rank_one(instance: Instance) -> bool:
    """n = d > 1 independent points, targets v*.x_i > 0, ReLU, and a network of rank 1 along v*, balanced, that fits."""
    problem, network = instance.problem, instance.network
    plain = not has_margin(problem.goal) and not has_bias(problem.bias) and instance.slope == 0
    teacher = teacher_of_a_basis(instance)
    if not plain or teacher is None or len(teacher) < 2 or min(instance.data.targets) <= 0:
        return False
    total = Fraction(0)
    for w, v in zip(network.hidden_weights, network.output_weights, strict=True):
        size = dot(w, w)
        if v < 0 or v * v != size or (v and dot(w, teacher) ** 2 != size * dot(teacher, teacher)):
            return False
        if dot(w, teacher) < 0:
            return False
        total += size
    return total * total == dot(teacher, teacher)
