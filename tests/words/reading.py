"""How numbers stand in sentences, and which way they were rounded."""

from __future__ import annotations

import re
from fractions import Fraction

from verify.auditing.record import Audit
from verify.checker.certificate import OTHER_DEPTH
from verify.problem.members import has_margin, trains_all
from verify.problem.network import Network
from verify.problem.problem import outputs

N = r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)"
AMOUNT = r"(\S+(?: %)?)"
LOWER = rf"(at least )?{AMOUNT} lower"
AT_MARGIN = r"(?: at its margin ((?:about )?[^\s,;]+(?: \(about [^\s)]+\))?))?"
SLACK = Fraction(11, 10)  # of two digits that are rounded up


WIDE = r"(?:any width(?: with these masks)?|\d+ neurons? with (?:th(?:ese masks|is mask) and |these )output weights)"
"""Over which networks something is said: of any width, or with the given output weights."""


def all_of(kind, finding):
    return [proof for proof in finding.certificates if isinstance(proof, kind)]


def subject_of(audit: Audit, finding) -> Network:
    return finding.subject or audit.network


def is_up(text: str, number: Fraction) -> bool:
    """Whether the decimal is the number, rounded up to two digits or more."""
    return number <= Fraction(text) <= number * SLACK


def is_tolerance(text: str, number: Fraction) -> bool:
    """Whether the decimal is the tolerance that is kept: itself, the double that it reads back as, or rounded up."""
    return reads_back(text, number) or number <= Fraction(text) <= number * Fraction(100001, 10**5)


def is_broken_tolerance(text: str, number: Fraction) -> bool:
    """Whether the decimal is the tolerance that is broken: as for `is_tolerance`, or rounded down."""
    return reads_back(text, number) or Fraction(text) <= number < Fraction(text) * Fraction(100001, 10**5)


def reads_back(text: str, number: Fraction) -> bool:
    """Whether a decimal or fraction is the number, or a decimal of the double that it is."""
    return Fraction(text) == number or Fraction(float(Fraction(text))) == number


def is_down(text: str, number: Fraction) -> bool:
    return number / SLACK <= Fraction(text) <= number


def is_about(text: str, number: Fraction) -> bool:
    mantissa = re.sub(r"e.*|-", "", text)
    digits = len((mantissa if "." in mantissa else mantissa.rstrip("0")).replace(".", "").lstrip("0")) or 1
    return abs(Fraction(text) - number) <= abs(number) * Fraction(6, 10**digits)


def is_value(said: str, number: Fraction) -> bool:
    """ "32/17 (about 1.88)", "2" exactly, or "about 1.7"."""
    found = re.fullmatch(rf"(?:(\S+) \(about {N}\)|about {N}|(\S+))", said)
    assert found is not None, said
    exact, beside, rounded, alone = found.groups()
    if alone:
        return Fraction(alone) == number
    return is_about(beside or rounded, number) and (not exact or Fraction(exact) == number)


def amount(text: str) -> Fraction:
    return Fraction(text.removesuffix(" %")) / 100 if text.endswith("%") else Fraction(text)


def is_lower(least: str | None, text: str, lower: Fraction) -> bool:
    """Of `LOWER`: the number itself, or a decimal below it that says so."""
    return amount(text) == lower if least is None else amount(text) < lower <= amount(text) * SLACK


def is_at_margin(text: str | None, audit, network) -> bool:
    """Of `AT_MARGIN`: said where multipliers are others at margin 1."""
    problem = audit.problem
    if not (problem.asks_fit and has_margin(problem.goal)) or (
        trains_all(problem.trained) and not OTHER_DEPTH.holds(problem)
    ):
        return text is None
    least = min(y * f for y, f in zip(problem.targets, outputs(problem, network), strict=True))
    return least == 1 if text is None else least != 1 and is_value(text, least)


def has_masks(audit) -> bool:
    return any(len(mask) < len(audit.problem.rows[0]) for mask in audit.problem.architecture.masks)
