"""Theorem 4.2 of arXiv:2205.09072, section 4.2.

    L(theta(t_0)) < 1/n, x_1 < .. < x_n labelled by a teacher of width r, so that |{i: y_i != y_{i+1}}| <= r
        ==>  theta(t)/|theta(t)| -> the direction of a KKT point theta*, and N_theta* has <= 32 r + 67 linear regions

The proof takes of the flow only that theta* is a KKT point, so all KKT points are tried. Ours, proved on the page of
the paper: at most 5 r + 7.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from verify.claims.decisions import is_kkt_point
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.safran2022.learning import classifies
from verify.claims.safran2022.regions import (
    is_univariate,
    limit_has_few_regions,
    linear_regions,
    region_bound,
    switches,
)
from verify.claims.theorems import run_alone
from verify.problem.problem import Bias
from verify.quantities.regions import label_switches
from verify.strategies import (
    crowded,
    facing_pairs,
    fitted_starts,
    searched_kkt_points,
    switching_kkt_points,
)
from verify.strategies.line_crowds import bending_places

__all__ = ["CLAIMS", "has_few_regions", "has_fewer_regions"]


def has_few_regions(instance: Instance) -> Judgement:
    """At most 32 r + 67 linear pieces."""
    return _counted(instance, region_bound(switches(instance)))


def has_fewer_regions(instance: Instance) -> Judgement:
    """At most 5 r + 7 linear pieces (ours; the proof is in docs/claims/safran2022.md)."""
    return _counted(instance, sharper_bound(switches(instance)))


def _counted(instance: Instance, bound: int) -> Judgement:
    count = linear_regions(instance)
    text = f"{count} linear regions, the bound is {bound}"
    return held(text, measured=count) if count <= bound else failed(text, measured=count)


def sharper_bound(changes: int) -> int:
    """5 r + 7."""
    return 5 * changes + 7


def could_have_more(instance: Instance, bound: int) -> bool:
    """There are neurons enough, and places where they can bend, for more than `bound` linear pieces."""
    return 1 + min(instance.network.width, bending_places(len(instance.data))) > bound


def _on_a_line(bound: Callable[[int], int]) -> SearchStrategy[Instance]:
    """KKT points of all kinds, whose labels are nearly always alike, as many whose labels change 1 to 3 times, pairs of
    one label with three regions: most of them with so many neurons and points that they could exceed the bound.
    """
    of_all_kinds = searched_kkt_points(bias=Bias.PENALISED, dimension=1, neurons=4)
    points = st.one_of(facing_pairs(), of_all_kinds, switching_kkt_points())
    return crowded(points, lambda data: bound(label_switches(data))).map(Instance.of)


def _at_most(more: int, name: str) -> Variant:
    """The false bound r + more."""
    return Variant(
        name=name,
        statement=f"A KKT point has at most r + {more} linear regions when the labels change r times.",
        conclusion=lambda instance: _counted(instance, switches(instance) + more),
    )


CLAIMS = (
    Claim(
        id="safran2022.thm4.2",
        source="arXiv:2205.09072, Theorem 4.2",
        statement="A KKT point has at most 32 r + 67 linear regions when the labels change r times.",
        setting=is_univariate,
        hypotheses={"kkt": is_kkt_point},
        conclusion=has_few_regions,
        instances=_on_a_line(region_bound),
        sharp={"kkt": "max-margin/safran2022-theorem-4-2-not-stationary"},
        regime="KKT points of few directions, of which the limits of gradient flow are some, most of them with more "
        "neurons, and places where these can bend, than the bound; r = the number of changes, at most the width of a "
        "teacher, 1 to 3 on a third of the instances or so",
        quantity="linear regions",
        group=switches,
        examples=100,
        could_fail=lambda instance: could_have_more(instance, region_bound(switches(instance))),
        variants=(_at_most(2, "r+2"),),
    ),
    Claim(
        id="safran2022.thm4.2.sharper",
        source="arXiv:2205.09072, about Theorem 4.2: ours, not the paper's",
        statement="A KKT point has at most 5 r + 7 linear regions when the labels change r times.",
        setting=is_univariate,
        hypotheses={"kkt": is_kkt_point},
        conclusion=has_fewer_regions,
        instances=_on_a_line(sharper_bound),
        sharp={"kkt": "max-margin/safran2022-theorem-4-2-not-stationary"},
        regime="ours, with a proof on the page of the paper; tried at KKT points of few directions here, r <= 3, and "
        "by isoptimal search at those with the most regions that it finds",
        quantity="linear regions",
        group=switches,
        examples=100,
        could_fail=lambda instance: could_have_more(instance, sharper_bound(switches(instance))),
        variants=(_at_most(2, "r+2"),),
    ),
    Claim(
        id="safran2022.thm4.2.flow",
        source="arXiv:2205.09072, Theorem 4.2",
        statement="Gradient flow that classifies every point converges in direction to a KKT point with at most 32 r + "
        "67 linear regions, even at most 5 r + 7.",
        setting=is_univariate,
        hypotheses={"loss-below-1/n": classifies},
        conclusion=partial(limit_has_few_regions, allowed=sharper_bound),
        instances=fitted_starts().map(lambda drawn: Instance(*drawn)),
        sharp={"loss-below-1/n": "max-margin/safran2022-theorem-4-1-dead"},
        regime="r <= 2; up to 75 neurons, some of which make a zigzag of margin at least 4, the others Gaussian; "
        "judged by the sharper bound, which is ours; the logistic loss, up to 20,000 "
        "gradients; regions at the exact KKT point that its certificate encloses within 1e-3 of the network, or where "
        "training ended; that the loss tends to 0 is safran2022.thm4.1",
        quantity="linear regions",
        group=switches,
        trains=True,
        examples=20,
        could_fail=lambda instance: could_have_more(instance, sharper_bound(switches(instance))),
        few_could_fail="with neurons and points enough for more regions the flow mostly does not come to an end within "
        "its budget, or near no exact KKT point that is found; KKT points of that size are those of safran2022.thm4.2",
        variants=(
            Variant(
                name="r+1",
                statement="It converges in direction to a KKT point with at most r + 1 linear regions.",
                conclusion=lambda instance: limit_has_few_regions(instance, lambda changes: changes + 1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
