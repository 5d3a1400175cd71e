"""Does a network of any depth satisfy the Clarke KKT conditions: parts of multipliers prove it, vectors refute it."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain, product
from operator import sub
from typing import Annotated, ClassVar, Literal

from verify.checker.certificate import HOMOGENEOUS, PRECISION, NotNegative, WithSubject
from verify.checker.codec import Record, ascending, at, increasing
from verify.checker.curves import Curve, lowest
from verify.checker.depth_states import Slopes, Tie, UnitStates, are_independent, gradient, rates, states, tie_inputs
from verify.checker.errors import require
from verify.checker.exact import Number, dot, squared_norm
from verify.checker.fit import ends, parsed
from verify.checker.goals import constraints
from verify.checker.questions import PROVED, REFUTED, UP_TO_OWN, WITHIN_OWN, answered
from verify.checker.statement import Index, Network, Problem, Rows, half_squared_norm
from verify.checker.stationary import require_all_signs, require_excluding, require_slacks

MAX_SPLITS = 8
"""Ties of one point whose slopes a `deep-not-stationary` takes one by one."""

HOMOGENEITY, INDEPENDENCE, NOTHING = "homogeneity", "independent gradients", "nothing"


class Part(Record):
    """A multiplier of a point with a subgradient of its output: slopes at its ties, or a direction.

    slopes: (layer, unit, slope) for each tie of the point.   direction: parameters along which all ties open, each to
    one side, whose slopes are meant; then no slopes are listed.
    """

    point: Index
    multiplier: Number
    slopes: Annotated[tuple[tuple[Index, Index, Number], ...], increasing]
    direction: Rows | None = None


class DeepStationary(WithSubject):
    """The network satisfies the Clarke KKT conditions, up to `epsilon` and `delta`: theta is a sum of parts."""

    DECIDES = HOMOGENEOUS
    ANSWERS: ClassVar = {"": answered(PROVED, WITHIN_OWN)}
    CLAIM = "{who}, {layers}, fits and satisfies the Clarke KKT conditions up to " + PRECISION
    parts: tuple[Part, ...]
    epsilon: NotNegative = Fraction(0)
    delta: NotNegative = Fraction(0)

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the parts show the Clarke KKT conditions at the subject, up to epsilon and delta.

        h, a part's gradient of q_i at its slopes, is a Clarke subgradient of q_i:

        - without ties q_i is a polynomial near the subject (`verify.checker.depth_states`);
        - where in each layer the gathered inputs of the ties of x_i are independent, every pattern of sides occurs at
          networks arbitrarily near: with d_l such that they have prescribed signs along it, and u_l moved by t^(m-l)
          d_l, each tie is decided by its own layer. The gradient is affine in each slope alone, so that of slopes
          between a and 1 is a convex combination of those of the patterns, which are limits of gradients;
        - along a direction that opens all ties q_i is a polynomial at small t > 0, whose gradient tends to that of its
          slopes.

        Parts of one point have multipliers of one sign, so that their sum times a convex combination of subgradients
        is one multiplier and one subgradient. Checks ||theta - sum lambda h||^2 <= epsilon^2 N, the signs of the
        multipliers, and sum lambda_i (q_i - m0) <= delta N: (epsilon, delta)-KKT at the network scaled to margin 1,
        relative to its norm, with lambda times m0^((m-2)/m); with a fit tolerance the same as for `stationary`.

        Source: `docs/mathematics.md`, 13.3 "Stationarity at any depth".
        """
        has_slacks = constraints(problem.goal).has_slacks(problem.fit_tolerance)
        require(has_slacks or self.delta == 0, "delta", "must be 0 where every target is to be met exactly")
        norm = 2 * half_squared_norm(problem, subject)
        rest, slackness = pulled(problem, subject, self.parts, partial(_slopes, problem, subject))
        require(slackness <= self.delta * norm, "delta", "multipliers of constraints that are not active are too large")
        require(squared_norm(rest) <= self.epsilon**2 * norm, "epsilon", "the residual of stationarity is larger")

    def own_tolerance(self, problem: Problem) -> Fraction:  # noqa: ARG002
        """The larger one of epsilon and delta, as both must be allowed."""
        return max(self.epsilon, self.delta)

    @property
    def level(self) -> str:
        """Approximate where epsilon or delta is not 0."""
        return "approximate" if self.epsilon or self.delta else super().level


