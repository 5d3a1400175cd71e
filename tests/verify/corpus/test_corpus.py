"""The corpus: every case and every rejected item as expected; what the regression reports when one is not."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from verify.auditing.loop import audit
from verify.auditing.record import Audit
from verify.checker.errors import InputError
from verify.corpus import (
    Difference,
    case_text,
    differences,
    find,
    locate,
    read_strictly,
    redecide,
    regress,
    rejection_fault,
    running,
    store,
    stored_differences,
)
from verify.corpus.__main__ import main
from verify.deciders.finding import Ending
from verify.problem.members import goal_folder
from verify.problem.network import Network
from verify.problem.problem import Dataset, objective

ROOT = Path(__file__).parents[3]
CASES = ROOT / "cases"
FILES, REJECTED = locate(CASES)
SCHEMA = json.loads((CASES / "schema.json").read_text(encoding="utf-8"))
THEOREM = CASES / "max-margin" / "vardi2022-theorem-3-2"


def text_of(folder: Path) -> str:
    return folder.relative_to(CASES).as_posix()


@cache
def decided(file: Path) -> Audit:
    return redecide(read_strictly(file))


def valid(value: object, part: str = "") -> bool:
    schema = {"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{part}"} if part else SCHEMA
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def changed(folder: Path, **expect: object) -> Path:
    """Change what a case expects; returns its folder."""
    file = folder / "case.json"
    value = json.loads(file.read_text(encoding="utf-8"))
    value["expect"].update(expect)
    file.write_text(case_text(value), encoding="utf-8")
    return folder


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of one case."""
    return Path(shutil.copytree(THEOREM, tmp_path / "theorem"))


def run(*arguments: object, **options: object) -> tuple[int, list[str]]:
    lines: list[str] = []
    return regress(*arguments, **options, echo=lines.append), lines


# ------------------------------------------------------------------------------------------------- the corpus itself


@pytest.mark.parametrize("file", FILES, ids=[text_of(file.parent) for file in FILES])
@pytest.mark.one_in(3)
def test_case(file: Path) -> None:
    value = json.loads(file.read_text(encoding="utf-8"))
    assert valid(value)
    assert file.read_text(encoding="utf-8") == case_text(value)
    case = read_strictly(file)
    assert file.parent.parent.name == goal_folder(case.problem.goal)
    assert differences(case, decided(file)) == []
    folder = file.parent / "certificates"
    faults, number = stored_differences(case, folder)
    assert faults == []
    assert number >= 1
    assert max(stored.stat().st_size for stored in folder.iterdir()) < 50_000


@pytest.mark.parametrize("folder", REJECTED, ids=map(text_of, REJECTED))
def test_rejected(folder: Path) -> None:
    assert valid(json.loads((folder / "meta.json").read_text(encoding="utf-8")), "rejected")
    assert rejection_fault(folder) is None


QUESTIONS = ("fits", "stationary", "local_optimum", "global_optimum", "global_any_width")


def test_every_combination_of_verdicts_that_occurs_is_in_the_table_with_examples() -> None:
    found: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for file in FILES:
        audited = decided(file)
        verdicts = tuple(audited.findings[question].verdict.value for question in QUESTIONS)
        found.setdefault((file.parent.parent.name, file.parent.name), set()).add(verdicts)
    lines = (CASES / "README.md").read_text(encoding="utf-8").splitlines()
    begin = lines.index("## Combinations of verdicts")
    rows = [line.strip("| ").split("|") for line in lines[begin : lines.index("## Flags")] if line.startswith("| ")]
    listed: dict[str, set[tuple[str, ...]]] = {"max-margin": set(), "min-norm": set()}
    for row in rows[1:]:
        verdicts, examples = tuple(cell.strip() for cell in row[:5]), [cell.strip(" `") for cell in row[5:7]]
        for goal, example in zip(listed, examples, strict=False):
            if example:
                assert found[goal, example] == {verdicts}
                listed[goal].add(verdicts)
    for goal, combinations in listed.items():
        assert combinations == set().union(*(seen for (its, _), seen in found.items() if its == goal))
    assert len(FILES) >= 40
    assert len(REJECTED) >= 30


