"""Exact KKT points of two-layer networks by construction: ties, zero neurons, duplicates, masks, biases.

With coefficients c_i = lambda_i y_i (min-norm: lambda_i), neurons w_j = |v_j| e_j, |e_j| = 1 and s_j = sign v_j, the
conditions are

    s_j e_j = sum_i c_i g_ij x_i        (no bias coordinate of e_j when the bias is free)

For fixed signs of the preactivations, slopes g and coefficients they are linear in the points, and so are the ties
e_j.x_i = 0 and the margins f(x_i) = m y_i. So a random draw of all is moved onto these equations, by exact elimination
after a few least-norm steps in floats, and kept when the signs did not change. Without bias the margins come for free:
c_i x_i is what enters, and a homogeneous f lets x_i have any scale. Min-norm needs no margins: the targets are f(x_i).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.errors import InputError
from verify.checker.exact import dot
from verify.problem.members import has_bias, has_margin, is_free
from verify.problem.problem import Bias, Goal
from verify.strategies.kkt import KKTPoint
from verify.strategies.kkt_equations import moved
from verify.strategies.kkt_finish import finished
from verify.strategies.kkt_neurons import UnitNeurons, Wanted

__all__ = ["random_kkt_points", "searched_kkt_points"]

_Rows = list[tuple[Fraction, ...]]
_Parts = tuple[_Rows, list[Fraction], list[list[Fraction]]]

SLOPES = tuple(map(Fraction, ("0", "0", "0", "0", "0", "1/2", "1/2", "1/3", "1/3", "1")))
_MOST_DRAWS = 150


def random_kkt_points(seed: int, count: int) -> Iterator[KKTPoint]:
    """Yield `count` KKT points, the same for the same arguments: n <= 6, d <= 3, at most 3 neurons."""
    random = Random(seed)  # noqa: S311 (examples, no secrets)
    for number in range(count):
        goal = (Goal.MAX_MARGIN, Goal.MIN_NORM)[number % 2]
        bias = (Bias.NONE, Bias.NONE, Bias.PENALISED, Bias.FREE)[number // 2 % 4]
        point = None
        while point is None or (_is_smooth(point) and random.random() < 0.85):
            point = _attempt(random, Wanted(goal=goal, bias=bias, slope=random.choice(SLOPES)))
        yield point


@st.composite
def searched_kkt_points(
    draw: DrawFn,
    *,
    goal: Goal = Goal.MAX_MARGIN,
    bias: Bias = Bias.NONE,
    slopes: Sequence[Fraction] = (Fraction(0),),
    dimension: int | None = None,
    neurons: int = 3,
    ties: bool = True,
    zeros: bool = True,
    masks: bool = True,
) -> KKTPoint:
    """KKT points of every kind, by a random search whose sizes are drawn: more varied than `kkt_points`.

    ties: points on kinks; zeros: neurons with weights 0; masks: neurons that do not see every column: at most so.
    Half of the searches are for output weights of both signs, and both labels if max-margin. A search that finds
    nothing leaves what was drawn to chance. Not for max-margin with a free bias.
    Shrinks to few neurons, few points and a low dimension; the numbers themselves are searched for anew.
    """
    if has_margin(goal) and is_free(bias):
        raise InputError("max-margin KKT points with a free bias are found too rarely: take another goal or bias")
    slope = draw(st.sampled_from(list(slopes)))
    both = neurons > 1 and draw(st.booleans())
    count = draw(st.integers(1 + both, neurons))
    d = dimension or draw(st.integers(1, 3))
    points = draw(st.integers(1 + (both or has_bias(bias)), 5))
    extras = draw(st.booleans())
    random = Random(draw(st.integers(0, 2**16)))  # noqa: S311
    wanted = Wanted(
        goal=goal, bias=bias, slope=slope, dimension=d, neurons=count, points=points, ties=ties,
        zeros=zeros and extras, masks=masks, extras=extras, both_signs=both,
    )  # fmt: skip
    for _ in range(_MOST_DRAWS):
        point = _attempt(random, wanted)
        if point is not None and (not both or not has_margin(goal) or len(set(point.problem.data.targets)) > 1):
            return point
    wanted = replace(wanted, dimension=dimension, neurons=None, points=None, both_signs=False)
    while (point := _attempt(random, wanted)) is None:
        pass
    return point


def _is_smooth(point: KKTPoint) -> bool:
    """Without kink and without zero neuron: a local optimum, whatever the rest."""
    return not point.kink_products and all(point.network.output_weights)


def _attempt(random: Random, wanted: Wanted) -> KKTPoint | None:
    """One draw; None when the signs did not survive."""
    neurons = UnitNeurons.drawn(random, wanted)
    d, is_biased = neurons.dimension, has_bias(wanted.bias)
    most = min(5, len(neurons.units) * d) if random.random() < 0.7 else 5  # with more there is hardly room to move
    n = wanted.points or random.randint(min(most, 1 + is_biased), most)
    found = _with_bias(random, neurons, n) if is_biased else _without_bias(random, neurons, n)
    if found is None:
        return None
    rows, coefficients, slopes = found
    if max((value.denominator for row in rows for value in row), default=1) > 10**6:
        return None
    return finished(random, neurons, rows, coefficients, slopes)


def _without_bias(random: Random, neurons: UnitNeurons, n: int) -> _Parts | None:
    """Points, coefficients and slopes; the unknowns are z_i = |c_i| x_i, the signs of c_i are drawn first."""
    d, is_margin = neurons.dimension, has_margin(neurons.wanted.goal)
    reach = random.choice((3, 6, 10))
    start = [[Fraction(random.randint(-reach, reach), 2) for _ in range(d)] for _ in range(n)]
    pattern = neurons.pattern(random, start, random.choice((0.1, 0.3, 0.5)))
    slopes = neurons.slopes(random, pattern)
    ends = [neurons.end(random, pattern, i, row) for i, row in enumerate(start)]
    lines: list[list[Fraction]] = []
    right: list[Fraction] = []
    for j, (unit, mask) in enumerate(zip(neurons.units, neurons.masks, strict=True)):
        for c in mask:
            lines.append([ends[i] * slopes[j][i] * (q == c) for i in range(n) for q in range(d)])
            right.append(neurons.signs[j] * unit[c])
        lines += [[unit[q] * (p == i) for p in range(n) for q in range(d)] for i in range(n) if pattern[j][i] == 0]
        right += [Fraction(0)] * (len(lines) - len(right))
    above = _sign_lines(pattern, neurons, n)
    if is_margin:
        for i in range(n):
            line = [ends[i] * value for value in neurons.linear_at(pattern, i)]
            above.append(([line[q] * (p == i) for p in range(n) for q in range(d)], Fraction(0)))
    rows = moved(random, start, lines, right, above, lambda z: _has_pattern(z, pattern, neurons))
    if rows is None:
        return None
    values = [neurons.value(row) for row in rows]
    if is_margin:
        if any(end * value <= 0 for end, value in zip(ends, values, strict=True)):
            return None
        scales = [abs(value) for value in values]
    else:
        scales = [random.choice((Fraction(1), Fraction(2), Fraction(1, 2))) for _ in range(n)]
    points = [tuple(value / scale for value in row) for row, scale in zip(rows, scales, strict=True)]
    coefficients = [end * scale for end, scale in zip(ends, scales, strict=True)]
    return points, coefficients, slopes


def _with_bias(random: Random, neurons: UnitNeurons, n: int) -> _Parts | None:
    """As above; the last coordinate of a point is 1, so that the equations of the bias are on the coefficients."""
    d, bias = neurons.dimension, neurons.wanted.bias
    reach = random.choice((4, 10))
    start = [[*[Fraction(random.randint(-reach, reach), 2) for _ in range(d)], Fraction(1)] for _ in range(n)]
    pattern = neurons.pattern(random, start, random.choice((0.1, 0.3, 0.5)))
    slopes = neurons.slopes(random, pattern)
    shifts = [Fraction(0) if is_free(bias) else s * e[d] for s, e in zip(neurons.signs, neurons.units, strict=True)]
    ends = [neurons.end(random, pattern, i, row) for i, row in enumerate(start)]
    first = [end * random.choice((Fraction(1, 2), Fraction(1))) for end in ends]
    room = [([Fraction((i == q) * (1 if first[i] > 0 else -1)) for q in range(n)], Fraction(0)) for i in range(n)]
    used = [j for j, mask in enumerate(neurons.masks) if d in mask]
    chosen = moved(random, [first], [slopes[j] for j in used], [shifts[j] for j in used], room, lambda c: all(c[0]))
    if chosen is None:
        return None
    (c,) = chosen
    lines: list[list[Fraction]] = []
    right: list[Fraction] = []
    for j, (unit, mask) in enumerate(zip(neurons.units, neurons.masks, strict=True)):
        for q in mask:
            if q < d:
                lines.append([c[i] * slopes[j][i] * (p == q) for i in range(n) for p in range(d)])
                right.append(neurons.signs[j] * unit[q])
        for i in range(n):
            if pattern[j][i] == 0:
                lines.append([unit[p] * (m == i) for m in range(n) for p in range(d)])
                right.append(-unit[d])
    if has_margin(neurons.wanted.goal):
        margin = sum((r * r for r in neurons.sizes), Fraction(0)) / sum(map(abs, c))
        for i in range(n):
            line = neurons.linear_at(pattern, i)
            lines.append([line[p] * (m == i) for m in range(n) for p in range(d)])
            right.append((1 if c[i] > 0 else -1) * margin - line[d])
    above = _sign_lines(pattern, neurons, n)
    start = [row[:d] for row in start]
    one = Fraction(1)
    rows = moved(random, start, lines, right, above, lambda z: _has_pattern([[*x, one] for x in z], pattern, neurons))
    return None if rows is None else ([tuple(row) for row in rows], list(c), slopes)


def _sign_lines(
    pattern: Sequence[Sequence[int]], neurons: UnitNeurons, n: int
) -> list[tuple[list[Fraction], Fraction]]:
    """(line, offset) for each preactivation that is to keep its sign; the offset is the bias."""
    d = neurons.dimension
    return [
        ([sign * unit[q] * (p == i) for p in range(n) for q in range(d)], sign * sum(unit[d:], Fraction(0)))
        for unit, row in zip(neurons.units, pattern, strict=True)
        for i, sign in enumerate(row)
        if sign
    ]


def _has_pattern(rows: Sequence[Sequence[Fraction]], pattern: Sequence[Sequence[int]], neurons: UnitNeurons) -> bool:
    for unit, wanted in zip(neurons.units, pattern, strict=True):
        for row, sign in zip(rows, wanted, strict=True):
            z = dot(unit, row)
            if (z > 0) - (z < 0) != sign:
                return False
    return True
