"""What comments, docstrings and documents name is there: modules and what is in them, files, sections of documents.

A name is written in full, `verify.checker.exact.dot`; a section with its number and title, `docs/mathematics.md`, 5.1
"Weak duality" and 5.3 "Trees", or by its title alone where it has no number.
"""

from __future__ import annotations

import ast
import importlib
import io
import json
import re
import tokenize
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE = ("verify", "solvers", "isoptimal", "tests", "benchmarks", "docs", "examples")
PACKAGES = ("verify", "solvers", "isoptimal")

DOTTED = re.compile(r"(?<![\w/.@-])(?:verify|solvers|isoptimal)(?:\.[A-Za-z_]\w*)+(?![\w/]|\()")
CALLED = re.compile(r"(?<![\w/.@-])(?:verify|solvers|isoptimal)(?:\.[A-Za-z_]\w*)+(?=\()")
SHORT = re.compile(r"`([a-z_]\w*(?:\.[A-Za-z_]\w*)+)`")
MEMBER = re.compile(r"`([A-Z]\w+)\.([a-z_]\w*)(?=[(`])")
FILE = re.compile(r"(?<![\w/.:<{}-])(?:verify|solvers|tests|docs|cases|examples|benchmarks)/[\w./-]*\w(?![\w*<{])")
DOCUMENT = re.compile(r"(?<![\w/.<{*:-])((?:[\w-]+/)*[\w-]+\.md)\b")
CITED = re.compile(r'(?:,|;|:| and|\() (?:sections? )?(?:(\d+(?:\.\d+)*),? )?"([^"]+)"')
HEADING = re.compile(r"^#{1,4} (?:(\d+(?:\.\d+)*) )?(.+?)$", re.MULTILINE)

OTHERS = {"verify.py", "solvers.py", "isoptimal.py", "isoptimal.cli"}
"""Files of users that have such names, and the log of the command line."""

PLACEHOLDERS = {"docs/claims/PAPER.md", "docs/reproductions/NAME.json", "docs/pictures/reproduce-NAME.png"}
PLACEHOLDERS |= {"tests/verify/a/test_a.py", "tests/verify/a/test_b.py", "verify/a/b.py", "benchmarks/results/DATE.md"}
PLACEHOLDERS |= {"verify/cases", "verify/cases/README.md"}  # where an installation has cases


# ------------------------------------------------------------------------------------------------- what is said where


