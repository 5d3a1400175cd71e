"""Write the tables of docs/claims.md and docs/claims/PAPER.md: python docs/make_claims.py

From docs/claims.json, which `isoptimal claims --json docs/claims.json` writes, from cases/ and docs/reproductions/.
What stands between a line <!-- claims:NAME --> and <!-- claims:end --> is written here, everything else by hand.
"""  # noqa: INP001

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from verify.claims import PAPERS
from verify.claims.chances import interval_text
from verify.claims.tables import tables_of
from verify.corpus import locate, read_strictly
from verify.errors import InputError
from verify.reproduce import figure, names
from verify.reproduce.spec import Check

DOCS = Path(__file__).parent
LOG, OVERVIEW, PAGES = DOCS / "claims.json", DOCS / "claims.md", DOCS / "claims"
CASES = DOCS.parent / "cases"

QUESTIONS = {"stationary": "stationary", "local_optimum": "local", "global_optimum": "own width",
             "global_any_width": "any width"}  # fmt: skip

Results = Mapping[str, Mapping[str, Any]]

FEW_WORDS = 5


def main() -> None:
    """Write all pages."""
    for file, text in pages(json.loads(LOG.read_text("utf-8"))).items():
        file.write_text(text, "utf-8")


def pages(log: Mapping[str, Any]) -> dict[Path, str]:
    """Each page with what a log of `isoptimal claims` says in its place."""
    results = {claim["id"]: claim for claim in log["claims"]}
    found = {OVERVIEW: filled(OVERVIEW, {"overview": lambda: overview(results)})}
    for paper in PAPERS:
        own = {name: claim for name, claim in results.items() if name.startswith(f"{paper}.")}
        found[PAGES / f"{paper}.md"] = filled(PAGES / f"{paper}.md", parts(paper, own))
    return found


def parts(paper: str, own: Results) -> dict[str, Callable[[], str]]:
    """What can be filled in on the page of a paper."""
    number = re.match(r"arXiv:(\d+\.\d+)", next(iter(own.values()))["source"])
    return {
        "claims": lambda: claims_that_run(own, is_training=False),
        "trainings": lambda: claims_that_run(own, is_training=True),
        "variants": lambda: false_variants(own),
        "waiting": lambda: waiting(own),
        "tables": lambda: papers_tables(paper, own),
        "cases": lambda: cases(paper, number[1] if number else paper),
        "figures": lambda: figures(paper),
    }


def filled(page: Path, known: Mapping[str, Callable[[], str]]) -> str:
    """The page with every marked part written anew."""

    def part(found: re.Match[str]) -> str:
        return f"<!-- claims:{found[1]} -->\n{known[found[1]]()}<!-- claims:end -->"

    marked = rf"<!-- claims:({'|'.join(known)}) -->\n.*?<!-- claims:end -->"
    return re.sub(marked, part, page.read_text("utf-8"), flags=re.DOTALL)


# ------------------------------------------------------------------------------------------------------------- claims


def overview(results: Results) -> str:
    """A line for each paper, and the sum."""
    rows: list[list[object]] = []
    for paper in [*PAPERS, ""]:
        group = [claim for name, claim in results.items() if name.startswith(f"{paper}.") or not paper]
        run = [claim for claim in group if "tried" in claim]
        tried, undecided = (sum(claim[name] for claim in run) for name in ("tried", "undecided"))
        share = f"{100 * undecided / tried:.1f} %" if tried else ""
        failed = sum(claim["outcome"] == "failed" for claim in run)
        trainings = sum(claim["trains"] for claim in run)
        label = f"[{title(paper)}](claims/{paper}.md)" if paper else "all"
        cases = [case for claim in run for case in claim["hypotheses"].values()]
        sharp = f"{sum(case != 'open' for case in cases)} of {len(cases)}"
        rows.append([label, len(run), trainings, failed, tried, share, sharp, len(group) - len(run)])
    head = ("paper", "claims that run", "of trainings", "failed", "instances", "open", "hypotheses with a case",
            "not yet decidable")  # fmt: skip
    return table(head, rows, numbers=range(1, 8))


