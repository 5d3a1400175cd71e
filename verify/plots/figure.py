"""The figure: which panels there are, their places, and the one legend below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from verify.deciders.finding import Verdict
from verify.plots.arrows import draw_arrows
from verify.plots.audited import AuditInPictures
from verify.plots.bracket import draw_bracket, draw_objectives, has_course
from verify.plots.descent import draw_descent
from verify.plots.displayed import new_figure
from verify.plots.line import draw_function, extent, heights
from verify.plots.neurons import draw_bars, draw_stems
from verify.plots.plane import draw_network, plane
from verify.plots.scene import Drawn, Scene, drawn, scene, support
from verify.plots.style import PANEL, SIZES, Legend, message, times_ten
from verify.plots.wording import headline, network_title, standing, start
from verify.report.path import descent_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

__all__ = ["Content", "content_of", "draw_bracket_or_objectives", "draw_neurons", "draw_one", "draw_scale", "figure"]

LEFT, GAP, RIGHT, TOP, BETWEEN, BOTTOM, LEGEND_ROW = 0.8, 1.15, 0.75, 0.85, 0.85, 0.62, 0.215
"""Inches: about and between the panels, which are of the same size in every figure; and for a row of the legend."""
FLAT = 1.7
"""Inches: the height of a panel that takes a row of its own."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What the panels of a figure draw, and the legend that they share."""

    audit: AuditInPictures
    picture: Scene
    given: Drawn
    better: Drawn | None
    legend: Legend


def figure(audit: AuditInPictures, *, rounds: bool) -> Figure:
    """The panels of `audit`.   rounds: count time in rounds of the search instead of seconds."""
    content = content_of(audit)
    result = new_figure()
    descent = descent_of(audit.local_optimum)
    count = 2 + sum(part is not None for part in (audit.asked_better, audit.asked_bracket, descent))
    panels = [result.add_subplot() for _ in range(count)]
    titles = [network_title(audit)]
    if audit.asked_better is not None:
        titles.append(network_title(audit, audit.asked_better))
    names = [f"({'abcde'[place]}) " for place in range(len(panels))]
    data = panels[: len(titles)]
    _draw_data(result, data, [name + title for name, title in zip(names, titles, strict=False)], content)
    draw_neurons(panels[len(data)], names[len(data)], content)
    if audit.asked_bracket is not None:
        place = len(data) + 1
        draw_bracket_or_objectives(panels[place], names[place], content, rounds=rounds)
    if descent is not None:
        draw_descent(panels[-1], audit, descent, f"{names[-1]}a way down from {start(audit)}", content.legend)
    _lay_out(result, panels, content.legend, f"{headline(audit)}:\n{standing(audit)}")
    return result


def content_of(audit: AuditInPictures) -> Content:
    """What is drawn of `audit`, with an empty legend."""
    picture = scene(audit.problem)
    return Content(
        audit=audit,
        picture=picture,
        given=drawn(picture, audit.network, fits=audit.fits.verdict is Verdict.PROVED),
        better=None if audit.asked_better is None else drawn(picture, audit.asked_better, fits=audit.problem.asks_fit),
        legend={},
    )


