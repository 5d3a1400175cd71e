"""Two named classes become -1 and 1, whatever the labels are and whatever file they come in."""

import numpy as np
import pytest

from verify.checker.errors import InputError
from verify.problem.problem import Dataset
from verify.readers import read_data, read_data_with_notes

X = [[1, 2], [3, 4], [5, 6]]
SIGNED = Dataset(X, [1, -1, 1])


def written(folder, kind, labels):
    path = folder / f"data.{kind}"
    match kind:
        case "npz":
            np.savez(path, X=np.array(X), y=np.array(labels))
        case "csv":
            lines = [f"{a},{b},{label}" for (a, b), label in zip(X, labels, strict=True)]
            path.write_text("\n".join(["a,b,kind", *lines]))
        case "json":
            shown = ", ".join(f'"{label}"' if isinstance(label, str) else str(label) for label in labels)
            path.write_text(f'{{"X": {X}, "y": [{shown}]}}')
    return path


@pytest.mark.parametrize("kind", ["npz", "csv", "json"])
@pytest.mark.parametrize("names", [("cat", "dog"), ("dog", "cat"), (1, 2), (2, 1), (-1, 1), (0, 1), (1, 0)])
def test_files(tmp_path, kind, names):
    path = written(tmp_path, kind, [names[1], names[0], names[1]])
    for classes in (names, list(names), np.array(names), tuple(map(str, names))):
        reading = read_data_with_notes(path, classes=classes)
        assert reading.data == SIGNED
        assert reading.notes[-1].endswith(f"the classes {names[0]} and {names[1]} are read as -1 and 1")
    assert read_data(path, classes=names, as_stored=True) == SIGNED


@pytest.mark.parametrize(
    "labels",
    [["dog", "cat", "dog"], np.array([b"dog", b"cat", b"dog"]), np.array(["dog", "cat", "dog"], object),
     np.array([["dog"], ["cat"], ["dog"]])],
)  # fmt: skip
def test_arrays(labels):
    assert read_data((X, labels), classes=("cat", "dog")) == SIGNED
    assert read_data({"X": X, "y": labels}, classes=("cat", "dog")) == SIGNED


def test_a_pair_of_arrays():
    assert read_data((X, [0.5, 1.5, 2])) == Dataset(X, [0.5, 1.5, 2])


@pytest.mark.parametrize("kind", ["npz", "csv", "json"])
def test_a_third_class(tmp_path, kind):
    path = written(tmp_path, kind, ["dog", "cow", "cat"])
    with pytest.raises(InputError, match=r"\[1\] is cow, which is neither cat nor dog: leave that point out, or"):
        read_data(path, classes=("cat", "dog"))


@pytest.mark.parametrize("classes", ["no", ("a", "b", "c"), ("a",), (), ("a", "a"), (1, "1.0")])
def test_classes_that_are_not_two(classes):
    with pytest.raises(InputError, match="classes must be two different labels, the negative and the positive one"):
        read_data((X, [1, 2, 1]), classes=classes)


def test_labels_without_a_value():
    with pytest.raises(InputError, match=r"y\[2\] is nan, a missing value: leave that point out"):
        read_data((X, [0, 1, np.nan]), classes=(0, 1))


def test_what_holds_numbers_already(tmp_path):
    with pytest.raises(InputError, match="a Dataset holds numbers already"):
        read_data(SIGNED, classes=(-1, 1))
    path = tmp_path / "problem.json"
    path.write_text('{"schema": "problem-1"}')
    with pytest.raises(InputError, match="holds a problem, whose targets are numbers: leave the classes out"):
        read_data(path, classes=(-1, 1))


def test_one_column_for_each_class():
    with pytest.raises(InputError, match="one target for each point, not one column for each class"):
        read_data((X, [[0, 1], [1, 0], [0, 1]]), classes=(0, 1))


@pytest.mark.parametrize(
    "kind", [np.array, list, lambda y: np.array(y, dtype=object), lambda y: [[label] for label in y]]
)
def test_truth_values_are_labels(kind):
    labels = kind([True, False, True])
    reading = read_data_with_notes([[1], [2], [3]], labels)
    assert reading.data.targets == (1, -1, 1)
    assert reading.notes[0].endswith("y holds the labels True and False: they are read as 1 and 0")
    assert read_data_with_notes([[1], [2], [3]], labels, as_stored=True).data.targets == (1, 0, 1)
    with pytest.raises(InputError, match="a truth value"):
        read_data_with_notes([[1], [2]], [True, 0.5])


def test_truth_values_in_a_file_are_labels(tmp_path):
    reading = read_data_with_notes(written(tmp_path, "npz", [True, False, True]))
    assert reading.data == SIGNED
    assert "True and False" in reading.notes[0]
