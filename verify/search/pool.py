"""Where a search looks: the strategies whose instances lie in the setting of a claim, with the sizes small first."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from verify import strategies
from verify.claims import Claim, Instance
from verify.problem.members import is_penalised
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal

__all__ = ["strategies_for"]

_KINDS = ((Goal.MAX_MARGIN, Bias.NONE), (Goal.MIN_NORM, Bias.NONE), (Goal.MAX_MARGIN, Bias.PENALISED))
_MOST_SWITCHES = 3
_SLOPES = tuple(map(Fraction, ("0", "1/2", "1")))


def strategies_for(claim: Claim, drop: str | None) -> dict[str, SearchStrategy[Instance]]:
    """Strategies by name. Those whose first draws are all outside the claim's setting are left to the caller."""
    found = {
        "linear networks with masks": strategies.linear_kkt_points().map(Instance.of),
        "diagonal networks": st.one_of(strategies.linear_kkt_points(diagonal=True), strategies.unequal_diagonals()).map(
            Instance.of
        ),
        "symmetric data": strategies.linear_networks().map(Instance.of),
        "hinted data": strategies.hinted().map(Instance.of),
        "teachers": st.one_of(strategies.single_teachers(), strategies.single_teachers(within_45_degrees=False)).map(
            Instance.of
        ),
        "any problems": strategies.problems().map(lambda drawn: Instance(*drawn)),
        **dict(_kkt_points()),
    }
    if claim.setting(_ON_A_LINE):
        found = {**dict(_patterns_on_a_line()), **found}
    if claim.instances is not None:
        found = {"its own instances": claim.instances, **found}
    if drop is not None and drop in claim.without:
        found = {f"its instances without {drop}": claim.without[drop], **found}
    return found


_ON_A_LINE = Instance.posed(
    Network.two_layer([[1]], [1], b=[0]), Dataset([[1], [-1]], [1, -1]), goal=Goal.MAX_MARGIN, bias=Bias.PENALISED
)
"""What the patterns on a line are like: they are slow to draw, so they are left out where they are of no use."""


def _patterns_on_a_line() -> Iterator[tuple[str, SearchStrategy[Instance]]]:
    """New ones for each search, as they build on what they drew before."""
    for switches in range(_MOST_SWITCHES + 1):
        name = f"patterns of KKT points on a line ({switches} switches)"
        yield name, strategies.line_kkt_points(switches).map(Instance.of)


def _kkt_points() -> Iterator[tuple[str, SearchStrategy[Instance]]]:
    for neurons in (1, 2, 3):
        for slope in _SLOPES:
            for goal, bias in _KINDS:
                strategy = strategies.searched_kkt_points(
                    goal=goal, bias=bias, slopes=(slope,), neurons=neurons,
                    dimension=1 if is_penalised(bias) else None,
                )  # fmt: skip
                name = f"searched KKT points ({goal.value}, bias {bias.value}, slope {slope}, {neurons} neurons)"
                yield name, strategy.map(Instance.of)
