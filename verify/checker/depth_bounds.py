"""The best objective of networks of any depth from both sides, and whether a network is a global optimum.

All of these compare J, the objective to the power m (`verify.checker.depth`).
"""

from collections.abc import Mapping
from fractions import Fraction
from operator import sub
from typing import Annotated, ClassVar, Literal, TypeAlias

from verify.checker.bounds import every_case
from verify.checker.certificate import OTHER_DEPTH, Certificate, NotNegative, Sparse, WithSubject
from verify.checker.codec import ascending, at, positive
from verify.checker.depth import Bracket, balanced, is_own, power_of, powered, require_bound, sharing
from verify.checker.depth_duals import LowerBoundOneActivation, LowerBoundRelu
from verify.checker.dual_trees import Limit, Nodes, proved_coefficients
from verify.checker.errors import require
from verify.checker.exact import Number, is_rational, root_ends, squared_norm
from verify.checker.goals import constraints
from verify.checker.multipliers import coefficients, dual_value
from verify.checker.pooled import channels, patches
from verify.checker.questions import PROVED, UP_TO_OWN, WITHIN_OWN, answered
from verify.checker.statement import Index, Natural, Network, Problem


class LowerBoundCrude(Certificate):
    """J is at least `bracket[0]` for every network of the family, as one point, or two, ask for large weights."""

    DECIDES = OTHER_DEPTH
    CLAIM = "every {family}, that fits has an objective whose power {proof.power} is at least {lower}"
    points: Annotated[tuple[Index, ...], ascending]
    power: Natural
    bracket: Bracket

    def check(self, problem: Problem, subject: None) -> None:  # noqa: ARG002
        """Whether L is (m/2)^m G^2 / prod_l P_l, P_l the most places of a parameter of layer l.

        G is what f has to change by, over how far the points are apart: with b_i = max(|y_i| - eps, 0) it is b_i /
        ||x_i|| for one point, and max(|y_i - y_k| - 2 eps, 0) / ||x_i - x_k|| for two. Of a network that fits (at
        margin 1, y_i = 1 or -1) |f(x_i)| >= b_i, and |f(x_i) - f(x_k)| is at least that; f is 0 at 0, and |f(x) -
        f(x')| <= prod_l ||A_l|| ||x - x'||, as activations bring numbers no farther apart. ||A_l||^2, the sum of the
        squares of its places, is at most P_l ||u_l||^2. So G <= prod_l (P_l^(1/2) ||u_l||), and (1/2 N)^m >= (m/2)^m
        prod_l ||u_l||^2, the arithmetic mean of the ||u_l||^2 being at least the geometric one.
        """
        found, many = self.points, len(problem.targets)
        is_some = 0 < len(found) <= 2 and found[-1] < many
        require(is_some, "points", f"must be one or two of {many} points, in increasing order")
        first, *others = (problem.rows[i] for i in found)
        row = list(map(sub, first, others[0])) if others else first
        apart = problem.targets[found[0]] - (problem.targets[found[1]] if others else 0)
        needed = max(abs(apart) - len(found) * problem.fit_tolerance, Fraction(0))
        require(any(row), "points", "are at 0, or the same: no bound follows")
        m, shared = power_of(problem), sharing(problem)
        over = squared_norm(row) * shared
        require_bound(problem, self.power, self.bracket, Fraction(m, 2) ** m * needed**2, over)


