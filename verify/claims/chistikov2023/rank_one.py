"""Theorem 8 of arXiv:2306.06479: when the networks of rank 1 along the teacher are the interpolators of least norm."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot, sqrt_upper
from verify.checker.optimal import BetterNetwork
from verify.claims.asking import global_exactly, own_width_exactly
from verify.claims.conclusions import judged
from verify.claims.records import Instance, Judgement, failed, held, undecided
from verify.claims.teacher_cones import SignOfM, inverse_columns, largest_elsewhere, sign_of_m, two_neurons
from verify.deciders.finding import Finding, Question, Verdict, decide
from verify.deciders.proposal import Proposal
from verify.deciders.rounding import solve_exactly
from verify.problem.members import has_bias, has_margin
from verify.problem.network import Network
from verify.strategies import KKTPoint, teacher_shapes

__all__ = [
    "has_width_two",
    "is_m_negative",
    "is_rank_one",
    "is_within_45_degrees",
    "is_z_matrix",
    "m_decides",
    "near_the_threshold",
]


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


def has_width_two(instance: Instance) -> bool:
    """More than one neuron."""
    return instance.network.width > 1


def is_within_45_degrees(instance: Instance) -> bool:
    """Every point is within 45 degrees of v*."""
    teacher = teacher_of_a_basis(instance)
    return teacher is not None and all(
        2 * dot(x, teacher) ** 2 > dot(x, x) * dot(teacher, teacher) and dot(x, teacher) > 0
        for x in instance.data.inputs
    )


def is_z_matrix(instance: Instance) -> bool:
    """The inverse of the Gram matrix has no positive number off its diagonal: chi_j.chi_k <= 0."""
    chi = inverse_columns(instance.data.inputs)
    return chi is not None and all(dot(a, b) <= 0 for j, a in enumerate(chi) for b in chi[:j])


def m_decides(instance: Instance) -> Judgement:
    """The sign of M by its definition against certificates: M < 0: optimal, the only one; M > 0: not optimal."""
    teacher, chi = teacher_of_a_basis(instance), inverse_columns(instance.data.inputs)
    if teacher is None or chi is None:
        return undecided("the points are no basis")
    return _compared(instance, sign_of_m(chi, teacher), chi, teacher)


def _compared(
    instance: Instance, found: SignOfM, chi: Sequence[Sequence[Fraction]], teacher: Sequence[Fraction]
) -> Judgement:
    if not found.sign:
        return undecided("M is too near 0 for floats")
    elsewhere = largest_elsewhere(instance.data.inputs, chi, teacher) / dot(teacher, teacher)
    if found.sign < 0:
        if elsewhere >= 1:
            return failed(f"M < 0, and the dual function reaches {float(elsewhere):.6g} >= 1 off the teacher")
        return judged(global_exactly(instance))
    if elsewhere <= 1:
        return failed(f"M > 0, and the dual function stays at {float(elsewhere):.6g} <= 1, so that it is optimal")
    better = _beaten(instance, found, teacher) if found.p else own_width_exactly(instance)
    if better.verdict is Verdict.UNDECIDED and global_exactly(instance).verdict is Verdict.PROVED:
        return failed("M > 0, and no network of any width is better")
    return judged(better, Verdict.REFUTED)


def _beaten(instance: Instance, found: SignOfM, teacher: Sequence[Fraction]) -> Finding:
    """Whether two neurons u = v w, balanced up to rounding, and zero neurons beat the network at its own width."""
    first, second, side = two_neurons(instance.data.inputs, found, teacher)
    sizes = [sqrt_upper(sqrt_upper(dot(u, u), 160), 160) for u in (first, second)]
    hidden = [[x / v for x in u] for u, v in zip((first, second), sizes, strict=True)]
    outgoing = [sizes[0], side * sizes[1]]
    more = instance.network.width - 2
    zero = [Fraction(0)] * instance.data.dimension
    witness = Network.two_layer([*hidden, *[zero] * more], [*outgoing, *[Fraction(0)] * more])
    proof = BetterNetwork(witness=witness, tolerance=Fraction(0), scope="own-width")
    proposal = Proposal(certificate=proof, reason="two neurons, off the teacher by p and q, are better")
    return decide(Question.GLOBAL_OPTIMUM, instance.problem, instance.network, proposal)


def is_m_negative(instance: Instance) -> Judgement:
    """M < 0 by its definition."""
    teacher, chi = teacher_of_a_basis(instance), inverse_columns(instance.data.inputs)
    if teacher is None or chi is None:
        return undecided("the points are no basis")
    sign = sign_of_m(chi, teacher).sign
    if not sign:
        return undecided("M is too near 0 for floats")
    return held("M < 0") if sign < 0 else failed("M > 0")


@st.composite
def near_the_threshold(draw: DrawFn) -> Instance:
    """Points around their teacher with a spread at which M changes its sign, up to 2^-k, k = 20 .. 36.

    A small spread has M < 0, as sin(p, v*) tends to 1; where the largest has too, that one is taken.
    """
    shape = draw(teacher_shapes(width=2)).centred()
    bits = draw(st.integers(20, 36))
    side = draw(st.booleans())
    low, high = Fraction(1, 1024), Fraction(64)
    if _optimal_at(shape.spread(high)) or not _optimal_at(shape.spread(low)):
        return Instance.of(shape.spread(high))
    for _ in range(bits):
        middle = (low + high) / 2
        low, high = (middle, high) if _optimal_at(shape.spread(middle)) else (low, middle)
    return Instance.of(shape.spread(low if side else high))


def _optimal_at(point: KKTPoint) -> bool:
    """`largest_elsewhere` < 1, in floats."""
    from solvers.programs.nonnegative import nonnegative_least_squares

    rows = np.array([[float(value) for value in x] for x in point.problem.data.inputs])
    chi = np.linalg.inv(rows)  # columns
    terms = rows * (chi.T @ np.linalg.solve(rows, np.array([float(y) for y in point.problem.data.targets])))[:, None]
    for signs in product((1, -1), repeat=len(rows)):
        generators, p = chi * np.array(signs), terms[np.array(signs) > 0].sum(axis=0)
        for side in (1, -1):
            is_elsewhere = min(signs) < 0 or side < 0
            if not is_elsewhere:
                continue
            nearest = generators @ nonnegative_least_squares(generators, side * p)
            if float(nearest @ nearest) >= 1:
                return False
    return True
