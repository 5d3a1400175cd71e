"""The unknown point of an enclosure: its numbers as linear forms in unknowns, and the conditions on these.

The point is sought as w_j = r_j p_C, v_j = s_C mu_w r_j with r_j = sqrt(t_j A_C) for the neurons j of a direction C,
with shares t_j > 0 of sum 1, and w_j = 0, v_j = 0 for every other neuron; mu_w and mu_v are the decays of the layers, 1
for max-margin and min-norm. With slopes g_iC = 1 or a by the side of x_i,

    p_C = s_C sum_i c_i g_iC x_i,   c_i g_iC unknown at a kink

on the columns that count in the norm; a free bias is an unknown of its own. Then mu_w w_j = v_j G_j and mu_v v_j =
w_j.G_j are ||p_C||^2 = mu_w mu_v, and the rest of the conditions is x_i.p_C = 0 at kinks, sum_i c_i g_iC = 0 for a free
bias, mu_b b = sum_i c_i for an output bias b, and what the loss asks of c_i and f(x_i) on the support: both are on a
line, f(x_i) + kappa c_i = y_i - tube sign(c_i), which is f(x_i) = y_i for max-margin and min-norm, or c_i is fixed. For
the logistic loss it is y_i f(x_i) = log((high - lambda_i) / lambda_i).
A mirror C' of C is p_C' = -p_C with s_C' = s_C and slopes 1 + a - g: they are its own when sum_i c_i x_i = 0 on its
columns, which then stands among the equations. All of them are sums of products of two
linear forms in the unknowns (lambda; an output bias; per direction A, bias, mu), and as many as these.

Min-norm: where y_i = 0 and every direction has its kink at x_i, or is off there (ReLU), f(x_i) = 0 follows from the
kinks, and lambda_i occurs in nothing but the intervals of its products: any value will do that they admit. In place of
f(x_i) = y_i then stands lambda_i = 2 sum_C mu_iC (ReLU; (1 + a) lambda_i = 2 mean_C mu_iC for a > 0), or nothing where
a mirror's equation determines lambda_i.

Source: `docs/mathematics.md`, 8.1 "The equations of a point" and 14.10 "Stationary points of a loss near a network".
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, count
from typing import Annotated, Literal, Protocol

from verify.checker.codec import Record, increasing
from verify.checker.dual_trees import Cell
from verify.checker.errors import require
from verify.checker.goals import rules
from verify.checker.krawczyk import ONE, UNIT, ZERO, Box, Equation, Form, Logit, combined
from verify.checker.statement import Index, Network, Problem

SIDES = {"+": 1, "-": -1, "0": 0, "=": 0}


class Direction(Record):
    """A direction p of a KKT point: the output sign of its neurons, and their shares (j, share) of its amplitude.

    sides: of the points of the support, one of "+-0=" each, 0 a kink, = one whose columns are those of a kink, where
    its product is counted; "" with `mirror`, the direction that is -p.
    amplitude: None when it is an unknown.
    """

    sign: Literal["+", "-"]
    sides: str
    neurons: Annotated[tuple[tuple[Index, Fraction], ...], increasing]
    amplitude: Fraction | None = None
    mirror: Index | None = None


class Layout(Protocol):
    """What a certificate says of its point: see the fields of `verify.checker.enclosure.StationaryNear`."""

    @property
    def support(self) -> tuple[int, ...]:
        """Points."""
        ...

    @property
    def fixed(self) -> tuple[tuple[int, Fraction], ...]:
        """Points of these with the multipliers that are no unknowns."""
        ...

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Of the neurons."""
        ...

    @property
    def centre(self) -> tuple[Fraction, ...]:
        """Of the box; of a draft near it, or of none."""
        ...

    @property
    def optimality(self) -> str:
        """What the point is."""
        ...


