"""The shorthand W, v, b, b2, slope for a two-layer network x -> v . s(W x + b) + b2, whatever file it came in."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from verify.checker.errors import InputError, ShapeError
from verify.numbers.counts import count
from verify.numbers.floats import to_float
from verify.numbers.values import Number, rational
from verify.problem.network import Network
from verify.readers.reading import MissingOptionsError, Options, Reading, naming, one_of
from verify.readers.slopes import in_range, slope_given

NETWORK_NAMES = ("W", "v", "b", "b2", "slope")
DATA_NAMES = ("X", "y")

_RENAME = (
    ": rename them, W for the hidden weights (neurons, inputs), b for the hidden biases, v for the output weights, or "
    "give the module that they come from"
)

LONG = 12  # characters of a fraction


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Shorthand:
    """A two-layer network as it is stored: W (k, d), v (k,), b (k,) or None, b2 a number, slope a number or None.

    masks: for each neuron the columns of the lifted input that it sees, or None when each sees all.
    has_b2: whether there is an output bias although it is 0.
    notes: what has to be said about the reading.
    """

    W: Sequence[Sequence[Number]]
    v: Sequence[Number]
    b: Sequence[Number] | None = None
    b2: Number = 0
    slope: Number | None = None
    masks: Sequence[Sequence[int]] | None = None
    notes: tuple[str, ...] = ()
    has_b2: bool = False


def two_layer(stored: Shorthand, place: str, *, slope: object = None, output_bias: str = "refuse") -> Reading:
    """The network that `stored` describes; `place` is what messages call the file.

    slope: what the user says it is; must agree with the stored one if there is one; without either it is 0 (ReLU).
    output_bias: "refuse" accepts b2 only when it is exactly 0; "neuron" turns any other b2 into one hidden neuron with
        weight 0, bias |b2| and outgoing weight +1 or -1: the same function, one more neuron, another norm; "keep" keeps
        b2, which only losses with weight decay take.

    Raises InputError when the shapes do not fit, the slopes disagree, or the output bias is refused.
    """
    _check_shapes(stored, place)
    given = stored.notes
    used, notes = settled_slope(stored.slope, slope, place)
    stored, more = _without_output_bias(stored, place, output_bias)
    with naming(place):
        kept = stored.b2 if output_bias == "keep" and (stored.b2 or stored.has_b2) else None
        network = Network.two_layer(stored.W, stored.v, b=stored.b, b2=kept, slope=used, masks=stored.masks)
    return Reading(network, (*given, *notes, *more))


def check_names(found: Mapping[str, object], known: Sequence[str], required: Sequence[str], place: str) -> None:
    """Refuse missing and unknown names, and say so when a network was given for data or the other way round."""
    other, order = (NETWORK_NAMES, "a network") if required == DATA_NAMES else (DATA_NAMES, "a data set")
    if not set(required) <= set(found) and set(other[:2]) <= set(found):
        remedy = "data are expected here" if required == DATA_NAMES else "give the network first, then the data"
        raise InputError(f"{place} holds {order} ({', '.join(found)}): {remedy}")
    if missing := [name for name in required if name not in found]:
        remedy = "" if required == DATA_NAMES or not set(found) - set(known) else _RENAME
        raise InputError(
            f"{place} lacks {missing[0]}: it must hold {' and '.join(required)}, and it holds {_listed(found)}{remedy}"
        )
    if unknown := [name for name in found if name not in known]:
        raise InputError(f"{place} holds {_listed(unknown)}, which has no meaning here: leave only {', '.join(known)}")


def check_slope(slope: object, network: Network, place: str) -> None:
    """Refuse a slope given by the user that is not the one of a network that knows its own."""
    if slope is not None:
        settled_slope(network.architecture.slope, slope, place)


def check_output_bias(stored: Shorthand, place: str, options: Options, word: str) -> None:
    """Raise MissingOptionsError for an output bias that is not 0, unless the options say what becomes of it."""
    if stored.b2 == 0 or options.output_bias != "refuse" or stored.masks is not None:
        return
    reason = (
        f"{place}: the output bias b2 is {stored.b2}, and a network with one is not homogeneous: train without it (in "
        "PyTorch Linear(..., bias=False)), or read the same function with another norm"
    )
    raise MissingOptionsError(reason, {"output_bias": "neuron"}, options, place, word)


def settled_slope(stored: Number | None, given: object, place: str) -> tuple[Fraction, tuple[str, ...]]:
    """The slope that the file and the user agree on, and a note when neither says one."""
    # Both agree when they are equal or one is the other rounded to a double or a single: who types 0.1 for a network
    # that stores float32(0.1) means the same number. What is stored is used.
    if stored is None and given is None:
        return Fraction(0), (f"{place} holds no slope: it is read as ReLU (slope 0)",)
    own = None if stored is None else in_range(rational(stored, f"{place}: slope"), f"{place}: slope")
    said = None if given is None else slope_given(given)
    if own is None or said is None:
        return (said if own is None else own) or Fraction(0), ()
    if own != said and own not in _roundings(said) and said not in _roundings(own):
        raise InputError(
            f"{place} says slope {stored} but slope {given} is given: leave it out, or correct one of them"
        )
    return own, ()


def _listed(names: Mapping[str, object] | Sequence[str]) -> str:
    shown = [f"{name:.40}" for name in names]
    return ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "") if shown else "nothing"


def _check_shapes(stored: Shorthand, place: str) -> None:
    neurons, inputs = len(stored.W), len(stored.W[0])
    if len(stored.v) != neurons:
        hint = "; scikit-learn and Flax hold the transpose, so store W.T" if len(stored.v) == inputs else ""
        raise ShapeError(
            f"{place}: W has shape ({neurons}, {inputs}) but v has {count(len(stored.v), 'entry', 'entries')}: "
            f"W must be (neurons, inputs) and v (neurons,){hint}"
        )
    if stored.b is not None and len(stored.b) != neurons:
        raise ShapeError(
            f"{place}: W has {count(neurons, 'row')} but b has {count(len(stored.b), 'entry', 'entries')}: "
            "b must hold one bias for each neuron"
        )


def _shown(number: Number) -> str:
    """A number as it is read most easily: a long fraction as the double that it is, or is near."""
    text = str(number)
    if not isinstance(number, Fraction) or len(text) <= LONG:
        return text
    double = to_float(number)
    return repr(double) if Fraction(double) == number else f"about {double:.6g}"


def _without_output_bias(stored: Shorthand, place: str, output_bias: str) -> tuple[Shorthand, tuple[str, ...]]:
    one_of(output_bias, "output_bias", "neuron", "keep")
    if stored.b2 == 0 or output_bias == "keep":
        return stored, ()
    if output_bias == "refuse":
        raise InputError(
            f"{place}: the output bias b2 is {stored.b2}, and a network with one is not homogeneous: train without it "
            "(in PyTorch Linear(..., bias=False)), or pass --output-bias neuron, which turns it into a hidden neuron"
        )
    if stored.masks is not None:
        raise InputError(f"{place}: the output bias of a masked network cannot become a neuron: train without it")
    sign, width = (1 if stored.b2 > 0 else -1), len(stored.v)
    without = Shorthand(
        W=[*stored.W, [0] * len(stored.W[0])],
        v=[*stored.v, sign],
        b=[*([0] * width if stored.b is None else stored.b), abs(stored.b2)],
        slope=stored.slope,
    )
    others = ", and the others, which had no bias, got the bias 0" if stored.b is None else ""
    note = (
        f"the output bias {_shown(stored.b2)} became hidden neuron {width}, the output-bias neuron (weight 0, bias "
        f"{_shown(abs(stored.b2))}, outgoing weight {sign}){others}: the function is the same, the norm is not the one "
        "that was trained"
    )
    return without, (note,)


def _roundings(number: Fraction) -> tuple[Fraction, Fraction]:
    double = to_float(number)
    return Fraction(double), Fraction(struct.unpack("f", struct.pack("f", double))[0])
