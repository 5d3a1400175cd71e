"""Deep networks with two ReLU layers or more: a bound by multipliers of both labels, and a tree of quadratic forms.

The units of a ReLU layer add up to no more than the sums of theirs, with what each label asks of them; the bound of the
first layer is that of all ("Several ReLU layers"). Floats find multipliers and products, which are rounded: to short
numbers first, with which a bound may be exact, then upwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TypeAlias, cast

import numpy as np

from solvers.any_width.label_cuts import label_multipliers
from solvers.instance import SearchStatus
from solvers.pricing.semidefinite import MOST_WORK, Closed, climbed, squared_bound
from verify.checker.depth import power_of, sharing
from verify.checker.depth_duals import LowerBoundRelu, activations
from verify.checker.exact import Number, root_ends
from verify.checker.matrix_trees import End, MatrixNodes, Semidefinite
from verify.checker.multipliers import coefficients, dual_value
from verify.deciders.depth.any_width import AnyWidthSearch
from verify.deciders.proposal import certified
from verify.deciders.rounding import dyadic
from verify.deciders.time_limits import is_late, share, within
from verify.numbers.floats import float_factors, float_rows, to_float
from verify.problem.problem import Problem

__all__ = ["has_relu_layers", "relu_search"]

LARGEST, MOST_COLUMNS = 60, 40
"""Points and columns up to which the bound is looked for."""

MOST_ROWS = 16
"""Points with multipliers up to which a tree is grown."""

SHORT = 64
"""Denominators of short numbers."""

SHARE = 0.3
"""Of the time, for the multipliers; of what is left then as much is not used."""

NEAR = 1e-3
"""Multipliers this near to short numbers, the largest being 1, are tried as these as well."""

FEW = 8
"""Multipliers up to which short ones are tried."""

MARGINS = (1e-9, 1e-7, 1e-5, 1e-3)
"""By how much, relative, beta^2 is above what floats say, in turn."""


def has_relu_layers(problem: Problem) -> bool:
    """Whether the bound is one of the problem, without sharing."""
    slopes = activations(problem.architecture)
    return len(slopes) > 1 and not any(slopes) and not problem.architecture.has_sharing


def relu_search(problem: Problem, tolerance: float, deadline: float | None) -> AnyWidthSearch:
    """The bound; no networks are looked for.

    tolerance: relative, of the objective, up to which a tree is to close.   Sound: the bound is checked; not complete.
    """
    if len(problem.rows) > LARGEST or len(problem.rows[0]) > MOST_COLUMNS:
        return AnyWidthSearch(None, (), SearchStatus.LARGE)
    mu = within(share(deadline, SHARE), partial(_multipliers, problem, share(deadline, SHARE)))
    found: list[LowerBoundRelu | None] = []
    for work in (0.0, MOST_WORK):  # a leaf, then a tree
        limit = share(deadline, 1 - SHARE)
        found.append(within(limit, partial(_best, problem, mu, tolerance, limit, work)))
    status = SearchStatus.TIME if is_late(deadline) else SearchStatus.OPTIMAL
    return AnyWidthSearch(max(filter(None, found), key=_lower, default=None), (), status)


def _lower(proof: LowerBoundRelu) -> Number:
    return proof.bracket[0] or Fraction(0)


Guess: TypeAlias = "dict[int, tuple[float, int]]"
"""For points their |multiplier|, the largest being 1, and its sign."""


def _multipliers(problem: Problem, deadline: float | None) -> Guess | None:
    """Of few points; None where there are none, or too many."""
    eps = to_float(problem.fit_tolerance)
    targets = np.array([to_float(y) for y in problem.targets])
    asked = np.flatnonzero(np.abs(targets) > eps)
    rows = float_rows(problem)[asked]
    mu = label_multipliers(rows, np.abs(targets[asked]) - eps, (targets[asked] > 0).astype(np.float64), deadline)
    if mu is None or not 0 < np.count_nonzero(mu) <= MOST_ROWS:
        return None
    signs = np.sign(targets * float_factors(problem))[asked]
    scaled = (mu / mu.max()).tolist()
    return {int(i): (z, int(s)) for i, z, s in zip(asked, scaled, signs, strict=True) if z}


def _best(
    problem: Problem, pairs: Guess | None, tolerance: float, deadline: float | None, work: float
) -> LowerBoundRelu | None:
    if pairs is None:
        return None
    short = {i: Fraction(z).limit_denominator(SHORT) for i, (z, _) in pairs.items()}
    choices = [{i: dyadic(z, 30) for i, (z, _) in pairs.items()}]
    if len(pairs) <= FEW and all(abs(to_float(short[i]) - z) < NEAR for i, (z, _) in pairs.items()):
        choices.append({i: z for i, z in short.items() if z})
    listed = [{i: pairs[i][1] * z for i, z in mu.items()} for mu in choices]
    found = [_bound(problem, each, tolerance, deadline, work) for each in listed]
    return max(filter(None, found), key=_lower, default=None)


def _scaled(problem: Problem, listed: Mapping[int, Fraction]) -> tuple[dict[int, Fraction], tuple[Fraction, Fraction]]:
    """Multipliers times a square, with roots of their dual values: one is exact, and the other where their ratio is."""

    def values(factor: Fraction) -> list[Fraction]:
        c = coefficients(problem, tuple((i, factor * z) for i, z in listed.items()))
        return [dual_value(problem, {i: z for i, z in c.items() if s * z > 0}) for s in (1, -1)]

    factor = max(values(Fraction(1))) ** 2
    roots = [_cube_root(value) for value in values(factor)]
    return {i: factor * z for i, z in listed.items()}, (roots[0], roots[1])


def _cube_root(value: Fraction) -> Fraction:
    """The greatest known number whose cube is at most that, itself where it is short."""
    low, high = root_ends(max(value, Fraction(0)), 3)
    near = ((low + high) / 2).limit_denominator(SHORT**2)
    return near if near**3 == value else low


def _bound(
    problem: Problem, listed: Mapping[int, Fraction], tolerance: float, deadline: float | None, work: float
) -> LowerBoundRelu | None:
    multipliers, roots = _scaled(problem, listed)
    c = coefficients(problem, tuple(multipliers.items()))
    rows = float_rows(problem)[list(c)]
    weights = np.array([[max(to_float(z), 0.0), max(-to_float(z), 0.0)] for z in c.values()])
    random = np.random.default_rng(0).normal(size=(64, rows.shape[1]))
    starts = np.vstack([rows, *(rows[k] + rows[k + 1 :] for k in range(len(rows))), random])
    least, _ = climbed(rows, weights, 0.0, starts)
    if not least > 0:
        return None
    target = least * (1 + power_of(problem) * tolerance / 4)
    square, tree = squared_bound(rows, weights, 0.0, target, share(deadline, 0.6), work)
    m, points = power_of(problem), list(c)
    above = Fraction(m, 2) ** m * (roots[0] ** 2 + roots[1] ** 2) ** 3
    for nodes, number in _rounded(points, tree, square, float(np.linalg.norm(rows, axis=1).max())):
        proof = LowerBoundRelu(
            multipliers=tuple(multipliers.items()), roots=roots, square=number, nodes=nodes, power=m,
            bracket=(above / (number * sharing(problem)), None),
        )  # fmt: skip
        found = certified(problem, None, proof)
        if found is not None:
            return found
    return None


def _rounded(
    points: Sequence[int], tree: Sequence[int | Closed], square: float, size: float
) -> Iterator[tuple[MatrixNodes, Fraction]]:
    """The tree and beta^2: in short numbers, then as floats say, beta^2 larger and larger.

    size: that of the largest point; a product of two such points times its weight is about beta^2.
    """
    short = Fraction(square).limit_denominator(SHORT)
    if abs(to_float(short) - square) <= 1e-6 * square:
        yield tuple(_node(points, node, 0.0) for node in tree), short
    exact = tuple(_node(points, node, square / size**2) for node in tree)
    for margin in MARGINS:
        yield exact, dyadic(square * (1 + margin), 60)


def _node(points: Sequence[int], node: int | Closed, square: float) -> int | Semidefinite:
    """A node with the numbers of points; weights short where `square` is 0, else to 2^-40 of it."""
    if not isinstance(node, Closed):
        return points[node]
    unit = Fraction(2) ** (int(np.log2(square)) - 40) if square else Fraction(0)
    kept: list[tuple[int, End, int, End, Fraction]] = []
    for r, one, t, other, n in node.products:
        weight = round(Fraction(n) / unit) * unit if unit else Fraction(n).limit_denominator(SHORT)
        if weight:
            kept.append((points[r], cast("End", one), points[t], cast("End", other), weight))
    return Semidefinite(products=tuple(kept))
