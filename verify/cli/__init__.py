"""The command line `isoptimal`: arguments in, an exit status out. What is heavy is imported when it is used."""

from __future__ import annotations

import click

from verify.cli.auditing import audit_command
from verify.cli.bettering import better_command
from verify.cli.checking import check_command
from verify.cli.claiming import claims_command
from verify.cli.completion import SHELLS, complete_places
from verify.cli.critical import critical_command
from verify.cli.failures import Program
from verify.cli.generating import data_command
from verify.cli.regressing import regress_command
from verify.cli.reproducing import reproduce_command
from verify.cli.searching import search_command
from verify.cli.sweeping import sweep_command
from verify.cli.training import train_command
from verify.cli.widths import widths_command

__all__ = ["main", "program"]


def _version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if not asked or context.resilient_parsing:
        return
    from verify.version import __version__

    click.echo(f"isoptimal {__version__}")
    context.exit()


@click.group(
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
    epilog="""\b
Example:
  isoptimal audit net.npz data.npz --certificates proofs
  isoptimal check proofs

"""
    + SHELLS,
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def program(context: click.Context) -> int:
    """Is this trained ReLU network optimal? Verdicts in exact arithmetic, with certificates that anybody can check.

    Every "proved" and every "refuted" has a certificate in rational numbers; what is open is called "undecided".

    Exit status: 0 the job was done, whatever the verdict; 1 --require is not met, or a certificate is refused; 2 bad
    input; 70 an internal error; 130 interrupted.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    return 0


program.add_command(audit_command)
program.add_command(check_command)
program.add_command(better_command)
program.add_command(widths_command)
program.add_command(critical_command)
program.add_command(sweep_command)
program.add_command(regress_command)
program.add_command(data_command)
program.add_command(train_command)
program.add_command(reproduce_command)
program.add_command(claims_command)
program.add_command(search_command)
for command in program.commands.values():
    complete_places(command)


def main() -> None:
    """The entry point of `isoptimal`, `python -m isoptimal` and `python -m verify`."""
    program.main(prog_name="isoptimal")
