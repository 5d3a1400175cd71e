"""Colours, sizes and the small pieces that panels share. The palette is that of Okabe and Ito, safe for all eyes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from solvers.arrays import Floats

POSITIVE, NEGATIVE, NEUTRAL = "#0072B2", "#D55E00", "#4D4D4D"
TINTS = {"positive": ("#DCE9F4", "#B4D3E9"), "negative": ("#FAE5D9", "#F3C6AD")}
MISS, KINK, MAP = "#000000", "#9A9A9A", "viridis"
SIZES = {"figure": 11.5, "panel": 9.5, "label": 9.0, "tick": 8.0, "note": 8.0, "legend": 8.5}
PANEL = (3.6, 2.85)
"""Inches: the inside of a panel."""
SHOWN_POINTS = 2000
RASTERISED_ABOVE = 500

Legend = dict[str, "Artist"]


def frame(axes: Axes, title: str) -> None:
    """The title and the ticks of a panel."""
    axes.set_title(title, fontsize=SIZES["panel"], loc="left", pad=6)
    axes.tick_params(labelsize=SIZES["tick"], length=3, width=0.7)
    for spine in axes.spines.values():
        spine.set_linewidth(0.7)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_fontsize(SIZES["label"])
        axis.get_offset_text().set_fontsize(SIZES["tick"])


def note(axes: Axes, text: str) -> None:
    """A remark in the upper left corner of a panel."""
    box = {"boxstyle": "square,pad=0.25", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    axes.text(
        0.015, 0.98, text, transform=axes.transAxes, ha="left", va="top", fontsize=SIZES["note"], color=NEUTRAL,
        zorder=9, gid="note", bbox=box,
    )  # fmt: skip


def message(axes: Axes, title: str, text: str) -> None:
    """A panel that only says why there is nothing to draw."""
    frame(axes, title)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(
        0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=SIZES["label"], color=NEUTRAL,
        wrap=True, gid="message",
    )  # fmt: skip


LONGEST_NAME = 24


def times_ten(name: str, power: int) -> str:
    """The label of an axis in units of 10^power."""
    return name if not power else f"{name}  ($\\times 10^{{{power}}}$)"


def shown_points(count: int, wanted: Iterable[int | np.intp]) -> NDArray[np.intp]:
    """The points to draw: all, or of very many an even choice with all of `wanted` (as far as these are few)."""
    if count <= SHOWN_POINTS:
        return np.arange(count)
    kept = np.array(list(wanted), dtype=np.intp)
    even = np.linspace(0, count - 1, SHOWN_POINTS - min(len(kept), SHOWN_POINTS // 2)).astype(np.intp)
    return np.unique(np.concatenate([even, kept[: SHOWN_POINTS // 2]]))


def plain(name: object) -> str:
    """A name of the user as text of a picture, where a dollar sign begins no formula; its begin if it is long."""
    text = str(name)
    return (text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…").replace("$", r"\$")


MARGIN_LINES = "$f = \\pm$ the least margin"
"""In a picture the network is scaled to least margin 1, and these lines are at 1 and -1 there."""


LABELS = ("label $-1$", "label $+1$")
"""What the negative and the positive class are called where they have no names."""


def scatter_classes(
    axes: Axes,
    places: Floats,
    targets: Floats,
    legend: Legend,
    classes: tuple[str, str] = LABELS,
    *,
    faint: bool = False,
) -> None:
    """Points of two classes: blue discs and orange squares.   classes: how the negative and the positive are called."""
    for sign, colour, marker, label, relative in (
        (-1, NEGATIVE, "s", classes[0], 1.15),
        (1, POSITIVE, "o", classes[1], 0.9),
    ):
        mine = places[targets == sign]
        if not len(mine):
            continue
        size = relative * _size(len(places)) * (0.6 if faint else 1.0)
        axes.scatter(
            mine[:, 0], mine[:, 1], s=size, c=colour, marker=marker, linewidths=0.5, edgecolors="white", zorder=4,
            alpha=0.55 if faint else 1.0, rasterized=len(places) > RASTERISED_ABOVE, gid=f"points {sign:+d}",
        )  # fmt: skip
        legend[label] = Line2D([], [], color=colour, marker=marker, linestyle="", markersize=5.5)


def ring(axes: Axes, places: Floats, label: str, legend: Legend, *, count: int) -> None:
    """Rings about support points."""
    if not len(places):
        return
    axes.scatter(
        places[:, 0], places[:, 1], s=_size(count) * 2.1 + 40, facecolors="none", edgecolors="black", linewidths=1.1,
        zorder=5, gid="support",
    )  # fmt: skip
    legend[label] = Line2D(
        [], [], color="black", marker="o", linestyle="", markerfacecolor="none", markersize=9, markeredgewidth=1.1
    )


def cross(axes: Axes, places: Floats, label: str, legend: Legend) -> None:
    """Crosses on the points that a network gets wrong."""
    if not len(places):
        return
    axes.scatter(
        places[:, 0], places[:, 1], s=42, c=MISS, marker="x", linewidths=1.4, zorder=6, gid="missed",
        rasterized=len(places) > RASTERISED_ABOVE,
    )  # fmt: skip
    legend[label] = Line2D([], [], color=MISS, marker="x", linestyle="", markersize=6, markeredgewidth=1.4)


def line_handle(colour: str, style: Literal["-", "--", ":"] = "-", width: float = 1.4) -> Artist:
    """A line for the legend."""
    return Line2D([], [], color=colour, linestyle=style, linewidth=width)


def patch_handle(face: str, edge: str = "none") -> Artist:
    """A filled box for the legend."""
    return Patch(facecolor=face, edgecolor=edge)


def _size(count: int) -> float:
    return float(np.clip(46 - 7 * np.log10(max(count, 1) / 10), 10, 46))
