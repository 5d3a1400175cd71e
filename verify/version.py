"""The version of isoptimal that is running."""

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["__version__"]


def _version() -> str:
    """As it is installed; of a checkout that is not, as its pyproject.toml says."""
    project = Path(__file__).resolve().parent.parent / "pyproject.toml"
    if project.is_file():
        text = project.read_text(encoding="utf-8")
        if 'name = "isoptimal"' in text and (found := re.search(r'^version = "(.+)"$', text, re.MULTILINE)):
            return found.group(1)
    try:
        return version("isoptimal")
    except PackageNotFoundError:
        return "0+unknown"


__version__ = _version()
