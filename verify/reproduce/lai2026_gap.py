"""The distance between where gradient descent ends and the interpolant of least norm, in high dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from solvers.paper_data.dataset import PaperData
from solvers.paper_data.high_dimensional import isotropic, spiked
from solvers.training.primal_dual import descend, interpolant, least_norm_one, least_norm_two, span_norm
from verify.plots.style import NEUTRAL, Legend
from verify.reproduce.layout import COLOURS, log_ticks, page, titled, with_legend
from verify.reproduce.spec import Check, Done, Figure, NamedValues, Numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

SIGNS = {"one": [1.0], "two": [1.0, -1.0]}
ITERATIONS = 20_000
ENOUGH = 20
"""d / n^2 that counts as high dimension."""


def compute(run: NamedValues, done: Done) -> Numbers:
    """Every data set with one and with two neurons; then smaller and smaller steps on one kind of data."""
    rows: list[NamedValues] = []
    for spectrum in run["spectra"]:
        for n in run["points"]:
            for d in run["dimensions"]:
                for trial in range(run["trials"]):
                    key = f"{spectrum}, n = {n}, d = {d}, trial {trial}"
                    case = {"spectrum": spectrum, "n": n, "d": d, "trial": trial, "step": run["step"]}
                    rows.append({**case, **done(key, lambda case=case: _measured(case, run))})
    steps: list[NamedValues] = []
    for step in run["steps"]:
        for trial in range(run["trials"]):
            n, d = run["at"]
            case = {"spectrum": "isotropic", "n": n, "d": d, "trial": trial, "step": step}
            key = f"step {step:g}, trial {trial}"
            steps.append({**case, **done(key, lambda case=case: _measured(case, run))})
    numbers = Numbers(values={"slopes": {}, "constants": {}})
    for name, found in (("", rows), ("step_", steps)):
        for field in found[0]:
            numbers.arrays[name + field] = np.array([row[field] for row in found])
    for width in SIGNS:
        x, gap, kinds = numbers.arrays["total"] / numbers.arrays["n"], numbers.arrays[f"{width}_gap"], rows_of(numbers)
        for spectrum, chosen in kinds.items():
            fit = np.polynomial.Polynomial.fit(np.log(x[chosen]), np.log(gap[chosen]), 1).convert()
            numbers.values["slopes"][f"{width}, {spectrum}"] = float(fit.coef[1])
        scaled = gap * np.sqrt(x) / numbers.arrays["size"]
        numbers.values["constants"][width] = [float(scaled.min()), float(scaled.max())]
    return numbers


def rows_of(numbers: Numbers) -> dict[str, NDArray[np.bool_]]:
    """For each kind of spectrum the rows that have it."""
    kinds = numbers.arrays["spectrum"]
    return {str(kind): kinds == kind for kind in dict.fromkeys(kinds.tolist())}


def _measured(case: NamedValues, run: NamedValues) -> NamedValues:
    data = _data(case)
    X, y = data.inputs, data.targets
    gram, total = X @ X.T, float(data.about["spectrum"].sum())
    start = run["start"] * np.abs(y).min() * np.random.default_rng([7, case["trial"]]).uniform(0.5, 1, (2, len(y)))
    duals = np.linalg.solve(gram, start.T).T
    result: NamedValues = {"total": total, "size": float(np.sqrt((y**2).mean()))}
    for width, signs in SIGNS.items():
        found = descend(
            gram, y, signs, duals[: len(signs)], step=case["step"] / total, iterations=ITERATIONS, checkpoints=2
        )
        end = found.duals[-1]
        # Theorems 1 and 3: linear regression on the points of its own sign, from where the signs had settled after 1
        first = descend(gram, y, signs, duals[: len(signs)], step=case["step"] / total, iterations=1).duals[-1]
        predicted = np.array([interpolant(gram, y * s > 0, y * s, a) for s, a in zip(signs, first, strict=True)])
        least = least_norm_one(gram, y)[None] if width == "one" else least_norm_two(gram, y)[0]
        result |= {
            f"{width}_gap": span_norm(gram, end - least),
            f"{width}_least": span_norm(gram, least),
            f"{width}_predicted": span_norm(gram, end - predicted) / span_norm(gram, end),
            f"{width}_settled": found.settled,
            f"{width}_ended": found.ended,
        }
    return result


def _data(case: NamedValues) -> PaperData:
    n, d, seed = case["n"], case["d"], case["trial"]
    if case["spectrum"] == "isotropic":
        return isotropic(seed=seed, points=n, dimension=d)
    return spiked(seed=seed, points=n, dimension=d, spikes=d // 10, spike=4.0)


def checks(numbers: Numbers) -> list[Check]:
    """Theorems 1 and 3 (where descent ends), 2 and 4 (how far from the least norm)."""
    arrays, result = numbers.arrays, []
    high = _ratio(arrays) >= ENOUGH
    for width, name, theorem in (("one", "one ReLU", 1), ("two", "two ReLUs", 3)):
        same = _as_predicted(arrays, width)
        result.append(
            Check(
                f"{name}: with high probability descent ends where linear regression on the points of each neuron's "
                f"sign does (Theorem {theorem})",
                bool(same[high].mean() >= 0.9),
                f"in {same[high].sum()} of the {high.sum()} runs with d >= {ENOUGH} n^2, in {same.sum()} of all "
                f"{len(same)}",
            )
        )
    for width, name, theorem in (("one", "one ReLU", 2), ("two", "two ReLUs", 4)):
        slopes = {key.split(", ")[1]: s for key, s in numbers.values["slopes"].items() if key.startswith(width)}
        low, high = numbers.values["constants"][width]
        result.append(
            Check(
                f"{name}: the distance to the least norm falls like (|lambda|_1 / n)^(-1/2), with constants on both "
                f"sides (Theorem {theorem})",
                all(abs(slope + 0.5) < 0.05 for slope in slopes.values()),
                "slope "
                + " and ".join(f"{slope:.3f} ({kind})" for kind, slope in slopes.items())
                + f"; distance times sqrt(|lambda|_1 / n), over the root mean square of y, lies in [{low:.3f}, "
                f"{high:.3f}]",
            )
        )
        gaps = arrays[f"{width}_gap"] / arrays[f"{width}_least"]
        result.append(
            Check(
                f"{name}: the two are never the same (Theorem {theorem})",
                bool(gaps.min() > 1e-6),
                f"the distance is between {gaps.min():.3f} and {gaps.max():.3f} times the least norm",
            )
        )
    return result


def notes(numbers: Numbers) -> list[str]:
    """What the pictures show beyond the theorems."""
    arrays, result = numbers.arrays, []
    for width, name in (("one", "one ReLU"), ("two", "two ReLUs")):
        relative = arrays[f"{width}_gap"] / arrays[f"{width}_least"]
        along = np.polyfit(np.log(arrays["total"] / arrays["n"]), np.log(relative), 1)[0]
        steps = arrays["step_step"]
        gap = arrays[f"step_{width}_gap"] / arrays[f"step_{width}_least"]
        by_step = np.polyfit(np.log(steps), np.log(gap), 1)[0]
        most, least = (float(np.median(gap[steps == step])) for step in (steps.max(), steps.min()))
        result.append(
            f"{name}: the least norm falls with the dimension too: relative to it the distance goes like "
            f"(|lambda|_1 / n)^{along:.2f}; it goes like step^{by_step:.2f}, from {most:.2g} at {steps.max():.2g} / "
            f"|lambda|_1 to {least:.2g} at {steps.min():.2g} / |lambda|_1"
        )
    return result


def _as_predicted(arrays: dict[str, NDArray], width: str) -> NDArray[np.bool_]:
    return (arrays[f"{width}_predicted"] < 1e-6) & arrays[f"{width}_ended"]


def _ratio(arrays: dict[str, NDArray]) -> NDArray[np.float64]:
    return arrays["d"] / arrays["n"].astype(float) ** 2


def draw(numbers: Numbers) -> MatplotlibFigure:
    """Distance against effective dimension over n; relative distance against the step."""
    arrays = numbers.arrays
    result, (left, right) = page(1, 2, "Gradient descent and the interpolant of least norm, squared loss, hidden layer")
    titled((left, right), ("distance in high dimension", "what the step does"))
    legend: Legend = {}
    x = arrays["total"] / arrays["n"]
    sizes = np.unique(arrays["n"])
    markers = dict(zip(sizes.tolist(), "os^Dv", strict=False))
    for width, colour in (("one", COLOURS[0]), ("two", COLOURS[1])):
        y = arrays[f"{width}_gap"] / arrays["size"]
        for spectrum, chosen in rows_of(numbers).items():
            face = colour if spectrum == "isotropic" else "white"
            for n, marker in markers.items():
                mine = chosen & (arrays["n"] == n)
                places, medians = _medians(x[mine], y[mine])
                left.plot(places, medians, marker, color=colour, markerfacecolor=face, markersize=5.5, zorder=3)
        ends = np.array([x.min() / 1.2, x.max() * 1.2])
        constant = np.exp(np.median(np.log(y * np.sqrt(x))))
        left.plot(ends, constant / np.sqrt(ends), color=colour, linewidth=1.0, alpha=0.6)
        name = "one ReLU" if width == "one" else "two ReLUs"
        legend[name] = Line2D([], [], color=colour, marker="o", linestyle="", markersize=5.5)
        places, medians = _medians(arrays["step_step"], arrays[f"step_{width}_gap"] / arrays[f"step_{width}_least"])
        right.plot(places, medians, "o-", color=colour, markersize=4.5, linewidth=1.2)
    legend |= {
        f"$n = {n}$": Line2D([], [], color=NEUTRAL, marker=marker, linestyle="", markersize=5.5)
        for n, marker in markers.items()
    }
    legend["isotropic (filled)"] = Line2D([], [], color=NEUTRAL, marker="o", linestyle="", markersize=5.5)
    legend["spiked (hollow)"] = Line2D(
        [], [], color=NEUTRAL, marker="o", linestyle="", markersize=5.5, markerfacecolor="white"
    )
    legend["slope $-1/2$"] = Line2D([], [], color=NEUTRAL, linewidth=1.0)
    log_ticks(left, x=True, y=True)
    log_ticks(right, x=True, y=True)
    left.set_xlabel(r"$\|\lambda\|_1 / n$")
    left.set_ylabel(r"$\|w^\infty - w^\star\|$ / root mean square of $y$")
    right.set_xlabel(r"step $\eta\,\|\lambda\|_1$")
    right.set_ylabel(r"$\|w^\infty - w^\star\| \,/\, \|w^\star\|$")
    return with_legend(result, legend)


def _medians(x: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    places = np.unique(x)
    return places, np.array([np.median(y[x == place]) for place in places])


def scaled(run: NamedValues) -> list[str]:
    """Nothing is known to be smaller than in the paper, which states theorems."""
    return [f"dimensions up to {max(run['dimensions'])}, {run['trials']} trials of each"]


FIGURE = Figure(
    name="lai2026-gap",
    title="The gap between gradient descent and the least norm",
    source="arXiv:2603.04895v2, Theorems 1 to 4",
    paper="in high dimension gradient descent of the hidden layer ends near the interpolant of least norm, at a "
    "distance of order sqrt(n / |lambda|_1), lambda the spectrum of the covariance, but not at it",
    caption=(
        "(a) Distance between the limit of gradient descent and the interpolant of least norm, over the effective "
        "dimension per point; medians of trials. (b) The relative distance over the step size, for isotropic data."
    ),
    sizes={
        "smoke": {
            "spectra": ["isotropic"], "points": [8], "dimensions": [1000, 4000, 16000], "trials": 3, "step": 0.25,
            "start": 0.01, "steps": [0.25, 0.0625], "at": [8, 4000],
        },
        "default": {
            "spectra": ["isotropic", "spiked"], "points": [8, 16, 32], "dimensions": [2000, 4000, 8000, 16000, 32000],
            "trials": 5, "step": 0.25, "start": 0.01, "steps": [2.0**-k for k in range(1, 11)], "at": [16, 8000],
        },
        "full": {
            "spectra": ["isotropic", "spiked"], "points": [8, 16, 32, 64],
            "dimensions": [8000, 16000, 32000, 64000, 128000], "trials": 20, "step": 0.25, "start": 0.01,
            "steps": [2.0**-k for k in range(1, 13)], "at": [16, 32000],
        },
    },
    compute=compute,
    checks=checks,
    draw=draw,
    notes=notes,
    scaled=scaled,
    ours=(
        "the picture, for theorems whose formulas are lost in the text we have and were rebuilt from their proofs",
        "predictions start between 0.005 and 0.01 times the smallest |y|, which lie in [1/2, 2]; step 1/(4 |lambda|_1)",
        "panel (b): the theorems take a step of order 1 / |lambda|_1",
    ),
)  # fmt: skip
