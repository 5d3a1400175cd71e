"""A sweep as a picture: for each network how far it is above the best possible, as the interval that is proved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verify.checker.decision import printable
from verify.checker.questions import Verdict
from verify.numbers.counts import count
from verify.sweeping.records import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["picture"]

NAMED = 40
"""The most networks whose names stand below the axis."""

FLOOR = 1e-7
"""Excesses are drawn on a logarithmic scale above this, and on a linear one below it, where 0 has its place."""

MOST = 1e100
"""Excesses beyond this, infinite ones too, reach over the upper edge."""

_COLOURS = {"proved": "#0072B2", "refuted": "#D55E00", "undecided": "#4D4D4D"}
_LABELS = {
    "proved": "proved optimal within the tolerance, among networks of any width",
    "refuted": "refuted: not optimal within the tolerance",
    "undecided": "undecided",
}


def picture(rows: Sequence[Row], path: Path | None) -> Figure:
    """The figure; written to `path` when one is given. Networks stand by data set, the least excess first."""
    from verify.plots.displayed import new_figure
    from verify.plots.files import check_path, write

    place = None if path is None else check_path(path)
    groups = _groups(rows)
    drawn = [row for rows in groups.values() for row in rows]
    figure = new_figure((max(6.4, min(16.0, 0.16 * len(drawn) + 2)), 4.8), layout="constrained")
    axes = figure.add_subplot()
    _draw(axes, drawn)
    _name(axes, drawn, groups)
    if drawn:
        figure.legend(loc="outside lower center", fontsize=8, frameon=False)
    left_out = len(rows) - len(drawn)
    note = f"; {count(left_out, 'network')} without one" if left_out else ""
    axes.set_title(f"excess of {count(len(drawn), 'network')} over the best possible{note}", fontsize=9.5, loc="left")
    if place is not None:
        write(figure, place)
    return figure


def _groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows with an excess by data set, each sorted by it."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.excess_upper is not None and row.excess_lower is not None:
            groups.setdefault(row.data, []).append(row)
    return {data: sorted(found, key=lambda row: (row.excess_upper, row.excess_lower)) for data, found in groups.items()}


def _draw(axes: Axes, drawn: Sequence[Row]) -> None:
    for verdict, colour in _COLOURS.items():
        mine = [(at, row) for at, row in enumerate(drawn) if (row.global_any_width or "").startswith(verdict)]
        if not mine:
            continue
        places = [at for at, _ in mine]
        low = [min(max(row.excess_lower or 0.0, 0.0), MOST) for _, row in mine]
        high = [min(row.excess_upper or 0.0, MOST) for _, row in mine]
        axes.vlines(places, low, high, colors=colour, linewidth=1.6)
        axes.plot(places, high, linestyle="", marker="_", markersize=5, color=colour)
        axes.plot(places, low, linestyle="", marker="o", markersize=3.5, color=colour, label=_label(verdict, mine))
    _scale(axes, drawn)
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)
    axes.set_ylabel("relative excess (0.1 is 10 % above)", fontsize=9)
    axes.tick_params(labelsize=8, which="both")
    if not drawn:
        axes.text(0.5, 0.5, "no excess is known", transform=axes.transAxes, ha="center", va="center", fontsize=9)


def _label(verdict: str, mine: Sequence[tuple[int, Row]]) -> str:
    """What is proved of all that have the colour; where some are not what was proved optimal, so."""
    near = any("(near)" in (row.global_any_width or "") for _, row in mine)
    return _LABELS[verdict] + (", or one near it is" if near and verdict == Verdict.PROVED.value else "")


def _scale(axes: Axes, drawn: Sequence[Row]) -> None:
    """Logarithmic, with room about the intervals; with a linear part down to 0 where one of them reaches so far."""
    lows = [row.excess_lower or 0.0 for row in drawn]
    highs = [row.excess_upper or 0.0 for row in drawn if (row.excess_upper or 0.0) < MOST]
    top = 2 * max([10 * FLOOR, *(low for low in lows if low < MOST), *highs])
    if min(lows, default=0.0) < 10 * FLOOR:
        axes.set_yscale("symlog", linthresh=FLOOR)
        axes.set_ylim(0, top)
    else:
        axes.set_yscale("log")
        axes.set_ylim(min(lows) / 2, top)


def _name(axes: Axes, drawn: Sequence[Row], groups: dict[str, list[Row]]) -> None:
    """Names below the axis where there is room, and a line between data sets."""
    if 0 < len(drawn) <= NAMED:
        names = [_plain(Path(row.network).name) for row in drawn]
        axes.set_xticks(range(len(drawn)), names, rotation=60, ha="right", rotation_mode="anchor", fontsize=7)
    else:
        axes.set_xlabel("networks, the least excess first", fontsize=9)
    if len(groups) < 2:
        return
    at = 0
    for data, rows in groups.items():
        if at:
            axes.axvline(at - 0.5, color="#9A9A9A", linewidth=0.8)
        axes.text(
            at - 0.3, 0.02, _plain(Path(data).name), transform=axes.get_xaxis_transform(), fontsize=7, color="#4D4D4D"
        )
        at += len(rows)


def _plain(name: str) -> str:
    """A name of visible characters, none of which starts a formula."""
    return printable(name).replace("$", "\\$")[:40]
