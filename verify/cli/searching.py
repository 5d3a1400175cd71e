"""`isoptimal search`: small counterexamples to a claim without one of its hypotheses, or extremes of a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from verify.checker.errors import InputError
from verify.cli.failures import check_solvers_are_ours, debug_option
from verify.cli.numbers import Amount
from verify.cli.places import check_case_folder
from verify.cli.progress import shown_search, size_text
from verify.numbers.counts import count

if TYPE_CHECKING:
    from verify.claims import Claim
    from verify.search import Found, Search

__all__ = ["search_command"]


@click.command(
    "search",
    short_help="Look for the smallest counterexample to a claim without one of its hypotheses.",
    epilog="""\b
Examples:
  isoptimal search vardi2022.thm4.3 --drop nonzero-preactivations
  isoptimal search safran2022.thm4.2 --minutes 5 --cases found
""",
)
@click.argument("name", metavar="CLAIM")
@click.option("--drop", metavar="HYPOTHESIS", help="May be broken; isoptimal claims --list names them.")
@click.option("--minutes", type=Amount(), default=1.0, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the instances: the same ones for the same.")
@click.option("--from", "modules", metavar="MODULE", multiple=True, help="A module or .py file with claims of yours.")
@click.option(
    "--cases", "folder", metavar="DIR", help="Write what is found into DIR as case files, instead of showing them."
)
@debug_option
def search_command(
    name: str, drop: str | None, minutes: float, seed: int, modules: tuple[str, ...], folder: str | None
) -> int:
    """Look for the smallest counterexample to CLAIM: the fewest points, neurons, dimensions and digits, in this order.

    For a claim that bounds a quantity, and without --drop, also for the largest values of it. Everything shown is
    proved with certificates; that nothing was found means nothing. Ctrl-C ends it early with what it has.
    """
    check_solvers_are_ours()
    from verify.claims import claims
    from verify.search import search

    chosen = claims([name], modules)
    if len(chosen) != 1:
        raise InputError(f"{name} stands for {len(chosen)} claims: name one, such as {chosen[0].id}")
    check_case_folder(folder)
    claim = chosen[0]
    with shown_search() as show:
        result = search(
            claim, drop=drop, minutes=minutes, seed=seed, on_found=lambda found: _note(claim, found), on_progress=show
        )
    _conclude(claim, result, folder)
    return 0


def _note(claim: Claim, found: Found) -> None:
    what = "counterexample" if found.group is None else f"{_measured(claim, found)} (group {found.group})"
    click.echo(f"{found.seconds:6.1f} s  {what}: {size_text(found.instance)}; from: {found.place}", err=True)


def _measured(claim: Claim, found: Found) -> str:
    return f"{found.judgement.measured} {claim.quantity}"


def _conclude(claim: Claim, result: Search, folder: str | None) -> None:
    lacking = f" without {result.dropped!r}" if result.dropped else ""
    ended = ", interrupted" if result.is_interrupted else ""
    click.echo(f"{claim.id}{lacking}: {count(result.tried, 'instance')} in {result.seconds:.0f} s{ended}")
    if result.smallest is None:
        click.echo("no counterexample was found, which means nothing")
    else:
        found = result.smallest
        click.echo(f"\nfalse here: {found.judgement.reason}\n{size_text(found.instance)} (from: {found.place})")
        _show(claim, found, f"Refutes {claim.id}{lacking}: {found.judgement.reason}.", claim.id + lacking, folder)
    for group, found in sorted(result.extremes.items()):
        click.echo(f"\ngroup {group}: {found.judgement.reason}\n{size_text(found.instance)} (from: {found.place})")
        comment = f"The largest number of {claim.quantity} found for {claim.id}: {found.judgement.reason}."
        _show(claim, found, comment, f"{claim.id} group {group}", folder)


def _show(claim: Claim, found: Found, comment: str, name: str, folder: str | None) -> None:
    """The case file, on standard output or in the folder."""
    from verify.claims import as_case, write_case

    source = f"isoptimal search {claim.id}"
    flags = ("counterexample" if found.group is None else "extreme",)
    if folder is None:
        click.echo("\n" + as_case(found.instance, comment=comment, source=source, flags=flags), nl=False)
        return
    file = write_case(found.instance, folder, name, comment=comment, source=source, flags=flags)
    click.echo(f"written to {file}; isoptimal regress DIR --add {file} decides it and keeps it in a folder of cases")
