"""The picture of the best objective over the width: what is in it, in which units, and how much is in sight."""

from fractions import Fraction

import pytest

from verify import Verdict
from verify.plots.widths import draw_widths

F = Fraction


def bars(axes):
    return [list(line.get_ydata()) for line in axes.lines if line.get_gid() == "bracket"]


def test_what_is_drawn_is_named():
    points = [(1, Verdict.REFUTED, None, None), (2, Verdict.UNDECIDED, F(1), None), (3, Verdict.PROVED, F(1), F(2))]
    (axes,) = draw_widths(points, (F(1), F(3, 2))).axes
    assert {line.get_gid() for line in axes.lines} == {"nothing", "bound", "bracket", "any width", "any width, known"}
    said = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "proved bound, no network known" in said
    assert "any width: proved bound" in said
    (axes,) = draw_widths(points[2:], (F(1), None)).axes
    names = ["proved bound to best network known", "any width: proved bound"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == names
    assert bars(axes) == [[1, 2]]


def test_ends_that_are_nearly_equal_look_so():
    """Ends that differ by 1e-9 filled the picture, on an axis whose numbers had an offset."""
    low, high = F("15.33619165"), F("15.33619168")
    figure = draw_widths([(4, Verdict.PROVED, low, high), (5, Verdict.PROVED, low, high)], (low, high))
    (axes,) = figure.axes
    bottom, top = axes.get_ylim()
    assert bottom < low
    assert high < top
    assert top - bottom >= high / 10
    figure.canvas.draw()
    assert axes.yaxis.get_offset_text().get_text() == ""
    shown = [tick.get_text() for tick in axes.get_yticklabels()]
    assert len(set(shown)) == len(shown) > 2
    assert all(14 < float(text) < 17 for text in shown)


def test_the_least_and_the_largest_keep_their_places():
    (axes,) = draw_widths([(1, Verdict.PROVED, F(4), F(5)), (2, Verdict.PROVED, F(3), F(3))], (F(3), F(3))).axes
    bottom, top = axes.get_ylim()
    assert bottom < 3
    assert 5 < top < 6


@pytest.mark.parametrize("power", [-700, -4, 5, 700])
def test_any_size_is_drawn_in_units_of_a_power_of_ten(power, tmp_path):
    unit = F(10) ** power
    points = [(1, Verdict.UNDECIDED, unit, None), (2, Verdict.PROVED, 2 * unit, 3 * unit)]
    (axes,) = draw_widths(points, (unit, None), tmp_path / "widths.png").axes
    assert bars(axes) == [[2, 3]]
    assert axes.get_ylabel() == f"objective  ($\\times 10^{{{power}}}$)"
    assert (tmp_path / "widths.png").stat().st_size > 1000


def test_nothing_is_known():
    (axes,) = draw_widths([(1, Verdict.REFUTED, None, None), (2, Verdict.UNDECIDED, None, None)], (None, None)).axes
    assert [line.get_gid() for line in axes.lines] == ["nothing"]
