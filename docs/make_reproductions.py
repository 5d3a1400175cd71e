"""Compute the pictures and numbers of docs/reproductions.md again, and write it: python docs/make_reproductions.py

    --text          write the text again from the stored numbers, without computing
    FOLDER          keep everything there; what is there already is not computed again

In a checkout with isoptimal installed. Numbers are stored in docs/reproductions/NAME.json, from which all numbers in
the text are taken; pictures in docs/pictures/reproduce-NAME.png.
"""  # noqa: INP001

import json
import shutil
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from verify.reproduce import figure, names, reproduce
from verify.reproduce.spec import Check

DOCS = Path(__file__).parent
NUMBERS, PICTURES, PAGE = DOCS / "reproductions", DOCS / "pictures", DOCS / "reproductions.md"

HEAD = """# Figures of the papers, computed again

`isoptimal reproduce NAME` computes a figure of one of the five papers, draws it, and says what agrees with the paper,
measured on the numbers just computed. Without options it takes a small faithful size (all of them: minutes on one
core); `--full` takes the paper's, where the text tells it (Figures 1 and 2 in full are work for a cluster). Beside
the picture it writes the numbers, as `.npz` and `.json`.

This page is written by [`make_reproductions.py`](make_reproductions.py): every number below is read from
[`reproductions/`](reproductions), where the runs of the small size left it. "Chosen here" is what the text of a paper
does not say, or what stands in an appendix or a formula that we could not read; see [the last
section](#what-could-not-be-recovered).
"""

TAIL = """## What could not be recovered

- arXiv:2110.13905, Appendix I.1 (the data of Figure 1): the data sets here are ours, with the properties that the
  caption states.
- arXiv:2603.04895, Appendix F (its pictures and their sizes) and nearly all formulas: the orders and conditions were
  rebuilt from the proofs in the text. The constants of the theorems are not known to us, so that only rates and
  limits are compared.
- arXiv:2205.09072 has no figure of trained networks; ours shows its Theorem 4.2 at work. The constructions of its
  appendices, such as that of the lower bound on the width, are not in the text we have.
- arXiv:2306.06479, Figures 1 and 2: the curves of the paper are not in the text, only captions and setting, so that
  nothing could be compared point by point. The step and which neurons count as active follow the public code of the
  authors.
- arXiv:2110.02732, Figure 1 is a sketch without numbers.
"""


def main() -> None:
    """All figures, or the text alone."""
    given = sys.argv[1:]
    if given == ["--text"]:
        PAGE.write_text(page(), "utf-8")
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(given[0] if given else scratch)
        for name in names():
            began = time.monotonic()
            sys.stdout.write(f"{reproduce(name, out=folder)}\n{time.monotonic() - began:.1f} s\n\n")
            sys.stdout.flush()
            keep(name, folder)
    PAGE.write_text(page(), "utf-8")


def keep(name: str, folder: Path) -> None:
    """The picture and what was said of it; not the curves."""
    NUMBERS.mkdir(exist_ok=True)
    shutil.copy(folder / f"{name}.png", PICTURES / f"reproduce-{name}.png")
    record = json.loads((folder / f"{name}.json").read_text("utf-8"))
    text = json.dumps({key: value for key, value in record.items() if key != "values"}, indent=1, ensure_ascii=False)
    (NUMBERS / f"{name}.json").write_text(text + "\n", "utf-8")


def page() -> str:
    """The text of docs/reproductions.md."""
    return "\n".join([HEAD, *(section(number, name) for number, name in enumerate(names(), start=1)), TAIL])


def section(number: int, name: str) -> str:
    """A figure with its caption and what its stored numbers say."""
    found, record = figure(name), json.loads((NUMBERS / f"{name}.json").read_text("utf-8"))
    lines = [
        f"{check.word if check.holds else '**Does not agree**'}: {check.statement}: {check.measured}."
        for check in (Check(**stored) for stored in record["checks"])
    ]
    lines += [f"Seen: {line}." for line in record["notes"]]
    lines += [f"Scaled down: {line}." for line in found.scaled(record["parameters"])]
    lines += [f"Chosen here: {line}." for line in found.ours]
    paragraphs = [
        f"## {found.title}",
        f"![{found.title}](pictures/reproduce-{name}.png)",
        wrapped(f"**Figure {number}.** {found.caption}"),
        wrapped(f"`isoptimal reproduce {name}`, after {found.source}: {found.paper}."),
        "\n".join(wrapped(f"- {line}") for line in lines),
    ]
    return "\n\n".join(paragraphs) + "\n"


def wrapped(text: str) -> str:
    """In lines of at most 118 characters; those of a list item are set in."""
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(text, 118, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    main()
