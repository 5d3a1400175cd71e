"""Panels of data on a line: the network as a function of its one input, with the points where it bends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D

from solvers.arrays import Floats
from verify.plots.scene import Drawn, Scene, evaluate, scaled_to
from verify.plots.style import (
    MARGIN_LINES,
    NEUTRAL,
    RASTERISED_ABOVE,
    SHOWN_POINTS,
    TINTS,
    Legend,
    cross,
    frame,
    line_handle,
    note,
    ring,
    scatter_classes,
    shown_points,
    times_ten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["breakpoints", "draw_function", "extent", "heights"]


def breakpoints(network: Drawn) -> Floats:
    """-b_j / w_j for each neuron that bends, in the order of the neurons."""
    rows = network.neurons[network.bends]
    if rows.shape[1] < 2:
        return np.zeros(len(rows))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return np.clip(np.nan_to_num(-rows[:, 1] / rows[:, 0]), -1e150, 1e150) + 0.0


def extent(picture: Scene, networks: Sequence[Drawn]) -> tuple[float, float]:
    """The part of the line to draw: the data, and bends that are near."""
    points = picture.points[:, 0]
    low, high = float(points.min()), float(points.max())
    span = (high - low) or abs(high) or 1.0
    bends = np.concatenate([breakpoints(network) for network in networks])
    near = bends[(bends > low - 0.6 * span) & (bends < high + 0.6 * span)]
    low, high = float(min([low, *near])), float(max([high, *near]))
    return low - 0.12 * span, high + 0.12 * span


def heights(picture: Scene, networks: Sequence[Drawn], view: tuple[float, float]) -> tuple[float, float]:
    """The range of outputs to draw, the same for all networks."""
    seen = [picture.targets]
    for network in networks:
        bends = breakpoints(network)
        inside = bends[(bends >= view[0]) & (bends <= view[1])]
        seen += [network.values, evaluate(network, inside[:, None])]
    values = np.concatenate(seen)
    if picture.classifies:
        values = np.clip(np.concatenate([values, [0.0]]), -6.0, 6.0)
    low, high = float(values.min()), float(values.max())
    pad = 0.14 * ((high - low) or abs(high) or 1.0)
    return low - pad, high + pad


def draw_function(
    axes: Axes,
    picture: Scene,
    view: tuple[float, float],
    height: tuple[float, float],
    network: Drawn,
    title: str,
    *,
    ringed: Sequence[int],
    ring_label: str,
    legend: Legend,
) -> None:
    """One network as a function of x over the data."""
    axes.set_xlim(*view)
    axes.set_ylim(*height)
    axes.set_xlabel(times_ten(picture.column(0, "$x$"), picture.input_power))
    axes.set_ylabel(_outputs_label(picture, network))
    frame(axes, title)
    bends = np.unique(breakpoints(network))
    inside = bends[(bends > view[0]) & (bends < view[1])]
    x = np.unique(np.concatenate([np.linspace(*view, 400), inside]))
    f = evaluate(network, x[:, None])
    if picture.classifies:
        axes.axhline(0, color=NEUTRAL, linewidth=0.6, zorder=1)
        for level in np.unique(picture.targets) if network.at_margin_one else ():
            axes.axhline(level, color=NEUTRAL, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1, gid="margin")
            legend[MARGIN_LINES] = line_handle(NEUTRAL, "--", 1.0)
        for sign, colour in ((1, TINTS["positive"][0]), (-1, TINTS["negative"][0])):
            axes.fill_between(x, 0, f, where=sign * f >= 0, interpolate=True, color=colour, linewidth=0, zorder=0)
    (line,) = axes.plot(x, f, color="black", linewidth=1.5, zorder=3, gid="function")
    legend["$f(x)$"] = line_handle(str(line.get_color()), width=1.5)
    if network.has_kinks and 0 < len(inside) <= SHOWN_POINTS:
        _mark_bends(axes, inside, evaluate(network, inside[:, None]), legend)
    _draw_points(axes, picture, network, ringed, ring_label, legend)


def _mark_bends(axes: Axes, x: Floats, f: Floats, legend: Legend) -> None:
    axes.scatter(x, f, s=150, marker="|", c="black", linewidths=1.0, zorder=3.5, gid="bends")
    legend["breakpoint"] = Line2D([], [], color="black", marker="|", linestyle="", markersize=10, markeredgewidth=1.0)


def _draw_points(
    axes: Axes, picture: Scene, network: Drawn, ringed: Sequence[int], ring_label: str, legend: Legend
) -> None:
    kept = shown_points(len(picture.points), [*ringed, *np.flatnonzero(~network.right)])
    missed = kept[~network.right[kept]]
    places = np.column_stack([picture.points[:, 0], picture.targets])
    if picture.classifies:
        scatter_classes(axes, places[kept], picture.targets[kept], legend, picture.classes)
    else:
        from verify.plots.style import POSITIVE

        axes.scatter(
            places[kept, 0], places[kept, 1], s=30, c=POSITIVE, edgecolors="white", linewidths=0.5, zorder=4,
            gid="points", rasterized=len(kept) > RASTERISED_ABOVE,
        )  # fmt: skip
        legend["target"] = Line2D([], [], color=POSITIVE, marker="o", linestyle="", markersize=5.5)
        axes.vlines(
            places[missed, 0], places[missed, 1], network.values[missed], color=NEUTRAL, linewidth=0.8, linestyle=":",
            zorder=2,
        )  # fmt: skip
    ring(axes, places[np.intersect1d(kept, ringed).astype(int)], ring_label, legend, count=len(kept))
    cross(axes, places[missed], picture.missed, legend)
    if len(kept) < len(picture.points):
        note(axes, f"{len(kept)} of {len(picture.points)} points drawn")


def _outputs_label(picture: Scene, network: Drawn) -> str:
    return times_ten("$f(x)$", picture.target_power) + scaled_to(picture, network)
