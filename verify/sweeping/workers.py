"""Processes that carry out calls, each with one thread for linear algebra: an executor that outlives them.

A process that dies takes only the call with it that it carried out; the next call starts another one. All of them end
with the process that started them, however that ends. They import nothing of the user's script, which therefore needs
no `if __name__ == "__main__":`.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, cast, final

from verify.processes import how_it_ended, started_alone
from verify.sweeping.worker import READY, receive, send

__all__ = ["NotStartedError", "WorkerDiedError", "Workers"]

_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from verify.sweeping.worker import work; work()"
_PATIENCE = 5.0
"""Seconds that a process whose pipe is closed may take to end."""


class WorkerDiedError(RuntimeError):
    """The process that carried out a call died; the text says how."""


class NotStartedError(BrokenExecutor):
    """No process can be started here; the text says why."""


@final
class Workers(Executor):
    """At most `jobs` processes, started when there is something to do."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._calls: SimpleQueue[tuple[Future[Any], bytes] | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._processes: set[_Process] = set()
        self._lock = Lock()
        self._is_shut = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a function of an importable module called; its arguments and its result are pickled."""
        call = pickle.dumps((fn, args, kwargs), protocol=pickle.HIGHEST_PROTOCOL)
        future: Future[Any] = Future()
        with self._lock:
            if self._is_shut:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._calls.put((future, call))
            if len(self._threads) < self.jobs:
                thread = Thread(target=self._serve, name=f"sweep-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; those that are waiting are carried out unless they are cancelled."""
        self._shut(cancel_futures)
        for thread in self._threads if wait else ():
            thread.join()

    def kill(self) -> None:
        """End all processes, whatever they are doing."""
        self._shut(True)
        with self._lock:
            processes = list(self._processes)
        for process in processes:
            process.kill()
        for thread in self._threads:
            thread.join()

    def _shut(self, cancel: bool) -> None:
        with self._lock:
            self._is_shut = True
        if cancel:
            with suppress(Empty):
                while True:
                    if (waiting := self._calls.get_nowait()) is not None:
                        waiting[0].cancel()
        for _ in self._threads:
            self._calls.put(None)

    def _serve(self) -> None:
        """What a thread does: hand one call after another to its process, and see it replaced when it dies."""
        process: _Process | None = None
        while (waiting := self._calls.get()) is not None:
            future, call = waiting
            if not future.set_running_or_notify_cancel():
                continue
            try:
                process = process or self._started()
                is_returned, value = process.ask(call)
            except (WorkerDiedError, NotStartedError) as error:
                self._ended(process)
                process = None
                future.set_exception(error)
            except Exception as error:  # noqa: BLE001 (an answer that cannot be read here, a full disk)
                future.set_exception(error)
            else:
                (future.set_result if is_returned else future.set_exception)(value)
        self._ended(process)

    def _started(self) -> _Process:
        process = _Process()
        with self._lock:
            self._processes.add(process)
            is_shut = self._is_shut
        if is_shut:  # it may have been too late for `kill` to see it
            process.kill()
        try:
            process.greet()
        except NotStartedError:
            self._ended(process)
            raise
        return process

    def _ended(self, process: _Process | None) -> None:
        if process is not None:
            process.end()
        with self._lock:
            self._processes = {one for one in self._processes if one.is_alive}


@final
class _Process:
    """A process, its pipes, and a file for what it says on standard error."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        command = [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)]
        pipe = subprocess.PIPE
        try:
            with started_alone():
                self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._errors)  # noqa: S603
        except OSError as error:
            self._errors.close()
            raise NotStartedError(f"no process of {sys.executable} can be started ({error.strerror})") from error

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def greet(self) -> None:
        """Wait until it works. Raises NotStartedError."""
        try:
            if receive(cast("Any", self._process.stdout)) == READY:
                return
        except (EOFError, OSError):
            pass
        raise NotStartedError(f"the processes of a sweep end as soon as they start ({self._death()})")

    def ask(self, call: bytes) -> tuple[bool, Any]:
        """(True, what the call returned) or (False, what it raised). Raises WorkerDiedError."""
        try:
            send(cast("Any", self._process.stdin), call)
            return pickle.loads(receive(cast("Any", self._process.stdout)))  # noqa: S301 (from our own process)
        except (EOFError, OSError):
            raise WorkerDiedError(self._death()) from None

    def _death(self) -> str:
        """How it ended, with the last thing that it said."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        code = self._process.poll()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        how = "it closed its pipe" if code is None else how_it_ended(code)
        return f"{how}: {said:.200}" if said else how

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        """Close its pipes, at which it ends, or is ended."""
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                cast("Any", stream).close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()
