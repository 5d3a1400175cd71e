"""The question that is asked at each width: the same data, goal and bias, and networks of one neuron more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral

from verify.checker.errors import InputError
from verify.numbers.counts import count
from verify.numbers.values import vector
from verify.problem import posing
from verify.problem.members import has_bias, trains_all
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, Trained

__all__ = ["WidthQuestion", "a_width", "given_outputs"]


@dataclass(frozen=True, slots=True)
class WidthQuestion:
    """goal: None for what the targets suggest.   output_weights: where they are given, of which the first k are those
    of width k; None where both layers are trained.
    """

    data: Dataset
    goal: Goal | str | None
    bias: Bias
    slope: object
    output_weights: tuple[Fraction, ...] | None

    def problem(self, width: int, notes: list[str] | None = None) -> Problem:
        """The problem at a width; what was chosen for the user is appended to `notes`."""
        outgoing = [Fraction(0)] * width if self.output_weights is None else self.output_weights[:width]
        hidden = [[0] * len(self.data.inputs[0])] * width
        offsets = [0] * width if has_bias(self.bias) else None
        shape = Network.two_layer(hidden, outgoing, slope=self.slope, b=offsets)
        trained = Trained.BOTH if self.output_weights is None else Trained.HIDDEN
        return posing.pose(shape, self.data, goal=self.goal, bias=self.bias, trained=trained, notes=notes)

    @property
    def widest(self) -> int | None:
        """The width that the output weights are given for."""
        return None if self.output_weights is None else len(self.output_weights)


def a_width(value: object, name: str) -> int:
    """`value`, a number of neurons. Raises InputError."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name} must be a number of neurons, at least 1, not {value!r:.40}")
    return int(value)


def given_outputs(
    trained: Trained | str | None, output_weights: Sequence[object] | None, up_to: int | None
) -> tuple[Fraction, ...] | None:
    """The output weights that belong to the question, None where they are trained.

    trained: None for what the output weights suggest: the hidden layer alone where there are any. Raises InputError.
    """
    if up_to is not None:
        a_width(up_to, "up_to")
    if trained is not None and str(trained) not in set(Trained):
        raise InputError(f"trained must be one of {', '.join(Trained)}, not {trained!r:.40}")
    is_whole = output_weights is None if trained is None else trains_all(Trained(str(trained)))
    if output_weights is None:
        if not is_whole:
            raise InputError("trained='hidden' needs output_weights, a number for each neuron of the widest network")
        return None
    if is_whole:
        raise InputError("output_weights are given where only the hidden layer is trained: leave them out, or trained")
    given = vector(output_weights, "output_weights")
    if not given:
        raise InputError("output_weights must hold at least one number, that of the network of one neuron")
    if up_to is not None and up_to > len(given):
        raise InputError(f"up_to is {up_to}, and output_weights has {count(len(given), 'number')}: give one each")
    return given
