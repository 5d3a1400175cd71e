"""Which reader a source gets, what is not supported yet, and files that cannot be opened."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from verify.errors import InputError
from verify.readers import read, read_case, read_data

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


def test_a_name_that_is_too_long(tmp_path):
    message = refusal(read, tmp_path / ("x" * 300 + ".json"))
    assert message.endswith("cannot be read (File name too long): check its permissions")


def test_a_file_beyond_the_bound(tmp_path, monkeypatch):
    monkeypatch.setattr("verify.readers._MAX_BYTES", 3)
    path = tmp_path / "net.json"
    path.write_text("{  }")
    assert refusal(read, path) == f"{path} is larger than 1 GiB: audit fewer points"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("m.pt", "PyTorch"), ("m.PTH", "PyTorch"), ("m.onnx", "ONNX"), ("m.skops", "scikit-learn"), ("m.pkl", "pickle")],
)
def test_files_to_come(name, kind):
    assert refusal(read, name) == f"{name}: {kind} files are not supported yet: {EXPORT}"


def test_other_suffixes():
    assert refusal(read, "net.txt") == f"net.txt: networks are read from .npz or .json files: {EXPORT}"
    assert refusal(read, "net") == f"net: networks are read from .npz or .json files: {EXPORT}"
    assert refusal(read, "data.csv") == (
        "data.csv: a CSV file holds data, not a network: give the network first, then the data"
    )
    assert refusal(read_data, "data.xlsx") == (
        "data.xlsx: data are read from .npz, .csv or .json files: convert it to one of them"
    )


def test_a_target_is_for_csv_only():
    assert refusal(read_data, "data.npz", target="y") == (
        "data.npz: the target 'y' is the name of a CSV column: leave --target out for this file"
    )


@pytest.mark.parametrize(
    ("package", "name"), [("torch.nn.modules", "PyTorch"), ("sklearn.neural_network", "scikit-learn"), ("onnx", "ONNX")]
)
def test_objects_to_come(package, name):
    theirs = type("Model", (), {"__module__": package})
    for kind in (theirs, type("Mine", (theirs,), {"__module__": "__main__"})):
        assert refusal(read, kind()) == f"{name} objects are not supported yet: {EXPORT}"


def test_a_real_scikit_learn_model_is_to_come():
    sklearn = pytest.importorskip("sklearn.neural_network")
    assert refusal(read, sklearn.MLPRegressor()) == f"scikit-learn objects are not supported yet: {EXPORT}"


def test_a_state_dict_does_not_hold_the_activation():
    state = {"0.weight": np.ones((2, 2)), "2.weight": np.ones((1, 2))}
    assert refusal(read, state) == (
        f"a state dict of PyTorch is not supported yet, and it does not hold the activation: {EXPORT}"
    )


@pytest.mark.parametrize(("source", "kind"), [(None, "NoneType"), (3, "int"), ([[1]], "list"), (b"net.npz", "bytes")])
def test_other_objects(source, kind):
    assert refusal(read, source) == (f"a network cannot be read from an object of type {kind}: give the path of a file")
    assert refusal(read_data, source) == f"data cannot be read from an object of type {kind}: give the path of a file"


def test_numpy_is_imported_only_for_arrays(tmp_path):
    (tmp_path / "net.json").write_text('{"W": [[1]], "v": [1]}')
    (tmp_path / "data.csv").write_text("x,y\n1,1\n")
    script = (
        "import sys; from verify.readers import read, read_data; read(sys.argv[1]); read_data(sys.argv[2]); "
        "assert 'numpy' not in sys.modules"
    )
    root = Path(__file__).parents[3]
    subprocess.run(
        [sys.executable, "-c", script, tmp_path / "net.json", tmp_path / "data.csv"], check=True, cwd=root, timeout=60
    )
