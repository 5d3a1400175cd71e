"""The panel of the bracket: how fast the best possible objective was enclosed, and where the network stands."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from solvers.arrays import Floats
from verify.numbers.decimals import at_least, at_most, nearest, open_at
from verify.numbers.floats import to_float
from verify.plots.audited import AuditInPictures
from verify.plots.style import NEUTRAL, SIZES, Legend, frame
from verify.plots.wording import after_repair, value_of
from verify.problem.members import has_margin, trains_all
from verify.problem.phrases import PER_CENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_bracket", "draw_objectives", "has_course"]

LEAST = 1e-12
"""A relative width below this is drawn here: floats do not tell more."""


def has_course(audit: AuditInPictures) -> bool:
    """Whether the bracket narrowed over several rounds, so that there is a curve to draw."""
    return audit.asked_bracket is not None and audit.asked_bracket[0] > 0 and len(_course(audit)[1]) > 1


def _course(audit: AuditInPictures) -> tuple[list[float], list[float]]:
    """Seconds and relative widths upper / lower - 1 of the rounds where both ends were known, the best so far."""
    seconds: list[float] = []
    widths: list[float] = []
    lower, upper, last = 0.0, np.inf, None
    for step in audit.history:
        lower, upper = max(lower, float(step.lower)), min(upper, float(step.upper))
        if lower > 0 and np.isfinite(upper) and step.round != last:
            last = step.round
            seconds.append(step.seconds)
            widths.append(max(upper / lower - 1.0, LEAST))
    return seconds, widths


def draw_bracket(axes: Axes, audit: AuditInPictures, title: str, legend: Legend, *, rounds: bool) -> None:
    """The relative width of the bracket over time (over the rounds), as the search estimated it and as it was proved in
    the end; the excess of the network, and the tolerance.
    """
    lower, upper = audit.asked_bracket or (Fraction(1), Fraction(1))
    seconds, gaps = _course(audit)
    x = np.arange(1.0, len(gaps) + 1) if rounds else np.array(seconds)
    axes.set_yscale("log")
    axes.plot(x, gaps, color="black", marker="o", markersize=4, linewidth=1.3, zorder=3, gid="bracket")
    legend["width of the bracket, estimated"] = Line2D([], [], color="black", marker="o", markersize=4, linewidth=1.3)
    proved = _log_safe(upper / lower - 1)
    end = x[-1] if rounds else max(x[-1], audit.history[-1].seconds)
    axes.plot(end, proved, color="black", marker="*", markersize=11, linestyle="", zorder=4, gid="proved")
    legend["... and proved"] = Line2D([], [], color="black", marker="*", markersize=10, linestyle="")
    levels: list[tuple[float, str, str]] = []
    if audit.asked_excess is not None and (value := audit.asked_excess[1]) > 0:
        name = f"{at_most(100 * value, 3)}{PER_CENT} above" if value < 10 else f"{at_most(1 + value, 3)} times the best"
        after = after_repair(audit)
        levels.append((_log_safe(value), f"this network, at most {name}{after}", "objective"))
    if audit.tolerance > 0:
        levels.append((_log_safe(audit.tolerance), f"tolerance asked, {open_at(audit.tolerance)}", "tolerance"))
    ends = np.log10([*gaps, proved, *(level for level, _, _ in levels)])
    span = float(np.ptp(ends))
    axes.set_ylim(10 ** (ends.min() - 0.12 * span), 10 ** (ends.max() + 0.16 * span))
    for level, name, gid in levels:
        _draw_level(axes, level, name, gid, _side(x, np.log10(gaps), np.log10(level), 0.1 * span))
    axes.set_xlabel("round of the search" if rounds else "seconds")
    axes.set_ylabel("relative to the best possible")
    if rounds:
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    frame(axes, title)
    axes.tick_params(axis="y", which="minor", left=False)


def _log_safe(value: Fraction) -> float:
    return to_float(min(max(value, Fraction(LEAST)), Fraction(10**200)))


def _side(x: Floats, curve: Floats, level: float, height: float) -> Literal["left", "right"]:
    """The end of a line at which the curve leaves room for a name of such a height above it."""
    share = (x - x[0]) / (x[-1] - x[0])
    for side, start, stop in (("right", 0.55, 1.0), ("left", 0.0, 0.45)):
        part = np.interp(np.linspace(start, stop, 50), share, curve)
        if np.all((part < level) | (part > level + height)):
            return "right" if side == "right" else "left"
    return "right"


def _draw_level(axes: Axes, level: float, name: str, gid: str, side: Literal["left", "right"]) -> None:
    """A horizontal line with its name above it."""
    width, style = (1.4, (0, (6, 2))) if gid == "objective" else (1.0, ":")
    axes.axhline(level, color=NEUTRAL, linewidth=width, linestyle=style, zorder=2, gid=gid)
    place, shift = (1.0, -5) if side == "right" else (0.0, 5)
    axes.annotate(
        name, (place, level), xycoords=axes.get_yaxis_transform(), xytext=(shift, 2), textcoords="offset points",
        ha=side, va="bottom", fontsize=SIZES["note"], color=NEUTRAL,
    )  # fmt: skip


def _formula(audit: AuditInPictures) -> str:
    """What the objective is, in short."""
    if not audit.problem.asks_fit:
        return "(loss and weight decay)"
    norm = "\\theta" if trains_all(audit.problem.trained) else "W"
    scaled = " at margin 1" if has_margin(audit.problem.goal) else ""
    return f"$\\frac{{1}}{{2}}\\|{norm}\\|^2${scaled}"


def draw_objectives(axes: Axes, audit: AuditInPictures, title: str) -> None:
    """The objectives as bars, when there is no course to draw: this network, the better one, and the proved bound."""
    bars: list[tuple[str, Fraction]] = []
    if audit.objective is not None:
        bars.append(("this\nnetwork", audit.objective))
    if audit.asked_better is not None and (value := value_of(audit, audit.asked_better)) is not None:
        bars.append(("better\nnetwork" if bars else "best\nfound", value))
    bound = Fraction(0) if audit.asked_bracket is None else audit.asked_bracket[0]
    largest = max([bound, *(value for _, value in bars)]) or Fraction(1)
    for place, (name, value) in enumerate(bars):
        given = name.startswith("this")
        axes.barh(
            place, to_float(value / largest), height=0.5 if len(bars) > 1 else 0.32, edgecolor=NEUTRAL, linewidth=1.2,
            facecolor="#A8A8A8" if given else "white", zorder=2, gid="objective",
        )  # fmt: skip
        axes.text(
            to_float(value / largest) + 0.02, place, nearest(value, 6), va="center", ha="left", fontsize=SIZES["label"]
        )
    axes.set_yticks(range(len(bars)), [name for name, _ in bars])
    last = max(len(bars), 1) - 0.5
    axes.set_ylim(last + 0.55, -0.5)
    axes.set_xlim(0, 1.3)
    axes.set_xticks([])
    level = to_float(bound / largest)
    axes.axvline(level, color="black", linewidth=1.3, linestyle=(0, (6, 2)), zorder=3, gid="bracket")
    on_left = level > 0.65
    axes.annotate(
        f"proved bound {at_least(bound, 6)}", (level, last + 0.25), xytext=(-6 if on_left else 6, 0),
        textcoords="offset points", ha="right" if on_left else "left", va="center", fontsize=SIZES["note"],
    )  # fmt: skip
    axes.set_xlabel(f"objective {_formula(audit)}")
    frame(axes, title)
    axes.tick_params(axis="y", labelsize=SIZES["label"], length=0)