def pulled(
    problem: Problem,
    subject: Network,
    parts: Sequence[Part],
    slopes_of: Callable[[UnitStates, Part], Sequence[Sequence[Fraction]]],
) -> tuple[list[Fraction], Fraction]:
    """(theta - sum lambda h, sum lambda_i slack_i) of parts with multipliers that their constraints admit."""
    limits, goal, found = ends(problem, subject), constraints(problem.goal), states(problem, subject)
    factors = goal.factors(problem.targets)
    rest, slackness, sides = list(chain(*subject.parameters)), Fraction(0), dict[int, Fraction]()
    for k, part in enumerate(parts):
        i, value = part.point, part.multiplier
        is_allowed = i < len(found) and (value > 0 or (value < 0 and -1 in goal.signs))
        require(is_allowed, f"parts[{k}]", f"must be of one of {len(found)} points, with an admissible multiplier")
        is_alike = sides.setdefault(i, value) * value > 0
        require(is_alike, f"parts[{k}].multiplier", "has another sign than one before it at this point")
        slopes = at(f"parts[{k}]", slopes_of, found[i], part)
        slackness += value * limits[i][0] if value > 0 else -value * limits[i][1]
        c = value * factors[i]
        rest = list(map(sub, rest, (c * z for z in chain(*gradient(subject, found[i], slopes)))))
    return rest, slackness


def listed_slopes(state: UnitStates, part: Part) -> dict[Tie, Fraction]:
    """The slopes that a part lists, one for each tie of its point."""
    chosen = {(layer, unit): slope for layer, unit, slope in part.slopes}
    require([*chosen] == state.ties, "slopes", "must be those of all ties of the point, and of nothing else")
    for place, (l, j, slope) in enumerate(part.slopes):
        low, high = state.slopes[l][j]
        require(low <= slope <= high, f"slopes[{place}]", "is not between the slopes of the activation")
    return chosen


def _slopes(problem: Problem, subject: Network, state: UnitStates, part: Part) -> list[list[Fraction]]:
    """The slopes of a part, which make its gradient a Clarke subgradient."""
    if part.direction is not None:
        require(part.slopes == (), "slopes", "are those of the direction, and must be left out")
        signs, _ = Curve(subject, [part.direction]).forward(problem.rows[part.point], lowest)
        open_ = {tie: signs[tie[0]][tie[1]] for tie in state.ties}
        require(all(open_.values()), "direction", "leaves a tie of the point at 0")
        return state.at({(l, j): state.slopes[l][j][side > 0] for (l, j), side in open_.items()})
    chosen = listed_slopes(state, part)
    for l in sorted({l for l, _ in chosen}):
        is_free = are_independent(tie_inputs(subject, state, l))
        require(
            is_free, "slopes", f"may be out of reach, as the gathered inputs of the ties of layer {l} are dependent"
        )
    return state.at(chosen)


