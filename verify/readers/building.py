"""A chain of layers, built step by step along a graph or a list: layers, activations, and constants that scale."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verify.checker.errors import InputError, ShapeError
from verify.numbers.values import Number, rational
from verify.problem.phrases import WENT_INTO_WEIGHTS
from verify.readers.chains import Chain, LinearLayer
from verify.readers.scalings import Scaling
from verify.readers.slopes import in_range

__all__ = ["ChainBuilder", "along_outputs"]


def along_outputs(axis: object, name: str, where: str) -> None:
    """Refuse a Softmax, or an ArgMax, over another axis than that of the outputs; 0 is that of the points."""
    if axis not in (1, -1, [1], [-1]):
        raise InputError(f"{where}: a {name} over axis {axis} is not one over the outputs: give it axis -1")


class ChainBuilder:
    """What was met so far on the way from the input to the output; `where` names a step in messages.

    A scaling before the first layer is that of the inputs; any other one goes into the weights beside it, and is named
    in `folded`, since the norm is then not the one that was trained.
    """

    def __init__(self, place: str, remedy: str) -> None:
        self.place, self.remedy = place, remedy
        self.layers: list[LinearLayer] = []
        self.slopes: list[Fraction] = []
        self.folded: list[str] = []
        self.notes: list[str] = []
        self.inputs: Scaling | None = None
        self.scalers: list[str] = []
        self.head = ""
        self._pending: Scaling | None = None
        self._is_exact = True

    @property
    def outputs(self) -> int:
        """The number of values, when a layer came last; 0 after an activation, a scaling of one, or nothing."""
        return self.layers[-1].shape[0] if self.layers and self.slopes[-1] == 1 and self._pending is None else 0

    def add(self, layer: LinearLayer, where: str) -> None:
        """A linear map."""
        self._refuse_after_head(where)
        if self._pending is not None and not self.layers:
            self.inputs = self._pending.wide(layer.shape[1], where)
        elif self._pending is not None:
            weights, bias = self._pending.before(layer.weights, layer.bias, where)
            layer = _with(layer, weights, bias)
            self._is_exact = False
        self._pending = None
        self.layers.append(layer)
        self.slopes.append(Fraction(1))

    def add_bias(self, values: Sequence[Number], name: str) -> None:
        """One number for all outputs, or one for each, added to those of the last layer."""
        layer = self.layers[-1]
        values = list(values) * (layer.shape[0] if len(values) == 1 else 1)
        if len(values) != layer.shape[0]:
            raise ShapeError(
                f"{self.place}: {name} has {len(values)} numbers, but {layer.weights_name} gives {layer.shape[0]}: "
                "give one bias for each output"
            )
        if layer.bias is not None:
            values = [Fraction(a) + Fraction(b) for a, b in zip(layer.bias, values, strict=True)]
            self._is_exact = False
        self.layers[-1] = LinearLayer(
            weights=layer.weights, bias=values, weights_name=layer.weights_name, bias_name=name
        )

    def activate(self, slope: object, where: str) -> None:
        """max(z, slope z)."""
        self._refuse_after_head(where)
        if not self.layers:
            raise InputError(
                f"{where}: an activation acts on the inputs: apply it to the data, and read the network without it"
            )
        if self._pending is not None:
            raise InputError(f"{where}: an activation after a scaled activation is not read: leave the scaling out")
        number = in_range(rational(slope, f"{where}: the slope"), f"{where}: the slope")
        self.slopes[-1] *= number  # max(z, a z) after max(z, b z) is max(z, a b z)

    def scale(self, scaling: Scaling, name: str, where: str) -> None:
        """Constants that scale and shift."""
        self._refuse_after_head(where)
        if scaling.is_identity:
            return
        if not (self.layers and scaling.changes_signs_only):  # a change of signs leaves the norm that was trained
            (self.folded if self.layers else self.scalers).append(name)
        if self.outputs:
            weights, bias = scaling.after(self.layers[-1].weights, self.layers[-1].bias, where)
            self.layers[-1] = _with(self.layers[-1], weights, bias)
            self._is_exact = self._is_exact and scaling.changes_signs_only
        else:
            self._pending = scaling if self._pending is None else self._pending.then(scaling, where)

    def end_in(self, head: str, where: str, axis: object = -1) -> None:
        """A Sigmoid, Softmax or LogSoftmax, which is left out.   axis: over which the last two go."""
        self._refuse_after_head(where)
        along_outputs(axis, head, where)
        if not self.outputs:
            raise InputError(f"{where}: {head} follows no layer: give the whole network")
        self.head = head

    def chain(self) -> Chain:
        """The chain. Raises InputError for one that does not end in a layer."""
        if not self.layers:
            raise InputError(f"{self.place} has no layer with weights: give the whole network")
        if not self.outputs:
            raise InputError(
                f"{self.place}: an activation follows the last layer, {self.layers[-1].weights_name}, and the output "
                "of a network must be linear: train without it"
            )
        if self.folded:
            self.notes.append(
                f"{self.place}: {', '.join(self.folded)} {WENT_INTO_WEIGHTS} beside it: the function is the same, "
                "the norm is not the one that was trained"
            )
        return Chain(
            layers=tuple(self.layers),
            slopes=tuple(self.slopes[:-1]),
            remedy=self.remedy,
            notes=tuple(self.notes),
            head=self.head,
            folded=tuple(self.folded),
            inputs=self.inputs,
            scalers=tuple(self.scalers),
            is_exact=self._is_exact,
        )

    def _refuse_after_head(self, where: str) -> None:
        if self.head:
            raise InputError(f"{where} comes after a {self.head}, which ends a network: give the network before it")


def _with(layer: LinearLayer, weights: Sequence[Sequence[Number]], bias: Sequence[Number] | None) -> LinearLayer:
    return LinearLayer(weights=weights, bias=bias, weights_name=layer.weights_name, bias_name=layer.bias_name)
