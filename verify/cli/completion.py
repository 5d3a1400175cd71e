"""What a shell completes: click knows commands, options and choices; here, where a file or a folder belongs."""

from __future__ import annotations

from typing import final

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

__all__ = ["SHELLS", "complete_places"]

SHELLS = """\b
Completion of commands, options and files by the shell, in its startup file:
  bash  eval "$(_ISOPTIMAL_COMPLETE=bash_source isoptimal)"
  zsh   eval "$(_ISOPTIMAL_COMPLETE=zsh_source isoptimal)"
  fish  _ISOPTIMAL_COMPLETE=fish_source isoptimal | source
"""

_FILES = {"FILE", "OUT", "NETWORK", "network", "data", "path", "paths", "sources"}
_FOLDERS = {"DIR", "FOLDER"}


@final
class _Place(StringParamType):
    """Text that is a path."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 (the signature is click's)
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Let the shell complete it: "file", or "dir" for folders."""
        return [CompletionItem(incomplete, type=self.kind)]


def complete_places(command: click.Command) -> None:
    """Let the arguments and options of a command that are paths be completed as such."""
    for param in command.params:
        if isinstance(param.type, StringParamType):
            names = {param.metavar, param.name if isinstance(param, click.Argument) else None}
            if names & _FOLDERS:
                param.type = _Place("dir")
            elif names & _FILES:
                param.type = _Place("file")
