"""Pickles: refused unless they are trusted, then read with a warning."""

import pickle
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.neural_network import MLPRegressor

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.readers import read, read_with_notes

NETWORK = Network.two_layer([[1, 2]], [3])


@pytest.fixture(scope="module")
def estimator():
    X = np.random.default_rng(0).normal(size=(10, 2))
    return MLPRegressor(hidden_layer_sizes=(2,), solver="lbfgs", random_state=0).fit(X, abs(X[:, 0]))


def refusal(path, **options) -> str:
    with pytest.raises(InputError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 450
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


class Opens:
    """Pickles to a call that makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("name", ["net.pkl", "net.pickle", "net.joblib", "NET.PKL"])
def test_no_code_runs_without_trust(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(pickle.dumps(Opens(tmp_path / "ran")))
    assert refusal(path) == (
        " is a pickle, and loading it can run any code: pass --trust-pickle (trust_pickle=True) if you made the file "
        "yourself, or store the network with skops.io.dump or torch.save(model.state_dict())"
    )
    assert not (tmp_path / "ran").exists()


def test_a_file_that_is_not_there(tmp_path):
    assert refusal(tmp_path / "net.pkl") == " does not exist: check the path"


@pytest.mark.parametrize("name", ["net.pkl", "net.joblib"])
@pytest.mark.parametrize("write", [lambda it, path: path.write_bytes(pickle.dumps(it)), joblib.dump])
def test_a_trusted_file_is_read_with_a_warning(tmp_path, estimator, name, write):
    path = tmp_path / name
    write(estimator, path)
    reading = read_with_notes(path, output_bias="neuron", trust_pickle=True)
    assert reading.network == read(estimator, output_bias="neuron")
    assert reading.notes[0] == (
        f"{path} was unpickled, which runs any code that it holds: do this with files of your own only"
    )


def test_joblib_compressed(tmp_path, estimator):
    path = tmp_path / "net.joblib"
    joblib.dump(estimator, path, compress=("gzip", 3))
    assert read(path, output_bias="neuron", trust_pickle=True).width == 3


def test_a_pickle_without_joblib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    path = tmp_path / "net.pkl"
    path.write_bytes(pickle.dumps({"W": [[1.0]], "v": [2.0]}))
    assert read(path, trust_pickle=True) == Network.two_layer([[1]], [2])


def test_a_network_and_its_slope(tmp_path):
    path = tmp_path / "net.pkl"
    path.write_bytes(pickle.dumps(NETWORK))
    assert read(path, trust_pickle=True) == NETWORK
    assert refusal(path, trust_pickle=True, slope=1).startswith(" says slope 0 but slope 1 is given")


def test_another_version_is_said(tmp_path, estimator, monkeypatch):
    path = tmp_path / "net.pkl"
    with monkeypatch.context() as older:
        older.setattr("sklearn.base.__version__", "1.0.0")
        path.write_bytes(pickle.dumps(estimator))
    reading = read_with_notes(path, output_bias="neuron", trust_pickle=True)
    assert issubclass(InconsistentVersionWarning, UserWarning)
    assert "from version 1.0.0 when using version" in reading.notes[1]


def test_something_else(tmp_path):
    path = tmp_path / "net.pkl"
    for found in (3, [1], None, Path("x.npz"), "net.npz"):
        path.write_bytes(pickle.dumps(found))
        assert ": a network cannot be read from an object of type" in refusal(path, trust_pickle=True)


def test_a_class_that_is_gone(tmp_path):
    path = tmp_path / "net.pkl"
    path.write_bytes(b"cno_such_module\nNet\n.")
    assert " needs something that is not importable here (No module named 'no_such_module')" in refusal(
        path, trust_pickle=True
    )


@pytest.mark.parametrize("name", ["net.pkl", "net.joblib"])
def test_damaged(tmp_path, estimator, name):
    path = tmp_path / name
    whole = pickle.dumps(estimator)
    for content in (b"", b"abc", whole[: len(whole) // 2], b"\x80\x04."):
        path.write_bytes(content)
        assert " is damaged or no pickle of a network (" in refusal(path, trust_pickle=True)
