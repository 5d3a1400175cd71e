"""Networks that meet every target exactly, near float directions: by a repair, or by small neurons added to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import mul
from typing import cast

import numpy as np

from solvers.arrays import Floats, Indices
from verify.checker.errors import InputError
from verify.checker.exact import common_integers
from verify.checker.statement import integer_rows
from verify.deciders.fit.repairs import repair
from verify.deciders.rounding import dyadic, solve_exactly
from verify.deciders.time_limits import is_late, poll
from verify.deciders.witnesses import network_of_directions, norms
from verify.numbers.floats import float_rows, to_float
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs

__all__ = ["interpolate"]


DIRECTION_BITS = 20
INDEPENDENT = 1e-10


def interpolate(
    problem: Problem,
    directions: Floats,
    signs: Sequence[int],
    masks: Sequence[int],
    *,
    wider: bool = True,
    seed: int = 0,
    deadline: float | None = None,
) -> Iterable[Network]:
    """Networks near the given directions that interpolate exactly: first one of the same width, then (`wider`) another
    one.

    The wider one adds small neurons whose outputs at the data absorb the residual exactly; linear networks that were
    repaired need none. deadline: a moment of `solvers.clock.now()` after which no equations are solved.
    """
    if has_margin(problem.goal):
        return
    base = network_of_directions(problem, directions, signs, masks)
    repaired = repair(problem, base, deadline)
    if repaired is not None:
        yield repaired
    if not wider or (repaired is not None and problem.architecture.slope == 1):
        return
    absorbed = _absorb(problem, base, directions, masks, seed, deadline)
    if absorbed is not None:
        yield absorbed


def _absorb(
    problem: Problem, base: Network, directions: Floats, masks: Sequence[int], seed: int, deadline: float | None
) -> Network | None:
    if is_late(deadline):
        return None
    pool = _pool(problem, directions, masks, seed)
    residual = [y - f for y, f in zip(problem.data.targets, outputs(problem, base), strict=True)]
    used = _independent(problem, pool)
    features = [_features(problem, pool[q][1]) for q in used]
    lines = [list(line) for line in zip(*features, strict=True)]
    amounts = solve_exactly(lines, residual, deadline=deadline) if any(residual) else [Fraction(0)] * len(used)
    if amounts is None:
        return None
    classes = problem.mask_classes
    hidden, outgoing = list(base.parameters[0]), list(base.parameters[1])
    seen_masks = list(base.architecture.masks)
    for q, amount in zip(used, amounts, strict=True):
        if amount:
            mask, u = pool[q]
            size = float(norms(np.array([[to_float(u[c]) for c in problem.norm_columns]]))[0])
            root = dyadic((to_float(abs(amount)) / max(size, 1e-12)) ** 0.5, 20) or Fraction(1, 2**200)
            hidden += [u[column] * root for column in classes[mask]]
            outgoing.append(amount / root)
            seen_masks.append(classes[mask])
    try:
        network = Network(problem.architecture.with_width_of(seen_masks), (hidden, outgoing))
        return network if outputs(problem, network) == list(problem.data.targets) else None
    except InputError:
        return None


def _pool(problem: Problem, directions: Floats, masks: Sequence[int], seed: int) -> list[tuple[int, list[Fraction]]]:
    """Mask classes and short dyadic directions (c,): the given ones, and random ones."""
    random = np.random.default_rng(seed)
    pool: list[tuple[int, list[Fraction]]] = []
    for mask, seen in enumerate(problem.mask_classes):
        guesses = _guesses(problem, seen, 3 * len(problem.rows) + 10, random)
        own = [u[list(seen)] for u, m in zip(directions, masks, strict=True) if m == mask]
        for u in [*own, *guesses]:
            size = float(norms(u[None, :])[0])
            if size > 0:
                full = [Fraction(0)] * len(problem.rows[0])
                for column, value in zip(seen, u, strict=True):
                    full[column] = dyadic(float(value) / size, DIRECTION_BITS)
                pool.append((mask, full))
    return pool


def _independent(problem: Problem, pool: Sequence[tuple[int, list[Fraction]]]) -> list[int]:
    """Indices of directions whose neurons have independent outputs at the data, by pivoting in floats."""
    from scipy.linalg import qr

    if not pool:
        return []
    z = float_rows(problem) @ np.array([[to_float(value) for value in u] for _, u in pool]).T
    outcome = np.maximum(z, to_float(problem.architecture.slope) * z)
    largest = float(np.abs(outcome).max())
    if not 0 < largest < np.inf:
        return []
    triangle, order = cast("tuple[Floats, Indices]", qr(outcome / largest, mode="r", pivoting=True))
    diagonal = np.abs(np.diag(triangle))
    return [int(q) for q in order[: int((diagonal > INDEPENDENT * diagonal.max(initial=0.0)).sum())]]


def _features(problem: Problem, direction: Sequence[Fraction]) -> list[Fraction]:
    """The outputs at the data of a neuron with these weights and v = 1, exactly."""
    (weights,), unit = common_integers([direction])
    slope = problem.architecture.slope
    values: list[Fraction] = []
    poll()
    for row, denominator in integer_rows(problem, len(direction)):
        z = Fraction(sum(map(mul, row, weights)), unit * denominator)
        values.append(z if z > 0 else slope * z)
    return values


def _guesses(problem: Problem, seen: Sequence[int], count: int, random: np.random.Generator) -> Floats:
    """Random directions (count, len(seen)) in the units of the columns; a bias puts the breakpoint among the points."""
    rows = float_rows(problem)[:, list(seen)]
    units = np.abs(rows).max(axis=0)
    units[units == 0] = 1.0
    guesses = random.standard_normal((count, len(seen))) / units
    if problem.architecture.bias and len(rows[0]) > 1 and seen[-1] == len(problem.rows[0]) - 1:
        mixed = random.dirichlet(np.ones(min(len(rows), 3)), size=count)
        chosen = np.array([random.choice(len(rows), mixed.shape[1], replace=False) for _ in range(count)])
        centres = np.einsum("kq,kqc->kc", mixed, rows[chosen][..., :-1])
        guesses[:, -1] = -np.einsum("kc,kc->k", guesses[:, :-1], centres)
    return guesses
