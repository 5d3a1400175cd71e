"""`isoptimal claims`: arguments, exit status, tables, JSON, case files, and claims of one's own."""

import json
import re
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from verify.checker.errors import InputError
from verify.claims import GROUP, PAPERS, claims, read_instance, registry, write_case
from verify.cli import program
from verify.readers.cases import read_case

DOCS = Path(__file__).parents[3] / "docs"

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
    assert re.search(r"own\.true +held +4 +- +0 +0 +1,1,1 ", said)
    assert re.search(r"own\.true +size: 1 to 4", said)


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
    assert status("vardi2022.thm4.1", "vardi2022.thm5.2", "--examples", 3, "--table", "vardi2022") == 0
    said = capsys.readouterr().out
    assert "Table 1: depth 2" in said
    assert "vardi2022.thm4.1: held on 3" in " ".join(said.split())
    assert "vardi2022.thm5.2: held on 2" in " ".join(said.split())
    assert "not yet decidable" not in said
    for _, *ids in (cell for rows in _tables().values() for row in rows.values() for cell in row):
        assert ids
        assert set(ids) <= registry().keys()


def _tables():
    from verify.claims.tables import tables_of

    return tables_of("vardi2022")


def test_long_numbers_are_shown_in_six_digits():
    from verify.claims.tables import number_text

    shown = {Fraction(10**6): "1000000", Fraction(-7, 3): "-7/3", Fraction(0.1): "0.1", Fraction(1, 10**12): "1e-12"}
    shown[Fraction(17, 103932)] = "0.000163568"
    assert {value: number_text(value) for value in shown} == shown


def test_the_list(capsys):
    assert status("--list", "lyu2021") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "lyu2021.thm4.2" in said
    assert "symmetric*" in said
    assert "[arXiv:2110.13905, Theorem 4.2]" in said  # not taken for a style
    assert status("--list", "safran2022.thm4.2.sharper") == 0
    assert "safran2022.thm4.2.sharper " in capsys.readouterr().out


def test_the_list_ends_with_how_many_hypotheses_have_a_sharp_case(capsys):
    assert status("--list", "safran2022.ex1", "chistikov2023.zmatrix") == 0
    assert "3 of 4 hypotheses are shown to be needed by a case" in capsys.readouterr().out


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


@pytest.mark.long
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


LOG = json.loads((DOCS / "claims.json").read_text(encoding="utf-8"))


def test_the_pages_say_what_the_log_says():
    from docs.make_claims import PAGES, pages

    found = pages(LOG)
    assert {file.name for file in found} == {"claims.md", *(file.name for file in PAGES.iterdir())}
    for file, text in found.items():
        assert file.read_text(encoding="utf-8") == text, "python docs/make_claims.py writes it anew"
        assert text.count("<!-- claims:end -->") == len(re.findall(r"<!-- claims:(?!end|example)\w+ -->", text)) > 0


def test_the_pages_speak_of_every_claim_and_show_what_happened():
    from docs.make_claims import PAGES, pages

    changed = json.loads(json.dumps(LOG))
    for claim in changed["claims"]:
        if claim["id"] == "safran2022.thm4.2":
            claim |= {"outcome": "failed", "failed": 1, "undecided": 7, "undecided_because": {"a < b*c": 7}}
        if claim["id"] == "lyu2021.thm4.2":
            claim |= {"trains": True, "outcome": "consistent", "interval": [0.71234, 1.0], "chance": "3/4"}
    found = pages(changed)
    for paper in PAPERS:
        text = found[PAGES / f"{paper}.md"]
        assert all(f"`{name}` (" in text for name in registry() if name.startswith(f"{paper}."))
    text = found[PAGES / "safran2022.md"]
    assert re.search(
        r"`safran2022\.thm4\.2` .*\| failed \| 100 \| \d+ \| \d* \| [\d, ]* \| 7 \| 1 \| linear regions: 1 to ", text
    )
    assert r"- `safran2022.thm4.2`: a &lt; b\*c (7)" in text
    trainings = found[PAGES / "lyu2021.md"].partition("### Trainings")[2].partition("###")[0]
    assert "consistent: in [0.712, 1.000], claimed at least 3/4 | 200 |" in trainings
    total = next(line for line in found[DOCS / "claims.md"].splitlines() if line.startswith("| all |"))
    run = [claim for claim in changed["claims"] if "tried" in claim]
    assert [cell.strip() for cell in total.split("|")[2:6]] == [
        str(number) for number in (len(run), sum(c["trains"] for c in run), 1, sum(c["tried"] for c in run))
    ]


