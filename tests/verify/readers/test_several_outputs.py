"""Networks and data with several outputs (`verify.readers.several_outputs`)."""

from fractions import Fraction

import numpy as np
import pytest

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.problem.problem import Dataset
from verify.readers.reading import Options
from verify.readers.several_outputs import several_outputs

NET = {"W": np.eye(2), "b": [0.5, 0.25], "v": np.ones((3, 2)), "b2": [1, 2, 3], "slope": 0}
X = [[1.0, 2.0], [3.0, 4.0]]


def read(network, data, y=None, **options):
    return several_outputs(network, data, y, options=Options(**options))


def test_arrays():
    found = read(NET, X, [2, 0])
    assert found.network.hidden == ((1, 0, Fraction(1, 2)), (0, 1, Fraction(1, 4)))
    assert found.network.output_bias == (1, 2, 3)
    assert found.network.output == ((1, 1),) * 3
    assert found.are_classes
    assert found.targets == ((0, 0, 1), (1, 0, 0))
    assert found.inputs == ((1, 2), (3, 4))


@pytest.mark.parametrize("form", ["pair", "mapping", "y", "npz"])
def test_targets_in_columns(form, tmp_path):
    Y = np.array([[1.0, 0.5, -1.0], [0.0, 2.0, 3.0]])
    if form == "npz":
        np.savez(tmp_path / "data.npz", X=X, y=Y)
        found = read(NET, str(tmp_path / "data.npz"))
    else:
        found = read(NET, *{"pair": ((X, Y),), "mapping": ({"X": X, "y": Y},), "y": (X, Y)}[form])
    assert found.targets == ((1, Fraction(1, 2), -1), (0, 2, 3))
    assert not found.are_classes


def test_what_is_left_to_others(tmp_path):
    one = {"W": np.eye(2), "v": [1.0, 2.0], "slope": 0}
    assert read(one, X, [1, -1]) is None
    assert read(Network.two_layer([[1]], [1]), X, [1, -1]) is None
    assert read(NET, Dataset([[1]], [1])) is None
    assert read(3, X, [1, -1]) is None
    two = {**NET, "v": np.array([[1.0, 2.0], [3.0, 4.0]]), "b2": [0, 0]}
    assert read(two, X, [1, -1]) is None
    assert read(two, X, [[1, 2], [3, 4]]).targets == ((1, 2), (3, 4))
    with pytest.raises(InputError, match="the network has 2 outputs, and the targets have 3 columns"):
        read(two, X, [[1, 2, 3], [3, 4, 5]])
    assert read(tmp_path / "none.npz", X, [0, 1]) is None


def test_what_is_refused():
    deep = [(np.ones((3, 2)), np.zeros(3)), (np.ones((3, 3)), np.zeros(3)), (np.ones((3, 3)), np.zeros(3))]
    with pytest.raises(InputError, match="one hidden layer"):
        read(deep, X, [0, 1], slope=0)
    with pytest.raises(InputError, match="takes 2 inputs"):
        read(NET, [[1.0], [2.0]], [0, 1])
    with pytest.raises(InputError, match="a target is 1/2"):
        read(NET, X, [0, 0.5])


def test_one_neuron_with_several_outputs():
    found = read({"W": [[0.0, 1.0]], "v": np.array([[0.0], [1.0]]), "slope": 1}, X, [[1, 2], [3, 4]])
    assert found.network.hidden == ((0, 1),)
    assert found.network.output == ((0,), (1,))


def test_the_slope_is_said():
    bare = {key: value for key, value in NET.items() if key != "slope"}
    assert any("ReLU" in note for note in read(bare, X, [0, 1]).notes)
    assert read(bare, X, [0, 1], slope=Fraction(1, 4)).network.slope == Fraction(1, 4)
