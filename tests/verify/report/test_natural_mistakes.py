"""What newcomers type first: commands in advice that can be pasted, and refusals that say what to give instead."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

from tests.words import check_words
from verify import InputError, Network, Verdict, audit, read_data, sweep, train
from verify.cli import program
from verify.problem.posing import pose
from verify.readers.row_labels import BY_ROW, check_rows
from verify.report import as_text

RELU = {"W": [[1.0, 0.0], [-1.0, 0.0]], "v": [1.0, -1.0], "slope": 0}
X, Y = [[1.0, 0.2], [1.0, -0.3], [-1.0, 0.4], [-1.0, 0.1]], [1, 1, -1, -1]
LOGITS = {
    "0.weight": np.array([[1.0, 0.5], [-1.0, 0.25]]),
    "0.bias": np.array([0.5, 0.25]),
    "2.weight": np.array([[0.5, -1.0], [0.25, 1.0]]),
    "2.bias": np.array([0.0, 0.125]),
}


def told(result):
    return " ".join(as_text(result).split())


def run(*arguments):
    """The exit status, and what was printed, on one line."""
    done = CliRunner().invoke(program, list(map(str, arguments)))
    return done.exit_code, " ".join(done.output.split())


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("net.npz", **RELU)
    np.savez("data.npz", X=X, y=Y)
    return tmp_path


# ------------------------------------------------------------------------------------------------------ what is advised


def test_advice_without_files_reads_the_network_as_it_was_read():
    result = audit(LOGITS, X, [1.5, 1.0, 4.0, -1.0], slope=0, two_logits="difference", output_bias="neuron")
    commands = re.findall(r"isoptimal (?:audit|train) .*?(?= · |$)", told(result))
    assert commands
    for command in commands:
        assert "--output-bias neuron --two-logits difference" in command
    assert "--two-logits" not in told(audit(RELU, X, [1.5, 1.0, 4.0, -1.0]))


@pytest.mark.parametrize(
    ("labels", "given", "exchanged", "again"),
    [
        ([-1, -1, 1, 1], None, "1,-1", (1, -1)),
        ([0, 0, 1, 1], None, "1,0", (1, 0)),
        (["b", "b", "a", "a"], ("b", "a"), "a,b", ("a", "b")),
        (["no one", "no one", "a", "a"], ("no one", "a"), "'a,no one'", ("a", "no one")),
        ([1, 1, 2, 2], (1, 2), "2,1", (2, 1)),
    ],
)
def test_classes_are_exchanged_by_their_names(labels, given, exchanged, again):
    result = audit(RELU, X, labels, classes=given)
    said = told(result)
    assert f"--classes {exchanged}" in said
    assert "POSITIVE" not in said
    assert "NETWORK and DATA are files" in said
    assert f"classes={again}" in said
    assert audit(RELU, X, labels, classes=again).fits.verdict is Verdict.PROVED
    check_words(result)


def test_points_that_were_scaled_by_the_caller_are_not_said_to_have_come_with_the_network(here):
    np.savez("far.npz", X=100 + 7 * np.array(X), y=Y)
    status, said = run("audit", "net.npz", "far.npz", "--standardise", "data")
    assert status == 0
    assert "that comes with the network" not in said
    assert "standard deviation" in said


def test_points_that_were_scaled_twice():
    skewed = [[0.9, 0.0], [0.3, 1.0], [-0.4, 0.0], [0.1, 1.0]]
    network = Network.two_layer([[1, 0], [-1, 0]], [1, -1])
    labels = [1, 1, -1, 1]
    assert audit(network, skewed, labels).fits.verdict is Verdict.PROVED
    twice = audit(network, skewed, labels, standardise="data")
    text = " ".join(step.text for step in twice.next_steps)
    assert "without the scaler" in text
    assert "train on" not in text
    assert not any("comes with the network" in note for note in (*twice.notes, *twice.relaxed.notes))
    check_words(twice)
    wrong = audit(network, skewed, [1, -1, -1, 1], standardise="data")
    assert "without the scaler" not in " ".join(step.text for step in wrong.next_steps)


def test_train_says_that_labels_are_read_as_numbers(here):
    for made, labels in ((train(X, [2, 2, 1, 1], width=2, max_evaluations=20), "1 and 2"),):
        (note,) = (note for note in made.notes if "squared" in note)
        assert f"the targets have 2 values ({labels}), which are read as numbers" in note
        assert "give --classes 1,2 (in Python train(..., classes=(1, 2)))" in note
        assert note in " ".join(str(made).split())
    for quiet in (
        train(X, [2, 2, 1, 1], width=2, classes=(1, 2), max_evaluations=20),
        train(X, [2, 2, 1, 1], width=2, loss="squared", max_evaluations=20),
        train(X, [0.5, 1.5, 2.25, 7], width=2, max_evaluations=20),
        train(X, Y, width=2, max_evaluations=20),
    ):
        assert not any("read as numbers" in note for note in quiet.notes)
    np.savez("labels.npz", X=X, y=[2, 2, 1, 1])
    status, said = run("train", "labels.npz", "--width", 2, "--max-evaluations", 20, "--out", "out.npz")
    assert status == 0
    assert "the loss is squared: the targets have 2 values (1 and 2)" in said


# --------------------------------------------------------------------------------------------------- what is refused


class Empty:
    """A tensor without rows."""

    __module__ = "torch"
    shape = (0, 2)

    def tolist(self):
        return []


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: audit(RELU, Y, X), "give the points first, X, and then their targets, y"),
        (lambda: audit(RELU, X, Y, slope="relu"), "the slope given is 'relu': give a number, 0 for ReLU"),
        (lambda: audit(LOGITS, X, Y, slope="relu"), "the slope given is 'relu': give a number, 0 for ReLU"),
        (lambda: audit(RELU, X, ["151.0", "2", "3", "4"]), "astype(float)"),
        (lambda: audit(RELU, np.array(X).astype(str), Y), "astype(float)"),
        (lambda: audit(RELU, X, [151, 2, 3, 4], goal="max-margin"), "positive)), or ask for min-norm"),
        (lambda: audit(RELU, np.ones((4, 4)), Y), "takes 2 inputs: give the columns that it was trained on"),
        (lambda: train(np.ones((4, 4)), Y, start=RELU), "takes 2 inputs: give the columns that it was trained on"),
        (lambda: audit(RELU, Empty(), []), "X is empty (shape (0, 2)): there must be at least one number"),
        (lambda: read_data("pyproject.toml"), "pyproject.toml: data are read from .npz, .csv or .json files: write a"),
        (lambda: sweep([RELU], y=Y), "y is given without data"),
        (lambda: sweep("net.npz", X, Y), "give a list of networks, or a mapping from names to networks"),
        (lambda: sweep(7, X, Y), "give a list of networks, or a mapping from names to networks"),
    ],
)
def test_a_refusal_says_what_to_give(call, sentence):
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
    assert "canonical" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command_refuses_the_same(here):
    np.save("points.npy", np.array(X))
    status, said = run("audit", "net.npz", "points.npy")
    assert (status, "numpy.savez('data.npz', X=X, y=y)" in said) == (2, True)
    np.savez("other.npz", **RELU)
    (here / "last.skops").write_bytes(b"")
    status, said = run("sweep", "net.npz", "last.skops", "--out", "out")
    assert status == 2
    assert "last.skops is the last file, and of a network by its name: give the DATA after" in said


def test_a_relaxed_folder_that_was_moved_away(here):
    np.savez("hard.npz", X=X, y=[1, -1, -1, -1])
    assert run("audit", "net.npz", "hard.npz", "--certificates", "proofs")[0] == 0
    assert run("check", "proofs")[0] == 0
    (here / "proofs-relaxed").rename(here / "elsewhere")
    for command in (("check", "proofs"), ("better", "proofs", "--out", "better.npz")):
        status, said = run(*command)
        assert status == 1
        begin = "refused proofs/audit.json: diagnosis.relaxed is what the folder beside this one, proofs-relaxed, is to"
        assert f"{begin} prove, and there is no such folder: move it back to its place, or audit again" in said
        assert "PROBLEM NETWORK CERTIFICATE" not in said
    status, said = run("better", "none", "--out", "better.npz")
    assert status == 2
    assert "none does not exist: give a folder that isoptimal audit --certificates wrote" in said


# ------------------------------------------------------------------------------------------- the same rows and networks


class Index(list):
    """Row labels, as an index of pandas has them."""

    def equals(self, other):
        return list(self) == list(other)


class RangeIndex(Index):
    start, step = 0, 1


class Table:
    """A table or a series of pandas, of which the row labels are looked at."""

    __module__ = "pandas"

    def __init__(self, index):
        self.index = index


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (Index([2, 0, 1]), Index([0, 1, 2]), "have the same labels in different orders (X begins with 2, 0, 1, y with"),
        (RangeIndex(range(4)), Index([3, 1, 2, 0]), "have the same labels in different orders"),
        (Index("abc"), Index("abd"), "have different labels"),
    ],
)
def test_rows_that_may_not_belong_together_are_refused(first, second, sentence):
    with pytest.raises(InputError) as caught:
        check_rows(Table(first), Table(second))
    assert sentence in str(caught.value)
    assert "give y.loc[X.index], or" in str(caught.value)


def test_rows_that_go_together():
    labels = Table(Index([7, 3, 5]))
    assert check_rows(labels, Table(Index([7, 3, 5]))) == (BY_ROW,)
    assert check_rows(labels, [1, 2, 3]) == (BY_ROW,)
    assert check_rows(labels, Table(Index([7, 3]))) == (BY_ROW,)  # another number of rows has its own message
    assert check_rows(Table(Index([0, 1, 2])), Table(RangeIndex(range(3)))) == ()
    assert check_rows(Table(RangeIndex(range(3))), [1, 2, 3]) == ()
    assert check_rows([[1], [2]], labels) == ()
    (note,) = check_rows(Table(RangeIndex(range(3))), labels)
    assert "they were taken in the order in which they stand" in note


def test_one_data_set_for_all_networks_of_a_sweep():
    models = [RELU, {**RELU, "v": [2.0, -1.0]}]
    every = [
        sweep(models, X, Y, jobs=1),
        sweep(models, (X, Y), jobs=1),
        sweep((model for model in models), read_data(X, Y), jobs=1),
        sweep([(model, X, Y) for model in models], jobs=1),
    ]
    assert len({tuple((row.fits, row.excess_upper) for row in found) for found in every}) == 1
    assert all(row.outcome != "failed" for found in every for row in found)
    named = sweep({"a": RELU, "b": RELU}, X, Y, jobs=1)
    assert [row.network for row in named] == ["a", "b"]


def test_amounts_of_a_sweep_have_one_unit():
    from verify.sweeping.table import _amount, _between

    for excess in (0.0, 1e-300, 2.6e-14, 6.5e-11, 9.9e-5, 1e-4, 0.0983, 3.0):
        for up in (True, False):
            assert _amount(excess, up=up).endswith(" %")
    assert _between(0.0, 6.5e-11, "...") == "<= 6.5e-9 %"
    assert _between(0.25, 0.5, "...") == "25 ... 50 %"


def test_labels_0_and_1_that_become_signs_keep_what_was_done_to_their_points():
    data = read_data(X, [0, 0, 1, 1], as_stored=True, standardise="data")
    posed = pose(Network.two_layer([[1, 0]], [1]), data).data
    assert posed.targets == (-1, -1, 1, 1)
    assert posed.surroundings == data.surroundings is not None
