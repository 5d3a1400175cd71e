"""`isoptimal widths`: how many neurons it takes to fit the data, and the best objective at each width."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verify.checker.errors import InputError
from verify.cli.failures import INTERRUPTED, check_solvers_are_ours, debug_option
from verify.cli.labels import two_classes
from verify.cli.losses import not_for_losses
from verify.cli.numbers import NumberType
from verify.cli.places import check_file, check_folder_of_folders, check_picture
from verify.cli.progress import shown_widths
from verify.deciders.finding import Verdict
from verify.files.writing import write_text
from verify.numbers.counts import count
from verify.numbers.decimals import allowed, at_least, at_most, enclosure, value
from verify.problem.phrases import has_infimum_0

if TYPE_CHECKING:
    from verify.widths import WidthCurve, WidthPoint

__all__ = ["widths_command"]


@click.command(
    "widths",
    short_help="How many neurons does it take: fits, and the best objective, at each width.",
    epilog="""\b
Examples:
  isoptimal widths data.npz
  isoptimal widths data.csv --up-to 4 --bias none --certificates proofs --plot widths.png
  isoptimal widths data.csv --output-weights 1,-1,1,-1
""",
)
@click.argument("data", metavar="DATA")
@click.option(
    "--up-to", type=click.IntRange(min=1), metavar="K",
    help="The widest one; by default what is enough, at most 8, or as many as --output-weights has.",
)  # fmt: skip
@click.option("--goal", type=click.Choice(["max-margin", "min-norm"]), help="By default what the targets suggest.")
@click.option(
    "--bias", type=click.Choice(["none", "penalised", "free"]), default="penalised", show_default=True,
    help="Whether neurons have a bias, and whether it counts in the norm.",
)  # fmt: skip
@click.option("--slope", metavar="A", default="0", help="Slope of the activation on the negative side, 0 ReLU.")
@click.option(
    "--output-weights", metavar="V,V,...",
    help="Only the hidden layer is trained: the first k of these are the output weights at width k.",
)  # fmt: skip
@click.option(
    "--tol", type=NumberType(), default="1e-6", show_default=True, help="Relative gap of the best objectives."
)
@click.option(
    "--time-limit", type=NumberType(is_positive=True), metavar="SECONDS",
    help="Stop about then, with what is proved so far; Ctrl-C ends the width at hand. Without it: about 20 "
    "seconds of an idle machine for each width.",
)  # fmt: skip
@click.option("--target", metavar="NAME", help="The target column of a CSV file; by default the last one.")
@click.option("--classes", metavar="NEGATIVE,POSITIVE", help="The two labels in the data that stand for -1 and 1.")
@click.option("--standardise", metavar="FILE", help="What puts DATA into other coordinates, as for isoptimal audit.")
@click.option(
    "--certificates", "folder", metavar="DIR",
    help="Write what proves each row into DIR/width-1 and so on, for python -m verify.checker --bare.",
)  # fmt: skip
@click.option("--plot", metavar="FILE", help="Draw the best objective over the width: .png, .pdf or .svg.")
@click.option("--json", "json_path", metavar="OUT", help="Write the rows as JSON; - for standard output.")
@not_for_losses
@debug_option
def widths_command(
    data: str,
    up_to: int | None,
    goal: str | None,
    bias: str,
    slope: str,
    output_weights: str | None,
    tol: Fraction,
    time_limit: Fraction | None,
    target: str | None,
    classes: str | None,
    standardise: str | None,
    folder: str | None,
    plot: str | None,
    json_path: str | None,
) -> int:
    """Say for 1, 2, ... neurons whether a network of that width fits DATA, and what its least objective is.

    Each end of each row has a certificate: a network, a bound of the width, or that no network of it fits.
    """
    check_solvers_are_ours()
    from verify.numbers.floats import to_float
    from verify.widths import width_curve

    if folder is not None:
        check_folder_of_folders(folder)
    if plot is not None:
        check_file(plot, [data], None)
        check_picture(plot)
    if json_path is not None and json_path != "-":
        check_file(json_path, [data], None)
        if plot is not None and Path(json_path).resolve() == Path(plot).resolve():
            raise InputError(f"{json_path} is to be written twice: give every file a name of its own")
    with shown_widths() as progress:
        curve = width_curve(
            data,
            up_to=up_to,
            goal=goal,
            bias=bias,
            slope=slope,
            output_weights=None if output_weights is None else [v.strip() for v in output_weights.split(",")],
            tol=tol,
            time_limit=None if time_limit is None else to_float(time_limit),
            target=target,
            classes=two_classes(classes),
            standardise=standardise,
            progress=progress,
        )
    if json_path == "-":
        click.echo(json.dumps(curve.to_json(), indent=2))
    else:
        _print_table(curve)
    if json_path not in (None, "-"):
        write_text(json_path, json.dumps(curve.to_json(), indent=2, ensure_ascii=False) + "\n")
        click.echo(f"written: {json_path}")
    for line in _saved(curve, folder, plot):
        click.echo(line, err=json_path == "-")
    if curve.is_interrupted:
        click.echo("isoptimal: interrupted; the rows are what was proved so far", err=True)
    return INTERRUPTED if curve.is_interrupted else 0


def _saved(curve: WidthCurve, folder: str | None, plot: str | None) -> Iterator[str]:
    """Write the certificates and the picture, where they are wanted; a line for each."""
    if folder is not None:
        yield from (f"written: {place}" for place in curve.save(folder))
    if plot is not None:
        curve.plot(plot)
        yield f"written: {plot}"


def _print_table(curve: WidthCurve) -> None:
    """The rows, and whether the best of any width is among them."""
    for note in curve.notes:
        click.echo(f"note: {note}")
    click.echo(f"{'neurons':>7}  {'fits':<10}  {'best objective':<32}  proved by")
    for point in curve:
        click.echo(f"{point.width:>7}  {_fits(point):<10}  {_best(point):<32}  {_by(point)}")
    click.echo(_ending(curve))


def _fits(point: WidthPoint) -> str:
    return {Verdict.PROVED: "yes", Verdict.REFUTED: "no", Verdict.UNDECIDED: "not known"}[point.fits]


def _best(point: WidthPoint) -> str:
    """Both ends, rounded outwards."""
    if point.fits is Verdict.REFUTED:
        return "none"
    if point.upper is not None and point.upper == point.lower:
        return value(point.upper)
    if point.upper == 0:
        return "0"
    if has_infimum_0(point.problem):
        return "as near to 0 as asked"
    if point.lower and point.upper is not None:
        near = point.upper < 2 * point.lower
        return " … ".join(
            enclosure(point.lower, point.upper) if near else (at_least(point.lower), at_most(point.upper))
        )
    if point.upper is not None:
        return f"at most {at_most(point.upper)}"
    return f"at least {at_least(point.lower)}" if point.lower else "not known"


def _by(point: WidthPoint) -> str:
    """The kinds of the certificates, and how far a search came that did not end."""
    from solvers.instance import SearchStatus
    from verify.auditing.endings import why_ended

    kinds = ", ".join(proof.KIND for proof in point.certificates) or "nothing"
    if point.status in (SearchStatus.OPTIMAL, SearchStatus.INFEASIBLE):
        return kinds
    return f"{kinds}; {why_ended(point.status, point.nodes, point.left)}"


def _ending(curve: WidthCurve) -> str:
    """Whether the best of any width is reached with the widths of the rows, as far as that is proved."""
    if curve.output_weights is not None:
        return _ending_of_given(curve)
    if curve.any_width is None:
        return "no network of any width fits the data"
    if has_infimum_0(curve.points[0].problem):
        return "no network of any width is the best: a free bias gives constants, as near to 0 as asked, and none has 0"
    lower, upper = curve.any_width.ends
    if curve.enough is not None:
        is_exact = lower is not None and lower == curve.points[curve.enough - 1].upper
        within = "" if is_exact else f", within a factor 1 + {allowed(curve.tolerance)}"
        fewer = "" if curve.is_fewest else "; whether fewer are enough is not known"
        return f"the best of any width is reached with {count(curve.enough, 'neuron')}{within}{fewer}"
    least = [f"networks of any width have at least {at_least(lower)}"] if lower else []
    known = [count(w.width, "neuron") for w in curve.any_width.witnesses[:1]]
    most = [f"one of {width} has at most {at_most(upper)}" for width in known if upper is not None]
    ends = ", and ".join(least + most)
    if curve.reached is Verdict.REFUTED:
        return f"the best of any width is not reached with these{'; ' if ends else ''}{ends}"
    return f"it is not known whether the best of any width is reached with these{'; ' if ends else ''}{ends}"


def _ending_of_given(curve: WidthCurve) -> str:
    """How many of the given output weights, from the first one on, it takes to fit: where k do, k + 1 do."""
    fitting = next((point.width for point in curve if point.fits is Verdict.PROVED), None)
    if fitting is None:
        first = _first(len(curve.points), curve.output_weights or ())
        if curve.points[-1].fits is Verdict.REFUTED:
            return f"no network with {first} fits the data"
        return f"it is not known whether a network with {first} fits the data"
    first = f"the first {fitting} of these output weights"
    if fitting == 1:
        return "it takes the first of these output weights to fit the data"
    if curve.points[fitting - 2].fits is Verdict.REFUTED:
        return f"it takes {first} to fit the data"
    return f"{first} are enough to fit the data; it is not known whether fewer are"


def _first(width: int, given: tuple[Fraction, ...]) -> str:
    """How many of the output weights that are given, from the first one on."""
    return "these output weights" if width == len(given) else f"the first {width} of these output weights"
