"""What the figures were measured on: date, machine class (no host names), versions."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "scipy", "clarabel", "cvxpy", "highspy", "numba", "scikit-learn", "pyscnn")


def about(runs: str, *, quick: bool) -> list[str]:
    """Lines of Markdown that stand above the table."""
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    mode = " **Quick mode: tiny sizes, no figure here means anything.**" if quick else ""
    return [
        f"Date: {datetime.now(UTC):%Y-%m-%d}.{mode}",
        f"Machine: {_processor()}, {os.cpu_count()} cores, {_memory()}; {platform.system()} {platform.machine()}.",
        "One core: OMP, OpenBLAS, numba and Clarabel have one thread.",
        f"Revision {_revision()} of this repository.",
        f"Versions: Python {platform.python_version()}, {versions}.",
        f"Medians of {runs} where a run is short, of fewer where it is long: the column *runs* says how many.",
    ]


def _revision() -> str:
    """The commit that is checked out."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    """The processor's model, from the kernel where it tells."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return "memory unknown"
    return f"{size / 2**30:.0f} GB"
