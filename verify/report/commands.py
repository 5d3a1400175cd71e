"""A step that is advised, and the command that takes it, as it is written on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from shlex import quote
from typing import final

from verify.numbers.decimals import as_option
from verify.numbers.floats import to_float
from verify.problem.members import has_margin
from verify.readers.given import SCALED_POINTS, SCALED_TARGETS
from verify.report.audited import Audited

__all__ = [
    "PLENTY",
    "NextStep",
    "asked",
    "filled",
    "is_from_the_beginning",
    "loss_option",
    "read_alone",
    "shape_options",
    "slope_option",
]


@final
@dataclass(frozen=True, slots=True)
class NextStep:
    """text: what to do and why, or what it brings.   command: what does it; "" where that is not one command."""

    text: str
    command: str = ""

    def to_json(self, given: Mapping[str, str] | None = None) -> dict[str, str]:
        """The step as JSON; `given` as for `filled`."""
        return {"text": filled(self.text, given or {}), "command": filled(self.command, given or {})}

    def told(self, given: Mapping[str, str]) -> str:
        """The step as one sentence; `given` as for `filled`."""
        text = filled(self.text, given)
        command = filled(self.command, given)
        return f"{text}: {command}" if command else text


def filled(command: str, given: Mapping[str, str]) -> str:
    """The command with what was given in place of NETWORK, START, DATA and OPTIONS, of EXCHANGED (the data with the
    classes the other way round) and PROOFS (the folder of certificates).

    Where a training starts from no network, ALONE stands for DATA (`read_alone`); "" for no command where that is "".
    """
    exchanged = f"{given.get('DATA', 'DATA')} --classes POSITIVE,NEGATIVE"
    start = given.get("NETWORK", "NETWORK")
    known = {"START": start, "OPTIONS": "", "EXCHANGED": exchanged, "PROOFS": "proofs", **given}
    if is_from_the_beginning(command):
        known["DATA"] = known.get("ALONE", known.get("DATA", "DATA"))
        if not known["DATA"]:
            return ""
    return " ".join(text for word in command.split(" ") if (text := known.get(word, word)))


def is_from_the_beginning(command: str) -> bool:
    """Whether it trains a network that is made, so that none is read."""
    return command.startswith("isoptimal train ") and " --start " not in command


def read_alone(data: str, network: str, notes: Iterable[str], classes: Sequence[object] | None) -> str:
    """`data` with the options that say what a network brought for them, where that network is not read.

    These are its scaler, as `notes` say, and its classes; None for classes that it did not bring.   network: its file,
    and how it is read.   "" where no options say what was done to the data.
    """
    said = list(notes)
    scaled = any(note.startswith(SCALED_POINTS) for note in said)
    names = None if classes is None or list(classes) in _SIGNS else list(map(str, classes))
    is_unsaid = any(note.startswith(SCALED_TARGETS) for note in said)
    if is_unsaid or any("," in name or name != name.strip() for name in names or ()):
        return ""
    named = "" if names is None else f" --classes {quote(','.join(names))}"
    return f"{data}{f' --standardise {network}' if scaled else ''}{named}"


_SIGNS = ([-1, 1], [0, 1])
"""Labels that are read as they are."""

PLENTY = 20
"""As many neurons at least as a training is to begin with that a smaller network failed in."""


def asked(audit: Audited) -> str:
    """The tolerance as an option, where there is one."""
    tolerance = audit.problem.fit_tolerance
    return f" --fit-tol {as_option(tolerance)}" if tolerance else ""


def loss_option(audit: Audited) -> str:
    """The loss as an option: targets -1 and 1 are labels without it."""
    return "" if has_margin(audit.problem.goal) else " --loss squared"


def shape_options(audit: Audited) -> str:
    """The options that make a network with the neurons of this one."""
    shape = audit.problem.architecture
    bias = " --bias" if shape.bias else ""
    slope = f" --slope {slope_option(shape.slope)}" if shape.slope else ""
    return bias + slope


def slope_option(slope: Fraction) -> str:
    """A slope as the command line takes it, where a decimal means the double nearest to it."""
    return repr(to_float(slope)) if Fraction(to_float(slope)) == slope else str(slope)
