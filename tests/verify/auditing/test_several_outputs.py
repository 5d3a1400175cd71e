"""The audit of networks with several outputs, from arrays and PyTorch to a folder that is checked.

`verify.auditing.several_outputs`, `verify.report.several_outputs` and `verify.cli.several_outputs`.
"""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from verify import audit
from verify.auditing.asking_several import of_one_output
from verify.auditing.vector_audit import VectorAudit
from verify.checker.errors import InputError
from verify.checker.folder import decide_folder
from verify.checker.questions import Question, Verdict
from verify.cli.auditing import audit_command
from verify.cli.places import check_folder
from verify.report.several_outputs import vector_as_html, vector_reasons
from verify.testing.assertions import assert_globally_optimal

I3 = np.eye(3)
UNITS = {"W": I3, "v": I3, "slope": 0}
DIAGONAL = np.diag([3.0, 2.0])


def verdicts(found):
    return {question.value: found.verdict(question).value for question in Question}


def test_three_orthonormal_points(tmp_path):
    found = audit(UNITS, I3, I3)
    assert isinstance(found, VectorAudit)
    assert {*verdicts(found).values()} == {"proved"}
    questions = (found.fits, found.stationary, found.local_optimum, found.global_optimum, found.global_any_width)
    assert [one.question for one in questions] == [*Question]
    assert all(one.claim == one.certificate.claim != "" and one.level == "exact" for one in questions)
    with pytest.raises(TypeError, match="truth value"):
        bool(found.fits)
    assert found.bracket == (3, 3)
    assert found.excess == (0, 0)
    assert found.better is None
    assert "stationary exactly" in str(found)
    found.save(tmp_path / "proofs")
    decided = decide_folder(tmp_path / "proofs")
    assert decided.is_accepted
    told = json.loads((tmp_path / "proofs" / "audit.json").read_text(encoding="utf-8"))
    assert told["findings"]["local_optimum"]["verdict"] == "proved"
    assert told["status"] == "done"


def test_three_classes_with_margins():
    found = audit(UNITS, I3, [0, 1, 2], tol="1e-4")
    assert verdicts(found)["fits"] == "proved"
    assert verdicts(found)["global_any_width"] == "refuted"
    low, high = found.bracket
    assert low**2 <= 6 <= high**2
    assert high / low - 1 < Fraction(1, 10**4)
    assert found.excess[0] > Fraction(22, 100)
    assert found.better.width <= 3
    assert "at margin 1" in str(found)
    assert "<pre>" in vector_as_html(found)


def test_a_network_that_does_not_fit():
    found = audit(UNITS, I3, 2 * I3)
    assert {*verdicts(found).values()} == {"refuted"}
    assert found.objective is None
    assert "no objective" in str(found)
    assert found.bracket is None
    assert found.facts["lower"] == "6"
    assert "at least 6" in str(found)


def test_the_saddle_is_stationary_and_beaten(tmp_path):
    saddle = {"W": [[0.0, 1.0]], "v": np.array([[0.0], [1.0]]), "slope": 1}
    found = audit(saddle, np.eye(2), DIAGONAL, loss="half-squared", decay=1, reduction="sum", bias="none")
    assert found.problem.decay.hidden == 1
    assert found.objective == (6, 6)
    assert verdicts(found) == {
        "fits": "undecided", "stationary": "proved", "local_optimum": "refuted", "global_optimum": "refuted",
        "global_any_width": "refuted",
    }  # fmt: skip
    assert found.facts["findings"]["stationary"]["level"] == "exact"
    assert found.bracket[0] == 4
    assert found.bracket[1] < Fraction(4001, 1000)
    assert found.facts["findings"]["global_optimum"]["certificate"] == "vector-better-network-own.json"
    found.save(tmp_path / "saddle")
    assert decide_folder(tmp_path / "saddle").is_accepted
    one = audit({"W": [[1.0]], "v": [1.0], "slope": 0}, [[1.0]], [1.0])
    for other in (one, found, one):  # each in place of the one before
        check_folder(str(tmp_path / "saddle"))
        other.save(tmp_path / "saddle")
        assert decide_folder(tmp_path / "saddle").is_accepted


