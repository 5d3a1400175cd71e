"""`sweep`: every network is audited once, in as many processes as there are; what is done is kept, whatever happens."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import cast, final

from verify.auditing.interruptions import CtrlC
from verify.auditing.trained_for import TrainedFor
from verify.checker.errors import InputError
from verify.numbers.arguments import a_flag, a_path, wrong
from verify.problem.members import is_regression
from verify.problem.problem import Bias, Goal
from verify.processes import available_cores
from verify.readers.reading import Options, Reading
from verify.sweeping.options import Questions
from verify.sweeping.pairs import Data, Pair, Reader, names_of, on_the_same, pairs_of
from verify.sweeping.progress import Standing, watching
from verify.sweeping.records import FAILED, SweepStatus
from verify.sweeping.store import Name, Store
from verify.sweeping.sweeps import Sweep
from verify.sweeping.tasks import SweepTask, TaskOutcome, carry_out, failure_of, key_of
from verify.sweeping.workers import NotStartedError, WorkerDiedError, Workers
from verify.version import __version__

__all__ = ["sweep"]

_LOOK = 0.25
"""Seconds after which the main thread looks up from waiting, so that Ctrl-C is noticed soon, and everywhere."""


def sweep(
    pairs: Iterable[object] | Mapping[str, object],
    data: object = None,
    y: object = None,
    *,
    out: str | Path | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    retry_failed: bool = False,
    progress: bool | Callable[[Standing], object] = False,
    goal: Goal | str | None = None,
    bias: Bias | str | None = None,
    tol: float | Fraction = Fraction(1, 10**6),
    stationary_tol: float | Fraction | None = None,
    near: float | Fraction | None = None,
    fit_tol: float | Fraction | None = None,
    time_limit: float | None = None,
    symbolic: bool = False,
    slope: object = None,
    output_bias: str | None = None,
    two_logits: str = "refuse",
    fold: bool = False,
    trust_pickle: bool = False,
    target: str | None = None,
    classes: Sequence[object] | None = None,
) -> Sweep:
    """Audit many networks, side by side, into a folder from which a sweep that was stopped or killed goes on.

        sweep(models, X, y)    sweep({"wide": model}, data)    sweep([(model, data), (other, its_data)])

    pairs: (network, data) or (network, X, y) again and again, as `audit` takes them; or a mapping from names to such.
    With `data`, or its points and their targets y, the networks alone. It may be a generator: what it gives is taken
    when there is room for it.
    out: the folder. What it holds already is not done again: an audit is known by the exact numbers of its network and
    data, by the options from `goal` to `symbolic`, and by the version. By default a folder that goes with the result.
    executor: any `concurrent.futures.Executor`, such as `client.get_executor()` of a Dask cluster, which stays open.
    By default `jobs` processes on this machine, each with one thread; by default as many as there are cores.
    jobs: with an executor, how many audits it carries out at a time; by default what it says of itself.
    retry_failed: try again those that failed (that have no audit).
    progress: True for a bar on standard error, or a function that is called with a `Standing` after each audit.
    The other options are those of `audit`, `read` and `read_data`.

    A network that cannot be read or audited, or whose process dies, becomes a row that says so. Ctrl-C returns what is
    done, with `status` "interrupted"; the same call goes on from there. Only this process writes into the folder, and
    only one at a time can. Raises InputError for options that suit no network, and for folders that cannot be used.
    """
    questions = Questions.of(
        {"goal": goal, "bias": bias, "output_bias": output_bias, "tol": tol, "stationary_tol": stationary_tol,
         "near": near, "fit_tol": fit_tol, "time_limit": time_limit, "symbolic": symbolic}
    )  # fmt: skip
    asked = TrainedFor.of(None, goal=goal, output_bias=output_bias, two_logits=two_logits, is_plain=not symbolic)
    options = Options(slope=slope, fold=fold, trust_pickle=trust_pickle, **asked.reading)
    if executor is not None and not isinstance(executor, Executor):
        raise wrong(executor, "executor", "give a concurrent.futures.Executor; of a Dask client, client.get_executor()")
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise InputError(f"jobs is {jobs!r:.60}: give how many audits are to run at a time, at least 1")
    again = a_flag(retry_failed, "retry_failed")
    given = pairs_of(pairs) if data is None and y is None else on_the_same(pairs, data, y)
    total = len(pairs) if isinstance(pairs, Sized) else None
    ctrl_c = CtrlC()
    with ExitStack() as stack:
        stack.enter_context(ctrl_c.noticed())
        folder = stack.enter_context(_passing_folder()) if out is None else a_path(out, "out")
        show = stack.enter_context(watching(progress))
        with ctrl_c.held():
            store = stack.enter_context(Store(folder, questions))
        reader = Reader(options, target, classes, is_regression=is_regression(questions.goal))
        runner = _Runner(store, questions, reader, executor, jobs, again, show, total, ctrl_c)
        stack.callback(runner.stop)
        status = SweepStatus.INTERRUPTED
        try:
            with ctrl_c.held():
                store.begin(total)
            runner.run(given)
            with ctrl_c.held():
                store.end()
                status = SweepStatus.DONE
        except KeyboardInterrupt:
            ctrl_c.answered()
            if status is not SweepStatus.DONE:
                runner.keep()
        result = Sweep.of(folder, status=status, notes=runner.notes)
        if status is SweepStatus.DONE:
            result = result.of_names(store.asked)
        if out is None:
            weakref.finalize(result, shutil.rmtree, folder, ignore_errors=True)
        return result


@contextmanager
def _passing_folder() -> Iterator[Path]:
    """A new folder, removed when what is done in it fails."""
    folder = Path(tempfile.mkdtemp(prefix="sweep-"))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@final
@dataclass(slots=True)
class _Flight:
    """A task that an executor has, and the names that wait for it."""

    key: str
    task: SweepTask
    names: list[Name]
    data_sha256: str


@final
class _Runner:
    """What is in flight, and where it goes."""

    def __init__(
        self,
        store: Store,
        questions: Questions,
        reader: Reader,
        executor: Executor | None,
        jobs: int | None,
        again: bool,
        show: Callable[[Standing], object],
        total: int | None,
        ctrl_c: CtrlC,
    ) -> None:
        self._store, self._questions, self._reader = store, questions, reader
        self._given, self._jobs, self._again = executor, jobs, again
        self._workers: Workers | None = None
        self._ctrl_c = ctrl_c
        self._show, self._standing = show, Standing(total=total)
        self._flights: dict[Future[TaskOutcome], _Flight] = {}
        self._by_key: dict[str, _Flight] = {}
        self._tried: set[str] = set()
        self._named: dict[tuple[str, str], str] = {}
        self._is_interrupted = self._is_ending = False
        self.notes: list[str] = []

    def run(self, pairs: Iterable[Pair]) -> None:
        """Take pair after pair, as there is room, until all are done."""
        self._tell()
        for place, pair in enumerate(pairs):
            self._consider(pair, place)
            self._collect(0)
            while len(self._flights) >= self._most():
                self._collect(_LOOK)
        while self._flights:
            self._collect(_LOOK)

    def keep(self) -> None:
        """Keep what came in before the interruption."""
        self._is_ending = True
        with self._ctrl_c.held():
            self._collect(0)
            self._store.write_names()

    def stop(self) -> None:
        """Leave nothing running that this sweep began, as far as its executor can stop it."""
        with self._ctrl_c.held():
            for future in self._flights:
                future.cancel()
            if self._workers is not None:
                self._workers.kill()

    def _consider(self, pair: Pair, place: int) -> None:
        """Read a pair; name the audit that is done or on its way, or begin it."""
        reading, failure, data = None, "", None
        try:
            reading = self._reader.network(pair.network)
            data = self._reader.data(pair.data, reading)
        except (Exception, SystemExit) as error:  # noqa: BLE001 (a network that cannot be read is a row that says so)
            failure = failure_of(error)
        with self._ctrl_c.held():
            flight = self._flight(pair, place, reading, data, failure)
        if flight is not None:
            self._submit(flight)

    def _flight(
        self, pair: Pair, place: int, reading: Reading | None, data: Data | None, failure: str
    ) -> _Flight | None:
        """The audit to begin; None where it is done, on its way or impossible, which is noted."""
        name = Name(*names_of(pair, place, reading, data), place)
        if reading is None or data is None:
            self._store.fail(name, failure)
            self._count(failed=True, is_new=True)
            return None
        network = reading.network
        key = key_of(network, data.data, data.sha256, self._questions)
        if self._named.setdefault((name.network, name.data), key) != key:  # two networks of one name keep a row each
            name = replace(name, network=f"{name.network} ({network.sha256()[7:15]})")
        if key in self._by_key:
            self._by_key[key].names.append(name)
            return None
        known = self._store.outcome(key)
        if known is not None and not (known == FAILED and self._again and key not in self._tried):
            self._store.name(key, name)
            self._count(failed=known == FAILED, is_new=key in self._tried)
            return None
        self._tried.add(key)
        task = SweepTask(network=network, data=data.pickled, questions=self._questions, notes=reading.notes)
        flight = _Flight(key, task, [name], data.sha256)
        if known is None and (adopted := self._store.adopted(key, network, data.data)) is not None:
            self._record(flight, adopted)
            return None
        return flight

    def _submit(self, flight: _Flight) -> None:
        with self._ctrl_c.held() if self._given is None else nullcontext():  # theirs may do it at once, for long
            try:
                future = self._executor().submit(carry_out, flight.task)
            except BrokenExecutor as error:
                self._replace(error)
                future = self._executor().submit(carry_out, flight.task)
            except RuntimeError as error:
                raise InputError(f"the executor takes no tasks ({error}): give one that is open") from error
            self._flights[future] = flight
            self._by_key[flight.key] = flight

    def _collect(self, seconds: float) -> None:
        """Keep what has come in; wait at most so long for the first."""
        with self._ctrl_c.held():
            if self._flights:
                done, _ = wait(self._flights, seconds, FIRST_COMPLETED)
                for future in done:
                    self._settle(future)
        if self._is_interrupted and not self._is_ending:
            raise KeyboardInterrupt

    def _settle(self, future: Future[TaskOutcome]) -> None:
        flight = self._flights[future]
        try:
            outcome = future.result()
        except NotStartedError as error:
            raise InputError(f"{error}: run isoptimal audit on one of the networks to see why") from error
        except BrokenExecutor as error:
            self._replace(error)
            del self._flights[future]
            self._submit(flight)
            return
        except CancelledError as error:
            raise InputError(
                "the executor gave up audits that it had taken: see that its workers are there, and run the same sweep "
                "again, which goes on from here"
            ) from error
        except WorkerDiedError as error:
            outcome = TaskOutcome(failure=_death(str(error)), version=__version__)
        except Exception as error:  # noqa: BLE001 (such as KilledWorker of Dask)
            said = " ".join(f"{type(error).__name__}: {error}".split())
            outcome = TaskOutcome(failure=f"the executor lost this audit ({said:.300})", version=__version__)
        if outcome.is_interrupted:  # Ctrl-C reaches the processes of an executor too
            del self._flights[future], self._by_key[flight.key]
            self._is_interrupted = True
            return
        if outcome.version != __version__:
            raise InputError(
                f"a worker has isoptimal {outcome.version}, and this process has {__version__}: install one for all"
            )
        self._record(flight, outcome)
        del self._flights[future], self._by_key[flight.key]

    def _record(self, flight: _Flight, outcome: TaskOutcome) -> None:
        self._store.record(
            flight.key,
            flight.names,
            outcome,
            network_sha256=flight.task.network.sha256(),
            data_sha256=flight.data_sha256,
        )
        for _ in flight.names:
            self._count(failed=outcome.files is None, is_new=True)

    def _executor(self) -> Executor:
        if self._given is not None:
            return self._given
        if self._workers is None:
            self._workers = Workers(self._jobs or available_cores())
        return self._workers

    def _replace(self, error: BrokenExecutor) -> None:
        """Go on in processes of our own: each that dies takes one audit with it, and it is known which."""
        if self._given is None:
            return
        self._jobs = self._jobs or _workers_of(self._given)
        self._given = None
        self.notes.append(
            f"the executor broke ({' '.join(str(error).split()):.200}); what was left ran in processes of this machine"
        )

    def _most(self) -> int:
        """How many tasks may be in flight: two for each worker, so that none waits for the next one."""
        if self._jobs is not None:
            return 2 * self._jobs
        return 2 * (available_cores() if self._given is None else _workers_of(self._given))

    def _count(self, *, failed: bool, is_new: bool) -> None:
        self._standing = self._standing.after(failed=failed, is_new=is_new)
        self._tell()

    def _tell(self) -> None:
        self._show(self._standing)


def _death(how: str) -> str:
    advice = "; often there is not enough memory: give fewer --jobs" if "SIGKILL" in how else ""
    return f"the process that audited it died ({how}){advice}; --retry-failed tries it again"


def _workers_of(executor: Executor) -> int:
    """How many tasks an executor carries out at a time, as far as that can be found out; else the number of cores."""
    most = getattr(executor, "_max_workers", None)  # of the pools of the standard library
    if isinstance(most, int):
        return most
    client = getattr(executor, "_client", None)  # of Dask
    if client is not None and hasattr(client, "nthreads"):
        return max(1, sum(cast("dict[str, int]", client.nthreads()).values()))
    return available_cores()
