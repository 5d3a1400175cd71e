"""A folder of certificates is decided as a whole: genuine ones of every kind pass, and every tampering is refused.

Whoever tampers here knows the format: where a file is changed, its SHA-256 in audit.json is made to agree.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import verify.checker.checking
from verify import Dataset, InputError, Network, audit
from verify.checker import read_certificate
from verify.checker.__main__ import main
from verify.checker.bounds import UpperBound
from verify.checker.decision import Decision, Line
from verify.checker.derived import UNCERTIFIED, problem_facts
from verify.checker.fit import Fits
from verify.checker.folder import decide_folder
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.stationary import Stationary
from verify.checker.told import decimal
from verify.cli import program
from verify.deciders.global_optimality.bracket import bracket_optimum
from verify.deciders.proposal import sealed
from verify.problem.problem import Bias, Goal, Problem

ROOT = Path(__file__).parents[3]
F = Fraction
WASTED = Dataset([["1", "1/4"], ["-1", "1/4"]], [1, 1])  # arXiv:2110.02732, Theorem 3.2
SIZE = 2 / 17**0.25
OPTIMUM = np.array([[4.0, 1.0], [-4.0, 1.0]]) / np.sqrt(17) * SIZE


def poor():
    """A KKT point that wastes a neuron: refuted, 106 % above the best."""
    return audit(Network.two_layer([[0, 2], [0, 0]], [2, 0]), WASTED)


def optimal():
    """Proved with tolerance 0."""
    return audit(Network.two_layer([[1, 0], [-1, 0]], [1, 1]), Dataset([[1, 0], [-1, 0]], [1, 1]), tol=0)


def approximate():
    """Stationary up to epsilon, and an exact optimum enclosed nearby."""
    return audit(Network.two_layer((OPTIMUM + 1e-5).tolist(), [SIZE] * 2), WASTED, tol=1e-3)


def repaired():
    """A float network that meets its targets after a repair."""
    return audit(Network.two_layer([[0.3**0.5 + 1e-9]], [0.3**0.5]), ([[1.0], [2.0]], [0.3, 0.6]), goal="min-norm")


def misfit():
    return audit(Network.two_layer([[1, 0], [0, 0]], [1, 0]), WASTED)


def impossible():
    return audit(Network.two_layer([[1, 0], [0, 0]], [1, 0]), Dataset([[1, 0], [2, 0]], [1, -1]))


def symbolic():
    return audit(Network.two_layer(OPTIMUM.tolist(), [SIZE] * 2), WASTED, symbolic=True)


def no_formula():
    return audit(Network.two_layer([[1, 0], [0, 0]], [1, 0]), Dataset([[1, 0], [2, 0]], [1, -1]), symbolic=True)


def deep():
    from verify import Architecture, Layer

    layers = (*(Layer(inputs=1, outputs=1, slope=0) for _ in range(2)), Layer(inputs=1, outputs=1, slope=None))
    return audit(Network(Architecture(layers), ((1,), (1,), (1,))), (((1,),), (1,)))


MADE = {
    made.__name__: made for made in (poor, optimal, approximate, repaired, misfit, impossible, symbolic, no_formula)
}
MADE["deep"] = deep


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Every folder, as an audit wrote it."""
    place = tmp_path_factory.mktemp("saved")
    for name, made in MADE.items():
        made().save(place / name)
    return place


@pytest.fixture
def folder(saved, tmp_path, request):
    """A copy of one of them, to tamper with."""
    name = getattr(request, "param", "poor")
    if (saved / f"{name}-relaxed").is_dir():
        shutil.copytree(saved / f"{name}-relaxed", tmp_path / "proofs-relaxed")
    return Path(shutil.copytree(saved / name, tmp_path / "proofs"))


def refused(place):
    return [f"{line.file}: {line.text}" for line in decide_folder(place).lines if not line.is_accepted]


def said(place):
    return json.loads((place / "audit.json").read_text(encoding="utf-8"))


def rewritten(place, change):
    """audit.json changed, and the hashes of all files made to agree."""
    value = said(place)
    change(value)
    if isinstance(value.get("files"), dict):
        for name in value["files"]:
            if (place / name).is_file():
                value["files"][name] = hashlib.sha256((place / name).read_bytes()).hexdigest()
    (place / "audit.json").write_text(json.dumps(value), encoding="utf-8")


def listed(place, *names):
    """Files added to the list."""
    rewritten(place, lambda value: value["files"].update(dict.fromkeys(names, "")))


def put(place, name, certificate):
    problem, network = given(place)
    whole = sealed(problem, network, certificate)
    (place / name).write_text(whole.canonical_text(), encoding="utf-8")
    return whole


def given(place):
    problem, network = (json.loads((place / f"{name}.json").read_text("utf-8")) for name in ("problem", "network"))
    return Problem.from_json(problem), Network.from_json(network)


# ------------------------------------------------------------------------------------------------- genuine folders


@pytest.mark.parametrize("name", MADE)
def test_what_an_audit_writes_is_accepted(saved, name):
    found = decide_folder(saved / name)
    assert [line for line in found.lines if not line.is_accepted] == []
    assert found.is_accepted
    written = said(saved / name)
    rows = {row[0]: row for row in found.table}
    for question, finding in written["findings"].items():
        assert rows[question][1] == finding["verdict"]
        assert all(certificate in rows[question][2] for certificate in finding["certificates"])
    assert rows["not certified"][1].split(", ")[:2] == ["diagnosis", "findings.*.hints"]
    assert ("infeasible" in rows) is written["infeasible"]


