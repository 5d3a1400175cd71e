"""Section 7 of arXiv:2306.06479, after Theorem 8.

    chi_k.chi_l <= 0 for all k != l, that is, (X X^T)^-1 is a Z-matrix  ==>  M < 0

with M and chi those of Theorem 8.
"""

from __future__ import annotations

from verify.checker.exact import dot
from verify.claims.chistikov2023.rank_one import is_rank_one, teacher_of_a_basis
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.quantities.teacher_cones import inverse_columns, sign_of_m
from verify.strategies import z_matrix_teachers

__all__ = ["CLAIMS", "is_m_negative", "is_within_45_degrees", "is_z_matrix"]


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


def is_m_negative(instance: Instance, side: int = 1) -> Judgement:
    """M < 0 by its definition; side: -1 for M > 0."""
    teacher, chi = teacher_of_a_basis(instance), inverse_columns(instance.data.inputs)
    if teacher is None or chi is None:
        return undecided("the points are no basis")
    sign = sign_of_m(chi, teacher).sign
    if not sign:
        return undecided("M is too near 0 for floats")
    said = "M < 0" if sign < 0 else "M > 0"
    return held(said) if side * sign < 0 else failed(said)


CLAIMS = (
    Claim(
        id="chistikov2023.zmatrix",
        source="arXiv:2306.06479, section 7, after Theorem 8",
        statement="If the inverse Gram matrix is a Z-matrix, then M < 0.",
        setting=is_rank_one,
        hypotheses={"z-matrix": is_z_matrix, "45-degrees": is_within_45_degrees},
        conclusion=is_m_negative,
        instances=z_matrix_teachers(width=2).map(Instance.of),
        sharp={"z-matrix": "min-norm/chistikov2023-theorem-8-positive"},
        regime="d = 2, 3, 4",
        could_fail=always,
        variants=(
            Variant(
                name="positive",
                statement="If the inverse Gram matrix is a Z-matrix, then M > 0.",
                conclusion=lambda instance: is_m_negative(instance, -1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
