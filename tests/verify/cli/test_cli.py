"""The command line: what each command prints and writes, its exit status, and one sentence for every fault."""

import io
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import verify.auditing.loop
import verify.corpus
from verify.cli import program
from verify.cli.checking import readable
from verify.cli.progress import ProgressLine, progress_text
from verify.deciders.finding import Ending

OTHER_COLUMNS = "the data have 3 columns, but the network takes 2 inputs: give the columns that it was trained on"
ROOT = Path(__file__).resolve().parents[3]
IRIS = ROOT / "examples" / "iris"
CASE = {
    "schema": "case-1",
    "comment": "A KKT point that wastes its second neuron.",
    "source": "arXiv:2110.02732, Theorem 3.2",
    "flags": [],
    "problem": {
        "goal": "max-margin", "bias": "none", "slope": "0",
        "inputs": [["1", "1/4"], ["-1", "1/4"]], "targets": ["1", "1"],
    },
    "network": {"W": [["0", "2"], ["0", "0"]], "v": ["2", "0"]},
    "expect": {},
}  # fmt: skip
W, V = np.array([[1.0, 0.0], [0.0, -1.0]]), np.array([1.0, 1.0])
X, Y = np.array([[1.0, 1.0], [0.0, -1.0]]), np.array([1.0, 1.0])
CERTIFICATES = [
    f"{name}.json"
    for name in (
        "fits",
        "global-any-width",
        "global-optimum",
        "local-optimum",
        "lower-bound",
        "stationary",
        "upper-bound",
    )
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder that holds net.npz and data.npz (the tie case)."""
    monkeypatch.chdir(tmp_path)
    np.savez("net.npz", W=W, v=V, slope=0)
    np.savez("data.npz", X=X, y=Y)
    return tmp_path


def run(*arguments, **options):
    return CliRunner().invoke(program, list(map(str, arguments)), prog_name="isoptimal", **options)


def isoptimal(*arguments, **options):
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    return subprocess.run(
        [sys.executable, "-m", "verify", *map(str, arguments)],
        capture_output=True, text=True, env=environment, timeout=120, **options,
    )  # fmt: skip


def refusal(*arguments):
    """The one sentence of a command that must be refused with status 2."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("isoptimal: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("isoptimal: ").rstrip("\n")


# ------------------------------------------------------------------------------------------------- audit


def test_the_report_is_printed(folder):
    result = run("audit", "net.npz", "data.npz")
    assert (result.exit_code, result.stderr) == (0, "")
    for text in ("Network of 2 ReLU neurons", "refuted", "best possible", "7 files, not written", "1.70710678"):
        assert text in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert sorted(path.name for path in folder.iterdir()) == ["data.npz", "net.npz"]


def test_width_of_the_environment(folder):
    assert max(map(len, run("audit", "net.npz", "data.npz", env={"COLUMNS": "70"}).stdout.splitlines())) <= 70


def test_the_iris_network_end_to_end(folder):
    audited = run("audit", IRIS / "net.npz", IRIS / "data.npz", "--certificates", "proofs", "--json", "audit.json")
    assert (audited.exit_code, audited.stderr) == (0, "")
    assert "not within 1e-6" in audited.stdout
    assert "files in proofs; to check them again: isoptimal check proofs" in audited.stdout
    written = json.loads(Path("audit.json").read_text(encoding="utf-8"))
    assert written["findings"]["fits"]["certificates"] == ["proofs/fits.json"]
    lower, upper = map(Fraction, written["bracket"])
    assert 0 <= upper / lower - 1 <= Fraction(1, 10**6)
    checked = run("check", "proofs", "--network", IRIS / "net.npz", "--data", IRIS / "data.npz")
    assert checked.exit_code == 0
    lines, table = checked.stdout.split("\n\nwhat is proved\n")
    assert {line.split()[0] for line in lines.splitlines()} == {"accepted"}
    assert " stationary        refuted  within 1/1000, the network, stationary.json" in table.splitlines()
    assert len(lines.splitlines()) == 2 + sum(
        json.loads(file.read_text()).get("schema") == "certificate-1" for file in Path("proofs").iterdir()
    )


def test_a_case_file_alone(folder):
    Path("case.json").write_text(json.dumps(CASE))
    result = run("audit", "case.json", "--tol", "1e-7", "--certificates", "proofs", "--json", "out.json")
    assert result.exit_code == 0
    assert "λ = (2, 2)" in result.stdout
    assert "1.940285000 … 1.940285001" in result.stdout
    written = json.loads(Path("out.json").read_text(encoding="utf-8"))
    low, high = map(Fraction, written["bracket"])
    assert Fraction("1.940284") <= low <= high <= Fraction("1.940286")
    assert {name: found["verdict"] for name, found in written["findings"].items()} == {
        "fits": "proved", "stationary": "proved", "local_optimum": "refuted", "global_optimum": "refuted",
        "global_any_width": "refuted",
    }  # fmt: skip
    assert run("check", "proofs").exit_code == 0


def test_json_on_standard_output_is_alone_there(folder):
    result = run("audit", "net.npz", "data.npz", "--json", "-")
    assert json.loads(result.stdout)["schema"] == "audit-1"
    assert "best possible" in result.stderr


def test_csv_and_options(folder):
    Path("data.csv").write_text("label,a,b\n1,1,1\n0,0,-1\n")
    result = run("audit", "net.npz", "data.csv", "--target", "label", "--stationary-tol", "0.5", "--slope", "0")
    assert result.exit_code == 0
    assert "· data.csv: column 'label' holds the labels 0 and 1: they are read as -1 and 1" in result.stdout
    result = run("audit", "net.npz", "data.csv", "--target", "label", "--goal", "min-norm")
    assert "min-norm: the least norm with f(x) = y" in result.stdout
    assert "are read as" not in result.stdout


def test_an_output_bias_as_a_neuron_and_a_free_bias(folder):
    np.savez("b2.npz", W=W, v=V, b2=0.25)
    result = run("audit", "b2.npz", "data.npz", "--output-bias", "neuron", "--bias", "free")
    assert result.exit_code == 0
    assert "Network of 3 ReLU neurons with biases" in result.stdout
    assert "· b2.npz holds no slope: it is read as ReLU (slope 0)" in result.stdout


@pytest.mark.parametrize(
    ("required", "status", "sentence"),
    [
        ("stationary", 0, ""),
        ("local", 1, "isoptimal: --require local is not met: refuted, "),
        ("global", 1, "isoptimal: --require global is not met: refuted, "),
    ],
)
def test_require(folder, required, status, sentence):
    result = run("audit", "net.npz", "data.npz", "--require", required)
    assert result.exit_code == status
    assert result.stderr.startswith(sentence)
    assert result.stderr.count("\n") == status
    assert "best possible" in result.stdout


def test_require_takes_a_proof_about_another_network_only_with_near(folder):
    """An optimum in floats: what is proved is that the exact one is enclosed, about 1e-6 away."""
    size = 2 / 17**0.25
    rows = np.array([[4.0, 1.0], [-4.0, 1.0]]) / np.sqrt(17) * size
    np.savez("net.npz", W=rows + 1e-6, v=np.array([size, size]), slope=0)
    np.savez("data.npz", X=np.array([[1.0, 0.25], [-1.0, 0.25]]), y=Y)
    files = ("audit", "net.npz", "data.npz", "--require", "local")
    result = run(*files)
    assert result.exit_code == 1
    assert "--require local is not met: it is proved of another network only" in result.stderr
    option = result.stderr.split("give ")[1].split()
    assert option[0] == "--near"
    assert run(*files, *option).exit_code == 0
    assert run(*files, "--near", "1e-12").exit_code == 1
    assert run("audit", "net.npz", "data.npz", "--require", "stationary").exit_code == 0  # up to 1e-3, itself


def test_a_time_limit_is_a_job_done(folder):
    hard_problem()
    began = time.monotonic()
    result = run("audit", "net.npz", "data.npz", "--time-limit", "0.5")
    assert time.monotonic() - began < 60
    assert result.exit_code == 0
    assert "stopped by the time limit" in result.stdout


def test_an_interrupted_audit_is_reported_and_ends_with_130(folder, monkeypatch):
    audit = verify.auditing.loop.audit

    def interrupted(*arguments, **options):
        from dataclasses import replace

        return replace(audit(*arguments, **options), ending=Ending.INTERRUPTED)

    monkeypatch.setattr(verify.auditing.loop, "audit", interrupted)
    result = run("audit", "net.npz", "data.npz", "--json", "out.json", "--require", "global")
    assert result.exit_code == 130
    assert "interrupted, with the best bracket so far" in result.stdout
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["status"] == "interrupted"


def test_an_interrupt_before_there_is_anything_to_report(folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(verify.auditing.loop, "audit", interrupted)
    result = run("audit", "net.npz", "data.npz")
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr.strip() == "isoptimal: interrupted before it was done"


def hard_problem():
    """Random labels in dimension 5, and a network that does not fit them: minutes of search for the bracket."""
    random = np.random.default_rng(0)
    np.savez("net.npz", W=random.normal(size=(3, 5)), v=random.normal(size=3), slope=0)
    np.savez("data.npz", X=random.normal(size=(60, 5)), y=random.choice([-1, 1], size=60))


@pytest.mark.slow
def test_control_c_and_the_progress_line(folder):
    hard_problem()
    shown, terminal = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "90"}
    process = subprocess.Popen(
        [sys.executable, "-m", "verify", "audit", "net.npz", "data.npz", "--json", "out.json"],
        stdout=subprocess.PIPE, stderr=terminal, env=environment, text=True,
    )  # fmt: skip
    os.close(terminal)
    seen = ""
    while "round " not in seen:
        seen += os.read(shown, 4096).decode(errors="replace")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    os.close(shown)
    assert "auditing" in seen
    assert process.returncode == 130, output
    assert "interrupted, with the best bracket so far" in output
    assert "Traceback" not in output
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["status"] == "interrupted"


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        (0.0, float("inf"), "round 3"),
        (0.0, 2.0, "round 3, best possible about 0 … 2"),
        (1.5, 2.0, "round 3, best possible about 1.5 … 2, gap 3.3e-01"),
    ],
)
def test_progress_of_a_search(lower, upper, text):
    from solvers.any_width.dual_cuts import Progress

    assert progress_text(Progress(3, lower, upper, 10, 20, 12.1), "…") == text


