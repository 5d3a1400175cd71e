"""A headless Chromium for tests of pages: what it loads, what it complains of, what it shows, what it prints."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NO_BROWSER = "needs selenium, chromium and chromedriver"

DRAWN = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
"""Ends in the second frame of a page that is loaded: the first one is on the screen then."""


class Browser:
    """One window of a browser that is driven by selenium."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path | str) -> None:
        """Load a file or an address, until it is drawn, and forget what was loaded before."""
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get(page.resolve().as_uri() if isinstance(page, Path) else page)
        self.driver.execute_async_script(DRAWN)  # else a busy machine prints an empty page

    def requests(self) -> list[str]:
        """The addresses that were asked for since the page was opened."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """What stands in the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def run(self, script: str, *values: object) -> Any:
        """The value that a function body in JavaScript returns."""
        return self.driver.execute_script(script, *values)

    def view(self, width: int, height: int, *, dark: bool = False, pixels: float = 1) -> None:
        """Be a screen of this size, in CSS pixels, of somebody who likes it light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": pixels, "mobile": False}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def screenshot(self) -> bytes:
        """The whole page as a PNG file."""
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
        return base64.b64decode(shot["data"])

    def pdf(self) -> bytes:
        """The page as it is printed on A4."""
        paper = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True, "printBackground": False}
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.printToPDF", paper)["data"])


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """A browser with its profile in `folder`; the test is skipped where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason=NO_BROWSER)
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip(NO_BROWSER)
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for switch in (
        "headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", "disable-default-apps", "disable-dev-shm-usage",
        f"user-data-dir={folder}",
    ):  # fmt: skip
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    with webdriver.Chrome(options=options, service=service) as window:
        window.get("about:blank")
        yield Browser(window)
