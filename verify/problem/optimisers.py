"""The weight decay of an optimiser of PyTorch, which holds the very numbers that the network is made of.

Each layer of the network, and each of its biases, is looked for among the parameters of the optimiser, by its numbers:
an optimiser of another network, of a part of it, or of parameters that the network is computed from (a weight norm, two
layers that were multiplied) says nothing of ||theta||^2, and is refused.

Only optimisers that add decay times theta to the gradient of a loss that they lower are known: what decouples its decay
(AdamW, Adafactor, Muon) minimises no such objective, nor does what raises it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import eq
from typing import Any, TypeAlias, cast, final

import numpy as np

from verify.checker.errors import InputError
from verify.checker.goals import Bias
from verify.numbers.decimals import value
from verify.numbers.values import rational
from verify.problem.network import Network

__all__ = ["Logits", "OptimiserDecay", "Parts", "decay_of_optimiser", "decay_of_parts", "is_optimiser"]

Parts: TypeAlias = dict[str, list[Sequence[Fraction]]]
"""The hidden weights W, the hidden biases b, the output weights v and biases b2: rows of numbers, of which a parameter
may hold any.
"""

Logits: TypeAlias = tuple[tuple[tuple[Fraction, ...], ...], tuple[Fraction, ...]]
"""The weights of two outputs, and their biases, if they have any."""

COUPLED = ("Adadelta", "Adagrad", "Adam", "Adamax", "NAdam", "RAdam", "RMSprop", "SGD")
"""What adds weight_decay times the parameters to the gradient, unless its decay is asked to be decoupled."""

_NAMES = {"W": "the hidden weights", "b": "the hidden biases", "v": "the output weights", "b2": "the output bias"}


@final
@dataclass(frozen=True, slots=True)
class OptimiserDecay:
    """The decay of the hidden and of the output layer; that of the output bias, None without one; the hidden biases."""

    layers: tuple[Fraction, Fraction]
    output_bias: Fraction | None
    bias: Bias


def is_optimiser(decay: object) -> bool:
    """Whether it is an optimiser of PyTorch, or says of its parameters what one does."""
    return hasattr(decay, "param_groups")


def decay_of_optimiser(optimiser: Any, network: Network, logits: Logits | None = None) -> OptimiserDecay:
    """The decay with which an optimiser trained a network of two layers. Raises InputError.

    logits: the two outputs whose difference the network is.
    """
    roles = _roles(network)
    return decay_of_parts(optimiser, roles if logits is None else roles | _roles_of_logits(logits))


def decay_of_parts(optimiser: Any, roles: Parts) -> OptimiserDecay:
    """The same of a network with these parts. Raises InputError."""
    groups = cast("list[dict[str, Any]]", optimiser.param_groups)
    name = type(optimiser).__name__
    _check_kind(name, groups)
    decays = [rational(group["weight_decay"], "the weight_decay of the optimiser") for group in groups]
    held = [
        (p, list(_numbers(p)), decay)
        for group, decay in zip(groups, decays, strict=True)
        for p in group["params"]
        if getattr(p, "requires_grad", True)
    ]
    found: dict[str, Fraction] = {}
    for role, numbers in roles.items():
        own = {decay for _, entries, decay in held if _is_one_of(entries, numbers)}
        if len(own) != 1:
            what = f"holds {_NAMES[role]} twice, with other decays" if own else f"does not hold {_NAMES[role]}"
            raise InputError(
                f"{name} {what} of this network, whose decay is asked for: give the network that it trained, as it "
                "is, or give decay as a number"
            )
        found[role] = own.pop()
    others = [p for p, entries, _ in held if not any(_is_one_of(entries, numbers) for numbers in roles.values())]
    if others:
        shape = " x ".join(map(str, others[0].shape))
        raise InputError(
            f"{name} trains a parameter ({shape}) that is none of this network, whose decay is asked for: give decay "
            "as a number"
        )
    _check_decays(name, found)
    is_left_out = "b" in found and found["b"] == 0 != found["W"]
    bias = Bias.FREE if is_left_out else Bias.PENALISED if "b" in found else Bias.NONE
    return OptimiserDecay((found["W"], found["v"]), found.get("b2"), bias)


def _check_kind(name: str, groups: Sequence[dict[str, Any]]) -> None:
    if name not in COUPLED or any(group.get("decoupled_weight_decay") for group in groups):
        raise InputError(
            f"{name} is no optimiser whose weight decay is known to be that of a loss ({', '.join(COUPLED)}, not "
            "decoupled as in AdamW): to ask for one all the same, give decay as a number"
        )
    if any(group.get("maximize") for group in groups):
        raise InputError(f"{name} raises its objective (maximize=True): what it was trained for is no least loss")


def _check_decays(name: str, found: dict[str, Fraction]) -> None:
    """Refuse weights without decay, and a hidden bias with a decay of its own, which no objective here has."""
    bare = next((role for role in "Wv" if not found[role]), None)
    if bare is not None:
        raise InputError(
            f"{name} has weight_decay 0 for {_NAMES[bare]}: without weight decay there need be no optimum; if it is "
            "added to the loss by hand, give decay as a number"
        )
    if found.get("b", found["W"]) not in (found["W"], 0):
        raise InputError(
            f"the weight decays of {name} are {value(found['W'])} for the hidden weights and {value(found['b'])} for "
            "the hidden biases: what is decided is the same for both, or none for the biases"
        )


def _roles(network: Network) -> Parts:
    """Each part of the network, with the rows of numbers that a parameter may hold for it."""
    if not network.architecture.is_two_layer:
        raise InputError("the decay of an optimiser is read for networks with one hidden layer: give it as a number")
    rows = [row[:-1] if network.architecture.bias else row for row in network.hidden_weights]
    flat = [number for row in rows for number in row]
    roles: Parts = {
        "W": [flat, [row[j] for j in range(len(rows[0]) if rows else 0) for row in rows]],
        "v": [network.output_weights],
    }
    if network.architecture.bias:
        roles["b"] = [[row[-1] for row in network.hidden_weights]]
    if len(network.parameters) > 2:
        roles["b2"] = [network.parameters[2]]
    return roles


def _roles_of_logits(logits: Logits) -> Parts:
    weights, biases = logits
    flat = [number for row in weights for number in row]
    turned = [number for pair in zip(*weights, strict=True) for number in pair]
    return {"v": [flat, turned], **({"b2": [biases]} if biases else {})}


def _is_one_of(entries: Sequence[float], numbers: Sequence[Sequence[Fraction]]) -> bool:
    """Whether the entries of a parameter are one of these rows of numbers."""
    return any(len(entries) == len(row) and all(map(eq, entries, row)) for row in numbers)


def _numbers(parameter: Any) -> Iterator[float]:
    values = parameter.detach().cpu().double() if hasattr(parameter, "detach") else parameter
    yield from np.asarray(values).ravel().tolist()
