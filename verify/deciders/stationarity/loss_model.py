"""A network with its exact pattern and what its loss admits, and the float model from which guesses are made."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.fit import weighted_norm
from verify.checker.objectives import Objective, PointLoss
from verify.checker.statement import Rows, pattern
from verify.deciders.subgradients import subgradients
from verify.deciders.witnesses import distance
from verify.numbers.floats import float_outgoing, float_rows, float_weights, to_float, to_floats, weight_places
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs

if TYPE_CHECKING:
    from solvers.kkt.loss_residual import LossModel

__all__ = ["LossSubject", "loss_subject"]


@dataclass(frozen=True, slots=True)
class LossSubject:
    """A network near the given one, with its exact pattern, and its float model.

    values: f(x_i).   ranges: for each point the c_i with -c_i in the subdifferential of the loss at f(x_i); best: one
    of them.   size: M > 0.
    """

    problem: Problem
    asked: Objective
    network: Network
    given: Network
    moved: Fraction
    values: list[Fraction]
    best: tuple[Fraction, ...]
    ranges: tuple[tuple[Fraction, Fraction], ...]
    size: Fraction
    model: LossModel

    @property
    def parameters(self) -> Rows | None:
        """The parameters that a certificate states; None where it is about the given network."""
        return None if self.network is self.given else self.network.parameters


SMALLEST = Fraction(1, 2**900)
"""What is squared within a residual has to be above 0 in floats, beside this size of the network."""


def loss_subject(problem: Problem, network: Network, given: Network) -> LossSubject | None:
    """The record of a network near the given one; None where it has no decay or is out of the range of floats."""
    asked, size = problem.goal, weighted_norm(problem, network)
    if not isinstance(asked, Objective) or size < SMALLEST:
        return None
    values = outputs(problem, network)
    ranges = [subgradients(asked.loss, y, z) for y, z in zip(problem.targets, values, strict=True)]
    best = [high if high > 0 else low for low, high in ranges]
    sides = [_side(asked.loss, y, z, c) for y, z, c in zip(problem.targets, values, best, strict=True)]
    try:
        model = _model(problem, asked, network, values, best, sides)
    except OverflowError:
        return None
    if not (np.isfinite(model.rows).all() and np.isfinite(model.weights).all() and np.isfinite(model.best).all()):
        return None
    moved = distance(network, given)
    return LossSubject(problem, asked, network, given, moved, values, tuple(best), tuple(ranges), size, model)


def _side(loss: PointLoss, target: Fraction, output: Fraction, c: Fraction) -> int:
    """The sign of the multipliers that are tried: that of c, or the side on which the output is."""
    if c:
        return 1 if c > 0 else -1
    if loss.labels:
        side = 1 if loss.high is None or loss.high > 0 else -1
        return side if target > 0 else -side
    return 1 if target >= output else -1


def _bends(loss: PointLoss, best: list[Fraction]) -> np.ndarray:
    """The second derivatives of phi at the best multipliers, all that there are but for the logistic loss."""
    if loss.is_exact:
        return np.full(len(best), to_float(loss.curvature))
    d, high = np.abs(to_floats(best)), to_float(loss.high or Fraction(1))
    return 1.0 / np.maximum(d * (1.0 - d / high), 1e-300)


def _model(
    problem: Problem, asked: Objective, network: Network, values: list[Fraction], best: list[Fraction], sides: list[int]
) -> LossModel:
    from solvers.kkt.loss_residual import LossModel

    loss, grid = asked.loss, np.array(pattern(problem, network), dtype=np.int8)
    slope, weights = problem.architecture.slope, float_weights(network)
    counted = np.zeros(weights.shape[1], bool)
    counted[list(problem.norm_columns)] = True
    leans: list[Fraction] = []
    ends: list[tuple[float, float]] = []
    for y, z, c, side in zip(problem.targets, values, best, sides, strict=True):
        toward = side * (y if loss.labels else Fraction(1))  # the sign of d, which is bounded
        rest = toward * (1 - y * z if loss.labels else y - z) - loss.tube
        leans.append(loss.curvature * abs(c) - rest if loss.is_exact else Fraction(0))
        most, other = (loss.high, loss.low) if toward > 0 else (loss.low, loss.high)
        is_straight = not loss.curvature and not loss.tube and loss.is_exact and other is not None
        least = to_float(-abs(other)) if is_straight and other is not None else 0.0
        ends.append((least, np.inf if most is None else to_float(abs(most))))
    return LossModel(
        rows=float_rows(problem),
        slope=to_float(slope),
        weights=weights,
        outgoing=float_outgoing(network),
        on=grid > 0,
        kink=(grid == 0) & (slope < 1),
        counted=counted,
        allowed=weight_places(network),
        hidden=to_float(asked.decay.hidden),
        output=to_float(asked.decay.output),
        size=to_float(weighted_norm(problem, network)),
        side=np.array(sides, np.float64),
        best=np.abs(to_floats(best)),
        least=np.array([least for least, _ in ends]),
        most=np.array([most for _, most in ends]),
        lean=to_floats(leans),
        bend=_bends(loss, best),
        of_bias=to_float(asked.decay.of_bias) if problem.has_output_bias else None,
        bias_pull=to_float((asked.decay.output_bias or 0) * network.output_bias),
    )
