"""`isoptimal reproduce`: the figures of the papers, computed again."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from verify.checker.errors import InputError
from verify.cli.failures import check_solvers_are_ours, debug_option, quiet_solvers, use_one_thread

__all__ = ["reproduce_command"]


@click.command(
    "reproduce",
    short_help="Compute figures of the papers again.",
    epilog="""\b
Examples:
  isoptimal reproduce                         # what there is
  isoptimal reproduce vardi2022-figure-1
  isoptimal reproduce all --out figures
""",
)
@click.argument("names", nargs=-1, metavar="[FIGURE]...")
@click.option("--full", is_flag=True, help="The size of the paper, where its text tells it: hours for some.")
@click.option("--smoke", is_flag=True, help="Seconds, too small to show more than that it runs.")
@click.option(
    "--out", default="reproduced", show_default=True, metavar="DIR", help="The folder for pictures and numbers."
)
@debug_option
def reproduce_command(names: tuple[str, ...], full: bool, smoke: bool, out: str) -> int:
    """Compute a FIGURE of one of the papers, draw it, and say what agrees with the paper.

    By default in a small faithful size: minutes at most. A run that was killed goes on where it was. Each picture
    (.png, .svg) comes with its numbers (.npz, .json); the text says what was scaled down or had to be chosen.
    """
    use_one_thread()
    check_solvers_are_ours()
    from verify.reproduce import figure, reproduce
    from verify.reproduce import names as known

    if not names:
        for name in known():
            found = figure(name)
            click.echo(f"{name:26} {found.title if found else ''}")
        return 0
    wanted = dict.fromkeys(part for name in names for part in (known() if name == "all" else (name,)))
    for name in wanted:
        if figure(name) is None:
            raise InputError(f"there is no figure {name!r:.60}: there are {', '.join(known())}, and all of them: all")
    for place, name in enumerate(wanted):
        with quiet_solvers():
            result = reproduce(name, full=full, smoke=smoke, out=out, progress=_progress(name))
        if place:
            click.echo()
        click.echo(f"{result}\n({result.seconds:.0f} s)")
    return 0


def _progress(name: str) -> Callable[[str], None] | None:
    if not sys.stderr.isatty():
        return None
    return lambda part: click.echo(f"{name}: {part}", err=True)
