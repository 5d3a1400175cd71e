"""A case that is offered to the corpus: a case file, or the folder of a saved audit."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from pathlib import Path

from verify.auditing.record import Audit
from verify.checker.errors import InputError
from verify.corpus.case_files import case_text, read_canonical, strict_case
from verify.corpus.case_values import case_value
from verify.deciders.finding import Verdict
from verify.files.reading import read_bytes
from verify.problem.network import Network
from verify.problem.problem import Problem
from verify.readers.cases import Case
from verify.readers.json_files import parse

__all__ = ["offered_case", "with_decided"]

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def offered_case(source: Path) -> tuple[str, dict[str, object], Case]:
    """The name, the JSON and the case that a case file or the folder of a saved audit offers. Raises InputError.

    The name is that of the file, or of the folder for `case.json` and for an audit.
    """
    if source.is_dir():
        slug, value = source.resolve().name, _audited(source)
        content = case_text(value).encode()
    else:
        content = read_bytes(source)
        slug, value = (
            source.resolve().parent.name if source.name == "case.json" else source.stem,
            parse(content, str(source)),
        )
    if not _SLUG.fullmatch(slug):
        raise InputError(f"{source} would be the case {slug!r:.60}: rename it to small letters, digits and hyphens")
    return slug, value, strict_case(content, str(source))


def with_decided(value: dict[str, object], found: Audit) -> dict[str, object]:
    """The case, and where it expects nothing, everything that was decided, with a bracket a little wider than found."""
    if value["expect"]:
        return value
    expect: dict[str, object] = {
        name: finding.verdict.value
        for name, finding in found.findings.items()
        if finding.verdict is not Verdict.UNDECIDED
    }
    if found.infeasible:
        expect["infeasible"] = True
    if found.bracket is not None:
        low, high = found.bracket
        expect["bracket"] = [
            _rounded(low * Fraction("0.999999"), ROUND_FLOOR),
            _rounded(high * Fraction("1.000001"), ROUND_CEILING),
        ]
    return value | {"expect": expect}


def _rounded(number: Fraction, direction: str) -> str | None:
    context = Context(prec=8, rounding=direction)
    text = format(context.divide(Decimal(number.numerator), Decimal(number.denominator)), "f")
    return text if len(text) <= 100 else None


def _audited(source: Path) -> dict[str, object]:
    try:
        problem = read_canonical(Problem, source / "problem.json")
        network = read_canonical(Network, source / "network.json")
    except (OSError, ValueError) as error:
        raise InputError(f"{source} is not the folder of a saved audit ({error}): give that, or a case file") from error
    comment = "Added from a saved audit: say here what it shows."
    return case_value(problem, network, comment=comment, source="a saved audit", flags=["from-audit"])
