"""The best objective over networks of one width, bracketed: by the search that goes with the layers that are trained.

Source: `docs/mathematics.md`, 12 "Own width, and only the hidden layer trained".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Protocol

from solvers.instance import SearchStatus
from verify.checker.width import LowerBoundWidth
from verify.deciders.own_width.both_layers import bracket_of_both_layers
from verify.deciders.own_width.hidden_layer import bracket_of_hidden_layer
from verify.deciders.own_width.record import OnStates, WidthBracket
from verify.deciders.time_limits import by_work, now
from verify.problem.members import trains_all
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["bracket_at_width", "until_done"]


def bracket_at_width(
    problem: Problem,
    networks: Iterable[Network],
    *,
    tol: Fraction = Fraction(1, 10**6),
    deadline: float | None = None,
    max_nodes: int | None = None,
    earlier: LowerBoundWidth | None = None,
    on_progress: OnStates | None = None,
) -> WidthBracket:
    """Bracket the best objective over networks with the neurons of the problem, or fewer, to a relative gap `tol`.

    networks: that are known, from whose patterns the search starts; those of the width that fit are its upper end.
    earlier: a certificate of the problem that was accepted, whose leaves are kept where they prove enough.
    deadline: a moment of `solvers.clock.now()`; the best certified bracket so far is returned then, or at Ctrl-C.
    max_nodes: states that are looked at, at most.   on_progress: called after each state.
    """
    if trains_all(problem.trained):
        search = bracket_of_both_layers
    else:
        search = bracket_of_hidden_layer
    return search(
        problem,
        networks,
        tol=tol,
        deadline=deadline,
        max_nodes=max_nodes,
        earlier=earlier,
        on_progress=on_progress,
    )


class _WidthSearch(Protocol):
    def __call__(self, *, deadline: float | None) -> WidthBracket: ...


def until_done(search: _WidthSearch, deadline: float | None, work: float | None) -> WidthBracket:
    """What a search finds until the deadline or, where `work` is given in its place, with so much work.

    work: seconds of it (`solvers.clock.by_work`): what is found does not depend on how busy the machine is, and the
    search has ended after as many states as it looks at.
    """
    if work is None:
        return search(deadline=deadline)
    with by_work():
        found = search(deadline=now() + work)
    return replace(found, status=SearchStatus.NODES) if found.status is SearchStatus.TIME else found
