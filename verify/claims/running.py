"""One claim is run: instances are drawn and decided, a counterexample is shrunk, and everything is counted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from random import Random
from statistics import median_low
from typing import final

from hypothesis import HealthCheck, Phase, Verbosity, errors, given, seed, settings
from hypothesis import strategies as st

from verify.claims.chances import CONFIDENCE, clopper_pearson, refuting_failures
from verify.claims.loading import load_everything
from verify.claims.records import USUAL, Claim, Instance, Judgement, Outcome, undecided
from verify.numbers.floats import to_float

__all__ = ["Counterexample", "Run", "RunOutcome", "no_judgement", "run"]

_SHRINKING = 0.5
"""The part of a claim's time that is left for shrinking at least, relative to what was used before."""


@final
class RunOutcome(StrEnum):
    """What became of a claim on all its instances.

    UNDECIDED: nothing was decided.   HELD: on all that was decided. Of a probability FAILED and HELD say that the whole
    interval is below, or above, what is claimed; CONSISTENT neither. UNTESTED: in place of HELD and CONSISTENT, where
    less than half of the instances could fail, or so few draws were made that all of them could fail without refuting a
    probability.
    """

    NOT_RUN = "not run"
    FAILED = "failed"
    UNDECIDED = "undecided"
    HELD = "held"
    CONSISTENT = "consistent"
    UNTESTED = "untested"


@final
@dataclass(frozen=True, slots=True)
class Counterexample:
    """An instance on which all hypotheses hold and the conclusion is proved to be false."""

    instance: Instance
    reason: str


@final
@dataclass(slots=True, kw_only=True)
class Run:
    """What came of running a claim.

    tried = held + failed + undecided.   rejected: draws that the strategy gave up.   faults: why the run says nothing,
    such as instances that break a hypothesis.   reasons: of what stayed undecided, with counts.
    could_fail: on how many of them the conclusion could have been false; None where the claim does not say.
    sizes: points, dimension and neurons of each.
    measured: the least and the greatest value of the claim's quantity.   interval: of a probability, at 99 %.
    is_complete: False when the time limit came first.
    """

    claim: Claim
    seconds: float = 0.0
    held: int = 0
    failed: int = 0
    undecided: int = 0
    rejected: int = 0
    could_fail: int | None = None
    sizes: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    reasons: dict[str, int] = field(default_factory=dict[str, int])
    faults: list[str] = field(default_factory=list[str])
    counterexample: Counterexample | None = None
    measured: tuple[Fraction, Fraction] | None = None
    interval: tuple[float, float] | None = None
    is_complete: bool = True

    @property
    def tried(self) -> int:
        """The instances that were decided or left undecided; shrinking does not count."""
        return self.held + self.failed + self.undecided

    @property
    def outcome(self) -> RunOutcome:
        """What became of it: a fault, or a counterexample, is a failure."""
        if not self.claim.is_decidable:
            return RunOutcome.NOT_RUN
        if self.faults or self.counterexample is not None:
            return RunOutcome.FAILED
        if self.interval is not None and self.claim.chance is not None:
            low, high = self.interval
            chance = to_float(self.claim.chance)
            if high < chance:
                return RunOutcome.FAILED
            return self._tested(RunOutcome.HELD if low >= chance else RunOutcome.CONSISTENT)
        return self._tested(RunOutcome.HELD) if self.held else RunOutcome.UNDECIDED

    def _tested(self, outcome: RunOutcome) -> RunOutcome:
        """The outcome, where enough could have gone wrong."""
        is_idle = self.could_fail is not None and 2 * self.could_fail < self.tried and not self.claim.few_could_fail
        is_certain = self.claim.is_chance and self.refuting_failures is None
        return RunOutcome.UNTESTED if is_idle or is_certain else outcome

    @property
    def refuting_failures(self) -> int | None:
        """How many failures among the draws made would refute the claimed probability; None where not even all."""
        return None if self.claim.chance is None else refuting_failures(self.tried, self.claim.chance)

    @property
    def medians(self) -> tuple[int, ...]:
        """Of the points, the dimension and the neurons of the instances: the lower ones; empty where none was drawn."""
        return tuple(median_low(values) for values in zip(*self.sizes, strict=True))

    def note(self, judgement: Judgement, instance: Instance) -> None:
        """Count one instance."""
        self.sizes.append((len(instance.data), instance.data.dimension, instance.network.width))
        if self.claim.could_fail is not None:
            self.could_fail = (self.could_fail or 0) + self.claim.could_fail(instance)
        match judgement.outcome:
            case Outcome.HELD:
                self.held += 1
            case Outcome.FAILED:
                self.failed += 1
            case Outcome.UNDECIDED:
                self.undecided += 1
                self.reasons[judgement.reason] = self.reasons.get(judgement.reason, 0) + 1
        value = judgement.measured
        if value is not None:
            low, high = self.measured or (value, value)
            self.measured = min(low, value), max(high, value)


