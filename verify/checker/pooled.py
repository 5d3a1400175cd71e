"""Pooled convolutions of two layers as problems without shared weights: the patches of each point are points of their
own, of one bundle, whose outputs are added up.

A *channel* is the units that one parameter v_c of the last layer reads, with their parameters w_c, which no other
channel holds. Unit p of it sees the *patch* x_ip = G_p x_i: in its k-th coordinate the sum of the columns at which the
k-th parameter stands. So f(x_i) = sum_c v_c sum_p s(w_c.x_ip), and the channel has the norm ||w_c||^2 + v_c^2.

Source: `docs/mathematics.md`, 13.9 "Pooled convolutions".
"""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from typing import NamedTuple, TypeAlias

from verify.checker.goals import Bias, Trained
from verify.checker.statement import Architecture, Layer, Problem

Patch: TypeAlias = tuple[tuple[int, ...], ...]
"""The columns of a lifted point that are added up, for each coordinate of the patch."""

Gather: TypeAlias = tuple[Patch, ...]
"""The patches of a channel, in increasing order: which of its units sees which does not matter."""


class Channel(NamedTuple):
    """One channel: what its units see, its parameters of the first layer, increasing, and its one of the last."""

    gather: Gather
    parameters: tuple[int, ...]
    output: int


def channels(shape: Architecture) -> tuple[Channel, ...]:
    """The channels, in the order of their output parameters; none of a shape that is no pooled convolution."""
    if len(shape.layers) != 2 or shape.layers[1].entries is None:
        return ()
    units: defaultdict[int, list[Sequence[int | None]]] = defaultdict(list)
    for row, output in zip(shape.layers[0].places, shape.layers[1].entries[0], strict=True):
        if output is None:
            return ()
        units[output].append(row)
    found = tuple(_channel(output, rows) for output, rows in sorted(units.items()))
    own = [i for channel in found for i in channel.parameters]
    is_pooled = len(own) == len({*own}) and all(channel.parameters for channel in found)
    return found if is_pooled else ()


def _channel(output: int, rows: Sequence[Sequence[int | None]]) -> Channel:
    parameters = sorted({i for i in chain(*rows) if i is not None})
    seen: list[Patch] = []
    for row in rows:
        columns: defaultdict[int | None, list[int]] = defaultdict(list)
        for column, i in enumerate(row):
            columns[i].append(column)
        seen.append(tuple(tuple(columns[i]) for i in parameters))
    return Channel(tuple(sorted(seen)), tuple(parameters), output)


def kinds(shape: Architecture) -> tuple[Gather, ...]:
    """The distinct gather maps of the channels, sorted."""
    return tuple(sorted({channel.gather for channel in channels(shape)}))


def patches(problem: Problem) -> tuple[Problem, int]:
    """The problem of all patches, and P, how many each point has, of a pooled convolution.

    Point i P + p is patch p of point i, with the target of that. It has a block of columns for each kind of channel,
    of which a neuron sees one; the fewer patches of a kind are filled up with zeros. Linear ones are added up: P = 1.
    """
    shape, found = problem.architecture, kinds(problem.architecture)
    is_linear = shape.slope == 1
    many = 1 if is_linear else max(map(len, found))
    rows: list[tuple[Fraction, ...]] = []
    for row in problem.rows:
        own = [_seen(row, gather) for gather in found]
        if is_linear:
            own = [[[sum(column, Fraction(0)) for column in zip(*seen, strict=True)]] for seen in own]
        blocks = [[*seen, *[[Fraction(0)] * len(seen[0])] * (many - len(seen))] for seen in own]
        rows += (tuple(z for block in blocks for z in block[p]) for p in range(many))
    targets = tuple(y for y in problem.targets for _ in range(many))
    hidden = _masked([len(gather[0]) for gather in found], shape.slope)
    outer = Layer(len(found), 1, None)
    whole = Architecture((hidden, outer))
    asked = Problem(
        tuple(rows), targets, whole, problem.goal, Bias.NONE, Trained.BOTH, fit_tolerance=problem.fit_tolerance
    )
    return asked, many


def _seen(row: Sequence[Fraction], gather: Gather) -> list[list[Fraction]]:
    return [[sum((row[c] for c in columns), Fraction(0)) for columns in patch] for patch in gather]


def _masked(sizes: Sequence[int], slope: Fraction) -> Layer:
    """One neuron for each block of so many columns."""
    total, first = sum(sizes), 0
    entries: list[tuple[int | None, ...]] = []
    for size in sizes:
        own = range(first, first + size)
        entries.append(tuple(c if c in own else None for c in range(total)))
        first += size
    return Layer(total, len(sizes), slope, entries=tuple(entries))
