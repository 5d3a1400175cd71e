"""How something ended is a member of an enum, with its reason beside it, never a text that others compare or cut up."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]

OTHERS = {"solver.status"}
"""Of the integrators of scipy, which say it so."""


def texts(source: str) -> list[int]:
    """The lines where a status is compared with a text, looked for in one, given as one, or declared to be one."""
    return sorted({node.lineno for node in ast.walk(ast.parse(source)) if _is_text(node)})


def _is_text(node: ast.AST) -> bool:
    match node:
        case ast.Compare():
            return any(map(_is_status, (node.left, *node.comparators))) and any(
                isinstance(part, ast.Constant) and isinstance(part.value, str)
                for side in (node.left, *node.comparators)
                for part in ast.walk(side)
            )
        case ast.Call(func=ast.Attribute(value=value, attr="startswith" | "endswith" | "partition" | "split")):
            return _is_status(value)
        case ast.keyword(arg="status") | ast.Assign(targets=[ast.Name(id="status")]):
            return isinstance(node.value, ast.JoinedStr) or (
                isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
            )
        case ast.AnnAssign(target=target, annotation=ast.Name(id="str")):
            return _is_status(target)
        case _:
            return False


def _is_status(node: ast.AST) -> bool:
    name = ast.unparse(node)
    return name.rpartition(".")[2] == "status" and name not in OTHERS


def test_no_status_is_a_text():
    files = [file for folder in ("verify", "solvers", "benchmarks") for file in sorted((ROOT / folder).rglob("*.py"))]
    found = {file.relative_to(ROOT).as_posix(): texts(file.read_text(encoding="utf-8")) for file in files}
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
"""
    assert texts(told) == [2, 3, 4, 5, 6, 8]
