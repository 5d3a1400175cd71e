"""The trusted checker: whether a certificate proves its claim about a problem and a network.

    check(problem, network, certificate) -> Accepted(claim, ...) | Refused(place, reason)

Standard library, exact arithmetic (rational, or in one real algebraic number field), no tolerances; nothing here
searches, guesses or rounds inwards. Notation:
x_i the lifted rows, y_i the targets, s(z) = max(z, a z), f(x) = sum_j v_j s(w_j.x), theta = (w_j, v_j), N = ||theta||^2
without the biases when these are free, q_i = y_i f(x_i) for max-margin and f(x_i) for min-norm, m = min_i q_i;
c_i = lambda_i y_i for max-margin, lambda_i for min-norm, and h(u) = sum_i c_i s(x_i.u) the dual function.

Alone: `python -m verify.checker PROBLEM NETWORK CERTIFICATE` (canonical JSON files, NETWORK "-" when the kind has none)
prints `accepted: claim` or `refused: place: reason`; exit status 0 accepted, 1 refused, 2 unreadable.
"""

import sys
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain
from operator import mul, sub
from pathlib import Path
from typing import Any, Literal, TypeVar

import verify.certificate as kinds
from verify.certificate import AboutNetwork, Bracket, Certificate, WithSubject
from verify.codec import MAX_SIZE, at, load_json, reader
from verify.enclosure_checks import Cell, check_stationary_near
from verify.errors import CertificateError, InputError, require
from verify.exact import common_integers, dot, primitive, quotient, sqrt_upper, squared_norm, value_text
from verify.patterns import Sign, pattern
from verify.statement import Goal, Network, Problem, Trained, half_squared_norm, integer_rows, outputs

NO_FIT = "this network does not fit the data"
ROOT_BITS = 200  # of the norms at the end of a segment
MAX_BRANCHES = 12  # points with kinks in a min-norm `not-stationary`: 2^12 separating vectors

