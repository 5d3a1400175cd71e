"""The certificates: what each kind claims, what it holds, and how it is checked.

Exact arithmetic (rational, or in one real algebraic number field), no tolerances; nothing here searches, guesses or
rounds inwards. Notation: x_i the lifted rows, y_i the targets, s(z) = max(z, a z), f(x) = sum_j v_j s(w_j.x),
theta = (w_j, v_j), N = ||theta||^2 without the biases when these are free, q_i = y_i f(x_i) for max-margin and f(x_i)
for min-norm, m = min_i q_i; c_i = lambda_i y_i for max-margin, lambda_i for min-norm, and h(u) = sum_i c_i s(x_i.u) the
dual function. The objective is 1/2 N of a network that fits, for max-margin scaled to margin 1: N / 2m. eps is the fit
tolerance of a min-norm problem: a network fits when |f(x_i) - y_i| <= eps for all i.

The dual value D of multipliers is sum_i lambda_i for max-margin, sum_i lambda_i y_i - eps sum_i |lambda_i| for
min-norm: D <= sum_i c_i f(x_i) for every network that fits (at margin 1), as y_i f(x_i) >= 1, lambda_i >= 0, or
lambda_i f(x_i) >= lambda_i y_i - |lambda_i| eps.

JSON: an object with "schema", "kind" and the fields of the class below. Rationals are canonical text, and where a
`Number` may stand, an algebraic one is {"field": {"polynomial", "interval"}, "coefficients": [...]}; a sparse vector is
[[i, "q"], ...]; a tree is the list of its nodes in pre-order, an inner node being what it splits on.

Every kind is sound: what passes `check` is true over the real numbers. `check` raises CertificateError otherwise.

Source: `docs/mathematics.md`, which has the proofs at length; the certificate format of VIPR (Cheung, Gleixner, Steffy
2017) for the bracket and the style.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from itertools import chain, product
from operator import mul, sub
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from verify.checker.codec import Record, at, increasing, not_negative, positive
from verify.checker.errors import CertificateError, require
from verify.checker.exact import Algebraic, Number, Whole, common_integers, dot, sqrt_upper, squared_norm, value_text
from verify.checker.statement import (
    Goal,
    Index,
    Natural,
    Network,
    Problem,
    Rows,
    Trained,
    half_squared_norm,
    outputs,
    pattern,
)

PRECISION = "epsilon {epsilon} relative to the norm and delta {delta} relative to the squared norm{scale}"
NO_FIT = "this network does not fit the data"
ROOT_BITS = 200  # of the norms at the end of a segment
MAX_BRANCHES = 2**12  # sign vectors of a min-norm `not-stationary`

NotNegative: TypeAlias = Annotated[Fraction, not_negative]
Sparse: TypeAlias = Annotated[tuple[tuple[Index, Number], ...], increasing]
Terms: TypeAlias = Annotated[tuple[tuple[Index, int], ...], increasing]
Range: TypeAlias = tuple[Index, Literal["+", "-"], int, Terms]
Cell: TypeAlias = tuple[tuple[int, ...], int, Mapping[int, int]]
"""The columns that a direction of an enclosed point sees, its sign, and its side of each point of the support."""

Case: TypeAlias = tuple[tuple[int, ...], Sequence[int], int]
"""What a tree proves: on these columns, where each x_i.u has this sign (0: any; none listed: any), and s."""


class Certificate(Record):
    """A certificate: SHA-256 of the canonical problem, and the claim, which fills CLAIM in with numbers."""

    SCHEMA = "certificate-1"
    CLAIM: ClassVar[str] = ""

    problem: str = field(default="", kw_only=True)
    claim: str = field(default="", kw_only=True)

    def __init_subclass__(cls) -> None:
        cls.KIND = re.sub(r"\B(?=[A-Z])", "-", cls.__name__).lower()
        super().__init_subclass__()

    def examine(self, problem: Problem, network: Network | None) -> None:
        """Raise CertificateError unless this proves its claim about the problem and the network (None for none)."""
        require(self.problem == problem.sha256(), "problem", "the certificate is about another problem")
        require(self.claim == claim_text(problem, self), "claim", "differs from what the certificate proves")
        is_decided = problem.is_decided or isinstance(self, Fits | DoesNotFit)
        require(is_decided, "problem", "is not of depth 2 without sharing, all trained; only fits is decided then")
        self.check(problem, self.subject_of(problem, network))

    def subject_of(self, problem: Problem, network: Network | None) -> Any:  # noqa: ARG002
        """The network that the statement is about, if any."""
        return None

    def check(self, problem: Problem, subject: Any) -> None:
        """Raise CertificateError unless the claim is true."""
        raise NotImplementedError


class AboutNetwork(Certificate):
    """A certificate about a network: its SHA-256."""

    network: str = field(default="", kw_only=True)

    def subject_of(self, problem: Problem, network: Network | None) -> Network:
        """The given network."""
        if network is None:
            raise CertificateError("network", "the certificate speaks of a network, and none is given")
        require(network.architecture == problem.architecture, "network", "has another architecture than the problem")
        require(self.network == network.sha256(), "network", "the certificate is about another network")
        return network


class WithSubject(AboutNetwork):
    """`subject` holds the parameters of the network that the statement is about, None for the given one.

    ||subject - given|| <= moved ||given||, over all parameters.
    """

    subject: Rows | None = field(default=None, kw_only=True)
    moved: NotNegative = field(default=Fraction(0), kw_only=True)

    def subject_of(self, problem: Problem, network: Network | None) -> Network:
        """The given network, or the subject when it is near enough."""
        given = super().subject_of(problem, network)
        subject = given if self.subject is None else at("subject", Network, given.architecture, self.subject)
        new, old = (list(chain(*one.parameters)) for one in (subject, given))
        is_near = squared_norm(map(sub, new, old)) <= self.moved**2 * squared_norm(old)
        is_near = is_near and (self.moved == 0 or self.subject is not None)
        require(is_near, "moved", "the subject is farther from the given network than that, or there is none")
        is_allowed = problem.trained is Trained.BOTH or subject.parameters[-1] == given.parameters[-1]
        require(is_allowed, "subject", "the output weights are not trained and must be the given ones")
        return subject


def claim_text(problem: Problem, proof: Certificate) -> str:
    """The one sentence that an accepted certificate proves: about what, CLAIM, and in which sense."""
    found: dict[str, Any] = vars(proof)
    numbers = {name: value_text(found[name]) for name, q in found.items() if isinstance(q, Fraction | Algebraic)}
    for name, end in zip(("lower", "upper"), getattr(proof, "bracket", ()), strict=False):
        numbers[name] = value_text(end or Fraction(0))
    moved = isinstance(proof, WithSubject) and proof.subject is not None
    who = f"the subject, within {numbers['moved']} of the network relative to its norm," if moved else "the network"
    shape, points = problem.architecture, len(problem.targets)
    masks = ", masked" if any(len(mask) < shape.layers[0].columns for mask in shape.mask_classes) else ""
    scale = " at margin 1" if problem.goal is Goal.MAX_MARGIN else ""
    within = f"every target within {value_text(problem.fit_tolerance)}" if problem.fit_tolerance else ""
    zero = within or "equality"
    return (
        f"for the {problem.goal} problem ({points} points in dimension {shape.layers[0].inputs}, slope "
        f"{value_text(shape.slope)}, bias {problem.bias}{masks}, {problem.trained} trained, half squared norm{scale}"
        f"{', ' if within else ''}{within}), "
        f"{proof.CLAIM.format(who=who, proof=proof, scale=scale, zero=zero, **numbers)}, over the real numbers, about "
        "the exact values of the stored numbers"
    )


# ------------------------------------------------------------------------------------------------- does it fit?


def _factors(problem: Problem) -> Sequence[Fraction]:
    """What turns f(x_i) into q_i and lambda_i into c_i: y_i for max-margin, 1 for min-norm."""
    return problem.targets if problem.goal is Goal.MAX_MARGIN else [Fraction(1)] * len(problem.targets)


def _neurons(network: Network) -> list[tuple[tuple[Fraction, ...], Fraction]]:
    """(w_j, v_j) of each neuron."""
    return list(zip(network.hidden_weights, network.output_weights, strict=True))


@lru_cache(maxsize=4)
def _slacks(problem: Problem, network: Network, place: str = "subject") -> tuple[Fraction, list[Fraction]]:
    """(m, q_i - m), m the least q_i, for max-margin; (0, f(x_i) - y_i) for min-norm; refuses a network that does not
    fit.
    """
    values = list(map(mul, _factors(problem), outputs(problem, network)))
    if problem.goal is Goal.MAX_MARGIN:
        margin = min(values)
        require(margin > 0, place, NO_FIT)
        return margin, [value - margin for value in values]
    apart = list(map(sub, values, problem.targets))
    require(max(map(abs, apart)) <= problem.fit_tolerance, place, NO_FIT)
    return Fraction(0), apart


def _ends(problem: Problem, network: Network) -> list[tuple[Fraction, Fraction]]:
    """For every point how far its constraints are from holding with equality: the slack of what multipliers > 0, and
    of what multipliers < 0 stand for. Refuses a network that does not fit.

    max-margin: q_i - m for both (no multiplier is negative).   min-norm: f(x_i) >= y_i - eps, and f(x_i) <= y_i + eps.
    """
    _, slacks = _slacks(problem, network)
    if problem.goal is Goal.MAX_MARGIN:
        return [(slack, slack) for slack in slacks]
    return [(problem.fit_tolerance + apart, problem.fit_tolerance - apart) for apart in slacks]


def _has_slacks(problem: Problem) -> bool:
    """Whether a constraint may hold without being active."""
    return problem.goal is Goal.MAX_MARGIN or problem.fit_tolerance > 0


def _objective(problem: Problem, network: Network, place: str = "subject") -> Fraction:
    margin, _ = _slacks(problem, network, place)
    return half_squared_norm(problem, network) / (margin or 1)


class Fits(WithSubject):
    """The network meets every constraint; `margin` is min y_i f(x_i) > 0 for max-margin, 0 for min-norm."""

    CLAIM = "{who} fits, with least margin {margin} (0 means {zero})"
    margin: Number

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the least margin is as stated."""
        margin, _ = _slacks(problem, subject)
        require(self.margin == margin, "margin", f"is {value_text(margin)}")


