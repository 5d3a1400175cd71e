"""The theorems of a paper: one file for each in the paper's package, found there, and run one by one.

A file holds its theorem's claims in CLAIMS; the package says in ORDER how lists of them are sorted.
"""

from __future__ import annotations

import pkgutil
import runpy
import sys
from collections.abc import Iterable
from importlib import import_module

from verify.claims.records import Claim

__all__ = ["run_alone", "theorems_of"]


def theorems_of(paper: str) -> tuple[Claim, ...]:
    """The claims in the modules of a paper, sorted by its ORDER; those that it does not name come last."""
    package = import_module(f"verify.claims.{paper}")
    places = {f"{paper}.{name}": place for place, name in enumerate(package.ORDER)}
    modules = [import_module(f"{package.__name__}.{found.name}") for found in pkgutil.iter_modules(package.__path__)]
    members: list[Claim] = [claim for module in modules for claim in getattr(module, "CLAIMS", ())]
    return tuple(sorted(members, key=lambda claim: places.get(claim.id, len(places))))


def run_alone(claims: Iterable[Claim]) -> None:
    """What a theorem's file does as a program: `isoptimal claims` with the ids of its claims, and the options given.

    Ends the process with the exit status of that command.
    """
    sys.argv[1:] = ["claims", *(claim.id for claim in claims), *sys.argv[1:]]
    runpy.run_module("verify", run_name="__main__")
