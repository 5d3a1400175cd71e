"""What a report says to do next: only what is proved to help, with commands that are ready to be run."""

import numpy as np
import pytest
from click.testing import CliRunner

from tests.words import check_words
from verify import Dataset, Network, audit
from verify.cli import program
from verify.report import as_text

SQUARE = [[0, 0], [1, 0], [0, 1], [1, 1]]


def steps(result):
    return [step.text for step in result.next_steps]


def test_targets_that_no_affine_function_meets():
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1], b=[0, 0], slope=1)
    result = audit(network, Dataset(SQUARE, [0, 1, 2, 5]))
    assert result.infeasible
    tolerance, impossible = result.next_steps
    assert "--fit-tol 3" in tolerance.command
    assert "f is affine in x at any width, and no affine function meets the targets of points 0, 1, 2 and 3" in (
        impossible.text
    )
    assert "--fit-tol" in impossible.text
    assert "ReLU" in impossible.text
    assert "drop" not in "".join(steps(result))
    check_words(result)


def test_no_bend_helps_where_equal_points_have_different_targets():
    network = Network.two_layer([[1, 0]], [1], slope=1)
    result = audit(network, Dataset([[1, 0], [1, 0], [0, 1]], [2, 3, 1]))
    assert result.infeasible
    assert "ReLU" not in "".join(steps(result))
    check_words(result)


@pytest.mark.parametrize(("targets", "wanted"), [([1, 2, 1], "drop one of the points 0 and 1"), ([1, 2, 2], "point 0")])
def test_a_point_is_dropped_only_where_the_others_can_then_be_met(targets, wanted):
    inputs = [[1, 0], [1, 0], [0, 1]] if targets[2] == 1 else [[1, 0], [1, 0], [1, 0]]
    result = audit(Network.two_layer([[1, 1]], [1], b=[0]), Dataset(inputs, targets))
    text = steps(result)[-1]
    assert wanted in text
    check_words(result)


def test_two_conflicts_are_not_mended_by_dropping_one_point():
    result = audit(Network.two_layer([[1, 1]], [1], b=[0]), Dataset([[1, 0], [1, 0], [0, 1], [0, 1]], [1, 2, 1, 2]))
    assert result.infeasible
    assert "drop" not in "".join(steps(result))
    assert "no training helps, for no network of any width meets the targets of points" in steps(result)[-1]
    check_words(result)


def test_exchanged_classes_are_exchanged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.array([[1.0, 0.2], [1.0, -0.3], [-1.0, 0.4], [-1.0, 0.1]])
    np.savez("net.npz", W=[[1.0, 0.0], [-1.0, 0.0]], v=[1.0, -1.0], slope=0)
    rows = [f"{a},{b},{'no' if a > 0 else 'yes'}" for a, b in X]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,y", *rows]) + "\n", "utf-8")
    run = CliRunner().invoke(program, ["audit", "net.npz", "data.csv", "--classes", "no,yes"])
    told = " ".join(run.output.split())
    assert "exchange the two classes" in told
    assert "isoptimal audit net.npz data.csv --classes yes,no" in told
    again = CliRunner().invoke(program, ["audit", "net.npz", "data.csv", "--classes", "yes,no"])
    assert "exchange the two classes" not in again.output


def test_nearly_all_points_on_the_wrong_side():
    inputs = [[i, 1] for i in range(1, 20)] + [[-30, 1]]
    result = audit(Network.two_layer([[1, 0], [-1, 0]], [1, -1]), Dataset(inputs, [-1] * 20))
    (step,) = result.next_steps
    assert "it then has 19 of 20 points on their sides" in step.text
    assert step.command == "isoptimal audit NETWORK EXCHANGED OPTIONS"
    assert "isoptimal audit NETWORK DATA --classes POSITIVE,NEGATIVE" in " ".join(as_text(result).split())
    assert result.relaxed is None
    check_words(result)