def test_the_corpus_is_small() -> None:
    assert sum(file.stat().st_size for file in CASES.rglob("*") if file.is_file()) < 3_000_000


def test_each_flag_is_used_and_explained() -> None:
    flags = set(SCHEMA["$defs"]["flag"]["enum"])
    used = {flag for file in FILES for flag in read_strictly(file).flags}
    assert flags - used == {"from-audit", "extreme"}
    lines = (CASES / "README.md").read_text(encoding="utf-8").splitlines()
    assert {line.split("`")[1] for line in lines[lines.index("## Flags") :] if line.startswith("| `")} == flags


def test_no_problem_with_the_same_network_twice() -> None:
    cases = [read_strictly(file) for file in FILES]
    assert len({(case.problem.sha256(), case.network.sha256()) for case in cases}) == len(cases)


@pytest.mark.parametrize("ratio", [10, 1000])
def test_the_ratio_of_remark_3_1(ratio: int) -> None:
    """arXiv:2110.02732, Remark 3.1: the KKT point has at least `ratio` times the norm of the optimum, certified."""
    found = redecide(read_strictly(CASES / "max-margin" / f"vardi2022-remark-3-1-m-{ratio}" / "case.json"))
    assert found.excess is not None
    assert found.excess[0] + 1 >= ratio**2


def test_the_verdicts_of_degenerate_arrangement_do_not_depend_on_the_duplicate() -> None:
    one, other = (
        read_strictly(CASES / "max-margin" / f"degenerate-arrangement{suffix}" / "case.json")
        for suffix in ("", "-without-duplicates")
    )
    assert (one.verdicts, one.bracket) == (other.verdicts, other.bracket)
    assert set(other.problem.data.inputs) < set(one.problem.data.inputs)


def test_the_data_scale_cases_differ_by_their_scale_only() -> None:
    cases = {
        t: read_strictly(CASES / "min-norm" / f"data-scale-{t}" / "case.json") for t in ("1e-8", "1e-4", "1", "1e8")
    }
    unit = cases["1"]
    for t, case in cases.items():
        scaled = [[x * Fraction(t) for x in row] for row in unit.problem.data.inputs]
        assert case.problem.data == Dataset(scaled, unit.problem.data.targets)
        assert case.verdicts == unit.verdicts
        mine, theirs = objective(case.problem, case.network), objective(unit.problem, unit.network)
        assert mine == theirs / Fraction(t)


def test_the_two_optima_are_of_one_problem() -> None:
    names = ("two-optima-one-neuron", "two-optima-one-neuron-each")
    one, other = (read_strictly(CASES / "max-margin" / name / "case.json") for name in names)
    assert one.problem.data == other.problem.data
    assert objective(one.problem, one.network) == objective(other.problem, other.network) == 2


# ------------------------------------------------------------------------------------------------- the checker alone


