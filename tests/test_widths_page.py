"""The tables of docs/howto/widths.md are what the commands print, but for the digits that other floats may change."""

import importlib.util
import re
from fractions import Fraction
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
ROW = re.compile(r" +(\d+)  (yes|no|not known) +(none|\S+(?: … \S+| \(about \S+\))?|at (?:least|most) \S+)  +(.*)")


def _module():
    spec = importlib.util.spec_from_file_location("make_reading", DOCS / "make_reading.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


READING = _module()
TRANSCRIPTS = dict(READING.transcripts(READING.WIDTHS.read_text("utf-8")))


def rows(text):
    """Width, answer, both ends where there are two, and what proves them; then the last line."""
    head, *lines, last = (line for line in text.splitlines() if not line.startswith("note: "))
    assert head.split()[:2] == ["neurons", "fits"]
    found = [ROW.fullmatch(line).groups() for line in lines]
    return [(width, fits, ends(best), proofs) for width, fits, best, proofs in found], last


def ends(best):
    """Both ends, one number that is exact, or none."""
    exact = best.partition(" (about ")[0]
    return [Fraction(end) for end in exact.split(" … ") if " " not in end and end != "none"]


@pytest.mark.parametrize(
    ("command", "ending"),
    [*zip(TRANSCRIPTS, ["the best of any width is reached with ", "it takes the first 3 of these"], strict=True)],
)
def test_all_is_decided_in_the_tables(command, ending):
    told, last = rows(TRANSCRIPTS[command])
    assert [int(width) for width, *_ in told] == list(range(1, len(told) + 1))
    assert all(fits != "not known" and "; " not in proofs for _, fits, _, proofs in told)
    assert last.startswith(ending)


@pytest.mark.parametrize("command", TRANSCRIPTS)
def test_the_table_is_current(command):
    (old, last), (new, ending) = rows(TRANSCRIPTS[command]), rows(READING.printed(command))
    assert ending == last
    assert len(new) == len(old)
    for (width, fits, stated, proofs), told in zip(old, new, strict=True):
        assert told[:2] == (width, fits)
        assert told[3] == proofs
        assert len(told[2]) == len(stated)
        if stated:
            assert told[2][0] <= stated[-1]
            assert stated[0] <= told[2][-1]
