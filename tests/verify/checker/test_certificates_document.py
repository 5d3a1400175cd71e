"""docs/certificates.md against the code: fields, reasons, claims, limits, the trusted base, examples, faults."""

import ast
import json
import re
import tomllib
from dataclasses import fields
from enum import StrEnum
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from verify import Architecture, Bias, Dataset, Decay, Goal, Layer, Network, Objective, PointLoss, Problem
from verify.checker import KINDS, Accepted, check, codec, exact, from_json, read_certificate, statement
from verify.checker.certificate import AboutNetwork, Certificate, WithSubject
from verify.checker.codec import Record, load_json, reader
from verify.checker.depth_stationary import Part
from verify.checker.derived import AUDIT_FILE, BOUNDS, SYMBOLIC, UNCERTIFIED, WITNESSES
from verify.checker.dual_trees import Active, Bound, Dual, Empty, Together
from verify.checker.enclosed_points import Direction
from verify.checker.exact import Algebraic
from verify.checker.goals import rules
from verify.checker.matrix_trees import Semidefinite
from verify.checker.single_layers import LayerLeaf
from verify.checker.states import HiddenDual, Nothing
from verify.deciders.proposal import sealed

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
COMMON = {"schema", "problem", "network", "claim"}
CHECKS = {
    codec.not_negative: " ≥ 0",
    codec.positive: " > 0",
    codec.increasing: ", increasing",
    codec.ascending: ", increasing",
}
RECORDS = [
    exact.Field, Algebraic, statement.Problem, statement.Architecture, statement.Layer, statement.Network,
    Certificate, AboutNetwork, WithSubject, Dual, HiddenDual, Nothing, Bound, Together, Empty, Active,
    Direction, Part, LayerLeaf, Semidefinite, Objective, PointLoss, Decay, *KINDS.values(),
]  # fmt: skip


def blocks(name):
    """What stands between the marks of this name, by what the mark says."""
    return dict(re.findall(rf"<!-- {name}: (.*?) -->\n(.*?)<!-- end -->", PAGE, re.DOTALL))


def block(name):
    return re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)[1]


def cells(text):
    """The rows of a table without its head, as the texts of their cells."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


# ------------------------------------------------------------------------------------------------- fields


def in_words(hint: Any) -> str:
    """The JSON of a field: what its type hint says."""
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind is Annotated:
        return in_words(parts[0]) + CHECKS[parts[1]]
    if kind is tuple and ... in parts:
        entry = in_words(parts[0])
        return f"list of ({entry})" if " or " in entry else f"list of {entry}"
    if kind is tuple:
        return f"[{', '.join(map(in_words, parts))}]"
    if kind in (Union, UnionType):
        is_number = {Fraction, Algebraic} <= {*parts}
        rest = [part for part in parts if not is_number or part not in (Fraction, Algebraic)]
        words = [in_words(part) for part in sorted(rest, key=lambda part: part is NoneType)]
        return " or ".join(["number", *words] if is_number else words)
    if kind is Literal or (isinstance(kind, type) and issubclass(kind, StrEnum)):
        return " or ".join(f'"{value}"' for value in parts or kind)
    plain = {str: "text", bool: "true or false", int: "integer", Fraction: "rational", NoneType: "null"}
    return plain.get(kind) or f"`{kind.__name__}`"


def own_fields(cls):
    """The fields that a record adds to those of the records that it extends, in their order."""
    hints = get_type_hints(cls, include_extras=True)
    inherited = {field.name for base in cls.__bases__ if base is not Record for field in fields(base)}
    return {field.name: in_words(hints[field.name]) for field in fields(cls) if field.name not in inherited}


@pytest.mark.parametrize("cls", RECORDS, ids=lambda cls: cls.__name__)
def test_the_fields_of_each_record(cls):
    name = f"{cls.__name__}({', '.join(base.__name__ for base in cls.__bases__)})"
    assert name in blocks("fields"), f"docs/certificates.md has no table <!-- fields: {name} --> ... <!-- end -->"
    text = blocks("fields")[name]
    rows = cells(text)
    assert text.startswith(f"| field of `{cls.__name__}` | JSON | meaning |\n")
    assert [(name.strip("`"), json_type) for name, json_type, _ in rows] == list(own_fields(cls).items())


def test_every_record_that_is_read_is_documented():
    found, todo = set(), [*KINDS.values(), statement.Problem, statement.Network]
    while todo:
        cls = todo.pop()
        if cls not in found:
            found.add(cls)
            todo += [base for base in cls.__bases__ if base is not Record]
            todo += [part for hint in get_type_hints(cls, include_extras=True).values() for part in records(hint)]
    assert found == set(RECORDS)
    assert {name.partition("(")[0] for name in blocks("fields")} == {cls.__name__ for cls in RECORDS}


def records(hint):
    """The record classes within a type hint."""
    if isinstance(hint, type) and get_origin(hint) is None:
        return [hint] if issubclass(hint, Record) else []
    return [cls for part in get_args(hint) for cls in records(part)]


def test_the_schemas():
    for cls in (statement.Problem, statement.Network, Certificate):
        assert f'`"schema": "{cls.SCHEMA}"` as well' in PAGE or f'`"schema": "{cls.SCHEMA}"` and `"kind"`' in PAGE


# ------------------------------------------------------------------------------------------------- claims and reasons


def test_each_kind_has_a_section_with_its_claim():
    sections = re.findall(r"\n## ([a-z-]+)\n(.*?)(?=\n## )", PAGE, re.DOTALL)
    assert {name for name, _ in sections} == KINDS.keys(), "docs/certificates.md needs a section for each kind"
    for name, text in sections:
        assert " ".join(text.split()).startswith(f"*{KINDS[name].CLAIM}*"), name
        assert "*Why.*" in text, name
        assert "<!-- example: " in text, name


def in_text(node, constants):
    """The text of an expression, with … for what is filled in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(in_text(part, constants) for part in parts)
        case ast.IfExp(body=one, orelse=other):
            return f"{in_text(one, constants)}\n{in_text(other, constants)}"
        case ast.Name(id=name):
            return constants.get(name, "…")
    return "…"


