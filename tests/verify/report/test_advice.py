"""What a report says to do next: only what is proved to help, with commands that are ready to be run."""

from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from tests.words import check_words
from verify import Dataset, Network, audit, train
from verify.auditing.loop import pose
from verify.cli import program
from verify.deciders.finding import Verdict
from verify.problem.network import Architecture, Layer
from verify.report import as_text
from verify.report.advice import IN_PYTHON
from verify.report.remedies import is_at_rest

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
    assert "no network of any width meets the targets of points" in steps(result)[-1]
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
    assert "isoptimal audit NETWORK DATA --classes 1,-1" in " ".join(as_text(result).split())
    assert result.relaxed is None
    check_words(result)


FLAT = Network.two_layer([[1, 1], [1, -1]], [1, 1], b=[0, 0])
SINE = Dataset([[k / 4, 0] for k in range(9)], [0, 1, 2, 1, 0, 1, 2, 1, 0])


def test_a_network_that_still_learns_is_trained_on():
    assert steps(audit(FLAT, SINE))[-1] == "train on, until the targets are met exactly"


def test_with_a_tolerance_it_is_trained_on_within_it():
    step = audit(FLAT, SINE, fit_tol="1/8").next_steps[-1]
    assert step.text == "train on, until the targets are met within 0.125"
    assert step.command.endswith("--audit --fit-tol 0.125")


@pytest.mark.parametrize("tolerance", [1 / 3, 0.1, "1/7"])
def test_numbers_in_commands_are_those_that_were_given(tolerance):
    step = audit(FLAT, SINE, fit_tol=tolerance).next_steps[-1]
    assert step.command.split()[-1] == str(tolerance)
    check_words(audit(FLAT, SINE, fit_tol=tolerance))
    leaky = Network.two_layer([[1, 0]], [0], slope=tolerance)
    commands = [step.command.split() for step in audit(leaky, Dataset([[1, 0], [0, 1]], [1, -1])).next_steps]
    slopes = [command[command.index("--slope") + 1] for command in commands if "--slope" in command]
    assert slopes
    for slope in slopes:
        assert (Fraction(slope) if "/" in slope else Fraction(float(slope))) == Fraction(tolerance)


def test_after_a_training_that_converged_without_fitting_no_further_training_is_advised():
    run = train(SINE, width=2, bias=True, loss="squared", seed=1)
    assert run.status == "converged"
    assert "--fit-tol" in run.reason
    result = run.audit()
    assert "--fit-tol" in result.next_steps[0].command
    last = result.next_steps[-1]
    assert last.text.startswith("training on leads nowhere")
    assert "--width 20 --bias --loss squared" in last.command
    check_words(result)


def test_without_files_the_options_of_the_network_and_python_are_told():
    network = Network.two_layer([[1, 0], [0, 0]], [1, 1], b=[0, 1])
    result = audit(network, Dataset([[1, 0], [2, 0], [3, 0]], [1, 4, 1]))
    assert result.network.output_bias_neurons
    told = " ".join(as_text(result).split())
    assert "isoptimal audit NETWORK DATA --output-bias neuron --fit-tol" in told
    assert "--start NETWORK --output-bias neuron" in told
    assert IN_PYTHON in told
    assert IN_PYTHON not in " ".join(as_text(result, given={"NETWORK": "net.npz", "DATA": "data.npz"}).split())
    assert "--output-bias neuron" in str(result.to_json()["diagnosis"]["next"])


def test_the_audit_of_a_training_names_the_files_that_were_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", X=[[float(a) for a in x] for x in SINE.inputs], y=[float(y) for y in SINE.targets])
    command = ["train", "data.npz", "--width", "2", "--bias", "--seed", "1", "--out", "net.npz", "--audit"]
    told = " ".join(CliRunner().invoke(program, command).output.split())
    assert "isoptimal audit net.npz data.npz --fit-tol" in told
    assert "isoptimal train data.npz --width 20 --bias --loss squared" in told
    assert "NETWORK" not in told


def test_a_tolerance_above_every_target_is_not_improved_on_by_the_network_of_zeros():
    result = audit(FLAT, Dataset([[1, 0], [0, 1]], [2, 3]), fit_tol=3)
    (step,) = result.next_steps
    assert "is 0 everywhere: ask for a smaller tolerance" in step.text
    assert step.command == "--fit-tol EPS"
    check_words(result)
    assert all("0 everywhere" not in text for text in steps(audit(FLAT, Dataset([[1, 0], [0, 1]], [2, 3]), fit_tol=2)))


