"""The trusted core imports the standard library and itself, nothing else; the lists of its modules agree."""

import ast
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
FILES = sorted(f"verify/checker/{path.name}" for path in (ROOT / "verify" / "checker").glob("*.py"))
CORE = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in FILES}


def foreign_imports(source: str) -> set[str]:
    """What a module of the core imports and must not: anywhere in it, inside functions too, and by name at run time."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(level=0, module=str(module), names=names):
                found |= (
                    {f"{module}.{alias.name}" for alias in names}
                    if module in ("verify", "verify.checker")
                    else {module}
                )
            case ast.ImportFrom():
                found.add("a relative import")
            case ast.Name(id="__import__" | "exec" | "eval" as name) | ast.Attribute(attr="import_module" as name):
                found.add(name)
    allowed = sys.stdlib_module_names | {"_typeshed"}  # the type checker's own stub: it does not exist at run time
    return {name for name in found if name not in CORE and name.partition(".")[0] not in allowed}


@pytest.mark.parametrize("file", FILES)
def test_the_core_imports_the_standard_library_only(file):
    assert foreign_imports((ROOT / file).read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("import numpy", "numpy"),
        ("import numpy.linalg as la", "numpy.linalg"),
        ("def f():\n    from sympy import Poly", "sympy"),
        ("from verify.deciders.rounding import dyadic", "verify.deciders.rounding"),
        ("from verify import read", "verify.read"),
        ("import verify.deciders.finding", "verify.deciders.finding"),
        ("from . import finding", "a relative import"),
        ("import importlib\nimportlib.import_module('numpy')", "import_module"),
        ("__import__('numpy')", "__import__"),
        ("import solvers", "solvers"),
    ],
)
def test_a_planted_import_is_found(planted, found):
    assert foreign_imports(planted) == {found}


def test_what_the_core_may_import():
    assert foreign_imports("import json\nfrom fractions import Fraction\nfrom verify.checker.exact import dot") == set()
    assert foreign_imports("import verify.checker.certificate as kinds\nfrom verify.checker import errors") == set()


@pytest.mark.parametrize("name", sorted(CORE))
def test_each_module_is_loaded_so_that_its_coverage_counts(name):
    assert import_module(name).__doc__


def test_the_core_is_the_folder():
    contract = next(c for c in SETTINGS["importlinter"]["contracts"] if c["name"].startswith("trusted core"))
    assert contract["source_modules"] == ["verify.checker"]
    assert SETTINGS["coverage"]["run"]["include"] == ["verify/checker/*.py"]
    assert SETTINGS["pyright"]["strict"] == ["verify/checker"]
    assert {path.suffix for path in (ROOT / "verify" / "checker").iterdir() if path.is_file()} == {".py"}
