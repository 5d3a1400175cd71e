"""Folders of audits of a loss, or with an output bias: what a folder says is derived again, with what is its own."""

import json

import pytest

from verify import Network, audit
from verify.checker.folder import decide_folder

NETWORK = Network.two_layer([[1, 0], [0, 1]], [1, -1])
DATA = [[1, 0], [0, 1], [1, 1]], [2, -1, 1]


@pytest.fixture
def folder(tmp_path):
    audit(NETWORK, DATA, loss="squared", decay="1/10", reduction="sum").save(tmp_path)
    return tmp_path


def test_the_table_has_the_value_without_neurons_and_asks_no_fit(folder):
    """(2, -1, 1) is missed by 4 + 1 + 1 when nothing is there."""
    decided = decide_folder(folder)
    assert decided.is_accepted, [line.text for line in decided.lines if not line.is_accepted]
    table = {name: (value, about) for name, value, about in decided.table}
    assert table["objective of 0"] == ("6", "of a network of zeros")
    assert "fits" not in table
    assert "objective" in table


@pytest.mark.parametrize(
    ("place", "value"), [(("problem", "without_neurons"), "5"), (("objective",), "1"), (("bracket",), ["1", "1"])]
)
def test_a_folder_that_says_otherwise_is_refused(folder, place, value):
    path = folder / "audit.json"
    said = json.loads(path.read_text("utf-8"))
    inner = said
    for key in place[:-1]:
        inner = inner[key]
    assert inner.get(place[-1]) != value
    inner[place[-1]] = value
    path.write_text(json.dumps(said), "utf-8")
    assert not decide_folder(folder).is_accepted


@pytest.mark.parametrize("mode", ["free", "penalised"])
def test_a_folder_says_what_an_output_bias_costs(tmp_path, mode):
    audit(Network.two_layer([[1]], [1], b2=-2), [[1], [3]], [-1, 1], output_bias=mode).save(tmp_path)
    decided = decide_folder(tmp_path)
    assert decided.is_accepted, [line.text for line in decided.lines if not line.is_accepted]
    table = {name: value for name, value, _ in decided.table}
    assert table["objective"] == {"free": "1", "penalised": "3"}[mode]
    path = tmp_path / "audit.json"
    said = json.loads(path.read_text("utf-8"))
    assert said["problem"]["output_bias"] == mode
    for other in ({"output_bias": {"free": "penalised", "penalised": "free"}[mode]}, None):
        facts = (
            {**said["problem"], **other} if other else {k: v for k, v in said["problem"].items() if k != "output_bias"}
        )
        path.write_text(json.dumps({**said, "problem": facts}), "utf-8")
        assert not decide_folder(tmp_path).is_accepted