class DoesNotFit(AboutNetwork):
    """The given network breaks the constraint of `point` at every scale: y_i f(x_i) <= 0, or |f(x_i) - y_i| > eps."""

    CLAIM = "{who} does not fit: it breaks the constraint of point {proof.point}"
    point: Index

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the constraint of the point is broken."""
        require(self.point < len(problem.targets), "point", f"there are only {len(problem.targets)} points")
        value, target = outputs(problem, subject)[self.point], problem.targets[self.point]
        is_margin = problem.goal is Goal.MAX_MARGIN
        holds = target * value > 0 if is_margin else abs(value - target) <= problem.fit_tolerance
        require(not holds, "point", "the constraint of this point holds")


# ------------------------------------------------------------------------------------------------- stationarity


def _coefficients(problem: Problem, multipliers: Sparse) -> dict[int, Fraction]:
    """c_i for the listed points; refuses indices out of range and, for max-margin, negative multipliers."""
    for place, (i, value) in enumerate(multipliers):
        is_allowed = i < len(problem.targets) and (value >= 0 or problem.goal is Goal.MIN_NORM)
        require(is_allowed, f"multipliers[{place}]", f"must be of one of {len(problem.targets)} points, not negative")
    common_integers([[value for _, value in multipliers]])  # refuses numbers that are too long together
    return {i: value * _factors(problem)[i] for i, value in multipliers}


def _combine(factors: Sequence[int], rows: Sequence[Sequence[int]]) -> list[int]:
    """The linear combination of rows; empty for none."""
    return [sum(map(mul, factors, column)) for column in zip(*rows, strict=True)]


class Stationary(WithSubject):
    """The network satisfies the Clarke KKT conditions, up to `epsilon` and `delta`.

    multipliers: lambda.   kink_products: (i, j, mu_ij) with mu_ij = lambda_i g_ij at kinks; not listed is a lambda_i.
    """

    CLAIM = "{who} fits and satisfies the Clarke KKT conditions up to " + PRECISION
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

        Sound and complete for depth 2 without sharing, where the product of intervals is the subdifferential.

        Source: arXiv:1906.05890v4, section 2 (KKT conditions); arXiv:2110.02732, Theorem 2.1.
        """
        ends = _ends(problem, subject)
        norm, counted = 2 * half_squared_norm(problem, subject), problem.norm_columns
        sums = self._sums(problem, subject, _coefficients(problem, self.multipliers))
        require(_has_slacks(problem) or self.delta == 0, "delta", "must be 0 where every target is to be met exactly")
        products = (value * ends[i][0] if value > 0 else -value * ends[i][1] for i, value in self.multipliers)
        slackness = sum(products, Fraction(0))
        require(slackness <= self.delta * norm, "delta", "multipliers of constraints that are not active are too large")
        residual: list[Fraction] = []
        for (w, v), mask, total in zip(_neurons(subject), problem.architecture.masks, sums, strict=True):
            residual += [(w[c] if c in counted else 0) - v * total[c] for c in mask]
            residual.append(v - dot(w, total))
        require(squared_norm(residual) <= self.epsilon**2 * norm, "epsilon", "the residual of stationarity is larger")

    def _sums(self, problem: Problem, subject: Network, on: Mapping[int, Fraction]) -> list[list[Fraction]]:
        """G_j for each neuron; a kink product lies between a lambda_i and lambda_i, whatever the sign of lambda_i."""
        slope, factors, signs = problem.architecture.slope, _factors(problem), pattern(problem, subject)
        chosen: dict[tuple[int, int], Fraction] = {}
        for place, (i, j, value) in enumerate(self.kink_products):
            is_kink = j < len(signs) and i < len(signs[j]) and signs[j][i] == 0
            chosen[i, j], ends = value * factors[i % len(factors)], (on.get(i, Fraction(0)), slope * on.get(i, 0))
            is_slope = is_kink and min(ends) <= chosen[i, j] <= max(ends)
            require(is_slope, f"kink_products[{place}]", "must be at a kink, between a lambda_i and lambda_i")
        off = {i: slope * c for i, c in on.items()}
        rows, row_unit = common_integers(problem.rows[i] for i in on)
        sums: list[list[Fraction]] = []
        for j, row in enumerate(signs):
            values = [on[i] if row[i] > 0 else chosen.get((i, j), off[i]) for i in on]
            (integers,), unit = common_integers([values])
            total = _combine(integers, rows) or [0] * len(problem.rows[0])
            sums.append([z * Fraction(1, unit * row_unit) for z in total])
        return sums


