"""`isoptimal train`: data in, a trained network out, and if asked its audit."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from verify.checker.errors import InputError
from verify.cli.commanded import commanded, is_said, labels_of, options_of
from verify.cli.expected import expected
from verify.cli.failures import check_solvers_are_ours, debug_option, quiet_solvers, use_one_thread
from verify.cli.labels import two_classes
from verify.cli.numbers import NumberType
from verify.cli.places import check_file, check_folder, check_page, check_picture
from verify.cli.printing import print_report, write_page
from verify.cli.progress import shown_training
from verify.cli.reading import refused_unless
from verify.numbers.floats import to_float

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from verify.training import TrainingRun

__all__ = ["train_command"]

INTERRUPTED = 130


@final
class _LossName(click.ParamType):
    """A choice among the losses there are, which are read when they are asked for: until then no solver is imported."""

    name = "choice"

    @property
    def choices(self) -> tuple[str, ...]:
        """Their names."""
        check_solvers_are_ours()
        from solvers.training.loss_names import LOSSES

        return LOSSES

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:  # noqa: ARG002
        """Such as [one|two]."""
        return f"[{'|'.join(self.choices)}]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name."""
        return click.Choice(self.choices).convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that begin like this."""
        return click.Choice(self.choices).shell_complete(ctx, param, incomplete)


@final
class _Slope(click.ParamType):
    """A slope: a decimal is the double nearest to it, as in files of data; 1/3 is a third."""

    name = "slope"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """The slope in `value`."""
        number = NumberType().convert(value, param, ctx)
        return number if "/" in str(value) else Fraction(to_float(number))


@click.command(
    "train",
    short_help="Train a network until it is nearly a KKT point, and audit it.",
    epilog="""\b
Examples:
  isoptimal train data.npz --width 50 --out net.npz --audit
  isoptimal train data.csv --width 20 --bias --init balanced --scale 1e-4 --seed 7 --out net.npz --plot way.png