def test_the_line_on_a_terminal_tells_the_time_and_after_a_while_how_to_stop():
    from rich.console import Console

    moments = [100.0]
    line = ProgressLine("auditing", "keeps what is proved", lambda: moments[-1])
    assert str(line) == "auditing, 0 s"
    moments.append(109.0)
    line.show("round 3")
    assert str(line) == "auditing, 9 s: round 3"
    moments.append(161.0)
    told = "auditing, 61 s: round 3 (Ctrl-C stops and keeps what is proved, as --time-limit SECONDS does)"
    assert str(line) == told
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(line)
    assert told in console.export_text()
    assert "Ctrl-C" not in str(ProgressLine("claims", None, iter([0.0, 99.0]).__next__))


# ------------------------------------------------------------------------------------------------- bad input


def changed(**change):
    return {"W": W, "v": V, "X": X, "y": Y} | change


NETWORKS = {
    "NaN in W": ({"W": [[1.0, np.nan], [0.0, 1.0]]}, "W[0, 1] is nan: every number must be finite"),
    "infinite v": ({"v": [1.0, np.inf]}, "v[1] is inf: every number must be finite"),
    "complex W": ({"W": W.astype(complex)}, "W is complex: store real numbers"),
    "objects": ({"W": W.astype(object)}, "W is an array of Python objects: convert it to numbers first"),
    "v too long": ({"v": np.ones(3)}, "W has shape (2, 2) but v has 3 entries"),
    "W not a matrix": ({"W": np.ones(2)}, "W has shape (2,) and must be (neurons, inputs)"),
    "W empty": ({"W": np.ones((0, 2))}, "W is empty (shape (0, 2))"),
    "no v": ({"v": None}, "lacks v: it must hold W and v"),
    "text": ({"W": W.astype(str)}, "W is text: store numbers"),
    "slope": ({"slope": 2.0}, "slope is 2: it must lie between 0 (ReLU) and 1 (linear)"),
}
DATA = {
    "NaN in X": ({"X": [[1.0, np.nan], [0.0, 1.0]]}, "X[0, 1] is nan: every number must be finite"),
    "infinite y": ({"y": [1.0, -np.inf]}, "y[1] is -inf: every number must be finite"),
    "complex X": ({"X": X.astype(complex)}, "X is complex: store real numbers"),
    "objects": ({"y": Y.astype(object)}, "y is an array of Python objects"),
    "lengths": ({"y": np.ones(3)}, "X has 2 points but y has 3 targets"),
    "other dimension": ({"X": np.ones((2, 3))}, OTHER_COLUMNS),
    "no y": ({"y": None}, "lacks y: it must hold X and y"),
    "empty": ({"X": np.ones((0, 2)), "y": np.ones(0)}, "X is empty (shape (0, 2))"),
    "labels": ({"y": [2.0, 3.0]}, "targets[0] is 2; max-margin needs targets 1 and -1"),
    "text labels": ({"y": ["cat", "dog"]}, "y holds text ('cat', 'dog')"),
}


