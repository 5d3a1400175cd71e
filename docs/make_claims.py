"""Write the table of docs/claims.md from docs/claims.json, which `isoptimal claims --json docs/claims.json` writes."""  # noqa: INP001

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
BEGIN, END = "<!-- claims:table -->\n", "<!-- claims:end -->"


def table(results: dict[str, Any]) -> str:
    """The claims that run, as a Markdown table."""
    lines = ["| claim | hypotheses | held | open | seconds |", "|---|---|---|---|---|"]
    for claim in results["claims"]:
        if "tried" not in claim:
            continue
        names = ", ".join(f"{name}{'' if case == 'open' else '*'}" for name, case in claim["hypotheses"].items())
        text = f"`{claim['id']}`: {claim['statement']} *{claim['regime']}*"
        seconds = f"{claim['seconds']:.0f}"
        lines.append(
            f"| {text} | {names} | {claim['held']} | {claim['undecided']} | {seconds} |".replace("|x|", "\\|x\\|")
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Replace what stands between the two markers."""
    page = DOCS / "claims.md"
    head, rest = page.read_text(encoding="utf-8").split(BEGIN)
    results = json.loads((DOCS / "claims.json").read_text(encoding="utf-8"))
    page.write_text(f"{head}{BEGIN}{table(results)}{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
