"""`isoptimal sweep`: arguments, exit status, files; and a sweep that is killed, stopped and taken up again."""

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.sweeps import write_networks
from verify.checker.folder import decide_folder
from verify.cli import program, sweeping
from verify.sweeping import Sweep

ROOT = Path(__file__).parents[3]
MANY = 24


def status(*arguments):
    with pytest.raises(SystemExit) as stopped:
        program.main(["sweep", *map(str, arguments)], prog_name="isoptimal")
    return stopped.value.code


@pytest.fixture
def files(tmp_path):
    return write_networks(tmp_path, 3), str(tmp_path / "data.npz"), tmp_path / "out"


def test_a_sweep_its_files_and_its_table_again(files, tmp_path, capsys):
    networks, data, out = files
    table, picture = tmp_path / "table.csv", tmp_path / "excess.png"
    assert status(*networks, data, "--out", out, "--jobs", 2, "--export", table, "--plot", picture) == 0
    said = capsys.readouterr().out
    assert "3 networks on 1 data set: 3 audited" in said
    assert "1 network of 3 does not fit, and has no excess on all data" in said
    with table.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["network"] for line in lines] == networks
    assert [line["fits"] for line in lines] == ["proved", "refuted", "proved"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    for line in lines:
        assert decide_folder(out / line["certificates"]).is_accepted
    assert status("--out", out) == 0
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("kind", ["csv", "json objects", "json lists"])
def test_pairs_from_a_file(files, tmp_path, capsys, kind):
    networks, data, out = files
    listing = tmp_path / f"pairs.{kind[:4].strip()}"
    match kind:
        case "csv":
            listing.write_text(f"name,network,data\nfirst,{networks[0]},{data}\n,{networks[2]},{data}\n")
        case "json objects":
            listing.write_text(
                json.dumps(
                    [{"network": networks[0], "data": data, "name": "first"}, {"network": networks[2], "data": data}]
                )
            )
        case _:
            listing.write_text(json.dumps([[networks[0], data, "first"], [networks[2], data]]))
    assert status("--pairs", listing, "--out", out, "--jobs", 1) == 0
    assert [row.network for row in Sweep.of(out)] == ["first", networks[2]]
    capsys.readouterr()


def test_a_network_without_an_audit_is_status_1(files, tmp_path, capsys):
    networks, data, out = files
    assert status(tmp_path / "missing.npz", networks[0], data, "--out", out, "--jobs", 1) == 1
    said = capsys.readouterr().out
    assert "2 networks on 1 data set: 1 audited, 1 failed" in said
    assert "missing.npzdoesnotexist:checkthepath" in "".join(said.split())  # folded anywhere


def test_options_of_audit_reach_every_audit(files, capsys):
    networks, data, out = files
    assert status(networks[0], data, "--out", out, "--jobs", 1, "--goal", "min-norm", "--fit-tol", "1/2") == 0
    (row,) = Sweep.of(out)
    problem = json.loads((out / row.certificates / "problem.json").read_text())
    assert (row.goal, problem["fit_tolerance"]) == ("min-norm", "1/2")
    assert status(networks[0], data, "--out", out, "--goal", "min-norm", "--fit-tol", "1/3") == 2
    assert "other options: fit_tol 1/2 (now 1/3)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["net-0.npz", "--out", "out"], "net-0.npz is one file: give NETWORKS and, as the last one, their DATA"),
        (["net-0.npz", "nothing.npz", "--out", "out"], "nothing.npz does not exist"),
        (["--out", "out"], "out does not exist"),
        (["--out", "net-0.npz"], "holds no sweep"),
        (["--out", "out", "--retry-failed"], "--retry-failed is given without networks"),
        (["--out", "out", "--tol", "1e-3"], "--tol is given without networks"),
        (["net-0.npz", "data.npz"], "Missing option '--out'"),
        (["net-0.npz", "data.npz", "--out", "net-1.npz"], "net-1.npz cannot be written"),
        (["net-0.npz", "data.npz", "--out", "out", "--export", "table.txt"], "end its name in .csv or .parquet"),
        (["net-0.npz", "data.npz", "--out", "out", "--export", "no/table.csv"], "no is not a folder"),
        (["net-0.npz", "data.npz", "--out", "out", "--plot", "data.npz"], "is an input"),
        (["net-0.npz", "data.npz", "--out", "out", "--jobs", "0"], "--jobs"),
        (["net-0.npz", "data.npz", "--out", "out", "--pairs", "pairs.csv"], "leave net-0.npz out"),
        (["--pairs", "pairs.txt", "--out", "out"], "pairs.txt does not exist"),
        (["--pairs", "data.npz", "--out", "out"], "data.npz"),
        (["--pairs", "empty.csv", "--out", "out"], "lists no pairs"),
        (["--pairs", "holes.csv", "--out", "out"], "holes.csv, line 2: give a network and its data"),
        (["--pairs", "more.csv", "--out", "out"], "'colour' is no column"),
        (["--pairs", "broken.json", "--out", "out"], "cannot be read as a list of pairs"),
        (["--pairs", "number.json", "--out", "out"], "cannot be read as a list of pairs"),
        (["--pairs", "entries.json", "--out", "out"], "entries.json, entry 0: give a network"),
    ],
)
def test_misuse_is_one_sentence(files, tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    texts = {
        "empty.csv": "network,data\n",
        "holes.csv": "network,data\nnet-0.npz,\n",
        "more.csv": "network,data,colour\nnet-0.npz,data.npz,red\n",
        "broken.json": "[",
        "number.json": "7",
        "entries.json": "[7]",
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    assert status(*arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


# ------------------------------------------------------------------------------------------ killed and stopped


def test_ctrl_c_after_the_last_audit(files, monkeypatch, capsys):
    networks, data, out = files

    def interrupted(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sweeping, "_print", interrupted)
        assert status(*networks, data, "--out", out, "--jobs", 1) == 130
    kept = "isoptimal: interrupted; what is done is kept, and the same command goes on from there\n"
    assert capsys.readouterr().err == kept
    assert len(Sweep.of(out).audited) == 3
    assert status("--out", out) == 0
    capsys.readouterr()


@pytest.fixture
def many(tmp_path):
    """What starts a sweep of many networks, each in a moment; every third of them is unreadable or a twin."""
    networks = write_networks(tmp_path, MANY)
    Path(networks[5]).write_bytes(b"nothing")
    np.savez(networks[7], **np.load(networks[6]))
    command = [sys.executable, "-m", "verify", "sweep", *networks, str(tmp_path / "data.npz"), "--jobs", "2"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    out = tmp_path / "out"

    def start():
        return subprocess.Popen(
            [*command, "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
            start_new_session=True,
        )  # fmt: skip

    return start, out


def done(out):
    """The audits that are done, by key: in which run, and when."""
    if not (out / "sweep.sqlite").exists():
        return {}
    try:
        with closing(sqlite3.connect(out / "sweep.sqlite")) as database:
            found = database.execute("SELECT key, run, finished FROM audits WHERE outcome = 'audited'").fetchall()
    except sqlite3.Error:
        return {}
    return {key: rest for key, *rest in found}


def in_place(out):
    """How many audits have their certificates; counted without waiting for rows that are being written."""
    return sum(not place.parent.name.startswith(".") for place in out.glob("certificates/*/audit.json"))


def wait_for(out, number, process):
    limit = time.monotonic() + 300
    while in_place(out) < number:
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.02)


def is_empty(session):
    """Whether no process of a session is left, some seconds later."""
    for _ in range(600):
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def is_complete(out):
    rows = Sweep.of(out).rows
    names = [Path(row.network).name for row in rows]
    assert names == [f"net-{place}.npz" for place in range(MANY)]
    assert [row.outcome for row in rows].count("failed") == 1
    assert rows[6].certificates == rows[7].certificates
    folders = {row.certificates for row in rows if row.certificates}
    assert {f"certificates/{entry.name}" for entry in (out / "certificates").iterdir()} == folders
    assert len(folders) == MANY - 2 == len(done(out))
    assert all(decide_folder(out / folder).is_accepted for folder in folders)


@pytest.mark.slow
def test_killed_twice_every_audit_is_done_once(many):
    start, out = many
    before = {}
    for number in (4, 12):
        process = start()
        wait_for(out, number, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert is_empty(process.pid), "workers outlive the sweep"
        now = done(out)
        assert before.items() <= now.items()
        before = now
    process = start()
    process.communicate()
    assert process.returncode == 1  # one network is unreadable
    assert before.items() <= done(out).items()
    is_complete(out)


@pytest.mark.slow
def test_ctrl_c_ends_it_cleanly_and_it_goes_on(many):
    start, out = many
    process = start()
    wait_for(out, 3, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    said, error = process.communicate(timeout=120)
    assert process.returncode == 130
    assert error == "isoptimal: interrupted; what is done is kept, and the same command goes on from there\n"
    assert f"the last run, of {MANY} networks, was interrupted" in " ".join(said.split())
    assert is_empty(process.pid)
    before = done(out)
    process = start()
    process.communicate()
    assert before.items() <= done(out).items()
    is_complete(out)