class LowerBoundLinear(Certificate):
    """J is at least `bracket[0]` for every network of the family of a linear problem without shared weights."""

    DECIDES = OTHER_DEPTH
    CLAIM = "every {family}, that fits has an objective whose power {proof.power} is at least {lower}"
    multipliers: Sparse
    power: Natural
    bracket: Bracket

    def check(self, problem: Problem, subject: None) -> None:  # noqa: ARG002
        """Whether L is (m/2)^m D^2 / ||sum c_i x_i||^2, every slope being 1 and no parameter shared.

        f(x) = b.x with b = A_m ... A_1, and ||b|| <= prod ||u_l||, so that (1/2 N)^m >= (m/2)^m ||b||^2 as the
        arithmetic mean is at least the geometric one. Of a network that fits (at margin 1) D <= sum_i c_i f(x_i) =
        b.(sum c_i x_i) <= ||b|| ||sum c_i x_i||.

        Complete: at a KKT point that fits its own multipliers give J (`docs/mathematics.md`, 13.4 "Bounds").
        """
        is_linear = all(layer.slope in (None, 1) for layer in problem.architecture.layers)
        is_plain = not any(layer.has_sharing for layer in problem.architecture.layers)
        require(is_linear and is_plain, "problem", "is not linear, or shares weights, where this bound is not valid")
        found = coefficients(problem, self.multipliers)
        value = dual_value(problem, found)
        require(value >= 0, "multipliers", "have a negative dual value")
        columns = zip(*problem.rows, strict=True)
        total = squared_norm(sum((c * column[i] for i, c in found.items()), Fraction(0)) for column in columns)
        require(total > 0, "multipliers", "have sum c_i x_i = 0, from which no bound follows")
        m = power_of(problem)
        require_bound(problem, self.power, self.bracket, Fraction(m, 2) ** m * value * value, total)


class LowerBoundPooled(Certificate):
    """J is at least `bracket[0]` for every pooled convolution of the family; trees by kind of channel, "+" before "-".

    multipliers: of points.   square: beta^2.   denominator, trees: as of a `lower-bound` of the problem of patches
    (`verify.checker.pooled.patches`), where patch p of point i is point i P + p.
    """

    DECIDES = OTHER_DEPTH
    CLAIM = "every {family}, that fits has an objective whose power {proof.power} is at least {lower}"
    multipliers: Sparse
    square: Annotated[Fraction, positive]
    denominator: Natural
    trees: tuple[Nodes, ...]
    power: Natural
    bracket: Bracket

    def check(self, problem: Problem, subject: None) -> None:  # noqa: ARG002
        """Whether L is D^2 / beta^2, with |sum_i c_i sum_p s(x_ip.u)| <= beta ||u|| for every kind of channel.

        That is what the trees prove of the patches, each with the c_i of its point. Of a network that fits (at margin
        1) D <= sum_i c_i f(x_i) = sum_c v_c sum_i c_i sum_p s(w_c.x_ip) <= beta sum_c |v_c| ||w_c|| <= beta 1/2 N.

        Complete: the least such bound is the infimum of the family (`docs/mathematics.md`, 13.9 "Pooled convolutions").
        """
        shape = problem.architecture
        require(channels(shape) != (), "problem", "is no pooled convolution, of which alone this bound is valid")
        value = dual_value(problem, coefficients(problem, self.multipliers))
        require(value >= 0, "multipliers", "have a negative dual value")
        whole, many = patches(problem)
        each = tuple((i * many + p, number) for i, number in self.multipliers for p in range(many))
        cases = every_case(whole)
        proved_coefficients(whole, each, self.trees, self.denominator, cases, [Limit(self.square, True)] * len(cases))
        require_bound(problem, self.power, self.bracket, value * value, self.square)


LowerBoundOfDepth: TypeAlias = (
    LowerBoundCrude | LowerBoundLinear | LowerBoundPooled | LowerBoundOneActivation | LowerBoundRelu
)
"""A bound of the power of the objective from below."""


class DeepUpperBound(Certificate):
    """`witness` is of the family, fits, and has J of at most U, its layers balanced: `bracket = (None, U)`."""

    DECIDES = OTHER_DEPTH
    CLAIM = "a {family}, fits with an objective whose power {proof.power} is at most {upper}"
    witness: Network
    power: Natural
    bracket: Bracket

    def check(self, problem: Problem, subject: None) -> None:
        """Whether U is at least the J of the witness, balanced."""
        (above, below), (lower, upper) = balanced(problem, self.witness), self.bracket
        require(self.power == power_of(problem), "power", f"must be {power_of(problem)}, the number of layers")
        is_bound = lower is subject and upper is not None and upper * below >= above
        require(is_bound, "bracket", "must be null and at least the power of the objective of the witness")


