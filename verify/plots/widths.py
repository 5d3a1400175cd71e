"""The best objective over the number of neurons."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING

from verify.deciders.finding import Verdict
from verify.numbers.arguments import a_path
from verify.numbers.floats import to_float
from verify.plots.files import check_path, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_widths"]


def draw_widths(
    points: Sequence[tuple[int, Verdict, Fraction | None, Fraction | None]],
    any_width: tuple[Fraction | None, Fraction | None],
    path: str | PathLike[str] | None = None,
    *,
    output_weights: Sequence[Fraction] | None = None,
) -> Figure:
    """A bar between both ends for each (width, whether it fits, lower, upper), crosses where nothing fits, and a line
    for each end of the bracket of any width. output_weights: where they are given, and any width is not asked.
    Raises InputError when the file cannot be written.
    """
    target = None if path is None else check_path(a_path(path, "path"))
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), dpi=100, layout="constrained")
    axes = figure.add_subplot()
    for width, fits, lower, upper in points:
        if fits is Verdict.REFUTED:
            axes.plot([width], [0.04], "x", color="tab:red", transform=axes.get_xaxis_transform(), gid="nothing")
        elif upper is not None:
            low = to_float(lower) if lower is not None else 0.0
            axes.plot([width, width], [low, to_float(upper)], "_-", color="black", markersize=14, gid="bracket")
        elif lower is not None:
            axes.plot([width], [to_float(lower)], "^", color="tab:gray", gid="bound")
    for end, style, gid in zip(any_width, ("--", ":"), ("any width", "any width, known"), strict=True):
        if end is not None:
            axes.axhline(to_float(end), color="tab:blue", linewidth=1.0, linestyle=style, gid=gid)
    axes.set_xlabel("neurons")
    axes.set_ylabel("objective")
    axes.set_xticks([width for width, *_ in points])
    _name(axes)
    if output_weights is not None:
        axes.set_xlabel("neurons; the output weights are given")
    if target is not None:
        write(figure, target)
    return figure


NAMES = {
    "bracket": "proved bound to best network known",
    "bound": "proved bound, no network known",
    "nothing": "no network fits",
    "any width": "any width: proved bound",
    "any width, known": "any width: best network known",
}


def _name(axes: Axes) -> None:
    """A legend above the panel, of what is there."""
    shown = {str(line.get_gid()): line for line in axes.lines}
    kinds = [gid for gid in NAMES if gid in shown]
    handles, names = [shown[gid] for gid in kinds], [NAMES[gid] for gid in kinds]
    axes.legend(handles, names, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=8, frameon=False)
