"""Chistikov, Englert, Lazic: Learning a Neuron by a Shallow ReLU Network (arXiv:2306.06479)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.certificate import BetterNetwork
from verify.claims.asking import audited, global_exactly
from verify.claims.conclusions import judged
from verify.claims.records import Claim, Instance, Judgement, failed, held, undecided
from verify.claims.teacher_cones import SignOfM, inverse_columns, largest_elsewhere, sign_of_m, two_neurons
from verify.exact import dot, sqrt_upper
from verify.exactify import solve_exactly
from verify.finding import Finding, Question, Verdict, decide
from verify.network import Network
from verify.problem import Bias, Goal
from verify.proposal import Proposal
from verify.strategies import single_teachers, teacher_shapes, z_matrix_teachers

__all__ = ["CLAIMS"]

_PAPER = "arXiv:2306.06479, "


def _teacher(instance: Instance) -> list[Fraction] | None:
    """v* with v*.x_i = y_i for n = d independent points."""
    rows = instance.data.inputs
    if len(rows) != len(rows[0]) or inverse_columns(rows) is None:
        return None
    return solve_exactly(rows, instance.data.targets)


def _is_rank_one(instance: Instance) -> bool:
    """n = d > 1 independent points, targets v*.x_i > 0, ReLU, and a network of rank 1 along v*, balanced, that fits."""
    problem, network = instance.problem, instance.network
    plain = problem.goal is Goal.MIN_NORM and problem.bias is Bias.NONE and instance.slope == 0
    teacher = _teacher(instance)
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


def _has_width_two(instance: Instance) -> bool:
    """More than one neuron."""
    return instance.network.width > 1


def _is_within_45_degrees(instance: Instance) -> bool:
    """Every point is within 45 degrees of v*."""
    teacher = _teacher(instance)
    return teacher is not None and all(
        2 * dot(x, teacher) ** 2 > dot(x, x) * dot(teacher, teacher) and dot(x, teacher) > 0
        for x in instance.data.inputs
    )


def _is_z_matrix(instance: Instance) -> bool:
    """The inverse of the Gram matrix has no positive number off its diagonal: chi_j.chi_k <= 0."""
    chi = inverse_columns(instance.data.inputs)
    return chi is not None and all(dot(a, b) <= 0 for j, a in enumerate(chi) for b in chi[:j])


def _m_decides(instance: Instance) -> Judgement:
    """The sign of M by its definition against certificates: M < 0: optimal, the only one; M > 0: not optimal."""
    teacher, chi = _teacher(instance), inverse_columns(instance.data.inputs)
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
    better = _beaten(instance, found, teacher) if found.p else audited(instance).global_optimum
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


def _is_m_negative(instance: Instance) -> Judgement:
    teacher, chi = _teacher(instance), inverse_columns(instance.data.inputs)
    if teacher is None or chi is None:
        return undecided("the points are no basis")
    sign = sign_of_m(chi, teacher).sign
    if not sign:
        return undecided("M is too near 0 for floats")
    return held("M < 0") if sign < 0 else failed("M > 0")


@st.composite
def _near_the_threshold(draw: DrawFn) -> Instance:
    """Points with a spread at which M changes its sign, up to 2^-k, k = 6 .. 30, where it does; else a large spread."""
    shape = draw(teacher_shapes(width=2))
    bits = draw(st.integers(6, 30))
    side = draw(st.booleans())
    low, high = Fraction(1, 64), Fraction(4)
    if _optimal_at(shape.spread(high)) or not _optimal_at(shape.spread(low)):
        return Instance.of(shape.spread(high))
    for _ in range(bits):
        middle = (low + high) / 2
        low, high = (middle, high) if _optimal_at(shape.spread(middle)) else (low, middle)
    return Instance.of(shape.spread(low if side else high))


def _optimal_at(point: object) -> bool:
    instance = Instance.of(point)  # pyright: ignore[reportArgumentType]
    teacher, chi = _teacher(instance), inverse_columns(instance.data.inputs)
    return teacher is not None and chi is not None and largest_elsewhere(instance.data.inputs, chi, teacher) < 1


CLAIMS = (
    *(
        Claim(id=f"chistikov2023.{name}", source=f"{_PAPER}{place}", statement=statement, needs="training")
        for name, place, statement in (
            ("prop1", "Proposition 1", "Along the flow a_j = s_j |w_j|."),
            ("prop2", "Proposition 2", "The yardsticks cross each boundary once, in an order."),
            ("lem3", "Lemma 3", "Neurons cross in the yardsticks' order, at nearly their times."),
            ("lem4", "Lemma 4", "Negative neurons die."),
            ("lem5", "Lemma 5", "Positive neurons align to one direction."),
            ("thm6", "Theorem 6", "The loss falls exponentially after a time T_2."),
            ("setS", "section 5", "The sum of the active neurons stays in S and passes through its parts in order."),
            ("thm7", "Theorem 7", "As the initial scale tends to 0, the limit tends to the networks of rank 1."),
            ("fig1", "Figure 1", "The largest angle between active neurons falls with the initial scale."),
            ("fig2", "Figure 2", "Training and test loss over the initial scale."),
            ("two-teachers", "section 8", "Two signed teachers on orthogonally separable data pass a second saddle."),
        )
    ),
    Claim(
        id="chistikov2023.thm8",
        source=f"{_PAPER}Theorem 8",
        statement="For n = d: if M < 0, the balanced networks of rank 1 along the teacher are exactly the "
        "interpolators of least norm; if M > 0, none of them is one.",
        setting=_is_rank_one,
        hypotheses={"width": _has_width_two},
        conclusion=_m_decides,
        instances=st.one_of(
            single_teachers(width=2).map(Instance.of),
            single_teachers(width=2, within_45_degrees=False).map(Instance.of),
            _near_the_threshold(),
        ),
        regime="d = 2, 3, 4; v*.x_i > 0 instead of angles below 45 degrees, which is weaker; M = 0 is left out, and "
        "M < 0 rests on an enclosure in floats that leaves out 1e-9",
    ),
    Claim(
        id="chistikov2023.zmatrix",
        source=f"{_PAPER}section 7, after Theorem 8",
        statement="If the inverse Gram matrix is a Z-matrix, then M < 0.",
        setting=_is_rank_one,
        hypotheses={"z-matrix": _is_z_matrix, "45-degrees": _is_within_45_degrees},
        conclusion=_is_m_negative,
        instances=z_matrix_teachers(width=2).map(Instance.of),
        sharp={"z-matrix": "min-norm/chistikov2023-theorem-8-positive"},
        regime="d = 2, 3, 4",
    ),
)  # fmt: skip
