"""One problem with one network, as plain rational numbers, and what the definitions say about them.

Lifted rows x_i have a last entry 1 where there is a bias; a free bias is the last column and does not count in norms.
f(x) = sum_j v_j s(w_j.x) with s(z) = z for z >= 0 and a z below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

Row = tuple[Fraction, ...]


def times(a, b):
    """The inner product."""
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


@dataclass(frozen=True)
class Instance:
    """Points X (n, d), targets y (n,), weights W (k, columns) with 0 where a mask hides a column, v (k,).

    goal: "max-margin" or "min-norm".   bias: "none", "penalised" or "free".   masks: the columns that each neuron sees.
    tol: the relative gap of "globally optimal".   stationary_tol: epsilon and delta of "stationary", None for none.
    floats: whether the numbers are handed over as doubles (they must be dyadic then).   tags: features, for tables.
    """

    X: tuple[Row, ...]
    y: Row
    W: tuple[Row, ...]
    v: Row
    slope: Fraction = Fraction(0)
    goal: str = "max-margin"
    bias: str = "none"
    masks: tuple[tuple[int, ...], ...] | None = None
    tol: Fraction = Fraction(1, 10**6)
    stationary_tol: Fraction | None = None
    floats: bool = False
    family: str = ""
    tags: frozenset[str] = frozenset()

    @property
    def is_margin(self) -> bool:
        return self.goal == "max-margin"

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The lifted points."""
        return self.X if self.bias == "none" else tuple((*x, Fraction(1)) for x in self.X)

    @property
    def columns(self) -> int:
        return len(self.rows[0])

    @property
    def counted(self) -> tuple[int, ...]:
        """The columns that count in the norm."""
        return tuple(range(self.columns - (self.bias == "free")))

    @property
    def seen(self) -> tuple[tuple[int, ...], ...]:
        """The columns that each neuron sees."""
        return self.masks or (tuple(range(self.columns)),) * len(self.v)

    @property
    def signs(self) -> Row:
        """What turns lambda_i into c_i."""
        return self.y if self.is_margin else (Fraction(1),) * len(self.y)

    @cached_property
    def preactivations(self) -> list[list[Fraction]]:
        """w_j.x_i, one row for each neuron."""
        return [[times(w, x) for x in self.rows] for w in self.W]

    @cached_property
    def outputs(self) -> list[Fraction]:
        """f(x_i)."""
        a = self.slope
        values = [[z if z >= 0 else a * z for z in row] for row in self.preactivations]
        return [times(self.v, [row[i] for row in values]) for i in range(len(self.y))]

    @cached_property
    def fits(self) -> bool:
        if self.is_margin:
            return min(times([f], [y]) for f, y in zip(self.outputs, self.y, strict=True)) > 0
        return self.outputs == list(self.y)

    @cached_property
    def margin(self) -> Fraction:
        """The least y_i f(x_i) for max-margin, 1 for min-norm."""
        return min(f * y for f, y in zip(self.outputs, self.y, strict=True)) if self.is_margin else Fraction(1)

    @property
    def active(self) -> list[int]:
        """The points whose constraints are equations."""
        everything = range(len(self.y))
        return [i for i in everything if not self.is_margin or self.outputs[i] * self.y[i] == self.margin]

    @property
    def square_norm(self) -> Fraction:
        return sum(
            (v * v + sum(w[c] ** 2 for c in self.counted) for w, v in zip(self.W, self.v, strict=True)), Fraction(0)
        )

    @cached_property
    def objective(self) -> Fraction | None:
        """Half the squared norm at margin 1; None when the network does not fit."""
        return self.square_norm / 2 / self.margin if self.fits else None

    def ties(self, j: int, within: Fraction = Fraction(0)) -> list[int]:
        """The points at which neuron j has a kink, or may have one after its weights moved by at most `within`.

        None for a linear network, and none where what the neuron sees of the point is 0.
        """
        if self.slope == 1:
            return []
        size = [sum(abs(row[c]) for c in self.seen[j]) for row in self.rows]
        return [i for i, z in enumerate(self.preactivations[j]) if size[i] and abs(z) <= within * size[i]]

    def with_network(self, W, v) -> Instance:
        """The same problem with other weights of the same shape."""
        return replace(self, W=tuple(map(tuple, W)), v=tuple(v))
