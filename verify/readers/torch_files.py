"""PyTorch state dicts, in memory and in the files of `torch.save` (`.pt`, `.pth`, `.ckpt`).

A state dict holds weights and no activation, so the slope has to be given. Layers are chained by their shapes, and by
the order of their names where the shapes leave a choice. Files are loaded with `weights_only=True`.
"""

from __future__ import annotations

import io
import pickle
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any, cast

from verify.checker.errors import InputError, ShapeError
from verify.numbers.array_like import package
from verify.readers.chains import Chain, LinearLayer
from verify.readers.named_arrays import network_of
from verify.readers.pickles import unpickled
from verify.readers.refusals import CONVOLVED, NORMALISED
from verify.readers.shorthand import NETWORK_NAMES, Shorthand
from verify.readers.torch_modules import REMEDY, read_module
from verify.readers.torch_tensors import check_own_tensors, import_torch, linear_layer

SAFE_SINCE = (2, 6)
"""Older versions of PyTorch can be made to run code by a file, also with `weights_only` (CVE-2025-32434)."""

_MOST_PERMUTED = 6
_OF_LOSSES = ("pos_weight",)
_WEIGHT = re.compile(r"(.*\.)?weight(_.*)?|.*\.parametrizations\.weight\..*")


def load(content: bytes, place: str, *, trust_pickle: bool = False) -> tuple[object, tuple[str, ...]]:
    """What `torch.save` wrote, and notes; objects other than tensors and containers only with `trust_pickle`."""
    torch = import_torch(place)
    if tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2]) < SAFE_SINCE:
        raise InputError(
            f"{place} is not loaded by PyTorch {torch.__version__}, which files can make run code: install 2.6 or newer"
        )
    try:
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True), ()
    except pickle.UnpicklingError as error:
        if not trust_pickle:
            raise InputError(
                f"{place} holds Python objects and not only tensors, and loading them can run any code: save "
                "model.state_dict(), or pass --trust-pickle (trust_pickle=True) if you made the file yourself"
            ) from error
    except Exception as error:  # a damaged archive can fail anywhere
        if not _is_script(error):
            raise InputError(f"{place} is damaged, or was not written by torch.save: write it again") from error
        if not trust_pickle:
            raise InputError(
                f"{place} is a TorchScript archive: save the state_dict() of the module that it was made from, or pass "
                "--trust-pickle (trust_pickle=True), which runs the code in it, if you made the file yourself"
            ) from error
        return _script(content, place, torch)
    return unpickled(lambda: torch.load(io.BytesIO(content), map_location="cpu", weights_only=False), place)


def is_state(source: Mapping[str, object]) -> bool:
    """Whether a mapping is a state dict, or a checkpoint with networks inside."""
    return _is_whole(source) or bool(_inside(source))


def read_state(state: Mapping[str, object], place: str) -> Chain | Shorthand:
    """The layers in a state dict, or in a checkpoint that holds one or a module. Raises InputError."""
    if _is_whole(state):
        return _read_whole(state, place)
    (name, found), *others = _inside(state).items()
    if others:
        raise InputError(
            f"{place} holds several networks ({', '.join((name, *dict(others)))}): give, or save, that alone"
        )
    note = f"{place} is a checkpoint, of which {name!r} is read"
    read = _read_whole(found, place) if isinstance(found, Mapping) else read_module(found, place)
    return replace(read, notes=(note, *read.notes))


def _read_whole(state: Mapping[str, object], place: str) -> Chain | Shorthand:
    if (bare := _bare(state)) is not None:
        return cast("Chain | Shorthand", network_of(bare, place))
    left_out = [name for name in state if name.rpartition(".")[2] in _OF_LOSSES]
    state = {name: value for name, value in state.items() if name not in left_out}
    notes = tuple(f"{place}: {name} belongs to a loss, and is left out" for name in left_out)
    for name in state:
        _check_name(name, place)
    prefixes = dict.fromkeys(name.rpartition(".")[0] for name in state)
    found = {prefix: _layer(prefix, state, place) for prefix in prefixes}
    check_own_tensors(state, place)
    order, more = in_order(found, place)
    return Chain(layers=tuple(found[name] for name in order), slopes=None, remedy=REMEDY, notes=(*notes, *more))


def _has_weights(source: Mapping[str, object]) -> bool:
    return any(_WEIGHT.fullmatch(str(name)) for name in source)


def _is_whole(source: Mapping[str, object]) -> bool:
    return _has_weights(source) or _bare(source) is not None


