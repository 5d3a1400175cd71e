"""Does an exact local optimum of any depth lie near a network: a ball on whose edge all that fits is larger.

Source: `docs/mathematics.md`, 13.10 "Local optima near a network of any depth".
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from math import prod
from operator import sub
from typing import Annotated, ClassVar, Literal

from verify.checker.certificate import HOMOGENEOUS, AboutNetwork, NotNegative
from verify.checker.codec import ascending, at, increasing
from verify.checker.copies import Share, with_copies
from verify.checker.depth_ball import Ball, Unit, largest
from verify.checker.depth_local import (
    MAX_PARAMETERS,
    Factor,
    PolynomialPiece,
    require_definite,
    second_order,
    square_weight,
    tangent_of,
    tie_gradients,
)
from verify.checker.depth_states import UnitStates, gradient
from verify.checker.depth_stationary import Part
from verify.checker.errors import require
from verify.checker.exact import dot, sqrt_lower, sqrt_upper, squared_norm
from verify.checker.exchangeable import Rotation, exchange_of
from verify.checker.goals import constraints
from verify.checker.questions import PROVED, answered
from verify.checker.statement import Index, Network, Problem, Rows

ZERO, ONE = Fraction(0), Fraction(1)


class DeepStationaryNear(AboutNetwork):
    """An exact local optimum within `moved` ||theta|| of theta, the network times `factor`, of these or fewer units.

    centre: parameters; the optimum lies within `radius` of them.   empty: units whose parameters are 0 there, and are
    held at 0.   shares: by which copies of channels are made of empty ones after that (`with_copies`).   parts: for
    each point that has a multiplier > 0 the slopes of units that are near their kinks there.   rotations, rho, factors,
    bits: as in `DeepLocal`; a number above 0, mu, is taken from the diagonal of the matrix.
    """

    DECIDES = HOMOGENEOUS
    OMITTED = ("shares",)
    ANSWERS: ClassVar = {
        "stationary point": answered(PROVED, PROVED),
        "local optimum": answered(PROVED, PROVED, PROVED),
    }
    CLAIM = (
        "within {moved} of the network times {factor}, relative to its norm, there is an exact {proof.optimality} of "
        "its shape, where the Clarke KKT conditions hold"
    )
    moved: NotNegative
    factor: Fraction
    optimality: Literal["stationary point", "local optimum"]
    centre: Rows
    radius: Fraction
    empty: Annotated[tuple[tuple[Index, Index], ...], ascending]
    parts: tuple[Part, ...]
    rotations: Annotated[tuple[Rotation, ...], ascending]
    rho: NotNegative
    mu: NotNegative
    root: Factor
    bits: Index
    shares: Annotated[tuple[Share, ...], increasing] = ()

    def variant(self, problem: Problem, network: Network) -> str:  # noqa: ARG002
        """`optimality`."""
        return self.optimality

    @property
    def distance(self) -> Fraction:
        """`moved`."""
        return self.moved

    @property
    def level(self) -> str:
        """About a point near the network, however near."""
        return "near"

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the ball around the centre holds a local optimum of the max-margin problem.

        Let m_0 > 0 be the least margin of the centre, and B the networks within the radius of it whose empty units are
        0. The network of B of least norm that has at least the margin m_0 is a local optimum of those without the
        empty units, unless it lies on the edge of B. There all that has the margin has a larger norm than the centre,
        as at all ||d|| from t on, (mu - K r / 3) t^2 / 2 = eps t + x + what is not paid for: it is within t of that.

        - Replacing s(z) by g z at the ties from the last layer down, lambda_i q_i <= lambda_i q_i^g - sum |gain| delta,
          delta = s(z) - g z >= c |z|, c = min(1 - g, g - a), where on all of B the gains are < 0 and the signs of the
          other preactivations do not change. r_i = q_i^g - m_0 >= sum beta delta >= 0, beta the least |gain| / lambda.
        - With L = 1/2 ||.||^2 - sum lambda_i q_i^g and d from the centre 1/2 ||theta'||^2 less that of the centre is at
          least -eps ||d|| + 1/2 d'(grad^2 L) d - K ||d||^3 / 6 + sum lambda_i r_i - x, eps = ||grad L||, K a bound of
          the third derivatives, x = sum lambda_i (q_i^g - m_0) at the centre.
        - d'(grad^2 L) d >= mu ||d||^2 - sum of weights times (grad q_i.d)^2 and (grad z.d)^2; |grad q_i.d| <= r_i + e_i
          and |grad z.d| <= sum C delta + e, e the errors of linearisation and what they are off at the centre. As
          (r + e)^2 <= r (R + 2 e) + e^2 for r <= R, half of lambda_i r_i pays for the first, half for the second.
        - Of all networks turned by the rotations the one nearest to the centre is looked at: d is orthogonal to the
          tangents. It has the same norm and fits too, as points without a multiplier keep the margin on all B.

        A local optimum satisfies the KKT conditions, as theta.h = m q_i for all subgradients h, with empty units too,
        whose parameters have the gradient 0. Without any it is one of the network's shape. Giving a channel out
        to copies, c_k times its parameters with sum c_k^2 = 1, leaves outputs and norm as they are, and makes of each
        gradient the one there: a KKT point is one again, as far from the centre with copies as before without.

        Sound. Incomplete: gains, slopes and multipliers are strict, and nothing but rotations leaves the objective as
        it is. For max-margin only: no network near a trained one meets targets exactly.

        Source: `docs/mathematics.md`, 13.10 "Local optima near a network of any depth".
        """
        has_margin = constraints(problem.goal).HAS_MARGIN
        require(has_margin, "problem", "is not about margins, as this kind asks")
        centre = at("centre", Network, subject.architecture, self.centre)
        same = [len(row) for row in centre.parameters] == [len(row) for row in subject.parameters]
        require(same, "centre", "must have the parameters of the network")
        require(sum(map(len, self.centre)) <= MAX_PARAMETERS, "centre", f"has more than {MAX_PARAMETERS} parameters")
        require(self.radius > 0 and self.mu > 0, "radius", "must be above 0, as mu")
        require(not (self.empty and self.optimality == "local optimum"), "empty", "must be none at a local optimum")
        points = [part.point for part in self.parts]
        is_ordered = points == sorted({*points} & {*range(len(problem.rows))})
        require(is_ordered, "parts", "must be of different points, in order")
        held = at("empty", numbers_of, centre, self.empty)
        ball = Ball(centre, self.radius, frozenset(self.empty))
        margins = [y * ball.output(row) for row, y in zip(problem.rows, problem.targets, strict=True)]
        require((least := min(margins)) > 0, "centre", "does not classify every point")
        near = [at(f"parts[{k}]", NearPiece, problem, ball, part, least) for k, part in enumerate(self.parts)]
        if self.rotations:
            self._check_rotations(problem, ball, near, margins)
        above = sum((piece.part.multiplier * (piece.value - least) for piece in near), ZERO)
        cost = sum((at(f"parts[{k}]", piece.paid, self.rho) for k, piece in enumerate(near)), above)
        pieces = [piece.piece for piece in near]
        matrix = second_order(centre, pieces, self.rotations, self.rho)
        free = [k for k in range(len(matrix)) if k not in held]
        matrix = [[matrix[r][c] - (self.mu if r == c else ZERO) for c in free] for r in free]
        at("root", require_definite, matrix, self.root, self.bits)
        epsilon = sqrt_upper(squared_norm(z for k, z in enumerate(residual(centre, pieces)) if k not in held))
        bend = self.mu - sum((piece.part.multiplier * piece.third for piece in near), ZERO) * self.radius / 3
        is_higher = bend > 0 and bend * self.radius**2 / 2 > epsilon * self.radius + cost
        require(is_higher, "radius", "the norm may not be larger on all of the edge of the ball")
        self._check_distance(subject, centre, min(self.radius, end_of_rise(bend, epsilon, cost)))

    def _check_rotations(
        self, problem: Problem, ball: Ball, near: Sequence["NearPiece"], margins: Sequence[Fraction]
    ) -> None:
        """Whether the turned units are at no tie, and other points keep the margin."""
        still = {tie for piece in near for tie in piece.ties} | ball.empty
        for place, rotation in enumerate(self.rotations):
            tangent = at(f"rotations[{place}]", tangent_of, ball.centre, [one.piece for one in near], rotation)
            require(tangent is not None, f"rotations[{place}]", "is of units whose slopes differ at some point")
            is_apart = not still & exchange_of(ball.centre.architecture.layers, rotation).places
            require(is_apart, f"rotations[{place}]", "is of a unit near a kink, or of an empty one")
        others = {*range(len(problem.rows))} - {piece.part.point for piece in near}
        for i in sorted(others):
            keeps = margins[i] - ball.change_of_output(problem.rows[i]) >= min(margins)
            require(keeps, "rotations", f"may take the margin of point {i} away")

    def _check_distance(self, subject: Network, centre: Network, within: Fraction) -> None:
        copies: Network = at("shares", with_copies, centre, self.empty, self.shares)
        require(self.factor > 0, "factor", "must be positive")
        scaled = [self.factor * w for w in chain(*subject.parameters)]
        apart = sqrt_upper(squared_norm(map(sub, scaled, chain(*copies.parameters)))) + within
        is_near = apart <= self.moved * sqrt_lower(squared_norm(scaled))
        require(is_near, "moved", "the point may be farther from the network than that")

    def clearance(self, network: Network) -> Fraction:
        """Within this of the point, relative to its norm, no network with its margin has a smaller norm; rounded down.

        The ball holds all networks within its radius less t of the point, which is within t of the centre. 0 of a
        point that is no local optimum of all units.
        """
        if self.optimality != "local optimum":
            return ZERO
        scaled = [self.factor * w for w in chain(*network.parameters)]
        apart = sqrt_lower(squared_norm(map(sub, scaled, chain(*self.centre))))
        within = self.moved * sqrt_upper(squared_norm(scaled)) - apart
        return max(self.radius - within, ZERO) / sqrt_upper(squared_norm(chain(*self.centre)))