def test_links_of_the_pages_lead_somewhere():
    from docs.make_claims import anchor

    for file in (DOCS / "claims.md", DOCS / "testing.md", *(DOCS / "claims").iterdir()):
        for link in re.findall(r"\]\(([^)\s]+)\)", file.read_text(encoding="utf-8")):
            place, _, heading = link.partition("#")
            if "://" not in place:
                target = file.parent / place
                assert target.exists(), (file, link)
                if heading:
                    lines = target.read_text(encoding="utf-8").splitlines()
                    assert heading in {anchor(line.lstrip("# ")) for line in lines if line.startswith("#")}, link


SLOW = ("lem1", "lem3", "thm1", "thm2", "thm3", "thm4", "thm5", "thm6", "appF", "relative-gap")
FEWER = {f"lai2026.{name}": 100 for name in (*SLOW, "lem7", "cor1")} | {"lai2026.thmA": 40, "lai2026.thmB": 20}
FEWER |= {f"lai2026.{name}": 60 for name in ("appF", "thm1", "thm3", "thm4", "thm5", "thm6", "thm6-sharp")}
FEWER |= {f"lai2026.lem{k}": 60 for k in (2, 4, 5, 6, 9, 10, 12)} | {"lai2026.lem1": 40, "lai2026.lem3": 40}
FEWER |= {"vardi2022.predictor-norm": 100, "lyu2021.thm4.2.found": 100, "followups.savarese2019.line": 100}
FEWER |= {f"vardi2022.{name}": 100 for name in ("widths.enough", "widths.needed", "thm3.1", "thm4.3.linear")}
FEWER |= {f"vardi2022.thm5.{name}": 100 for name in ("2", "3", "4", "4.not-global")}
FEWER |= {f"safran2022.{name}": 100 for name in ("thm4.2", "thm4.2.sharper")} | {"chistikov2023.setS.faces": 100}
FEWER |= {"chistikov2023.M.orthogonal": 60, **{f"chistikov2023.assumption1.m{m}": 700 for m in (1, 2, 4)}}
"""Instances of claims that are no trainings, where an audit in up to 4096 dimensions takes seconds; 200 elsewhere."""


def test_the_log_is_of_all_claims_as_they_are_now_and_nothing_failed():
    known = registry()
    assert {claim["id"] for claim in LOG["claims"]} == known.keys()
    for claim in LOG["claims"]:
        own = known[claim["id"]]
        given = ("statement", "regime", "needs", "trains", "source")
        assert {name: claim[name] for name in given} == {name: getattr(own, name) for name in given}
        assert claim["hypotheses"] == {name: own.sharp_case(name) for name in own.hypotheses}
        if not own.is_decidable:
            assert claim["outcome"] == "not run"
            continue
        assert claim["outcome"] in ("held", "consistent")
        assert claim["complete"] is True
        assert claim["counterexample"] is None or own.kind == "chance"
        assert claim["tried"] >= own.examples >= (20 if own.trains else FEWER.get(own.id, 200))
        assert claim["undecided"] <= 0.2 * claim["tried"], claim["undecided_because"]


def test_a_limit_that_is_no_number_and_a_folder_that_cannot_be_made_are_refused_before_the_work(capsys):
    for arguments, said in (
        (["--time-limit", "nan"], "'nan' is no number"),
        (["--cases", __file__], "is not a folder that can be written"),
        (["--cases", f"{__file__}/deeper/still"], "is not a folder that can be written"),
    ):
        assert program.main(["claims", "vardi2022.thm4.1", *arguments], prog_name="x", standalone_mode=False) == 2
        found = capsys.readouterr()
        assert said in found.err
        assert found.out == ""


@pytest.mark.parametrize("code", ["import sys; sys.exit(0)", "CLAIMS = (1 / 0 for _ in (1,))"])
def test_a_module_that_ends_the_program_or_cannot_be_listed_is_refused(tmp_path, code, capsys):
    """The first was once an exit with status 0, as if all its claims had held."""
    file = tmp_path / "own.py"
    file.write_text(code, encoding="utf-8")
    assert program.main(["claims", "--from", str(file)], prog_name="x", standalone_mode=False) == 2
    assert "own.py" in capsys.readouterr().err


def test_case_files_have_names_that_the_corpus_takes(tmp_path):
    instance = read_instance("max-margin/dead-neuron")
    for name, file in (("mine.Lemma\u00e9 1", "mine-lemma-1.json"), ("\u00e9", "case.json")):
        assert write_case(instance, tmp_path, name, comment="c", source="s").name == file