def save(name, **arrays):
    np.savez(name, **{key: np.asarray(value) for key, value in arrays.items() if value is not None})


def refused_audit(*arguments):
    """The sentence; and nothing is written."""
    before = sorted(Path.cwd().rglob("*"))
    sentence = refusal("audit", *arguments, "--json", "out.json", "--certificates", "proofs")
    assert sorted(Path.cwd().rglob("*")) == before
    return sentence


def test_an_option_without_its_argument_names_the_help_of_its_command(folder):
    assert refusal("audit", "net.npz", "data.npz", "--html") == (
        "Option '--html' requires an argument: see isoptimal audit --help"
    )
    assert refusal("widths", "data.npz", "--up-to").endswith(": see isoptimal widths --help")


@pytest.mark.parametrize("name", NETWORKS)
def test_bad_networks(folder, name):
    change, sentence = NETWORKS[name]
    save("net.npz", **{"W": W, "v": V} | change)
    assert sentence in refused_audit("net.npz", "data.npz")


@pytest.mark.parametrize("name", DATA)
def test_bad_data(folder, name):
    change, sentence = DATA[name]
    save("data.npz", **{"X": X, "y": Y} | change)
    said = refused_audit("net.npz", "data.npz", "--goal", "max-margin")
    assert sentence in said
    assert "data.npz" in said


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("data.csv", "a,b,label\n1,1,1\n", "has no column 'class' for the target: its columns are a, b, label"),
        ("data.csv", "", "data.csv is empty"),
        ("data.npz", "hello", "data.npz"),
        ("data.npz", "PK\3\4 cut short", "data.npz is damaged or cut short"),
        ("none.csv", None, "none.csv does not exist: check the path"),
        ("data.xlsx", "", "data are read from .npz, .csv or .json files"),
    ],
)
def test_unreadable_files(folder, name, content, sentence):
    if content is not None:
        Path(name).write_text(content)
    assert sentence in refused_audit("net.npz", name, *(("--target", "class") if name.endswith("csv") else ()))


