"""What `train` is given: data, and a network to start from, read as `audit` reads them."""

from __future__ import annotations

from collections.abc import Sequence

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.problem.problem import Dataset
from verify.readers import read_data_with_notes
from verify.readers.given import given
from verify.readers.reading import MissingOptionsError, Options

__all__ = ["read_given"]


def read_given(
    start: object,
    data: object,
    y: object,
    options: Options,
    *,
    target: str | None,
    classes: Sequence[object] | None,
    standardise: object,
    as_stored: bool = False,
) -> tuple[Network | None, Dataset]:
    """The network to start from, if one is given, and the data, which carry what was chosen in reading them.

    options: of `read`; a `Network` needs none.   target, classes, standardise, as_stored: of `read_data`. The classes,
    the columns and the scaler that the start knows are used, as by `audit`. Raises InputError.
    """
    if start is None:
        read = read_data_with_notes(
            data,
            y,
            target=target,
            as_stored=as_stored,
            classes=classes,
            standardise=standardise,
            trust_pickle=options.trust_pickle,
        )
        return None, read.data
    try:
        both = given(
            start,
            data,
            y,
            options=None if isinstance(start, Network) else options,
            target=target,
            classes=classes,
            as_stored=as_stored,
            standardise=standardise,
        )
    except MissingOptionsError as error:
        raise error.with_train(*(("data",) if y is None else ("X", "y"))) from None
    if len(both.network.parameters) > len(both.network.architecture.layers):
        raise InputError(
            "the network to start from has an output bias, and what is trained here has none: start without it, or "
            "save the network and give the file with output_bias='neuron' (--output-bias neuron), as one more neuron"
        )
    said = tuple(note for note in both.notes if note not in both.network.notes)
    return both.network, both.data.noted(said) if said else both.data
