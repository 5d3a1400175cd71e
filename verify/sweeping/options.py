"""What is asked of every network of a sweep."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, final

from verify.checker.codec import rational_text
from verify.checker.errors import InputError
from verify.numbers.arguments import a_flag, a_time_limit, a_tolerance
from verify.numbers.values import rational
from verify.problem.objectives import OUTPUT_BIASES
from verify.problem.posing import a_fit_tolerance
from verify.problem.problem import Bias, Goal

__all__ = ["Questions", "differences"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The options of `audit` that decide what its answers say; one set for a whole sweep.

    output_bias: None by default, and where the networks that were read have none: it was refused, or is a neuron.
    """

    goal: str | None = None
    bias: str | None = None
    output_bias: str | None = None
    tol: Fraction = Fraction(1, 10**6)
    stationary_tol: Fraction | None = None
    near: Fraction | None = None
    fit_tol: Fraction | None = None
    time_limit: float | None = None
    symbolic: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Questions:
        """From what a user gives; InputError for what `audit` would refuse whatever the network."""
        goal, bias = _one_of(Goal, given["goal"], "goal"), _one_of(Bias, given["bias"], "bias")
        fit_tol = None if given["fit_tol"] is None else rational(given["fit_tol"], "fit_tol")
        if fit_tol is not None:
            a_fit_tolerance(fit_tol, Goal.MIN_NORM if goal is None else Goal(goal))
        tolerances = {
            name: None if given[name] is None else a_tolerance(given[name], name) for name in ("stationary_tol", "near")
        }
        return cls(
            goal=goal,
            bias=bias,
            output_bias=given["output_bias"] if given["output_bias"] in OUTPUT_BIASES else None,
            tol=a_tolerance(given["tol"], "tol"),
            fit_tol=fit_tol,
            time_limit=a_time_limit(given["time_limit"]),
            symbolic=a_flag(given["symbolic"], "symbolic"),
            **tolerances,
        )

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `audit`."""
        return {name: getattr(self, name) for name in self.__slots__}

    def to_json(self) -> dict[str, object]:
        """As a JSON object, exactly."""
        return {
            name: rational_text(value) if isinstance(value, Fraction) else value for name, value in asdict(self).items()
        }

    def sha256(self) -> str:
        """The SHA-256 of the JSON, as "sha256:<hex>"."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def differences(earlier: Mapping[str, object], now: Mapping[str, object]) -> str:
    """Such as "tol 1/1000000 (now 1/1000), goal not given (now min-norm)"; "" where the two agree."""
    names = [name for name in {**earlier, **now} if earlier.get(name) != now.get(name)]
    return ", ".join(f"{name} {_said(earlier.get(name))} (now {_said(now.get(name))})" for name in names)


def _said(value: object) -> str:
    return "not given" if value is None else str(value)


def _one_of(kind: type[Goal | Bias], value: object, name: str) -> str | None:
    """The value of a member, given as such or as text."""
    if value is None or isinstance(value, kind):
        return None if value is None else value.value
    if value in [member.value for member in kind]:
        return str(value)
    raise InputError(f"{name} is {value!r:.60}; it must be one of {', '.join(member.value for member in kind)}")