def test_an_audit_that_is_interrupted(monkeypatch):
    """What is known by then is told; so it is where floats fail."""
    for error, said in ((KeyboardInterrupt, "was interrupted"), (ArithmeticError, "floats failed")):

        def broken(*_, error=error, **__):
            raise error

        monkeypatch.setattr("verify.auditing.several_outputs.search_vectors", broken)
        found = audit(UNITS, I3, I3)
        assert verdicts(found)["stationary"] == "proved"
        assert verdicts(found)["global_any_width"] == "undecided"
        assert found.global_any_width.certificate is None
        assert said in str(found)
    monkeypatch.undo()
    monkeypatch.setattr("verify.auditing.several_outputs.lower_bounds", broken)
    assert "a lower bound" in str(audit(UNITS, I3, I3))


def test_a_zero_neuron_is_no_local_optimum():
    zeros = {"W": np.zeros((2, 2)), "v": np.zeros((2, 2)), "slope": 0}
    found = audit(zeros, np.eye(2), DIAGONAL, loss="half-squared", decay=1, reduction="sum")
    assert verdicts(found)["stationary"] == "proved"
    assert verdicts(found)["local_optimum"] == "refuted"
    assert vector_reasons(found)["local_optimum"].startswith("the objective falls")
    assert found.objective == (Fraction(13, 2), Fraction(13, 2))


def test_a_network_near_its_kink(tmp_path):
    """As it is it is far from stationary; the report says of which network it speaks."""
    near = {"W": [[1.0, 1e-4]], "v": np.array([[1.0], [0.0]]), "slope": 0}
    options = {"loss": "half-squared", "decay": 1, "reduction": "sum", "bias": "none"}
    found = audit(near, np.eye(2), [[2.0, 0.0], [1.0, 1.0]], **options)
    assert found.stationary.verdict is Verdict.PROVED
    assert found.stationary.level == "near"
    assert found.stationary.certificate.subject.hidden == ((1, 0),)
    assert found.stationary.reason.startswith("of a network within 7.1e-5 of it (relative): up to ε")
    assert found.local_optimum.verdict is Verdict.REFUTED  # as it is
    assert "near: proved of a network that is that near" in " ".join(str(found).split())
    found.save(tmp_path / "proofs")
    assert decide_folder(tmp_path / "proofs").is_accepted
    strict = audit(near, np.eye(2), [[2.0, 0.0], [1.0, 1.0]], **options, stationary_tol="1e-6")
    assert strict.stationary.verdict is Verdict.REFUTED
    assert strict.stationary.level == "exact"


def test_the_terms_of_pytorch():
    """MSELoss averages over points and outputs, without ½; cross-entropy over points."""
    found = audit(UNITS, I3, 2 * I3, loss="squared", decay="0.3")
    assert found.problem.decay.hidden == Fraction(3, 10) * 9 / 2
    mean = Fraction(3, 9) + Fraction(3, 20) * 6
    assert found.objective == (mean, mean)
    entropy = audit(UNITS, I3, [0, 1, 2], loss="logistic", decay="0.3", time_limit=20)
    assert entropy.problem.decay.output == Fraction(9, 10)
    loss = -np.log(np.e / (np.e + 2))
    assert float(entropy.objective[0]) == pytest.approx(loss + 0.9)
    summed = audit(UNITS, I3, 2 * I3, loss="squared", decay="0.3", reduction="sum")
    assert summed.objective == (3 + Fraction(9, 10),) * 2


