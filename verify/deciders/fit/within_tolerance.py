"""Networks that meet every target within the fit tolerance, near float directions which do so up to rounding.

A float solution has its active outputs at the ends of their intervals, give or take the accuracy of the solver. Within
its pattern f is linear in the directions u_j = |v_j| w_j: the least step that brings these outputs a very small part of
the tolerance inside is found in floats. Where the tolerance itself is about the rounding of floats, the outputs are
brought to the ends exactly, by solving equations as for interpolation. Everything returned is a candidate whose exact
objective the checker recomputes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from solvers.arrays import Floats
from verify.deciders.estimates import estimate, exact_objective
from verify.deciders.fit.interpolation import interpolate
from verify.deciders.witnesses import network_of_directions
from verify.numbers.floats import float_rows, float_targets, to_float
from verify.problem.network import Network
from verify.problem.problem import Dataset, Problem, outputs

__all__ = ["within_tolerance"]


INSIDE = (0.0, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3)
"""The parts of the tolerance by which active outputs are brought inside, in turn until the network fits."""

NEAR = 1e-6
"""Outputs at less than this part of the tolerance from an end are taken to be active."""

PULLS = 8
ROUNDS = 4


def within_tolerance(
    problem: Problem,
    directions: Floats,
    signs: Sequence[int],
    masks: Sequence[int],
    *,
    wider: bool = True,
    deadline: float | None = None,
) -> Iterable[Network]:
    """Networks that fit within the problem's tolerance > 0, near the directions (J, c); the best first.

    wider: neurons may be added.   deadline: a moment of `solvers.clock.now()`, for the equations.
    Incomplete: where the pattern has to change, none may be found.
    """
    for share in INSIDE:
        pulled = _pulled(problem, directions, signs, share)
        network = network_of_directions(problem, pulled, signs, masks)
        if _fits(problem, network):
            yield network
            return
    yield from _at_the_ends(problem, directions, signs, masks, wider=wider, deadline=deadline)


def _fits(problem: Problem, network: Network) -> bool:
    try:
        return exact_objective(problem, network, estimate(problem, network)) is not None
    except OverflowError:
        return all(
            abs(value - y) <= problem.fit_tolerance
            for value, y in zip(outputs(problem, network), problem.data.targets, strict=True)
        )


def _pulled(problem: Problem, directions: Floats, signs: Sequence[int], share: float) -> Floats:
    """The directions after least steps that bring outputs beyond (1 - share) times the tolerance back to that."""
    rows, slope = float_rows(problem), to_float(problem.architecture.slope)
    targets = float_targets(problem, clamp=False)
    room = to_float(problem.fit_tolerance) * (1.0 - share)
    seen = directions != 0  # masks hide columns; what is 0 stays so
    kinds = np.array(signs, float)
    size = np.abs(rows).max(axis=0)
    units = np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 1.0)
    moved, active = directions, np.zeros(len(rows), bool)
    for _ in range(PULLS if share else 0):
        z = rows @ moved.T
        apart = np.where(z > 0, z, slope * z) @ kinds - targets
        active |= np.abs(apart) > room
        beyond = (np.abs(apart) - room)[active]
        if not (beyond > 0).any():
            break
        gains = np.where(z > 0, 1.0, slope)[active] * kinds
        ends = np.sign(apart[active])
        fit = (gains[:, :, None] * (rows[active] * units)[:, None, :] * seen).reshape(int(active.sum()), -1)
        step = np.linalg.lstsq(fit, -ends * beyond, rcond=1e-12)[0]
        moved = moved + step.reshape(directions.shape) * units
    return moved


def _at_the_ends(
    problem: Problem,
    directions: Floats,
    signs: Sequence[int],
    masks: Sequence[int],
    *,
    wider: bool,
    deadline: float | None,
) -> Iterable[Network]:
    """Networks whose active outputs are at the ends exactly; points that leave their interval become active."""
    eps, targets = problem.fit_tolerance, problem.data.targets
    base = network_of_directions(problem, directions, signs, masks)
    apart = [value - y for value, y in zip(outputs(problem, base), targets, strict=True)]
    active = {i: eps if gap > 0 else -eps for i, gap in enumerate(apart) if abs(gap) >= eps * (1 - Fraction(NEAR))}
    for _ in range(ROUNDS):
        chosen = sorted(active)
        part = problem.within(0).posed_on(
            Dataset([problem.data.inputs[i] for i in chosen], [targets[i] + active[i] for i in chosen])
        )
        left: dict[int, Fraction] = {}
        for network in interpolate(part, directions, signs, masks, wider=wider, deadline=deadline):
            gaps = [value - y for value, y in zip(outputs(problem, network), targets, strict=True)]
            beyond = {i: eps if gap > 0 else -eps for i, gap in enumerate(gaps) if abs(gap) > eps}
            if not beyond:
                yield network
                return
            left |= beyond
        if not left.keys() - active.keys():
            return
        active |= {i: end for i, end in left.items() if i not in active}
