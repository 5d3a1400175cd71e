"""The benchmarks run, and their table holds what it promises. No figure is judged here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.table import HEAD

ROOT = Path(__file__).parent.parent
TINY = ("optimum", "all-cells", "min-norm", "audit-wide", "audit-points", "cells", "check", "time-limit")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_the_tiniest_jobs_fill_the_table(tmp_path: Path):
    out = tmp_path / "table.md"
    done = run("--quick", "--only", *TINY, "--out", str(out))
    assert done.returncode == 0, done.stderr
    text = out.read_text(encoding="utf-8")
    assert "Quick mode" in text
    assert "One core" in text
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    head, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    assert tuple(head) == HEAD
    assert len(rows) == 10
    for row in (dict(zip(HEAD, cells, strict=True)) for cells in rows):
        assert int(row["runs"]) == 1
        assert float(row["median s"]) > 0
        if row["job"] not in ("cell enumeration", "time limit"):
            assert float(row["certified gap"]) <= 1e-6
    notes = "; ".join(cells[-1] for cells in rows)
    assert "same bracket" in notes
    assert "all 134 cells" in notes
    assert "accepted" in notes
    assert notes.count("limit 1 s, CPU ") == 2


def test_an_unknown_job_is_named_with_the_known_ones():
    done = run("--only", "nothing")
    assert done.returncode == 2
    assert done.stderr.startswith("no job is called 'nothing'; there are optimum, ")
