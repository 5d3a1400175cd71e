"""Several claims are run at a time, each in a process of its own kind; what comes out does not depend on how many.

A claim holds functions that no process can send to another. A worker is told the id of a claim and the modules that the
user named, looks the claim up again, and sends back what a `Run` holds besides the claim.
"""

from __future__ import annotations

import os
import signal
import sys
import sysconfig
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, cast, final

from verify.claims.collection import registry
from verify.claims.power import variants_of
from verify.claims.records import USUAL, Claim
from verify.claims.running import Run, run
from verify.processes import available_cores, how_it_ended, noted_interrupts, started_alone

__all__ = ["available_cores", "run_all"]

Watch = Callable[[Sequence[str]], object]

_LOOK = 1.0
"""Seconds after which workers are looked at that do not answer."""


def run_all(
    chosen: Iterable[Claim],
    *,
    modules: Sequence[str] = (),
    examples: int = USUAL,
    seed: int = 0,
    time_limit: float | None = None,
    jobs: int | None = None,
    is_shrunk: bool = True,
    watch: Watch | None = None,
) -> Generator[Run]:
    """Run each claim as `run` does, `jobs` at a time; each is yielded when it is done.

    modules: those that the claims came from, as in `claims`.   jobs: by default the number of cores; 1 runs all in
    this process.   is_shrunk: as in `run`.   watch: called with the ids of the claims that are running whenever they
    change. Variants of claims (`Variant.of`) can be among them.

    Trainings come first, then claims about chances, as they take longest. The results are the same for every number of
    jobs, unless a time limit strikes. When the iterator is closed or interrupted, the other processes end. A claim
    whose code raises something or ends its process gets a fault that says so, and the others go on.
    """  # fmt: skip
    given = list(chosen)
    waiting = deque(sorted((claim for claim in given if claim.is_decidable), key=_turn))
    at_once = min(available_cores() if jobs is None else jobs, len(waiting))
    yield from (run(claim) for claim in given if not claim.is_decidable)
    see = watch or (lambda _: None)
    if at_once <= 1:
        with noted_interrupts() as is_interrupted:
            for claim in waiting:
                see([claim.id])
                options = {"examples": examples, "seed": seed, "time_limit": time_limit, "is_shrunk": is_shrunk}
                yield _attempted(claim, is_interrupted=is_interrupted, **options)
        return
    folder = os.getcwd()  # noqa: PTH109 (a str, as os.chdir takes)
    order = _Order(folder, tuple(modules), {"examples": examples, "seed": seed, "time_limit": time_limit,
                                            "is_shrunk": is_shrunk})  # fmt: skip
    workers = [_Worker(order) for _ in range(at_once)]
    try:
        for worker in workers:
            worker.start(waiting.popleft())
        while any(worker.claim for worker in workers):
            see([worker.claim.id for worker in workers if worker.claim])
            ready = wait([worker.connection for worker in workers if worker.claim and worker.connection], _LOOK)
            for worker in [one for one in workers if one.claim and (one.connection in ready or one.is_dead)]:
                result = worker.result()
                if waiting:
                    worker.start(waiting.popleft())
                yield result
    finally:
        for worker in workers:
            worker.end()


def _turn(claim: Claim) -> tuple[bool, bool]:
    """When it starts: what takes long is not left for the end, when other processes have nothing more to do."""
    return not claim.trains, not claim.is_chance


def _attempted(claim: Claim, **options: Any) -> Run:
    """The claim is run; what its own code raises is a fault of it, also sys.exit, which would end all with success."""
    try:
        return run(claim, **options)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (what breaks one claim is its fault, and the others still run)
        return Run(claim=claim, faults=[_broken(error)])


def _broken(error: BaseException) -> str:
    """What was raised, and the innermost line that is neither the standard library's nor an installed package's."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not any(Path(frame.filename).is_relative_to(place) for place in _ELSEWHERE)]
    frame = (own or frames)[-1]
    said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return f"it broke down in {Path(frame.filename).name}, line {frame.lineno} ({said}), so nothing is known"


_ELSEWHERE = tuple(set(sysconfig.get_paths().values()) - {sys.prefix, sys.base_prefix})


@final
@dataclass(frozen=True, slots=True)
class _Order:
    """What every worker is told: where it works, where claims come from, and how they are run."""

    folder: str
    modules: tuple[str, ...]
    options: dict[str, Any]


@final
class _Worker:
    """A process, started when there is something to do, and the claim that it is running."""

    def __init__(self, order: _Order) -> None:
        self._order = order
        self._process: SpawnProcess | None = None
        self.connection: Connection | None = None
        self.claim: Claim | None = None

    def start(self, claim: Claim) -> None:
        """Let it run a claim."""
        if self._process is None:
            context = get_context("spawn")
            self.connection, theirs = context.Pipe()
            self._process = context.Process(target=_work, args=(theirs, self._order), daemon=True)
            with started_alone():
                self._process.start()
            theirs.close()
        self.claim = claim
        with suppress(OSError):  # it died: then its result is that
            cast("Connection", self.connection).send(claim.id)

    @property
    def is_dead(self) -> bool:
        """Whether the process is gone; its pipe, and its sentinel, stay open as long as a child of it lives."""
        return not cast("SpawnProcess", self._process).is_alive()

    def result(self) -> Run:
        """What came of its claim."""
        claim, self.claim = cast("Claim", self.claim), None
        try:
            connection = cast("Connection", self.connection)
            name, answer = connection.recv() if connection.poll() else (None, {})
        except (EOFError, OSError):
            name, answer = None, {}
        if name != claim.id:
            return Run(claim=claim, faults=[f"the process that ran it died ({self._death()}), so nothing is known"])
        return Run(claim=claim, **answer)

    def _death(self) -> str:
        process = cast("SpawnProcess", self._process)
        process.join(1)
        code = process.exitcode
        self.end()
        if code is None:
            return "it was ended, as what it sent is no result"
        return how_it_ended(code)

    def end(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            cast("Connection", self.connection).close()
            self._process = None


def _work(connection: Connection, order: _Order) -> None:
    """What a worker does: run one claim after another until its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir(order.folder)
    known: dict[str, Claim] = {}
    while True:
        try:
            name = connection.recv()
        except (EOFError, OSError):
            return
        try:
            known = known or _all(order.modules)
            result = _attempted(known[name], **order.options)
            answer = {field.name: getattr(result, field.name) for field in fields(Run) if field.name != "claim"}
        except Exception as error:  # noqa: BLE001 (the module is another one than before)
            answer = {"faults": [_broken(error)]}
        connection.send((name, answer))


def _all(modules: Iterable[str]) -> dict[str, Claim]:
    """All claims, and their variants, by their ids."""
    found = registry(modules)
    return found | {variant.id: variant for variant in variants_of(found.values())}
