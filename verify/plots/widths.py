"""The best objective over the number of neurons."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING

from verify.deciders.finding import Verdict
from verify.numbers.arguments import a_path
from verify.plots.files import check_path, write
from verify.plots.scene import in_floats, power_of
from verify.plots.style import times_ten

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
    At least a tenth of the largest end is in sight, so that ends that are nearly equal look so.
    Raises InputError when the file cannot be written.
    """
    target = None if path is None else check_path(a_path(path, "path"))
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), dpi=100, layout="constrained")
    axes = figure.add_subplot()
    known = [end for row in points if row[1] is not Verdict.REFUTED for end in row[2:]] + [*any_width]
    ends = [end for end in known if end is not None]
    power = power_of(ends)
    shown = dict(zip(ends, in_floats([ends], power)[0].tolist(), strict=True))
    for width, fits, lower, upper in points:
        if fits is Verdict.REFUTED:
            axes.plot([width], [0.04], "x", color="tab:red", transform=axes.get_xaxis_transform(), gid="nothing")
        elif upper is not None:
            low = 0.0 if lower is None else shown[lower]
            axes.plot([width, width], [low, shown[upper]], "_-", color="black", markersize=14, gid="bracket")
        elif lower is not None:
            axes.plot([width], [shown[lower]], "^", color="tab:gray", gid="bound")
    for end, style, gid in zip(any_width, ("--", ":"), ("any width", "any width, known"), strict=True):
        if end is not None:
            axes.axhline(shown[end], color="tab:blue", linewidth=1.0, linestyle=style, gid=gid)
    _widen(axes, list(shown.values()))
    axes.set_xlabel("neurons")
    axes.set_ylabel(times_ten("objective", power))
    axes.set_xticks([width for width, *_ in points])
    _name(axes)
    if output_weights is not None:
        axes.set_xlabel("neurons; the output weights are given")
    if target is not None:
        write(figure, target)
    return figure


IN_SIGHT = 0.1
"""Of the largest end."""


def _widen(axes: Axes, ends: list[float]) -> None:
    """At least so much in sight, and numbers that stand for themselves."""
    axes.yaxis.set_major_formatter("{x:.6g}")
    if not ends or max(ends) - min(ends) >= IN_SIGHT * max(ends):
        return
    middle, half = (max(ends) + min(ends)) / 2, IN_SIGHT * max(ends) / 2
    axes.set_ylim(middle - half, middle + half)


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
