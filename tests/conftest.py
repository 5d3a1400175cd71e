"""For all tests: fixed seeds, and a part of the random instances unless ISOPTIMAL_TESTS is long (`tests/amount.py`).

A skip that skips.txt, or the file that ISOPTIMAL_SKIPS names, does not list fails the run.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.amount import draws, part
from verify.testing import CI, register_profiles

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is loaded: threads only cost at these sizes

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it, for all, after &

gc.set_threshold(50_000, 20, 20)  # exact arithmetic makes many small objects, hardly any of them in cycles

register_profiles()
settings.register_profile("usual", settings.get_profile(CI), max_examples=draws(25, 100))
settings.load_profile("usual")

SKIPS = Path(os.environ.get("ISOPTIMAL_SKIPS", Path(__file__).with_name("skips.txt")))
skipped: list[tuple[str, str]] = []


@pytest.fixture(scope="module", autouse=True)
def _frozen() -> Iterator[None]:
    """Keep what a module leaves (compiled kernels, parametrised objects) out of all later garbage collections."""
    yield
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only the long form runs; pytest says how many those are."""
    kept, left = part(items, config.args)
    if left:
        items[:] = kept
        config.hook.pytest_deselected(items=left)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note each skipped test; an expected failure is not a skip."""
    if report.skipped and not hasattr(report, "wasxfail"):
        skipped.append((report.nodeid, skip_reason(report)))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note each module that is skipped as a whole."""
    if report.skipped:
        skipped.append((report.nodeid, skip_reason(report)))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the modules that a process of pytest-xdist skipped as a whole: only it knows of them."""
    skipped.extend(map(tuple, getattr(node, "workeroutput", {}).get("skipped", ())))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run that was green but for an unlisted skip."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["skipped"] = skipped
        return
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and unlisted():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the unlisted skips."""
    if unlisted():
        terminalreporter.section("skipped, and not listed in tests/skips.txt: the run fails", red=True)
        for nodeid, reason in unlisted():
            terminalreporter.line(f"{nodeid}: {reason}")


def unlisted() -> list[tuple[str, str]]:
    """Return the skipped tests that no line of `skips.txt` matches."""
    lines = [line.partition(" # ")[0].strip() for line in SKIPS.read_text(encoding="utf-8").splitlines()]
    patterns = [line for line in lines if line and not line.startswith("#")]
    return [
        (nodeid, reason) for nodeid, reason in sorted(set(skipped)) if not any(fnmatchcase(nodeid, p) for p in patterns)
    ]


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the text that the test gave for its skip."""
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