class Point:
    """The unknown point of a certificate: its numbers as forms in the unknowns, and the conditions on these.

    parts[C]: (A_C, p_C by columns, its cell).   equations: F.   logits: what is added to some of them.
    lines: for the points of the support whose multiplier is an unknown, in their order, kappa c + f = line.
    strict: (place, forms, signs), forms that must all be of one of the signs on the whole box. At a kink they are
    s_C (c - mu) and s_C (mu - a c), c the sum of c_i over it and its copies; they are negative at a local optimum.
    The unknowns are numbered as they occur: the multipliers, an output bias, then for each direction its amplitude, its
    kink products and its free bias.
    """

    def __init__(self, problem: Problem, network: Network, layout: Layout) -> None:
        self.layout, self.network, self.numbers = layout, network, count(1)
        self.goal, self.slope, self.counted = (
            rules(problem.goal),
            problem.architecture.slope,
            problem.norm_columns,
        )
        self.loss, self.decay = self.goal.loss(ZERO), problem.decay
        self.slopes = {1: ONE, -1: self.slope, 0: ONE}
        self.kink_signs = (-1,) if layout.optimality == "local optimum" else (1, -1)
        self.asks_fit = problem.asks_fit
        self.support = [(problem.rows[i], problem.targets[i]) for i in layout.support]
        self.rows = [row for row, _ in self.support]
        self.factors, fixed = self.goal.factors([y for _, y in self.support]), dict(layout.fixed)
        self.coefficients: list[tuple[int, Fraction]] = []  # c_i = number z_k, k = 0 where it is fixed
        for i, factor in zip(layout.support, self.factors, strict=True):
            k = 0 if i in fixed else next(self.numbers)
            self.coefficients.append((k, factor * fixed.get(i, ONE)))
        self.every: list[Form] = [dict([pair]) for pair in self.coefficients]
        self.strict: list[tuple[str, list[Form], tuple[int, ...]]] = []
        self.lines: list[Fraction] = []
        self.logits: dict[int, Logit] = {}
        self.fits: list[list[tuple[Form, Form]]] = []
        self.equations: list[Equation] = []
        self._begin_fits()
        self.output_bias: Form = {}
        if problem.has_output_bias:
            self.output_bias = {next(self.numbers): ONE}
            pull = combined((ONE, form) for form in self.every)
            held = (-(self.decay.output_bias or ZERO), self.output_bias)
            self.equations.append([(combined([(ONE, pull), held]), UNIT)])
            for fit, (k, _) in zip(self.fits, self.coefficients, strict=True):
                fit.extend([(self.output_bias, UNIT)] if k else [])
        self.parts: list[tuple[Form, dict[int, Form], Cell]] = []
        self.products: dict[int, list[Form]] = {i: [] for i in layout.support}  # mu_i at the kinks, mirrors left out
        mirrored: set[tuple[int, ...]] = set()
        for place, direction in enumerate(layout.directions):
            self._add_direction(place, direction, mirrored)
        for c in chain(*sorted(mirrored)):
            pairs = zip(self.rows, self.every, strict=True)
            self.equations.append([(combined((row[c], form) for row, form in pairs), UNIT)])
        if self.asks_fit and -1 in self.loss.signs and self.slope != 1:
            self._settle_what_kinks_fit(mirrored)
        self.unknowns = next(self.numbers) - 1

    def _begin_fits(self) -> None:
        """The equations of the support without f(x_i), which the directions add; of fixed multipliers there are none.

        self.fits has a place for each point of the support, also for those without an equation.
        """
        centre = self.layout.centre
        for (_, y), (k, factor) in zip(self.support, self.coefficients, strict=True):
            fit: list[tuple[Form, Form]] = []
            self.fits.append(fit)
            if not k:
                continue
            c = factor * centre[k - 1] if k <= len(centre) else ZERO
            line = y - self.loss.tube * ((c > 0) - (c < 0))
            self.lines.append(line)
            if self.loss.is_exact:
                fit.append(({0: -line} | ({k: self.loss.curvature * factor} if self.loss.curvature else {}), UNIT))
            else:
                self.logits[len(self.equations)] = Logit(k, self.loss.high or ONE, -y)
            if self.asks_fit and -1 not in self.loss.signs:
                self.strict.append(("support", [{k: ONE}], (1,)))
            self.equations.append(fit)

    def _add_direction(self, place: int, direction: Direction, mirrored: set[tuple[int, ...]]) -> None:
        """A direction, with its equations and strict conditions, and what it adds to f(x_i) on the support."""
        here = f"directions[{place}]"
        mask, sign = self._columns(direction, here), SIDES[direction.sign]
        amplitude = {next(self.numbers): ONE} if direction.amplitude is None else {0: direction.amplitude}
        self.strict.append((f"{here}.amplitude", [amplitude], (1,)))
        if direction.mirror is None:
            sides, p, products = self._own(direction, mask, here)
        else:
            sides, p = self._mirror(direction, mask, place)
            products = self._products_with(p, mask)
            mirrored.add(mask)
        self.parts.append((amplitude, p, (mask, sign, dict(zip(self.layout.support, sides, strict=True)))))
        unit = sign * self.decay.hidden
        sizes = {side: combined([(unit * slope, amplitude)]) for side, slope in self.slopes.items()}
        for fit, (k, _), x_p, side in zip(self.fits, self.coefficients, products, sides, strict=True):
            if k:
                fit.append((sizes[side], x_p))

    def _columns(self, direction: Direction, here: str) -> tuple[int, ...]:
        """The columns that all neurons of the direction see."""
        masks = {self.network.architecture.masks[j] for j, _ in direction.neurons}
        shares = [abs(share) if self.slope == 1 else share for _, share in direction.neurons]
        is_shared = len(masks) == 1 and sum(shares) == 1 and min(shares) > 0
        require(is_shared, f"{here}.neurons", "must see the same columns and have shares > 0 of sum 1")
        return masks.pop()

    def _products_with(self, p: dict[int, Form], mask: tuple[int, ...]) -> list[Form]:
        """x_i.p for the points of the support."""
        return [combined((row[c], p[c]) for c in mask) for row in self.rows]

    def _own(
        self, direction: Direction, mask: tuple[int, ...], here: str
    ) -> tuple[list[int], dict[int, Form], list[Form]]:
        """The sides, p and x_i.p of a direction that stands for itself, with its equations and strict conditions."""
        is_whole = len(direction.sides) == len(self.every) and {*direction.sides} <= SIDES.keys()
        require(is_whole, f"{here}.sides", f"must be {len(self.every)}, each one of +-0=")
        sides, sign = [SIDES[side] for side in direction.sides], SIDES[direction.sign]
        columns = [tuple(row[c] for c in mask) for row in self.rows]
        own: list[Form] = []  # c_i g_iC
        for side, (k, number), factor in zip(direction.sides, self.coefficients, self.factors, strict=True):
            at_kink: Form = {next(self.numbers): factor} if side == "0" else {}
            own.append({k: number * self.slopes[SIDES[side]]} if SIDES[side] else at_kink)
        pulls = {c: combined((row[c], form) for row, form in zip(self.rows, own, strict=True)) for c in mask}
        p = {c: combined([(sign, pulls[c])]) if c in self.counted else {next(self.numbers): ONE} for c in mask}
        size = self.decay.hidden * self.decay.output
        self.equations.append([({0: -size}, UNIT), *((p[c], p[c]) for c in mask if c in self.counted)])
        self.equations += [[(pulls[c], UNIT)] for c in mask if c not in self.counted]
        products = self._products_with(p, mask)
        for k, (x_p, side) in enumerate(zip(products, direction.sides, strict=True)):
            alike = [q for q, row in enumerate(columns) if row == columns[k] and direction.sides[q] in "0="]
            if side == "0":
                self.products[self.layout.support[k]].append(own[k])
                self.equations.append([(x_p, UNIT)])
                copies = [q for q in alike if direction.sides[q] == "="]
                whole = combined((ONE, self.every[q]) for q in (k, *copies))
                below = combined([(sign, own[k]), (-sign * self.slope, whole)])
                self.strict.append(
                    (f"{here}.sides", [combined([(sign, whole), (-sign, own[k])]), below], self.kink_signs)
                )
            elif side == "=":
                is_copy = sum(direction.sides[q] == "0" for q in alike) == 1 and not self.asks_fit
                require(is_copy, f"{here}.sides", "must be that of a copy of one kink, where a loss is asked")
            elif self.slope != 1:
                self.strict.append((f"{here}.sides", [combined([(SIDES[side], x_p)])], (1,)))
        return sides, p, products

    def _mirror(self, direction: Direction, mask: tuple[int, ...], place: int) -> tuple[list[int], dict[int, Form]]:
        """The sides and p of a direction that is minus an earlier one."""
        here, mirror = f"directions[{place}].mirror", direction.mirror or 0
        require(mirror < place and direction.sides == "", here, "must be an earlier direction, and sides empty")
        _, base, cell = self.parts[mirror]
        require(cell[:2] == (mask, SIDES[direction.sign]), here, "must have the same sign and columns")
        return [-side for side in cell[2].values()], {c: combined([(-1, form)]) for c, form in base.items()}

    def _settle_what_kinks_fit(self, mirrored: set[tuple[int, ...]]) -> None:
        """Replace f(x_i) = y_i where it follows from the kinks by an equation for lambda_i, the i-th unknown."""
        for place, ((row, y), i) in enumerate(zip(self.support, self.layout.support, strict=True)):
            sides = {cell[i] for _, _, (_, _, cell) in self.parts}
            if y or not {0} <= sides <= ({0, -1} if self.slope == 0 else {0}):
                continue
            fit = self.fits[place]
            fit.clear()
            if any(row[c] for mask in mirrored for c in mask):
                continue
            kinks = self.products[i]
            mean = ONE if self.slope == 0 else Fraction(1, len(kinks))
            fit.append((combined([(1 + self.slope, {place + 1: ONE}), *((-2 * mean, form) for form in kinks)]), UNIT))
        self.equations = [equation for equation in self.equations if equation]

    def outputs(self, box: Box, rows: Sequence[Sequence[Fraction]]) -> list[tuple[Fraction, Fraction]]:
        """The least and the greatest f(x) on the box, or less and more, at points x with sides that are not known."""
        parts = [(box.range(A), {q: box.range(form) for q, form in p.items()}, s) for A, p, (_, s, _) in self.parts]
        bias = box.range(self.output_bias)
        found: list[tuple[Fraction, Fraction]] = []
        for row in rows:
            low, high = bias
            for amplitude, p, sign in parts:
                zs = [sum((pick(row[c] * end for end in ends) for c, ends in p.items()), ZERO) for pick in (min, max)]
                unit = sign * self.decay.hidden
                values = [A * unit * max(z, self.slope * z) for A in amplitude for z in zs]
                low, high = low + min(values), high + max(values)
            found.append((low, high))
        return found
