"""`isoptimal critical-decay`: above which weight decay nothing but a constant is left."""

from __future__ import annotations

from fractions import Fraction

import click

from verify.cli.failures import check_solvers_are_ours, debug_option
from verify.cli.labels import two_classes
from verify.cli.numbers import NumberType
from verify.cli.places import check_folder
from verify.problem.objectives import REDUCTIONS, named_losses

__all__ = ["critical_command"]


@click.command(
    "critical-decay",
    short_help="Above which weight decay is nothing but a constant left?",
    epilog="""\b
Examples:
  isoptimal critical-decay data.npz --loss logistic
  isoptimal critical-decay data.csv --loss squared --bias free --output-bias free --certificates proofs
""",
)
@click.argument("data", metavar="DATA")
@click.option("--loss", required=True, metavar="LOSS", help=f"{', '.join(named_losses())}, as for isoptimal audit.")
@click.option("--reduction", type=click.Choice(REDUCTIONS), default="mean", show_default=True, help="Over the points.")
@click.option(
    "--bias", type=click.Choice(["none", "penalised", "free"]), default="penalised", show_default=True,
    help="Whether neurons have a bias, and whether it is under decay.",
)  # fmt: skip
@click.option(
    "--output-bias", type=click.Choice(["none", "penalised", "free"]), default="penalised", show_default=True,
    help="Whether the output has a bias, the constant, and whether it is under decay.",
)  # fmt: skip
@click.option("--slope", metavar="A", default="0", help="Slope of the activation on the negative side, 0 ReLU.")
@click.option("--tol", type=NumberType(), default="1e-4", show_default=True, help="How far apart both ends may be.")
@click.option(
    "--time-limit", type=NumberType(is_positive=True), metavar="SECONDS", help="Stop about then; by default 60 seconds."
)
@click.option("--target", metavar="NAME", help="The target column of a CSV file; by default the last one.")
@click.option("--classes", metavar="NEGATIVE,POSITIVE", help="The two labels in the data that stand for -1 and 1.")
@click.option("--certificates", "folder", metavar="DIR", help="Write both audits into DIR/above and DIR/below.")
@debug_option
def critical_command(
    data: str,
    loss: str,
    reduction: str,
    bias: str,
    output_bias: str,
    slope: str,
    tol: Fraction,
    time_limit: Fraction | None,
    target: str | None,
    classes: str | None,
    folder: str | None,
) -> int:
    """Say above which weight decay no network with neurons is better than a constant on DATA, and below which one is.

    Both ends are audits of a network without neurons, with certificates: at one it is globally optimal among networks
    of any width, within 1e-12, at the other it is not.
    """
    check_solvers_are_ours()
    from verify.auditing.critical import critical_decay
    from verify.numbers.floats import to_float

    if folder is not None:
        check_folder(folder)
    found = critical_decay(
        data,
        loss=loss,
        reduction=reduction,
        bias=bias,
        output_bias=output_bias,
        slope=slope,
        tol=tol,
        time_limit=None if time_limit is None else to_float(time_limit),
        target=target,
        classes=two_classes(classes),
    )
    if folder is not None:
        found.save(folder)
    click.echo(str(found))
    return 0
