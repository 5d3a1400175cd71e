"""The neurons of two inputs: u_j = |v_j| w_j as arrows among the data, with the lines where they bend.

Source: arXiv:2110.02732, Figure 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from solvers.arrays import Floats
from verify.plots.neurons import MOST_OVERLAID, remarks
from verify.plots.plane import Plane, View, limits
from verify.plots.scene import Drawn, Scene
from verify.plots.style import (
    KINK,
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    Legend,
    frame,
    line_handle,
    note,
    scatter_classes,
    shown_points,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_arrows"]

MANY = 60
"""From here on arrows are thin and kink lines faint."""


def draw_arrows(
    axes: Axes, picture: Scene, where: Plane, network: Drawn, better: Drawn | None, title: str, legend: Legend
) -> None:
    """u_j as arrows among the data, with the kink line of each neuron."""
    has_bias = picture.problem.architecture.bias
    view, equal = where.view, where.equal
    if not has_bias:
        low, high = np.array([ends[0] for ends in view]), np.array([ends[1] for ends in view])
        if np.any(low >= 0) or np.any(high <= 0):
            view, equal = limits(np.concatenate([where.coordinates, [[0.0, 0.0]]]))
    axes.set_xlim(*view[0])
    axes.set_ylim(*view[1])
    if equal:
        axes.set_aspect("equal", adjustable="box")
    axes.set_xlabel(where.labels[0])
    axes.set_ylabel(where.labels[1])
    frame(axes, title)
    kept = shown_points(len(where.coordinates), [])
    if picture.classifies:
        scatter_classes(axes, where.coordinates[kept], picture.targets[kept], legend, picture.classes, faint=True)
    else:
        axes.scatter(*where.coordinates[kept].T, s=14, c=NEUTRAL, alpha=0.5, linewidths=0, zorder=2, gid="points")
    shown = [network]
    if better is not None and max(np.sum(network.bends), np.sum(better.bends)) <= MOST_OVERLAID:
        shown.append(better)
    if network.has_kinks:
        _draw_kinks(axes, network, view)
    starts = [_starts(drawn, view, has_bias=has_bias) for drawn in shown]
    unit = _unit(shown, starts, view)
    for kind, drawn, start in zip(("given", "better"), shown, starts, strict=False):
        _draw_quiver(axes, drawn, start, unit, kind)
    _arrow_legend(network, shown, legend)
    if not has_bias:
        axes.plot(0, 0, marker="o", color="black", markersize=3, zorder=7)
    if said := remarks(picture, network):
        note(axes, "neurons: " + ", ".join(said))


def _arrow_legend(network: Drawn, shown: list[Drawn], legend: Legend) -> None:
    signs = np.concatenate([drawn.signs[drawn.bends] for drawn in shown])
    if network.has_kinks and np.any(network.bends):
        legend["kink line, this network"] = line_handle(KINK, width=0.8)
    if np.any(signs > 0):
        legend["$u_j$, $v_j > 0$ (not to scale)"] = Line2D(
            [], [], color=POSITIVE, marker=">", markersize=5, linewidth=2
        )
    if np.any(signs < 0):
        legend["$u_j$, $v_j < 0$ (not to scale)"] = Line2D(
            [], [], color=NEGATIVE, marker=">", markersize=5, linewidth=2
        )
    if len(shown) > 1 and np.any(shown[1].bends):
        legend["$u_j$, better network (hollow)"] = Line2D(
            [], [], color="black", marker=">", markersize=6, markerfacecolor="white", linestyle=""
        )


def _draw_quiver(axes: Axes, network: Drawn, starts: Floats, unit: float, kind: Literal["given", "better"]) -> None:
    arrows = network.neurons[network.bends][:, :2] * unit
    if not len(arrows):
        return
    given, many = kind == "given", len(arrows) > MANY
    own = [POSITIVE if sign > 0 else NEGATIVE for sign in network.signs[network.bends]]
    axes.quiver(
        starts[:, 0], starts[:, 1], arrows[:, 0], arrows[:, 1], angles="xy", scale_units="xy", scale=1,
        facecolor=own if given else "white", edgecolor=own, linewidth=0.0 if given else 1.0,
        width=0.004 if many else 0.009 if given else 0.012, headwidth=3.6, headlength=4.4, headaxislength=4.0,
        minshaft=2.2, minlength=0.6, zorder=6.5 if given else 6, alpha=0.6 if many else 1.0, gid=f"neurons {kind}",
    )  # fmt: skip


def _draw_kinks(axes: Axes, network: Drawn, view: View) -> None:
    """The kink lines, fainter for small neurons."""
    rows = network.neurons[network.bends]
    segments = [_segment(row, view) for row in rows]
    sizes = np.linalg.norm(rows[:, :2], axis=1)
    strengths = np.clip(np.sqrt(sizes / sizes.max(initial=1e-300)), 0.25, 1.0) * np.clip(30 / (len(rows) + 1), 0.2, 1.0)
    kept = [place for place, segment in enumerate(segments) if segment is not None]
    if kept:
        shown = [segment for segment in segments if segment is not None]
        colours = [(KINK, float(strengths[place])) for place in kept]
        lines = LineCollection(shown, colors=colours, linewidths=0.8, zorder=1, gid="kinks")
        axes.add_collection(lines, autolim=False)


def _segment(row: Floats, view: View) -> Floats | None:
    """The part of w.x + b = 0 in the view; None when there is none."""
    w = row[:2] / np.abs(row[:2]).max()
    b = float(row[2] / np.abs(row[:2]).max()) if len(row) > 2 else 0.0
    (left, right), (bottom, top) = view
    found: list[tuple[float, float]] = []
    if w[1]:
        found += [(x, y) for x in (left, right) if bottom <= (y := -(w[0] * x + b) / w[1]) <= top]
    if w[0]:
        found += [(x, y) for y in (bottom, top) if left <= (x := -(w[1] * y + b) / w[0]) <= right]
    if len(found) < 2:
        return None
    ends = np.array(found)
    far = ends[np.argmax(np.linalg.norm(ends - ends[0], axis=1))]
    return None if np.array_equal(far, ends[0]) else np.array([ends[0], far])


def _starts(network: Drawn, view: View, *, has_bias: bool) -> Floats:
    """Where each arrow starts: at 0; with biases on the kink line, or in the corner of the view nearest to it."""
    rows = network.neurons[network.bends]
    if not has_bias:
        return np.zeros((len(rows), 2))
    centre = np.array([(low + high) / 2 for low, high in view])
    half = np.array([(high - low) / 2 for low, high in view])
    inner = tuple((float(c - 0.72 * h), float(c + 0.72 * h)) for c, h in zip(centre, half, strict=True))
    corners = np.array([[x, y] for x in inner[0] for y in inner[1]])
    starts = np.empty((len(rows), 2))
    for place, row in enumerate(rows):
        segment = _segment(row, (inner[0], inner[1]))
        if segment is None:
            starts[place] = corners[np.argmin(np.abs(corners @ row[:2] + row[2]))]
        else:
            along = segment[1] - segment[0]
            share = np.clip((centre - segment[0]) @ along / (along @ along), 0.0, 1.0)
            starts[place] = segment[0] + share * along
    return starts


def _unit(networks: list[Drawn], starts: list[Floats], view: View) -> float:
    """The one factor that lets every arrow end inside the view, and none be longer than a third of it."""
    low, high = np.array([ends[0] for ends in view]), np.array([ends[1] for ends in view])
    unit = np.inf
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for network, start in zip(networks, starts, strict=True):
            arrows = network.neurons[network.bends][:, :2]
            room = np.where(arrows > 0, high - start, np.where(arrows < 0, low - start, np.inf)) / arrows
            lengths = np.linalg.norm(arrows / (high - low), axis=1)
            bounds = np.concatenate([0.92 * np.nan_to_num(room, nan=np.inf).ravel(), 0.38 / lengths])
            unit = min(unit, float(np.min(bounds[bounds > 0], initial=np.inf)))
    return unit if np.isfinite(unit) else 1.0
