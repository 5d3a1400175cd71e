"""The trusted checker: whether a certificate proves its claim about a problem and a network.

    check(problem, network, certificate) -> Accepted(claim, ...) | Refused(place, reason)

Standard library, exact rational arithmetic, no tolerances; nothing here searches, guesses or rounds inwards. Notation:
x_i the lifted rows, y_i the targets, s(z) = max(z, a z), f(x) = sum_j v_j s(w_j.x), theta = (w_j, v_j), N = ||theta||^2
without the biases when these are free, q_i = y_i f(x_i) for max-margin and f(x_i) for min-norm, m = min_i q_i;
c_i = lambda_i y_i for max-margin, lambda_i for min-norm, and h(u) = sum_i c_i s(x_i.u) the dual function.

Alone: `python -m verify.checker PROBLEM NETWORK CERTIFICATE` (canonical JSON files, NETWORK "-" when the kind has none)
prints `accepted: claim` or `refused: place: reason`; exit status 0 accepted, 1 refused, 2 unreadable.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from operator import mul, sub
from pathlib import Path
from typing import Literal, TypeAlias, assert_never, final, get_args

import verify.certificate as kinds
from verify.certificate import AboutNetwork, Certificate, WithSubject, value_text
from verify.errors import InputError
from verify.exact import common_integers, dot, primitive, sqrt_upper, squared_norm
from verify.network import Network
from verify.patterns import Sign, pattern
from verify.problem import Goal, Problem, Trained, half_squared_norm, integer_rows, objective, outputs

__all__ = ["Accepted", "Refused", "check", "main"]

Level: TypeAlias = Literal["exact", "near", "approximate"]

MAX_BRANCHES = 12  # points with kinks in a min-norm `not-stationary`: 2^12 separating vectors


@final
@dataclass(frozen=True, slots=True)
class Accepted:
    """The certificate proves `claim`.

    level: "near" when the claim is about a moved subject, "approximate" for stationarity up to a positive bound.
    bracket: what is proved about the least objective over all widths.   scope: of a better network.
    """

    claim: str
    kind: str
    level: Level = field(default="exact", kw_only=True)
    moved: Fraction = field(default=Fraction(0), kw_only=True)
    bracket: tuple[Fraction | None, Fraction | None] = field(default=(None, None), kw_only=True)
    scope: str | None = field(default=None, kw_only=True)


@final
@dataclass(frozen=True, slots=True)
class Refused:
    """The certificate proves nothing: the first broken condition and its place."""

    place: str
    reason: str


class _Refusal(Exception):  # noqa: N818 (never leaves this module)
    pass


def _require(condition: bool, place: str, reason: str) -> None:
    if not condition:
        raise _Refusal(place, reason)


def check(problem: Problem, network: Network | None, certificate: Certificate) -> Accepted | Refused:
    """Whether `certificate` proves its claim about `problem` and `network` (None for kinds that speak of none).

    Sound for every kind: what is accepted is true over the real numbers. A bad certificate is refused, not raised.

    Source: MATHEMATICS.md, sections 2 and 5; CERTIFICATES.md.
    """
    try:
        return _check(problem, network, certificate)
    except _Refusal as refusal:
        return Refused(*refusal.args)


def _check(problem: Problem, network: Network | None, certificate: Certificate) -> Accepted:
    _check_scope(problem, certificate)
    level: Level = "exact"
    bracket, scope = (None, None), None
    match certificate:
        case kinds.Fits():
            _check_fits(problem, _subject(problem, network, certificate), certificate)
        case kinds.DoesNotFit():
            _check_does_not_fit(problem, _given(problem, network, certificate), certificate)
        case kinds.Stationary():
            _check_stationary(problem, _subject(problem, network, certificate), certificate)
            level = "approximate" if certificate.epsilon or certificate.delta else "exact"
        case kinds.NotStationary():
            _check_not_stationary(problem, _subject(problem, network, certificate), certificate)
        case kinds.LowerBound():
            bracket = (_check_lower_bound(problem, certificate), None)
        case kinds.UpperBound():
            bracket = (None, _check_upper_bound(problem, certificate))
        case kinds.BetterNetwork():
            bracket = (None, _check_better(problem, _subject(problem, network, certificate), certificate))
            scope = certificate.scope
        case kinds.OptimalWithin():
            bracket = _check_optimal(problem, _subject(problem, network, certificate), certificate)
        case kinds.Infeasible():
            _check_infeasible(problem, certificate)
        case _:
            assert_never(certificate)
    moved = certificate.moved if isinstance(certificate, WithSubject) else Fraction(0)
    if moved and level == "exact":
        level = "near"
    kind = kinds.kind_of(certificate)
    return Accepted(certificate.claim, kind, level=level, moved=moved, bracket=bracket, scope=scope)


def _check_scope(problem: Problem, certificate: Certificate) -> None:
    _require(isinstance(certificate, get_args(Certificate)), "certificate", "is none of the certificate kinds")
    _require(certificate.problem == problem.sha256(), "problem", "the certificate is about another problem")
    expected = kinds.claim_text(problem, certificate)
    _require(certificate.claim == expected, "claim", "differs from what the certificate proves")
    if not isinstance(certificate, kinds.Fits | kinds.DoesNotFit):
        limits = problem.architecture.limits()
        _require(limits is None, "problem", limits or "")
        _require(problem.trained is Trained.BOTH, "problem", "is not decided yet when only hidden layers are trained")


# ------------------------------------------------------------------------------------------------- which network


def _given(problem: Problem, network: Network | None, certificate: AboutNetwork) -> Network:
    if network is None:
        raise _Refusal("network", "the certificate speaks of a network, and none is given")
    _require(network.architecture == problem.architecture, "network", "has another architecture than the problem")
    _require(certificate.network == network.sha256(), "network", "the certificate is about another network")
    return network


def _subject(problem: Problem, network: Network | None, certificate: WithSubject) -> Network:
    """The network that the statement is about: ||subject - given||^2 <= moved^2 ||given||^2 over all parameters."""
    given, moved = _given(problem, network, certificate), certificate.moved
    if certificate.subject is None:
        _require(moved == 0, "moved", "must be 0 for the given network")
        return given
    subject = _with_parameters(given, certificate.subject, "subject")
    new, old = chain(*subject.parameters), list(chain(*given.parameters))
    is_near = moved >= 0 and squared_norm(map(sub, new, old)) <= moved**2 * squared_norm(old)
    _require(is_near, "moved", "the subject is farther from the given network than that")
    is_allowed = problem.trained is Trained.BOTH or subject.parameters[-1] == given.parameters[-1]
    _require(is_allowed, "subject", "the output weights are not trained and must be the given ones")
    return subject


def _with_parameters(network: Network, parameters: Sequence[Sequence[Fraction]], place: str) -> Network:
    try:
        return Network(network.architecture, parameters)
    except InputError as error:
        raise _Refusal(place, str(error)) from None


# ------------------------------------------------------------------------------------------------- does it fit?


def _factors(problem: Problem) -> Sequence[Fraction]:
    """What turns f(x_i) into q_i and lambda_i into c_i: y_i for max-margin, 1 for min-norm."""
    return problem.data.targets if problem.goal is Goal.MAX_MARGIN else [Fraction(1)] * len(problem.data)


def _quantities(problem: Problem, network: Network) -> list[Fraction]:  # q_i
    return list(map(mul, _factors(problem), outputs(problem, network)))


def _slacks(problem: Problem, network: Network, place: str) -> tuple[Fraction, list[Fraction]]:
    """(m, q_i - m), m the least q_i, for max-margin; (0, zeros) for min-norm; refuses a network that does not fit."""
    quantities = _quantities(problem, network)
    if problem.goal is Goal.MAX_MARGIN:
        margin = min(quantities)
        _require(margin > 0, place, "this network does not fit the data")
        return margin, [value - margin for value in quantities]
    _require(tuple(quantities) == problem.data.targets, place, "this network does not fit the data")
    return Fraction(0), [Fraction(0)] * len(quantities)


def _check_fits(problem: Problem, subject: Network, proof: kinds.Fits) -> None:
    margin, _ = _slacks(problem, subject, "subject")
    _require(proof.margin == margin, "margin", f"is {value_text(margin)}")


def _check_does_not_fit(problem: Problem, network: Network, proof: kinds.DoesNotFit) -> None:
    _require(proof.point < len(problem.data), "point", f"there are only {len(problem.data)} points")
    quantity, target = _quantities(problem, network)[proof.point], problem.data.targets[proof.point]
    is_broken = quantity <= 0 if problem.goal is Goal.MAX_MARGIN else quantity != target
    _require(is_broken, "point", "the constraint of this point holds")


# ------------------------------------------------------------------------------------------------- stationarity


def _check_stationary(problem: Problem, subject: Network, proof: kinds.Stationary) -> None:
    """Whether the multipliers show the Clarke KKT conditions at the subject, up to epsilon and delta.

    With g_ij in the Clarke interval of the activation ({1}, {a}, or [a, 1] at a kink), G_j = sum_i c_i g_ij x_i and
    w_j.G_j = sum_i c_i s(w_j.x_i) (Euler), the residual is r = (w_j - v_j G_j, v_j - w_j.G_j), where a free bias does
    not occur in the first w_j. Checks ||r||^2 <= epsilon^2 N and, for max-margin, lambda >= 0 and
    sum lambda_i (q_i - m) <= delta N: (epsilon, delta)-KKT at the network scaled to margin 1, relative to its norm. For
    min-norm lambda has any sign and delta is 0. A kink product mu_ij = lambda_i g_ij lies between a lambda_i and
    lambda_i, whatever the sign of lambda_i.

    Sound and complete for depth 2 without sharing, where the product of intervals is the subdifferential.

    Source: arXiv:1906.05890v4, section 2 (KKT conditions); arXiv:2110.02732, Theorem 2.1.
    """
    _require(proof.epsilon >= 0, "epsilon", "must not be negative")
    _require(proof.delta >= 0, "delta", "must not be negative")
    _require(proof.delta == 0 or problem.goal is Goal.MAX_MARGIN, "delta", "must be 0 for min-norm")
    _, slacks = _slacks(problem, subject, "subject")
    coefficients = _coefficients(problem, proof.multipliers)
    norm, counted = 2 * half_squared_norm(problem, subject), set(problem.norm_columns)
    slackness = sum((value * slacks[i] for i, value in proof.multipliers), Fraction(0))
    _require(slackness <= proof.delta * norm, "delta", "multipliers of constraints that are not active are too large")
    residual: list[Fraction] = []
    sums = _clarke_sums(problem, subject, coefficients, proof)
    rows = zip(subject.hidden_weights, subject.output_weights, problem.architecture.masks, sums, strict=True)
    for weights, outgoing, mask, total in rows:
        own = (weights[column] if column in counted else 0 for column in mask)
        residual += [w - outgoing * total[column] for w, column in zip(own, mask, strict=True)]
        residual.append(outgoing - dot(weights, total))
    is_small = squared_norm(residual) <= proof.epsilon**2 * norm
    _require(is_small, "epsilon", "the residual of the stationarity equations is larger")


def _coefficients(problem: Problem, multipliers: kinds.Sparse) -> dict[int, Fraction]:
    """c_i for the listed points; refuses indices out of range and, for max-margin, negative multipliers."""
    for place, (i, value) in enumerate(multipliers):
        _require(i < len(problem.data), f"multipliers[{place}]", f"there are only {len(problem.data)} points")
        is_sign = value >= 0 or problem.goal is Goal.MIN_NORM
        _require(is_sign, f"multipliers[{place}]", "must not be negative")
    factors = _factors(problem)
    return {i: value * factors[i] for i, value in multipliers}


def _clarke_sums(
    problem: Problem, subject: Network, coefficients: dict[int, Fraction], proof: kinds.Stationary
) -> list[list[Fraction]]:
    """G_j for each neuron; refuses a kink product that is out of its interval or not at a kink."""
    slope, factors = problem.architecture.slope, _factors(problem)
    products: dict[tuple[int, int], Fraction] = {}
    for place, (i, j, value) in enumerate(proof.kink_products):
        here = f"kink_products[{place}]"
        _require(i < len(problem.data) and j < problem.architecture.width, here, "there is no such point or neuron")
        products[i, j] = product = value * factors[i]
        on = coefficients.setdefault(i, Fraction(0))
        is_between = min(slope * on, on) <= product <= max(slope * on, on)
        _require(is_between, here, "is not between a lambda_i and lambda_i")
    points = sorted(coefficients)
    rows, row_unit = common_integers(problem.rows[i] for i in points)
    ons = [coefficients[i] for i in points]
    (on_values, off_values, kink_values), unit = common_integers([ons, [slope * c for c in ons], products.values()])
    chosen = dict(zip(products, kink_values, strict=True))
    sums: list[list[Fraction]] = []
    for j, weights in enumerate(subject.hidden_weights):
        (direction,), _ = common_integers([weights])
        values: list[int] = []
        for i, row, on_value, off_value in zip(points, rows, on_values, off_values, strict=True):
            z = sum(map(mul, direction, row))
            values.append(on_value if z > 0 else off_value if z < 0 else chosen.pop((i, j), off_value))
        sums.append([Fraction(total, unit * row_unit) for total in _combine(values, rows, len(weights))])
    _require(not chosen, "kink_products", "has a product where there is no kink")
    return sums


def _combine(factors: Sequence[int], rows: Sequence[Sequence[int]], size: int) -> list[int]:
    """The linear combination of rows of this size."""
    return [sum(map(mul, factors, column)) for column in zip(*rows, strict=True)] if rows else [0] * size


def _check_not_stationary(problem: Problem, subject: Network, proof: kinds.NotStationary) -> None:
    """Whether the vectors show that no multipliers and Clarke slopes reach epsilon and delta at the subject.

    Let h_i be a Clarke subgradient of q_i and theta without its free biases. If ||theta - sum lambda_i h_i|| <= epsilon
    sqrt(N) and sum lambda_i (q_i - m) <= delta N, then for a vector z with z.h_i <= kappa (q_i - m) for all slopes and
    all i, epsilon sqrt(N) ||z|| >= z.theta - sum lambda_i z.h_i >= z.theta - kappa delta N =: D. So D > 0 and
    D^2 > epsilon^2 N ||z||^2 exclude it.
    Min-norm (kappa = delta = 0): one vector for every sign of the multipliers on K, the points that have a kink at a
    neuron with v_j != 0; z.h_i = 0 outside K, and on K lambda_i z.h_i <= 0 for all slopes.

    Sound; complete for depth 2 without sharing, up to rounding of epsilon, for at most MAX_BRANCHES points in K.

    Source: Farkas' lemma; MATHEMATICS.md, section 2.
    """
    _, slacks = _slacks(problem, subject, "subject")
    for name, bound in (("epsilon", proof.epsilon), ("delta", proof.delta), ("kappa", proof.kappa)):
        is_allowed = bound >= 0 and (bound == 0 or name == "epsilon" or problem.goal is Goal.MAX_MARGIN)
        _require(is_allowed, name, "must not be negative, and delta and kappa must be 0 for min-norm")
    signs = pattern(problem, subject)
    branching = _branching_points(problem, subject, signs)
    _require(len(branching) <= MAX_BRANCHES, "vectors", f"more than {MAX_BRANCHES} points have kinks")
    is_whole = len({v.signs for v in proof.vectors}) == len(proof.vectors) == 2 ** len(branching)
    _require(is_whole, "vectors", f"must be {2 ** len(branching)}, one for each sign vector")
    norm, counted = 2 * half_squared_norm(problem, subject), problem.norm_columns
    for k, vector in enumerate(proof.vectors):
        are_signs = [i for i, _ in vector.signs] == branching and all(abs(sign) == 1 for _, sign in vector.signs)
        _require(are_signs, f"vectors[{k}].signs", "must be 1 or -1 for each point with a kink")
        here, chosen = f"vectors[{k}].direction", dict(vector.signs)
        z = _with_parameters(subject, vector.direction, here)
        for i, (low, high) in enumerate(_clarke_ranges(problem, subject, z, signs)):
            if problem.goal is Goal.MAX_MARGIN:
                is_separated = high <= proof.kappa * slacks[i]
            else:
                is_separated = (high <= 0 or chosen.get(i) == -1) and (low >= 0 or chosen.get(i) == 1)
            _require(is_separated, here, f"does not separate the subgradients of constraint {i}")
        gap = dot(subject.output_weights, z.output_weights) - proof.kappa * proof.delta * norm
        for row, z_row in zip(subject.hidden_weights, z.hidden_weights, strict=True):
            gap += sum(row[c] * z_row[c] for c in counted)
        excludes = gap > 0 and gap**2 > proof.epsilon**2 * norm * squared_norm(chain(*z.parameters))
        _require(excludes, here, "does not exclude epsilon and delta")


def _branching_points(problem: Problem, subject: Network, signs: Sequence[Sequence[Sign]]) -> list[int]:
    """K for min-norm; empty for max-margin, where every multiplier has one sign."""
    if problem.goal is Goal.MAX_MARGIN or problem.architecture.slope == 1:
        return []
    live = [row for row, outgoing in zip(signs, subject.output_weights, strict=True) if outgoing]
    return [i for i in range(len(problem.data)) if any(row[i] is Sign.KINK for row in live)]


def _clarke_ranges(
    problem: Problem, subject: Network, direction: Network, signs: Sequence[Sequence[Sign]]
) -> list[tuple[Fraction, Fraction]]:
    """The least and greatest z.h_i over all Clarke slopes, for every point i.

    With z = (z_wj, z_vj) and b_j = v_j z_wj + z_vj w_j it is the sum over j of g_ij b_j.x_i (times y_i for max-margin):
    also at a kink, where w_j.x_i = 0.
    """
    on, off = problem.architecture.slope.denominator, problem.architecture.slope.numerator
    ours, theirs = (zip(net.hidden_weights, net.output_weights, strict=True) for net in (subject, direction))
    vectors, unit = common_integers(
        [v * z + z_v * w for w, z in zip(row, z_row, strict=True)]
        for (row, v), (z_row, z_v) in zip(ours, theirs, strict=True)
    )
    ranges: list[tuple[Fraction, Fraction]] = []
    rows = zip(integer_rows(problem), _factors(problem), zip(*signs, strict=True), strict=True)
    for (point, row_unit), factor, column in rows:
        low = high = 0
        for vector, sign in zip(vectors, column, strict=True):
            z = sum(map(mul, vector, point))
            least, most = (z * on, z * on) if sign is Sign.ON else (z * off, z * off)
            if sign is Sign.KINK:
                least, most = min(z * on, z * off), max(z * on, z * off)
            low, high = low + least, high + most
        ends = (low, high) if factor > 0 else (-high, -low)
        ranges.append((Fraction(ends[0], unit * row_unit * on), Fraction(ends[1], unit * row_unit * on)))
    return ranges


# ------------------------------------------------------------------------------------------------- lower bounds


@final
@dataclass(frozen=True, slots=True)
class _Side:
    """s h(u) = sum_i c_i s(x_i.u) on the columns of one mask class, s = +1 or -1, in integers over a few units.

    x_i = rows[k] / row_unit, i = points[k];   c_i a = base[k] / unit;   c_i (1 - a) = excess[k] / unit;
    ||x_i|| <= sizes[k] / size_unit;   t / denominator = t step / unit for the slopes of a leaf.
    counted: the places in a row that count in the norm.   constant: the place of a free bias.
    """

    points: dict[int, int]
    rows: list[list[int]]
    row_unit: int
    base: list[int]
    excess: list[int]
    unit: int
    step: int
    denominator: int
    sizes: list[int]
    size_unit: int
    counted: list[int]
    constant: int | None
    beta: Fraction

    @classmethod
    def of(cls, problem: Problem, proof: kinds.LowerBound, coefficients: dict[int, Fraction], k: int) -> "_Side":
        """The side that tree k is about."""
        mask, sign = problem.mask_classes[proof.trees[k].mask], 1 if proof.trees[k].sign == "+" else -1
        counted = [place for place, column in enumerate(mask) if column in problem.norm_columns]
        rows, row_unit = common_integers([problem.rows[i][column] for column in mask] for i in coefficients)
        (signed,), c_unit = common_integers([[sign * c for c in coefficients.values()]])
        squares = [Fraction(sum(row[p] ** 2 for p in counted), row_unit**2) for row in rows]
        (sizes,), size_unit = common_integers([map(sqrt_upper, squares)])
        slope, denominator = problem.architecture.slope, proof.denominator
        return cls(
            points={i: place for place, i in enumerate(coefficients)},
            rows=rows,
            row_unit=row_unit,
            base=[slope.numerator * denominator * c for c in signed],
            excess=[(slope.denominator - slope.numerator) * denominator * c for c in signed],
            unit=slope.denominator * denominator * c_unit,
            step=slope.denominator * c_unit,
            denominator=denominator,
            sizes=sizes,
            size_unit=size_unit,
            counted=counted,
            constant=len(mask) - 1 if len(counted) < len(mask) else None,
            beta=proof.beta,
        )


def _check_lower_bound(problem: Problem, proof: kinds.LowerBound) -> Fraction:
    """Whether every network of any width with these masks has an objective of at least L; returns L.

    If |h(u)| <= beta ||u|| for all u on each mask class, a network with y_i f(x_i) >= 1 (or f(x_i) = y_i) has
    D <= sum_i c_i f(x_i) = sum_j v_j h(w_j) <= beta sum |v_j| ||w_j|| <= beta 1/2 ||theta||^2, with the dual value
    D = sum c_i y_i. So L = D / beta. One tree per mask class and sign s proves s h(u) <= beta ||u||.

    Source: MATHEMATICS.md, section 5; the balance inequality is standard.
    """
    coefficients = _coefficients(problem, proof.multipliers)
    _require(proof.beta > 0, "beta", "must be positive")
    _require(proof.denominator > 0, "denominator", "must be positive")
    lower = _dual_value(problem, coefficients) / proof.beta
    is_bracket = lower >= 0 and proof.bracket == (lower, None)
    _require(is_bracket, "bracket", "must be the dual value over beta, not negative, and null")
    expected = [(mask, sign) for mask in range(len(problem.mask_classes)) for sign in "+-"]
    is_whole = [(tree.mask, tree.sign) for tree in proof.trees] == expected
    _require(is_whole, "trees", "must be one for each mask class and sign, in order")
    for k, tree in enumerate(proof.trees):
        side = _Side.of(problem, proof, coefficients, k)
        is_balanced = side.constant is None or sum(coefficients.values()) == 0
        _require(is_balanced, "multipliers", "must balance (sum c_i = 0) when the bias is free")
        _check_tree(side, tree, f"trees[{k}]")
    return lower


def _dual_value(problem: Problem, coefficients: dict[int, Fraction]) -> Fraction:
    """Sum lambda_i for max-margin, sum lambda_i y_i for min-norm."""
    return sum((c * problem.data.targets[i] for i, c in coefficients.items()), Fraction(0))


def _check_tree(side: _Side, tree: kinds.Tree, place: str) -> None:
    """Whether the nodes are one whole binary tree whose leaves all prove the bound: their closed cells cover space."""
    path: dict[int, int] = {}  # to the next node: +1 when it is in a left child (x_i.u >= 0), -1 in a right one
    is_whole = False
    for k, node in enumerate(tree.nodes):
        here = f"{place}.nodes[{k}]"
        _require(not is_whole, here, "the tree is already complete")
        if isinstance(node, kinds.Split):
            is_new = node.point in side.points and node.point not in path
            _require(is_new, here, "splits on a point without multiplier, or twice on one point")
            path[node.point] = 1
            continue
        if isinstance(node, kinds.Bound):
            _check_bound(side, node, path, here)
        else:
            _check_empty(side, node, path, here)
        while path and next(reversed(path.values())) < 0:
            path.popitem()
        if path:
            path[next(reversed(path))] = -1
        is_whole = not path
    _require(is_whole, f"{place}.nodes", "a subtree is missing")


def _check_bound(side: _Side, leaf: kinds.Bound, path: dict[int, int], place: str) -> None:
    """Whether s h(u) <= p.u + R ||u|| on the cell, R <= beta and ||p|| <= beta - R.

    Point i has the slope q_i = a c_i + t_i with c_i s(z) <= q_i z + R_i ||u||, z = x_i.u; write e_i = (1 - a) c_i. As
    c_i s(z) = a c_i z + e_i max(z, 0), this is e_i max(z, 0) <= t_i z + R_i ||u||. It holds with R_i = 0 where z >= 0
    if t_i >= e_i; where z <= 0 if t_i <= 0; anywhere if e_i <= t_i <= 0; and anywhere if 0 <= t_i <= e_i with
    R_i = max(t_i l_i, (e_i - t_i) r_i), -l_i ||u|| <= z <= r_i ||u||. Then p = sum q_i x_i and R = sum R_i. The norm
    leaves a free bias out, so p must have none.
    """
    size = len(side.rows)
    _require(len(leaf.slopes) == size, f"{place}.slopes", f"must be {size}, one for each multiplier")
    ranges = {listed.point: listed for listed in leaf.ranges}
    slopes: list[int] = []
    offset = 0  # R over unit * denominator * size_unit
    for k, (point, slope, excess) in enumerate(zip(side.points, leaf.slopes, side.excess, strict=True)):
        t = excess if slope == "e" else slope * side.step
        sign = path.get(point)
        if sign is not None:
            is_valid = t >= excess if sign > 0 else t <= 0
        elif excess > 0:
            is_valid = 0 <= t <= excess
            left, right = _range(side, k, t, ranges.pop(point, None), path, f"{place}.ranges")
            offset += max(t * left, (excess - t) * right)
        else:
            is_valid = excess <= t <= 0
        if not is_valid:
            raise _Refusal(f"{place}.slopes[{k}]", "is not a slope that this cell allows")
        slopes.append(side.base[k] + t)
    _require(not ranges, f"{place}.ranges", "must be about undecided points with c_i > 0")
    p = _combine(slopes, side.rows, len(side.counted) + 1)
    _require(side.constant is None or p[side.constant] == 0, f"{place}.slopes", "p has a part along the free bias")
    scale = side.unit * side.denominator * side.size_unit
    gap = side.beta.numerator * scale - side.beta.denominator * offset  # beta - R, over beta.denominator * scale
    square = sum(p[c] ** 2 for c in side.counted)  # p.p, over (unit * row_unit)^2
    factor = side.beta.denominator * side.denominator * side.size_unit
    is_closed = gap >= 0 and square * factor**2 <= (gap * side.row_unit) ** 2
    _require(is_closed, place, "does not close: R > beta or ||p|| > beta - R")


def _range(
    side: _Side, k: int, t: int, listed: kinds.Range | None, path: dict[int, int], place: str
) -> tuple[int, int]:
    """(l, r) with -l ||u|| <= x.u <= r ||u|| on the cell, over denominator * size_unit; only those that t needs.

    Checks l >= ||-x + sum m_k s_k x_k|| and r >= ||x + sum m_k s_k x_k||, m_k >= 0: as s_k x_k.u >= 0 on the cell, x.u
    is at most the product of u with the second vector. The norm leaves a free bias out, so the vectors must have none.
    """
    if listed is None:
        _require(side.constant is None, place, "must bound every undecided point with c_i > 0 when the bias is free")
        return side.sizes[k] * side.denominator, side.sizes[k] * side.denominator
    here = f"{place}: point {listed.point}"
    left = (listed.left, listed.left_terms, -1, t > 0)
    right = (listed.right, listed.right_terms, 1, t < side.excess[k])
    for bound, terms, sense, is_needed in (left, right):
        are_decided = all(point in path and weight >= 0 for point, weight in terms)
        _require(bound >= 0 and are_decided, here, "must have numbers >= 0, and weights only on points decided here")
        if is_needed:
            factors = [sense * side.denominator, *(weight * path[point] for point, weight in terms)]
            vector = _combine(factors, [side.rows[k], *(side.rows[side.points[point]] for point, _ in terms)], 0)
            _require(side.constant is None or vector[side.constant] == 0, here, "has a part along the free bias")
            is_range = sum(vector[c] ** 2 for c in side.counted) <= (bound * side.row_unit) ** 2
            _require(is_range, here, "is larger")
    return listed.left * side.size_unit, listed.right * side.size_unit


def _check_empty(side: _Side, leaf: kinds.Empty, path: dict[int, int], place: str) -> None:
    """Whether the cell has no interior: all s_i x_i.u >= 0 and sum m_i s_i x_i = 0 with m_i > 0 make each x_i.u = 0.

    Then the other leaves cover a dense set, and s h(u) <= beta ||u|| holds everywhere by continuity.
    """
    are_decided = all(point in path and weight > 0 for point, weight in leaf.weights)
    _require(are_decided and len(leaf.weights) > 1, place, "must have at least two weights > 0, on points decided here")
    rows = [side.rows[side.points[point]] for point, _ in leaf.weights]
    factors = [weight * path[point] for point, weight in leaf.weights]
    is_empty = all(map(any, rows)) and not any(_combine(factors, rows, 0))
    _require(is_empty, place, "must combine points that the mask does not hide to 0")


# ------------------------------------------------------------------------------------------------- other networks


def _objective(problem: Problem, network: Network, place: str) -> Fraction:
    value = objective(problem, network)
    if value is None:
        raise _Refusal(place, "this network does not fit the data")
    return value


def _check_upper_bound(problem: Problem, proof: kinds.UpperBound) -> Fraction:
    upper = _witness_objective(problem, proof.witness)
    is_bracket = proof.bracket == (None, upper)
    _require(is_bracket, "bracket", f"must be null and the objective of the witness, {value_text(upper)}")
    return upper


def _witness_objective(problem: Problem, witness: Network) -> Fraction:
    """The objective of another network of the problem: same inputs, slope and bias, masks among the problem's."""
    ours, theirs = problem.architecture, witness.architecture
    is_alike = (theirs.inputs, theirs.slope, theirs.bias) == (ours.inputs, ours.slope, ours.bias)
    is_alike = is_alike and theirs.limits() is None
    _require(is_alike, "witness", "must be a two-layer network with the inputs, slope and bias of the problem")
    _require(set(theirs.masks) <= set(ours.masks), "witness", "has a neuron whose mask is none of the problem's")
    return _objective(problem, witness, "witness")


