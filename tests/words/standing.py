"""The sentence at the head of a page: how the network stands."""

from __future__ import annotations

from fractions import Fraction

from tests.words.reading import WIDE, N, amount, has_masks
from verify.checker.bounds import Infeasible
from verify.problem.phrases import has_infimum_0
from verify.problem.problem import objective

OVER = (
    r"(, over (?:all widths(?: with these masks)?|networks of \d+ neurons? with "
    r"(?:these masks and |this mask and |these )output weights)"
    r"(, after the repair)?)"
)


def _places(audit, _, found):
    """Over which networks, and whether of the repaired one."""
    assert has_masks(audit) == ("mask" in found[0])
    assert (audit.fits.subject is not None) == ("after the repair" in found[0])
    return not has_infimum_0(audit.problem)


def _unknown(audit, *_):
    """No lower end above 0 is known, and no network that is better."""
    lower, upper = audit.asked_bracket or (0, None)
    assert upper is None or upper >= audit.objective
    return audit.asked_excess is None and not lower and not has_infimum_0(audit.problem)


def _best(audit, _, found):
    return _places(audit, _, found) and audit.objective == audit.asked_bracket[0]


def _not_zero(audit, _, found):
    return _places(audit, _, found) and audit.asked_bracket[1] == 0 < audit.objective


def _no_best(audit, *_):
    return has_infimum_0(audit.problem)


def _within(audit, _, found):
    return _places(audit, _, found) and audit.asked_excess[1] <= Fraction(found[1]) <= audit.asked_excess[1] * Fraction(
        11, 10
    )


def _part(text: str, unit: str) -> Fraction:
    return Fraction(text.removesuffix(" times")) - 1 if "times" in text or "times" in unit else amount(text)


def _between(audit, _, found):
    low, high = audit.asked_excess
    return _places(audit, _, found) and _part(found[1], found[0]) <= low <= high <= _part(found[2], found[0])


def _about(audit, _, found):
    low, high = audit.asked_excess
    said = _part(found[1], found[0])
    return _places(audit, _, found) and all(abs(said - end) <= (1 + end) * Fraction(1, 100) for end in (low, high))


def _at_most(audit, _, found):
    return _places(audit, _, found) and audit.asked_excess[1] <= _part(found[1], found[0])


def _at_least(audit, _, found):
    uppers = [b.bracket[1] for b in audit.bounds if getattr(b, "bracket", (None, None))[1] is not None]
    return _places(audit, _, found) and _part(found[1], found[0]) <= audit.objective / min(uppers) - 1


def _none(audit, _, found):
    assert has_masks(audit) == ("mask" in found[0])
    return audit.is_infeasible_at_width or any(isinstance(bound, Infeasible) for bound in audit.bounds)


ABOVE = r"(?:above )?the best possible"
STANDING = [
    (
        rf"no network of {WIDE} fits these points",
        _none,
    ),
    (r"this network does not fit the data", lambda audit, *_: objective(audit.problem, audit.network) is None),
    (r"this network fits the data; nothing more is decided", lambda audit, *_: audit.fits.verdict.value == "proved"),
    (r"it is not known whether this network fits the data", lambda audit, *_: audit.fits.verdict.value == "undecided"),
    (rf"this network is the best possible{OVER}", _best),
    (rf"this network is not the best possible{OVER}, which has the objective 0", _not_zero),
    (r"no network(?: with these masks)? is the best possible: the objective comes as near to 0 as asked", _no_best),
    (rf"this network is within {N} \(relative\) of the best possible{OVER}", _within),
    (rf"this network is between (\S+(?: %)?) and (\S+(?: %)?)(?: times)? {ABOVE}{OVER}", _between),
    (rf"this network is about (\S+(?: %| times)) {ABOVE}{OVER}", _about),
    (rf"this network is at most (\S+(?: %| times)) {ABOVE}{OVER}", _at_most),
    (rf"this network is at least (\S+(?: %| times)) {ABOVE}{OVER}", _at_least),
    (r"the objective of this network is 0, and that of no network is less", lambda audit, *_: audit.objective == 0),
    (r"how far this network is above the best possible is not known", _unknown),
]
