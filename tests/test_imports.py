"""No module imports one that imports it, however far around: within functions, for types, or from its own package.

`lint-imports` compares modules and packages that stand beside each other; here a package is a module like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]


def imported(source: str, known: Mapping[str, object]) -> Iterator[str]:
    """The modules among the known ones that a source imports anywhere, also by a name in `import_module`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name in known)
            case ast.ImportFrom(module=str(module), names=names) if module in known:
                inner = [f"{module}.{alias.name}" for alias in names]
                yield from (name if name in known else module for name in inner)
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=[ast.Constant(value=name), *_]):
                if called in ("import_module", "__import__") and name in known:
                    yield name
            case _:
                pass


def circle(sources: Mapping[str, str]) -> list[str]:
    """Modules of which each imports the one before it, the last of them the first; empty where there are none."""
    graph = {name: set(imported(source, sources)) - {name} for name, source in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_there_is_no_circle():
    sources: dict[str, str] = {}
    for file in (file for package in ("verify", "solvers", "isoptimal") for file in (ROOT / package).rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        sources[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file.read_text(encoding="utf-8")
    assert len(sources) > 400
    assert circle(sources) == []


def test_a_circle_is_found():
    within = "def f():\n    from a import b"
    assert circle({"a": "", "a.b": "import a.c", "a.c": within}) == ["a.b", "a.c", "a.b"]
    assert circle({"a": "from a.b import x", "a.b": "if TYPE_CHECKING:\n    from a import Y"}) == ["a", "a.b", "a"]
    assert circle({"a": "from importlib import import_module\nimport_module('b')", "b": "import a"}) == ["a", "b", "a"]
    assert circle({"a": "from a import b", "a.b": "import c", "c": "import os\nfrom . import a"}) == []
