"""Pickles (`.pkl`, `.pickle`, `.joblib`): loading one runs whatever code it holds, so that is done only on demand."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any

from solvers.shared_state import noted_warnings
from verify.checker.errors import InputError


def load(content: bytes, place: str, *, trust_pickle: bool = False) -> tuple[object, tuple[str, ...]]:
    """The object in a pickle, or in a file of joblib, and the warning that goes with it."""
    if not trust_pickle:
        raise InputError(
            f"{place} is a pickle, and loading it can run any code: pass --trust-pickle (trust_pickle=True) if you "
            "made the file yourself, or store the network with skops.io.dump or torch.save(model.state_dict())"
        )
    return unpickled(lambda: _load(content, place), place)


def unpickled(loaded: Callable[[], object], place: str) -> tuple[object, tuple[str, ...]]:
    """What `loaded` returns, its failures as one sentence; and the notes: a warning, and what the library warned of."""
    try:
        with noted_warnings() as caught:
            found = loaded()
    except InputError:
        raise
    except (AttributeError, ImportError) as error:
        raise InputError(
            f"{place} needs something that is not importable here ({_shown(error)}): install it, run where it can be "
            "imported, or store only the weights"
        ) from error
    except Exception as error:  # the file runs whatever code it holds
        raise InputError(f"{place} is damaged or no pickle of a network ({_shown(error)}): write it again") from error
    warning = f"{place} was unpickled, which runs any code that it holds: do this with files of your own only"
    versions = [_shown(message.message) for message in caught if "Version" in message.category.__name__]
    return found, (warning, *(f"{place}: {said}" for said in dict.fromkeys(versions)))


def _load(content: bytes, place: str) -> object:
    try:
        joblib: Any = import_module("joblib")
    except ImportError as error:
        if place.lower().endswith(".joblib"):
            raise InputError(
                f"{place} needs joblib, which is not installed: install it with pip install 'isoptimal[sklearn]'"
            ) from error
        return pickle.loads(content)  # noqa: S301 (the user trusts the file)
    return joblib.load(io.BytesIO(content))


def _shown(value: object) -> str:
    return " ".join(str(value).split())[:100]
