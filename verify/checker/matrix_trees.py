"""Trees that bound a vector of dual functions H(u) = sum_r w_r s(x_r.u): ||H(u)||^2 <= b ||u||^2 on every leaf's cell.

A leaf compares quadratic forms in u and in the activations that its cell does not decide. The *ends* of row r are
(r, "+"), the number s(x_r.u) - a x_r.u = (1 - a) max(x_r.u, 0), and (r, "-"), s(x_r.u) - x_r.u = (1 - a) max(-x_r.u,
0): both are at least 0, and their product is 0.

Source: `docs/mathematics.md`, 13.12 "Several ReLU layers".
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain
from operator import mul
from typing import Literal, TypeAlias

from verify.checker.codec import Record
from verify.checker.dual_trees import leaves
from verify.checker.errors import require
from verify.checker.exact import common_integers, is_rational
from verify.checker.statement import Index

End: TypeAlias = Literal["+", "-"]
Product: TypeAlias = tuple[Index, End, Index, End, Fraction]
"""(r, end, t, end, n): n times the product of an end of row r and one of row t; n >= 0 but for both ends of one row."""


class Semidefinite(Record):
    """A leaf on which b ||u||^2 - ||H||^2 less the sum of `products` is a positive semidefinite quadratic form."""

    products: tuple[Product, ...]


MatrixNodes: TypeAlias = tuple[Index | Semidefinite, ...]
"""A tree in pre-order: a number r splits, left child x_r.u >= 0, right child x_r.u <= 0."""

Matrix: TypeAlias = list[list[Fraction]]


class Activated:
    """H(u) of some rows, numbers by which they are called; refuses irrational numbers.

    rows: x_r.   weights: w_r, all of one length.   slope: a.
    """

    def __init__(
        self, rows: Mapping[int, Sequence[Fraction]], weights: Mapping[int, Sequence[Fraction]], slope: Fraction
    ) -> None:
        numbers = chain(*rows.values(), *weights.values())
        require(all(map(is_rational, numbers)), "multipliers", "or points are not all rational")
        self.rows, self.weights, self.slope = rows, weights, slope

    def check(self, nodes: MatrixNodes, square: Fraction) -> None:
        """Whether the nodes are one whole binary tree whose leaves all prove ||H(u)||^2 <= square ||u||^2.

        In the cell of a leaf all ends are at least 0, so the sum of the products is, those of both ends of a row being
        0; for slope 1 all are 0, and no activation is open. A form that is positive semidefinite in (u, undecided
        activations) is at least 0 at their true values.
        """
        for leaf, path, here in leaves(nodes, "nodes", {}, self.rows):
            open_rows = [r for r in self.rows if r not in path and self.slope != 1]
            require(is_semidefinite(self._form(leaf, path, open_rows, square, here)), here, "is not semidefinite")

    def _form(
        self, leaf: Semidefinite, path: Mapping[int, int], open_rows: Sequence[int], square: Fraction, here: str
    ) -> Matrix:
        size = len(next(iter(self.rows.values()), ()))
        whole, zero = size + len(open_rows), Fraction(0)
        before = {r: [*row, *[zero] * len(open_rows)] for r, row in self.rows.items()}
        after = {r: [z if path.get(r, 0) > 0 else self.slope * z for z in row] for r, row in before.items()}
        for k, r in enumerate(open_rows):
            after[r] = [Fraction(c == size + k) for c in range(whole)]
        form = [[square if i == k < size else zero for k in range(whole)] for i in range(whole)]
        for column in zip(*self.weights.values(), strict=True):
            pairs = list(zip(column, (after[r] for r in self.weights), strict=True))
            summed = [sum((w * row[c] for w, row in pairs), zero) for c in range(whole)]
            form = [
                [z - one * other for z, other in zip(row, summed, strict=True)]
                for row, one in zip(form, summed, strict=True)
            ]
        for k, (r, one, t, other, n) in enumerate(leaf.products):
            is_known = r in self.rows and t in self.rows
            require(is_known, f"{here}.products[{k}]", "is not of rows that are listed")
            is_zero = r == t and one != other
            require(n >= 0 or is_zero, f"{here}.products[{k}]", "has a negative weight")
        ends = {
            (r, end): [s - (self.slope if end == "+" else 1) * z for s, z in zip(after[r], before[r], strict=True)]
            for r in self.rows
            for end in ("+", "-")
        }
        return _without(form, ends, leaf.products)


def _without(form: Matrix, ends: Mapping[tuple[int, str], Sequence[Fraction]], products: Sequence[Product]) -> Matrix:
    """The form less the sum of the products, which is added up in integers."""
    rows, unit = common_integers(ends.values())
    (weights,), scale = common_integers([[n for *_, n in products]])
    whole, vectors = len(form), dict(zip(ends, rows, strict=True))
    beside = {name: [0] * whole for name in ends}
    for (r, one, t, other, _), n in zip(products, weights, strict=True):
        beside[r, one] = [z + n * w for z, w in zip(beside[r, one], vectors[t, other], strict=True)]
    columns, others = list(zip(*vectors.values(), strict=True)), list(zip(*beside.values(), strict=True))
    total = [[sum(map(mul, column, other)) for other in others] for column in columns]
    share = Fraction(1, 2 * unit * unit * scale)
    return [[z - share * (total[i][k] + total[k][i]) for k, z in enumerate(row)] for i, row in enumerate(form)]


def is_semidefinite(form: Matrix) -> bool:
    """Whether a symmetric matrix is positive semidefinite: by symmetric elimination, exactly.

    With a pivot p > 0 the form is p (x_1 + ...)^2 and its Schur complement; with p = 0 the row has to be 0.
    """
    rest = form
    while rest:
        (pivot, *first), *others = rest
        if pivot < 0 or (not pivot and any(first)):
            return False
        rest = [
            [z - row[0] * w / pivot for z, w in zip(row[1:], first, strict=True)] if pivot else row[1:]
            for row in others
        ]
    return True
