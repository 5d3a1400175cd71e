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
from verify.errors import CertificateError, InputError
from verify.exact import common_integers, dot, primitive, sqrt_upper, squared_norm
from verify.network import Network
from verify.patterns import Sign, pattern
from verify.problem import Goal, Problem, Trained, half_squared_norm, objective, outputs

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
            _check_lower_bound(problem, certificate)
            bracket = certificate.bracket
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
    if not isinstance(certificate, get_args(Certificate)):
        raise _Refusal("certificate", "is none of the certificate kinds")
    if certificate.problem != problem.sha256():
        raise _Refusal("problem", "the certificate is about another problem")
    if certificate.claim != kinds.claim_text(problem, certificate):
        raise _Refusal("claim", "differs from what the certificate proves")
    if isinstance(certificate, kinds.Fits | kinds.DoesNotFit):
        return
    if limits := problem.architecture.limits():
        raise _Refusal("problem", limits)
    if problem.trained is Trained.HIDDEN:
        raise _Refusal("problem", "problems in which only hidden layers are trained are not decided yet")


# ------------------------------------------------------------------------------------------------- which network


def _given(problem: Problem, network: Network | None, certificate: AboutNetwork) -> Network:
    if network is None:
        raise _Refusal("network", "the certificate speaks of a network, and none is given")
    if network.architecture != problem.architecture:
        raise _Refusal("network", "the network does not have the architecture of the problem")
    if certificate.network != network.sha256():
        raise _Refusal("network", "the certificate is about another network")
    return network


def _subject(problem: Problem, network: Network | None, certificate: WithSubject) -> Network:
    """The network that the statement is about: ||subject - given||^2 <= moved^2 ||given||^2 over all parameters."""
    given = _given(problem, network, certificate)
    if certificate.moved < 0 or (certificate.subject is None and certificate.moved != 0):
        raise _Refusal("moved", "must be 0 for the given network and not negative for another one")
    if certificate.subject is None:
        return given
    subject = _with_parameters(given, certificate.subject, "subject")
    new, old = chain(*subject.parameters), list(chain(*given.parameters))
    if squared_norm(map(sub, new, old)) > certificate.moved**2 * squared_norm(old):
        raise _Refusal("moved", "the subject is farther from the given network than that")
    if problem.trained is Trained.HIDDEN and subject.parameters[-1] != given.parameters[-1]:
        raise _Refusal("subject", "the output weights are not trained and must be the given ones")
    return subject


def _with_parameters(network: Network, parameters: Sequence[Sequence[Fraction]], place: str) -> Network:
    try:
        return Network(network.architecture, parameters)
    except InputError as error:
        raise _Refusal(place, str(error)) from None


# ------------------------------------------------------------------------------------------------- does it fit?


def _quantities(problem: Problem, network: Network) -> list[Fraction]:  # q_i
    values = outputs(problem, network)
    return list(map(mul, problem.data.targets, values)) if problem.goal is Goal.MAX_MARGIN else values


def _margin(problem: Problem, quantities: Sequence[Fraction], place: str) -> Fraction:
    """The least q_i, positive (max-margin), or 0 (min-norm) when the network fits; refuses when it does not."""
    if problem.goal is Goal.MAX_MARGIN and min(quantities) > 0:
        return min(quantities)
    if problem.goal is Goal.MIN_NORM and tuple(quantities) == problem.data.targets:
        return Fraction(0)
    raise _Refusal(place, "this network does not fit the data")


def _check_fits(problem: Problem, subject: Network, proof: kinds.Fits) -> None:
    margin = _margin(problem, _quantities(problem, subject), "subject")
    if proof.margin != margin:
        raise _Refusal("margin", f"is {value_text(margin)}")


