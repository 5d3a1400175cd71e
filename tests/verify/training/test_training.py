"""`verify.train` and `isoptimal train`: what comes out is a network that the audit knows what to do with."""

import json
from fractions import Fraction

import numpy as np
import pytest

from verify import InputError, Network, Verdict, read, train
from verify.checker.statement import Layer
from verify.cli import program
from verify.problem.network import Architecture
from verify.training import layers_of, network_of, parameters_of

TWO = (((1, 0.25), (-1, 0.25)), (1, 1))
DEEP = Network(
    Architecture(
        [Layer(inputs=1, outputs=1, slope=Fraction(0)) for _ in "ab"] + [Layer(inputs=1, outputs=1, slope=None)]
    ),
    [[1], [1], [1]],
)
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


@pytest.mark.parametrize("widths", [(2, 1), (2, 4, 3, 1), (2, 3, 4, 1), (2, 2, 2, 2, 1)])
@pytest.mark.parametrize("method", ["flow", "descent"])
@pytest.mark.one_in(3)
def test_networks_of_every_depth_are_trained_and_kept(widths, method, tmp_path):
    """From positive weights on points that they send to the right sides."""
    layers = [
        Layer(inputs=d, outputs=k, slope=None if last else Fraction(1, 4), bias=False)
        for d, k, last in zip(widths[:-1], widths[1:], [False] * (len(widths) - 2) + [True], strict=True)
    ]
    rng = np.random.default_rng(0)
    start = Network(Architecture(layers), [rng.uniform(0.5, 1, layer.parameter_count).tolist() for layer in layers])
    points = (((1, 2), (2, 1), (-1, -1.5)), (1, 1, -1))
    run = train(points, start=start, method=method, stop_at=1e-2, max_evaluations=20_000)
    assert run.network.architecture == start.architecture
    assert run.trajectory.margins[-1] > 0
    assert run.status in {"stopped", "limit"}
    run.save(tmp_path / "net.json")
    assert read(tmp_path / "net.json") == run.network


def test_contradictory_data_end_with_a_sentence():
    run = train((((1,), (1,)), (1, -1)), width=3, max_evaluations=20_000)
    assert run.status == "converged"
    assert "points 0 and 1 are equal and their targets are not" in run.reason
    assert run.residuals == (np.inf, np.inf)
    run = train((((1,), (1,)), (0.5, 0.75)), width=3, max_evaluations=20_000)
    assert "points 0 and 1 are equal and their targets are not" in run.reason


def test_data_that_can_be_fitted_are_not_called_contradictory():
    run = train((((1, 2),), (-1,)), width=4)
    assert run.status == "converged"
    assert "does not fit" in run.reason
    run = train((((1, 2),), (-1,)), width=4, max_evaluations=1)
    assert run.status == "limit"
    for word in ("contradictory", "narrow", "equal"):
        assert word not in run.reason


def test_a_large_loss_is_no_rest():
    """log L of large outputs is flat by a factor of L, which is not rest."""
    points = np.random.default_rng(0).normal(size=(10, 2))
    run = train((points, np.sign(points[:, 0])), width=5, method="descent", step=1e6, max_evaluations=1000)
    assert run.status == "limit", run.reason
    assert run.trajectory.margins[-1] > 0


@pytest.mark.parametrize(("size", "scale"), [(1.0, 1e99), (1e200, 0.1)])
def test_what_floats_cannot_follow_has_failed(size, scale):
    points = np.random.default_rng(0).normal(size=(10, 2))
    with np.errstate(over="ignore"):
        run = train((points * size, np.sign(points[:, 0])), width=4, scale=scale)
    assert run.status == "failed"
    assert "zero weights have less loss" in run.reason


def test_small_targets_are_fitted_relative_to_their_size():
    points = np.random.default_rng(0).normal(size=(10, 2))
    run = train((points, 2.0**-40 * points[:, 0] ** 2), width=1, max_evaluations=20_000)
    assert run.status == "converged"
    assert run.trajectory.log_losses[-1] < -40
    assert "does not fit" in run.reason


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("no")])
def test_what_was_trained_is_kept_when_it_cannot_be_polished(error, monkeypatch):
    def fail(*_, **__):
        raise error

    plain = train(TWO, width=3, stop_at=1e-2)
    monkeypatch.setattr("solvers.kkt.polish.kkt_polish", fail)
    run = train(TWO, width=3, stop_at=1e-2, polish=True)
    assert run.network == plain.network
    assert "not polished: " in str(run)
    assert run.polished is None
    assert (run.status == "interrupted") == isinstance(error, KeyboardInterrupt)


def test_more_steps_than_by_default_are_made(monkeypatch):
    seen = {}

    def fake(*_, **options):
        seen.update(options)
        raise ValueError("stop here")

    monkeypatch.setattr("solvers.training.descent.gradient_descent.gradient_descent", fake)
    with pytest.raises(InputError, match="stop here"):
        train(TWO, width=3, method="descent", max_evaluations=2_000_000)
    assert seen["max_steps"] == seen["max_evaluations"] == 2_000_000


