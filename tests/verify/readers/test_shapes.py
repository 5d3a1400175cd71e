"""The shape of a point of whatever data are given."""

import numpy as np

from verify import Dataset
from verify.readers.shapes import shape_of_points

X = np.zeros((6, 2, 8))
Y = np.array([1, -1, 1, -1, 1, -1])


def test_arrays_and_lists():
    assert shape_of_points(X, Y) == shape_of_points((X, Y)) == shape_of_points({"X": X, "y": Y}) == (2, 8)
    assert shape_of_points(X.tolist(), Y) == (2, 8)
    assert shape_of_points(Dataset([[1, 2]], [1])) == (2,)


def test_files(tmp_path):
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    assert shape_of_points(tmp_path / "data.npz") == shape_of_points(str(tmp_path / "data.npz")) == (2, 8)
    assert shape_of_points("data.csv") is None


def test_what_has_none():
    assert shape_of_points(3) is None
    assert shape_of_points([1, 2, 3], Y) is None
    assert shape_of_points([["a"], [[1], [2, 3]]], [1, 2]) is None