def _check_does_not_fit(problem: Problem, network: Network, proof: kinds.DoesNotFit) -> None:
    if proof.point >= len(problem.data):
        raise _Refusal("point", f"there are only {len(problem.data)} points")
    quantity = _quantities(problem, network)[proof.point]
    if quantity > 0 if problem.goal is Goal.MAX_MARGIN else quantity == problem.data.targets[proof.point]:
        raise _Refusal("point", "the constraint of this point holds")


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
    for name, bound in (("epsilon", proof.epsilon), ("delta", proof.delta)):
        if bound < 0:
            raise _Refusal(name, "must not be negative")
    quantities = _quantities(problem, subject)
    margin = _margin(problem, quantities, "subject")
    coefficients = dict(_coefficients(problem, proof.multipliers))
    norm = 2 * half_squared_norm(problem, subject)
    if problem.goal is Goal.MIN_NORM and proof.delta:
        raise _Refusal("delta", "must be 0 for min-norm")
    if problem.goal is Goal.MAX_MARGIN:
        slack = sum((value * (quantities[i] - margin) for i, value in proof.multipliers), Fraction(0))
        if slack > proof.delta * norm:
            raise _Refusal("delta", "the multipliers of constraints that are not active are too large")
    residual: list[Fraction] = []
    gradients = _clarke_sums(problem, subject, coefficients, proof)
    rows = zip(subject.hidden_weights, subject.output_weights, problem.architecture.masks, gradients, strict=True)
    for weights, outgoing, mask, gradient in rows:
        for column in mask:
            own = weights[column] if column in problem.norm_columns else 0
            residual.append(own - outgoing * gradient[column])
        residual.append(outgoing - dot(weights, gradient))
    if squared_norm(residual) > proof.epsilon**2 * norm:
        raise _Refusal("epsilon", "the residual of the stationarity equations is larger")


def _coefficients(problem: Problem, multipliers: kinds.Sparse) -> list[tuple[int, Fraction]]:
    """(i, c_i) for the listed points; refuses indices out of range and, for max-margin, negative multipliers."""
    coefficients: list[tuple[int, Fraction]] = []
    for place, (i, value) in enumerate(multipliers):
        if i >= len(problem.data):
            raise _Refusal(f"multipliers[{place}]", f"there are only {len(problem.data)} points")
        if problem.goal is Goal.MAX_MARGIN and value < 0:
            raise _Refusal(f"multipliers[{place}]", "must not be negative")
        coefficients.append((i, value * problem.data.targets[i] if problem.goal is Goal.MAX_MARGIN else value))
    return coefficients


def _clarke_sums(
    problem: Problem, subject: Network, coefficients: dict[int, Fraction], proof: kinds.Stationary
) -> list[list[Fraction]]:
    """G_j for each neuron; refuses a kink product that is out of its interval or not at a kink."""
    slope = problem.architecture.slope
    products: dict[tuple[int, int], Fraction] = {}
    for place, (i, j, value) in enumerate(proof.kink_products):
        if i >= len(problem.data) or j >= problem.architecture.width:
            raise _Refusal(f"kink_products[{place}]", "there is no such point or neuron")
        product = value * problem.data.targets[i] if problem.goal is Goal.MAX_MARGIN else value
        on = coefficients.setdefault(i, Fraction(0))
        if not min(slope * on, on) <= product <= max(slope * on, on):
            raise _Refusal(f"kink_products[{place}]", "is not between a lambda_i and lambda_i")
        products[i, j] = product
    points = sorted(coefficients)
    rows, row_unit = common_integers(problem.rows[i] for i in points)
    columns = list(zip(*rows, strict=True)) or [()] * len(problem.rows[0])
    (on, off, at_kinks), unit = common_integers(
        [[coefficients[i] for i in points], [slope * coefficients[i] for i in points], products.values()]
    )
    chosen = dict(zip(products, at_kinks, strict=True))
    sums: list[list[Fraction]] = []
    for j, weights in enumerate(subject.hidden_weights):
        ((direction,), _) = common_integers([weights])
        factors: list[int] = []
        for place, (i, row) in enumerate(zip(points, rows, strict=True)):
            z = sum(map(mul, direction, row))
            if z:
                factors.append(on[place] if z > 0 else off[place])
            else:
                factors.append(chosen.pop((i, j), off[place]))
        sums.append([Fraction(sum(map(mul, factors, column)), unit * row_unit) for column in columns])
    if chosen:
        i, j = min(chosen)
        raise _Refusal("kink_products", f"neuron {j} has no kink at point {i}")
    return sums


