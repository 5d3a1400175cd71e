"""Audits of a revision beside those of the checkout: what is run, what is read, what is called a loss."""

from __future__ import annotations

from fractions import Fraction

import pytest

from benchmarks.against import EXAMPLES, QUESTIONS, ROOT, Answer, changes, compared, examples, extracted, middle


def answer(width: str | None = "1/100", processor: float = 1.0, **verdicts: str) -> Answer:
    bracket = None if width is None else (Fraction(2), 2 * (1 + Fraction(width)))
    return Answer(processor, 90.0, {name: verdicts.get(name, "proved") for name in QUESTIONS}, bracket)


def test_every_stored_network_is_an_example_with_its_data(tmp_path):
    pytest.importorskip("sklearn")
    found = {example.name: example.arguments for example in examples(tmp_path, ())}
    stored = [path for path in EXAMPLES.glob("*/*.npz") if not path.stem.endswith("data")]
    stored += EXAMPLES.glob("*/*.json")
    assert set(found) == {str(path.relative_to(EXAMPLES).with_suffix("")) for path in stored}
    assert found["regularised/sine-0.01-adam"][2:] == ("--loss", "squared", "--decay", "0.01")
    assert "--two-logits" in found["trainings/moons-two-logits"]
    assert [e.name for e in examples(tmp_path, ("iris/",))] == ["iris/net"]


def test_a_verdict_that_was_decided_is_lost_and_one_that_was_open_is_not():
    old, new = answer(stationary="undecided"), answer(local_optimum="undecided")
    assert list(changes(old, old)) == []
    assert dict(changes(old, new)) == {"stationary: undecided -> proved": False, "local: proved -> undecided": True}
    assert dict(changes(old, answer(global_any_width="refuted", stationary="undecided"))) == {
        "any width: proved -> refuted": True
    }
    assert list(changes(Answer(1.0, 90.0, {}, None), new)) == []


def test_a_bracket_that_is_wider_is_a_loss():
    assert list(changes(answer("1/100"), answer("1/1000"))) == []
    assert list(changes(answer("1/100"), answer("1/99"))) == [("bracket 0.01 -> 0.01 wide", True)]
    assert list(changes(answer("1/100"), answer(None))) == [("bracket 0.01 -> none wide", True)]
    assert list(changes(answer(None), answer("1"))) == []


def test_the_middle_of_several_runs():
    assert middle([answer(processor=seconds) for seconds in (3.0, 1.0, 2.0)]).processor == 2.0


def test_an_unknown_revision_is_an_error_in_a_sentence(tmp_path):
    with pytest.raises(SystemExit, match="no revision nothing: "):
        extracted("nothing", tmp_path)


def test_an_audit_is_compared_with_one_of_an_earlier_revision():
    lines = list(compared(ROOT, "the same", ("signs-1d/relu-kkt",), 1))
    row = next(line for line in lines if line.startswith("| signs-1d/relu-kkt | "))
    assert row.endswith("| the same |")
    assert lines[-1] == "Verdicts lost or brackets wider: none."
    assert lines[-3].startswith("Median of 1 that both audit: ")