@pytest.mark.parametrize("name", MADE)
def test_the_checker_alone_says_the_same(saved, name, capsys):
    assert main([str(saved / name)]) == 0
    printed = capsys.readouterr().out.splitlines()
    found = decide_folder(saved / name)
    assert printed[: len(found.lines)] == [f"accepted: {saved / name / line.file}: {line.text}" for line in found.lines]
    relaxed = [] if found.relaxed is None else [*found.relaxed.lines, *found.relaxed.table]
    assert len(printed) == len(found.lines) + len(found.table) + len(relaxed)
    assert bool(relaxed) is (saved / f"{name}-relaxed").is_dir() is (name in ("misfit", "impossible", "no_formula"))


def test_a_folder_is_decided_with_nothing_installed(saved, folder):
    """Not even the other packages of this environment can be seen."""
    for place, status in ((saved / "approximate", 0), (folder, 1)):
        if status:
            rewritten(folder, lambda value: value.update(excess=["0", "0"]))
        command = [sys.executable, "-S", "-E", "-W", "error", "-m", "verify.checker", str(place)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={})
        assert (done.returncode, done.stderr) == (status, "")
        assert ("refused" in done.stdout) is bool(status)


def test_a_folder_that_was_moved_is_the_same(saved, tmp_path):
    assert decide_folder(Path(shutil.copytree(saved / "approximate", tmp_path / "elsewhere"))).is_accepted


# ------------------------------------------------------------------------------------------------- audit.json


def at(value, *keys):
    for key in keys:
        value = value[key]
    return value


def setting(*keys_and_value):
    *keys, last, new = keys_and_value
    return lambda value: at(value, *keys).__setitem__(last, new)


def deleting(*keys):
    return lambda value: at(value, *keys[:-1]).__delitem__(keys[-1])


CHANGES = {
    "a verdict flipped": (
        setting("findings", "global_optimum", "verdict", "proved"), "findings.global_optimum.verdict",
    ),
    "all claimed": (
        lambda value: [finding.update(verdict="proved") for finding in value["findings"].values()],
        'findings.local_optimum.verdict is "proved", and the certificates prove "refuted"',
    ),
    "a verdict withheld": (
        lambda value: value["findings"]["global_any_width"].update(
            verdict="undecided", claim="", level=None, moved=None, distance=None, certificates=[], numbers={}
        ),
        "global-any-width.json: answers no question",
    ),
    "open, though another question's certificate answers it": (
        lambda value: value["findings"]["stationary"].update(
            verdict="undecided", claim="", level=None, moved=None, distance=None, certificates=[], numbers={}
        ),
        "stationary",
    ),
    "a verdict that there is not": (setting("findings", "fits", "verdict", "certain"), "findings.fits.verdict"),
    "a claim reworded": (setting("findings", "fits", "claim", "this network is the best"), "findings.fits.claim"),
    "excess 0": (setting("excess", ["0", "0"]), 'audit.json: excess is ["0", "0"]'),
    "no excess": (setting("excess", None), "audit.json: excess"),
    "an excess as floats": (setting("excess", [1.06, 1.06]), "audit.json: excess"),
    "the bracket": (setting("bracket", ["4", "4"]), "audit.json: bracket"),
    "the objective": (setting("objective", "2"), 'objective is "2", and the certificates prove "4"'),
    "the level": (setting("findings", "fits", "level", "near"), "findings.fits.level"),
    "a distance": (setting("findings", "fits", "distance", "1/10"), "findings.fits.distance"),
    "a distance as a float": (setting("findings", "fits", "moved", 0.5), "findings.fits.moved"),
    "a subject": (setting("findings", "fits", "subject", "better.network.json"), "findings.fits.subject"),
    "infeasible": (setting("infeasible", True), "infeasible is true, and the certificates prove false"),
    "the hash of the problem": (setting("problem", "sha256", "sha256:" + "0" * 64), "problem.sha256"),
    "the hash of the network": (setting("network", "sha256", "sha256:" + "0" * 64), "network.sha256"),
    "the size of the problem": (setting("problem", "points", 200), "problem.points"),
    "the width": (setting("network", "width", 3), "network.width"),
    "a true that is no 1": (setting("network", "depth", True), "network.depth"),
    "a wider tolerance": (setting("tolerance", "2"), "findings.global_optimum.within"),
    "a wider tolerance everywhere": (
        lambda value: (
            value.update(tolerance="2"),
            [value["findings"][name].update(within="2") for name in ("global_optimum", "global_any_width")],
        ),
        'findings.global_optimum.verdict is "refuted", and the certificates prove "undecided"',
    ),
    "a negative tolerance": (setting("tolerance", "-1"), "tolerance must be at least 0"),
    "a tolerance that is no number": (setting("tolerance", "small"), "tolerance must be a rational"),
    "no tolerance": (deleting("stationary_tolerance"), "stationary_tolerance"),
    "a better network's objective": (setting("better", "objective", "1"), "better.objective"),
    "a better network's size": (setting("better_own_width", "neurons", 1), "better_own_width.neurons"),
    "a better network's file": (setting("better", "file", "better-own-width.network.json"), "better.file"),
    "no better network": (setting("better", None), "better is null"),
    "another network's certificate for a question": (
        setting("findings", "stationary", "certificates", ["global-optimum.json"]),
        "global-optimum.json: is listed in findings.stationary.certificates: a certificate of kind better-network does",
    ),
    "a bound for a question": (
        setting("findings", "global_optimum", "certificates", ["lower-bound.json"]),
        "a certificate of kind lower-bound does not answer this question",
    ),
    "a certificate listed that is not there": (
        setting("findings", "fits", "certificates", ["fits.json", "more.json"]), "names 'more.json', which is no",
    ),
    "a certificate listed twice": (
        setting("findings", "fits", "certificates", ["fits.json", "fits.json"]), "names 'fits.json', which is no",
    ),
    "a certificate by a path": (setting("findings", "fits", "certificates", ["x/fits.json"]), "names 'x/fits.json'"),
    "certificates that are no list": (setting("findings", "fits", "certificates", "fits.json"), "is no list of files"),
    "a certificate that is no name": (setting("findings", "fits", "certificates", [[1]]), "names [1], which is no"),
    "a finding removed": (deleting("findings", "local_optimum"), "findings.local_optimum is missing"),
    "findings that are no object": (setting("findings", []), "audit.json: findings is []"),
    "a finding that is no object": (setting("findings", "fits", True), "findings.fits is true"),
    "a finding added": (setting("findings", "best_ever", {"verdict": "proved"}), "findings.best_ever is"),
    "an entry added": (setting("certified_by", "an authority"), "certified_by is"),
    "an entry added to a finding": (setting("findings", "fits", "note", "x"), "findings.fits.note is"),
    "bounds left out": (setting("bounds", []), "audit.json: bounds"),
    "another schema": (setting("schema", "audit-9"), "schema"),
    "a number": (setting("findings", "global_optimum", "numbers", {"tolerance": 0.5}), "numbers.tolerance"),
    "a closed form": (setting("symbolic", {"exact": "2", "moved": None, "certificates": []}), 'symbolic.exact is "2"'),
    "a closed form that is no object": (setting("symbolic", 4), "symbolic is 4"),
    "no list of files": (deleting("files"), "lists no files with their SHA-256"),
    "a list of files that is none": (setting("files", ["fits.json"]), "lists no files with their SHA-256"),
    "a file without a hash": (setting("files", {"none.json": None}), "lists no files with their SHA-256"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_an_audit_that_says_something_else_is_refused(folder, name):
    change, reason = CHANGES[name]
    rewritten(folder, change)
    found = refused(folder)
    assert any(reason in line for line in found), found
    assert main([str(folder)]) == 1


def test_words_and_hints_are_named_and_nothing_rests_on_them(folder):
    """Whatever stands there is not certified, and the table says so; the rest stays as it is."""

    def change(value):
        value.update(status="perfect", notes=["the best of all"], seconds=0, diagnosis=None)
        value["findings"]["fits"].update(reason="this network is optimal", hints={"x": 0.5})

    before = decide_folder(folder).table
    rewritten(folder, change)
    assert refused(folder) == []
    assert decide_folder(folder).table == before
    named = before[-1][1]
    assert all(f"{part}.*.{key}" in named or key in named for part in ("findings",) for key in UNCERTIFIED[part])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[]", "is not the JSON object that isoptimal writes"),
        (b"null", "is not the JSON object that isoptimal writes"),
        (b"", "cannot be read: is no JSON"),
        (b"\xff\xfe", "cannot be read"),
        (b'{"schema": "audit-1"', "cannot be read: is no JSON"),
        (b'{"schema": "audit-1", "schema": "audit-1"}', "has a key twice"),
        (b'{"objective": NaN}', "cannot be read: the number NaN"),
        (b'{"objective": ' + b"9" * 5000 + b"}", "cannot be read: the number 9999"),
        (b"[" * 100000, "cannot be read: is no JSON"),
        (b"{}", "lists no files"),
    ],
)
def test_an_audit_that_cannot_be_read_is_refused(folder, content, reason):
    (folder / "audit.json").write_bytes(content)
    found = refused(folder)
    assert any(line.startswith("audit.json: ") and reason in line for line in found), found


