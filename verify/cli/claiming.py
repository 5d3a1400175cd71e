"""`isoptimal claims`: theorems are tried on instance after instance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from verify.checker.errors import InputError
from verify.cli.failures import check_solvers_are_ours, debug_option, use_one_thread
from verify.cli.numbers import Amount
from verify.cli.places import check_case_folder, check_file
from verify.cli.progress import shown_claims
from verify.files.writing import write_text

if TYPE_CHECKING:
    from rich.console import Console

    from verify.claims import Claim, Run

__all__ = ["claims_command"]


@click.command(
    "claims",
    short_help="Try theorems of the papers, or your own, on random exact instances.",
    epilog="""\b
Examples:
  isoptimal claims
  isoptimal claims vardi2022.thm4.3 --examples 1000 --seed 7
  isoptimal claims vardi2022 --table vardi2022
  isoptimal claims --from my_claims.py mine.lemma1
  isoptimal claims vardi2022 --variants --examples 20
""",
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Instances of each claim; fewer in proportion where each takes seconds, mostly 20 for 200.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the instances: the same ones for the same.")
@click.option("--table", "paper", metavar="PAPER", help="Also print the paper's own tables, such as vardi2022.")
@click.option("--from", "modules", metavar="MODULE", multiple=True, help="A module or .py file with claims of yours.")
@click.option("--time-limit", type=Amount(), metavar="SECONDS", help="For each claim.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Claims that run at a time, each in a process of its own; by default the number of cores.",
)
@click.option("--json", "json_file", metavar="FILE", help="Write the results as JSON; - for standard output.")
@click.option("--cases", "folder", metavar="DIR", help="Write counterexamples into DIR as case files.")
@click.option(
    "--variants",
    "is_of_variants",
    is_flag=True,
    help="Try the false variants of the claims instead: each has to be refuted by the same kind of instances.",
)
@click.option("--list", "is_listing", is_flag=True, help="Only name the claims, with their statements.")
@debug_option
def claims_command(
    ids: tuple[str, ...],
    examples: int,
    seed: int,
    paper: str | None,
    modules: tuple[str, ...],
    time_limit: float | None,
    jobs: int | None,
    json_file: str | None,
    folder: str | None,
    is_of_variants: bool,
    is_listing: bool,
) -> int:
    """Try the claims with these IDs (a paper's name stands for all of its claims; by default all claims).

    Each instance is decided with certificates that the checker accepts. A counterexample is shrunk and shown as a case
    file. Exit status 1 when a claim failed; with --variants when a false variant was not refuted. Ctrl-C ends it with
    the table of what is done.
    """
    use_one_thread()
    check_solvers_are_ours()
    from verify.claims import as_case, claims
    from verify.claims.running import RunOutcome
    from verify.claims.tables import listing, overview, paper_tables, sharp_text, tables_of

    chosen = claims(ids, modules)
    if json_file is not None and json_file != "-":
        check_file(json_file, (), None)
    check_case_folder(folder)
    tables = None if paper is None else tables_of(paper)
    console = _console()
    if is_listing:
        console.print(listing(chosen))
        click.echo(sharp_text(chosen))
        return 0
    if is_of_variants:
        _check_alone(paper=paper, json_file=json_file, folder=folder)
        chosen = _variants(chosen)
    results, is_interrupted = _run_all(
        chosen, modules=modules, examples=examples, seed=seed, time_limit=time_limit, jobs=jobs,
        is_shrunk=not is_of_variants,
    )  # fmt: skip
    if is_of_variants:
        return _tell_of_variants(results, console, is_interrupted)
    if json_file != "-":
        console.print(*overview(results))
        if tables is not None:
            console.print(*paper_tables(tables, results))
        for result in results:
            _explain(result, folder, as_case)
    if is_interrupted:
        raise KeyboardInterrupt
    if json_file is not None:
        _write(json_file, results, examples, seed)
    return int(any(result.outcome is RunOutcome.FAILED for result in results))


def _console():
    from rich.console import Console

    return Console(highlight=False)


def _check_alone(**given: str | None) -> None:
    """What is written of claims is not written of variants."""
    options = {"paper": "--table", "json_file": "--json", "folder": "--cases"}
    if wrong := [options[name] for name, value in given.items() if value is not None]:
        raise InputError(f"{wrong[0]} is about claims that hold: leave it out with --variants")


def _variants(chosen: Sequence[Claim]) -> Sequence[Claim]:
    from verify.claims.power import variants_of

    found = variants_of(chosen)
    if not found:
        raise InputError("none of these claims has variants: leave --variants out, or give a claim `variants`")
    return found


def _tell_of_variants(results: Sequence[Run], console: Console, is_interrupted: bool) -> int:
    """The table; 1 where a variant survives."""
    from verify.claims.power import is_survivor
    from verify.claims.tables import variant_table

    console.print(variant_table(results))
    if is_interrupted:
        raise KeyboardInterrupt
    surviving = [result.claim.id for result in results if is_survivor(result)]
    if surviving:
        click.echo(f"not refuted, so these instances show little of the claim: {', '.join(surviving)}")
    return int(bool(surviving))


def _run_all(chosen: Sequence[Claim], **options: Any) -> tuple[list[Run], bool]:
    """What came of those claims that were done, in the given order, and whether Ctrl-C came before all were."""
    from verify.claims import run_all

    done: dict[str, Run] = {}
    is_interrupted = False
    with shown_claims(len(chosen)) as show:
        runs = run_all(chosen, watch=lambda running: show(len(done), running), **options)
        try:
            with closing(runs):
                for result in runs:
                    done[result.claim.id] = result
        except KeyboardInterrupt:
            is_interrupted = True
    return [done[claim.id] for claim in chosen if claim.id in done], is_interrupted


def _explain(result: Run, folder: str | None, as_case: object) -> None:
    """Faults, and the shrunk counterexample as a case file."""
    from verify.claims import write_case

    claim = result.claim
    for fault in result.faults:
        click.echo(f"\n{claim.id}: {fault}")
    found = result.counterexample
    if found is None or not callable(as_case):
        return
    comment = f"Refutes {claim.id}: {found.reason}."
    click.echo(f"\n{claim.id} is false here: {found.reason}\n")
    click.echo(as_case(found.instance, comment=comment, source=f"isoptimal claims {claim.id}"), nl=False)
    if folder is not None:
        file = write_case(found.instance, folder, claim.id, comment=comment, source=f"isoptimal claims {claim.id}")
        click.echo(
            f"\nwritten to {file}; isoptimal regress DIR --add {file} decides it and keeps it in a folder of cases"
        )


def _write(file: str, results: Sequence[Run], examples: int, seed: int) -> None:
    from verify.claims.tables import as_json

    text = json.dumps(as_json(results, examples=examples, seed=seed), indent=2, ensure_ascii=False) + "\n"
    if file == "-":
        click.echo(text, nl=False)
        return
    try:
        write_text(file, text)
    except OSError as error:
        raise InputError(f"{file} cannot be written ({error.strerror})") from error