def reasons(module):
    """The reasons with which the module refuses, … standing for what is filled in."""
    tree = ast.parse((ROOT / "verify" / "checker" / f"{module}.py").read_text(encoding="utf-8"))
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    constants = {node.targets[0].id: in_text(node.value, {}) for node in texts}
    for node in ast.walk(tree):
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if name in ("require", "CertificateError"):
            yield from in_text(node.args[2 if name == "require" else 1], constants).splitlines()


FEW = {
    "exact": 7, "objectives": 3, "statement": 13, "certificate": 8, "fit": 4, "multipliers": 2,
    "stationary": 9, "dual_trees": 18, "bounds": 8, "optimal": 4, "local": 6, "enclosure": 17, "states": 7, "width": 3,
    "depth": 2, "depth_bounds": 9, "depth_stationary": 15, "depth_near": 20, "curves": 5,
    "depth_duals": 3, "matrix_trees": 4, "exchangeable": 6, "copies": 3,
}  # fmt: skip
"""Reasons of each file at least: what looks for them must find them."""


@pytest.mark.parametrize("module", FEW)
def test_every_reason_for_a_refusal_is_told(module):
    found = set(reasons(module)) - {"…"}
    assert [reason for reason in sorted(found) if reason not in WORDS] == []
    assert len(found) >= FEW[module], len(found)


def test_the_faults_that_goals_find_are_told():
    texts = {rules(goal).target_fault(Fraction(2)) for goal in Goal}
    texts |= {rules(goal).tolerance_fault(Fraction(1)) for goal in Goal} - {""}
    hinge = PointLoss(labels=True, low="0", high="1", tube="0", curvature="0")
    asked = rules(Objective(hinge, Decay("1", "1")))
    texts |= {asked.target_fault(Fraction(2)), asked.tolerance_fault(Fraction(1))}
    assert len(texts - {""}) == 4
    assert [text for text in texts if text not in WORDS] == []


# ------------------------------------------------------------------------------------------------- limits, files, names


def test_the_limits():
    for _, name, value in cells(block("limits")):
        module, _, constant = name.strip("`").rpartition(".")
        assert getattr(import_module(module), constant) == int(value), name
    assert f"2^-{exact.BITS} of the given width" in PAGE
    assert exact.LIMIT == 10**100


def test_the_trusted_base():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    named = [file.strip("`") for file, _ in cells(block("trusted"))]
    assert settings["coverage"]["run"]["include"] == ["verify/checker/*.py"]
    files = {f"verify/checker/{path.name}" for path in (ROOT / "verify/checker").glob("*.py")}
    assert files - {*named} == set(), "docs/certificates.md does not say what is trusted of these files"
    assert sorted(named) == sorted(files)


