"""What is found as a formula: numbers, neurons, the optimum with its certificates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

from verify.checker.certificate import Certificate
from verify.checker.codec import rational_text

__all__ = ["ClosedForm", "Symbolic", "SymbolicNeuron"]


@final
@dataclass(frozen=True, slots=True)
class ClosedForm:
    """A number for people: as text, as LaTeX, and in decimals."""

    text: str
    latex: str
    decimal: str

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, str]:
        """Text, LaTeX and decimals."""
        return {"text": self.text, "latex": self.latex, "decimal": self.decimal}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolicNeuron:
    """A neuron w = sqrt(amplitude) direction, v = sign sqrt(amplitude), with a direction of norm 1."""

    sign: int
    amplitude: ClosedForm
    direction: tuple[ClosedForm, ...]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Symbolic:
    """The closed form of the best objective over all widths; every certificate was accepted by the checker.

    value: None when none was found, and then `reason` says why.   exact: the value itself, rational or algebraic.
    multipliers: by point, those that are not 0.   neurons: an optimal network.   certificates: by file name.
    moved: how far an optimal network of the given architecture is from the given network at most, relative to its norm,
    when it was proved to be exactly stationary and optimal.
    """

    value: ClosedForm | None = None
    exact: Fraction | None = None
    multipliers: tuple[tuple[int, ClosedForm], ...] = ()
    neurons: tuple[SymbolicNeuron, ...] = ()
    certificates: Mapping[str, Certificate] = field(default_factory=dict[str, Certificate])
    moved: Fraction | None = None
    reason: str = ""

    def __repr__(self) -> str:
        return f"<Symbolic: {self.reason or 'none'}>" if self.value is None else f"<Symbolic: {self.value}>"

    def to_json(self, paths: Mapping[str, str]) -> dict[str, object]:
        """The record as JSON; `paths` maps file names of certificates to where they were saved."""
        return {
            "value": None if self.value is None else self.value.to_json(),
            "multipliers": [[i, form.to_json()] for i, form in self.multipliers],
            "neurons": [
                {
                    "sign": neuron.sign,
                    "amplitude": neuron.amplitude.to_json(),
                    "direction": [form.to_json() for form in neuron.direction],
                }
                for neuron in self.neurons
            ],
            "moved": None if self.moved is None else rational_text(self.moved),
            "certificates": [paths[name] for name in self.certificates if name in paths],
            "reason": self.reason,
        }
