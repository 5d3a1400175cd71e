"""Regression problems in which only the hidden layer is trained, at networks in the span of the points.

A network is given by z_k = X w_k, or by the dual variables b_k with w_k = X^T b_k, as in arXiv:2603.04895, section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot
from verify.deciders.rounding import solve_exactly
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset, Goal, Problem, Trained
from verify.strategies.numbers import Vector, combination, nonzero, orthonormal, positive_rationals, rationals, times

Posed = tuple[Problem, Network]

LARGEST = 16
"""A start is at most 1 / LARGEST of the smallest label."""


def _posed(
    rows: Sequence[Vector], labels: Sequence[Fraction], weights: Sequence[Vector], signs: Sequence[int]
) -> Posed:
    network = Network.two_layer(weights, signs)
    return pose(network, Dataset(rows, labels), goal=Goal.MIN_NORM, trained=Trained.HIDDEN), network


def _at(rows: Sequence[Vector], z: Sequence[Fraction]) -> Vector:
    """The w in the span of independent rows with w.x_i = z_i."""
    gram = [[dot(a, b) for b in rows] for a in rows]
    return combination(solve_exactly(gram, z) or [Fraction(0)] * len(rows), rows)


@st.composite
def _weakly_correlated(draw: DrawFn, most: int = 4) -> tuple[list[Vector], list[Fraction]]:
    """n <= 4 points of about one length, with 128 n sum_j |x_i.x_j| <= |x|^2 over j != i, and labels +-1 to +-2.

    Shrinks to points on the axes with labels 1.
    """
    n = draw(st.integers(1, most))
    d = draw(st.integers(n, 4))
    length = draw(positive_rationals())
    step = Fraction(1, 2048 * n)
    rows = [times(length, [value + step * draw(rationals(1)) for value in row]) for row in draw(orthonormal(d))[:n]]
    labels = [
        draw(st.sampled_from([1, -1])) * (1 + draw(st.sampled_from([0, 1, 2, 3, 4])) * Fraction(1, 4)) for _ in rows
    ]
    return rows, labels


def _smallest(labels: Sequence[Fraction]) -> Fraction:
    return min(map(abs, labels))


def _small() -> st.SearchStrategy[Fraction]:
    """In (0, 1/16]. Shrinks to 1/16."""
    return st.integers(1, 8).map(lambda q: Fraction(1, LARGEST * q))


@st.composite
def positive_starts(draw: DrawFn, *, neurons: int = 1, most: int = 4) -> Posed:
    """Weakly correlated points, and one neuron (+) or two (+, -) that are on, barely, at all of them.

    Shrinks to one point of label 1.   Source: arXiv:2603.04895v2, Theorems 1 and 3.
    """
    rows, labels = draw(_weakly_correlated(most))
    small = _smallest(labels)
    weights = [_at(rows, [small * draw(_small()) for _ in rows]) for _ in range(neurons)]
    return _posed(rows, labels, weights, [1, -1][:neurons])


@st.composite
def assigned_starts(draw: DrawFn) -> Posed:
    """Two to four neurons of both signs, of which one of its label's sign is on at each point, and all of the other.

    The others of its sign have z between -1/2 and -1/4 of the smallest label. Shrinks to a neuron of each sign.
    Source: arXiv:2603.04895v2, Assumption 3 and Theorem 5; the paper's z are smaller there.
    """
    rows, labels = draw(_weakly_correlated())
    small = _smallest(labels)
    signs = [1, -1, *draw(st.lists(st.sampled_from([1, -1]), max_size=2))]
    z = [[small * draw(_small()) for _ in rows] for _ in signs]
    for i, y in enumerate(labels):
        alike = [k for k, s in enumerate(signs) if s * y > 0]
        chosen = draw(st.sampled_from(alike))
        for k in alike:
            if k != chosen:
                z[k][i] = -small * draw(st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)]))
    return _posed(rows, labels, [_at(rows, line) for line in z], signs)


@st.composite
def inactive_starts(draw: DrawFn) -> Posed:
    """One neuron (+), and a point with a positive label at which it is off, with -2 <= z / min |y| <= -1/4.

    At all others it is on, barely. Shrinks to one point.
    """
    rows, labels = draw(_weakly_correlated())
    small = _smallest(labels)
    labels[0] = abs(labels[0])
    z = [small * draw(_small()) for _ in rows]
    z[0] = -small * draw(st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(2)]))
    return _posed(rows, labels, [_at(rows, z)], [1])


@st.composite
def settled_networks(draw: DrawFn, *, neurons: int = 1, positive: bool = False) -> Posed:
    """Networks on their way: on where the label has the neuron's sign, 0 < z <= 2 |y|, and with a dual variable b,
    -2 <= |x|^2 b / |y| <= -1/4, where it has not.

    positive: some label is. Shrinks to one point that is fitted.   Source: arXiv:2603.04895v2, Lemmas 9 and 10.
    """
    rows, labels = draw(_weakly_correlated())
    if positive:
        labels[0] = abs(labels[0])
    signs = [1, -1][:neurons]
    weights: list[Vector] = []
    for s in signs:
        on = [i for i, y in enumerate(labels) if s * y > 0]
        duals = [
            Fraction(0)
            if i in on
            else -abs(y) * draw(st.sampled_from([1, 2, Fraction(1, 2), Fraction(1, 4)])) / dot(x, x)
            for i, (x, y) in enumerate(zip(rows, labels, strict=True))
        ]
        base = combination(duals, rows)
        z = [abs(labels[i]) * draw(st.sampled_from([Fraction(1), Fraction(2), Fraction(1, 8)])) for i in on]
        gaps = [value - dot(base, rows[i]) for value, i in zip(z, on, strict=True)]
        more = _at([rows[i] for i in on], gaps) if on else (Fraction(0),) * len(base)
        weights.append(tuple(a + b for a, b in zip(base, more, strict=True)))
    return _posed(rows, labels, weights, signs)


@st.composite
def dual_networks(draw: DrawFn) -> Posed:
    """One neuron (+) or two (+, -) with dual variables |x|^2 |b| <= 2 max |y|, one with |x|^2 b <= -min |y| / 4.

    Shrinks to one neuron and one point.
    """
    rows, labels = draw(_weakly_correlated())
    signs = [1, -1][: draw(st.integers(1, 2))]
    largest, small = max(map(abs, labels)), _smallest(labels)
    weights: list[Vector] = []
    for k, _ in enumerate(signs):
        duals = [largest * draw(rationals(2)) / dot(x, x) for x in rows]
        if k == 0:
            duals[0] = (
                -small * draw(st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(2)])) / dot(rows[0], rows[0])
            )
        weights.append(combination(duals, rows))
    return _posed(rows, labels, weights, signs)


@st.composite
def hidden_networks(draw: DrawFn) -> Posed:
    """Independent points, n <= d <= 3, any labels but 0, one to three neurons with signs, anywhere in the span.

    Shrinks to one neuron on one point.
    """
    rows = _independent(draw, 3)
    labels = [draw(nonzero()) for _ in rows]
    signs = [draw(st.sampled_from([1, -1])) for _ in range(draw(st.integers(1, 3)))]
    return _posed(rows, labels, [_at(rows, [draw(rationals(2)) for _ in rows]) for _ in signs], signs)


@st.composite
def interpolating_pairs(draw: DrawFn) -> Posed:
    """Independent points, n <= d <= 3, and a positive and a negative neuron that meet every label, none of which is 0.

    Shrinks to one point of label 1.
    """
    rows = _independent(draw, 3)
    labels = [draw(nonzero()) for _ in rows]
    z: tuple[list[Fraction], list[Fraction]] = [], []
    for y in labels:
        other = draw(rationals(2))
        mine = abs(y) + max(other, Fraction(0))
        z[0 if y > 0 else 1].append(mine)
        z[1 if y > 0 else 0].append(other)
    return _posed(rows, labels, [_at(rows, line) for line in z], [1, -1])


def _independent(draw: DrawFn, most: int) -> list[Vector]:
    """x_i = a_i e_i + sum_{k < i} c_ik e_k with a_i != 0."""
    d = draw(st.integers(1, most))
    n = draw(st.integers(1, d))
    return [
        tuple(draw(rationals(2)) if k < i else draw(nonzero()) if k == i else Fraction(0) for k in range(d))
        for i in range(n)
    ]