def _check_not_stationary(problem: Problem, subject: Network, proof: kinds.NotStationary) -> None:
    """Whether the vectors show that no multipliers and Clarke slopes reach epsilon and delta at the subject.

    Let h_i be a Clarke subgradient of q_i and theta without its free biases. If ||theta - sum lambda_i h_i|| <= epsilon
    sqrt(N) and sum lambda_i (q_i - m) <= delta N, then for a vector z with z.h_i <= kappa (q_i - m) for all slopes and
    all i, epsilon sqrt(N) ||z|| >= z.theta - sum lambda_i z.h_i >= z.theta - kappa delta N =: D. So D > 0 and
    D^2 > epsilon^2 N ||z||^2 exclude it.
    Min-norm (kappa = delta = 0): one vector for every sign of the multipliers on K, the points that have a kink at a
    neuron with v_j != 0; z.h_i = 0 outside K, and on K lambda_i z.h_i <= 0 for all slopes.

    Sound; complete for depth 2 without sharing as far as the rational epsilon, delta allow.

    Source: Farkas' lemma; MATHEMATICS.md, section 2.
    """
    quantities = _quantities(problem, subject)
    margin = _margin(problem, quantities, "subject")
    for name, bound in (("epsilon", proof.epsilon), ("delta", proof.delta), ("kappa", proof.kappa)):
        if bound < 0 or (bound and name != "epsilon" and problem.goal is Goal.MIN_NORM):
            raise _Refusal(name, "must not be negative, nor positive for min-norm")
    signs = pattern(problem, subject)
    branching = _branching_points(problem, subject, signs) if problem.goal is Goal.MIN_NORM else []
    if len(branching) > MAX_BRANCHES:
        raise _Refusal("vectors", f"{len(branching)} points have kinks; at most {MAX_BRANCHES} are decided")
    if len(proof.vectors) != 2 ** len(branching) or len({v.signs for v in proof.vectors}) != len(proof.vectors):
        raise _Refusal("vectors", f"there must be {2 ** len(branching)} vectors with distinct signs")
    for k, vector in enumerate(proof.vectors):
        place = f"vectors[{k}]"
        if [i for i, _ in vector.signs] != branching or any(abs(sign) != 1 for _, sign in vector.signs):
            raise _Refusal(f"{place}.signs", "must be 1 or -1 for each point with a kink")
        direction = _with_parameters(subject, vector.direction, f"{place}.direction")
        chosen = dict(vector.signs)
        for i, (low, high) in enumerate(_clarke_ranges(problem, subject, direction, signs)):
            if problem.goal is Goal.MAX_MARGIN:
                holds = high <= proof.kappa * (quantities[i] - margin)
            elif i in chosen:
                holds = high <= 0 if chosen[i] > 0 else low >= 0
            else:
                holds = low == high == 0
            if not holds:
                raise _Refusal(f"{place}.direction", f"does not separate the subgradients of constraint {i}")
        _check_separation(problem, subject, direction, proof, place)


