"""safetensors: every type exactly, against the library where it is installed; and headers that lie."""

import json
import struct
from fractions import Fraction

import numpy as np
import pytest

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.readers import read
from verify.readers.safetensors_files import load

VALUES = [[1.0, -0.5], [0.25, 3.0]]
TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1", "U8": "<u1"}


def written(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(kind: str, shape, begin: int, end: int) -> dict[str, object]:
    return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_is_exact(kind):
    array = (np.array(VALUES) * (1 if kind[0] == "F" else 4)).astype(TYPES[kind])
    data = array.tobytes()
    found = load(written({"a": tensor(kind, [2, 2], 0, len(data)), "__metadata__": {"format": "pt"}}, data), "it")
    assert list(found) == ["a"]
    assert found["a"].tolist() == array.tolist()


def test_bfloat16_is_the_upper_half_of_a_single():
    numbers = [1.0, -2.5, 2.0**-130, 3.140625]
    data = b"".join(struct.pack("<f", number)[2:] for number in numbers)
    assert load(written({"a": tensor("BF16", [4], 0, 8)}, data), "it")["a"].tolist() == numbers


def test_the_names_of_the_npz(tmp_path):
    path = tmp_path / "net.safetensors"
    data = np.array([[1.0, 0.1]]).tobytes() + np.array([2.0]).tobytes() + np.array(0.5).tobytes()
    header = {"W": tensor("F64", [1, 2], 0, 16), "v": tensor("F64", [1], 16, 24), "slope": tensor("F64", [], 24, 32)}
    path.write_bytes(written(header, data))
    assert read(path) == Network.two_layer([[1, Fraction(0.1)]], [2], slope=Fraction(1, 2))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "length"),
        (b"\0" * 7, "length"),
        (struct.pack("<Q", 2**63) + b"{}", "length"),
        (struct.pack("<Q", 3) + b"{}", "length"),
        (written(b"{]"), "not JSON"),
        (written(b"\xff\xfe"), "not JSON"),
        (written(b"[" * 100_000), "not JSON"),
        (written([]), "no JSON object"),
        (written(b'{"a": {}, "a": {}}'), "a name twice"),
        (written({"a": 1}), "no JSON object"),
        (written({"a": {"dtype": "F64", "shape": [1]}}), "lists of integers"),
        (written({"a": tensor("F64", [-1], 0, 8)}, b"\0" * 8), "lists of integers"),
        (written({"a": tensor("F64", [True], 0, 8)}, b"\0" * 8), "lists of integers"),
        (written({"a": tensor("F64", [1.0], 0, 8)}, b"\0" * 8), "lists of integers"),
        (written({"a": tensor("F64", [2**40, 2**40], 0, 8)}, b"\0" * 8), "not those of a tensor"),
        (written({"a": tensor("F64", [2], 0, 8)}, b"\0" * 8), "not those of a tensor"),
        (written({"a": tensor("F64", [1], 0, 8)}, b"\0" * 7), "not those of a tensor"),
        (written({"a": tensor("F64", [1], 8, 0)}, b"\0" * 8), "not those of a tensor"),
        (written({"a": tensor("F64", [1], 0, 8)}, b"\0" * 9), "8 bytes, but 9 follow"),
        (written({"a": tensor("F64", [1], 0, 8), "b": tensor("F64", [1], 0, 8)}, b"\0" * 8), "or to two"),
        (written({"a": tensor("F64", [1], 8, 16)}, b"\0" * 16), "belongs to none"),
        (written({"a": tensor("F8_E4M3", [8], 0, 8)}, b"\0" * 8), "has the type F8_E4M3, which is not read"),
        (written({"a": tensor("F4", [16], 0, 8)}, b"\0" * 8), "has the type F4, which is not read"),
    ],
)
def test_headers_that_do_not_describe_the_file(content, why, tmp_path):
    path = tmp_path / "net.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_cut_short_at_any_byte_is_refused():
    data = np.ones(3).tobytes()
    whole = written({"a": tensor("F64", [3], 0, 24)}, data)
    for end in range(len(whole)):
        with pytest.raises(InputError):
            load(whole[:end], "it")


def test_what_the_library_writes():
    library = pytest.importorskip("safetensors.numpy")
    tensors = {name: np.array(VALUES).astype(kind) for name, kind in TYPES.items()} | {"empty": np.zeros((0, 2))}
    found = load(library.save(tensors), "it")
    assert {name: array.tolist() for name, array in found.items()} == {n: a.tolist() for n, a in tensors.items()}
