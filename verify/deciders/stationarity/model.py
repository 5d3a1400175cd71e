"""A network with its exact pattern and slacks, and its float model, from which all guesses are made."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.fit import bias_scale, weighted_norm
from verify.checker.statement import Rows, pattern
from verify.deciders.witnesses import distance
from verify.numbers.floats import (
    float_factors,
    float_near,
    float_outgoing,
    float_rows,
    float_weights,
    to_float,
    to_floats,
    weight_places,
)
from verify.problem.members import factors, has_margin, margins, trains_all
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs

if TYPE_CHECKING:
    from solvers.kkt.residual import LocalModel

__all__ = ["KktSubject", "bias_pull", "is_one_sided", "kkt_subject"]

MODERATE = 200
"""Networks of norms from 2^-200 to 2^200 are put into floats as they are."""


@dataclass(frozen=True, slots=True)
class KktSubject:
    """A network with its exact pattern, and its float model.

    factors: what turns outputs into q_i.   slacks: how far each constraint is from being active, 0 for interpolation.
    Constraint i is one of point i, or i - n.   unit: the parameters of the model times this, a power of two, are those
    of the network; 1 where only the hidden layer is trained.
    """

    network: Network
    given: Network
    moved: Fraction
    factors: tuple[Fraction, ...]
    slacks: tuple[Fraction, ...]
    kinks: tuple[tuple[int, int], ...]
    model: LocalModel
    unit: Fraction

    @property
    def parameters(self) -> Rows | None:
        """The parameters that a certificate states; None where it is about the given network."""
        return None if self.network is self.given else self.network.parameters


def kkt_subject(problem: Problem, network: Network, given: Network) -> KktSubject | None:
    """The record of a network near the given one; None where it is zero or out of the range of floats."""
    from solvers.kkt.residual import LocalModel, OutputBias

    signs = pattern(problem, network)
    norm = weighted_norm(problem, network)
    if norm <= 0:
        return None
    pull = bias_pull(problem, network)
    own, slacks = _constraints(problem, network)
    unit = _unit(norm) if trains_all(problem.trained) else Fraction(1)
    scaled = (
        network if unit == 1 else Network(network.architecture, [[z / unit for z in p] for p in network.parameters[:2]])
    )
    weights = float_weights(scaled)
    counted = np.zeros(weights.shape[1], bool)
    counted[list(problem.norm_columns)] = True
    slope = problem.architecture.slope
    grid, rows = np.array(signs, dtype=np.int8), float_rows(problem)
    if len(own) > len(rows):
        grid, rows = np.hstack([grid, grid]), np.vstack([rows, rows])
    try:
        model = LocalModel(
            rows=rows,
            signs=float_factors(problem) if own is factors(problem) else to_floats(own),
            slope=to_float(slope),
            weights=weights,
            outgoing=float_outgoing(scaled),
            on=grid > 0,
            kink=(grid == 0) & (slope < 1),
            counted=counted,
            allowed=weight_places(scaled),
            slacks=np.array([float_near(slack / unit**2) for slack in slacks]),
            norm=to_float(norm / unit**2),
            trains_outputs=trains_all(problem.trained),
            bias=None
            if pull is None
            else OutputBias(
                value=to_float(network.output_bias / unit**2),
                pull=to_float(pull),
                weight=to_float(bias_scale(problem, network)) ** 0.5 / to_float(unit),
            ),
        )
    except OverflowError:
        return None
    if not (np.isfinite(model.rows).all() and np.isfinite(model.weights).all()):
        return None
    kinks = tuple((int(i), int(j)) for j, i in np.argwhere(model.kink)) if slope < 1 else ()
    return KktSubject(network, given, distance(network, given), own, slacks, kinks, model, unit)


def bias_pull(problem: Problem, network: Network) -> Fraction | None:
    """What sum_i c_i is to be, mu_b b / m at the least margin m (1 for min-norm); None without an output bias."""
    of_bias = problem.decay.output_bias
    return None if of_bias is None else of_bias * network.output_bias / bias_scale(problem, network)


def _unit(norm: Fraction) -> Fraction:
    """1 for networks of a moderate size, else a power of two of about theirs, for N = ||theta||^2."""
    exponent = (norm.numerator.bit_length() - norm.denominator.bit_length()) // 2
    return Fraction(1) if abs(exponent) <= MODERATE else Fraction(2) ** exponent


def _constraints(problem: Problem, network: Network) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """The factors and slacks of a `KktSubject`."""
    values = outputs(problem, network)
    if has_margin(problem.goal):
        found = margins(problem, values)
        least = min(found)
        return tuple(factors(problem)), tuple(margin - least for margin in found)
    apart = [value - y for value, y in zip(values, problem.data.targets, strict=True)]
    if problem.fit_tolerance == 0:
        return (Fraction(1),) * len(values), (Fraction(0),) * len(values)
    rooms = [problem.fit_tolerance + sign * gap for sign in (1, -1) for gap in apart]
    return (Fraction(1),) * len(apart) + (Fraction(-1),) * len(apart), tuple(rooms)


def is_one_sided(problem: Problem) -> bool:
    """Whether every multiplier has one sign: not of equations."""
    return has_margin(problem.goal) or problem.fit_tolerance > 0
