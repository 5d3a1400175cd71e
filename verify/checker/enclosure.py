"""Does an exact Clarke KKT point lie near the network? Krawczyk's test on a box, and what must hold on all of it.

The equations of the point are those of `verify.checker.enclosed_points`; `verify.checker.krawczyk` shows that they have
a solution within a box, of which everything else is asked.

Sound: an accepted proof is of a true statement about real numbers. Incomplete: the point must be regular, and every
inequality strict; a kink whose slope is at an end of its interval, or whose point has no multiplier, is refused.

Source: R. Krawczyk, Computing 4 (1969);
`docs/mathematics.md`, 8.1 "The equations of a point" and 8.2 "Krawczyk's test"; 14.10 "Stationary points of a loss near
a network".
"""

from fractions import Fraction
from itertools import chain
from typing import Annotated, ClassVar, Literal

from verify.checker.bounds import every_case
from verify.checker.certificate import ALL_TRAINED_WITH_LOSSES, ASKS_OUTPUT_BIAS, AboutNetwork, NotNegative
from verify.checker.codec import at, increasing
from verify.checker.dual_trees import Dual, Limit, proved_coefficients
from verify.checker.enclosed_points import Direction, Point
from verify.checker.errors import require
from verify.checker.exact import sqrt_lower, sqrt_upper, squared_norm
from verify.checker.goals import constraints, is_free, rules
from verify.checker.krawczyk import ONE, UNIT, ZERO, Box, combined, has_root
from verify.checker.objectives import Objective
from verify.checker.questions import PROVED, answered
from verify.checker.statement import Index, Natural, Network, Problem

BITS = 128  # of the square roots in the distance, a small difference of large numbers


