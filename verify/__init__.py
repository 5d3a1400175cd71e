"""Is this network optimal? Verdicts in exact arithmetic, each with a certificate that a small checker has accepted.

Names are imported when they are first used, so that the checker runs where only the standard library is installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verify.auditing import audit
    from verify.audits import Audit
    from verify.checker import check
    from verify.errors import InputError, IsoptimalError
    from verify.finding import Finding, Verdict
    from verify.network import Architecture, Layer, Network
    from verify.problem import Bias, Dataset, Goal, Problem, Trained
    from verify.readers import read
    from verify.training import train

__all__ = [
    "Architecture",
    "Audit",
    "Bias",
    "Dataset",
    "Finding",
    "Goal",
    "InputError",
    "IsoptimalError",
    "Layer",
    "Network",
    "Problem",
    "Trained",
    "Verdict",
    "audit",
    "check",
    "read",
    "train",
]

_HOMES = {
    "auditing": ("audit",),
    "audits": ("Audit",),
    "checker": ("check",),
    "errors": ("InputError", "IsoptimalError"),
    "finding": ("Finding", "Verdict"),
    "network": ("Architecture", "Layer", "Network"),
    "problem": ("Bias", "Dataset", "Goal", "Problem", "Trained"),
    "readers": ("read",),
    "training": ("train",),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
