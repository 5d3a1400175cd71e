"""The best that any network can do: a certified bracket, better networks, or a proof that no network fits.

The dual bound (any width) comes from multipliers lambda with |sum_i lambda_i y_i s_a(x_i . u)| <= beta ||u|| for all u;
the upper bound is the exact objective of an explicit network. `solvers.any_width.dual_cuts` guesses both in floats.

Source: `docs/mathematics.md`, 5.1 "Weak duality" and 5.7 "Bracket, gap and excess"; the problems are
those of arXiv:2110.02732, section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from solvers.instance import SearchStatus
from verify.checker.bounds import UpperBound
from verify.deciders.global_optimality.float_search import float_bracket
from verify.deciders.global_optimality.precise_search import Precise, precise_bracket
from verify.deciders.global_optimality.record import (
    Bracket,
    free_constant,
    lower_end,
    narrow_first,
    trivial_lower_bound,
    zero_network,
)
from verify.deciders.global_optimality.warm_start import WarmStart
from verify.deciders.proposal import FLOAT_FAILURES, certified
from verify.deciders.simplified import Simplified, simplified
from verify.deciders.time_limits import is_late
from verify.numbers.floats import float_near, float_weights
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import Progress

__all__ = ["bracket_optimum", "with_networks"]


def bracket_optimum(
    problem: Problem,
    network: Network | None,
    *,
    subject: Network | None = None,
    tol: float = 1e-6,
    deadline: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    warm_start: WarmStart | None = None,
) -> Bracket:
    """Bracket the best objective over all widths to a relative gap `tol`, starting from the patterns of `network`.

    subject: a network that fits; it is a witness like those found (its own repair, for min-norm).
    warm_start: what an earlier audit of the same data knew.
    deadline: a moment of `solvers.clock.now()`; the best certified bracket so far is returned then, or at Ctrl-C.
    """
    if not problem.asks_fit:
        return _bracket(problem, network, subject, tol, deadline, on_progress, warm_start or WarmStart())
    simple = simplified(problem)
    if simple.is_same:
        return _bracket(problem, network, subject, tol, deadline, on_progress, warm_start or WarmStart())
    unit = float_near(simple.unit)

    def report(progress: Progress) -> None:
        if on_progress is not None:
            on_progress(replace(progress, lower=progress.lower * unit, upper=progress.upper * unit))

    found = _bracket(
        simple.problem,
        None if network is None else simple.carried(network),
        None if subject is None else simple.carried(subject),
        tol,
        deadline,
        report,
        _carried(simple, warm_start or WarmStart()),
    )
    return _returned(simple, found, warm_start)


def _carried(simple: Simplified, earlier: WarmStart) -> WarmStart:
    """What an earlier audit of the given problem knew, for the simpler one; its bound stays where it is."""
    witnesses = tuple(simple.carried(witness) for witness in earlier.witnesses)
    return WarmStart(multipliers=simple.gathered(earlier.multipliers), witnesses=witnesses)


def _returned(simple: Simplified, found: Bracket, earlier: WarmStart | None) -> Bracket:
    """The bracket of the simpler problem as one of the given problem, checked again."""
    problem, unit = simple.given, simple.unit
    lower = None if found.lower is None else certified(problem, None, simple.returned_bound(found.lower))
    known = None if earlier is None else earlier.lower
    if known is not None and (lower is None or lower_end(known) > lower_end(lower)):
        lower = known
    upper = None
    if found.upper is not None:
        value = found.upper.bracket[1]
        bracket = (None, None if value is None else value * unit)
        witness = simple.returned(Network.of(found.upper.witness))
        upper = certified(problem, None, UpperBound(witness=witness, bracket=bracket))
    floats = float_near(unit)
    return replace(
        found,
        lower=lower,
        upper=upper,
        witnesses=tuple(map(simple.returned, found.witnesses)),
        objectives=tuple(value * unit for value in found.objectives),
        own=None if found.own is None else simple.returned(found.own),
        history=tuple(replace(step, lower=step.lower * floats, upper=step.upper * floats) for step in found.history),
    )


def _bracket(
    problem: Problem,
    network: Network | None,
    subject: Network | None,
    tol: float,
    deadline: float | None,
    on_progress: Callable[[Progress], None] | None,
    earlier: WarmStart,
) -> Bracket:
    """`bracket_optimum` in the coordinates as they are: in floats, and in many digits where these do not suffice."""
    if _is_met_by_zero(problem):
        return _nothing_needed(problem, zero_network(problem))
    if problem.asks_fit and (constant := free_constant(problem)) is not None:
        return _nothing_needed(problem, constant)
    failure: Exception | None = None
    try:
        found = float_bracket(problem, network, subject, tol, deadline, on_progress, earlier)
    except FLOAT_FAILURES as error:
        lower, failure = certified(problem, None, trivial_lower_bound(problem)), error
        found = Bracket(lower=lower, upper=None, witnesses=(), status=SearchStatus.FAILED, history=())
    if _is_closed(found, tol):
        return found if found.status is SearchStatus.INTERRUPTED else replace(found, status=SearchStatus.OPTIMAL)
    if found.status is SearchStatus.OPTIMAL:  # in floats
        found = replace(found, status=SearchStatus.STALLED)
    is_searched = problem.asks_fit and not problem.has_output_bias
    if found.status in (SearchStatus.TIME, SearchStatus.INTERRUPTED) or not is_searched:
        if failure is not None:
            raise failure
        return found
    directions = [
        w for known in (*found.witnesses[:2], *([] if network is None else [network])) for w in _floats(known)
    ]
    try:
        precise = precise_bracket(problem, directions, tol / 4, deadline)
    except KeyboardInterrupt:
        return replace(found, status=SearchStatus.INTERRUPTED)
    except FLOAT_FAILURES:
        precise = Precise()
    if failure is not None and not precise.witnesses:
        raise failure
    better = _with_precise(problem, found, precise, tol)
    if better.status is not SearchStatus.OPTIMAL and is_late(deadline):
        return replace(better, status=SearchStatus.TIME, reason="")
    return better


def _is_closed(found: Bracket, tol: float) -> bool:
    low, high = found.ends
    return low is not None and high is not None and high <= low * (1 + Fraction(tol))


def _floats(network: Network) -> list[tuple[float, ...]]:
    return [tuple(row) for row in float_weights(network).tolist()]


def _with_precise(problem: Problem, found: Bracket, precise: Precise, tol: float) -> Bracket:
    """The bracket with what the search in many digits found, where that is better."""
    lower = found.lower
    if precise.lower is not None and (lower is None or lower_end(precise.lower) > lower_end(lower)):
        lower = precise.lower
    more = ((objective(problem, witness), witness) for witness in precise.witnesses)
    valued = [(value, witness) for value, witness in more if value is not None]
    return with_networks(problem, replace(found, lower=lower), valued, tol)


def with_networks(problem: Problem, found: Bracket, more: Iterable[tuple[Fraction, Network]], tol: float) -> Bracket:
    """The bracket with these networks, which fit, and their objectives among its witnesses; "optimal" where it closes.

    What was interrupted stays so.
    """
    known = {
        witness.sha256(): (value, witness) for value, witness in zip(found.objectives, found.witnesses, strict=True)
    }
    known |= {witness.sha256(): (value, witness) for value, witness in more}
    ordered = narrow_first(known.values(), Fraction(tol))
    upper, end = found.upper, found.ends[1]
    if ordered:
        value, witness = min(ordered, key=lambda pair: pair[0])
        if end is None or value < end:
            upper = certified(problem, None, UpperBound(witness=witness, bracket=(None, value))) or upper
    better = replace(
        found,
        upper=upper,
        witnesses=tuple(witness for _, witness in ordered),
        objectives=tuple(value for value, _ in ordered),
    )
    is_ended = found.status is not SearchStatus.INTERRUPTED and _is_closed(better, tol)
    return replace(better, status=SearchStatus.OPTIMAL, reason="") if is_ended else better


def _is_met_by_zero(problem: Problem) -> bool:
    return (
        problem.asks_fit
        and not has_margin(problem.goal)
        and max(map(abs, problem.data.targets)) <= problem.fit_tolerance
    )


def _nothing_needed(problem: Problem, zero: Network) -> Bracket:
    """The bracket [0, 0], where this network without weights that count fits."""
    return Bracket(
        lower=certified(problem, None, trivial_lower_bound(problem)),
        upper=certified(problem, None, UpperBound(witness=zero, bracket=(None, Fraction(0)))),
        witnesses=(zero,),
        objectives=(Fraction(0),),
        status=SearchStatus.OPTIMAL,
        history=(),
    )