""",
)
@click.argument("data")
@click.option("--width", type=int, help="The number of hidden neurons.")
@click.option(
    "--out", required=True, metavar="FILE", help="Where to write the network: .npz, .pt, .safetensors, .onnx, ..."
)
@click.option("--start", metavar="NETWORK", help="A network to start from, in place of the options that make one.")
@refused_unless(
    "--output-bias",
    "neuron",
    help="What to do with a bias on the output of --start: refuse it, or turn it into one more hidden neuron.",
)
@refused_unless(
    "--two-logits",
    "difference",
    help="What to do when --start has two outputs: refuse it, or read the second minus the first.",
)
@click.option(
    "--trust-pickle",
    is_flag=True,
    help="Load --start and --standardise from pickles, which run the code that is in them.",
)
@click.option("--fold", is_flag=True, help="Fold normalisation layers of --start into the weights.")
@click.option(
    "--slope",
    type=_Slope(),
    default="0",
    show_default=True,
    metavar="A",
    help="Slope of the activation on the negative side: 0 ReLU, 1 linear; a decimal means the double nearest to it. "
    "With --start for weights that hold no activation, as audit reads it.",
)
@click.option("--bias", is_flag=True, help="Give the hidden neurons biases.")
@click.option(
    "--loss",
    type=_LossName(),
    help="By default logistic for targets -1 and 1, else squared.",
)
@click.option(
    "--method",
    type=click.Choice(["flow", "descent"]),
    default="flow",
    show_default=True,
    help="Gradient flow, integrated, or gradient descent step by step.",
)
@click.option(
    "--init",
    default="balanced-sigma",
    show_default=True,
    metavar="NAME",
    help="balanced-sigma, balanced, gaussian, span-positive or span-disjoint.",
)
@click.option(
    "--scale", type=NumberType(is_positive=True), default="0.1", show_default=True, help="Of the initial weights."
)
@click.option("--output-scale", type=NumberType(is_positive=True), help="Of the initial output weights, when Gaussian.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the initial weights.")
@click.option("--step", type=NumberType(is_positive=True), help="The step size of gradient descent.")
@click.option(
    "--schedule",
    type=click.Choice(["constant", "loss-scaled", "loss-adapted"]),
    help="Of gradient descent: the step as it is, divided by the loss (default, squared loss: constant), or this "
    "and adapted on the way.",
)
@click.option("--hidden-only", is_flag=True, help="Keep the output weights as they are initially.")
@click.option(
    "--stop-at",
    type=NumberType(is_positive=True),
    help="Stop where the KKT conditions hold up to this, or a KKT point lies this near, relative to the norm (default "
    "5e-4); for the squared loss, where the loss is this small.",
)
@click.option(
    "--polish",
    is_flag=True,
    help="Go on from there to a KKT point, by convex programs; it need not be the limit of training.",
)
@click.option(
    "--time-limit",
    type=NumberType(is_positive=True),
    metavar="SECONDS",
    help="Stop training then; Ctrl-C does the same. --audit takes its own time.",
)
@click.option(
    "--max-evaluations",
    type=click.IntRange(min=1),
    help="Stop after so many gradients (default 10,000,000; descent 1,000,000).",
)
@click.option("--record", metavar="FILE", help="An .npz file for the trajectory, kept up to date.")
@click.option("--resume", is_flag=True, help="Go on from the file of --record, if there is one.")
@click.option("--target", metavar="NAME", help="The target column of a CSV file; by default the last one.")
@click.option("--classes", metavar="NEGATIVE,POSITIVE", help="The two labels in the data that stand for -1 and 1.")
@click.option("--standardise", metavar="FILE", help="What puts DATA into the coordinates of the network, as for audit.")
@click.option("--plot", metavar="FILE", help="Draw the way: .png, .pdf or .svg.")
@click.option(
    "--audit",
    "is_audited",
    is_flag=True,
    help="Audit the network: is it optimal (after the squared loss: of min-norm)?",
)
@click.option(
    "--fit-tol",
    type=NumberType(),
    metavar="EPS",
    help="With --audit, after the squared loss: fit every target within this.",
)
@click.option("--certificates", "folder", metavar="DIR", help="With --audit: write every certificate into a folder.")
@click.option("--html", "page", metavar="FILE", help="With --audit: write its report as one HTML page.")
@debug_option
def train_command(
    data: str,
    out: str,
    target: str | None,
    classes: str | None,
    standardise: str | None,
    plot: str | None,
    is_audited: bool,
    fit_tol: Fraction | None,
    folder: str | None,
    page: str | None,
    record: str | None,
    resume: bool,
    output_bias: str,
    two_logits: str,
    fold: bool,
    trust_pickle: bool,
    **options: object,
) -> int:
    """Train a network of depth 2 on DATA by gradient flow until it is nearly a KKT point.

    DATA is read as by isoptimal audit, but for labels that are all 0. Classifiers are trained by the logistic or
    exponential loss towards the margin, regression by the squared loss. Nothing of this proves anything; --audit does.

    Exit status: 0 also when a limit was reached first; 1 when training failed; 130 interrupted. The network reached is
    written in any case.
    """
    use_one_thread()
    check_solvers_are_ours()
    start = options["start"]
    _check_places([data, *([start] if isinstance(start, str) else [])], out, plot, record)
    _check_options(record, folder, page, fit_tol, is_audited=is_audited, resume=resume)
    if page is not None:
        check_page(page, [data], folder, [path for path in (out, plot, record) if path is not None])
    from solvers.training.losses import LOSSES, rule_of
    from solvers.training.trajectory import TrainingStatus
    from verify.problem.network import Architecture
    from verify.readers import read_data_with_notes
    from verify.readers.given import given as both
    from verify.readers.reading import MissingOptionsError, Options
    from verify.training import check_savable, train

    reading: dict[str, Any] = {"target": target, "classes": two_classes(classes), "standardise": standardise}
    reading["as_stored"] = options["loss"] in [name for name in LOSSES if not rule_of(name).is_for_margins]
    start_notes: tuple[str, ...] = ()
    if start is None:
        check_savable(Architecture.two_layer(1, 1, slope=options["slope"]), out)
        points = read_data_with_notes(data, trust_pickle=trust_pickle, **reading)
    else:
        _check_start()
        own_slope = options["slope"] if is_said("slope") else None
        allowed = Options(
            slope=own_slope, output_bias=output_bias, two_logits=two_logits, fold=fold, trust_pickle=trust_pickle
        )
        try:
            points = both(start, data, options=allowed, **reading)
        except MissingOptionsError as error:
            raise error.with_command(click.get_current_context().obj or ("isoptimal", "train", data)) from error
        options["start"], start_notes = points.network, points.network.notes
        check_savable(points.network.architecture, out)
    given = {
        name: to_float(value) if isinstance(value, Fraction) and name != "slope" else value
        for name, value in options.items()
    }
    with shown_training() as progress, quiet_solvers():
        run = train(points.data, record=record, resume=resume, progress=progress, **given)  # type: ignore[arg-type]
    run.save(out)
    written = {"network": out, "trajectory": record, "picture": plot}
    if plot is not None:
        run.plot(plot)
    for note in points.notes:
        if note not in start_notes:  # those the run tells
            click.echo(f"· {note}")
    click.echo(str(run))
    click.echo(f"  written: {', '.join(f'the {name} {path}' for name, path in written.items() if path)}")
    scaler = standardise or (str(start) if start is not None else None)
    for line in expected(points.notes, out, run.network.surroundings, scaler):
        click.echo(f"  {line}")
    statuses = {TrainingStatus.FAILED: ("failed", 1), TrainingStatus.INTERRUPTED: ("was interrupted", INTERRUPTED)}
    ended, exit_status = statuses.get(run.status, ("", 0))
    if is_audited and ended:
        click.echo(f"  not audited, because training {ended}")
    elif is_audited:
        click.echo()
        labels = labels_of(getattr(points, "classes", None) or reading["classes"], points.notes)
        is_of_numbers = not rule_of(run.loss).is_for_margins
        goal = ["--goal min-norm"] if is_of_numbers and set(run.data.targets) <= {-1, 0, 1} else []
        trained = ["--trained hidden"] if options["hidden_only"] else []
        begun = start if isinstance(start, str) else None
        known = () if begun is None else options_of(out, run.network.surroundings, begun)
        read = {"source": begun, "notes": points.notes, "classes": getattr(points, "classes", None)}
        _audit(run, folder, page, fit_tol, commanded(out, data, labels, *goal, *trained, known=known, **read))
    return exit_status


def _check_start() -> None:
    """Refuse what a network to start from already says, rather than ignore it."""
    said = [name for name in ("bias", "init", "scale", "output_scale", "seed") if is_said(name)]
    if said:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in said)
        is_for, them = ("is for", "it") if len(said) == 1 else ("are for", "them")
        raise InputError(
            f"{names} {is_for} a network that is made, not for one that is given by --start: leave {them} out"
        )


def _check_places(inputs: list[str], out: str, plot: str | None, record: str | None) -> None:
    written: set[Path] = set()
    for path in (out, plot, record):
        if path is not None:
            check_file(path, inputs, None)
            if Path(path).resolve() in written:
                raise InputError(f"{path} is to be written twice: give every file a name of its own")
            written.add(Path(path).resolve())
    from verify.writers import SUFFIXES

    for name, path, endings in (("--out", out, SUFFIXES), ("--record", record, (".npz",))):
        if path is not None and Path(path).suffix.lower() not in endings:
            raise InputError(
                f"{name} {path} must end in {', '.join(endings[:-1]) + ' or ' * (len(endings) > 1) + endings[-1]}"
            )
    if plot is not None:
        check_picture(plot)


def _check_options(
    record: str | None,
    folder: str | None,
    page: str | None,
    fit_tol: Fraction | None,
    *,
    is_audited: bool,
    resume: bool,
) -> None:
    if fit_tol is not None and not is_audited:
        raise InputError("--fit-tol is for the audit: add --audit")
    if resume and record is None:
        raise InputError("--resume goes on from the file of --record: name it")
    if folder is not None:
        if not is_audited:
            raise InputError("--certificates is for the audit: add --audit")
        check_folder(folder)
    if page is not None and not is_audited:
        raise InputError("--html is for the audit: add --audit")


def _audit(
    run: TrainingRun, folder: str | None, page: str | None, fit_tol: Fraction | None, given: Mapping[str, str]
) -> None:
    with quiet_solvers():
        result = run.audit(fit_tol=fit_tol)
    if folder is not None:
        result.save(folder)
    if page is not None:
        write_page(result, page, folder, given)
    print_report(result, folder, to_stderr=False, given=given)
