"""The table of readers: each row leads to functions that are there, and the README has its rows."""

from importlib import import_module
from pathlib import Path

import pytest

from verify.readers import read
from verify.readers.table import SOURCES, by_package, by_suffix, readme_rows

README = Path(__file__).parents[3] / "README.md"


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.module)
def test_each_row_leads_to_its_functions(source):
    module = import_module(f"verify.readers.{source.module}")
    assert source.suffixes or source.read
    assert callable(getattr(module, source.load if source.suffixes else source.read))
    assert not source.read or callable(getattr(module, source.read))
    assert bool(source.packages) <= bool(source.read)


def test_no_two_rows_have_a_suffix_or_a_package_in_common():
    for entries in ([s for row in SOURCES for s in row.suffixes], [p for row in SOURCES for p in row.packages]):
        assert len(set(entries)) == len(entries)
    for row in SOURCES:
        assert all(by_suffix(suffix) is row for suffix in row.suffixes)
        for package in row.packages:
            theirs = type("Model", (), {"__module__": f"{package}.part"})
            assert by_package(type("Mine", (theirs,), {"__module__": "__main__"})) is row
    assert by_suffix(".txt") is None
    assert by_package(int) is None


def test_the_readme_has_the_rows():
    lines = README.read_text(encoding="utf-8").splitlines()
    start = lines.index("| source | what is read |") + 2
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    rows = readme_rows()
    assert lines[start:end] == rows, "the README needs these rows:\n" + "\n".join(rows)


def test_users_are_told_of_every_suffix():
    told = read.__doc__ or ""
    endings = [suffix for row in SOURCES for suffix in row.suffixes if suffix != ".pickle"]  # another name of .pkl
    assert [suffix for suffix in endings if f"`{suffix}`" not in told] == []


def test_extras_are_those_of_the_project():
    text = (README.parent / "pyproject.toml").read_text(encoding="utf-8")
    for extra in {row.extra for row in SOURCES} - {None}:
        assert f"\n{extra} = [" in text
