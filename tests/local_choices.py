"""Local optimality by brute force: one convex program for every choice of cells and signs.

Source: `docs/mathematics.md`, 7.1 "The criterion".

In the variables u_j = |v_j| w_j a balanced two-layer network is a local optimum iff, for every choice of a cell of the
arrangement {x_i : w_j.x_i = 0} for each neuron, and of a sign for each zero neuron, no direction in these cells that
keeps the active constraints to first order decreases sum ||u_j|| to first order. Nothing is taken from `verify` but the
data types. With a free bias, a neuron with w = 0, v = 0, b != 0 is judged from both sides, and may stay unclear.
"""

from fractions import Fraction
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from solvers.instance import Status
from solvers.programs.interior_point import solve_cone_program
from tests.naive import counted, lifted, neurons, quantities, signs, times
from verify import Goal
from verify.problem.problem import Trained

NOTHING, SOMETHING = 1e-7, 1e-5
"""Values above -NOTHING are 0, values below -SOMETHING are negative; between them the answer is "unclear"."""


class Answer(NamedTuple):
    """verdict: "local", "not-local" or "unclear".   choices: how many there are.   value: the least value seen."""

    verdict: str
    choices: int
    value: float


class _Block(NamedTuple):
    """What one neuron contributes to a program for one choice, on the columns of its mask.

    slopes: s_j a_ij, length n.   cone: rows r with r.delta >= 0.   cost: the linear cost, or None for the norm.
    """

    columns: tuple
    slopes: tuple
    cone: tuple
    cost: tuple | None


def cells(rows, dimension):
    """The sign vectors in {1, -1}^rows of the open cells of the arrangement {r.u = 0}, exactly; 1 for zero rows.

    By induction: the cells that the last hyperplane cuts are those of the arrangement restricted to it.
    """
    planes = []
    for row in rows:
        if any(row) and not any(_parallel(row, plane) for plane in planes):
            planes.append(list(row))
    found = {tuple(1 if times(row, u) >= 0 else -1 for row in rows) for u in _interior_points(planes, dimension)}
    return sorted(found)


def _parallel(a, b):
    return all(a[p] * b[q] == a[q] * b[p] for p in range(len(a)) for q in range(p))


def _interior_points(planes, dimension):
    """A point inside each cell of pairwise different central hyperplanes."""
    if not planes:
        return [[Fraction(0)] * dimension]
    *others, last = planes
    found = [u for u in _interior_points(others, dimension) if times(last, u)]
    pivot = next(c for c in range(dimension) if last[c])
    free = [c for c in range(dimension) if c != pivot]
    inside = []
    for plane in others:
        row = [plane[c] - plane[pivot] * last[c] / last[pivot] for c in free]
        if not any(_parallel(row, seen) for seen in inside):
            inside.append(row)
    for point in _interior_points(inside, dimension - 1):
        u = [Fraction(0)] * dimension
        for c, value in zip(free, point, strict=True):
            u[c] = value
        u[pivot] = -sum((last[c] * u[c] for c in free), Fraction(0)) / last[pivot]
        reach = min(
            (abs(times(plane, u)) / (1 + abs(times(plane, last))) for plane in others if times(plane, u)),
            default=Fraction(1),
        )
        for step in (reach / 2, -reach / 2):
            found += [[value + step * n for value, n in zip(u, last, strict=True)]]
    return found


def choices(problem, network):
    """How many choices there are."""
    return prod(len(blocks) for blocks, _ in _all_kinds(problem, network))


def _all_kinds(problem, network):
    rows, hidden = lifted(problem), problem.trained is Trained.HIDDEN
    return [
        _kinds(problem, rows, w, v, mask, hidden)
        for (w, v), mask in zip(neurons(network), network.architecture.masks, strict=True)
    ]


def decide(problem, network, limit=None):
    """Whether a balanced network that fits is a local optimum; None when there are more than `limit` choices."""
    rows, kinds = lifted(problem), _all_kinds(problem, network)
    count = prod(len(blocks) for blocks, _ in kinds)
    if limit is not None and count > limit:
        return None
    values = quantities(problem, network)
    least = min(values)
    is_margin = problem.goal is Goal.MAX_MARGIN
    active = [i for i, value in enumerate(values) if value == least or not is_margin]
    least_value, verdict = 0.0, "local"
    for choice in product(*(blocks for blocks, _ in kinds)):
        value = _value(problem, rows, choice, active)
        least_value = min(least_value, value)
        if value < -NOTHING:
            verdict = "unclear"
        if value < -SOMETHING and not any(is_loose for _, is_loose in kinds):
            return Answer("not-local", count, value)
        if value < -SOMETHING:
            strict = [
                _shift_only(block, w, problem) if is_loose else block
                for block, (w, _), (_, is_loose) in zip(choice, neurons(network), kinds, strict=True)
            ]
            if _value(problem, rows, strict, active) < -SOMETHING:
                return Answer("not-local", count, value)
    return Answer(verdict, count, least_value)