def test_what_is_not_asked_of_several_outputs():
    for options, said in (
        ({"trained": "hidden"}, "trained"),
        ({"symbolic": True}, "symbolic"),
        ({"loss": "hinge", "decay": 1}, "squared, half-squared and logistic"),
        ({"loss": "logistic", "decay": 1}, "needs classes"),
        ({"goal": "max-margin"}, "needs classes"),
        ({"goal": "min-norm", "loss": "squared", "decay": 1}, "leave goal out"),
        ({"decay": 1}, "without a loss"),
        ({"bias": "free"}, "no hidden"),
        ({"goal": "something"}, "max-margin or min-norm"),
    ):
        with pytest.raises(InputError, match=said):
            audit(UNITS, I3, 2 * I3, **options)
    with pytest.raises(InputError, match="columns"):
        audit(UNITS, I3, np.ones((3, 2)))
    with pytest.raises(InputError, match="classes 0, 1"):
        audit(UNITS, I3, [0, 1, 7])
    with pytest.raises(InputError, match="takes 3 inputs"):
        audit(UNITS, np.ones((3, 2)), I3)
    with pytest.raises(InputError, match="output bias"):
        audit({**UNITS, "b2": [1, 0, 0]}, I3, I3)
    assert "left out" in str(audit({**UNITS, "b2": [0, 0, 0]}, I3, I3))
    with pytest.raises(TypeError, match="truth value"):
        bool(audit(UNITS, I3, I3))


def test_what_is_asked_of_one_output_alone():
    one = audit({"W": [[1.0]], "v": [1.0], "slope": 0}, [[1.0]], [1.0])
    assert of_one_output(one) is one
    with pytest.raises(InputError, match="the network has several outputs"):
        of_one_output(audit(UNITS, I3, I3))
    with pytest.raises(InputError, match="the network has several outputs"):
        assert_globally_optimal(UNITS, (I3, I3))


def test_two_outputs_beside_labels_are_read_as_one():
    net = {"W": np.eye(2), "v": np.array([[1.0, -1.0], [-1.0, 1.0]]), "slope": 0}
    assert not isinstance(audit(net, np.eye(2), [1.0, -1.0], two_logits="difference"), VectorAudit)
    both = audit(net, np.eye(2), np.array([[1.0, -1.0], [-1.0, 1.0]]))
    assert isinstance(both, VectorAudit)


def test_the_command_line(tmp_path):
    np.savez(tmp_path / "net.npz", **UNITS)
    np.savez(tmp_path / "data.npz", X=I3, y=I3)
    runner = CliRunner()
    files = [str(tmp_path / "net.npz"), str(tmp_path / "data.npz")]
    whole = [*files, "--certificates", str(tmp_path / "proofs"), "--json", "-", "--require", "global"]
    done = runner.invoke(audit_command, whole, standalone_mode=False)
    assert done.return_value == 0, done.output
    told = json.loads(done.stdout)
    assert told["bracket"] == ["3", "3"]
    assert decide_folder(tmp_path / "proofs").is_accepted
    margins = [*files[:1], str(tmp_path / "classes.npz"), "--require", "global"]
    np.savez(tmp_path / "classes.npz", X=I3, y=[0, 1, 2])
    assert runner.invoke(audit_command, margins, standalone_mode=False).return_value == 1
    with pytest.raises(InputError, match="warm_start"):
        runner.invoke(
            audit_command, [*files, "--warm-start", str(tmp_path)], standalone_mode=False, catch_exceptions=False
        )


def test_what_is_required_is_of_the_network_itself(tmp_path):
    np.savez(tmp_path / "near.npz", W=[[1.0, 1e-4]], v=np.array([[1.0], [0.0]]), slope=0)
    np.savez(tmp_path / "at.npz", W=[[1.0, 0.0]], v=np.array([[1.0], [0.0]]), slope=0)
    np.savez(tmp_path / "data.npz", X=np.eye(2), y=[[2.0, 0.0], [1.0, 1.0]])
    options = [str(tmp_path / "data.npz"), "--loss", "half-squared", "--decay", "1", "--reduction", "sum"]
    for name, status in (("at", 0), ("near", 1)):
        whole = [str(tmp_path / f"{name}.npz"), *options, "--require", "stationary"]
        done = CliRunner().invoke(audit_command, whole, standalone_mode=False)
        assert done.return_value == status, done.output
    assert "is not met: proved, but of a network within" in done.stderr


