"""Why a layer or an activation of a framework is not read, and what to do instead."""

from __future__ import annotations

from verify.checker.errors import InputError

NORMALISED = (
    "{0} makes the function depend on stored or batch statistics, and its scales are further parameters, so norm and "
    "margin lose their meaning: train without it, or read a module with BatchNorm1d itself, model.eval() with "
    "fold=True (as a file: torch.save(model.eval(), FILE), and --trust-pickle --fold)"
)
CONVOLVED = (
    "{0} shares its weights between places, which is read of Conv1d and Conv2d of a PyTorch module only: give such a "
    "module itself"
)
_LARGEST = (
    "{0} takes the largest of several values, which is no sum of weights times ReLUs, so norm and margin are those of "
    "another kind of network: train with average or sum pooling"
)

_POINTWISE = "{0} divides by a number that depends on the point, so no weights make the same function: train without it"
_SOFTMAX = (
    "{0} is the head of a network with one output for each class, whose norm is another problem: train one output with "
    "the logistic loss (BCEWithLogitsLoss)"
)
_SIGMOID = (
    "{0} turns the output into a probability: read the value before it, such as model[:-1] of a Sequential, whose sign "
    "is the class"
)
_CURVED = "{0} is not max(z, a z) with a slope 0 <= a <= 1: train with ReLU, LeakyReLU or no activation"
_TRAINED_SLOPE = "the slope of {0} is trained with the weights, which this problem does not have: train with LeakyReLU"
_RANDOM_SLOPE = "the slope of {0} is random while it is trained: train with LeakyReLU"
_UNKNOWN = (
    "{0} is not read: only linear maps, ReLU, LeakyReLU, constant factors and shifts, changes of shape and, in eval "
    "mode, dropout and batch normalisation are"
)

ITS_PARAMETERS = {
    "flax": "nnx.to_pure_dict(nnx.state(model, nnx.Param)), or what init returned",
    "equinox": "the list of its pairs (layer.weight, layer.bias)",
    "haiku": "what init returned",
    "jax": "the tree or list of its parameters",
}
"""What to give instead of an object of a library whose modules do not say what they apply."""

_OF_KERAS = "save the model as .keras, with model.save, or read the list model.get_weights() with the slope"
OTHER_FILES = {
    ".msgpack": "restore it with flax.serialization.msgpack_restore, and read the tree of parameters with the slope",
    ".h5": _OF_KERAS,
    ".hdf5": _OF_KERAS,
}
"""What to do with files of other kinds."""

_BY_PART = {
    "layernorm": _POINTWISE, "groupnorm": _POINTWISE, "rmsnorm": _POINTWISE, "instancenorm": _POINTWISE,
    "maxpool": _LARGEST, "amax": _LARGEST, "norm": NORMALISED, "conv": CONVOLVED, "softmax": _SOFTMAX,
    "softmin": _SOFTMAX, "prelu": _TRAINED_SLOPE, "rrelu": _RANDOM_SLOPE,
}  # fmt: skip
_CURVES = {
    "sigmoid", "logsigmoid", "hardsigmoid", "expit", "tanh", "hardtanh", "tanhshrink", "gelu", "elu", "celu", "selu",
    "silu", "swish", "mish", "softplus", "softsign", "softshrink", "hardshrink", "hardswish", "relu6", "threshold",
    "glu", "abs",
}  # fmt: skip


def refusal(name: str, place: str, *, is_output: bool = False) -> InputError:
    """The error for a layer or function called `name` (`BatchNorm1d`, `batch_norm`) at `place`.

    is_output: whether it is applied to the one output of the network.
    """
    word = name.lower().replace("_", "")
    reason = next((reason for part, reason in _BY_PART.items() if part in word), None)
    if reason is None and word in _CURVES:
        reason = _SIGMOID if is_output and word == "sigmoid" else _CURVED
    return InputError(f"{place}: {(reason or _UNKNOWN).format(name)}")


def other_relu(options: str, place: str) -> InputError:
    """The error for a ReLU that is another one by its options, such as "max_value=6"."""
    return InputError(f"{place}: {_CURVED.format(f'a ReLU with {options}')}")
