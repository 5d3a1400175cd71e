"""A class name means one thing, wherever in the repository it is read."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]


def defined(sources: dict[str, str]) -> dict[str, list[str]]:
    """The files in which each class is defined; without those that derive from a class of the same name."""
    found: dict[str, list[str]] = defaultdict(list)
    for file, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.ClassDef):
                continue
            bases = {base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases}
            if node.name not in bases:  # else it is the same thing, with more that can be asked of it
                found[node.name].append(file)
    return found


def test_no_class_name_is_defined_twice():
    files = [file for folder in ("verify", "solvers", "isoptimal") for file in sorted((ROOT / folder).rglob("*.py"))]
    found = defined({file.relative_to(ROOT).as_posix(): file.read_text("utf-8") for file in files})
    twice = {name: places for name, places in found.items() if len(places) > 1}
    assert twice == {}, f"a class of this name is there already: say in the new one's name what it is of: {twice}"


def test_what_is_defined_twice_is_found():
    assert defined({"a": "class A: pass\nclass B: pass", "b": "def f():\n    class A: pass"})["A"] == ["a", "b"]
    assert defined({"a": "class A: pass", "b": "class A(a.A): pass", "c": "class A(A): pass"})["A"] == ["a"]
