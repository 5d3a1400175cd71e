"""A pytest plugin that runs case files as tests; not loaded unless asked for.

    pytest -p verify.testing.plugin --isoptimal-cases DIR

or `pytest_plugins = ["verify.testing.plugin"]` in the conftest.py at the root. Every case.json below DIR is one test:
it is decided again from scratch and compared with what it expects, and the certificates stored beside it are checked,
as `isoptimal regress` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from verify.corpus import Difference

__all__ = ["pytest_addoption", "pytest_collect_file", "pytest_configure"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --isoptimal-cases."""
    group = parser.getgroup("isoptimal")
    group.addoption("--isoptimal-cases", metavar="DIR", action="append", default=[], help="decide its cases again")


def pytest_configure(config: pytest.Config) -> None:
    """Collect from the folders as well, wherever they are."""
    for folder in _folders(config):
        if not any(folder.rglob("case.json")):
            raise pytest.UsageError(f"--isoptimal-cases {folder} holds no case.json: give a folder with cases")
        config.args.append(str(folder))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take each case below the folders; a folder with a meta.json holds something else, an item to be refused."""
    is_case = file_path.name == "case.json" and not file_path.with_name("meta.json").exists()
    if is_case and any(file_path.is_relative_to(folder) for folder in _folders(parent.config)):
        return CaseFile.from_parent(parent, path=file_path)
    return None


def _folders(config: pytest.Config) -> list[Path]:
    given: list[str] = config.getoption("isoptimal_cases") or []
    return [Path(config.invocation_params.dir, folder) for folder in given]


class CaseFile(pytest.File):
    """A case.json: one test, named after its folder."""

    def collect(self) -> Iterator[pytest.Item]:
        """The test."""
        yield CaseItem.from_parent(self, name=self.path.parent.name)


class CaseItem(pytest.Item):
    """The case is decided again, and agrees with what it expects and with what is stored."""

    def runtest(self) -> None:
        """Raise `Unexpected` with every difference, and InputError for a malformed case."""
        from verify.corpus import differences, read_strictly, redecide, stored_differences

        case = read_strictly(self.path)
        found = differences(case, redecide(case))
        stored = self.path.with_name("certificates")
        if stored.is_dir():
            found += stored_differences(case, stored)[0]
        if found:
            raise UnexpectedError(found)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *given: Any, **named: Any) -> Any:
        """The differences, or the sentence about a malformed case, without a traceback."""
        from verify.checker.errors import InputError

        if isinstance(excinfo.value, UnexpectedError | InputError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *given, **named)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where it is, and its name."""
        return self.path, None, f"case: {self.name}"


class UnexpectedError(Exception):
    """What a case expects and does not get, one difference a line."""

    def __init__(self, found: list[Difference]) -> None:
        super().__init__("\n".join(str(difference) for difference in found))