def _bare(source: Mapping[str, object]) -> dict[str, object] | None:
    """Parameters W, v, ... of a module by these names; None for anything else. Without a prefix they are arrays."""
    prefixes = {name.rpartition(".")[0] for name in source}
    if len(prefixes) != 1 or prefixes == {""}:
        return None
    found = {name.rpartition(".")[2]: value for name, value in source.items()}
    return found if {"W", "v"} <= set(found) <= set(NETWORK_NAMES) else None


def _inside(source: Mapping[str, object]) -> dict[str, object]:
    """The state dicts, bare parameters and modules in a checkpoint."""
    inner: dict[str, object] = {}
    for name, value in source.items():
        if isinstance(value, Mapping):
            entries = cast("Mapping[object, object]", value)
            state = dict(zip(map(str, entries), entries.values(), strict=True))
            if _is_whole(state) or {"W", "v"} <= set(state) <= set(NETWORK_NAMES):
                inner[name] = state
        elif package(value) == "torch" and callable(getattr(value, "state_dict", None)) and callable(value):
            inner[name] = value
    return inner


def _check_name(name: str, place: str) -> None:
    """Refuse an entry that is not a weight or a bias of a layer."""
    last = name.rpartition(".")[2]
    if last in ("weight", "bias"):
        return
    if last in ("running_mean", "running_var", "num_batches_tracked"):
        raise InputError(f"{place}: {NORMALISED.format(f'a batch normalisation ({name})')}")
    if ".parametrizations." in f".{name}" or last in ("weight_g", "weight_v", "weight_orig", "weight_mask"):
        raise InputError(
            f"{place}: {name} belongs to a reparametrised or pruned layer, of which other numbers than its weights "
            "were trained: call remove_parametrizations or prune.remove of torch.nn.utils, and save it again"
        )
    raise InputError(
        f"{place}: {name} is neither the weight nor the bias of a Linear layer, and a buffer or parameter of another "
        "kind may change the outputs: read the module itself, or delete that entry if its forward does not use it"
    )


def _layer(prefix: str, state: Mapping[str, object], place: str) -> LinearLayer:
    start = f"{prefix}." if prefix else ""
    weight, bias = state.get(f"{start}weight"), state.get(f"{start}bias")
    if weight is None:
        raise InputError(f"{place}: {start}bias has no {start}weight beside it: save the whole state dict")
    dimensions = len(cast("Any", weight).shape)
    if dimensions > 2:
        raise InputError(f"{place}: {CONVOLVED.format(f'{start}weight, of {dimensions} dimensions,')}")
    if dimensions < 2:
        raise InputError(
            f"{place}: {start}weight is not a matrix, so it belongs to a normalisation or a PReLU, which are not read: "
            "train with Linear, ReLU and LeakyReLU only"
        )
    return linear_layer(weight, bias, (f"{start}weight", f"{start}bias"), place)


def in_order(layers: Mapping[str, LinearLayer], place: str) -> tuple[Sequence[str], tuple[str, ...]]:
    """The names in the order in which the layers are applied, and a note where shapes leave a choice."""
    stored, named = list(layers), sorted(layers, key=_natural)
    orders = permutations(named) if len(named) <= _MOST_PERMUTED else iter([named])
    possible = [list(order) for order in orders if _is_chain([layers[name] for name in order])]
    match possible:
        case [order]:
            return order, ()
        case [] if any(layer.shape[0] == 1 for layer in layers.values()):
            shapes = ", ".join(f"{name or 'weight'} {layer.shape}" for name, layer in layers.items())
            raise ShapeError(
                f"{place}: the layers cannot be applied one after the other (outputs, inputs: {shapes}): read the "
                "module itself"
            )
        case []:
            return stored, ()  # several outputs, which are refused with the reason later
        case _ if named == stored and named in possible:
            note = (
                f"{place}: the shapes of its layers allow several orders; they are taken as named: {', '.join(named)}"
            )
            return named, (note,)
        case _:
            raise ShapeError(
                f"{place}: the shapes of its layers allow several orders, and their names ({', '.join(stored)}) do not "
                "say which is right: read the module itself"
            )


def _is_chain(layers: Sequence[LinearLayer]) -> bool:
    fit = all(layer.shape[0] == following.shape[1] for layer, following in pairwise(layers))
    return fit and layers[-1].shape[0] == 1


def _natural(name: str) -> list[str | int]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _is_script(error: Exception) -> bool:
    return "TorchScript" in str(error)


def _script(content: bytes, place: str, torch: Any) -> tuple[object, tuple[str, ...]]:
    """The module in a TorchScript archive, and a warning."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = torch.jit.load(io.BytesIO(content), map_location="cpu")
    except Exception as error:  # a damaged archive can fail anywhere
        raise InputError(f"{place} is damaged, or was not written by torch.jit.save: write it again") from error
    return found, (
        f"{place} is a TorchScript archive, and reading it runs its code: do this with files of your own only",
    )
