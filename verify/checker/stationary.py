"""Does the network satisfy the Clarke KKT conditions: multipliers prove it, separating vectors refute it."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from operator import mul
from typing import Annotated, ClassVar, TypeAlias

from verify.checker.certificate import LOSS_PRECISION, PRECISION, WITH_LOSSES, NotNegative, Sparse, WithSubject
from verify.checker.codec import at, increasing
from verify.checker.errors import require
from verify.checker.exact import Number, common_integers, dot, squared_norm
from verify.checker.fit import bias_scale, ends, neurons, parsed, weighted_norm
from verify.checker.goals import constraints, rules, trains_outputs
from verify.checker.multipliers import coefficients, combine, gap_of
from verify.checker.objectives import Objective
from verify.checker.questions import PROVED, REFUTED, UP_TO_OWN, WITHIN_OWN, answered
from verify.checker.statement import Index, Network, Problem, Rows, outputs, pattern

Ranges: TypeAlias = list[tuple[Fraction, Fraction]]
"""For each point the least and the greatest z.h_i over all Clarke slopes."""

MAX_BRANCHES = 2**12  # sign vectors of a min-norm `not-stationary`


class Stationary(WithSubject):
    """The network satisfies the Clarke KKT conditions, up to `epsilon` and `delta`.

    multipliers: lambda.   kink_products: (i, j, mu_ij) with mu_ij = lambda_i g_ij at kinks; not listed is a lambda_i.
    """

    DECIDES = WITH_LOSSES
    ANSWERS: ClassVar = {"": answered(PROVED, WITHIN_OWN)}
    CLAIM = "{who} fits and satisfies the Clarke KKT conditions up to " + PRECISION
    LOSS_CLAIM = "{who} is stationary in the sense of Clarke up to " + LOSS_PRECISION
    multipliers: Sparse
    kink_products: Annotated[tuple[tuple[Index, Index, Number], ...], increasing] = ()
    epsilon: NotNegative = Fraction(0)
    delta: NotNegative = Fraction(0)

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the multipliers show the Clarke KKT conditions at the subject, up to epsilon and delta.

        With g_ij in the Clarke interval of the activation ({1}, {a}, or [a, 1] at a kink), G_j = sum_i c_i g_ij x_i and
        w_j.G_j = sum_i c_i s(w_j.x_i) (Euler), the residual is r = (w_j - v_j G_j, v_j - w_j.G_j), where a free bias
        does not occur in the first w_j. Checks ||r||^2 <= epsilon^2 N and, for max-margin, lambda >= 0 and
        sum lambda_i (q_i - m) <= delta N: (epsilon, delta)-KKT at the network scaled to margin 1, relative to its norm.
        For min-norm lambda has any sign and delta is 0.

        With a fit tolerance eps > 0 there are two constraints for each point, f(x_i) >= y_i - eps with the multiplier
        max(lambda_i, 0) and f(x_i) <= y_i + eps with max(-lambda_i, 0), and
        sum max(lambda_i, 0) (f(x_i) - y_i + eps) + max(-lambda_i, 0) (y_i + eps - f(x_i)) <= delta N
        is checked: what these inequalities ask for where only one of the two has a multiplier.

        Where the output weights are not trained the second part of r is left out; f is of degree 1 in theta then, and
        the same inequalities say the same of the network scaled to margin 1.

        Where a loss is asked the residual is r = (mu_w w_j - v_j G_j, mu_v v_j - w_j.G_j), M = mu_w ||W||^2 + mu_v
        ||v||^2 is in the place of N, and what is checked is that every c_i is admissible, sum_i phi_i(c_i) <= delta M
        over all points, phi_i(c) = l(y_i, f_i) - D(y_i, c) + c f_i >= 0, and ||r_w||^2 / mu_w + ||r_v||^2 / mu_v <=
        epsilon^2 M. For epsilon = delta = 0: -c_i is a subgradient of l(y_i, .) at f_i, and 0 is the gradient of the
        decay less sum_i c_i h_i, h_i in the Clarke subdifferential of f(x_i).

        Sound and complete for depth 2 without sharing, where the product of intervals is the subdifferential.

        Source: arXiv:1906.05890v4, section 2 (KKT conditions); arXiv:2110.02732, Theorem 2.1; `docs/mathematics.md`,
        14.4 "Stationary points of a loss" and 2.5 "Output biases".
        """
        is_fit, size = problem.asks_fit, weighted_norm(problem, subject)
        limits = ends(problem, subject) if is_fit else []
        on = coefficients(problem, self.multipliers)
        sums = self._sums(problem, subject, on)
        if isinstance(problem.goal, Objective):
            gap = gap_of(problem, outputs(problem, subject), on, problem.goal)
        else:
            has_slacks = constraints(problem.goal).has_slacks(problem.fit_tolerance)
            require(has_slacks or self.delta == 0, "delta", "must be 0 where every target is to be met exactly")
            products = (value * limits[i][0] if value > 0 else -value * limits[i][1] for i, value in self.multipliers)
            gap = sum(products, Fraction(0))
        reason = "multipliers of constraints that are not active are too large"
        require(gap <= self.delta * size, "delta", reason if is_fit else "the multipliers are farther from the losses")
        residual = self._residual(problem, subject, sums, sum(on.values(), Fraction(0)))
        require(residual <= self.epsilon**2 * size, "epsilon", "the residual of stationarity is larger")

    def _residual(
        self, problem: Problem, subject: Network, sums: Sequence[Sequence[Fraction]], pull: Fraction
    ) -> Fraction:
        """||r_w||^2 / mu_w + ||r_v||^2 / mu_v, with mu_w = mu_v = 1 without a loss; sums: G_j.

        With an output bias r_b^2 / mu_b more, r_b = mu_b b - pull, pull = sum c_i; where it is free over mu_v. For
        max-margin mu_b / m and mu_v / m are in their places: ||r||^2 is m times that of the network at margin 1.
        """
        decay, has_outputs, counted = problem.decay, trains_outputs(problem.trained), problem.norm_columns
        hidden: list[Fraction] = []
        output: list[Fraction] = []
        for (w, v), mask, total in zip(neurons(subject), problem.architecture.masks, sums, strict=True):
            hidden += [(decay.hidden * w[c] if c in counted else 0) - v * total[c] for c in mask]
            output += [decay.output * v - dot(w, total)] if has_outputs else []
        m, bias = bias_scale(problem, subject), Fraction(0)
        if problem.has_output_bias:
            bias = (decay.output_bias or 0) * subject.output_bias / m - pull
        return squared_norm(hidden) / decay.hidden + squared_norm(output) / decay.output + m * bias**2 / decay.of_bias

    def own_tolerance(self, problem: Problem) -> Fraction:  # noqa: ARG002
        """The larger one of epsilon and delta, as both must be allowed."""
        return max(self.epsilon, self.delta)

    @property
    def level(self) -> str:
        """Approximate where epsilon or delta is not 0."""
        return "approximate" if self.epsilon or self.delta else super().level

    def _sums(self, problem: Problem, subject: Network, on: Mapping[int, Fraction]) -> list[list[Fraction]]:
        """G_j for each neuron; a kink product lies between a lambda_i and lambda_i, whatever the sign of lambda_i."""
        slope, signs = problem.architecture.slope, pattern(problem, subject)
        factors = rules(problem.goal).factors(problem.targets)
        chosen: dict[tuple[int, int], Fraction] = {}
        for place, (i, j, value) in enumerate(self.kink_products):
            is_kink = j < len(signs) and i < len(signs[j]) and signs[j][i] == 0
            chosen[i, j], allowed = value * factors[i % len(factors)], (on.get(i, Fraction(0)), slope * on.get(i, 0))
            is_slope = is_kink and min(allowed) <= chosen[i, j] <= max(allowed)
            require(is_slope, f"kink_products[{place}]", "must be at a kink, between a lambda_i and lambda_i")
        off = {i: slope * c for i, c in on.items()}
        rows, row_unit = common_integers(problem.rows[i] for i in on)
        sums: list[list[Fraction]] = []
        for j, row in enumerate(signs):
            values = [on[i] if row[i] > 0 else chosen.get((i, j), off[i]) for i in on]
            (integers,), unit = common_integers([values])
            total = combine(integers, rows) or [0] * len(problem.rows[0])
            sums.append([z * Fraction(1, unit * row_unit) for z in total])
        return sums


