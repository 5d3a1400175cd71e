"""`isoptimal claims`: arguments, exit status, tables, JSON, case files, and claims of one's own."""

import json
import re
import sys
from pathlib import Path

import pytest

from verify.claims import GROUP, claims, registry
from verify.cli import program
from verify.errors import InputError
from verify.readers.cases import read_case

DOCS = Path(__file__).parents[2] / "docs"

OWN = """
from hypothesis import strategies as st
from verify import Dataset, Network
from verify.claims import Claim, Instance, failed, held

def posed(c):
    return Instance.posed(Network.two_layer([[c]], [c]), Dataset([[c]], [1]))

CLAIMS = [
    Claim(id="own.true", source="a test", statement="Small numbers are small.", instances=st.integers(1, 4).map(posed),
          conclusion=lambda i: held(measured=i.data.inputs[0][0]), quantity="size"),
    Claim(id="own.false", source="a test", statement="All numbers are small.", instances=st.integers(1, 999).map(posed),
          conclusion=lambda i: held() if i.data.inputs[0][0] < 5 else failed("5 is large")),
    Claim(id="own.later", source="a test", statement="It is so.", needs="time"),
]
"""


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "own_claims.py"
    file.write_text(OWN, encoding="utf-8")
    return file


def status(*arguments):
    with pytest.raises(SystemExit) as stopped:
        program.main(["claims", *map(str, arguments)], prog_name="isoptimal")
    return stopped.value.code


def test_a_claim_that_holds(own, capsys):
    assert status("own.true", "--from", own, "--examples", 20) == 0
    said = capsys.readouterr().out
    assert re.search(r"own\.true +held +4 +0 +0 .*size 1 to 4", said)


def test_a_false_claim_gives_a_case_and_status_1(own, tmp_path, capsys):
    assert status("own", "--from", own, "--cases", tmp_path / "found", "--json", tmp_path / "out.json") == 1
    said = capsys.readouterr().out
    assert "own.false is false here: 5 is large" in said
    assert re.search(r"own\.later +time +It is so\.", said)
    case = read_case((tmp_path / "found" / "own-false.json").read_bytes(), "case")
    assert case.problem.data.inputs == ((5,),)
    assert case.comment == "Refutes own.false: 5 is large."
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    by_id = {claim["id"]: claim for claim in written["claims"]}
    assert {name: claim["outcome"] for name, claim in by_id.items()} == {
        "own.true": "held", "own.false": "failed", "own.later": "not run",
    }  # fmt: skip
    assert by_id["own.false"]["counterexample"]["problem"]["inputs"] == [["5"]]
    assert by_id["own.true"]["measured"] == {"quantity": "size", "range": ["1", "4"]}


def test_json_alone_on_standard_output(own, capsys):
    assert status("own.true", "--from", own, "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "claims-1"


def test_the_papers_tables(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert status("vardi2022.thm4.1", "vardi2022.thm5.1", "--examples", 3, "--table", "vardi2022") == 0
    said = capsys.readouterr().out
    assert "Table 1: depth 2" in said
    assert "vardi2022.thm4.1: held on 3" in " ".join(said.split())
    assert "vardi2022.thm5.1: not run" in " ".join(said.split())
    for _, *ids in (cell for rows in _tables().values() for row in rows.values() for cell in row):
        assert ids
        assert set(ids) <= registry().keys()


def _tables():
    from verify.claims.tables import tables_of

    return tables_of("vardi2022")


def test_the_list(capsys):
    assert status("--list", "lyu2021") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "lyu2021.thm4.2" in said
    assert "symmetric*" in said
    assert "not yet decidable here: needs training" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["vardi2022.thm4.4x"], "vardi2022.thm4.4x is not the id of a claim: did you mean vardi2022.thm4.4"),
        (["nothing-like-it"], "isoptimal claims --list names them"),
        (["--table", "lai2026"], "there is no table of that paper, only of vardi2022"),
        (["--from", "no_such_module"], "the module no_such_module cannot be imported"),
        (["--from", "missing.py"], "missing.py cannot be read"),
        (["--examples", "0"], "see isoptimal claims --help"),
        (["--json", "no/such/folder.json"], "cannot be written"),
    ],
)
def test_bad_calls_are_one_sentence_and_status_2(arguments, said, capsys):
    assert status(*arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no claims: give it a list CLAIMS"),
        ("CLAIMS = []", "its list CLAIMS is empty"),
        ("CLAIMS = [1]", "holds 1 among its claims"),
        ("CLAIMS = 'text'", "holds no claims"),
        ("1 / 0", "cannot be imported (ZeroDivisionError"),
        ("from verify.claims import Claim\nCLAIMS = Claim(id='a b', source='', statement='')", "without spaces"),
        ("from verify.claims import registry\nCLAIMS = [registry()['lai2026.lem3']] * 2", ""),
        ("from verify.claims import Claim\nCLAIMS = Claim(id='lai2026.lem3', source='', statement='', needs='x')",
         "which is there already"),
    ],
)  # fmt: skip
def test_modules_that_hold_no_claims_are_refused(tmp_path, text, said):
    file = tmp_path / "given.py"
    file.write_text(text, encoding="utf-8")
    if not said:
        assert claims(["lai2026.lem3"], [str(file)])
        return
    with pytest.raises(InputError) as refused:
        registry([str(file)])
    assert said in str(refused.value)


def test_a_module_of_the_working_folder(own, monkeypatch):
    monkeypatch.chdir(own.parent)
    before = list(sys.path)
    assert [claim.id for claim in claims(["own"], ["own_claims"])] == ["own.true", "own.false", "own.later"]
    assert sys.path == before
    del sys.modules["own_claims"]


def test_an_installed_package_registers_its_claims(tmp_path, monkeypatch, capsys):
    package = tmp_path / "their_package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "theorems.py").write_text(OWN.replace("own.", "theirs."), encoding="utf-8")
    info = tmp_path / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nmine = their_package.theorems\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert status("theirs.true", "--examples", 3) == 0
    assert "theirs.true" in capsys.readouterr().out
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nmine = their_package.nothing\n", encoding="utf-8")
    assert status("theirs.true") == 2
    assert "the entry point mine = their_package.nothing cannot be loaded" in capsys.readouterr().err


def test_the_example_of_the_docs(tmp_path, capsys):
    text = (DOCS / "claims.md").read_text(encoding="utf-8")
    example = re.search(r"<!-- claims:example -->\n```python\n(.*?)```", text, re.DOTALL)[1]
    assert len(example.split("\n\n")) == 2
    assert len([line for line in example.splitlines() if line]) == 10
    file = tmp_path / "my_claims.py"
    file.write_text(example, encoding="utf-8")
    assert status("--from", file, "mine.kkt-is-local") == 1
    said = capsys.readouterr().out
    assert "mine.kkt-is-local is false here" in said
    file.write_text(example.replace("ties=False", "ties=False, zeros=False"), encoding="utf-8")
    assert status("--from", file, "mine.kkt-is-local", "--examples", 20) == 0


def test_the_table_of_the_docs_is_that_of_the_log():
    from docs.make_claims import table

    results = json.loads((DOCS / "claims.json").read_text(encoding="utf-8"))
    assert table(results) in (DOCS / "claims.md").read_text(encoding="utf-8")
    known = registry()
    assert {claim["id"] for claim in results["claims"]} == known.keys()
    for claim in results["claims"]:
        assert claim["statement"] == known[claim["id"]].statement
        assert claim["outcome"] == ("held" if known[claim["id"]].is_decidable else "not run")
        assert claim.get("held", 200) + claim.get("undecided", 0) >= 200
