"""`isoptimal reproduce` on the command line; the figures themselves are tested in test_reproduce.py."""

import json

import pytest

from verify.cli import program
from verify.reproduce import names


def _run(*arguments):
    return program.main(["reproduce", *arguments], standalone_mode=False)


def test_without_a_name_it_lists_what_there_is(capsys):
    assert _run() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(names())
    assert all(len(line.split()) > 2 for line in lines)


def test_a_figure_is_written_with_its_numbers_and_said_to_agree(tmp_path, capsys):
    assert _run("vardi2022-figure-1", "--smoke", "--out", str(tmp_path)) == 0
    shown = capsys.readouterr().out
    assert "Agrees: " in shown
    assert "DOES NOT AGREE" not in shown
    assert (tmp_path / "vardi2022-figure-1.png").read_bytes().startswith(b"\x89PNG")
    stored = json.loads((tmp_path / "vardi2022-figure-1.json").read_text(encoding="utf-8"))
    assert stored["size"] == "smoke"
    for check in stored["checks"]:
        assert check["measured"] in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("vardi2022-figure-9",), "there is no figure 'vardi2022-figure-9'"),
        (("vardi2022-figure-1", "--full", "--smoke"), "not both"),
        (("all", "other"), "there is no figure 'other'"),
        (("vardi2022-figure-1", "--smoke", "--out", "{}/file"), "cannot be written"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, tmp_path, capsys):
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    assert _run(*(text.format(tmp_path) for text in arguments)) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
