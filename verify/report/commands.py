"""A step that is advised, and the command that takes it, as it is written on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from verify.numbers.decimals import as_option
from verify.numbers.floats import to_float
from verify.report.audited import Audited

__all__ = ["PLENTY", "NextStep", "asked", "filled", "shape_options", "slope_option"]


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
        return f"{text}: {filled(self.command, given)}" if self.command else text


def filled(command: str, given: Mapping[str, str]) -> str:
    """The command with what was given in place of NETWORK, START, DATA and OPTIONS, of EXCHANGED (the data with the
    classes the other way round) and PROOFS (the folder of certificates).
    """
    exchanged = f"{given.get('DATA', 'DATA')} --classes POSITIVE,NEGATIVE"
    start = given.get("NETWORK", "NETWORK")
    known = {"START": start, "OPTIONS": "", "EXCHANGED": exchanged, "PROOFS": "proofs", **given}
    return " ".join(text for word in command.split(" ") if (text := known.get(word, word)))


PLENTY = 20
"""As many neurons at least as a training is to begin with that a smaller network failed in."""


def asked(audit: Audited) -> str:
    """The tolerance as an option, where there is one."""
    tolerance = audit.problem.fit_tolerance
    return f" --fit-tol {as_option(tolerance)}" if tolerance else ""


def shape_options(audit: Audited) -> str:
    """The options that make a network with the neurons of this one."""
    shape = audit.problem.architecture
    bias = " --bias" if shape.bias else ""
    slope = f" --slope {slope_option(shape.slope)}" if shape.slope else ""
    return bias + slope


def slope_option(slope: Fraction) -> str:
    """A slope as the command line takes it, where a decimal means the double nearest to it."""
    return repr(to_float(slope)) if Fraction(to_float(slope)) == slope else str(slope)
