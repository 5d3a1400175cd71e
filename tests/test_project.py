"""What pyproject.toml offers is what README.md explains and constraints.txt pins."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def test_every_extra_is_one_that_the_readme_or_the_contributors_guide_installs():
    guides = (ROOT / "README.md").read_text(encoding="utf-8") + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = {name for group in re.findall(r"'\.\[([a-z,]+)\]'", guides) for name in group.split(",")}
    assert set(EXTRAS) == named


def test_the_constraints_pin_every_package_that_is_asked_for():
    asked = [
        re.match(r"[A-Za-z0-9_.-]+", need).group()
        for needs in (PROJECT["dependencies"], *EXTRAS.values())
        for need in needs
    ]
    pinned = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert {name.lower() for name in asked} <= pinned
