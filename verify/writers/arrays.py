"""The weights of a network as matrices: rational, or rounded to doubles."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from verify.checker.errors import InputError
from verify.checker.statement import Architecture, Network
from verify.numbers.floats import to_float

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["arrays_of", "check_dense", "double", "matrices_of", "slopes_of"]

_BY_JSON = "save it as .json, which keeps every network exactly"


def double(number: Fraction, place: str) -> float:
    """The double nearest to a number. InputError where there is none."""
    try:
        return to_float(number)
    except OverflowError:
        raise InputError(f"{place} is beyond the range of floats: {_BY_JSON}") from None


def check_dense(shape: Architecture, what: str) -> None:
    """Refuse masks and shared weights, which matrices do not hold."""
    if any(layer.entries is not None for layer in shape.layers):
        raise InputError(f"{what} holds dense layers, and this network has masks or shared weights: {_BY_JSON}")


def matrices_of(network: Network) -> list[tuple[list[list[Fraction]], list[Fraction] | None]]:
    """For each layer its weights, shape (outputs, inputs), and its bias, or None."""
    found: list[tuple[list[list[Fraction]], list[Fraction] | None]] = []
    layers = network.architecture.layers
    for layer, parameters in zip(layers, network.parameters, strict=False):
        rows = [list(row) for row in layer.matrix(parameters)]
        bias = [row[-1] for row in rows] if layer.bias else None
        found.append(([row[: layer.inputs] for row in rows], bias))
    if len(network.parameters) > len(layers):
        found[-1] = found[-1][0], [network.output_bias]
    return found


def slopes_of(shape: Architecture) -> list[Fraction]:
    """The slope of each activation."""
    return [layer.slope for layer in shape.layers if layer.slope is not None]


def arrays_of(network: Network, *, exact: bool = False) -> dict[str, NDArray[Any]]:
    """W (neurons, inputs), v (neurons,), b (neurons,) if there are hidden biases, and slope, of a network of depth 2.

    exact: arrays of `Fraction`; else doubles, each the nearest one. Raises InputError for other networks.
    """
    import numpy as np

    check_dense(network.architecture, "the dictionary of W, v and b")
    if len(network.architecture.layers) != 2:
        raise InputError(f"W, v and b are a network of two layers, and this one has other depth: {_BY_JSON}")
    (hidden, bias), (output, of_output) = matrices_of(network)
    named: dict[str, Any] = {"W": hidden, "v": output[0]}
    if bias is not None:
        named["b"] = bias
    if of_output is not None:
        named["b2"] = of_output[0]
    named["slope"] = network.architecture.slope
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in named.items():
        array = np.array(value, dtype=object)
        if not exact:
            flat = [double(number, f"{name}[{i}]") for i, number in enumerate(array.reshape(-1))]
            array = np.array(flat, dtype=np.float64).reshape(array.shape)
        arrays[name] = array
    return arrays
