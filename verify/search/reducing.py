"""A counterexample is made smaller: points, neurons and columns are left out, numbers become simpler."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm

from verify.checker.errors import InputError
from verify.claims import Instance
from verify.deciders.time_limits import now
from verify.problem.members import has_bias
from verify.problem.network import Network
from verify.problem.problem import Dataset

__all__ = ["reduced"]

_Rows = list[list[Fraction]]


def reduced(instance: Instance, is_one: Callable[[Instance], bool], deadline: float) -> Instance:
    """The smallest counterexample that single steps lead to, each of which makes `Instance.size` less.

    is_one: whether an instance is a counterexample.   deadline: of `solvers.clock.now`.
    """
    found = True
    while found:
        found = False
        for other in _smaller(instance):
            if now() > deadline:
                return instance
            if other.size < instance.size and is_one(other):
                instance, found = other, True
                break
    return instance


def _smaller(instance: Instance) -> Iterator[Instance]:
    for change in (_without_points, _without_neurons, _without_columns, _rescaled, _with_simpler_numbers):
        for inputs, targets, hidden, outgoing, masks in change(*_parts(instance)):
            made = _made(instance, inputs, targets, hidden, outgoing, masks)
            if made is not None:
                yield made


_Masks = list[tuple[int, ...]]
_Parts = tuple[_Rows, list[Fraction], _Rows, list[Fraction], _Masks]


def _parts(instance: Instance) -> _Parts:
    network = instance.network
    return (
        [list(row) for row in instance.data.inputs],
        list(instance.data.targets),
        [list(row) for row in network.hidden_weights],
        list(network.output_weights),
        list(network.architecture.masks),
    )


def _made(
    instance: Instance, inputs: _Rows, targets: list[Fraction], hidden: _Rows, outgoing: list[Fraction], masks: _Masks
) -> Instance | None:
    """The instance with these numbers; None when they are none."""
    problem, shape = instance.problem, instance.network.architecture
    is_biased = has_bias(problem.bias)
    columns = len(inputs[0]) + is_biased
    seen = None if all(len(mask) == columns for mask in masks) and shape.layers[0].entries is None else masks
    try:
        network = Network.two_layer(
            [row[: len(inputs[0])] for row in hidden], outgoing, slope=shape.slope, masks=seen,
            b=[row[-1] for row in hidden] if is_biased else None,
        )  # fmt: skip
        data = Dataset(inputs, targets)
        posed = problem.posed_on(data, architecture=network.architecture)
    except InputError:
        return None
    return Instance(posed, network)


def _without_points(*parts: *_Parts) -> Iterator[_Parts]:
    inputs, targets, hidden, outgoing, masks = parts
    for i in range(len(inputs) if len(inputs) > 1 else 0):
        yield inputs[:i] + inputs[i + 1 :], targets[:i] + targets[i + 1 :], hidden, outgoing, masks


def _without_neurons(*parts: *_Parts) -> Iterator[_Parts]:
    inputs, targets, hidden, outgoing, masks = parts
    for j in range(len(hidden) if len(hidden) > 1 else 0):
        yield inputs, targets, *([*kept[:j], *kept[j + 1 :]] for kept in (hidden, outgoing, masks))  # pyright: ignore[reportReturnType]


def _without_columns(*parts: *_Parts) -> Iterator[_Parts]:
    inputs, targets, hidden, outgoing, masks = parts
    for c in range(len(inputs[0]) if len(inputs[0]) > 1 else 0):
        less = [tuple(q - (q > c) for q in mask if q != c) for mask in masks]
        if all(less):
            rows, weights = ([row[:c] + row[c + 1 :] for row in kept] for kept in (inputs, hidden))
            yield rows, targets, weights, outgoing, less


def _rescaled(*parts: *_Parts) -> Iterator[_Parts]:
    """All inputs, or all weights, times one number: without a bias this changes no verdict."""
    inputs, targets, hidden, outgoing, masks = parts
    for factor in _factors([x for row in inputs for x in row]):
        yield [[factor * x for x in row] for row in inputs], targets, hidden, outgoing, masks
    for factor in _factors([*(w for row in hidden for w in row), *outgoing]):
        weights = [[factor * w for w in row] for row in hidden]
        yield inputs, targets, weights, [factor * v for v in outgoing], masks


def _factors(numbers: Sequence[Fraction]) -> list[Fraction]:
    whole = lcm(*(x.denominator for x in numbers))
    common = gcd(*(int(x * whole) for x in numbers))
    sizes = [abs(x) for x in numbers if x]
    return [factor for factor in (Fraction(whole, common or 1), *(1 / size for size in sizes[:3])) if factor != 1]


def _with_simpler_numbers(*parts: *_Parts) -> Iterator[_Parts]:
    """One number, wherever it occurs or at one place, becomes 0, 1, an integer, a half, a part, or loses its sign."""
    inputs, targets, hidden, outgoing, masks = parts
    for old in sorted({x for row in (*inputs, *hidden, outgoing) for x in row}, key=lambda x: (-len(str(x)), x)):
        for new in _simpler(old):
            yield (
                [[new if x == old else x for x in row] for row in inputs], targets,
                [[new if x == old else x for x in row] for row in hidden],
                [new if x == old else x for x in outgoing], masks,
            )  # fmt: skip
            for r, row in enumerate(inputs):
                for c, x in enumerate(row):
                    if x == old:
                        changed = [[*line] for line in inputs]
                        changed[r][c] = new
                        yield changed, targets, hidden, outgoing, masks


def _simpler(old: Fraction) -> list[Fraction]:
    parts = [Fraction(int(old / part)) for part in (10, 4, 2)]
    new = [Fraction(0), Fraction(1), *parts, Fraction(round(old)), Fraction(round(2 * old), 2), abs(old)]
    return [value for value in dict.fromkeys(new) if value != old]