class NotStationary(WithSubject):
    """No multipliers and Clarke slopes satisfy the KKT conditions up to `epsilon` and `delta`.

    vectors: directions in parameter space, one for max-margin, for min-norm such that one separates for each sign
    vector of the multipliers; with a fit tolerance each for all of them.
    """

    CLAIM = "{who} fits, but no multipliers satisfy its Clarke KKT conditions up to " + PRECISION
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
        4.5 "A local optimum is a KKT point"; exact penalties: Clarke, Optimization and Nonsmooth Analysis, section 2.4.
        """
        limits = _ends(problem, subject)
        norm, size = 2 * half_squared_norm(problem, subject), len(problem.norm_columns)
        signs = (1,) if problem.goal is Goal.MAX_MARGIN else (1, -1)
        is_exact = self.delta == self.kappa == 0
        require(
            _has_slacks(problem) or is_exact, "delta", "and kappa must be 0 where every target is to be met exactly"
        )
        served: list[list[tuple[int, ...]]] = []
        for k, parameters in enumerate(self.vectors):
            z: Network = at(f"vectors[{k}]", Network, subject.architecture, parameters)
            parts = (
                v * z_v + dot(w[:size], z_w) for (w, v), (z_w, z_v) in zip(_neurons(subject), _neurons(z), strict=True)
            )
            gap = sum(parts, -self.kappa * self.delta * norm)
            excludes = gap > 0 and gap**2 > self.epsilon**2 * norm * squared_norm(chain(*z.parameters))
            require(excludes, f"vectors[{k}]", "does not exclude epsilon and delta")
            ranges = zip(_clarke_ranges(problem, subject, z), limits, strict=True)
            ends = ({1: self.kappa * up - high, -1: self.kappa * down + low} for (low, high), (up, down) in ranges)
            served.append([tuple(sign for sign in signs if end[sign] >= 0) for end in ends])
        branching = [i for i in range(len(limits)) if any(row[i] != signs for row in served)]
        require(branching == [] or not problem.fit_tolerance, "vectors", "must each serve both constraints of a point")
        wanted = len(signs) ** len(branching)
        require(wanted <= MAX_BRANCHES, "vectors", f"leave more than {MAX_BRANCHES} sign vectors of multipliers")
        found = {choice for row in served for choice in product(*(row[i] for i in branching))}
        require(len(found) == wanted, "vectors", "do not separate the subgradients for every sign of the multipliers")


def _clarke_ranges(problem: Problem, subject: Network, direction: Network) -> Iterator[tuple[Fraction, Fraction]]:
    """The least and greatest z.h_i over all Clarke slopes, for every point i.

    With z = (z_wj, z_vj) and b_j = v_j z_wj + z_vj w_j it is the sum over j of g_ij b_j.x_i (times y_i for max-margin):
    also at a kink, where w_j.x_i = 0.
    """
    off, on = problem.architecture.slope.as_integer_ratio()
    pairs = zip(_neurons(subject), _neurons(direction), strict=True)
    vectors, unit = common_integers(
        [v * b + z_v * a for a, b in zip(w, z_w, strict=True)] for (w, v), (z_w, z_v) in pairs
    )
    columns = zip(problem.rows, _factors(problem), zip(*pattern(problem, subject), strict=True), strict=True)
    for row, factor, signs in columns:
        (point,), row_unit = common_integers([row])
        values = [(sum(map(mul, vector, point)), sign) for vector, sign in zip(vectors, signs, strict=True)]
        slopes = {1: (on,), 0: (off, on), -1: (off,)}
        ends = (sum(pick(z * g for g in slopes[sign]) for z, sign in values) for pick in (min, max))
        low, high = sorted(end * factor * Fraction(1, unit * row_unit * on) for end in ends)
        yield low, high


# ------------------------------------------------------------------------------------------------- dual points


class Bound(Record):
    """A leaf on which h(u) <= p.u + R ||u|| closes: one slope per point of the support, a numerator over `denominator`.

    slopes: each counts from a c_i; "e" stands for exactly (1 - a) c_i, the slope of a point that is ON.
    ranges: (i, "+", r, terms) for x_i.u <= r ||u|| and (i, "-", l, terms) for -x_i.u <= l ||u||, l and r numerators
    as well, proved with weights (k, m) of decided points.
    """

    slopes: tuple[Whole | Literal["e"], ...]
    ranges: tuple[Range, ...] = ()


class Empty(Record):
    """A leaf without interior: sum m_i s_i x_i = 0 over decided points, all m_i > 0; `weights` lists (i, m_i)."""

    weights: Terms


class Active(Record):
    """A leaf on the cell of direction `active` of an enclosed point, where h(u) <= p.u and ||p|| = 1 exactly."""

    active: Index


Nodes: TypeAlias = tuple[Index | Bound | Empty | Active, ...]
"""A tree in pre-order: a number i splits, left child x_i.u >= 0, right child x_i.u <= 0."""


class Dual(Record):
    """Multipliers, and trees that prove s h(u) <= beta ||u|| in a number of cases; D / beta is a lower bound then."""

    multipliers: Sparse
    beta: Annotated[Fraction, positive]
    denominator: Natural
    trees: tuple[Nodes, ...]

    def value(self, problem: Problem, cases: Sequence[Case], cells: Sequence[Cell] = ()) -> Fraction:
        """D / beta when there is a true tree for each case.

        Then a network that fits (max-margin: with y_i f(x_i) >= 1), each of whose neurons is in one of the cases with s
        the sign of v_j, has D <= sum_i c_i f(x_i) = sum_j v_j h(w_j) <= beta sum |v_j| ||w_j|| <= beta 1/2 ||theta||^2.

        Source: `docs/mathematics.md`, 5.1 "Weak duality" and 5.3 "Trees"; the balance inequality is standard.
        """
        coefficients = _coefficients(problem, self.multipliers)
        require(len(self.trees) == len(cases), "trees", f"must be {len(cases)}, one for each case")
        for k, (nodes, case) in enumerate(zip(self.trees, cases, strict=True)):
            at(f"trees[{k}]", _Side(problem, coefficients, self, case, cells).check, nodes)
        return _dual_value(problem, coefficients) / self.beta


def _dual_value(problem: Problem, coefficients: Mapping[int, Fraction]) -> Fraction:
    """D: sum lambda_i for max-margin, sum lambda_i y_i - eps sum |lambda_i| for min-norm (c_i = lambda_i there)."""
    value = sum((c * problem.targets[i] for i, c in coefficients.items()), Fraction(0))
    tolerance = problem.fit_tolerance
    return value - tolerance * sum(map(abs, coefficients.values()), Fraction(0)) if tolerance else value


def _leaves(nodes: Sequence[Any], place: str, known: Mapping[Any, int], allowed: Container[Any]) -> Iterator[Any]:
    """The leaves of a whole binary tree in pre-order with the path to each: 1 for left, -1 for right, `known` before.

    A node that is no record is what an inner node decides: something allowed, once on a path.
    """
    path = dict(known)  # to the next node
    is_whole = False
    for k, node in enumerate(nodes):
        here = f"{place}[{k}]"
        require(not is_whole, here, "the tree is already complete")
        if not isinstance(node, Record):
            require(node in allowed and node not in path, here, "decides what is decided, or not to be decided")
            path[node] = 1
            continue
        yield node, path, here
        while len(path) > len(known) and path[next(reversed(path))] < 0:
            path.popitem()
        is_whole = len(path) == len(known)
        if not is_whole:
            path[next(reversed(path))] = -1
    require(is_whole, place, "a subtree is missing")


def centred(rows: Sequence[Sequence[Fraction]], counted: int) -> list[list[Fraction]]:
    """The rows without the midpoint of their bounding box, in the first `counted` columns."""
    middle = [(min(column) + max(column)) / 2 for column in zip(*rows, strict=True)][:counted]
    return [[*map(sub, row, middle), *row[counted:]] for row in rows]


class _Side:
    """s h(u) = sum_i c_i s(x_i.u) on the columns of one mask class, s = +1 or -1, in integers over a few units.

    x_i = rows[k] / row_unit, k = points[i];   c_i a = base[k] / unit;   c_i (1 - a) = excess[k] / unit;
    |x_i.u| <= sizes[i] / (denominator size_unit) ||u||;   t / denominator = t step / unit for slopes.
    counted: how many columns count in the norm; a free bias is the one after.   reach: B size_unit, None if unused.
    A leaf with p = P / (unit row_unit), R = O / (unit denominator size_unit) closes when whole - rate O - scale B |P_b|
    is at least scale ||P_w||.
    known: signs of points that hold in advance.   cells: sides of the points for directions that leaves may name.

    With a free bias, u = (w, b) and ||u|| = ||w||, and s h(u) <= beta ||w|| is shown for |b| <= B ||w|| alone, B >=
    ||x_i|| for all listed points. That is enough, at each end, if (i) s C <= 0 at the end b > 0, s a C >= 0 at the end
    b < 0, with C = sum c_i, or (ii) a known sign forbids that all listed points are ON there, or all OFF: say b > B
    ||w||. All listed points are ON at (w, b), so it is in the cone only if no known sign is OFF, and (i) is what is
    left; as x_i.w + B ||w|| >= 0 the point (w, B ||w||) is then in the cone, and s h(w, b) = s h(w, B ||w||) + (b - B
    ||w||) s C <= beta ||w||. At b < -B ||w|| all are OFF, and s h(w, b) = s h(w, -B ||w||) + (b + B ||w||) s a C. This
    holds for w = 0, where h(0, B ||w||) = 0. C = 0 is enough for (i). Where neither holds there is no B, and p and the
    vectors of ranges must have no part along the bias.
    The points are taken from the midpoint o of their bounding box: x_i.w + b = (x_i - o).w + (b + o.w), and (w, b)
    -> (w, b + o.w) is a bijection that keeps ||w||, every cell, and every linear relation between the x_i.
    """

    def __init__(
        self, problem: Problem, c: Mapping[int, Fraction], dual: Dual, case: Case, cells: Sequence[Cell]
    ) -> None:
        mask, known, sign = case
        off, on = problem.architecture.slope.as_integer_ratio()
        rows = [[problem.rows[i][column] for column in mask] for i in c]
        self.counted = sum(column in problem.norm_columns for column in mask)
        has_bias = self.counted < len(mask)
        rows = centred(rows, self.counted) if has_bias else rows
        self.rows, self.row_unit = common_integers(rows)
        (signed,), unit = common_integers([[sign * value for value in c.values()]])
        self.points = {i: k for k, i in enumerate(c)}
        self.known = {i: side for i, side in enumerate(known) if side and i in self.points}
        self.cells = {
            q: cell for q, (seen, own, cell) in enumerate(cells) if seen == mask and (own == sign or off == on)
        }
        self.denominator, self.step = dual.denominator, on * unit
        self.base = [off * dual.denominator * z for z in signed]
        self.excess = [(on - off) * dual.denominator * z for z in signed]
        (sizes,), self.size_unit = common_integers([[sqrt_upper(squared_norm(row[: self.counted])) for row in rows]])
        self.reach = self._reach(sum(signed), off, sizes) if has_bias else 0
        self.sizes: dict[int, int] = {}
        if self.reach is not None:
            self.sizes = {i: (z + self.reach) * dual.denominator for i, z in zip(c, sizes, strict=True)}
        whole = dual.beta * dual.denominator * self.step * self.row_unit
        rate = Fraction(self.row_unit, dual.denominator * self.size_unit)
        ((self.whole, self.rate, self.lever),), self.scale = common_integers(
            [[whole, rate, Fraction(self.reach or 0, self.size_unit)]]
        )

    def _reach(self, total: int, off: int, sizes: Sequence[int]) -> int | None:
        """B over size_unit where s h(u) needs to be bounded for |b| <= B ||w|| only; total: s C up to a factor > 0."""
        sides = {*self.known.values()}
        is_enough = (total <= 0 or -1 in sides) and (off * total >= 0 or 1 in sides)
        return max(sizes, default=0) if is_enough else None

    def check(self, nodes: Nodes) -> None:
        """Whether the nodes are one whole binary tree whose leaves all prove the bound: their cells cover the cone.

        A point with multiplier 0 is there to be split on, or to be known: its slopes are then multiples of x_i.
        On the cell of a direction p of an enclosed point, with all points of c_i > 0 decided as p decides them, s h(u)
        is at most p.u, and ||p|| = 1: p has the slopes of the decided points, and c_i s(z) is concave at the others.
        A kink of p with c_i > 0 is neither (s h(u) > p.u on one side of it): then no leaf may name p.
        """
        for leaf, path, here in _leaves(nodes, "", self.known, self.points):
            if isinstance(leaf, Bound):
                self._check_bound(leaf, path, here)
            elif isinstance(leaf, Empty):
                self._check_empty(leaf, path, here)
            else:
                cell, ups = self.cells.get(leaf.active, {}), [i for i, q in self.points.items() if self.excess[q] > 0]
                is_cell = len(cell) > 0 and all(cell[i] == path.get(i) for i in ups)
                require(is_cell, here, "is not the cell of a direction of this sign and these columns")

    def _check_bound(self, leaf: Bound, path: Mapping[int, int], place: str) -> None:
        """Whether s h(u) <= p.u + R ||u|| on the cell, R <= beta and ||p|| <= beta - R.

        Point i has the slope q_i = a c_i + t_i with c_i s(z) <= q_i z + R_i ||u||, z = x_i.u; write e_i = (1 - a) c_i.
        As c_i s(z) = a c_i z + e_i max(z, 0), this is e_i max(z, 0) <= t_i z + R_i ||u||. It holds with R_i = 0 where
        z >= 0 if t_i >= e_i; where z <= 0 if t_i <= 0; anywhere if e_i <= t_i <= 0; and anywhere if 0 <= t_i <= e_i
        with R_i = max(t_i l_i, (e_i - t_i) r_i), -l_i ||u|| <= z <= r_i ||u||. Then p = sum q_i x_i and R = sum R_i.
        The norm leaves a free bias out: with |b| <= B ||w||, ||p_w|| + |p_b| B is in the place of ||p||, and ||x_i|| +
        B is a range of x_i; without B there is no such range, and p_b must be 0.
        """
        require(len(leaf.slopes) == len(self.rows), f"{place}.slopes", f"must be {len(self.rows)}, one for each point")
        bounds = {listed[:2]: self._range(listed, path, f"{place}.ranges[{k}]") for k, listed in enumerate(leaf.ranges)}
        slopes: list[int] = []
        offset = 0  # R over unit * denominator * size_unit
        for point, slope, excess, base in zip(self.points, leaf.slopes, self.excess, self.base, strict=True):
            t = excess if slope == "e" else slope * self.step
            sign = path.get(point, 0)
            if not (t >= excess if sign > 0 else t <= 0 if sign < 0 else min(excess, 0) <= t <= max(excess, 0)):
                raise CertificateError(f"{place}.slopes[{len(slopes)}]", "is not a slope that this cell allows")
            if sign == 0 and excess > 0:
                size = self.sizes.get(point)
                left, right = bounds.get((point, "-"), size), bounds.get((point, "+"), size)
                if (left is None and t) or (right is None and t != excess):
                    raise CertificateError(f"{place}.ranges", f"must bound point {point}, as the bias is free")
                offset += max(t * (left or 0), (excess - t) * (right or 0))
            slopes.append(base + t)
        p = _combine(slopes, self.rows)
        head, bias = p[: self.counted], p[self.counted :]
        require(self.reach is not None or not any(bias), f"{place}.slopes", "p has a part along the free bias")
        gap = self.whole - self.rate * offset - self.lever * sum(map(abs, bias))
        is_closed = gap >= 0 and self.scale**2 * sum(map(mul, head, head)) <= gap**2
        require(is_closed, place, "does not close: ||p|| + R > beta")

    def _range(self, listed: Range, path: Mapping[int, int], place: str) -> int:
        """r over denominator * size_unit, when x.u <= r ||u|| on the cell, x = ±x_i.

        Checks r >= ||x + sum m_k s_k x_k||, m_k >= 0: as s_k x_k.u >= 0 on the cell, x.u is at most the product of u
        with that vector z. With a free bias, r - |z_b| B >= ||z_w|| for |b| <= B ||w||, and without B z_b must be 0.
        """
        point, end, bound, terms = listed
        are_decided = all(i in path and weight >= 0 for i, weight in terms)
        is_open = point in self.points and point not in path and self.excess[self.points[point]] > 0
        require(is_open, place, "must be about an undecided point with c_i > 0")
        require(bound >= 0 and are_decided, place, "must have numbers >= 0, and weights only on points decided here")
        factors = [self.denominator if end == "+" else -self.denominator, *(weight * path[i] for i, weight in terms)]
        vector = _combine(factors, [self.rows[self.points[i]] for i in (point, *(i for i, _ in terms))])
        head, bias = vector[: self.counted], vector[self.counted :]
        room = bound * self.row_unit * self.size_unit - (self.reach or 0) * sum(map(abs, bias))
        is_range = room >= 0 and sum(map(mul, head, head)) * self.size_unit**2 <= room**2
        is_range = is_range and (self.reach is not None or not any(bias))
        require(is_range, place, "is larger, or has a part along the free bias")
        return bound * self.size_unit

    def _check_empty(self, leaf: Empty, path: Mapping[int, int], place: str) -> None:
        """Whether the cell has no interior: all s_i x_i.u >= 0 and sum m_i s_i x_i = 0 with m_i > 0 make x_i.u = 0.

        Then the other leaves cover a dense set, and s h(u) <= beta ||u|| holds everywhere by continuity.
        """
        are_decided = all(point in path and weight > 0 for point, weight in leaf.weights)
        require(are_decided and leaf.weights != (), place, "must have weights > 0, on points decided here")
        rows = [self.rows[self.points[point]] for point, _ in leaf.weights]
        is_empty = all(map(any, rows)) and not any(_combine([m * path[i] for i, m in leaf.weights], rows))
        require(is_empty, place, "must combine points that the mask does not hide to 0")


class LowerBound(Dual, Certificate):
    """No network of any width has an objective below L, `bracket = (L, None)`; trees by mask class, "+" before "-"."""

    CLAIM = "every network of any width that fits has an objective of at least {lower}"
    bracket: tuple[Number | None, Number | None]

    def check(self, problem: Problem, subject: None) -> None:
        """Whether every network of any width with these masks has an objective of at least L = D / beta."""
        lower = self.value(problem, every_case(problem))
        require((lower, subject) == self.bracket and lower >= 0, "bracket", "must be dual value / beta and null")


def every_case(problem: Problem) -> list[Case]:
    """The cases of a bound for networks of any width."""
    return [(mask, (), sign) for mask in problem.architecture.mask_classes for sign in (1, -1)]


class OptimalWithin(WithSubject):
    """The network's objective is at most (1 + `tolerance`) times the bound that `lower` proves."""

    CLAIM = "{who} fits, and its objective is at most 1 + {tolerance} times that of any network of any width that fits"
    tolerance: NotNegative
    lower: LowerBound

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether objective(subject) <= (1 + tolerance) L, L proved by the lower bound."""
        at("lower", self.lower.examine, problem, None)
        is_within = _objective(problem, subject) <= (1 + self.tolerance) * (self.lower.bracket[0] or 0)
        require(is_within, "tolerance", "the objective is farther above the lower bound")


class Infeasible(Certificate):
    """No network of any width fits: the dual function of `multipliers` vanishes, and their dual value does not."""

    CLAIM = "no network of any width fits"
    multipliers: Sparse

    def check(self, problem: Problem, subject: None) -> None:  # noqa: ARG002
        """Whether h vanishes and the dual value D does not, so that no network of any width fits.

        If f fits, D <= sum_i c_i f(x_i) = sum_j v_j h(w_j) = 0, which D > 0 excludes. Interpolation (eps = 0) makes
        both equal, and D < 0 excludes it too; with eps > 0 it excludes nothing. As s(z) = (1+a)/2 z + (1-a)/2 |z|, h =
        0 on a mask class if sum c_i x_i = 0 and, for a < 1, on each line {t r} of the masked x_i = t_i r: sum c_i |t_i|
        = 0.

        Source: `docs/mathematics.md`, 5.5 "Infeasibility".
        """
        coefficients = _coefficients(problem, self.multipliers)
        value = _dual_value(problem, coefficients)
        require(value != 0, "multipliers", "have the dual value 0")
        is_excluding = value > 0 or problem.fit_tolerance == 0
        require(is_excluding, "multipliers", "have a negative dual value, which excludes nothing within a tolerance")
        for mask in problem.architecture.mask_classes:
            lines: dict[tuple[Fraction, ...], Fraction] = defaultdict(Fraction)
            rows = [[problem.rows[i][column] for column in mask] for i in coefficients]
            for c, row in zip(coefficients.values(), rows, strict=True):
                lead = next(filter(None, row), Fraction(0))
                lines[tuple(z / (lead or 1) for z in row)] += c * abs(lead)
            totals = [dot(coefficients.values(), column) for column in zip(*rows, strict=True)]
            is_zero = not any(totals) and (problem.architecture.slope == 1 or not any(lines.values()))
            require(is_zero, "multipliers", "sum c_i x_i is not 0, or sum c_i |x_i| on a line of points")


# ------------------------------------------------------------------------------------------------- local optima


class Local(WithSubject):
    """No network near this one is better: a tree of choices in pre-order, the left one first, each with a dual point.

    A choice (j, i) at a point i with w_j.x_i = 0 is left x_i.u_j >= 0, right x_i.u_j <= 0; (j, None) at a neuron with
    v_j = 0 is left v_j >= 0, right v_j <= 0.
    """

    CLAIM = "{who} fits and is a local optimum"
    nodes: tuple[tuple[Index, Index | None] | Dual, ...]

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether no network near the subject that fits has a smaller objective O (for max-margin at margin 1).

        Near the subject every preactivation and output weight that is not 0 keeps its sign. The tree of choices decides
        others; its leaves cover all cases. In each, neuron j has an output sign s_j and its u_j is in the cone of the
        signs: D / beta = O is a lower bound there. One tree serves all neurons with the same mask, cone and sign; they
        come in the order of the neurons, sign + first. A leaf without interior is covered by its neighbours.

        Sound. Complete for rational multipliers: `docs/mathematics.md`, 7.2 "Certificates of both answers".
        """
        objective, signs = _objective(problem, subject), pattern(problem, subject)
        sides = [(v > 0) - (v < 0) for v in subject.output_weights]
        ties: set[tuple[int, int | None]] = {
            (j, i) for j, row in enumerate(signs) for i, on in enumerate(row) if not on
        }
        ties |= {(j, None) for j, side in enumerate(sides) if not side}
        for leaf, path, here in _leaves(self.nodes, "nodes", {}, ties):
            cases: dict[Case, None] = {}
            for j, (mask, row, side) in enumerate(zip(problem.architecture.masks, signs, sides, strict=True)):
                cone = tuple(on or path.get((j, i), 0) for i, on in enumerate(row))
                own = side or path.get((j, None), 0)
                cases |= {(mask, cone, sign): None for sign in (1, -1) if own in (0, sign)}
            value = at(here, leaf.value, problem, list(cases))
            require(value == objective, here, "has a dual value other than the objective")


