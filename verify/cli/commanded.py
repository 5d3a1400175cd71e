"""What stands for NETWORK, DATA and the like in the commands that a report names: files and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

import click
from click.core import ParameterSource

from verify.surroundings import Surroundings

__all__ = ["commanded", "is_said", "labels_of", "options_of"]


def commanded(
    network: str,
    data: str,
    labels: tuple[str, str],
    *asked: str,
    known: Sequence[str] = (),
    source: str | None = None,
    notes: Sequence[str] = (),
    classes: Sequence[object] | None = None,
) -> dict[str, str]:
    """The words for `verify.report.advice.filled`, with the options that were said on this command line.

    labels: of the negative and the positive class, as --classes takes them.   asked: further options, as they are.
    known: options of the data that were not said, as a network that was read knew them: `options_of`.
    source: the network that was read, if there is one.   notes: of the reading.   classes: the labels that were read.
    """
    from verify.report.commands import read_alone  # the report needs what a check does without

    exchanged = f"--classes {quote(f'{labels[1]},{labels[0]}')}"
    is_read = network == click.get_current_context().params.get("network")  # otherwise it was made here
    reads = _said("slope", "output_bias", "two_logits", "fold") if is_read else ""
    poses = _said("goal", "bias", "trained", "frozen") if is_read else ""
    trusts, told = _said("trust_pickle"), _joined(quote(data), _said("target", "classes", "standardise"))
    named = None if is_said("classes") else classes
    alone = told if source is None else read_alone(told, quote(source), notes, named)
    return {
        "NETWORK": quote(network),
        "START": _joined(quote(network), reads, trusts),
        "DATA": _joined(told, *known),
        "ALONE": _joined(alone, trusts) if "--standardise" in alone.removeprefix(told) else alone,
        "EXCHANGED": _joined(quote(data), _said("target", "standardise"), *known[:1], exchanged),
        "OPTIONS": _joined(poses, reads, trusts, *asked),
    }


def options_of(out: str, around: Surroundings | None, start: str) -> tuple[str, ...]:
    """What has to be said of the data for the network in the file `out`: the scaler of `start`, then its classes.

    Nothing where the file holds them.
    """
    if around is None or out.lower().endswith(".skops"):
        return ()
    scaled = around.inputs is not None and around.outputs is None and not is_said("standardise")
    named = around.classes is not None and not is_said("classes") and not _are_signs(around.classes)
    scaler = f"--standardise {quote(start)}" if scaled else ""
    return scaler, f"--classes {quote(','.join(map(str, around.classes or ())))}" if named else ""


def _are_signs(classes: Sequence[object]) -> bool:
    """Whether the labels are read as they are."""
    return list(classes) in ([-1, 1], [0, 1])


def labels_of(classes: Sequence[object] | None, notes: Sequence[str]) -> tuple[str, str]:
    """The labels of the negative and the positive class, as --classes takes them; of numbers without a name: these."""
    if classes is not None:
        negative, positive = map(str, classes)
        return negative, positive
    return ("0", "1") if any("holds the labels 0 and 1" in note for note in notes) else ("-1", "1")


def is_said(name: str) -> bool:
    """Whether the option is on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def _said(*names: str) -> str:
    """These options as they were said, those left out that this command does not have."""
    params = click.get_current_context().params
    flags = ((f"--{name.replace('_', '-')}", params[name]) for name in names if is_said(name))
    return " ".join(flag if value is True else f"{flag} {quote(str(value))}" for flag, value in flags)


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))
