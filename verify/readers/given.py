"""What a user gives, a network and data of any kind, -> `Network`, `Dataset` and notes: the one way in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast, final

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.problem.problem import Dataset
from verify.readers import read_with_notes
from verify.readers.bodies import note_on_frozen
from verify.readers.known import data_for
from verify.readers.reading import InputShapeError, Options, Reading
from verify.readers.scalings import Scaling, scaled_inputs, scaled_targets
from verify.readers.shapes import shape_of_points
from verify.readers.standardising import standardised
from verify.surroundings import Surroundings

if TYPE_CHECKING:
    from verify.problem.optimisers import Logits

__all__ = ["Given", "as_the_network_sees", "given", "notes_about", "notes_of_scaling"]

SCALED_POINTS = "the points are scaled by the scaler that comes with the network"
SCALED_TARGETS = "the targets are scaled as they were for training"


@final
@dataclass(frozen=True, slots=True)
class Given:
    """A network and data, and one sentence for each choice that was made in reading them.

    classes: the labels that were read as -1 and 1, where they were named, by the caller or by the network.
    logits: the two outputs whose difference is read.
    is_frozen: whether the data are what frozen first layers give, and the network is that of the others.
    is_model: as of `Reading`.
    """

    network: Network
    data: Dataset
    notes: tuple[str, ...]
    classes: tuple[object, ...] | None = None
    logits: Logits | None = None
    is_frozen: bool = False
    is_model: bool = False


def given(
    network: object,
    data: object,
    y: object = None,
    *,
    options: Options | None = None,
    target: str | None = None,
    classes: Sequence[object] | None = None,
    as_stored: bool = True,
    is_regression: bool = False,
    standardise: object = None,
) -> Given:
    """The network and the data, for whatever `read` and `read_data` take.

    y: the targets, when `data` holds the points alone.
    options: of `read`.   target, classes, as_stored: of `read_data`. A classifier that knows its two classes is asked
    for them, unless `is_regression`, and columns with names are put into the order that it knows. What the source of
    the network does to its inputs and targets is done to the data, exactly, unless it is folded.
    standardise: of `read_data`.

    Raises InputError.
    """
    if isinstance(data, Network) or isinstance(network, Dataset):
        raise InputError("the data stand where the network is expected: give the network first, then the data")
    chosen = {} if options is None else cast("dict[str, Any]", options.given())
    try:
        reading = read_with_notes(network, keeps_scalings=True, **chosen)
    except InputShapeError:
        if (shape := shape_of_points(data, y)) is None:
            raise
        reading = read_with_notes(network, keeps_scalings=True, input_shape=shape, **chosen)
    points = data_for(
        reading, data, y, target=target, classes=classes, as_stored=as_stored, is_regression=is_regression
    )
    classes = points.classes
    if standardise is not None:
        trust_pickle = options is not None and options.trust_pickle
        points = standardised(points, standardise, trust_pickle=trust_pickle, columns=reading.columns)
        if reading.inputs is not None and not _is_done(points.data, reading.inputs, "inputs"):
            raise InputError("the network comes with a scaler of its own, which scales the data: leave standardise out")
    data = as_the_network_sees(points.data, reading)
    scaled = () if data is points.data else notes_of_scaling(reading)  # those that were scaled before have their notes
    notes = tuple(dict.fromkeys((*reading.notes, *points.notes, *scaled)))
    if reading.body is not None:
        data, layers = reading.body.data(data), len(reading.body.layers)
        said = (*notes, note_on_frozen(layers, data))
        return Given(reading.network, data, said, classes, reading.logits, is_frozen=True, is_model=True)
    return Given(_placed(reading, data), data, notes, classes, reading.logits, is_model=reading.is_model)


def _placed(reading: Reading, data: Dataset) -> Network:
    """The network with what is done to its data, and with the names that it, or else they, have."""
    done = data.surroundings or Surroundings()
    around = replace(
        done,
        classes=done.classes or reading.classes,
        columns=reading.columns or done.columns,
        asks_columns=reading.columns is not None,
    )
    return reading.network if around == Surroundings() else reading.network.placed(around)


def as_the_network_sees(data: Dataset, reading: Reading) -> Dataset:
    """The data with what comes before the network done to the inputs, and what comes after it undone in the targets.

    Not again, where it is done. A network that was read before does nothing to data that were scaled in any way.
    """
    done = data.surroundings
    if done is not None and done.is_scaled and reading.network.surroundings is not None:
        return data
    if reading.inputs is not None and not _is_done(data, reading.inputs, "inputs"):
        data = scaled_inputs(data, reading.inputs, "the scaler of the network")
    if reading.outputs is not None and not _is_done(data, reading.outputs, "outputs"):
        data = scaled_targets(data, reading.outputs.inverse(), "the scaler of the targets")
    return data


def _is_done(data: Dataset, scaling: Scaling, name: str) -> bool:
    """Whether that was done to the data."""
    done = getattr(data.surroundings, name, None)
    return done is not None and Scaling(*done) == scaling.wide(len(done[0]), "the scaler of the network")


def notes_about(network: Network) -> tuple[str, ...]:
    """The sentences about a network that was read before and its scalers, without those about data."""
    reading = read_with_notes(network, keeps_scalings=True)
    return (*reading.notes, *notes_of_scaling(reading))


def notes_of_scaling(reading: Reading) -> Iterator[str]:
    """What has to be said of data that were scaled so."""
    if reading.inputs is not None:
        yield (
            f"{SCALED_POINTS}, exactly, and the network is kept as it "
            "is; with fold the scaler goes into the first layer instead"
        )
    if reading.outputs is not None:
        yield f"{SCALED_TARGETS}, exactly: amounts are in these units"
