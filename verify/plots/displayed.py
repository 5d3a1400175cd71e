"""The figures that are returned: those of matplotlib, which a notebook shows with or without `%matplotlib inline`."""

from __future__ import annotations

from typing import final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from verify.plots.files import image

__all__ = ["DisplayedFigure", "new_figure"]


@final
class DisplayedFigure(Figure):
    """A figure that shows itself as the value of a cell.

    `%matplotlib inline` registers how figures are shown, which then comes before this; either way there is one picture.
    """

    def _repr_png_(self) -> bytes:
        return image(self, "png")


def new_figure(size: tuple[float, float] | None = None, *, layout: str | None = None) -> DisplayedFigure:
    """An empty figure with a canvas of its own, unknown to pyplot.   size: inches.   layout: such as "constrained"."""
    figure = DisplayedFigure(figsize=size, dpi=100, layout=layout)  # pyright: ignore[reportArgumentType]
    FigureCanvasAgg(figure)
    return figure
