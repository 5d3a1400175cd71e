"""The training loss, and the loss on inputs of another distribution, during training from small scales."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.lines import Line2D

from verify.numbers.decimals import at_least, at_most
from verify.plots.style import Legend
from verify.reproduce.chistikov2023_descent import TESTS, WIDTH, descend
from verify.reproduce.layout import log_ticks, page, titled, with_legend
from verify.reproduce.spec import Check, Done, Figure, NamedValues, Numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

DIMENSION = 16


def compute(run: NamedValues, done: Done) -> Numbers:
    """The curves for every scale."""
    numbers = Numbers({"powers": np.array(run["powers"])}, {})
    for power in run["powers"]:
        found = done(f"scale 4^{power}", partial(_one, power, run))
        for name, values in found.items():
            numbers.arrays[f"{name}_{power}"] = np.array(values)
    return numbers


def _one(power: int, run: NamedValues) -> NamedValues:
    found = descend("centred", DIMENSION, run["trial"], 4.0**power, iterations=run["iterations"], target=1e-9)
    return {"iterations": found.iterations, "losses": found.losses, "tests": found.tests}


def checks(numbers: Numbers) -> list[Check]:
    """Fast convergence, and better generalisation from smaller scales."""
    arrays, powers = numbers.arrays, numbers.arrays["powers"]
    falls = {int(p): arrays[f"losses_{p}"][0] / arrays[f"losses_{p}"][-1] for p in powers}
    tests = {int(p): float(arrays[f"tests_{p}"][-1]) for p in powers}
    least, most = int(powers.min()), int(powers.max())
    inside = {int(p): float(arrays[f"losses_{p}"][-1]) for p in powers}
    return [
        Check(
            "the training loss converges fast, from every scale",
            min(falls.values()) > 1e4,
            f"it falls by a factor of {at_least(Fraction(min(falls.values())), 2)} or more, to "
            f"{at_most(Fraction(max(inside.values())), 2)} or less",
        ),
        Check(
            "the loss outside of the training distribution ends lower from smaller scales",
            tests[least] < tests[most] / 2,
            f"{tests[most]:.2e} from 4^{most}, {tests[least]:.2e} from 4^{least}",
        ),
    ]


def notes(numbers: Numbers) -> list[str]:
    """When the loss starts to fall."""
    arrays, powers, result = numbers.arrays, numbers.arrays["powers"], []
    for p in (powers.max(), powers.min()):
        losses = arrays[f"losses_{p}"]
        result.append(int(arrays[f"iterations_{p}"][np.argmax(losses < losses[0] / 2)]))
    first, last = result
    return [
        f"half of the loss is gone after {first} iterations from 4^{powers.max()}, after {last} from 4^{powers.min()}"
    ]


def draw(numbers: Numbers) -> MatplotlibFigure:
    """Training loss, both axes logarithmic; test loss, iterations linear."""
    arrays, powers = numbers.arrays, sorted(numbers.arrays["powers"].tolist(), reverse=True)
    result, (left, right) = page(1, 2, f"Training one ReLU network of width {WIDTH} on centred data, $d = {DIMENSION}$")
    titled((left, right), ("training loss", f"loss on {TESTS} inputs from $N(0, I)$"))
    legend: Legend = {}
    for k, power in enumerate(powers):
        colour = colormaps["viridis"](0.92 * k / max(1, len(powers) - 1))
        iterations = arrays[f"iterations_{power}"]
        left.plot(iterations[1:], arrays[f"losses_{power}"][1:], color=colour, linewidth=1.3)
        right.plot(iterations, arrays[f"tests_{power}"], color=colour, linewidth=1.3)
        legend[f"$\\lambda = 4^{{{power}}}$"] = Line2D([], [], color=colour, linewidth=1.6)
    log_ticks(left, x=True, y=True)
    log_ticks(right, y=True)
    for axes in (left, right):
        axes.set_xlabel("iteration")
        axes.set_ylabel("loss")
    right.ticklabel_format(axis="x", style="sci", scilimits=(0, 3), useMathText=True)
    return with_legend(result, legend, columns=7)


FIGURE = Figure(
    name="chistikov2023-figure-2",
    title="Training loss and loss outside of the training distribution",
    source="arXiv:2306.06479, Figure 2",
    paper="from scales 4^-2 to 4^-8 the training loss converges fast, and the loss on inputs of another distribution "
    "ends low",
    caption=(
        "The same training from seven scales, on one data set: (a) the loss on the training data, (b) the loss on "
        "inputs of another distribution."
    ),
    sizes={
        "smoke": {"powers": [-2, -5, -8], "trial": 294, "iterations": 3000},
        "default": {"powers": list(range(-2, -9, -1)), "trial": 294, "iterations": 400_000},
        "full": {"powers": list(range(-2, -9, -1)), "trial": 294, "iterations": 20_000_000},
    },
    compute=compute,
    checks=checks,
    notes=notes,
    draw=draw,
    scaled=lambda run: (
        [f"{run['iterations']:,} iterations at most (paper: 20,000,000)"] if run["iterations"] < 20_000_000 else []
    ),
    ours=("the draw of the data: one on which little of the loss is left to directions that are learnt very slowly",),
)
