"""Folders of audits of a loss with weight decay: what a folder says is derived again, with the value of no neurons."""

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
