"""`verify.train` and `isoptimal train`: what comes out is a network that the audit knows what to do with."""

import json

import numpy as np
import pytest

from verify import InputError, Network, Verdict, read, train
from verify.cli import program
from verify.training import layers_of, network_of, parameters_of

TWO = (((1, 0.25), (-1, 0.25)), (1, 1))
START = Network.two_layer([[0.1, 0.9], [0.2, -0.9]], [0.5, 0.3])


def _run(*arguments):
    return program.main(list(arguments), standalone_mode=False)


@pytest.fixture
def data(tmp_path):
    """Theorem 3.2's points in a file."""
    path = tmp_path / "data.npz"
    np.savez(path, X=np.array(TWO[0]), y=np.array(TWO[1]))
    return path


def test_arrays_and_networks_are_the_same_function():
    network = Network.two_layer([[1.5, 2], [0, -3]], [1, -0.25], b=[0.5, 1], slope=0.25)
    theta = parameters_of(network)
    assert network_of(network.architecture, theta) == network
    layers = layers_of(network.architecture)
    rows = np.array([[1.0, 2.0, 1.0], [-1.0, 0.5, 1.0]])
    assert layers.outputs(theta, rows).tolist() == [float(network(row[:2])) for row in rows]


def test_masks_hide_weights():
    network = Network.two_layer([[2, 0], [0, 3]], [1, 1], masks=[(0,), (1,)])
    layers = layers_of(network.architecture)
    assert [places.tolist() for places in layers.places] == [[[0, -1], [-1, 1]], [[2, 3]]]
    assert layers.outputs(parameters_of(network), np.array([[1.0, 1.0]])).tolist() == [5.0]


def test_theorem_3_2_of_arxiv_2110_02732():
    """The flow goes to a KKT point that is no local optimum, for the neuron that is off never moves."""
    run = train(TWO, start=START, stop_at=1e-7)
    assert run.status == "stopped"
    assert max(run.residuals) <= 1e-7
    theta = parameters_of(run.network)
    assert theta / np.linalg.norm(theta) == pytest.approx(np.array([0, 2, 0, 0, 2, 0]) / np.sqrt(8), abs=1e-3)
    result = run.audit()
    assert result.stationary.verdict is Verdict.PROVED
    assert result.global_optimum.verdict is Verdict.REFUTED
    assert result.local_optimum.verdict is not Verdict.PROVED
    assert "stationary up to" in str(run)


def test_same_seed_same_network():
    runs = [train(TWO, width=3, seed=seed, stop_at=1e-3) for seed in (1, 1, 2)]
    assert runs[0].network == runs[1].network != runs[2].network


def test_regression_fits():
    run = train((((-1,), (0,), (1,)), (1.0, 0.5, 2.0)), width=20, bias=True, scale=1.0)
    assert run.loss == "squared"
    assert run.status == "stopped"
    assert run.residuals is None
    outputs = [float(run.network(x)) for x in ((-1,), (0,), (1,))]
    assert outputs == pytest.approx([1.0, 0.5, 2.0], abs=1e-8)
    assert "largest residual" in str(run)


def test_a_loss_that_rests_above_0_is_said_to_do_so():
    """All points on one side of every bend: the middle one cannot be learnt any more."""
    run = train((((1,), (2,), (3,)), (1.0, 0.5, 2.0)), width=20, bias=True, scale=1.0)
    assert run.status == "converged"
    assert "does not fit" in run.reason


def test_only_the_hidden_layer_moves():
    run = train(TWO, start=START, hidden_only=True, stop_at=1e-3)
    assert run.network.output_weights == START.output_weights
    assert run.network.hidden_weights != START.hidden_weights


