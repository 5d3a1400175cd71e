"""docs/vector-certificates.md against the code: fields, claims, reasons for a refusal, what answers what."""

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest

from verify.checker.codec import load_json, reader
from verify.checker.vector_bounds import MAX_RANK, Cells, Fan, Linear, Priced
from verify.checker.vector_certificates import VectorCertificate
from verify.checker.vector_checking import VECTOR_KINDS, VectorAccepted, check_vector, read_vector_certificate
from verify.checker.vector_folder import VECTOR_WORDS
from verify.checker.vector_statement import VectorNetwork, VectorProblem
from verify.checker.vector_stationary import Move

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "vector-certificates.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
MODULES = ("goals", "statement", "bounds", "certificates", "stationary", "checking")
COMMON = {field.name for field in fields(VectorCertificate)}


@pytest.mark.parametrize(
    "cls", [VectorProblem, VectorNetwork, Fan, Priced, Cells, Linear, Move, *VECTOR_KINDS.values()],
    ids=lambda cls: cls.__name__,
)  # fmt: skip
def test_the_fields_of_each_record(cls):
    text = re.search(rf"<!-- fields: {cls.__name__} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    assert text is not None, f"docs/vector-certificates.md has no table of {cls.__name__}"
    own = [field.name for field in fields(cls) if cls not in VECTOR_KINDS.values() or field.name not in COMMON]
    assert re.findall(r"^\| `([a-z_]+)` \|", text[1], re.MULTILINE) == own


def test_each_kind_has_a_section_with_its_claim():
    sections = dict(re.findall(r"\n## (vector-[a-z-]+)\n(.*?)(?=\n## )", PAGE, re.DOTALL))
    assert sections.keys() == VECTOR_KINDS.keys()
    for kind, text in sections.items():
        assert " ".join(text.split()).startswith(f"*{VECTOR_KINDS[kind].CLAIM}*"), kind


def told(node, constants):
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(told(part, constants) for part in parts)
        case ast.Name(id=name):
            return constants.get(name, "…")
    return "…"


@pytest.mark.parametrize("module", MODULES)
def test_every_reason_for_a_refusal_is_told(module):
    tree = ast.parse((ROOT / "verify" / "checker" / f"vector_{module}.py").read_text(encoding="utf-8"))
    texts = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    constants = {node.targets[0].id: told(node.value, {}) for node in texts}
    found = set()
    for node in ast.walk(tree):
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if name in ("require", "CertificateError"):
            found.add(told(node.args[2 if name == "require" else 1], constants))
    assert [reason for reason in sorted(found - {"…"}) if reason not in WORDS] == []
    assert found


def test_what_answers_what():
    rows = re.search(r"## What answers what\n\n(.*?)\n\n", PAGE, re.DOTALL)[1].splitlines()[2:]
    listed = {re.findall(r"`(vector-[a-z-]+)`", row)[0] for row in rows}
    assert listed == {kind for kind, cls in VECTOR_KINDS.items() if any(cls.ANSWERS.values())}
    count = sum(len(cls.ANSWERS) for cls in VECTOR_KINDS.values() if any(cls.ANSWERS.values()))
    assert len(rows) == count
    for row in rows:
        kind, *cells = [cell.strip() for cell in row.strip("|").split("|")]
        name, _, variant = kind.partition(", ")
        own = VECTOR_KINDS[name.strip("`")].ANSWERS
        key = {"own width": "own-width", "any width": "any-width", "F = `lower`": "at its bound"}.get(variant, "")
        answered = {question.value: reply for question, (reply, _) in own[key].items()}
        names = ("fits", "stationary", "local_optimum", "global_optimum", "global_any_width")
        for question, cell in zip(names, cells, strict=True):
            assert (answered[question].value if question in answered else "") == cell.split(",")[0].split(" ")[0], kind


def test_what_is_not_certified():
    named = PAGE.partition("Not certified are its")[2].partition(": words")[0]
    assert {*re.findall(r"`([a-z]+)`", named)} == VECTOR_WORDS - {"files"}


def test_the_example_is_accepted():
    lines = re.search(r"<!-- example -->\n```json\n(.*?)\n```", PAGE, re.DOTALL)[1].splitlines()
    problem, network = reader(VectorProblem)(load_json(lines[0])), reader(VectorNetwork)(load_json(lines[1]))
    kinds = [read_vector_certificate(line) for line in lines[2:]]
    assert [one.KIND for one in kinds] == ["vector-stationary", "vector-not-local", "vector-bound"]
    for one in kinds:
        about = network if one.IS_ABOUT_NETWORK else None
        assert isinstance(check_vector(problem, about, one), VectorAccepted)
    assert f"at most {MAX_RANK} vectors" in PAGE
