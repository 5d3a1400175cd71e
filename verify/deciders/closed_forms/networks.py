"""The exact network of an optimum: amplitudes along the directions, as few as possible, and its weights."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain

import numpy as np
from scipy.optimize import linear_sum_assignment, linprog

from verify.checker.bounds import UpperBound
from verify.checker.exact import sqrt_upper, squared_norm
from verify.checker.statement import Network
from verify.deciders.closed_forms.active_set import UnitDirection
from verify.deciders.closed_forms.elimination import solve
from verify.numbers.floats import float_outgoing, float_weights, to_float, to_floats, to_matrix
from verify.problem.members import has_margin, margins
from verify.problem.problem import Problem, outputs

__all__ = ["amplitudes", "distance_bound", "own_network", "upper_bound"]

NEGLIGIBLE = 1e-9


def amplitudes(
    problem: Problem, directions: Sequence[UnitDirection], vectors: Sequence[Sequence[Fraction]], points: Sequence[int]
) -> dict[int, Fraction] | None:
    """Amplitudes c_C > 0 with sum_C s_C c_C s_a(x_i.u_C) = y_i for the points, by direction; None when not found.

    A vertex of that polyhedron, found in floats and solved exactly, so that few neurons are used.
    """
    slope, targets = problem.architecture.slope, problem.data.targets
    columns: list[list[Fraction]] = []
    for direction, vector in zip(directions, vectors, strict=True):
        column = []
        for i in points:
            z = sum((x * u for x, u in zip(problem.rows[i], vector, strict=True)), Fraction(0))
            column.append(direction.sign * (z if z > 0 else slope * z))
        columns.append(column)
    right = [targets[i] for i in points]
    floats = to_matrix(columns).T
    found = linprog(np.ones(len(columns)), A_eq=floats, b_eq=[to_float(y) for y in right])
    if found.status:
        return None
    used = [q for q, c in enumerate(found.x) if c > NEGLIGIBLE * found.x.max()]
    exact = solve([[columns[q][k] for q in used] for k in range(len(points))], right)
    if exact is None or not all(c > 0 for c in exact):
        return None
    return dict(zip(used, exact, strict=True))


def upper_bound(
    problem: Problem,
    directions: Sequence[UnitDirection],
    vectors: Sequence[Sequence[Fraction]],
    sizes: dict[int, Fraction],
) -> UpperBound:
    """The network w_j = u_j, v_j = s_j c_j, worth sum c_j once its neurons are balanced."""
    masks = [problem.mask_classes[directions[q].mask] for q in sizes]
    hidden = [vectors[q][c] for q, mask in zip(sizes, masks, strict=True) for c in mask]
    outgoing = [directions[q].sign * c for q, c in sizes.items()]
    shape = problem.architecture.with_width_of(masks)
    witness = Network(shape, (tuple(hidden), tuple(outgoing)))
    return UpperBound(witness=witness, bracket=(None, sum(sizes.values(), Fraction(0))))


def own_network(
    problem: Problem,
    given: Network,
    directions: Sequence[UnitDirection],
    vectors: Sequence[Sequence[Fraction]],
    roots: dict[int, Fraction],
) -> tuple[Network, list[int | None]] | None:
    """The optimal network in the architecture of the given one, its neurons near to the given ones where possible.

    roots: square roots of the amplitudes by direction: w = root u, v = s root, all times the root of the given
    network's margin, rounded. Neurons that are not needed are 0. Also the direction of every neuron, None for those.
    None when the architecture has too few neurons of a mask.
    """
    masks, classes = problem.architecture.masks, problem.mask_classes
    scale = _scale(problem, given)
    weights = float_weights(given, clamp=False)
    outgoing = float_outgoing(given, clamp=False)
    costs = np.full((len(roots), len(masks)), 1e9)
    for r, (q, root) in enumerate(roots.items()):
        size = to_float(root) * to_float(scale)
        for j, mask in enumerate(masks):
            if classes[directions[q].mask] == mask:
                apart = weights[j] - size * to_floats(vectors[q])
                mine = apart @ apart + (outgoing[j] - directions[q].sign * size) ** 2
                costs[r, j] = mine - weights[j] @ weights[j] - outgoing[j] ** 2
    if len(roots) > len(masks):
        return None
    chosen = dict(zip(*(map(int, side) for side in reversed(linear_sum_assignment(costs))), strict=True))
    owners: list[int | None] = [list(roots)[chosen[j]] if j in chosen else None for j in range(len(masks))]
    if any(q is not None and classes[directions[q].mask] != mask for q, mask in zip(owners, masks, strict=True)):
        return None
    hidden: list[Fraction] = []
    last: list[Fraction] = []
    for q, mask in zip(owners, masks, strict=True):
        root = Fraction(0) if q is None else roots[q] * scale
        hidden += [root * (Fraction(0) if q is None else vectors[q][c]) for c in mask]
        last.append(root * (0 if q is None else directions[q].sign))
    return Network(problem.architecture, (tuple(hidden), tuple(last))), owners


def _scale(problem: Problem, given: Network) -> Fraction:
    """About the square root of the least margin of the given network; 1 for min-norm, or when it does not fit."""
    if not has_margin(problem.goal):
        return Fraction(1)
    margin = min(margins(problem, outputs(problem, given)))
    return sqrt_upper(margin, 20) if margin > 0 else Fraction(1)


def distance_bound(network: Network, given: Network) -> Fraction | None:
    """A rational upper bound of ||network - given|| / ||given||, rounded up; None for a given network of zeros."""
    new, old = chain(*network.parameters), list(chain(*given.parameters))
    size = squared_norm(old)
    if not size:
        return None
    apart = squared_norm(a - b for a, b in zip(new, old, strict=True)) / size
    return sqrt_upper(Fraction(to_float(apart)) * (1 + Fraction(1, 2**40)), 20)
