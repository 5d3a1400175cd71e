"""The predictions x_i.w_j of each neuron during gradient descent of the hidden layer, with one and with two ReLUs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from solvers.paper_data.high_dimensional import isotropic
from solvers.training.primal_dual import PrimalDualDescent, descend
from verify.plots.style import NEGATIVE, NEUTRAL, POSITIVE, Legend
from verify.reproduce.layout import page, titled, with_legend
from verify.reproduce.spec import Check, Done, Figure, NamedValues, Numbers, RunSize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

SETTINGS = {
    "high": "high dimension, positive start",
    "moderate": "moderate dimension, positive start",
    "random": "high dimension, random start",
}
COUNTED_ONLY = "small random"
SIGNS = {1: np.array([1.0]), 2: np.array([1.0, -1.0])}


def compute(width: int, run: NamedValues, done: Done) -> Numbers:
    """One run to draw in each setting, and counts over many."""
    numbers = Numbers(values={"counts": {}, "dimensions": {}})
    for setting in (*SETTINGS, COUNTED_ONLY):
        counts = [
            done(f"{setting}, trial {trial}", partial(_counted, setting, width, run, trial))
            for trial in range(run["trials"])
        ]
        numbers.values["counts"][setting] = {key: [count[key] for count in counts] for key in counts[0]}
        numbers.values["dimensions"][setting] = [run["points"], _dimension(setting, run)]
        if setting == COUNTED_ONLY:
            continue
        shown, targets = _descent(setting, width, run, run["shown"])
        numbers.arrays |= {
            f"{setting}_targets": targets,
            f"{setting}_iterations": shown.iterations,
            f"{setting}_primals": shown.primals,
            f"{setting}_duals": shown.duals,
            f"{setting}_risks": shown.risks,
        }
    return numbers


def _dimension(setting: str, run: NamedValues) -> int:
    n = run["points"]
    return round(run["moderate"] * n) if setting == "moderate" else run["high"] * n * n


def _descent(setting: str, width: int, run: NamedValues, trial: int) -> tuple[PrimalDualDescent, NDArray[np.float64]]:
    n, d = run["points"], _dimension(setting, run)
    data = isotropic(seed=trial, points=n, dimension=d, largest=run["largest"])
    X, y, random = data.inputs, data.targets, np.random.default_rng([11, trial])
    if "random" in setting:
        size = run["random_start"] if setting == "random" else run["start"]
        z = size / np.sqrt(d) * random.normal(size=(width, d)) @ X.T
    else:
        z = run["start"] * (1 - random.random((width, n)))
    gram = X @ X.T
    duals = np.linalg.solve(gram, z.T).T
    return descend(gram, y, SIGNS[width], duals, step=run["step"] / d, iterations=run["iterations"]), y


def _counted(setting: str, width: int, run: NamedValues, trial: int) -> NamedValues:
    found, y = _descent(setting, width, run, trial)
    on_first, on_last = found.primals[0] > 0, found.primals[-1] > 0
    own = SIGNS[width][:, None] * y > 0  # (k, n): the neuron can fit the point
    off = own & ~on_first  # it is off there at the start, though,
    far = off & (found.primals[0] < -run["largest"] * np.sqrt(len(y) / _dimension(setting, run)))  # by how much
    return {
        "settled": found.settled,
        "ended": found.ended,
        "own_only": bool((on_last == own).all()),
        "risk": float(found.risks[-1]),
        "least_risk": float((np.minimum(y, 0.0) ** 2).sum() / 2) if width == 1 else 0.0,
        "off": int(off.sum()),
        "off_for_ever": int((off & ~on_last).sum()),
        "far_off": int(far.sum()),
        "far_off_for_ever": int((far & ~on_last).sum()),
    }


def checks(width: int, numbers: Numbers) -> list[Check]:
    """What the theorems and the text about Appendix F say."""
    high, random = (numbers.values["counts"][setting] for setting in ("high", "random"))
    trials = len(high["settled"])
    first, own = sum(t <= 1 for t in high["settled"]), sum(high["own_only"])
    far, stayed = sum(random["far_off"]), sum(random["far_off_for_ever"])
    return [
        Check(
            "in high dimension from a small positive start the activation pattern is fixed after the first step "
            f"(proof of Theorem {2 * width - 1})",
            first >= 0.9 * trials,
            f"in {first} of {trials} runs",
        ),
        Check(
            f"then each neuron is on at the points of its own sign only, and fits them (Theorem {2 * width - 1})",
            own >= 0.9 * trials and all(high["ended"]),
            f"in {own} of {trials} runs",
        ),
        Check(
            "from a random start an example that its neuron could fit, but is off at, stays off (Remark 1; if it is "
            "far off, x_i.w < -max|y| sqrt(n/d), as Lemma 6 would have it)",
            far > 0 and stayed >= 0.95 * far,
            f"{stayed} of {far} such examples in {trials} runs",
        ),
    ]


def notes(numbers: Numbers) -> list[str]:
    """Moderate dimension, and what is left unfitted from random starts."""
    moderate, random, small = (numbers.values["counts"][setting] for setting in ("moderate", "random", COUNTED_ONLY))
    settled, trials = np.array(moderate["settled"]), len(moderate["settled"])
    n, d = numbers.values["dimensions"]["moderate"]
    above = np.array(random["risk"]) > np.array(random["least_risk"]) + 1e-9
    own = sum(moderate["own_only"])
    return [
        (
            f"n = {n}, d = {d}: activations change until iteration {np.median(settled):.0f} (median) or "
            f"{settled.max()} (at most); in {own} of {trials} runs each neuron ends on at the points of its sign only"
        ),
        (
            f"examples that are off at a random start by any amount: {sum(random['off_for_ever'])} of "
            f"{sum(random['off'])} stay off; from a smaller random start, as small as the positive ones, "
            f"{sum(small['off_for_ever'])} of {sum(small['off'])}"
        ),
        f"from a random start the risk ends above its least value in {above.sum()} of {trials} runs",
    ]


def draw(width: int, numbers: Numbers) -> MatplotlibFigure:
    """A column for each setting, a row for each neuron."""
    names = "one ReLU" if width == 1 else "two ReLUs"
    result, panels = page(width, 3, f"Predictions during gradient descent: {names}, squared loss", panel=(3.1, 2.5))
    titles = []
    for j in range(width):
        for setting, title in SETTINGS.items():
            neuron = "" if width == 1 else ("positive neuron: " if j == 0 else "negative neuron: ")
            n, d = numbers.values["dimensions"][setting]
            titles.append(f"{neuron}{title.split(',')[0] if width > 1 else title}\n$n = {n}$, $d = {d}$")
            if width > 1:
                titles[-1] += f", {title.split(', ')[1]}"
    titled(panels, titles)
    for place, axes in enumerate(panels):
        _draw_primals(axes, numbers, list(SETTINGS)[place % 3], place // 3, width)
        if place // 3 == width - 1:
            axes.set_xlabel("iteration")
        if place % 3 == 0:
            axes.set_ylabel("$x_i \\cdot w$" if width == 1 else ("$x_i \\cdot w_+$", "$x_i \\cdot w_-$")[place // 3])
    legend: Legend = {
        "$y_i > 0$": Line2D([], [], color=POSITIVE, marker="o", markersize=3),
        "$y_i < 0$": Line2D([], [], color=NEGATIVE, marker="s", markersize=3),
        "$|y_i|$, where the signs agree": Line2D([], [], color=NEUTRAL, marker="_", linestyle="", markersize=9),
        "the neuron is off": Line2D([], [], color="#E6E6E6", linewidth=8),
    }
    return with_legend(result, legend)


def _draw_primals(axes: Axes, numbers: Numbers, setting: str, neuron: int, width: int) -> None:
    targets, iterations = numbers.arrays[f"{setting}_targets"], numbers.arrays[f"{setting}_iterations"]
    primals = numbers.arrays[f"{setting}_primals"][:, neuron]
    last = float(iterations[-1])
    axes.axhspan(-100, 0, color="#EFEFEF", zorder=0)
    for i, y in enumerate(targets):
        colour, marker = (POSITIVE, "o") if y > 0 else (NEGATIVE, "s")
        axes.plot(
            iterations, primals[:, i], color=colour, linewidth=0.9, marker=marker, markersize=2.2, alpha=0.85,
            zorder=3 if y > 0 else 2,
        )  # fmt: skip
        if y * SIGNS[width][neuron] > 0:
            axes.plot([last * 1.35], [abs(y)], "_", color=colour, markersize=8, zorder=4)
    axes.set_xscale("symlog", linthresh=1, linscale=0.4)
    axes.set_xlim(-0.08, last * 1.8)
    low, high = float(primals.min()), max(float(primals.max()), float(np.abs(targets).max()))
    axes.set_ylim(low - 0.08 * (high - low), high + 0.08 * (high - low))


def scaled(run: NamedValues) -> list[str]:
    """The paper's sizes are not in the text."""
    return [f"{run['points']} points, {run['trials']} runs for the counts; the paper's sizes are not in its text"]


