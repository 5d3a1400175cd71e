"""Every way in which a command can fail: one sentence on standard error and an exit status."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

import click

from verify.checker.errors import InputError
from verify.internal_errors import ROOT, own_place

__all__ = ["INTERNAL", "Program", "check_solvers_are_ours", "debug_option", "quiet_solvers", "use_one_thread"]

BAD_INPUT, INTERNAL, INTERRUPTED = 2, 70, 130

CLOSED_PIPE = 141
"""What a shell says of a program that SIGPIPE ended: who reads its output, such as `head`, wanted no more."""

debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the Python traceback of an internal error."
)


@final
class Program(click.Group):
    """A group of commands that return their exit status; no exception of theirs reaches the user as a traceback."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> int:
        """Run the command in `args` and exit with its status (return it when not in standalone mode)."""
        arguments = sys.argv[1:] if args is None else list(args)
        variable = complete_var or f"_{(prog_name or 'isoptimal').replace('-', '_')}_COMPLETE".upper()
        is_completing = variable in os.environ

        def run() -> int:
            words = ("isoptimal", *arguments)  # for messages that repeat the command
            status = super(Program, self).main(
                arguments, prog_name, complete_var, standalone_mode=False, **{"obj": words, **extra}
            )
            if sys.stdout is not None:  # it was closed
                sys.stdout.flush()
            return status if isinstance(status, int) else 0

        named = next((word for word in arguments if word in self.commands), None)
        command = f"isoptimal {named}" if named else "isoptimal"
        status = _guarded(run, command, is_debugging="--debug" in arguments, is_completing=is_completing)
        if standalone_mode:
            sys.exit(status)
        return status

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context, for which the help and the version may have been printed."""
        with _read_or_left():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand."""
        with _read_or_left():
            return super().invoke(ctx)


class _UnreadError(Exception):
    """Whoever read the output has left; no OSError, as click would end the program at that."""


@contextmanager
def _read_or_left() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise _UnreadError from error


def _guarded(run: Callable[[], int], command: str, *, is_debugging: bool, is_completing: bool = False) -> int:
    try:
        return run()
    except InputError as error:
        return _fail(BAD_INPUT, str(error))
    except click.UsageError as error:
        place = error.ctx.command_path if error.ctx else command  # the parser of options does not say where it is
        return _fail(BAD_INPUT, f"{_usage(error)}: see {place} --help")
    except click.ClickException as error:
        return _fail(BAD_INPUT, error.format_message())
    except (click.Abort, KeyboardInterrupt):
        return _fail(INTERRUPTED, "interrupted before it was done")
    except (_UnreadError, BrokenPipeError):
        return _unread()
    except OSError as error:
        return _fail(BAD_INPUT, f"{error.filename or 'the output'} cannot be written ({error.strerror or error})")
    except (MemoryError, RecursionError) as error:
        if is_debugging:
            traceback.print_exception(error)
        return _fail(BAD_INPUT, _too_much(error))
    except SystemExit as error:
        if is_completing:  # click ends what answers a shell
            return error.code if isinstance(error.code, int) else 0
        # somebody else's code, which must not end this with success
        return _fail(INTERNAL, f"the code of a module ended the program ({error.code!r:.60}), so nothing is proved")
    except Exception as error:  # noqa: BLE001 (the last resort: whatever it is, it is our fault)
        if is_debugging:
            traceback.print_exception(error)
        return _fail(INTERNAL, _internal(error))


def _unread() -> int:
    """Say nothing, and let nothing be said when Python ends and writes what is left."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED_PIPE


def _too_much(error: MemoryError | RecursionError) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this, so nothing is proved: give fewer points or a narrower network"
    return "the input is nested too deeply, so nothing is proved: files hold at most rows of numbers"


def _fail(status: int, sentence: str) -> int:
    click.echo(f"isoptimal: {' '.join(sentence.split())}", err=True)
    return status


def _usage(error: click.UsageError) -> str:
    return error.format_message().rstrip(".").replace(". (", " (")


def _internal(error: Exception) -> str:
    """What went wrong where: the innermost line of our own."""
    said = f": {error}" if str(error) else ""
    return (
        f"internal error in {own_place(error)} ({type(error).__name__}{said:.200}), so nothing is proved; please "
        "report it with the input (--debug shows the traceback)"
    )


@contextmanager
def quiet_solvers() -> Iterator[None]:
    """Without the warnings of the solvers, whose word is not taken for anything."""
    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
        yield


def use_one_thread() -> None:
    """Let linear algebra, here of small matrices, use one thread unless the user says otherwise; before numpy comes."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def check_solvers_are_ours() -> None:
    """Refuse to work with a folder or file `solvers` of the user that hides ours on the import path."""
    found = find_spec("solvers")
    origin = None if found is None else found.origin
    if origin is None:
        raise InputError(f"the package solvers is not beside the package verify in {ROOT}: install isoptimal again")
    place = Path(origin).resolve()
    if place.parent.parent != ROOT:
        raise InputError(
            f"{place.parent if place.name == '__init__.py' else place} hides the package solvers of isoptimal: rename "
            "it, or run from another folder"
        )
