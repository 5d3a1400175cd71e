"""Three more points, and gradient flow goes to a linear classifier with a suboptimal margin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solvers.paper_data.separable import hinted
from verify.reproduce.lyu2021_linear import compared, compared_checks, compared_titles
from verify.reproduce.lyu2021_margins import draw, flows
from verify.reproduce.spec import Done, Figure, NamedValues, Numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

H, K, EPSILON = 6.0, 1.0, 0.1


def compute(run: NamedValues, done: Done) -> Numbers:
    """Hinted data, turned so that w* = (1, 0); flows and audits as for data without hints."""
    data = hinted(seed=2, points=8, margin=0.3, H=H, K=K, epsilon=EPSILON)
    axes = np.array([data.about["separator"], data.about["orthogonal"]])
    turned = type(data)(data.inputs @ axes.T, data.targets, data.about)
    numbers = flows(turned, "balanced-sigma", run, done)
    numbers.arrays["hints"] = turned.inputs[:3]
    return compared(numbers, np.array([1.0, 0.0]), float(data.about["margin"]), done)


def picture(numbers: Numbers) -> MatplotlibFigure:
    """As for data without hints, with crosses on the hints; the first is outside."""
    titles = compared_titles(numbers, "Three hints (crossed) added to separable data, leaky ReLU with slope 1/2")
    result = draw(numbers, titles, ((-1.6, 1.6), (-1.32, 1.32)))
    for axes in result.axes[:2]:
        axes.scatter(*numbers.arrays["hints"][1:].T, marker="x", c="white", s=22, linewidths=1.3, zorder=6)
        axes.annotate(
            f"hint at ({H:g}, 0)", (1.57, 0.0), xytext=(-44, 14), textcoords="offset points", fontsize=8, ha="center",
            arrowprops={"arrowstyle": "->", "linewidth": 0.8}, zorder=7,
        )  # fmt: skip
    return result


FIGURE = Figure(
    name="lyu2021-figure-1-right",
    title="Three hints make gradient flow settle for a linear classifier",
    source="arXiv:2110.13905, Figure 1 (right), Definition 6.1 and Theorem 6.2",
    paper="three more points give the linear classifier a suboptimal margin and lead gradient flow to it",
    caption=(
        "Separable data with three more points: one far along w*, outside of the picture, and two at the crosses. "
        "Panels as in the figure before."
    ),
    sizes={
        "smoke": {"starts": 2, "width": 8, "scale": 1e-8, "log_loss": -1e4},
        "default": {"starts": 20, "width": 8, "scale": 1e-8, "log_loss": -1e4},
        "full": {"starts": 200, "width": 8, "scale": 1e-12, "log_loss": -1e6},
    },
    compute=compute,
    checks=compared_checks("Theorem 6.2"),
    draw=picture,
    scaled=lambda run: [
        f"time ends at log loss {run['log_loss']:g}; starts of size {run['scale']:g}",
        f"H = {H:g}, K = {K:g}, epsilon = {EPSILON:g}, which the theorem wants large and small enough",
    ],
    ours=("the data under the hints",),
)