def check_alone(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    """The checker in a fresh interpreter that sees no installed package and an empty environment."""
    network = folder / "network.json"
    files = (folder / "problem.json", network if network.exists() else "-", folder / name)
    command = [sys.executable, "-S", "-E", "-B", "-m", "verify.checker", *map(str, files)]
    return subprocess.run(command, cwd=ROOT, env={}, capture_output=True, encoding="utf-8", timeout=60)


def test_the_fresh_interpreter_has_nothing_installed() -> None:
    done = subprocess.run([sys.executable, "-S", "-E", "-c", "import numpy"], cwd=ROOT, env={}, capture_output=True)
    assert done.returncode != 0


@pytest.mark.parametrize(
    "name", ["max-margin/vardi2022-theorem-3-2", "min-norm/repaired-interpolator", "max-margin/one-ray"]
)
def test_stored_certificates_in_a_fresh_interpreter(name: str) -> None:
    folder = CASES / name / "certificates"
    for file in sorted(folder.iterdir()):
        if file.name not in ("problem.json", "network.json"):
            done = check_alone(folder, file.name)
            assert (done.returncode, done.stderr) == (0, ""), file
            assert done.stdout.startswith("accepted: ")


@pytest.mark.parametrize(
    "name", ["lower-last-leaf-open", "tie-with-the-slope-of-autograd", "reads-not-depth-bomb", "reads-not-nan"]
)
def test_rejected_certificates_in_a_fresh_interpreter(name: str) -> None:
    folder = CASES / "rejected" / "certificates" / name
    ((_, expected),) = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["expect"].items()
    done = check_alone(folder, "certificate.json")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("refused: "), done
    assert expected in done.stdout, done


# ------------------------------------------------------------------------------------------------- the regression


def test_a_case_as_expected(copy: Path) -> None:
    status, lines = run(copy)
    assert status == 0
    assert lines == [
        "ok    theorem: [1.940285, 1.940285001], 7 certificates",
        "1 case, 7 certificates, 0 rejected: all as expected",
    ]
    assert run(copy / "case.json")[0] == 0
    assert run(copy.parent)[1][0].startswith("ok    theorem: ")


def test_a_part_with_rejected_items() -> None:
    status, lines = run(CASES / "rejected" / "inputs")
    count = len([folder for folder in REJECTED if folder.parent.name == "inputs"])
    assert (status, lines) == (0, [f"0 cases, 0 certificates, {count} rejected: all as expected"])


def test_an_expectation_that_fails_is_told_with_its_reason(copy: Path) -> None:
    changed(copy, global_optimum="proved", bracket=["1.95", "2"], infeasible=True)
    status, lines = run(copy)
    assert status == 1
    assert lines[0] == "FAIL  theorem"
    assert lines[1] == (
        "        global_optimum: expected proved, got refuted (a network of 2 neurons fits and is better: its "
        "objective is at least 51.4\N{NO-BREAK SPACE}% lower)"
    )
    assert lines[2] == (
        "        bracket: expected one inside [1.95, 2], got [1.940285, 1.940285001] (the audit ended: done)"
    )
    assert lines[3] == "        infeasible: expected proved, got not proved"
    assert lines[4] == "        stored global_optimum: expected proved, got refuted"
    assert lines[5] == "        stored bracket: expected one inside [1.95, 2], got [1.940285, 1.940285001]"
    assert lines[6] == "        stored infeasible: expected proved, got no certificate of it"
    assert lines[7] == "1 case, 7 certificates, 0 rejected: 1 not as expected"


@pytest.mark.parametrize(
    ("bracket", "is_inside"),
    [
        (["1.940284", "1.940286"], True),
        ([None, "1.940286"], True),
        (["1.940284", None], True),
        ([None, None], True),
        (["1.9402851", "1.940286"], False),
        (["1.940284", "1.9402849"], False),
        (["1.940285000", "1.940285000"], False),
    ],
)
def test_the_bracket_must_lie_inside_the_expected_one(copy: Path, bracket: list[str], is_inside: bool) -> None:
    case = read_strictly(changed(copy, bracket=bracket) / "case.json")
    assert (differences(case, redecide(case)) == []) is is_inside


def test_no_bracket_lies_inside_nothing(copy: Path) -> None:
    case = read_strictly(copy / "case.json")
    found = replace(redecide(case), bracket=None)
    (difference,) = differences(case, found)
    assert difference.got == "[-, -]"


def test_an_undecided_question_can_be_expected(copy: Path) -> None:
    is_open = THEOREM.parents[1] / "min-norm" / "optimal-without-multipliers"
    copy = Path(shutil.copytree(is_open, copy.with_name("open")))
    assert run(changed(copy, local_optimum="undecided"))[0] == 0


def test_one_case_that_breaks_the_audit_does_not_end_the_run(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(case: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(running, "redecide", broken)
    status, lines = run(copy)
    assert status == 1
    assert "        the audit broke down: ZeroDivisionError: by nothing" in lines
    assert lines[-1].endswith("1 not as expected")


def test_an_interruption_ends_the_run(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> object:
        return replace(audit(Network.two_layer([[1]], [1]), ([[1]], [1])), ending=Ending.INTERRUPTED)

    monkeypatch.setattr("verify.corpus.deciding.audit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(copy)


def test_a_point_near_the_network_counts_up_to_the_distance_that_the_case_says(tmp_path: Path) -> None:
    """The network lies within 1.7e-12 of a point; of itself nothing is decided."""
    folder = Path(shutil.copytree(CASES / "losses" / "hinge-irrational", tmp_path / "near"))
    assert read_strictly(folder / "case.json").near == Fraction(1, 10**6)
    assert run(folder)[0] == 0
    for nearer in ("0", "1/1000000000000"):
        status, lines = run(changed(folder, near=nearer))
        assert status == 1
        assert any(line.startswith("        stationary: expected proved, got undecided") for line in lines)
        assert "        stored stationary: expected proved, got no certificate of it" in lines


# ------------------------------------------------------------------------------------------------- stored certificates


def stored_faults(folder: Path) -> list[Difference]:
    return stored_differences(read_strictly(folder / "case.json"), folder / "certificates")[0]


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        ("lower-bound", '"beta":"1', '"beta":"2', "bracket: "),
        ("stationary", '[1,"2"]', '[1,"1"]', "epsilon: "),
        ("fits", '"margin":"1"', '"margin":"2"', "claim: differs"),
        ("fits", '"schema"', '"extra":1,"schema"', "unknown key"),
        ("fits", "{", "", "no JSON"),
        ("upper-bound", "sha256:", "sha256:0", "another problem"),
    ],
)
def test_a_tampered_certificate_is_found(copy: Path, name: str, old: str, new: str, reason: str) -> None:
    file = copy / "certificates" / f"{name}.json"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    fault = stored_faults(copy)[0]
    assert fault.what == f"{name}.json"
    assert reason in fault.reason
    status, lines = run(copy)
    assert status == 1
    assert any(line.startswith(f"        stored {name}.json: expected ") for line in lines)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("stationary", "stationary"),
        ("not-local", "local_optimum"),
        ("problem", "problem.json"),
        ("network", "network.json"),
    ],
)
def test_a_missing_file_is_found(copy: Path, name: str, what: str) -> None:
    (copy / "certificates" / f"{name}.json").unlink()
    assert [fault.what for fault in stored_faults(copy)] == [what]


def test_every_certificate_about_the_network_proves_that_it_fits(copy: Path) -> None:
    folder = copy / "certificates"
    (folder / "fits.json").unlink()
    assert stored_faults(copy) == []
    kept = {"problem.json", "network.json", "lower-bound.json", "upper-bound.json"}
    for file in sorted(folder.iterdir()):
        if file.name not in kept:
            file.unlink()
    assert {"fits", "stationary"} <= {fault.what for fault in stored_faults(copy)}


def test_a_missing_bound_is_found(copy: Path) -> None:
    (copy / "certificates" / "lower-bound.json").unlink()
    (fault,) = stored_faults(copy)
    assert (fault.what, fault.got) == ("bracket", "[-, 1.940285001]")


def test_certificates_of_another_case_are_found(copy: Path) -> None:
    shutil.rmtree(copy / "certificates")
    shutil.copytree(CASES / "max-margin" / "tie-needs-clarke" / "certificates", copy / "certificates")
    faults = stored_faults(copy)
    assert [fault.what for fault in faults][:2] == ["problem.json", "network.json"]
    assert all(fault.got == "refused" for fault in faults[2:] if fault.what.endswith(".json"))


def test_a_case_without_certificates_fails(copy: Path) -> None:
    shutil.rmtree(copy / "certificates")
    status, lines = run(copy)
    assert status == 1
    assert "        stored fits: expected proved, got no certificate of it" in lines


# ------------------------------------------------------------------------------------------------- rejected items


@pytest.mark.parametrize(
    ("expect", "fault"),
    [
        ({"refused": "trees[0]"}, "expected refused (trees[0]), got refused (trees[0][6])"),
        ({"unreadable": "trees"}, "expected unreadable (trees), got refused (trees[0][6])"),
    ],
)
def test_a_rejected_item_must_be_refused_where_it_should_be(tmp_path: Path, expect: object, fault: str) -> None:
    folder = shutil.copytree(CASES / "rejected" / "certificates" / "lower-last-leaf-open", tmp_path / "item")
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    (folder / "meta.json").write_text(json.dumps(meta | {"expect": expect}), encoding="utf-8")
    assert rejection_fault(folder) == fault
    status, lines = run(tmp_path)
    assert status == 1
    assert lines == ["FAIL  item", f"        {fault}", "0 cases, 0 certificates, 1 rejected: 1 not as expected"]


def write_meta(folder: Path, **change: object) -> Path:
    meta = {"schema": "rejected-1", "comment": "x", "expect": {"unreadable": "x"}} | change
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    return folder


def test_a_valid_certificate_is_no_rejected_item(tmp_path: Path) -> None:
    for name in ("problem.json", "network.json"):
        shutil.copy(THEOREM / "certificates" / name, tmp_path)
    shutil.copy(THEOREM / "certificates" / "stationary.json", tmp_path / "certificate.json")
    fault = rejection_fault(write_meta(tmp_path))
    assert fault is not None
    assert "got accepted (for the max-margin problem" in fault


@pytest.mark.parametrize("name", ["case.json", "network.json"])
def test_good_input_is_no_rejected_item(tmp_path: Path, name: str) -> None:
    given = (THEOREM / "case.json").read_text(encoding="utf-8")
    (tmp_path / name).write_text(given if name == "case.json" else '{"W": [[1]], "v": [1]}', encoding="utf-8")
    assert rejection_fault(write_meta(tmp_path)) == f"expected unreadable (x), got read ({name})"


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "rejected-2"},
        {"comment": 1},
        {"extra": 1},
        {"target": 1},
        {"expect": {}},
        {"expect": {"refused": 1}},
        {"expect": {"refused": "a", "unreadable": "b"}},
        {"expect": {"accepted": "a"}},
    ],
)
def test_a_malformed_meta(tmp_path: Path, change: dict[str, object]) -> None:
    write_meta(tmp_path, **change)
    assert not valid(json.loads((tmp_path / "meta.json").read_text(encoding="utf-8")), "rejected")
    with pytest.raises(InputError, match=r"meta\.json"):
        rejection_fault(tmp_path)


