"""The jobs, one file each: `run(plan)` yields the rows of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from benchmarks.measuring import Plan
from benchmarks.table import Row

JOBS = {
    "optimum": "optimum",
    "all-cells": "all_cells",
    "min-norm": "min_norm",
    "loss-sizes": "loss_sizes",
    "own-width": "own_width",
    "too-narrow": "too_narrow",
    "open-widths": "open_widths",
    "audit-wide": "audit_wide",
    "audit-columns": "audit_columns",
    "audit-points": "audit_points",
    "pricing": "pricing",
    "cells": "cells",
    "check": "checking",
    "growth": "growth",
    "breast-cancer": "breast_cancer",
    "pyscnn": "pyscnn",
    "time-limit": "time_limit",
}
"""Names on the command line, and the modules here."""


def job(name: str) -> Callable[[Plan], Iterator[Row]]:
    """The job of that name; its imports happen now."""
    return import_module(f"benchmarks.jobs.{JOBS[name]}").run
