"""The page of a figure: panels in rows, a title above, one legend below; in the style of `verify.plots`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatterMathtext, LogLocator, NullFormatter

from verify.plots.style import PANEL, SIZES, Legend, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "log_ticks", "page", "titled", "with_legend"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito, without the yellow, which is hard to see on white."""
LETTERS = "abcdefghi"


def page(
    rows: int, columns: int, title: str, *, panel: tuple[float, float] = PANEL, ratios: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """An empty page and its panels, row by row.   panel: inches, of one panel.   ratios: of the columns' widths."""
    width, height = panel
    result = Figure(figsize=(columns * (width + 0.85), rows * (height + 0.75) + 0.7), layout="constrained")
    FigureCanvasAgg(result)
    engine = result.get_layout_engine()
    if engine is not None:
        engine.set(w_pad=0.12, h_pad=0.1, hspace=0.03, wspace=0.03)  # pyright: ignore[reportCallIssue]
    grid = result.subplots(rows, columns, squeeze=False, width_ratios=ratios)
    result.suptitle(title, fontsize=SIZES["figure"])
    return result, list(np.asarray(grid).ravel())


def titled(panels: Sequence[Axes], titles: Sequence[str]) -> None:
    """(a), (b), ... before the titles, ticks and frames as in the other pictures."""
    for letter, axes, title in zip(LETTERS, panels, titles, strict=False):
        frame(axes, f"({letter}) {title}")


def with_legend(result: Figure, legend: Legend, columns: int = 4) -> Figure:
    """The page with its one legend, below the panels."""
    result.legend(
        list(legend.values()), list(legend), loc="outside lower center", ncols=min(columns, len(legend)),
        fontsize=SIZES["legend"], frameon=False, handlelength=2.0,
    )  # fmt: skip
    return result


def log_ticks(axes: Axes, *, base: float = 10.0, x: bool = False, y: bool = False) -> None:
    """Logarithmic axes, to be called when all is drawn: labels at whole powers, at 2 and 5 too where these are few."""
    for wanted, axis, name in ((x, axes.xaxis, "x"), (y, axes.yaxis, "y")):
        if not wanted:
            continue
        (axes.set_xscale if name == "x" else axes.set_yscale)("log", base=base)
        low, high = axes.get_xlim() if name == "x" else axes.get_ylim()
        is_short = base == 10 and np.log10(high / low) < 2
        axis.set_major_locator(LogLocator(base=base, subs=(1, 2, 5) if is_short else (1,), numticks=8))
        axis.set_major_formatter(FuncFormatter(_plain) if is_short else LogFormatterMathtext(base=base))
        axis.set_minor_formatter(NullFormatter())


def _plain(value: float, _: int | None) -> str:
    return f"{value:g}"