class _TimeIsUp(BaseException):
    """Leaves hypothesis at once; it would try to shrink an Exception."""


class _Faulty(BaseException):
    """Leaves hypothesis at once: the run says nothing."""


class _Falsified(Exception):  # noqa: N818 (it is no error of ours)
    """What makes hypothesis shrink."""


def run(
    claim: Claim,
    *,
    examples: int = USUAL,
    seed: int = 0,
    time_limit: float | None = None,
    is_shrunk: bool = True,
    is_interrupted: Callable[[], bool] = lambda: False,
) -> Run:
    """Try a claim on at most `examples` instances; the first counterexample is shrunk.

    examples: of a claim that asks for fewer than 200 by itself, in proportion.

    seed: the same for the same numbers; the draws are those of hypothesis, without its database, with health checks.
    time_limit: seconds after which no further instance is tried; half as much again goes into shrinking.
    is_shrunk: False leaves the first counterexample as it is, and ends draws that have refuted a probability already.
    A copy of this process that the claim made with os.fork ends: what it would go on to report is not of this run.

    is_interrupted: asked after every instance; True raises KeyboardInterrupt, for conclusions that make do with less
    at Ctrl-C, as trainings and audits do.

    Sound: a counterexample is one, as its hypotheses and the negation of the conclusion were proved. Not complete: a
    claim that held on all instances may be false.
    """  # fmt: skip
    result = Run(claim=claim)
    if claim.is_decidable:
        load_everything()
    task = _ClaimTask(
        claim, -(-examples * claim.examples // USUAL), seed, time_limit, is_shrunk, is_interrupted, time.monotonic(),
        os.getpid(),
    )  # fmt: skip
    try:
        if claim.is_decidable and claim.is_chance:
            _sample(task, result)
        elif claim.is_decidable:
            _search(task, result)
    finally:
        task.end_copy()
        result.seconds = time.monotonic() - task.began
    return result


@final
@dataclass(frozen=True, slots=True)
class _ClaimTask:
    """A claim, how many instances of it are to be tried with which seed, and when it has to end."""

    claim: Claim
    examples: int
    seed: int
    time_limit: float | None
    is_shrunk: bool
    is_interrupted: Callable[[], bool]
    began: float
    process: int

    def is_late(self, factor: float = 1) -> bool:
        """Whether `factor` times the time limit is over."""
        return self.time_limit is not None and time.monotonic() - self.began > factor * self.time_limit

    def judge(self, instance: Instance) -> Judgement:
        """The conclusion; an interruption that it made do with is passed on."""
        conclude = self.claim.conclusion
        judgement = undecided("it has no conclusion") if conclude is None else conclude(instance)
        self.end_copy()
        if self.is_interrupted():
            raise KeyboardInterrupt
        return judgement

    def is_refuted_by(self, failures: int) -> bool:
        """Whether so many failures refute the probability, whatever becomes of the other draws."""
        chance = self.claim.chance
        least = None if chance is None else refuting_failures(self.examples, chance)
        return least is not None and failures >= least

    def end_copy(self) -> None:
        """End this process if it is a copy of the one that began."""
        if os.getpid() != self.process:
            os._exit(0)


def _search(task: _ClaimTask, result: Run) -> None:
    claim = task.claim
    phases = (Phase.generate, Phase.shrink) if task.is_shrunk else (Phase.generate,)

    @seed(task.seed)
    @settings(
        max_examples=task.examples, database=None, deadline=None, verbosity=Verbosity.quiet, print_blob=False,
        report_multiple_bugs=False, phases=phases, suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    @given(st.data())
    def attempt(data: st.DataObject) -> None:
        is_shrinking = result.counterexample is not None
        try:
            instance = data.draw(claim.instances)  # pyright: ignore[reportArgumentType]
        except BaseException:
            result.rejected += not is_shrinking and _is_given_up(data)
            raise
        if task.is_late(1 + _SHRINKING if is_shrinking else 1):
            raise _TimeIsUp  # after the draw: hypothesis expects the same draws again
        fault = _fault(claim, instance)
        if fault:
            result.faults.append(fault)
            raise _Faulty
        judgement = task.judge(instance)
        fault = no_judgement(judgement)
        if fault:
            result.faults.append(fault)
            raise _Faulty
        if not is_shrinking:
            result.note(judgement, instance)
        if judgement.outcome is Outcome.FAILED:
            known = result.counterexample
            if known is None or instance.size <= known.instance.size:
                result.counterexample = Counterexample(instance, judgement.reason)
            raise _Falsified(judgement.reason)

    try:
        attempt()
    except (_Falsified, _Faulty):
        pass
    except _TimeIsUp:
        result.is_complete = False
    except (errors.Flaky, errors.FailedHealthCheck, errors.Unsatisfiable) as error:
        result.faults.append(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")


def _is_given_up(data: st.DataObject) -> bool:
    """Whether a draw ended in a filter; hypothesis also ends draws by itself, those that outgrow what they mutate."""
    status = getattr(getattr(data, "conjecture_data", None), "status", None)
    return getattr(status, "name", "") != "OVERRUN"


def _fault(claim: Claim, instance: object) -> str:
    """Why the instance is none: the strategy of the claim is wrong, not the claim."""
    if not isinstance(instance, Instance):
        return f"its instances include {instance!r:.60}, which is no Instance"
    if not claim.setting(instance):
        return f"its instances include one outside its setting: {_described(instance)}"
    broken = claim.broken(instance)
    if broken:
        return f"its instances include one on which {broken[0]!r} is not shown to hold: {_described(instance)}"
    return ""


def no_judgement(judgement: object) -> str:
    """Why what the conclusion returned counts for nothing: None, or a mere bool, may be a proof that was forgotten."""
    if isinstance(judgement, Judgement):
        return ""
    return f"its conclusion returned {judgement!r:.60}: let it return held(), failed(..) or undecided(..)"


def _described(instance: Instance) -> str:
    points, neurons, dimension, _ = instance.size
    return f"{points} points, {neurons} neurons, dimension {dimension}: {instance.problem.canonical_text():.400}"


def _sample(task: _ClaimTask, result: Run) -> None:
    """Independent trials; undecided ones count as failures at the lower end and as successes at the upper one."""
    claim = task.claim
    for number in range(task.examples):
        if task.is_late():
            result.is_complete = False
            break
        if claim.trial is None:
            break
        instance = claim.trial(Random(f"{claim.id} {task.seed} {number}"))  # noqa: S311
        fault = _fault(claim, instance)
        if fault:
            result.faults.append(fault)
            return
        judgement = task.judge(instance)
        fault = no_judgement(judgement)
        if fault:
            result.faults.append(fault)
            return
        result.note(judgement, instance)
        if not task.is_shrunk and task.is_refuted_by(result.failed):
            break
    if result.tried:
        low, _ = clopper_pearson(result.held, result.tried, CONFIDENCE)
        _, high = clopper_pearson(result.held + result.undecided, result.tried, CONFIDENCE)
        result.interval = low, high
