"""The numbers that people read: the objective, the best possible, how far above it the network is, a better network."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from operator import mul
from pathlib import Path
from shlex import quote

from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.exact import common_integers, sqrt_lower, sqrt_upper
from verify.checker.fit import Fits
from verify.checker.folder import relaxed_folder
from verify.checker.objectives import Objective
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.closed_forms.records import Symbolic
from verify.deciders.finding import Ending, Finding, Question, Verdict
from verify.deciders.rounding import primitive
from verify.numbers.counts import count
from verify.numbers.decimals import allowed, at_least, at_most, denied, enclosure, is_exactly, nearest, open_at, value
from verify.problem.members import has_margin, trains_all
from verify.problem.network import Network
from verify.problem.phrases import (
    PER_CENT,
    SMALL,
    amount,
    any_width,
    has_infimum_0,
    has_several_masks,
    of_width,
    points,
    with_masks,
)
from verify.problem.problem import Problem, objective
from verify.report.audited import Audited
from verify.report.depth import is_of_other_depth, lower_end, own_objective, witness_words
from verify.report.path import descent_path
from verify.report.regularised import hard_rows, objective_rows
from verify.report.verdicts import legend, level

BEST = "the best possible"


def quantities(audit: Audited, folder: str | None) -> Iterator[tuple[str, str]]:
    """(label, text) rows; `folder` is where the certificates were written."""
    yield from _numbers(audit)
    yield from _witnesses(audit)
    if audit.relaxed is not None:
        yield from _relaxed(audit, audit.relaxed)
    if (path := descent_path(audit)) is not None:
        yield "descent path", path
    if audit.symbolic is not None:
        yield from _closed_forms(audit, audit.symbolic)
    yield from _ending(audit, folder)


def _numbers(audit: Audited) -> Iterator[tuple[str, str]]:
    if audit.infeasible:
        yield "best possible", f"none: no network of {any_width(audit.problem)} fits the data: {_why_infeasible(audit)}"
        return
    deep = own_objective(audit) if is_of_other_depth(audit.problem) else None
    if isinstance(audit.problem.goal, Objective):
        yield from objective_rows(audit.problem, audit.problem.goal, audit.network)
    elif deep is not None:
        yield "this network", deep
    elif audit.objective is None:
        yield "this network", f"no objective: {_why_no_objective(audit.fits)}"
    else:
        at = "at margin 1" if has_margin(audit.problem.goal) else ""
        after = "after the repair" if is_repaired(audit.fits) else ""
        norm = "= ½‖θ‖²" if trains_all(audit.problem.trained) else "= ½‖W‖²"
        yield "this network", " ".join(filter(None, (value(audit.objective), norm, at, after)))
    lower, upper = _bounds(audit)
    over = f"over networks of {_asked_about(audit.problem)}"
    if audit.is_infeasible_at_width and not audit.problem.asks_any_width:
        yield "best possible", f"none: no network of {_asked_about(audit.problem)} fits the data"
        return
    if has_infimum_0(audit.problem):
        yield "best possible", f"comes as near to 0 as asked, {over}: a free bias gives constants, and no network has 0"
        return
    if lower is not None and upper is not None and (lower or not upper):
        crude = lower_end(audit.bounds) if lower < upper else ()
        yield "best possible", "; ".join((f"{' … '.join(_enclosed(lower, upper))}, {over}", *crude))
    elif upper is not None:
        yield "best possible", f"at most {at_most(upper)}; no lower bound above 0 is proved"
    elif lower:
        yield "best possible", f"at least {at_least(lower)}; no upper end is proved"
    repaired = ", after the repair" if is_repaired(audit.fits) else ""
    excess = audit.asked_excess
    if excess is not None:
        yield "excess", excess_text(excess, audit.tolerance, is_refuted=_is_refuted(audit)) + repaired
    elif audit.objective and upper and audit.objective > upper:
        low = audit.objective / upper - 1
        within = _within(low, None, audit.tolerance, _is_refuted(audit))
        yield "excess", f"{_above(low, at_least, 'at least ')}, {within}{repaired}"
    if isinstance(audit.problem.goal, Objective):
        yield from hard_rows(audit, audit.problem.goal)
    yield from _own_width(audit)
    yield from _distance(audit)
    yield from _proof(audit)


def _own_width(audit: Audited) -> Iterator[tuple[str, str]]:
    """The best of the network's own width, and how far above that the network is, where a bound of that is proved."""
    if not audit.problem.asks_any_width:
        return
    if any(isinstance(bound, InfeasibleWidth) for bound in audit.bounds):
        yield "best of its width", f"none: no network of {of_width(audit.problem)} fits the data"
    if audit.bracket_own_width is None:
        return
    over = f"over networks of {of_width(audit.problem)}"
    yield "best of its width", f"{' … '.join(_enclosed(*audit.bracket_own_width))}, {over}"
    if audit.excess_own_width is not None:
        low, high = audit.excess_own_width
        yield "excess there", excess_text((low, high), audit.tolerance, "the best of its width")