def test_a_folder_for_a_file(folder):
    Path("net.json").mkdir()
    assert "net.json is a folder: give the file" in refused_audit("net.json", "data.npz")
    assert "net.json is a folder: give the file" in refused_audit("net.json")


def test_network_and_data_exchanged(folder):
    assert "give the network first, then the data" in refused_audit("data.npz", "net.npz")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("net.npz",), "net.npz is no case file, and comes without data: give isoptimal audit NETWORK DATA"),
        (("net.npz", "data.npz", "--bias", "free"), "has no bias, which does not go with bias mode 'free'"),
        (("net.npz", "data.npz", "--slope", "1/2"), "says slope 0 but slope 1/2 is given"),
        (("net.npz", "data.npz", "--slope", "x"), "the slope given is 'x'"),
        (("net.npz", "data.npz", "--target", "y"), "is the name of a CSV column"),
        (("net.npz", "data.npz", "--tol", "-1"), "'-1' is not a number of at least 0"),
        (("net.npz", "data.npz", "--tol", "nan"), "'nan' is not a number of at least 0"),
        (("net.npz", "data.npz", "--tol", "1e9999"), "'1e9999' has too many digits, or too large an exponent"),
        (("net.npz", "data.npz", "--tol", "1/0"), "'1/0' is not a number of at least 0"),
        (("net.npz", "data.npz", "--stationary-tol", "."), "'.' is not a number of at least 0"),
        (("net.npz", "data.npz", "--time-limit", "0"), "'0' is not a number of more than 0"),
        (("net.npz", "data.npz", "--goal", "best"), "see isoptimal audit --help"),
        (("net.npz", "data.npz", "more"), "see isoptimal audit --help"),
        ((), "Missing argument 'NETWORK': see isoptimal audit --help"),
    ],
)
def test_bad_arguments(folder, arguments, sentence):
    assert sentence in refused_audit(*arguments)


@pytest.mark.parametrize("option", ["--goal", "--bias", "--slope", "--target"])
def test_a_case_file_brings_its_own_problem(folder, option):
    Path("case.json").write_text(json.dumps(CASE))
    value = {"--goal": "max-margin", "--bias": "none"}.get(option, "0")
    assert f"{option} is given, but the case file case.json holds its own" in refused_audit("case.json", option, value)


def test_a_case_that_trains_only_the_hidden_layer_is_asked_about_it(folder):
    Path("case.json").write_text(json.dumps(CASE | {"problem": CASE["problem"] | {"trained": "hidden"}}))
    result = run("audit", "case.json")
    assert result.exit_code == 0
    assert "only the hidden layer is trained" in " ".join(result.output.split())
    assert "--trained is given, but the case file case.json holds its own" in refused_audit(
        "case.json", "--trained", "both"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--json", "none/out.json"), "none/out.json cannot be written, because none is not a folder"),
        (("--json", "net.npz/out.json"), "because net.npz is not a folder"),
        (("--json", "."), ". is a folder: give the name of a file to write"),
        (("--json", "data.npz"), "data.npz is an input, which would be overwritten"),
        (("--json", "./net.npz"), "./net.npz is an input, which would be overwritten"),
        (("--certificates", "none/proofs"), "none/proofs cannot be written, because none is not a folder"),
        (("--certificates", "net.npz"), "net.npz is a file: give the name of a folder"),
        (("--certificates", "."), ". holds data.npz: give a new folder, an empty one, or one with an earlier audit"),
        (("--certificates", "p", "--json", "p/a.json"), "p/a.json lies among the certificates"),
    ],
)
def test_outputs_are_checked_before_the_work(folder, monkeypatch, arguments, sentence):
    monkeypatch.setattr(verify.auditing.loop, "audit", None)
    assert sentence in refusal("audit", "net.npz", "data.npz", *arguments)
    assert sorted(path.name for path in folder.iterdir()) == ["data.npz", "net.npz"]


def test_places_that_deny_access(folder, monkeypatch):
    Path("old.json").touch()
    Path("old").mkdir()
    monkeypatch.setattr("verify.cli.places.os.access", lambda path, _: Path(path).name not in ("old.json", "old"))
    files = ("audit", "net.npz", "data.npz")
    assert "old.json cannot be written: check its permissions" in refusal(*files, "--json", "old.json")
    assert "old cannot be written: check its permissions" in refusal(*files, "--certificates", "old")
    for option in ("--json", "--certificates"):
        assert "because old is not writable" in refusal(*files, option, "old/new")


def test_an_earlier_audit_is_replaced_and_nothing_else(folder):
    assert run("audit", "net.npz", "data.npz", "--certificates", "proofs").exit_code == 0
    Path("proofs/infeasible.json").write_text("{}")
    assert run("audit", "net.npz", "data.npz", "--certificates", "proofs").exit_code == 0
    assert not Path("proofs/infeasible.json").exists()
    Path("proofs/mine.txt").write_text("")
    assert "proofs holds mine.txt" in refusal("audit", "net.npz", "data.npz", "--certificates", "proofs")
    Path("proofs/mine.txt").unlink()
    Path("proofs/audit.json").write_text("[]")
    sentence = refusal("audit", "net.npz", "data.npz", "--certificates", "proofs")
    assert sentence.startswith("proofs is not empty and holds no audit")


