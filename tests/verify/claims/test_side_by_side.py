"""`isoptimal claims --jobs`: the same results from any number of processes, and no end of one that is not told."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from importlib import import_module
from pathlib import Path
from unittest.mock import Mock

import pytest

from solvers.training.trajectory import TrainingStatus
from verify import Audit
from verify.claims import GROUP, available_cores, claims, read_instance, run_all
from verify.cli import program
from verify.cli.progress import claims_text
from verify.deciders.finding import Ending

ROOT = Path(__file__).parents[3]

OWN = """
import os, sys, time
from hypothesis import strategies as st
from verify import Dataset, Network
from verify.claims import Claim, Instance, failed, held, undecided

def posed(c):
    return Instance.posed(Network.two_layer([[c]], [c]), Dataset([[c]], [1]))

def claim(name, conclusion, **more):
    return Claim(id=name, source="a test", statement="It holds.", conclusion=conclusion,
                 instances=st.integers(1, 10**6).map(posed), **more)

def number(instance):
    return instance.data.inputs[0][0]

def forever(_):
    while True:
        time.sleep(0.01)

def makes_do(_):
    try:
        forever(_)
    except KeyboardInterrupt:
        return held()

def forks(_):
    os.fork()
    return held()

def orphans(_):
    if os.fork():
        os.kill(os.getpid(), 9)
    time.sleep(30)
    os._exit(0)

