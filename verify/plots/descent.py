"""The panel of the descent: the objective along the segment that refutes a local optimum."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D

from solvers.arrays import Floats
from verify.checker.local import NotLocal
from verify.deciders.local_optimality.descent import segment
from verify.numbers.floats import to_float, to_matrix
from verify.plots.audited import AuditInPictures
from verify.plots.style import NEUTRAL, SIZES, Legend, frame
from verify.problem.members import has_margin, margins, trains_all
from verify.problem.network import Network
from verify.problem.problem import Objective, Problem, outputs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_descent"]

STEPS = 100
"""Pieces of the segment between the places that are drawn."""


def draw_descent(axes: Axes, audit: AuditInPictures, proof: NotLocal, title: str, legend: Legend) -> None:
    """The objective sum ||u_j + eps d_j|| at margin 1, eps in [0, 1]; the network at eps = 0, and the best known.

    With given output weights 1/2 sum ||w_j + eps d_j||^2. Where a loss is asked the losses, with the decay.
    """
    eps, values = _course(audit, proof)
    axes.plot(eps, values, color="black", linewidth=1.3, zorder=3, gid="descent")
    axes.plot(0.0, values[0], color="black", marker="o", markersize=6, linestyle="", zorder=4, gid="start")
    legend["objective along the descent"] = Line2D([], [], color="black", linewidth=1.3)
    if audit.asked_bracket is not None:
        best = to_float(audit.asked_bracket[1])
        axes.axhline(best, color=NEUTRAL, linewidth=1.0, linestyle="--", gid="best")
        axes.annotate(
            "best known", (1.0, best), xytext=(0, 3), textcoords="offset points", ha="right", fontsize=SIZES["label"]
        )
    axes.set_xlabel(r"$\varepsilon$: from the start (0) to the end of the segment (1)")
    axes.set_ylabel("objective")
    frame(axes, title)


def _course(audit: AuditInPictures, proof: NotLocal) -> tuple[Floats, Floats]:
    problem, network = audit.problem, audit.local_optimum.subject or audit.network
    counted = list(problem.norm_columns)
    start, step = map(to_matrix, segment(problem, network, proof))
    eps = np.linspace(0.0, 1.0, STEPS + 1)
    sizes = np.array([np.linalg.norm((start + e * step)[:, counted], axis=1) for e in eps])
    is_whole = trains_all(problem.trained)
    values = sizes.sum(axis=1) if is_whole else (sizes**2).sum(axis=1) / 2
    if isinstance(problem.goal, Objective):
        values = values * to_float(problem.goal.price_above) + _losses(problem, problem.goal, network, proof)
    elif has_margin(problem.goal):
        values /= to_float(min(margins(problem, outputs(problem, network)))) ** (1 if is_whole else 2)
    return eps, values


def _losses(problem: Problem, asked: Objective, network: Network, proof: NotLocal) -> Floats:
    """The losses and the decay of the output bias along the segment, on which the outputs are affine."""
    end = Network(network.architecture, proof.end)
    places = list(zip(outputs(problem, network), outputs(problem, end), strict=True))
    at, ends = [], (network.output_bias, end.output_bias)
    for k in range(STEPS + 1):
        t = Fraction(k, STEPS)
        losses = asked.of_outputs([z + t * (other - z) for z, other in places], problem.targets)
        bias = ends[0] + t * (ends[1] - ends[0])
        at.append(to_float(losses + asked.decay.weighted(output_bias=bias * bias) / 2))
    return np.array(at)