def end_of_rise(bend: Fraction, epsilon: Fraction, cost: Fraction) -> Fraction:
    """From here on, rounded up, bend t^2 / 2 >= epsilon t + cost; bend > 0."""
    return (epsilon + sqrt_upper(max(epsilon**2 + 2 * bend * cost, ZERO))) / bend


def residual(centre: Network, pieces: Sequence[PolynomialPiece]) -> list[Fraction]:
    """grad L at the centre."""
    rest = list(chain(*centre.parameters))
    for piece in pieces:
        h = chain(*gradient(centre, piece.state, piece.slopes))
        rest = list(map(sub, rest, (piece.c * z for z in h)))
    return rest


def numbers_of(centre: Network, empty: Collection[Unit]) -> set[int]:
    """The numbers of the parameters of the empty units, all of which are 0 and stand at places of such units only."""
    layers = centre.architecture.layers
    starts = [0]
    for layer in layers:
        starts.append(starts[-1] + layer.parameter_count)
    own: set[int] = set()
    others: set[int] = set()
    for l, layer in enumerate(layers):
        for r, row in enumerate(layer.places):
            for c, index in enumerate(row):
                if index is not None:
                    is_own = (l, r) in empty or (l - 1, c) in empty
                    (own if is_own else others).add(starts[l] + index)
    require(all(l < len(layers) - 1 and j < layers[l].outputs for l, j in empty), "", "are of no hidden layer")
    require(not own & others, "", "share a parameter with another unit")
    numbers = list(chain(*centre.parameters))
    require(not any(numbers[k] for k in own), "", "have a parameter that is not 0")
    return own


