"""Ours, beside Theorem 3.2 of arXiv:2110.02732: how many neurons the best network of any width needs.

    n points, bias none or penalised, some network fits
        ==>  the best of any width is reached with at most n neurons
    k points, those of different labels at 90 degrees or more; of each label one, or two that a direction e sees both
    as h, and each at least 2 h to its side
        ==>  with k - 1 neurons the objective is larger by more than a thousandth

So k points are the fewest whose best network needs k neurons, k = 2, 3, 4. First: outputs at the data are vectors in
R^n, those of networks of cost at most C the convex hull of C s(X u)/|u| and of its negatives, and the best one lies on
its boundary, in a face of dimension n - 1 at most: n atoms do (Caratheodory). Second: apart, each of two points costs
1 / |x| <= 1 / (h sqrt 5), by a neuron that is off at all others; together 1 / h, as the least u with u.x >= h on both
is h e. A neuron does no good at points of the other label.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot
from verify.claims.power import always, has_points
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.deciders.finding import Verdict
from verify.deciders.global_optimality.infeasibility import infeasibility
from verify.numbers.counts import count
from verify.numbers.decimals import about
from verify.problem.members import has_margin, is_free
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.strategies import wide_pairs
from verify.strategies.numbers import labels, nonzero, rationals, vectors
from verify.widths import WidthCurve, WidthPoint, width_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CLAIMS", "are_apart", "is_costless_nowhere", "needs_all", "reaches_the_best", "some_network_fits"]

MORE = Fraction(1, 1000)
"""By more than this part the objective of fewer neurons is larger."""

TOLERANCE = Fraction(1, 10**6)


def is_costless_nowhere(instance: Instance) -> bool:
    """Two layers of neurons that see all columns, with a kink; biases, if there are any, count in the norm."""
    shape, problem = instance.network.architecture, instance.problem
    is_dense = len(set(shape.masks)) == 1 and len(shape.masks[0]) == len(problem.rows[0])
    return shape.limits() is None and is_dense and shape.slope < 1 and not is_free(problem.bias)


def is_without_biases(instance: Instance) -> bool:
    """ReLU neurons without biases, for a margin."""
    is_plain = instance.slope == 0 and not instance.network.architecture.bias
    return is_costless_nowhere(instance) and is_plain and has_margin(instance.problem.goal)


def some_network_fits(instance: Instance) -> bool:
    """It is not proved that no network of any width fits."""
    return infeasibility(instance.problem) is None


def are_apart(instance: Instance) -> bool:
    """Points of different labels are at 90 degrees or more, and two of one label are seen sideways as above."""
    points = list(zip(instance.data.inputs, instance.data.targets, strict=True))
    return all(any(x) for x, _ in points) and all(
        _are_seen_sideways(x, z) if y == t else dot(x, z) <= 0 for (x, y), (z, t) in combinations(points, 2)
    )


def _are_seen_sideways(x: tuple[Fraction, ...], y: tuple[Fraction, ...]) -> bool:
    """Whether |x|^2 |u|^2 >= 5 for each of both, u the least one with u.x = u.y = 1: of length 1 / h."""
    a, b, c = dot(x, x), dot(x, y), dot(y, y)
    determinant = a * c - b * b
    return b < 0 < determinant and min(a, c) * (a + c - 2 * b) >= 5 * determinant


def needs_all(instance: Instance) -> Judgement:
    """With one neuron less none fits, or the objective is larger by more than a thousandth; measured: by how much."""
    k = len(instance.data)
    curve = _curve(instance, k)
    if len(curve.points) < k:  # the best of any width is reached before
        return failed(f"{count(len(curve.points), 'neuron')} reach the best of any width up to {about(TOLERANCE)}")
    fewer, enough = curve.points[k - 2], curve.points[k - 1]
    if fewer.fits is Verdict.REFUTED:
        return held(f"no network of {count(k - 1, 'neuron')} fits")
    if fewer.lower is not None and enough.upper and fewer.lower > (1 + MORE) * enough.upper:
        return held(f"{count(k - 1, 'neuron')} cost more", measured=fewer.lower / enough.upper - 1)
    if fewer.upper is not None and enough.lower and fewer.upper <= (1 + MORE) * enough.lower:
        return failed(f"{count(k - 1, 'neuron')} cost hardly more", measured=fewer.upper / enough.lower - 1)
    return undecided("the brackets of both widths are too wide")


def reaches_the_best(instance: Instance, fewer: int = 0) -> Judgement:
    """The best of as many neurons as points is within 1e-6 of that of any width; measured: how many it takes.

    fewer: of so many neurons less, but of one at least.
    """
    if not some_network_fits(instance):
        return failed("no network fits, so that there is no best objective")
    n = max(len(instance.data) - fewer, 1)
    curve = _curve(instance, n)
    if curve.enough is not None:
        return held(f"{count(curve.enough, 'neuron')} for {count(n, 'point')}", measured=curve.enough)
    upper, last = None if curve.any_width is None else curve.any_width.ends[1], curve.points[-1]
    if _is_above(last, upper):
        return failed(f"the best of {count(n, 'neuron')} is not that of any width")
    return undecided("the brackets are too wide")


def _is_above(point: WidthPoint, upper: Fraction | None) -> bool:
    """Whether a width is proved to do worse than the best of any width, by more than the tolerance."""
    if upper is None:
        return False
    return point.fits is Verdict.REFUTED or (point.lower is not None and point.lower > (1 + TOLERANCE) * upper)


def _curve(instance: Instance, widest: int) -> WidthCurve:
    problem = instance.problem
    return width_curve(
        problem.data, up_to=widest, goal=problem.goal, bias=problem.bias, slope=instance.slope, tol=TOLERANCE
    )


@st.composite
def _planes(draw: DrawFn, *, narrow: bool = False) -> Instance:
    """A pair of one label; in another plane none, one or two points of the other one. Shrinks to one pair."""
    label, more = draw(st.sampled_from([1, -1])), draw(st.integers(0, 2))
    pairs = [draw(wide_pairs(narrow=narrow)).problem.data.inputs for _ in range(2)]
    zeros = (Fraction(0),) * 2
    rows = [(*x, *zeros) for x in pairs[0]] + [(*zeros, *x) for x in pairs[1][:more]]
    targets = [label] * 2 + [-label] * more
    network = Network.two_layer(rows, targets)
    problem = Problem(Dataset(rows, targets), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return Instance(problem, network)


@st.composite
def _small(draw: DrawFn) -> Instance:
    """Up to 4 points of either goal in up to two dimensions, which some network fits; shrinks to one point.

    On different rays, of (x, 1) with biases: neurons with a kink have any values there, as the odd part of f, which is
    linear, is asked for on two pairs of opposite rays at most.
    """
    goal, has_bias = draw(st.sampled_from(Goal)), draw(st.booleans())
    d = draw(st.integers(1, 2))
    points = vectors(d) if has_bias else st.tuples(nonzero(), *[rationals()] * (d - 1))
    most = 4 if has_bias or d > 1 else 2
    rows = draw(st.lists(points, min_size=1, max_size=most, unique_by=tuple if has_bias else _ray))
    targets = draw(labels(len(rows)) if has_margin(goal) else vectors(len(rows)))
    slope, width = draw(st.sampled_from([0, Fraction(1, 3)])), len(rows)
    network = Network.two_layer([[1] * d] * width, [1] * width, slope=slope, b=[0] * width if has_bias else None)
    bias = Bias.PENALISED if has_bias else Bias.NONE
    return Instance(Problem(Dataset(rows, targets), network.architecture, goal=goal, bias=bias), network)


def _ray(x: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """A point of the same ray from 0 as one that is not 0."""
    largest = max(map(abs, x))
    return tuple(value / largest for value in x)


CLAIMS = (
    Claim(
        id="vardi2022.widths.enough",
        source="arXiv:2110.02732, beside Theorem 3.2: ours, by Caratheodory's theorem",
        statement="For n points that some network fits, n neurons reach the best objective of any width.",
        setting=is_costless_nowhere,
        hypotheses={"fits": some_network_fits},
        conclusion=reaches_the_best,
        instances=_small(),
        sharp={"fits": "max-margin/conflicting-duplicates"},
        regime="up to 4 points in up to 2 dimensions, both goals, biases none or penalised; up to 1e-6",
        quantity="neurons that it takes",
        examples=100,
        could_fail=has_points(2),
        variants=(
            Variant(
                name="one-less",
                statement="For n >= 2 points that some network fits, n - 1 neurons reach the best objective.",
                conclusion=lambda instance: reaches_the_best(instance, 1),
            ),
        ),
    ),
    Claim(
        id="vardi2022.widths.needed",
        source="arXiv:2110.02732, beside Theorem 3.2: ours",
        statement="The best network of k points, of each label one or two far apart, 90 degrees or more from the other "
        "label's, needs k neurons: k - 1 cost more by a thousandth or do not fit.",
        setting=is_without_biases,
        hypotheses={"apart": are_apart},
        conclusion=needs_all,
        instances=_planes(),
        without={"apart": _planes(narrow=True)},
        sharp={"apart": "max-margin/vardi2022-theorem-3-2-right-angle"},
        regime="k = 2, 3, 4: the smallest data sets whose best network needs so many neurons, as k points need no more",
        quantity="how much more k - 1 neurons cost",
        examples=100,
        could_fail=always,
        variants=(
            Variant(
                name="narrow",
                statement="The same of points of one label that are less than 90 degrees apart.",
                dropped=("apart",),
                instances=_planes(narrow=True),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
