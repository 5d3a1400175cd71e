"""Does an exact Clarke KKT point lie near the network? Krawczyk's test on a box, and what must hold on all of it.

The point is sought as w_j = sqrt(t_j c_C) p_C, v_j = s_C sqrt(t_j c_C) for the neurons j of a direction C, with shares
t_j > 0 of sum 1, and w_j = 0, v_j = 0 for every other neuron. With slopes g_iC = 1 or a by the side of x_i,

    p_C = s_C sum_i y_i mu_iC x_i,   mu_iC = lambda_i g_iC off kinks, unknown at a kink      (min-norm: without y_i)

on the columns that count in the norm; a free bias is an unknown of its own. Then w_j = v_j G_j and v_j = w_j.G_j are
||p_C|| = 1, and the rest of the conditions is f(x_i) = y_i on the support, x_i.p_C = 0 at kinks and, for a free bias,
sum_i y_i mu_iC = 0. A mirror C' of C is p_C' = -p_C with s_C' = s_C and slopes 1 + a - g: they are its own when
sum_i y_i lambda_i x_i = 0 on its columns, which then stands among the equations. All of them are sums of products of
two linear forms in the unknowns (lambda; per direction c, bias, mu), and as many as these.

Sound: an accepted proof is of a true statement about real numbers. Incomplete: the point must be regular, and every
inequality strict; a kink whose slope is at an end of its interval, or whose point has no multiplier, is refused.

Source: R. Krawczyk, Computing 4 (1969); MATHEMATICS.md, sections 2 and 7.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain, count
from operator import mul
from typing import NamedTuple, TypeAlias

from verify.certificate import StationaryNear
from verify.errors import require
from verify.exact import common_integers, sqrt_lower, sqrt_upper, squared_norm
from verify.statement import Bias, Goal, Network, Problem

__all__ = ["Box", "Cell", "Equation", "Form", "Point", "check_stationary_near", "has_root"]

Form: TypeAlias = dict[int, Fraction]
"""A linear form in the unknowns z_1, z_2, ...; the key 0 stands for the constant, z_0 = 1."""

Equation: TypeAlias = Sequence[tuple[Form, Form]]
"""A sum of products of two forms, to be 0."""

Cell: TypeAlias = tuple[tuple[int, ...], str, dict[int, str]]
"""The columns that a direction sees, its sign, and its side of each point of the support."""

ZERO, ONE = Fraction(0), Fraction(1)
UNIT: Form = {0: ONE}
SIDES = {"+": 1, "-": -1, "0": 0}
BITS = 128  # of the square roots in the distance, a small difference of large numbers


def _sum(terms: Iterable[tuple[Fraction | int, Form]]) -> Form:
    """The linear combination of forms."""
    total: Form = {}
    for factor, form in terms:
        for k, a in form.items():
            total[k] = total.get(k, ZERO) + factor * a
    return total


class Box(NamedTuple):
    """All z with |z_k - centre_k| <= radii_k; z_0 = 1 stands for the constant, with radius 0."""

    centre: tuple[Fraction, ...]
    radii: tuple[Fraction, ...]

    def around(self, form: Form) -> tuple[Fraction, Fraction]:
        """The value of the form at the centre, and the most by which it changes within the box."""
        value = sum((a * self.centre[k] for k, a in form.items()), ZERO)
        return value, sum((abs(a) * self.radii[k] for k, a in form.items()), ZERO)

    def range(self, form: Form) -> tuple[Fraction, Fraction]:
        """The least and the greatest value of the form on the box."""
        value, change = self.around(form)
        return value - change, value + change


def has_root(equations: Sequence[Equation], box: Box, inverse: Sequence[Sequence[int]], denominator: int) -> bool:
    """Whether Krawczyk's test with Y = inverse / denominator shows a zero of F inside the box (and no second one).

    With h = z - centre, F(z) = F + J h + B(h), |B(h)| at most the sum of the products of the forms' changes. So
    |z - Y F(z) - centre| <= |Y F| + |I - Y J| r + |Y| |B|, r the radii. Where that is < r the map takes the box into
    itself and has a fixed point (Brouwer), a zero of F because Y is invertible: |I - Y J| r < r.
    """
    lines: list[list[Fraction]] = []
    for equation in equations:
        line = [ZERO] * (len(equations) + 3)  # F, the bound of B, a column without meaning, and the Jacobian
        for a, b in equation:
            (value_a, change_a), (value_b, change_b) = box.around(a), box.around(b)
            line[0] += value_a * value_b
            line[1] += change_a * change_b
            for k, slope in _sum([(value_b, a), (value_a, b)]).items():
                line[k + 2] += slope
        lines.append(line)
    integers, unit = common_integers(lines)
    columns, whole = list(zip(*integers, strict=True)), unit * denominator
    for k, row in enumerate(inverse):
        step = abs(sum(map(mul, row, columns[0]))) + sum(map(mul, map(abs, row), columns[1]))
        image = [(q == k) * whole - sum(map(mul, row, column)) for q, column in enumerate(columns[3:])]
        if not step + sum(map(mul, map(abs, image), box.radii[1:])) < whole * box.radii[k + 1]:
            return False
    return denominator > 0 and min(box.radii[1:], default=ONE) > 0


class Point:
    """The unknown point of a certificate: its numbers as forms in the unknowns, and the conditions on these.

    parts[C]: (c_C, p_C by columns, its cell).   equations: F.   positive: (place, form) to be > 0 on the whole box.
    kinks: (place, s_C y_i (lambda_i - mu), s_C y_i (mu - a lambda_i)), two forms to be of one sign on the box.
    """

    def __init__(self, problem: Problem, network: Network, proof: StationaryNear) -> None:
        is_margin, slope, counted = problem.goal is Goal.MAX_MARGIN, problem.architecture.slope, problem.norm_columns
        self.support = [(problem.rows[i], problem.targets[i]) for i in proof.support]
        rows, numbers = [row for row, _ in self.support], count(1)
        every: list[Form] = [{next(numbers): y if is_margin else ONE} for _, y in self.support]  # y_i lambda_i
        slopes, fits = {"+": ONE, "-": slope, "0": ONE}, [[({0: -y}, UNIT)] for _, y in self.support]
        self.positive = [("support", {k: ONE}) for form in every for k in form if is_margin]
        self.equations: list[Equation] = [*fits]
        self.kinks: list[tuple[str, Form, Form]] = []
        self.parts: list[tuple[Form, dict[int, Form], Cell]] = []
        mirrored: set[tuple[int, ...]] = set()
        for place, direction in enumerate(proof.directions):
            here, sides, sign = f"directions[{place}]", direction.sides, SIDES[direction.sign]
            masks = {network.architecture.masks[j] for j, _ in direction.neurons}
            shares = [abs(share) if slope == 1 else share for _, share in direction.neurons]
            is_shared = len(masks) == 1 and sum(shares) == 1 and min(shares) > 0
            require(is_shared, f"{here}.neurons", "must see the same columns and have shares > 0 of sum 1")
            mask, fixed = masks.pop(), direction.amplitude
            amplitude = {next(numbers): ONE} if fixed is None else {0: fixed}
            self.positive.append((f"{here}.amplitude", amplitude))
            if direction.mirror is None:
                is_whole = len(sides) == len(every) and set(sides) <= SIDES.keys()
                require(is_whole, f"{here}.sides", f"must be {len(every)}, each one of +-0")
                own: list[Form] = []  # y_i mu_i
                for side, (k, y) in zip(sides, (pair for form in every for pair in form.items()), strict=True):
                    own.append({next(numbers) if side == "0" else k: y * slopes[side]})
                pulls = {c: _sum((row[c], form) for row, form in zip(rows, own, strict=True)) for c in mask}
                p = {c: _sum([(sign, pulls[c])]) if c in counted else {next(numbers): ONE} for c in mask}
                self.equations.append([({0: -ONE}, UNIT), *((p[c], p[c]) for c in mask if c in counted)])
                self.equations += [[(pulls[c], UNIT)] for c in mask if c not in counted]
                for row, side, whole, mine in zip(rows, sides, every, own, strict=True):
                    z = _sum((row[c] * (SIDES[side] or 1), p[c]) for c in mask)
                    if side == "0":
                        self.equations.append([(z, UNIT)])
                        ends = _sum([(sign, whole), (-sign, mine)]), _sum([(sign, mine), (-sign * slope, whole)])
                        self.kinks.append((f"{here}.sides", *ends))
                    elif slope != 1:
                        self.positive.append((f"{here}.sides", z))
            else:
                base = proof.directions[min(direction.mirror, place)]
                is_mirror = direction.mirror < place and self.parts[direction.mirror][2][:2] == (mask, direction.sign)
                is_mirror = is_mirror and base.mirror is None and sides == ""
                require(is_mirror, f"{here}.mirror", "must be an earlier direction of the same sign and columns")
                sides = base.sides.translate(str.maketrans("+-", "-+"))
                p = {c: _sum([(-1, form)]) for c, form in self.parts[direction.mirror][1].items()}
                mirrored.add(mask)
            self.parts.append((amplitude, p, (mask, direction.sign, dict(zip(proof.support, sides, strict=True)))))
            for fit, row, side in zip(fits, rows, sides, strict=True):
                fit.append((amplitude, _sum((sign * slopes[side] * row[c], p[c]) for c in mask)))
        for c in chain(*sorted(mirrored)):
            self.equations.append([(_sum((row[c], form) for row, form in zip(rows, every, strict=True)), UNIT)])
        self.unknowns = next(numbers) - 1


def check_stationary_near(problem: Problem, network: Network, proof: StationaryNear) -> Sequence[Cell]:
    """Whether a Clarke KKT point lies within moved ||factor theta|| of factor theta; CertificateError says what fails.

    Local optimum: without zero neurons and with s_C y_i lambda_i < 0 at every kink, the one lambda serves all cells
    around the point. Optimum of any width: if |h(u)| <= ||u|| on every mask class, no network has an objective below
    sum_i lambda_i y_i, and the point has that one. Returned is what the trees for this may use at exactly 1: the cell
    of each direction, where s_C h(u) is at most p_C.u. Elsewhere they leave room for the change of h within the box,
    at most sum_i radius_i ||x_i|| ||u||.
    """
    owned, width = [j for direction in proof.directions for j, _ in direction.neurons], len(network.output_weights)
    is_owned = len(set(owned)) == len(owned) and max(owned, default=0) < width
    require(is_owned, "directions", "name a neuron twice, or one that there is not")
    require(max(proof.support, default=0) < len(problem.targets), "support", f"of {len(problem.targets)} points")
    point = Point(problem, network, proof)
    sizes = {point.unknowns, len(proof.centre), len(proof.radii), len(proof.inverse), *map(len, proof.inverse)}
    require(sizes == {len(point.equations)}, "centre", f"there are {point.unknowns} unknowns, as many equations if any")
    box = Box((ONE, *proof.centre), (ZERO, *proof.radii))
    is_enclosed = has_root(point.equations, box, proof.inverse, proof.denominator)
    require(is_enclosed, "inverse", "does not show that the box holds a root")
    for place, form in point.positive:
        require(box.range(form)[0] > 0, place, "has a number that is not positive on the whole box")
    is_needed = proof.pricing is None or proof.optimality == "optimum of any width"
    require(is_needed, "pricing", "is for an optimum of any width only")
    is_local = proof.optimality == "local optimum"
    for place, below, above in point.kinks:
        ends = [*box.range(below), *box.range(above)]
        is_inside = max(ends) < 0 or (min(ends) > 0 and not is_local)
        require(is_inside, place, "has a slope that may be at an end, or, at a local optimum, at a point that it helps")
    require(len(owned) == width or not is_local, "optimality", "is not proved for a point with zero neurons")
    _check_other_points(problem, proof, point, box)
    _check_distance(problem, network, proof, point, box)
    if proof.optimality == "optimum of any width":
        parts = list(zip(proof.support, proof.centre, proof.radii, strict=False))
        room = sum((radius * sqrt_upper(squared_norm(problem.rows[i])) for i, _, radius in parts), ZERO)
        expected = tuple((i, value) for i, value, radius in parts if abs(value) > radius), 1 - room
        is_pricing = proof.pricing is not None and (proof.pricing.multipliers, proof.pricing.beta) == expected
        is_pricing = is_pricing and len(expected[0]) == len(proof.support) and problem.bias is not Bias.FREE
        require(is_pricing, "pricing", "must be at the multipliers of the centre, none of them 0, no bias being free")
    return [cell for _, _, cell in point.parts]


def _check_other_points(problem: Problem, proof: StationaryNear, point: Point, box: Box) -> None:
    """Whether f fits the points outside the support on the whole box; copies of points of the support are left out."""
    parts = [(box.range(c), {q: box.range(form) for q, form in p.items()}) for c, p, _ in point.parts]
    for i, (row, y) in enumerate(zip(problem.rows, problem.targets, strict=True)):
        low = high = ZERO
        for direction, (amplitude, p) in zip(proof.directions, parts, strict=True):
            zs = [sum((pick(row[c] * end for end in ends) for c, ends in p.items()), ZERO) for pick in (min, max)]
            values = [c * SIDES[direction.sign] * max(z, problem.architecture.slope * z) for c in amplitude for z in zs]
            low, high = low + min(values), high + max(values)
        fits = min(low * y, high * y) >= 1 if problem.goal is Goal.MAX_MARGIN else low == high == y
        is_met = fits or (row, y) in point.support
        require(is_met, "support", f"leaves point {i} out, whose constraint need not hold on the whole box")


def _check_distance(problem: Problem, network: Network, proof: StationaryNear, point: Point, box: Box) -> None:
    """Whether ||factor theta - theta*|| <= moved ||factor theta|| for every theta* of the box, over all parameters.

    For neuron j of direction C it is t^2 ||theta_j||^2 - 2 t sqrt(c_j) (w_j.p_C + s_C v_j) + c_j (||p_C||^2 + 1).
    """
    is_factor = proof.factor == 1 or (proof.factor > 0 and problem.goal is Goal.MAX_MARGIN)
    require(is_factor, "factor", "must be positive, and 1 for min-norm")
    apart = size = proof.factor**2 * squared_norm(chain(*network.parameters))
    for direction, (amplitude, p, _) in zip(proof.directions, point.parts, strict=True):
        square = 1 + sum((max(end * end for end in box.range(form)) for form in p.values()), ZERO)
        for j, share in direction.neurons:
            low, high = (abs(share) * end for end in box.range(amplitude))
            roots = sqrt_lower(low, BITS), sqrt_upper(high, BITS)
            along = _sum((network.hidden_weights[j][c], form) for c, form in p.items())
            along = _sum([(ONE, along), (SIDES[direction.sign] * network.output_weights[j], UNIT)])
            ends = box.range(along if share > 0 else _sum([(-1, along)]))
            apart += high * square - 2 * proof.factor * min(root * end for root in roots for end in ends)
    is_near = proof.moved >= 0 and apart <= proof.moved**2 * size
    require(is_near, "moved", "the point may be farther from the network than that")
