"""Two ReLU neurons on two points: one grows and turns upwards, the other never moves."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from solvers.layers import two_layers
from solvers.paper_data.margin_sets import theorem_3_2
from solvers.training.flow.gradient_flow import gradient_flow
from solvers.training.losses import value
from verify.numbers.decimals import at_least, at_most
from verify.plots.style import NEUTRAL, Legend, scatter_classes
from verify.reproduce.audits import audited
from verify.reproduce.layout import COLOURS, log_ticks, page, titled, with_legend
from verify.reproduce.spec import Check, Done, Figure, NamedValues, Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

    from solvers.training.trajectory import Moment

LAYERS = two_layers(2, 2, 0.0)
SHOWN = [0.24, 1.1, 0.1, -0.9, 0.7, 0.9]
"""W by rows, then v: on and off as the theorem asks, and large enough to be seen."""
LIMIT = np.array([0.0, 2.0, 0.0, 0.0, 2.0, 0.0])


def compute(run: NamedValues, done: Done) -> Numbers:
    """The flow from every start; the audit of the limit."""
    numbers = Numbers(values={"runs": []})
    for trial in range(run["starts"]):
        result = done(f"start {trial}", partial(_flow, run, _start(run, trial)))
        numbers.values["runs"].append({key: result[key] for key in ("distance", "moved", "log_loss", "ended")})
        numbers.arrays[f"losses_{trial}"] = np.array(result["log_losses"])
        numbers.arrays[f"distances_{trial}"] = _distances(np.array(result["thetas"]))
    shown = done("the start in the picture", partial(_flow, run, np.array(SHOWN)))
    numbers.arrays |= {key: np.array(shown[key]) for key in ("thetas", "log_losses")}
    numbers.arrays["starts"] = np.arange(run["starts"])
    data = theorem_3_2()
    numbers.arrays |= {"inputs": data.inputs, "targets": data.targets}
    numbers.values["levels"] = run["levels"]
    numbers.values["audit"] = done("audit", lambda: audited(data, [[0, 2], [0, 0]], [2, 0]))
    return numbers


def _start(run: NamedValues, trial: int) -> NDArray[np.float64]:
    """Gaussian, drawn again until neuron 1 is on at both points, neuron 2 off at both, and v_1 > 0."""
    random, X = np.random.default_rng([3, trial]), theorem_3_2().inputs
    while True:
        theta = run["scale"] * random.normal(size=6)
        z = theta[:4].reshape(2, 2) @ X.T
        if (z[0] > 0).all() and (z[1] < 0).all() and theta[4] > 0:
            return theta


def _flow(run: NamedValues, start: NDArray[np.float64]) -> NamedValues:
    data = theorem_3_2()

    def near_enough(moment: Moment) -> str | None:
        close = _distances(moment.theta[None])[0] < run["distance"]
        return "the direction is within the distance" if close else None

    found = gradient_flow(
        LAYERS, data.inputs, data.targets, start, loss="exponential", stop=near_enough, residual=1e-14
    )
    thetas = np.concatenate([found.trajectory.thetas, found.theta[None]])
    last = value("exponential", data.targets, LAYERS.outputs(found.theta, data.inputs)).log_loss
    return {
        "thetas": thetas,
        "log_losses": np.append(found.trajectory.log_losses, last),
        "distance": float(_distances(found.theta[None])[0]),
        "moved": float(np.abs(found.theta - start)[[2, 3, 5]].max() / np.linalg.norm(found.theta)),
        "log_loss": last,
        "ended": f"{found.status}: {found.reason}",
    }


def _distances(thetas: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.linalg.norm(thetas / np.linalg.norm(thetas, axis=1)[:, None] - LIMIT / np.linalg.norm(LIMIT), axis=1)


def checks(numbers: Numbers) -> list[Check]:
    """Theorem 3.2 and the caption of Figure 1."""
    runs, audit = numbers.values["runs"], numbers.values["audit"]
    far, moved = max(run["distance"] for run in runs), max(run["moved"] for run in runs)
    loss = max(run["log_loss"] for run in runs)
    lower, upper = map(Fraction, audit["bracket"])
    low, high = at_least(lower, 13), at_most(upper, 13)
    return [
        Check(
            "the flow converges in direction to w1 = (0, 2), v1 = 2, w2 = 0, v2 = 0",
            far < 1e-6,
            f"from {len(runs)} random starts: within {far:.1e}, at log loss {loss:.3g} or below",
        ),
        Check(
            "the second neuron never moves", moved < 1e-13, f"the largest change is {moved:.1e} times the norm of theta"
        ),
        Check(
            "the limit is a KKT point, and not a local optimum",
            audit["verdicts"]["stationary"] == "proved" and audit["verdicts"]["local_optimum"] == "refuted",
            f"stationary {audit['verdicts']['stationary']}, local optimum {audit['verdicts']['local_optimum']}, by "
            "exact certificates",
        ),
        Check(
            "two neurons, one for each point, do better",
            audit["verdicts"]["global_optimum"] == "refuted",
            f"objective {audit['objective']:.6g} against a best possible between {low} and {high}, proved",
        ),
    ]


def draw(numbers: Numbers) -> MatplotlibFigure:
    """u_1 and u_2 at two times, with the path; the distance to the limit, of all starts."""
    result, (left, right) = page(1, 2, "Gradient flow of two ReLU neurons on two points, exponential loss")
    titled((left, right), ("$u_i = v_i w_i$ at two times", "distance from the limit direction"))
    legend: Legend = {}
    _draw_arrows(left, numbers, legend)
    for trial in numbers.arrays["starts"]:
        losses, distances = numbers.arrays[f"losses_{trial}"], numbers.arrays[f"distances_{trial}"]
        norms = -losses
        shown = norms > 0.05
        right.plot(norms[shown], distances[shown], color=COLOURS[5], linewidth=0.9, alpha=0.7)
    log_ticks(right, x=True, y=True)
    right.set_xlabel(r"$-\log$ loss")
    right.set_ylabel(r"$\|\theta/\|\theta\| - \tilde\theta/\|\tilde\theta\|\,\|$")
    legend["one random start each"] = Line2D([], [], color=COLOURS[5], linewidth=1.2)
    return with_legend(result, legend)


def _draw_arrows(axes: Axes, numbers: Numbers, legend: Legend) -> None:
    thetas, losses, levels = (numbers.arrays["thetas"], numbers.arrays["log_losses"], numbers.values["levels"])
    u1, u2 = thetas[:, :2] * thetas[:, 4:5], thetas[:, 2:4] * thetas[:, 5:6]
    places = [int(np.argmax(losses <= level)) for level in levels]
    top = 1.12 * float(u1[places[-1], 1])
    axes.plot(*u1[: places[-1] + 1].T, color=COLOURS[0], linewidth=0.8, linestyle=":", zorder=2)
    axes.plot([0, 0], [0, top], color=NEUTRAL, linewidth=1.0, linestyle="--", zorder=1)
    for number, place in enumerate(places, start=1):
        for name, u, colour in (("1", u1, COLOURS[0]), ("2", u2, COLOURS[1])):
            if name == "2" and number > 1:
                continue
            axes.annotate(
                "", xy=u[place], xytext=(0, 0), zorder=4,
                arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
            label = f"$u_1(t_{number})$" if name == "1" else "$u_2(t_1) = u_2(t_2)$"
            axes.annotate(
                label, u[place], xytext=(7, -2 if name == "1" else -10), textcoords="offset points", fontsize=9,
                color=colour,
            )  # fmt: skip
    scatter_classes(axes, numbers.arrays["inputs"], numbers.arrays["targets"], legend)
    for i, x in enumerate(numbers.arrays["inputs"], start=1):
        axes.annotate(f"$x_{i}$", x, xytext=(0, 6), textcoords="offset points", ha="center", fontsize=9)
    low = min(0.0, float(u2[:, 1].min()))
    axes.set_ylim(low - 0.08 * (top - low), top)
    axes.set_xlim(-1.5, 1.5)
    axes.set_xlabel("$x_1$")
    axes.set_ylabel("$x_2$")
    legend["limit direction of $u_1$"] = Line2D([], [], color=NEUTRAL, linewidth=1.0, linestyle="--")
    legend["path of $u_1$"] = Line2D([], [], color=COLOURS[0], linewidth=0.8, linestyle=":")


FIGURE = Figure(
    name="vardi2022-figure-1",
    title="A neuron that grows and one that never moves",
    source="arXiv:2110.02732, Figure 1 and Theorem 3.2",
    paper="u_1 = v_1 w_1 at two times, on its way to the direction (0, 1); u_2 stays where it was",
    caption=(
        "(a) u₁ and u₂ at two times, with the path of u₁, for one start that meets the conditions of the theorem. "
        "(b) How far the direction of θ is from that of the limit, for random starts that meet them. It falls as "
        "slowly as 1/‖θ‖, because the second neuron stays where it was."
    ),
    sizes={
        "smoke": {"starts": 3, "scale": 0.5, "distance": 5e-7, "levels": [-0.25, -0.8]},
        "default": {"starts": 20, "scale": 0.5, "distance": 5e-7, "levels": [-0.25, -0.8]},
        "full": {"starts": 200, "scale": 0.5, "distance": 5e-7, "levels": [-0.25, -0.8]},
    },
    compute=compute,
    checks=checks,
    draw=draw,
    scaled=lambda _: [],
    ours=("the start in the picture and the two times: the paper's picture is a sketch",),
)
