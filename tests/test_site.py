"""The documentation as a site: built with warnings as errors, whole, and of nothing that lies elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.browser import Browser, chromium

ROOT = Path(__file__).resolve().parent.parent
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """What a page loads, where it leads to, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag in LOADED and found.get("rel") != "canonical" and (address := found.get(LOADED[tag])):
            self.loaded.append(address)
        if tag == "a" and (address := found.get("href")):
            self.links.append(address)
        self.places |= {value for name in ("id", "name") if (value := found.get(name))}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    for module in ("material", "mkdocstrings_handlers.python", "nbconvert"):
        if find_spec(module.partition(".")[0]) is None:
            pytest.skip("needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        capture_output=True, text=True, cwd=ROOT, timeout=600, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {place: Page(place.read_text(encoding="utf-8")) for place in site.rglob("*.html")}


def test_every_page_of_the_docs_is_there(site, pages):
    written = {place.relative_to(ROOT / "docs").with_suffix(".html") for place in (ROOT / "docs").rglob("*.md")}
    assert written <= {place.relative_to(site) for place in pages}
    assert site / "tutorials" / "notebook.html" in pages
    assert site / "examples" / "iris" / "index.html" in pages


def test_every_page_of_the_docs_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = set(re.findall(r"[\w/-]+\.md", navigation))
    docs = ROOT / "docs"
    assert {place.relative_to(docs).as_posix() for place in docs.rglob("*.md")} <= named


def test_nothing_is_loaded_from_elsewhere(site, pages):
    assert len(pages) > 25
    for place, page in pages.items():
        assert [address for address in page.loaded if re.match(r"(https?:)?//", address)] == [], place
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import\s*)[\"']?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_every_link_leads_to_something(site, pages):
    for place, page in pages.items():
        if place.name == "404.html":  # is served for any address, so it names its own site from the root
            continue
        for address in [*page.links, *page.loaded]:
            if re.match(r"[a-z]+:", address):
                continue
            path, _, anchor = address.partition("#")
            target = (place.parent / unquote(path.partition("?")[0])).resolve() if path else place
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{place.relative_to(site)} leads to {address}"
            if anchor and target in pages and not anchor.startswith("__"):
                assert unquote(anchor) in pages[target].places, f"{place.relative_to(site)} leads to {address}"


def test_the_reference_has_all_public_names_and_all_commands(site):
    import verify
    from verify.cli import program

    text = (site / "reference" / "python.html").read_text() + (site / "reference" / "readers.html").read_text()
    text += (site / "reference" / "certificates.html").read_text()
    headed = set(re.findall(r'<h[2-6] id="verify\.[\w.]*?(\w+)"', text))
    assert {name for name in verify.__all__ if not name.startswith("_")} <= headed
    commands = (site / "reference" / "command_line.html").read_text()
    assert all(f"isoptimal {name}" in commands for name in program.commands)
    assert "--html FILE" in commands


def test_docstrings_become_lists():
    pytest.importorskip("griffe", reason="needs the extra docs")
    import runpy

    listed = runpy.run_path(str(ROOT / "docs" / "building" / "docstrings.py"))["listed"]
    said = "What?\n\na: one\nmore of it.   b, c: two\nRaises: nothing."
    assert (
        listed(said, {"a", "b", "c"}) == "What?\n\n- `a`: one\n    more of it.\n- `b`, `c`: two\n    Raises: nothing."
    )
    assert listed("x: unknown", {"a"}) == "x: unknown"


# ---------------------------------------------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as window:
        yield window


@pytest.mark.parametrize("name", ["index", "tutorials/pytorch", "tutorials/notebook", "reference/python", "objects"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_is_whole_without_a_network(browser, site, name, width):
    browser.view(width, 900)
    browser.open(site / f"{name}.html")
    assert [address for address in browser.requests() if not address.startswith(("file:", "data:"))] == []
    assert browser.complaints() == []
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    assert browser.run("return [...document.images].every(image => image.complete && image.naturalWidth > 0)")


def test_the_search_finds_words_without_a_server(browser, site):
    browser.view(1280, 900)
    browser.open(site / "index.html")
    field = browser.driver.find_element("css selector", "input.md-search__input")
    field.click()
    field.send_keys("infeasible")
    found: list[str] = []
    deadline = time.monotonic() + 30
    while not found and time.monotonic() < deadline:
        time.sleep(0.2)
        found = browser.run("return [...document.querySelectorAll('.md-search-result__item a')].map(link => link.href)")
    assert any("verdicts.html" in address for address in found)
    assert browser.complaints() == []
