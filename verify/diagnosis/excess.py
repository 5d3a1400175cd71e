"""Where the excess of a network over the best possible objective comes from, by the multipliers of the lower bound.

At margin 1 (m the least margin, lambda the multipliers over beta, u_j = |v_j| w_j, s_j = sign v_j, h as in the bound):

    1/2 ||theta||^2 / m - L  =  sum_j 1/2 (||w_j|| - |v_j|)^2 / m                imbalance
                             +  sum_j (||u_j|| - s_j h(u_j)) / m                 directions
                             +  sum_i lambda_i (y_i f(x_i) / m - 1)              slack points

because sum_j s_j h(u_j) = sum_i lambda_i y_i f(x_i) and L = sum_i lambda_i. No term is negative: the first and the last
by inspection, the middle one because the bound's certificate proves |h(u)| <= ||u||. For min-norm m = 1, lambda_i
stands for lambda_i y_i and the last sum is 0; with a fit tolerance it is sum_i |lambda_i| times the distance of f(x_i)
from the end of its interval that the sign of lambda_i speaks of. A dead neuron has h(u_j) = 0 (or v_j = 0): all of it
is waste. With a penalised output bias b, L is 1/2 C^2 less, C = sum_i c_i, and 1/2 (b / m - C)^2 is one term more; with
a free one C = 0, and there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from verify.checker.bounds import LowerBound
from verify.deciders.estimates import Estimates, outputs_at
from verify.deciders.witnesses import norms
from verify.numbers.floats import float_near, to_float
from verify.problem.network import Network
from verify.problem.problem import Problem


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """The parts of the excess, relative to the lower bound, in floats: they add up to objective / bound - 1.

    direction_hints: (neuron, part), slack_hints: (point, part, y f(x) / least margin - 1), with a fit tolerance (point,
    part, distance from the end / tolerance); the largest part first, without those that are 0 to rounding.
    beyond_hints: (point, the last of these) for every point that has a multiplier, the most first.
    support: how many points have a multiplier.   bias_hint: of an output bias that counts.
    """

    dead_hint: float
    imbalance_hint: float
    direction_hints: tuple[tuple[int, float], ...]
    slack_hints: tuple[tuple[int, float, float], ...]
    beyond_hints: tuple[tuple[int, float], ...]
    support: int
    bias_hint: float = 0.0

    def __repr__(self) -> str:
        parts = {"dead": self.dead_hint, "imbalance": self.imbalance_hint, "directions": self.directions_hint}
        told = (f"{name} {part:.3g}" for name, part in (parts | {"slack": self.slack_hint}).items())
        return f"<Excess: {', '.join(told)} (floats)>"

    @property
    def directions_hint(self) -> float:
        """The part of all live neurons that do not point where the bound is tight."""
        return sum(part for _, part in self.direction_hints)

    @property
    def slack_hint(self) -> float:
        """The part of all points that have a multiplier and more than the least margin."""
        return sum(part for _, part, _ in self.slack_hints)

    def to_json(self) -> dict[str, object]:
        """The parts as JSON, of neurons and points the ten largest."""
        return {
            "dead_neurons_hint": self.dead_hint,
            "imbalance_hint": self.imbalance_hint,
            "directions_hint": self.directions_hint,
            "slack_points_hint": self.slack_hint,
            "neurons_hint": [list(pair) for pair in self.direction_hints[:10]],
            "points_hint": [[point, part] for point, part, _ in self.slack_hints[:10]],
            "points_with_a_multiplier": self.support,
            **({"output_bias_hint": self.bias_hint} if self.bias_hint else {}),
        }


APART = 0.002  # parts that do not add up to the excess within this part of it are rounding
SMALLEST = 1e-9  # an excess below this may be rounding itself
ROUNDING = 1e-12  # parts below this are taken for rounding


def study_excess(
    problem: Problem,
    network: Network,
    estimates: Estimates,
    bound: LowerBound,
    silent: frozenset[int],
    margin: Fraction | None,
) -> Excess | None:
    """The parts for a network that fits; None when the bound is 0, or floats are too coarse for the parts.

    margin: its least margin (min-norm: None).
    """
    least = 1.0 if margin is None else to_float(margin)
    lower = float_near(bound.bracket[0] or Fraction(0))
    if lower <= 0 or least <= 0:
        return None
    holding = [(i, value) for i, value in bound.multipliers if value]  # the others are there for their sides only
    points = np.array([i for i, _ in holding], int)
    multipliers = np.array([float_near(value / bound.beta) for _, value in holding])
    signs = np.ones(len(points)) if margin is None else estimates.targets[points]
    slope, counted = to_float(problem.architecture.slope), list(problem.norm_columns)
    hidden, outgoing = norms(estimates.weights[:, counted]), np.abs(estimates.outgoing)
    dead = np.zeros(len(hidden), bool)
    dead[list(silent)] = True
    z = estimates.preactivations[:, points]
    pulls = estimates.outgoing * (np.maximum(z, slope * z) @ (signs * multipliers))
    unit = least * lower
    directions = (hidden * outgoing - pulls) / unit
    imbalance = (hidden - outgoing) ** 2 / 2 / unit
    sizes, tolerance = multipliers, to_float(problem.fit_tolerance)
    if tolerance:
        sizes = np.abs(multipliers) * tolerance
    beyond = _beyond(problem, network, holding, margin)
    slack = np.array([float_near(value) for value in beyond.values()])
    if not all(np.isfinite(part).all() for part in (directions, imbalance, 100 * slack)):
        return None
    of_bias, b = to_float(problem.decay.output_bias or Fraction(0)), to_float(network.output_bias)
    whole = ((hidden**2 + outgoing**2) / 2).sum() / unit + of_bias * (b / least) ** 2 / 2 / lower - 1
    bias = of_bias * (b / least - float(signs @ multipliers)) ** 2 / 2 / lower
    parts = np.array([*imbalance, *directions, *(sizes * slack / lower), bias])
    apart = APART * whole + SMALLEST
    if abs(parts.sum() - whole) > apart or parts.min() < -apart:
        return None
    held = dict(zip(points.tolist(), slack.tolist(), strict=True))
    return Excess(
        dead_hint=float(((hidden**2 + outgoing**2) / 2)[dead].sum() / unit),
        imbalance_hint=float(imbalance[~dead].sum()),
        direction_hints=_largest(np.flatnonzero(~dead), directions[~dead]),
        slack_hints=tuple((i, part, held[i]) for i, part in _largest(points, sizes * slack / lower)),
        beyond_hints=tuple((i, held[i]) for i in sorted(held, key=lambda i: -beyond[i])),
        support=len(points),
        bias_hint=bias if bias > ROUNDING else 0.0,
    )


def _beyond(
    problem: Problem, network: Network, holding: list[tuple[int, Fraction]], margin: Fraction | None
) -> dict[int, Fraction]:
    """By how much each point with a multiplier is beyond the least margin, or within the end that holds it; exactly."""
    values = outputs_at(problem, network, [i for i, _ in holding])
    targets, tolerance = problem.data.targets, problem.fit_tolerance

    def beyond(i: int, multiplier: Fraction) -> Fraction:
        if margin is not None:
            return targets[i] * values[i] / margin - 1
        if not tolerance:
            return Fraction(0)
        return 1 + (values[i] - targets[i]) * (1 if multiplier > 0 else -1) / tolerance

    return {i: beyond(i, multiplier) for i, multiplier in holding}


def _largest(names: np.ndarray, parts: np.ndarray) -> tuple[tuple[int, float], ...]:
    order = np.argsort(-parts, kind="stable")
    return tuple((int(names[q]), float(parts[q])) for q in order if parts[q] > ROUNDING)
