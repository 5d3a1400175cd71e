"""What a user is told about how the data were read, where another reading may have been meant."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from verify import Goal, InputError, Network, Verdict, audit, read
from verify.auditing.loop import pose
from verify.cli import program

ONE = Network.two_layer([[1.0]], [1.0])
SPLIT = Network.two_layer([[1.0], [-1.0]], [1.0, -1.0])
LINE = [[x] for x in range(-10, 0)] + [[x] for x in range(1, 11)]
SIGNS = [-1] * 10 + [1] * 10


def notes(network, X, y, **options):
    said = []
    pose(network, (X, y), notes=said, **options)
    return said


# ------------------------------------------------------------------------------------------------- labels as numbers


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ([0, 1, 2, 0, 1, 2], ("3 values (0, 1 and 2)", "keep the points of two classes and give --classes NEGATIVE,")),
        ([1, 2, 2, 1], ("2 values (1 and 2)", "give --classes 1,2 (in Python audit(..., classes=(1, 2)))")),
        ([0.1, 0.9, 0.9, 0.1], ("2 values (0.1 and 0.9)", "give --classes 0.1,0.9 ")),
    ],
)
def test_labels_that_are_read_as_numbers_are_told(labels, text):
    values, remedy = text
    said = notes(ONE, [[x] for x in range(1, 1 + len(labels))], labels)
    assert said[0] == "the goal is min-norm, chosen from the targets"
    told = f"the targets have {values}, which are read as numbers to fit (regression); for a classifier {remedy}"
    assert said[1].startswith(told)
    assert len(said) == 2


@pytest.mark.parametrize(
    "labels",
    [[0.5, 1.5, 2.5, 0.5, 1.5, 2.5], [1, 2, 3, 4], [7, 7, 7, 7], list(range(11)) * 2, [1, -1, 1, -1], [0, 1, 0, 1]],
)
def test_other_targets_are_not(labels):
    assert not any("regression" in text for text in notes(ONE, [[1]] * len(labels), labels))


def test_what_classifies_by_two_outputs_is_no_regression():
    X, y = [[1], [2], [3], [4]], [0.25, 0.5, 0.75, 1]
    network = read([np.eye(2, 1), np.eye(2)], slope=0, two_logits="difference")
    said = notes(network, X, y)
    assert any(text.startswith("two outputs, one for each class, have a difference that was not") for text in said)
    assert not any("regression" in text for text in notes(network, X, [1, -1, 1, -1]))


def test_labels_that_are_read_as_numbers_are_asked_for_as_classes_by_the_next_step():
    X, y = [[1], [2], [-3], [-4]], [2, 2, 1, 1]
    (first, *_) = audit(ONE, X, y).next_steps
    assert first.command == "isoptimal audit NETWORK DATA OPTIONS --classes 1,2"
    assert not any("--classes" in step.command for step in audit(ONE, X, y, goal="min-norm").next_steps)
    assert audit(ONE, X, y, classes=(1, 2)).problem.goal is Goal.MAX_MARGIN


def test_a_goal_that_is_given_needs_no_note():
    assert notes(ONE, [[1], [2], [3], [4]], [0, 2, 0, 2], goal="min-norm") == []


def test_the_note_is_in_the_report_and_in_the_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("net.npz", W=[[1.0]], v=[1.0], slope=0)
    np.savez("data.npz", X=[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], y=[0, 1, 2, 0, 1, 2])
    result = CliRunner().invoke(program, ["audit", "net.npz", "data.npz", "--json", "-"])
    assert "the targets have 3 values (0, 1 and 2)" in " ".join(result.stderr.split("\n")[:8])
    assert any("the targets have 3 values" in text for text in json.loads(result.stdout)["notes"])


# ------------------------------------------------------------------------------------------------- exchanged classes


def exchanged(result):
    return [text for text in result.notes if "exchanged" in text]


def test_exchanged_classes_are_told_with_the_way_to_exchange_them(tmp_path, monkeypatch):
    right, wrong = audit(SPLIT, (LINE, SIGNS)), audit(SPLIT, (LINE, [-y for y in SIGNS]))
    assert right.fits.verdict is Verdict.PROVED
    assert exchanged(right) == []
    (note,) = exchanged(wrong)
    assert note.startswith("every point is on the wrong side of the network, so it fits when the classes are exchanged")
    monkeypatch.chdir(tmp_path)
    np.savez("net.npz", W=[[1.0], [-1.0]], v=[1.0, -1.0], slope=0)
    np.savez("data.npz", X=LINE, y=[-y for y in SIGNS])
    first = CliRunner().invoke(program, ["audit", "net.npz", "data.npz"])
    assert "--classes 1,-1" in first.stdout
    second = CliRunner().invoke(program, ["audit", "net.npz", "data.npz", "--classes", "1,-1"])
    assert "exchanged" not in second.stdout
    assert "every point is on its side" in second.stdout


@pytest.mark.parametrize(("right", "is_told"), [(1, True), (2, True), (3, False), (10, False)])
def test_nearly_all_points(right, is_told):
    labels = [*SIGNS[:right], *(-y for y in SIGNS[right:])]
    said = exchanged(audit(SPLIT, (LINE, labels), time_limit=1))
    assert bool(said) == is_told
    assert all(text.startswith(f"{20 - right} of 20 points are on the wrong side") for text in said)


def test_a_network_that_is_zero_is_on_no_side():
    assert exchanged(audit(Network.two_layer([[0]], [0]), ([[1], [-1]], [1, -1]))) == []


# ------------------------------------------------------------------------------------------------- warm starts


def warm(result):
    return [text for text in result.notes if "warm start" in text]


def test_a_warm_start_of_another_problem_says_that_it_does_not_apply(tmp_path):
    points, shifted = ([[1, 1], [0, -1]], [1, 1]), ([[1, 1], [0, -2]], [1, 1])
    network = Network.two_layer([[1, 0], [0, -1]], [1, 1])
    audit(network, points).save(tmp_path)
    same = audit(network, points, warm_start=tmp_path)
    assert warm(same) == []
    assert warm(audit(Network.two_layer([[1, 1]], [1]), points, warm_start=tmp_path)) == []  # only its width
    (note,) = warm(audit(network, shifted, warm_start=tmp_path))
    assert note.startswith(f"the warm start {tmp_path} is of an audit with other data, and does not apply: its bound")
    leaky = Network.two_layer([[1, 0], [0, -1]], [1, 1], slope="1/2")
    (note,) = warm(audit(leaky, points, goal="min-norm", warm_start=tmp_path))
    assert "with another goal and another slope, and does not apply" in note


def test_a_warm_start_whose_problem_is_broken_is_refused(tmp_path):
    Path(tmp_path / "problem.json").write_text("{}")
    with pytest.raises(InputError, match=r"problem\.json"):
        audit(ONE, ([[1]], [1]), warm_start=tmp_path)
