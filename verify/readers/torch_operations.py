"""The operations of PyTorch that a row of layers is made of, each a step of `verify.readers.folding.LayerRow`.

The value on its way from the input to the output is the flow. An operation takes it and otherwise constants; what takes
it twice is no row. Its features lie along the last axis, or along the first after W @ x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod, sqrt
from typing import Any, cast, final

from verify.checker.errors import InputError
from verify.numbers.floats import to_float
from verify.numbers.values import rational
from verify.readers.folding import LayerRow
from verify.readers.linear_layer import LinearLayer
from verify.readers.refusals import refusal
from verify.readers.torch_graphs import EXAMPLES
from verify.readers.torch_tensors import linear_layer
from verify.readers.torch_weights import Constant


class FlowingValue:
    """The value that depends on the inputs, at one place of the graph."""


class Size:
    """A number that depends on the shape of the inputs alone."""


class ExampleNeededError(Exception):
    """The graph depends on the numbers in a shape, which only a recorded run shows."""


@final
@dataclass(frozen=True, slots=True)
class Call:
    """One operation: its name without its framework, where it is, and its arguments with the flow among them."""

    name: str
    where: str
    arguments: Sequence[Any]
    named: Mapping[str, Any]
    is_recorded: bool = False

    def raw(self, position: int, name: str) -> Any:
        """An argument as it is: `FlowingValue`, `Size`, `Constant`, or a list of such; None where it is left out."""
        if len(self.arguments) > position:
            return self.arguments[position]
        return self.named.get(name)

    def given(self, position: int, name: str, default: object = None) -> Any:
        """An argument as a number, a shape, ...: constants by their values."""
        found = self.raw(position, name)
        return default if found is None else self.value(found)

    def value(self, found: Any) -> Any:
        """The same with constants replaced by their values; the number of examples is a size."""
        if isinstance(found, list | tuple):
            return type(found)(map(self.value, found))
        value = found.value if isinstance(found, Constant) else found
        return Size() if self.is_recorded and type(value) is int and value == EXAMPLES else value

    @property
    def other(self) -> Constant:
        """The operand beside the flow, of an operation of two."""
        found = [value for value in self.arguments[:2] if not isinstance(value, FlowingValue)]
        found += [self.named[name] for name in ("other", "input") if isinstance(self.named.get(name), Constant)]
        if any(isinstance(value, Size) for value in found):
            raise ExampleNeededError
        if not found or not isinstance(found[0], Constant):
            raise refusal(self.name, self.where)
        return found[0]

    @property
    def is_flow_first(self) -> bool:
        """Whether the flow is the left operand."""
        return bool(self.arguments) and isinstance(self.arguments[0], FlowingValue)


@final
class Operations:
    """The steps of one forward, put into a row. Raises InputError at an operation that no row is made of."""

    def __init__(
        self,
        row: LayerRow,
        place: str,
        torch: Any,
        tables: tuple[Mapping[str, OperationStep], Mapping[str, OperationStep]],
        *,
        is_any_trained: bool,
    ) -> None:
        self.row, self.place, self.torch, self.is_any_trained = row, place, torch, is_any_trained
        self.steps, self.shaping = tables
        self.tensors: dict[str, object] = {}
        self.is_reshaped = False
        self.is_across: bool | None = None  # whether the features lie along the first axis; None before it is known
        self.expected: int | None = None

    def apply(self, call: Call) -> None:
        """One operation on the flow."""
        step = self.steps.get(call.name)
        if step is None or (self.row.head and call.name not in self.shaping):
            raise refusal(self.row.head or call.name, call.where, is_output=self.is_output)
        step(self, call)

    @property
    def is_output(self) -> bool:
        """Whether the flow is one number for each point."""
        return self.row.outputs == 1 and not self.row.waiting

    # ------------------------------------------------------------------------------------------------ linear maps

    def linear(
        self,
        weight: Constant,
        bias: Constant | None,
        where: str,
        rows: Any = None,
        spread_out: Callable[[LinearLayer], LinearLayer] | None = None,
    ) -> None:
        """x -> rows x + bias, where `rows` is the weight or its transpose.

        spread_out: makes the layer of channels and positions of it; without it the value has to be a row of features.
        """
        if self.is_reshaped:
            raise InputError(f"{where}: a layer after a reshaping is not read: reshape at the end only")
        shape = self.row.shape
        if spread_out is None and shape is not None and prod(shape[:-1]) > 1:
            raise InputError(
                f"{where}: it acts on each channel by itself, on a value of shape {shape}: put a Flatten before it"
            )
        names = weight.name, "no bias" if bias is None else bias.name
        for constant in (weight, bias):
            for name, tensor in () if constant is None else constant.parents:
                if constant is not None and (getattr(tensor, "requires_grad", False) or not constant.operation):
                    self.tensors[f"{name} (applied again)" if name in self.tensors else name] = tensor
            if constant is not None and constant.operation:
                self.note_computed(constant)
        found = linear_layer(
            weight.value if rows is None else rows, None if bias is None else bias.value, names, self.place
        )
        found = found if spread_out is None else spread_out(found)
        if self.expected not in (None, found.shape[1]):
            raise InputError(f"{where}: the points are reshaped to {self.expected} features before it: use Flatten")
        self.expected = self.row.shape = None
        self.row.linear(found, is_fixed=self.is_any_trained and not weight.is_trained)

    def note_computed(self, weight: Constant) -> None:
        """Say that the numbers read are not the ones that were trained."""
        note = f"{self.place}: {weight.name}: the weights are the effective ones, after {weight.operation}"
        note += ", and the norm is theirs, not that of the numbers that were trained"
        if weight.operation == "quantisation":
            note += "; the rounding of the inputs of quantised layers is not in the network read"
        if note not in self.row.notes:
            self.row.notes.append(note)

    def across(self, is_across: bool, where: str) -> None:
        """Take note of the axis along which the features lie."""
        if self.is_across not in (None, is_across):
            raise InputError(
                f"{where}: x @ W.T and W @ x are mixed, so features and points change places: use one of them"
            )
        self.is_across = is_across

    def product(self, call: Call, weight: Constant, bias: Constant | None = None) -> None:
        """The flow times a matrix or a vector, from either side."""
        value = self.tensor(weight, call)
        if value.dim() not in (1, 2):
            raise refusal(call.name, call.where)
        if value.dim() == 2 or not call.is_flow_first:  # else it is h @ v, of one point or of rows
            self.across(not call.is_flow_first, call.where)
        if value.dim() == 1:
            rows = value.reshape(1, -1)
        else:
            rows = value.t() if call.is_flow_first else value
        self.linear(weight, bias, call.where, rows)

    def tensor(self, constant: Constant, call: Call) -> Any:
        """The value of a constant that has to be a tensor."""
        if not isinstance(constant.value, self.torch.Tensor):
            raise refusal(call.name, call.where)
        return constant.value

    # ---------------------------------------------------------------------------------------------------- constants

    def numbers(self, constant: Constant, where: str) -> list[Fraction]:
        """The numbers of a constant that lie along the features; one for all features is a list of one."""
        value = constant.value
        if self.row.shape is not None and len(self.row.shape) > 1 and getattr(value, "ndim", 0) > 1:
            raise InputError(f"{where}: constants beside channels and positions are not read: leave them out")
        if isinstance(value, bool) or not isinstance(value, int | float | self.torch.Tensor):
            raise InputError(f"{where}: its forward computes with {value!r:.40}: leave that out")
        if isinstance(value, self.torch.Tensor):
            axis = 0 if self.is_across else -1
            if value.numel() != 1 and (value.dim() == 0 or value.shape[axis] != value.numel()):
                shown = tuple(value.shape)
                raise InputError(f"{where}: constants of shape {shown} do not lie along the features: reshape them")
            value = value.detach().reshape(-1).tolist()
        return [rational(number, where) for number in (value if isinstance(value, list) else [value])]

    def scale(self, call: Call, *, is_inverse: bool = False) -> None:
        """The flow times, or divided by, constants."""
        constant = call.other
        numbers = self.numbers(constant, call.where)
        sign = "/" if is_inverse else "*"
        if is_inverse:
            if not call.is_flow_first or 0 in numbers or call.named.get("rounding_mode"):
                raise refusal(call.name, call.where)
            numbers = [1 / number for number in numbers]
        shown = constant.name if constant.parents else as_text(constant.value)
        if len(numbers) == 1 and not constant.is_trained:
            self.row.scale(numbers[0], f"{sign} {shown}")
        else:
            factors = numbers[0] if len(numbers) == 1 else numbers
            is_fixed = self.is_any_trained and not constant.is_trained
            name = constant.name if constant.parents else call.where
            self.row.change(factors, Fraction(0), name, is_fixed=is_fixed)

    def shift(self, call: Call, *, is_minus: bool = False) -> None:
        """The flow plus or minus constants: the bias of the layer just met, or a shift."""
        constant = call.other
        if call.given(2, "alpha", 1) != 1:
            raise refusal(call.name, call.where)
        numbers = self.numbers(constant, call.where)
        if is_minus and call.is_flow_first:
            numbers = [-number for number in numbers]
        elif is_minus:
            self.row.scale(Fraction(-1), "a change of sign")
        if constant.parents and not self.is_reshaped and self.row.takes_bias(len(numbers)):
            if constant.operation:
                self.note_computed(constant)
            self.row.bias(numbers, constant.name)
        elif any(numbers):
            name = constant.name if constant.parents else f"{call.where} ({as_text(constant.value)})"
            self.row.change(Fraction(1), numbers[0] if len(numbers) == 1 else numbers, name)

    def normalise(self, call: Call, statistics: Sequence[Constant | None], eps: float, *, is_training: bool) -> None:
        """(x - mean) / sqrt(var + eps) * weight + bias, with mean, var, weight, bias or None."""
        if is_training or statistics[0] is None or statistics[1] is None:
            raise InputError(
                f"{call.where}: batch normalisation in training mode depends on the batch: call model.eval() "
                "first, with running statistics"
            )
        places = prod((self.row.shape or (1,))[1:])  # each number is one channel's
        found = [
            None if value is None else [number for number in self.numbers(value, call.where) for _ in range(places)]
            for value in statistics
        ]
        mean, variance = cast("list[Fraction]", found[0]), cast("list[Fraction]", found[1])
        weight, bias = found[2] or [Fraction(1)] * len(mean), found[3] or [Fraction(0)] * len(mean)
        scale = [Fraction(1 / sqrt(to_float(v) + eps)) * w for v, w in zip(variance, weight, strict=True)]
        shift = [b - m * s for m, s, b in zip(mean, scale, bias, strict=True)]
        name = f"{call.where.removeprefix(f'{self.place}: ')} (batch normalisation, 1 / sqrt(var + eps) as a double)"
        self.row.change(scale, shift, name)

    # -------------------------------------------------------------------------------------------------------- shapes

    def reshape(self, call: Call) -> None:
        """A shape that is the same, or the one output in another."""
        if self.is_output:
            self.is_reshaped = True  # the same numbers in the same order
            return
        is_listed = isinstance(call.raw(1, "shape"), list | tuple)
        shape = call.given(1, "shape") if is_listed else call.value(call.arguments[1:])
        match list(cast("Sequence[object]", shape)):
            case [Size() | -1, -1] | [Size(), Size()]:
                return
            case [Size() | -1, int() as features]:
                if self.row.outputs not in (None, features):
                    raise refusal(call.name, call.where)
                self.expected = features if self.row.outputs is None else None
            case _:
                raise refusal(call.name, call.where)

    def output_only(self, call: Call) -> None:
        """A change of shape that only the one output may have."""
        if not self.is_output:
            raise refusal(call.name, call.where)
        self.is_reshaped = True


def as_text(value: object) -> str:
    """A number as short as it can be written."""
    if getattr(value, "ndim", 0):
        return "constants"
    number = float(cast("float", value))
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


OperationStep = Callable[[Operations, Call], None]
"""What an operation does to the row."""
