"""A fan of directions in the outputs that bounds ||H(u)||: each with a tree of the scalar problem q.H, cone by cone.

Source: `docs/vector.md`, 3 "Two proofs that H is small".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import gcd

import numpy as np

from solvers.arrays import Floats
from solvers.clock import is_late
from solvers.pricing.search import ascend, bound_tree
from solvers.pricing.tree import Tree
from solvers.vectors.vector_instance import VectorInstance

__all__ = ["FanGuess", "Side", "find_fan"]

FLOOR = 0.5
"""A direction need not be bounded by less than this part of the price: its tree is then small."""

MOST_SIDES, TRIES, SEEN = 300, 12, 4
LONGEST = 10**6
"""No direction has larger coordinates."""

WHOLE = 8
"""A direction between two others is a sum of small multiples of both, up to this."""


@dataclass(slots=True, eq=False)
class Side:
    """A direction.   coordinates: whole numbers, of the basis.   value: what q.H reaches; bound: what is to be proved.

    tree: the proof; None until it is made.
    """

    coordinates: tuple[int, ...]
    vector: Floats
    value: float
    bound: float
    tree: Tree | None = None


@dataclass(slots=True, eq=False)
class FanGuess:
    """sides: the directions in use.   orthants: the trees of their cones, None a leaf.   largest: the largest ||n||."""

    sides: list[Side]
    orthants: list[list[tuple[int, int, int] | None]]
    largest: float


@dataclass(slots=True, eq=False)
class _Fan:
    """What is searched: multipliers (n, K), basis (r, K); cones are to have ||n|| <= price (1 + slack).

    vectors: H of unit directions u, shape (B, K), as far as known.   is_raised: whether a bound grew since it was used.
    """

    problem: VectorInstance
    multipliers: Floats
    basis: Floats
    starts: Floats
    price: float
    slack: float
    known: dict[tuple[int, ...], Side] = field(default_factory=dict[tuple[int, ...], Side])
    vectors: Floats = field(init=False)
    is_raised: bool = False

    def __post_init__(self) -> None:
        self.vectors = self.problem.vector(self.multipliers, self.starts)

    def side(self, coordinates: tuple[int, ...]) -> Side:
        """The direction, with a first guess of its bound: the largest q.H that is known.

        What is seen for one direction counts for all, so that the bounds of neighbours go together.
        """
        if coordinates not in self.known:
            vector = np.array(coordinates, float) @ self.basis
            found, _ = ascend(
                self.problem.rows, self.multipliers @ vector, self.problem.slope, self.starts,
                free=self.problem.is_free, compiled=False,
            )  # fmt: skip
            self.see(found[:SEEN])
            side = Side(coordinates, vector, 0.0, 0.0)
            self.raise_to(side, max(float((self.vectors @ vector).max(initial=0.0)), 0.0))
            self.known[coordinates] = side
        return self.known[coordinates]

    def see(self, directions: Floats) -> None:
        """Keep H of directions u, and raise the bounds that it is beyond."""
        vectors = self.problem.vector(self.multipliers, directions)
        self.vectors = np.concatenate([self.vectors, vectors])
        for side in self.known.values():
            value = float((vectors @ side.vector).max(initial=0.0))
            if value > side.bound:
                self.raise_to(side, value)
                self.is_raised = True

    def raise_to(self, side: Side, value: float) -> None:
        """What q.H was seen to reach."""
        side.value = max(side.value, value)
        self.price = max(self.price, side.value / float(np.linalg.norm(side.vector)))
        least = FLOOR * self.price * float(np.linalg.norm(side.vector))
        side.bound, side.tree = max(side.value * (1 + self.slack / 3), least), None

    def cones(self) -> FanGuess | None:
        """The cones of all orthants, split until n is short enough; None where that takes too many directions.

        The price grows where q.H was seen to be longer.
        """
        rank = len(self.basis)
        used: dict[tuple[int, ...], int] = {}
        orthants: list[list[tuple[int, int, int] | None]] = []
        largest = 0.0
        for signs in product((1, -1), repeat=rank):
            units = [tuple(s if k == j else 0 for k in range(rank)) for j, s in enumerate(signs)]
            for unit in units:
                used.setdefault(unit, len(used))
            nodes: list[tuple[int, int, int] | None] = []
            waiting = [[self.side(unit) for unit in units]]
            while waiting:
                cone = waiting.pop()
                length = self._length(cone)
                if length <= self.price * (1 + self.slack) or rank == 1:
                    largest = max(largest, length)
                    nodes.append(None)
                    continue
                p, q = self._widest(cone)
                middle = self.side(_between(cone[p], cone[q]))
                nodes.append((used.setdefault(middle.coordinates, len(used)), p, q))
                waiting += [[middle if at == p else s for at, s in enumerate(cone)]]
                waiting += [[middle if at == q else s for at, s in enumerate(cone)]]
                if len(used) > MOST_SIDES or max(map(abs, middle.coordinates)) > LONGEST:
                    return None
            orthants.append(nodes)
        return FanGuess([self.known[coordinates] for coordinates in used], orthants, largest)

    @staticmethod
    def _length(cone: list[Side]) -> float:
        """||n|| with n.d = b for the directions of the cone, n in their span."""
        d = np.array([side.vector for side in cone])
        b = np.array([side.bound for side in cone])
        return float(np.sqrt(max(float(b @ np.linalg.solve(d @ d.T, b)), 0.0)))

    @staticmethod
    def _widest(cone: list[Side]) -> tuple[int, int]:
        """The two directions with the largest angle."""
        d = np.array([side.vector / np.linalg.norm(side.vector) for side in cone])
        products = d @ d.T + 2 * np.eye(len(d))
        p, q = divmod(int(products.argmin()), len(d))
        return min(p, q), max(p, q)

    def prove(self, guess: FanGuess, deadline: float | None) -> bool:
        """Trees for all directions in use; False where one of them reaches more than was thought, or time is up."""
        is_whole = True
        for side in guess.sides:
            if side.tree is not None:
                continue
            if is_late(deadline):
                return False
            coefficients = self.multipliers @ side.vector
            tree = bound_tree(
                self.problem.rows, coefficients, self.problem.slope, side.bound, free=self.problem.is_free,
                deadline=deadline, max_violators=4,
            )  # fmt: skip
            if tree.nodes is not None:
                side.tree = tree
                continue
            is_whole = False
            if len(tree.violators):
                self.see(tree.violators)
        return is_whole


def find_fan(
    problem: VectorInstance,
    multipliers: Floats,
    basis: Floats,
    price: float,
    slack: float,
    deadline: float | None,
    starts: Floats,
) -> FanGuess | None:
    """A proof in floats that ||H(u)|| <= price (1 + slack) on the unit ball, nearly; None where none is found in time.

    multipliers: shape (n, K), each a combination of the basis, shape (r, K), whose vectors are independent.   price:
    the largest ||H(u)||, nearly; where more is seen that counts.   starts: directions, shape (B, c), where H is long.
    """
    fan = _Fan(problem, multipliers, basis, starts, price, slack)
    for _ in range(TRIES):
        fan.is_raised = False
        guess = fan.cones()
        if guess is None or is_late(deadline):
            return None
        if not fan.is_raised and fan.prove(guess, deadline):
            return guess
    return None


def _between(one: Side, other: Side) -> tuple[int, ...]:
    """A direction between both, near the middle of the angle: whole and positive multiples of the two."""
    ratio = float(np.linalg.norm(other.vector) / np.linalg.norm(one.vector))
    share = Fraction(min(max(ratio, 1 / WHOLE), float(WHOLE))).limit_denominator(WHOLE) or Fraction(1, WHOLE)
    sums = [
        share.numerator * p + share.denominator * q for p, q in zip(one.coordinates, other.coordinates, strict=True)
    ]
    divisor = gcd(*sums)
    return tuple(entry // divisor for entry in sums)
