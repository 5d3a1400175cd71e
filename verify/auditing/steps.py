"""What an audit is made of: what is found so far, and one step, which adds to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar, final

import numpy as np

from verify.auditing.asked import Asked
from verify.auditing.clock import Clock
from verify.checker.bounds import Infeasible
from verify.deciders.depth.record import PowerBounds
from verify.deciders.finding import Finding, Question
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.global_optimality.warm_start import WarmStart
from verify.deciders.layers.answering import LayerAnswers
from verify.deciders.own_width.record import WidthBracket
from verify.deciders.proposal import FLOAT_FAILURES, Proposal, how_floats_failed
from verify.deciders.subjects import Subject
from verify.diagnosis import Diagnosis
from verify.diagnosis.ladder import Rung
from verify.problem.network import Network
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from verify.auditing.record import Audit
    from verify.deciders.closed_forms import Symbolic

__all__ = ["Ask", "Known", "Step", "proposed", "unless_floats_fail"]

Ask = Callable[[float | None], "Audit | None"]
"""The audit about the relaxed question within as many seconds; None where its numbers are longer than certificates
hold."""

_T = TypeVar("_T")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known so far.

    fitting: the networks near the given one that fit.   farther: others that do, and were found on the way.
    earlier: what an earlier audit knew.
    limits: why the problem is not decided beyond whether the network fits; None where it is.
    infeasible: the proof that no network fits.
    improved: what is made of the network that fits, the first rungs of the ladder; None where it was not looked at.
    bracket: of the best objective over all widths.   own_width: over networks of the given one's width, where it was
    searched.
    powers: bounds of the best objective of networks of other depths than 2.
    layers: each layer by itself; None where that was not asked.
    is_settled: whether more time would find no exact KKT point near the network.
    easier: the relaxed problem, which the network fits; None where it fits the one asked, or that is not asked.
    ask_relaxed: asks about that.   relaxed: what was found of it.
    notes: what was assumed on the way.
    """

    subject: Subject
    findings: Mapping[Question, Finding]
    fitting: tuple[Network, ...] = ()
    farther: tuple[Network, ...] = ()
    earlier: WarmStart | None = None
    limits: str | None = None
    infeasible: Infeasible | None = None
    bracket: Bracket | None = None
    improved: tuple[Rung, ...] | None = None
    own_width: WidthBracket | None = None
    is_settled: bool = True
    diagnosis: Diagnosis | None = None
    symbolic: Symbolic | None = None
    powers: PowerBounds | None = None
    layers: tuple[LayerAnswers, ...] | None = None
    easier: Problem | None = None
    ask_relaxed: Ask | None = None
    relaxed: Audit | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether there is more to ask than whether the network fits."""
        return self.limits is None and self.infeasible is None

    @property
    def fits(self) -> bool:
        """Whether the network fits, or one near it, and the other questions are asked."""
        return self.is_open and self.subject.network is not None

    def with_findings(self, *more: Finding) -> Known:
        """The same with these findings, in place of earlier ones about the same questions."""
        return replace(self, findings={**self.findings, **{finding.question: finding for finding in more}})


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of an audit.

    name: a noun, by which the audit says that it was left out.   accepts: whether there is something for it to do.
    run: what is found with it.
    without: what is found when Ctrl-C or its end cuts it short, for which reason; None where `run` sees to that.
    end: the moment at which it has to end.
    """

    name: str
    accepts: Callable[[Asked, Known], bool]
    run: Callable[[Asked, Clock, Known], Known]
    without: Callable[[Asked, Known, str], Known] | None = None
    end: Callable[[Clock], float | None] = lambda _: None

    def taken(self, asked: Asked, clock: Clock, found: Known) -> Known:
        """What is found after this step, which is passed over where it has nothing to do."""
        if not self.accepts(asked, found):
            return found
        if self.without is None:
            return self.run(asked, clock, found)
        return clock.attempt(
            self.name, partial(self.run, asked, clock, found), partial(self.without, asked, found), self.end(clock)
        )


def unless_floats_fail(do: Callable[[], _T], otherwise: Callable[[str], _T]) -> _T:
    """What `do` returns; where the arithmetic of floats fails, what `otherwise` makes of how it did."""
    try:
        with np.errstate(all="ignore"):
            return do()
    except FLOAT_FAILURES as error:
        return otherwise(how_floats_failed(error))


def proposed(search: Callable[[], Proposal]) -> Proposal:
    """What a decider's search proposes; that it failed leaves the question open."""
    return unless_floats_fail(search, lambda why: Proposal(reason=f"the floating-point search failed ({why})"))