class NotLocal(WithSubject):
    """Better networks lie on a segment that begins at this one, in the variables u_j = |v_j| w_j with signs s_j.

    end: the parameters (u_j, s_j) at its end, s_j = 1 or -1.
    """

    CLAIM = "{who} fits and is no local optimum: arbitrarily near to it others fit and have a smaller objective"
    end: Rows

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the networks on the segment fit and are better than the subject at its beginning.

        f(x) = sum_j s_j s(u_j.x), and balanced neurons cost ||u_j|| without a free bias. No u_j.x_i changes its sign
        within the segment, so each f(x_i) is affine there; it is to lie in an interval ([m, oo) for max-margin, {y_i}
        or [y_i - eps, y_i + eps] for min-norm), so the constraints hold on all of it if they hold at both ends. The
        cost is convex: smaller at the end, it is smaller everywhere. Near the beginning the networks v_j = s_j
        ||u_j||^(1/2), w_j = u_j / |v_j| tend to the subject, which is balanced. (A neuron that gets a free bias without
        weights: v_j = t^0.9, b_j of order t^0.1, which costs o(t).)

        Source: `docs/mathematics.md`, 7.2 "Certificates of both answers".
        """
        end: Network = at("end", Network, subject.architecture, self.end)
        size, cost = len(problem.norm_columns), Fraction(0)
        for j, ((w, v), (u, s)) in enumerate(zip(_neurons(subject), _neurons(end), strict=True)):
            require(squared_norm(w[:size]) == v * v, "subject", f"neuron {j} is not balanced")
            is_sign = abs(s) == 1 and s * v >= 0 and not (v == 0 and any(u) and any(w))
            require(is_sign, "end", f"neuron {j} needs the sign of v_j, or 1 or -1 if that is 0, and no free bias then")
            cost += sqrt_upper(squared_norm(u[:size]), ROOT_BITS)
        changes = zip(chain(*pattern(problem, subject)), chain(*pattern(problem, end)), strict=True)
        require(all(before * after >= 0 for before, after in changes), "end", "takes a preactivation across 0")
        require(_slacks(problem, end, "end")[0] >= _slacks(problem, subject)[0], "end", NO_FIT)
        require(cost < half_squared_norm(problem, subject), "end", "does not lower the objective")


# ------------------------------------------------------------------------------------------------- other networks


def witness_value(problem: Problem, witness: Network) -> Fraction:
    """An upper bound of the objective of another network, of the problem's inputs, slope, bias and masks, balanced.

    Neuron j costs 1/2 (||w_j||^2 + v_j^2), and |v_j| ||w_j|| once it has become (w_j t, v_j / t) with t > 0 such that
    both are equal, which f does not notice.
    """
    ours, theirs = problem.architecture, witness.architecture
    alike = [(shape.layers[0].inputs, shape.layers[0].bias, shape.slope) for shape in (ours, theirs)]
    is_alike = theirs.is_two_layer and alike[0] == alike[1]
    require(is_alike, "witness", "must be a two-layer network with the inputs, slope and bias of the problem")
    require(set(theirs.masks) <= set(ours.masks), "witness", "has a neuron whose mask is none of the problem's")
    own, size = _objective(problem, witness, "witness"), len(problem.norm_columns)
    costs = (abs(v) * sqrt_upper(squared_norm(w[:size])) or v * v / 2 for w, v in _neurons(witness))
    return min(own, sum(costs, Fraction(0)) / (_slacks(problem, witness, "witness")[0] or 1))


class UpperBound(Certificate):
    """`witness` fits and has an objective of at most U, its neurons balanced: `bracket = (None, U)`."""

    CLAIM = (
        "a network of width {proof.witness.architecture.layers[0].outputs} fits with an objective of at most {upper}"
    )
    witness: Network
    bracket: tuple[Number | None, Number | None]

    def check(self, problem: Problem, subject: None) -> None:
        """Whether U is at least the value of the witness."""
        value, (lower, upper) = witness_value(problem, self.witness), self.bracket
        is_bound = lower is subject and upper is not None and upper >= value
        require(is_bound, "bracket", f"must be null and at least {value_text(value)}")


class BetterNetwork(WithSubject):
    """`witness` fits, and its objective times 1 + `tolerance` is below the network's."""

    CLAIM = (
        "{who} is beaten ({proof.scope}): another of width {proof.witness.architecture.layers[0].outputs} fits, "
        "and its objective times 1 + {tolerance} is less"
    )
    witness: Network
    tolerance: NotNegative
    scope: Literal["own-width", "any-width"]

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the witness is better by more than the tolerance. Own width: per mask class."""
        found = witness_value(problem, self.witness)
        is_narrow = Counter(self.witness.architecture.masks) <= Counter(problem.architecture.masks)
        is_narrow = is_narrow or self.scope == "any-width"
        require(is_narrow, "scope", "the witness is wider, by mask class")
        require(found * (1 + self.tolerance) < _objective(problem, subject), "witness", "is not better by that much")