def test_an_audit_beyond_the_bound_is_refused(folder, monkeypatch):
    size = max(path.stat().st_size for path in folder.iterdir() if path.name != "audit.json")
    with (folder / "audit.json").open("a", encoding="utf-8") as file:
        file.write(" " * (10 * size))
    monkeypatch.setattr(verify.checker.checking, "MAX_SIZE", 2 * size)
    monkeypatch.setattr("verify.checker.codec.MAX_SIZE", 2 * size)
    assert any("audit.json: cannot be read" in line for line in refused(folder))


# ------------------------------------------------------------------------------------------------- files


def test_a_missing_audit_is_refused_unless_the_folder_is_bare(folder, capsys):
    (folder / "audit.json").unlink()
    found = decide_folder(folder)
    assert found.table == []
    assert [line.file for line in found.lines if not line.is_accepted] == ["audit.json"]
    assert "is missing" in found.lines[-1].text
    bare = decide_folder(folder, bare=True)
    witnesses = {"better.network.json", "better-own-width.network.json"}
    assert {line.file for line in bare.lines if not line.is_accepted} == witnesses
    for name in witnesses:
        (folder / name).unlink()
    bare = decide_folder(folder, bare=True)
    assert (bare.is_accepted, bare.table) == (True, [])
    assert main(["--bare", str(folder)]) == 0
    assert "refused" not in capsys.readouterr().out


def test_an_audit_in_a_folder_of_its_own_is_refused(folder):
    content = (folder / "audit.json").read_bytes()
    (folder / "audit.json").unlink()
    (folder / "audit.json").mkdir()
    (folder / "audit.json" / "audit.json").write_bytes(content)
    found = refused(folder)
    assert any(line.startswith("audit.json: is missing") for line in found)
    assert "audit.json: is no regular file, and isoptimal writes no other" in found


def test_an_audit_deeper_down_is_none(folder):
    (folder / "deeper").mkdir()
    (folder / "audit.json").rename(folder / "deeper" / "audit.json")
    found = refused(folder)
    assert any(line.startswith("audit.json: is missing") for line in found)
    assert any(line.startswith("deeper: is no regular file") for line in found)


