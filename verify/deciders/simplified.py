"""An equivalent problem in numbers that a search in floats takes better, and the exact way back.

    x' = s (x - o)  on the distinct points,      y' = h y  (min-norm; labels stay)

Copies of a point with the same target ask for nothing new, and a multiplier of one of them serves all. A free bias
takes up any shift o of the points: w.x + b = (w/s).x' + (b + w.o). Without a penalised bias outputs and norms follow a
common scale s of the points, and for min-norm those of targets h in any case. s and h are powers of 4, so that balanced
neurons stay balanced; everything is exact. Networks and lower bounds of the one problem are those of the other. An
output bias that counts has a scale of its own, so that s = h = 1 then.

Data that need none of this are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar, cast, final

from verify.checker import Accepted
from verify.checker.bounds import Infeasible, LowerBound
from verify.checker.certificate import Certificate
from verify.checker.codec import Record
from verify.checker.dual_trees import Bound, Dual, Empty, Nodes, Range, Together
from verify.checker.local import Local
from verify.checker.states import HiddenDual
from verify.checker.stationary import Stationary
from verify.deciders.proposal import Proposal, checked, sealed
from verify.deciders.time_limits import poll
from verify.problem.members import has_margin, is_free, is_penalised
from verify.problem.network import Network
from verify.problem.problem import Dataset, Problem

__all__ = ["Simplified", "distinct", "simplified", "without_copies"]

_C = TypeVar("_C", bound=Certificate)
_D = TypeVar("_D", bound=Dual | HiddenDual)

FAR = 8
"""Columns whose middle is farther from 0 than this many times their spread are centred."""

COMFORTABLE = 10
"""Points and targets with a largest number from 2^-10 to 2^10 keep their scale."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Simplified:
    """The simpler problem, and how it comes about.

    given, problem: before and after.   kept: for each of its points the place of that point in the given problem.
    groups: for each point of the given problem its place in the simpler one.   shift: o, one number per input.
    size, height: k and m with s = 4^k and h = 4^m.
    """

    given: Problem
    problem: Problem
    kept: tuple[int, ...]
    groups: tuple[int, ...]
    shift: tuple[Fraction, ...]
    size: int
    height: int

    @property
    def is_same(self) -> bool:
        """Whether nothing was changed."""
        return self.problem is self.given

    @property
    def unit(self) -> Fraction:
        """The objective of a network of the given problem over that of the same one here."""
        return Fraction(4) ** (self.size - self.height)

    def carried(self, network: Network) -> Network:
        """A network of the given problem as one of this."""
        return self._moved(network, self.shift, self.size, self.height)

    def returned(self, network: Network) -> Network:
        """A network of this problem as one of the given problem."""
        back = tuple(-o * Fraction(4) ** self.size for o in self.shift)
        return self._moved(network, back, -self.size, -self.height)

    def _moved(self, network: Network, shift: tuple[Fraction, ...], size: int, height: int) -> Network:
        if not (any(shift) or size or height):
            return network
        whole = Fraction(2) ** (size + height)
        hidden: list[Fraction] = []
        for row, mask in zip(network.hidden_weights, network.architecture.masks, strict=True):
            moved = [w / Fraction(4) ** size for w in row]
            if len(row) > len(shift):
                moved[-1] = row[-1] + sum((w * o for w, o in zip(row, shift, strict=False)), Fraction(0))
            hidden += [moved[column] * whole for column in mask]
        outgoing = [v * Fraction(2) ** (height - size) for v in network.output_weights]
        more = [[b * Fraction(4) ** height for b in rest] for rest in network.parameters[2:]]
        return Network(network.architecture, (hidden, outgoing, *more))

    def gathered(self, multipliers: tuple[tuple[int, Fraction], ...]) -> tuple[tuple[int, Fraction], ...]:
        """Multipliers of the given problem as those of this one: copies add up."""
        found: dict[int, Fraction] = {}
        for i, value in multipliers:
            found[self.groups[i]] = found.get(self.groups[i], Fraction(0)) + value / Fraction(4) ** self.size
        return tuple(sorted(found.items()))

    def returned_bound(self, proof: LowerBound) -> LowerBound:
        """A lower bound of this problem as one of the given problem, its copies without a multiplier.

        Where c and the slopes stay, p' = s p and R' = s R, so that beta' = s beta, and D' = h D.
        """
        finer = 4 ** max(self.size, 0)
        coarser = 4 ** max(-self.size, 0)

        def whole(listed: Range) -> Range:
            point, end, bound, terms = listed
            moved = tuple((self.kept[i], m * finer) for i, m in terms)
            return self.kept[point], end, bound * coarser, moved

        def node(found: int | Record) -> int | Record:
            if isinstance(found, Bound):  # or Together
                slopes = tuple(t if isinstance(t, str) else t * finer for t in found.slopes)
                moved = replace(found, slopes=slopes, ranges=tuple(whole(listed) for listed in found.ranges))
                both = tuple(self.kept[i] for i in found.together) if isinstance(found, Together) else ()
                return replace(moved, together=both) if both else moved
            if isinstance(found, Empty):
                return Empty(tuple((self.kept[i], m) for i, m in found.weights))
            return self.kept[cast("int", found)]

        trees = tuple(cast("Nodes", tuple(node(found) for found in tree)) for tree in proof.trees)
        lower = proof.bracket[0] or Fraction(0)
        return LowerBound(
            multipliers=tuple((self.kept[i], value) for i, value in proof.multipliers),
            beta=proof.beta / Fraction(4) ** self.size,
            bracket=(lower * self.unit, None),
            denominator=proof.denominator * finer,
            trees=trees,
        )

    def returned_point(self, dual: _D) -> _D:
        """A dual point of a problem that only lost its copies as one of the given problem."""
        multipliers, denominator, trees = dual.multipliers, dual.denominator, dual.trees
        moved = self.returned_bound(LowerBound(multipliers, Fraction(1), denominator, trees, bracket=(None, None)))
        return replace(dual, multipliers=moved.multipliers, trees=moved.trees)

    def returned_certificate(self, proof: _C) -> _C:
        """A certificate about a network for a problem that only lost its copies, for the given problem.

        Copies have the same slack and the same preactivations, so that multiplier 0 suits them. Vectors and ends are in
        parameters; whether they serve the copies as well, the checker says.
        """
        if isinstance(proof, Infeasible):
            return replace(proof, multipliers=self._placed(proof.multipliers))
        if isinstance(proof, Stationary):
            products = tuple((self.kept[i], j, value) for i, j, value in proof.kink_products)
            return replace(proof, multipliers=self._placed(proof.multipliers), kink_products=products)
        if isinstance(proof, Local):
            nodes = (
                self.returned_point(node) if isinstance(node, Dual | HiddenDual) else self._choice(*node)
                for node in proof.nodes
            )
            return replace(proof, nodes=tuple(nodes))
        return proof

    def _placed(self, multipliers: tuple[tuple[int, Fraction], ...]) -> tuple[tuple[int, Fraction], ...]:
        return tuple((self.kept[i], value) for i, value in multipliers)

    def _choice(self, neuron: int, point: int | None) -> tuple[int, int | None]:
        return neuron, None if point is None else self.kept[point]