def _kinds(problem, rows, w, v, mask, hidden):
    """The blocks that a neuron may choose from, and whether it has w = 0, v = 0 but a bias that is not 0."""
    a = problem.architecture.slope
    z = [times(w, row) for row in rows]
    norm_columns = [c for c in mask if c in counted(problem)]
    square = sum((w[c] ** 2 for c in norm_columns), Fraction(0))
    if not hidden and square != v * v:
        raise ValueError("the network is not balanced")
    ties = [i for i, value in enumerate(z) if value == 0]
    cone_rows = [[rows[i][c] for c in mask] for i in ties]
    if hidden:
        options, cost = [1 if v > 0 else -1], tuple(float(w[c]) if c in norm_columns else 0.0 for c in mask)
    elif v:
        options = [1 if v > 0 else -1]
        cost = tuple(float(w[c]) / float(abs(v)) if c in norm_columns else 0.0 for c in mask)
    else:
        options, cost = [1, -1], None
    is_loose = not hidden and not v and any(w)
    fixed = {i: Fraction(1) if value > 0 else a for i, value in enumerate(z) if value}
    blocks = []
    for sign in options:
        for cell in cells(cone_rows, len(mask)):
            at_tie = {i: Fraction(1) if side > 0 else a for i, side in zip(ties, cell, strict=True)}
            slopes = tuple(sign * (fixed | at_tie)[i] for i in range(len(rows)))
            cone = tuple(tuple(side * x for x in row) for side, row in zip(cell, cone_rows, strict=True) if any(row))
            blocks.append(_Block(tuple(mask), slopes, cone, cost))
    return blocks, is_loose


def _shift_only(block, w, problem):
    """The block of a neuron with w = 0, v = 0 and a bias that moves by v alone: costs nothing to first order."""
    last = len(w) - 1
    hold = [tuple(int(c == q) * side for c in block.columns) for q in block.columns if q != last for side in (1, -1)]
    return block._replace(cone=(*block.cone, *hold), cost=(0.0,) * len(block.columns))


def _value(problem, rows, choice, active):
    """The least value of the program on the box |delta| <= 1; rows are scaled to length 1."""
    sizes = [len(block.columns) for block in choice]
    total = sum(sizes)
    starts = np.cumsum([0, *sizes])
    factors = signs(problem) if problem.goal is Goal.MAX_MARGIN else [1] * len(rows)
    cone = np.zeros((sum(len(block.cone) for block in choice), total))
    place = 0
    for block, start in zip(choice, starts, strict=False):
        for row in block.cone:
            cone[place, start : start + len(row)] = [float(value) for value in row]
            place += 1
    data = np.zeros((len(active), total))
    for q, i in enumerate(active):
        for block, start in zip(choice, starts, strict=False):
            data[q, start : start + len(block.columns)] = [
                float(factors[i] * block.slopes[i] * rows[i][c]) for c in block.columns
            ]
    cone, data = _unit(cone), _unit(data)
    cost = np.concatenate([np.zeros(len(b.columns)) if b.cost is None else np.array(b.cost) for b in choice])
    largest = np.abs(cost).max()
    if largest:
        cost = cost / max(largest, 1.0)
    bent = [
        [int(start) + q for q, c in enumerate(block.columns) if c in counted(problem)]
        for block, start in zip(choice, starts, strict=False)
        if block.cost is None
    ]
    if problem.goal is Goal.MAX_MARGIN:
        return _solve(cost, np.vstack([cone, data]), np.zeros((0, total)), bent)
    return _solve(cost, cone, data, bent)


def _unit(rows):
    lengths = np.linalg.norm(rows, axis=1)
    return rows[lengths > 0] / lengths[lengths > 0, None]


def _solve(cost, inside, level, bent):
    """min cost.x + sum of the norms of x on `bent`, inside x >= 0, level x = 0, |x| <= 1."""
    total = len(cost)
    if not bent:
        found = linprog(
            cost, A_ub=-inside, b_ub=np.zeros(len(inside)), A_eq=level, b_eq=np.zeros(len(level)), bounds=(-1, 1),
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )  # fmt: skip
        if found.status != 0:
            raise RuntimeError(found.message)
        return float(found.fun)
    width = total + len(bent)
    wide = lambda matrix: np.hstack([matrix, np.zeros((len(matrix), len(bent)))])  # noqa: E731
    box = np.eye(width)[:total]
    cones = [np.vstack([-np.eye(width)[total + q], -np.eye(width)[columns]]) for q, columns in enumerate(bent)]
    matrix = np.vstack([wide(level), -wide(inside), box, -box, *cones])
    right = np.concatenate([np.zeros(len(level) + len(inside)), np.ones(2 * total), np.zeros(sum(map(len, cones)))])
    found = solve_cone_program(
        np.concatenate([cost, np.ones(len(bent))]),
        matrix,
        right,
        [
            ("zero", len(level)),
            ("nonnegative", len(inside) + 2 * total),
            *(("second-order", len(rows)) for rows in cones),
        ],
        accuracy=1e-10,
    )
    if found.status is Status.FAILED:
        raise RuntimeError(found.message)
    return float(found.value)