def test_every_file_that_is_missing_changed_or_renamed_is_refused(saved, folder):
    for name in said(folder)["files"]:
        if name == "problem.json":
            continue
        content = (folder / name).read_bytes()
        (folder / name).unlink()
        assert f"{name}: is named in audit.json and is missing" in refused(folder)
        (folder / f"other-{name}").write_bytes(content)
        assert f"other-{name}: is not listed in audit.json" in refused(folder)
        (folder / f"other-{name}").unlink()
        (folder / name).write_bytes(content + b" ")
        assert f"{name}: is not the file that audit.json names: its SHA-256 differs" in refused(folder)
        (folder / name).write_bytes(content)
    assert refused(folder) == []


@pytest.mark.parametrize("name", ["more.json", "notes.txt", "x.subject.json", "x.network.json", ".hidden"])
def test_a_file_too_many_is_refused(folder, name):
    (folder / name).write_text("{}", encoding="utf-8")
    assert f"{name}: is not listed in audit.json" in refused(folder)


@pytest.mark.parametrize("name", ["notes.txt", "README.md", "x.subject.json", "x.network.json", "FITS.JSON"])
def test_a_file_that_no_audit_writes_is_refused_when_it_is_listed_too(folder, name):
    (folder / name).write_text("{}", encoding="utf-8")
    listed(folder, name)
    assert refused(folder) == [f"{name}: is a name that isoptimal audit --certificates gives to no file"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("fits.json\n global_optimum proved.json", "fits.json\\n global_optimum proved.json"),
        ("\x1b[2Jfits.json", "\\x1b[2Jfits.json"),
        ("\u202efits.json", "\\u202efits.json"),
        ("fits, and is the global optimum.json", None),
        ("FITS.json", None),
    ],
)
def test_the_name_of_a_file_says_nothing(folder, name, shown):
    (folder / "fits.json").rename(folder / name)
    text = (folder / "audit.json").read_text(encoding="utf-8").replace('"fits.json"', json.dumps(name))
    (folder / "audit.json").write_text(text, encoding="utf-8")
    assert refused(folder) == [f"{shown or name}: is a name that isoptimal audit --certificates gives to no file"]
    assert all(line.file.isprintable() for line in decide_folder(folder).lines)


def test_the_keys_of_an_audit_add_no_lines(folder):
    rewritten(folder, lambda value: value.update({"x\n global_optimum  proved": 1}))
    assert refused(folder) == ["audit.json: x\\n global_optimum  proved is 1, which nothing here proves"]


def test_every_file_is_in_the_folder_itself(saved, folder, tmp_path):
    for name in (*said(folder)["files"], "audit.json"):
        kept = tmp_path / "elsewhere.json"
        (folder / name).rename(kept)
        (folder / name).symlink_to(kept)
        assert refused(folder) == [f"{name}: is no regular file, and isoptimal writes no other"]
        (folder / name).unlink()
        kept.rename(folder / name)
    assert refused(folder) == []


@pytest.mark.parametrize("name", ["fits.json", "extra.json"])
def test_a_pipe_is_no_file_and_nothing_waits_for_it(folder, name):
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    assert any(line.startswith(f"{name}: is no regular file") for line in refused(folder))


def test_a_certificate_under_the_name_of_another(folder):
    (folder / "lower-bound.json").rename(folder / "lower.json")
    shutil.copy(folder / "upper-bound.json", folder / "lower-bound.json")
    listed(folder, "lower.json")
    found = refused(folder)
    assert "lower-bound.json: is no certificate of kind lower-bound" in found
    assert "lower.json: answers no question in audit.json" in found


def test_a_true_certificate_that_nothing_asks_for(folder):
    put(folder, "fits-near.json", Fits(margin=F(1)))
    listed(folder, "fits-near.json")
    assert refused(folder) == ["fits-near.json: answers no question in audit.json"]


# ------------------------------------------------------------------------------------------------- problem and network


def test_other_labels(folder):
    value = json.loads((folder / "problem.json").read_text("utf-8"))
    value["targets"] = ["1", "-1"]
    (folder / "problem.json").write_text(json.dumps(value), encoding="utf-8")
    rewritten(folder, lambda audit_: None)
    found = refused(folder)
    assert "fits.json: problem: the certificate is about another problem" in found
    assert any("problem.sha256" in line for line in found)


def swapped_network(place, network):
    (place / "network.json").write_text(network.canonical_text(), encoding="utf-8")
    rewritten(place, lambda value: value["network"].update(sha256=network.sha256()))


def test_another_network_of_the_same_shape(folder):
    swapped_network(folder, Network.two_layer([[1, 0], [-1, 0]], [1, 1]))
    found = refused(folder)
    for name in ("fits", "stationary", "local-optimum", "global-optimum"):
        assert f"{name}.json: network: the certificate is about another network" in found
    assert any('findings.fits.verdict is "proved", and the certificates prove "undecided"' in line for line in found)


def test_the_network_removed(folder):
    (folder / "network.json").unlink()
    rewritten(folder, lambda value: value["files"].pop("network.json"))
    found = refused(folder)
    assert "network.json: is missing: audit.json speaks of a network" in found
    assert "fits.json: network: the certificate speaks of a network, and none is given" in found
    for name in ("fits", "stationary", "local-optimum", "global-optimum", "global-any-width"):
        (folder / f"{name}.json").unlink()
        rewritten(folder, lambda value, name=name: value["files"].pop(f"{name}.json"))
    assert refused(folder) == ["network.json: is missing: audit.json speaks of a network"]
    assert decide_folder(folder).table == []


def test_certificates_of_another_audit(saved, folder):
    """All of an optimal network's answers in the folder of a poor one."""
    for name in ("fits", "stationary", "local-optimum"):
        shutil.copy(saved / "optimal" / f"{name}.json", folder / f"{name}.json")
    rewritten(folder, lambda value: value.update(findings=said(saved / "optimal")["findings"]))
    found = refused(folder)
    assert "local-optimum.json: problem: the certificate is about another problem" in found
    assert any("findings.global_optimum.verdict" in line for line in found)


