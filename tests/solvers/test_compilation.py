"""Compilation where numba has no folder, or not the options that it had."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from solvers import compilation


@pytest.mark.parametrize(
    ("compiler", "liberties"), [(compilation.compiled, set()), (compilation.summing, {"reassoc", "contract", "nsz"})]
)
def test_without_a_folder_for_the_cache(monkeypatch, compiler, liberties):
    """Numba raises RuntimeError then; without its private options KeyError."""
    tried = []

    def njit(**options):
        tried.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function")
        if "_nrt" in options:
            raise KeyError("Unrecognized options")
        return lambda function: function

    monkeypatch.setattr(compilation.numba, "njit", njit)
    assert compiler(sum) is sum
    assert [options.get("cache", False) for options in tried] == [True, False, False]
    assert all(options["fastmath"] == liberties for options in tried)


class Kernel:
    """What numba says of a function: its signatures, where it keeps it."""

    def __init__(self, function, folder, signatures=()):
        self.py_func, self.signatures = function, signatures
        self.stats = type("Stats", (), {"cache_path": folder})


def test_a_function_is_at_hand_when_compiled_or_kept_since_its_file_changed(tmp_path):
    def climb():
        pass

    index = tmp_path / f"test_compilation.climb-{climb.__code__.co_firstlineno}.py3.nbi"
    assert compilation.is_at_hand(Kernel(climb, None, ("float64()",)))
    assert not compilation.is_at_hand(Kernel(climb, None))
    assert not compilation.is_at_hand(Kernel(climb, str(tmp_path)))
    index.touch()
    assert compilation.is_at_hand(Kernel(climb, str(tmp_path)))
    os.utime(index, (0, 0))
    assert not compilation.is_at_hand(Kernel(climb, str(tmp_path)))
    index.unlink()
    (tmp_path / f"test_compilation.climb-{climb.__code__.co_firstlineno + 1}.py3.nbi").touch()
    assert not compilation.is_at_hand(Kernel(climb, str(tmp_path)))


def cut_short(index):
    index.write_bytes(index.read_bytes()[:-5])


def of_a_class_that_is_gone(index):
    content = index.read_bytes()
    assert b"Pair" in content
    index.write_bytes(content.replace(b"Pair", b"Gone"))


def without_content(index):
    for content in index.parent.glob("*.nbc"):
        content.write_bytes(b"")


@pytest.mark.parametrize("spoil", [cut_short, of_a_class_that_is_gone, without_content])
def test_what_is_kept_and_cannot_be_read_is_compiled_anew(tmp_path, monkeypatch, spoil):
    monkeypatch.setattr(compilation.numba.config, "CACHE_DIR", "")  # beside the source, whatever the environment says
    source = tmp_path / "kept.py"
    source.write_text(
        "from typing import NamedTuple\nfrom solvers.compilation import compiled\n\n\n"
        "class Pair(NamedTuple):\n    a: float\n    b: float\n\n\n"
        "@compiled\ndef total(pair):\n    return pair.a + pair.b\n"
    )

    def imported(name):
        spec = importlib.util.spec_from_file_location(name, source)
        module = importlib.util.module_from_spec(spec)
        sys.modules["kept"] = module
        spec.loader.exec_module(module)
        return module

    try:
        first = imported("kept")
        assert first.total(first.Pair(1.0, 2.0)) == 3
        (index,) = (tmp_path / "__pycache__").glob("*.nbi")
        spoil(index)
        again = imported("kept")
        assert again.total(again.Pair(1.0, 2.5)) == 3.5
        assert sum(again.total.stats.cache_hits.values()) == 0
        last = imported("kept")
        assert last.total(last.Pair(1.0, 2.5)) == 3.5
        assert sum(last.total.stats.cache_hits.values()) == 1
    finally:
        del sys.modules["kept"]


DESCENT = """
import numpy as np
from solvers.layers import two_layers
from solvers.training.descent import kernel
from solvers.training.descent.gradient_descent import gradient_descent

random = np.random.default_rng(9)
layers = two_layers(2, 4, 0.3)
start = random.standard_normal(layers.size) * 0.3
rows, targets = random.standard_normal((6, 2)), random.standard_normal(6)
for schedule in ("loss-adapted", "constant"):
    found = gradient_descent(
        layers, rows, np.sign(targets), start, loss="logistic", schedule=schedule, max_steps=3000, compiled=True
    )
    print(found.theta.tobytes().hex())
print(sum(map(sum, (kernel.plain_steps.stats.cache_hits.values(), kernel.adapted_steps.stats.cache_hits.values()))))
"""


def test_kernels_that_are_kept_round_as_those_that_were_just_compiled(tmp_path):
    shutil.copytree(Path(compilation.__file__).parent, tmp_path / "solvers", ignore=shutil.ignore_patterns("__pyc*"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "kept")}

    def run():
        command = [sys.executable, "-c", DESCENT]
        found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        *weights, hits = found.stdout.split()
        return weights, int(hits)

    (compiled, _), (kept, hits) = run(), run()
    assert hits == 2
    assert compiled == kept
