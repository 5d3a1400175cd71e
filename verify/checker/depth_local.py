"""Is a network of any depth a local optimum: a positive definite matrix proves it, with kinks and rotations counted.

Source: `docs/mathematics.md`, 13.8 "Local optima at any depth".
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, product
from operator import mul, sub
from typing import Annotated, ClassVar, TypeAlias

from verify.checker.certificate import HOMOGENEOUS, NotNegative, WithSubject
from verify.checker.codec import ascending, at
from verify.checker.depth_states import Tie, UnitStates, gathered, gradient, matrices_of, states
from verify.checker.depth_stationary import Part, listed_slopes, pulled
from verify.checker.errors import require
from verify.checker.exact import Algebraic, Number, dot, squared_norm
from verify.checker.exchangeable import Rotation, exchange_of
from verify.checker.goals import constraints
from verify.checker.questions import PROVED, answered
from verify.checker.statement import Index, Network, Problem

MAX_PARAMETERS = 256
"""Of networks whose second derivatives are looked at; the time grows with the third power."""

MAX_CHOICES = 64
"""Of slopes of units without effect."""

Factor: TypeAlias = tuple[tuple[int, ...], ...]
Slopes: TypeAlias = Sequence[Sequence[Fraction]]
Matrix: TypeAlias = list[list[Fraction]]

ZERO = Fraction(0)


class DeepLocal(WithSubject):
    """The network is a local optimum.

    parts: as in `DeepStationary`, one for each point with a multiplier, with slopes.   rotations: (layer, unit, unit)
    of units whose channels can be turned into each other.   factors: for each choice of the slopes of the units without
    effect the rows of a lower triangular matrix of integers, to be divided by 2^bits.
    """

    DECIDES = HOMOGENEOUS
    ANSWERS: ClassVar = {"": answered(PROVED, None, PROVED)}
    CLAIM = "{who}, {layers}, fits and is a local optimum"
    parts: tuple[Part, ...]
    rho: NotNegative
    rotations: Annotated[tuple[Rotation, ...], ascending]
    factors: tuple[Factor, ...]
    bits: Index

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether no network near the subject fits, with at least its margin, and has a smaller norm.

        q_i^g, with fixed slopes g at the ties of x_i and the known ones elsewhere, is a polynomial. The parts show
        theta = sum lambda_i grad q_i^g(theta), with the signs and the complementarity of multipliers. A tie's *gain* is
        the derivative of lambda_i q_i^g by what its unit gives, at these slopes above it.

        - Where every gain is < 0, replacing s(z) by g z from the last layer down shows near the subject lambda_i q_i <=
          lambda_i q_i^g - sum |gain| (s(z) - g z), and s(z) - g z >= min(1 - g, g - a) |z|. So at networks that fit
          r_i = lambda_i (q_i^g - q_i(theta)) >= sum |gain| (s(z) - g z) >= 0.
        - Where a gain is 0 the unit's slope is 1 or a, as the sign of z is at the network looked at: all choices are
          tried. The gains of the others, the rotations and the matrix are those of the choice.
        - With L = 1/2 ||.||^2 - sum lambda_i q_i^g, grad L(theta) = 0, 1/2 ||theta'||^2 - 1/2 ||theta||^2 is at least
          1/2 d'(grad^2 L) d + sum r_i - O(|d|^3), and the squares of grad q_i.d = O(r_i) + O(|d|^2), and of grad z.d =
          O(|z|) + O(sum of s(z) - g z below) + O(|d|^2), of ties with a < g < 1, are paid by sum r_i, of first order.
        - Turning (incoming, outgoing) parameters of two units of a layer, or channels of units that share parameters,
          leaves norm and q_i^g as they are, where these stand nowhere else, the units see the same inputs and are seen
          by the same units (`exchange_of`), and have the same slope at every point with a multiplier; the sum of their
          z^2 too. The turns generate a group with a compact closure. Of all networks turned so the one nearest to theta
          has d orthogonal to the tangents t of the turns at theta.

        So theta is a local optimum where M = grad^2 L + rho (sum grad q_i grad q_i' + sum grad z grad z' + sum t t'),
        each of these over the least power of 4 that is at least its squared norm, is positive definite. With M = R R' +
        E, R the factor, it is so where E is: its diagonal exceeds the sums of the absolute values beside it.

        Sound. Complete where gains and multipliers are strict, the slopes lie strictly between a and 1, the gradients
        are independent and nothing but the rotations leaves the objective as it is.

        Source: `docs/mathematics.md`, 13.8 "Local optima at any depth".
        """
        size = sum(map(len, subject.parameters))
        require(size <= MAX_PARAMETERS, "problem", f"has more than {MAX_PARAMETERS} parameters")
        points = [part.point for part in self.parts]
        require(points == sorted({*points}), "parts", "must be of different points, in order")
        rest, slackness = pulled(problem, subject, self.parts, slopes_listed)
        require(slackness == 0, "parts", "have a multiplier of a constraint that is not active")
        require(not any(rest), "parts", "do not add up to the parameters")
        choices = choices_of(problem, subject, self.parts)
        require(len(self.factors) == len(choices), "factors", f"must be {len(choices)}, one for each choice")
        for place, (pieces, factor) in enumerate(zip(choices, self.factors, strict=True)):
            matrix = at(f"choices[{place}]", second_order, subject, pieces, self.rotations, self.rho)
            at(f"factors[{place}]", require_definite, matrix, factor, self.bits)