class DeepBetterNetwork(WithSubject):
    """`witness` fits, and its objective, its layers balanced, times 1 + `tolerance` is below the network's."""

    DECIDES = OTHER_DEPTH
    ANSWERS: ClassVar = {
        "own-width": answered(PROVED, own_width=UP_TO_OWN, any_width=UP_TO_OWN),
        "any-width": answered(PROVED, any_width=UP_TO_OWN),
    }
    CLAIM = "{who} is beaten ({proof.scope}): another {family}, fits, and its objective times 1 + {tolerance} is less"
    witness: Network
    tolerance: NotNegative
    scope: Literal["own-width", "any-width"]

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether J(witness) (1 + tolerance)^m < J(subject). Own width: the shape of the problem, or a narrower one."""
        above, below = balanced(problem, self.witness)
        is_narrow = is_own(self.witness.architecture, problem.architecture) or self.scope == "any-width"
        require(is_narrow, "scope", "the witness is no network of the problem's own shape")
        mine, over = powered(problem, subject)
        is_better = above * (1 + self.tolerance) ** power_of(problem) * over < mine * below
        require(is_better, "witness", "is not better by that much")

    def variant(self, problem: Problem, network: Network) -> str:  # noqa: ARG002
        """`scope`."""
        return self.scope

    def own_tolerance(self, problem: Problem) -> Fraction:  # noqa: ARG002
        """`tolerance`."""
        return self.tolerance


class DeepOptimalWithin(WithSubject):
    """The network's objective is at most 1 + `tolerance` times that of any network of the family, by `lower`."""

    DECIDES = OTHER_DEPTH
    ANSWERS: ClassVar = {
        "": answered(PROVED, own_width=WITHIN_OWN, any_width=WITHIN_OWN),
        "at its bound": answered(PROVED, PROVED, PROVED, PROVED, PROVED),
        "at a crude bound": answered(PROVED, None, PROVED, PROVED, PROVED),
    }
    CLAIM = "{who} fits, and its objective is at most 1 + {tolerance} times that of any {family}, that fits"
    tolerance: NotNegative
    lower: LowerBoundOfDepth

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether J(subject) <= (1 + tolerance)^m L, L proved by the lower bound."""
        at("lower", self.lower.examine, problem, None)
        mine, over = powered(problem, subject)
        most = (1 + self.tolerance) ** power_of(problem) * (self.lower.bracket[0] or 0)
        require(mine <= most * over, "tolerance", "the objective is farther above the lower bound")

    def variant(self, problem: Problem, network: Network) -> str:
        """Whether its J is its bound: then no network of the family is better, and none near it.

        It is a KKT point then for a goal with margins, as every local optimum is, and for linear networks (theorem
        13.5); for others without margins the constraints may have no multipliers at an optimum.
        """
        mine, over = powered(problem, network if self.subject is None else Network(network.architecture, self.subject))
        if mine != (self.lower.bracket[0] or 0) * over:
            return ""
        is_kkt = constraints(problem.goal).HAS_MARGIN or isinstance(self.lower, LowerBoundLinear)
        return "at its bound" if is_kkt else "at a crude bound"

    def own_tolerance(self, problem: Problem) -> Fraction:  # noqa: ARG002
        """`tolerance`."""
        return self.tolerance


def power_bracket(
    problem: Problem, certificates: Mapping[str, Certificate], mine: Number | None
) -> tuple[Number, Number] | None:
    """(L, U), between which the power of the best objective of the family is, by the bounds of other depths.

    mine: that of the network's, an upper bound itself.
    """
    lows = [proof.bracket[0] for proof in certificates.values() if isinstance(proof, LowerBoundOfDepth)]
    highs = [proof.bracket[1] for proof in certificates.values() if isinstance(proof, DeepUpperBound)]
    low = max((end for end in lows if end is not None), default=None)
    high = min((end for end in (*highs, mine) if end is not None), default=None)
    return (low, high) if low is not None and high is not None and OTHER_DEPTH.holds(problem) else None


def rooted(
    problem: Problem, lower: Number, upper: Number, mine: Number | None
) -> tuple[tuple[Fraction, Fraction] | None, tuple[Fraction, Fraction] | None]:
    """The bracket of the objective, and how far above it the network is, the roots rounded outward."""
    if not (is_rational(lower) and is_rational(upper)):
        return None, None
    m = power_of(problem)
    bracket = root_ends(lower, m)[0], root_ends(upper, m)[1]
    if mine is None or not lower or not is_rational(mine):
        return bracket, None
    return bracket, (root_ends(mine / upper, m)[0] - 1, root_ends(mine / lower, m)[1] - 1)
