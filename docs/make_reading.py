"""Write the transcripts of docs/reading_a_verdict.md and docs/howto/widths.md anew: python docs/make_reading.py

The lines after <!-- transcript: COMMAND -->, up to the end of the block of text that follows, are what COMMAND prints.
"""  # noqa: INP001

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
PAGE, WIDTHS = DOCS / "reading_a_verdict.md", DOCS / "howto" / "widths.md"
BLOCK = re.compile(r"<!-- transcript: (isoptimal .*?) -->\n```text\n(.*?)```\n", re.DOTALL)


def main() -> None:
    """Write the pages."""
    for page in (PAGE, WIDTHS):
        text = page.read_text("utf-8")
        for command, old in list(transcripts(text)):
            before = f"<!-- transcript: {command} -->\n```text\n"
            text = text.replace(f"{before}{old}```\n", f"{before}{printed(command)}```\n")
        page.write_text(text, "utf-8")


def transcripts(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a page with what it is said to print."""
    yield from BLOCK.findall(text)


def printed(command: str) -> str:
    """What the command prints in the folder of the project, in lines of 100 characters."""
    _, *arguments = shlex.split(command)
    environment = {**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(  # noqa: S603 (the commands of the pages)
        [sys.executable, "-m", "verify", *arguments],
        cwd=DOCS.parent,
        env=environment,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return done.stdout


if __name__ == "__main__":
    main()
