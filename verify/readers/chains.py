"""Linear layers in a row, x -> A_m s(... s(A_1 x + b_1) ...) + b_m, as a framework stores them, -> `Network`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, final

from verify.checker.errors import InputError, ShapeError
from verify.numbers.counts import count
from verify.numbers.floats import to_float
from verify.numbers.values import Number
from verify.problem.phrases import SECOND_MINUS_FIRST, WENT_INTO_WEIGHTS
from verify.readers.bodies import Body, check_frozen
from verify.readers.layers import deep
from verify.readers.linear_layer import NAMELESS, LinearLayer
from verify.readers.positions import Shape
from verify.readers.reading import MissingOptionsError, Options, Reading
from verify.readers.scalings import Scaling
from verify.readers.shorthand import Shorthand, settled_slope, two_layer

if TYPE_CHECKING:
    from verify.problem.optimisers import Logits


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Linear layers from the input to the output.

    slopes: of the activation after each layer but the last; None when the source does not hold the activations.
    remedy: how to train without an output bias, for messages.   notes: what has to be said about the reading.
    is_relu: whether a source without activations is read as ReLU, with a note, when the user does not say the slope.
    head: "Sigmoid", "Softmax" or "LogSoftmax" after the last layer, which is left out; "" for none.
    folded: the layers that went into the weights beside them, which the user has to allow, as messages name them.
    is_exact: False when numbers that are rational now were computed from floats.
    inputs: what is done to the data before the first layer, and outputs: to the value of the last one, by the `scalers`
    that messages name; they are kept for the data and targets, or fold like `folded`.
    input_shape: of a point, (channels, length, ...), where it is not a row of features.
    """

    layers: tuple[LinearLayer, ...]
    slopes: tuple[Number, ...] | None
    remedy: str
    notes: tuple[str, ...] = ()
    is_relu: bool = False
    head: str = ""
    folded: tuple[str, ...] = ()
    is_exact: bool = True
    inputs: Scaling | None = None
    outputs: Scaling | None = None
    scalers: tuple[str, ...] = ()
    input_shape: Shape | None = None


def chained(
    stored: Chain, place: str, options: Options | None = None, word: str = "model", *, keeps_scalings: bool = False
) -> Reading:
    """The network that `stored` describes; `place` is what messages call the source, `word` the call in them.

    options.slope: for every hidden layer; must agree with a stored one, and is needed without one.
    options.two_logits: of two outputs the second minus the first, whose sign is the class of the larger one.
    options.output_bias: biases after the first layer that are not 0 are carried by one more hidden neuron in each
        hidden layer: the same function, another norm.
    options.frozen: so many first layers are the body of the reading, and the network is that of the others.
    keeps_scalings: whether the caller scales data and targets, as the reading says; not with options.fold.

    Raises InputError: MissingOptionsError, with all options at once, when it is read with more of them.
    """
    options = options or Options()
    for layer in stored.layers:
        _check_numbers(layer, place)
    _check_shapes(stored, place)
    keeps_scalings = keeps_scalings and not options.fold
    if not keeps_scalings:
        stored = _with_scalings(stored, place)
    is_two = stored.layers[-1].shape[0] == 2
    layers: tuple[LinearLayer, ...] = (*stored.layers[:-1], _difference(stored.layers[-1])) if is_two else stored.layers
    body = options.frozen
    if body:
        check_frozen(body, len(layers))
    _check_options(stored, layers[body:], place, options, word)
    slopes, assumed = _slopes(stored, place, options.slope)
    first = Body(layers[:body], slopes[:body]) if body else None
    layers, slopes = layers[body:], slopes[body:]
    kept = options.output_bias == "keep"
    is_short = len(layers) == 2 and all(layer.entries is None for layer in layers)
    reading = _two_layer(layers, slopes[0], place, keeps=kept) if is_short else deep(layers, slopes, place)
    network = reading.network
    if (
        not stored.is_exact
        or (first is not None and first.has_floats)
        or (is_two and any(isinstance(number, float) for row in stored.layers[-1].weights for number in row))
    ):
        network = network.as_from_floats()
    notes = (*stored.notes, *_notes_on_outputs(stored, place), *assumed, *reading.notes)
    logits = _logits(stored.layers[-1]) if is_two and is_short else None
    return Reading(
        network, notes, inputs=stored.inputs, outputs=stored.outputs, logits=logits, body=first, is_model=True
    )