_N = TypeVar("_N")
_K = TypeVar("_K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The certificate proves `claim`.

    level: "near" when the claim is about a moved subject, "approximate" for stationarity up to a positive bound.
    bracket: what is proved about the least objective over all widths.   scope: of a better network, or what
    a point nearby is: "stationary point", "local optimum" or "optimum of any width".
    """

    claim: str
    kind: str
    level: Literal["exact", "near", "approximate"]
    moved: Fraction
    bracket: Bracket
    scope: str | None


@dataclass(frozen=True, slots=True)
class Refused:
    """The certificate proves nothing: the first broken condition and its place."""

    place: str
    reason: str


def check(problem: Problem, network: Network | None, certificate: Certificate) -> Accepted | Refused:
    """Whether `certificate` proves its claim about `problem` and `network` (None for kinds that speak of none).

    Sound for every kind: what is accepted is true over the real numbers. A bad certificate is refused, not raised.

    Source: MATHEMATICS.md, sections 2 and 5; CERTIFICATES.md.
    """
    try:
        bracket = _check(problem, network, certificate)
    except CertificateError as error:
        return Refused(error.place, error.reason)
    except InputError as error:  # of numbers that are too long
        return Refused("certificate", str(error))
    is_rough = isinstance(certificate, kinds.Stationary) and bool(certificate.epsilon or certificate.delta)
    is_near = isinstance(certificate, kinds.StationaryNear)
    moved = certificate.moved if is_near or isinstance(certificate, WithSubject) else Fraction(0)
    level = "approximate" if is_rough else "near" if moved or is_near else "exact"
    scope = getattr(certificate, "scope", None) or getattr(certificate, "optimality", None)
    return Accepted(certificate.claim, certificate.KIND, level, moved, bracket or (None, None), scope)


def _check(problem: Problem, network: Network | None, proof: Certificate) -> Bracket | None:
    require(type(proof) in _CHECKS, "certificate", "is none of the certificate kinds")
    require(proof.problem == problem.sha256(), "problem", "the certificate is about another problem")
    require(proof.claim == kinds.claim_text(problem, proof), "claim", "differs from what the certificate proves")
    if not isinstance(proof, kinds.Fits | kinds.DoesNotFit):
        limits = problem.architecture.limits()
        require(limits is None, "problem", limits or "")
        require(problem.trained is Trained.BOTH, "problem", "is not decided yet when only hidden layers are trained")
    subject = _subject(problem, network, proof) if isinstance(proof, AboutNetwork) else None
    return _CHECKS[type(proof)](problem, subject, proof)


# ------------------------------------------------------------------------------------------------- which network


def _subject(problem: Problem, network: Network | None, proof: AboutNetwork) -> Network:
    """The network that the statement is about: ||subject - given||^2 <= moved^2 ||given||^2 over all parameters."""
    if network is None:
        raise CertificateError("network", "the certificate speaks of a network, and none is given")
    require(network.architecture == problem.architecture, "network", "has another architecture than the problem")
    require(proof.network == network.sha256(), "network", "the certificate is about another network")
    if not isinstance(proof, WithSubject):
        return network
    if proof.subject is None:
        require(proof.moved == 0, "moved", "must be 0 for the given network")
        return network
    subject = at("subject", partial(Network, network.architecture), proof.subject)
    new, old = chain(*subject.parameters), list(chain(*network.parameters))
    distance, reach = squared_norm(map(sub, new, old)), proof.moved**2 * squared_norm(old)
    require(proof.moved >= 0 and distance <= reach, "moved", "the subject is farther from the given network than that")
    is_allowed = problem.trained is Trained.BOTH or subject.parameters[-1] == network.parameters[-1]
    require(is_allowed, "subject", "the output weights are not trained and must be the given ones")
    return subject


# ------------------------------------------------------------------------------------------------- does it fit?


def _factors(problem: Problem) -> Sequence[Fraction]:
    """What turns f(x_i) into q_i and lambda_i into c_i: y_i for max-margin, 1 for min-norm."""
    return problem.targets if problem.goal is Goal.MAX_MARGIN else [Fraction(1)] * len(problem.targets)


@lru_cache(maxsize=4)
def _slacks(problem: Problem, network: Network, place: str = "subject") -> tuple[Fraction, list[Fraction]]:
    """(m, q_i - m), m the least q_i, for max-margin; (0, zeros) for min-norm; refuses a network that does not fit."""
    values = outputs(problem, network)
    if problem.goal is Goal.MIN_NORM:
        require(values == problem.targets, place, NO_FIT)
        return Fraction(0), [Fraction(0)] * len(values)
    quantities = list(map(mul, problem.targets, values))
    margin = min(quantities)
    require(margin > 0, place, NO_FIT)
    return margin, [value - margin for value in quantities]


def _objective(problem: Problem, network: Network, place: str = "subject") -> Fraction:
    """1/2 ||theta||^2 of a two-layer network that fits, for max-margin scaled to margin 1: divided by its margin."""
    margin, _ = _slacks(problem, network, place)
    return half_squared_norm(problem, network) / (margin or 1)


def _check_fits(problem: Problem, subject: Network, proof: kinds.Fits) -> None:
    margin, _ = _slacks(problem, subject)
    require(proof.margin == margin, "margin", f"is {value_text(margin)}")


def _check_does_not_fit(problem: Problem, network: Network, proof: kinds.DoesNotFit) -> None:
    require(proof.point < len(problem.targets), "point", f"there are only {len(problem.targets)} points")
    value, target = outputs(problem, network)[proof.point], problem.targets[proof.point]
    holds = target * value > 0 if problem.goal is Goal.MAX_MARGIN else value == target
    require(not holds, "point", "the constraint of this point holds")


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
    _check_precision(problem, epsilon=proof.epsilon, delta=proof.delta)
    _, slacks = _slacks(problem, subject)
    coefficients = _coefficients(problem, proof.multipliers)
    norm, counted = 2 * half_squared_norm(problem, subject), problem.norm_columns
    slackness = sum((value * slacks[i] for i, value in proof.multipliers), Fraction(0))
    require(slackness <= proof.delta * norm, "delta", "multipliers of constraints that are not active are too large")
    residual: list[Fraction] = []
    sums = _clarke_sums(problem, subject, coefficients, proof)
    rows = zip(subject.hidden_weights, subject.output_weights, problem.architecture.masks, sums, strict=True)
    for weights, outgoing, mask, total in rows:
        residual += [(weights[c] if c in counted else 0) - outgoing * total[c] for c in mask]
        residual.append(outgoing - dot(weights, total))
    require(squared_norm(residual) <= proof.epsilon**2 * norm, "epsilon", "the residual of stationarity is larger")


def _check_precision(problem: Problem, **bounds: Fraction) -> None:
    for name, bound in bounds.items():
        is_allowed = bound == 0 or (bound > 0 and (name == "epsilon" or problem.goal is Goal.MAX_MARGIN))
        require(is_allowed, name, "must not be negative, and must be 0 for min-norm, but for epsilon")


def _coefficients(problem: Problem, multipliers: kinds.Sparse) -> dict[int, Fraction]:
    """c_i for the listed points; refuses indices out of range and, for max-margin, negative multipliers."""
    for place, (i, value) in enumerate(multipliers):
        is_allowed = i < len(problem.targets) and (value >= 0 or problem.goal is Goal.MIN_NORM)
        require(is_allowed, f"multipliers[{place}]", f"must be of one of {len(problem.targets)} points, not negative")
    common_integers([[value for _, value in multipliers]])  # refuses numbers that are too long together
    return {i: value * _factors(problem)[i] for i, value in multipliers}


def _clarke_sums(
    problem: Problem, subject: Network, coefficients: dict[int, Fraction], proof: kinds.Stationary
) -> list[list[Fraction]]:
    """G_j for each neuron; refuses a kink product that is out of its interval or not at a kink."""
    slope, factors = problem.architecture.slope, _factors(problem)
    products: dict[tuple[int, int], Fraction] = {}
    for place, (i, j, value) in enumerate(proof.kink_products):
        here = f"kink_products[{place}]"
        require(i < len(factors) and j < len(subject.output_weights), here, "there is no such point or neuron")
        products[i, j] = product = value * factors[i]
        ends = (slope * coefficients.setdefault(i, Fraction(0)), coefficients[i])
        require(min(ends) <= product <= max(ends), here, "is not between a lambda_i and lambda_i")
    rows, row_unit = common_integers(problem.rows[i] for i in coefficients)
    ons = list(coefficients.values())
    (on, off, kinks), unit = common_integers([ons, [slope * c for c in ons], products.values()])
    chosen = dict(zip(products, kinks, strict=True))
    sums: list[list[Fraction]] = []
    for j, signs in enumerate(pattern(problem, subject)):
        values = list(on)
        for k, i in enumerate(coefficients):
            if signs[i] is not Sign.ON:
                values[k] = chosen.pop((i, j), off[k]) if signs[i] is Sign.KINK else off[k]
        sums.append([quotient(total, unit * row_unit) for total in _combine(values, rows, len(problem.rows[0]))])
    require(not chosen, "kink_products", "has a product where there is no kink")
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
    _, slacks = _slacks(problem, subject)
    is_margin = problem.goal is Goal.MAX_MARGIN
    _check_precision(problem, epsilon=proof.epsilon, delta=proof.delta, kappa=proof.kappa)
    signs = pattern(problem, subject)
    live = [row for row, outgoing in zip(signs, subject.output_weights, strict=True) if outgoing]
    is_smooth = is_margin or problem.architecture.slope == 1
    branching = [] if is_smooth else [i for i, column in enumerate(zip(*live, strict=True)) if Sign.KINK in column]
    require(len(branching) <= MAX_BRANCHES, "vectors", f"more than {MAX_BRANCHES} points have kinks")
    is_whole = len({v.signs for v in proof.vectors}) == len(proof.vectors) == 2 ** len(branching)
    require(is_whole, "vectors", f"must be {2 ** len(branching)}, one for each sign vector")
    norm, counted = 2 * half_squared_norm(problem, subject), problem.norm_columns
    for k, vector in enumerate(proof.vectors):
        here, chosen = f"vectors[{k}].direction", dict(vector.signs)
        are_signs = list(chosen) == branching and {*chosen.values()} <= {1, -1}
        require(are_signs, f"vectors[{k}].signs", "must be 1 or -1 for each point with a kink")
        z: Network = at(here, partial(Network, subject.architecture), vector.direction)
        for i, (low, high) in enumerate(_clarke_ranges(problem, subject, z, signs)):
            is_below = high <= proof.kappa * slacks[i] or chosen.get(i) == -1
            is_separated = is_below and (is_margin or low >= 0 or chosen.get(i) == 1)
            require(is_separated, here, f"does not separate the subgradients of constraint {i}")
        gap = dot(subject.output_weights, z.output_weights) - proof.kappa * proof.delta * norm
        for row, z_row in zip(subject.hidden_weights, z.hidden_weights, strict=True):
            gap += sum(row[c] * z_row[c] for c in counted)
        excludes = gap > 0 and gap**2 > proof.epsilon**2 * norm * squared_norm(chain(*z.parameters))
        require(excludes, here, "does not exclude epsilon and delta")


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
    points = integer_rows(problem, len(problem.rows[0]))
    for (point, row_unit), factor, column in zip(points, _factors(problem), zip(*signs, strict=True), strict=True):
        low = high = 0
        for vector, sign in zip(vectors, column, strict=True):
            z = sum(map(mul, vector, point))
            ends = sorted((z * on if sign is not Sign.OFF else z * off, z * off if sign is not Sign.ON else z * on))
            low, high = low + ends[0], high + ends[1]
        low, high = (low, high) if factor > 0 else (-high, -low)
        ranges.append((quotient(low, unit * row_unit * on), quotient(high, unit * row_unit * on)))
    return ranges


# ------------------------------------------------------------------------------------------------- lower bounds


class _Side:
    """s h(u) = sum_i c_i s(x_i.u) on the columns of one mask class, s = +1 or -1, in integers over a few units.

    x_i = rows[k] / row_unit, k = points[i];   c_i a = base[k] / unit;   c_i (1 - a) = excess[k] / unit;
    ||x_i|| <= sizes[k] / (denominator size_unit);   t / denominator = t step / unit for the slopes of a leaf.
    counted: the places in a row that count in the norm.   constant: the place of a free bias.
    cells: the sides of the points for the directions of an enclosed point that leaves may name.
    A leaf with p = P / (unit row_unit), R = O / (unit denominator size_unit) closes when whole - rate O >= scale ||P||.
    """

    def __init__(
        self, problem: Problem, coefficients: Mapping[int, Fraction], mask: Sequence[int], sign: int, beta: Fraction,
        denominator: int,
    ) -> None:  # fmt: skip
        slope = problem.architecture.slope
        self.counted = [place for place, column in enumerate(mask) if column in problem.norm_columns]
        self.constant = len(mask) - 1 if len(self.counted) < len(mask) else None
        self.cells: Mapping[int, Mapping[int, str]] = {}
        self.points = {i: place for place, i in enumerate(coefficients)}
        self.rows, self.row_unit = common_integers([problem.rows[i][column] for column in mask] for i in coefficients)
        (signed,), c_unit = common_integers([[sign * c for c in coefficients.values()]])
        self.base = [slope.numerator * denominator * c for c in signed]
        self.excess = [(slope.denominator - slope.numerator) * denominator * c for c in signed]
        self.step = slope.denominator * c_unit
        self.denominator = denominator
        squares = [Fraction(sum(row[p] ** 2 for p in self.counted), self.row_unit**2) for row in self.rows]
        (sizes,), self.size_unit = common_integers([map(sqrt_upper, squares)])
        self.sizes = [size * denominator for size in sizes]
        self.scale = beta.denominator * denominator * self.size_unit
        self.rate = beta.denominator * self.row_unit
        self.whole = beta.numerator * denominator * self.size_unit * denominator * self.step * self.row_unit


def _check_near(problem: Problem, network: Network, proof: kinds.StationaryNear) -> None:
    cells = check_stationary_near(problem, network, proof)
    if proof.pricing is not None:
        _check_lower_bound(problem, None, proof.pricing, cells)


def _check_lower_bound(problem: Problem, _given: None, proof: kinds.LowerBound, cells: Sequence[Cell] = ()) -> Bracket:
    """Whether every network of any width with these masks has an objective of at least L.

    If |h(u)| <= beta ||u|| for all u on each mask class, a network with y_i f(x_i) >= 1 (or f(x_i) = y_i) has
    D <= sum_i c_i f(x_i) = sum_j v_j h(w_j) <= beta sum |v_j| ||w_j|| <= beta 1/2 ||theta||^2, with the dual value
    D = sum c_i y_i. So L = D / beta. One tree per mask class and sign s proves s h(u) <= beta ||u||.

    Source: MATHEMATICS.md, section 5; the balance inequality is standard.
    """
    coefficients = _coefficients(problem, proof.multipliers)
    require(proof.beta > 0, "beta", "must be positive")
    require(proof.denominator > 0, "denominator", "must be positive")
    lower = _dual_value(problem, coefficients) / proof.beta
    require(
        0 <= lower == proof.bracket[0] and proof.bracket[1] is None, "bracket", "must be dual value / beta and null"
    )
    expected = [(mask, sign) for mask in range(len(problem.architecture.mask_classes)) for sign in "+-"]
    found = [(tree.mask, tree.sign) for tree in proof.trees]
    require(found == expected, "trees", "must be one for each mask class and sign, in order")
    for k, tree in enumerate(proof.trees):
        mask, sign = problem.architecture.mask_classes[tree.mask], 1 if tree.sign == "+" else -1
        side = _Side(problem, coefficients, mask, sign, proof.beta, proof.denominator)
        balance = side.constant is None or sum(coefficients.values()) == 0
        require(balance, "multipliers", "must balance (sum c_i = 0) when the bias is free")
        signs = "+-" if problem.architecture.slope == 1 else tree.sign
        side.cells = {q: sides for q, (seen, own, sides) in enumerate(cells) if seen == mask and own in signs}
        _check_tree(side, tree.nodes, f"trees[{k}].nodes", {})
    return proof.bracket


def _dual_value(problem: Problem, coefficients: Mapping[int, Fraction]) -> Fraction:
    """Sum lambda_i for max-margin, sum lambda_i y_i for min-norm."""
    return sum((c * problem.targets[i] for i, c in coefficients.items()), Fraction(0))


def _check_tree(side: _Side, nodes: Sequence[kinds.Node], place: str, known: Mapping[int, int]) -> None:
    """Whether the nodes are one whole binary tree whose leaves all prove the bound: their closed cells cover the cone.

    known: signs of points of the side that hold in advance, 1 for x_i.u >= 0 and -1 for x_i.u <= 0; none: all of space.
    A point of the side with multiplier 0 is there to be split on, or to be known: its slopes are then multiples of x_i.
    On the cell of a direction p of an enclosed point, with all points of c_i > 0 decided as p decides them, s h(u) is
    at most p.u, and ||p|| = 1: p has the slopes of the decided points, and c_i s(z) is concave at the others.
    """

    def splits(node: kinds.Node) -> int | None:
        return node.point if isinstance(node, kinds.Split) else None

    for leaf, path, here in _leaves(nodes, place, known, side.points, splits):
        if isinstance(leaf, kinds.Bound):
            _check_bound(side, leaf, path, here)
        elif isinstance(leaf, kinds.Empty):
            _check_empty(side, leaf, path, here)
        else:
            cell, ups = side.cells.get(leaf.active, {}), [i for i, q in side.points.items() if side.excess[q] > 0]
            is_cell = len(cell) > 0 and all({"+": 1, "-": -1}.get(cell[i], 0) == path.get(i) for i in ups)
            require(is_cell, here, "is not the cell of a direction of this sign and these columns")


def _leaves(
    nodes: Sequence[_N], place: str, known: Mapping[_K, int], allowed: Container[_K], splits: Callable[[_N], _K | None]
) -> Iterator[tuple[Any, Mapping[_K, int], str]]:
    """The leaves of a whole binary tree in pre-order with the path to each: 1 for left, -1 for right, `known` before.

    splits: what an inner node decides, None for a leaf.   allowed: what may be decided, once on a path.
    """
    path = dict(known)  # to the next node
    is_whole = False
    for k, node in enumerate(nodes):
        here = f"{place}[{k}]"
        require(not is_whole, here, "the tree is already complete")
        split = splits(node)
        if split is not None:
            require(split in allowed and split not in path, here, "decides what is decided, or not to be decided")
            path[split] = 1
            continue
        yield node, path, here
        while len(path) > len(known) and path[next(reversed(path))] < 0:
            path.popitem()
        is_whole = len(path) == len(known)
        if not is_whole:
            path[next(reversed(path))] = -1
    require(is_whole, place, "a subtree is missing")


def _check_bound(side: _Side, leaf: kinds.Bound, path: Mapping[int, int], place: str) -> None:
    """Whether s h(u) <= p.u + R ||u|| on the cell, R <= beta and ||p|| <= beta - R.

    Point i has the slope q_i = a c_i + t_i with c_i s(z) <= q_i z + R_i ||u||, z = x_i.u; write e_i = (1 - a) c_i. As
    c_i s(z) = a c_i z + e_i max(z, 0), this is e_i max(z, 0) <= t_i z + R_i ||u||. It holds with R_i = 0 where z >= 0
    if t_i >= e_i; where z <= 0 if t_i <= 0; anywhere if e_i <= t_i <= 0; and anywhere if 0 <= t_i <= e_i with
    R_i = max(t_i l_i, (e_i - t_i) r_i), -l_i ||u|| <= z <= r_i ||u||. Then p = sum q_i x_i and R = sum R_i. The norm
    leaves a free bias out, so p must have none.
    """
    size = len(side.rows)
    require(len(leaf.slopes) == size, f"{place}.slopes", f"must be {size}, one for each multiplier")
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
            left, right = _range(side, k, t, ranges.pop(point, None), path, place)
            offset += max(t * left, (excess - t) * right)
        else:
            is_valid = excess <= t <= 0
        if not is_valid:
            raise CertificateError(f"{place}.slopes[{k}]", "is not a slope that this cell allows")
        slopes.append(side.base[k] + t)
    require(not ranges, f"{place}.ranges", "must be about undecided points with c_i > 0")
    p = _combine(slopes, side.rows, len(side.counted) + 1)
    require(side.constant is None or p[side.constant] == 0, f"{place}.slopes", "p has a part along the free bias")
    gap = side.whole - side.rate * offset
    is_closed = gap >= 0 and side.scale**2 * sum(p[c] ** 2 for c in side.counted) <= gap**2
    require(is_closed, place, "does not close: R > beta or ||p|| > beta - R")


def _range(
    side: _Side, k: int, t: int, listed: kinds.Range | None, path: Mapping[int, int], place: str
) -> tuple[int, int]:
    """(l, r) with -l ||u|| <= x.u <= r ||u|| on the cell, over denominator * size_unit; only those that t needs.

    Checks l >= ||-x + sum m_k s_k x_k|| and r >= ||x + sum m_k s_k x_k||, m_k >= 0: as s_k x_k.u >= 0 on the cell, x.u
    is at most the product of u with the second vector. The norm leaves a free bias out, so the vectors must have none.
    """
    if listed is None:
        is_bounded = side.constant is None
        require(is_bounded, f"{place}.ranges", "must bound every undecided point with c_i > 0 when the bias is free")
        return side.sizes[k], side.sizes[k]
    here = f"{place}.ranges: point {listed.point}"
    left = (listed.left, listed.left_terms, -1, t > 0)
    right = (listed.right, listed.right_terms, 1, t < side.excess[k])
    for bound, terms, sense, is_needed in (left, right):
        are_decided = all(point in path and weight >= 0 for point, weight in terms)
        require(bound >= 0 and are_decided, here, "must have numbers >= 0, and weights only on points decided here")
        if is_needed:
            factors = [sense * side.denominator, *(weight * path[point] for point, weight in terms)]
            vector = _combine(factors, [side.rows[k], *(side.rows[side.points[point]] for point, _ in terms)], 0)
            require(side.constant is None or vector[side.constant] == 0, here, "has a part along the free bias")
            is_range = sum(vector[c] ** 2 for c in side.counted) <= (bound * side.row_unit) ** 2
            require(is_range, here, "is larger")
    return listed.left * side.size_unit, listed.right * side.size_unit


def _check_empty(side: _Side, leaf: kinds.Empty, path: Mapping[int, int], place: str) -> None:
    """Whether the cell has no interior: all s_i x_i.u >= 0 and sum m_i s_i x_i = 0 with m_i > 0 make each x_i.u = 0.

    Then the other leaves cover a dense set, and s h(u) <= beta ||u|| holds everywhere by continuity.
    """
    are_decided = all(point in path and weight > 0 for point, weight in leaf.weights)
    require(are_decided and len(leaf.weights) > 1, place, "must have at least two weights > 0, on points decided here")
    rows = [side.rows[side.points[point]] for point, _ in leaf.weights]
    factors = [weight * path[point] for point, weight in leaf.weights]
    is_empty = all(map(any, rows)) and not any(_combine(factors, rows, 0))
    require(is_empty, place, "must combine points that the mask does not hide to 0")


# ------------------------------------------------------------------------------------------------- local optima


def _check_local(problem: Problem, subject: Network, proof: kinds.Local) -> None:
    """Whether no network near the subject that fits has a smaller objective O (for max-margin at margin 1).

    Near the subject every preactivation and output weight that is not 0 keeps its sign. The tree of choices decides
    others; its leaves cover all cases. In each, let neuron j have output sign s_j and its u_j in the cone of the signs.
    If the dual value sum c_i y_i is O and s_j h(u) <= ||u|| on these cones, every network there that fits has
    O <= sum c_i f(x_i) = sum_j |v_j| s_j h(w_j) <= sum_j |v_j| ||w_j|| <= 1/2 ||theta||^2. One tree serves all neurons
    with the same mask, cone and sign; they come in the order of the neurons, sign + first. A leaf without interior is
    covered by its neighbours, as in `_check_empty`.

    Sound. Complete for rational multipliers: MATHEMATICS.md, section 4.
    """
    objective, masks = _objective(problem, subject), problem.architecture.masks
    rows = [{i: int(sign) for i, sign in enumerate(row) if sign} for row in pattern(problem, subject)]
    signs = [(1, -1) if v == 0 else (1,) if v > 0 else (-1,) for v in subject.output_weights]
    ties = {(j, i) for j, row in enumerate(rows) for i in range(len(problem.rows)) if i not in row}
    ties |= {(j, -1) for j, sides in enumerate(signs) if len(sides) > 1}
    nothing: Mapping[tuple[int, int], int] = {}

    def splits(node: kinds.Tie | kinds.Side | kinds.Nearby) -> tuple[int, int] | None:
        if isinstance(node, kinds.Nearby):
            return None
        return node.neuron, node.point if isinstance(node, kinds.Tie) else -1

    for leaf, path, here in _leaves(proof.nodes, "nodes", nothing, ties, splits):
        coefficients = at(f"{here}.multipliers", partial(_coefficients, problem), leaf.multipliers)
        require(_dual_value(problem, coefficients) == objective, here, "has a dual value other than the objective")
        require(leaf.denominator > 0, f"{here}.denominator", "must be positive")
        cases: dict[tuple[tuple[int, ...], frozenset[tuple[int, int]], int], None] = {}
        for j, row in enumerate(rows):
            cone = frozenset({*row.items(), *((i, sign) for (q, i), sign in path.items() if q == j and i >= 0)})
            cases |= {(masks[j], cone, sign): None for sign in signs[j] if path.get((j, -1), sign) == sign}
        require(len(leaf.trees) == len(cases), f"{here}.trees", f"must be {len(cases)}")
        for k, (nodes, (mask, cone, sign)) in enumerate(zip(leaf.trees, cases, strict=True)):
            side = _Side(problem, coefficients, mask, sign, Fraction(1), leaf.denominator)
            known = {i: on for i, on in sorted(cone) if i in side.points}
            _check_tree(side, nodes, f"{here}.trees[{k}]", known)


def _check_not_local(problem: Problem, subject: Network, proof: kinds.NotLocal) -> None:
    """Whether the networks on the segment u + t direction, 0 < t <= 1, fit and are better than the subject at t = 0.

    In the variables u_j = |v_j| w_j with signs s_j, f(x) = sum_j s_j s(u_j.x), and balanced neurons cost ||u_j||
    without a free bias. No u_j.x_i changes its sign within the segment, so f is affine there, the constraints hold on
    all of it if they hold at its end, and the cost is convex: smaller at the end, it is smaller everywhere. As t -> 0
    the networks v_j = s_j ||u_j||^(1/2), w_j = u_j / |v_j| tend to the subject, which is balanced. (A neuron that gets
    a free bias without weights: v_j = t^0.9, b_j of order t^0.1, which costs o(t).)

    Source: MATHEMATICS.md, section 4.
    """
    margin, _ = _slacks(problem, subject)
    signs = dict(proof.signs)
    is_matrix = [len(row) for row in proof.direction] == [len(problem.rows[0])] * len(subject.output_weights)
    require(is_matrix, "direction", "must have one row for each neuron, one number for each column")
    layer, counted = problem.architecture.layers[0], problem.norm_columns
    parameters, sides, cost = [Fraction(0)] * layer.parameter_count, list[Fraction](), Fraction(0)
    for j, (w, v, step) in enumerate(zip(subject.hidden_weights, subject.output_weights, proof.direction, strict=True)):
        require(squared_norm(w[c] for c in counted) == v * v, "subject", f"neuron {j} is not balanced")
        if any(step) and v == 0:
            require(signs.get(j) in (1, -1) and not any(w), "signs", f"neuron {j} needs a sign, and no free bias")
        sides.append(Fraction((v > 0) - (v < 0) or signs.get(j, 0)))
        row = [abs(v) * weight + change for weight, change in zip(w, step, strict=True)]
        cost += sqrt_upper(squared_norm(row[c] for c in counted), ROOT_BITS)
        for index, weight in zip(layer.places[j], row, strict=True):
            require(index is not None or weight == 0, f"direction[{j}]", "has a part that the mask hides")
            if index is not None:
                parameters[index] = weight
    require(
        all(j < len(sides) and subject.output_weights[j] == 0 for j in signs), "signs", "must be of neurons with v = 0"
    )
    end = Network(problem.architecture, (tuple(parameters), tuple(sides)))
    changes = zip(chain(*pattern(problem, subject)), chain(*pattern(problem, end)), strict=True)
    require(all(before * after >= 0 for before, after in changes), "direction", "takes a preactivation across 0")
    values = outputs(problem, end)
    if problem.goal is Goal.MAX_MARGIN:
        is_feasible = all(target * value >= margin for target, value in zip(problem.targets, values, strict=True))
    else:
        is_feasible = values == problem.targets
    require(is_feasible, "direction", NO_FIT)
    require(cost < half_squared_norm(problem, subject), "direction", "does not lower the objective")


# ------------------------------------------------------------------------------------------------- other networks


def _witness_objective(problem: Problem, witness: Network) -> Fraction:
    """The objective of another network of the problem: same inputs, slope and bias, masks among the problem's."""
    ours, theirs = problem.architecture, witness.architecture
    alike = [(shape.layers[0].inputs, shape.layers[0].bias, shape.slope) for shape in (ours, theirs)]
    is_alike = theirs.limits() is None and alike[0] == alike[1]
    require(is_alike, "witness", "must be a two-layer network with the inputs, slope and bias of the problem")
    require(set(theirs.masks) <= set(ours.masks), "witness", "has a neuron whose mask is none of the problem's")
    return _objective(problem, witness, "witness")


def _check_upper_bound(problem: Problem, _given: None, proof: kinds.UpperBound) -> Bracket:
    upper = _witness_objective(problem, proof.witness)
    is_bracket = proof.bracket in ((None, upper), (None, _balanced_objective(problem, proof.witness, upper)))
    require(is_bracket, "bracket", f"must be null and {value_text(upper)}")
    return proof.bracket


def _balanced_objective(problem: Problem, network: Network, own: Fraction) -> Fraction:
    """sum_j |v_j| ||w_j|| at margin 1 when all norms are rational and positive, else its own objective.

    It is the objective once each neuron has become (w_j t, v_j / t) with |v_j| = ||w_j||, t > 0: f stays the same, and
    the roots need not be written down.
    """
    total = Fraction(0)
    for row, outgoing in zip(network.hidden_weights, network.output_weights, strict=True):
        square = squared_norm(row[column] for column in problem.norm_columns)
        size = sqrt_upper(square)
        if size * size != square or not size:
            return own
        total += max(outgoing, -outgoing) * size
    return total / (_slacks(problem, network, "witness")[0] or 1)


def _check_better(problem: Problem, subject: Network, proof: kinds.BetterNetwork) -> Bracket:
    """Whether the witness has a smaller objective by more than the tolerance. Own width: per mask class."""
    require(proof.tolerance >= 0, "tolerance", "must not be negative")
    found = _witness_objective(problem, proof.witness)
    theirs, ours = Counter(proof.witness.architecture.masks), Counter(problem.architecture.masks)
    is_narrow = proof.scope == "any-width" or theirs <= ours
    require(is_narrow, "scope", "the witness has more neurons of a mask class than the network")
    own = _objective(problem, subject)
    require(found * (1 + proof.tolerance) < own, "witness", "is not better by more than the tolerance")
    return None, found


def _check_optimal(problem: Problem, subject: Network, proof: kinds.OptimalWithin) -> Bracket:
    """Whether objective(subject) <= (1 + tolerance) L, L proved by the lower bound."""
    require(proof.tolerance >= 0, "tolerance", "must not be negative")
    lower, _ = at("lower", partial(_check, problem, None), proof.lower)
    own = _objective(problem, subject)
    require(own <= (1 + proof.tolerance) * lower, "tolerance", "the objective is farther above the lower bound")
    return lower, own


def _check_infeasible(problem: Problem, _given: None, proof: kinds.Infeasible) -> None:
    """Whether h vanishes and the dual value D does not, so that no network of any width fits.

    If f fits, D <= sum_i c_i f(x_i) = sum_j v_j h(w_j) = 0, with D = sum lambda_i > 0 for max-margin; for min-norm D is
    equal to it. As s(z) = (1+a)/2 z + (1-a)/2 |z|, h = 0 on a mask class if sum c_i x_i = 0 and, for a < 1, on each
    line {t r} of the masked x_i = t_i r: sum c_i |t_i| = 0.

    Source: MATHEMATICS.md, section 5.
    """
    coefficients = _coefficients(problem, proof.multipliers)
    require(_dual_value(problem, coefficients) != 0, "multipliers", "have the dual value 0")
    (factors,), _ = common_integers([coefficients.values()])
    for mask in problem.architecture.mask_classes:
        rows, _ = common_integers([problem.rows[i][column] for column in mask] for i in coefficients)
        require(not any(_combine(factors, rows, 0)), "multipliers", "sum c_i x_i is not 0")
        lines: Counter[tuple[int, ...]] = Counter()
        for factor, (line, size) in zip(factors, map(primitive, rows), strict=True):
            lines[line] += factor * size
        is_even = problem.architecture.slope == 1 or not any(lines.values())
        require(is_even, "multipliers", "sum c_i |x_i| is not 0 on a line of points")


_CHECKS: dict[type[Certificate], Callable[[Problem, Any, Any], Bracket | None]] = {
    kinds.Fits: _check_fits,
    kinds.DoesNotFit: _check_does_not_fit,
    kinds.Stationary: _check_stationary,
    kinds.NotStationary: _check_not_stationary,
    kinds.StationaryNear: _check_near,
    kinds.Local: _check_local,
    kinds.NotLocal: _check_not_local,
    kinds.LowerBound: _check_lower_bound,
    kinds.UpperBound: _check_upper_bound,
    kinds.BetterNetwork: _check_better,
    kinds.OptimalWithin: _check_optimal,
    kinds.Infeasible: _check_infeasible,
}


# ------------------------------------------------------------------------------------------------- alone


def _read(path: str) -> str:
    with Path(path).open(encoding="utf-8") as file:
        return file.read(MAX_SIZE + 1)


def main(arguments: Sequence[str]) -> int:
    """Check one certificate in a file; returns the exit status."""
    if len(arguments) != 3:
        print("usage: python -m verify.checker PROBLEM NETWORK CERTIFICATE  (NETWORK - for none)", file=sys.stderr)
        return 2
    try:
        problem, network, proof = (None if name == "-" else load_json(_read(name)) for name in arguments)
        given = None if network is None else reader(Network)(network)
        result = check(reader(Problem)(problem), given, kinds.from_json(proof))
    except (OSError, ValueError, MemoryError) as error:  # the errors of isoptimal are ValueErrors
        print(f"unreadable: {error}", file=sys.stderr)
        return 2
    if isinstance(result, Accepted):
        print(f"accepted: {result.claim}")
        return 0
    print(f"refused: {result.place}: {result.reason}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