def _check_better(problem: Problem, subject: Network, proof: kinds.BetterNetwork) -> Fraction:
    """Whether the witness has a smaller objective by more than the tolerance; returns it. Own width: per mask class."""
    _require(proof.tolerance >= 0, "tolerance", "must not be negative")
    found = _witness_objective(problem, proof.witness)
    own, theirs = Counter(problem.architecture.masks), Counter(proof.witness.architecture.masks)
    is_narrow = proof.scope == "any-width" or theirs <= own
    _require(is_narrow, "scope", "the witness has more neurons of a mask class than the network")
    is_better = found * (1 + proof.tolerance) < _objective(problem, subject, "subject")
    _require(is_better, "witness", "is not better by more than the tolerance")
    return found


def _check_optimal(problem: Problem, subject: Network, proof: kinds.OptimalWithin) -> tuple[Fraction, Fraction]:
    """Whether objective(subject) <= (1 + tolerance) L, L proved by the lower bound; returns (L, objective)."""
    _require(proof.tolerance >= 0, "tolerance", "must not be negative")
    try:
        _check_scope(problem, proof.lower)
        lower = _check_lower_bound(problem, proof.lower)
    except _Refusal as refusal:
        place, reason = refusal.args
        raise _Refusal(f"lower.{place}", reason) from None
    own = _objective(problem, subject, "subject")
    is_close = own <= (1 + proof.tolerance) * lower
    _require(is_close, "tolerance", "the objective of the network is farther above the lower bound")
    return lower, own


