"""Data that are not symmetric: gradient flow goes to one leaky ReLU, far below the best margin, which is not linear."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from solvers.paper_data.dataset import PaperData
from verify.reproduce.lyu2021_margins import Titles, above, add_audit, below, draw, flows, linearity, probable
from verify.reproduce.spec import Check, Done, Figure, NamedValues, Numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

SEPARATOR = np.array([1.0, 0.0])
VIEW = ((-1.45, 1.45), (-1.2, 1.2))


def data() -> PaperData:
    """(0.05, +-0.6) are the support vectors of w* = (1, 0); the other points, far out, decide where neurons turn first.

    Near 0 a positive neuron along w* = (1, 0) is pushed off it by the slopes at (e, +-K), e = 0.05, K = 0.6, no farther
    than the kink line of one of them, if K^2 / 2 is below e times the sum of y_i x_i1 weighted by the slopes (ours).
    """
    positive = [[0.05, 0.6], [0.05, -0.6], [0.9, 0.3], [0.95, -0.2], [0.8, 0.0], [0.75, 0.5], [0.7, -0.45], [0.9, 0.05]]
    negative = [[-0.7, 0.3], [-0.8, -0.25], [-0.6, 0.0]]
    return PaperData(np.array(positive + negative), np.repeat([1.0, -1.0], [8, 3]))


def compute(run: NamedValues, done: Done) -> Numbers:
    """The flows; audits of the one-neuron network along w* and, from it, of the best network."""
    return compared(flows(data(), "balanced-sigma", run, done), SEPARATOR, float(data().inputs[0, 0]), done)


def compared(numbers: Numbers, separator: NDArray[np.float64], margin: float, done: Done) -> Numbers:
    """Add the audit of the one neuron along the separator, at margin 1, and the better network that it finds."""
    size = 1 / np.sqrt(margin)
    found = add_audit(numbers, done, "kkt", size * separator[None], np.array([size]))
    better = found["better"]
    add_audit(numbers, done, "best", better["W"], better["v"])
    numbers.values["separator"] = separator.tolist()
    return numbers


def compared_checks(theorem: str) -> Callable[[Numbers], list[Check]]:
    """The statements about the flows' ends, under the name of their source."""

    def checks(numbers: Numbers) -> list[Check]:
        kkt, best = numbers.values["audits"]["kkt"], numbers.values["audits"]["best"]
        separator, ends = np.array(numbers.values["separator"]), numbers.values["flows"]
        lower, upper = kkt["bracket"]
        positive = [end for end in ends if end["positive"] > 0.5]
        off = [linearity(end["W"], end["v"], separator, one_neuron=True) for end in positive]
        near = [distance for distance in off if distance < 1e-2]
        bend = linearity(best["W"], best["v"], separator, one_neuron=True)
        return [
            Check(
                "the classifier max(w*.x, a w*.x)/2 with linear boundary is along a KKT direction",
                kkt["verdicts"]["stationary"] == "proved",
                f"KKT {kkt['verdicts']['stationary']}, local optimum {kkt['verdicts']['local_optimum']}",
            ),
            Check(
                "its margin is far below the best",
                kkt["verdicts"]["global_any_width"] == "refuted" and kkt["objective"] > 1.2 * upper,
                f"margin {1 / (2 * kkt['objective']):.6f}; the best is between {below(upper)} and "
                f"{above(lower)}, about {kkt['objective'] / upper:.3f} times as large",
            ),
            Check(
                "the best margin belongs to a classifier whose boundary is not linear",
                bend > 0.05,
                f"the network found is {100 * bend:.0f} % from every multiple of the one neuron along w*",
            ),
            probable(
                f"gradient flow from small balanced starts goes to that one neuron, with probability at least 1 - 2^-m "
                f"({theorem})",
                len(near),
                len(ends),
                1 - 2.0 ** -len(ends[0]["v"]),
                "end within 1e-2 of it, relative, on the unit circle"
                + (f" (the farthest at {max(near):.1e})" if near else ""),
            ),
        ]

    return checks


def picture(numbers: Numbers) -> MatplotlibFigure:
    """(a) where the flow goes, (b) the best network, (c) the margins."""
    return draw(numbers, compared_titles(numbers, "Data that are not symmetric, leaky ReLU with slope 1/2"), VIEW)


def compared_titles(numbers: Numbers, page: str) -> Titles:
    """The titles of a picture of `compared`."""
    kkt, best = numbers.values["audits"]["kkt"], numbers.values["audits"]["best"]
    return Titles(
        page,
        (
            ("kkt", f"one neuron along $w^*$, margin {1 / (2 * kkt['objective']):.4f}"),
            ("best", f"the best margin, {1 / (2 * best['objective']):.4f}: {len(best['v'])} neurons"),
        ),
    )


FIGURE = Figure(
    name="lyu2021-figure-1-middle",
    title="A linear classifier along a KKT direction, and the best margin",
    source="arXiv:2110.13905, Figure 1 (middle)",
    paper="the linear classifier is along a KKT direction with a much smaller margin than the nonlinear best, and "
    "gradient flow goes to the linear one",
    caption=(
        "Data without mirror images. (a) One leaky ReLU along the max-margin separator w*, at margin 1. (b) The "
        "best network that the audit of (a) finds. (c) Normalised margins along the flows, with that of (a) and "
        "the proved best."
    ),
    sizes={
        "smoke": {"starts": 2, "width": 8, "scale": 1e-8, "log_loss": -1e4},
        "default": {"starts": 20, "width": 8, "scale": 1e-8, "log_loss": -1e4},
        "full": {"starts": 200, "width": 8, "scale": 1e-12, "log_loss": -1e6},
    },
    compute=compute,
    checks=compared_checks("the general theorem behind Theorem 6.2"),
    draw=picture,
    scaled=lambda run: [f"time ends at log loss {run['log_loss']:g}; starts of size {run['scale']:g}"],
    ours=("the data: those of the picture stand in Appendix I.1, which we could not read",),
)
