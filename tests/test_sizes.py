"""No file over 400 lines and no function over 60 in `verify` and `solvers`, but for those named here with a reason.

An entry that is no longer needed fails as well: the lists can only get shorter without a reason.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST_FILE, LONGEST_FUNCTION = 400, 60

FILES = {
    "solvers/pricing/kernels.py": "what numba keeps on disk is renewed when a function's own file changes only",
}

FUNCTIONS = {
    "solvers/training/flow/gradient_flow.py gradient_flow": "its docstring states 14 options",
    "verify/auditing/loop.py audit": "a parameter for each option, and its docstring",
    "verify/cli/auditing.py audit_command": "one parameter for each option of the command, and its help",
    "verify/cli/training.py train_command": "one parameter for each option of the command, and its help",
    "verify/sweeping/running.py sweep": "a parameter for each option of the command, and its docstring",
    "verify/training/running.py train": "a parameter for each option, and its docstring",
}


def functions(tree, path, outer=""):
    """(name, lines) of each function below a node, methods as Class.method."""
    for node in ast.iter_child_nodes(tree):
        name = f"{outer}{getattr(node, 'name', '')}"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path} {name}", node.end_lineno - node.lineno + 1
            yield from functions(node, path, f"{name}.")
        else:
            yield from functions(node, path, f"{name}." if isinstance(node, ast.ClassDef) else outer)


@cache
def too_long(root):
    """The files and the functions below a folder that are too long, with their numbers of lines."""
    files, found = {}, {}
    for source in sorted(path for package in ("verify", "solvers") for path in (root / package).rglob("*.py")):
        text, path = source.read_text(encoding="utf-8"), source.relative_to(root).as_posix()
        files[path] = len(text.splitlines())
        found |= dict(functions(ast.parse(text), path))
    assert files
    return (
        {path: lines for path, lines in files.items() if lines > LONGEST_FILE},
        {name: lines for name, lines in found.items() if lines > LONGEST_FUNCTION},
    )


@pytest.mark.parametrize(("place", "allowed"), [(0, FILES), (1, FUNCTIONS)])
def test_long_files_and_functions_are_named_with_a_reason(place, allowed):
    found = too_long(ROOT)[place]
    assert {name: lines for name, lines in found.items() if name not in allowed} == {}, "shorten, or name with a reason"
    assert sorted(allowed.keys() - found) == [], "these are no longer too long: take them off the list"
    assert all(allowed.values())


def test_what_is_too_long_is_seen(tmp_path):
    (tmp_path / "verify" / "inner").mkdir(parents=True)
    body = "\n".join(["        x = 0"] * 60)
    text = f"class A:\n    def short(self):\n{body[:-14]}\n    def long(self):\n{body}\n"
    (tmp_path / "verify" / "inner" / "a.py").write_text(text + "\n" * 300)
    assert too_long(tmp_path) == ({"verify/inner/a.py": 422}, {"verify/inner/a.py A.long": 61})