def _check_infeasible(problem: Problem, proof: kinds.Infeasible) -> None:
    """Whether h vanishes and the dual value D does not, so that no network of any width fits.

    If f fits, D <= sum_i c_i f(x_i) = sum_j v_j h(w_j) = 0, with D = sum lambda_i > 0 for max-margin; for min-norm D is
    equal to it. As s(z) = (1+a)/2 z + (1-a)/2 |z|, h = 0 on a mask class if sum c_i x_i = 0 and, for a < 1, on each
    line {t r} of the masked x_i = t_i r: sum c_i |t_i| = 0.

    Source: MATHEMATICS.md, section 5.
    """
    coefficients = _coefficients(problem, proof.multipliers)
    _require(_dual_value(problem, coefficients) != 0, "multipliers", "have the dual value 0")
    (factors,), _ = common_integers([coefficients.values()])
    for mask in problem.mask_classes:
        rows, _ = common_integers([problem.rows[i][column] for column in mask] for i in coefficients)
        _require(not any(_combine(factors, rows, 0)), "multipliers", "sum c_i x_i is not 0")
        lines: Counter[tuple[int, ...]] = Counter()
        for factor, (line, size) in zip(factors, map(primitive, rows), strict=True):
            lines[line] += factor * size
        is_even = problem.architecture.slope == 1 or not any(lines.values())
        _require(is_even, "multipliers", "sum c_i |x_i| is not 0 on a line of points")


# ------------------------------------------------------------------------------------------------- alone


def main(arguments: Sequence[str]) -> int:
    """Check one certificate in a file; returns the exit status."""
    if len(arguments) != 3:
        print("usage: python -m verify.checker PROBLEM NETWORK CERTIFICATE  (NETWORK - for none)", file=sys.stderr)
        return 2
    try:
        problem = Problem.from_json(kinds.load_json(Path(arguments[0]).read_text("utf-8")))
        given = None if arguments[1] == "-" else kinds.load_json(Path(arguments[1]).read_text("utf-8"))
        network = None if given is None else Network.from_json(given)
        with Path(arguments[2]).open(encoding="utf-8") as file:
            certificate = kinds.read_certificate(file.read(kinds.MAX_SIZE + 1))
    except (OSError, ValueError, MemoryError) as error:  # the errors of isoptimal are ValueErrors
        print(f"unreadable: {error}", file=sys.stderr)
        return 2
    result = check(problem, network, certificate)
    if isinstance(result, Accepted):
        print(f"accepted: {result.claim}")
        return 0
    print(f"refused: {result.place}: {result.reason}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
