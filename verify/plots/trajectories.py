"""Pictures of a training: loss, margin, the changes of the activation pattern, and where the neurons turn.

Drawn without pyplot; time is that of the objective which training follows, log L or L.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import SymmetricalLogLocator

from solvers.training.losses import rule_of
from verify.numbers.arguments import a_path
from verify.plots.displayed import new_figure
from verify.plots.files import check_path, write
from verify.plots.style import NEGATIVE, NEUTRAL, PANEL, POSITIVE, SIZES, frame, message, note

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from solvers.layers import Layers
    from solvers.training.losses import Loss
    from solvers.training.trajectory import Trajectory

__all__ = ["plot"]

SHOWN_NEURONS = 60
TITLE_WIDTH = 100
"""Characters in a line of the title."""


def plot(
    trajectory: Trajectory,
    layers: Layers,
    loss: Loss,
    title: str,
    path: str | PathLike[str] | None = None,
    *,
    hidden_only: bool = False,
) -> Figure:
    """Four panels of a trajectory with at least two samples; written to `path` as well, when one is given.

    (a) the loss; (b) the normalised margin, or for the squared loss the largest residual; (c) how many pairs of neuron
    and point have changed sides, and how many are held on their kink; (d) the angle between each neuron and where it
    ends, the broader the larger the neuron is at the end.

    path: ends in .png, .pdf or .svg.   hidden_only: the output weights were kept: the norm is that of the others, and f
    homogeneous of one degree less in them.   Raises InputError when the file cannot be written.
    """
    target = None if path is None else check_path(a_path(path, "path"))
    width, height = PANEL
    result = new_figure((2 * width + 2.2, 2 * height + 2.0), layout="constrained")
    result.set_layout_engine("constrained", w_pad=0.12, h_pad=0.08)
    panels = result.subplots(2, 2).ravel()
    name = "log L" if rule_of(loss).is_for_margins else "L"
    _draw_loss(panels[0], trajectory, loss)
    _draw_margin(panels[1], trajectory, loss, _normalised(layers, hidden_only=hidden_only))
    _draw_pattern(panels[2], trajectory)
    _draw_angles(panels[3], trajectory, layers)
    for panel in panels:
        panel.set_xlabel(f"time of the flow of {name}", fontsize=SIZES["label"])
        if trajectory.times[-1] > 0:
            panel.set_xlim(trajectory.times[0], trajectory.times[-1])
    result.suptitle("\n".join(wrap(title, TITLE_WIDTH)), fontsize=SIZES["figure"], x=0.01, ha="left")
    if target is not None:
        write(result, target)
    return result


def _draw_loss(axes: Axes, trajectory: Trajectory, loss: Loss) -> None:
    frame(axes, "(a) the loss")
    logs = trajectory.log_losses / np.log(10)
    seen = np.isfinite(logs)
    if logs[seen].size and logs[seen].min() > -300:
        axes.semilogy(trajectory.times[seen], 10 ** logs[seen], color=POSITIVE, linewidth=1.4)
        axes.set_ylabel("L")
    else:
        axes.plot(trajectory.times[seen], -logs[seen], color=POSITIVE, linewidth=1.4)
        axes.set_yscale("symlog", linthresh=1.0)
        locator = SymmetricalLogLocator(base=10, linthresh=1.0)
        locator.set_params(numticks=8)
        axes.yaxis.set_major_locator(locator)
        axes.set_ylabel("$-\\log_{10} L$")
    if not rule_of(loss).is_for_margins and not seen.all():
        note(axes, "at the end L = 0 in floats")


def _normalised(layers: Layers, *, hidden_only: bool) -> str:
    """The normalised margin as a formula: by the norm of what is trained, to the power of its layers."""
    depth = len(layers.places) - hidden_only
    weights = "\\theta" if not hidden_only else "W" if depth == 1 else "\\theta_{\\mathrm{hidden}}"
    return f"$\\min_i y_i f(x_i)\\,/\\,\\|{weights}\\|{f'^{depth}' if depth > 1 else ''}$"


def _draw_margin(axes: Axes, trajectory: Trajectory, loss: Loss, name: str) -> None:
    if not rule_of(loss).is_for_margins:
        frame(axes, "(b) the largest residual")
        kept = trajectory.margins > 0
        axes.semilogy(trajectory.times[kept], trajectory.margins[kept], color=POSITIVE, linewidth=1.4)
        axes.set_ylabel("$\\max_i |f(x_i) - y_i|$")
        return
    frame(axes, "(b) the normalised margin")
    axes.plot(trajectory.times, trajectory.margins, color=POSITIVE, linewidth=1.4)
    axes.axhline(0, color=NEUTRAL, linewidth=0.6)
    axes.set_ylabel(name)


def _draw_pattern(axes: Axes, trajectory: Trajectory) -> None:
    frame(axes, "(c) the activation pattern")
    if not len(trajectory.changes):
        message(axes, "(c) the activation pattern", "no neuron changes its side of any point")
        return
    before, after = trajectory.changes[:, 3], trajectory.changes[:, 4]
    times = np.concatenate([trajectory.times[:1], trajectory.change_times, trajectory.times[-1:]])
    crossed = np.concatenate([[0], np.arange(1, len(after) + 1), [len(after)]])
    held = np.cumsum((after == 0).astype(int) - (before == 0).astype(int))
    held = np.concatenate([[0], held, held[-1:]])
    axes.step(times, crossed, where="post", color=POSITIVE, linewidth=1.4, label="changes until then")
    axes.step(times, held, where="post", color=NEGATIVE, linewidth=1.4, label="kinks held")
    axes.set_ylabel("neuron and point pairs")
    axes.legend(fontsize=SIZES["legend"], frameon=False)


def _draw_angles(axes: Axes, trajectory: Trajectory, layers: Layers) -> None:
    title = "(d) where the neurons turn"
    if len(layers.places) != 2:
        message(axes, title, f"drawn for depth 2, and this network has depth {len(layers.places)}")
        return
    weights = np.array([layers.matrices(theta)[0] for theta in trajectory.thetas])  # (T, k, columns)
    sizes = np.linalg.norm(weights, axis=2)
    largest = np.argsort(-sizes[-1], kind="stable")[:SHOWN_NEURONS]
    largest = largest[(sizes[:, largest] > 0).all(axis=0)]
    if not len(largest):
        message(axes, title, "every neuron is 0 somewhere")
        return
    frame(axes, title)
    units = weights[:, largest] / sizes[:, largest, None]
    chords = np.linalg.norm(units - units[-1], axis=2)
    angles = np.degrees(2 * np.arcsin(np.clip(chords / 2, 0, 1)))
    for j, size in enumerate(sizes[-1, largest] / sizes[-1, largest[0]]):
        axes.plot(
            trajectory.times, angles[:, j], color=POSITIVE, alpha=float(0.25 + 0.6 * size),
            linewidth=float(0.5 + 1.5 * size),
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_ylabel("degrees from its last direction")
    if len(sizes[0]) > len(largest):
        note(axes, f"the {len(largest)} largest neurons of {len(sizes[0])}")