def test_the_report_says_what_was_kept_and_counts_well():
    run = train(TWO, width=3, slope=0.01, hidden_only=True, max_evaluations=1)
    assert "slope 0.01," in run.description
    assert "with the output weights kept" in run.description
    assert " 1 gradient," in str(run)
    assert "margin -0," not in str(run)


def test_a_decimal_slope_is_the_nearest_double(data, tmp_path):
    out = tmp_path / "net.npz"
    assert _run("train", str(data), "--width", "2", "--slope", "0.01", "--out", str(out), "--max-evaluations", "9") == 0
    assert float(read(out).architecture.slope) == 0.01
    out = out.with_suffix(".json")
    assert _run("train", str(data), "--width", "2", "--slope", "1/3", "--out", str(out), "--max-evaluations", "9") == 0
    assert read(out).architecture.slope == Fraction(1, 3)


def test_a_network_to_start_from_is_no_place_to_write_and_says_its_own_options(data, tmp_path, capsys):
    start, out = tmp_path / "start.json", tmp_path / "net.npz"
    start.write_text(START.canonical_text())
    arguments = ["train", str(data), "--start", str(start), "--max-evaluations", "9", "--out"]
    assert _run(*arguments, str(start)) == 2
    assert "is an input" in capsys.readouterr().err
    assert read(start) == START
    assert _run(*arguments, str(out), "--bias", "--seed", "2") == 2
    assert "--bias and --seed are for a network that is made" in capsys.readouterr().err
    assert _run(*arguments, str(out), "--slope", "1/2") == 2
    assert "says slope" in capsys.readouterr().err
    assert _run(*arguments, str(out)) == 0
    assert read(out).architecture == START.architecture


def test_weights_without_an_activation_are_started_from_with_their_slope(data, tmp_path, capsys):
    from safetensors.numpy import save_file

    weights = {"0.weight": np.array([[2.0, 0.0], [0.0, 3.0]]), "2.weight": np.array([[1.0, 1.0]])}
    save_file(weights, start := tmp_path / "start.safetensors")
    out = tmp_path / "net.npz"
    arguments = ["train", str(data), "--start", str(start), "--max-evaluations", "9", "--out", str(out)]
    assert _run(*arguments) == 2
    error = capsys.readouterr().err
    assert "isoptimal train " in error
    assert error.rstrip().endswith("--slope 0")
    assert "audit" not in error
    assert _run(*arguments, "--slope", "1/4") == 0
    assert read(out).architecture.slope == Fraction(1, 4)
    assert _run("audit", str(start), str(data), "--slope", "1/4", "--time-limit", "20") == 0
    said = " ".join(capsys.readouterr().out.split())
    steps = [step for step in said.split("isoptimal train ")[1:] if "--start" in step]
    assert steps
    assert all("--slope 1/4" in step.split("--out")[0] for step in steps)


