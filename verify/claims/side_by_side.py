"""Several claims are run at a time, each in a process of its own kind; what comes out does not depend on how many.

A claim holds functions that no process can send to another. A worker is told the id of a claim and the modules that the
user named, looks the claim up again, and sends back what a `Run` holds besides the claim.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import cast, final

from verify.claims.collection import registry
from verify.claims.records import USUAL, Claim
from verify.claims.running import Run, run

__all__ = ["available_cores", "run_all"]

Watch = Callable[[Sequence[str]], object]

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def available_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_all(
    chosen: Iterable[Claim],
    *,
    modules: Sequence[str] = (),
    examples: int = USUAL,
    seed: int = 0,
    time_limit: float | None = None,
    jobs: int | None = None,
    watch: Watch | None = None,
) -> Generator[Run]:
    """Run each claim as `run` does, `jobs` at a time; each is yielded when it is done.

    modules: those that the claims came from, as in `claims`.   jobs: by default the number of cores; 1 runs all in
    this process.   watch: called with the ids of the claims that are running whenever they change.

    Trainings come first, as they take longest. The results are the same for every number of jobs, unless a time limit
    strikes. When the iterator is closed or interrupted, the other processes end. A worker that dies leaves a fault of
    the claim that it ran; an exception in a worker ends everything and is raised here.
    """  # fmt: skip
    given = list(chosen)
    waiting = deque(sorted((claim for claim in given if claim.is_decidable), key=lambda claim: not claim.trains))
    at_once = min(available_cores() if jobs is None else jobs, len(waiting))
    yield from (run(claim) for claim in given if not claim.is_decidable)
    see = watch or (lambda _: None)
    if at_once <= 1:
        with _noted_interrupts() as is_interrupted:
            for claim in waiting:
                see([claim.id])
                yield run(claim, examples=examples, seed=seed, time_limit=time_limit, is_interrupted=is_interrupted)
        return
    order = _Order(os.getcwd(), tuple(modules), examples, seed, time_limit)  # noqa: PTH109 (a str, as os.chdir takes)
    workers = [_Worker(order) for _ in range(at_once)]
    try:
        for worker in workers:
            worker.start(waiting.popleft())
        while any(worker.claim for worker in workers):
            see([worker.claim.id for worker in workers if worker.claim])
            ready = wait([worker.connection for worker in workers if worker.claim and worker.connection])
            for worker in [one for one in workers if one.connection in ready]:
                result = worker.result()
                if waiting:
                    worker.start(waiting.popleft())
                yield result
    finally:
        for worker in workers:
            worker.end()


@contextmanager
def _noted_interrupts() -> Iterator[Callable[[], bool]]:
    """Yields what says whether Ctrl-C was pressed, also where its KeyboardInterrupt was caught."""
    seen: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # others cannot handle signals
        yield lambda: False
        return

    def note(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(seen)
    finally:
        signal.signal(signal.SIGINT, before)


@final
@dataclass(frozen=True, slots=True)
class _Order:
    """What every worker is told: where it works, where claims come from, and how they are run."""

    folder: str
    modules: tuple[str, ...]
    examples: int
    seed: int
    time_limit: float | None


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
            with _started_alone():
                self._process.start()
            theirs.close()
        self.claim = claim
        with suppress(OSError):  # it died: then its result is that
            cast("Connection", self.connection).send(claim.id)

    def result(self) -> Run:
        """What came of its claim."""
        claim, self.claim = cast("Claim", self.claim), None
        try:
            answer = cast("Connection", self.connection).recv()
        except (EOFError, OSError):
            return Run(claim=claim, faults=[f"the process that ran it died ({self._death()}), so nothing is known"])
        if isinstance(answer, BaseException):
            raise answer
        return Run(claim=claim, **answer)

    def _death(self) -> str:
        process = cast("SpawnProcess", self._process)
        process.join()
        code = process.exitcode or 0
        self.end()
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def end(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            cast("Connection", self.connection).close()
            self._process = None


@contextmanager
def _started_alone() -> Iterator[None]:
    """A process that starts has one thread for linear algebra, and Ctrl-C is for its parent only."""
    missing = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(missing, "1"))
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else None
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(connection: Connection, order: _Order) -> None:
    """What a worker does: run one claim after another until its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir(order.folder)
    known: dict[str, Claim] = {}
    while True:
        try:
            name = connection.recv()
        except EOFError:
            return
        try:
            known = known or registry(order.modules)
            result = run(known[name], examples=order.examples, seed=order.seed, time_limit=order.time_limit)
            answer = {field.name: getattr(result, field.name) for field in fields(Run) if field.name != "claim"}
        except Exception as error:  # noqa: BLE001 (it is raised again in the parent)
            answer = _portable(error)
        connection.send(answer)


def _portable(error: Exception) -> Exception:
    """An exception that can be sent, with its traceback as a note."""
    text = "".join(traceback.format_exception(error))
    try:
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301 (what was just written)
    except Exception:  # noqa: BLE001 (classes of exceptions decide what breaks)
        copy = RuntimeError(f"{type(error).__name__}: {error}")
    copy.add_note(f"in a process of its own:\n{text}")
    return copy
