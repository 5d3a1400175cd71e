"""The panels of a picture one by one, each a figure of its own with its legend: for pages that lay them out anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from verify.numbers.counts import count
from verify.plots.audited import AuditInPictures
from verify.plots.bracket import has_course
from verify.plots.descent import draw_descent
from verify.plots.displayed import new_figure
from verify.plots.figure import (
    Content,
    content_of,
    draw_bracket_or_objectives,
    draw_neurons,
    draw_one,
    draw_scale,
)
from verify.plots.scene import has_multipliers, scaled_to, support
from verify.plots.style import MARGIN_LINES, PANEL, SIZES, Legend
from verify.plots.wording import network_title, start
from verify.report.path import descent_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Panel", "panels"]

LEFT, RIGHT, SCALE, TOP, BOTTOM, LEGEND_ROW = 0.72, 0.2, 0.55, 0.12, 0.55, 0.2
"""Inches: about the inside of a panel; for a colour bar or a second axis; for a row of the legend."""


ZERO = "$f = 0$"
LEVELS = {"objective": "the upper end of the excess of this network", "tolerance": "the tolerance"}
"""What is said of lines that are drawn, by their id; above the names of others in the legend."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One panel: what it is, what is seen on it, in words, and the drawing, which has no title of its own."""

    title: str
    words: str
    figure: Figure


def panels(audit: AuditInPictures) -> tuple[Panel, ...]:
    """The given network over the data, the better one, the neurons, the bracket, a way down: those that there are."""
    return tuple(_panels(content_of(audit)))


def _panels(content: Content) -> Iterator[Panel]:
    audit = content.audit
    yield _network(content, network_title(audit), of_network=True)
    if audit.asked_better is not None:
        yield _network(content, network_title(audit, audit.asked_better), of_network=False)
    yield _neurons(content)
    if audit.asked_bracket is not None:
        yield _bracket(content)
    descent = descent_of(audit.local_optimum)
    if descent is not None:
        figure, axes, mine = _blank(content)
        draw_descent(axes, audit, descent, "", mine.legend)
        words = f"The objective along the segment of better networks that starts at {start(audit)} (ε = 0)"
        yield _finished(figure, axes, mine, f"a way down from {start(audit)}", words)


def _network(content: Content, title: str, *, of_network: bool) -> Panel:
    figure, axes, mine = _blank(content)
    mapped = draw_one(axes, "", mine, of_network=of_network)
    if mapped is not None:
        draw_scale(figure, axes, mapped, mine)
    words = _of_network(content, mine.legend, of_network=of_network)
    return _finished(figure, axes, mine, title, words, is_wide=mapped is not None)


def _of_network(content: Content, legend: Legend, *, of_network: bool) -> str:
    """What is seen of a network over the data, of what the legend says is there."""
    picture, audit = content.picture, content.audit
    network = content.given if of_network or content.better is None else content.better
    points, dimension = count(len(picture.points), "point"), picture.points.shape[1]
    if dimension == 1:
        seen = f"The graph of the network over {points}"
        seen += ", with a mark where a neuron bends" if "breakpoint" in legend else ""
    elif picture.classifies:
        lines = ["f = 0 is a solid line"] if ZERO in legend else []
        if MARGIN_LINES in legend:
            lines.append("f = ± the least margin dashed ones" if lines else "f = ± the least margin are dashed lines")
        seen = f"The signs of the network over {points}" + (f": {', '.join(lines)}" if lines else "")
    else:
        seen = f"The levels of the network over {points}, coloured by target"
    if dimension > 2:
        is_spread = bool(np.ptp(picture.points, axis=0).any())
        where = "the plane of the two leading principal components of the data" if is_spread else "a plane through them"
        seen += f", on {where if len(picture.points) > 1 else 'a plane through it'}"
    ringed, _ = support(audit, of_network=of_network)
    if ringed:
        of_bound = "" if of_network and has_multipliers(audit) else " in the lower bound"
        one = "it is in conflict" if audit.infeasible else f"it has a multiplier λ ≠ 0{of_bound}"
        many = "they are in conflict" if audit.infeasible else f"they have a multiplier λ ≠ 0{of_bound}"
        seen += f". Ringed: {count(len(ringed), 'point')}, as {one if len(ringed) == 1 else many}"
    missed = int((~network.right).sum())
    if missed:
        seen += f". Crossed: {count(missed, 'point')} {picture.missed}"
    return seen


def _neurons(content: Content) -> Panel:
    figure, axes, mine = _blank(content)
    draw_neurons(axes, "", mine)
    dimension, has_bias = content.picture.points.shape[1], content.picture.problem.architecture.bias
    is_overlaid = any("better network" in label for label in mine.legend)
    hollow = "; those of the other network are hollow" if is_overlaid else ""
    bends = ", with the line where it bends" if content.given.has_kinks else ""
    if content.given.network.depth != 2:
        return _finished(figure, axes, mine, "neurons", "Neurons are drawn for one hidden layer")
    scaled = scaled_to(content.picture, content.given)
    if dimension == 2:
        title = "neurons u = |v| w"
        words = f"Each neuron as an arrow u = |v| w{scaled}, not to the scale of the axes{bends}{hollow}"
    elif dimension == 1 and has_bias:
        title = f"neurons: {content.given.where}"
        what = "it bends" if content.given.has_kinks else "it is 0"
        words = f"Each neuron as a stem of height v |w|{scaled} at the input where {what}{hollow}"
    else:
        title = "neurons by the norm of u = |v| w"
        words = f"The norm of each neuron{scaled}, largest first, and the share of the points where it is on{hollow}"
    return _finished(figure, axes, mine, title, words, is_wide=dimension > 2 or not has_bias)


def _bracket(content: Content) -> Panel:
    figure, axes, mine = _blank(content)
    draw_bracket_or_objectives(axes, "", mine, rounds=False)
    if has_course(content.audit):
        title = "the bracket of the best possible"
        words = "The relative width of the bracket during the search, as estimated and, a star, as proved in the end"
        marked = [LEVELS[level] for level in LEVELS if any(line.get_gid() == level for line in axes.lines)]
        words += f"; {'a line marks' if len(marked) == 1 else 'lines mark'} {' and '.join(marked)}" if marked else ""
    else:
        title, words = "objectives", "The objectives as bars, and the proved lower bound as a dashed line"
    return _finished(figure, axes, mine, title, words)


def _blank(content: Content) -> tuple[Figure, Axes, Content]:
    figure = new_figure()
    return figure, figure.add_subplot(), replace(content, legend={})


def _finished(figure: Figure, axes: Axes, content: Content, title: str, words: str, *, is_wide: bool = False) -> Panel:
    """The panel with its legend below it.   is_wide: with room for what stands at its right."""
    axes.set_title("", loc="left")
    width, height = PANEL
    legend = content.legend
    columns = 2 if len(legend) > 1 and max(map(len, legend)) < 36 else 1
    rows = -(-len(legend) // columns)
    right = SCALE if is_wide else RIGHT
    top = TOP + (0.16 if is_wide else 0)
    total_width, total = LEFT + width + right, top + height + BOTTOM + rows * LEGEND_ROW
    figure.set_size_inches(total_width, total)
    axes.set_position((LEFT / total_width, (total - top - height) / total, width / total_width, height / total))
    if legend:
        figure.legend(
            list(legend.values()), list(legend), loc="lower center", bbox_to_anchor=(0.5, 0.0), ncols=columns,
            fontsize=SIZES["legend"], frameon=False, handlelength=1.8, borderaxespad=0.0, borderpad=0.2,
        )  # fmt: skip
    return Panel(title=title, words=words, figure=figure)
