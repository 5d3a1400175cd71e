"""`isoptimal audit`: a network and its data in, a report and certificates out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from verify.checker.errors import InputError
from verify.checker.folder import relaxed_folder
from verify.checker.goals import Bias, Goal, Trained, has_bias
from verify.checker.objectives import Objective
from verify.cli.commanded import commanded, labels_of
from verify.cli.failures import check_solvers_are_ours, debug_option, quiet_solvers
from verify.cli.labels import two_classes
from verify.cli.losses import loss_options
from verify.cli.numbers import NumberType
from verify.cli.places import check_file, check_folder, check_page, check_picture
from verify.cli.printing import print_report, write_json, write_page
from verify.cli.reading import refused_unless
from verify.numbers.floats import to_float
from verify.problem.objectives import OUTPUT_BIASES, TRAINED

if TYPE_CHECKING:
    from verify.auditing.record import Audit
    from verify.auditing.trained_for import TrainedFor
    from verify.problem.network import Network
    from verify.problem.problem import Dataset

__all__ = ["audit_command"]

INTERRUPTED = 130


@click.command(
    "audit",
    short_help="Is this network optimal, and how far is it from the best?",
    epilog="""\b
Examples:
  isoptimal audit net.npz data.npz
  isoptimal audit net.npz data.csv --target label --certificates proofs --json audit.json
  isoptimal audit net.npz data.npz --certificates proofs --html report.html
