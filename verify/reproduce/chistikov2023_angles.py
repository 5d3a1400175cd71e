"""The largest angle between active hidden neurons at the end of training, against the scale of the initialisation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import NDArray

from verify.plots.style import Legend
from verify.reproduce.chistikov2023_descent import SCHEMES, WIDTH, descend
from verify.reproduce.layout import COLOURS, log_ticks, page, titled, with_legend
from verify.reproduce.spec import Check, Done, Figure, NamedValues, Numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure


def compute(run: NamedValues, done: Done) -> Numbers:
    """Arrays of shape (scheme, dimension, trial, scale): angles at the end and at half of the iterations, losses."""
    powers, shape = run["powers"], (len(SCHEMES), len(run["dimensions"]), run["trials"], len(run["powers"]))
    fields = {name: np.full(shape, np.nan) for name in ("angle", "half", "loss", "iterations")}
    for place in np.ndindex(shape):
        scheme, d, trial, power = list(SCHEMES)[place[0]], run["dimensions"][place[1]], place[2], powers[place[3]]
        result = done(f"{scheme}, d = {d}, trial {trial}, scale 4^{power}", partial(_one, scheme, d, trial, power, run))
        for name, array in fields.items():
            array[place] = result[name]
    arrays = {name: np.asarray(array) for name, array in fields.items()}
    arrays["teacher"] = np.array(
        [[[_from_teacher(s, d, t) for t in range(run["trials"])] for d in run["dimensions"]] for s in SCHEMES]
    )
    arrays |= {"dimensions": np.array(run["dimensions"]), "powers": np.array(powers)}
    return Numbers(arrays, {"iterations": run["iterations"], "target": run["target"]})


def _one(scheme: str, dimension: int, trial: int, power: int, run: NamedValues) -> NamedValues:
    found = descend(scheme, dimension, trial, 4.0**power, iterations=run["iterations"], target=run["target"])
    return {
        "angle": found.angles[-1],
        "half": found.angles[np.searchsorted(found.iterations, found.iterations[-1] / 2)],
        "loss": found.losses[-1],
        "iterations": found.iterations[-1],
    }


def _from_teacher(scheme: str, dimension: int, trial: int) -> float:
    """The largest angle between a point and the teacher, in degrees; the theory asks for less than 45."""
    data = SCHEMES[scheme](seed=trial, dimension=dimension)
    cosines = data.inputs @ data.about["teacher"] / np.linalg.norm(data.inputs, axis=1)
    return float(np.degrees(np.arccos(cosines.min())))


def _medians(numbers: Numbers) -> NDArray[np.float64]:
    """(scheme, dimension, scale)."""
    return np.median(numbers.arrays["angle"], axis=2)


def _tail(numbers: Numbers, medians: NDArray[np.float64]) -> float | None:
    """The slope of log angle against log scale where the angle is below 10 degrees; None with fewer than 3 scales."""
    small = medians < 10
    if small.sum() < 3:
        return None
    return float(np.polyfit(numbers.arrays["powers"][small] * np.log(4), np.log(medians[small]), 1)[0])


def checks(numbers: Numbers) -> list[Check]:
    """The angle falls with the scale, for both schemes and every dimension."""
    medians, powers = _medians(numbers), numbers.arrays["powers"]
    least, most = int(powers.argmin()), int(powers.argmax())
    result = []
    for s, scheme in enumerate(SCHEMES):
        ends = [
            f"d = {d}: {medians[s, k, most]:.3g} to {medians[s, k, least]:.2g} degrees"
            for k, d in enumerate(numbers.arrays["dimensions"])
        ]
        result.append(
            Check(
                f"{scheme}: the median largest angle between active neurons falls as the scale falls",
                bool((medians[s, :, least] < medians[s, :, most] / 10).all()),
                f"from scale 4^{powers[most]} to 4^{powers[least]}, " + "; ".join(ends),
            )
        )
    return result


def notes(numbers: Numbers) -> list[str]:
    """The rate; how much would change with longer training; the trials that stay far."""
    medians, angle, half = _medians(numbers), numbers.arrays["angle"], numbers.arrays["half"]
    result = []
    for s, scheme in enumerate(SCHEMES):
        slopes = [(d, _tail(numbers, medians[s, k])) for k, d in enumerate(numbers.arrays["dimensions"])]
        shown = ", ".join(f"{slope:.2f} (d = {d})" for d, slope in slopes if slope is not None)
        if shown:
            result.append(f"{scheme}: below 10 degrees the median angle goes like a power of the scale: {shown}")
    ended = numbers.arrays["loss"] <= numbers.values["target"] / 2
    later = np.abs(np.log(np.median(angle, axis=2) / np.median(half, axis=2)))
    result.append(
        f"the loss is below the target in {ended.sum()} of {ended.size} runs; the medians change by "
        f"{100 * np.expm1(np.median(later)):.2g} % (median of all) or {100 * np.expm1(later.max()):.2g} % (at most) in "
        "the second half of the iterations"
    )
    far = angle[..., int(numbers.arrays["powers"].argmin())] > 10
    if far.any():
        result.append(f"at the smallest scale {far.sum()} of {far.size} trials still have an angle above 10 degrees")
    within = (numbers.arrays["teacher"] < 45).sum()
    result.append(f"{within} of {far.size} data sets keep to the 45 degrees from the teacher that the theory asks for")
    return result


def draw(numbers: Numbers) -> MatplotlibFigure:
    """A panel for each scheme, a line for each dimension."""
    result, panels = page(
        1, 2, f"Largest angle between active hidden neurons after training, width {WIDTH}, medians of trials"
    )
    titled(panels, list(SCHEMES))
    legend: Legend = {}
    scales, angle = 4.0 ** numbers.arrays["powers"], numbers.arrays["angle"]
    medians, dimensions = _medians(numbers), numbers.arrays["dimensions"]
    for s, axes in enumerate(panels):
        for k, d in enumerate(dimensions):
            colour, marker = COLOURS[k], "osD^v"[k]
            axes.plot(scales, medians[s, k], marker=marker, color=colour, markersize=4.5, linewidth=1.3, zorder=3)
            for trial in angle[s, k]:
                axes.plot(scales, trial, marker=marker, color=colour, markersize=2.2, linestyle="", alpha=0.3, zorder=2)
            legend[f"$d = {d}$"] = Line2D([], [], color=colour, marker=marker, markersize=4.5)
        log_ticks(axes, y=True)
        axes.set_xscale("log", base=4)
        axes.xaxis.set_major_locator(FixedLocator([4.0**p for p in range(-12, 3, 2)]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("initialisation scale $\\lambda$")
        axes.set_ylabel("largest angle (degrees)")
    low = min(axes.get_ylim()[0] for axes in panels)
    for axes in panels:
        axes.set_ylim(low, 300)
    legend["single trials (small)"] = Line2D([], [], color="#555555", marker="o", linestyle="", markersize=2.2)
    return with_legend(result, legend, columns=6)


def scaled(run: NamedValues) -> list[str]:
    """Dimensions, trials, iterations."""
    lines = []
    if max(run["dimensions"]) < 1024:
        lines.append(f"dimensions {', '.join(map(str, run['dimensions']))} (paper: up to 1024)")
    if run["trials"] != 5:
        lines.append(f"{run['trials']} trials (paper: 5)")
    if run["iterations"] < 20_000_000:
        lines.append(f"{run['iterations']:,} iterations at most (paper: 20,000,000)")
    if len(run["powers"]) < 16:
        lines.append(f"{len(run['powers'])} scales (paper: 16)")
    return lines


POWERS = list(range(2, -14, -1))
FIGURE = Figure(
    name="chistikov2023-figure-1",
    title="The angle between active neurons falls with the initialisation scale",
    source="arXiv:2306.06479, Figure 1",
    paper="the maximum angle between active hidden neurons at the end of training falls with the initialisation scale, "
    "for two kinds of data and dimensions from 4 to 1024",
    caption=(
        "Gradient descent on data labelled by one ReLU neuron, from a balanced start of scale λ. Each point is the"
        " median over trials of the largest angle between two active neurons at the end; the small ones are the "
        "trials. (a) The teacher is the centre of the points; (b) it is one more of them."
    ),
    sizes={
        "smoke": {"dimensions": [16], "trials": 3, "powers": [2, -4, -7, -10, -13], "iterations": 3000, "target": 1e-9},
        "default": {
            "dimensions": [4, 16, 64], "trials": 5, "powers": POWERS, "iterations": 10_000, "target": 1e-9,
        },
        "full": {
            "dimensions": [4, 16, 64, 256, 1024], "trials": 5, "powers": POWERS, "iterations": 20_000_000,
            "target": 1e-9,
        },
    },
    compute=compute,
    checks=checks,
    notes=notes,
    draw=draw,
    scaled=scaled,
    ours=("active neurons, as in the authors' public code: active at the start, with a positive output weight",),
)  # fmt: skip
