"""`isoptimal regress`: decide the stored cases again."""

from __future__ import annotations

import click

from verify.cli.failures import check_solvers_are_ours, debug_option

__all__ = ["regress_command"]


@click.command(
    "regress",
    short_help="Decide the stored cases again and compare.",
    epilog="""\b
Examples:
  isoptimal regress cases/max-margin
  isoptimal regress my-cases --add found/counterexample.json
""",
)
@click.argument("path", required=False)
@click.option(
    "--add",
    metavar="FILE",
    help="A case file, or a folder of certificates, to store as a case in the folder PATH, which is made if need be.",
)
@debug_option
def regress_command(path: str | None, add: str | None) -> int:
    """Decide each case below PATH again and compare with what it expects.

    PATH is a case file or a folder of them; by default all cases that come with isoptimal. Exit status 1 when a verdict
    or a bracket differs.
    """
    check_solvers_are_ours()
    from verify.corpus import regress

    return regress(path, add=add, echo=click.echo)