# ------------------------------------------------------------------------------------------------- what is proved


def test_a_looser_proof_shown_as_a_tighter_one(folder):
    """True within 2, said within 1e-6: the tolerance of the certificate counts, not that of audit.json."""
    problem, network = given(folder)
    lower = bracket_optimum(problem, network).lower
    proof = put(folder, "global-optimum.json", OptimalWithin(tolerance=F(2), lower=lower))
    shutil.copy(folder / "global-optimum.json", folder / "global-any-width.json")

    def change(value):
        for name in ("global_optimum", "global_any_width"):
            value["findings"][name].update(verdict="proved", claim=proof.claim, numbers={"tolerance": 1e-6})
        value.update(better=None, excess=["0", "0"])

    (folder / "better.network.json").unlink()
    rewritten(folder, change)
    found = refused(folder)
    assert any('global_optimum.verdict is "proved", and the certificates prove "undecided"' in line for line in found)


def test_a_bracket_of_a_looser_bound(folder):
    lower = json.loads((folder / "lower-bound.json").read_text("utf-8"))
    rewritten(folder, lambda value: value["bracket"].__setitem__(0, str(F(lower["bracket"][0]) + F(1, 10**9))))
    assert any("audit.json: bracket" in line for line in refused(folder))


@pytest.mark.parametrize("folder", ["approximate"], indirect=True)
def test_a_smaller_epsilon(folder):
    exact = [name for name in said(folder)["findings"]["stationary"]["certificates"] if name == "stationary.json"]

    def only_approximate(value):
        found = value["findings"]["stationary"]
        proof = json.loads((folder / "stationary.json").read_text("utf-8"))
        found.update(certificates=exact, level="approximate", claim=proof["claim"], moved=0.0, distance="0")
        found.update(numbers={"epsilon": float(F(proof["epsilon"])) / 10, "delta": float(F(proof["delta"]))})

    rewritten(folder, only_approximate)
    assert any("findings.stationary.numbers.epsilon" in line for line in refused(folder))
    rewritten(folder, lambda value: value["findings"]["stationary"].update(level="exact"))
    assert any("findings.stationary.level" in line for line in refused(folder))


@pytest.mark.parametrize("folder", ["approximate"], indirect=True)
def test_a_proof_about_a_network_nearby_shown_as_one_about_this_one(folder):
    for changed in ({"level": "exact"}, {"distance": "0"}, {"moved": 0.0}, {"numbers": {}}):
        before = said(folder)
        rewritten(folder, lambda value, changed=changed: value["findings"]["local_optimum"].update(changed))
        assert any("findings.local_optimum" in line for line in refused(folder)), changed
        rewritten(folder, lambda value, before=before: value.update(before))
    assert refused(folder) == []


@pytest.mark.parametrize("folder", ["approximate"], indirect=True)
def test_stationary_within_less_than_was_proved(folder):
    (folder / "stationary-near.json").unlink()

    def change(value):
        proof = json.loads((folder / "stationary.json").read_text("utf-8"))
        value["files"].pop("stationary-near.json")
        value.update(stationary_tolerance="0")
        value["findings"]["stationary"].update(
            within="0", certificates=["stationary.json"], claim=proof["claim"], level="exact"
        )

    rewritten(folder, change)
    found = refused(folder)
    assert any('stationary.verdict is "proved", and the certificates prove "undecided"' in line for line in found)


@pytest.mark.parametrize("folder", ["repaired"], indirect=True)
def test_the_subject_of_an_answer(folder):
    finding = said(folder)["findings"]["fits"]
    assert (finding["level"], finding["subject"]) == ("near", "fits.subject.json")
    content = (folder / "fits.subject.json").read_bytes()
    other = Network.two_layer([[1]], [1])
    (folder / "fits.subject.json").write_text(other.canonical_text(), encoding="utf-8")
    rewritten(folder, setting("findings", "fits", "subject_sha256", other.sha256()))
    found = refused(folder)
    assert "fits.subject.json: is not the network that the certificate speaks of" in found
    assert any("findings.fits.subject_sha256" in line for line in found)
    (folder / "fits.subject.json").write_text("{}", encoding="utf-8")
    rewritten(folder, setting("findings", "fits", "subject_sha256", finding["subject_sha256"]))
    assert any(line.startswith("fits.subject.json: ") and "is no network" in line for line in refused(folder))
    (folder / "fits.subject.json").unlink()
    rewritten(folder, lambda value: value["files"].pop("fits.subject.json"))
    assert refused(folder) == ["fits.subject.json: is missing: the answer is about another network than the given one"]
    (folder / "fits.subject.json").write_bytes(content)
    listed(folder, "fits.subject.json")
    assert refused(folder) == []
    shutil.copy(folder / "fits.subject.json", folder / "local-optimum.subject.json")
    listed(folder, "local-optimum.subject.json")
    if said(folder)["findings"]["local_optimum"]["subject"] is None:
        assert any(line.startswith("local-optimum.subject.json: is not the network") for line in refused(folder))


def test_a_better_network_that_is_none(folder):
    problem, _ = given(folder)
    for network, reason in (
        (Network.two_layer([[0, 4], [0, 0]], [2, 0]), "is not better than the network"),
        (Network.two_layer([[1, 0], [0, 0]], [1, 0]), "this network does not fit the data"),
        (Network.two_layer([[1]], [1]), "must be a two-layer network with the inputs"),
    ):
        (folder / "better.network.json").write_text(network.canonical_text(), encoding="utf-8")
        rewritten(folder, lambda value: None)
        found = refused(folder)
        assert any(line.startswith(f"better.network.json: {reason}") for line in found), found
        assert "better" not in {row[0] for row in decide_folder(folder).table}
    (folder / "better.network.json").write_text("{}", encoding="utf-8")
    rewritten(folder, lambda value: None)
    assert any(line.startswith("better.network.json: ") and "is no network" in line for line in refused(folder))
    assert problem.goal is Goal.MAX_MARGIN


