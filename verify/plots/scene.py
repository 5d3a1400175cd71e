"""The numbers of a picture: data and networks as floats in units that can be drawn.

Inputs and targets are divided by a power of ten when they are very large or very small, and a network that classifies
is scaled to least margin 1, so that networks of any scale can be compared; for a loss each is drawn at its own scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite, log10
from typing import final

import numpy as np

from solvers.arrays import Bits, Floats, Indices
from verify.checker.bounds import Infeasible, LowerBound
from verify.checker.certificate import Sparse
from verify.checker.exact import squared_norm
from verify.checker.stationary import Stationary
from verify.numbers.decimals import value as told
from verify.numbers.floats import to_float
from verify.plots.audited import AuditInPictures
from verify.plots.style import LABELS, plain
from verify.problem.members import has_labels, margins
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs

__all__ = ["Drawn", "Scene", "drawn", "evaluate", "in_floats", "power_of", "scaled_to", "scene", "sizes", "support"]


LEAST_MULTIPLIER = Fraction(1, 1000)
"""Of the largest: a point with less is not ringed."""

MISSED, MISSED_BY = Fraction(1, 1000), "1/1000 of the largest target"
"""What counts as missed where every target is to be met exactly: floats miss all of them by a little."""

_HUGE = 1e150
_CHUNK = 1 << 22


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A problem as floats.

    points: shape (n, d), times 10^`input_power` the inputs.   targets: length n, times 10^`target_power` the targets.
    """

    problem: Problem
    points: Floats
    targets: Floats
    input_power: int
    target_power: int

    @property
    def classifies(self) -> bool:
        """Whether the targets are labels, which points are on the sides of."""
        return has_labels(self.problem.goal)

    @property
    def missed(self) -> str:
        """What is said of a point that is not met."""
        if self.classifies:
            return "not classified correctly"
        within = self.problem.fit_tolerance
        return f"missed by more than {told(within) if within else MISSED_BY}"

    @property
    def classes(self) -> tuple[str, str]:
        """What the negative and the positive class are called in the legend."""
        around = self.problem.data.surroundings
        if around is None or around.classes is None:
            return LABELS
        negative, positive = map(plain, around.classes)
        return f"{negative} ($-1$)", f"{positive} ($+1$)"

    def column(self, place: int, symbol: str) -> str:
        """What an axis of an input is called: its name, if it is known, else the symbol."""
        around = self.problem.data.surroundings
        if around is None or around.columns is None or len(around.columns) != self.points.shape[1]:
            return symbol
        return plain(around.columns[place]) + (", scaled" if around.inputs is not None else "")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A network in the units of a scene.

    layers: weight matrix and slope of each layer, up to `factor`; shift: the output bias, likewise.
    values: length n, the outputs at the points.
    unit: what outputs and sizes of neurons are divided by.
    at_margin_one: whether the outputs are in units of the least margin; else, when it classifies wrongly, of the
    largest output.   right: length n, whether each point is met, exactly (`Scene.missed`).
    neurons: u_j = |v_j| w_j, shape (k, columns).   signs: of v_j.   live: whether u_j != 0.   Empty but for depth 2.
    """

    network: Network
    layers: tuple[tuple[Floats, float | None], ...]
    shift: float
    factor: float
    unit: Fraction
    values: Floats
    at_margin_one: bool
    right: Bits
    neurons: Floats
    signs: Indices
    live: Bits

    @property
    def bends(self) -> Bits:
        """The neurons that do not only see the bias: the sign of what they see changes somewhere."""
        inputs = self.network.architecture.inputs
        return self.live & np.any(self.neurons[:, :inputs] != 0, axis=1)

    @property
    def has_kinks(self) -> bool:
        """Whether neurons that bend have a kink there: linear ones have none."""
        return self.network.architecture.slope != 1

    @property
    def where(self) -> str:
        """What is special at the inputs where neurons are drawn."""
        return "where they bend" if self.has_kinks else "where they are 0"


def scene(problem: Problem) -> Scene:
    """The problem in units that can be drawn."""
    input_power = power_of(value for x in problem.data.inputs for value in x)
    target_power = 0 if has_labels(problem.goal) else power_of(problem.data.targets)
    return Scene(
        problem=problem,
        points=in_floats(problem.data.inputs, input_power),
        targets=in_floats([problem.data.targets], target_power)[0],
        input_power=input_power,
        target_power=target_power,
    )


def drawn(picture: Scene, network: Network, *, fits: bool) -> Drawn:
    """`network` in the units of the picture.   fits: whether it is known to meet every point."""
    inputs, scale = network.architecture.inputs, Fraction(10) ** picture.input_power
    layers: list[tuple[Floats, float | None]] = []
    product = Fraction(1)
    for place, (layer, parameters) in enumerate(zip(network.architecture.layers, network.parameters, strict=False)):
        rows = layer.matrix(parameters)
        if not place:
            rows = tuple((*(weight * scale for weight in row[:inputs]), *row[inputs:]) for row in rows)
        largest = max((abs(weight) for row in rows for weight in row), default=Fraction(0)) or Fraction(1)
        product *= largest
        matrix = np.array([[to_float(weight / largest) for weight in row] for row in rows], dtype=float)
        layers.append((matrix, None if layer.slope is None else to_float(layer.slope)))
    shift = _float(network.output_bias / product)
    values = _forward(layers, picture.points) + shift
    exact = None if fits else outputs(picture.problem, network)
    factor, unit, at_margin_one = _factor(picture, network, values, product, exact)
    values = _scaled(values, factor)
    right = np.ones(len(values), dtype=bool) if exact is None else _met(picture, exact)
    neurons, signs, live = _neurons(network, layers, factor)
    return Drawn(
        network=network,
        layers=tuple(layers),
        shift=shift,
        factor=factor,
        unit=unit,
        values=values,
        at_margin_one=at_margin_one,
        right=right,
        neurons=neurons,
        signs=signs,
        live=live,
    )


def _met(picture: Scene, exact: Sequence[Fraction]) -> Bits:
    """Whether the exact output at each point is on its side, or near enough to its target."""
    problem = picture.problem
    pairs = list(zip(problem.targets, exact, strict=True))
    if picture.classifies:
        return np.array([y * f > 0 for y, f in pairs], dtype=bool)
    within = problem.fit_tolerance or MISSED * max(map(abs, problem.targets))
    return np.array([abs(f - y) <= within for y, f in pairs], dtype=bool)


def _factor(
    picture: Scene, network: Network, values: Floats, product: Fraction, exact: Sequence[Fraction] | None
) -> tuple[float, Fraction, bool]:
    """What the outputs are to be multiplied by, what these were divided by at first, and whether the least margin is
    then 1.

    exact: the outputs at the points, where it is not known that all of them are right.
    """
    if not picture.classifies:
        unit = Fraction(10) ** picture.target_power
        return _float(product / unit), unit, False
    if not picture.problem.asks_fit and isfinite(own := _float(product)) and own:
        return own, Fraction(1), False  # the loss of another scale is another one
    if exact is None:
        margin = float((values * picture.targets).min())
        if margin <= 1e-6 * float(np.abs(values).max(initial=0.0)):  # rounding matters
            exact = outputs(picture.problem, network)
        elif isfinite(1 / margin):
            return 1 / margin, product * Fraction(margin), True
    if exact is not None:
        for unit, is_margin in ((min(margins(picture.problem, exact)), True), (max(map(abs, exact)), False)):
            size = _float(unit / product)
            if size > 0 and isfinite(1 / size):
                return 1 / size, unit, is_margin
    return 1.0, product, False


def evaluate(network: Drawn, points: Floats) -> Floats:
    """The outputs at points of shape (m, d), in the units of the picture; rounding noise about 0 is set to 0."""
    values = _scaled(_forward(network.layers, points) + network.shift, network.factor)
    noise = 1e-12 * np.abs(values).max(initial=0.0)
    values[np.abs(values) <= noise] = 0.0
    return values


def sizes(networks: Sequence[Drawn], *, with_bias: bool) -> tuple[list[Floats], int]:
    """|v_j| times the norm of w_j (with the bias of neuron j) of each neuron of each network, and a power of ten.

    In units of that power, 0 for sizes that can be read as they are; of networks that classify as they are drawn, at
    least margin 1 or largest output 1. Each is the double nearest to the square root of what is summed exactly.
    """
    found: list[list[Fraction]] = []
    for one in networks:
        shape = one.network.architecture
        rows = [row if with_bias else row[: shape.inputs] for row in one.network.hidden_weights]
        pairs = zip(one.network.output_weights, rows, strict=True)
        found.append([v * v * squared_norm(row) / one.unit**2 for v, row in pairs])
    largest = max((square for squares in found for square in squares), default=Fraction(0))
    power = 0 if not largest or Fraction(1, 10**6) <= largest < 10**10 else floor(_log10(largest) / 2)
    unit = Fraction(10) ** (2 * power)
    return [np.sqrt([_float(square / unit) for square in squares]) for squares in found], power


def scaled_to(picture: Scene, network: Drawn) -> str:
    """What is added to sizes of a network that classifies: in which units it is drawn."""
    if not picture.classifies or (not picture.problem.asks_fit and network.unit == 1):
        return ""
    return " at margin 1" if network.at_margin_one else ", rescaled"


def _forward(layers: Iterable[tuple[Floats, float | None]], points: Floats) -> Floats:
    first, *rest = list(layers)
    width = max(matrix.shape[0] for matrix, _ in (first, *rest))
    size = max(1, _CHUNK // width)
    parts: list[Floats] = []
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for start in range(0, max(1, len(points)), size):
            state = points[start : start + size]
            for place, (matrix, slope) in enumerate((first, *rest)):
                bias = matrix[:, -1] if not place and matrix.shape[1] > points.shape[1] else 0.0
                state = state @ matrix[:, : state.shape[1]].T + bias
                if slope is not None:
                    state = np.maximum(state, slope * state)
            parts.append(state[:, 0])
    values = np.concatenate(parts)
    return values if np.all(np.isfinite(values)) else np.nan_to_num(values, posinf=_HUGE, neginf=-_HUGE)


def _scaled(values: Floats, factor: float) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(values * factor, -_HUGE, _HUGE)


def _neurons(
    network: Network, layers: list[tuple[Floats, float | None]], factor: float
) -> tuple[Floats, Indices, Bits]:
    if network.depth != 2:
        columns = layers[0][0].shape[1]
        return np.zeros((0, columns)), np.zeros(0, dtype=np.intp), np.zeros(0, dtype=bool)
    hidden, outgoing = layers[0][0], layers[1][0][0]
    exact = network.output_weights
    signs = np.array([(v > 0) - (v < 0) for v in exact], dtype=np.intp)
    live = np.array([bool(v) and any(row) for v, row in zip(exact, network.hidden_weights, strict=True)], dtype=bool)
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(np.abs(outgoing)[:, None] * hidden * factor, -_HUGE, _HUGE), signs, live


def support(audit: AuditInPictures, *, of_network: bool) -> tuple[list[int], str]:
    """The points with a multiplier that counts, and their name: by the KKT conditions of the network (when these hold,
    and `of_network`), else by the lower bound; for infeasible problems the points that conflict.
    """
    found = (*(audit.stationary.certificates if of_network else ()), *audit.bounds)
    for certificate in found:
        match certificate:
            case Stationary() | LowerBound():
                return _large(certificate.multipliers), "support point, $\\lambda \\neq 0$"
            case Infeasible():
                return _large(certificate.multipliers), "point in conflict"
            case _:
                continue
    return [], ""


def has_multipliers(audit: AuditInPictures) -> bool:
    """Whether the KKT conditions of the network hold, so that the points are ringed by its own multipliers."""
    return any(isinstance(certificate, Stationary) for certificate in audit.stationary.certificates)


def _large(multipliers: Sparse) -> list[int]:
    """Without multipliers that are 0 but for the inaccuracy of a float solver."""
    least = LEAST_MULTIPLIER * max((abs(value) for _, value in multipliers), default=Fraction(0))
    return [i for i, value in multipliers if abs(value) >= least]


def power_of(values: Iterable[Fraction]) -> int:
    """The power of ten to divide by: 0 for sizes that can be read as they are."""
    largest = max((abs(value) for value in values), default=Fraction(0))
    if not largest or Fraction(1, 1000) <= largest < 10**5:
        return 0
    return floor(_log10(largest))


def _log10(value: Fraction) -> float:
    return log10(value.numerator) - log10(value.denominator)


def in_floats(rows: Iterable[Iterable[Fraction]], power: int) -> Floats:
    """The rows in units of 10^power; what is beyond floats, at their end."""
    unit = Fraction(10) ** power
    return np.array([[_float(value / unit if power else value) for value in row] for row in rows], dtype=float)


def _float(value: Fraction) -> float:
    try:
        return max(-_HUGE, min(_HUGE, to_float(value)))
    except OverflowError:
        return _HUGE if value > 0 else -_HUGE
