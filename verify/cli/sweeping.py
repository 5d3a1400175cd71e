"""`isoptimal sweep`: many networks, audited side by side into a folder from which a sweep goes on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verify.checker.errors import InputError
from verify.checker.goals import Goal
from verify.cli.auditing import INTERRUPTED, audit_command
from verify.cli.commanded import is_said
from verify.cli.failures import check_solvers_are_ours, debug_option, use_one_thread
from verify.cli.labels import two_classes
from verify.cli.losses import not_for_losses
from verify.cli.places import check_file, check_picture

if TYPE_CHECKING:
    from verify.sweeping import Sweep
    from verify.sweeping.pairs import Pair

__all__ = ["sweep_command"]

OF_AUDIT = (
    "goal", "bias", "tol", "stationary_tol", "near", "fit_tol", "time_limit", "symbolic",
    "slope", "output_bias", "two_logits", "fold", "trust_pickle", "target", "classes",
)  # fmt: skip

_KNOWING = (".skops", ".joblib", ".pkl", ".pickle")
"""Files of networks that may know the classes of their data."""


_OWN = {
    "goal": click.Option(
        ["--goal"],
        type=click.Choice([goal.value for goal in Goal]),
        help="What the networks are to do with the least norm. By default what the targets suggest.",
    ),
}
"""Options of which a sweep knows less than an audit, as it asks no loss with weight decay."""


def _options_of_audit(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `isoptimal audit` that are asked of each network."""
    known = {option.name: option for option in audit_command.params}
    options = [_OWN.get(name, known[name]) for name in OF_AUDIT]
    command.__dict__.setdefault("__click_params__", []).extend(reversed(options))
    return command


@click.command(
    "sweep",
    short_help="Audit many networks side by side, into a folder that can be taken up again.",
    epilog="""\b
Examples:
  isoptimal sweep runs/*.npz data.csv --out results --jobs 4 --time-limit 60
  isoptimal sweep --pairs pairs.csv --out results --export table.csv --plot excess.png
  isoptimal sweep --out results
""",
)
@click.argument("sources", metavar="[NETWORKS]... [DATA]", nargs=-1)
@click.option("--out", "folder", metavar="FOLDER", required=True, help="The folder of the sweep, made when it is new.")
@click.option(
    "--pairs",
    "listing",
    metavar="FILE",
    help="Take networks and their data from a CSV file with the columns network, data and, if you like, name; or from "
    "a JSON list of such objects. Paths are taken from the current folder.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Audits that run at a time; by default the number of cores.")
@click.option("--retry-failed", is_flag=True, help="Try again the networks that have no audit, because theirs failed.")
@click.option("--export", metavar="FILE", help="Write the table to a file that ends in .csv or .parquet.")
@click.option("--plot", metavar="FILE", help="Draw the excess of each network: .png, .pdf or .svg.")
@_options_of_audit
@not_for_losses
@debug_option
def sweep_command(
    sources: tuple[str, ...],
    folder: str,
    listing: str | None,
    jobs: int | None,
    retry_failed: bool,
    export: str | None,
    plot: str | None,
    **options: Any,
) -> int:
    """Audit NETWORKS on DATA side by side, with the certificates of each, and print a table of them.

    The last file is the DATA, the others are networks. What the folder holds already is not done again: killed, or
    stopped by Ctrl-C, the same command goes on where it was. With --out alone the table is printed as it is so far.

    \b
    FOLDER/sweep.sqlite        one row for each audit
    FOLDER/certificates/...    a folder for each, for isoptimal check

    Exit status: 0 each network has an audit, whatever the verdicts; 1 some have none, and the table says why; 2 bad
    input; 70 an internal error; 130 interrupted.
    """  # noqa: D301 (the backspace keeps the lines apart)
    use_one_thread()
    check_solvers_are_ours()
    options["classes"] = two_classes(options["classes"])
    _check_places(folder, sources, listing, export, plot)
    from verify.sweeping import Sweep, sweep
    from verify.sweeping.records import SweepStatus

    if not sources and listing is None:
        _check_alone()
        return int(bool(_shown(Sweep.of(folder), export, plot).failed))
    pairs = _pairs(sources, listing, options)
    try:
        swept = sweep(pairs, out=folder, jobs=jobs, retry_failed=retry_failed, progress=True, **options)
        _shown(swept, export, plot)
        is_interrupted = swept.status is SweepStatus.INTERRUPTED
    except KeyboardInterrupt:  # before the first audit, after the last one, or for a second time
        is_interrupted, swept = True, None
    if is_interrupted or swept is None:
        click.echo("isoptimal: interrupted; what is done is kept, and the same command goes on from there", err=True)
        return INTERRUPTED
    return int(bool(swept.failed))


def _shown(swept: Sweep, export: str | None, plot: str | None) -> Sweep:
    """The sweep, printed and written to where it was asked for."""
    _print(swept)
    if export is not None:
        (swept.to_csv if export.lower().endswith(".csv") else swept.to_parquet)(export)
    if plot is not None:
        swept.plot(plot)
    return swept


def _check_places(
    folder: str, sources: tuple[str, ...], listing: str | None, export: str | None, plot: str | None
) -> None:
    """Refuse, before the work, what could not be written after it."""
    if listing is not None and sources:
        raise InputError(f"--pairs {listing} names networks and data: leave {sources[0]} out")
    inputs = [*sources, *([] if listing is None else [listing])]
    if export is not None:
        kind = Path(export).suffix.lower()
        if kind not in (".csv", ".parquet"):
            raise InputError(f"{export} does not say what kind of table it is: end its name in .csv or .parquet")
        if kind == ".parquet":
            _check_pyarrow(export)
        check_file(export, inputs, folder)
    if plot is not None:
        check_file(plot, inputs, folder)
        check_picture(plot)


def _check_alone() -> None:
    """Refuse options that nothing would come of, where no networks are given."""
    for option in click.get_current_context().command.params:
        if is_said(option.name or "") and option.name not in ("folder", "export", "plot"):
            raise InputError(f"{option.opts[-1]} is given without networks: give NETWORKS and DATA, or --pairs FILE")


def _check_pyarrow(export: str) -> None:
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        raise InputError(f"{export}: Parquet needs pyarrow: pip install pyarrow, or give a name that ends in .csv")


def _pairs(sources: tuple[str, ...], listing: str | None, options: dict[str, Any]) -> list[Pair]:
    from verify.readers import read_data
    from verify.readers.labels import TextLabelsError
    from verify.readers.table import holds_networks_only
    from verify.sweeping import Pair, listed_pairs

    if listing is not None:
        return listed_pairs(listing)
    if len(sources) == 1:
        raise InputError(f"{sources[0]} is one file: give NETWORKS and, as the last one, their DATA")
    *networks, data = sources
    if holds_networks_only(Path(data).suffix.lower()):
        raise InputError(f"{data} is the last file, and of a network by its name: give the DATA after the NETWORKS")
    try:
        read_data(data, target=options["target"], as_stored=True, classes=options["classes"])
    except TextLabelsError:
        if not any(Path(network).suffix.lower() in _KNOWING for network in networks):
            raise
    return [Pair(network, data) for network in networks]


def _print(swept: Sweep) -> None:
    from rich.console import Console

    from verify.sweeping.table import render

    console = Console(highlight=False, emoji=False)
    if console.is_terminal:
        console.width = min(console.width, 110)
    elif "COLUMNS" not in os.environ:
        console.width = 100
    console.print(render(swept, ascii_only=console.options.ascii_only))