def test_a_disk_that_is_full_after_the_work(folder, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "another name")

    monkeypatch.setattr(Path, "write_bytes", full)
    result = run("audit", "net.npz", "data.npz", "--json", "out.json")
    assert result.exit_code == 2
    assert result.stderr == "isoptimal: out.json cannot be written (No space left on device)\n"
    assert "best possible" in result.stdout


def test_an_internal_error_is_one_sentence_with_its_place(folder, monkeypatch):
    monkeypatch.setattr("verify.deciders.subjects.stationarity", lambda *_, **__: {}["missing"])
    result = run("audit", "net.npz", "data.npz")
    assert (result.exit_code, result.stdout) == (70, "")
    assert result.stderr.startswith("isoptimal: internal error in verify/deciders/subjects.py, line ")
    assert "(KeyError: 'missing'), so nothing is proved; please report it" in result.stderr
    assert result.stderr.count("\n") == 1
    result = run("audit", "net.npz", "data.npz", "--debug")
    assert result.exit_code == 70
    assert "Traceback" in result.stderr


# ------------------------------------------------------------------------------------------------- check


@pytest.fixture
def proofs(folder):
    assert run("audit", "net.npz", "data.npz", "--certificates", "proofs").exit_code == 0
    return folder / "proofs"


def test_check_a_folder(proofs):
    result = run("check", "proofs")
    assert (result.exit_code, result.stderr) == (0, "")
    lines, table = (part.splitlines() for part in result.stdout.split("\n\nwhat is proved\n"))
    assert [line.split(":")[0] for line in lines] == [f"accepted proofs/{name}" for name in CERTIFICATES]
    assert [row.split()[:2] for row in table[:5]] == [
        ["fits", "proved"], ["stationary", "proved"], ["local_optimum", "refuted"], ["global_optimum", "refuted"],
        ["global_any_width", "refuted"],
    ]  # fmt: skip
    assert all(line.endswith("about the exact values of the stored numbers") for line in lines)


def test_check_one_certificate(proofs):
    result = run("check", "proofs/problem.json", "proofs/network.json", "proofs/stationary.json")
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1)
    assert run("check", "proofs/problem.json", "-", "proofs/lower-bound.json").exit_code == 0
    result = run("check", "proofs/problem.json", "-", "proofs/stationary.json")
    assert result.exit_code == 1
    assert result.stdout.startswith("refused proofs/stationary.json: network: ")


def altered(path, **change):
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")


def test_a_refused_certificate(proofs):
    altered(proofs / "lower-bound.json", bracket=["2", None])
    result = run("check", "proofs")
    assert result.exit_code == 1
    refused = [line for line in result.stdout.splitlines() if line.startswith("refused")]
    assert refused[0].startswith("refused proofs/lower-bound.json: claim: ")
    assert "refused proofs/lower-bound.json: is not the file that audit.json names: its SHA-256 differs" in refused
    assert any(line.startswith("refused proofs/audit.json: bracket is ") for line in refused)


def test_a_certificate_that_cannot_be_read_is_refused(proofs):
    (proofs / "fits.json").write_text('{"schema": "certificate-1", "kind": "fits", "margin": 0.5}')
    (proofs / "stationary.json").write_bytes(b"\xff\xfe")
    (proofs / "strange.json").write_text('{"schema": "audit-1"}')
    result = run("check", "proofs")
    assert result.exit_code == 1
    refused = [line for line in result.stdout.splitlines() if line.startswith("refused")]
    assert [line.split(":")[0] for line in refused[:3]] == [
        f"refused proofs/{name}.json" for name in ("fits", "stationary", "strange")
    ]
    assert "refused proofs/strange.json: is not listed in audit.json" in refused


def test_no_file_of_an_audit_can_be_missing_or_changed_unnoticed(proofs):
    names = sorted(path.name for path in proofs.iterdir() if path.name not in ("audit.json", "problem.json"))
    assert {"network.json", "lower-bound.json", "upper-bound.json", "better.network.json", *CERTIFICATES} <= set(names)
    for name in names:
        content = (proofs / name).read_bytes()
        (proofs / name).unlink()
        result = run("check", "proofs")
        assert result.exit_code == 1, name
        assert f"refused proofs/{name}: is named in audit.json and is missing" in result.stdout.splitlines()
        (proofs / name).write_bytes(content + b" ")
        result = run("check", "proofs")
        assert result.exit_code == 1, name
        said = f"refused proofs/{name}: is not the file that audit.json names: its SHA-256 differs"
        assert said in result.stdout.splitlines()
        (proofs / name).write_bytes(content)
    assert run("check", "proofs").exit_code == 0


