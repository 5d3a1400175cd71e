"""Networks with several outputs, of whatever source `read` takes, and data with several targets or classes.

Two outputs are read here only beside targets with two columns: of two classes the difference of both is one output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, cast, final

import numpy as np

from verify.checker.errors import InputError
from verify.checker.vector_statement import VectorNetwork
from verify.numbers.counts import count
from verify.numbers.values import rational
from verify.problem.network import Network
from verify.problem.problem import Dataset
from verify.readers import StoredNetwork, read_data_with_notes, stored_network
from verify.readers.chains import Chain
from verify.readers.given import SCALED_POINTS
from verify.readers.labels import label_key
from verify.readers.reading import Options
from verify.readers.scalings import scaled_inputs
from verify.readers.shorthand import settled_slope

__all__ = ["SeveralOutputs", "several_outputs"]

Rows = tuple[tuple[Fraction, ...], ...]

SHAPE = "the targets have shape (points, outputs), or are classes 0, 1, ... of which there is an output each"


@final
@dataclass(frozen=True, slots=True)
class SeveralOutputs:
    """A network and data; targets (n, K), unit vectors where `are_classes`; a sentence for each choice."""

    network: VectorNetwork
    inputs: Rows
    targets: Rows
    are_classes: bool
    notes: tuple[str, ...]


def several_outputs(
    network: object, data: object, y: object = None, *, options: Options, target: str | None = None
) -> SeveralOutputs | None:
    """What is given, where the network has several outputs and is not one of the difference of two; else None.

    Raises InputError where it has, and is not decided.
    """
    if isinstance(network, Network) or isinstance(data, Dataset):
        return None
    try:
        stored = stored_network(network, options)
    except InputError:
        return None  # whoever reads it next says why
    place, chain = stored.place, stored.found
    if not isinstance(chain, Chain) or (outputs := chain.layers[-1].shape[0]) < 2:
        return None
    X, columns = _arrays(data, y)
    many = columns if columns is not None and columns.ndim == 2 and columns.shape[1] > 1 else None
    if outputs == 2 and many is None:
        return None
    found, said = _network(chain, place, options)
    if many is not None:
        points, targets, read = _of_columns(X, many, outputs, stored.columns)
    else:
        points, targets, read = _of_classes(X, columns, data, y, target, outputs, stored)
    if chain.inputs is not None:
        points = scaled_inputs(points, chain.inputs, f"the scaler of {place}")
        read = (*read, SCALED_POINTS)
    inputs = points.inputs
    if len(inputs[0]) != len(found.hidden[0]) - found.bias:
        raise InputError(
            f"{place} takes {count(len(found.hidden[0]) - found.bias, 'input')}, and a point of the data has "
            f"{count(len(inputs[0]), 'entry', 'entries')}"
        )
    notes = tuple(dict.fromkeys((*stored.notes, *said, *read)))
    return SeveralOutputs(found, inputs, targets, many is None, notes)


def _network(chain: Chain, place: str, options: Options) -> tuple[VectorNetwork, tuple[str, ...]]:
    """The two layers, exactly. Raises InputError."""
    if len(chain.layers) != 2:
        raise InputError(
            f"{place} has {count(len(chain.layers) - 1, 'hidden layer')} and several outputs, of which networks of one "
            "hidden layer are decided"
        )
    hidden, output = chain.layers
    is_plain = hidden.entries is None and output.entries is None and chain.outputs is None
    is_plain = is_plain and (chain.inputs is None or not options.fold)
    if not is_plain or chain.folded:
        raise InputError(
            f"{place} has several outputs, and beside its weights it shares or scales some: give a network of plain "
            "layers, and data that are scaled as it sees them"
        )
    stored = None if chain.slopes is None else chain.slopes[0]
    slope, notes = settled_slope(stored, options.slope, place)
    columns = [[rational(entry, f"{place}: {hidden.weights_name}") for entry in row] for row in hidden.weights]
    if hidden.bias is not None:
        biases = [rational(entry, f"{place}: {hidden.bias_name}") for entry in hidden.bias]
        columns = [[*row, bias] for row, bias in zip(columns, biases, strict=True)]
    rows = tuple(tuple(rational(entry, f"{place}: {output.weights_name}") for entry in row) for row in output.weights)
    shift = None
    if output.bias is not None:
        shift = tuple(rational(entry, f"{place}: {output.bias_name}") for entry in output.bias)
    head = (
        (f"{place}: its {chain.head} is left out, so that the outputs are the values before it",) if chain.head else ()
    )
    found = VectorNetwork(slope, hidden.bias is not None, tuple(map(tuple, columns)), rows, shift)
    return found, (*chain.notes, *notes, *head)


def _arrays(data: object, y: object) -> tuple[object, Any]:
    """X and y; None for both where data are no arrays."""
    X, targets = data, y
    if y is None and isinstance(data, str | PathLike):
        path = Path(cast("str", data))
        if path.suffix.lower() != ".npz" or not path.is_file():
            return None, None
        from verify.files.reading import read_bytes
        from verify.readers.npz import arrays_in

        found = arrays_in(read_bytes(path), str(path))
        X, targets = found.get("X"), found.get("y")
    elif y is None and isinstance(data, Mapping):
        named = cast("Mapping[str, object]", data)
        X, targets = named.get("X"), named.get("y")
    elif y is None and isinstance(data, list | tuple) and len(cast("Sequence[object]", data)) == 2:
        X, targets = cast("Sequence[object]", data)
    if targets is None:
        return None, None
    try:
        return X, np.asarray(targets)
    except (TypeError, ValueError, RuntimeError):
        return X, None


def _of_columns(
    X: object, columns: Any, outputs: int, names: Sequence[str] | None
) -> tuple[Dataset, Rows, tuple[str, ...]]:
    """The points, their targets, and notes. Raises InputError."""
    if columns.shape[1] != outputs:
        raise InputError(f"the network has {outputs} outputs, and the targets have {columns.shape[1]} columns: {SHAPE}")
    read = [read_data_with_notes(X, columns[:, k], as_stored=True, columns=names) for k in range(outputs)]
    return read[0].data, tuple(zip(*(one.data.targets for one in read), strict=True)), read[0].notes


def _of_classes(
    X: object, labels: Any, data: object, y: object, target: str | None, outputs: int, stored: StoredNetwork
) -> tuple[Dataset, Rows, tuple[str, ...]]:
    """The points, the unit vector of the class of each, and notes. Raises InputError.

    Of a classifier that knows its classes the labels are these; of others the numbers of the outputs.
    """
    names = stored.classes
    said: tuple[str, ...] = ()
    if names is not None and labels is not None and labels.ndim == 1:
        places = {label_key(name): k for k, name in enumerate(names)}
        unknown = next((i for i, label in enumerate(labels.tolist()) if label_key(label) not in places), None)
        if unknown is not None:
            raise InputError(
                f"y[{unknown}] is {labels[unknown]!s:.40}, and {stored.place} was trained on the classes "
                f"{', '.join(f'{name!s:.30}' for name in names[:8])}: leave the points of other classes out"
            )
        codes = [places[label_key(label)] for label in labels.tolist()]
        found = read_data_with_notes(X, codes, as_stored=True, columns=stored.columns)
        if [*map(label_key, names)] != [*range(outputs)]:
            shown = ", ".join(f"{name!s:.30}" for name in names[:8])
            said = (f"{stored.place}: its outputs are those of the classes {shown}, in this order",)
    else:
        found = read_data_with_notes(data, y, target=target, as_stored=True, columns=stored.columns)
    classes = found.data.targets
    wrong = next((label for label in classes if label.denominator != 1 or not 0 <= label < outputs), None)
    if wrong is not None:
        raise InputError(f"the network has {outputs} outputs, and a target is {wrong}: {SHAPE}")
    units = [tuple(Fraction(int(j == k)) for j in range(outputs)) for k in range(outputs)]
    return found.data, tuple(units[int(label)] for label in classes), (*found.notes, *said)