def _logits(output: LinearLayer) -> Logits:
    """Both outputs, exactly."""
    weights = tuple(tuple(Fraction(number) for number in row) for row in output.weights)
    return weights, tuple(Fraction(number) for number in output.bias or ())


def _with_scalings(stored: Chain, place: str) -> Chain:
    """The chain with what is done to inputs and outputs in its first and last layer, and a note that says so."""
    if stored.inputs is None and stored.outputs is None:
        return stored
    layers = list(stored.layers)
    for i, scaling in ((0, stored.inputs), (-1, stored.outputs)):
        if scaling is not None:
            into = scaling.after if i else scaling.before
            weights, bias = into(layers[i].weights, layers[i].bias, place)
            layers[i] = replace(layers[i], weights=weights, bias=bias)
    note = (
        f"{place}: {', '.join(stored.scalers)} {WENT_INTO_WEIGHTS} of the layer beside it: the function of the data "
        "as they are is the same, the norm is not the one that was trained"
    )
    is_exact = stored.is_exact and not any(
        isinstance(number, float)
        for layer in stored.layers
        for row in (*layer.weights, layer.bias or ())
        for number in row
    )
    return replace(
        stored, layers=tuple(layers), folded=(*stored.folded, *stored.scalers), notes=(*stored.notes, note),
        inputs=None, outputs=None, is_exact=is_exact,
    )  # fmt: skip


def _difference(layer: LinearLayer) -> LinearLayer:
    """The second output minus the first."""
    first, second = ([Fraction(number) for number in row] for row in layer.weights)
    bias = None if layer.bias is None else [Fraction(layer.bias[1]) - Fraction(layer.bias[0])]
    weights = [[two - one for one, two in zip(first, second, strict=True)]]
    entries = None if layer.entries is None else layer.entries[:1]
    bias_entries = None if entries is None or bias is None else (0,)
    return replace(layer, weights=weights, bias=bias, entries=entries, bias_entries=bias_entries)


def _notes_on_outputs(stored: Chain, place: str) -> tuple[str, ...]:
    notes: list[str] = []
    if stored.head == "Sigmoid":
        notes.append(
            f"{place}: its Sigmoid is left out, so the network read is the value before it, which is positive where "
            "the probability is above 1/2"
        )
    if stored.layers[-1].shape[0] == 2:
        head = f" before its {stored.head}" if stored.head else ""
        notes.append(
            f"{place}: of its two outputs{head} {SECOND_MINUS_FIRST}, positive where class 1 is the "
            "larger: the classes are the same, the norm is not the one that was trained"
        )
    return tuple(notes)


def _check_options(stored: Chain, layers: Sequence[LinearLayer], place: str, options: Options, word: str) -> None:
    """Raise MissingOptionsError with every option that is missing, and why."""
    needed: dict[str, object] = {}
    reasons: list[str] = []
    hidden = len(stored.layers) - 1
    if stored.slopes is None and not stored.is_relu and options.slope is None and hidden:
        needed["slope"] = 0
        reasons.append("it holds weights but no activation (ReLU, leaky ReLU and none look alike in it)")
    if stored.layers[-1].shape[0] == 2 and options.two_logits == "refuse":
        needed["two_logits"] = "difference"
        reasons.append(f"it has two outputs ({layers[-1].weights_name}), one for each class")
    is_asked = options.output_bias == "refuse" or (options.output_bias == "keep" and len(layers) > 2)
    if is_asked and (found := _later_bias(layers)):
        needed["output_bias"] = "neuron"
        reasons.append(found)
    if stored.folded and not options.fold:
        needed["fold"] = True
        reasons.append(f"beside its weights it scales or shifts ({', '.join(stored.folded)})")
    if needed:
        if len(layers) > 2:
            reasons.insert(0, f"it has {len(layers) - 1} hidden layers, of which less is decided than of one")
        advice = _advice(needed, stored)
        raise MissingOptionsError(f"{place}: {'; '.join(reasons)}: {advice}", needed, options, place, word)