# ------------------------------------------------------------------------------------------------- the form of a case


@pytest.mark.parametrize(
    ("path", "value", "is_read"),
    [
        ("extra", 1, False),
        ("problem.extra", 1, False),
        ("network.extra", 1, False),
        ("expect.extra", "proved", False),
        ("schema", "case-2", False),
        ("flags", [], False),
        ("flags", ["kink", "kink"], False),
        ("flags", ["interesting"], False),
        ("comment", " ", False),
        ("source", "", False),
        ("problem.goal", "other", False),
        ("problem.trained", "hidden", True),
        ("problem.trained", "both", True),
        ("problem.slope", 0, False),
        ("problem.inputs", [[1, "1/4"], ["-1", "1/4"]], False),
        ("problem.inputs", [["2/4", "1/4"], ["-1", "1/4"]], None),
        ("problem.inputs", [["0.5", "1/4"], ["-1", "1/4"]], False),
        ("network.W", [[0, "2"], ["0", "0"]], False),
        ("network.b", ["0", "0"], None),
        ("network.masks", [[1], [0, 1]], True),
        ("expect.fits", "yes", False),
        ("expect.bracket", ["1"], False),
        ("expect.bracket", [1, 2], False),
        ("expect.bracket", ["1", None], True),
        ("expect.bracket", ["1e-3", "2"], False),
        ("expect.infeasible", "no", False),
    ],
)
def test_the_schema_and_the_reader_agree(copy: Path, path: str, value: object, is_read: bool | None) -> None:
    """`None`: the schema cannot say it (lowest terms, biases that go with the mode), and the reader refuses."""
    given = json.loads((copy / "case.json").read_text(encoding="utf-8"))
    part, _, name = path.rpartition(".")
    (given[part] if part else given)[name] = value
    (copy / "case.json").write_text(json.dumps(given), encoding="utf-8")
    assert valid(given) is (is_read is not False)
    if is_read:
        read_strictly(copy / "case.json")
    else:
        with pytest.raises(InputError):
            read_strictly(copy / "case.json")


