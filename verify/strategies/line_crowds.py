"""KKT points on a line with many points and many neurons: by their size they could have many linear regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import isqrt

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, outputs
from verify.strategies.kkt import KKTPoint
from verify.strategies.line_exact import squares
from verify.strategies.numbers import positive_rationals

__all__ = ["bending_places", "crowded", "facing_pairs"]

_Points = list[tuple[Fraction, Fraction]]


def bending_places(points: int) -> int:
    """How many breakpoints neurons on a line can have where the KKT conditions hold, as far as numbers go.

    What pulls a neuron is constant between two neighbouring points, before the first and after the last: it bends once
    there, or at a point, in each of two facings.
    """
    return 2 * (2 * points + 1)


@st.composite
def facing_pairs(draw: DrawFn) -> KKTPoint:
    """Points a and -b, a, b > 1, of one label, and neurons that are on at one of both only: three linear regions.

    e_1 = (a, 1)/|(a, 1)| and lambda_1 = 1/|(a, 1)|, likewise e_2; the r_j^2 |(x_j, 1)| are alike, the second r_j^2 a
    sum of squares. |(x, 1)| is rational. Shrinks to short numbers.
    """
    sides = [2 + 1 / draw(positive_rationals(2)) for _ in range(2)]
    sides = [s if s > Fraction(5, 2) else s + 1 for s in sides]
    places = [side * (s * s - 1) / (2 * s) for s, side in zip(sides, (1, -1), strict=True)]
    lengths = [(s * s + 1) / (2 * s) for s in sides]
    label, size = draw(st.sampled_from([1, -1])), draw(positive_rationals(2))
    parts = [[size], [size * r for r in squares(lengths[0] / lengths[1])]]
    rows = [(x, n, r) for x, n, sizes in zip(places, lengths, parts, strict=True) for r in sizes]
    network = Network.two_layer(
        [[r * x / n] for x, n, r in rows], [label * r for *_, r in rows], b=[r / n for _, n, r in rows]
    )
    data = Dataset([[x] for x in places], [label] * 2)
    problem = Problem(data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)
    return KKTPoint(problem, network, tuple(1 / n for n in lengths), ())


@st.composite
def crowded(draw: DrawFn, points: SearchStrategy[KKTPoint], regions: Callable[[Dataset], int]) -> KKTPoint:
    """KKT points on a line with so many neurons, and further points, that they could have more than `regions`.

    The same function and the same number of switches: neurons are split into squares of equal ones, and points beyond
    the margin are added near those that are there, with their labels; some draws are left as they are.
    """
    point = draw(points)
    if draw(st.integers(0, 9)) == 0:
        return point
    problem, network = point.problem, point.network
    wanted = regions(problem.data)
    rows = sorted(zip((x for (x,) in problem.data.inputs), problem.data.targets, strict=True))
    more = _beyond(problem, network, rows, -(-wanted // 4) + draw(st.integers(0, 3)))
    data = Dataset([*problem.data.inputs, *((x,) for x, _ in more)], [*problem.data.targets, *(y for _, y in more)])
    k = isqrt(wanted // max(sum(map(bool, network.output_weights)), 1)) + 1
    parts = [k if v else 1 for v in network.output_weights]  # a zero neuron stays one
    neurons = zip(network.hidden_weights, network.output_weights, network.architecture.masks, parts, strict=True)
    split = [(w / q, b / q, v / q, mask) for (w, b), v, mask, q in neurons for _ in range(q * q)]
    large = Network.two_layer(
        [[w] for w, *_ in split], [v for _, _, v, _ in split], b=[b for _, b, *_ in split],
        masks=[mask for *_, mask in split],
    )  # fmt: skip
    posed = Problem(data, large.architecture, goal=problem.goal, bias=problem.bias)
    return KKTPoint(posed, large, (*point.multipliers, *[Fraction(0)] * len(more)), ())


def _beyond(problem: Problem, network: Network, rows: Sequence[tuple[Fraction, Fraction]], least: int) -> _Points:
    """At least so many points with no less than the margin, between neighbours of one label or beyond the last ones."""
    margin = min(y * f for y, f in zip(problem.data.targets, outputs(problem, network), strict=True))
    first, last = rows[0], rows[-1]
    ends = [((first[0] - 4, first[1]), first), (last, (last[0] + 4, last[1]))]
    gaps = [(a[0], b[0], a[1]) for a, b in [*pairwise(rows), *ends] if a[1] == b[1]]
    known, found, parts = {x for x, _ in rows}, dict[Fraction, Fraction](), 2
    while len(found) < least and parts < 64 * least:
        places = [(a + (b - a) * Fraction(q, parts), y) for a, b, y in gaps for q in range(1, parts)]
        kept = [(x, y) for x, y in places if x not in known and y * network([x]) >= margin]
        found |= dict(kept[: max(0, least - len(found))])
        parts *= 2
    return list(found.items())
