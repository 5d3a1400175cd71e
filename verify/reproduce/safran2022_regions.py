"""A univariate network under gradient flow: its function at several times, and how many linear pieces that needs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.lines import Line2D

from solvers.arrays import Floats
from solvers.layers import Layers, two_layers
from solvers.paper_data.dataset import PaperData
from solvers.paper_data.univariate import switching
from solvers.training.flow.gradient_flow import gradient_flow
from solvers.training.initialisation import initialise
from solvers.training.losses import value
from verify.plots.style import NEUTRAL, Legend, scatter_classes
from verify.reproduce.layout import COLOURS, log_ticks, page, titled, with_legend
from verify.reproduce.pieces import least_pieces
from verify.reproduce.spec import Check, Done, Figure, NamedValues, Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

    from solvers.training.trajectory import Moment

TOLERANCES = (1e-2, 1e-3, 1e-4)
"""Of the largest |f| on the interval."""
REACH = 1.5
"""The function is looked at on [-REACH, REACH]; the data lie in [-1, 1]."""
GRID = np.linspace(-REACH, REACH, 1201)
SAMPLES, FIRST = 60, 0.1
"""How many moments are looked at, evenly in the logarithm of time, and the first after the start."""


def compute(run: NamedValues, done: Done) -> Numbers:
    """For every r and start the pieces over time; for one of them also the functions."""
    numbers = Numbers({"grid": GRID}, {"runs": [], "shown": run["shown"]})
    for switches in run["switches"]:
        for seed in range(run["starts"]):
            found = done(f"r = {switches}, start {seed}", partial(_flow, run, switches, seed))
            numbers.values["runs"].append(
                {key: found[key] for key in ("switches", "seed", "log_loss", "ended", "pieces_first", "pieces_last")}
            )
            if [switches, seed] == run["shown"]:
                numbers.arrays |= {key: np.array(found[key]) for key in ("times", "log_losses", "pieces", "functions")}
                data = _data(run, switches, seed)
                numbers.arrays |= {"inputs": data.inputs, "targets": data.targets}
    numbers.values |= {"points": run["points"], "width": run["width"]}
    return numbers


def _data(run: NamedValues, switches: int, seed: int) -> PaperData:
    return switching(seed=100 * switches + seed, points=run["points"], switches=switches)


def _flow(run: NamedValues, switches: int, seed: int) -> NamedValues:
    data, width = _data(run, switches, seed), run["width"]
    rows, layers = np.column_stack([data.inputs, np.ones(len(data.inputs))]), two_layers(2, width, 0.0)

    def small_enough(moment: Moment) -> str | None:
        return "the loss is small enough" if moment.log_loss < run["log_loss"] else None

    start = initialise("gaussian", layers, seed=seed, scale=run["hidden_scale"], output_scale=run["output_scale"])
    found = gradient_flow(
        layers, rows, data.targets, start, loss="logistic", rtol=1e-6, stop=small_enough,
        max_evaluations=run["evaluations"],
    )  # fmt: skip
    course = found.trajectory
    moments = np.geomspace(FIRST, max(found.time, 2 * FIRST), SAMPLES)
    kept = np.unique([0, *np.minimum(np.searchsorted(course.times, moments), len(course) - 1)])
    functions = [_function(layers, theta) for theta in (*course.thetas[kept], found.theta)]
    pieces = [[least_pieces(GRID, f, tolerance) for tolerance in TOLERANCES] for f in functions]
    log_loss = value("logistic", data.targets, layers.outputs(found.theta, rows)).log_loss
    is_shown = [switches, seed] == run["shown"]
    return {
        "switches": switches,
        "seed": seed,
        "times": [*course.times[kept], found.time],
        "log_losses": [*course.log_losses[kept], log_loss],
        "functions": functions if is_shown else [],
        "pieces": pieces,
        "pieces_first": pieces[0],
        "pieces_last": pieces[-1],
        "log_loss": log_loss,
        "ended": f"{found.status}: {found.reason}",
    }


def _function(layers: Layers, theta: Floats) -> Floats:
    """f on the grid, over its largest absolute value there."""
    f = layers.outputs(theta, np.column_stack([GRID, np.ones(len(GRID))]))
    return f / np.abs(f).max()


def bound(switches: int) -> int:
    """Of Theorem 4.2."""
    return 32 * switches + 67


def checks(numbers: Numbers) -> list[Check]:
    """Theorem 4.2: few regions in the limit; and that these become fewer on the way."""
    runs = numbers.values["runs"]
    fitted = [run for run in runs if run["log_loss"] < -np.log(numbers.values["points"])]
    last, first = [run["pieces_last"][-1] for run in fitted], [run["pieces_first"][-1] for run in fitted]
    over = max((run["pieces_last"][-1] / bound(run["switches"]) for run in fitted), default=np.nan)
    most = {r: max(run["pieces_last"][-1] for run in fitted if run["switches"] == r) for r in _switches(fitted)}
    return [
        Check(
            "after the loss has fallen below 1/n the limit has at most 32 r + 67 linear regions (Theorem 4.2)",
            bool(fitted) and over <= 1,
            f"{len(fitted)} of {len(runs)} runs got there; the most pieces at the end, within {TOLERANCES[-1]:g} of "
            "max|f|: " + ", ".join(f"{count} for r = {r} (bound {bound(r)})" for r, count in most.items()),
        ),
        Check(
            "gradient flow goes from many regions to few, of the order of r",
            bool(fitted and np.mean(last) < 0.7 * np.mean(first)),
            f"{np.mean(first):.1f} pieces at the start and {np.mean(last):.1f} at the end, on average",
        ),
    ]


def notes(numbers: Numbers) -> list[str]:
    """How loose the bound is; how the runs ended."""
    runs = numbers.values["runs"]
    fitted = [run for run in runs if run["log_loss"] < -np.log(numbers.values["points"])]
    most = max((run["pieces_last"][-1] - run["switches"] for run in fitted), default=0)
    least = min((run["pieces_last"][-1] - run["switches"] for run in fitted), default=0)
    ended = [run for run in runs if run["ended"].startswith("stopped")]
    early = [run["log_loss"] for run in runs if run not in ended]
    lines = [f"r + {least} to r + {most} pieces at the end (within {TOLERANCES[-1]:g}), where r + 1 are needed"]
    if early:
        lines.append(
            f"{len(early)} of {len(runs)} flows ended before the log loss asked for, between {max(early):.3g} and "
            f"{min(early):.3g}"
        )
    return lines


def _switches(runs: list[NamedValues]) -> list[int]:
    return sorted({run["switches"] for run in runs})


def draw(numbers: Numbers) -> MatplotlibFigure:
    """Functions at several times; pieces over time; pieces at the end against r."""
    r = numbers.values["shown"][0]
    title = f"A univariate ReLU network with {numbers.values['width']} neurons, logistic loss, gradient flow"
    result, (left, middle, right) = page(1, 3, title, panel=(3.3, 2.75))
    titled(
        (left, middle, right),
        (f"$f / \\max|f|$ at four times, $r = {r}$", f"linear pieces over time, $r = {r}$", "linear pieces at the end"),
    )
    legend: Legend = {}
    _draw_functions(left, numbers, legend)
    for k, tolerance in enumerate(TOLERANCES):
        middle.plot(
            numbers.arrays["times"], numbers.arrays["pieces"][:, k], color=COLOURS[k], linewidth=1.3,
            drawstyle="steps-post",
        )  # fmt: skip
        legend[f"within {tolerance:g} of $\\max|f|$"] = Line2D([], [], color=COLOURS[k], linewidth=1.6)
    middle.axhline(r + 1, color=NEUTRAL, linewidth=1.0, linestyle="--")
    log_ticks(middle, x=True)
    middle.set_ylim(0, None)
    middle.set_xlabel("time of the flow of the log loss")
    middle.set_ylabel("pieces on $[-1.5, 1.5]$")
    runs = numbers.values["runs"]
    for run in runs:
        right.plot(run["switches"], run["pieces_first"][-1], "o", color=NEUTRAL, markersize=4, markerfacecolor="white")
        right.plot(run["switches"], run["pieces_last"][-1], "o", color=COLOURS[len(TOLERANCES) - 1], markersize=4)
    places = np.array(_switches(runs))
    right.plot(places, places + 1, color=NEUTRAL, linewidth=1.0, linestyle="--")
    right.plot(places, bound(places), color="black", linewidth=1.2)  # pyright: ignore[reportArgumentType]
    log_ticks(right, y=True)
    right.set_xlabel("switches $r$ of the labels")
    right.set_xticks(places)
    right.set_ylabel(f"pieces within {TOLERANCES[-1]:g}")
    legend["at the start"] = Line2D(
        [], [], color=NEUTRAL, marker="o", linestyle="", markerfacecolor="white", markersize=4
    )
    legend["$r + 1$, needed"] = Line2D([], [], color=NEUTRAL, linewidth=1.0, linestyle="--")
    legend["$32 r + 67$, Theorem 4.2"] = Line2D([], [], color="black", linewidth=1.2)
    return with_legend(result, legend, columns=6)


def _draw_functions(axes: Axes, numbers: Numbers, legend: Legend) -> None:
    times, functions, losses = (numbers.arrays[key] for key in ("times", "functions", "log_losses"))
    classified = int(np.argmax(losses < -np.log(len(numbers.arrays["targets"]))))
    shown = {
        "start": 0,
        "": int(np.searchsorted(times, 20.0)),
        "loss below $1/n$, ": classified,
        "end, ": len(times) - 1,
    }
    for k, (name, place) in enumerate(shown.items()):
        colour = colormaps["viridis"](0.88 - 0.28 * k)
        axes.plot(numbers.arrays["grid"], functions[place], color=colour, linewidth=1.1 + 0.25 * k, zorder=2 + k)
        label = name if not place else f"{name}time {times[place]:.3g}"
        legend[label] = Line2D([], [], color=colour, linewidth=1.6)
    x, y = numbers.arrays["inputs"][:, 0], numbers.arrays["targets"]
    scatter_classes(axes, np.column_stack([x, np.where(y > 0, 1.12, -1.12)]), y, legend)
    axes.axhline(0, color=NEUTRAL, linewidth=0.6, zorder=1)
    axes.set_ylim(-1.25, 1.25)
    axes.set_xlabel("$x$")


BASE = {
    "points": 30, "width": 60, "hidden_scale": 3.0, "output_scale": 0.01, "log_loss": -1e6, "evaluations": 30_000,
}  # fmt: skip
FIGURE = Figure(
    name="safran2022-regions",
    title="Linear regions of a univariate network under gradient flow",
    source="arXiv:2205.09072, Theorem 4.2",
    paper="once all points are classified, gradient flow converges in direction to a network with at most 32 r + 67 "
    "linear regions, however wide it is, where the labels switch sign r times",
    caption=(
        "(a) One network as a function at four times, each divided by its largest value; the points are drawn at "
        "the top and at the bottom by label. (b) The least number of linear pieces that are within a tolerance of "
        "the function. (c) The same at the start and at the end of all flows, over the number of switches of the "
        "labels, with the bound of the theorem."
    ),
    sizes={
        "smoke": {**BASE, "width": 20, "points": 15, "switches": [2], "starts": 1, "shown": [2, 0], "log_loss": -1e4},
        "default": {**BASE, "switches": [1, 2, 3, 4, 6], "starts": 4, "shown": [3, 0]},
        "full": {**BASE, "points": 200, "width": 400, "switches": [1, 2, 3, 4, 6, 8, 12], "starts": 10, "shown": [3, 0],
                 "evaluations": 1_000_000},
    },
    compute=compute,
    checks=checks,
    notes=notes,
    draw=draw,
    scaled=lambda run: [
        f"{run['points']} points, width {run['width']}",
        f"sigma_h = {run['hidden_scale']:g}, sigma_o = {run['output_scale']:g} (Theorem 3.1 has large constants)",
    ],
    ours=("the picture: the paper has none; a piece counts only if the function is not within a tolerance without it",),
)  # fmt: skip