def _lay_out(result: Figure, panels: Sequence[Axes], legend: Legend, title: str) -> None:
    """Two panels a row, an odd one as wide as both; title above, legend below."""
    width, height = PANEL
    heights = [height] * (len(panels) // 2) + [FLAT] * (len(panels) % 2)
    columns = min(4, len(legend))
    rows = -(-len(legend) // columns) if columns else 0
    total_width = LEFT + 2 * width + GAP + RIGHT
    total = TOP + sum(heights) + BETWEEN * (len(heights) - 1) + BOTTOM + rows * LEGEND_ROW
    result.set_size_inches(total_width, total)
    bottom = total - TOP
    for row, tall in enumerate(heights):
        bottom -= tall
        for column, axes in enumerate(panels[2 * row : 2 * row + 2]):
            left = LEFT + column * (width + GAP)
            wide = width if 2 * row + 1 < len(panels) else 2 * width + GAP
            box = (left / total_width, bottom / total, wide / total_width, tall / total)
            axes.set_position(box)
        bottom -= BETWEEN
    middle = (LEFT + width + GAP / 2) / total_width
    result.suptitle(title, x=middle, y=1 - 0.1 / total, va="top", fontsize=SIZES["figure"])
    if legend:
        result.legend(
            list(legend.values()), list(legend), loc="lower center", bbox_to_anchor=(middle, 0.06 / total),
            ncols=columns, fontsize=SIZES["legend"], frameon=False, handlelength=1.8, borderaxespad=0.0, borderpad=0.2,
        )  # fmt: skip


def _draw_data(result: Figure, panels: Sequence[Axes], titles: Sequence[str], content: Content) -> None:
    for place, (axes, title) in enumerate(zip(panels, titles, strict=True)):
        mapped = draw_one(axes, title, content, of_network=not place)
        if mapped is not None and place == len(panels) - 1:
            draw_scale(result, axes, mapped, content)


def draw_one(axes: Axes, title: str, content: Content, *, of_network: bool) -> ScalarMappable | None:
    """The given network over the data, or the better one; what its colours map, where they map heights."""
    picture, legend = content.picture, content.legend
    networks = [content.given] if content.better is None else [content.given, content.better]
    network = networks[0] if of_network else networks[-1]
    ringed, ring_label = support(content.audit, of_network=of_network)
    if picture.points.shape[1] == 1:
        view = extent(picture, networks)
        draw_function(
            axes, picture, view, heights(picture, networks, view), network, title,
            ringed=ringed, ring_label=ring_label, legend=legend,
        )  # fmt: skip
        return None
    return draw_network(
        axes, picture, plane(picture), network, title, ringed=ringed, ring_label=ring_label, legend=legend
    )


def draw_scale(result: Figure, axes: Axes, mapped: ScalarMappable, content: Content) -> None:
    """A colour bar beside the panel."""
    bar = result.colorbar(mapped, cax=axes.inset_axes((1.025, 0.0, 0.03, 1.0)))
    bar.ax.tick_params(labelsize=SIZES["tick"], length=2, pad=2)
    bar.ax.set_title(times_ten("$f$", content.picture.target_power), fontsize=SIZES["label"], loc="left")


def draw_neurons(axes: Axes, name: str, content: Content) -> None:
    """The neurons as arrows, stems or bars; `name` comes before the title."""
    picture, given, better, legend = content.picture, content.given, content.better, content.legend
    title = f"{name}neurons $u_j = |v_j|\\,w_j$"
    if given.network.depth != 2:
        message(
            axes,
            f"{name}neurons",
            f"Neurons are drawn for one hidden layer;\nthis network has {given.network.depth - 1 or 'none'}.",
        )
        return
    dimension, has_bias = picture.points.shape[1], picture.problem.architecture.bias
    if dimension == 2:
        draw_arrows(axes, picture, plane(picture), given, better, title, legend)
    elif dimension == 1 and has_bias:
        networks = [given] if better is None else [given, better]
        where = f"{name}neurons: {given.where}"
        draw_stems(axes, picture, extent(picture, networks), given, better, where, legend)
    else:
        draw_bars(axes, picture, given, better, f"{name}neurons by the norm of $u_j = |v_j|\\,w_j$", legend)


def draw_bracket_or_objectives(axes: Axes, name: str, content: Content, *, rounds: bool) -> None:
    """How the bracket narrowed; the objectives where it took one round."""
    if has_course(content.audit):
        draw_bracket(axes, content.audit, f"{name}the bracket of the best possible", content.legend, rounds=rounds)
    else:
        draw_objectives(axes, content.audit, f"{name}objectives")