class StationaryNear(AboutNetwork):
    """An exact Clarke KKT point within `moved` ||theta|| of theta, the network times `factor`.

    support: the points that may have multipliers.   optimality: what the point is.
    centre, radii: a box for the unknowns: the multipliers of the support, an output bias, and for each direction its
    amplitude, its kink products and its free bias (those that it has, in this order).
    inverse: of the Jacobian, over `denominator`.
    fixed: where a loss is asked, points of the support whose multiplier is no unknown, as it is at an end, with it.
    pricing: for an optimum of any width: a proof of |h(u)| <= m ||u|| at its multipliers, in the form of a bound at
    those of the centre, with a beta < m that leaves room for the difference.
    """

    OMITTED = ("fixed",)
    DECIDES = ALL_TRAINED_WITH_LOSSES
    ANSWERS: ClassVar = {
        "stationary point": answered(PROVED, PROVED),
        "local optimum": answered(PROVED, PROVED, PROVED),
        "optimum of any width": answered(PROVED, PROVED, PROVED, PROVED, PROVED),
    }
    CLAIM = (
        "within {moved} of the network times {factor}, relative to its norm, there is an exact {proof.optimality} of "
        "its shape, where the Clarke KKT conditions hold"
    )
    LOSS_CLAIM = (
        "within {moved} of the network, relative to its norm, there is an exact {proof.optimality} of its shape, which "
        "is stationary in the sense of Clarke"
    )
    moved: NotNegative
    factor: Fraction
    optimality: Literal["stationary point", "local optimum", "optimum of any width"]
    support: tuple[Index, ...]
    directions: tuple[Direction, ...]
    centre: tuple[Fraction, ...]
    radii: tuple[Fraction, ...]
    inverse: tuple[tuple[int, ...], ...]
    denominator: Natural
    pricing: Dual | None = None
    fixed: Annotated[tuple[tuple[Index, Fraction], ...], increasing] = ()

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
        """Whether a Clarke KKT point lies within moved ||factor theta|| of factor theta.

        Local optimum: without zero neurons and with s_C c_i < 0 at every kink, the one c serves all cells around the
        point. Optimum of any width: if |h(u)| <= m ||u|| on every mask class, no network has an objective below that of
        the multipliers, and the point has that one. The trees for this may use at exactly m the cell of each direction,
        where s_C h(u) is at most p_C.u. Elsewhere they leave room for the change of h within the box, at most
        sum_i radius_i ||x_i|| ||u||.

        Without a fit tolerance only: the equations would have to say which end of its interval each output is at. And
        with an output bias only where a loss is asked, as at margin 1 it has another scale than the rest.
        """
        require(problem.fit_tolerance == 0, "problem", "has a fit tolerance, with which no enclosure is checked")
        require(not (problem.asks_fit and problem.has_output_bias), "problem", ASKS_OUTPUT_BIAS)
        owned = self._check_shape(problem, subject)
        point = Point(problem, subject, self)
        is_regular = len(self.centre) == point.unknowns == len(point.equations)
        require(is_regular, "centre", f"must be {point.unknowns}, one for each equation")
        box = Box((ONE, *self.centre), (ZERO, *self.radii))
        is_shown = has_root(point.equations, box, self.inverse, self.denominator, point.logits)
        require(is_shown, "inverse", "does not show a root")
        is_local = self.optimality == "local optimum"
        for place, forms, signs in point.strict:
            ends = [end for form in forms for end in box.range(form)]
            is_strict = any(min(sign * end for end in ends) > 0 for sign in signs)
            slope = "has a slope that may be at an end, or, at a local optimum, at a point that it helps"
            require(is_strict, place, slope if forms[1:] else "has a number that is not positive on the whole box")
        is_whole = owned == len(subject.output_weights)
        require(is_whole or not is_local, "optimality", "is not proved for a point with zero neurons")
        if isinstance(problem.goal, Objective):
            self._check_losses(problem, point, box, problem.goal)
        else:
            self._check_other_points(problem, point, box)
        self._check_distance(problem, subject, point, box)
        self._check_pricing(problem, point)

    def _check_shape(self, problem: Problem, subject: Network) -> int:
        """Whether what is listed is there, and as many as it has to be; how many neurons are in directions."""
        owned, width = [j for direction in self.directions for j, _ in direction.neurons], len(subject.output_weights)
        is_owned = len({*owned}) == len(owned) and max(owned, default=0) < width
        require(is_owned, "directions", "name a neuron twice, or one that there is not")
        is_support = [*self.support] == sorted({*self.support} & {*range(len(problem.targets))})
        require(is_support, "support", f"must be some of {len(problem.targets)} points, in increasing order")
        is_fixed = {i for i, _ in self.fixed} <= {*self.support} and not (self.fixed and problem.asks_fit)
        require(is_fixed, "fixed", "must be points of the support, where a loss is asked")
        size = len(self.centre)  # first of all: the equations are about size^2 times the directions
        is_square = {size} == {len(self.radii), len(self.inverse), *map(len, self.inverse)}
        is_square = is_square and len(self.support) - len(self.fixed) <= size and len(self.directions) <= 2 * size
        require(is_square, "centre", "must be as many as the radii and rows of the inverse, enough for the directions")
        return len(owned)

    def _check_losses(self, problem: Problem, point: Point, box: Box, asked: Objective) -> None:
        """Whether -c_i is a subgradient of the loss of each point at f(x_i), at the zero in the box.

        The pairs (f, c) of a loss are those on a curve along which c never rises with f. Where f + kappa c is given, a
        point is on it for every c of the box if it is for both ends: it is as steep there as this curve is at most.
        Where c is given, if it is for the least and the greatest f. Of the logistic loss the equations are the curve.

        Source: `docs/mathematics.md`, 14.10 "Stationary points of a loss near a network".
        """
        loss, curvature, lines = asked.loss, asked.loss.curvature, iter(point.lines)
        given = {i: factor for i, (k, factor) in zip(self.support, point.coefficients, strict=True) if not k}
        for i, (k, factor) in zip(self.support, point.coefficients, strict=True):
            if not k:
                continue
            line, y = next(lines), problem.targets[i]
            ends = box.range({k: factor}) if loss.is_exact else ()
            is_on = all(loss.admits(y, c) and asked.gap(y, line - curvature * c, c) == 0 for c in ends)
            require(is_on, "support", f"has a multiplier of point {i} that may not be that of its loss")
        rest = [i for i in range(len(problem.targets)) if i not in self.support or i in given]
        for i, ends in zip(rest, point.outputs(box, [problem.rows[i] for i in rest]), strict=True):
            y, c = problem.targets[i], given.get(i, ZERO)
            is_on = loss.admits(y, c) and all(asked.gap(y, f, c) == 0 for f in ends)
            require(is_on, "support", f"has a multiplier of point {i}, or none, that may not be that of its loss")

    def _check_other_points(self, problem: Problem, point: Point, box: Box) -> None:
        """Whether f fits the points outside the support on the whole box; copies of its points are left out."""
        ranges = point.outputs(box, problem.rows)
        pairs = zip(ranges, problem.rows, problem.targets, strict=True)
        for i, ((low, high), row, y) in enumerate(pairs):
            fits = constraints(problem.goal).holds_between(low, high, y)
            require(fits or (row, y) in point.support, "support", f"leaves point {i} out, whose constraint may fail")

    def _check_distance(self, problem: Problem, network: Network, point: Point, box: Box) -> None:
        """Whether ||factor theta - theta*|| <= moved ||factor theta|| for every theta* of the box.

        For neuron j of direction C it is t^2 ||theta_j||^2 - 2 t sqrt(A_j) (w_j.p_C + s_C mu_w v_j) + A_j (||p_C||^2 +
        mu_w^2), A_j its share of A_C; for an output bias (t b - b*)^2.
        """
        has_margin = problem.asks_fit and constraints(problem.goal).HAS_MARGIN
        is_factor = self.factor == 1 or (self.factor > 0 and has_margin)
        require(is_factor, "factor", "must be positive, and 1 but for max-margin")
        apart = size = self.factor**2 * squared_norm(chain(*network.parameters))
        heads, unit = network.output_weights, problem.decay.hidden
        for direction, (amplitude, p, (_, sign, _)) in zip(self.directions, point.parts, strict=True):
            square = unit**2 + sum((max(end * end for end in box.range(form)) for form in p.values()), ZERO)
            for j, share in direction.neurons:
                low, high = (abs(share) * end for end in box.range(amplitude))
                roots = sqrt_lower(low, BITS), sqrt_upper(high, BITS)
                along = combined((network.hidden_weights[j][c], form) for c, form in p.items())
                along = combined([(ONE, along), (sign * unit * heads[j], UNIT)])
                ends = box.range(along if share > 0 else combined([(-1, along)]))
                apart += high * square - 2 * self.factor * min(root * end for root in roots for end in ends)
        bias = network.output_bias
        apart += max((bias - end) ** 2 for end in box.range(point.output_bias)) - bias**2 if point.output_bias else 0
        require(apart <= self.moved**2 * size, "moved", "the point may be farther from the network than that")

    def _check_pricing(self, problem: Problem, point: Point) -> None:
        """Whether |h(u)| <= m ||u|| is proved for an optimum of any width, m rounded down where it is irrational."""
        is_global = self.optimality == "optimum of any width"
        require((self.pricing is not None) == is_global, "pricing", "is for an optimum of any width, and needed then")
        if self.pricing is None:
            return
        given, room = dict(self.fixed), ZERO
        numbers, listed = iter(zip(self.centre, self.radii, strict=True)), list[tuple[int, Fraction]]()
        for i in self.support:
            value, radius = (given[i], ZERO) if i in given else next(numbers)
            room += radius * sqrt_upper(squared_norm(problem.rows[i]))
            listed += [(i, value)] * (abs(value) > radius)
        limit = rules(problem.goal).least_scale(ONE) - room
        is_pricing = (self.pricing.multipliers, self.pricing.beta) == (tuple(listed), limit)
        is_pricing = is_pricing and len(listed) == len(self.support) and not is_free(problem.bias)
        require(is_pricing, "pricing", "must be at the multipliers of the centre, none of them 0, no bias being free")
        cells, cases, dual = [cell for _, _, cell in point.parts], every_case(problem), self.pricing
        limits = [Limit(dual.beta)] * len(cases)
        at(
            "pricing", proved_coefficients, problem, dual.multipliers, dual.trees, dual.denominator, cases, limits,
            cells,
        )  # fmt: skip