def test_a_malformed_case_ends_the_run(copy: Path) -> None:
    (copy / "case.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="is not JSON"):
        run(copy)


def test_half_a_character_is_refused_before_anything_is_written(copy: Path, tmp_path: Path) -> None:
    """It cannot be written as UTF-8: the certificates were stored, and then the program broke down."""
    text = (copy / "case.json").read_text(encoding="utf-8")
    value = json.loads(text) | {"comment": "a lone \ud800"}
    offered = tmp_path / "offered.json"
    offered.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError, match="a lone surrogate"):
        read_strictly(offered)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist: give a folder with cases"):
        run(tmp_path / "nothing")
    with pytest.raises(InputError, match="holds no case"):
        run(tmp_path)
    with pytest.raises(InputError, match="is a folder: give the file"):
        read_strictly(tmp_path)


def test_where_the_corpus_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find() == CASES
    package = tmp_path / "site-packages" / "verify"
    monkeypatch.setattr("verify.corpus.case_files.__file__", str(package / "corpus" / "case_files.py"))
    with pytest.raises(InputError, match="give the folder that does"):
        find()
    (package / "cases").mkdir(parents=True)
    shutil.copy(CASES / "schema.json", package / "cases")
    assert find() == package / "cases"


# ------------------------------------------------------------------------------------------------- adding a case

