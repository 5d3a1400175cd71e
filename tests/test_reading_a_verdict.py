"""The transcripts of docs/reading_a_verdict.md are what the commands print, but for what other floats may change."""

import importlib.util
import re
from pathlib import Path

import pytest

from verify import audit, read
from verify.readers import read_data

DOCS = Path(__file__).parent.parent / "docs"


def _module():
    spec = importlib.util.spec_from_file_location("make_reading", DOCS / "make_reading.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


READING = _module()
PAGE = READING.PAGE.read_text("utf-8")
TRANSCRIPTS = dict(READING.transcripts(PAGE))


def essence(text: str) -> list[str]:
    """Lines that say the same on every machine: questions and verdicts, labels, the excess, what to do next."""
    body, _, steps = text.partition("what to do next")
    lines = [line for line in body.split("\n") if line.strip()]
    verdicts = [
        tuple(re.split(r"  +", line.strip())[:2]) for line in lines if re.search(r"  (proved|refuted|undec)", line)
    ]
    excess = re.findall(r"excess +(about \S+ %|at most \S+|\S+)", body)
    labels = [
        line.split("  ")[0] for line in lines if re.match(r"(this network|best possible|what it fits|·.*  )", line)
    ]
    return [str(part) for part in (*verdicts, *excess, *labels, " ".join(steps.split()))]


@pytest.mark.parametrize("command", TRANSCRIPTS)
@pytest.mark.one_in(2)
def test_a_transcript_is_current(command):
    assert essence(READING.printed(command)) == essence(TRANSCRIPTS[command])


def test_the_essence_has_verdicts_numbers_and_commands():
    first = essence(next(iter(TRANSCRIPTS.values())))
    assert "('fits the data', 'proved')" in first
    assert "about 60.7 %" in first
    assert "isoptimal train" in first[-1]


def test_the_page_has_five_outcomes_and_its_links_lead_somewhere():
    assert len(TRANSCRIPTS) == len(re.findall(r"^## \d\.", PAGE, re.MULTILINE)) == 5
    found = re.findall(r"^## (.*)", PAGE, re.MULTILINE)
    headings = {re.sub(r"[^a-z0-9 -]", "", line.lower()).replace(" ", "-") for line in found}
    for link in re.findall(r"\]\(([^)]+)\)", PAGE):
        place, _, anchor = link.partition("#")
        assert anchor in headings if not place else (DOCS / place).exists(), link


@pytest.mark.parametrize("command", [c for c in TRANSCRIPTS if "/moons.npz" in c or "/sine.npz" in c])
def test_the_same_in_python(command):
    network, data = command.split(" ")[2:4]
    result = audit(read(str(DOCS.parent / network)), read_data(str(DOCS.parent / data)))
    assert (result.relaxed is None) == ("what it fits" not in TRANSCRIPTS[command])
    assert [step.told({"NETWORK": network, "DATA": data}) for step in result.next_steps] == [
        " ".join(step.split()) for step in TRANSCRIPTS[command].partition("what to do next")[2].split("·")[1:]
    ]
