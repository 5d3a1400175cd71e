"""The table of a sweep says of its rows what is true of them, over random rows of all sizes."""

import random
from math import inf
from pathlib import Path

import pytest
from matplotlib.legend import Legend

from tests.words.sweeps import check_sweep
from verify.problem.phrases import QUESTIONS
from verify.sweeping import Row, Sweep
from verify.sweeping.records import SweepStatus
from verify.sweeping.table import as_text

SIZES = [0.0, 5e-324, 1e-300, 1e-9, 9.9e-5, 1e-4, 1.5e-4, 0.0123, 0.5, 3.0, 1e9, 1e300, 1.7e308, inf]


def drawn(number: int) -> Sweep:
    """Rows of failures, misfits, repairs, brackets with ends far apart, and of numbers beyond doubles."""
    draw = random.Random(number)
    rows = []
    for k in range(draw.randint(1, 9)):
        name, data = f"n{k}", f"d{draw.randint(0, 1)}"
        if draw.random() < 0.1:
            rows.append(Row(network=name, data=data, outcome="failed", failure="cannot be read"))
            continue
        low, high = sorted(draw.choice(SIZES) for _ in range(2))
        fits = draw.choice(["proved", "proved (near)", "refuted", "undecided"])
        ends = {"excess_lower": low, "excess_upper": high}
        if fits not in ("proved", "proved (near)"):
            ends = {f"relaxed_{key}": end for key, end in ends.items()} if draw.random() < 0.5 else {}
        words = ["proved", "refuted", "undecided", "proved (near)", "proved (approximate)"]
        answers = {question: draw.choice(words) for question in QUESTIONS} | {"fits": fits}
        note = draw.choice([None, "the output bias 1 became hidden neuron 1, the output-bias neuron"])
        shape = {"goal": draw.choice(["max-margin", "min-norm"]), "neurons": 3, "seconds": 1.0, "notes": note}
        rows.append(Row(network=name, data=data, outcome="audited", **shape, **answers, **ends))
    return Sweep(Path("sweep"), rows, status=SweepStatus.DONE)


@pytest.mark.parametrize("number", range(60))
def test_the_table_is_what_the_rows_say(number):
    check_sweep(drawn(number))


@pytest.mark.parametrize(("true", "false"), [("25 %", "24 %"), ("1 network", "2 networks"), ("at most", "at least")])
def test_a_table_that_is_not_is_noticed(true, false, monkeypatch):
    row = Row(
        network="n", data="d", outcome="audited", fits="proved", excess_lower=0.125, excess_upper=0.25, seconds=1.0
    )
    sweep = Sweep(Path("sweep"), [row], status=SweepStatus.DONE)
    check_sweep(sweep)
    text = as_text(sweep, width=400).replace("\u00a0", " ")
    assert true in text
    monkeypatch.setattr("tests.words.sweeps.as_text", lambda *_, **__: text.replace(true, false))
    with pytest.raises(AssertionError):
        check_sweep(sweep)


def test_one_network_has_no_half():
    shape = {"data": "d", "outcome": "audited", "excess_lower": 0.125, "excess_upper": 0.25, "seconds": 1.0}
    one, two = (Row(network=name, **shape, fits="proved") for name in "ab")
    said = as_text(Sweep(Path("sweep"), [one], status=SweepStatus.DONE), width=400).replace("\u00a0", " ")
    assert "excess over the best possible of 1 network: at least 12.5 %, at most 25 %\n" in said
    said = as_text(Sweep(Path("sweep"), [one, two], status=SweepStatus.DONE), width=400).replace("\u00a0", " ")
    assert "of 2 networks: at least 12.5 %, half of them at most 25 %, all at most 25 %\n" in said


def test_the_picture_says_no_more_than_is_proved_of_each_colour():
    shape = {"data": "d", "outcome": "audited", "excess_lower": 0.0, "excess_upper": 1e-7}
    near = Row(network="a", global_any_width="proved (near)", **shape)
    itself = Row(network="b", global_any_width="proved", **shape)
    for rows, said in (([itself], "any width"), ([near, itself], "or one near it is")):
        (legend,) = Sweep(Path("sweep"), rows, status=SweepStatus.DONE).plot().findobj(Legend)
        assert next(text.get_text() for text in legend.get_texts()).endswith(said)


@pytest.mark.parametrize("width", [80, 100, 110, 120, 400])
@pytest.mark.parametrize("sets", [1, 2])
def test_names_and_verdicts_are_whole_at_every_width(width, sets):
    said = dict.fromkeys(QUESTIONS, "proved (near)") | {"stationary": "proved (approx.)", "fits": "undecided"}
    shape = {"outcome": "audited", "excess_lower": 1.604, "excess_upper": 2.1987, "neurons": 1000, "seconds": 1234.5}
    rows = [
        Row(network=f"/a/folder/of/trainings/{k}/network.npz", data=f"data-{k % sets}.npz", **shape, **said)
        for k in range(12)
    ]
    lines = as_text(Sweep(Path("sweep"), rows, status=SweepStatus.DONE), width=width).splitlines()
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    for row in rows:
        assert row.network in text
        assert sets == 1 or row.data in text
    assert "network" in text
    for word, times in (("(approx.)", 12), ("(near)", 36), ("undecided", 12), ("1234.5 s", 12), ("160", 12)):
        assert text.count(word) >= times, word
    for head in ("neurons", "fits", "stationary", "local", "global", "excess", "time"):
        assert head in text