NEW = {
    "schema": "case-1",
    "comment": "One point.",
    "source": "a test",
    "flags": ["univariate"],
    "problem": {"goal": "max-margin", "bias": "none", "slope": "0", "inputs": [["2"]], "targets": ["1"]},
    "network": {"W": [["1"]], "v": ["1"]},
    "expect": {"global_optimum": "proved", "bracket": ["0.4999", "0.5001"]},
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of one case."""
    root = tmp_path / "corpus"
    shutil.copytree(THEOREM, root / "max-margin" / THEOREM.name)
    return root


def written(folder: Path, name: str, **change: object) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(NEW | change), encoding="utf-8")
    return file


def test_add_a_case_file(corpus: Path, tmp_path: Path) -> None:
    status, lines = run(corpus, add=written(tmp_path, "one-point.json"))
    assert status == 0
    assert lines[0].startswith("ok    max-margin/one-point: added, [0.5")
    added = corpus / "max-margin" / "one-point"
    assert json.loads((added / "case.json").read_text(encoding="utf-8")) == NEW
    assert {"problem.json", "network.json", "fits.json", "optimal-within.json"} <= {
        file.name for file in (added / "certificates").iterdir()
    }
    status, lines = run(corpus)
    assert status == 0
    assert lines[-1].startswith("2 cases, ")


def test_add_a_case_named_by_its_folder_to_an_empty_corpus(tmp_path: Path) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    assert run(root, add=written(tmp_path / "one-point", "case.json", expect={}))[0] == 0
    case = read_strictly(root / "max-margin" / "one-point" / "case.json")
    assert case.verdicts == dict.fromkeys(
        ["fits", "stationary", "local_optimum", "global_optimum", "global_any_width"], "proved"
    )
    assert case.bracket is not None
    assert case.bracket[0] < Fraction(1, 2) < case.bracket[1]


def test_add_a_saved_audit(corpus: Path, tmp_path: Path) -> None:
    network = Network.two_layer([[0.5, 1], [0, 0]], [0.25, 1], b=[1, 0], slope="1/3", masks=[[0, 1, 2], [1, 2]])
    found = audit(network, ([[1, 2], [1, 1]], [1, -1]))
    found.save(tmp_path / "my-audit")
    assert run(corpus, add=tmp_path / "my-audit")[0] == 0
    case = read_strictly(corpus / "max-margin" / "my-audit" / "case.json")
    assert case.flags == ("from-audit",)
    assert (case.problem, case.network) == (found.problem, found.network)
    assert case.verdicts == dict.fromkeys(found.findings, "refuted")
    assert valid(json.loads((corpus / "max-margin" / "my-audit" / "case.json").read_text(encoding="utf-8")))


def test_add_the_audit_of_a_deep_network(corpus: Path, tmp_path: Path) -> None:
    deep = read_strictly(CASES / "max-margin" / "vardi2022-theorem-3-1-depth-3" / "case.json")
    redecide(deep).save(tmp_path / "deep")
    assert run(corpus, add=tmp_path / "deep")[0] == 0
    case = read_strictly(corpus / "max-margin" / "deep" / "case.json")
    assert (case.network, dict(case.verdicts)) == (deep.network, dict(deep.verdicts))
    assert case.bracket is not None
    assert case.bracket[0] <= Fraction(3, 2) <= case.bracket[1]


def test_add_an_infeasible_problem(corpus: Path, tmp_path: Path) -> None:
    problem = NEW["problem"] | {"inputs": [["2"], ["1"]], "targets": ["1", "-1"]}
    assert run(corpus, add=written(tmp_path, "ray.json", problem=problem, expect={}))[0] == 0
    assert read_strictly(corpus / "max-margin" / "ray" / "case.json").infeasible is True


def test_a_duplicate_is_refused(corpus: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin.json"
    shutil.copy(THEOREM / "case.json", twin)
    with pytest.raises(InputError, match=r"is in the corpus already, as .*vardi2022-theorem-3-2"):
        run(corpus, add=twin)
    with pytest.raises(InputError, match="exists already: give the case another name"):
        run(corpus, add=written(tmp_path, f"{THEOREM.name}.json"))
    assert len(locate(corpus)[0]) == 1


def test_a_case_that_fails_is_not_added(corpus: Path, tmp_path: Path) -> None:
    status, lines = run(corpus, add=written(tmp_path, "wrong.json", expect={"fits": "refuted"}))
    assert status == 1
    assert lines[0] == "FAIL  max-margin/wrong"
    assert lines[1].startswith("        fits: expected refuted, got proved (")
    assert not (corpus / "max-margin" / "wrong").exists()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("Two Words.json", {}, "rename it to small letters, digits and hyphens"),
        ("new.json", {"flags": ["interesting"]}, "has the flag 'interesting'"),
        ("new.json", {"extra": 1}, "holds 'extra'"),
    ],
)
def test_what_cannot_be_added(corpus: Path, tmp_path: Path, name: str, change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(corpus, add=written(tmp_path, name, **change))
    assert len(locate(corpus)[0]) == 1


def test_what_is_not_there_cannot_be_added(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist: check the path"):
        run(corpus, add=tmp_path / "nothing.json")
    with pytest.raises(InputError, match="is not the folder of a saved audit"):
        run(corpus, add=tmp_path)
    (corpus / "max-margin" / "one-point").write_text("in the way", encoding="utf-8")
    with pytest.raises(InputError, match="exists already"):
        run(corpus, add=written(tmp_path, "one-point.json"))
    (corpus / "min-norm").write_text("in the way", encoding="utf-8")
    problem = NEW["problem"] | {"goal": "min-norm"}
    with pytest.raises(InputError, match="cannot be written"):
        run(corpus, add=written(tmp_path, "target.json", problem=problem, expect={}))


# ------------------------------------------------------------------------------------------------- writing certificates


def test_store_writes_what_is_stored(copy: Path) -> None:
    folder = copy / "certificates"
    (folder / "stale.json").write_text("{}", encoding="utf-8")
    (folder / "fits.json").unlink()
    assert store(copy, echo=lambda _: None) == 0
    assert {file.name for file in folder.iterdir()} == {file.name for file in (THEOREM / "certificates").iterdir()}
    first = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert store(copy, echo=lambda _: None) == 0
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == first


def test_store_leaves_a_case_that_fails_alone(copy: Path) -> None:
    before = {file.name: file.read_bytes() for file in (copy / "certificates").iterdir()}
    assert store(changed(copy, fits="refuted"), echo=lambda _: None) == 1
    assert {file.name: file.read_bytes() for file in (copy / "certificates").iterdir()} == before


def test_the_module_as_a_command(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", str(copy)]) == 0
    assert capsys.readouterr().out.startswith("ok    theorem: ")
    assert main(["--store", str(copy / "nothing")]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert main([]) == 2
    assert capsys.readouterr().err.startswith("usage: ")