def test_a_wider_network_is_not_of_its_own_width(folder):
    witness = Network.two_layer([[1, 0], [-1, 0], [0, 0]], [1, 1, 0])
    (folder / "better-own-width.network.json").write_text(witness.canonical_text(), encoding="utf-8")
    listed(folder, "better-own-width.network.json")
    assert "better-own-width.network.json: has more neurons of a mask than the network" in refused(folder)


@pytest.mark.parametrize("folder", ["symbolic"], indirect=True)
def test_a_closed_form(folder):
    before = said(folder)
    assert before["symbolic"]["value"]["text"] == "8/sqrt(17)"
    for key in ("exact", "moved"):
        rewritten(folder, lambda value, key=key: value["symbolic"].update({key: "1"}))
        assert any(f"symbolic.{key}" in line for line in refused(folder))
        rewritten(folder, lambda value: value.update(before))
    rewritten(folder, lambda value: value.update(symbolic=None))
    assert any("audit.json: symbolic is null" in line for line in refused(folder))
    rewritten(folder, lambda value: value.update(before))
    (folder / "symbolic-upper-bound.json").unlink()
    rewritten(folder, lambda value: value["files"].pop("symbolic-upper-bound.json"))
    assert any("symbolic.exact" in line for line in refused(folder))


def swapped(value):
    value["symbolic"]["neurons"].reverse()


CLOSED = {
    "a text": (lambda value: value["symbolic"]["value"].update(text="1"), "symbolic.value.text"),
    "a decimal": (lambda value: value["symbolic"]["value"].update(decimal="1.0"), "symbolic.value.decimal"),
    "LaTeX": (lambda value: value["symbolic"]["value"].update(latex=r"\frac{8}{\sqrt{18}}"), "symbolic.value.latex"),
    "no text": (lambda value: value["symbolic"]["value"].pop("text"), "symbolic.value.text"),
    "a number": (lambda value: value["symbolic"]["value"].update(decimal=1.94), "symbolic.value.decimal"),
    "a sign": (lambda value: value["symbolic"]["neurons"][0].update(sign=-1), "symbolic.neurons[0].sign"),
    "a neuron less": (lambda value: value["symbolic"]["neurons"].pop(), "symbolic.neurons is"),
    "another order": (swapped, "symbolic.neurons[0].direction[0].text"),
    "a point": (lambda value: value["symbolic"]["multipliers"][0].__setitem__(0, 1), "symbolic.multipliers[0][0]"),
    "a key": (lambda value: value["symbolic"]["value"].update(proved="1"), "symbolic.value.proved"),
    "a key above": (lambda value: value["symbolic"].update(proved="1"), "symbolic.proved"),
    "a key of a neuron": (lambda value: value["symbolic"]["neurons"][0].update(v="1"), "symbolic.neurons[0].v"),
}


@pytest.mark.parametrize("folder", ["symbolic"], indirect=True)
@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_form_that_is_another_one(folder, name):
    change, place = CLOSED[name]
    rewritten(folder, change)
    found = refused(folder)
    assert found
    assert all(line.startswith("audit.json: symbolic") for line in found), found
    assert any(place in line for line in found), found


def test_a_rational_closed_form_is_shown_as_it_is(tmp_path):
    network = Network.two_layer([[1, 0]], [1])
    result = audit(network, Dataset([[1, 0]], [1]), symbolic=True)
    result.save(tmp_path / "proofs")
    found = decide_folder(tmp_path / "proofs")
    assert found.is_accepted
    (row,) = [row for row in found.table if row[0] == "closed form"]
    assert Fraction(row[1]) == result.symbolic.exact


@pytest.mark.parametrize("folder", ["symbolic"], indirect=True)
def test_neurons_whose_directions_have_not_norm_1(folder):
    """The same bound by another network, balanced the other way: no neurons can be told by it."""
    path = folder / "symbolic-upper-bound.json"
    proof = read_certificate(path.read_text(encoding="utf-8"))
    hidden, outgoing = proof.witness.parameters
    witness = replace(proof.witness, parameters=(tuple(w * 2 for w in hidden), tuple(v / 2 for v in outgoing)))
    put(folder, path.name, UpperBound(witness=witness, bracket=proof.bracket))
    rewritten(folder, lambda _: None)
    assert any("symbolic.neurons is" in line and "certificates prove []" in line for line in refused(folder))


@pytest.mark.parametrize("folder", ["impossible"], indirect=True)
def test_no_network_fits(folder):
    rewritten(folder, setting("infeasible", False))
    assert any("infeasible is false, and the certificates prove true" in line for line in refused(folder))
    (folder / "infeasible.json").unlink()
    rewritten(folder, lambda value: (value["files"].pop("infeasible.json"), value.update(infeasible=True)))
    assert any("infeasible is true, and the certificates prove false" in line for line in refused(folder))


def test_a_question_left_open_that_a_certificate_answers(folder):
    """The same certificate refutes both global questions; one of them is said to be open."""
    problem, _ = given(folder)
    witness = Network.two_layer([[1, 0], [-1, 0]], [1, 1])
    proof = BetterNetwork(witness=witness, tolerance=F(1, 10**6), scope="own-width")
    put(folder, "global-optimum.json", proof)
    (folder / "global-any-width.json").unlink()

    def change(value):
        value["files"].pop("global-any-width.json")
        value["findings"]["global_optimum"].update(claim=sealed(*given(folder), proof).claim)
        value["findings"]["global_any_width"].update(
            verdict="undecided", claim="", level=None, moved=None, distance=None, certificates=[], numbers={}
        )

    rewritten(folder, change)
    assert refused(folder) == ["audit.json: findings.global_any_width is open, and global-optimum.json answers it"]
    assert problem.bias is Bias.NONE