@lru_cache(maxsize=4)
def simplified(problem: Problem) -> Simplified:
    """The problem without copies, centred and of a moderate size, where it is not yet."""
    kept, groups = _without_copies(problem)
    inputs = [problem.data.inputs[i] for i in kept]
    targets = [problem.data.targets[i] for i in kept]
    shift = _shift(problem, inputs)
    if any(shift):
        inputs = [tuple(value - o for value, o in zip(x, shift, strict=True)) for x in inputs]
    poll()
    if any(shift):
        largest = [max(map(abs, x)) for x in inputs]
    else:
        coordinates = ((row[: problem.data.dimension], unit) for row, unit in problem.points.rows)
        largest = [Fraction(max(map(abs, row)), unit) for row, unit in coordinates]
    is_fixed = is_penalised(problem.output_bias)
    size = 0 if is_penalised(problem.bias) or is_fixed else _power_of_four(largest)
    height = _power_of_four(map(abs, targets)) if not has_margin(problem.goal) and not is_fixed else 0
    changed = problem
    if len(kept) < len(groups) or any(shift) or size or height:
        data = Dataset(
            [[value * Fraction(4) ** size for value in x] for x in inputs],
            [y * Fraction(4) ** height for y in targets],
        )
        changed = problem.posed_on(data)
        if height and problem.fit_tolerance:
            changed = changed.within(problem.fit_tolerance * Fraction(4) ** height)
    return Simplified(given=problem, problem=changed, kept=kept, groups=groups, shift=shift, size=size, height=height)


