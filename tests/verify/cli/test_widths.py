"""`isoptimal widths`: places that cannot be written are refused before the search, and none is written twice."""

import pytest
from click.testing import CliRunner

from verify.cli import program
from verify.widths import curve


@pytest.fixture
def data(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n0,1\n1,-1\n", encoding="utf-8")

    def searched(*_, **__):
        raise AssertionError("the search began")

    monkeypatch.setattr(curve, "read_data", searched)
    return path


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--certificates", "data.csv"], "is a file: give the name of a folder for the certificates"),
        (["--certificates", "none/proofs"], "none is not a folder: make it first"),
        (["--plot", "none/widths.png"], "none is not a folder: make it first"),
        (["--plot", "widths.txt"], "does not say what kind of picture it is"),
        (["--json", "data.csv"], "is an input, which would be overwritten"),
        (["--json", "none/widths.json"], "none is not a folder: make it first"),
        (["--json", "rows.png", "--plot", "rows.png"], "is to be written twice: give every file a name of its own"),
    ],
)
def test_where_nothing_can_be_written(data, tmp_path, options, says):
    placed = [option if option.startswith("--") else str(tmp_path / option) for option in options]
    found = CliRunner().invoke(program, ["widths", str(data), *placed], standalone_mode=False)
    assert found.return_value == 2
    assert says in found.output


def test_certificates_into_a_folder_that_is_there(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n0,1\n1,-1\n", encoding="utf-8")
    options = ["--certificates", str(tmp_path), "--json", str(tmp_path / "rows.json"), "--up-to", "1"]
    found = CliRunner().invoke(program, ["widths", str(path), *options], standalone_mode=False)
    assert found.return_value == 0, found.output
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["data.csv", "rows.json", "width-1"]
