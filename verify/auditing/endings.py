"""How a search for the best network ended: for the audit as a whole, and in words for what it left open.

The one place in which the members of `SearchStatus` are told apart for people.
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from solvers.instance import SearchStatus
from verify.auditing.clock import INTERRUPTED, LATE
from verify.deciders.finding import Ending
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.own_width.record import WidthBracket
from verify.numbers.counts import count
from verify.numbers.decimals import about, at_least, at_most, open_at
from verify.problem.phrases import of_width
from verify.problem.problem import Problem

__all__ = ["ending_of", "narrow_enough", "why_ended", "why_open", "why_open_at_width"]

TOO_LARGE = "the network has too many neurons, or the data too many points, for a search at its width"


def ending_of(
    searched: Bracket | WidthBracket | None, ends: tuple[Fraction, Fraction] | None, tolerance: Fraction, unasked: str
) -> tuple[Ending, str]:
    """How the audit ended: done only when the bracket is as narrow as asked, else why it is not.

    searched: what the search found of the networks that are asked about.   ends: the bracket that is proved of them.
    unasked: the reason where nothing was searched.
    """
    if searched is None:
        return Ending.STALLED, unasked
    match searched.status:
        case SearchStatus.INFEASIBLE:
            return Ending.INFEASIBLE, ""
        case SearchStatus.TIME:
            return Ending.TIME, searched.reason
        case SearchStatus.INTERRUPTED:
            return Ending.INTERRUPTED, searched.reason
        case SearchStatus.FAILED:
            return Ending.FAILED, searched.reason
        case SearchStatus.LARGE:
            return Ending.STALLED, "too large for a search at its width"
        case SearchStatus.OPTIMAL | SearchStatus.NODES | SearchStatus.STALLED:
            return narrow_enough(searched.ends, ends, tolerance)
        case other:
            assert_never(other)


def narrow_enough(
    known: tuple[Fraction | None, Fraction | None], ends: tuple[Fraction, Fraction] | None, tolerance: Fraction
) -> tuple[Ending, str]:
    """Of a search that ended by itself."""
    if ends is None:
        missing = [name for name, end in zip(("lower", "upper"), known, strict=True) if end is None]
        return Ending.STALLED, f"no {' and no '.join(missing)} end of the bracket was proved"
    lower, upper = ends
    if upper <= (1 + tolerance) * lower:
        return Ending.DONE, ""
    if not lower:
        return Ending.STALLED, "the lower end of the bracket is 0, and the upper one is not"
    wide = f"the bracket is {at_most(upper / lower - 1, 3)} wide (relative)"
    return Ending.STALLED, f"{wide}, and {open_at(tolerance)} was asked"


def why_open(bracket: Bracket) -> str:
    """Why a search over all widths leaves a question open."""
    match bracket.status:
        case SearchStatus.FAILED:
            return f"the floating-point search {bracket.ended}"
        case SearchStatus.TIME:
            return f"{LATE} before the bracket was narrow enough"
        case SearchStatus.INTERRUPTED:
            return f"{INTERRUPTED} before the bracket was narrow enough"
        case (
            SearchStatus.OPTIMAL
            | SearchStatus.INFEASIBLE
            | SearchStatus.NODES
            | SearchStatus.STALLED
            | SearchStatus.LARGE
        ):
            return "the search could not narrow the bracket far enough"
        case other:
            assert_never(other)


def why_open_at_width(problem: Problem, found: WidthBracket, lower: Fraction | None, mine: Fraction | None) -> str:
    """Why a search at one width leaves a question open: such as "the best of 3 neurons is between 2.711 and 2.934 (this
    one 3.1); the time limit was reached after 412 states of the neurons, 38 left open".

    lower: the best bound that is known of the width.   mine: the objective of the network in question.
    """
    ended, upper = why_ended(found.status, found.nodes, found.left, found.reason), found.ends[1]
    if lower is None or upper is None:
        return ended
    most = at_most(upper)
    own = "" if mine is None or at_most(mine) == most else f" (this one {about(mine)})"
    return f"the best of {of_width(problem)} is between {at_least(lower)} and {most}{own}; {ended}"


def why_ended(status: SearchStatus, nodes: int, left: int, reason: str = "") -> str:
    """How a search at one width ended, and after how many states."""
    open_ones = f", {left} left open" if left else ""
    after = f" after {count(nodes, 'state')} of the neurons{open_ones}" if nodes else ""
    match status:
        case SearchStatus.NODES if not nodes:
            return "the search ended before the first state of the neurons was bounded"
        case SearchStatus.OPTIMAL | SearchStatus.INFEASIBLE | SearchStatus.NODES:
            return f"the search ended{after}"
        case SearchStatus.TIME:
            return f"{LATE}{after or ' before the search at this width'}"
        case SearchStatus.INTERRUPTED:
            return f"{INTERRUPTED}{after}"
        case SearchStatus.STALLED:
            return f"floating point could not decide the rest{after}"
        case SearchStatus.LARGE:
            return TOO_LARGE
        case SearchStatus.FAILED:
            return f"the floating-point search failed ({reason})" if reason else "the floating-point search failed"
        case other:
            assert_never(other)