""",
)
@click.argument("network")
@click.argument("data", required=False)
@click.option(
    "--goal",
    type=click.Choice([*(goal.value for goal in Goal), TRAINED]),
    help="What the network is to do with the least norm: classify with margin 1, or meet every target; by default what "
    "the targets suggest. trained: the loss and the decay that an MLPClassifier or MLPRegressor was fitted with.",
)
@loss_options
@click.option(
    "--bias",
    type=click.Choice([bias.value for bias in Bias]),
    help="Whether hidden biases count in the norm. By default penalised (they do) when the network has biases.",
)
@click.option(
    "--trained",
    type=click.Choice([trained.value for trained in Trained]),
    help="Which weights are variables: both layers, by default, or the hidden one, with the output weights of the "
    "network as part of the question.",
)
@click.option(
    "--frozen",
    metavar="K",
    type=click.IntRange(min=0),
    help="The first K layers are not trained: what they give, exactly, takes the place of the data.",
)
@click.option("--slope", metavar="A", help="Slope of the activation on the negative side, 0 ReLU ... 1 linear.")
@click.option("--target", metavar="NAME", help="The target column of a CSV file; by default the last one.")
@click.option(
    "--classes",
    metavar="NEGATIVE,POSITIVE",
    help="The two labels in the data that stand for -1 and 1, when they are text or other numbers.",
)
@click.option(
    "--standardise",
    metavar="FILE",
    help="Put the data into the coordinates that the network saw, (x - mean) / scale, exactly: a fitted scaler "
    '(.skops, .pkl), the arrays mean and scale (.npz or .json), or "data": their own mean and standard deviation.',
)
@click.option(
    "--tol", type=NumberType(), default="1e-6", show_default=True, help="Relative gap that a global optimum may have."
)
@click.option(
    "--stationary-tol",
    type=NumberType(),
    help="How far the KKT conditions may be off. By default 1e-3, and 0 when all numbers are given exactly.",
)
@click.option(
    "--fit-tol",
    type=NumberType(),
    metavar="EPS",
    help="For min-norm: fit every target within this, rather than exactly. By default 0; what the rounding of the "
    "outputs explains, when floats miss no target by more than that.",
)
@click.option(
    "--output-bias",
    type=click.Choice(["refuse", "neuron", *OUTPUT_BIASES]),
    help="What to do with a bias on the output: keep it, counted in the norm if the hidden biases are (keep, which is "
    "the default of one that is not 0), counted (penalised), or not (free); turn it into one more hidden neuron; or "
    "refuse the network, the default with --trained hidden, --frozen and --symbolic. With --loss it has their decay or "
    "none.",
)
@refused_unless(
    "--two-logits",
    "difference",
    help="What to do with two outputs, one for each class: refuse, or read the second minus the first as the network "
    "(the default with --loss logistic).",
)
@click.option(
    "--fold",
    is_flag=True,
    help="Put layers that scale and shift, such as a batch normalisation in eval mode, into the weights beside them.",
)
@click.option(
    "--time-limit",
    type=NumberType(is_positive=True),
    metavar="SECONDS",
    help="Stop each audit about then, with the best bracket proved so far; a tenth of the time or more is for proofs. "
    "Ctrl-C does the same in isoptimal audit.",
)
@click.option(
    "--warm-start",
    metavar="DIR",
    help="Take up the search where an earlier audit of the same data stopped: a folder that --certificates wrote.",
)
@click.option("--symbolic", is_flag=True, help="Seek the best objective as a formula, such as 8/sqrt(17), with proofs.")
@click.option("--layers", is_flag=True, help="Ask each layer by itself too, the others as they are: is it optimal?")
@click.option("--plot", metavar="FILE", help="Draw the data, the network beside the best one: .png, .pdf or .svg.")
@click.option(
    "--html", "page", metavar="FILE", help="Write the report as one HTML page, with pictures; it loads nothing."
)
@click.option(
    "--trust-pickle",
    is_flag=True,
    help="Load networks from pickles (.pkl, .joblib, whole-module .pt), which run the code that is in them.",
)
@click.option("--json", "json_path", metavar="OUT", help="Write the audit as JSON; - for standard output.")
@click.option(
    "--certificates", "folder", metavar="DIR", help="Write all certificates into a folder, or replace those in it."
)
@click.option(
    "--require",
    type=click.Choice(["stationary", "local", "global"]),
    help="Exit with status 1 unless this is proved of the given network (global: among networks of the same width).",
)
@click.option(
    "--near",
    type=NumberType(),
    metavar="DISTANCE",
    help="How far a network may be from the given one, relative to its norm, that a proof may speak of instead. By "
    "default a verdict speaks of an exact KKT point within --stationary-tol, or of a repair that changes no neuron by "
    "more than that or 1e-3 of their size; an exact KKT point up to 0.1 away is told of beside it, and --require of an "
    "audit takes no proof about another network.",
)
@debug_option
def audit_command(
    network: str,
    data: str | None,
    goal: str | None,
    loss: str | None,
    decay: str | None,
    reduction: str | None,
    bias: str | None,
    trained: str | None,
    frozen: int | None,
    slope: str | None,
    target: str | None,
    classes: str | None,
    standardise: str | None,
    tol: Fraction,
    stationary_tol: Fraction | None,
    fit_tol: Fraction | None,
    output_bias: str | None,
    two_logits: str,
    fold: bool,
    time_limit: Fraction | None,
    warm_start: str | None,
    symbolic: bool,
    layers: bool,
    plot: str | None,
    page: str | None,
    trust_pickle: bool,
    json_path: str | None,
    folder: str | None,
    require: str | None,
    near: Fraction | None,
) -> int:
    """Ask five questions about a trained NETWORK and its DATA, and answer each with a proof.

    Does it fit the data? Is it stationary, a local optimum, a global one among networks of its width, and of any width?
    And how far is it above the best possible?

    \b
    NETWORK  .npz or .json with W (neurons, inputs), v (neurons,) and, if it has them, b, b2, slope;
             or a file of PyTorch (.pt), scikit-learn (.skops), Keras (.keras), .onnx or .safetensors
    DATA     .npz or .json with X (points, inputs), y (points,); or .csv with a line of column names

    A case file (of cases/) can be given alone, without DATA.
    """  # noqa: D301 (the backspace keeps the lines apart)
    check_solvers_are_ours()
    given = [path for path in (network, data) if path is not None]
    if json_path not in (None, "-"):
        check_file(json_path, given, folder)
    if folder is not None:
        check_folder(folder)
        check_folder(str(relaxed_folder(Path(folder))))
    if plot is not None:
        check_file(plot, given, None)
        check_picture(plot)
    if page is not None:
        check_page(page, given, folder, [path for path in (plot, json_path) if path is not None])
    if data is None:
        options = {"--goal": goal, "--bias": bias, "--slope": slope, "--target": target, "--classes": classes}
        options |= {"--trained": trained, "--loss": loss, "--decay": decay, "--reduction": reduction}
        numbers = {"--frozen": frozen, "--fit-tol": fit_tol}
        options |= {name: None if number is None else str(number) for name, number in numbers.items()}
        options["--standardise"] = standardise
        task = _case(network, options)
    else:
        from verify.auditing.trained_for import TrainedFor
        from verify.cli.several_outputs import several_status
        from verify.readers.loading import read_once

        click.get_current_context().with_resource(read_once())
        if (status := several_status(click.get_current_context().params)) is not None:
            return status
        wanted = TrainedFor.of(
            network, goal=goal, loss=loss, decay=decay, reduction=reduction, bias=bias, output_bias=output_bias,
            two_logits=two_logits, trust_pickle=trust_pickle,
            trained=trained, is_plain=not symbolic and not frozen,
        )  # fmt: skip
        options: dict[str, Any] = {"slope": slope, "fold": fold, "trust_pickle": trust_pickle, **wanted.reading}
        options["frozen"] = frozen or 0
        task = _task(network, data, wanted, target, options, classes=two_classes(classes), standardise=standardise)
        task = replace(task, fit_tol=fit_tol, trained=trained or Trained.BOTH.value)
    result = _audited(task, tol, stationary_tol, time_limit, warm_start, near, symbolic=symbolic, layers=layers)
    words = None
    if data is not None:
        labels = labels_of(task.classes, task.notes)
        words = commanded(network, data, labels, source=network, notes=task.notes, classes=task.classes)
    _deliver(result, json_path, folder, page, words)
    if plot is not None:
        result.plot(plot)
    return _status(result, require, near or Fraction(0))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _AuditTask:
    place: str
    network: Network
    data: Dataset
    goal: Goal | Objective | str | None
    bias: str | None
    trained: str = Trained.BOTH.value
    fit_tol: Fraction | None = None
    notes: tuple[str, ...] = ()
    classes: tuple[object, ...] | None = None
    output_bias: Bias = Bias.NONE


def _task(
    network: str,
    data: str,
    wanted: TrainedFor,
    target: str | None,
    options: Mapping[str, Any],
    *,
    classes: list[str] | None,
    standardise: str | None,
) -> _AuditTask:
    from verify.auditing.frozen import frozen_at
    from verify.readers.given import given
    from verify.readers.reading import MissingOptionsError, Options

    try:
        brought = given(
            network, data, options=Options(**options), target=target, as_stored=wanted.is_regression,
            is_regression=wanted.is_regression, classes=classes, standardise=standardise,
        )  # fmt: skip
    except MissingOptionsError as error:
        raise error.with_command(click.get_current_context().obj or ("isoptimal", "audit", network, data)) from None
    asked = wanted.on(brought := wanted.settled(frozen_at(brought, options["frozen"])))
    return _AuditTask(
        place=f"{network} with {data}",
        network=brought.network,
        data=brought.data,
        goal=asked.goal,
        bias=None if asked.bias is None else str(asked.bias),
        notes=(*brought.notes, *asked.notes),
        classes=brought.classes,
        output_bias=asked.output_bias,
    )


def _case(path: str, options: Mapping[str, str | None]) -> _AuditTask:
    from verify.readers import read_case

    file = Path(path)
    if file.suffix.lower() != ".json" or (file.is_file() and b'"case-1"' not in file.read_bytes()):
        raise InputError(f"{path} is no case file, and comes without data: give isoptimal audit NETWORK DATA")
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} is given, but the case file {path} holds its own: leave {name} out")
    case = read_case(path)
    return _AuditTask(
        place=path,
        network=case.network,
        data=case.problem.data,
        goal=case.problem.goal,
        bias=case.problem.bias.value,
        trained=case.problem.trained.value,
        fit_tol=case.problem.fit_tolerance or None,
        output_bias=case.problem.output_bias,
    )


def _audited(
    task: _AuditTask,
    tol: Fraction,
    stationary_tol: Fraction | None,
    time_limit: Fraction | None,
    warm_start: str | None,
    near: Fraction | None,
    *,
    symbolic: bool,
    layers: bool,
) -> Audit:
    from verify.auditing.asking_several import of_one_output
    from verify.auditing.loop import audit
    from verify.cli.progress import shown_progress

    with quiet_solvers(), shown_progress() as progress:
        try:
            return of_one_output(
                audit(
                    task.network,
                    task.data,
                    goal=task.goal,
                    bias=task.bias,
                    trained=task.trained,
                    tol=tol,
                    stationary_tol=stationary_tol,
                    fit_tol=task.fit_tol,
                    output_bias=task.output_bias.value if has_bias(task.output_bias) else "refuse",
                    near=near,
                    time_limit=None if time_limit is None else to_float(time_limit),
                    progress=progress,
                    warm_start=warm_start,
                    symbolic=symbolic,
                    layers=layers,
                    notes=task.notes,
                )
            )
        except InputError as error:
            raise InputError(f"{task.place}: {error}") from error


def _deliver(
    result: Audit, json_path: str | None, folder: str | None, page: str | None, given: Mapping[str, str] | None
) -> None:
    """Write the files, then the report; the report also when a file cannot be written."""
    paths: dict[str, str] | None = None
    try:
        if folder is not None:
            paths = result.save(folder)
        if json_path is not None:
            write_json(result.to_json(paths), json_path)
        if page is not None:
            write_page(result, page, folder, given)
    finally:
        print_report(result, folder if paths is not None else None, to_stderr=json_path == "-", given=given)


def _status(result: Audit, require: str | None, near: Fraction) -> int:
    from verify.deciders.finding import Ending, shortfall

    if result.ending is Ending.INTERRUPTED:
        return INTERRUPTED
    if require is None:
        return 0
    finding, within = {
        "stationary": (result.stationary, result.stationary_tolerance),
        "local": (result.local_optimum, Fraction(0)),
        "global": (result.global_optimum, result.tolerance),
    }[require]
    lack = shortfall(result.problem, result.network, finding, within, near, "--near ")
    if lack is None:
        return 0
    click.echo(f"isoptimal: --require {require} is not met: {lack}", err=True)
    return 1
