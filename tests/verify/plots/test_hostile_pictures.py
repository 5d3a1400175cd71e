"""Pictures that a hostile reader found wanting: their numbers, axes and words are those of the network."""

from fractions import Fraction

import pytest

from tests.words.pictures import check_pictures
from verify.auditing.loop import audit
from verify.plots.figure import figure
from verify.plots.panels import panels
from verify.plots.style import MARGIN_LINES
from verify.problem.network import Network
from verify.problem.problem import Dataset

net = Network.two_layer
HUGE, TINY = 10**200, Fraction(1, 10**200)
ORTHOGONAL = Dataset([[1, 0], [0, 1]], [1, -1])

SEEN = {
    "large inputs": (
        net([["1/1000000"], ["-1/1000000"]], [1000, -1000], b=[0, 0]),
        Dataset([[2000000], [-1000000]], [2000, -1000]),
        {"goal": "min-norm"},
    ),
    "large inputs, bars": (
        net([["1/1000000", 0, 0], [0, "-1/1000000", 0]], [1000, -1000], b=[1, 0]),
        Dataset([[2000000, 1, 1], [1, -1000000, 1]], [2000, -1000]),
        {"goal": "min-norm"},
    ),
    "large inputs, no bias": (
        net([["1/1000000"], ["-1/1000000"]], [1000, -1000]),
        Dataset([[2000000], [-1000000]], [2000, -1000]),
        {"goal": "min-norm"},
    ),
    "a margin of a million": (net([[10], [-10]], [10**5, 10**5]), Dataset([[1], [-2]], [1, 1]), {}),
    "large labelled inputs": (
        net([[1], [-1]], [1, 1], b=[0, 0]),
        Dataset([[2 * 10**6], [-(10**6)]], [1, 1]),
        {},
    ),
    "tiny inputs": (
        net([[1], [-1]], [1, 2], b=[0, 0]), Dataset([["1/1000000000"], ["-1/2000000000"]], [1, 1]), {},
    ),
    "beyond the powers of doubles": (
        net([[TINY], [1]], [TINY, 1], b=[0, 0]), Dataset([[HUGE], [1]], [1, 1]), {},
    ),
    "a point on the wrong side": (net([[1], [-1]], [3, -7], b=[0, 0]), Dataset([[1], [-1]], [1, 1]), {}),
    "a point on the wrong side, bars": (net([[1], [-1]], [3, -7]), Dataset([[1], [-1]], [1, 1]), {}),
    "sums that are 0 exactly": (
        net([["1/10", "1/5", "-3/10"], [1, 0, 0]], [1, 1]),
        Dataset([[1, 1, 1], [2, 2, 2], [1, "1/2", "2/3"]], [1, 1, 1]),
        {},
    ),
    "ten thousand million times the margin": (net([[1, 0], [0, 1], [-(10**5), -1]], [1, -1, 10**5]), ORTHOGONAL, {}),
    "a billion million times the margin": (net([[1, 0], [0, 1], [-(10**8), -1]], [1, -1, 10**8]), ORTHOGONAL, {}),
    "sizes that floats lose": (
        net([[1, 2, 3, 4]], [1]),
        Dataset([[HUGE, 0, 0, 0], [0, 5, 0, 0], [0, 0, 0, TINY]], [1, 1, 1]),
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.one_in(2)
def test_every_text_and_size_is_that_of_the_network(name):
    network, data, options = SEEN[name]
    assert check_pictures(audit(network, data, time_limit=5, **options))


@pytest.mark.parametrize(
    ("name", "shares"), [("sums that are 0 exactly", {0: 0.0, 1: 1.0}), ("sizes that floats lose", {0: 1.0})]
)
def test_where_a_neuron_is_on_is_exact(name, shares):
    network, data, options = SEEN[name]
    drawn = figure(audit(network, data, time_limit=5, **options), rounds=True)
    (marks,) = [art for axes in drawn.axes for art in axes.collections if art.get_gid() == "on"]
    assert sorted(float(part) for _, part in marks.get_offsets()) == sorted(shares.values())


def test_margin_lines_are_at_the_least_margin():
    """On the dashed lines f is as large as at the nearest point, 100, and not 1."""
    result = audit(net([[10, 0], [0, 10]], [10, 10]), Dataset([[1, 0], [-1, -1], [2, 1]], [1, -1, 1]), fit_tol=None)
    assert result.objective is None
    result = audit(net([[10, 0], [-10, 0]], [10, -10]), Dataset([[1, 0], [-1, 0], [2, 1]], [1, -1, 1]))
    first = panels(result)[0]
    labels = [text.get_text() for legend in first.figure.legends for text in legend.get_texts()]
    assert MARGIN_LINES in labels
    assert "f = ± the least margin" in first.words
    assert "±1" not in first.words


@pytest.mark.parametrize(("name", "shown"), [("ten thousand", True), ("a billion", False)])
def test_margin_lines_are_drawn_while_doubles_tell_them_from_0(name, shown):
    network, data, options = SEEN[f"{name} million times the margin"]
    first = panels(audit(network, data, time_limit=5, **options))[0]
    assert ("f = ± the least margin" in first.words) == shown
