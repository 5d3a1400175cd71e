"""Pictures of every kind of audit: drawn without warnings, with the artists that belong there, the same each time."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.quiver import Quiver

from solvers.any_width.dual_cuts import Progress
from verify.auditing.loop import Audit, audit
from verify.checker.errors import InputError
from verify.plots import as_html, plot
from verify.plots.files import image
from verify.plots.line import breakpoints
from verify.plots.plane import plane
from verify.plots.scene import drawn, evaluate, scene, support
from verify.plots.style import SHOWN_POINTS, shown_points
from verify.plots.wording import headline, standing
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.readers import read_case
from verify.report.path import descent_of
from verify.surroundings import Surroundings

CASES = Path(__file__).parents[3] / "cases"
HUGE = Fraction(10) ** 400


def case(name: str) -> Audit:
    found = read_case(CASES / name / "case.json")
    return audit(found.network, found.problem.data, goal=found.problem.goal, bias=found.problem.bias)


def linear(*rows) -> Audit:
    """A network without hidden layer."""
    architecture = Architecture((Layer(inputs=len(rows[0]), outputs=1, slope=None),))
    return audit(Network(architecture, [[1] * len(rows[0])]), Dataset(rows, [1] * len(rows)))


def deep(dimension: int) -> Audit:
    layers = (
        Layer(inputs=dimension, outputs=2, slope=Fraction(0), bias=True),
        Layer(inputs=2, outputs=2, slope=Fraction(1, 2)),
        Layer(inputs=2, outputs=1, slope=None),
    )
    hidden = [1 + i % 3 for i in range(2 * (dimension + 1))]
    network = Network(Architecture(layers), [hidden, [1, -1, 2, 1], [1, 1]])
    return audit(network, Dataset([[i] * dimension for i in range(1, 5)], [1, 1, 1, 1]))


def many_points() -> Audit:
    X = [[Fraction(i % 71 - 35, 7), 1 + Fraction(i % 13, 5)] for i in range(3000)]
    return audit(Network.two_layer([[0, 1]], [1]), Dataset(X, [1] * 3000), time_limit=5)


def many_neurons() -> Audit:
    W = [[i % 17 - 8, i % 11 - 5] for i in range(150)]
    return audit(Network.two_layer(W, [1] * 150, b=[i % 5 for i in range(150)]), Dataset([[1, 2], [-2, 1]], [1, 1]))


AUDITS = {
    "two inputs": lambda: case("max-margin/vardi2022-theorem-3-2"),
    "two inputs, kink": lambda: case("max-margin/tie-needs-clarke"),
    "two inputs, optimal": lambda: case("max-margin/xor"),
    "two inputs, free bias": lambda: case("max-margin/bias-counted-free"),
    "two inputs, leaky, not fitting": lambda: case("max-margin/generic-leaky-penalised"),
    "two inputs, fitted": lambda: case("min-norm/generic-targets"),
    "two inputs, repaired": lambda: case("min-norm/repaired-interpolator"),
    "two inputs, targets 0": lambda: case("min-norm/zero-targets"),
    "two inputs, tiny": lambda: case("min-norm/data-scale-1e-8"),
    "two inputs, large": lambda: case("min-norm/data-scale-1e8"),
    "two inputs, far beyond floats": lambda: audit(
        Network.two_layer([[1 / HUGE, 0], [0, -1 / HUGE]], [HUGE, 2 * HUGE]),
        Dataset([[1 / HUGE, 1 / HUGE], [0, -1 / HUGE]], [1, 1]),
    ),
    "two inputs, unequal units": lambda: audit(
        Network.two_layer([[Fraction(1, 1000), 1]], [1], b=[0]), Dataset([[1000, 1], [3000, 2], [2000, 5]], [1, 1, 1])
    ),
    "two inputs, far from 0": lambda: audit(
        Network.two_layer([[1, 0]], [1]), Dataset([[1000, 1000], [1001, 1000], [1000, 1001]], [1, 1, 1])
    ),
    "two inputs, infeasible": lambda: case("max-margin/conflicting-duplicates"),
    "two inputs, all neurons zero": lambda: case("max-margin/dead-everything-zero"),
    "many points": many_points,
    "many neurons": many_neurons,
    "one input": lambda: case("max-margin/safran2022-example-1"),
    "one input, optimal": lambda: case("max-margin/bias-counted-univariate-free"),
    "one input, no bias": lambda: audit(Network.two_layer([[1], [-1]], [2, 1]), Dataset([[1], [-1]], [1, 1])),
    "one input, one point": lambda: audit(Network.two_layer([[1]], [1], b=[1]), Dataset([[2]], [1])),
    "one input, fitted": lambda: audit(
        Network.two_layer([[1], [1], [1]], [1, -3, 5], b=[0, -1, -2]), Dataset([[0], [1], [2], [3]], [0, 1, -1, 2])
    ),
    "one input, not fitted": lambda: audit(
        Network.two_layer([[1], [2]], [1, -1], b=[0, -200]), Dataset([[0], [1], [2], [3]], [0, 5, -1, 2])
    ),
    "three inputs, masks": lambda: case("max-margin/masks-wrong-neuron"),
    "three inputs, fitted": lambda: audit(
        Network.two_layer([[1, 0, 1], [0, 1, 0]], [1, -1], slope="1/4"),
        Dataset([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], [1, -1, 1, 1]),
    ),
    "five inputs, on one line": lambda: audit(
        Network.two_layer([[1, 0, 0, 0, 0]], [1], b=[0]), Dataset([[i] * 5 for i in range(1, 9)], [1] * 8)
    ),
    "no hidden layer": lambda: linear([1, 2], [2, 1]),
    "deep, one input": lambda: deep(1),
    "deep, two inputs": lambda: deep(2),
    "deep, three inputs": lambda: deep(3),
}


@pytest.fixture(scope="module")
def audits() -> dict[str, Audit]:
    made: dict[str, Audit] = {}
    for name, make in AUDITS.items():
        made[name] = make()
    return made


@pytest.fixture(scope="module")
def figures(audits) -> Callable[[str], Figure]:
    return cache(lambda name: plot(audits[name]))


def panels(figure: Figure) -> list[Axes]:
    """The panels, without the second axis of the bars and without colour bars."""
    return [axes for axes in figure.axes if axes.get_title(loc="left")[:1] == "("]


def artists(axes: Axes, gid: str) -> list:
    return [artist for artist in axes.get_children() if artist.get_gid() == gid]


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in panels(figure)]


def notes(figure: Figure) -> list[str]:
    return [text.get_text() for axes in panels(figure) for text in artists(axes, "note")]


# --------------------------------------------------------------------------------------------------- every kind


@pytest.mark.parametrize("name", AUDITS)
@pytest.mark.one_in(4)
def test_every_kind_of_audit_is_drawn_without_warnings(audits, figures, name):
    result, figure = audits[name], figures(name)
    assert image(figure, "png").startswith(b"\x89PNG")
    shown = panels(figure)
    falls = descent_of(result.local_optimum) is not None
    assert len(shown) == 2 + (result.better is not None) + (result.bracket is not None) + falls
    assert [title[:4] for title in titles(figure)] == [f"({letter}) " for letter in "abcde"[: len(shown)]]
    assert figure.get_suptitle() == f"{headline(result)}:\n{standing(result)}"
    check_texts(figure)


def check_texts(figure: Figure) -> None:
    """Title, panels with their labels, and legend lie apart, and on the page."""
    assert figure._suptitle is not None
    boxes = [figure._suptitle.get_window_extent(), *(legend.get_window_extent() for legend in figure.legends)]
    boxes += [axes.get_tightbbox() for axes in panels(figure)]
    page = figure.bbox
    for place, box in enumerate(boxes):
        assert page.x0 <= box.x0
        assert page.y0 - 1 <= box.y0
        assert box.x1 <= page.x1
        assert box.y1 <= page.y1
        for other in boxes[place + 1 :]:
            across = min(box.x1, other.x1) - max(box.x0, other.x0)
            along = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert min(across, along) <= 2, (box, other)


def test_panels_have_one_size_in_every_figure(figures):
    sizes = set()
    for name in ("two inputs", "one input", "three inputs, masks", "two inputs, fitted", "two inputs, infeasible"):
        figure = figures(name)
        for axes in panels(figure)[:2]:
            box = axes.get_position(original=True)
            sizes.add((round(box.width * figure.get_figwidth(), 6), round(box.height * figure.get_figheight(), 6)))
    assert len(sizes) == 1


# --------------------------------------------------------------------------------------------- what is in the panels


@pytest.mark.parametrize(
    ("name", "given", "better"),
    [
        ("two inputs", 1, 2),  # one of the two given neurons is zero
        ("two inputs, kink", 2, 2),
        ("two inputs, optimal", 4, None),
        ("two inputs, all neurons zero", 0, 2),
    ],
)
def test_one_arrow_for_each_live_neuron(audits, figures, name, given, better):
    result = audits[name]
    axes = panels(figures(name))[1 if result.better is None else 2]
    for kind, count in (("given", given), ("better", better)):
        (*quivers,) = artists(axes, f"neurons {kind}")
        assert sum(quiver.N for quiver in quivers) == (count or 0)


def test_arrows_point_along_u_and_carry_the_sign(audits, figures):
    axes = panels(figures("two inputs, optimal"))[1]
    (quiver,) = artists(axes, "neurons given")
    assert isinstance(quiver, Quiver)
    network = audits["two inputs, optimal"].network
    for j, (w, v) in enumerate(zip(network.hidden_weights, network.output_weights, strict=True)):
        arrow = np.array([quiver.U[j], quiver.V[j]], dtype=float)
        weights = np.array([float(weight) for weight in w])
        assert arrow @ weights == pytest.approx(np.linalg.norm(arrow) * np.linalg.norm(weights))
        blue, red = quiver.get_facecolors()[j][2], quiver.get_facecolors()[j][0]
        assert (blue > red) == (v > 0)


def test_arrows_with_biases_start_on_the_kink_line(audits, figures):
    result = audits["two inputs, free bias"]
    axes = panels(figures("two inputs, free bias"))[2]
    (quiver,) = artists(axes, "neurons given")
    x, y = quiver.XY[0]
    (w,) = result.network.hidden_weights
    assert float(w[0]) * x + float(w[1]) * y + float(w[2]) == pytest.approx(0, abs=1e-9)
    assert result.problem.architecture.slope == 1
    assert not artists(axes, "kinks")  # of a linear neuron, which has none


def test_neurons_have_kink_lines(audits, figures):
    for name in ("two inputs", "many neurons"):
        axes = panels(figures(name))[1 if audits[name].better is None else 2]
        segments = artists(axes, "kinks")[0].get_segments()
        assert 0 < len(segments) <= audits[name].network.width


def test_every_arrow_ends_inside_the_panel(audits, figures):
    for name in ("two inputs", "two inputs, leaky, not fitting", "many neurons", "two inputs, far beyond floats"):
        result = audits[name]
        axes = panels(figures(name))[1 if result.better is None else 2]
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        quivers = artists(axes, "neurons given") + artists(axes, "neurons better")
        assert quivers
        for quiver in quivers:
            x, y = quiver.XY[:, 0] + quiver.U, quiver.XY[:, 1] + quiver.V
            assert np.all((x >= left) & (x <= right) & (y >= bottom) & (y <= top))


def test_support_points_are_ringed(figures):
    figure = figures("two inputs")
    for axes in panels(figure)[:2]:
        (rings,) = artists(axes, "support")
        assert rings.get_offsets().tolist() == [[1, 0.25], [-1, 0.25]]
    assert "support point, $\\lambda \\neq 0$" in {text.get_text() for text in figure.legends[0].get_texts()}


def test_multipliers_that_are_only_inaccuracy_are_not_ringed(audits):
    result = audits["two inputs"]
    (certificate,) = result.stationary.certificates
    small = replace(certificate, multipliers=((0, Fraction(1)), (1, Fraction(1, 10**7))))
    altered = replace(result, stationary=replace(result.stationary, certificates=(small,)))
    assert support(altered, of_network=True)[0] == [0]
    assert support(altered, of_network=False)[0] == [0, 1]


def test_conflicting_points_are_ringed(audits, figures):
    figure = figures("two inputs, infeasible")
    (rings,) = artists(panels(figure)[0], "support")
    assert len(rings.get_offsets()) == 2
    assert "point in conflict" in {text.get_text() for text in figure.legends[0].get_texts()}
    assert standing(audits["two inputs, infeasible"]) == "no network of any width fits these points"


def test_points_on_the_wrong_side_are_crossed(audits, figures):
    result = audits["two inputs, leaky, not fitting"]
    given, better = panels(figures("two inputs, leaky, not fitting"))[:2]
    wrong = [
        i
        for i, (x, y) in enumerate(zip(result.problem.data.inputs, result.problem.data.targets, strict=True))
        if result.network(x) * y <= 0
    ]
    (crosses,) = artists(given, "missed")
    assert wrong
    assert len(crosses.get_offsets()) == len(wrong)
    assert artists(better, "missed") == []


def test_both_networks_share_their_axes(figures):
    for name in ("two inputs", "one input", "three inputs, masks", "one input, not fitted"):
        given, better = panels(figures(name))[:2]
        assert (given.get_xlim(), given.get_ylim()) == (better.get_xlim(), better.get_ylim())


def test_the_graph_of_one_input_has_its_breakpoints(figures):
    axes = panels(figures("one input, fitted"))[0]
    (bends,) = artists(axes, "bends")
    assert np.asarray(bends.get_offsets()) == pytest.approx(np.array([[0, 0], [1, 1], [2, -1]]))
    (line,) = artists(axes, "function")
    x, f = line.get_data()
    assert {0.0, 1.0, 2.0} <= set(x)
    assert f[list(x).index(2.0)] == pytest.approx(-1)


def test_stems_stand_at_the_breakpoints(figures):
    axes = panels(figures("one input, fitted"))[-2]
    places = [tuple(place) for mark in artists(axes, "neurons given") for place in mark.get_offsets().tolist()]
    assert sorted(places) == [(0, 1), (1, -3), (2, 5)]


def test_bends_beyond_the_view_are_counted(figures):
    figure = figures("one input, not fitted")
    assert any("1 bending outside" in text for text in notes(figure))


def test_zero_and_constant_neurons_are_counted(figures):
    assert "neurons: 1 zero, 1 constant" in notes(figures("one input"))
    assert "neurons: 1 zero" in notes(figures("two inputs"))


def test_bars_for_many_inputs(figures):
    figure = figures("three inputs, fitted")
    axes = panels(figure)[-2]
    heights = [bar.get_height() for bar in artists(axes, "neurons given")]
    assert heights == pytest.approx([2**0.5, 1])
    (on,) = [artist for other in figure.axes for artist in artists(other, "on")]
    assert on.get_offsets()[:, 1].tolist() == [0.75, 0.5]


def test_deep_networks_get_a_message_in_place_of_neurons(figures):
    for name, layers in (("deep, two inputs", "2"), ("no hidden layer", "none")):
        messages = [text.get_text() for panel in panels(figures(name)) for text in artists(panel, "message")]
        assert f"Neurons are drawn for one hidden layer;\nthis network has {layers}." in messages


def test_very_many_points_are_thinned_out_but_not_the_support(figures):
    figure = figures("many points")
    (disc,) = artists(panels(figure)[0], "points +1")
    assert isinstance(disc, PathCollection)
    assert len(disc.get_offsets()) <= SHOWN_POINTS
    assert disc.get_rasterized()
    assert any("of 3000 points drawn" in text for text in notes(figure))
    kept = shown_points(10**5, [7, 99_998])
    assert {7, 99_998} <= set(kept.tolist())
    assert len(kept) <= SHOWN_POINTS


# ------------------------------------------------------------------------------------------------------ the bracket


def progress(number: int, lower: float, upper: float) -> Progress:
    return Progress(round=number, lower=lower, upper=upper, columns=1, points=2, seconds=number / 4)


def test_the_bracket_over_time(audits):
    optimum = float(audits["two inputs"].bracket[0])
    course = (
        progress(1, 0.0, np.inf),
        progress(2, optimum / 2, 2 * optimum),
        progress(3, optimum / 4, optimum * 1.1),  # the lower end known before still counts
        progress(4, optimum, optimum),
        progress(4, optimum / 2, optimum),
    )
    result = replace(audits["two inputs"], history=course)
    for rounds, places in ((False, [0.5, 0.75, 1.0]), (True, [1, 2, 3])):
        axes = panels(plot(result, rounds=rounds))[3]
        (curve,) = artists(axes, "bracket")
        assert curve.get_xdata().tolist() == places
        assert curve.get_ydata()[:2].tolist() == pytest.approx([3, 1.2])
        assert axes.get_yscale() == "log"
        assert len(artists(axes, "proved")) == 1
        (line,) = artists(axes, "objective")
        assert line.get_ydata()[0] == pytest.approx(float(result.excess[1]))
        (line,) = artists(axes, "tolerance")
        assert line.get_ydata()[0] == 1e-6
        low, high = axes.get_ylim()
        assert low < 1e-9 < 3 < high


def test_the_objectives_when_one_round_was_enough(audits):
    axes = panels(plot(replace(audits["two inputs"], history=())))[3]
    assert [bar.get_width() for bar in artists(axes, "objective")] == pytest.approx([1, 1.940285 / 4])
    assert {text.get_text() for text in axes.texts} == {"4", "1.94029", "proved bound 1.94028"}
    assert len(artists(axes, "bracket")) == 1


# -------------------------------------------------------------------------------------------------------- the words


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        (
            "two inputs", "Max-margin: 2 points in dimension 2, 2 ReLU neurons",
            "this network is about 106 % above the best possible, over all widths",
        ),
        (
            "two inputs, optimal", "Max-margin: 4 points in dimension 2, 4 ReLU neurons",
            "this network is the best possible, over all widths",
        ),
        (
            "two inputs, fitted", "Min-norm interpolation: 6 points in dimension 2, 2 ReLU neurons",
            "this network does not fit the data",
        ),
        (
            "one input, optimal", "Max-margin: 2 points in dimension 1, 1 linear neuron with free biases",
            "this network is the best possible, over all widths",
        ),
        (
            "three inputs, masks", "Max-margin: 1 point in dimension 3, 2 masked ReLU neurons",
            "this network is about 153 % above the best possible, over all widths with these masks",
        ),
        (
            "deep, one input",
            "Max-margin: 4 points in dimension 1, a ReLU and leaky ReLU network of depth 3 and width 2 with biases",
            "this network is about 125 % above the best possible, over networks of depth 3 and any widths",
        ),
        (
            "no hidden layer", "Max-margin: 2 points in dimension 2, a linear network without hidden neurons",
            "this network is the best possible, over networks of depth 1",
        ),
    ],
)  # fmt: skip
def test_the_title_says_what_and_how_far(audits, name, first, second):
    assert headline(audits[name]) == first
    assert standing(audits[name]).replace("\u00a0", " ") == second


def test_the_excess_is_told_as_precisely_as_it_is_known(audits):
    def told(low, high, **changes):
        excess = (Fraction(low), Fraction(high))
        return standing(replace(audits["two inputs"], excess=excess, **changes)).replace("\u00a0", " ")

    assert told("1e-8", "1e-7") == "this network is within 1e-7 (relative) of the best possible, over all widths"
    assert told(0, "1/2") == "this network is at most 50 % above the best possible, over all widths"
    assert told("1/4", "1/2") == "this network is between 25 % and 50 % above the best possible, over all widths"
    assert told(1999, 1999) == "this network is about 2000 times the best possible, over all widths"
    open_ = replace(audits["two inputs"], excess=None, bracket=None)
    assert (
        standing(open_).replace("\u00a0", " ")
        == "this network is at least 106 % above the best possible, over all widths"
    )
    assert standing(replace(open_, bounds=())) == "how far this network is above the best possible is not known"


# ------------------------------------------------------------------------------------------------------- the numbers


def test_networks_are_drawn_at_margin_one_whatever_their_scale():
    data = Dataset([[1, 2], [2, -1]], [1, -1])
    small, big = (Network.two_layer([[0, t], [0, -t]], [t, -t]) for t in (Fraction(1, 10**200), Fraction(10**200)))
    problem = Problem(data, small.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    picture = scene(problem)
    for network in (small, big):
        shown = drawn(picture, network, fits=True)
        assert shown.at_margin_one
        assert shown.values.tolist() == [2, -1]
        assert shown.neurons.tolist() == [[0, 1], [0, -1]]
        assert evaluate(shown, np.array([[0.0, 3.0], [5.0, 0.0]])).tolist() == [3, 0]


def test_inputs_are_drawn_in_powers_of_ten():
    problem = Problem(
        Dataset([[1 / HUGE], [-3 / HUGE]], [HUGE, 7 * HUGE]),
        Architecture.two_layer(1, 1, bias=True),
        goal=Goal.MIN_NORM,
        bias=Bias.PENALISED,
    )
    picture = scene(problem)
    assert (picture.input_power, picture.target_power) == (-400, 400)
    assert picture.points.tolist() == [[1], [-3]]
    assert picture.targets.tolist() == [1, 7]
    shown = drawn(picture, Network.two_layer([[HUGE]], [HUGE], b=[1]), fits=False)
    assert shown.values.tolist() == [2, 0]
    assert breakpoints(shown).tolist() == [-1]


def test_cancellation_does_not_spoil_the_margin():
    near = 1 + Fraction(1, 2**70)
    network = Network.two_layer([[1], [1]], [near, -1])
    problem = Problem(Dataset([[1], [3]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    assert not drawn(scene(problem), Network.two_layer([[1], [1]], [1, -1]), fits=False).at_margin_one
    assert drawn(scene(problem), network, fits=True).factor == 2.0**70


def test_the_plane_of_principal_components():
    points = [[i, 2 * i, -i, (-1) ** i] for i in range(6)]
    architecture = Architecture.two_layer(4, 1)
    where = plane(scene(Problem(Dataset(points, [1] * 6), architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)))
    assert where.basis @ where.basis.T == pytest.approx(np.eye(2))
    assert where.basis[0, 1] > 0.8
    again = where.origin + where.coordinates @ where.basis  # the points lie in the plane
    assert again == pytest.approx(np.array(points, dtype=float))
    assert where.labels[0].startswith("component 1 (9")


# --------------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_the_same_audit_gives_the_same_file(audits, tmp_path, suffix, start):
    for name in ("two inputs", "one input"):
        first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix.upper()}"
        plot(audits[name], str(first))
        plot(audits[name], second)
        assert first.read_bytes().startswith(start)
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("picture.jpeg", "are written as .png, .pdf or .svg: give a name that ends so"),
        ("picture", "are written as .png, .pdf or .svg: give a name that ends so"),
        ("folder.png", "is a folder: give the name of a file"),
        ("nowhere/picture.png", "cannot be written (No such file or directory): check the folder"),
    ],
)
def test_a_path_that_cannot_be_written_is_told_in_one_sentence(audits, tmp_path, path, fault):
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(InputError) as raised:
        plot(audits["one input"], tmp_path / path)
    assert str(raised.value).startswith(str(tmp_path / path))
    assert fault in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_picture_for_notebooks(audits):
    html = as_html(audits["one input"])
    assert html.startswith('<img alt="Max-margin: 2 points in dimension 1, 2 ReLU neurons with biases: this network is')
    assert 'src="data:image/png;base64,iVBOR' in html


def test_a_figure_is_one_of_matplotlib_that_shows_itself(audits):
    figure = audits["one input"].plot()
    assert isinstance(figure, Figure)
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert figure._repr_html_() is None  # a picture once, not twice
    assert pickle.loads(pickle.dumps(figure))._repr_png_() == figure._repr_png_()


def test_neither_pyplot_nor_settings_are_touched():
    code = (
        "import sys, verify.plots\n"
        "assert not {'matplotlib', 'numpy'} & set(sys.modules)\n"
        "from verify import Dataset, Network, audit\n"
        "result = audit(Network.two_layer([[1, 0]], [1]), Dataset([[1, 1]], [1]))\n"
        "import matplotlib; before = dict(matplotlib.rcParams)\n"
        "sys.modules['matplotlib.pyplot'] = None  # from here on an import of it fails\n"
        "verify.plots.plot(result)\n"
        "assert before == dict(matplotlib.rcParams)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=CASES.parent)
    assert done.returncode == 0, done.stderr


def test_the_pictures_of_the_docs_are_captioned():
    docs = CASES.parent / "docs"
    pages = ("pictures.md", "local_optimality.md", "training.md", "make_pictures.py")
    *texts, maker = ((docs / name).read_text(encoding="utf-8") for name in pages)
    text = "".join(texts)
    names = sorted(path.stem for path in (docs / "pictures").glob("*.png") if not path.stem.startswith("reproduce-"))
    assert len(names) >= 5  # those of reproductions.md are written with it
    for name in names:
        assert text.count(f"](pictures/{name}.png)") == 1
        assert f'"{name}": ' in maker
    assert text.count("**Figure ") == len(names)


def test_the_descent_falls_to_its_end(audits, figures):
    result = audits["two inputs, kink"]
    axes = panels(figures("two inputs, kink"))[-1]
    (curve,) = artists(axes, "descent")
    values = curve.get_ydata()
    assert values[0] == pytest.approx(float(result.objective))
    assert (np.diff(values) < 0).all()
    (best,) = artists(axes, "best")
    assert best.get_ydata()[0] == pytest.approx(float(result.bracket[1]))
    assert len(artists(axes, "start")) == 1


@pytest.mark.parametrize(
    ("network", "terms"),
    [
        (Network.two_layer([[0]], [0]), {"loss": "squared", "decay": "0.1"}),
        (Network.two_layer([[0]], [0], b2=0), {"loss": "absolute", "decay": "0.1,0.2"}),
        (Network.two_layer([[0]], [0], b=[0]), {"loss": "huber:0.5", "decay": "0.01", "bias": "free"}),
    ],
)
def test_the_descent_of_a_loss_begins_at_the_objective_and_falls_to_its_end(network, terms):
    result = audit(network, Dataset([[1], [2], [-3], [-1]], [1, 2, -3, -1]), **terms, time_limit=3)
    assert descent_of(result.local_optimum) is not None
    (curve,) = artists(panels(plot(result))[-1], "descent")
    values = curve.get_ydata()
    assert values[0] == pytest.approx(float(result.objective))
    assert values[-1] < values[0]
    assert (np.diff(values, 2) > -1e-9).all(), "the objective along the segment is convex"


def test_names_of_classes_and_columns_are_in_the_picture():
    surroundings = Surroundings(classes=("no $5", "yes"), columns=("petal width", "b" * 40), asks_columns=False)
    data = Dataset([[1, 0], [-1, 0.5]], [1, -1])
    network = Network.two_layer([[1, 0], [-1, 0]], [1, -1])
    for around, expected in ((None, "label $+1$"), (surroundings, "yes ($+1$)")):
        figure = plot(audit(network, data.placed(around)))
        legends = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
        axes = panels(figure)[0]
        legends |= {text.get_text() for ax in panels(figure) if ax.get_legend() for text in ax.get_legend().get_texts()}
        assert expected in legends
        assert (axes.get_xlabel() == "petal width") is (around is not None)
        assert (axes.get_ylabel() == "b" * 23 + "…") is (around is not None)
        assert ("no \\$5 ($-1$)" in legends) is (around is not None)
        figure.canvas.draw()
    affine = ((Fraction(2),), (Fraction(0),))
    scaled = scene(
        Problem(
            data.placed(replace(surroundings, inputs=affine)),
            network.architecture,
            goal=Goal.MAX_MARGIN,
            bias=Bias.NONE,
        )
    )
    assert scaled.column(0, "x") == "petal width, scaled"
