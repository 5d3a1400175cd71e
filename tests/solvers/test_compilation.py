"""Compilation where numba has no folder, or not the options that it had."""

import os

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
