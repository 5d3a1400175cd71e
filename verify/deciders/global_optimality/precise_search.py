"""The bracket of a small problem in many digits, where double precision cannot tell its points apart.

Points of opposite labels at a distance of 1e-9 ask for weights and multipliers of 1e9, whose cancellation costs a
search in floats as many digits. Here the restricted master (`solvers.any_width.precise_master`) and pricing
(`solvers.pricing.precise`) take turns in decimal arithmetic of a precision that follows from the data; what they end
with becomes exact numbers of as many digits, for the checker. Slower by a factor of a thousand: for few points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.bounds import LowerBound
from verify.checker.errors import InputError
from verify.checker.exact import sqrt_upper, squared_norm
from verify.checker.multipliers import dual_value
from verify.deciders.global_optimality.precise_numbers import (
    ExactColumn,
    Leaves,
    fraction,
    in_decimals,
    interpolating,
    log2,
    short,
)
from verify.deciders.proposal import certified
from verify.deciders.rounding import ceil_dyadic
from verify.deciders.time_limits import by_work, is_late, now
from verify.problem.members import factors, has_margin, is_free
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs

if TYPE_CHECKING:
    from solvers.any_width.precise_master import Block, Optimum
    from solvers.pricing.precise import PreciseSearch
    from solvers.programs.precise_cones import Decimals

__all__ = ["MOST_POINTS", "precise_bracket"]

MOST_POINTS = 16
MOST_COLUMNS = 6  # of the lifted points
MOST_ROUNDS = 40
MOST_WORK = 60.0  # seconds of work without a deadline
DIGITS = 60  # besides those that the data cost
MOST_DIGITS = 400
LEAST_REQUIRED = 40
FREE_WEIGHT = 25  # decimal digits by which a free bias is cheaper than a weight


@dataclass(slots=True)
class Precise:
    """lower: an accepted certificate or None; witnesses: networks that fit, not yet judged."""

    lower: LowerBound | None = None
    witnesses: list[Network] = field(default_factory=list[Network])


def precise_bracket(
    problem: Problem, starts: Iterable[Sequence[float]], tol: float, deadline: float | None = None
) -> Precise:
    """The bracket to a relative gap `tol`; what was reached when it cannot be had.

    starts: directions (c,) whose patterns are the first columns.
    """
    is_small = len(problem.rows) <= MOST_POINTS and len(problem.rows[0]) <= MOST_COLUMNS
    if not is_small or problem.fit_tolerance:
        return Precise()
    scales = _row_scales(problem)
    rows = [[scale * entry for entry in row] for row, scale in zip(problem.rows, scales, strict=True)]
    required = _required(problem, scales)
    if not any(required):
        return Precise()
    digits = DIGITS + _lost_digits(rows, required) + FREE_WEIGHT * (is_free(problem.bias))
    if digits > MOST_DIGITS:
        return Precise()
    with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        if deadline is not None:
            return _Loop(problem, scales, required, tol, deadline, digits).run(starts)
        with by_work():
            return _Loop(problem, scales, required, tol, now() + MOST_WORK, digits).run(starts)


def _row_scales(problem: Problem) -> list[Fraction]:
    """Powers of two that bring every row near norm 1; (x_i.u, r_i) and (s x_i.u, s r_i) ask for the same, s > 0.

    A free bias counts in no norm: one scale for all.
    """
    counted = problem.norm_columns
    sizes = [squared_norm([row[c] for c in counted]) for row in problem.rows]
    largest = max(sizes) or Fraction(1)
    if is_free(problem.bias):
        sizes = [largest] * len(sizes)
    return [Fraction(2) ** -(log2(size or largest) // 2) for size in sizes]


def _required(problem: Problem, scales: Sequence[Fraction]) -> list[Fraction]:
    """What is required at the scaled rows: s_i |y_i|, and s_i y_i for min-norm.

    For margins at least 2^-LEAST_REQUIRED of the largest: to ask so little more costs little more, and a network
    that gives it fits all the more.
    """
    if not has_margin(problem.goal):
        return [scale * y for scale, y in zip(scales, problem.data.targets, strict=True)]
    asked = [scale * abs(y) for scale, y in zip(scales, problem.data.targets, strict=True)]
    return [max(size, max(asked) / 2**LEAST_REQUIRED) for size in asked]


def _lost_digits(rows: Sequence[Sequence[Fraction]], required: Sequence[Fraction]) -> int:
    """Decimal digits that numbers of such different size and points so near to each other cost, three times over."""
    sizes = [squared_norm(row) for row in rows if any(row)]
    sizes += [(value / max(map(abs, required))) ** 2 for value in required if value]
    for i, one in enumerate(rows):
        for other in rows[:i]:
            for sign in (1, -1):
                apart = squared_norm([a - sign * b for a, b in zip(one, other, strict=True)])
                sizes += [apart] if apart else []
    exponents = [log2(size) for size in sizes] or [0]
    return 3 * math.ceil((max(exponents) - min(exponents)) * 0.1506)  # of the norms, not of their squares


class _Loop:
    def __init__(
        self,
        problem: Problem,
        scales: list[Fraction],
        required: list[Fraction],
        tol: float,
        deadline: float | None,
        digits: int,
    ) -> None:
        self.problem, self.tol, self.deadline, self.digits = problem, tol, deadline, digits
        self.scales = scales
        self.margin = has_margin(problem.goal)
        self.slope = in_decimals(problem.architecture.slope)
        self.free = is_free(problem.bias)
        self.rows = np.array(
            [[in_decimals(scale * entry) for entry in row] for row, scale in zip(problem.rows, scales, strict=True)],
            object,
        )
        if self.free:  # a bias that costs 10^-FREE_WEIGHT of a weight
            self.rows[:, -1] = self.rows[:, -1] * Decimal(10) ** FREE_WEIGHT
        self.factors = factors(problem)
        self.signs = [1 if factor > 0 else -1 for factor in self.factors]
        self.unit = max(map(abs, required))
        self.required = np.array([in_decimals(value / self.unit) for value in required], object)
        self.columns: dict[ExactColumn, None] = {}

    def run(self, starts: Iterable[Sequence[float]]) -> Precise:
        """Rounds of master and pricing, until pricing proves the multipliers."""
        found = Precise()
        self._begin(starts)
        steep = self._steepness()
        box = steep * Decimal(10) ** 6
        for _ in range(MOST_ROUNDS):
            if is_late(self.deadline):
                break
            columns = list(self.columns)
            optimum = self._master(columns, box, steep)
            if optimum is None:
                break
            if optimum.is_boxed:
                box *= Decimal(10) ** 6
            multipliers = self._rounded(optimum)
            searches = self._price(multipliers)
            if searches is None:
                break
            added = self._add(searches)
            if added:
                continue
            if optimum.is_boxed and box < steep * Decimal(10) ** 40:
                continue
            found.lower = self._bound(multipliers, searches)
            found.witnesses = [network for network in self._networks(columns, optimum) if network is not None]
            break
        return found

    # -- columns --------------------------------------------------------------------------------------------------

    def _begin(self, starts: Iterable[Sequence[float]]) -> None:
        directions = [np.array([in_decimals(Fraction(float(x))) for x in u], object) for u in starts]
        directions += [sign * row for row in self.rows for sign in (1, -1)]
        for mask in range(len(self.problem.mask_classes)):
            for sign in (1, -1):
                for everywhere in (True, False):
                    self._put(ExactColumn(mask, sign, (everywhere,) * len(self.rows)))
                for u in directions:
                    self._put(self._column(mask, sign, u))

    def _column(self, mask: int, sign: int, u: Decimals) -> ExactColumn:
        seen = list(self.problem.mask_classes[mask])
        small = Decimal(10) ** (-self.digits // 3)
        z = self.rows[:, seen] @ u[seen]
        reach = np.abs(self.rows[:, seen]) @ np.abs(u[seen])
        return ExactColumn(mask, sign, tuple(bool(one > -small * size) for one, size in zip(z, reach, strict=True)))

    def _put(self, column: ExactColumn) -> bool:
        """Whether it is new; only the points that it helps matter for max-margin."""
        on = column.on
        if self.margin:
            on = tuple(side and column.sign * y > 0 for side, y in zip(on, self.signs, strict=True))
        key = ExactColumn(column.mask, column.sign, on)
        if self.problem.architecture.slope == 1:
            key = ExactColumn(column.mask, 1, (True,) * len(on))
        if key in self.columns:
            return False
        self.columns[key] = None
        return True

    def _add(self, searches: list[tuple[int, int, PreciseSearch]]) -> int:
        added = 0
        for mask, sign, search in searches:
            for p in search.violators:
                u = np.array([Decimal(0)] * len(self.rows[0]), object)
                u[list(self.problem.mask_classes[mask])] = p
                added += self._put(self._column(mask, sign, u))
        return added

    # -- the master -----------------------------------------------------------------------------------------------

    def _block(self, column: ExactColumn) -> Block:
        from solvers.any_width.precise_master import Block

        seen = list(self.problem.mask_classes[column.mask])
        x = self.rows[:, seen]
        slopes = np.array([Decimal(1) if on else self.slope for on in column.on], object)
        if not self.margin:
            sides = np.array([Decimal(1) if on else Decimal(-1) for on in column.on], object)
            points = np.arange(len(x)) if self.slope < 1 else np.zeros(0, int)
            return Block((column.sign * slopes[:, None] * x).T, (sides[:, None] * x)[points].T, points)
        helps = np.array([column.sign * y > 0 for y in self.signs])
        points = np.flatnonzero(~helps) if self.slope < 1 else np.zeros(0, int)
        factors = np.array(
            [gain if helped else -self.slope for gain, helped in zip(slopes, helps, strict=True)], object
        )
        return Block((factors[:, None] * x).T, -x[points].T, points)

    def _master(self, columns: list[ExactColumn], box: Decimal, steep: Decimal) -> Optimum | None:
        from solvers.any_width.precise_master import maximise

        return maximise(
            self.required,
            [self._block(column) for column in columns],
            margin=self.margin,
            slope=self.slope,
            box=box,
            scale=steep,
            accuracy=Decimal(10) ** (-(self.digits - 20) // 2),
            deadline=self.deadline,
        )

    def _steepness(self) -> Decimal:
        """What the outputs ask of slopes at least: an estimate of the value."""
        from solvers.programs.precise_cones import norm

        outputs_ = [r * y for r, y in zip(self.required, self.signs, strict=True)]
        counted = list(self.problem.norm_columns)
        steep = Decimal(0)
        for i, one in enumerate(self.rows):
            for other, value in [*zip(self.rows[:i], outputs_[:i], strict=True), (0 * one, Decimal(0))]:
                difference = (one - other)[counted]
                apart = norm(difference)
                if apart and not (self.free and value == 0):
                    steep = max(steep, abs(outputs_[i] - value) / apart)
        return steep or Decimal(1)

    def _rounded(self, optimum: Optimum) -> list[Fraction]:
        """Short dyadic multipliers of the scaled rows; with a free bias their signed sum is 0."""
        largest = max(map(abs, optimum.multipliers))
        bits = int(self.digits * 2)
        quantum = Fraction(2) ** (math.floor(math.log2(float(largest.scaleb(-largest.adjusted())))) - bits)
        quantum *= Fraction(10) ** largest.adjusted() if largest.adjusted() >= 0 else 1
        if largest.adjusted() < 0:
            quantum /= 2 ** math.ceil(-largest.adjusted() * math.log2(10))
        quantum = ceil_dyadic(quantum, 1)
        small = largest * Decimal(10) ** (-(self.digits - 20) // 3)
        found = [
            Fraction(0) if abs(value) < small else round(fraction(value) / quantum) * quantum
            for value in optimum.multipliers
        ]
        if self.free:
            surplus = sum((value * y for value, y in zip(found, self.signs, strict=True)), Fraction(0))
            place = max(range(len(found)), key=lambda i: abs(found[i]))
            found[place] -= surplus * self.signs[place]
        return found

    # -- pricing --------------------------------------------------------------------------------------------------

    def _price(self, multipliers: list[Fraction]) -> list[tuple[int, int, PreciseSearch]] | None:
        from solvers.pricing.precise import price

        support = [i for i, value in enumerate(multipliers) if value]
        coefficients = np.array([in_decimals(multipliers[i]) * self.signs[i] for i in support], object)
        found, beta = [], 1 + in_decimals(Fraction(self.tol)) / 8
        for mask, seen in enumerate(self.problem.mask_classes):
            rows = self.rows[np.ix_(support, list(seen))]
            for sign in (1, -1):
                search = price(
                    rows,
                    sign * coefficients,
                    self.slope,
                    beta,
                    deadline=self.deadline,
                )
                if search.is_cut:
                    return None
                found.append((mask, sign, search))
        return found

    def _bound(self, multipliers: list[Fraction], searches: list[tuple[int, int, PreciseSearch]]) -> LowerBound | None:
        """The certificate: slopes over one denominator, beta from what they exactly reach."""
        problem = self.problem
        support = [i for i, value in enumerate(multipliers) if value]
        c = [multipliers[i] * self.scales[i] * self.signs[i] for i in support]
        largest = max(abs(entry) for i in support for entry in problem.rows[i]) or Fraction(1)
        bits = 60 + math.ceil(-math.log2(self.tol)) + max(log2(largest), 0)
        denominator = 2**bits
        value = dual_value(problem, dict(zip(support, c, strict=True)))
        beta = Fraction(0)
        trees = []
        for mask, sign, search in searches:
            leaves = Leaves(problem, support, [sign * value for value in c], mask, denominator, self.scales)
            nodes = leaves.nodes(search)
            beta = max(beta, leaves.beta)
            trees.append(tuple(nodes))
        if value <= 0 or beta <= 0:
            return None
        beta = ceil_dyadic(beta * (1 + Fraction(1, 2**40)), 60)
        proof = LowerBound(
            multipliers=tuple((i, value / self.factors[i]) for i, value in zip(support, c, strict=True)),
            beta=beta,
            bracket=(value / beta, None),
            denominator=denominator,
            trees=tuple(trees),
        )
        return certified(problem, None, proof)

    # -- networks -------------------------------------------------------------------------------------------------

    def _networks(self, columns: list[ExactColumn], optimum: Optimum) -> Iterable[Network | None]:
        from solvers.programs.precise_cones import norm

        kept: list[tuple[ExactColumn, list[Fraction]]] = []
        total = sum((norm(u) for u in optimum.directions), Decimal(0))
        for share in (20, 10):
            kept = []
            for column, u in zip(columns, optimum.directions, strict=True):
                if norm(u) > total * Decimal(10) ** -share:
                    full = [Fraction(0)] * len(self.rows[0])
                    for c, number in zip(self.problem.mask_classes[column.mask], u, strict=True):
                        weight = Decimal(10) ** FREE_WEIGHT if self.free and c == len(full) - 1 else Decimal(1)
                        full[c] = fraction(number * weight) * self.unit
                    kept.append((column, full))
            yield self._network(kept)

    def _network(self, kept: list[tuple[ExactColumn, list[Fraction]]]) -> Network | None:
        problem = self.problem
        if not self.margin:
            kept = interpolating(problem, kept, self.digits)
        hidden: list[Fraction] = []
        outgoing: list[Fraction] = []
        masks = []
        counted = list(problem.norm_columns)
        for column, u in kept:
            mask = problem.mask_classes[column.mask]
            size = sqrt_upper(squared_norm([u[c] for c in counted]), 30) or Fraction(1, 2**40)
            v = ceil_dyadic(sqrt_upper(size, 30), 24)
            hidden += [short(u[c] / v, self.digits * 3) if self.margin else u[c] / v for c in mask]
            outgoing.append(column.sign * v)
            masks.append(mask)
        if not masks:
            return None
        try:
            network = Network(problem.architecture.with_width_of(masks), (hidden, outgoing))
            values = outputs(problem, network)
        except InputError:
            return None
        if self.margin:
            return network if all(f * y > 0 for f, y in zip(values, problem.data.targets, strict=True)) else None
        return network if values == list(problem.data.targets) else None