def test_a_masked_network_is_trained_and_kept(tmp_path):
    start = Network.two_layer([[0.5, 0], [0, 0.25]], [0.5, 0.25], masks=[(0,), (1,)])
    run = train((((1, 2),), (1,)), start=start, stop_at=1e-4)
    assert run.network.architecture == start.architecture
    with pytest.raises(InputError, match=r"ends in \.json"):
        run.save(tmp_path / "net.npz")
    run.save(tmp_path / "net.json")
    assert read(tmp_path / "net.json") == run.network


def test_contradictory_data_end_with_a_sentence():
    run = train((((1,), (1,)), (1, -1)), width=3, max_evaluations=20_000)
    assert run.status in {"converged", "limit", "failed"}
    assert run.reason
    assert run.residuals == (np.inf, np.inf)


def test_a_time_limit_is_a_limit():
    run = train(TWO, width=3, stop_at=1e-300, time_limit=0.05)
    assert run.status == "limit"
    assert "0.05" in run.reason


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "width is missing"),
        ({"width": 0}, "width is missing"),
        ({"width": 2, "start": START}, "leave one out"),
        ({"width": 2, "init": "magic"}, "no initialisation 'magic'"),
        ({"width": 2, "loss": "hinge"}, "no loss 'hinge'"),
        ({"width": 2, "method": "prayer"}, "no method 'prayer'"),
        ({"width": 2, "step": 0.1}, "step is for gradient descent"),
        ({"width": 2, "stop_at": 0}, "must be more than 0"),
        ({"width": 2, "scale": -1}, "scale"),
        ({"start": Network.two_layer([[1]], [1])}, "takes 1 input"),
    ],
)
def test_bad_arguments_are_one_sentence(options, sentence):
    with pytest.raises(InputError, match=sentence):
        train(TWO, **options)


def test_labels_are_needed_for_a_margin():
    with pytest.raises(InputError, match="needs targets -1 and 1"):
        train((((1,),), (3,)), width=1, loss="logistic")


def test_the_command_writes_what_it_says(data, tmp_path, capsys):
    out, record, picture = (tmp_path / name for name in ("net.npz", "way.npz", "way.png"))
    arguments = ["train", str(data), "--width", "3", "--out", str(out), "--record", str(record), "--plot", str(picture)]
    assert _run(*arguments, "--audit", "--certificates", str(tmp_path / "proofs")) == 0
    shown = capsys.readouterr().out
    assert "stopped: stationary up to" in shown
    assert "stationary" in shown
    assert read(out).width == 3
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "proofs" / "audit.json").exists()
    assert _run("audit", str(out), str(data), "--json", str(tmp_path / "a.json")) == 0
    assert json.loads((tmp_path / "a.json").read_text())["schema"] == "audit-1"
    network = read(out)
    assert _run(*arguments, "--resume") == 0
    assert read(out) == network


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--out", "{}/net.csv"), "must end in .npz or .json"),
        (("--out", "{}/data.npz"), "is an input"),
        (("--out", "{}/n.npz", "--record", "{}/n.npz"), "is to be written twice"),
        (("--out", "{}/n.npz", "--resume"), "--resume goes on from the file of --record"),
        (("--out", "{}/n.npz", "--certificates", "{}/p"), "add --audit"),
        (("--out", "{}/n.npz", "--plot", "{}/way.gif"), "what kind of picture"),
        (("--out", "{}/n.npz", "--scale", "0"), "not a number of more than 0"),
        (("--out", "{}/n.npz", "--slope", "2"), "slope"),
    ],
)
def test_bad_input_of_the_command_is_one_sentence(data, extra, sentence, tmp_path, capsys):
    assert _run("train", str(data), "--width", "2", *(text.format(tmp_path) for text in extra)) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_gradient_descent_comes_near_the_same_point():
    run = train(TWO, start=START, method="descent", stop_at=2e-2)
    theta = parameters_of(run.network)
    assert run.status == "stopped"
    assert theta / np.linalg.norm(theta) == pytest.approx(np.array([0, 2, 0, 0, 2, 0]) / np.sqrt(8), abs=2e-2)
