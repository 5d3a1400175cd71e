"""Does an exact Clarke KKT point lie near the network? Krawczyk's test on a box, and what must hold on all of it.

The point is sought as w_j = sqrt(t_j c_C) p_C, v_j = s_C sqrt(t_j c_C) for the neurons j of a direction C, with shares
t_j > 0 of sum 1, and w_j = 0, v_j = 0 for every other neuron. With slopes g_iC = 1 or a by the side of x_i,

    p_C = s_C sum_i y_i mu_iC x_i,   mu_iC = lambda_i g_iC off kinks, unknown at a kink      (min-norm: without y_i)

on the columns that count in the norm; a free bias is an unknown of its own. Then w_j = v_j G_j and v_j = w_j.G_j are
||p_C|| = 1, and the rest of the conditions is f(x_i) = y_i on the support, x_i.p_C = 0 at kinks and, for a free bias,
sum_i y_i mu_iC = 0. A mirror C' of C is p_C' = -p_C with s_C' = s_C and slopes 1 + a - g: they are its own when
sum_i y_i lambda_i x_i = 0 on its columns, which then stands among the equations. All of them are sums of products of
two linear forms in the unknowns (lambda; per direction c, bias, mu), and as many as these.

Min-norm: where y_i = 0 and every direction has its kink at x_i, or is off there (ReLU), f(x_i) = 0 follows from the
kinks, and lambda_i occurs in nothing but the intervals of its products: any value will do that they admit. In place of
f(x_i) = y_i then stands lambda_i = 2 sum_C mu_iC (ReLU; (1 + a) lambda_i = 2 mean_C mu_iC for a > 0), or nothing where
a mirror's equation determines lambda_i.

Sound: an accepted proof is of a true statement about real numbers. Incomplete: the point must be regular, and every
inequality strict; a kink whose slope is at an end of its interval, or whose point has no multiplier, is refused.

Source: R. Krawczyk, Computing 4 (1969);
`docs/mathematics.md`, 8.1 "The equations of a point" and 8.2 "Krawczyk's test".
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain, count
from math import gcd
from operator import mul
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeAlias

from verify.checker.bounds import every_case
from verify.checker.certificate import ALL_TRAINED, AboutNetwork, NotNegative
from verify.checker.codec import Record, at, increasing
from verify.checker.dual_trees import Cell, Dual
from verify.checker.errors import require
from verify.checker.exact import common_integers, sqrt_lower, sqrt_upper, squared_norm
from verify.checker.goals import constraints, is_free
from verify.checker.questions import PROVED, answered
from verify.checker.statement import Index, Natural, Network, Problem

Form: TypeAlias = dict[int, Fraction]
"""A linear form in the unknowns z_1, z_2, ...; the key 0 stands for the constant, z_0 = 1."""

Equation: TypeAlias = Sequence[tuple[Form, Form]]
"""A sum of products of two forms, to be 0."""

ZERO, ONE = Fraction(0), Fraction(1)
UNIT: Form = {0: ONE}
SIDES = {"+": 1, "-": -1, "0": 0}
BITS = 128  # of the square roots in the distance, a small difference of large numbers


def _sum(terms: Iterable[tuple[Fraction | int, Form]]) -> Form:
    """The linear combination of forms, in integers: p / q + n / d = (p d' + n q') / (q d') with q' = q / g, d' = d / g.

    Each coefficient is kept as a numerator and the least common denominator so far, g = gcd(q, d), and reduced last.
    """
    total: dict[int, tuple[int, int]] = {}
    for factor, form in terms:
        over, under = factor.numerator, factor.denominator
        for k, a in form.items():
            n, d = over * a.numerator, under * a.denominator
            p, q = total.get(k, (0, 1))
            g = gcd(q, d)
            total[k] = p * (d // g) + n * (q // g), q // g * d
    return {k: Fraction(p, q) for k, (p, q) in total.items()}


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
    """Whether Krawczyk's test with Y = inverse / denominator shows a zero of F inside the box.

    With h = z - centre, F(z) = F + J h + B(h), |B(h)| at most the sum of the products of the forms' changes. So
    |z - Y F(z) - centre| <= |Y F| + |I - Y J| r + |Y| |B|, r the radii. Where that is < r the map takes the box into
    itself and has a fixed point (Brouwer), a zero of F because Y is invertible: |I - Y J| r < r.
    """
    lines: list[list[Fraction]] = []  # F, the bound of B, and the Jacobian
    for equation in equations:
        parts = [(a, *box.around(a), b, *box.around(b)) for a, b in equation]
        slopes = _sum(chain.from_iterable(((at_b, a), (at_a, b)) for a, at_a, _, b, at_b, _ in parts))
        value = sum((at_a * at_b for _, at_a, _, _, at_b, _ in parts), ZERO)
        bound = sum((in_a * in_b for _, _, in_a, _, _, in_b in parts), ZERO)
        lines.append([value, bound, *(slopes.get(k, ZERO) for k in range(1, len(box.radii)))])
    integers, unit = common_integers(lines)
    columns, whole = list(zip(*integers, strict=True)), unit * denominator
    for k, row in enumerate(inverse):
        step = abs(sum(map(mul, row, columns[0]))) + sum(map(mul, map(abs, row), columns[1]))
        image = [(q == k) * whole - sum(map(mul, row, column)) for q, column in enumerate(columns[2:])]
        if not step + sum(map(mul, map(abs, image), box.radii[1:])) < whole * box.radii[k + 1]:
            return False
    return min(box.radii[1:], default=ONE) > 0


class Direction(Record):
    """A direction p of a KKT point: the output sign of its neurons, and their shares (j, share) of its amplitude.

    sides: of the points of the support, one of "+-0" each, 0 a kink; "" with `mirror`, the direction that is -p.
    amplitude: None when it is an unknown.
    """

    sign: Literal["+", "-"]
    sides: str
    neurons: Annotated[tuple[tuple[Index, Fraction], ...], increasing]
    amplitude: Fraction | None = None
    mirror: Index | None = None


class StationaryNear(AboutNetwork):
    """An exact Clarke KKT point within `moved` ||theta|| of theta, the network times `factor`.

    support: the points that may have multipliers.   optimality: what the point is.
    centre, radii: a box for the unknowns: the multipliers of the support, and for each direction its amplitude, its
    kink products and its free bias (those that it has, in this order).   inverse: of the Jacobian, over `denominator`.
    pricing: for an optimum of any width: a proof of |h(u)| <= ||u|| at its multipliers, in the form of a bound at those
    of the centre, with a beta < 1 that leaves room for the difference.
    """

    DECIDES = ALL_TRAINED
    ANSWERS: ClassVar = {
        "stationary point": answered(PROVED, PROVED),
        "local optimum": answered(PROVED, PROVED, PROVED),
        "optimum of any width": answered(PROVED, PROVED, PROVED, PROVED, PROVED),
    }
    CLAIM = (
        "within {moved} of the network times {factor}, relative to its norm, there is an exact {proof.optimality} of "
        "its shape, where the Clarke KKT conditions hold"
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

        Local optimum: without zero neurons and with s_C y_i lambda_i < 0 at every kink, the one lambda serves all cells
        around the point. Optimum of any width: if |h(u)| <= ||u|| on every mask class, no network has an objective
        below sum_i lambda_i y_i, and the point has that one. The trees for this may use at exactly 1 the cell of each
        direction, where s_C h(u) is at most p_C.u. Elsewhere they leave room for the change of h within the box, at
        most sum_i radius_i ||x_i|| ||u||.

        Without a fit tolerance only: the equations would have to say which end of its interval each output is at.
        """
        require(problem.fit_tolerance == 0, "problem", "has a fit tolerance, with which no enclosure is checked")
        owned, width = [j for direction in self.directions for j, _ in direction.neurons], len(subject.output_weights)
        is_owned = len({*owned}) == len(owned) and max(owned, default=0) < width
        require(is_owned, "directions", "name a neuron twice, or one that there is not")
        is_support = [*self.support] == sorted({*self.support} & {*range(len(problem.targets))})
        require(is_support, "support", f"must be some of {len(problem.targets)} points, in increasing order")
        size = len(self.centre)  # first of all: the equations are about size^2 times the directions
        is_square = {size} == {len(self.radii), len(self.inverse), *map(len, self.inverse)}
        is_square = is_square and len(self.support) <= size and len(self.directions) <= 2 * size
        require(is_square, "centre", "must be as many as the radii and rows of the inverse, enough for the directions")
        point = Point(problem, subject, self)
        is_regular = size == point.unknowns == len(point.equations)
        require(is_regular, "centre", f"must be {point.unknowns}, one for each equation")
        box = Box((ONE, *self.centre), (ZERO, *self.radii))
        require(has_root(point.equations, box, self.inverse, self.denominator), "inverse", "does not show a root")
        is_local, is_global = self.optimality == "local optimum", self.optimality == "optimum of any width"
        for place, forms, signs in point.strict:
            ends = [end for form in forms for end in box.range(form)]
            is_strict = any(min(sign * end for end in ends) > 0 for sign in signs)
            slope = "has a slope that may be at an end, or, at a local optimum, at a point that it helps"
            require(is_strict, place, slope if forms[1:] else "has a number that is not positive on the whole box")
        require(len(owned) == width or not is_local, "optimality", "is not proved for a point with zero neurons")
        self._check_other_points(problem, point, box)
        self._check_distance(problem, subject, point, box)
        require((self.pricing is not None) == is_global, "pricing", "is for an optimum of any width, and needed then")
        if self.pricing is not None:
            parts = list(zip(self.support, self.centre, self.radii, strict=False))
            room = sum((radius * sqrt_upper(squared_norm(problem.rows[i])) for i, _, radius in parts), ZERO)
            expected = tuple((i, value) for i, value, radius in parts if abs(value) > radius), 1 - room
            is_pricing = (self.pricing.multipliers, self.pricing.beta) == expected
            is_pricing = is_pricing and len(expected[0]) == len(self.support) and not is_free(problem.bias)
            require(
                is_pricing, "pricing", "must be at the multipliers of the centre, none of them 0, no bias being free"
            )
            cells = [cell for _, _, cell in point.parts]
            at("pricing", self.pricing.value, problem, every_case(problem), cells)

    def _check_other_points(self, problem: Problem, point: "Point", box: Box) -> None:
        """Whether f fits the points outside the support on the whole box; copies of its points are left out."""
        parts = [(box.range(c), {q: box.range(form) for q, form in p.items()}, s) for c, p, (_, s, _) in point.parts]
        for i, (row, y) in enumerate(zip(problem.rows, problem.targets, strict=True)):
            low = high = ZERO
            for amplitude, p, sign in parts:
                zs = [sum((pick(row[c] * end for end in ends) for c, ends in p.items()), ZERO) for pick in (min, max)]
                values = [c * sign * max(z, problem.architecture.slope * z) for c in amplitude for z in zs]
                low, high = low + min(values), high + max(values)
            fits = constraints(problem.goal).holds_between(low, high, y)
            require(fits or (row, y) in point.support, "support", f"leaves point {i} out, whose constraint may fail")

    def _check_distance(self, problem: Problem, network: Network, point: "Point", box: Box) -> None:
        """Whether ||factor theta - theta*|| <= moved ||factor theta|| for every theta* of the box.

        For neuron j of direction C it is t^2 ||theta_j||^2 - 2 t sqrt(c_j) (w_j.p_C + s_C v_j) + c_j (||p_C||^2 + 1).
        """
        is_factor = self.factor == 1 or (self.factor > 0 and constraints(problem.goal).HAS_MARGIN)
        require(is_factor, "factor", "must be positive, and 1 for min-norm")
        apart = size = self.factor**2 * squared_norm(chain(*network.parameters))
        heads = network.output_weights
        for direction, (amplitude, p, (_, sign, _)) in zip(self.directions, point.parts, strict=True):
            square = 1 + sum((max(end * end for end in box.range(form)) for form in p.values()), ZERO)
            for j, share in direction.neurons:
                low, high = (abs(share) * end for end in box.range(amplitude))
                roots = sqrt_lower(low, BITS), sqrt_upper(high, BITS)
                along = _sum((network.hidden_weights[j][c], form) for c, form in p.items())
                along = _sum([(ONE, along), (sign * heads[j], UNIT)])
                ends = box.range(along if share > 0 else _sum([(-1, along)]))
                apart += high * square - 2 * self.factor * min(root * end for root in roots for end in ends)
        require(apart <= self.moved**2 * size, "moved", "the point may be farther from the network than that")


class Point:
    """The unknown point of a certificate: its numbers as forms in the unknowns, and the conditions on these.

    parts[C]: (c_C, p_C by columns, its cell).   equations: F.
    strict: (place, forms, signs), forms that must all be of one of the signs on the whole box. At a kink they are
    s_C y_i (lambda_i - mu) and s_C y_i (mu - a lambda_i); they are negative at a local optimum.
    The unknowns are numbered as they occur: the multipliers, then for each direction its amplitude, its kink products
    and its free bias.
    """

    def __init__(self, problem: Problem, network: Network, proof: StationaryNear) -> None:
        self.goal, self.slope, self.counted = (
            constraints(problem.goal),
            problem.architecture.slope,
            problem.norm_columns,
        )
        self.slopes = {1: ONE, -1: self.slope, 0: ONE}
        self.kink_signs = (-1,) if proof.optimality == "local optimum" else (1, -1)
        self.proof, self.network, self.numbers = proof, network, count(1)
        self.support = [(problem.rows[i], problem.targets[i]) for i in proof.support]
        self.rows = [row for row, _ in self.support]
        factors = self.goal.factors([y for _, y in self.support])
        self.coefficients = [(next(self.numbers), factor) for factor in factors]  # c_i = factor lambda_i
        self.every: list[Form] = [dict([pair]) for pair in self.coefficients]
        self.fits: list[list[tuple[Form, Form]]] = [[({0: -y}, UNIT)] for _, y in self.support]
        self.equations: list[Equation] = [*self.fits]
        self.strict: list[tuple[str, list[Form], tuple[int, ...]]] = []
        if -1 not in self.goal.signs:
            self.strict += [("support", [{k: ONE}], (1,)) for k, _ in self.coefficients]
        self.parts: list[tuple[Form, dict[int, Form], Cell]] = []
        self.products: dict[int, list[Form]] = {i: [] for i in proof.support}  # mu_i at the kinks, mirrors left out
        mirrored: set[tuple[int, ...]] = set()
        for place, direction in enumerate(proof.directions):
            here = f"directions[{place}]"
            mask, sign = self._columns(direction, here), SIDES[direction.sign]
            amplitude = {next(self.numbers): ONE} if direction.amplitude is None else {0: direction.amplitude}
            self.strict.append((f"{here}.amplitude", [amplitude], (1,)))
            if direction.mirror is None:
                sides, p = self._own(direction, mask, here)
            else:
                sides, p = self._mirror(direction, mask, place)
                mirrored.add(mask)
            self.parts.append((amplitude, p, (mask, sign, dict(zip(proof.support, sides, strict=True)))))
            for fit, x_p, side in zip(self.fits, self._products_with(p, mask), sides, strict=True):
                fit.append((amplitude, _sum([(sign * self.slopes[side], x_p)])))
        for c in chain(*sorted(mirrored)):
            pairs = zip(self.rows, self.every, strict=True)
            self.equations.append([(_sum((row[c], form) for row, form in pairs), UNIT)])
        if -1 in self.goal.signs and self.slope != 1:
            self._settle_what_kinks_fit(mirrored)
        self.unknowns = next(self.numbers) - 1

    def _columns(self, direction: Direction, here: str) -> tuple[int, ...]:
        """The columns that all neurons of the direction see."""
        masks = {self.network.architecture.masks[j] for j, _ in direction.neurons}
        shares = [abs(share) if self.slope == 1 else share for _, share in direction.neurons]
        is_shared = len(masks) == 1 and sum(shares) == 1 and min(shares) > 0
        require(is_shared, f"{here}.neurons", "must see the same columns and have shares > 0 of sum 1")
        return masks.pop()

    def _products_with(self, p: dict[int, Form], mask: tuple[int, ...]) -> list[Form]:
        """x_i.p for the points of the support."""
        return [_sum((row[c], p[c]) for c in mask) for row in self.rows]

    def _own(self, direction: Direction, mask: tuple[int, ...], here: str) -> tuple[list[int], dict[int, Form]]:
        """The sides and p of a direction that stands for itself, with its equations and strict conditions."""
        is_whole = len(direction.sides) == len(self.every) and {*direction.sides} <= SIDES.keys()
        require(is_whole, f"{here}.sides", f"must be {len(self.every)}, each one of +-0")
        sides, sign = [SIDES[side] for side in direction.sides], SIDES[direction.sign]
        own: list[Form] = []  # factor mu_i
        for side, (k, factor) in zip(sides, self.coefficients, strict=True):
            own.append({k if side else next(self.numbers): factor * self.slopes[side]})
        pulls = {c: _sum((row[c], form) for row, form in zip(self.rows, own, strict=True)) for c in mask}
        p = {c: _sum([(sign, pulls[c])]) if c in self.counted else {next(self.numbers): ONE} for c in mask}
        self.equations.append([({0: -ONE}, UNIT), *((p[c], p[c]) for c in mask if c in self.counted)])
        self.equations += [[(pulls[c], UNIT)] for c in mask if c not in self.counted]
        columns = zip(self.proof.support, self._products_with(p, mask), sides, self.every, own, strict=True)
        for i, x_p, side, whole, mine in columns:
            z = _sum([(side or 1, x_p)])
            if side == 0:
                self.products[i].append(mine)
                self.equations.append([(z, UNIT)])
                ends = [_sum([(sign, whole), (-sign, mine)]), _sum([(sign, mine), (-sign * self.slope, whole)])]
                self.strict.append((f"{here}.sides", ends, self.kink_signs))
            elif self.slope != 1:
                self.strict.append((f"{here}.sides", [z], (1,)))
        return sides, p

    def _mirror(self, direction: Direction, mask: tuple[int, ...], place: int) -> tuple[list[int], dict[int, Form]]:
        """The sides and p of a direction that is minus an earlier one."""
        here, mirror = f"directions[{place}].mirror", direction.mirror or 0
        require(mirror < place and direction.sides == "", here, "must be an earlier direction, and sides empty")
        _, base, cell = self.parts[mirror]
        require(cell[:2] == (mask, SIDES[direction.sign]), here, "must have the same sign and columns")
        return [-side for side in cell[2].values()], {c: _sum([(-1, form)]) for c, form in base.items()}

    def _settle_what_kinks_fit(self, mirrored: set[tuple[int, ...]]) -> None:
        """Replace f(x_i) = y_i where it follows from the kinks by an equation for lambda_i, the i-th unknown."""
        for place, ((row, y), i) in enumerate(zip(self.support, self.proof.support, strict=True)):
            sides = {cell[i] for _, _, (_, _, cell) in self.parts}
            if y or not {0} <= sides <= ({0, -1} if self.slope == 0 else {0}):
                continue
            fit = self.fits[place]
            fit.clear()
            if any(row[c] for mask in mirrored for c in mask):
                continue
            kinks = self.products[i]
            mean = ONE if self.slope == 0 else Fraction(1, len(kinks))
            fit.append((_sum([(1 + self.slope, {place + 1: ONE}), *((-2 * mean, form) for form in kinks)]), UNIT))
        self.equations = [equation for equation in self.equations if equation]