def _of_python(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of every docstring, also those after constants, and every block of comments, without line breaks."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, " ".join(node.value.value.split())
    block: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if block and token.start[0] > last + 1:
                yield last, " ".join(block)
                block = []
            block.append(token.string.lstrip("# "))
            last = token.start[0]
    if block:
        yield last, " ".join(block)


def _of_text(text: str) -> Iterator[tuple[int, str]]:
    """(line, text) of every paragraph, without line breaks."""
    line = 1
    for part in re.split(r"(\n\s*\n)", text):
        if part.strip():
            yield line, " ".join(part.split())
        line += part.count("\n")


def _of_notebook(text: str) -> Iterator[tuple[int, str]]:
    for number, cell in enumerate(json.loads(text)["cells"], 1):
        yield number, " ".join("".join(cell["source"]).split())


@cache
def said() -> list[tuple[str, str]]:
    """(place, text) of all that is said."""
    files = [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "cases" / "README.md", ROOT / "pyproject.toml"]
    texts += [*(ROOT / "examples").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md"), ROOT / "mkdocs.yml"]
    found: list[tuple[str, str]] = []
    readers = [(files, _of_python), (texts, _of_text), ((ROOT / "docs").rglob("*.ipynb"), _of_notebook)]
    for paths, read in readers:
        for path in paths:
            name = path.relative_to(ROOT).as_posix()
            if name != "CHANGELOG.md":  # tells of what there was
                found += [(f"{name}:{line}", text) for line, text in read(path.read_text(encoding="utf-8"))]
    return found


# ------------------------------------------------------------------------------------------------- names


@cache
def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or something in one, fields of records included."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:size]))
        except ModuleNotFoundError:
            continue
        for part in parts[size:]:
            if isinstance(found, type) and part in {field for cls in found.__mro__ for field in _fields(cls)}:
                return True
            if not hasattr(found, part) or _is_of_another(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def _is_of_another(module: object, name: str) -> bool:
    """Whether a module has a class or function only because it imports it, and does not hand it on as its own."""
    if not isinstance(module, ModuleType) or hasattr(module, "__path__") or name in getattr(module, "__all__", ()):
        return False
    found = getattr(module, name)
    return isinstance(found, type | FunctionType) and found.__module__ != module.__name__


def _fields(cls: type) -> set[str]:
    return set(vars(cls).get("__annotations__", {}))


def stale_names(text: str) -> list[str]:
    """The dotted names in a text that lead nowhere."""
    names = {*DOTTED.findall(text), *CALLED.findall(text)} - OTHERS
    return sorted(name for name in names if not is_there(name))


@cache
def _modules() -> dict[str, list[str]]:
    """The full names of modules, by their last part."""
    found: dict[str, list[str]] = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            full = parts[:-1] if parts[-1] == "__init__" else parts
            found.setdefault(full[-1], []).append(".".join(full))
    return found


def short_names(text: str) -> list[str]:
    """The names in backticks that are of a module, and do not say of which package."""
    names = [name for name in SHORT.findall(text) if name.partition(".")[0] not in PACKAGES and "html" not in name]
    return [
        name
        for name in names
        for head, _, rest in [name.partition(".")]
        if any(is_there(f"{module}.{rest}") for module in _modules().get(head, ()))
    ]


@cache
def _classes() -> dict[str, list[ast.ClassDef]]:
    """The classes of the packages, by their names."""
    found: dict[str, list[ast.ClassDef]] = {}
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


def _members(name: str) -> set[str]:
    """The names that are given to something in a class, or in one that it derives from."""
    found: set[str] = set()
    for node in _classes().get(name, ()):
        for part in ast.walk(node):
            match part:
                case ast.FunctionDef(name=member) | ast.Name(id=member, ctx=ast.Store()):
                    found.add(member)
                case ast.Attribute(value=ast.Name(id="self"), attr=member, ctx=ast.Store()):
                    found.add(member)
                case _:
                    pass
        bases = (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases)
        found |= {member for base in bases if base != name for member in _members(base)}
    return found


def stale_members(text: str) -> list[str]:
    """What a text calls the member of a class, `Audit.bracket`, and the class does not have."""
    named = [(name, member) for name, member in MEMBER.findall(text) if name in _classes()]
    return [f"{name}.{member}" for name, member in named if member not in _members(name)]


def _messages() -> Iterator[tuple[str, str]]:
    """(place, text) of the strings in the packages, which people read in messages, help and reports."""
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield f"{name}:{node.lineno}", " ".join(node.value.split())


def test_what_messages_name_is_there():
    said = list(_messages())
    assert len(said) > 3000
    found = [(place, stale_names(text) + broken_citations(place, text) + lost_files(text)) for place, text in said]
    assert [(place, broken) for place, broken in found if broken] == []


def test_members_of_classes_are_there():
    assert [(place, stale) for place, text in said() if (stale := stale_members(text))] == []


def test_every_dotted_name_is_there():
    assert len(said()) > 3000
    assert [(place, stale) for place, text in said() if (stale := stale_names(text))] == []


def test_names_are_written_in_full():
    assert [(place, short) for place, text in said() if (short := short_names(text))] == []


def test_a_stale_name_is_found():
    there = (
        "see `verify.checker.exact.dot`, `verify.checker.dual_trees.Dual.beta`, verify.auditing.record.Audit.bracket."
    )
    assert stale_names(there) == []
    assert stale_names("see `verify.checker.exact.dots`, solvers.nowhere and verify.checker.exact.gone(x)") == [
        "solvers.nowhere",
        "verify.checker.exact.dots",
        "verify.checker.exact.gone",
    ]
    assert stale_names("`verify.auditing.loop.Options`, `verify.checker.codec.CertificateError`, `verify.audit`") == [
        "verify.auditing.loop.Options",
        "verify.checker.codec.CertificateError",
    ]
    named = "`Audit.bracket`, `Audit.brackets`, `Audit.save()`, `Local.claim`, `Nobody.home`"
    assert stale_members(named) == ["Audit.brackets"]
    assert short_names("`exact.dot`, `problem.json`, `verify.checker.exact.dot`") == ["exact.dot"]


# ------------------------------------------------------------------------------------------------- files and sections


LINK = re.compile(r"\]\((?P<path>[\w./-]*)#(?P<anchor>[\w-]+)\)")


def _anchors(path: Path) -> set[str]:
    """What links may lead to in a page: its titles as Markdown writes them in addresses, and the ids that it sets."""
    text = path.read_text(encoding="utf-8")
    titles = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE))
    return {re.sub(r"[\s-]+", "-", title) for title in titles} | set(re.findall(r'id="([\w-]+)"', text))


def test_every_link_to_a_section_leads_there():
    pages = {path: path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}
    links = [(page, match["path"], match["anchor"]) for page, text in pages.items() for match in LINK.finditer(text)]
    ours = [(page, (page.parent / path).resolve() if path else page, anchor) for page, path, anchor in links]
    ours = [link for link in ours if link[1].suffix == ".md"]
    assert len(ours) > 20
    known = {target: _anchors(target) for _, target, _ in ours}
    assert [(page.name, target.name, anchor) for page, target, anchor in ours if anchor not in known[target]] == []


@cache
def headings(name: str) -> dict[str, str | None]:
    """The titles of a document, with their numbers."""
    text = re.sub(r"^```.*?^```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {title.strip("` "): number or None for number, title in HEADING.findall(text)}


def _document(name: str, place: str) -> str | None:
    """Where a document is, seen from what names it; None where it is not."""
    folders = (ROOT, (ROOT / place.partition(":")[0]).parent, ROOT / "docs")
    found = next((folder / name for folder in folders if (folder / name).is_file()), None)
    return None if found is None else found.resolve().relative_to(ROOT).as_posix()


def broken_citations(place: str, text: str) -> list[str]:
    """Documents and sections that a text names and that are not there."""
    found: list[str] = []
    for match in DOCUMENT.finditer(text):
        if match[1] in PLACEHOLDERS or re.search(r"https?:\S*$", text[: match.start()]):
            continue
        document = _document(match[1], place)
        if document is None:
            found.append(match[1])
            continue
        at = match.end() + (text[match.end() : match.end() + 1] == "`")
        while cited := CITED.match(text, at):
            number, title = cited[1], cited[2].rstrip(".,;")
            if title not in headings(document) or headings(document)[title] != number:
                found.append(f"{match[1]}, {number} {title}")
            at = cited.end()
    return found


def test_every_document_and_section_is_there():
    python = [(place, text) for place, text in said() if ".py:" in place]
    assert [(place, broken) for place, text in python if (broken := broken_citations(place, text))] == []
    others = [(place, text) for place, text in said() if ".py:" not in place and "docs/" in text]
    assert [(place, broken) for place, text in others if (broken := broken_citations(place, text))] == []


def test_the_mathematics_is_cited_by_section():
    cited = re.compile(r'docs/mathematics\.md`, (\d+(\.\d+)* "|which)')
    whole = [(place, text) for place, text in said() if ".py:" in place and "docs/mathematics.md" in text]
    assert len(whole) > 25
    missing = [place for place, text in whole if len(cited.findall(text)) < text.count("docs/mathematics.md")]
    assert [place for place in missing if not place.startswith("tests/test_references.py")] == []


def test_every_file_is_there():
    assert [(place, lost) for place, text in said() if (lost := lost_files(text))] == []


def lost_files(text: str) -> list[str]:
    """The files that a text names and that are not there."""
    return [name for name in FILE.findall(text) if name not in PLACEHOLDERS and not _is_file(name)]


def _is_file(name: str) -> bool:
    """Whether a path is there, or a module without its suffix."""
    return (ROOT / name).exists() or (ROOT / f"{name}.py").exists()


def test_the_map_leads_to_every_folder():
    """One may also look for what is in a folder: each package down to the deciders' is named, or one below it."""
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    files = [path for package in ("verify", "solvers") for path in (ROOT / package).rglob("__init__.py")]
    found = [path.parent.relative_to(ROOT) for path in files]
    folders = [path.as_posix() for path in found if len(path.parts) == 2 or path.parts[:2] == ("verify", "deciders")]
    assert len(folders) > 30
    assert [folder for folder in folders if f"{folder}/" not in text] == []


def test_a_broken_citation_is_found():
    place = "verify/checker/exact.py:1"
    assert broken_citations(place, 'see `docs/mathematics.md`, 5.1 "Weak duality" and 5.3 "Trees".') == []
    assert broken_citations(place, 'see `docs/mathematics.md`, 5.2 "Weak duality"; README.md, "Try it"') == [
        "docs/mathematics.md, 5.2 Weak duality"
    ]
    assert broken_citations(place, "NOWHERE.md, section 5") == ["NOWHERE.md"]


# ------------------------------------------------------------------------------------------------- pyproject.toml


@cache
def _project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]


def test_the_layers_are_modules():
    contracts = [contract for contract in _project()["importlinter"]["contracts"] if "containers" in contract]
    assert contracts
    for contract in contracts:
        for name in re.findall(r"\w+", " ".join(contract["layers"])):
            assert any(is_there(f"{container}.{name}") for container in contract["containers"]), name


@pytest.mark.parametrize(
    "paths",
    [
        lambda tool: tool["ruff"]["lint"]["per-file-ignores"],
        lambda tool: tool["pyright"]["strict"],
        lambda tool: tool["pyright"]["include"],
        lambda tool: tool["coverage"]["run"]["include"],
        lambda tool: tool["hatch"]["build"]["targets"]["wheel"]["packages"],
    ],
)
def test_the_files_of_the_tools_are_there(paths):
    for pattern in paths(_project()):
        assert any(ROOT.glob(pattern.removesuffix("/**"))), pattern


# ------------------------------------------------------------------------------------------------- the mathematics


def test_theorems_are_numbered_within_their_sections_and_are_what_others_name():
    text = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
    section, count, known = "0", 0, set()
    for match in re.finditer(r'^## (\d+) |<a id="(\w+)-(\d+)-(\d+)"></a>\*\*(\w+) (\d+\.\d+)', text, re.MULTILINE):
        if match[1]:
            assert int(match[1]) == int(section) + 1
            section, count = match[1], 0
            continue
        count += 1
        assert (match[3], int(match[4])) == (section, count), match[0]
        assert (match[2], f"{match[3]}.{match[4]}") == (match[5].lower(), match[6])
        known.add((match[2], match[6]))
    assert len(known) > 30
    assert re.findall(r"(?<!</a>)\*\*(?:Theorem|Lemma|Proposition|Corollary)", text) == []
    kinds = r"(?i)\b(theorem|lemma|proposition|corollary)s?\s(\d+\.\d+)(?:(?:,\s(\d+\.\d+))*\sand\s(\d+\.\d+))?"
    for match in re.finditer(kinds, re.sub(r"arXiv:[\d.v]+\)?,\sTheorem\s[\d.]+", "", text)):
        for number in filter(None, match.groups()[1:]):
            assert (match[1].lower(), number) in known, match[0]


def test_sections_that_the_mathematics_names_are_there():
    text = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
    numbers = {number for number in headings("docs/mathematics.md").values() if number}
    named = {number for group in re.findall(r"\((\d+\.\d+(?:, \d+\.\d+)*)\)", text) for number in group.split(", ")}
    assert len(named) > 4
    assert named <= numbers
