"""The tutorials of the documentation: each is run, and prints what stands on its page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from importlib.util import find_spec
from itertools import zip_longest
from math import isclose
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TUTORIALS = ROOT / "docs" / "tutorials"
NEEDS = {"pytorch": ("torch",), "notebook": ("nbconvert", "ipykernel"), "scikit-learn": (), "index": ()}
PAGES = sorted(place.stem for place in [*TUTORIALS.glob("*.md"), *TUTORIALS.glob("*.ipynb")])

WORD = re.compile(r"\d+/\d+|\d+\.\d+(?:e[+-]?\d+)?|\w+|[^\w\s]")
TIME = re.compile(r"\btime\s+[0-9.,]+ s\b")


def rerun(name: str) -> str:
    """The page with what it prints now, run in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "make_tutorials.py"), "--show", name],
        capture_output=True, text=True, encoding="utf-8", timeout=900, env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def words(text: str) -> list[str]:
    """Words, numbers and signs, wherever lines end; without times and pictures."""
    return WORD.findall(TIME.sub("time", re.sub(r"base64,[A-Za-z0-9+/=]+", "", text)))


def is_same(one: str | None, other: str | None) -> bool:
    """Whether two words are the same; decimals, fractions and long numbers may differ in the fourth digit, or by one in
    the last of fewer digits, as processors round differently.
    """
    if one == other:
        return True
    if one is None or other is None or not (is_number(one) and is_number(other)):
        return False
    if not set("./") & set(one + other) and min(len(one), len(other)) < 6:  # a count
        return False
    return isclose(Fraction(one), Fraction(other), rel_tol=1e-3, abs_tol=1.001 * last_place(one))


def last_place(number: str) -> float:
    """What one more in the last digit of a decimal is; 0 for others."""
    if "." not in number:
        return 0.0
    digits, _, power = number.partition("e")
    return 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def is_number(word: str) -> bool:
    return re.fullmatch(r"\d+/0*[1-9]\d*|\d+(\.\d+(e[+-]?\d+)?)?", word) is not None


def assert_same(shown: str, printed: str) -> None:
    pairs = list(zip_longest(words(shown), words(printed)))
    wrong = next((place for place, pair in enumerate(pairs) if not is_same(*pair)), None)
    if wrong is not None:
        near = pairs[max(wrong - 12, 0) : wrong + 12]
        pytest.fail(f"shown:   {' '.join(a or '' for a, _ in near)}\nprinted: {' '.join(b or '' for _, b in near)}")


@pytest.mark.parametrize("name", PAGES)
def test_a_tutorial_prints_what_it_shows(name):
    lacks = [module for module in NEEDS[name] if find_spec(module) is None]
    if lacks:
        pytest.skip(f"needs {' and '.join(lacks)}")
    suffix = ".ipynb" if (TUTORIALS / f"{name}.ipynb").exists() else ".md"
    stored = (TUTORIALS / f"{name}{suffix}").read_text(encoding="utf-8")
    printed = rerun(name)
    if suffix == ".ipynb":
        stored, printed = outputs(stored), outputs(printed)
    assert_same(stored, printed)


def outputs(notebook: str) -> str:
    """The cells of a notebook with what they print and show, as text."""
    parts: list[str] = []
    for cell in json.loads(notebook)["cells"]:
        parts.append("".join(cell["source"]))
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            parts.append("".join(output.get("text", data.get("text/html", data.get("text/plain", "")))))
    return re.sub(r"<[^>]+>", " ", "\n".join(parts))


def test_every_tutorial_shows_what_it_prints():
    """A page without blocks, or a notebook without outputs, would pass for nothing."""
    for name in ("pytorch", "scikit-learn"):
        text = (TUTORIALS / f"{name}.md").read_text(encoding="utf-8")
        assert text.count("```python\n") >= 5
        assert "global optimum of any width" in text
        assert "```text\n```" not in text
    notebook = (TUTORIALS / "notebook.ipynb").read_text(encoding="utf-8")
    assert "global optimum of any width" in outputs(notebook)
    assert notebook.count('"image/png"') == 1  # of result.plot(), in a kernel without %matplotlib inline


def test_other_words_and_other_numbers_are_noticed():
    assert_same("within 2.5e-3", "within 2.6e-3")
    assert_same("at least 1/3 and 2", "at least 3333/10000 and 2")
    assert_same("at least 5.5769, 40 of 40\ntime 1.5 s", "at least\n5.5771, 40 of 40 time  3 s")
    for other in ("at least 5.6", "at most 5.5769", "at least 5.5769, 39 of 40", "at least"):
        with pytest.raises(pytest.fail.Exception):
            assert_same("at least 5.5769", other)