def test_a_neuron_that_still_learns_beside_a_large_one_is_no_rest():
    network = Network.two_layer([[1], [-1]], [10**6, "1/1000000"])
    assert all(
        "leads nowhere" not in text for text in steps(audit(network, ([[1], [-1]], [10**6, -1]), goal="min-norm"))
    )


@pytest.mark.parametrize("unit", [Fraction(1), Fraction(1, 2**300), Fraction(2**300)])
def test_whether_training_on_leads_on_does_not_depend_on_units(unit):
    """Squares of products of such numbers are 0, or infinite, in floats."""
    network = Network.two_layer([[2, 0], ["1/2", "-1/2"], [1, 0]], [-1, -1, 3], slope="1/2")
    rows, targets = [[1, 3], ["1/2", 1], [0, "1/3"]], [1, "5/8", "1/12"]
    data = Dataset([[unit * Fraction(x) for x in row] for row in rows], [unit * Fraction(y) for y in targets])
    result = audit(network, data, goal="min-norm", tol="1/2")
    assert not is_at_rest(result.problem, network)
    at_rest = Network.two_layer([[1, 0]], [1])
    assert is_at_rest(pose(at_rest, Dataset([[unit, 0], [unit, 0]], [0, 2 * unit]), goal="min-norm"), at_rest)
    check_words(result)


def test_training_has_ended_only_at_a_local_optimum():
    saddle = audit(Network.two_layer([[1, 0], [0, 1]], [1, 1]), Dataset([[1, 0], [0, 1]], [1, 1]))
    assert saddle.local_optimum.verdict is Verdict.REFUTED
    assert "to look for a better one, try other seeds" in steps(saddle)
    assert all("has ended" not in text for text in steps(saddle))


def test_data_that_the_network_fits_once_they_are_standardised():
    inputs = [[100 + k, 3 * k % 7] for k in range(12)]
    data = Dataset(inputs, [1 if k > 5 else -1 for k in range(12)])
    network = Network.two_layer([[1, 0], [-1, 0]], [1, -1])
    result = audit(network, data)
    (step,) = result.next_steps
    assert "once the data are standardised by their own mean" in step.text
    assert step.command == "isoptimal audit NETWORK DATA OPTIONS --standardise data"
    check_words(result)
    assert audit(network, (inputs, data.targets), standardise="data").fits.verdict.value == "proved"
    moved = audit(Network.two_layer([[1, 1]], [1]), data, standardise="data")
    assert "--standardise" not in " ".join(step.command for step in moved.next_steps)


def test_data_that_the_network_has_nearly_right_once_they_are_standardised():
    inputs = [[100 + k, 3 * k % 7] for k in range(12)]
    data = Dataset(inputs, [1 if k > 5 or k == 0 else -1 for k in range(12)])
    network = Network.two_layer([[1, 0], [-1, 0]], [1, -1])
    result = audit(network, data)
    step = result.next_steps[0]
    assert step.text.startswith(
        "the network has 11 of 12 points on their sides, instead of 7, once the data are standard"
    )
    assert step.command == "isoptimal audit NETWORK DATA OPTIONS --standardise data"
    check_words(result)


def test_a_classifier_at_rest_is_not_trained_on():
    dead = Network.two_layer([[-1, -1], [-1, -2]], [1, 1])
    result = audit(dead, Dataset([[1, 1], [2, 1]], [1, -1]))
    texts = steps(result)
    assert any("the logistic loss has next to no gradient here" in text for text in texts), texts
    assert not any("train on" in text for text in texts)
    check_words(result)


def test_of_a_deep_network_the_command_writes_the_better_network_that_is_told_first():
    """A wider one is far better than the best found of this shape."""
    far = Fraction(2**300)
    shapes = [Layer(inputs=2, outputs=2, slope=Fraction(0)), Layer(inputs=2, outputs=2, slope=Fraction(0))]
    network = Network(
        Architecture([*shapes, Layer(inputs=2, outputs=1, slope=None)]),
        [[far, 0, 0, 1], [1, 0, 0, 1 / far], [1, -1]],
    )
    result = audit(network, Dataset([[1, 0], [0, 1]], [1, -1]))
    assert result.better is not None
    assert result.better != result.better_own_width
    (step,) = [step for step in result.next_steps if "better network" in step.text]
    assert "(in Python .better.save)" in step.text
    assert "--own-width" not in step.command
    check_words(result)
