"""How far a network is from the nearest best one of its width, where the output weights are given.

Each leaf of a lower bound says more than a number: in its state every network that fits lies in a half-space, and those
that are as good as some network known lie in a ball around its nearest point. The best networks are among them.

Source: `docs/mathematics.md`, 12.7 "How far the best networks are".
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import factorial, floor, prod
from operator import mul
from typing import NamedTuple

from verify.checker.dual_trees import Bound, Case, Together, leaves
from verify.checker.exact import common_integers, dot, is_rational, sqrt_lower, sqrt_upper
from verify.checker.goals import constraints, trains_outputs
from verify.checker.multipliers import coefficients, combine, dual_value
from verify.checker.statement import Network, Problem
from verify.checker.states import HiddenDual, Known, cases_in, states
from verify.checker.width import LowerBoundWidth

MOST_CHOICES = 64
"""Choices of a leaf for each neuron that are looked at in a state."""

MOST_ORDERS = 720
"""Ways to exchange neurons that are tried."""

BITS = 60
"""Of the ends, which are rounded outward."""


class _Vector(NamedTuple):
    """integers / denominator."""

    integers: Sequence[int]
    denominator: int

    def times(self, other: "_Vector") -> Fraction:
        return Fraction(sum(map(mul, self.integers, other.integers)), self.denominator * other.denominator)


class _Half(NamedTuple):
    """On one leaf of a tree s h(u) <= p.u + offset ||u||, with ||p||^2 = square.

    other: where points are taken together and u is off at some, p_S with ||p_S||^2 <= other stands for p; or None.
    """

    p: _Vector
    square: Fraction
    offset: Fraction
    other: Fraction | None

    def size(self, square: Fraction) -> Fraction:
        """At least (sqrt(square) + offset)^2."""
        return (sqrt_upper(square) + self.offset) ** 2 if self.offset else square


class _Ball(NamedTuple):
    """Where best networks may be: within `radius` of `scale` |v_j| p_j, j the neuron."""

    centres: Mapping[int, tuple[Fraction, _Half]]
    radius: Fraction


class _Owner(NamedTuple):
    """Of a neuron: |v_j|, the square b of its case, and what the leaves of its tree say."""

    size: Fraction
    limit: Fraction
    halves: Sequence[_Half]


def distance_to_best(
    problem: Problem, network: Network, proof: LowerBoundWidth, upper: Fraction
) -> tuple[Fraction, Fraction] | None:
    """Two ends of the distance of the hidden weights from those of the nearest network of least objective.

    proof: an accepted lower bound.   upper: the objective of a network of the width that fits.
    For min-norm and without a free bias, where a network of least objective exists; None where the leaves do not say,
    where there are too many ways to exchange neurons, or numbers that are not rational.

    Of neurons that are alike (of one mask and output weight) any order counts, as it changes no best network.
    """
    if not _is_told(problem, network, proof, upper):
        return None
    balls: list[_Ball] = []
    for leaf, known, _ in states(proof.nodes, problem):
        if not isinstance(leaf, HiddenDual):
            continue
        found = _balls(
            dual_value(problem, coefficients(problem, leaf.multipliers)), _owners(problem, leaf, known), upper
        )
        if found is None:
            return None
        balls += found
    rows = [_vector(row) for row in network.hidden_weights]
    squares = [_squared_distance(problem, rows, ball) for ball in balls]
    if not squares:
        return None
    low = min(max(sqrt_lower(d, BITS) - ball.radius, Fraction(0)) for d, ball in zip(squares, balls, strict=True))
    high = max(sqrt_upper(d, BITS) + ball.radius for d, ball in zip(squares, balls, strict=True))
    return _rounded(low, 0), _rounded(high, 1)


def _is_told(problem: Problem, network: Network, proof: LowerBoundWidth, upper: Fraction) -> bool:
    """Whether this is a problem of which distances are told, with rational numbers and few orders of the neurons."""
    is_asked = not constraints(problem.goal).HAS_MARGIN and not trains_outputs(problem.trained)
    if not is_asked or len(problem.norm_columns) < problem.architecture.layers[0].columns:
        return False
    kinds = [neuron for neuron in problem.neurons if neuron[1]]
    mine = list(zip(network.architecture.masks, network.output_weights, strict=True))
    numbers: list[Iterable[object]] = [*problem.rows, problem.targets, *network.hidden_weights, network.output_weights]
    numbers += [[value for _, value in leaf.multipliers] for leaf in proof.nodes if isinstance(leaf, HiddenDual)]
    is_exact = is_rational(upper) and all(is_rational(number) for row in numbers for number in row)
    is_same = mine == list(problem.neurons)
    return is_exact and is_same and prod(factorial(kinds.count(kind)) for kind in {*kinds}) <= MOST_ORDERS


def _owners(problem: Problem, leaf: HiddenDual, known: Known) -> dict[int, _Owner]:
    """What the leaf says of each neuron that adds to f, by its case in the state."""
    found: dict[Case, tuple[Fraction, list[_Half]]] = {}
    for case, nodes, square in zip(cases_in(problem, known), leaf.trees, leaf.squares, strict=True):
        known_here = {i: side for i, side in enumerate(case[1]) if side}
        halves = [
            _half(problem, leaf, node, case, path, square)
            for node, path, _ in leaves(nodes, "", known_here, range(len(problem.targets)))
            if isinstance(node, Bound)
        ]
        found[case] = square, halves
    owners: dict[int, _Owner] = {}
    for j, mask, v in ((j, mask, v) for j, (mask, v) in enumerate(problem.neurons) if v):
        cone = tuple(known.get((j, i), 0) for i in range(len(problem.targets)))
        owners[j] = _Owner(abs(v), *found[mask, cone, 1 if v > 0 else -1])
    return owners


def _half(
    problem: Problem, leaf: HiddenDual, bound: Bound, case: Case, path: Mapping[int, int], limit: Fraction
) -> _Half:
    """What one leaf of a case says; `limit` is the square that the checker found to be at least (||p|| + R)^2.

    R is the sum of max(t_i l_i, (e_i - t_i) r_i) over the undecided points with e_i > 0, but those taken together: l_i
    and r_i are the ranges that the leaf lists and the checker found to be true, or ||x_i||.
    """
    mask, _, sign = case
    slope, c = problem.architecture.slope, coefficients(problem, leaf.multipliers)
    excess = {i: (1 - slope) * sign * value for i, value in c.items()}
    taken = {i: excess[i] if t == "e" else Fraction(t, leaf.denominator) for i, t in zip(c, bound.slopes, strict=True)}
    (factors,), unit = common_integers([[slope * sign * value + taken[i] for i, value in c.items()]])
    seen = {*mask}
    rows = [[x if column in seen else Fraction(0) for column, x in enumerate(problem.rows[i])] for i in c]
    integers, denominator = common_integers(rows)
    p = _Vector(combine(factors, integers) or [0] * len(problem.rows[0]), unit * denominator)
    square = p.times(p)
    together = bound.together if isinstance(bound, Together) else ()
    vectors = {i: _Vector(row, denominator) for i, row in zip(c, integers, strict=True)}
    ends = {(i, end): Fraction(number, leaf.denominator) for i, end, number, _ in bound.ranges}
    offset = Fraction(0)
    for i, e in excess.items():
        if path.get(i, 0) == 0 and e > 0 and i not in together:
            size = sqrt_upper(vectors[i].times(vectors[i]))
            left, right = (ends.get((i, end), size) for end in ("-", "+"))
            offset += max(taken[i] * left, (e - taken[i]) * right)
    offset = min(offset, max(sqrt_upper(limit) - sqrt_lower(square), Fraction(0)))
    slacks = [
        excess[i]
        * (2 * vectors[i].times(p) - excess[i] * vectors[i].times(vectors[i]) - 2 * _rest(i, together, excess, vectors))
        for i in together
    ]
    return _Half(p, square, offset, square - min(slacks) if slacks else None)


def _rest(i: int, together: Sequence[int], excess: Mapping[int, Fraction], vectors: Mapping[int, _Vector]) -> Fraction:
    """The sum of e_j max(0, x_i.x_j) over the other points that are taken together with i."""
    others = [j for j in together if j != i]
    return dot([excess[j] for j in others], [max(vectors[i].times(vectors[j]), Fraction(0)) for j in others])


def _balls(dual: Fraction, owners: Mapping[int, _Owner], upper: Fraction) -> list[_Ball] | None:
    """Where networks of the state that fit have an objective of at most `upper`: in these balls; None: not known.

    Each neuron is in the cell of some leaf of its tree. Those leaves do not count at which D^2 / (2 sum v_j^2 b_j),
    with their own (||p|| + R)^2 for b_j, exceeds `upper` (Lemma 12.1).
    """
    whole = sum((owner.size**2 * owner.limit for owner in owners.values()), Fraction(0))
    choices: list[list[_Half]] = []
    for owner in owners.values():
        room = [whole - owner.size**2 * (owner.limit - half.size(half.square)) for half in owner.halves]
        others = [
            whole - owner.size**2 * (owner.limit - half.size(half.other))
            for half in owner.halves
            if half.other is not None
        ]
        if dual <= 0 or any(dual**2 <= 2 * upper * rest for rest in others):
            return None
        choices.append([h for h, rest in zip(owner.halves, room, strict=True) if dual**2 <= 2 * upper * rest])
    if dual <= 0 or prod(map(len, choices)) > MOST_CHOICES:
        return None
    balls = [_ball(dual, owners, dict(zip(owners, chosen, strict=True)), upper) for chosen in product(*choices)]
    found = [ball for ball in balls if ball is not None]
    return None if len(found) < len(balls) else [ball for ball in found if ball.radius >= 0]


def _ball(dual: Fraction, owners: Mapping[int, _Owner], chosen: Mapping[int, _Half], upper: Fraction) -> _Ball | None:
    """The ball of one choice of leaves; of radius -1 where there is no such network, None where it is not known.

    D <= sum |v_j| (p_j.w_j + R_j ||w_j||) <= <P, W> + R N with P_j = |v_j| p_j, R^2 = sum (v_j R_j)^2 and
    N^2 = 2 `upper` >= ||W||^2. With D' = D - R N > 0 and k = D' / ||P||^2,
    ||W - k P||^2 <= N^2 - 2 k D' + k^2 ||P||^2 = N^2 - D'^2 / ||P||^2.
    """
    whole = sum((owners[j].size ** 2 * half.square for j, half in chosen.items()), Fraction(0))
    offsets = sum((owners[j].size ** 2 * half.offset**2 for j, half in chosen.items()), Fraction(0))
    reach = dual - (sqrt_upper(offsets) * sqrt_upper(2 * upper) if offsets else 0)
    if reach <= 0 or not whole:
        return None
    rest = 2 * upper - reach**2 / whole
    centres = {j: (reach / whole * owners[j].size, half) for j, half in chosen.items()}
    return _Ball(centres, Fraction(-1) if rest < 0 else sqrt_upper(rest, BITS) if rest else rest)


def _squared_distance(problem: Problem, rows: Sequence[_Vector], ball: _Ball) -> Fraction:
    """The least squared distance of the rows from the centres, where neurons that are alike may change places."""
    total = sum((rows[j].times(rows[j]) for j in range(len(rows)) if j not in ball.centres), Fraction(0))
    for kind in {problem.neurons[j] for j in ball.centres}:
        alike = [j for j in ball.centres if problem.neurons[j] == kind]
        costs = {(i, j): _gap(rows[i], *ball.centres[j]) for i in alike for j in alike}
        total += min(
            sum((costs[pair] for pair in zip(alike, order, strict=True)), Fraction(0)) for order in permutations(alike)
        )
    return total


def _gap(row: _Vector, scale: Fraction, half: _Half) -> Fraction:
    """||row - scale p||^2."""
    return row.times(row) - 2 * scale * row.times(half.p) + scale**2 * half.square


def _vector(row: Sequence[Fraction]) -> _Vector:
    (integers,), denominator = common_integers([row])
    return _Vector(integers, denominator)


def _rounded(number: Fraction, up: int) -> Fraction:
    """The number, or one of few digits below it (above it, if up)."""
    if max(number.numerator.bit_length(), number.denominator.bit_length()) <= BITS:
        return number
    unit = Fraction(2) ** (number.numerator.bit_length() - number.denominator.bit_length() - BITS)
    return (floor(number / unit) + up) * unit
