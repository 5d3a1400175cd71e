"""What is shown of results: one line as repr, the table in print, escaped HTML in notebooks, enclosing decimals."""

import pickle
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.vendor.pretty import pretty

from verify import Architecture, Dataset, Layer, Network, audit, train
from verify.auditing.loop import certified_bracket
from verify.deciders.finding import Question, undecided
from verify.numbers.intervals import Interval
from verify.problem.misfits import misfit
from verify.shown import as_html, as_lines

RESULT = audit(Network.two_layer([[3, 1], [1, 0.5]], [2, -1], b=[0, 1]), [[1, 0], [-1, 2], [2, 2]], [1, -1, 1])
WIDE = Network.two_layer([[Fraction(j, 7)] * 30 for j in range(1, 200)], [1] * 199)
LAYERS = [
    Layer(inputs=1, outputs=2, slope=0), Layer(inputs=2, outputs=2, slope="1/3"), Layer(inputs=2, outputs=1, slope=None)
]  # fmt: skip
DEEP = Network(Architecture(LAYERS), [[1, 2], [1, 2, 3, 4], [1, 1]])
RUN = train([[1], [-1]], [1, -1], width=2, max_evaluations=50)
SHOWN = {
    "audit": RESULT,
    "finding": RESULT.stationary,
    "undecided": undecided(Question.FITS, "<b>no</b> reason & more"),
    "network": RESULT.network,
    "wide": WIDE,
    "deep": DEEP,
    "masked": Network.two_layer([[1, 0], [0, 1]], [1, 1], masks=[[0], [1]]),
    "diagnosis": RESULT.diagnosis,
    "run": RUN,
}
SHORT = SHOWN | {
    "problem": RESULT.problem,
    "data": RESULT.problem.data,
    "ladder": RESULT.diagnosis.ladder[0],
    "points": RESULT.diagnosis.points,
    "neurons": RESULT.diagnosis.neurons,
    "excess": RESULT.diagnosis.excess,
    "imbalance": RESULT.diagnosis.neurons.unbalanced[0],
    "architecture": DEEP.architecture,
    "layer": DEEP.architecture.layers[1],
    "misfit": misfit(RESULT.problem, Network.two_layer([[-3, 1]], [2], b=[0])),
    "search": certified_bracket(RESULT.problem),
    "training": RUN.training,
    "trajectory": RUN.trajectory,
}


@pytest.mark.parametrize("name", SHORT)
def test_a_repr_is_one_line_without_arrays(name):
    text = repr(SHORT[name])
    assert "\n" not in text
    assert len(text) < 400
    assert "Fraction(" not in text
    assert "array(" not in text


@pytest.mark.parametrize("name", SHOWN)
def test_html_is_well_formed_and_escaped(name):
    page = SHOWN[name]._repr_html_()
    found = ET.fromstring(page.replace("<br>", "<br/>"))
    assert {node.tag for node in found.iter()} <= {
        "div",
        "p",
        "b",
        "br",
        "ul",
        "li",
        "table",
        "tr",
        "th",
        "td",
        "small",
    }
    assert "<b>no</b>" not in page


def test_print_gives_the_tables():
    assert "global optimum of any width" in str(RESULT)
    lines = str(RESULT.network).splitlines()
    assert lines[0] == "Network of 2 ReLU neurons with biases (8 parameters)"
    assert [line.split() for line in lines[1:4]] == [
        ["neuron", "w0", "w1", "bias", "v"], ["0", "3", "1", "0", "2"], ["1", "1", "0.5", "1", "-1"],
    ]  # fmt: skip
    assert "… 179 more neurons" in str(WIDE)
    assert max(map(len, str(WIDE).splitlines())) < 120
    assert str(DEEP).startswith("Network of depth 3")
    assert str(RESULT.stationary).startswith(f"stationary: {RESULT.stationary.verdict.value}")
    assert "lower bound" in str(RESULT.diagnosis)
    assert str(RUN).splitlines()[0] == RUN.description


ENDS = st.fractions(max_denominator=10**9)


@given(ENDS, ENDS)
def test_an_interval_prints_decimals_that_enclose_it(one, other):
    interval = Interval(min(one, other), max(one, other))
    low, high = map(Fraction, str(interval)[1:-1].split(", "))
    assert low <= interval.lower <= interval.upper <= high
    assert high - low <= interval.upper - interval.lower + Fraction(1, 500) * max(abs(one), abs(other))


def test_an_interval_is_the_pair_that_it_was():
    low, high = RESULT.bracket
    assert (low, high) == RESULT.bracket == (RESULT.bracket.lower, RESULT.bracket.upper)
    assert isinstance(RESULT.bracket[0], Fraction)
    assert [float(end) for end in RESULT.excess] == [float(RESULT.excess.lower), float(RESULT.excess.upper)]
    assert pickle.loads(pickle.dumps(RESULT.bracket)) == RESULT.bracket
    assert [str(Interval(Fraction(a), Fraction(b))) for a, b in ((8, 8), (0, 0), ("1/3", "1/3"), (0, "1/7"))] == [
        "[8, 8]", "[0, 0]", "[0.3333333333, 0.3333333334]", "[0, 0.142858]",
    ]  # fmt: skip


def test_tables_without_rows_and_heads():
    assert as_lines((), ()) == []
    assert as_html("a < b", (), ()) == "<div><p><b>a &lt; b</b></p></div>"


def test_hypothesis_prints_what_makes_an_example_again():
    import verify.strategies  # noqa: F401

    for value in (RESULT.network, RESULT.problem, RESULT.problem.data):
        names = {"Network": Network, "Problem": type(RESULT.problem), "Dataset": Dataset}
        assert eval(pretty(value), names) == value