def _branching_points(problem: Problem, subject: Network, signs: Sequence[Sequence[Sign]]) -> list[int]:
    if problem.architecture.slope == 1:
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
    slope = problem.architecture.slope
    parts = zip(
        subject.hidden_weights, subject.output_weights, direction.hidden_weights, direction.output_weights, strict=True
    )
    vectors, unit = common_integers(
        [v * z + z_v * w for w, z in zip(row, z_w, strict=True)] for row, v, z_w, z_v in parts
    )
    ranges: list[tuple[Fraction, Fraction]] = []
    for i, row in enumerate(problem.rows):
        ((point,), row_unit) = common_integers([row])
        low = high = 0
        for vector, neuron in zip(vectors, signs, strict=True):
            full = slope.denominator * sum(map(mul, vector, point))
            part = slope.numerator * (full // slope.denominator)
            sign = neuron[i]
            if sign is Sign.ON:
                low, high = low + full, high + full
            elif sign is Sign.OFF:
                low, high = low + part, high + part
            else:
                low, high = low + min(full, part), high + max(full, part)
        scale = unit * row_unit * slope.denominator
        target = problem.data.targets[i] if problem.goal is Goal.MAX_MARGIN else 1
        ends = (Fraction(target * low, scale), Fraction(target * high, scale))
        ranges.append((min(ends), max(ends)))
    return ranges


def _check_separation(
    problem: Problem, subject: Network, direction: Network, proof: kinds.NotStationary, place: str
) -> None:
    counted = problem.norm_columns
    products = [
        dot((row[c] for c in counted), (z[c] for c in counted))
        for row, z in zip(subject.hidden_weights, direction.hidden_weights, strict=True)
    ]
    product = sum(products, dot(subject.output_weights, direction.output_weights))
    norm = 2 * half_squared_norm(problem, subject)
    size = squared_norm(value for layer in direction.parameters for value in layer)
    gap = product - proof.kappa * proof.delta * norm
    if gap <= 0 or gap * gap <= proof.epsilon**2 * norm * size:
        raise _Refusal(f"{place}.direction", "does not exclude epsilon and delta")


# ------------------------------------------------------------------------------------------------- lower bounds


@final
@dataclass(frozen=True, slots=True)
class _Side:
    """s h(u) = sum_i c_i s(x_i.u) on the columns of one mask class, s = +1 or -1, in integers over four units.

    x_i = rows[i] / row_unit;   c_i a = base[i] / unit;   c_i (1 - a) = excess[i] / unit;   a slope t / denominator is
    t step / unit;   ||x_i|| <= sizes[i] / size_unit, None where only a listed range may bound x_i.u (free bias).
    """

    position: dict[int, int]
    rows: list[list[int]]
    row_unit: int
    base: list[int]
    excess: list[int]
    unit: int
    step: int
    denominator: int
    sizes: list[int] | None
    size_unit: int
    counted: tuple[int, ...]  # places in a row of the columns that count in the norm
    constant: int | None  # place of a free bias
    beta: Fraction


def _check_lower_bound(problem: Problem, proof: kinds.LowerBound) -> Fraction:
    """Whether every network of any width with these masks has 1/2 ||theta||^2 >= L; returns L.

    If |h(u)| <= beta ||u|| for all u on each mask class, a network with y_i f(x_i) >= 1 (or f(x_i) = y_i) has
    D <= sum_i c_i f(x_i) = sum_j v_j h(w_j) <= beta sum |v_j| ||w_j|| <= beta 1/2 ||theta||^2, with the dual value
    D = sum lambda_i (or sum lambda_i y_i). So L = D / beta. One tree per mask class and sign s proves
    s h(u) <= beta ||u||.

    Source: MATHEMATICS.md, section 5; the balance inequality is standard.
    """
    coefficients = _coefficients(problem, proof.multipliers)
    if proof.beta <= 0:
        raise _Refusal("beta", "must be positive")
    if proof.denominator < 1:
        raise _Refusal("denominator", "must be positive")
    is_margin = problem.goal is Goal.MAX_MARGIN
    value = sum((x if is_margin else x * problem.data.targets[i] for i, x in proof.multipliers), Fraction(0))
    lower = value / proof.beta
    if lower < 0 or proof.bracket != (lower, None):
        raise _Refusal("bracket", "must be the dual value over beta, not negative, and null")
    expected = [(mask, sign) for mask in range(len(problem.mask_classes)) for sign in "+-"]
    if [(tree.mask, tree.sign) for tree in proof.trees] != expected:
        raise _Refusal("trees", "must be one for each mask class and sign, in order")
    for k, tree in enumerate(proof.trees):
        side = _side(problem, coefficients, proof, tree)
        if side.constant is not None and sum(c for _, c in coefficients) != 0:
            raise _Refusal("multipliers", "must balance (sum c_i = 0) when the bias is free")
        _check_tree(side, tree, f"trees[{k}]")
    return lower


def _side(
    problem: Problem, coefficients: Sequence[tuple[int, Fraction]], proof: kinds.LowerBound, tree: kinds.Tree
) -> _Side:
    mask = problem.mask_classes[tree.mask]
    counted = tuple(place for place, column in enumerate(mask) if column in problem.norm_columns)
    slope, denominator = problem.architecture.slope, proof.denominator
    rows, row_unit = common_integers([problem.rows[i][column] for column in mask] for i, _ in coefficients)
    sign = 1 if tree.sign == "+" else -1
    ((whole,), c_unit) = common_integers([[sign * c for _, c in coefficients]])
    squares = [Fraction(sum(row[p] ** 2 for p in counted), row_unit**2) for row in rows]
    ((sizes,), size_unit) = common_integers([map(sqrt_upper, squares)])
    is_free = len(counted) < len(mask)
    return _Side(
        position={i: place for place, (i, _) in enumerate(coefficients)},
        rows=rows,
        row_unit=row_unit,
        base=[slope.numerator * denominator * c for c in whole],
        excess=[(slope.denominator - slope.numerator) * denominator * c for c in whole],
        unit=slope.denominator * denominator * c_unit,
        step=slope.denominator * c_unit,
        denominator=denominator,
        sizes=None if is_free else sizes,
        size_unit=size_unit,
        counted=counted,
        constant=len(mask) - 1 if is_free else None,
        beta=proof.beta,
    )


def _check_tree(side: _Side, tree: kinds.Tree, place: str) -> None:
    """Whether the nodes are one whole binary tree whose leaves all prove the bound: their closed cells cover space."""
    signs: dict[int, int] = {}  # the path to the next node: +1 in a left child (x_i.u >= 0), -1 in a right one
    is_whole = False
    for k, node in enumerate(tree.nodes):
        here = f"{place}.nodes[{k}]"
        if is_whole:
            raise _Refusal(here, "the tree is already complete")
        if isinstance(node, kinds.Split):
            if node.point not in side.position or node.point in signs:
                raise _Refusal(here, "splits on a point without multiplier, or twice on one point")
            signs[node.point] = 1
            continue
        if isinstance(node, kinds.Bound):
            _check_bound(side, node, signs, here)
        else:
            _check_empty(side, node, signs, here)
        while signs and next(reversed(signs.values())) < 0:
            signs.popitem()
        if signs:
            signs[next(reversed(signs))] = -1
        is_whole = not signs
    if not is_whole:
        raise _Refusal(f"{place}.nodes", "a subtree is missing")


def _check_bound(side: _Side, leaf: kinds.Bound, signs: dict[int, int], place: str) -> None:
    """Whether s h(u) <= p.u + R ||u|| on the cell, R <= beta and ||p|| <= beta - R.

    Point i has the slope q_i = a c_i + t_i with c_i s(z) <= q_i z + R_i ||u||, z = x_i.u; write e_i = (1 - a) c_i. As
    c_i s(z) = a c_i z + e_i max(z, 0), this is e_i max(z, 0) <= t_i z + R_i ||u||. It holds with R_i = 0 where z >= 0
    if t_i >= e_i; where z <= 0 if t_i <= 0; anywhere if e_i <= t_i <= 0; and anywhere if 0 <= t_i <= e_i with
    R_i = max(t_i l_i, (e_i - t_i) r_i), -l_i ||u|| <= z <= r_i ||u||. Then p = sum q_i x_i and R = sum R_i. The norm
    leaves a free bias out, so p must have none.
    """
    if len(leaf.slopes) != len(side.rows):
        raise _Refusal(f"{place}.slopes", f"must be {len(side.rows)}, one for each multiplier")
    ranges = {entry.point: entry for entry in leaf.ranges}
    factors: list[int] = []
    offset = 0  # R over unit * denominator * size_unit
    for k, (point, slope, excess) in enumerate(zip(side.position, leaf.slopes, side.excess, strict=True)):
        t = excess if slope == "e" else slope * side.step
        sign = signs.get(point)
        if sign is None:
            is_valid = 0 <= t <= excess or excess <= t <= 0
            if is_valid and excess > 0:
                left, right = _range(side, k, t, ranges.pop(point, None), signs, place)
                offset += max(t * left, (excess - t) * right)
        else:
            is_valid = t >= excess if sign > 0 else t <= 0
        if not is_valid:
            raise _Refusal(f"{place}.slopes[{k}]", "is not a slope that this cell allows")
        factors.append(side.base[k] + t)
    if ranges:
        raise _Refusal(f"{place}.ranges", "must be about undecided points with c_i > 0")
    p = [sum(map(mul, factors, column)) for column in zip(*side.rows, strict=True)]
    if side.constant is not None and p and p[side.constant] != 0:
        raise _Refusal(f"{place}.slopes", "p must have no part along the free bias")
    scale = side.unit * side.denominator * side.size_unit
    gap = side.beta.numerator * scale - side.beta.denominator * offset  # beta - R, over beta.denominator * scale
    square = sum(p[c] ** 2 for c in side.counted) if p else 0  # p.p, over (unit * row_unit)^2
    other = side.beta.denominator * side.denominator * side.size_unit
    if gap < 0 or square * other**2 > (gap * side.row_unit) ** 2:
        raise _Refusal(place, "does not close: R > beta or ||p|| > beta - R")


def _range(
    side: _Side, k: int, t: int, listed: kinds.Range | None, signs: dict[int, int], place: str
) -> tuple[int, int]:
    """(l, r) with -l ||u|| <= x.u <= r ||u|| on the cell, over denominator * size_unit; only those that t needs."""
    if listed is None:
        if side.sizes is None:
            raise _Refusal(f"{place}.ranges", f"must bound point {list(side.position)[k]}, as the bias is free")
        size = side.sizes[k] * side.denominator
        return size, size
    if t > 0:
        _check_range(side, k, -1, (listed.left, listed.left_terms), signs, place)
    if t < side.excess[k]:
        _check_range(side, k, 1, (listed.right, listed.right_terms), signs, place)
    return listed.left * side.size_unit, listed.right * side.size_unit


def _check_range(
    side: _Side, k: int, sense: int, claimed: tuple[int, kinds.Terms], signs: dict[int, int], place: str
) -> None:
    """Whether sense x.u <= r ||u|| on the cell: r >= ||sense x + sum m_k s_k x_k||, m_k >= 0, all s_k x_k.u >= 0."""
    bound, terms = claimed
    here = f"{place}.ranges: point {list(side.position)[k]}"
    if bound < 0 or any(point not in signs or weight < 0 for point, weight in terms):
        raise _Refusal(here, "must have bounds >= 0 and weights >= 0 on points decided here")
    total = [sense * side.denominator * z for z in side.rows[k]]
    for point, weight in terms:
        factor = weight * signs[point]
        total = [z + factor * x for z, x in zip(total, side.rows[side.position[point]], strict=True)]
    if side.constant is not None and total[side.constant] != 0:
        raise _Refusal(here, "the combination must have no part along the free bias")
    if sum(total[c] ** 2 for c in side.counted) > (bound * side.row_unit) ** 2:
        raise _Refusal(here, "the range is larger")


def _check_empty(side: _Side, leaf: kinds.Empty, signs: dict[int, int], place: str) -> None:
    """Whether the cell has no interior: all s_i x_i.u >= 0 and sum m_i s_i x_i = 0 with m_i > 0 make each x_i.u = 0.

    Then the other leaves cover a dense set, and s h(u) <= beta ||u|| holds everywhere by continuity.
    """
    if len(leaf.weights) < 2 or any(point not in signs or weight <= 0 for point, weight in leaf.weights):
        raise _Refusal(place, "must have positive weights on at least two points decided here")
    rows = [side.rows[side.position[point]] for point, _ in leaf.weights]
    factors = [weight * signs[point] for point, weight in leaf.weights]
    if not all(map(any, rows)) or any(sum(map(mul, factors, column)) for column in zip(*rows, strict=True)):
        raise _Refusal(place, "must combine points that the mask does not hide to 0")


# ------------------------------------------------------------------------------------------------- other networks


def _check_upper_bound(problem: Problem, proof: kinds.UpperBound) -> Fraction:
    upper = _witness_objective(problem, proof.witness)
    if proof.bracket != (None, upper):
        raise _Refusal("bracket", f"must be null and the objective of the witness, {value_text(upper)}")
    return upper


def _witness_objective(problem: Problem, witness: Network) -> Fraction:
    """The objective of another network of the problem: same inputs, slope and bias, masks among the problem's."""
    ours, theirs = problem.architecture, witness.architecture
    if theirs.limits() or (theirs.inputs, theirs.slope, theirs.bias) != (ours.inputs, ours.slope, ours.bias):
        raise _Refusal("witness", "must be a two-layer network with the inputs, slope and bias of the problem")
    if not set(theirs.masks) <= set(ours.masks):
        raise _Refusal("witness", "has a neuron whose mask is none of the problem's")
    value = objective(problem, witness)
    if value is None:
        raise _Refusal("witness", "does not fit the data")
    return value


def _check_better(problem: Problem, subject: Network, proof: kinds.BetterNetwork) -> Fraction:
    """Whether the witness has a smaller objective by more than the tolerance; returns it. Own width: per mask class."""
    if proof.tolerance < 0:
        raise _Refusal("tolerance", "must not be negative")
    found = _witness_objective(problem, proof.witness)
    if proof.scope == "own-width" and not Counter(proof.witness.architecture.masks) <= Counter(
        problem.architecture.masks
    ):
        raise _Refusal("scope", "the witness has more neurons of a mask class than the network")
    if found * (1 + proof.tolerance) >= _own_objective(problem, subject):
        raise _Refusal("witness", "is not better by more than the tolerance")
    return found


def _own_objective(problem: Problem, subject: Network) -> Fraction:
    value = objective(problem, subject)
    if value is None:
        raise _Refusal("subject", "this network does not fit the data")
    return value


def _check_optimal(problem: Problem, subject: Network, proof: kinds.OptimalWithin) -> tuple[Fraction, Fraction]:
    """Whether objective(subject) <= (1 + tolerance) L, L proved by the lower bound; returns (L, objective)."""
    if proof.tolerance < 0:
        raise _Refusal("tolerance", "must not be negative")
    try:
        lower = _check(problem, None, proof.lower).bracket[0]
    except _Refusal as refusal:
        place, reason = refusal.args
        raise _Refusal(f"lower.{place}", reason) from None
    own = _own_objective(problem, subject)
    if lower is None or own > (1 + proof.tolerance) * lower:
        raise _Refusal("tolerance", "the objective of the network is farther above the lower bound")
    return lower, own


def _check_infeasible(problem: Problem, proof: kinds.Infeasible) -> None:
    """Whether h vanishes and the dual value does not, so that no network of any width fits.

    If f fits, D = sum lambda_i <= sum_j v_j h(w_j) = 0 (max-margin), D = sum lambda_i y_i = 0 (min-norm).
    As s(z) = (1+a)/2 z + (1-a)/2 |z|, h = 0 on a mask class if sum c_i x_i = 0 and, for a < 1, on each line {t r} of
    the masked x_i = t_i r: sum c_i |t_i| = 0.

    Source: MATHEMATICS.md, section 5.
    """
    coefficients = _coefficients(problem, proof.multipliers)
    is_margin = problem.goal is Goal.MAX_MARGIN
    if not sum(x if is_margin else x * problem.data.targets[i] for i, x in proof.multipliers):
        raise _Refusal("multipliers", "have the dual value 0")
    ((factors,), _) = common_integers([[c for _, c in coefficients]])
    for mask in problem.mask_classes:
        rows, _ = common_integers([problem.rows[i][column] for column in mask] for i, _ in coefficients)
        if any(sum(map(mul, factors, column)) for column in zip(*rows, strict=True)):
            raise _Refusal("multipliers", "sum c_i x_i is not 0")
        lines: Counter[tuple[int, ...]] = Counter()
        for factor, (line, size) in zip(factors, map(primitive, rows), strict=True):
            lines[line] += factor * size
        if problem.architecture.slope != 1 and any(lines.values()):
            raise _Refusal("multipliers", "sum c_i |x_i| is not 0 on a line of points")


# ------------------------------------------------------------------------------------------------- alone


def main(arguments: Sequence[str]) -> int:
    """Check one certificate in a file; returns the exit status."""
    if len(arguments) != 3:
        print("usage: python -m verify.checker PROBLEM NETWORK CERTIFICATE  (NETWORK - for none)", file=sys.stderr)
        return 2
    try:
        problem_path, network_path, certificate_path = arguments
        problem = Problem.from_json(kinds.load_json(_read(problem_path)))
        network = None if network_path == "-" else Network.from_json(kinds.load_json(_read(network_path)))
        if Path(certificate_path).stat().st_size > kinds.MAX_SIZE:
            raise CertificateError("certificate", f"is longer than {kinds.MAX_SIZE} bytes")
        certificate = kinds.read_certificate(_read(certificate_path))
    except (OSError, ValueError) as error:  # the errors of isoptimal are ValueErrors
        print(f"unreadable: {error}", file=sys.stderr)
        return 2
    result = check(problem, network, certificate)
    if isinstance(result, Accepted):
        print(f"accepted: {result.claim}")
        return 0
    print(f"refused: {result.place}: {result.reason}")
    return 1


def _read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
