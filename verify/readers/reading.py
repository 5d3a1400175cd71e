"""What a reader is told and hands back: options; networks or data, and what has to be said about how they were read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from os import PathLike
from typing import TYPE_CHECKING, cast, final

from verify.checker.errors import InputError, IsoptimalError
from verify.numbers.arguments import a_flag, items_of, wrong
from verify.problem.network import Network
from verify.problem.problem import Dataset
from verify.readers.slopes import slope_given
from verify.surroundings import Surroundings

if TYPE_CHECKING:
    from verify.problem.optimisers import Logits
    from verify.readers.bodies import Body
    from verify.readers.scalings import Scaling


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """A network, and one sentence for each choice that the reader made for the user.

    classes: the labels of the negative and the positive class, when the source knows them.
    columns: the names of the inputs in their order, when it knows them.
    inputs, outputs: what the source does to its inputs before the network, and to the value of the network after it,
    where the caller asked to be told instead of having it folded.
    logits: the two outputs whose difference is read.
    body: the first layers that are frozen, which the network is without.
    is_model: whether the source says itself which side of a matrix is that of the inputs.
    """

    network: Network
    notes: tuple[str, ...] = ()
    classes: tuple[object, object] | None = None
    inputs: Scaling | None = None
    outputs: Scaling | None = None
    columns: tuple[str, ...] | None = None
    logits: Logits | None = None
    body: Body | None = None
    is_model: bool = False


@final
@dataclass(frozen=True, slots=True)
class DataReading:
    """A data set, and one sentence for each choice that the reader made for the user.

    classes: the labels that were read as -1 and 1, where the caller or the network named them.
    """

    data: Dataset
    notes: tuple[str, ...] = ()
    classes: tuple[object, ...] | None = None


def named(data: Dataset, *, classes: Sequence[object] | None = None, columns: Sequence[str] | None = None) -> Dataset:
    """The data with the names of their classes, the negative one first, and of their columns."""
    known = data.surroundings or Surroundings()
    if classes is not None:
        negative, positive = classes
        known = replace(known, classes=(negative, positive))
    return data.placed(known if columns is None else replace(known, columns=tuple(columns)))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the user says about a network, and lets a reader do.

    slope: of the activation on the negative side, where the source holds none; must agree with it where it does.
    two_logits: "difference" reads the second of two outputs minus the first; "refuse" does not.
    output_bias: "neuron" carries biases after the first layer by one more hidden neuron; "keep" leaves that of two
    layers as it is, which only losses take; "refuse" does neither.
    fold: whether layers that scale and shift, such as a batch normalisation, go into the Linear beside them.
    trust_pickle: whether code in the file may run.
    input_shape: of a point, (channels, length, ...), for convolutions; by default that of the data.
    frozen: how many first layers are to be told apart, for a caller who computes what they give.
    """

    slope: object = None
    two_logits: str = "refuse"
    output_bias: str = "refuse"
    fold: bool = False
    trust_pickle: bool = False
    input_shape: tuple[int, ...] | None = None
    frozen: int = 0

    def __post_init__(self) -> None:
        one_of(self.two_logits, "two_logits", "difference")
        one_of(self.output_bias, "output_bias", "neuron", "keep")
        a_flag(self.fold, "fold")
        a_flag(self.trust_pickle, "trust_pickle")
        frozen_given(self.frozen)
        if self.slope is not None:
            slope_given(self.slope)

    def given(self) -> dict[str, object]:
        """Those that are not left at their defaults."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}


class MissingOptionsError(InputError):
    """A network that can be read with more options; the message ends in the call, or the command, with them.

    reason: what stands before the call.   needed: the options that are missing, by their names in Python.
    given: those that the call has.   place: the path of a file.   word: what a call names another source, such as
    "model"; "" for a file.   call: another call than that of `read`, with {0} for the source and {1} for the options.
    """

    def __init__(
        self,
        reason: str,
        needed: Mapping[str, object],
        given: Options,
        place: str,
        word: str,
        call: str = "",
    ) -> None:
        super().__init__(reason, needed, given, place, word, call)
        self.reason, self.needed, self.given, self.place, self.word, self.call = (
            reason,
            needed,
            given,
            place,
            word,
            call,
        )

    def __str__(self) -> str:
        found = {**self.given.given(), **self.needed}
        every = {name: found[name] for name in _NAMES if name in found}
        written = ", ".join(in_python(every))
        if self.call:
            return f"{self.reason}: {self.call.format(self.word or repr(self.place), written)}"
        if self.word:
            return f"{self.reason}: read({self.word}, {written})"
        command = shlex.join(("isoptimal", "audit", self.place, "DATA", *on_command_line(every)))
        return f"{self.reason}: {command} (in Python {written})"

    def with_audit(self, *data: str) -> MissingOptionsError:
        """The same error, ending in the call of `audit` with these names of the data."""
        return self._with(f"audit({{0}}, {', '.join(data)}, {{1}})")

    def leaving_out(self, name: str) -> MissingOptionsError:
        """The same error, of a call that does not have this option, which is at its default then."""
        given = Options(**{key: value for key, value in self.given.given().items() if key != name})  # type: ignore[arg-type]
        return MissingOptionsError(self.reason, self.needed, given, self.place, self.word, self.call)

    def with_train(self, *data: str) -> MissingOptionsError:
        """The same error, ending in the call of `train` with these names of the data."""
        return self._with(f"train({', '.join(data)}, start={{0}}, {{1}})")

    def _with(self, call: str) -> MissingOptionsError:
        return MissingOptionsError(self.reason, self.needed, self.given, self.place, self.word, call)

    def with_command(self, words: Sequence[str]) -> InputError:
        """The same error, ending in the command of these words and the options that it lacks."""
        return InputError(f"{self.reason}: {shlex.join((*words, *on_command_line(self.needed)))}")


def frozen_given(layers: object) -> int:
    """A number of first layers. Raises InputError."""
    remedy = "give the number of first layers that are not trained, such as 1"
    if isinstance(layers, bool) or not isinstance(layers, int):
        raise wrong(layers, "frozen", remedy)
    if layers < 0:
        raise InputError(f"frozen is {layers}: {remedy}")
    return layers


class InputShapeError(InputError):
    """A network of convolutions that can be read with the shape of a point."""


_NAMES = tuple(field.name for field in fields(Options))


def shape_given(given: Sequence[int]) -> tuple[int, ...]:
    """The shape of a point. Raises InputError."""
    sizes = items_of(given, "input_shape", _SHAPE)
    if not sizes or any(type(size) is not int or size < 1 for size in sizes):
        raise InputError(f"input_shape is {given!r:.60}: {_SHAPE}")
    return cast("tuple[int, ...]", tuple(sizes))


_SHAPE = "give the shape of a point, such as (1, 16) for one channel of 16 places"


def word_of(source: object) -> str:
    """What a call of `read` in a message names the source; "" for a path."""
    if isinstance(source, str | PathLike):
        return ""
    if not isinstance(source, Mapping):
        return "arrays" if isinstance(source, list | tuple) else "model"
    return "arrays" if {"W", "v"} <= set(cast("Mapping[object, object]", source)) else "state"


def one_of(given: object, name: str, *choices: str) -> None:
    """Refuse what is neither "refuse" nor a choice that an option has."""
    if not isinstance(given, str) or given not in ("refuse", *choices):
        others = " or ".join(f'"{choice}"' for choice in choices)
        raise InputError(f'{name} is {given!r:.60}: it must be "refuse" or {others}')


def in_python(options: Mapping[str, object]) -> list[str]:
    """Options as they are written in a call."""
    return [f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}" for name, value in options.items()]


def on_command_line(options: Mapping[str, object]) -> list[str]:
    """Options as they are written on the command line."""
    words: list[str] = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Put the name of the file in front of what the core says about its content."""
    try:
        yield
    except IsoptimalError as error:
        raise InputError(f"{place}: {error}") from error
