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


def renamed(sources: dict[str, str]) -> dict[str, set[str]]:
    """The files that give a name to something that is no class of this name: to another type, or one of an import."""
    found: dict[str, set[str]] = defaultdict(set)
    for file, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr())
                ):
                    found[name].add(file)
                case ast.ImportFrom(names=names):
                    for alias in names:
                        if alias.asname not in (None, alias.name):
                            found[alias.asname].add(file)
                case _:
                    pass
    return found


SOURCES = {
    file.relative_to(ROOT).as_posix(): file.read_text("utf-8")
    for folder in ("verify", "solvers", "isoptimal")
    for file in sorted((ROOT / folder).rglob("*.py"))
}


def test_no_class_name_is_given_to_anything_else():
    """But for the words of the trusted base, which is read alone, and for names that are for one file."""
    classes = defined(SOURCES)
    other = {name: files for name, files in renamed(SOURCES).items() if name in classes and name[0] != "_"}
    found = {name: files for name, all_ in other.items() if (files := {f for f in all_ if "verify/checker/" not in f})}
    assert found == {}, "a class of this name is there already: say in the new name what it is of"


def test_what_is_given_the_name_of_a_class_is_found():
    sources = {
        "a": "class A: pass",
        "b": "A = tuple[int, int]",
        "c": "from x import B as A\nfrom y import A",
        "d": "A: int",
    }
    assert renamed(sources) == {"A": {"b", "c"}}
    assert renamed({"a": "A: TypeAlias = int\nB = NewType('B', int)"}) == {"A": {"a"}, "B": {"a"}}


def test_no_class_name_is_defined_twice():
    found = defined(SOURCES)
    twice = {name: places for name, places in found.items() if len(places) > 1}
    assert twice == {}, f"a class of this name is there already: say in the new one's name what it is of: {twice}"


def test_what_is_defined_twice_is_found():
    assert defined({"a": "class A: pass\nclass B: pass", "b": "def f():\n    class A: pass"})["A"] == ["a", "b"]
    assert defined({"a": "class A: pass", "b": "class A(a.A): pass", "c": "class A(A): pass"})["A"] == ["a"]