def _distance(audit: Audited) -> Iterator[tuple[str, str]]:
    """How far the given weights are from the nearest best ones, also relative to the norm of these."""
    if audit.distance_own_width is None or audit.bracket_own_width is None:
        return
    low, high = audit.distance_own_width
    if high == 0:
        yield "distance", "0: the weights W, as given, are those of a network of least norm"
        return
    shown = " … ".join(_enclosed(low, high))
    least, most = audit.bracket_own_width
    part = ""
    if least:
        ends = 100 * low / sqrt_upper(2 * most), 100 * high / sqrt_lower(2 * least)
        few, many = enclosure(*ends, 4) if ends[1] < 2 * ends[0] else (at_least(ends[0], 3), at_most(ends[1], 3))
        part = f", {few if few == many else f'{few} … {many}'}{PER_CENT} of ‖W*‖"
    yield "distance", f"{shown} = ‖W − W*‖ from the weights W, as given, to the nearest ones W* of least norm{part}"


WHOLE = 10_000
"""Bytes from which on a size is told in kilobytes."""


def _proof(audit: Audited) -> Iterator[tuple[str, str]]:
    """How long the certificate of the lower end is, where the output weights are given and that end is above 0."""
    lower, upper = _bounds(audit)
    if audit.problem.asks_any_width or audit.is_infeasible_at_width or not lower:
        return
    than = "better than that" if lower == upper else "below the lower end"
    for bound in audit.bounds:
        if isinstance(bound, LowerBoundWidth):
            size = len(json.dumps(bound.to_json(), sort_keys=True, separators=(",", ":"))) + 1
            told = f"{size} bytes" if size < WHOLE else f"{-(-size // 1000)} kB"
            yield "proof of it", f"lower-bound-width.json, {told}, proves that no network of this width is {than}"


def _enclosed(lower: Fraction, upper: Fraction) -> tuple[str, ...]:
    """Decimals below and above; one where both ends are the same."""
    if lower == upper:
        return (value(lower),)
    return enclosure(lower, upper) if upper < 2 * lower else (at_least(lower, 4), at_most(upper, 4))


_ASKED = {
    "stationary": "stationary",
    "local_optimum": "local optimum",
    "global_optimum": "global optimum of its width",
    "global_any_width": "of any width",
}
RELAXED = "· "
"""What the labels of the relaxed question begin with."""


def _relaxed(audit: Audited, easier: Audited) -> Iterator[tuple[str, str]]:
    """What the network does fit, and its objective, the best possible and the excess there."""
    if not has_margin(audit.problem.goal):
        asked = f"the same within {value(easier.problem.fit_tolerance)} of every target, which this network meets"
    else:
        left_out = len(audit.problem.data) - len(easier.problem.data)
        kept = count(len(easier.problem.data), "point")
        are = "is on its side" if len(easier.problem.data) == 1 else "are on their sides"
        asked = f"the same without the {left_out} that it misses: on the {kept} that {are}"
    yield "what it fits", asked
    yield from ((f"{RELAXED}{label}", text) for label, text in _numbers(easier))
    yield from _verdicts(easier)


GLOBAL = ("global_optimum", "global_any_width")


def _verdicts(easier: Audited) -> Iterator[tuple[str, str]]:
    """What is found of the relaxed question, with the levels and what they mean, and with why the rest is open."""
    found = {name: easier.findings[key] for key, name in _ASKED.items()}
    told = {name: f" ({short})" if (short := level(finding)) else "" for name, finding in found.items()}
    verdicts = ", ".join(f"{name} {finding.verdict.value}{told[name]}" for name, finding in found.items())
    is_within = easier.tolerance > 0 and any(found[_ASKED[key]].verdict is Verdict.PROVED for key in GLOBAL)
    within = f"; globally within {allowed(easier.tolerance)} (relative)" if is_within else ""
    yield f"{RELAXED}verdicts", verdicts + within
    for line in legend(easier.problem, found.values()):
        label, _, meaning = line.partition(": ")
        yield f"{RELAXED}{label}", meaning
    reasons: dict[str, list[str]] = {}
    for name, finding in found.items():
        if finding.verdict is Verdict.UNDECIDED:
            reasons.setdefault(finding.reason, []).append(name)
    if reasons:
        yield f"{RELAXED}undecided", "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())


