"""Symmetric data: a KKT direction that is not linear and not the best, and flows from small starts that are both."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from solvers.paper_data.dataset import PaperData
from verify.numbers.decimals import at_least, at_most
from verify.reproduce.lyu2021_margins import SLOPE, Titles, above, add_audit, below, draw, flows, linearity, probable
from verify.reproduce.spec import Check, Done, Figure, NamedValues, Numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure
    from numpy.typing import NDArray

C, S = 5 / 13, 12 / 13
SEPARATOR = np.array([1.0, 0.0])
VIEW = ((-1.45, 1.45), (-1.2, 1.2))


def data() -> PaperData:
    """(C, +-S) and two points that support nothing, label 1, with their mirror images: w* = (1, 0), margin C."""
    ones = np.array([[C, S], [C, -S], [0.7, 0.3], [0.6, -0.5]])
    return PaperData(np.concatenate([ones, -ones]), np.repeat([1.0, -1.0], 4))


def kkt_direction() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Three neurons, u = A (S, C), A (S, -C), -B (1, 0), the third with v < 0; A = 1/(3 S C), B = 2/(3 C).

    The first two are at the kink at the points +-(C, -S) and +-(C, S), and all four of these have margin 1. With lambda
    = 2/(3C) (1/S - 1/2) at the positive and mu = 2/(3C) (1 - 1/(2S)) at the negative ones the KKT conditions hold if
    the multiplier times slope that the kinks need, (S^2 - C^2)/(2 S C), lies between (lambda + mu)/2 and lambda + mu:
    for S >= (1 + sqrt 97)/12 = 0.904 (ours). The objective is (1 + 1/S)/2 times the best.
    """
    sizes = np.sqrt([1 / (3 * S * C), 1 / (3 * S * C), 2 / (3 * C)])
    return np.array([[S, C], [S, -C], [-1.0, 0.0]]) * sizes[:, None], sizes * [1, 1, -1]


def compute(run: NamedValues, done: Done) -> Numbers:
    """The flows, the audits of the KKT direction and of the end of the first flow."""
    numbers = flows(data(), "gaussian", run, done)
    add_audit(numbers, done, "kkt", *kkt_direction())
    end = numbers.values["flows"][0]
    add_audit(numbers, done, "flow", end["W"], end["v"])
    return numbers


def checks(numbers: Numbers) -> list[Check]:
    """Theorem 4.2, Corollary 4.4 and the caption."""
    kkt, flow = numbers.values["audits"]["kkt"], numbers.values["audits"]["flow"]
    lower, upper = kkt["bracket"]
    margin = (1 + SLOPE) / 4 * C
    bend = linearity(kkt["W"], kkt["v"], SEPARATOR, one_neuron=False)
    ends = numbers.values["flows"]
    promised = 1 - 2.0 ** (1 - len(ends[0]["v"]))
    best = [end for end in ends if end["margin"] > (1 - 1e-6) / (2 * lower)]
    straight = max((linearity(end["W"], end["v"], SEPARATOR, one_neuron=False) for end in best), default=None)
    return [
        Check(
            "symmetric data can have a KKT direction that is not linear and has less than the best margin",
            kkt["verdicts"]["stationary"] == "proved"
            and kkt["verdicts"]["global_any_width"] == "refuted"
            and bend > 0.01,
            f"KKT {kkt['verdicts']['stationary']}; margin {1 / (2 * kkt['objective']):.6f} against at least "
            f"{below(upper, 6)}; {100 * bend:.1f} % from linear",
        ),
        Check(
            "the best normalised margin is (1 + a)/4 times that of the max-margin separator (Theorem 4.2)",
            1 / (2 * upper) - 1e-12 <= margin <= 1 / (2 * lower) + 1e-12,
            f"{margin:.12f}, in the proved bracket [{below(upper)}, {above(lower)}]",
        ),
        probable(
            "gradient flow from small starts goes to a global max-margin direction with probability at least "
            "1 - 2^(1-m) (Corollary 4.4)",
            len(best),
            len(ends),
            promised,
            f"end within 1e-6 of the proved best margin (the first end is global: "
            f"{flow['verdicts']['global_any_width']})",
        ),
        Check(
            "and that is a linear classifier along the max-margin separator",
            straight is not None and straight < 1e-3,
            "no start ends there"
            if straight is None
            else f"those ends differ from a multiple of w*.x by at most {at_most(Fraction(straight), 2)} of their "
            "largest value on the circle",
        ),
    ]


def notes(numbers: Numbers) -> list[str]:
    """The starts that go elsewhere."""
    lower = numbers.values["audits"]["kkt"]["bracket"][0]
    others = [end for end in numbers.values["flows"] if end["margin"] <= (1 - 1e-6) / (2 * lower)]
    same = sum(min(end["positive"], 1 - end["positive"]) < 1e-3 for end in others)
    margins = f", at margins of {at_least(Fraction(min(e['margin'] for e in others)), 6)} or more" if others else ""
    return [f"of the {len(others)} other starts {same} end with all output weights of one sign{margins}"]


def picture(numbers: Numbers) -> MatplotlibFigure:
    """(a) the KKT direction, (b) the end of a flow, (c) the margins."""
    kkt, flow = (numbers.values["audits"][key]["objective"] for key in ("kkt", "flow"))
    titles = Titles(
        "Symmetric data, leaky ReLU with slope 1/2: a KKT direction and the limit of gradient flow",
        (
            ("kkt", f"a KKT direction, margin {1 / (2 * kkt):.4f}"),
            ("flow", f"where gradient flow ends, margin {1 / (2 * flow):.4f}"),
        ),
    )
    return draw(numbers, titles, VIEW)


FIGURE = Figure(
    name="lyu2021-figure-1-left",
    title="Symmetric data: a KKT direction and the best margin",
    source="arXiv:2110.13905, Figure 1 (left)",
    paper="symmetric separable data have KKT directions with suboptimal margin, yet gradient flow from small "
    "initialisation goes to the global max margin, a linear classifier",
    caption=(
        "Four points and their mirror images, which have the other label. (a) Three neurons along a KKT direction."
        " (b) The end of a gradient flow from a small start. (c) Normalised margins along the flows, over the norm"
        " of θ, which grows from the start on; the black line is the best margin that any network has, as the "
        "audit proves it."
    ),
    sizes={
        "smoke": {"starts": 2, "width": 4, "scale": 1e-6, "log_loss": -1e4},
        "default": {"starts": 20, "width": 4, "scale": 1e-6, "log_loss": -1e4},
        "full": {"starts": 200, "width": 4, "scale": 1e-6, "log_loss": -1e4},
    },
    compute=compute,
    checks=checks,
    draw=picture,
    notes=notes,
    scaled=lambda run: [f"time ends at log loss {run['log_loss']:g}; starts of size {run['scale']:g}"],
    ours=("the data and the KKT direction: those of the picture stand in Appendix I.1, which we could not read",),
)