def test_the_names_of_files():
    names = set(re.findall(r"`([a-z.-]+\.json)`", PAGE.partition("\n## A folder\n")[2].partition("\n## ")[0]))
    whole = {name for name in names if not name.startswith(".")}
    assert {*BOUNDS, *SYMBOLIC, *WITNESSES.values(), "problem.json", "network.json", "audit.json"} <= whole
    assert all(AUDIT_FILE.fullmatch(name) for name in whole)


def test_what_is_not_certified():
    told = PAGE.partition("\n**Not certified**")[2].partition(": words")[0]
    named = {name.removeprefix("symbolic.") for name in re.findall(r"`([a-z.]+)`", told)}
    assert named == {key for keys in UNCERTIFIED.values() for key in keys}


# ------------------------------------------------------------------------------------------------- examples

NEAR = Network(Architecture.two_layer(1, 1, slope=0), (["1001/1000"], [1]))
NEAR_DEEP = Network(
    Architecture([Layer(inputs=1, outputs=1, slope=slope) for slope in (1, 1, None)]), [["1001/1000"]] * 3
)
NEAR_ONES = {"stationary-near": NEAR, "deep-stationary-near": NEAR_DEEP}
"""Of x = 1, y = 1, with an example that is no stored case."""


def as_written(members):
    """An object with a line for each member."""
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in members.items())
    return f"```json\n{{\n{lines}\n}}\n```\n"


def shown(path):
    """A stored certificate without the common fields; a problem or a network as it is."""
    stored = json.loads((ROOT / path).read_text(encoding="utf-8"))
    hidden = COMMON | ({"subject", "moved"} if stored.get("subject") is None else set())
    return {k: v for k, v in stored.items() if k not in hidden} if "kind" in stored else stored


@pytest.mark.parametrize("place", blocks("example"))
def test_each_example_is_accepted(place):
    text = blocks("example")[place]
    if place in NEAR_ONES:
        network, common = NEAR_ONES[place], dict.fromkeys(COMMON, "") | {"schema": Certificate.SCHEMA}
        problem = Problem(Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
        made = reader(KINDS[place])(json.loads(text[8:-4]) | common)
        assert isinstance(check(problem, network, sealed(problem, network, made)), Accepted)
        return
    assert text == as_written(shown(place))
    folder = (ROOT / place).parent
    problem, network = (
        reader(kind)(load_json((folder / name).read_text(encoding="utf-8")))
        for kind, name in ((statement.Problem, "problem.json"), (statement.Network, "network.json"))
    )
    if not place.endswith("network.json"):
        stored = read_certificate((ROOT / place).read_text(encoding="utf-8"))
        assert isinstance(check(problem, network, stored), Accepted)


def test_there_is_an_example_of_each_kind():
    shown_kinds = {json.loads(text[8:-4]).get("kind") for text in blocks("example").values()}
    assert shown_kinds == {None, *KINDS}, "docs/certificates.md needs an example <!-- example: path --> of each kind"


def test_an_example_without_one_of_its_fields_is_none():
    for text in blocks("example").values():
        value = json.loads(text[8:-4])
        if "kind" in value:
            with pytest.raises(codec.CertificateError, match="is missing"):
                from_json(value)


# ------------------------------------------------------------------------------------------------- references


def test_each_section_of_the_mathematics_that_is_named_is_there():
    page = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
    titles = {slug(title): title for title in re.findall(r"^#+ (.*)$", page, re.MULTILINE)}
    links = re.findall(r"\[([^\]]*)\]\(mathematics\.md#([^)]*)\)", PAGE)
    assert len(links) > 20
    for words, anchor in links:
        assert titles[anchor].lstrip("0123456789. ") == " ".join(words.split()), anchor


def slug(title):
    """The anchor of a heading, as the site and GitHub have it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def test_each_fault_has_tests_and_each_numbered_test_has_a_row():
    named = {(int(row), file.strip("`")) for row, _, file in cells(block("faults"))}
    files = sorted((ROOT / "tests" / "verify" / "checker").rglob("test_faults*.py"))
    tested = {
        (int(row), path.stem)
        for path in files
        for numbers in re.findall(r"^def test_(\d+(?:_and_\d+)*)_", path.read_text(encoding="utf-8"), re.MULTILINE)
        for row in numbers.split("_and_")
    }
    assert tested <= named
    assert {file for _, file in named} <= {path.stem for path in (ROOT / "tests" / "verify").rglob("test_*.py")}
    assert {row for row, _ in named - tested} == {28, 29, 31}
