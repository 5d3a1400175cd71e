"""A ball of networks of any depth: by how much what they compute can differ from that of its centre.

Source: `docs/mathematics.md`, 13.10 "Local optima near a network of any depth", *Bounds*.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

from verify.checker.depth_states import matrices_of
from verify.checker.exact import dot, sqrt_upper, squared_norm
from verify.checker.statement import Network

ZERO, ONE = Fraction(0), Fraction(1)

Unit = tuple[int, int]
"""(layer, unit)."""


@dataclass(frozen=True)
class Ball:
    """All networks within `radius` of `centre`, with empty units at 0: how much of what they compute can change."""

    centre: Network
    radius: Fraction
    empty: frozenset[Unit]

    @cached_property
    def matrices(self) -> list[tuple[tuple[Fraction, ...], ...]]:
        """A_1, ..., A_m at the centre."""
        return matrices_of(self.centre)

    @cached_property
    def roots(self) -> list[Fraction]:
        """For each layer by how much its matrix changes, in the Frobenius norm, where its parameters change by 1."""
        counts = [layer.most_places for layer in self.centre.architecture.layers]
        return [sqrt_upper(Fraction(count)) for count in counts]

    @cached_property
    def norms(self) -> list[Fraction]:
        """For each layer a bound of the norm of its matrix on the ball."""
        return [norm_above(A) + w * self.radius for A, w in zip(self.matrices, self.roots, strict=True)]

    @cached_property
    def second(self) -> Fraction:
        """P_2: see `largest`."""
        return largest(self.norms, self.roots, 2)

    @cached_property
    def third(self) -> Fraction:
        """A bound of the third derivative of f at a point of norm 1, along directions of norm 1."""
        m = len(self.norms)
        return 6 * comb(m, 3) * sqrt_upper(Fraction(1, m**3)) * largest(self.norms, self.roots, 3)

    def output(self, row: Sequence[Fraction]) -> Fraction:
        """f(x) at the centre."""
        return self.states(row)[-1][0][0]

    def states(self, row: Sequence[Fraction]) -> list[tuple[list[Fraction], Sequence[Fraction]]]:
        """For each layer its preactivations at the centre, and its inputs."""
        inputs, found = tuple(row), list[tuple[list[Fraction], Sequence[Fraction]]]()
        for layer, matrix in zip(self.centre.architecture.layers, self.matrices, strict=True):
            z = [dot(weights, inputs) for weights in matrix]
            found.append((z, inputs))
            a = ONE if layer.slope is None else layer.slope
            inputs = tuple(max(one, a * one) for one in z)
        return found

    def changes(self, row: Sequence[Fraction]) -> list[list[Fraction]]:
        """For each layer by how much its preactivations can differ from those of the centre."""
        found, delta = list[list[Fraction]](), ZERO
        states, layers = self.states(row), self.centre.architecture.layers
        for l, ((z, inputs), matrix) in enumerate(zip(states, self.matrices, strict=True)):
            size = sqrt_upper(squared_norm(inputs))
            own = [
                ZERO if (l, j) in self.empty
                else sqrt_upper(squared_norm(weights)) * delta + self.roots[l] * self.radius * (size + delta)
                for j, weights in enumerate(matrix)
            ]  # fmt: skip
            found.append(own)
            is_off = layers[l].slope == 0 and all(one + change <= 0 for one, change in zip(z, own, strict=True))
            delta = ZERO if is_off else self.norms[l] * delta + self.roots[l] * self.radius * size
        return found

    def change_of_output(self, row: Sequence[Fraction]) -> Fraction:
        """By how much f(x) can differ from that of the centre."""
        return self.changes(row)[-1][0]


def norm_above(matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    """At least the norm of the matrix: that of Frobenius, or the root of its largest row and column sums."""
    rows = max(sum(map(abs, row), ZERO) for row in matrix)
    columns = max(sum((abs(row[c]) for row in matrix), ZERO) for c in range(len(matrix[0])))
    return sqrt_upper(min(rows * columns, sum(map(squared_norm, matrix), ZERO)))


def largest(norms: Sequence[Fraction], roots: Sequence[Fraction], k: int) -> Fraction:
    """The largest product of the roots of k layers and the norms of the others; 0 where there are fewer layers."""
    found = [ONE, *[ZERO] * k]  # of the layers so far, with the roots of 0, 1, ..., k of them
    for norm, root in zip(norms, roots, strict=True):
        found = [max(found[q] * norm, found[q - 1] * root if q else ZERO) for q in range(k + 1)]
    return found[k]
