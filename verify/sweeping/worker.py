"""What runs in a process of `Workers`: calls come through standard input, answers go to standard output, both pickled.

What a call needs is imported when it comes.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import warnings
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

__all__ = ["READY", "receive", "send", "work"]

READY = b"ready"
_LENGTH = struct.Struct(">Q")


def send(stream: BinaryIO, content: bytes) -> None:
    """Write the bytes, with their number before them. Raises OSError."""
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: BinaryIO) -> bytes:
    """The bytes that `send` wrote. Raises EOFError at the end of the stream, and OSError."""
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return _exactly(stream, length)


def _exactly(stream: BinaryIO, length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content


def work() -> None:
    """Carry out one call after another, until the process that started this one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who then ends this process
    warnings.simplefilter("ignore")
    calls, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a solver prints is no answer
    waiting: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(calls, waiting), daemon=True).start()
    send(answers, READY)
    while True:
        send(answers, _answer(waiting.get()))


def _listen(calls: BinaryIO, waiting: SimpleQueue[bytes]) -> None:
    """Pass on the calls; end this process, also in the middle of one, when the parent has closed its end."""
    while True:
        try:
            waiting.put(receive(calls))
        except (EOFError, OSError):
            os._exit(0)


def _answer(call: bytes) -> bytes:
    """(True, what the call returned) or (False, what it raised)."""
    answer: tuple[bool, Any]
    try:
        function, args, kwargs = pickle.loads(call)  # noqa: S301 (from the process that started this one)
        answer = True, function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 (it is raised there)
        answer = False, error
    try:
        return pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 (what cannot be pickled is told of)
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