def title(paper: str) -> str:
    """The heading of a paper's page."""
    return (PAGES / f"{paper}.md").read_text("utf-8").partition("\n")[0].removeprefix("# ")


def claims_that_run(own: Results, *, is_training: bool) -> str:
    """What came of the claims that run, those about trainings or the others; then why instances stayed open."""
    kept = [claim for claim in own.values() if "tried" in claim and claim["trains"] is is_training]
    if not kept:
        return "None.\n"
    rows = [
        [
            f"{called(claim)} *{plain(claim['regime'])}*",
            ", ".join(linked(name, case) for name, case in claim["hypotheses"].items()),
            outcome(claim), claim["tried"], claim["held"], power(claim), sizes(claim), claim["undecided"],
            claim["failed"], plain(measured(claim)),
        ]
        for claim in kept
    ]  # fmt: skip
    head = ("claim", "hypotheses", "outcome", "tried", "held", "could fail", "n, d, k", "open", "failed", "measured")
    reasons = [
        f"- `{claim['id']}`: {'; '.join(f'{plain(reason)} ({count})' for reason, count in common(claim))}"
        for claim in kept
        if claim["undecided"]
    ]
    few = [f"- `{claim['id']}`: {plain(claim['few_could_fail'])}" for claim in kept if has_few(claim)]
    below = ["", "Open because:", "", *reasons, ""] if reasons else []
    below += ["", "Few could fail because:", "", *few, ""] if few else []
    return table(head, rows, numbers=range(3, 9)) + "\n".join(below)


def power(claim: Mapping[str, Any]) -> str:
    """On how many instances it could have failed; of a probability also how many failures would have refuted it."""
    least = claim.get("refuting_failures")
    shown = "" if claim["could_fail"] is None else str(claim["could_fail"])
    if "chance" not in claim:
        return shown
    return f"{shown}; refuted by {least} failures" if least is not None else f"{shown}; no failures would refute it"


def has_few(claim: Mapping[str, Any]) -> bool:
    """Whether less than half of the instances could fail."""
    return claim["could_fail"] is not None and 2 * claim["could_fail"] < claim["tried"]


def sizes(claim: Mapping[str, Any]) -> str:
    """The median points, dimension and neurons of its instances."""
    return ", ".join(str(number) for number in claim["medians"].values())


def false_variants(own: Results) -> str:
    """The false statements beside the claims."""
    rows = [[f"`{name}`", key, plain(said)] for name, claim in own.items() for key, said in claim["variants"].items()]
    return table(("beside", "variant", "what is false"), rows) if rows else "None.\n"


def called(claim: Mapping[str, Any]) -> str:
    """The id of a claim, where it stands, and what it says."""
    return f"`{claim['id']}` ({place(claim)}): {plain(claim['statement'])}"


def plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return text.replace("*", r"\*").replace("<", "&lt;")


def place(claim: Mapping[str, Any]) -> str:
    """Where the claim stands in the paper."""
    return claim["source"].partition(", ")[2] or claim["source"]


def linked(name: str, case: str) -> str:
    """A hypothesis; with a link to the case that shows it to be needed, where there is one."""
    return name if case == "open" else f"[{name}](../../cases/{case}/case.json)"


def outcome(claim: Mapping[str, Any]) -> str:
    """The outcome; of a probability with its interval and what is claimed."""
    if "interval" not in claim:
        return claim["outcome"]
    return f"{claim['outcome']}: in {interval_text(*claim['interval'])}, claimed at least {claim['chance']}"


def measured(claim: Mapping[str, Any]) -> str:
    """The range of the claim's quantity."""
    if "measured" not in claim:
        return ""
    low, high = claim["measured"]["range"]
    return f"{claim['measured']['quantity']}: {low}" + (f" to {high}" if high != low else "")


