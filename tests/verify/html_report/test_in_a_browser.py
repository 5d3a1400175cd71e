"""The page of an audit in a real browser: offline, silent, every word and picture there, on any screen and on paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Browser, chromium
from verify.cli import program

ROOT = Path(__file__).resolve().parents[3]
IRIS = ROOT / "examples" / "iris"
SCREENS = {"desk": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as window:
        yield window


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    place = folder / "report.html"
    options = ["--certificates", str(folder / "proofs"), "--html", str(place)]
    assert program.main(["audit", str(IRIS / "net.npz"), str(IRIS / "data.npz"), *options], standalone_mode=False) == 0
    return place


@pytest.fixture(params=SCREENS)
def screen(request, browser: Browser) -> tuple[int, int]:
    width, height = SCREENS[request.param]
    browser.view(width, height)
    return width, height


def test_nothing_else_is_asked_for_and_the_console_is_silent(browser, page, screen):
    browser.open(page)
    assert browser.requests() == [page.as_uri()]
    assert browser.complaints() == []


def test_the_verdicts_are_seen(browser, page, screen):
    browser.open(page)
    seen = browser.run(
        "return [...document.querySelectorAll('.verdicts tbody tr')].map(row => [...row.children].map(cell => {"
        "const box = cell.getBoundingClientRect();"
        "return box.width > 0 && box.height > 0 && box.right <= innerWidth ? cell.innerText : ''}))"
    )
    assert [row[0] for row in seen] == [
        "fits the data", "stationary (KKT point)", "local optimum", "global optimum of its width",
        "global optimum of any width",
    ]  # fmt: skip
    assert [row[1] for row in seen] == ["proved", *["refuted"] * 4]
    assert all(row[2] for row in seen)


def test_the_pictures_have_a_size_and_nothing_sticks_out(browser, page, screen):
    browser.open(page)
    boxes = browser.run(
        "return [...document.querySelectorAll('figure svg')].map(picture => {"
        "const box = picture.getBoundingClientRect(); return [box.width, box.height, box.right]})"
    )
    assert len(boxes) == 4
    assert all(width > 250 and height > 200 and right <= screen[0] for width, height, right in boxes)
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")


def test_the_links_lead_to_files(browser, page):
    browser.open(page)
    links = browser.run("return [...document.links].map(link => link.href)")
    assert len(links) > 6
    browser.open(next(link for link in links if link.endswith("/fits.json")))
    assert '"kind":"fits"' in browser.run("return document.body.innerText")


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_from_its_ground(browser, page, dark):
    """The contrast that WCAG 2 asks for (AA, 4.5 to 1), of all text, in the light and in the dark."""
    browser.view(1280, 900, dark=dark)
    browser.open(page)
    ground = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(21, 24, 29)" if dark else "rgb(255, 255, 255)")
    colours = browser.run(
        "return [...document.querySelectorAll('main *')].filter(e => !e.closest('svg') && e.innerText).map(e => {"
        "let under = e; const clear = 'rgba(0, 0, 0, 0)';"
        "while (getComputedStyle(under).backgroundColor === clear) under = under.parentElement;"
        "const numbers = text => text.match(/[0-9.]+/g).slice(0, 3).map(Number);"
        "return [e.innerText.slice(0, 40), numbers(getComputedStyle(e).color),"
        "numbers(getComputedStyle(under).backgroundColor)]})"
    )
    assert len(colours) > 50
    assert [words for words, ink, paper in colours if contrast(ink, paper) < 4.5] == []


def contrast(one: list[float], other: list[float]) -> float:
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: list[float]) -> float:
    parts = [c / 255 / 12.92 if c <= 0.04045 * 255 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_it_prints(browser, page):
    browser.view(1280, 900, dark=True)
    browser.open(page)
    content = browser.pdf()
    assert content.startswith(b"%PDF-")
    assert content.rstrip().endswith(b"%%EOF")
    assert 2 <= content.count(b"/Type /Page\n") <= 5
    assert len(content) > 50_000


def test_a_screen_reader_hears_names_of_pictures_and_tables(browser, page):
    browser.view(1280, 900)
    browser.open(page)
    nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    told = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
    pictures = [name for role, name in told if role in ("image", "img")]
    assert len(pictures) == 4
    assert pictures[0].startswith("This network: objective about 6.3337 The signs of the network over 100 points")
    assert ("rowheader", "local optimum") in told
    assert ("columnheader", "verdict") in told
    assert {name for role, name in told if role == "heading"} >= {"What is proved", "The numbers", "Certificates"}
