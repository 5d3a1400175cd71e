"""How long a call takes, measured so that neither other processes nor what other tests left in memory count."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time


def cpu_seconds(call: Callable[[], object]) -> float:
    """The processor seconds of a call, without collections of garbage: with much in memory one takes seconds."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        began = process_time()
        call()
        return process_time() - began
    finally:
        if enabled:
            gc.enable()