def _closed_forms(audit: Audited, found: Symbolic) -> Iterator[tuple[str, str]]:
    """The best possible as a formula, the multipliers and an optimal network that prove it."""
    if found.value is None:
        yield "closed form", f"none found: {found.reason}"
        return
    told = f"{found.value}{_in_decimals(found)}"
    yield "closed form", f"best possible = {told}, proved exactly; LaTeX: {found.value.latex}"
    yield "multipliers", ", ".join(f"λ_{i} = {form}" for i, form in found.multipliers)
    for neuron in found.neurons:
        sign = "-" if neuron.sign < 0 else ""
        direction = ", ".join(map(str, neuron.direction))
        yield "optimal neuron", f"v = {sign}√c, w = √c·({direction}) with c = {neuron.amplitude}"
    if audit.objective is not None and audit.objective == found.exact and not is_repaired(audit.fits):
        yield "exact optimum", "this network: its objective is the closed form"
    elif found.moved is not None:
        away = f"at most {at_most(found.moved, 3)} of the norm away from this one" if found.moved else "this one"
        yield "exact optimum", f"a network of this architecture, proved stationary and optimal exactly, is {away}"
    else:
        few = len(found.neurons) > audit.network.width
        why = (
            f"the one above has {count(len(found.neurons), 'neuron')}"
            if few
            else "no small field with its √c was found"
        )
        yield "exact optimum", f"none of this architecture is proved in exact numbers: {why}"


def _in_decimals(found: Symbolic) -> str:
    """The decimal of a closed form, where the form is none."""
    if found.value is None or found.value.decimal == found.value.text:
        return ""
    is_the_number = isinstance(found.exact, Fraction) and is_exactly(found.exact, found.value.decimal)
    return f" ({'' if is_the_number else 'about '}{found.value.decimal})"


def _why_no_objective(fits: Finding) -> str:
    match fits.verdict:
        case Verdict.PROVED:
            return "at margin 1 it need not be rational"
        case Verdict.REFUTED:
            return "it does not fit the data"
        case Verdict.UNDECIDED:
            return "it is not known whether it fits the data"


def is_repaired(fits: Finding) -> bool:
    """Whether all that is proved is about a network near the given one that meets the targets exactly."""
    return bool(fits.certificates) and isinstance(proof := fits.certificates[0], Fits) and proof.subject is not None


def _bounds(audit: Audited) -> tuple[Fraction | None, Fraction | None]:
    """The bracket, or the one side of it that is proved; of the own width where that is all that is asked."""
    if audit.asked_bracket is not None:
        return audit.asked_bracket
    kind = LowerBound if audit.problem.asks_any_width else LowerBoundWidth
    lower = [bound.bracket[0] for bound in audit.bounds if isinstance(bound, kind)]
    upper = [bound.bracket[1] for bound in audit.bounds if isinstance(bound, UpperBound)]
    return next(iter(lower), None), next(iter(upper), None)


def _asked_about(problem: Problem) -> str:
    """Over which networks the best possible is asked for."""
    return any_width(problem) if problem.asks_any_width else of_width(problem)


def _is_refuted(audit: Audited) -> bool:
    """Whether it is refuted, otherwise than by the excess, that no network is better by more than the tolerance."""
    asked = Question.GLOBAL_ANY_WIDTH if audit.problem.asks_any_width else Question.GLOBAL_OPTIMUM
    finding = audit.findings[asked.value]
    return finding.verdict is Verdict.REFUTED and finding.subject == audit.fits.subject and not finding.moved


def excess_text(
    excess: tuple[Fraction, Fraction], tolerance: Fraction, best: str = BEST, *, is_refuted: bool = False
) -> str:
    """Such as "12.8 % above the best possible (between 12.79 % and 12.81 %), not within 1e-6 (relative)"."""
    low, high = excess
    verdict = _within(low, high, tolerance, is_refuted)
    if high == 0:
        return f"none: this network is {best}"
    if low <= (least := min(tolerance, SMALL)) / 1000 or high <= least:  # such as what the search rounded
        return f"{_above(high, at_most, 'at most ', best)}, {verdict}"
    if high < SMALL:
        ends = f"between {at_least(100 * low, 2)}{PER_CENT} and {at_most(100 * high, 2)}{PER_CENT}"
        return f"{ends} above {best}, {verdict}"
    if high < TIMES:
        return f"{_between(100 * low, 100 * high, PER_CENT, f'above {best}')}, {verdict}"
    return f"this network is {_between(1 + low, 1 + high, '', f'times {best}')}, {verdict}"


TIMES = 10  # an excess from here on is told as how many times the best possible the network is


def _above(excess: Fraction, rounded: Callable[[Fraction, int], str], bound: str, best: str = BEST) -> str:
    if excess < TIMES:
        return f"{bound}{amount(excess, rounded)} above {best}"
    return f"this network is {bound}{rounded(1 + excess, 3)} times {best}"


