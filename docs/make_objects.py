"""Write docs/objects.md from the table in tests/verify/readers/objects.py: python docs/make_objects.py."""  # noqa: INP001

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.verify.readers.objects import Kind

PAGE = Path(__file__).with_name("objects.md")

HEAD = """# What can be read

`read(source)` takes the network out of what a framework stores: {read} of the {all} kinds of objects below are read,
the other {refused} are refused with the reason. Where options are needed, the error without them prints the call, or
the command line with the same options (`output_bias="neuron"` is `--output-bias neuron`). What a reader decides for you
is a note in the report; the words in the last column are from that note, or from the error. Each row is a test: the
exact outputs of the network read are, to rounding, what the object itself computes in double precision.

This page is written by [`make_objects.py`](make_objects.py) from
[`tests/verify/readers/objects.py`](../tests/verify/readers/objects.py).
"""


def main() -> None:
    """Write the page."""
    sys.path.insert(0, str(PAGE.parent.parent))
    from tests.verify.readers.objects import kinds

    PAGE.write_text(page(kinds()), "utf-8")


def page(kinds: Sequence[Kind]) -> str:
    """The text of the page."""
    read = sum(kind.is_read for kind in kinds)
    parts = [HEAD.format(read=read, all=len(kinds), refused=len(kinds) - read)]
    for group, own in groupby(kinds, key=lambda kind: kind.group):
        parts.append(f"\n## {group}\n\n{table(own)}")
    return "".join(parts)


def table(kinds: Iterable[Kind]) -> str:
    """One line for each kind."""
    lines = ["| object | read | what is said |", "|---|---|---|"]
    for kind in kinds:
        how = f"`{kind.call}`" if kind.is_read else "refused"
        lines.append(f"| {kind.name} | {how} | {kind.said} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