class NotStationary(WithSubject):
    """No multipliers and Clarke slopes satisfy the KKT conditions up to `epsilon` and `delta`.

    vectors: directions in parameter space, one for max-margin, for min-norm such that one separates for each sign
    vector of the multipliers; with a fit tolerance each for all of them.
    """

    DECIDES = WITH_LOSSES
    ANSWERS: ClassVar = {"": answered(PROVED, UP_TO_OWN, REFUTED, REFUTED, REFUTED)}
    CLAIM = "{who} fits, but no multipliers satisfy its Clarke KKT conditions up to " + PRECISION
    LOSS_CLAIM = "no multipliers show that {who} is stationary in the sense of Clarke up to " + LOSS_PRECISION
    vectors: tuple[Rows, ...]
    epsilon: NotNegative = Fraction(0)
    delta: NotNegative = Fraction(0)
    kappa: NotNegative = Fraction(0)

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the vectors show that no multipliers and Clarke slopes reach epsilon and delta at the subject.

        Let h_i be a Clarke subgradient of q_i and theta without its free biases. If ||theta - sum lambda_i h_i|| <=
        epsilon sqrt(N) and sum lambda_i (q_i - m) <= delta N, then for a vector z with lambda_i z.h_i <= lambda_i kappa
        (q_i - m) for all slopes and all i, epsilon sqrt(N) ||z|| >= z.theta - sum lambda_i z.h_i >= z.theta - kappa
        delta N =: D. So D > 0 and D^2 > epsilon^2 N ||z||^2 exclude it. A vector serves multipliers >= 0 of point i
        when z.h_i <= kappa (q_i - m), and those <= 0 (min-norm only, where q_i = m) when z.h_i >= 0, for all slopes.
        Every sign vector on the points where not every vector serves both must be served by one of them.

        With a fit tolerance eps > 0 a point has two constraints, f(x_i) >= y_i - eps and f(x_i) <= y_i + eps, with
        multipliers a_i, b_i >= 0, subgradients h_i, h'_i and slacks s_i, s'_i, and ||theta - sum a_i h_i - b_i h'_i||
        <= epsilon sqrt(N) and sum a_i s_i + b_i s'_i <= delta N are excluded in the same way by a vector z with z.h_i
        <= kappa s_i and -z.h'_i <= kappa s'_i for all slopes and all i. This is more than excluding one multiplier for
        each point; for epsilon = delta = 0 it is the same, as s_i + s'_i = 2 eps > 0 leaves one of them.

        Where the output weights are not trained they have no part in z, and theta = (w_j).

        Where a loss is asked one vector excludes all admissible c: with r, phi and M of `Stationary.check`,
        epsilon sqrt(M) ||z||_mu >= z.r = z.(decay) - sum c_i z.h_i >= z.(decay) - kappa delta M - sum_i sup_c (c z.h_i
        - kappa phi_i(c)) =: D, ||z||_mu^2 = mu_w ||z_w||^2 + mu_v ||z_v||^2 over all columns.

        What is refuted here for epsilon = delta = 0 is no local optimum either. For eps > 0, depth 2 without sharing: a
        local optimum has |v_j| = ||w_j|| without free biases, or a neuron could be rescaled. Vary the u_j = |v_j| w_j
        of its neurons with v_j != 0, and v_j of those with a free bias and nothing else; the objective sum ||u_j|| +
        1/2 sum v_j^2 is convex and every f(x_i) piecewise linear in these, and the optimum remains one. The distances
        to sets that piecewise linear inequalities describe are at most K times what these are violated by (Hoffman, on
        each of the finitely many pieces near the point), so for a large C it is also a local minimum of the objective
        plus C sum_i max(y_i - eps - f(x_i), f(x_i) - y_i - eps, 0), at which 0 is a Clarke subgradient. Only one term
        of a maximum can reach 0 (eps > 0), and t h with t in [0, C] and h in the interval of Clarke subgradients is a
        convex set: this gives the multiplier +-t. So u_j / ||u_j|| = s_j G_j, that is w_j = v_j G_j and v_j = w_j.G_j,
        and 0 = sum_i c_i s(w_j.x_i) for a neuron that has only a free bias.

        Sound; complete for depth 2 without sharing, up to rounding of epsilon, for few points with kinks in min-norm.

        Source: Farkas' lemma; `docs/mathematics.md`, 4.4 "Refutation by separating vectors" and
        4.5 "A local optimum is a KKT point"; 14.4 "Stationary points of a loss"; exact penalties: Clarke, Optimization
        and Nonsmooth Analysis, section 2.4.
        """
        asked = problem.goal if isinstance(problem.goal, Objective) else None
        limits = ends(problem, subject) if asked is None else []
        if asked is None:
            require_slacks(problem, self.delta, self.kappa)
        else:
            require(len(self.vectors) == 1, "vectors", "must be one where a loss is asked")
        norm, decay, ranges = weighted_norm(problem, subject), problem.decay, list[Ranges]()
        of_bias = decay.of_bias / bias_scale(problem, subject)
        for k, parameters in enumerate(self.vectors):
            z = parsed(problem, f"vectors[{k}]", subject, parameters)
            is_trained = trains_outputs(problem.trained) or not any(z.output_weights)
            require(is_trained, f"vectors[{k}]", "has a part along output weights that are not trained")
            ranges.append(list(_clarke_ranges(problem, subject, z)))
            gap = _decay_along(problem, subject, z) - self.kappa * self.delta * norm
            if asked is not None:
                gap -= at(f"vectors[{k}]", _most, problem, outputs(problem, subject), asked, ranges[k], self.kappa)
            square = decay.weighted(*map(squared_norm, z.parameters[:2])) + of_bias * z.output_bias**2
            require_excluding(f"vectors[{k}]", gap, self.epsilon**2 * norm * square)
        if asked is None:
            require_all_signs(problem, limits, self.kappa, ranges)

    def own_tolerance(self, problem: Problem) -> Fraction:
        """It excludes multipliers up to its epsilon and its delta, so it refutes t up to the smaller one.

        Delta does not occur where targets are met exactly, as no constraint has a slack then.
        """
        has_delta = not problem.asks_fit or constraints(problem.goal).has_slacks(problem.fit_tolerance)
        return min(self.epsilon, self.delta) if has_delta else self.epsilon


def require_slacks(problem: Problem, delta: Fraction, kappa: Fraction) -> None:
    """Refuse what slack constraints are worth where no constraint can be slack."""
    is_within = delta == kappa == 0 or constraints(problem.goal).has_slacks(problem.fit_tolerance)
    require(is_within, "delta", "and kappa must be 0 where every target is to be met exactly")


def require_excluding(place: str, gap: Fraction, square: Fraction) -> None:
    """Refuse a vector of this gap D unless D > 0 and D^2 is above epsilon^2 N ||z||^2."""
    require(gap > 0 and gap**2 > square, place, "does not exclude epsilon and delta")


def require_all_signs(
    problem: Problem,
    limits: Sequence[tuple[Fraction, Fraction]],
    kappa: Fraction,
    ranges: Sequence[Ranges],
) -> None:
    """Refuse vectors unless one of them serves each sign vector of the multipliers (`NotStationary.check`).

    limits: how far the constraints of each point are from equality.   ranges: for each vector and point the least and
    the greatest z.h_i.
    """
    signs, served = constraints(problem.goal).signs, list[list[tuple[int, ...]]]()
    for row in ranges:
        pairs = zip(row, limits, strict=True)
        rooms = ({1: kappa * up - high, -1: kappa * down + low} for (low, high), (up, down) in pairs)
        served.append([tuple(sign for sign in signs if room[sign] >= 0) for room in rooms])
    branching = [i for i in range(len(limits)) if any(row[i] != signs for row in served)]
    require(branching == [] or not problem.fit_tolerance, "vectors", "must each serve both constraints of a point")
    wanted = len(signs) ** len(branching)
    require(wanted <= MAX_BRANCHES, "vectors", f"leave more than {MAX_BRANCHES} sign vectors of multipliers")
    found = {choice for row in served for choice in product(*(row[i] for i in branching))}
    require(len(found) == wanted, "vectors", "do not separate the subgradients for every sign of the multipliers")


def _decay_along(problem: Problem, subject: Network, z: Network) -> Fraction:
    """z.theta without free biases, each layer times its decay: the derivative along z of 1/2 N, or of the decay."""
    size = len(problem.norm_columns)
    pairs = list(zip(neurons(subject), neurons(z), strict=True))
    hidden = sum((dot(w[:size], z_w) for (w, _), (z_w, _) in pairs), Fraction(0))
    output = sum((v * z_v for (_, v), (_, z_v) in pairs), Fraction(0))
    bias = subject.output_bias * z.output_bias / bias_scale(problem, subject)
    return problem.decay.weighted(hidden, output, bias)


def _most(problem: Problem, values: Sequence[Fraction], asked: Objective, ranges: Ranges, kappa: Fraction) -> Fraction:
    """At least sum_i c_i z.h_i - kappa phi_i(c_i), for all admissible c and all slopes: each term is largest at an end.

    ranges: of z.h_i, for labels of y_i z.h_i.
    """
    total, factors = Fraction(0), rules(problem.goal).factors(problem.targets)
    for y, f, factor, ends_of in zip(problem.targets, values, factors, ranges, strict=True):
        for_ends = [asked.rise(y, f, factor * end, kappa) for end in ends_of]
        finite = [rise for rise in for_ends if rise is not None]
        require(len(finite) == len(for_ends), "", "is not bounded, as the loss has no such end and kappa is 0")
        total += max(finite)
    return total


def _clarke_ranges(problem: Problem, subject: Network, direction: Network) -> Iterator[tuple[Fraction, Fraction]]:
    """The least and greatest z.h_i over all Clarke slopes, for every point i.

    With z = (z_wj, z_vj) and b_j = v_j z_wj + z_vj w_j it is the sum over j of g_ij b_j.x_i (times y_i for max-margin):
    also at a kink, where w_j.x_i = 0.
    """
    off, on = problem.architecture.slope.as_integer_ratio()
    pairs = zip(neurons(subject), neurons(direction), strict=True)
    vectors, unit = common_integers(
        [v * b + z_v * a for a, b in zip(w, z_w, strict=True)] for (w, v), (z_w, z_v) in pairs
    )
    factors = rules(problem.goal).factors(problem.targets)
    columns = zip(problem.rows, factors, zip(*pattern(problem, subject), strict=True), strict=True)
    for row, factor, signs in columns:
        (point,), row_unit = common_integers([row])
        values = [(sum(map(mul, vector, point)), sign) for vector, sign in zip(vectors, signs, strict=True)]
        slopes = {1: (on,), 0: (off, on), -1: (off,)}
        sums = (sum(pick(z * g for g in slopes[sign]) for z, sign in values) for pick in (min, max))
        ends_of = (end * Fraction(1, unit * row_unit * on) + direction.output_bias for end in sums)
        low, high = sorted(end * factor for end in ends_of)
        yield low, high
