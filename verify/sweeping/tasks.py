"""One audit of a sweep as a task that any process can carry out: picklable in, picklable out, and it never raises."""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import final

from verify.checker.errors import InputError
from verify.internal_errors import own_place
from verify.problem.network import Network
from verify.problem.problem import Dataset
from verify.readers.reading import MissingOptionsError, in_python, on_command_line
from verify.sweeping.options import Questions
from verify.version import __version__

__all__ = ["SweepTask", "TaskOutcome", "carry_out", "failure_of", "key_of"]

_KEPT = 8
"""How many data sets a worker keeps."""

_known: OrderedDict[bytes, Dataset] = OrderedDict()
_lock = Lock()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTask:
    """A network to audit on data (pickled, so that each worker reads what many tasks share only once)."""

    network: Network
    data: bytes
    questions: Questions
    notes: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutcome:
    """What came of a task: the files of the audit by name, or the sentence why there is none.

    is_interrupted: the audit was stopped before it was done, so that this is no answer.
    is_adopted: the files were found in a folder; what their certificates do not prove may be anybody's words.
    version: of isoptimal, there where the audit ran.
    """

    files: dict[str, bytes] | None = None
    failure: str | None = None
    is_interrupted: bool = False
    is_adopted: bool = False
    version: str = ""


def carry_out(task: SweepTask) -> TaskOutcome:
    """Audit the network; whatever goes wrong is a sentence."""
    from verify.auditing.loop import audit
    from verify.deciders.finding import Ending

    try:
        result = audit(task.network, _data(task), notes=task.notes, **task.questions.arguments())
        is_interrupted = result.ending is Ending.INTERRUPTED
        return TaskOutcome(files=result.files(), is_interrupted=is_interrupted, version=__version__)
    except KeyboardInterrupt:
        return TaskOutcome(is_interrupted=True, version=__version__)
    except Exception as error:  # noqa: BLE001 (what breaks one audit of a sweep is told in its row)
        return TaskOutcome(failure=failure_of(error), version=__version__)


def failure_of(error: BaseException) -> str:
    """Why there is no audit, as one sentence."""
    if isinstance(error, MissingOptionsError):
        options = error.needed
        return f"{error.reason}: give {' '.join(on_command_line(options))} (in Python {', '.join(in_python(options))})"
    if isinstance(error, InputError):
        return " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return "there is not enough memory for this audit: give fewer points, a narrower network or fewer --jobs"
    if isinstance(error, RecursionError):
        return "the input is nested too deeply: files hold at most rows of numbers"
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return f"internal error in {own_place(error)} ({said:.200}); please report it with the input"


def key_of(network: Network, data: Dataset, data_sha256: str, questions: Questions) -> str:
    """What identifies an audit: the exact network, data, options and version. Floats are other input than fractions."""
    parts = (network.sha256(), network.is_exact, data_sha256, data.is_exact, questions.sha256(), __version__)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _data(task: SweepTask) -> Dataset:
    with _lock:
        found = _known.pop(task.data, None)
        found = pickle.loads(task.data) if found is None else found  # noqa: S301 (from the process that sweeps)
        _known[task.data] = found
        while len(_known) > _KEPT:
            _known.popitem(last=False)
        return found
