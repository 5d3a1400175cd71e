"""A proof that no network of any width fits the data: multipliers at which the dual function vanishes.

Source: `docs/mathematics.md`, 5.1 "Weak duality".
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from verify.checker.bounds import Infeasible
from verify.checker.errors import CertificateError
from verify.checker.exact import common_integers
from verify.checker.multipliers import dual_value
from verify.deciders.global_optimality.instance import as_instance
from verify.deciders.proposal import certified
from verify.deciders.rounding import primitive, solve_exactly
from verify.deciders.simplified import distinct
from verify.deciders.witnesses import at_output_bias
from verify.numbers.floats import to_float
from verify.problem.members import factors, has_margin
from verify.problem.problem import Problem

__all__ = ["exact_lines", "infeasibility", "meetable_bias"]

MOST_EQUATIONS = 100
"""Equations of a fit (or points on shared lines) that are solved exactly, whatever the linear program says."""


def infeasibility(problem: Problem) -> Infeasible | None:
    """A certificate that no network of any width fits the data, or None.

    h vanishes iff, per mask class, sum c_i x_i = 0 and, for slope < 1, sum c_i |t_i| = 0 on every line {t r} of the
    data; with an output bias sum c_i = 0 as well. That is a linear program in lambda; lines are grouped exactly, the
    vertex found in floats is solved for exactly. A point alone on its line has multiplier 0, so that data in general
    position cost nothing.
    Complete up to the accuracy of the linear program for max-margin, and for min-norm where few points share lines: to
    meet targets exactly is a matter of linear equations, which are solved without the program (targets that are
    contradictory by a rounding have a solution in floats, and none).
    """
    simple = distinct(problem)
    found = _infeasible(simple.problem)
    return found if found is None or simple.is_same else certified(problem, None, simple.returned_certificate(found))


def meetable_bias(problem: Problem, bias: Fraction) -> Fraction:
    """An output bias near the given one with which targets can be met (min-norm): itself, unless h = 0 fixes another.

    Multipliers with h = 0 need sum c_i (y_i - b) <= eps sum |c_i| of the targets that are left, with equality nearest.
    """
    found = infeasibility(at_output_bias(problem, bias))
    if found is None:
        return bias
    c = dict(found.multipliers)
    total = sum(c.values(), Fraction(0))
    return dual_value(problem, c) / total if total else bias


def _infeasible(problem: Problem) -> Infeasible | None:
    """`infeasibility`, with the points as they are."""
    lines = [] if problem.architecture.slope == 1 else [exact_lines(problem, mask) for mask in problem.mask_classes]
    kept = _sharing_lines(lines, len(problem.rows))
    if not kept:
        return None
    is_linear = not has_margin(problem.goal) and problem.fit_tolerance == 0
    size = sum(map(len, problem.mask_classes)) + sum(map(len, lines))
    is_small = min(size, len(kept)) <= MOST_EQUATIONS
    for support in (_vanishing_support(problem, lines, kept), dict.fromkeys(kept if is_linear and is_small else [], 0)):
        proof = _vanishing(problem, lines, support) if support else None
        accepted = None if proof is None else certified(problem, None, proof)
        if accepted is not None:
            return accepted
    return None


def _vanishing_support(
    problem: Problem, lines: list[list[tuple[list[int], list[Fraction]]]], kept: list[int]
) -> dict[int, int]:
    """The points that a vertex of the linear program uses with the signs of their multipliers; none without one."""
    from solvers.programs.linear import infeasibility_multipliers

    place = {i: q for q, i in enumerate(kept)}
    instance = as_instance(problem)
    guess = infeasibility_multipliers(
        replace(instance, rows=instance.rows[kept], targets=instance.targets[kept]),
        [
            ([place[i] for i, _ in pairs], [to_float(size) for _, size in pairs])
            for group in lines
            for indices, sizes in group
            if (pairs := [(i, size) for i, size in zip(indices, sizes, strict=True) if i in place])
        ],
        adds_up=problem.has_output_bias,
    )
    if guess is None:
        return {}
    used = np.flatnonzero(np.abs(guess) > 1e-9 * np.abs(guess).max())
    return {kept[q]: 1 if guess[q] > 0 else -1 for q in used}


def _vanishing(
    problem: Problem, lines: list[list[tuple[list[int], list[Fraction]]]], support: dict[int, int]
) -> Infeasible | None:
    """Exact multipliers on these points, or on some of them, with h = 0 and value 1; the checker judges their signs.

    support: each point with the sign that its multiplier has where a fit tolerance makes the value depend on it, or 0.
    """
    equations = _equations(problem, lines, list(support))
    every = factors(problem)
    signs = {i: sign or 1 for i, sign in support.items()}
    value_row = [sign * dual_value(problem, {i: sign * every[i]}) for i, sign in signs.items()]
    exact = solve_exactly([*equations, value_row], [Fraction(0)] * len(equations) + [Fraction(1)])
    if exact is None:
        return None
    try:
        return Infeasible(multipliers=tuple((i, value) for i, value in zip(support, exact, strict=True) if value))
    except CertificateError:  # numbers longer than certificates may hold
        return None


def _sharing_lines(lines: list[list[tuple[list[int], list[Fraction]]]], count: int) -> list[int]:
    """The points that are, in every mask class, at 0 or on a line with another such point."""
    kept = set(range(count))
    alone = {-1}
    while alone:
        shared = ([i for i in indices if i in kept] for group in lines for indices, _ in group)
        alone = {points[0] for points in shared if len(points) == 1}
        kept -= alone
    return sorted(kept)


def exact_lines(problem: Problem, mask: tuple[int, ...]) -> list[tuple[list[int], list[Fraction]]]:
    """Group the points by line: x_i = t_i r with r the primitive integer vector of the line; points at 0 drop out."""
    groups: dict[tuple[int, ...], tuple[list[int], list[Fraction]]] = {}
    for i, row in enumerate(problem.rows):
        part = [row[column] for column in mask]
        if not any(part):
            continue
        (whole,), denominator = common_integers([part])
        direction, size = primitive(whole)
        indices, sizes = groups.setdefault(direction, ([], []))
        indices.append(i)
        sizes.append(Fraction(size, denominator))
    return list(groups.values())


def _equations(
    problem: Problem, lines: list[list[tuple[list[int], list[Fraction]]]], support: list[int]
) -> list[list[Fraction]]:
    """The rows of h = 0 as a linear system in the multipliers of `support`, and sum c_i = 0 with an output bias."""
    every = factors(problem)
    own = [every[i] for i in support]
    equations = [own] if problem.has_output_bias else []
    equations += [
        [factor * problem.rows[i][column] for factor, i in zip(own, support, strict=True)]
        for mask in problem.mask_classes
        for column in mask
    ]
    for group in lines:
        for indices, sizes in group:
            on_line = dict(zip(indices, sizes, strict=True))
            if any(i in on_line for i in support):
                zero = Fraction(0)
                equations.append([factor * on_line.get(i, zero) for factor, i in zip(own, support, strict=True)])
    return equations
