"""The command line that is running, as it can be shown to others."""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath, PureWindowsPath

import click

__all__ = ["command_line", "without_places"]


def command_line() -> str:
    """Such as "isoptimal audit net.npz data.npz --tol 1e-4": of an absolute path the last part alone.

    Where files lie on one machine is of no use on another one, and says more than was asked.
    """
    words = click.get_current_context().find_root().obj or ("isoptimal",)
    return shlex.join(map(_without_place, words))


def without_places(words: str) -> str:
    """A part of a command line, of absolute paths the last part alone."""
    return shlex.join(map(_without_place, shlex.split(words)))


def _without_place(argument: str) -> str:
    option, mark, value = argument.partition("=") if argument.startswith("-") else ("", "", argument)
    for kind in (PurePosixPath, PureWindowsPath):
        if kind(value).is_absolute():
            return f"{option}{mark}{kind(value).name or kind(value).anchor}"
    return argument
