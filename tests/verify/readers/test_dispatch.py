"""Which reader a source gets, what is not supported or installed, and files that cannot be opened."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from verify.checker.errors import InputError
from verify.files.reading import read_bytes
from verify.readers import read, read_case, read_data
from verify.readers.table import suffixes

EXPORT = "store W, v and, if there are hidden biases, b with numpy.savez, and read the .npz"


def refusal(call, *arguments, **options) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("call", [read, read_data, read_case])
def test_files_that_cannot_be_opened(tmp_path, call):
    missing, folder = tmp_path / "none.json", tmp_path / "folder.json"
    folder.mkdir()
    assert refusal(call, missing) == f"{missing} does not exist: check the path"
    assert refusal(call, folder) == f"{folder} is a folder: give the file"
    assert "cannot be read" in refusal(call, "nul\0.json")


@pytest.mark.parametrize("call", [read, read_data])
def test_a_folder_is_named_as_one(tmp_path, call):
    assert refusal(call, tmp_path) == f"{tmp_path} is a folder: give the file"


def test_a_name_that_is_too_long(tmp_path):
    message = refusal(read, tmp_path / ("x" * 300 + ".json"))
    assert message.endswith("cannot be read (File name too long): check its permissions")


def test_a_file_beyond_the_bound(tmp_path, monkeypatch):
    monkeypatch.setattr("verify.readers.loading.read_bytes", lambda path: read_bytes(path, 3))
    path = tmp_path / "net.json"
    path.write_text("{  }")
    assert refusal(read, path) == f"{path} is larger than 3 bytes: audit fewer points"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Files of other kinds, and none of the name "nowhere"."""
    monkeypatch.chdir(tmp_path)
    for name in ("net.txt", "net", "data.xlsx", "m.msgpack"):
        (tmp_path / name).touch()


@pytest.mark.parametrize("name", ["nowhere", "nowhere.txt", "nowhere.msgpack", "nowhere/net", "nowhere.npz"])
def test_a_file_that_is_not_there_is_said_to_be_missing(name, files):
    assert refusal(read, name) == f"{name} does not exist: check the path"
    if not name.endswith("msgpack"):
        assert refusal(read_data, name) == f"{name} does not exist: check the path"
    if "." in name:
        points = ([[1.0], [2.0]], [1, -1])
        assert "does not exist" in refusal(lambda name: read_data(points, standardise=name), name)


def test_a_file_of_flax(files):
    assert "flax.serialization.msgpack_restore" in refusal(read, "m.msgpack")


def test_other_suffixes(files):
    kinds = suffixes()
    assert kinds.startswith(".npz, .json, .pt, .pth, .ckpt, ")
    assert refusal(read, "net.txt") == f"net.txt: networks are read from {kinds}: {EXPORT}"
    assert refusal(read, "net") == f"net: networks are read from {kinds}: {EXPORT}"
    assert refusal(read, "data.csv") == (
        "data.csv: a CSV file holds data, not a network: give the network first, then the data"
    )
    assert refusal(read_data, "data.xlsx") == (
        "data.xlsx: data are read from .npz, .csv or .json files: write a table as .csv, arrays with "
        "numpy.savez('data.npz', X=X, y=y)"
    )


def test_a_target_is_for_csv_only():
    assert refusal(read_data, "data.npz", target="y") == (
        "data.npz: the target 'y' is the name of a CSV column: leave --target out for this file"
    )


@pytest.mark.parametrize(
    ("package", "remedy"), [("flax.linen", "nnx.state"), ("jax", "its parameters"), ("equinox.nn", "layer.weight")]
)
def test_modules_that_do_not_say_what_they_apply(package, remedy):
    theirs = type("Model", (), {"__module__": package})
    for kind in (theirs, type("Mine", (theirs,), {"__module__": "__main__"})):
        message = refusal(read, kind())
        assert remedy in message
        assert message.startswith(f"the {kind.__name__} given: ")


@pytest.fixture
def missing(monkeypatch):
    """Make packages impossible to import."""

    def hide(*names):
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)

    return hide


def test_the_extra_torch_is_not_installed(tmp_path, missing):
    missing("torch", "torch.fx", "torch.nn.utils.parametrize")
    remedy = "needs PyTorch, which is not installed: install it with pip install 'isoptimal[torch]'"
    theirs = type("Linear", (), {"__module__": "torch.nn.modules.linear"})
    for kind in (theirs, type("Mine", (theirs,), {"__module__": "__main__"})):
        assert refusal(read, kind()) == f"the {kind.__name__} given {remedy}"
    for name in ("net.pt", "net.PTH", "net.ckpt"):
        path = tmp_path / name
        path.write_bytes(b"PK")
        assert refusal(read, path) == f"{path} {remedy}"


def test_the_extra_sklearn_is_not_installed(tmp_path, missing):
    missing("skops", "skops.io", "joblib", "sklearn")
    remedy = "which is not installed: install it with pip install 'isoptimal[sklearn]'"
    path = tmp_path / "net.skops"
    path.write_bytes(b"PK")
    assert refusal(read, path) == f"{path} needs skops, {remedy}"
    path = tmp_path / "net.joblib"
    path.write_bytes(b"")
    assert refusal(read, path, trust_pickle=True) == f"{path} needs joblib, {remedy}"


def test_an_estimator_is_read_from_its_attributes(missing):
    missing("sklearn", "skops", "joblib")
    theirs = type("MLPRegressor", (), {"__module__": "sklearn.neural_network"})
    estimator = theirs()
    estimator.__dict__ |= {"activation": "relu", "n_outputs_": 1, "out_activation_": "identity"}
    estimator.coefs_, estimator.intercepts_ = [np.array([[1.0, 2.0]]), np.ones((2, 1))], [np.zeros(2), np.zeros(1)]
    assert read(estimator).hidden_weights == ((1, 0), (2, 0))


@pytest.mark.parametrize(("source", "kind"), [(None, "NoneType"), (3, "int"), ({1}, "set"), (b"net.npz", "bytes")])
def test_other_objects(source, kind):
    assert refusal(read, source) == (
        f"a network cannot be read from an object of type {kind}: give a model of PyTorch, scikit-learn, "
        "Keras or ONNX, arrays W and v, the arrays of its layers in a list or a dictionary, or the path of a file"
    )
    assert refusal(read_data, source) == (
        f"data cannot be read from an object of type {kind}: give the points and the targets, X and y, a Dataset, or "
        "the path of a .npz, .csv or .json file"
    )


def test_numpy_is_imported_only_for_arrays(tmp_path):
    (tmp_path / "net.json").write_text('{"W": [[1]], "v": [1]}')
    (tmp_path / "data.csv").write_text("x,y\n1,1\n")
    script = (
        "import sys; from verify.readers import read, read_data; read(sys.argv[1]); read_data(sys.argv[2]); "
        "assert not {'numpy', 'torch', 'sklearn', 'skops', 'joblib', 'pickle'} & set(sys.modules)"
    )
    root = Path(__file__).parents[3]
    subprocess.run(
        [sys.executable, "-c", script, tmp_path / "net.json", tmp_path / "data.csv"], check=True, cwd=root, timeout=60
    )