def test_certificates_without_an_audit_are_checked_when_they_are_said_to_be_bare(proofs):
    (proofs / "audit.json").unlink()
    result = run("check", "proofs")
    assert result.exit_code == 1
    assert "refused proofs/audit.json: is missing: nothing says what" in result.stdout
    for name in ("better", "better-own-width"):
        (proofs / f"{name}.network.json").unlink()
    result = run("check", "proofs", "--bare")
    assert result.exit_code == 0
    assert "what is proved" not in result.stdout
    (proofs / "fits.json").write_text("{}")
    assert run("check", "proofs", "--bare").exit_code == 1
    assert refusal("check", "a", "b", "c", "--bare").startswith("Give one folder, or PROBLEM NETWORK CERTIFICATE")


def test_another_network_is_never_that_of_certificates_without_one(proofs):
    """Not even where it has the same shape."""
    np.savez("other.npz", W=2 * W, v=V, slope=0)
    files = ("proofs/problem.json", "-", "proofs/lower-bound.json")
    said = "not the network of the certificates: they come with no network.json to compare it with"
    for name in ("net.npz", "other.npz"):
        result = run("check", *files, "--network", name)
        assert result.exit_code == 1
        assert result.stdout.splitlines()[0] == f"refused {name}: {said}"
    (proofs / "network.json").unlink()
    result = run("check", "proofs", "--network", "other.npz")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == f"refused other.npz: {said}"


def test_a_certificate_that_audit_json_names_is_missing(proofs):
    (proofs / "stationary.json").unlink()
    result = run("check", "proofs")
    assert result.exit_code == 1
    assert "refused proofs/stationary.json: is named in audit.json and is missing" in result.stdout.splitlines()
    (proofs / "audit.json").write_text("[]")
    result = run("check", "proofs")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == ("refused proofs/audit.json: is not the JSON object that isoptimal writes")


def test_another_network_beside_the_certificates(proofs):
    np.savez("other.npz", W=W, v=2 * V, slope=0)
    result = run("check", "proofs", "--network", "other.npz", "--data", "data.npz")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[:2] == [
        "refused other.npz: not the network of the certificates", "accepted data.npz: the data of the certificates",
    ]  # fmt: skip
    assert run("check", "proofs", "--network", "net.npz").stdout.startswith(
        "accepted net.npz: the network of the certificates"
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"X": np.array([[1, 1], [0, 2**-50 - 1]])}, "point 1 (counting from 0) differs"),
        ({"y": -Y}, "point 0 (counting from 0) differs"),
        ({"X": X[:1], "y": Y[:1]}, "1 point, not 2"),
        ({"X": np.ones((2, 3))}, OTHER_COLUMNS),
    ],
)
def test_other_data_beside_the_certificates(proofs, change, why):
    save("other.npz", **{"X": X, "y": Y} | change)
    result = run("check", "proofs/problem.json", "-", "proofs/lower-bound.json", "--data", "other.npz")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == f"refused other.npz: not the data of the certificates: {why}"


def test_the_users_files_are_read_as_the_audit_read_them(folder):
    Path("data.csv").write_text("label,a,b\n1,1,1\n0,0,-1\n")
    np.savez("net.npz", W=W, v=V, b2=0.5)
    options = ("--target", "label")
    for goal in ("max-margin", "min-norm"):
        audited = run(
            "audit", "net.npz", "data.csv", "--output-bias", "neuron", "--slope", "0.1", "--goal", goal, *options,
            "--certificates", "proofs",
        )  # fmt: skip
        assert audited.exit_code == 0
        assert run("check", "proofs", "--network", "net.npz", "--data", "data.csv", *options).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Missing argument"),
        (("a", "b"), "Give one folder, or PROBLEM NETWORK CERTIFICATE: see isoptimal check --help"),
        (("none",), "none does not exist: give a folder that isoptimal audit --certificates wrote"),
        (("net.npz",), "net.npz is a file: give a folder that isoptimal audit"),
        (("empty",), "empty holds no problem.json"),
        (("bare",), "bare holds no certificate"),
        (("proofs", "--data", "none.npz"), "none.npz does not exist: check the path"),
        (("proofs/problem.json", "proofs/problem.json", "proofs/fits.json"), "proofs/problem.json is no network"),
        (("proofs/problem.json", "-", "none.json"), "none.json does not exist: check the path"),
    ],
)
def test_check_of_bad_input(proofs, arguments, sentence):
    for name in ("empty", "bare"):
        Path(name).mkdir()
    Path("bare/problem.json").write_bytes((proofs / "problem.json").read_bytes())
    assert sentence in refusal("check", *arguments)


def test_check_of_a_problem_that_is_none(folder):
    Path("broken").mkdir()
    Path("broken/problem.json").write_text("?")
    Path("broken/fits.json").write_text("{}")
    done = run("check", "broken")
    assert done.exit_code == 1
    assert "refused broken/problem.json: is no problem that isoptimal wrote (is no JSON: Expecting value" in done.output


