"""Ways down from a network of any depth: a curve of better networks that begins there, for `not-local-curve`.

At ties a pattern of sides is chosen, with whose slopes the q_i are polynomials. First a direction along which the norm
falls at first order and no constraint that is active does; else, at a KKT point, one of negative curvature among those
along which nothing changes at first order, with the second order made good:

    theta + t d + t^2 e,   grad q_i . d = 0,   grad q_i . e = eta - 1/2 d' hess q_i d       (i active)

changes 1/2 ||theta||^2 by t^2 (1/2 d'H d + eta sum lambda_i) + O(t^3), and raises every active q_i by t^2 eta, H the
second derivative of the Lagrangian.

Source: `docs/mathematics.md`, 13.5 "Curves".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, product

import numpy as np

from solvers.arrays import Floats
from solvers.instance import Status
from solvers.layers import Layers
from solvers.programs.linear import solve_lp
from verify.checker.curves import NotLocalCurve
from verify.checker.depth_states import UnitStates, gathered, gradient, matrices_of, states
from verify.checker.depth_stationary import DeepStationary
from verify.checker.exact import dot, squared_norm
from verify.checker.fit import ends
from verify.checker.goals import rules
from verify.checker.statement import Rows
from verify.deciders.depth.arrays import layers_of, parameters_of, shaped
from verify.deciders.proposal import Proposal, certified
from verify.deciders.rounding import dyadic, solve_by_few
from verify.deciders.time_limits import poll
from verify.numbers.floats import float_rows, to_float, to_matrix
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["descent"]

MOST_PATTERNS = 64
LARGEST = 600
"""Parameters up to which second derivatives are taken."""

STEPS = tuple(Fraction(1, 4**k) for k in range(1, 24, 2))
"""How far a curve is tried to reach."""

FOUND = "better networks lie arbitrarily near, along a curve"


def descent(problem: Problem, network: Network, proof: DeepStationary | None = None) -> Proposal | None:
    """A curve of better networks, or None; `proof` holds the multipliers of a KKT point.

    Max-margin only: min-norm targets are met along a curve of polynomials by chance.
    """
    if not has_margin(problem.goal):
        return None
    for search in (_first_order, _second_order):
        for pattern in _patterns(problem, network):
            poll()
            found = search(_Piece(problem, network, pattern), proof)
            if found is not None:
                return Proposal(certificate=found, reason=FOUND)
    return None


Pattern = list[dict[tuple[int, int], int]]
"""For each point the side, 1 or -1, of each of its ties."""


def _patterns(problem: Problem, network: Network) -> Iterator[Pattern]:
    """Sides of the ties of active points: all patterns of few ties, else random ones."""
    found, limits = states(problem, network), ends(problem, network)
    active = [state.ties if not limits[i][0] else [] for i, state in enumerate(found)]
    total = sum(map(len, active))
    if 2**total <= MOST_PATTERNS:
        choices: Iterator[Sequence[int]] = iter(product((1, -1), repeat=total))
    else:
        random = np.random.default_rng(0)
        choices = (random.choice([1, -1], total).tolist() for _ in range(MOST_PATTERNS))
    for chosen in choices:
        rest = iter(chosen)
        yield [{tie: next(rest) for tie in ties} for ties in active]


class _Piece:
    """The network on one side of each tie: gradients of the active constraints, and of the preactivations at ties."""

    def __init__(self, problem: Problem, network: Network, pattern: Pattern) -> None:
        self.problem, self.network, self.pattern = problem, network, pattern
        self.theta = list(chain(*network.parameters))
        self.states, limits = states(problem, network), ends(problem, network)
        self.active = [i for i in range(len(limits)) if not limits[i][0]]
        factors = rules(problem.goal).factors(problem.targets)
        self.gradients = [[factors[i] * z for z in chain(*self._gradient(i))] for i in self.active]

    def slopes(self, i: int) -> list[list[Fraction]]:
        """Of each unit at a point."""
        state = self.states[i]
        return state.at({(l, j): state.slopes[l][j][side > 0] for (l, j), side in self.pattern[i].items()})

    def _gradient(self, i: int) -> list[list[Fraction]]:
        return gradient(self.network, self.states[i], self.slopes(i))

    def sides(self) -> list[list[Fraction]]:
        """The gradients of side times preactivation at ties."""
        return [
            [side * z for z in _preactivation_gradient(self.network, self.states[i], self.slopes(i), *tie)]
            for i in self.active
            for tie, side in self.pattern[i].items()
        ]

    def along(self, *steps: Sequence[Fraction]) -> NotLocalCurve | None:
        """The certificate of a curve, if it is one."""
        rows: tuple[Rows, ...] = tuple(shaped(self.network.architecture, step) for step in steps)
        for until in STEPS:
            proof = certified(self.problem, self.network, NotLocalCurve(rows=rows, until=until))
            if proof is not None:
                return proof
        return None


def _preactivation_gradient(
    network: Network, state: UnitStates, slopes: Sequence[Sequence[Fraction]], layer: int, unit: int
) -> list[Fraction]:
    """The gradient of a preactivation at these slopes, by all parameters."""
    layers, matrices = network.architecture.layers, matrices_of(network)
    back = [Fraction(j == unit) for j in range(layers[layer].outputs)]
    found: list[list[Fraction]] = []
    for l in range(layer, -1, -1):
        found.append(gathered(layers[l], back, state.inputs[l]))
        if l:
            columns = zip(*matrices[l], strict=True)
            back = [g * dot(column, back) for g, column in zip(slopes[l - 1], columns, strict=True)]
    rest = [Fraction(0)] * sum(one.parameter_count for one in layers[layer + 1 :])
    return [*chain(*found[::-1]), *rest]


def _first_order(piece: _Piece, _: DeepStationary | None) -> NotLocalCurve | None:
    """A direction along which the norm falls and every active constraint and side is kept, with room to round."""
    size = len(piece.theta)
    rows = [[-z for z in piece.theta], *piece.gradients, *piece.sides()]
    matrix = to_matrix(rows)
    sizes = np.linalg.norm(matrix, axis=1)
    matrix = matrix[sizes > 0] / sizes[sizes > 0, None]
    system = np.column_stack([-matrix, np.ones(len(matrix))])
    box = np.vstack([np.tile([-1.0, 1.0], (size, 1)), [[0.0, 1.0]]])
    cost = np.zeros(size + 1)
    cost[-1] = -1.0
    solution = solve_lp(cost, system, np.zeros(len(matrix)), bounds=box)
    if solution.status is not Status.OPTIMAL or solution.primal[-1] < 1e-6:
        return None
    return piece.along([dyadic(float(z), 20) for z in solution.primal[:size]])


def _second_order(piece: _Piece, proof: DeepStationary | None) -> NotLocalCurve | None:
    """A direction of negative curvature of the Lagrangian, and what keeps the constraints at second order."""
    if proof is None or len(piece.theta) > LARGEST:
        return None
    layers, rows = layers_of(piece.network.architecture), float_rows(piece.problem)
    theta = parameters_of(piece.network)
    factors = rules(piece.problem.goal).factors(piece.problem.targets)
    hessians = [_hessian(piece, layers, theta, rows, i, to_float(factors[i])) for i in piece.active]
    multipliers = dict.fromkeys(piece.active, 0.0)
    for part in proof.parts:
        multipliers[part.point] = multipliers.get(part.point, 0.0) + to_float(part.multiplier)
    total = np.eye(len(theta)) - sum(multipliers[i] * one for i, one in zip(piece.active, hessians, strict=True))
    basis = _kernel(to_matrix(piece.gradients))
    if not basis.shape[1]:
        return None
    values, vectors = np.linalg.eigh(basis.T @ total @ basis)
    for value, vector in zip(values.tolist(), vectors.T, strict=True):
        if value > -1e-9:
            return None
        for sign in (1.0, -1.0):
            found = _curve(piece, sign * basis @ vector, sum(multipliers.values()), value)
            if found is not None:
                return found
    return None


def _hessian(piece: _Piece, layers: Layers, theta: Floats, rows: Floats, i: int, factor: float) -> Floats:
    """The second derivative of q_i at the slopes of the piece, (N, N)."""
    pattern = [to_matrix([row]) for row in piece.slopes(i)]
    return layers.hessian(theta, rows[i : i + 1], pattern, np.array([factor]))


def _kernel(matrix: Floats) -> Floats:
    """An orthonormal basis of what the rows are orthogonal to, as columns."""
    _, sizes, right = np.linalg.svd(matrix)
    rank = int((sizes > 1e-10 * sizes.max(initial=0.0)).sum())
    return right[rank:].T


def _curve(piece: _Piece, direction: Floats, multipliers: float, curvature: float) -> NotLocalCurve | None:
    """The curve of a direction, made exact."""
    d = [dyadic(float(z), 16) if abs(z) > 1e-9 else Fraction(0) for z in direction]
    d = _projected(piece.gradients, d)
    if d is None:
        return None
    eta = dyadic(-curvature * to_float(squared_norm(d)) / (4 * max(multipliers, 1e-300)), 10)
    wanted = [eta - _second(piece, i, d) for i in piece.active]
    gram = [[dot(one, other) for other in piece.gradients] for one in piece.gradients]
    weights = solve_by_few(gram, wanted)
    if weights is None:
        return None
    e = [sum((c * row[k] for c, row in zip(weights, piece.gradients, strict=True)), Fraction(0)) for k in range(len(d))]
    return piece.along(d, e)


def _projected(rows: list[list[Fraction]], vector: list[Fraction]) -> list[Fraction] | None:
    """The vector without its part in the span of the rows, exactly."""
    gram = [[dot(one, other) for other in rows] for one in rows]
    weights = solve_by_few(gram, [dot(row, vector) for row in rows])
    if weights is None:
        return None
    pairs = list(zip(weights, rows, strict=True))
    return [z - sum((c * row[k] for c, row in pairs), Fraction(0)) for k, z in enumerate(vector)]


def _second(piece: _Piece, i: int, d: list[Fraction]) -> Fraction:
    """The coefficient of t^2 in q_i(theta + t d) at the slopes of the piece."""
    factor = rules(piece.problem.goal).factors(piece.problem.targets)[i]
    matrices = matrices_of(piece.network)
    changes = matrices_of(Network(piece.network.architecture, shaped(piece.network.architecture, d)))
    values: list[list[Fraction]] = [[x, Fraction(0), Fraction(0)] for x in piece.problem.rows[i]]
    slopes = piece.slopes(i)
    for l, (matrix, change) in enumerate(zip(matrices, changes, strict=True)):
        sums: list[list[Fraction]] = []
        for row, moved in zip(matrix, change, strict=True):
            terms = list(zip(row, moved, values, strict=True))
            own = [sum((w * value[k] for w, _, value in terms), Fraction(0)) for k in range(3)]
            shifted = [Fraction(0), *(sum((z * value[k] for _, z, value in terms), Fraction(0)) for k in range(2))]
            sums.append([a + b for a, b in zip(own, shifted, strict=True)])
        if l < len(slopes):
            sums = [[g * z for z in value] for g, value in zip(slopes[l], sums, strict=True)]
        values = sums
    return factor * values[0][2]
