"""A lower bound for networks of any width with several outputs, from multipliers that a search found.

First a tree of cells, for linear networks and for few points, which may be exact; else a fan. Nothing here is trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from solvers.vectors.fan import FanGuess, find_fan
from solvers.vectors.vector_instance import VectorInstance
from solvers.vectors.vector_search import longest
from verify.checker.dual_trees import Bound, Nodes
from verify.checker.errors import IsoptimalError
from verify.checker.exact import dot, sqrt_lower
from verify.checker.vector_bounds import Cells, Fan, Priced, VectorProof, dual_worth, inverse_of
from verify.checker.vector_certificates import VectorBound
from verify.checker.vector_goals import Vector
from verify.checker.vector_statement import VectorProblem, combination
from verify.deciders.global_optimality.lower_bound import one_tree
from verify.deciders.rounding import ceil_dyadic, dyadic, rank
from verify.deciders.vectors.arrays import as_vector_instance
from verify.deciders.vectors.cells import find_cells
from verify.deciders.vectors.multipliers import exact_multipliers
from verify.numbers.floats import to_float, to_matrix
from verify.problem.members import is_free
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["TOO_MANY_DIMENSIONS", "lower_bounds", "span_of"]

MOST_CELLS = 600
MOST_RANK = 3

TOO_MANY_DIMENSIONS = (
    "the multipliers span {rank} dimensions of the outputs, and a bound is found for at most three (two are quick: two "
    "targets, or three classes), for linear networks and for few points"
)

TIGHT = Fraction(1, 10**5)
"""A tree of cells that shows H to be so short, relative to the square of the price, needs no fan beside it."""

SLACKS = (0.1, 0.02, 5e-3, 1e-3, 2e-4)
FIRST_OF_THREE = 0.3
STEP_BITS = 30
"""The scale is rounded down by at most 2^-STEP_BITS of it."""


@dataclass(frozen=True, slots=True)
class _Scaled:
    """What a proof gives: ||H(u)||^2 <= square ||u||^2."""

    proof: VectorProof
    square: Fraction


def lower_bounds(
    problem: VectorProblem, multipliers: Array, starts: Array, tol: float, deadline: float | None
) -> Iterator[VectorBound]:
    """Bounds for these C_i, shape (n, K), each better than those before, until the deadline.

    starts: directions, shape (B, c), where H is long.   tol: the relative slack of the price that is aimed at.
    """
    best, price = Fraction(-1), problem.square_price
    candidates = [c for c in exact_multipliers(problem, multipliers) if c]
    for c in candidates:
        found = _by_cells(problem, c, deadline)
        bound = None if found is None else _bound(problem, c, found)
        if found is not None and bound is not None and bound.lower > best:
            best = bound.lower
            yield bound
            if found.square <= price * (1 + TIGHT):
                return
    for c in candidates[-1:]:
        for found in _fans(problem, c, starts, tol, deadline):
            bound = _bound(problem, c, found)
            if bound is not None and bound.lower > best:
                best = bound.lower
                yield bound


def span_of(vectors: Mapping[int, Vector]) -> list[Vector]:
    """Independent vectors of the C_i that span them all, or the unit vectors where these do."""
    rows = list(vectors.values())
    many = rank(rows)
    outputs = len(rows[0])
    units = [tuple(Fraction(i == k) for k in range(outputs)) for i in range(outputs)]
    if many == outputs:
        return units
    differences = [tuple(p - q for p, q in zip(units[k], units[k + 1], strict=True)) for k in range(outputs - 1)]
    if many == outputs - 1 and not any(sum(row, Fraction(0)) for row in rows):
        return differences
    chosen: list[Vector] = []
    for row in rows:
        if len(chosen) < many and rank([*chosen, row]) > len(chosen):
            largest = max(map(abs, row))
            chosen.append(tuple(entry / largest for entry in row))
    return chosen


def _by_cells(problem: VectorProblem, c: Mapping[int, Vector], deadline: float | None) -> _Scaled | None:
    """By a tree of cells, where there are few."""
    cells = 2 * sum(comb(len(c) - 1, k) for k in range(len(problem.rows[0])))
    if problem.slope < 1 and (cells > MOST_CELLS or is_free(problem.bias)):  # whose column no norm bounds on most cells
        return None
    found = find_cells(problem, c, deadline)
    return None if found is None else _Scaled(Cells(found[0]), found[1])


def _fans(
    problem: VectorProblem, c: Mapping[int, Vector], starts: Array, tol: float, deadline: float | None
) -> Iterator[_Scaled]:
    """Fans in which H is shorter and shorter."""
    basis = span_of(c)
    if len(basis) > MOST_RANK:
        return
    instance, scalar = as_vector_instance(problem), Problem.from_json(problem.scalar.to_json())
    points = list(c)
    few = VectorInstance(
        instance.rows[points], instance.targets[points], instance.slope, instance.kind, instance.decays, None,
        is_free=instance.is_free,
    )  # fmt: skip
    multipliers = to_matrix(c.values())
    peaks, lengths = longest(few, multipliers, starts, np.random.default_rng(0))
    starts = np.concatenate([peaks, starts])
    price = max(float(lengths.max(initial=0.0)), 1e-9 * float(np.abs(multipliers).max()))
    slacks = SLACKS if len(basis) < MOST_RANK else (FIRST_OF_THREE, *SLACKS)
    for slack in [s for s in slacks if s > tol] + [tol] if len(basis) > 1 else [min(tol, 1e-6)]:
        guess = find_fan(few, multipliers, to_matrix(basis), price, slack, deadline, starts)
        if guess is None:
            return
        exact = _exact_fan(scalar, problem, c, basis, guess, slack)
        if exact is not None:
            yield exact


def _exact_fan(
    scalar: Problem, problem: VectorProblem, c: Mapping[int, Vector], basis: list[Vector], guess: FanGuess, slack: float
) -> _Scaled | None:
    """The fan in exact numbers, with the largest ||n||^2 of its cones."""
    directions: list[Priced] = []
    for side in guess.sides:
        if side.tree is None:
            return None
        coordinates = tuple(Fraction(z) for z in side.coordinates)
        d = combination(coordinates, basis, problem.outputs)
        own = {i: dot(d, vector) for i, vector in c.items()}
        if not any(own.values()):
            zero: Nodes = (Bound((0,) * len(own)),)
            directions.append(Priced(coordinates, Fraction(0), 1, zero))
            continue
        denominator, nodes, beta = one_tree(scalar, own, side.tree, side.bound, slack * 1e-3)
        bound = ceil_dyadic(beta, 44) if beta > 0 else beta
        directions.append(Priced(coordinates, bound, denominator, nodes))
    gram = inverse_of([[dot(one, other) for other in basis] for one in basis])
    square = Fraction(0)
    for cone in _leaves(guess):
        inverse = inverse_of([directions[k].coordinates for k in cone]) or []
        x = [dot(row, [directions[k].bound for k in cone]) for row in inverse]
        square = max(square, dot(x, [dot(row, x) for row in gram or []]))
    orthants = tuple(tuple(nodes) for nodes in guess.orthants)
    return _Scaled(Fan(tuple(basis), tuple(directions), orthants), square)


def _leaves(guess: FanGuess) -> Iterator[list[int]]:
    """The cones, as the places of their directions."""
    places = {side.coordinates: k for k, side in enumerate(guess.sides)}
    many = len(guess.sides[0].coordinates)
    for signs, nodes in zip(product((1, -1), repeat=many), guess.orthants, strict=True):
        units = [tuple(s if k == j else 0 for k in range(many)) for j, s in enumerate(signs)]
        waiting = [[places[unit] for unit in units]]
        for node in nodes:
            cone = waiting.pop()
            if node is None:
                yield cone
            else:
                k, p, q = node
                waiting += [
                    [k if at == p else g for at, g in enumerate(cone)],
                    [k if at == q else g for at, g in enumerate(cone)],
                ]


def _bound(problem: VectorProblem, c: Mapping[int, Vector], found: _Scaled) -> VectorBound | None:
    """The best bound that the proof gives, by the scale; None where that is below 0."""
    if found.square <= 0:
        return None
    ratio = problem.square_price / found.square
    most = Fraction(1) if ratio == 1 else sqrt_lower(ratio, 60)
    if most != 1:
        short = dyadic(to_float(most), STEP_BITS)
        most = short if short * short <= ratio else short * (1 - Fraction(1, 2 ** (STEP_BITS - 1)))
    scale = min(most, Fraction(1)) if problem.rules.IS_LOSS else most
    try:
        lower = dual_worth(problem, c, scale)
    except IsoptimalError:
        return None
    if lower < 0:
        return None
    if not problem.rules.IS_EXACT:
        lower = Fraction(int(lower * 2**64), 2**64)
    listed = tuple((i, vector) for i, vector in c.items())
    return VectorBound(listed, scale, found.proof, lower)