class NearPiece:
    """A point with a multiplier, and slopes near its kinks: its polynomial q^g, and bounds on the ball.

    value: q^g at the centre.   third: of its third derivatives.
    """

    def __init__(self, problem: Problem, ball: Ball, part: Part, least: Fraction) -> None:
        self.ball, self.part, self.least = ball, part, least
        self.row, self.target = problem.rows[part.point], problem.targets[part.point]
        require(part.multiplier > 0 and part.direction is None, "", "must have a multiplier above 0, and no direction")
        self.size = sqrt_upper(squared_norm(self.row))
        self.ties = {(l, j): slope for l, j, slope in part.slopes}
        self.changes = ball.changes(self.row)
        self.exact = ball.states(self.row)
        self.piece = PolynomialPiece(ball.centre, self._state(), part, part.multiplier * self.target)
        self.value = self.target * dot(ball.matrices[-1][0], self.piece.state.inputs[-1])
        self.third = ball.third * self.size
        self.gains = dict(self._gains())

    def _state(self) -> UnitStates:
        """The units with slopes g at the ties, and those of their sides elsewhere, which the ball does not change."""
        layers, slopes = self.ball.centre.architecture.layers, list[tuple[tuple[Fraction, Fraction], ...]]()
        inputs = [tuple(self.row)]
        for l, (layer, matrix) in enumerate(zip(layers[:-1], self.ball.matrices, strict=False)):
            a, own = layer.slope or ZERO, list[tuple[Fraction, Fraction]]()
            at_centre = [dot(weights, inputs[-1]) for weights in matrix]
            for j, (z, change) in enumerate(zip(self.exact[l][0], self.changes[l], strict=True)):
                g = self.ties.get((l, j))
                if g is not None:
                    is_tie = a <= g <= 1 and a < 1 and (l, j) not in self.ball.empty
                    require(is_tie, "slopes", f"has a slope of ({l}, {j}) that is none at a kink")
                    own.append((a, ONE))
                    continue
                keeps = a == 1 or abs(z) > change or change == z == 0
                require(keeps, "slopes", f"leaves unit ({l}, {j}) out, which may change")
                own.append((ONE, ONE) if z > 0 else (a, a))
            slopes.append(tuple(own))
            chosen = [self.ties.get((l, j), low) for j, (low, _) in enumerate(own)]
            inputs.append(tuple(g * z for g, z in zip(chosen, at_centre, strict=True)))
        places = {(l, j) for l, row in enumerate(slopes) for j in range(len(row))}
        require(self.ties.keys() <= places, "slopes", "are of no hidden unit")
        return UnitStates(tuple(inputs), tuple(slopes))

    def _gains(self) -> Iterator[tuple[Unit, Fraction]]:
        """For each tie the least, over the ball, of minus the derivative of q^g by what its unit gives."""
        matrices, roots, norms = self.ball.matrices, self.ball.roots, self.ball.norms
        change, back = ZERO, [self.target]
        for l in reversed(range(len(matrices) - 1)):
            slopes = [ONE] if l == len(matrices) - 2 else self.piece.slopes[l + 1]
            above = [g * b for g, b in zip(slopes, back, strict=True)]
            change = norms[l + 1] * change + roots[l + 1] * self.ball.radius * sqrt_upper(squared_norm(above))
            back = [dot(column, above) for column in zip(*matrices[l + 1], strict=True)]
            for tie in self.ties:
                if tie[0] == l:
                    least = -back[tie[1]] - change
                    require(least > 0, "slopes", f"has a unit {tie} whose gain may not be below 0")
                    yield tie, least

    def paid(self, rho: Fraction) -> Fraction:
        """What the errors cost, of which nothing of first order pays; refused where that does not pay the rest.

        The weights of the squares are rho over powers of 4, as in the matrix.
        """
        ball, m = self.ball, len(self.ball.norms)
        own = list(chain(*gradient(ball.centre, self.piece.state, self.piece.slopes)))
        weight = square_weight(own, rho)
        bend = Fraction(m - 1, 2) * ball.radius**2 * self.size * ball.second
        error = abs(self.value - self.least) + bend
        reach = sqrt_upper(squared_norm(own)) * ball.radius + error
        is_paid = weight * (reach + 2 * error) <= self.part.multiplier
        require(is_paid, "multiplier", "is too small for what the gradient costs")
        cost = weight * error**2 / 2
        loads = dict.fromkeys(self.ties, ZERO)
        for tie, row in tie_gradients(ball.centre, self.piece):
            weight = square_weight(row, rho)
            shares, reach = self._shares(tie)
            error = self._error(tie)
            cost += weight * error**2 / 2
            for other, share in shares.items():
                loads[other] += weight * (reach + 2 * error) * share
        for tie, load in loads.items():
            is_paid = load <= self.part.multiplier * self.gains[tie]
            require(is_paid, "slopes", f"has a unit {tie} whose gain is too small for what its kink costs")
        return cost

    def _shares(self, tie: Unit) -> tuple[Mapping[Unit, Fraction], Fraction]:
        """C: |z^g| of the tie is at most the sum over ties of C delta; and a bound of that sum on the ball."""
        l = tie[0]
        g, a = self.ties[tie], self.ball.centre.architecture.layers[l].slope or ZERO
        shares = {tie: 1 / min(1 - g, g - a)}
        for other in self.ties:
            if other[0] < l:
                shares[other] = self._reach(other, tie)
        return shares, sum((share * self._most(other) for other, share in shares.items()), ZERO)

    def _most(self, tie: Unit) -> Fraction:
        """A bound of delta = s(z) - g z on the ball."""
        l, j = tie
        g, a = self.ties[tie], self.ball.centre.architecture.layers[l].slope or ZERO
        return max(1 - g, g - a) * (abs(self.exact[l][0][j]) + self.changes[l][j])

    def _reach(self, low: Unit, high: Unit) -> Fraction:
        """A bound, on the ball, of the derivative of the preactivation of one unit by what one below it gives."""
        (k, i), (l, j) = low, high
        ball, r = self.ball, self.ball.radius
        if l == k + 1:
            return abs(ball.matrices[l][j][i]) + ball.roots[l] * r
        column = sqrt_upper(squared_norm(row[i] for row in ball.matrices[k + 1])) + ball.roots[k + 1] * r
        line = sqrt_upper(squared_norm(ball.matrices[l][j])) + ball.roots[l] * r
        return column * line * prod(ball.norms[k + 2 : l], start=ONE)

    def _error(self, tie: Unit) -> Fraction:
        """Of |grad z.d| beside |z^g|: what z^g is at the centre, and the error of linearising it on the ball."""
        l, j = tie
        ball = self.ball
        here = dot(ball.matrices[l][j], self.piece.state.inputs[l])
        line = sqrt_upper(squared_norm(ball.matrices[l][j])) + ball.roots[l] * ball.radius
        bend = Fraction(l, 2) * ball.radius**2 * self.size * largest([*ball.norms[:l], line], ball.roots[: l + 1], 2)
        return abs(here) + bend
