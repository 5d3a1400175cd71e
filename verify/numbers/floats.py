"""The one place of `verify`, outside the trusted base, where exact numbers become floats.

Every conversion rounds to the nearest double, ties to even: its relative error is at most 2^-53, or, of a number below
2^-1022, its absolute error at most 2^-1075. What is beyond the range of floats is refused with OverflowError by
`to_float`, `to_floats` and `to_matrix`; `float_near` replaces what is beyond 2^1000 by that.

The arrays of a problem and of a network are made once and kept for as long as the record lives; they are not to be
written to. By default they are those of `float_near`; with `clamp=False`, those of `to_float`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from weakref import ref

from verify.checker.goals import rules
from verify.checker.statement import Network, Problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

__all__ = [
    "LARGEST_FLOAT",
    "float_factors",
    "float_near",
    "float_outgoing",
    "float_rows",
    "float_targets",
    "float_weights",
    "keep_floats_of",
    "to_float",
    "to_floats",
    "to_matrix",
    "weight_places",
]

LARGEST_FLOAT = 2.0**1000

Kept = TypeVar("Kept")


def to_float(number: Fraction | int) -> float:
    """The nearest float; OverflowError beyond floats."""
    return float(number)


def float_near(number: Fraction | int) -> float:
    """The nearest float; for numbers beyond `LARGEST_FLOAT` that one, with their sign, so that sums stay finite."""
    return min(max(_rounded(number), -LARGEST_FLOAT), LARGEST_FLOAT)


def to_floats(numbers: Iterable[Fraction | int]) -> Array:
    """The nearest floats, shape (n,); OverflowError beyond floats."""
    import numpy as np

    return np.array([float(number) for number in numbers])


def to_matrix(rows: Iterable[Iterable[Fraction | int]]) -> Array:
    """The nearest floats of rows of one length, shape (n, c), or (0,) without rows; OverflowError beyond floats."""
    import numpy as np

    return np.array([[float(number) for number in row] for row in rows])


def float_rows(problem: Problem, *, clamp: bool = True) -> Array:
    """The lifted rows, shape (n, c)."""
    return _of(
        problem.points,
        "rows",
        lambda points: [list(map(_quotient, row, [unit] * len(row))) for row, unit in points.rows],
        clamp,
    )


def float_targets(problem: Problem, *, clamp: bool = True) -> Array:
    """The targets y_i, shape (n,)."""
    return _of(problem, "targets", lambda record: list(map(_rounded, record.targets)), clamp)


def float_factors(problem: Problem, *, clamp: bool = True) -> Array:
    """What turns the outputs into the values that the constraints bound, for each point, shape (n,)."""
    own = rules(problem.goal).factors(problem.targets)
    if own is problem.targets:
        return float_targets(problem, clamp=clamp)
    return _of(problem, "factors", lambda _: list(map(_rounded, own)), clamp)


def float_weights(network: Network, *, clamp: bool = True) -> Array:
    """The hidden weights of a depth-2 network, 0 where a mask hides the column, shape (k, c)."""
    return _of(network, "weights", lambda record: [list(map(_rounded, row)) for row in record.hidden_weights], clamp)


def float_outgoing(network: Network, *, clamp: bool = True) -> Array:
    """The output weights of a depth-2 network, shape (k,)."""
    return _of(network, "outgoing", lambda record: list(map(_rounded, record.output_weights)), clamp)


def keep_floats_of(like: Network, network: Network) -> None:
    """The floats of `like`, of as many neurons, serve `network` where weights are equal; none beyond the range."""
    known, outgoing = float_weights(like), float_outgoing(like)
    if max(abs(known).max(initial=0.0), abs(outgoing).max(initial=0.0)) >= LARGEST_FLOAT:
        return

    def rows(record: Network) -> list[Any]:
        own = zip(record.hidden_weights, like.hidden_weights, known, strict=True)
        return [kept if row == other else list(map(_rounded, row)) for row, other, kept in own]

    _of(network, "weights", rows, clamp=True)
    if network.output_weights == like.output_weights:
        _of(network, "outgoing", lambda _: outgoing, clamp=True)


def weight_places(network: Network) -> NDArray[np.bool_]:
    """Where the masks of a depth-2 network leave room for a hidden weight, shape (k, c)."""
    import numpy as np

    allowed = np.zeros(float_weights(network).shape, bool)
    for j, mask in enumerate(network.architecture.masks):
        allowed[j, list(mask)] = True
    return allowed


def _rounded(number: Fraction | int) -> float:
    """The nearest float, infinite beyond floats."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def _quotient(whole: int, unit: int) -> float:
    """`_rounded` of whole / unit: the quotient of integers is rounded once."""
    try:
        return whole / unit
    except OverflowError:
        return inf if whole > 0 else -inf


_ARRAYS: dict[tuple[int, str], tuple[ref[Any], Array, Array]] = {}
"""By the identity of a living record and what is asked of it: as rounded, infinite beyond floats, and clamped.

A record is forgotten when it dies, before another can have its identity. Threads that ask at once may both convert;
what they write is the same.
"""


def _of(record: Kept, name: str, convert: Callable[[Kept], object], clamp: bool) -> Array:
    """The kept array of a record, made when it is asked for first."""
    import numpy as np

    key = id(record), name
    found = _ARRAYS.get(key)
    if found is None or found[0]() is not record:
        rounded = np.array(convert(record), dtype=np.float64)
        near = np.clip(rounded, -LARGEST_FLOAT, LARGEST_FLOAT)
        rounded.flags.writeable = near.flags.writeable = False
        if (rounded == near).all():
            rounded = near
        found = ref(record, lambda _: _ARRAYS.pop(key, None)), rounded, near
        _ARRAYS[key] = found
    _, rounded, near = found
    if clamp:
        return near
    if np.isinf(rounded).any():
        raise OverflowError("a number is beyond the range of floats")
    return rounded