def test_check_of_a_file_beyond_the_bound(proofs, monkeypatch):
    monkeypatch.setattr("verify.checker.codec.MAX_SIZE", 10)
    done = run("check", "proofs")
    assert done.exit_code == 1
    assert "refused proofs/problem.json: is no problem that isoptimal wrote (is longer than 10 char" in done.output
    monkeypatch.setattr("verify.cli.checking.MAX_SIZE", 10)
    files = [f"proofs/{name}.json" for name in ("problem", "network", "fits")]
    assert "problem.json is larger than 10 bytes: isoptimal writes none so large" in refusal("check", *files)


# ------------------------------------------------------------------------------------------------- regress, help


def test_regress_hands_over(folder, monkeypatch):
    def regress(path, *, add, echo):
        echo(f"decided {path} {add}")
        return 1

    monkeypatch.setattr(verify.corpus, "regress", regress)
    result = run("regress", "cases", "--add", "new.json")
    assert (result.exit_code, result.stdout) == (1, "decided cases new.json\n")


def test_help_has_an_example_for_each_command():
    for command in ((), ("audit",), ("check",), ("regress",)):
        result = run(*command, "--help")
        assert (result.exit_code, result.stderr) == (0, "")
        assert "Example" in result.stdout
        assert " ".join(("  isoptimal", *command)) in result.stdout
        assert max(map(len, result.stdout.splitlines())) <= 100
    assert run().stdout == run("--help").stdout
    assert run("-h").exit_code == 0


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("isoptimal ")


def test_an_unknown_command():
    assert refusal("audits").startswith("No such command 'audits'")


# ------------------------------------------------------------------------------------------------- real processes


def test_check_needs_neither_numpy_nor_rich(proofs):
    code = """
import sys
from verify.cli import program
status = program.main(["check", "proofs"], standalone_mode=False)
heavy = {"numpy", "scipy", "cvxpy", "rich", "solvers", "sympy"} & set(sys.modules)
sys.exit(str(heavy) if heavy else status)
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


ALONE = """
import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
runpy.run_module("verify.checker", run_name="__main__", alter_sys=True)
"""


def test_certificates_are_checked_with_nothing_installed(proofs):
    for name in CERTIFICATES:
        network = "-" if name in ("lower-bound.json", "upper-bound.json") else "proofs/network.json"
        arguments = [str(ROOT), "proofs/problem.json", network, f"proofs/{name}"]
        command = [sys.executable, "-S", "-c", ALONE, *arguments]
        result = subprocess.run(command, env={}, capture_output=True, text=True)
        assert (result.returncode, result.stderr) == (0, ""), name
        assert result.stdout.startswith("accepted: ")


def test_help_and_check_start_quickly(proofs):
    for arguments in (("--help",), ("check", "proofs")):
        seconds = []
        while len(seconds) < 12 and not any(one < 0.4 for one in seconds):  # other processes only make it longer
            began = resource.getrusage(resource.RUSAGE_CHILDREN)
            assert isoptimal(*arguments).returncode == 0
            ended = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime)
        assert min(seconds) < 0.4  # of processor time: 0.1 s, and imports of the solvers would take a second


def test_help_and_check_import_no_solvers(proofs):
    """What takes the time, on any machine: numpy, and all that needs it."""
    for arguments in (("--help",), ("check", "proofs")):
        told = isoptimal(*arguments, env={"PYTHONPROFILEIMPORTTIME": "1"})
        assert told.returncode == 0
        imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in told.stderr.splitlines()}
        assert "verify" in imported
        assert not imported & {"numpy", "scipy", "cvxpy", "numba", "clarabel", "highspy", "sympy", "matplotlib"}


def test_status_and_streams_of_a_real_process(folder):
    result = isoptimal("audit", "net.npz", "none.npz")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "isoptimal: none.npz does not exist: check the path\n"
    result = isoptimal("audit", "net.npz", "data.npz", "--json", "-", env={"PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0
    assert json.loads(result.stdout)["status"] == "done"
    assert result.stderr.isascii()


def test_standard_output_that_cannot_be_written(folder):
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "verify", "audit", "net.npz", "data.npz"],
            stdout=full, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert result.returncode == 2
    assert result.stderr.startswith("isoptimal: the output cannot be written (No space left on device)")


@pytest.mark.parametrize("hiding", ["solvers/__init__.py", "solvers.py"])
def test_solvers_of_the_user_that_hide_ours(folder, hiding):
    place = folder / "mine" / hiding
    place.parent.mkdir(parents=True)
    place.touch()
    result = isoptimal("audit", "net.npz", "data.npz", env={"PYTHONPATH": f"{folder / 'mine'}{os.pathsep}{ROOT}"})
    assert (result.returncode, result.stdout) == (2, "")
    hidden = place if hiding == "solvers.py" else place.parent
    assert result.stderr.startswith(f"isoptimal: {hidden} hides the package solvers of isoptimal: rename it")


def test_solvers_that_are_missing(folder, monkeypatch):
    monkeypatch.setattr("verify.cli.failures.find_spec", lambda _: None)
    assert "the package solvers is not beside the package verify" in refusal("audit", "net.npz", "data.npz")


def test_a_reader_that_wants_no_more_ends_it_quietly(folder):
    for command in ("audit net.npz data.npz --json -", "--help", "regress --help", "data --help"):
        line = f"{sys.executable} -m verify {command} | true; echo ${{PIPESTATUS[0]}}"
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        result = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, timeout=120)
        assert result.stdout in ("141\n", "0\n")  # 0: all was written before the reader left
        assert "isoptimal:" not in result.stderr
        assert "Traceback" not in result.stderr
        assert "Exception ignored" not in result.stderr


def test_output_without_a_reader(folder):
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        [sys.executable, "-m", "verify", "--help"],
        stdout=writing, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    os.close(writing)
    assert (result.returncode, result.stderr) == (141, "")


def test_shells_are_told_how_to_complete(folder):
    result = isoptimal(env={"_ISOPTIMAL_COMPLETE": "zsh_source"})
    assert (result.returncode, result.stderr) == (0, "")
    assert "compdef" in result.stdout
    words = {"COMP_WORDS": "isoptimal reg", "COMP_CWORD": "1", "_ISOPTIMAL_COMPLETE": "bash_complete"}
    assert isoptimal(env=words).stdout == "plain,regress\n"


def test_a_module_that_ends_the_program_proves_nothing(folder, monkeypatch):
    monkeypatch.setattr(verify.auditing.loop, "audit", lambda *_, **__: sys.exit(0))
    result = run("audit", "net.npz", "data.npz")
    assert result.exit_code == 70
    assert "the code of a module ended the program (0), so nothing is proved" in result.stderr


@pytest.mark.parametrize(
    ("error", "sentence"), [(MemoryError(), "there is not enough memory"), (RecursionError(), "nested too deeply")]
)
def test_what_is_too_much_is_one_sentence(folder, monkeypatch, error, sentence):
    def audit(*_, **__):
        raise error

    monkeypatch.setattr(verify.auditing.loop, "audit", audit)
    assert sentence in refusal("audit", "net.npz", "data.npz")
    assert "Traceback" in run("audit", "net.npz", "data.npz", "--debug").stderr


@pytest.mark.parametrize("depth", [10, 300, 990, 10**5])
@pytest.mark.parametrize("name", ["W", "v", "masks", "comment", "parameters"])
def test_deep_nesting_is_one_sentence(folder, depth, name):
    deep = "[" * depth + "]" * depth
    known = {"W": "[[1]]", "v": "[1]"} | {name: deep}
    Path("net.json").write_text("{" + ",".join(f'"{key}": {text}' for key, text in known.items()) + "}")
    refusal("audit", "net.json", "data.npz")
    Path("case.json").write_text(json.dumps(CASE).replace('"A KKT point that wastes its second neuron."', deep))
    refusal("audit", "case.json")
    refusal("regress", "case.json")


@pytest.mark.parametrize("module", ["click", "verify.cli.auditing", "traceback"])
def test_control_c_while_modules_are_imported_is_one_line(folder, module):
    code = f"""
