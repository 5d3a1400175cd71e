"""From a trained network down to the KKT point of its activation pattern, in floats.

The convex program of the network's own pattern is solved; where its solution presses against a kink, the Clarke slope
there is read off the multipliers (`docs/mathematics.md`, 3.2 "The program of a pattern"):

    p_C = s_C sum_i c_i a_iC x_i + sum_i nu_iC tau_iC x_i   is   s_C sum_i y_i mu_iC x_i,
    mu_iC = a_iC lambda_i + s_C y_i tau_iC nu_iC     (min-norm: y_i = 1)

A slope mu outside [a lambda, lambda] says that these multipliers hold the neuron on one side only: it is let through,
and the program solved again, at most `ROUNDS` times. The objective never rises, as the old point is on the kink and
feasible in the new program.

Not trusted, and not "the limit of training": the point may lie far from where the network started.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.arrays import Bits, Floats, Indices
from solvers.clock import is_late
from solvers.instance import ProblemInstance
from solvers.programs.restricted import NeuronFamily
from solvers.programs.restricted_cones import solve_restricted

__all__ = ["ROUNDS", "FloatNeurons", "FloatPoint", "columns_of", "polish"]


ROUNDS = 12
"""Programs solved before a pattern counts as not settled; a network near a KKT point takes one to three."""

LARGE, LARGE_ROUNDS = 5000, 4
"""Programs with more (direction, point) pairs take a second each: fewer of them are solved, and no more where over
a part `MANY` of the directions would be let through, as near a KKT point hardly any is."""

MANY = 0.1

NEAR = 1e-6
"""A slope is outside its interval when it is by this part of the largest multiplier; a tie, by this part of reach."""


@dataclass(frozen=True, slots=True, eq=False)
class FloatNeurons:
    """A network in floats: u (k, c), the balanced form |v_j| w_j; output signs and mask classes, length k.

    Linear neurons (slope 1) are all of sign 1, with s_j |v_j| w_j for u.
    """

    u: Floats
    signs: Indices
    masks: Indices


@dataclass(frozen=True, slots=True, eq=False)
class FloatPoint:
    """A point of the program: directions u (C, c), signs and masks (C,); multipliers (n,); products mu (C, n).

    members (k,): the direction into which each neuron was merged, -1 for a neuron that never counts.
    rounds: programs solved.   outside: how many (direction, point) pairs would still be let through; 0: settled.
    bias: of the output, where there is one.   value: the objective where a loss is asked, None for constraints.
    """

    u: Floats
    signs: Indices
    masks: Indices
    multipliers: Floats
    products: Floats
    members: Indices
    rounds: int
    outside: int
    bias: float = 0.0
    value: float | None = None


def polish(instance: ProblemInstance, neurons: FloatNeurons, deadline: float | None = None) -> FloatPoint | None:
    """The KKT point that the network's own pattern leads to; None when a program has no usable solution.

    deadline: a moment of `clock.now()` after which no more programs are solved, and None is returned.
    """
    columns, members = columns_of(instance, neurons)
    is_large = len(columns) * instance.points > LARGE
    most = min(ROUNDS, LARGE_ROUNDS) if is_large else ROUNDS
    for round_ in range(1, most + 1):
        if not columns or is_late(deadline):
            return None
        solution = solve_restricted(instance, columns)
        if not solution.is_usable or solution.primal is None or solution.dual is None or solution.cone_dual is None:
            return None
        u, multipliers, nu = solution.primal, np.asarray(solution.dual), np.asarray(solution.cone_dual)
        products, outside = _slopes(instance, columns, u, multipliers, nu)
        is_far = is_large and outside.any(axis=1).mean() > MANY
        if not outside.any() or is_far or round_ == most:
            break
        columns = [
            NeuronFamily(column.mask, column.output, np.where(out, -column.pattern, column.pattern).astype(np.int8))
            for column, out in zip(columns, outside, strict=True)
        ]
    return FloatPoint(
        u=u,
        signs=np.array([column.output for column in columns]),
        masks=np.array([column.mask for column in columns]),
        multipliers=multipliers,
        products=products,
        members=members,
        rounds=round_,
        outside=int(outside.sum()),
    )


def columns_of(instance: ProblemInstance, neurons: FloatNeurons) -> tuple[list[NeuronFamily], Indices]:
    """The columns of the network's neurons, those that never count left out, and the column of each neuron or -1."""
    places: dict[tuple[int, int, bytes], int] = {}
    columns: list[NeuronFamily] = []
    members = np.full(len(neurons.u), -1)
    for j, (u, sign, mask) in enumerate(zip(neurons.u, neurons.signs, neurons.masks, strict=True)):
        z = instance.rows @ u
        pattern = np.where(z >= 0, 1, -1).astype(np.int8)
        if not u.any() or (instance.slope == 0 and not (z > 0).any()):
            continue
        members[j] = places.setdefault((int(mask), int(sign), pattern.tobytes()), len(columns))
        if members[j] == len(columns):
            columns.append(NeuronFamily(int(mask), int(sign), pattern))
    return columns, members


def _slopes(
    instance: ProblemInstance, columns: list[NeuronFamily], u: Floats, multipliers: Floats, nu: Floats
) -> tuple[Floats, Bits]:
    """mu (C, n), and where a neuron that lives presses against a kink with a slope outside its interval."""
    patterns = np.array([column.pattern for column in columns])
    signs = np.array([[column.output] for column in columns])
    slopes = np.where(patterns > 0, 1.0, instance.slope)
    products = slopes * multipliers + signs * np.sign(instance.signs) * patterns * nu
    ends = np.sort(np.stack([instance.slope * multipliers, multipliers]), axis=0)
    allowed = NEAR * np.abs(multipliers).max()
    outside = (products < ends[0] - allowed) | (products > ends[1] + allowed)
    sizes = np.linalg.norm(u / max(float(np.abs(u).max()), np.finfo(float).tiny), axis=1)
    live = sizes > 1e-7 * sizes.max(initial=0.0)
    return products, outside & live[:, None]