def test_a_module_of_pytorch():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3)).double()
    X = torch.tensor([[1.0, 0.2], [-0.3, 1.0], [-0.8, -0.7], [0.9, 0.4], [-0.2, 0.8], [-0.6, -1.0]], dtype=torch.double)
    y = torch.tensor([0, 1, 2, 0, 1, 2])
    optimiser = torch.optim.LBFGS(model.parameters(), max_iter=400, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        decay = sum((p**2).sum() for p in model.parameters())
        loss = torch.nn.functional.cross_entropy(model(X), y) + 0.05 * decay
        loss.backward()
        return loss

    optimiser.step(closure)
    value = closure().item()
    found = audit(model, X, y, loss="logistic", decay="0.1", tol="0.01", time_limit=40)
    assert float(found.objective[0]) == pytest.approx(value, rel=1e-9)
    assert found.problem.decay.output_bias == found.problem.decay.output
    assert found.verdict(Question.GLOBAL_ANY_WIDTH) in (Verdict.PROVED, Verdict.REFUTED)
    assert float(found.bracket[0]) <= value


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_three_classes_of_scikit_learn(tmp_path):
    """Three lines from a fitted classifier to its excess; the objective is its `loss_`, to the last digits."""
    neural = pytest.importorskip("sklearn.neural_network")
    random = np.random.default_rng(0)
    labels = np.array(["left", "middle", "right"])[np.arange(15) % 3]
    X = random.normal(size=(15, 2)) + 1.5 * (np.arange(15) % 3)[:, None]
    model = neural.MLPClassifier((4,), alpha=3.0, solver="lbfgs", max_iter=5000, random_state=0).fit(X, labels)
    found = audit(model, X, labels, goal="trained", tol="0.05", time_limit=60)
    assert float(found.objective[0]) == pytest.approx(model.loss_, rel=1e-9)
    assert found.problem.bias.value == "free"
    assert found.problem.decay.output_bias == 0
    assert found.problem.decay.hidden == 3
    low, high = found.bracket
    assert 0 < low <= high <= found.objective[1]
    assert high <= low * Fraction(11, 10)
    assert "do not count in the norm (free), the output biases do not count" in " ".join(str(found).split())
    found.save(tmp_path / "proofs")
    assert decide_folder(tmp_path / "proofs").is_accepted


def test_two_targets_of_scikit_learn():
    """Its gradient is that of the sum over the targets; `loss_` is of the mean."""
    neural = pytest.importorskip("sklearn.neural_network")
    X = np.linspace(-1, 1, 8)[:, None]
    Y = np.column_stack([np.abs(X[:, 0]), X[:, 0]])
    model = neural.MLPRegressor(
        hidden_layer_sizes=(8,), alpha=0.04, solver="adam", batch_size=8, learning_rate_init=0.02, max_iter=20000,
        tol=1e-14, n_iter_no_change=500, random_state=0,
    ).fit(X, Y)  # fmt: skip
    found = audit(model, X, Y, goal="trained", tol="0.05", time_limit=60)
    error = ((model.predict(X) - Y) ** 2).sum() / 16
    decay = 0.04 / 16 * sum((weights**2).sum() for weights in model.coefs_)
    assert float(found.objective[0]) == pytest.approx(error + decay, rel=1e-9)
    assert model.loss_ == pytest.approx(error / 2 + decay, rel=1e-3)
    assert any("averaged over them in its loss_" in note for note in found.notes)
    near = found.certificates.get("vector-stationary.json")
    assert near is not None  # of another objective the gradient would not be small
    assert near.epsilon < Fraction(1, 100)


def test_a_network_in_a_file_is_read_once(tmp_path, monkeypatch):
    """Also where it has one output, and where it is asked what it was trained for."""
    import verify.readers.loading as loading

    seen = []
    plain = loading.read_bytes
    monkeypatch.setattr(loading, "read_bytes", lambda path: seen.append(path) or plain(path))
    np.savez(tmp_path / "one.npz", W=np.eye(2), v=[1.0, -1.0], slope=0)
    np.savez(tmp_path / "three.npz", **UNITS)
    audit(tmp_path / "one.npz", np.eye(2), [1.0, -1.0], time_limit=5)
    audit(tmp_path / "three.npz", I3, I3)
    assert [path.name for path in seen] == ["one.npz", "three.npz"]
