"""What a hostile reader found of losses, deep networks and commands, with relatives: what is said now is proved."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from matplotlib.text import Text

from tests.words import check_words
from verify.auditing.loop import audit
from verify.checker.errors import InputError
from verify.checker.folder import decide_folder
from verify.claims.chances import interval_text
from verify.cli.bettering import _told
from verify.corpus.deciding import bracket_text
from verify.deciders.finding import Ending, Verdict
from verify.plots.wording import network_title
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Dataset
from verify.sweeping import sweep
from verify.training import train

F = Fraction
CORNERS = [[1, 0], [0, 1], [1, 1]]
PAIR = Network.two_layer([[1, 0], [0, 1]], [1, -1])
LOSSES = {
    "squared": (PAIR, Dataset(CORNERS, [1, -1, 2]), {"loss": "squared", "decay": "0.01"}),
    "optimal zeros": (Network.two_layer([[0, 0]], [0]), Dataset([[1, 2]], [3]), {"loss": "squared", "decay": 100}),
    "hinge": (PAIR, Dataset([[1, 0], [0, 1], [-1, -1]], [1, -1, 1]), {"loss": "hinge", "decay": "0.1"}),
    "summed": (PAIR, Dataset(CORNERS, [1, -1, 1]), {"loss": "squared-hinge", "decay": 1, "reduction": "sum"}),
    "on a line": (
        Network.two_layer([[1], [-1]], [1, 1]), Dataset([[1], [2], [-1]], [1, 2, 1]),
        {"loss": "huber", "decay": "0.01,0.02"},
    ),
    "logistic": (PAIR, Dataset(CORNERS, [1, -1, 1]), {"loss": "logistic", "decay": "0.1"}),
    "logistic and zeros": (
        Network.two_layer([[0, 0]], [0]), Dataset(CORNERS, [1, -1, 1]), {"loss": "logistic", "decay": 1},
    ),
    "two logits": (
        {"W": [[1.0, 0.5], [0.25, 1.0]], "v": [[1.0, -1.0], [0.5, 1.0]], "b": [0.5, 0.0], "b2": [0.5, 1.0], "slope": 0},
        Dataset(CORNERS, [1, -1, 1]), {"loss": "logistic", "decay": "0.1"},
    ),
    "that nothing misses": (PAIR, Dataset([[3, 0], [0, 3]], [1, -1]), {"loss": "hinge", "decay": "0.1"}),
    "with masks": (
        Network.two_layer([[1, 0], [0, 1]], [1, 1], masks=[[0], [1]]), Dataset(CORNERS, [1, 1, 1]),
        {"loss": "absolute", "decay": "0.1"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.one_in(2)
def test_a_loss_is_drawn_at_its_own_scale(name, tmp_path):
    network, data, asked = LOSSES[name]
    result = audit(network, data, **asked)
    texts = " ".join(text.get_text() for text in result.plot().findobj(Text))
    assert "margin 1" not in texts
    assert "rescaled" not in texts
    assert "least margin" not in texts
    if "bracket of" not in texts:
        assert "objective (loss and weight decay)" in texts
    result.to_html(tmp_path / "page.html")
    check_words(result)


@pytest.mark.parametrize("loss", ["squared", "half-squared", "absolute", "epsilon-insensitive:0.25", "huber", "hinge"])
@pytest.mark.parametrize("decay", ["0.01", "1000,3"])
def test_a_nearly_free_constant_is_beaten_by_another(loss, decay):
    constant = Network.two_layer([[0]], [F(1, 1000)], b=[1000])
    result = audit(constant, Dataset([[1], [2]], [1, 1]), loss=loss, decay=decay, bias="free", tol=10)
    assert "as near to 0 as asked" in str(result)
    assert result.global_any_width.verdict is result.global_optimum.verdict is Verdict.REFUTED
    check_words(result)


def test_a_loss_below_what_its_rounding_leaves_open_has_no_digits():
    """log(1 + e^(-10^40)): the upper end of its enclosure says nothing of its size."""
    network = Network.two_layer([[10**20, 0], [0, 10**20]], [10**20, 10**20])
    result = audit(network, Dataset([[1, 0], [0, 1]], [1, 1]), loss="logistic", decay="0.1")
    assert re.search(r"= at most \S+e-7\d mean loss \+ 2e39 decay", " ".join(str(result).split()))
    check_words(result)


def test_a_formula_is_not_sought_in_silence():
    network, data, asked = LOSSES["squared"]
    with pytest.raises(InputError, match="no formula is sought for a loss"):
        audit(network, data, **asked, symbolic=True)
    with pytest.raises(InputError, match="there need be no optimum"):  # 0 is one where all targets are 0
        audit(network, data, loss="squared", decay="0.1,0")


def deep(slope):
    layers = (
        Layer(inputs=2, outputs=2, slope=slope),
        Layer(inputs=2, outputs=1, slope=slope),
        Layer(inputs=1, outputs=1, slope=None),
    )
    return Network(Architecture(layers), [[1, 0, 0, 1], [1, 1], [1]])


FOUR = Dataset([[1, 0], [0, 1], [-1, -1], [2, 1]], [1, 1, -1, 1])


def test_no_more_time_is_asked_for_where_a_deep_network_is_decided():
    linear = audit(deep(1), FOUR)
    assert linear.excess is not None
    late = replace(linear, ending=Ending.TIME, ending_reason="")
    assert "the time ended" not in str(late)
    check_words(late)


def test_no_time_narrows_a_crude_bound():
    late = replace(
        audit(deep("1/2"), Dataset([[1, 0], [0, 1]], [1, 1]), time_limit=1), ending=Ending.TIME, ending_reason=""
    )
    low, high = late.bracket
    assert low < high
    assert "the time ended before the search for better networks did; give it more" in str(late)
    check_words(late)


def test_the_neurons_of_a_deep_network_are_those_of_all_its_layers(tmp_path):
    result = audit(deep(1), FOUR)
    assert network_title(result, deep(1)).startswith("better network: 2 and 1 neurons")
    assert network_title(result, PAIR).startswith("better network: 2 neurons")
    assert _told(result.problem, deep(1)).startswith("2 and 1 neurons")
    result.save(tmp_path / "proofs")
    assert json.loads((tmp_path / "proofs/audit.json").read_text())["better"]["neurons"] == 3
    rows = {name: (value, about) for name, value, about in decide_folder(tmp_path / "proofs").table}
    assert rows["objective"][0] == "125/8"  # said once, as what is known of it
    assert rows["better"][0] == "lower"
    swept = sweep({"deep": deep(1)}, FOUR, out=tmp_path / "swept", jobs=1)
    assert swept[0].neurons == 3


def test_what_no_network_of_a_width_does_is_fit_the_data():
    one = Network.two_layer([[1]], [1])
    result = audit(one, Dataset([[1], [-1]], [2, 5]), trained="hidden")
    assert result.fits.reason.endswith("no network of 1 neuron with these output weights fits the data")


def test_brackets_are_rounded_outwards_for_regress_and_claims():
    assert bracket_text((F(2), 2 + F(1, 10**12))) == "[2, 2.000000001]"
    assert bracket_text((2 - F(1, 10**12), None)) == "[1.999999999, -]"
    assert bracket_text(None) == "[-, -]"
    assert interval_text(0.4856916, 0.8656431) == "[0.485, 0.866]"
    assert interval_text(0.9738562, 1.0) == "[0.973, 1.000]"


def test_what_was_not_polished_is_not_called_polished():
    run = train([[-3], [2], [3]], [-1, -1, 1], width=8, seed=4, loss="exponential", polish=True, time_limit=10)
    assert run.polished is None
    assert "not polished: points 1 and 2 contradict each other" in str(run)
    assert "  polished: " not in str(run)
    weights = [w for row in run.network.hidden_weights for w in row] + list(run.network.output_weights)
    assert float(sum(w * w for w in weights)) ** 0.5 == pytest.approx(run.trajectory.norms[-1])
