"""Linear maps, activations, scales and shifts in the order in which they are applied -> `Chain`.

A positive factor c of a layer's output passes through max(z, a z), so all such factors are one factor C of the network.
Its function is that of the network whose L layers are multiplied by the L-th root of C, and the norm of that one is the
trained norm times the root: shared equally among the layers, a factor moves no network off a KKT point. The shares are
the doubles nearest to the root, but for the last layer's, which makes their product C exactly. A factor beside an
output layer that was not trained goes into that layer, which holds constants already.

All else that scales or shifts (a batch normalisation, constants for each feature, a factor between weights and bias) is
put into the Linear beside it: the same function, another norm, which the user has to allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import final

from verify.checker.errors import InputError
from verify.numbers.floats import to_float
from verify.numbers.values import Number
from verify.readers.chains import Chain
from verify.readers.linear_layer import NAMELESS, LinearLayer
from verify.readers.positions import Entries, Shape

OneOrEach = Fraction | Sequence[Fraction]
"""One number for all features, or one for each."""


@final
@dataclass(slots=True)
class _Layer:
    """A linear map and what follows it up to the next; `factor` is a positive one, after its activation."""

    weights: list[list[Number]]
    bias: list[Number] | None
    names: tuple[str, str]
    is_fixed: bool
    entries: Entries | None = None
    bias_entries: Sequence[int] | None = None
    slope: Fraction = Fraction(1)
    is_activated: bool = False
    factor: Fraction = Fraction(1)


@final
@dataclass(frozen=True, slots=True)
class _Change:
    """A scale and a shift of features, on the way to the next linear map."""

    scale: OneOrEach
    shift: OneOrEach
    name: str
    is_fixed: bool


@final
class LayerRow:
    """The row of layers met so far. Steps that make no such row raise InputError, which starts with `where`."""

    def __init__(self, place: str, remedy: str) -> None:
        self.place, self.remedy = place, remedy
        self.layers: list[_Layer] = []
        self.waiting: list[_Change] = []
        self.notes: list[str] = []
        self.folded: list[str] = []
        self.constants: list[str] = []
        self.head = ""
        self.factor = Fraction(1)  # of the inputs
        self.input_shape: Shape | None = None
        self.shape: Shape | None = None  # (channels, length, ...) of the value at this place; None: features in a row
        self.sums: tuple[int | None, ...] | None = None  # of what came before, for each feature the sum it goes into
        self.pooling = ""  # what makes the sums, for messages

    @property
    def outputs(self) -> int | None:
        """The number of features at this place; None where only the inputs are known."""
        if self.sums is not None:
            return len({at for at in self.sums if at is not None})
        return len(self.layers[-1].weights) if self.layers else None

    def linear(self, layer: LinearLayer, *, is_fixed: bool = False) -> None:
        """The next linear map; `is_fixed` when it was not trained."""
        self._check_open()
        bias = None if layer.bias is None else list(layer.bias)
        found = _Layer(
            [list(row) for row in layer.weights], bias, (layer.weights_name, layer.bias_name), is_fixed,
            layer.entries, layer.bias_entries,
        )  # fmt: skip
        for change in reversed(self.waiting):
            self._fold(change)
            _before(found, change.scale, change.shift)
        self.waiting = []
        if self.sums is not None:
            _of_sums(found, self.sums)
            self.sums = None
        if self.layers:
            _leave_out_unread(self.layers[-1], found)
        self.layers.append(found)

    def pool(self, sums: tuple[int | None, ...], factor: Fraction, where: str) -> None:
        """Sums of features, times a factor: for each feature the sum that it is a term of, None for none."""
        self._check_open()
        if self.waiting or self.sums is not None:
            raise InputError(
                f"{where}: pooling follows {self.waiting[-1].name if self.waiting else 'other pooling'} with no linear "
                "map between them: leave one of them out"
            )
        self.sums, self.pooling = sums, where.removeprefix(f"{self.place}: ")
        if factor != 1:
            self.scale(factor, f"the mean of {1 / factor} in {self.pooling}")

    def bias(self, numbers: Sequence[Number], name: str) -> None:
        """A bias added to the linear map just met, which has none."""
        layer = self.layers[-1]
        if layer.factor != 1:
            self.folded.append(f"a factor of {_short(layer.factor)} between {layer.names[0]} and {name}")
            self._spend(layer)
        layer.bias, layer.names = list(numbers), (layer.names[0], name)

    def takes_bias(self, size: int) -> bool:
        """Whether so many numbers added here are the bias of the linear map just met."""
        if not self.layers or self.waiting or self.sums is not None:
            return False
        layer = self.layers[-1]
        return layer.bias is None and not layer.is_activated and len(layer.weights) == size

    def activation(self, slope: Fraction, where: str) -> None:
        """max(z, slope z) of each feature; one after the other they are one with the product of the slopes."""
        self._check_open()
        if not self.layers:
            raise InputError(
                f"{where}: an activation acts on the inputs: apply it to the data, and read the network without it"
            )
        if self.sums is not None:
            raise InputError(
                f"{where}: an activation follows the pooling {self.pooling}, and is then one of sums, each with all "
                "their weights: activate before pooling"
            )
        if self.waiting:
            raise InputError(
                f"{where}: an activation follows {self.waiting[-1].name}, which follows another activation, with no "
                "Linear between them: train a network of Linear layers with one activation each"
            )
        self.layers[-1].slope *= slope
        self.layers[-1].is_activated = True

    def scale(self, number: Fraction, name: str) -> None:
        """One constant factor of all features, `name` for messages such as "/ 2"."""
        self._check_open()
        if number == 0:
            raise InputError(f"{self.place}: at {name} its forward multiplies by 0: read the network without that")
        self.constants.append(name)
        if self.waiting:
            self.waiting.append(_Change(number, Fraction(0), name, is_fixed=True))
        elif not self.layers:
            self.factor *= number
        else:
            layer = self.layers[-1]
            layer.factor *= abs(number)
            if number < 0 and layer.is_activated:
                self.waiting.append(_Change(Fraction(-1), Fraction(0), "", is_fixed=True))
            elif number < 0:
                _after(layer, Fraction(-1), Fraction(0))

    def change(self, scale: OneOrEach, shift: OneOrEach, name: str, *, is_fixed: bool = True) -> None:
        """Scale features and shift them, each by its own number or all by one."""
        self._check_open()
        change = _Change(scale, shift, name, is_fixed)
        if not self.layers:
            if self.factor != 1:
                self.waiting.append(_Change(self.factor, Fraction(0), "a factor of the inputs", is_fixed=True))
                self.factor = Fraction(1)
            self.waiting.append(change)
        elif self.layers[-1].is_activated or self.waiting or self.sums is not None:
            if (factor := self.layers[-1].factor) != 1:
                self.waiting.append(_Change(factor, Fraction(0), f"a factor of {_short(factor)}", is_fixed=True))
                self.layers[-1].factor = Fraction(1)
            self.waiting.append(change)
        else:
            self._spend(self.layers[-1])
            self._fold(change)
            _after(self.layers[-1], scale, shift)

    def sum(self, where: str) -> None:
        """The sum of the features, each times the numbers just met, if there are any: fixed output weights."""
        if not self.layers:
            raise InputError(f"{where}: it adds the inputs up: give the whole network")
        name, is_fixed = f"{where.removeprefix(f'{self.place}: ')} (a sum)", True
        weights: Sequence[Number] = [1] * (self.outputs or 0)
        if self.waiting and not isinstance(found := self.waiting[-1].scale, Fraction) and not self.waiting[-1].shift:
            weights, name, is_fixed = found, self.waiting[-1].name, self.waiting[-1].is_fixed
            self.waiting.pop()
        self.linear(LinearLayer(weights=[weights], bias=None, weights_name=name, bias_name=NAMELESS), is_fixed=is_fixed)

    def chain(self, *, is_exact: bool = False) -> Chain:
        """All of it. Raises InputError when there is no linear map, or something other than one at the end."""
        if not self.layers:
            raise InputError(f"{self.place} has no Linear layer: give the whole network")
        last = self.layers[-1]
        if last.slope != 1 or self.waiting or self.sums is not None:
            follows = "an activation" if last.slope != 1 else f"the pooling {self.pooling}"
            follows = self.waiting[-1].name or "a factor" if self.waiting else follows
            raise InputError(
                f"{self.place}: {follows} follows the last layer, {last.names[0]}, and the output of a network must be "
                "linear: train without it"
            )
        self._share()
        return Chain(
            layers=tuple(
                LinearLayer(
                    weights=layer.weights,
                    bias=layer.bias,
                    weights_name=layer.names[0],
                    bias_name=layer.names[1],
                    entries=layer.entries,
                    bias_entries=layer.bias_entries,
                )
                for layer in self.layers
            ),
            slopes=tuple(layer.slope for layer in self.layers[:-1]),
            remedy=self.remedy,
            notes=(*self.notes, *self._notes_on_layers()),
            head=self.head,
            folded=tuple(dict.fromkeys(self.folded)),
            is_exact=is_exact,
            input_shape=self.input_shape,
        )

    def _check_open(self) -> None:
        if self.head:
            raise InputError(
                f"{self.place}: its {self.head} is not its last step, and only there it can be left out: read the part "
                "of the network before it"
            )

    def _share(self) -> None:
        """Spread the constant factors over the layers."""
        if self.factor != 1 and any(any(layer.bias or ()) for layer in self.layers):
            self.folded.append(f"a factor of {_short(self.factor)} of the inputs")
            _before(self.layers[0], self.factor, Fraction(0))
            self.factor = Fraction(1)
        is_negative = self.factor < 0
        if is_negative:
            _after(self.layers[-1], Fraction(-1), Fraction(0))
        whole = abs(self.factor) * prod((layer.factor for layer in self.layers), start=Fraction(1))
        if whole != 1:
            self._multiply(whole)
            self.notes.append(self._note_on_factor(whole, is_negative=is_negative))

    def _multiply(self, whole: Fraction) -> None:
        count = len(self.layers)
        share = Fraction(1) if self.layers[-1].is_fixed else Fraction(to_float(whole) ** (1 / count))
        grown = met = Fraction(1)  # by how much the outputs of the layers so far are multiplied: now, and in forward
        for i, layer in enumerate(self.layers):
            own = share if i < count - 1 else whole / share ** (count - 1)
            grown *= own
            _after(layer, own, Fraction(0))
            if layer.bias is not None:
                layer.bias = [Fraction(bias) / own * grown / met for bias in layer.bias]
            met *= layer.factor

    def _note_on_factor(self, whole: Fraction, *, is_negative: bool) -> str:
        shown = ", ".join(dict.fromkeys(self.constants))
        start = (
            f"{self.place}: the constants in its forward ({shown}) are taken as the exact values of the numbers there"
        )
        if self.layers[-1].is_fixed:
            return f"{start}, and multiply the output weights, which were not trained either"
        return (
            f"{start}, and shared equally by its {len(self.layers)} layers: the function is the same, and so is each "
            f"layer up to the factor {to_float(whole) ** (1 / len(self.layers)):.6g}, to rounding"
            + (", and up to the sign of the last one" if is_negative else "")
        )

    def _notes_on_layers(self) -> list[str]:
        notes = [
            f"{self.place}: {name} is put into the weights beside it: the function is the same, the norm is not the "
            "one that was trained"
            for name in dict.fromkeys(self.folded)
        ]
        fixed = [layer.names[0] for layer in self.layers if layer.is_fixed]
        if fixed and len(fixed) < len(self.layers):
            notes.append(
                f"{self.place}: {', '.join(fixed)} was not trained: the audit is about networks in which every layer "
                "is, and counts it in the norm"
            )
        return notes

    def _fold(self, change: _Change) -> None:
        if change.name:
            self.folded.append(change.name)

    def _spend(self, layer: _Layer) -> None:
        """Put the factor of a layer into its weights and bias."""
        if layer.factor != 1:
            _after(layer, layer.factor, Fraction(0))
            layer.factor = Fraction(1)


def _before(layer: _Layer, scale: OneOrEach, shift: OneOrEach) -> None:
    """Make A x + b of a layer A (scale x + shift) + b."""
    inputs = len(layer.weights[0])
    scales, shifts = _each(scale, inputs, layer), _each(shift, inputs, layer)
    if any(shifts):
        old = layer.bias or [0] * len(layer.weights)
        added = [sum((Fraction(w) * t for w, t in zip(row, shifts, strict=True)), Fraction(0)) for row in layer.weights]
        layer.bias = [Fraction(bias) + more for bias, more in zip(old, added, strict=True)]
    if any(number != 1 for number in scales):
        layer.weights = [[Fraction(w) * s for w, s in zip(row, scales, strict=True)] for row in layer.weights]


def _after(layer: _Layer, scale: OneOrEach, shift: OneOrEach) -> None:
    """Make A x + b of a layer scale (A x + b) + shift."""
    outputs = len(layer.weights)
    scales, shifts = _each(scale, outputs, layer), _each(shift, outputs, layer)
    if any(number != 1 for number in scales):
        layer.weights = [[Fraction(w) * s for w in row] for row, s in zip(layer.weights, scales, strict=True)]
        if layer.bias is not None:
            layer.bias = [Fraction(bias) * s for bias, s in zip(layer.bias, scales, strict=True)]
    if any(shifts):
        layer.bias = [Fraction(bias) + t for bias, t in zip(layer.bias or [0] * outputs, shifts, strict=True)]


def _of_sums(layer: _Layer, sums: Sequence[int | None]) -> None:
    """Make A x of a layer A applied to sums: each weight stands at all terms of its sum."""
    entries = layer.entries
    if entries is None:
        columns = len(layer.weights[0])
        entries = [range(r * columns, (r + 1) * columns) for r in range(len(layer.weights))]
    layer.entries = tuple(tuple(None if at is None else row[at] for at in sums) for row in entries)
    layer.weights = [[0 if at is None else row[at] for at in sums] for row in layer.weights]


def _leave_out_unread(layer: _Layer, following: _Layer) -> None:
    """Take the outputs away that a layer with places of no weight sees nowhere."""
    if following.entries is None:
        return
    read = [c for c in range(len(layer.weights)) if any(row[c] is not None for row in following.entries)]
    if len(read) == len(layer.weights):
        return
    layer.weights = [layer.weights[c] for c in read]
    layer.bias = None if layer.bias is None else [layer.bias[c] for c in read]
    layer.entries = None if layer.entries is None else tuple(layer.entries[c] for c in read)
    layer.bias_entries = None if layer.bias_entries is None else [layer.bias_entries[c] for c in read]
    following.weights = [[row[c] for c in read] for row in following.weights]
    following.entries = tuple(tuple(row[c] for c in read) for row in following.entries)


def _each(numbers: OneOrEach, size: int, layer: _Layer) -> Sequence[Fraction]:
    if isinstance(numbers, Fraction):
        return [numbers] * size
    if len(numbers) != size:
        raise InputError(
            f"{len(numbers)} numbers scale or shift the {size} features beside {layer.names[0]}: give one for each"
        )
    return numbers


def _short(number: Fraction) -> str:
    return f"{to_float(number):.6g}"
