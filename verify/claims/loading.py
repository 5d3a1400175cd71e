"""What hypothesis draws depends on the modules that are loaded: all of ours are, wherever claims run."""

from __future__ import annotations

import pkgutil
from contextlib import suppress
from functools import cache
from importlib import import_module

import solvers
import verify

__all__ = ["load_everything"]


@cache
def load_everything() -> None:
    """Import all modules of this project, so that the same seed gives the same instances in every process.

    Where the project is no installed package, hypothesis draws now and then a number that stands in the source of a
    module that is loaded, and what is loaded would depend on what ran before.
    """
    for package in (verify, solvers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                with suppress(ImportError):  # of an optional package
                    import_module(module.name)