@lru_cache(maxsize=4)
def distinct(problem: Problem) -> Simplified:
    """The problem without copies, and else as it is."""
    kept, groups = _without_copies(problem)
    nowhere = (Fraction(0),) * problem.data.dimension
    changed = problem
    if len(kept) < len(groups):
        chosen = ([problem.data.inputs[i] for i in kept], [problem.data.targets[i] for i in kept])
        changed = problem.posed_on(Dataset(*chosen))
    return Simplified(given=problem, problem=changed, kept=kept, groups=groups, shift=nowhere, size=0, height=0)


def without_copies(problem: Problem, network: Network, search: Callable[[Problem], Proposal]) -> Proposal:
    """What `search` proposes about the given network when copies of points are left out, proved for all points.

    Copies change nothing for max-margin. With min-norm each copy of a point at a kink has a multiplier and a slope of
    its own: where what was found does not hold for all of them, they are searched as they are.
    """
    simple = distinct(problem)
    found = search(simple.problem)
    is_open = found.certificate is None and found.beside is None
    if simple.is_same or (is_open and has_margin(problem.goal)):
        return found
    if found.certificate is not None:
        both = [found.certificate, *([] if found.beside is None else [found.beside])]
        proof, *beside = (sealed(problem, network, simple.returned_certificate(one)) for one in both)
        if all(isinstance(checked(problem, network, one), Accepted) for one in (proof, *beside)):
            return replace(found, certificate=proof, beside=next(iter(beside), None))
    return search(problem)


def _without_copies(problem: Problem) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The first of each point with its target, and for every point the place of its first among these."""
    places: dict[tuple[Fraction | int, ...], int] = {}
    kept: list[int] = []
    groups: list[int] = []
    for i, ((row, unit), target) in enumerate(zip(problem.points.rows, problem.data.targets, strict=True)):
        place = places.setdefault((target, unit, *row), len(kept))
        if place == len(kept):
            kept.append(i)
        groups.append(place)
    return tuple(kept), tuple(groups)


def _shift(problem: Problem, inputs: list[tuple[Fraction, ...]]) -> tuple[Fraction, ...]:
    """Of each column that lies far from 0 the entry nearest its middle, if a free bias takes it up in every neuron."""
    last = problem.architecture.layers[0].columns - 1
    unbiased = {column for mask in problem.mask_classes if last not in mask for column in mask}
    shift = [Fraction(0)] * problem.data.dimension
    if not is_free(problem.bias):
        return tuple(shift)
    for column, values in enumerate(zip(*inputs, strict=True)):
        low, high = min(values), max(values)
        middle = (low + high) / 2
        if column not in unbiased and abs(middle) > FAR * (high - low):
            shift[column] = min(values, key=lambda value: abs(value - middle))
    return tuple(shift)


def _power_of_four(sizes: Iterable[Fraction]) -> int:
    """k such that the largest of the sizes times 4^k is near 1; 0 where it is of a moderate size."""
    largest = max(sizes, default=Fraction(0))
    if not largest:
        return 0
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
    return 0 if abs(exponent) <= COMFORTABLE else -(exponent // 2)
