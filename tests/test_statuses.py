"""How something ended is a member of an enum, with its reason beside it, never a text that others compare or cut up."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]

WORDS = {"status", "outcome", "ending", "verdict"}
"""The names of how something ended."""

OTHERS = {"solver.status"}
"""Of the integrators of scipy, which say it so."""

STORED = {"verify/sweeping/records.py"}
"""Files with the rows of tables that are stored, where each column is a text or a number."""


def texts(source: str, *, is_stored: bool = False) -> list[int]:
    """The lines where a status is compared with a text, looked up or found by one, given as one, or declared as one."""
    kinds = [node for node in ast.walk(ast.parse(source)) if not (is_stored and isinstance(node, ast.AnnAssign))]
    return sorted({node.lineno for node in kinds if _is_text(node)})


def _is_text(node: ast.AST) -> bool:
    match node:
        case ast.Compare():
            sides = (node.left, *node.comparators)
            return any(map(_is_status, sides)) and any(map(_has_text, sides))
        case ast.Match():
            return _is_status(node.subject) and any(
                isinstance(part, ast.MatchValue) and _has_text(part.value)
                for case in node.cases
                for part in ast.walk(case.pattern)
            )
        case ast.Subscript(value=ast.Dict() as table, slice=key):
            return _is_status(key) and any(wanted is not None and _has_text(wanted) for wanted in table.keys)
        case ast.Call(func=ast.Attribute(value=ast.Dict() as table, attr="get"), args=[key, *_]):
            return _is_status(key) and any(wanted is not None and _has_text(wanted) for wanted in table.keys)
        case ast.Call(func=ast.Attribute(value=value, attr=called)):
            return _is_status(value) and called in _CUTS
        case ast.keyword(arg=str(name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name in WORDS and isinstance(node.value, ast.JoinedStr | ast.Constant) and _has_text(node.value)
        case ast.AnnAssign(target=target, annotation=annotation) if _is_status(target):
            return any(isinstance(part, ast.Name) and part.id in ("str", "Literal") for part in ast.walk(annotation))
        case _:
            return False


_CUTS = {"startswith", "endswith", "partition", "rpartition", "split", "removeprefix", "removesuffix", "find", "index"}


def _has_text(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in ast.walk(node))


def _is_status(node: ast.AST) -> bool:
    """Whether it is a status, also as `run.status.value`, `str(run.status)` or `run.status.lower()`."""
    match node:
        case ast.Attribute(value=value, attr="value" | "name"):
            return _is_status(value)
        case ast.Call(func=ast.Name(id="str"), args=[value]):
            return _is_status(value)
        case ast.Call(func=ast.Attribute(value=value, attr="lower" | "upper" | "strip")):
            return _is_status(value)
        case ast.Name() | ast.Attribute():
            name = ast.unparse(node)
            return name.rpartition(".")[2].removeprefix("_") in WORDS and name not in OTHERS
        case _:
            return False


def test_no_status_is_a_text():
    files = [file for folder in ("verify", "solvers", "benchmarks") for file in sorted((ROOT / folder).rglob("*.py"))]
    names = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}
    found = {name: texts(source, is_stored=name in STORED) for name, source in names.items()}
    assert len(found) > 300
    assert {file: lines for file, lines in found.items() if lines} == {}


def test_a_status_that_is_a_text_is_found():
    told = """
if run.status == "limit": ...
if status not in ("time", "done"): ...
if run.status.startswith("failed"): ...
Bracket(status=f"failed ({why})")
status = "done"
class A:
    status: str
if run.status is Status.LIMIT: ...
if solver.status == "failed": ...
status = Status.LIMIT
found.status != 0
if run.status.value == "limit": ...
if str(run.status) != "limit": ...
if self._outcome.lower() == "failed": ...
told = {"limit": 1}[run.status]
told = {"limit": 1}.get(run.status, 2)
told = {Status.LIMIT: "its limit"}[run.status]
status: str | None
ending: Literal["limit", "time"]
outcome: Outcome = Outcome.HELD
match run.status:
    case "limit" | "time": ...
match run.status:
    case Status.LIMIT: ...
if run.status.removeprefix("failed"): ...
"""
    assert texts(told) == [2, 3, 4, 5, 6, 8, 13, 14, 15, 16, 17, 19, 20, 22, 26]
    assert texts("class A:\n    status: str | None\n    outcome: str", is_stored=True) == []
    assert texts("run.status == 'limit'", is_stored=True) == [1]