def common(claim: Mapping[str, Any]) -> list[tuple[str, int]]:
    """The three most frequent reasons why instances stayed open."""
    return sorted(claim["undecided_because"].items(), key=lambda item: -item[1])[:3]


def waiting(own: Results) -> str:
    """The claims that cannot be decided yet, with what they need."""
    rows = [[called(claim), plain(claim["needs"])] for claim in own.values() if "tried" not in claim]
    return table(("claim", "needs"), rows) if rows else "None.\n"


def papers_tables(paper: str, own: Results) -> str:
    """The paper's own tables, with the claims behind each cell; empty where it has none here."""
    try:
        drawn = tables_of(paper)
    except InputError:
        return ""
    blocks: list[str] = []
    for name, rows in drawn.items():
        cells = [[row, *(cell(own, *given) for given in columns)] for row, columns in rows.items()]
        blocks.append(f"**{name}**\n\n{table(('', 'linear', 'ReLU'), cells)}")
    return "\n".join(blocks)


def cell(own: Results, says: str, *ids: str) -> str:
    """What the paper says in a cell, and what became of its claims."""
    return "<br>".join([f"**{says}**", *(f"`{name}`: {held_on(own[name])}" for name in ids)])


def held_on(claim: Mapping[str, Any]) -> str:
    """Such as "held on 200"."""
    if "tried" not in claim:
        return "not yet decidable"
    return f"{claim['outcome']} on {claim['held']}"


# -------------------------------------------------------------------------------------------------- cases and figures


def cases(paper: str, number: str) -> str:
    """The cases that are named after the paper or come from it."""
    rows: list[list[object]] = []
    for file in locate(CASES)[0]:
        case, name = read_strictly(file), file.parent.name
        if name.startswith(f"{paper}-") or number in case.source:
            link = f"[{name}](../../cases/{file.relative_to(CASES).as_posix()})"
            verdicts = [case.verdicts.get(question, "") for question in QUESTIONS]
            rows.append([link, *verdicts, plain(first_sentence(case.comment))])
    return table(("case", *QUESTIONS.values(), "what it shows"), rows) if rows else "None.\n"


def first_sentence(text: str) -> str:
    """Up to the first full stop that ends a sentence; after "A start of training." and the like up to the next one."""
    first, *rest = re.split(r"(?<=[^.]\.) (?=[A-Z])", text, maxsplit=1)
    return f"{first} {first_sentence(rest[0])}" if rest and len(first.split()) < FEW_WORDS else first


def figures(paper: str) -> str:
    """The figures that were computed again, with how many of their statements agree."""
    lines: list[str] = []
    for name in names():
        if name.startswith(f"{paper}-"):
            found = figure(name)
            checks = json.loads((DOCS / "reproductions" / f"{name}.json").read_text("utf-8"))["checks"]
            words = [Check(**check).word for check in checks]
            agree, fits = words.count("Agrees"), words.count("Consistent")
            rest = f", {fits} {'is' if fits == 1 else 'are'} consistent with the runs" if fits else ""
            link = f"[{found.title}](../reproductions.md#{anchor(found.title)})"
            lines.append(
                f"- {link}, after {place({'source': found.source})}: {agree} of {len(checks)} statements agree{rest}"
            )
    return "".join(f"{line}\n" for line in lines) or "None.\n"


def anchor(heading: str) -> str:
    """What a heading is called in links."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers: Iterable[int] = ()) -> str:
    """A Markdown table; the columns in `numbers` are set to the right."""
    right = set(numbers)
    lines = [list(head), ["--:" if i in right else "---" for i in range(len(head))], *rows]
    return "".join("| " + " | ".join(str(value).replace("|", "\\|") for value in line) + " |\n" for line in lines)


if __name__ == "__main__":
    main()