def slopes_listed(state: UnitStates, part: Part) -> Slopes:
    """The slopes of a part, one for each tie of its point."""
    require(part.direction is None, "direction", "must be left out: slopes are to be listed")
    return state.at(listed_slopes(state, part))


class PolynomialPiece:
    """A point with a multiplier, and slopes of its units.

    c: the multiplier, times the factor of the constraint.   settled: ties whose slope is that of one side.
    """

    def __init__(
        self,
        subject: Network,
        state: UnitStates,
        part: Part,
        c: Fraction,
        settled: Mapping[Tie, Fraction] | None = None,
    ) -> None:
        self.subject, self.state, self.part, self.c, self.settled = subject, state, part, c, settled or {}
        listed = {(layer, unit): slope for layer, unit, slope in part.slopes}
        self.slopes = state.at({**listed, **self.settled})
        self.back = _backward(subject, self.slopes)

    def with_slopes(self, settled: Mapping[Tie, Fraction]) -> "PolynomialPiece":
        """The same with slopes of one side at some ties."""
        return PolynomialPiece(self.subject, self.state, self.part, self.c, settled)

    def gains(self) -> Iterator[tuple[Tie, Fraction]]:
        """Of each tie whose slope is not that of one side."""
        for l, j in self.state.ties:
            if (l, j) not in self.settled:
                yield (l, j), self.c * self.back[l][j]


def choices_of(problem: Problem, subject: Network, parts: Sequence[Part]) -> list[list[PolynomialPiece]]:
    """The pieces of the parts, for each choice of sides of the ties whose units have no effect."""
    found, factors = states(problem, subject), constraints(problem.goal).factors(problem.targets)
    given = [PolynomialPiece(subject, found[one.point], one, factors[one.point] * one.multiplier) for one in parts]
    idle = [(k, tie) for k, piece in enumerate(given) for tie, gain in piece.gains() if gain == 0]
    require(2 ** len(idle) <= MAX_CHOICES, "parts", f"have more than {MAX_CHOICES} choices of units without effect")
    every: list[list[PolynomialPiece]] = []
    for choice in product(*(given[k].state.slopes[l][j] for k, (l, j) in idle)):
        fixed = dict(zip(idle, choice, strict=True))
        every.append([
            piece.with_slopes({tie: slope for (q, tie), slope in fixed.items() if q == k})
            for k, piece in enumerate(given)
        ])  # fmt: skip
    return every


def _backward(network: Network, slopes: Slopes) -> Matrix:
    """For each hidden layer the derivative of f(x) by what its units give."""
    back, found = [Fraction(1)], Matrix()
    for l in reversed(range(len(slopes))):
        found.append([dot(column, back) for column in zip(*matrices_of(network)[l + 1], strict=True)])
        back = [g * b for g, b in zip(slopes[l], found[-1], strict=True)]
    return found[::-1]


def second_order(
    subject: Network, pieces: Sequence[PolynomialPiece], rotations: Sequence[Rotation], rho: Fraction
) -> Matrix:
    """M, of a choice."""
    size = sum(map(len, subject.parameters))
    total = [[Fraction(r == c) for c in range(size)] for r in range(size)]
    for piece in pieces:
        for tie, gain in piece.gains():
            require(gain < 0, f"points[{piece.part.point}]", f"has a tie {tie} whose gain is not below 0")
        _subtract_second_derivatives(total, subject, piece)
        squares = (row for _, row in tie_gradients(subject, piece))
        for row in (list(chain(*gradient(subject, piece.state, piece.slopes))), *squares):
            _add_square(total, row, rho)
    for place, rotation in enumerate(rotations):
        tangent = at(f"rotations[{place}]", tangent_of, subject, pieces, rotation)
        if tangent is not None:
            _add_square(total, tangent, rho)
    return total


def _add_square(total: Matrix, row: Sequence[Fraction], rho: Fraction) -> None:
    """Add rho times the row's product with itself, over the least power of 4 that its squared norm does not exceed."""
    entries = [(k, z) for k, z in enumerate(row) if z]
    weight = square_weight(row, rho)
    for r, one in entries:
        scaled = weight * one
        for c, other in entries:
            total[r][c] += scaled * other


def square_weight(row: Sequence[Fraction], rho: Fraction) -> Fraction:
    """What the square of a row counts in M; 0 for a row of zeros."""
    return rho / _power_of_four(squared_norm(row)) if any(row) else ZERO