import builtins
original = builtins.__import__
def interrupted(name, *rest):
    if name == {module!r}:
        raise KeyboardInterrupt
    return original(name, *rest)
from verify.__main__ import main
builtins.__import__ = interrupted
main()
"""
    result = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr == "isoptimal: interrupted before it was done\n"


def test_a_case_is_added_to_a_folder_that_is_named(folder):
    Path("tie.json").write_text(json.dumps(CASE | {"flags": ["univariate"]}))
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "cases").rglob("*")}
    assert "no folder for the case is given: name one" in refusal("regress", "--add", "tie.json")
    assert "is not a folder" in refusal("regress", "net.npz", "--add", "tie.json")
    result = run("regress", "mine/new", "--add", "tie.json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("written to mine/new/max-margin/tie\n")
    assert run("regress", "mine/new").exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in (ROOT / "cases").rglob("*")} == before


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a number between 0.41 and 0.42 to a number between 0.43 and 0.44", "between 0.41 and 0.44"),
        ("7/2 to a number between 4.93672 and 4.93673", "between 7/2 and 4.93673"),
        ("a number between 0.41 and 0.42", "between 0.41 and 0.42"),
        (
            "fits, with least margin 0 (0 means every target within 79/10000), over",
            "fits, with every target within 79/10000, over",
        ),
        (
            "with least margin a number between 4 and 5 (0 means equality), over",
            "with least margin between 4 and 5, over",
        ),
        ("of at most a number between 24.3 and 24.4, over", "of at most 24.4, over"),
        ("of at least a number between 24.3 and 24.4, over", "of at least 24.3, over"),
        ("of at least 84574385016406016/17593120532185, over", "of at least 4807.24, over"),
        ("of at most 84574385016406016/17593120532185, over", "of at most 4807.25, over"),
        (
            "84574385016406016/17593120532185 to 84574385016406019/17593120532185",
            "between 4807.24 and 4807.25",
        ),
        ("within 1/1000000, of at least 6103515625/2", "within 1/1000000, of at least 6103515625/2"),
        ("the subject, within a number between 0.1 and 0.2 of the network", "the subject, within 0.2 of the network"),
        ("refuted", "refuted"),
    ],
)
def test_what_is_checked_is_told_in_few_words_rounded_to_its_side(text, shown):
    assert readable(text) == shown