def _figure(width: int) -> Figure:
    base = {
        "points": 10, "high": 50, "moderate": 1.2, "largest": 2.0, "start": 0.01, "random_start": 0.2, "step": 0.25,
        "iterations": 20_000, "shown": 0,
    }  # fmt: skip
    sizes: dict[RunSize, NamedValues] = {
        "smoke": {**base, "trials": 5},
        "default": {**base, "trials": 100},
        "full": {**base, "trials": 1000, "high": 200},
    }
    return Figure(
        name=("lai2026-one-relu", "lai2026-two-relus")[width - 1],
        title="Primal variables of " + ("one ReLU", "two ReLUs")[width - 1],
        source="arXiv:2603.04895v2, Appendix F." + "12"[width - 1],
        paper="the predictions x_i.w at checkpoints of gradient descent, also where its assumptions fail",
        caption="What each neuron gives at each point before the activation, at checkpoints of gradient descent. "
        "Left: high dimension and a small positive start, as the theorems have it. Middle: hardly more dimensions than "
        "points. Right: a random start.",
        sizes=sizes,
        compute=partial(compute, width),
        checks=partial(checks, width),
        notes=notes,
        draw=partial(draw, width),
        scaled=scaled,
        ours=("sizes, starts, steps, and the form of the picture: all that we have of Appendix F are its headings",),
    )


ONE, TWO = _figure(1), _figure(2)