def _within(low: Fraction, high: Fraction | None, tolerance: Fraction, is_refuted: bool = False) -> str:
    if high is not None and high <= tolerance:
        return f"within\u00a0{allowed(tolerance)} (relative)"
    return (
        f"not\u00a0within\u00a0{denied(tolerance)} (relative)"
        if low > tolerance or is_refuted
        else f"whether within {open_at(tolerance)} (relative) is open"
    )


def ends(low: Fraction, high: Fraction) -> tuple[str, str]:
    """Decimals below and above, of as many digits as are worth a word, for all that tells the ends of an excess."""
    return (at_least(low, 4), at_most(high, 4)) if _is_wide(low, high) else enclosure(low, high, 6)


def _is_wide(low: Fraction, high: Fraction) -> bool:
    return high - low > high / 20


def _between(low: Fraction, high: Fraction, unit: str, what: str) -> str:
    least, most = (f"{end}{unit}" for end in ends(low, high))
    if _is_wide(low, high):
        return f"between {least} and {most} {what}"
    if least == most:
        return f"{nearest(low, 6)}{unit} {what}"
    return f"about {nearest((low + high) / 2, 3)}{unit} {what} (between {least} and {most})"


def _witnesses(audit: Audited) -> Iterator[tuple[str, str]]:
    if audit.global_any_width.verdict is Verdict.PROVED:
        return
    if not audit.problem.asks_any_width and audit.global_optimum.verdict is Verdict.PROVED:
        return
    is_known = audit.objective is not None or (is_of_other_depth(audit.problem) and own_objective(audit) is not None)
    label = "better network" if is_known else "best network found"
    found, own = audit.better, audit.better_own_width
    if found is not None:
        yield label, _witness(audit, found)
    if own is not None and own != found and audit.global_optimum.verdict is not Verdict.PROVED:
        is_masked = has_several_masks(audit.problem) and audit.problem.is_decided
        narrow = "its masks" if is_masked else "no wider"
        yield f"{label}, {narrow}" if audit.problem.asks_any_width else label, _witness(audit, own)


def _witness(audit: Audited, witness: Network) -> str:
    if is_of_other_depth(audit.problem):
        return witness_words(audit, witness)
    found = objective(audit.problem, witness)
    return count(witness.width, "neuron") + ("" if found is None else f", objective {value(found)}")


def _why_infeasible(audit: Audited) -> str:
    """Which points conflict, and why, told by the support of the certificate."""
    problem = audit.problem
    support = [i for bound in audit.bounds if isinstance(bound, Infeasible) for i, _ in bound.multipliers]
    if not support:
        return "it is proved that they conflict"
    named, masked = points(support), with_masks(problem)
    if len(support) == 1:
        if masked or problem.architecture.bias:
            return f"every network{masked} is 0 at {named}: no neuron sees a coordinate that is not 0 there"
        return f"{named} is 0, where every network without biases is 0"
    rows = [problem.rows[i] for i in support]
    lines = {primitive(row)[0] for row in common_integers(rows)[0]}
    if len(support) == 2 and rows[0] == rows[1]:
        return f"{named} are the same point with different targets"
    if len(support) == 2 and len(lines) == 1 and sum(map(mul, *rows)) > 0:
        return f"{named} lie on one ray from 0, along which every network without biases is proportional"
    return f"the outputs at {named} satisfy one linear relation for every network{masked}, and the targets break it"


def _ending(audit: Audited, folder: str | None) -> Iterator[tuple[str, str]]:
    files = count(len(audit.certificates), "file")
    others = "" if audit.relaxed is None else f"{count(len(audit.relaxed.certificates), 'file')} about what it fits"
    if folder is None:
        also = f", and {others}" if others else ""
        kept = f"{files}{also}, not written; --certificates DIR writes them (in Python: .save(DIR))"
    else:
        also = f", and {others} in {relaxed_folder(Path(folder))}" if others else ""
        kept = f"{files} in {folder}{also}; to check them again: isoptimal check {quote(folder)}"
    yield "certificates", kept
    why = audit.ending_reason
    if audit.asked_bracket is not None:
        stalled = "the search ended before the bracket was as narrow as asked"
    else:
        stalled = "the search ended without a bracket" if audit.bounds else "nothing was searched"
    so_far = "" if audit.asked_bracket is None else ", with the best bracket so far"
    ended = {
        Ending.TIME: f"; stopped by the time limit{so_far}",
        Ending.INTERRUPTED: f"; interrupted{so_far}",
        Ending.STALLED: f"; {stalled}: {why}",
        Ending.FAILED: f"; the search failed: {why}",
    }.get(audit.ending, "")
    yield "time", f"{nearest(Fraction(audit.seconds), 2)} s{ended}"