# ------------------------------------------------------------------------------------------------- bad input, parts


def test_what_is_no_folder_of_certificates(saved, tmp_path):
    for place, reason in (
        (tmp_path / "none", "does not exist"),
        (saved / "poor" / "fits.json", "is a file"),
        (tmp_path, "holds no problem.json"),
    ):
        with pytest.raises(InputError, match=reason):
            decide_folder(place)
        assert main([str(place)]) == 2
    shutil.copy(saved / "poor" / "problem.json", tmp_path)
    with pytest.raises(InputError, match="holds no certificate"):
        decide_folder(tmp_path)


def malformed(place, name, change):
    """One file that is no problem or no network, listed with its hash."""
    value = json.loads((place / name).read_text(encoding="utf-8"))
    change(value)
    (place / name).write_text(json.dumps(value), encoding="utf-8")
    rewritten(place, lambda _: None)


@pytest.mark.parametrize("name", ["problem.json", "network.json"])
@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["architecture"]["layers"][0].update(inputs=7),
        lambda value: value.update(note=""),
        lambda value: value.pop("architecture"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(folder, name, change, capsys):
    malformed(folder, name, change)
    found = refused(folder)
    assert any(line.startswith(f"{name}: is no {name.removesuffix('.json')} that isoptimal wrote (") for line in found)
    assert "network.json: is missing: audit.json speaks of a network" not in found
    assert decide_folder(folder).table == []
    assert main([str(folder)]) == 1
    assert "refused: " in capsys.readouterr().out
    ran = CliRunner().invoke(program, ["check", str(folder), "--network", "net.npz", "--data", "data.csv"])
    if name == "problem.json":
        assert ran.exit_code == 1
        assert "refused data.csv: cannot be compared: problem.json is no problem" in " ".join(ran.output.split())
    assert CliRunner().invoke(program, ["check", str(folder)]).exit_code == 1
    assert CliRunner().invoke(program, ["check", "--bare", str(folder)]).exit_code == 1


def test_an_audit_is_no_certificate(folder, capsys):
    paths = [str(folder / name) for name in ("problem.json", "network.json", "audit.json")]
    assert main(paths) == 1
    assert capsys.readouterr().out.startswith("refused: ")
    assert CliRunner().invoke(program, ["check", *paths]).exit_code == 1


def test_usage(capsys):
    for arguments in ([], ["a", "b"], ["--bare"], ["--bare", "a", "b", "c"], ["a", "b", "c", "d"]):
        assert main(arguments) == 2
        assert capsys.readouterr().err.startswith("usage: ")


def test_a_certificate_that_cannot_be_read(folder):
    (folder / "fits.json").write_text('{"kind": "fits", "margin": 0.5}', encoding="utf-8")
    rewritten(folder, lambda value: None)
    assert any(line.startswith("fits.json: cannot be read: ") for line in refused(folder))


def test_lines_and_decisions_have_no_truth_value(saved):
    for value in (Line(True, "a", "b"), decide_folder(saved / "poor")):
        with pytest.raises(TypeError, match=r"ask `\.is_accepted`"):
            bool(value)
    assert isinstance(decide_folder(saved / "poor"), Decision)


def test_a_fit_tolerance_is_part_of_what_the_problem_is():
    data, shape = Dataset([[1]], [1]), Network.two_layer([[1]], [1]).architecture
    exact, tube = (
        problem_facts(Problem(data, shape, goal=Goal.MIN_NORM, bias=Bias.NONE, fit_tolerance=F(eps))) for eps in (0, 1)
    )
    assert "fit_tolerance" not in exact
    assert tube["fit_tolerance"] == "1"
    assert exact["sha256"] != tube["sha256"]


def test_numbers_beyond_doubles_are_texts():
    assert (decimal(F(1, 2)), decimal(F(10**400))) == (0.5, str(10**400))


def test_a_kept_proof_has_a_file_of_its_own():
    """An exact KKT point that is written down stands beside what holds at the network itself."""
    result = approximate()
    first = result.stationary.certificates[0]
    network = result.network
    moved = Stationary(subject=network.parameters, moved=F(1, 10), multipliers=(), epsilon=F(1), delta=F(0))
    both = replace(
        result, stationary=replace(result.stationary, certificates=(moved, result.stationary.certificates[1]))
    )
    assert {"stationary-near.json", "stationary.json"} <= set(both.certificates)
    assert first in result.certificates.values()


# ------------------------------------------------------------------------------------------ what the network does fit


def beside(folder):
    return folder.with_name(f"{folder.name}-relaxed")


def replaced(made):
    """Another audit in place of the folder beside, which audit.json tells of as if it were its own."""

    def change(folder):
        made().save(beside(folder))
        told = {key: value for key, value in said(beside(folder)).items() if key != "files"}
        rewritten(folder, setting("diagnosis", "relaxed", told))

    return change


def of_another_network():
    return audit(Network.two_layer([[1, 0], [0, 1]], [1, 0]), Dataset([["1", "1/4"]], [1]))


def of_other_points():
    return audit(Network.two_layer([[1, 0], [0, 0]], [1, 0]), Dataset([["1", "1/3"]], [1]))


def of_another_question():
    return audit(Network.two_layer([[1, 0], [0, 0]], [1, 0]), Dataset([["1", "1/4"]], [1]), goal="min-norm")


def changed_both(*keys_and_value):
    def change(folder):
        rewritten(beside(folder), setting(*keys_and_value))
        rewritten(folder, setting("diagnosis", "relaxed", *keys_and_value))

    return change


def changed(*keys_and_value):
    return lambda folder: rewritten(folder, setting(*keys_and_value))


RELAXED_CHANGES = {
    "a word": (changed("diagnosis", "relaxed", "seconds", 0), "audit.json: diagnosis.relaxed is not what"),
    "a number": (changed("diagnosis", "relaxed", "excess", ["0", "0"]), "audit.json: diagnosis.relaxed is not what"),
    "a number in both": (changed_both("excess", ["0", "0"]), "relaxed/audit.json: excess"),
    "more in both": (changed_both("diagnosis", {"relaxed": {}}), "relaxed/audit.json: diagnosis.relaxed is more than"),
    "no folder": (
        lambda folder: shutil.rmtree(beside(folder)),
        "audit.json: diagnosis.relaxed is what the folder beside",
    ),
    "an empty folder": (
        lambda folder: [path.unlink() for path in beside(folder).iterdir()],
        "audit.json: diagnosis.relaxed is what the folder beside",
    ),
    "no audit.json": (lambda folder: (beside(folder) / "audit.json").unlink(), "relaxed/audit.json: is missing"),
    "no problem": (
        lambda folder: (beside(folder) / "problem.json").write_text("{}"),
        "relaxed/problem.json: is no problem",
    ),
    "no problem here": (lambda folder: (folder / "problem.json").write_text("{}"), "problem.json: is no problem"),
    "another network": (replaced(of_another_network), "relaxed/network.json: is not the network of proofs"),
    "other points": (replaced(of_other_points), "relaxed/problem.json: asks no part of what proofs asks"),
    "another question": (replaced(of_another_question), "relaxed/problem.json: asks no part of what proofs asks"),
}


@pytest.mark.parametrize("folder", ["misfit"], indirect=True)
@pytest.mark.parametrize("name", RELAXED_CHANGES)
def test_what_it_does_fit_is_decided_with_it(folder, name, capsys):
    assert decide_folder(folder).relaxed.is_accepted
    change, expected = RELAXED_CHANGES[name]
    change(folder)
    found = decide_folder(folder)
    assert not found.is_accepted
    other = [] if found.relaxed is None else found.relaxed.lines
    refused = [f"{line.file}: {line.text}" for line in found.lines if not line.is_accepted]
    refused += [f"relaxed/{line.file}: {line.text}" for line in other if not line.is_accepted]
    assert any(text.startswith(expected) for text in refused), refused
    assert main([str(folder)]) == 1
    code = CliRunner().invoke(program, ["check", str(folder)]).exit_code
    assert code == 1
    code = CliRunner().invoke(program, ["better", str(folder), "--out", str(folder.parent / "b.json")]).exit_code
    assert code == 1


def test_a_smaller_tolerance_is_no_part_of_the_question(tmp_path):
    network, data = Network.two_layer([[1]], [1]), Dataset([[1], [2]], [1, 3])
    audit(network, data, fit_tol=1).save(tmp_path / "wide")
    audit(network, data, goal="min-norm").save(tmp_path / "proofs")
    assert decide_folder(tmp_path / "proofs").is_accepted
    wide = audit(network, data, goal="min-norm", fit_tol="1/2")
    wide.save(tmp_path / "proofs")
    shutil.rmtree(tmp_path / "proofs-relaxed")
    replaced(lambda: audit(network, Dataset([[1]], [1]), goal="min-norm"))(tmp_path / "proofs")
    found = decide_folder(tmp_path / "proofs")
    assert [line.text for line in found.relaxed.lines if not line.is_accepted] == ["asks no part of what proofs asks"]


def test_the_folder_beside_is_found_from_within(saved, monkeypatch):
    monkeypatch.chdir(saved / "misfit")
    assert decide_folder(Path()).relaxed.is_accepted
    (saved / "misfit" / "deeper").mkdir()
    monkeypatch.chdir(saved / "misfit" / "deeper")
    found = decide_folder(Path(".."))
    (saved / "misfit" / "deeper").rmdir()
    assert found.relaxed.is_accepted


def test_an_audit_of_a_network_that_fits_leaves_no_folder_beside(tmp_path):
    misfit().save(tmp_path / "proofs")
    poor().save(tmp_path / "proofs")
    assert [place.name for place in tmp_path.iterdir()] == ["proofs"]
    poor().save(tmp_path / "proofs-relaxed")  # somebody's own
    poor().save(tmp_path / "proofs")
    misfit().save(tmp_path / "other")
    (tmp_path / "other-relaxed" / "notes.txt").write_text("kept")
    poor().save(tmp_path / "other")
    assert decide_folder(tmp_path / "proofs-relaxed").is_accepted
    assert (tmp_path / "other-relaxed" / "notes.txt").is_file()


def test_certificates_beside_an_answer_say_what_they_are_about(saved):
    audit(Network.two_layer((OPTIMUM + 1e-2).tolist(), [SIZE] * 2), WASTED, tol=1e-3).save(saved / "far")
    rows = {row[0]: row for row in decide_folder(saved / "far").table}
    assert rows["stationary"][1] == "refuted"
    assert "stationary-near.json is about another network, at most" in rows["stationary"][2]
    size = F("0.70710678118654752")  # exact numbers are judged exactly
    audit(Network.two_layer([[size, -size]], [1]), Dataset([[1, -1]], [1])).save(saved / "rounded")
    rows = {row[0]: row for row in decide_folder(saved / "rounded").table}
    assert rows["stationary"][1] == "refuted"
    assert "; stationary-approximate.json proves it within epsilon" in rows["stationary"][2]
