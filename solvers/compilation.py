"""Functions compiled by numba at their first call, and kept on disk where a folder for that can be written to.

Numba renews what it keeps of a function when that function's own file changes, not those that it calls: so all kernels
that call each other stand in one file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba  # pyright: ignore[reportMissingImports]

__all__ = ["compiled", "inlined", "is_at_hand", "summing"]


def compiled(function: Callable[..., Any], fastmath: frozenset[str] = frozenset()) -> Callable[..., Any]:
    """`function`, compiled; fastmath: the liberties, in LLVM's words, that it may take with sums and products.

    No arrays are made in kernels, so numba need not count references: that would take two thirds of the time. Functions
    with an underscore, called from their own file only, get no wrapper for Python, which saves half of the compilation.
    """
    compiler: Any = numba.njit
    plain = {"nogil": True, "error_model": "numpy", "fastmath": set(fastmath)}
    lean = {"_nrt": False, "no_cfunc_wrapper": True, "no_cpython_wrapper": function.__name__.startswith("_")}
    for options in ({"cache": True, **lean}, lean):
        try:
            return compiler(**plain, **options)(function)
        except (KeyError, RuntimeError):  # KeyError: an option that this numba does not have; RuntimeError: no folder
            continue
    return compiler(**plain)(function)


def summing(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, compiled; sums may be taken in another order, the same each time, and products fused with them."""
    return compiled(function, frozenset({"reassoc", "contract", "nsz"}))


def is_at_hand(function: Any) -> bool:
    """Whether the function was compiled in this process, or is kept on disk: else its first call takes seconds."""
    if function.signatures:
        return True
    if not function.stats.cache_path:
        return False
    code = function.py_func.__code__
    source, folder = Path(code.co_filename), Path(function.stats.cache_path)
    kept = folder.glob(f"{source.stem}.{code.co_name}-{code.co_firstlineno}.*nbi")
    try:
        written = source.stat().st_mtime
        return any(index.stat().st_mtime >= written for index in kept)
    except OSError:
        return False


inlined: Any = numba.njit(inline="always")