class DeepNotStationary(WithSubject):
    """No multipliers and Clarke subgradients satisfy the KKT conditions up to `epsilon` and `delta`.

    vectors: as in `NotStationary`.   splits: (point, layer, unit) of ties whose slopes are taken one by one, a and 1.
    qualification: why local optima satisfy the conditions.
    """

    DECIDES = HOMOGENEOUS
    ANSWERS: ClassVar = {
        HOMOGENEITY: answered(PROVED, UP_TO_OWN, REFUTED, REFUTED, REFUTED),
        INDEPENDENCE: answered(PROVED, UP_TO_OWN, REFUTED, REFUTED, REFUTED),
        NOTHING: answered(PROVED, UP_TO_OWN),
    }
    CLAIM = (
        "{who}, {layers}, fits, but no multipliers satisfy its Clarke KKT conditions up to " + PRECISION + ", which "
        "local optima satisfy by {proof.qualification}"
    )
    vectors: tuple[Rows, ...]
    qualification: Literal["homogeneity", "independent gradients", "nothing"]
    splits: Annotated[tuple[tuple[Index, Index, Index], ...], ascending] = ()
    epsilon: NotNegative = Fraction(0)
    delta: NotNegative = Fraction(0)
    kappa: NotNegative = Fraction(0)

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the vectors exclude all multipliers and subgradients, as in `NotStationary.check`, at any depth.

        Near the subject every gradient of q_i is that of slopes a or 1 at its ties, and of the known slopes elsewhere
        (a frozen unit's makes no difference). z.h is affine in each slope alone, so its least and greatest values are
        at the ends; with intervals for the slopes, layer by layer, bounds follow that hold for all of them together.
        Clarke's subdifferential is the convex hull of the limits of these gradients.

        Does a local optimum satisfy the conditions at epsilon = delta = 0? By homogeneity: h.theta = m q_i > 0 for each
        subgradient of an active max-margin constraint, so that Clarke's multiplier rule holds with the multiplier 1 of
        the objective. By independent gradients: no point without slack has a tie, so that their outputs are polynomials
        near the subject, and their gradients, of points that are not copies, are independent: Lagrange's rule. Else it
        may not, for min-norm, and nothing is said of optima.

        Source: `docs/mathematics.md`, 13.3 "Stationarity at any depth".
        """
        limits, found = ends(problem, subject), states(problem, subject)
        require_slacks(problem, self.delta, self.kappa)
        at("qualification", _require_qualified, problem, subject, self.qualification)
        splits = _split(found, self.splits)
        norm, own = 2 * half_squared_norm(problem, subject), list(chain(*subject.parameters))
        ranges: list[list[tuple[Fraction, Fraction]]] = []
        for k, parameters in enumerate(self.vectors):
            z = parsed(problem, f"vectors[{k}]", subject, parameters)
            direction = list(chain(*parameters))
            gap = dot(own, direction) - self.kappa * self.delta * norm
            require_excluding(f"vectors[{k}]", gap, self.epsilon**2 * norm * squared_norm(direction))
            ranges.append(list(_ranges(problem, subject, z, splits)))
        require_all_signs(problem, limits, self.kappa, ranges)

    def variant(self, problem: Problem, network: Network) -> str:  # noqa: ARG002
        """`qualification`."""
        return self.qualification

    def own_tolerance(self, problem: Problem) -> Fraction:
        """As of `NotStationary`."""
        has_delta = constraints(problem.goal).has_slacks(problem.fit_tolerance)
        return min(self.epsilon, self.delta) if has_delta else self.epsilon


def _require_qualified(problem: Problem, subject: Network, qualification: str) -> None:
    if qualification == HOMOGENEITY:
        require(constraints(problem.goal).HAS_MARGIN, "", "is of constraints with margins only")
    if qualification == INDEPENDENCE:
        pairs = zip(problem.rows, problem.targets, states(problem, subject), ends(problem, subject), strict=True)
        others = {(row, target): state for row, target, state, slack in pairs if 0 in slack}  # others stay slack nearby
        require(not any(state.ties for state in others.values()), "", "is not known where a point has ties")
        gradients = [list(chain(*gradient(subject, state, state.at({})))) for state in others.values()]
        require(are_independent(gradients), "", "is not there: the gradients of the outputs are dependent")


def _split(found: tuple[UnitStates, ...], splits: tuple[tuple[int, int, int], ...]) -> list[list[Tie]]:
    """The ties of each point that are split."""
    chosen: list[list[Tie]] = [[] for _ in found]
    for place, (i, l, j) in enumerate(splits):
        is_tie = i < len(found) and (l, j) in found[i].ties
        require(is_tie, f"splits[{place}]", "is no tie of a point")
        chosen[i].append((l, j))
        require(len(chosen[i]) <= MAX_SPLITS, f"splits[{place}]", f"is one of more than {MAX_SPLITS} of its point")
    return chosen


def _ranges(
    problem: Problem, subject: Network, direction: Network, splits: list[list[Tie]]
) -> Iterator[tuple[Fraction, Fraction]]:
    """Bounds of z.h_i over all subgradients h_i of q_i, for every point i."""
    factors = constraints(problem.goal).factors(problem.targets)
    for state, ties, factor in zip(states(problem, subject), splits, factors, strict=True):
        ends: list[Fraction] = []
        for sides in product((0, 1), repeat=len(ties)):
            fixed = dict(zip(ties, sides, strict=True))
            slopes = [
                [_between(row[j], fixed.get((l, j))) for j in range(len(row))] for l, row in enumerate(state.slopes)
            ]
            ends += [factor * end for end in rates(subject, direction, state, slopes)]
        yield min(ends), max(ends)


def _between(pair: Slopes, side: int | None) -> Slopes:
    """The slopes of a unit: all of them, or the one at an end."""
    return pair if side is None else (pair[side], pair[side])
