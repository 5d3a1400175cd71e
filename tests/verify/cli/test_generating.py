"""`isoptimal data`: what it writes is what the generator makes, and what the readers take."""

import numpy as np
import pytest

from solvers.paper_data import GENERATORS, MEANINGS
from verify.cli import program
from verify.numbers.counts import count
from verify.readers import read_data


def _run(*arguments):
    return program.main(list(arguments), standalone_mode=False)


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_writes_a_file_that_is_read(name, tmp_path, capsys):
    small = ["--dimension", "60"] if name.startswith("lai") else []
    path = tmp_path / "data.npz"
    assert _run("data", name, "--out", str(path), *small) == 0
    made = GENERATORS[name].make(**({"dimension": 60} if small else {}))
    stored = np.load(path)
    assert (stored["X"] == made.inputs).all()
    assert (stored["y"] == made.targets).all()
    data = read_data(path)
    assert len(data) == len(made.targets)
    assert f"{count(len(data), 'point')} in dimension {data.dimension}" in capsys.readouterr().out


@pytest.mark.parametrize("name", GENERATORS)
def test_every_option_is_explained(name, capsys):
    assert _run("data", name, "--help") == 0
    text = " ".join(capsys.readouterr().out.split())
    for parameter in GENERATORS[name].parameters:
        assert f"--{parameter}" in text
        assert MEANINGS[parameter] in text


def test_options_are_the_parameters(tmp_path):
    path = tmp_path / "data.npz"
    assert _run("data", "safran2022-switching", "--points", "12", "--switches", "3", "--out", str(path)) == 0
    y = np.load(path)["y"]
    assert len(y) == 12
    assert (np.diff(y) != 0).sum() == 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("lyu2021-hinted", "--margin", "3", "--out", "{}/d.npz"), "margin is 3"),
        (("lyu2021-hinted", "--out", "{}/d.csv"), "must end in .npz"),
        (("chistikov2023-centred", "--dimension", "0", "--out", "{}/d.npz"), "dimension is 0"),
        (("lyu2021-hinted", "--out", "{}/nowhere/d.npz"), "is not a folder"),
        (("lyu2021-unheard", "--out", "{}/d.npz"), "No such command"),
        (
            ("chistikov2023-centred", "--dimension", "1000000000", "--out", "{}/d.npz"),
            "are more than 100,000,000 numbers",
        ),
        (("lyu2021-hinted",), "Missing option '--out'"),
        (("lyu2021-hinted", "--points", "many", "--out", "{}/d.npz"), "'many' is not a valid integer"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, tmp_path, capsys):
    assert _run("data", *(text.format(tmp_path) for text in arguments)) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_the_list_cuts_no_summary(capsys):
    assert _run("data", "--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    for name, generator in GENERATORS.items():
        assert f"{name} {' '.join(generator.summary.split())}" in shown