def _advice(needed: Mapping[str, object], stored: Chain) -> str:
    """What to do: other training, or options."""
    others = set(needed) - {"slope"}
    if not others:
        return "give the slope, 0 for ReLU, or read the module itself"
    if others == {"output_bias"}:
        start = stored.remedy
    elif "fold" in others and stored.scalers:
        start = _WITH_DATA
    elif others == {"fold"}:
        start = "train without that, or "
    else:
        plain = " without biases after the first layer" if "output_bias" in others else ""
        start = f"train one output{plain}, or " if "two_logits" in others else "train without that, or "
    if "slope" in needed:
        start = f"give the slope, 0 for ReLU, and {start}"
    same = "decisions" if "two_logits" in others else "function"
    return f"{start}read the same {same} with another norm"


_WITH_DATA = "give it to audit together with the data, which are then scaled instead, or "


def _later_bias(layers: Sequence[LinearLayer]) -> str:
    """What is said of the first bias after the first layer that is not 0; "" when there is none."""
    for layer in layers[1:]:
        if (number := next((bias for bias in layer.bias or () if bias), None)) is not None:
            which = "output bias" if layer is layers[-1] else "bias of a later layer"
            shown = number if isinstance(number, int | float) else f"{to_float(number):.6g}"
            named = which if layer.bias_name == NAMELESS else f"{which} {layer.bias_name}"
            return f"the {named} is not 0 (it holds {shown}), and a network with one is not homogeneous"
    return ""


def _check_numbers(layer: LinearLayer, place: str) -> None:
    for name, rows in ((layer.weights_name, layer.weights), (layer.bias_name, [layer.bias or ()])):
        for r, row in enumerate(rows):
            for c, number in enumerate(row):
                if not isinstance(number, int | Fraction) and not (isinstance(number, float) and isfinite(number)):
                    at = f"{r}, {c}" if name == layer.weights_name else f"{c}"
                    raise InputError(
                        f"{place}: {name}[{at}] is {number}: every number must be real and finite, so train again "
                        "with a smaller step, or repair that entry"
                    )


def _check_shapes(stored: Chain, place: str) -> None:
    for layer, following in pairwise(stored.layers):
        if layer.shape[0] != following.shape[1]:
            raise ShapeError(
                f"{place}: {layer.weights_name} gives {count(layer.shape[0], 'output')} but {following.weights_name} "
                f"takes {count(following.shape[1], 'input')}: give the layers in the order in which they are applied"
            )
    outputs, name = stored.layers[-1].shape[0], stored.layers[-1].weights_name
    if outputs > 2:
        raise ShapeError(
            f"{place}: the last layer ({name}) has {outputs} outputs, as for a softmax over classes or several "
            "targets, and its weights count in the norm one by one: train a network with one output, or keep two of "
            "the classes"
        )
    if (stored.head == "Sigmoid") == (outputs == 2) and stored.head:
        wanted = "one" if stored.head == "Sigmoid" else "two"
        raise ShapeError(
            f"{place}: {stored.head} follows {count(outputs, 'output')} ({name}): give a network of {wanted}"
        )


def _slopes(stored: Chain, place: str, given: object) -> tuple[tuple[Fraction, ...], tuple[str, ...]]:
    hidden = len(stored.layers) - 1
    if stored.slopes is not None:
        return tuple(settled_slope(own, given, place)[0] for own in stored.slopes), ()
    slope, notes = settled_slope(None, given, place)
    return (slope,) * hidden, notes if hidden else ()


def _two_layer(layers: Sequence[LinearLayer], slope: Fraction, place: str, *, keeps: bool) -> Reading:
    hidden, output = layers
    (b2,) = output.bias or (0,)
    has_b2 = output.bias is not None
    stored = Shorthand(W=hidden.weights, v=output.weights[0], b=hidden.bias, b2=b2, slope=slope, has_b2=has_b2)
    return two_layer(stored, place, output_bias="keep" if keeps else "neuron")
