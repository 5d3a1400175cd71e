"""Compilation where numba has no folder, or not the options that it had."""

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
