"""The stored files of each format, against what the frameworks that wrote them hold."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from verify.problem.network import Network
from verify.readers import read, read_with_notes

FILES = Path(__file__).with_name("files")
EXPECTED = json.loads((FILES / "expected.json").read_text(encoding="utf-8"))
POINTS = [(0, 0, 0), (1, -2, 3), (Fraction(1, 3), 5, -4), (-7, 1, 1)]
NEEDS = {".onnx": "onnx", ".keras": "h5py"}


def own_value(entry, x):
    """f(x), written down directly."""
    z = list(map(Fraction, x))
    for step in entry.get("steps", ()):
        ((kind, numbers),) = step.items()
        pairs = list(zip(z, map(Fraction, numbers), strict=True))
        z = [{"shift": a + b, "multiply": a * b, "divide": a / b if b else None}[kind] for a, b in pairs]
    biases = entry["b"] or [0] * len(entry["W"])
    sums = [
        sum((Fraction(w) * c for w, c in zip(row, z, strict=True)), Fraction(b))
        for row, b in zip(entry["W"], biases, strict=True)
    ]
    active = [max(s, Fraction(entry["slope"]) * s) for s in sums]
    return sum((Fraction(v) * a for v, a in zip(entry["v"], active, strict=True)), Fraction(entry["b2"]))


@pytest.mark.parametrize("name", EXPECTED)
def test_each_is_the_function_that_was_stored_exactly(name):
    if package := NEEDS.get(Path(name).suffix):
        pytest.importorskip(package)
    entry = EXPECTED[name]
    network = read(FILES / name, **entry["options"])
    assert not network.is_exact
    assert [network(x) for x in POINTS] == [own_value(entry, x) for x in POINTS]
    if set(entry["options"]) <= {"slope"}:
        assert network == Network.two_layer(entry["W"], entry["v"], b=entry["b"], slope=entry["slope"])


def test_every_file_is_tried():
    others = {"expected.json", "make_files.py"}
    assert {path.name for path in FILES.iterdir() if path.is_file()} - others == set(EXPECTED)
    assert all(path.stat().st_size < 12_000 for path in FILES.iterdir())


@pytest.mark.parametrize("name", [name for name in EXPECTED if "steps" in EXPECTED[name]])
def test_without_fold_the_scaler_is_named_with_both_remedies(name):
    pytest.importorskip("onnx")
    options = {key: value for key, value in EXPECTED[name]["options"].items() if key != "fold"}
    with pytest.raises(ValueError, match=r"Sub.*Div.*give it to audit together with the data.*--fold"):
        read(FILES / name, **options)
    assert "the norm is not the one that was trained" in read_with_notes(FILES / name, fold=True, **options).notes[0]
