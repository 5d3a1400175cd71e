"""ONNX: what a graph makes of a Sigmoid, a Softmax or an ArgMax at its end, which is left out of the network read.

Exporters of classifiers write probabilities, the larger of two, and labels there. Each value is followed as what it is
of the network's output: a probability of class 1 or of class 0, both of them, or whether class 1 is the larger. What
turns the classes round, or decides at another place than 1/2, would be another classifier than the one that is read
(positive where class 1 is the larger), and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import numpy as np

from verify.checker.errors import InputError
from verify.readers.building import along_outputs

__all__ = ["ALONE", "FLOATS", "UNCHANGED", "Tail"]

ALONE = "export the network alone, from its inputs to its one output"


class _Made(Enum):
    """What a value is made to be, told as it is in a refusal."""

    SECOND = "the probability of class 1"
    FIRST = "the probability of class 0"
    BOTH = "the probabilities of both classes"
    LOGARITHMS = "logarithms of probabilities"
    LARGER = "whether class 1 is the larger"
    LABEL = "a label"


UNCHANGED = {"Identity", "Dropout", "Flatten", "Reshape", "Squeeze", "Unsqueeze"}
"""Operations that change no number."""

_BELOW = {"Less", "LessOrEqual"}
_ABOVE = {"Greater", "GreaterOrEqual"}
FLOATS = (1, 10, 11, 16)
"""FLOAT, FLOAT16, DOUBLE and BFLOAT16 of TensorProto."""


class Tail:
    """The values behind the end of the network.

    constants: of the graph, by name.   where: names a node in messages.
    """

    def __init__(self, constants: Mapping[str, Any], where: Callable[[Any], str]) -> None:
        self._constants, self._where = constants, where
        self._values: dict[str, _Made] = {}

    def begin(self, node: Any, outputs: int) -> None:
        """With the node that ends the network: a Sigmoid, Softmax, LogSoftmax or ArgMax.   outputs: of the network."""
        match node.op_type:
            case "ArgMax":
                made = _Made.LARGER
            case "LogSoftmax":
                made = _Made.LOGARITHMS
            case "Sigmoid" if outputs == 1:
                made = _Made.SECOND
            case _:
                made = _Made.BOTH
        self._values[node.output[0]] = made

    def take(self, node: Any, attributes: Mapping[str, Any]) -> None:
        """One node more. Raises InputError for one that is no part of a label or of a probability."""
        taken = [name for name in node.input if name and name not in self._constants]
        found = [self._values[name] for name in taken if name in self._values]
        if not found or len(found) < len(taken):
            raise InputError(f"{self._where(node)}, after the output, takes other values than those before it: {ALONE}")
        made = self._made(node, attributes, found)
        if made is None:
            raise InputError(
                f"{self._where(node)} after the output, of {found[0].value}, is not read, or gives another classifier "
                f"than 'class 1 where its probability is above 1/2': {ALONE}"
            )
        self._values.update(dict.fromkeys(node.output, made))

    def check_outputs(self, names: list[str], place: str) -> None:
        """Refuse a graph one of whose outputs has the classes the other way round, or none about class 1."""
        for name in names:
            if self._values.get(name) is _Made.FIRST:
                raise InputError(
                    f"{place}: its output {name!r:.60} is {_Made.FIRST.value}, the classes the other way round: {ALONE}"
                )

    def _made(self, node: Any, attributes: Mapping[str, Any], found: list[_Made]) -> _Made | None:
        made, is_alone = found[0], len(found) == 1
        match node.op_type:
            case name if name in UNCHANGED and is_alone:
                return made
            case "Cast" if is_alone and (made in (_Made.LARGER, _Made.LABEL) or attributes.get("to") in FLOATS):
                return made
            case "ZipMap":
                return made if made is _Made.BOTH else None
            case "Sub" if is_alone and self._is(node.input[0], 1):
                return {_Made.SECOND: _Made.FIRST, _Made.FIRST: _Made.SECOND}.get(made)
            case "Concat":
                along_outputs(attributes.get("axis"), "Concat", self._where(node))
                return _Made.BOTH if found == [_Made.FIRST, _Made.SECOND] else None
            case "ArgMax" if made in (_Made.BOTH, _Made.LOGARITHMS):
                along_outputs(attributes.get("axis", 0), "ArgMax", self._where(node))
                return _Made.LARGER
            case "Gather" | "Slice" if made is _Made.BOTH:
                return self._one_of_both(node, attributes)
            case name if name in _ABOVE | _BELOW and is_alone:
                return self._compared(node, made)
            case _ if made is _Made.LARGER:
                return self._labelled(node, attributes)
            case _:
                return None

    def _one_of_both(self, node: Any, attributes: Mapping[str, Any]) -> _Made | None:
        """A column of two."""
        if node.op_type == "Gather":
            column, axis = self._number(node.input[1]), attributes.get("axis", 0)
        else:
            given = [self._number(name) for name in node.input[1:]]
            if len(given) < 3 or None in given:  # without axes: along the points as well
                return None
            begin, end, axis, step = (number or 0 for number in [*given, 1][:4])
            column = range(2)[begin:end:step][0] if step and len(range(2)[begin:end:step]) == 1 else None
        along_outputs(axis, node.op_type, self._where(node))
        return None if column is None else {0: _Made.FIRST, 1: _Made.SECOND}.get(column % 2 if -2 <= column < 2 else 2)

    def _compared(self, node: Any, made: _Made) -> _Made | None:
        """A probability with 1/2: whether class 1 is the larger, or not where it is asked the other way round."""
        is_first = node.input[0] not in self._constants
        if made not in (_Made.SECOND, _Made.FIRST) or not self._is(node.input[1 if is_first else 0], 0.5):
            return None
        is_above = (node.op_type in _ABOVE) == is_first
        return _Made.LARGER if is_above == (made is _Made.SECOND) else None

    def _labelled(self, node: Any, attributes: Mapping[str, Any]) -> _Made | None:
        """Labels of the two classes: the larger number, if they are numbers, is that of class 1."""
        match node.op_type:
            case "Where" if node.input[0] in self._values:
                pair = [self._constants.get(name) for name in (node.input[2], node.input[1])]
            case "ArrayFeatureExtractor" | "Gather" if node.input[0] in self._constants:
                pair = list(np.reshape(self._constants[node.input[0]], -1))
            case "LabelEncoder":
                keys = next((attributes[key] for key in attributes if key.startswith("keys_")), ())
                values = next((attributes[key] for key in attributes if key.startswith("values_")), ())
                named = dict(zip(map(_whole, keys), values, strict=False))
                pair = [named.get(0), named.get(1)]
            case _:
                return None
        return _Made.LABEL if len(pair) == 2 and _is_in_order(*pair) else None

    def _number(self, name: str) -> int | None:
        array = self._constants.get(name)
        return int(array.reshape(-1)[0]) if array is not None and array.size == 1 else None

    def _is(self, name: str, number: float) -> bool:
        array = self._constants.get(name)
        return array is not None and array.size > 0 and bool(np.all(array == number))


def _whole(key: Any) -> int | None:
    return int(key) if isinstance(key, int | float) else None


def _is_in_order(first: Any, second: Any) -> bool:
    """Whether two labels are names, or numbers of which the second is the larger."""
    if first is None or second is None:
        return False
    arrays = np.asarray(first), np.asarray(second)
    if any(array.size != 1 for array in arrays):
        return False
    one, two = (array.reshape(-1)[0] for array in arrays)
    if all(isinstance(label, str | bytes) for label in (one, two)):
        return True
    try:
        return bool(one < two)
    except TypeError:
        return False