def _power_of_four(number: Number) -> Fraction:
    """The least power of 4 that the number, above 0, does not exceed."""
    near = number.upper() if isinstance(number, Algebraic) else number
    found = Fraction(4) ** ((near.numerator.bit_length() - near.denominator.bit_length()) // 2 - 1)
    while found < number:
        found *= 4
    return found


def tie_gradients(subject: Network, piece: PolynomialPiece) -> Iterator[tuple[Tie, list[Fraction]]]:
    """Each tie whose slope lies between a and 1, and grad z of it by all parameters, with the slopes below it."""
    layers = subject.architecture.layers
    for (l, j), _ in piece.gains():
        low, high = piece.state.slopes[l][j]
        if not low < piece.slopes[l][j] < high:
            continue
        back, found = [Fraction(q == j) for q in range(layers[l].outputs)], list[list[Fraction]]()
        for k in reversed(range(l + 1)):
            found.append(gathered(layers[k], back, piece.state.inputs[k]))
            if k:
                columns = zip(*matrices_of(subject)[k], strict=True)
                back = [g * dot(column, back) for g, column in zip(piece.slopes[k - 1], columns, strict=True)]
        rest = sum(layer.parameter_count for layer in layers[l + 1 :])
        yield (l, j), [*chain(*found[::-1]), *[ZERO] * rest]


def _subtract_second_derivatives(total: Matrix, subject: Network, piece: PolynomialPiece) -> None:
    """Subtract c times the second derivatives of f(x): those by a place of layer l and one of a layer k above it are

    df/dz_k[r] * dh_k[s]/dz_l[p] * h_l[q], for the places (r, s) of layer k and (p, q) of layer l, h the inputs of a
    layer; `moved[p][s]` is the second factor.
    """
    layers, matrices, inputs = subject.architecture.layers, matrices_of(subject), piece.state.inputs
    starts = [0]
    for layer in layers:
        starts.append(starts[-1] + layer.parameter_count)
    above = [[g * b for g, b in zip(piece.slopes[l], piece.back[l], strict=True)] for l in range(len(layers) - 1)]
    above.append([Fraction(1)])
    for l in range(len(layers) - 1):
        moved = [[g * (p == q) for q in range(len(piece.slopes[l]))] for p, g in enumerate(piece.slopes[l])]
        for k in range(l + 1, len(layers)):
            for r, s, upper in _places(layers[k].places):
                if not above[k][r]:
                    continue
                for p, q, lower in _places(layers[l].places):
                    if moved[p][s] and inputs[l][q]:
                        value = piece.c * above[k][r] * moved[p][s] * inputs[l][q]
                        total[starts[k] + upper][starts[l] + lower] -= value
                        total[starts[l] + lower][starts[k] + upper] -= value
            if k < len(layers) - 1:
                moved = [
                    [g * dot(weights, row) for g, weights in zip(piece.slopes[k], matrices[k], strict=True)]
                    for row in moved
                ]


def _places(rows: Sequence[Sequence[int | None]]) -> Iterator[tuple[int, int, int]]:
    """(row, column, parameter) of each place that has one."""
    for r, row in enumerate(rows):
        for c, index in enumerate(row):
            if index is not None:
                yield r, c, index


def tangent_of(subject: Network, pieces: Sequence[PolynomialPiece], rotation: Rotation) -> list[Fraction] | None:
    """The tangent at theta of turning two channels into each other; None where their slopes differ at some point.

    Refuses units that cannot be turned (`exchange_of`).
    """
    layers = subject.architecture.layers
    exchange = exchange_of(layers, rotation)
    at_points = [piece.slopes[exchange.layer] for piece in pieces]
    if any(slopes[one] != slopes[other] for slopes in at_points for one, other in exchange.units):
        return None
    tangent = [[ZERO] * layer.parameter_count for layer in layers]
    for k, p, q in exchange.parameters:
        tangent[k][p], tangent[k][q] = -subject.parameters[k][q], subject.parameters[k][p]
    return list(chain(*tangent))


def require_definite(matrix: Matrix, factor: Factor, bits: int) -> None:
    """Whether the matrix is the square of the factor and a matrix that its diagonal dominates."""
    size = len(matrix)
    is_triangular = len(factor) == size and all(len(row) == r + 1 for r, row in enumerate(factor))
    require(is_triangular, "", f"must have {size} rows, of 1, 2, ... integers")
    unit = Fraction(1, 4**bits)
    for r, (row, own) in enumerate(zip(matrix, factor, strict=True)):
        squares = [sum(map(mul, own, other)) * unit for other in factor]  # shorter rows end in zeros
        rest = list(map(sub, row, squares))
        beside = sum((abs(z) for c, z in enumerate(rest) if c != r), ZERO)
        require(rest[r] > beside, f"[{r}]", "leaves a rest that its diagonal does not dominate")
