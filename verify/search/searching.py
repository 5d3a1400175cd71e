"""The search itself: draw from every place in turn, reduce what is found, keep the smallest or the most extreme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import final

from hypothesis import HealthCheck, Phase, Verbosity, errors, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from verify.checker.errors import InputError
from verify.claims import Claim, Instance, Judgement, Outcome
from verify.claims.running import no_judgement
from verify.deciders.time_limits import now
from verify.search.pool import strategies_for
from verify.search.reducing import reduced

__all__ = ["Found", "Search", "search"]

_CHUNK, _FIRST_CHUNK = 25, 6
"""Draws from one place at a time; after the first ones a place is left that had nothing in the claim's setting."""

_HEALTH = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)


@final
@dataclass(frozen=True, slots=True)
class Found:
    """An instance with what was proved of it; place: where it came from; seconds: after how long.

    group: of an extreme, which group it is the extreme of; None for a counterexample.
    """

    instance: Instance
    judgement: Judgement
    place: str
    seconds: float
    group: int | None = None


@final
@dataclass(slots=True, kw_only=True)
class Search:
    """What came of a search.

    tried: instances in the setting on which the hypotheses that are left hold.   smallest: the smallest
    counterexample.   extremes: for each group, such as a number of switches, the instance with the largest quantity.
    is_interrupted: whether Ctrl-C ended it.
    """

    claim: Claim
    dropped: str | None
    tried: int = 0
    seconds: float = 0.0
    smallest: Found | None = None
    extremes: dict[int, Found] = field(default_factory=dict[int, Found])
    is_interrupted: bool = False


class _Enough(BaseException):
    """Leaves hypothesis at once."""


def search(
    claim: Claim,
    *,
    drop: str | None = None,
    minutes: float = 1.0,
    seed: int = 0,
    stop_at: tuple[int, int, int, int] | None = None,
    on_found: Callable[[Found], None] | None = None,
    on_progress: Callable[[Search, str], None] | None = None,
) -> Search:
    """The smallest counterexample to a claim, with one hypothesis dropped if `drop` names it, and extremes.

    Size is `Instance.size`: points, neurons, dimension, digits, in that order. Anytime: it ends after `minutes`, or
    with Ctrl-C, or with a counterexample of at most the size `stop_at`. on_found: called with every better one.
    on_progress: called with what there is so far and what is being done, many times a second.

    Sound, as the verdicts are those of the claim. Nothing found means nothing.
    Raises InputError for a hypothesis that the claim does not have, for a claim that cannot be decided yet, and for
    one about a probability.
    """
    if not claim.is_decidable or claim.conclusion is None:
        raise InputError(f"claim {claim.id} is {claim.status}: there is nothing to search for")
    if claim.is_chance:
        raise InputError(
            f"claim {claim.id} is about a probability, which no single instance refutes: isoptimal claims tries it"
        )
    if drop is not None and drop not in claim.hypotheses:
        names = ", ".join(claim.hypotheses) or "none at all"
        raise InputError(f"claim {claim.id} has no hypothesis {drop!r}: it has {names}")
    result = Search(claim=claim, dropped=drop)
    tell = (on_found or (lambda _: None), on_progress or (lambda _, __: None))
    work = _Work(claim, drop, result, now(), 60 * minutes, stop_at, *tell)
    try:
        work.run(seed)
    except KeyboardInterrupt:
        result.is_interrupted = True
    result.seconds = now() - work.began
    return result


@dataclass(slots=True)
class _Work:
    claim: Claim
    drop: str | None
    result: Search
    began: float
    limit: float
    stop_at: tuple[int, int, int, int] | None
    on_found: Callable[[Found], None]
    on_progress: Callable[[Search, str], None]

    def run(self, seed_: int) -> None:
        useful = strategies_for(self.claim, self.drop)
        for number in count():
            for name, strategy in list(useful.items()):
                if self.is_late():
                    return
                is_first = number == 0
                hits = self.draw(name, strategy, 1000 * seed_ + number, _FIRST_CHUNK if is_first else _CHUNK)
                if is_first and not hits:
                    del useful[name]
            if not useful:
                return

    def is_late(self) -> bool:
        small = self.result.smallest
        if self.stop_at is not None and small is not None and small.instance.size <= self.stop_at:
            return True
        return now() - self.began > self.limit

    def draw(self, place: str, strategy: SearchStrategy[Instance], seed_: int, number: int) -> int:
        """Draw a chunk; how many instances were in the claim's setting."""
        hits = 0

        @seed(seed_)
        @settings(
            max_examples=number, database=None, deadline=None, verbosity=Verbosity.quiet, phases=(Phase.generate,),
            suppress_health_check=_HEALTH, print_blob=False,
        )  # fmt: skip
        @given(st.data())
        def attempt(data: st.DataObject) -> None:
            nonlocal hits
            self.tell(place)
            instance = data.draw(strategy)
            if self.is_late():
                raise _Enough
            if not isinstance(instance, Instance):
                raise InputError(f"claim {self.claim.id} cannot be searched: its instances include {instance!r:.60}")
            if not self.claim.setting(instance):
                return
            hits += 1
            if self.has_the_rest(instance):
                self.result.tried += 1
                self.judge(place, instance)

        try:
            attempt()
        except _Enough:
            pass
        except errors.Unsatisfiable:
            return 0
        return hits

    def tell(self, doing: str) -> None:
        self.result.seconds = now() - self.began
        self.on_progress(self.result, doing)

    def has_the_rest(self, instance: Instance) -> bool:
        """Whether all hypotheses but the dropped one hold."""
        return all(holds(instance) for name, holds in self.claim.hypotheses.items() if name != self.drop)

    def judge(self, place: str, instance: Instance) -> None:
        known = self.result.smallest
        is_counting = self.claim.group is not None and self.drop is None
        if known is not None and instance.size >= known.instance.size and not is_counting:
            return
        judgement = self.decided(instance)
        if judgement.outcome is Outcome.FAILED:
            self.tell(f"making a counterexample smaller ({place})")
            deadline = min(self.began + 1.2 * self.limit, now() + 20)
            small = reduced(instance, self.is_counterexample, deadline)
            if known is None or small.size < known.instance.size:
                self.result.smallest = self.made(small, self.decided(small), place)
                self.on_found(self.result.smallest)
        if is_counting and self.claim.group is not None and judgement.measured is not None:
            group = self.claim.group(instance)
            best = self.result.extremes.get(group)
            rank = (judgement.measured, *(-part for part in instance.size))
            if best is None or rank > (best.judgement.measured or Fraction(0), *(-p for p in best.instance.size)):
                self.result.extremes[group] = self.made(instance, judgement, place, group)
                self.on_found(self.result.extremes[group])

    def made(self, instance: Instance, judgement: Judgement, place: str, group: int | None = None) -> Found:
        return Found(instance, judgement, place, now() - self.began, group)

    def is_counterexample(self, instance: Instance) -> bool:
        is_asked_for = self.claim.setting(instance) and self.has_the_rest(instance)
        return is_asked_for and self.decided(instance).outcome is Outcome.FAILED

    def decided(self, instance: Instance) -> Judgement:
        conclusion = self.claim.conclusion
        if conclusion is None:
            raise InputError(f"claim {self.claim.id} has no conclusion")
        judgement = conclusion(instance)
        if fault := no_judgement(judgement):
            raise InputError(f"claim {self.claim.id} cannot be searched: {fault}")
        return judgement
