"""Is this network optimal? Verdicts in exact arithmetic, each with a certificate that a small checker has accepted.

Names are imported when they are first used, so that the checker runs where only the standard library is installed.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verify.auditing import Audit, audit
    from verify.checker import check
    from verify.deciders.finding import Finding, Verdict
    from verify.errors import InputError, IsoptimalError
    from verify.problem import (
        Architecture,
        Bias,
        Dataset,
        Decay,
        Goal,
        Layer,
        Network,
        Objective,
        PointLoss,
        Problem,
        Trained,
    )
    from verify.readers import read, read_data
    from verify.sweeping import Sweep, sweep
    from verify.training import train
    from verify.version import __version__ as __version__
    from verify.widths import optimum_at_width, width_curve

__all__ = [
    "Architecture",
    "Audit",
    "Bias",
    "Dataset",
    "Decay",
    "Finding",
    "Goal",
    "InputError",
    "IsoptimalError",
    "Layer",
    "Network",
    "Objective",
    "PointLoss",
    "Problem",
    "Sweep",
    "Trained",
    "Verdict",
    "audit",
    "check",
    "optimum_at_width",
    "read",
    "read_data",
    "sweep",
    "train",
    "width_curve",
]

_HOMES = {
    "auditing": ("Audit", "audit"),
    "checker": ("check",),
    "deciders.finding": ("Finding", "Verdict"),
    "errors": ("InputError", "IsoptimalError"),
    "problem": (
        "Architecture",
        "Bias",
        "Dataset",
        "Decay",
        "Goal",
        "Layer",
        "PointLoss",
        "Network",
        "Objective",
        "Problem",
        "Trained",
    ),
    "readers": ("read", "read_data"),
    "sweeping": ("Sweep", "sweep"),
    "training": ("train",),
    "widths": ("optimum_at_width", "width_curve"),
}


_MODULES = ("claims", "plots", "quantities", "readers", "strategies", "testing")
"""What is public beside the names above; each is imported when it is first used."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module(f"{__name__}.version").__version__
    if name in _MODULES:
        return _imported(name)
    for module, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(_imported(module), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _imported(module: str) -> ModuleType:
    try:
        return import_module(f"{__name__}.{module}")
    except ModuleNotFoundError as error:
        hidden = sys.modules.get("solvers") if (error.name or "").startswith("solvers.") else None
        if hidden is None:
            raise
        place = hidden.__file__ or f"the folder {next(iter(hidden.__path__), 'solvers')}"
        raise ImportError(
            f"{place} hides the package solvers of isoptimal: rename it, or keep it off the import path"
        ) from error


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, "__version__"})
