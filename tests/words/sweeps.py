"""What the table of a sweep and its summary say, counted and bounded again from the rows."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from math import inf

from tests.words.reading import N
from verify.problem.phrases import QUESTIONS
from verify.sweeping.table import as_text

__all__ = ["check_sweep"]

NO_CLAIMS = ("question", "network", "failed:", "*")
"""How lines begin that say nothing of numbers: heads, why networks failed, what a mark stands for."""

AMOUNT = rf"{N}( %)?"


def check_sweep(sweep) -> None:
    """Assert that each line is true of the rows."""
    text = as_text(sweep, width=400).replace("\u00a0", " ")
    head, *lines = text.splitlines()
    _head(sweep, head)
    audited = [row for row in sweep if row.outcome == "audited"]
    for name, question in QUESTIONS.items():
        if audited:
            (line,) = (line for line in lines if line.startswith(question + "  "))
            words = Counter((getattr(row, name) or "").partition(" ")[0] for row in audited)
            assert line.removeprefix(question).split() == [
                str(words[word]) for word in ("proved", "refuted", "undecided")
            ]
    known = [row for row in audited if row.excess_upper is not None]
    assert any(line.startswith("excess over") for line in lines) == bool(known)
    others = tuple(f"{begin} " for begin in (*QUESTIONS.values(), *(row.network for row in sweep), *NO_CLAIMS))
    for line in lines:
        matches = ((check, re.fullmatch(pattern, line)) for pattern, check in LINES)
        told = [check(audited, known, found) is not False for check, found in matches if found is not None]
        assert told == [True] or line.startswith(others), line
    for row in sweep.rows:
        (line,) = (line for line in lines if line.startswith(f"{row.network}  "))
        _row(row, line)


def _head(sweep, head) -> None:
    numbers = [int(number) for number in re.findall(r"\d+", head)]
    rows = list(sweep)
    failed = sum(row.outcome == "failed" for row in rows)
    expected = [len(rows), len({row.data for row in rows}), len(rows) - failed, *([failed] if failed else [])]
    assert numbers[: len(expected)] == expected


def part(number: str, unit: str | None) -> Fraction:
    return Fraction(number) / (100 if unit else 1)


def _excess(_, known, found):
    lows, highs = [row.excess_lower for row in known], [row.excess_upper for row in known]
    assert int(found[1]) == len(known)
    assert all(part(found[2], found[3]) <= low for low in lows)
    assert ("all at most" in found[0]) <= (len(known) > 1)
    assert (found[4] is None) == (len(known) == 1 or 2 * sum(high < inf for high in highs) < len(highs))
    assert (found[6] is None) == (max(highs) == inf)
    if found[4]:
        assert 2 * sum(high <= part(found[4], found[5]) for high in highs) >= len(highs)
    return found[6] is None or max(highs) <= part(found[6], found[7]) <= Fraction(max(highs)) * Fraction(11, 10)


def _repaired(_, known, found):
    return int(found[1]) == sum(row.fits == "proved (near)" for row in known) > 0


def _misfits(audited, _, found):
    return (int(found[1]), int(found[2])) == (sum(row.fits == "refuted" for row in audited), len(audited))


def _biases(audited, _, found):
    return int(found[1]) == sum("output-bias" in (row.notes or "") for row in audited)


LINES = [
    (
        (
            rf"excess over the best possible of (\d+) networks?: at least {AMOUNT}(?:, half of them at most {AMOUNT})?"
            rf"(?:, (?:all )?at most {AMOUNT})?"
        ),
        _excess,
    ),
    (r"of (\d+) networks? \(proved \(near\) to fit\) .*", _repaired),
    (r"(\d+) networks? of (\d+) do(?:es)? not fit, and ha(?:s|ve) no excess on all data", _misfits),
    (r"of (\d+) networks? one of the neurons that are counted is the output bias", _biases),
]


def _row(row, line) -> None:
    """The excess in a row: both ends of what is proved, or one, rounded outward, and about which data."""
    if row.outcome == "failed":
        assert "failed" in line
        return
    cells = re.split(r"  +", line)
    low, high = row.excess_lower, row.excess_upper
    cell = cells[-2]
    if high is None:
        low, high = row.relaxed_excess_lower, row.relaxed_excess_upper
        assert cell.endswith("*") == (high is not None)
    cell = cell.removesuffix("*")
    if high is None:
        assert cell == "-"
    elif found := re.fullmatch(rf"<= {AMOUNT}|>= {AMOUNT}|(0)", cell):
        most, unit, least, of, _ = found.groups()
        assert high <= part(most, unit) if most else part(least, of) <= low if least else high == 0
    else:
        least, most = re.fullmatch(rf"{N} (?:…|\.\.\.) {N} %", cell).groups()
        assert part(least, "%") <= low <= part(least, "%") * Fraction(102, 100)
        assert high <= part(most, "%") <= high * Fraction(102, 100)
