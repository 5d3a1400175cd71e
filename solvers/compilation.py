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

    Those that may take liberties are inlined. Else a caller that was just compiled would call them as they are by
    themselves, and one that was kept the copy within it, which was optimised once more: to other last bits.
    """
    compiler: Any = numba.njit
    is_own = function.__name__.startswith("_")
    plain = {"nogil": True, "error_model": "numpy", "fastmath": set(fastmath), "forceinline": is_own and bool(fastmath)}
    lean = {"_nrt": False, "no_cfunc_wrapper": True, "no_cpython_wrapper": is_own}
    for options in ({"cache": True, **lean}, lean):
        try:
            return _unless_unreadable(compiler(**plain, **options)(function))
        except (KeyError, RuntimeError):  # KeyError: an option that this numba does not have; RuntimeError: no folder
            continue
    return compiler(**plain)(function)


def _unless_unreadable(kernel: Any) -> Any:
    """The kernel, compiled anew where what is kept of it cannot be read.

    Numba reads an index before it asks whether that is still of the same source: one that names a class that the source
    no longer has, or a file that was cut short, would end the program.
    """
    try:
        files = kernel._cache._cache_file  # noqa: SLF001 - numba has no public way
        index, content = files._load_index, files._load_data  # noqa: SLF001
    except AttributeError:  # nothing is kept, or another numba keeps it otherwise
        return kernel

    def read_index() -> Any:
        try:
            return index()
        except Exception:  # noqa: BLE001 - a pickle can raise anything
            return {}

    def read_content(name: str) -> Any:
        try:
            return content(name)
        except Exception as error:
            raise OSError(f"{name} cannot be read") from error  # numba takes it as absent

    files._load_index, files._load_data = read_index, read_content  # noqa: SLF001
    return kernel


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
