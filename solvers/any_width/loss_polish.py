"""From a trained network down to the stationary point of its activation pattern, for a loss with weight decay.

The convex program of the network's own pattern is solved, with a loss at each point; where its solution presses against
a kink, the slope there is read off the equations of a stationary point,

    price u_C / |u_C| = s_C sum_i c_i g_iC x_i,   c_i g_iC unknown at kinks

by least squares, of points with the same columns together. One outside [a c_i, c_i] says that the loss holds the neuron
on one side only: it is let through, and the program solved again, as `solvers.kkt.pattern_polish` does it for
constraints.

Not trusted, and not "the limit of training": the point may lie far from where the network started.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.any_width.convex_losses import DecayInstance, scaled_decay
from solvers.any_width.endings import time_left
from solvers.any_width.loss_master import solve_loss_master
from solvers.any_width.master import Column
from solvers.any_width.records import Atoms
from solvers.arrays import Bits, Floats
from solvers.clock import is_late
from solvers.instance import Status
from solvers.kkt.pattern_polish import ROUNDS, FloatNeurons, FloatPoint, columns_of

__all__ = ["polish_with_losses"]

LIVE = 1e-7
"""A neuron smaller than this part of all is none."""

AT_A_KINK = 1e-6
"""A preactivation below this part of what it could be is at its kink."""

OUTSIDE = 1e-5
"""A slope is outside its interval when it is by this part of the largest multiplier."""


def polish_with_losses(given: DecayInstance, neurons: FloatNeurons, deadline: float | None = None) -> FloatPoint | None:
    """The stationary point that the network's own pattern leads to; None when a program has no usable solution.

    Its multipliers are c_i, times y_i for labels, and its products those of these.
    deadline: a moment of `clock.now()` after which no more programs are solved, and None is returned.
    """
    scaled = scaled_decay(given)
    instance, data = scaled.instance, scaled.instance.data
    families, members = columns_of(data, neurons)
    columns = [Column(family.mask, family.output, family.pattern > 0) for family in families]
    for round_ in range(1, ROUNDS + 1):
        if is_late(deadline):
            return None
        solution = solve_loss_master(instance, columns, time_limit=time_left(deadline))
        if solution.status is Status.FAILED:
            return None
        u, c = solution.directions, solution.multipliers
        products, outside = _slopes(instance, columns, u, c)
        if not outside.any() or round_ == ROUNDS:
            break
        columns = [
            replace(column, on=np.where(out, ~column.on, column.on))
            for column, out in zip(columns, outside, strict=True)
        ]
    signs = np.array([column.sign for column in columns], int)
    masks = np.array([column.mask for column in columns], int)
    real = scaled.unscaled(Atoms(u, signs.astype(np.int8), masks, 0.0, solution.bias))
    steep = scaled.values / scaled.outputs
    c = c * steep
    if given.loss.is_logistic:  # of which none is 0
        c = given.loss.slopes(given.data.targets, given.outputs(real))
    sides = given.loss.sides(given.data.targets)
    return FloatPoint(
        u=real.directions,
        signs=signs,
        masks=masks,
        multipliers=c * sides,
        products=products * steep * sides,
        members=members,
        rounds=round_,
        outside=int(outside.sum()),
        bias=real.bias,
        value=given.value_of(real),
    )


def _slopes(instance: DecayInstance, columns: list[Column], u: Floats, c: Floats) -> tuple[Floats, Bits]:
    """c_i g_iC (C, n), and where that of a neuron that lives is outside its interval."""
    data = instance.data
    products, outside = np.zeros((len(columns), data.points)), np.zeros((len(columns), data.points), bool)
    total, largest = float(np.linalg.norm(u, axis=1).sum()), float(np.abs(c).max(initial=0.0))
    for place, (column, direction) in enumerate(zip(columns, u, strict=True)):
        products[place] = c * np.where(column.on, 1.0, data.slope)
        counted = data.counted(column.mask)
        rows, seen = data.masked_rows(column.mask), direction[data.masks[column.mask]]
        size = float(np.linalg.norm(seen[counted]))
        if data.slope == 1 or size <= LIVE * total:
            continue
        reach = np.linalg.norm(rows, axis=1) * np.linalg.norm(seen)
        kinks = np.flatnonzero(np.abs(rows @ seen) <= AT_A_KINK * reach)
        kinks = kinks[reach[kinks] > 0]
        if not kinks.size:
            continue
        rest = products[place].copy()
        rest[kinks] = 0.0
        aim = np.where(counted, instance.price * seen / size, 0.0) * column.sign - rest @ rows
        distinct, groups = np.unique(rows[kinks], axis=0, return_inverse=True)
        totals = np.linalg.lstsq(distinct.T, aim, rcond=1e-9)[0]
        wholes = np.bincount(groups.ravel(), c[kinks], len(distinct))
        ends = np.sort(np.stack([data.slope * wholes, wholes]), axis=0)
        allowed = OUTSIDE * largest
        outside[place, kinks] = ((totals < ends[0] - allowed) | (totals > ends[1] + allowed))[groups.ravel()]
        counts = np.bincount(groups.ravel(), minlength=len(distinct))
        products[place, kinks] = (totals / counts)[groups.ravel()]
    return products, outside
