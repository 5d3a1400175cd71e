"""Is this network optimal? Verdicts in exact arithmetic, each with a certificate that a small checker has accepted.

    import isoptimal

    result = isoptimal.audit(model, X, y)
    print(result)

The names are those of `verify`, imported when they are first used; `python -m isoptimal` is the command `isoptimal`.
"""

from typing import TYPE_CHECKING

from isoptimal.packages import check_packages

check_packages()

import verify  # noqa: E402 (after the check that it is ours)

if TYPE_CHECKING:
    from verify import *  # noqa: F403
    from verify import __version__ as __version__

__all__ = list(verify.__all__)  # pyright: ignore[reportUnsupportedDunderAll]

_MODULES = ("claims", "plots", "quantities", "readers", "strategies", "testing")


def __getattr__(name: str) -> object:
    if name in _MODULES:
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    try:
        value = globals()[name] = getattr(verify, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    return value


def __dir__() -> list[str]:
    return dir(verify)
