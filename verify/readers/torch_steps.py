"""The table of the operations of PyTorch that are understood, by their names in a forward and in a recorded run."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

from verify.checker.errors import InputError
from verify.numbers.values import rational
from verify.readers.refusals import refusal
from verify.readers.slopes import in_range
from verify.readers.torch_operations import Call, FlowingValue, Operations, OperationStep
from verify.readers.torch_positions import ARITHMETIC, RESHAPING, reduced, reshaped
from verify.readers.torch_weights import Constant


def _linear(found: Operations, call: Call) -> None:
    found.across(False, call.where)
    found.linear(call.raw(1, "weight"), _present(call.raw(2, "bias")), call.where)


def _matmul(found: Operations, call: Call) -> None:
    found.product(call, call.other)


def _addmm(found: Operations, call: Call) -> None:
    bias, *factors = call.arguments
    if len(factors) != 2 or call.named or isinstance(bias, FlowingValue):
        raise refusal(call.name, call.where)
    inner = Call(call.name, call.where, factors, {})
    if not inner.is_flow_first:
        raise refusal(call.name, call.where)
    found.product(inner, inner.other, bias)


def _einsum(found: Operations, call: Call) -> None:
    """The features of the flow, one letter, contracted with a matrix or a vector."""
    equation, *operands = call.arguments
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = list(operands[0])
    inputs, arrow, output = str(equation.value).replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow or len(terms) != 2 or len(operands) != 2 or "." in inputs:
        raise refusal(call.name, call.where)
    at = next(i for i, operand in enumerate(operands) if isinstance(operand, FlowingValue))
    flow, other, constant = terms[at], terms[1 - at], operands[1 - at]
    summed = set(flow) & set(other) - set(output)
    if len(summed) != 1 or not set(flow) - summed <= set(output) or len(set(other)) != len(other) > 2:
        raise refusal(call.name, call.where)
    (letter,) = summed
    kept = output.replace(next(iter(set(other) - summed), " "), "")
    if flow.index(letter) != len(flow) - 1 or kept != flow[:-1] or (len(other) == 2 and output[-1] not in other):
        raise refusal(call.name, call.where)
    found.across(False, call.where)
    value = found.tensor(constant, call)
    rows = value.reshape(1, -1) if len(other) == 1 else value if other[1] == letter else value.t()
    found.linear(constant, None, call.where, rows)


def _activation(found: Operations, call: Call) -> None:
    found.row.activation(Fraction(0), call.where)


def _leaky_relu(found: Operations, call: Call) -> None:
    place = f"{call.where}: negative_slope"
    found.row.activation(in_range(rational(call.given(1, "negative_slope", 0.01), place), place), call.where)


def _maximum(found: Operations, call: Call) -> None:
    if any(found.numbers(call.other, call.where)):
        raise refusal(call.name, call.where)
    _activation(found, call)


def _clamp(found: Operations, call: Call) -> None:
    low, high = call.given(1, "min"), call.given(2, "max")
    if low is None or high is not None or float(low) != 0:
        raise refusal(call.name, call.where)
    _activation(found, call)


def _threshold(found: Operations, call: Call) -> None:
    if call.given(1, "threshold") != 0 or call.given(2, "value") != 0:
        raise refusal(call.name, call.where)
    _activation(found, call)


def _dropout(found: Operations, call: Call) -> None:
    drop(found, call.given(1, "p", 0.5), call.given(2, "training", True), call.where)


def drop(found: Operations, p: float, is_training: object, where: str) -> None:
    """Dropout: nothing in eval mode."""
    if p and is_training is not False:
        raise InputError(
            f"{where}: dropout is random in training mode: call model.eval() first, which is how the network is used"
        )
    if p:
        found.row.notes.append(f"{where}: dropout is read as what it is in eval mode, nothing")


def _batch_norm(found: Operations, call: Call) -> None:
    """Its statistics stand before weight and bias in a forward, and behind them in a recorded run."""
    names = ("running_mean", "running_var", "weight", "bias")
    mean, variance, weight, bias = (_present(call.raw(i, name)) for i, name in enumerate(names, 1))
    if call.is_recorded:
        mean, variance, weight, bias = weight, bias, mean, variance
    eps, is_training = call.given(7, "eps", 1e-5), call.given(5, "training", False)
    found.normalise(call, (mean, variance, weight, bias), eps, is_training=is_training)


def _sum(found: Operations, call: Call) -> None:
    if not reduced(found, call, is_mean=False):
        _sum_of_features(found, call)


def _sum_of_features(found: Operations, call: Call) -> None:
    axes = call.given(1, "dim")
    axes = axes if isinstance(axes, list | tuple) else [axes]
    if len(axes) != 1 or axes[0] not in ((0, -2) if found.is_across else (1, -1)):
        raise refusal(call.name, call.where)
    found.row.sum(call.where)


def _mean(found: Operations, call: Call) -> None:
    if reduced(found, call, is_mean=True):
        return
    features = found.row.outputs
    _sum_of_features(found, call)
    found.row.scale(Fraction(1, features or 1), f"the mean of {features}")


def _negative(found: Operations, _: Call) -> None:
    found.row.scale(Fraction(-1), "a change of sign")


def _reverse_subtraction(found: Operations, call: Call) -> None:
    flow, *others = call.arguments
    found.shift(Call("sub", call.where, [others[0], flow], {}), is_minus=True)


def head(found: Operations, call: Call) -> None:
    """Sigmoid of one output, Softmax or LogSoftmax of two."""
    name = {"sigmoid": "Sigmoid", "softmax": "Softmax", "log_softmax": "LogSoftmax"}[call.name]
    is_bent = bool(found.row.layers) and (found.row.layers[-1].is_activated or bool(found.row.waiting))
    wanted = 1 if name == "Sigmoid" else 2
    is_along = wanted == 1 or call.given(1, "dim") in (None, -1, 1)
    if found.row.outputs != wanted or is_bent or not is_along:
        raise refusal(call.name, call.where, is_output=found.is_output)
    found.row.head = name


def _shaped(step: OperationStep) -> OperationStep:
    """The step, unless it lays channels and positions out in a row, or makes them of one."""

    def taken(found: Operations, call: Call) -> None:
        if (found.row.layers and not found.row.shape) or not reshaped(found, call):
            step(found, call)

    return taken


def _flatten(found: Operations, call: Call) -> None:
    if (call.given(1, "start_dim", 0), call.given(2, "end_dim", -1)) != (1, -1):
        found.output_only(call)


def _getitem(found: Operations, call: Call) -> None:
    """One output out of its axis."""
    index = call.value(call.arguments[1])
    if index not in [(slice(None), 0), (slice(None), -1), (..., 0), (..., -1)]:
        raise refusal(call.name, call.where)
    found.output_only(call)


def _select(found: Operations, call: Call) -> None:
    if call.given(1, "dim") not in (1, -1) or call.given(2, "index") not in (0, -1):
        raise refusal(call.name, call.where)
    found.output_only(call)


def _slice(_: Operations, call: Call) -> None:
    if call.value(call.arguments[2:4]) not in ([0, 2**63 - 1], (0, 2**63 - 1)):
        raise refusal(call.name, call.where)


def _turned(found: Operations, call: Call) -> None:
    """Points and features change places; the one output only changes its shape."""
    axes = call.value(call.arguments[1:])
    axes = list(axes[0]) if axes and isinstance(axes[0], list | tuple) else list(axes)
    if axes and axes not in ([0, 1], [1, 0], [-1, -2], [-2, -1]):
        raise refusal(call.name, call.where)
    if found.is_output:
        found.is_reshaped = True
    else:
        found.is_across = not found.is_across


def _copied(found: Operations, call: Call) -> None:
    """The same numbers, unless they become integers."""
    for value in (*call.arguments[1:], *call.named.values()):
        kind: Any = getattr(value, "value", None)
        if isinstance(kind, found.torch.dtype) and not kind.is_floating_point:
            raise refusal(call.name, call.where)


def _present(value: Any) -> Constant | None:
    """An argument that may be left out."""
    return value if isinstance(value, Constant) and value.value is not None else None


STEPS: dict[str, OperationStep] = {
    "linear": _linear,
    **dict.fromkeys(("matmul", "mm", "mv", "dot", "inner"), _matmul),
    "addmm": _addmm,
    "einsum": _einsum,
    **dict.fromkeys(("relu", "relu_"), _activation),
    **dict.fromkeys(("leaky_relu", "leaky_relu_"), _leaky_relu),
    **dict.fromkeys(("maximum", "max", "fmax"), _maximum),
    **dict.fromkeys(("clamp", "clip", "clamp_min", "clamp_", "clamp_min_"), _clamp),
    **dict.fromkeys(("threshold", "_threshold", "threshold_"), _threshold),
    **dict.fromkeys(("dropout", "alpha_dropout", "feature_alpha_dropout"), _dropout),
    "batch_norm": _batch_norm,
    "sum": _sum,
    "mean": _mean,
    **dict.fromkeys(("mul", "mul_", "imul", "multiply"), Operations.scale),
    **dict.fromkeys(
        ("div", "div_", "truediv", "itruediv", "divide", "true_divide"),
        lambda found, call: found.scale(call, is_inverse=True),
    ),
    **dict.fromkeys(("add", "add_", "iadd"), Operations.shift),
    **dict.fromkeys(("sub", "sub_", "isub", "subtract"), lambda found, call: found.shift(call, is_minus=True)),
    "rsub": _reverse_subtraction,
    **dict.fromkeys(("neg", "negative"), _negative),
    **dict.fromkeys(("sigmoid", "softmax", "log_softmax"), head),
}
SHAPING: dict[str, OperationStep] = {
    "flatten": _flatten,
    **dict.fromkeys(("reshape", "view"), Operations.reshape),
    **dict.fromkeys(("squeeze", "unsqueeze", "squeeze_", "ravel"), Operations.output_only),
    "getitem": _getitem,
    "select": _select,
    "slice": _slice,
    **dict.fromkeys(("t", "T", "mT", "permute", "transpose"), _turned),
    **dict.fromkeys(
        ("contiguous", "clone", "detach", "alias", "to", "float", "double", "type_as", "_to_copy", "data", "cpu",
         "cuda", "lift_fresh_copy"), _copied,
    ),
}  # fmt: skip
SHAPING.update({name: _shaped(SHAPING[name]) for name in RESHAPING})
STEPS.update(SHAPING)
STEPS.update(ARITHMETIC)


def known_name(target: Any, torch: Any) -> str:
    """The name of a function of PyTorch or of an operator of Python; "" for any other."""
    if isinstance(target, torch._ops.OpOverload):  # noqa: SLF001 (the type of recorded operations)
        return target.name().partition("::")[2].partition(".")[0]
    name = getattr(target, "__name__", "")
    homes = (torch, torch.nn.functional, operator, torch.special)
    return name if any(getattr(home, name, None) is target for home in homes) else ""
