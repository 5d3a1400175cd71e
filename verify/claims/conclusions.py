"""Conclusions that several claims share: verdicts with certificates, as judgements."""

from __future__ import annotations

from collections.abc import Callable

from verify.claims.decisions import global_exactly, locally, own_width_exactly, stationary
from verify.claims.records import Instance, Judgement, Outcome, failed, held, undecided
from verify.deciders.finding import Finding, Verdict
from verify.numbers.floats import to_float

__all__ = [
    "is_global",
    "is_global_of_width",
    "is_local",
    "is_local_not_global",
    "is_stationary_not_local",
    "judged",
]


def judged(found: Finding, wanted: Verdict = Verdict.PROVED) -> Judgement:
    """A verdict as a judgement: held when it is the wanted one, undecided when it is open.

    Where the verdict is about another network nearby, the sentence says so.
    """
    moved = f" (of a network within {to_float(found.moved):.1e} of its norm)" if found.moved else ""
    what = f"{found.question.value.replace('_', ' ')} {found.verdict.value}{moved}: {found.reason}"
    if found.verdict is Verdict.UNDECIDED:
        return undecided(what)
    return held(what) if found.verdict is wanted else failed(what)


def is_global(instance: Instance) -> Judgement:
    """No network of any width (with these masks) is better, with tolerance 0."""
    return judged(global_exactly(instance))


def is_global_of_width(instance: Instance) -> Judgement:
    """No network of its own width is better, with tolerance 0: it holds where none of any width is."""
    return judged(own_width_exactly(instance))


def is_local(instance: Instance) -> Judgement:
    """The network is a local optimum."""
    return judged(locally(instance))


def is_stationary_not_local(instance: Instance) -> Judgement:
    """The network is a KKT point, and better ones are arbitrarily near."""
    return _both(judged(stationary(instance)), lambda: judged(locally(instance), Verdict.REFUTED))


def is_local_not_global(instance: Instance) -> Judgement:
    """The network is a local optimum, and another one of at most its width is better."""
    return _both(is_local(instance), lambda: judged(own_width_exactly(instance), Verdict.REFUTED))


def _both(first: Judgement, second: Callable[[], Judgement]) -> Judgement:
    if first.outcome is Outcome.FAILED:
        return first
    other = second()
    if other.outcome is Outcome.HELD:
        return first if first.outcome is Outcome.UNDECIDED else other
    return other