CLAIMS = [
    claim("own.wide", lambda i: held(measured=number(i)) if number(i) % 3 else undecided("a multiple of 3")),
    claim("own.false", lambda i: held() if number(i) < 500 else failed("500 is large")),
    claim("own.threads", lambda _: undecided(os.environ["OPENBLAS_NUM_THREADS"])),
    claim("own.trains", lambda _: held(), trains=True, examples=20),
    claim("own.dies", lambda _: os._exit(3)),
    claim("own.killed", lambda _: os.kill(os.getpid(), 9)),
    claim("own.breaks", lambda _: 1 / 0),
    claim("own.leaves", lambda _: sys.exit(0)),
    claim("own.forgets", lambda _: None),
    claim("own.agrees", lambda _: True),
    Claim(id="own.numbers", source="a test", statement="It holds.", conclusion=lambda _: held(),
          instances=st.integers(1, 1)),
    claim("own.forks", forks),
    claim("own.forks-again", forks),
    claim("own.never", lambda _: failed("never")),
    claim("own.never-again", lambda _: failed("never")),
    claim("own.orphans", orphans),
    claim("own.slow", forever),
    claim("own.makes-do", makes_do),
    Claim(id="own.later", source="a test", statement="It is so.", needs="time"),
]
"""

GOOD = ("own.wide", "own.false", "own.threads", "own.trains", "own.later")


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_claims.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    return "own_claims.py"


def status(*arguments):
    with pytest.raises(SystemExit) as stopped:
        program.main(["claims", *map(str, arguments)], prog_name="isoptimal")
    return stopped.value.code


def log(file):
    """What was written, without the times."""
    value = json.loads(Path(file).read_text(encoding="utf-8"))
    for claim in value["claims"]:
        claim.pop("seconds", None)
    return value


def test_any_number_of_processes_gives_the_same_log_in_the_order_of_the_registry(own):
    """In processes that begin afresh: hypothesis draws numbers that stand in the modules which a process has loaded."""
    for jobs in (1, 2):
        words = ["claims", *GOOD, "--from", own, "--examples", "40", "--jobs", str(jobs), "--json", f"{jobs}.json"]
        done = subprocess.run([sys.executable, "-m", "isoptimal", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
    assert log("1.json") == log("2.json")
    assert [claim["id"] for claim in log("2.json")["claims"]] == list(GOOD)
    by_id = {claim["id"]: claim for claim in log("2.json")["claims"]}
    assert by_id["own.false"]["counterexample"]["problem"]["inputs"] == [["500"]]
    assert by_id["own.threads"]["undecided_because"] == {"1": 40}
    assert by_id["own.trains"]["held"] == 4


@pytest.mark.long
def test_claims_of_the_papers(own):
    names = ["lai2026.lem3", "chistikov2023.zmatrix", "vardi2022.thm4.1"]
    for jobs in (1, 2):
        assert status(*names, "--examples", 8, "--seed", 5, "--jobs", jobs, "--json", f"{jobs}.json") == 0
    assert log("1.json") == log("2.json")


def test_a_module_of_the_working_folder(own, capsys):
    assert status("own.wide", "own.trains", "--from", "own_claims", "--examples", 5, "--jobs", 2) == 0
    assert "own.wide" in capsys.readouterr().out
    del sys.modules["own_claims"]


def test_an_installed_package(own, monkeypatch, capsys):
    package = Path("installed")
    info = package / "their_package-1.0.dist-info"
    info.mkdir(parents=True)
    (package / "their_claims.py").write_text(OWN.replace('"own.', '"theirs.'), encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nmine = their_claims\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(package.absolute()))
    assert status("theirs.wide", "theirs.trains", "--examples", 5, "--jobs", 2) == 0
    assert "theirs.wide" in capsys.readouterr().out
    del sys.modules["their_claims"]


def test_workers_that_die_are_a_sentence_each_and_the_others_go_on(own, capsys):
    dying = {"own.dies": "exit code 3", "own.killed": "signal SIGKILL"}
    assert status(*dying, "own.wide", "own.trains", "--from", own, "--examples", 20, "--jobs", 2) == 1
    said = capsys.readouterr()
    for name, how in dying.items():
        assert f"{name}: the process that ran it died ({how}), so nothing is known" in said.out
    assert re.search(r"own\.wide +held", said.out)
    assert re.search(r"own\.trains +held", said.out)
    assert said.err == ""


@pytest.mark.parametrize("jobs", [1, 2])
def test_code_of_a_claim_that_breaks_is_its_fault_and_the_others_go_on(own, jobs, capsys):
    breaking = {
        "own.breaks": r"it broke down in own_claims\.py, line \d+ \(ZeroDivisionError: division by zero\)",
        "own.leaves": r"it broke down in own_claims\.py, line \d+ \(SystemExit: 0\)",
        "own.forgets": r"its conclusion returned None: let it return held\(\)",
        "own.agrees": r"its conclusion returned True: let it return held\(\)",
        "own.numbers": r"its instances include 1, which is no Instance",
    }
    assert status(*breaking, "own.wide", "own.trains", "--from", own, "--examples", 5, "--jobs", jobs) == 1
    out, err = capsys.readouterr()
    for name, said in breaking.items():
        assert re.search(rf"{re.escape(name)} +failed +0 +- +0 +0", out)
        assert re.search(rf"{re.escape(name)}: {said}", " ".join(out.split()))
    assert re.search(r"own\.wide +held", out)
    assert re.search(r"own\.trains +held", out)
    assert err == ""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_copy_that_a_conclusion_forks_answers_for_no_other_claim(own, jobs, capsys):
    """With two copies of a process at one pipe, a claim was once reported with the counts of another."""
    ids = ["own.forks", "own.forks-again", "own.never", "own.never-again"]
    assert status(*ids, "--from", own, "--examples", 5, "--jobs", jobs) == 1
    out = capsys.readouterr().out
    assert out.count("own.forks ") == 1
    assert re.search(r"own\.forks +held +5", out)
    assert re.search(r"own\.forks-again +held +5", out)
    assert re.search(r"own\.never +failed", out)
    assert re.search(r"own\.never-again +failed", out)


def test_a_worker_whose_child_lives_on_is_not_waited_for(own, capsys):
    began = time.monotonic()
    assert status("own.orphans", "own.wide", "--from", own, "--examples", 5, "--jobs", 2) == 1
    assert time.monotonic() - began < 25  # the child sleeps for 30 s, with the pipe open
    assert "own.orphans: the process that ran it died (signal SIGKILL)" in capsys.readouterr().out


def test_what_is_running_is_told(own):
    chosen = claims(["own.wide", "own.trains", "own.later"], [own])
    for jobs, most in ((1, 1), (2, 2)):
        seen = []
        found = list(
            run_all(chosen, modules=[own], examples=5, jobs=jobs, watch=lambda now, to=seen: to.append([*now]))
        )
        assert {result.claim.id for result in found} == {claim.id for claim in chosen}
        assert seen[0][0] == "own.trains"
        assert max(map(len, seen)) == most
    assert claims_text(2, 3, ["a", "b"]) == "2 of 3 claims done, running: a, b"
    assert claims_text(0, 9, "abcdef") == "0 of 9 claims done, running: a, b, c, d and 2 more"
    assert available_cores() >= 1


def test_closing_ends_the_processes(own):
    import multiprocessing

    chosen = claims(["own.slow", "own.trains"], [own])
    with closing(run_all(chosen, modules=[own], examples=5, jobs=2)) as runs:
        assert next(runs).claim.id == "own.trains"
        assert multiprocessing.active_children()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(("jobs", "slow"), [("1", "own.slow"), ("1", "own.makes-do"), ("2", "own.slow")])
@pytest.mark.one_in(3)
def test_ctrl_c_prints_what_is_done(own, jobs, slow):
    """Sent to all processes at once, as a terminal does."""
    command = [sys.executable, "-m", "verify", "claims", "own.trains", slow, "own.wide", "--from", own]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    text = OWN.replace("def forever(_):", "def forever(_):\n    open(str(os.getpid()), 'w')")
    text = text.replace("def number(instance):", "def number(instance):\n    open('others', 'w')")
    Path("own_claims.py").write_text(text, encoding="utf-8")
    process = subprocess.Popen(
        [*command, "--examples", "5", "--jobs", jobs], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8", start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while time.monotonic() < until and not (
        any(file.name.isdigit() for file in Path().iterdir()) and (jobs == "1" or Path("others").exists())
    ):
        time.sleep(0.05)
    time.sleep(1)  # the first instance of own.wide was seen: the other four
    os.killpg(process.pid, signal.SIGINT)
    out, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert error.strip() == "isoptimal: interrupted before it was done"
    assert re.search(r"own\.trains +held", out)
    assert slow not in out
    assert ("own.wide" in out) is (jobs == "2")
    (worker,) = (int(file.name) for file in Path().iterdir() if file.name.isdigit())
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


@pytest.mark.parametrize(
    ("module", "name", "ask"), [("decisions", "audit", "audited"), ("trainings", "train", "trained")]
)
def test_ctrl_c_within_an_audit_or_a_training_is_passed_on(monkeypatch, module, name, ask):
    """Both would end with what they have, and the next instance would go on."""

    interrupted = Mock(spec=Audit, status=TrainingStatus.INTERRUPTED, ending=Ending.INTERRUPTED)
    module = import_module(f"verify.claims.{module}")
    monkeypatch.setattr(module, name, lambda *_, **__: interrupted)
    instance = read_instance("max-margin/dead-neuron")
    for _ in range(2):  # nothing of it is kept
        with pytest.raises(KeyboardInterrupt):
            getattr(module, ask)(instance)
