"""The neurons of one input, as stems where they bend; of many inputs, as bars of their norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from verify.checker.statement import pattern
from verify.plots.line import breakpoints
from verify.plots.scene import Drawn, Scene, scaled_to, sizes
from verify.plots.style import (
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    SIZES,
    Legend,
    frame,
    note,
    patch_handle,
    scatter_classes,
    shown_points,
    times_ten,
)
from verify.problem.phrases import PER_CENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_bars", "draw_stems", "remarks"]

MOST_BARS = 80
MOST_OVERLAID = 16
"""A better network with more neurons than this is not drawn over the given one."""


def remarks(picture: Scene, network: Drawn, signs: Sequence[Sequence[int]] | None = None) -> list[str]:
    """What the arrows do not show: neurons that are zero, see the bias alone, or are 0 at every point, exactly.

    signs: the pattern of the network, where it is known.
    """
    problem, rows = picture.problem, network.network.hidden_weights
    inputs = network.network.architecture.inputs
    bends = network.live & [any(row[:inputs]) for row in rows]
    least = -1 if problem.architecture.slope == 0 else 0
    is_off = [least <= min(row) and max(row) <= 0 for row in signs or pattern(problem, network.network)]
    found = (
        (int(np.sum(~network.live)), "zero"),
        (int(np.sum(network.live & ~bends)), "constant"),
        (int(np.sum(bends & is_off)), "off at every point"),
    )
    return [f"{count} {what}" for count, what in found if count]


def draw_stems(
    axes: Axes, picture: Scene, view: tuple[float, float], network: Drawn, better: Drawn | None, title: str,
    legend: Legend,
) -> None:  # fmt: skip
    """One input: a stem at the breakpoint of each neuron, of height v_j |w_j|, with a triangle to where it is on."""
    axes.set_xlim(*view)
    axes.set_xlabel(times_ten(picture.column(0, "$x$"), picture.input_power))
    overlaid = None if better is None or np.sum(better.bends) > MOST_OVERLAID else better
    found, power = sizes([network, *([] if overlaid is None else [overlaid])], with_bias=False)
    axes.set_ylabel(times_ten("$v_j\\,|w_j|$", picture.target_power + power) + scaled_to(picture, network))
    frame(axes, title)
    axes.axhline(0, color=NEUTRAL, linewidth=0.6, zorder=1)
    kept = shown_points(len(picture.points), [])
    places = np.column_stack([picture.points[kept, 0], np.zeros(len(kept))])
    if picture.classifies:
        scatter_classes(axes, places, picture.targets[kept], legend, picture.classes, faint=True)
    else:
        axes.scatter(*places.T, s=12, c=NEUTRAL, alpha=0.6, linewidths=0, zorder=2, gid="points")
    outside = 0
    for kind, drawn, heights in zip(("given", "better"), (network, overlaid), found, strict=False):
        if drawn is None:
            continue
        bends, size = breakpoints(drawn), drawn.neurons[drawn.bends][:, 0]
        tall = drawn.signs[drawn.bends] * heights[drawn.bends]
        inside = (bends >= view[0]) & (bends <= view[1])
        outside += int(np.sum(~inside)) if kind == "given" else 0
        for sign, colour in ((1, POSITIVE), (-1, NEGATIVE)):
            for side, marker in ((1, ">"), (-1, "<")):
                mine = inside & (np.sign(tall) == sign) & (np.sign(size) == side)
                if not np.any(mine):
                    continue
                style = ":" if kind == "better" else "-"
                axes.vlines(bends[mine], 0, tall[mine], colors=colour, linewidth=1.4, linestyles=style, zorder=3)
                axes.scatter(
                    bends[mine], tall[mine], marker=marker, s=46, facecolors="white" if kind == "better" else colour,
                    edgecolors=colour, linewidths=1.1, zorder=4 if kind == "given" else 5, gid=f"neurons {kind}",
                )  # fmt: skip
                _stem_legend(kind, sign, legend)
    low, high = axes.dataLim.intervaly
    pad = 0.16 * float(high - low) or 1.0
    axes.set_ylim(low - pad, high + pad)
    said = remarks(picture, network) + ([f"{outside} bending outside"] if outside else [])
    if said:
        note(axes, "neurons: " + ", ".join(said))


def _stem_legend(kind: str, sign: int, legend: Legend) -> None:
    colour = POSITIVE if sign > 0 else NEGATIVE
    if kind == "better":
        legend["neuron, better network"] = Line2D(
            [], [], color="black", marker=">", markersize=6, markerfacecolor="white", linestyle=":", linewidth=1.2
        )
    else:
        relation = ">" if sign > 0 else "<"
        legend[f"neuron, $v_j {relation} 0$ (points to where it is on)"] = Line2D(
            [], [], color=colour, marker=">", markersize=6, linestyle="-", linewidth=1.4
        )


def draw_bars(axes: Axes, picture: Scene, network: Drawn, better: Drawn | None, title: str, legend: Legend) -> None:
    """The norms |u_j|, largest first, coloured by sign, and the fraction of the points at which each neuron is on."""
    (norms, *others), power = sizes([network, *([] if better is None else [better])], with_bias=True)
    order = np.argsort(-norms, kind="stable")
    order = order[network.live[order]][:MOST_BARS]
    signs = pattern(picture.problem, network.network)
    on = np.array([np.mean(np.array(signs[j]) > 0) for j in order])
    ranks = np.arange(1, len(order) + 1)
    axes.set_xlabel("neuron, largest first")
    axes.set_ylabel(times_ten("norm $|u_j|$", picture.target_power + power) + scaled_to(picture, network))
    frame(axes, title)
    own = [POSITIVE if network.signs[j] > 0 else NEGATIVE for j in order]
    bars = axes.bar(ranks, norms[order], width=0.72, color=own, zorder=2, alpha=0.85)
    for bar in bars:
        bar.set_gid("neurons given")
    for colour, relation in ((POSITIVE, ">"), (NEGATIVE, "<")):
        if colour in own:
            legend[f"$|u_j|$, $v_j {relation} 0$"] = patch_handle(colour)
    count = len(order)
    if better is not None:
        theirs = np.sort(others[0][better.live])[::-1][:MOST_BARS]
        count = max(count, len(theirs))
        places = np.arange(1, len(theirs) + 1)
        axes.bar(
            places, theirs, width=0.86, facecolor="none", edgecolor="black", linewidth=0.9, linestyle="--", zorder=3
        )
        legend["$|u_j|$, better network"] = patch_handle("none", "black")
    axes.set_xlim(0.3, max(count, 3) + 0.7)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    top = 1.25 * max(axes.dataLim.y1, 1e-300)
    axes.set_ylim(-0.04 * top, top)
    axes.axhline(0, color=NEUTRAL, linewidth=0.6, zorder=1)
    share = axes.twinx()
    share.scatter(ranks, on, marker="_", s=60, c="black", linewidths=1.6, zorder=5, gid="on")
    share.set_ylim(-0.05, 1.25)
    share.set_yticks([0, 0.5, 1], [f"{part}{PER_CENT}" for part in (0, 50, 100)])
    share.tick_params(labelsize=SIZES["tick"], length=3, width=0.7)
    legend["share of points where it is on"] = Line2D(
        [], [], color="black", marker="_", markersize=8, markeredgewidth=1.6, linestyle=""
    )
    said = remarks(picture, network, signs)
    if np.sum(network.live) > MOST_BARS:
        said.insert(0, f"the {MOST_BARS} largest of {len(norms)} drawn")
    if said:
        note(axes, "neurons: " + ", ".join(said))
