"""The options by which a loss with weight decay is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from verify.checker.errors import InputError
from verify.problem.objectives import REDUCTIONS, named_losses

__all__ = ["loss_options", "not_for_losses"]

_Command = TypeVar("_Command", bound=Callable[..., object])


def loss_options(command: _Command) -> _Command:
    """--loss, --decay and --reduction, each None where it is not said."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def not_for_losses(command: _Command) -> _Command:
    """--loss, --decay and --reduction, which this command refuses in a sentence."""
    for name in ("--loss", "--decay", "--reduction"):
        command = click.option(name, hidden=True, expose_value=False, callback=_refused)(command)
    return command


def _refused(context: click.Context, option: click.Parameter, value: object) -> None:
    if value is not None:
        raise InputError(
            f"{option.opts[0]} is given, but a loss with weight decay is asked of one network at a time, and not of a "
            f"width: give it to isoptimal audit, not to isoptimal {context.command.name}"
        )


_OPTIONS = (
    click.option(
        "--loss",
        metavar="LOSS",
        help="Ask, rather than for a goal, for what the network was trained for, the least loss with weight decay: "
        f"{', '.join(named_losses())}. They are as MSELoss, L1Loss, HuberLoss and BCEWithLogitsLoss of PyTorch have "
        "them; half-squared is half of it, and the last three are for labels. Two outputs and cross-entropy are "
        "logistic.",
    ),
    click.option(
        "--decay",
        metavar="WD",
        help="The weight decay of --loss: ½ WD ‖θ‖² is added, as weight_decay of SGD and Adam does (not of AdamW); "
        "WD,WD for one of the hidden and one of the output layer.",
    ),
    click.option(
        "--reduction",
        type=click.Choice(REDUCTIONS),
        help="Whether --loss is averaged over the points, as by default, or summed.",
    ),
)
