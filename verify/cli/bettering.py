"""`isoptimal better`: the better network that an audit found, out of its folder of certificates into a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import click

from verify.checker.certificate import OTHER_DEPTH
from verify.checker.codec import load_json
from verify.checker.decision import Decision
from verify.checker.depth import power_of
from verify.checker.derived import WITNESSES
from verify.checker.errors import InputError
from verify.checker.exact import root_ends
from verify.checker.layer_facts import layer_file
from verify.checker.questions import Verdict
from verify.cli.expected import expected
from verify.cli.failures import debug_option
from verify.cli.folders import decided
from verify.cli.places import check_file
from verify.numbers.counts import count
from verify.numbers.decimals import about, at_least, small
from verify.problem.members import has_margin, margins
from verify.problem.network import Network
from verify.problem.phrases import lower_by, lower_by_root, neurons_of
from verify.problem.problem import Problem, objective, outputs, power_of_objective
from verify.surroundings import Surroundings

__all__ = ["better_command"]


@click.command(
    "better",
    short_help="Write the better network that an audit found.",
    epilog="""\b
Examples:
  isoptimal audit net.npz data.npz --certificates proofs
  isoptimal better proofs --out better.npz
  isoptimal better proofs --layer 0 --out better.npz
""",
)
@click.argument("folder", metavar="DIR")
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    help="Where to write it: .json holds it exactly; .npz, .pt, .safetensors, .onnx and .skops hold doubles.",
)
@click.option(
    "--own-width", is_flag=True, help="The better network of at most as many neurons, of each mask, as the audited one."
)
@click.option(
    "--layer",
    metavar="K",
    type=click.IntRange(min=0),
    help="The audited network with better parameters in the place of layer K alone, counted from 0, of an audit with "
    "--layers.",
)
@debug_option
def better_command(folder: str, out: str, own_width: bool, layer: int | None) -> int:
    """Write the better network from DIR, which isoptimal audit --certificates DIR wrote.

    The folder is checked first, as by isoptimal check, and nothing is written when anything in it is refused. What is
    said of the network is exact; for a file that rounds, so is what is said of the rounded network.

    Exit status: 1 when the folder is refused, or holds no better network.
    """
    given = Path(folder)
    check_file(out, [str(given / name) for name in WITNESSES.values()], folder)
    found = decided(folder)
    if found.problem is None or not found.is_accepted:
        for line in (*found.lines, *([] if found.relaxed is None else found.relaxed.lines)):
            if not line.is_accepted:
                click.echo(f"{click.style('refused', fg='red')} {line.file}: {line.text}", err=True)
        click.echo(f"isoptimal: {folder} is refused, and no network is written", err=True)
        return 1
    own_width = own_width or not found.problem.asks_any_width
    file = given / WITNESSES["better_own_width" if own_width else "better"]
    if layer is not None:
        file = given / layer_file(layer, "better.network")
        if not file.is_file():
            click.echo(
                f"isoptimal: {folder} holds no network with a better layer {layer}{_why_no_layer(found, layer)}",
                err=True,
            )
            return 1
    if found.network is None or not file.is_file():
        is_wider = own_width and found.network is not None and (given / WITNESSES["better"]).is_file()
        has_classes = len(Problem.from_json(found.problem.to_json()).mask_classes) > 1
        other = "one with more neurons of some mask" if has_classes else "a wider one"
        wider = f"; without --own-width {other} is written" if is_wider else ""
        size = "as many neurons, of each mask, as" if has_classes else "the width of"
        no = "no better network" + (f" of at most {size} the audited one" if own_width else "")
        click.echo(f"isoptimal: {folder} holds {no}{_why_none(found, own_width)}{wider}", err=True)
        return 1
    said = _said(given)
    better = Network.from_json(load_json(file.read_text(encoding="utf-8"))).placed(_surroundings(said))
    problem = Problem.from_json(found.problem.to_json())
    held = better.save(out)
    click.echo(f"the folder {folder} was checked: {count(len(found.lines), 'certificate')} accepted")
    click.echo(f"the network of the audit: {_told(problem, Network.from_json(found.network.to_json()))}")
    click.echo(f"the better network: {_told(problem, better)}{_by_how_much(problem, found, better)}")
    click.echo(f"written: {out}, {_held(problem, better, held)}")
    for line in expected((str(note) for note in said.get("notes", ())), out, better.surroundings):
        click.echo(f"  {line}")
    if better.surroundings is not None:
        click.echo("  scalers, classes and columns are what audit.json says of them, which no certificate proves")
    return 0


def _why_no_layer(found: Decision, layer: int) -> str:
    """What is to be done about it, or what the folder says."""
    if found.network is not None and layer >= (many := len(found.network.architecture.layers)):
        return f": its network has {count(many, 'layer')}, counted from 0"
    if not (found.audit or {}).get("layers"):
        return ": audit it with --layers"
    return ", for what the audit says of its layers see isoptimal check"


def _said(folder: Path) -> dict[str, Any]:
    """What the audit said, words and hints too."""
    return json.loads((folder / "audit.json").read_text(encoding="utf-8"))


def _surroundings(said: Mapping[str, Any]) -> Surroundings | None:
    """What stood around the network of the audit, which no certificate speaks of."""
    known = said.get("diagnosis")
    around = cast("dict[str, object]", known).get("surroundings") if isinstance(known, dict) else None
    return None if around is None else Surroundings.from_json(around, "audit.json: diagnosis.surroundings")


def _why_none(found: Decision, own_width: bool) -> str:
    """What the folder proves instead: of the network given, or of one near it."""
    proved = {name: about for name, verdict, about in found.table if verdict == Verdict.PROVED.value}
    nothing = proved.get("infeasible", "")
    if nothing and (own_width or "any width" in nothing):
        return f": {nothing} the data"
    question, width = ("global_optimum", "its width") if own_width else ("global_any_width", "any width")
    about = proved.get(question, proved.get("global_any_width"))
    if about is None:
        return ": the audit found none"
    return f": a global optimum of {width} is what is proved of its network ({about})"


def _told(problem: Problem, network: Network) -> str:
    """Width and objective."""
    value = _objective(problem, network)
    size = neurons_of(network.architecture)
    return f"{size}, {'it does not fit' if value is None else f'objective {about(value)}'}"


def _objective(problem: Problem, network: Network) -> Fraction | None:
    """The objective, of other depths than 2 rounded; None where the network does not fit."""
    posed = _posed(problem, network)
    if not OTHER_DEPTH.holds(posed):
        return objective(posed, network)
    found = power_of_objective(posed, network)
    return None if found is None else root_ends(found[0] / found[1], power_of(posed))[0]


def _by_how_much(problem: Problem, found: Decision, better: Network) -> str:
    given = None if found.network is None else Network.from_json(found.network.to_json())
    if given is None:
        return ""
    if OTHER_DEPTH.holds(problem):
        theirs, mine = (power_of_objective(_posed(problem, network), network) for network in (better, given))
        ratio = None if theirs is None or mine is None else Fraction(theirs[0] * mine[1], theirs[1] * mine[0])
        lower = "" if ratio is None else lower_by_root(ratio, power_of(problem))
    else:
        theirs, mine = (objective(_posed(problem, network), network) for network in (better, given))
        lower = "" if not mine or theirs is None else lower_by(theirs, mine)
    return f", {lower}" if lower else ""


def _held(problem: Problem, better: Network, held: Network) -> str:
    """What the file holds, decided exactly."""
    if held == better:
        return "which holds it exactly"
    start = "which holds the doubles nearest to its weights"
    posed = _posed(problem, held)
    values = outputs(posed, held)
    value = _objective(problem, held)
    if has_margin(problem.goal):
        margin = min(margins(problem, values))
        if value is None or margin <= 0:
            return f"{start}: rounded so, a point is not classified correctly; a .json holds the exact network"
        return (
            f"{start}: rounded so, every point is on its side, the least margin is at least {at_least(margin)}, "
            f"and the objective {about(value)} (at margin 1)"
        )
    missed = max(abs(f - y) for f, y in zip(values, problem.targets, strict=True))
    if value is not None:
        return f"{start}: rounded so, it meets every target as asked, with the objective {about(value)}"
    beyond = Fraction(problem.fit_tolerance)
    asked, more = ("exactly", "") if not beyond else (f"within {about(beyond)}", " more")
    return (
        f"{start}: rounded so, it misses targets, which were to be met {asked}, by up to {small(missed - beyond)}"
        f"{more}; a .json holds the exact network"
    )


def _posed(problem: Problem, network: Network) -> Problem:
    """The same question about networks of that shape."""
    try:
        return problem.posed_on(problem.data, architecture=network.architecture)
    except InputError as error:
        raise InputError(f"the network does not answer the question of the folder: {error}") from error