def test_a_network_that_cannot_be_written_is_refused_before_it_is_trained(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("verify.training.train", lambda *_, **__: pytest.fail("trained in vain"))
    masked = Network.two_layer([[2, 0], [0, 3]], [1, 1], masks=[(0,), (1,)])
    (tmp_path / "start.json").write_text(masked.canonical_text())
    start = ["--start", str(tmp_path / "start.json")]
    for extra in (start, ["--width", "2", "--slope", "1/3"]):
        assert _run("train", str(data), *extra, "--out", str(tmp_path / "net.npz")) == 2
        assert "ends in .json" in capsys.readouterr().err


@pytest.mark.parametrize(("content", "why"), [(b"text", "it is no .npz file"), (b"", "it is no .npz file")])
def test_a_damaged_record_is_one_plain_sentence(data, tmp_path, capsys, content, why):
    record = tmp_path / "way.npz"
    record.write_bytes(content)
    arguments = ["--width", "2", "--out", str(tmp_path / "n.npz"), "--record", str(record), "--resume"]
    assert _run("train", str(data), *arguments) == 2
    error = capsys.readouterr().err
    assert why in error
    assert "pickle" not in error
    assert record.read_bytes() == content


@pytest.mark.parametrize(
    ("method", "name"),
    [
        *(("flow", name) for name in ("state_numbers", "state_spacing", "state_signs")),
        *(("descent", name) for name in ("state_numbers", "state_counts", "state_signs")),
    ],
)
def test_a_record_without_its_state_is_one_plain_sentence(method, name, tmp_path):
    record = tmp_path / "way.npz"
    train(TWO, width=3, method=method, record=record, max_evaluations=50)
    stored = dict(np.load(record))
    for value in ({}, {name: np.zeros((2, 1, 1))}):
        np.savez(record, **{key: array for key, array in stored.items() if key != name} | value)
        with pytest.raises(InputError, match=r"way\.npz is damaged"):
            train(TWO, width=3, method=method, record=record, max_evaluations=50, resume=True)


def test_the_squared_loss_is_audited_for_what_it_trains():
    """Targets that look like labels are targets."""
    run = train((((1, 0), (0, 1)), (1, -1)), width=6, loss="squared", scale=1.0)
    assert "\nmin-norm: " in str(run.audit())
    assert "\nmax-margin: " in str(run.audit(goal="max-margin"))
    run = train((((1, 0), (0, 1)), (1, -1)), width=6, max_evaluations=9)
    assert "\nmax-margin: " in str(run.audit())


def test_a_failed_training_is_not_audited_and_says_so(data, tmp_path, capsys):
    arguments = ["--method", "descent", "--step", "1e9", "--loss", "squared", "--out", str(tmp_path / "n.npz")]
    assert _run("train", str(data), "--width", "3", *arguments, "--audit") == 1
    shown = capsys.readouterr().out
    assert "failed" in shown
    assert "not audited" in shown


def test_a_time_limit_is_a_limit():
    run = train(TWO, width=3, stop_at=1e-300, time_limit=0.05)
    assert run.status == "limit"
    assert "0.05" in run.reason


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "width is missing"),
        ({"width": 0}, "width is 0"),
        ({"width": 10**9}, "too large"),
        ({"width": 2, "start": START}, "leave one out"),
        ({"width": 2, "init": "magic"}, "no initialisation 'magic'"),
        ({"width": 2, "loss": "hinge"}, "no loss 'hinge'"),
        ({"width": 2, "method": "prayer"}, "no method 'prayer'"),
        ({"width": 2, "step": 0.1}, "step is for gradient descent"),
        ({"width": 2, "stop_at": 0}, "must be more than 0"),
        ({"width": 2, "scale": -1}, "scale"),
        ({"start": Network.two_layer([[1]], [1])}, "takes 1 input"),
        ({"start": Network.two_layer([[0, 0]], [0])}, "every weight is 0"),
        ({"start": DEEP, "polish": True}, "only networks of depth 2"),
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
        (("--out", "{}/net.csv"), "must end in .npz, .json, "),
        (("--out", "{}/data.npz"), "is an input"),
        (("--out", "{}/n.npz", "--record", "{}/n.npz"), "is to be written twice"),
        (("--out", "{}/n.npz", "--resume"), "--resume goes on from the file of --record"),
        (("--out", "{}/n.npz", "--certificates", "{}/p"), "add --audit"),
        (("--out", "{}/n.npz", "--plot", "{}/way.gif"), "what kind of picture"),
        (("--out", "{}/n.npz", "--scale", "0"), "not a number of more than 0"),
        (("--out", "{}/n.npz", "--slope", "2"), "slope"),
        (("--out", "{}/n.npz", "--slope", "1/3"), "the slope 1/3 is no float"),
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


def test_descent_that_ends_nearly_stationary_says_so():
    """Steps run out between two looks at the residuals, which are below what was asked for by then."""
    run = train(TWO, start=START, method="descent", stop_at=1e-9, max_evaluations=70_000)
    assert run.status == "limit"
    asked = train(TWO, start=START, method="descent", stop_at=max(run.residuals) * 1.000001, max_evaluations=70_000)
    assert max(run.residuals) < 1
    assert asked.status == "stopped"
    assert asked.reason.startswith("stationary up to")


def test_a_flow_that_rests_above_0_is_no_failure():
    X = np.random.default_rng(0).normal(size=(10, 2))
    run = train((X, X[:, 0] ** 2), width=4, seed=0)
    assert run.status == "converged"


def test_the_command_names_every_loss():
    from solvers.training.losses import LOSSES
    from verify.cli.training import train_command

    (option,) = (option for option in train_command.params if option.name == "loss")
    assert tuple(option.type.choices) == LOSSES


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_what_would_help_is_not_said_where_nothing_is_proved(bias, loss):
    """Two points on a ray from the origin: without biases no network, of any width, has them on different sides."""
    made = train([[1.0, 0.0], [2.0, 0.0]], [1, -1], width=4, bias=bias, loss=loss, max_evaluations=3000)
    said = str(made.training.reason)
    if not bias:  # that is proved, and of a network without biases only
        assert "no network without biases fits, because points 0 and 1 lie on one ray from 0" in said
        said = said.replace("no network without biases fits", "")
    assert not any(word in said for word in ("try", "more neurons", "another", "biases", "helps", "larger")), said


@pytest.mark.parametrize("weights", [[1e160], [1e100]])
def test_a_start_beyond_floats_is_refused(weights):
    start = Network.two_layer([weights], [1e70])
    with pytest.raises(InputError, match="too large for their squares or those of the outputs: start from smaller"):
        train(([[1.0], [-1.0]], [1.0, -1.0]), start=start)


def test_labels_0_and_1_stay_for_the_squared_loss():
    X, y = [[0.0], [1.0], [3.0]], [0.0, 1.0, 1.0]
    assert set(train((X, y), width=4, seed=0, loss="squared", max_evaluations=10).data.targets) == {0, 1}
    assert set(train((X, y), width=4, seed=0, max_evaluations=10).data.targets) == {-1, 1}


def test_a_start_with_an_output_bias_is_refused_in_words():
    start = Network.two_layer([[1.0, 0.0]], [1.0], b2=0.5)
    with pytest.raises(InputError, match="has an output bias, and what is trained here has none"):
        train(TWO, start=start)
