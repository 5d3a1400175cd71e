"""`isoptimal search`: small counterexamples to a claim without one of its hypotheses, or extremes of a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from verify.cli.failures import check_solvers_are_ours, debug_option
from verify.errors import InputError

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
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the instances: the same ones for the same.")
@click.option("--from", "modules", metavar="MODULE", multiple=True, help="A module or .py file with claims of yours.")
@click.option("--cases", "folder", metavar="DIR", help="Write what is found into DIR as case files.")
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
    result = search(chosen[0], drop=drop, minutes=minutes, seed=seed, on_found=_note)
    _conclude(chosen[0], result, folder)
    return 0


def _note(found: Found) -> None:
    points, neurons, dimension, digits = found.instance.size
    measured = "" if found.judgement.measured is None else f", {found.judgement.measured}"
    text = (
        f"{found.seconds:6.1f} s  {points} points, {neurons} neurons, dimension {dimension}, {digits} digits{measured}"
    )
    click.echo(f"{text}  ({found.place})", err=True)


def _conclude(claim: Claim, result: Search, folder: str | None) -> None:
    lacking = f" without {result.dropped!r}" if result.dropped else ""
    click.echo(f"{claim.id}{lacking}: {result.tried} instances in {result.seconds:.0f} s")
    if result.smallest is None and not result.extremes:
        click.echo("no counterexample was found, which means nothing")
    if result.smallest is not None:
        found = result.smallest
        click.echo(f"\nfalse here: {found.judgement.reason} (from: {found.place})\n")
        _show(claim, found, f"Refutes {claim.id}{lacking}: {found.judgement.reason}.", claim.id + lacking, folder)
    for group, found in sorted(result.extremes.items()):
        click.echo(f"\n{claim.quantity} {found.judgement.measured} (group {group}; from: {found.place})\n")
        comment = f"The largest number of {claim.quantity} found for {claim.id}: {found.judgement.reason}."
        _show(claim, found, comment, f"{claim.id} group {group}", folder)


def _show(claim: Claim, found: Found, comment: str, name: str, folder: str | None) -> None:
    from verify.claims import as_case, write_case

    source = f"isoptimal search {claim.id}"
    click.echo(as_case(found.instance, comment=comment, source=source), nl=False)
    if folder is not None:
        file = write_case(found.instance, folder, name, comment=comment, source=source)
        click.echo(f"\nwritten to {file}; isoptimal regress --add {file} puts it into the corpus")
