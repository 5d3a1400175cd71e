"""Folders about several outputs, `verify.checker.vector_folder`: audit.json says what the certificates prove."""

import json
from fractions import Fraction

import pytest

from tests.vector_cases import optimal, saddle, saddle_bound, saddle_move_proof, sealed_vector, three_units, units_bound
from verify.checker.checking import Files
from verify.checker.codec import rational_text
from verify.checker.folder import decide_folder
from verify.checker.vector_certificates import VectorUpperBound, VectorValue
from verify.checker.vector_folder import VECTOR_AUDIT, VECTOR_NETWORK, VECTOR_PROBLEM, vector_facts
from verify.checker.vector_stationary import VectorStationary

F = Fraction
ZERO = F(0)


@pytest.fixture
def folder(tmp_path):
    """An audit of three orthonormal points: everything is proved."""
    problem, network = three_units()
    certificates = {
        "vector-bound.json": units_bound(problem),
        "vector-optimal-within.json": optimal(problem, network, units_bound(problem), "0"),
        "vector-value.json": sealed_vector(problem, VectorValue("3", "3"), network),
    }
    written(tmp_path, problem, network, certificates)
    return tmp_path


def written(folder, problem, network, certificates, tolerance=ZERO, stationary=ZERO, **changes):
    for name, record in {VECTOR_PROBLEM: problem, VECTOR_NETWORK: network, **certificates}.items():
        (folder / name).write_text(record.canonical_text(), encoding="utf-8")
    facts = vector_facts(problem, network, certificates, tolerance, stationary) | changes
    files = Files(folder)
    listed = {path.name: files.sha256(path.name) for path in folder.iterdir() if path.name != VECTOR_AUDIT}
    audit = facts | {"files": listed, "status": "done", "notes": [], "seconds": 0.5, "reasons": {}}
    (folder / VECTOR_AUDIT).write_text(json.dumps(audit), encoding="utf-8")


def refusals(folder, **options):
    return {(line.file, line.text) for line in decide_folder(folder, **options).lines if not line.is_accepted}


def files_refused(folder, **options):
    return {file for file, _ in refusals(folder, **options)}


def test_a_whole_folder_is_accepted(folder):
    found = decide_folder(folder)
    assert found.is_accepted
    table = {name: value for name, value, _ in found.table}
    assert table["global_any_width"] == table["local_optimum"] == table["fits"] == "proved"
    assert table["stationary"] == "undecided"
    assert table["bracket"] == table["objective"] == "3"
    assert table["excess"] == "0"
    assert table["without_neurons"] == "not known"


def test_what_a_network_between_its_ends_has(tmp_path):
    problem, network = saddle()
    certificates = {
        "vector-bound.json": saddle_bound(problem),
        "vector-not-local.json": sealed_vector(problem, saddle_move_proof(), network),
        "vector-stationary.json": sealed_vector(
            problem, VectorStationary([[0, ["3", "0"]], [1, ["0", "1"]]], epsilon="1/1000"), network
        ),
        "vector-upper-bound.json": sealed_vector(problem, VectorUpperBound(network, "6")),
    }
    written(tmp_path, problem, network, certificates, F(1, 10), F(1, 100))
    found = decide_folder(tmp_path)
    assert found.is_accepted
    table = {name: (value, about) for name, value, about in found.table}
    assert table["stationary"] == ("proved", "within 1/100, vector-stationary.json")
    assert table["local_optimum"][0] == "refuted"
    assert table["global_optimum"] == ("undecided", "within 1/10")
    assert table["bracket"][0] == "4 to 6"
    assert table["excess"][0] == "0 to 1/2"
    assert found.audit["findings"]["stationary"]["level"] == "approximate"


def test_a_bare_folder_has_no_table(folder):
    (folder / VECTOR_AUDIT).unlink()
    assert files_refused(folder) == {VECTOR_AUDIT}
    found = decide_folder(folder, bare=True)
    assert found.is_accepted
    assert found.table == []


@pytest.mark.parametrize("name", [VECTOR_PROBLEM, VECTOR_NETWORK])
def test_what_is_no_problem_or_no_network(folder, name):
    (folder / name).write_text("{}", encoding="utf-8")
    assert files_refused(folder) == {VECTOR_PROBLEM}


def test_certificates_that_prove_nothing_and_other_files(folder):
    (folder / "vector-value.json").write_text(
        (folder / "vector-value.json").read_text().replace('"high":"3"', '"high":"2"')
    )
    assert files_refused(folder) == {"vector-value.json", VECTOR_AUDIT}
    (folder / "vector-value.json").write_text("nothing")
    assert files_refused(folder) == {"vector-value.json", VECTOR_AUDIT}
    (folder / "vector-value.json").unlink()
    (folder / "notes.txt").write_text("all is well")
    assert files_refused(folder) == {"notes.txt", VECTOR_AUDIT}
    (folder / "notes.txt").unlink()
    (folder / "more").mkdir()
    assert "more" in files_refused(folder)


def test_an_audit_that_says_what_is_not_proved(folder):
    audit = json.loads((folder / VECTOR_AUDIT).read_text())
    for key, wrong in (
        ("bracket", ["3", "4"]),
        ("objective", None),
        ("certainty", "very high"),
        ("excess", ["0", "1"]),
    ):
        (folder / VECTOR_AUDIT).write_text(json.dumps(audit | {key: wrong}))
        assert refusals(folder) == {(VECTOR_AUDIT, f"{key} is not what the certificates prove")}
    findings = audit["findings"] | {"stationary": audit["findings"]["local_optimum"]}
    (folder / VECTOR_AUDIT).write_text(json.dumps(audit | {"findings": findings}))
    assert files_refused(folder) == {VECTOR_AUDIT}
    opened = audit["findings"] | {"local_optimum": audit["findings"]["stationary"]}
    (folder / VECTOR_AUDIT).write_text(json.dumps(audit | {"findings": opened}))
    assert files_refused(folder) == {VECTOR_AUDIT}
    (folder / VECTOR_AUDIT).write_text(json.dumps(audit | {"tolerance": "-1"}))
    assert refusals(folder) == {(VECTOR_AUDIT, "has a tolerance below 0")}
    (folder / VECTOR_AUDIT).write_text("[]")
    assert files_refused(folder) == {VECTOR_AUDIT}
    (folder / VECTOR_AUDIT).write_text(json.dumps({key: value for key, value in audit.items() if key != "files"}))
    assert files_refused(folder) == {VECTOR_AUDIT}


def test_another_network_of_another_shape(folder):
    _, network = saddle()
    (folder / VECTOR_NETWORK).write_text(network.canonical_text(), encoding="utf-8")
    assert VECTOR_NETWORK in files_refused(folder)


def test_the_files_that_are_listed(folder):
    audit = json.loads((folder / VECTOR_AUDIT).read_text())
    listed = audit["files"] | {"vector-value.json": "0" * 64}
    (folder / VECTOR_AUDIT).write_text(json.dumps(audit | {"files": listed}))
    ((file, text),) = refusals(folder)
    assert file == VECTOR_AUDIT
    assert text.endswith("vector-value.json")
    assert rational_text(F(1, 2)) == "1/2"
