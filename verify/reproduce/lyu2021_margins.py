"""The form of the three panels of Figure 1: a KKT direction, the best margin, and where gradient flow goes.

(a) and (b) are two networks over the data, at margin 1; (c) is the normalised margin q_min / |theta|^2 along gradient
flows from small random starts, with the certified best over all widths: 1 / (2 L), L the proved lower bound of the
objective 1/2 |theta|^2 at margin 1.

Source: arXiv:2110.13905, Figure 1. The data of the paper's picture stand in an appendix that we could not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from scipy.stats import binom

from solvers.arrays import Floats
from solvers.layers import two_layers
from solvers.paper_data.dataset import PaperData
from solvers.training.flow.gradient_flow import gradient_flow
from solvers.training.initialisation import initialise
from verify.auditing.loop import pose
from verify.numbers.decimals import at_least, at_most
from verify.plots.plane import Plane, draw_network
from verify.plots.scene import drawn, scene
from verify.plots.style import NEUTRAL, Legend
from verify.problem.network import Network
from verify.reproduce.audits import audited
from verify.reproduce.layout import COLOURS, log_ticks, page, titled, with_legend
from verify.reproduce.spec import Check, Done, NamedValues, Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

    from solvers.training.trajectory import Moment

__all__ = ["SLOPE", "Titles", "above", "add_audit", "below", "draw", "flows", "linearity", "probable"]

LEAST_CHANCE = 0.01
"""What refutes a probability: runs of less chance."""

SLOPE = 0.5


@dataclass(frozen=True)
class Titles:
    """The words of a picture.   networks: the keys of the audits drawn in (a) and (b), with their titles."""

    page: str
    networks: Sequence[tuple[str, str]]


def below(objective: float, digits: int = 12) -> str:
    """1 / (2 objective), the margin of that objective, rounded down."""
    return at_least(1 / (2 * Fraction(objective)), digits)


def above(objective: float) -> str:
    """The same rounded up."""
    return at_most(1 / (2 * Fraction(objective)), 12)


def flows(data: PaperData, initialisation: str, run: NamedValues, done: Done) -> Numbers:
    """Gradient flow of the logistic loss from each start; margins, log losses, and the network at the end."""
    numbers = Numbers({"inputs": data.inputs, "targets": data.targets}, {"flows": [], "audits": {}})
    for seed in range(run["starts"]):
        found = done(f"flow from start {seed}", partial(_flow, data, initialisation, run, seed))
        numbers.arrays[f"norms_{seed}"] = np.array(found["norms"])
        numbers.arrays[f"margins_{seed}"] = np.array(found["margins"])
        numbers.values["flows"].append({key: value for key, value in found.items() if key not in {"norms", "margins"}})
    return numbers


def _flow(data: PaperData, initialisation: str, run: NamedValues, seed: int) -> NamedValues:
    width, d = run["width"], data.inputs.shape[1]
    layers = two_layers(d, width, SLOPE)

    def fits_well(moment: Moment) -> str | None:
        return "the loss is small enough" if moment.log_loss < run["log_loss"] else None

    found = gradient_flow(
        layers, data.inputs, data.targets, initialise(initialisation, layers, seed=seed, scale=run["scale"]),
        loss="logistic", rtol=1e-7, stop=fits_well,
    )  # fmt: skip
    W, v = layers.matrices(found.theta)
    outputs = data.targets * layers.outputs(found.theta, data.inputs)
    size = float(np.sqrt(outputs.min()))
    return {
        "norms": found.trajectory.norms,
        "margins": found.trajectory.margins,
        "margin": float(outputs.min() / (found.theta @ found.theta)),
        "W": W / size,
        "v": v[0] / size,
        "positive": float((np.abs(v[0]) * np.linalg.norm(W, axis=1))[v[0] > 0].sum()
                          / (np.abs(v[0]) * np.linalg.norm(W, axis=1)).sum()),
        "ended": f"{found.status}: {found.reason}",
    }  # fmt: skip


def add_audit(numbers: Numbers, done: Done, key: str, W: Floats, v: Floats) -> NamedValues:
    """Audit a network on the data of `numbers`, and keep it with its answers."""
    data = PaperData(numbers.arrays["inputs"], numbers.arrays["targets"])
    found = done(f"audit of {key}", lambda: audited(data, np.asarray(W).tolist(), np.asarray(v).tolist(), slope=SLOPE))
    numbers.values["audits"][key] = {**found, "W": np.asarray(W).tolist(), "v": np.asarray(v).tolist()}
    return found


def probable(statement: str, successes: int, trials: int, probability: float, measured: str) -> Check:
    """A statement that something has at least this probability: refuted where so few successes, or fewer, have a chance
    of less than 1 %, and else consistent with them.   measured: what the successes are.
    """
    chance = binom.cdf(successes, trials, probability).item()
    shares = f"{100 * successes / trials:.3g} %, at least {100 * probability:.4g} % promised"
    most = at_most(Fraction(chance), 2)
    told = f"{successes} of {trials} starts {measured}: {shares}; so few have a chance of at most {most} then"
    return Check(statement, chance >= LEAST_CHANCE, told, chance)


def linearity(W: Floats, v: Floats, direction: Floats, *, one_neuron: bool) -> float:
    """The largest distance, relative to the largest output, of f on the unit circle from the nearest multiple of
    w*.x, or, for `one_neuron`, of max(w*.x, a w*.x).
    """
    angles = np.linspace(0, 2 * np.pi, 721)
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    z = points @ np.asarray(W).T
    f = np.maximum(z, SLOPE * z) @ np.asarray(v)
    model = points @ direction
    if one_neuron:
        model = np.maximum(model, SLOPE * model)
    return float(np.abs(f - model * (model @ f) / (model @ model)).max() / np.abs(f).max())


def draw(numbers: Numbers, titles: Titles, view: tuple[tuple[float, float], tuple[float, float]]) -> MatplotlibFigure:
    """Two networks over the data and the margins of the flows."""
    result, panels = page(1, 3, titles.page, panel=(3.3, 2.75))
    legend: Legend = {}
    for axes, (key, title) in zip(panels, titles.networks, strict=False):
        _draw_network(axes, numbers, key, title, view, legend)
    _draw_margins(panels[-1], numbers, legend)
    titled(panels, [*(title for _, title in titles.networks), "normalised margin along gradient flows"])
    return with_legend(result, legend, columns=5)


def _draw_network(
    axes: Axes, numbers: Numbers, key: str, title: str, view: tuple[tuple[float, float], tuple[float, float]],
    legend: Legend,
) -> None:  # fmt: skip
    entry = numbers.values["audits"][key]
    network = Network.two_layer(entry["W"], entry["v"], slope=SLOPE)
    data = numbers.arrays["inputs"].tolist(), numbers.arrays["targets"].tolist()
    picture = scene(pose(network, data, goal="max-margin"))
    where = Plane(
        origin=np.zeros(2), basis=np.eye(2), coordinates=picture.points, labels=("$x_1$", "$x_2$"), view=view,
        equal=True, is_slice=False,
    )  # fmt: skip
    draw_network(
        axes, picture, where, drawn(picture, network, fits=True), title, ringed=(), ring_label="", legend=legend
    )


def _draw_margins(axes: Axes, numbers: Numbers, legend: Legend) -> None:
    audits = numbers.values["audits"]
    lower = next(entry["bracket"] for entry in audits.values() if entry["bracket"])[0]
    for seed in range(len(numbers.values["flows"])):
        norms, margins = numbers.arrays[f"norms_{seed}"], numbers.arrays[f"margins_{seed}"]
        axes.plot(norms, margins, color=COLOURS[5], linewidth=1.0, zorder=2)
    axes.axhline(1 / (2 * lower), color="black", linewidth=1.3, zorder=3)
    legend["a gradient flow each"] = Line2D([], [], color=COLOURS[5], linewidth=1.2)
    legend["best margin of any width, proved"] = Line2D([], [], color="black", linewidth=1.3)
    if "kkt" in audits:
        axes.axhline(1 / (2 * audits["kkt"]["objective"]), color=COLOURS[1], linewidth=1.2, linestyle="--", zorder=3)
        legend["the KKT direction of (a)"] = Line2D([], [], color=COLOURS[1], linewidth=1.2, linestyle="--")
    log_ticks(axes, x=True)
    axes.set_ylim(0, 1.12 / (2 * lower))
    axes.set_xlabel(r"$\|\theta\|$")
    axes.set_ylabel(r"$q_{\min} / \|\theta\|^2$")
    axes.axhline(0, color=NEUTRAL, linewidth=0.5)
