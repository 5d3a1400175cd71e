"""Convolutions, pooling and changes of shape of PyTorch on values of shape (channels, length, ...).

What a filter makes is a linear map whose places share its weights; what pooling makes is a sum before the next map, and
an average that sum times a constant factor of the network, which is no weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from typing import Any, cast

from verify.checker.errors import InputError, ShapeError
from verify.readers.linear_layer import LinearLayer
from verify.readers.positions import Convolution, Shape, pooled
from verify.readers.reading import InputShapeError
from verify.readers.refusals import refusal
from verify.readers.torch_operations import Call, Operations
from verify.readers.torch_weights import Constant

__all__ = ["ARITHMETIC", "RESHAPING", "module_step", "plain", "reduced", "reshaped"]


def of_positions(found: Operations, call: Call, axes: int) -> Shape:
    """The shape of the value at this place: channels and so many axes. Raises InputError."""
    row = found.row
    if row.shape is None and not row.layers:
        raise _unknown(call, axes)
    if row.shape is None or len(row.shape) != axes + 1:
        shown = (row.outputs,) if row.layers or row.shape is None else row.shape
        raise ShapeError(
            f"{call.where}: it takes channels and {axes} {'axis' if axes == 1 else 'axes'} of positions, and is given "
            f"a value of shape {shown}: give points of that shape"
        )
    return row.shape


def _unknown(call: Call, axes: int) -> InputShapeError:
    example = ", ".join(["1", "8", "8"][: axes + 1])
    return InputShapeError(
        f"{call.where}: how many places it has depends on the shape of a point: audit it with X of shape (points, "
        f"channels, {'length' if axes == 1 else 'height, width'}), or read(model, input_shape=({example}))"
    )


def convolve(found: Operations, call: Call, weight: Constant, bias: Constant | None, given: Sequence[Any]) -> None:
    """given: stride, padding, dilation and groups as PyTorch takes them."""
    tensor = found.tensor(weight, call)
    axes = tensor.dim() - 2
    inputs = of_positions(found, call, axes)
    stride, padding, dilation, groups = given
    kernel, steps, spread = tuple(map(int, tensor.shape[2:])), _each(stride, axes), _each(dilation, axes)
    before, after = _padding(padding, kernel, spread)
    if int(tensor.shape[1]) * groups != inputs[0]:
        raise ShapeError(
            f"{call.where}: it takes {int(tensor.shape[1]) * groups} channels and is given {inputs[0]}: give points of "
            "shape (channels, length, ...)"
        )
    filters = Convolution(
        inputs=inputs, channels=int(tensor.shape[0]), kernel=kernel, stride=steps, padding=before, after=after,
        dilation=spread, groups=groups,
    )  # fmt: skip
    try:
        outputs, entries = filters.outputs, filters.entries
    except InputError as error:
        raise type(error)(f"{call.where}: {error}") from None
    places = prod(outputs[1:])

    def spread_out(layer: LinearLayer) -> LinearLayer:
        flat = [number for row in layer.weights for number in row]
        return LinearLayer(
            weights=[[0 if i is None else flat[i] for i in row] for row in entries],
            bias=None if layer.bias is None else [number for number in layer.bias for _ in range(places)],
            weights_name=layer.weights_name,
            bias_name=layer.bias_name,
            entries=entries,
            bias_entries=[c for c in range(outputs[0]) for _ in range(places)],
        )

    found.linear(weight, bias, call.where, tensor.reshape(len(tensor), -1), spread_out)
    found.row.shape = outputs


def _padding(given: Any, kernel: Shape, dilation: Shape) -> tuple[Shape, Shape]:
    """Zeros before and behind, as PyTorch puts them."""
    if given == "same":
        whole = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
        return tuple(n // 2 for n in whole), tuple(n - n // 2 for n in whole)
    before = _each(0 if given == "valid" else given, len(kernel))
    return before, before


def _each(value: Any, axes: int) -> Shape:
    """One number for each axis, given so or as one for all."""
    found = tuple(value) if isinstance(value, list | tuple) else (value,)
    return tuple(map(int, found * (axes if len(found) == 1 else 1)))


def average(found: Operations, call: Call, axes: int, given: Sequence[Any]) -> None:
    """given: kernel, stride, padding, ceil_mode and divisor_override as PyTorch takes them."""
    inputs = of_positions(found, call, axes)
    size, step, padding, is_ceiled, divisor = given
    kernel = _each(size, axes)
    stride = kernel if step is None or step == [] else _each(step, axes)
    ends = [(n - k) % s for n, k, s in zip(inputs[1:], kernel, stride, strict=True)]
    if any(_each(padding, axes)) or (is_ceiled and any(ends)):
        raise InputError(
            f"{call.where}: its windows at the borders are averages of fewer places, or of zeros: pool without padding "
            "and ceil_mode"
        )
    _pool(found, call, inputs, kernel, stride, Fraction(1, divisor or prod(kernel)))


def adaptive(found: Operations, call: Call, axes: int, wanted: Any) -> None:
    """Averages of windows, as many as wanted; None: as many as there are."""
    inputs = of_positions(found, call, axes)
    values = wanted if isinstance(wanted, list | tuple) else [wanted] * axes
    sizes = [size if own is None else int(own) for size, own in zip(inputs[1:], values, strict=True)]
    if any(size % own for size, own in zip(inputs[1:], sizes, strict=True)):
        raise InputError(
            f"{call.where}: its {sizes} windows of a value of shape {inputs} differ in size: pool into a number that "
            "divides it"
        )
    kernel = tuple(size // own for size, own in zip(inputs[1:], sizes, strict=True))
    _pool(found, call, inputs, kernel, kernel, Fraction(1, prod(kernel)))


def _pool(found: Operations, call: Call, inputs: Shape, kernel: Shape, stride: Shape, factor: Fraction) -> None:
    try:
        sums, outputs = pooled(inputs, kernel, stride)
    except InputError as error:
        raise type(error)(f"{call.where}: {error}") from None
    found.row.pool(sums, factor, call.where)
    found.row.shape = outputs


def reduced(found: Operations, call: Call, *, is_mean: bool) -> bool:
    """A sum or a mean over all positions; False where it is another one."""
    shape = found.row.shape
    if shape is None or len(shape) < 2:
        return False
    given = plain(call, 1, "dim")
    axes = given if isinstance(given, list | tuple) else [given]
    count = len(shape)
    if any(type(axis) is not int for axis in axes):
        raise refusal(call.name, call.where)
    if {axis % (count + 1) for axis in axes} != {*range(2, count + 1)}:
        raise InputError(
            f"{call.where}: it goes over other axes than all positions, which leaves no channels: take dim="
            f"{-1 if count == 2 else tuple(range(1 - count, 0))}"
        )
    factor = Fraction(1, prod(shape[1:])) if is_mean else Fraction(1)
    _pool(found, call, shape, shape[1:], shape[1:], factor)
    if not plain(call, 2, "keepdim"):
        found.row.shape = None
    return True


def reshaped(found: Operations, call: Call) -> bool:
    """Channels and positions laid out in a row, or made of one; False for any other change of shape."""
    shape, row = found.row.shape, found.row
    if call.name == "flatten":
        if shape is None or (plain(call, 1, "start_dim"), plain(call, 2, "end_dim")) not in ((1, None), (1, -1)):
            return False
        row.shape = None
        return True
    if call.name in ("squeeze", "squeeze_", "unsqueeze"):
        return _with_axis(found, call)
    given = call.arguments[1] if isinstance(call.raw(1, "shape"), list | tuple) else call.arguments[1:]
    sizes = [value.value if isinstance(value, Constant) else None for value in cast("Sequence[Any]", given)][1:]
    if len(sizes) > 1 and all(type(size) is int and size > 0 for size in sizes):
        wanted, known = tuple(cast("list[int]", sizes)), row.outputs
        if row.layers or (shape is not None and prod(shape) != prod(wanted)):
            raise InputError(f"{call.where}: {known} features are made a value of shape {wanted}: reshape the points")
        row.input_shape = row.input_shape or (prod(wanted),)
        row.shape = wanted
        return True
    if shape is None or len(shape) < 2 or len(sizes) != 1 or sizes[0] not in (-1, prod(shape), None):
        return False
    row.shape = None
    return True


def _with_axis(found: Operations, call: Call) -> bool:
    """One more axis of one place, or one less."""
    axis, row = plain(call, 1, "dim"), found.row
    if call.name == "unsqueeze" and row.shape is None and not row.layers:
        raise _unknown(call, 1)
    if row.shape is None or type(axis) is not int:
        return False
    if call.name == "unsqueeze" and not row.layers and len(row.shape) == 1 and axis in (1, -2):
        row.shape = (1, *row.shape)
        return True
    at = axis % (len(row.shape) + 1) - 1
    if call.name == "unsqueeze" or at < 1 or row.shape[at] != 1:
        return False
    row.shape = (*row.shape[:at], *row.shape[at + 1 :])
    return True


def plain(call: Call, position: int, name: str, default: Any = None) -> Any:
    """An argument by its value: no number in it is taken for the number of examples."""

    def of(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [of(entry) for entry in cast("Sequence[Any]", value)]
        return value.value if isinstance(value, Constant) else value

    found = of(call.raw(position, name))
    return default if found is None else found


def _convolution(found: Operations, call: Call) -> None:
    weight, bias = call.raw(1, "weight"), call.raw(2, "bias")
    if not isinstance(weight, Constant):
        raise refusal(call.name, call.where)
    given = [plain(call, i, name, d) for i, (name, d) in enumerate(_OF_CONVOLUTIONS, 3)]
    convolve(found, call, weight, bias if isinstance(bias, Constant) and bias.value is not None else None, given)


_OF_CONVOLUTIONS = (("stride", 1), ("padding", 0), ("dilation", 1), ("groups", 1))


def _average(axes: int) -> Callable[[Operations, Call], None]:
    def step(found: Operations, call: Call) -> None:
        names = (("kernel_size", None), ("stride", None), ("padding", 0), ("ceil_mode", False))
        given = [plain(call, i, name, default) for i, (name, default) in enumerate(names, 1)]
        average(found, call, axes, [*given, plain(call, 6, "divisor_override")])

    return step


def _adaptive(axes: int) -> Callable[[Operations, Call], None]:
    def step(found: Operations, call: Call) -> None:
        adaptive(found, call, axes, plain(call, 1, "output_size"))

    return step


ARITHMETIC: dict[str, Callable[[Operations, Call], None]] = {
    "conv1d": _convolution,
    "conv2d": _convolution,
    "avg_pool1d": _average(1),
    "avg_pool2d": _average(2),
    "adaptive_avg_pool1d": _adaptive(1),
    "adaptive_avg_pool2d": _adaptive(2),
    "_adaptive_avg_pool2d": _adaptive(2),
}
"""Operations by their names."""

RESHAPING = ("flatten", "reshape", "view", "squeeze", "squeeze_", "unsqueeze")


def _conv_module(part: Any, constants: tuple[Constant, Constant], found: Operations, call: Call) -> None:
    if part.padding_mode != "zeros":
        raise InputError(f"{call.where}: its padding repeats the values ({part.padding_mode}): pad with zeros")
    weight, bias = constants
    given = (part.stride, part.padding, part.dilation, part.groups)
    convolve(found, call, weight, None if bias.value is None else bias, given)


def _pool_module(part: Any, found: Operations, call: Call, axes: int) -> None:
    divisor = getattr(part, "divisor_override", None)
    average(found, call, axes, (part.kernel_size, part.stride, part.padding, part.ceil_mode, divisor))


def module_step(part: Any, found: Operations, call: Call, weights: Callable[[], tuple[Constant, Constant]]) -> bool:
    """What a module of these does to the value; False for any other.   weights: its weight and bias."""
    name = type(part).__name__
    if type(part).__module__.partition(".")[0] != "torch" or name not in MODULES:
        return False
    axes = 2 if name.endswith("2d") else 1
    if name.startswith("Conv"):
        _conv_module(part, weights(), found, call)
    elif name.startswith("Adaptive"):
        adaptive(found, call, axes, part.output_size)
    else:
        _pool_module(part, found, call, axes)
    return True


MODULES = ("Conv1d", "Conv2d", "AvgPool1d", "AvgPool2d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d")
"""The modules of these, by their classes."""
