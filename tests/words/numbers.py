"""The rows of numbers of a report, its legend, what is wrong, and the status."""

from __future__ import annotations

import json
import re
from decimal import Decimal, localcontext
from fractions import Fraction

from tests.words.losses import LOSS_NUMBERS
from tests.words.precision import legend_of_approximate
from tests.words.reading import (
    SLACK,
    WIDE,
    N,
    amount,
    has_masks,
    is_about,
    is_broken_tolerance,
    is_tolerance,
    is_up,
    is_value,
    subject_of,
)
from verify.checker.exact import sqrt_lower, sqrt_upper, squared_norm
from verify.checker.formulas import is_decimal_of, is_formula_of
from verify.problem.network import Network
from verify.problem.phrases import SMALL
from verify.problem.problem import Goal, objective, outputs
from verify.report.quantities import quantities


def _own(audit, _, found):
    return is_value(found[1], audit.objective)


def _ends(audit):
    return audit.asked_bracket


def _enclosed(audit, _, found):
    lower, upper = _ends(audit)
    assert has_masks(audit) == ("mask" in found[0])
    return Fraction(found[1]) <= lower <= upper <= Fraction(found[2])


def _one_value(audit, _, found):
    lower, upper = _ends(audit)
    return lower == upper and is_value(found[1], lower)


def _one_end(audit, _, found):
    if found[1] == "at most":
        uppers = [b.bracket[1] for b in audit.bounds if getattr(b, "bracket", (None, None))[1] is not None]
        upper = audit.asked_bracket[1] if audit.asked_bracket else uppers[0]
        return upper <= Fraction(found[2])
    lowers = [b.bracket[0] for b in audit.bounds if getattr(b, "bracket", (None, None))[0] is not None]
    return Fraction(found[2]) <= lowers[0]


def _excess(audit, _, found):
    assert (found[4] is not None) == (audit.fits.subject is not None)
    lower = None if audit.asked_bracket is None else audit.asked_bracket[0]
    uppers = [b.bracket[1] for b in audit.bounds if getattr(b, "bracket", (None, None))[1] is not None]
    upper = min([*uppers, audit.objective])
    low = audit.objective / upper - 1
    high = audit.objective / lower - 1 if lower else None
    return _is_excess(audit, *found.groups()[:3], low, high)


def _is_excess(audit, said, kind, asked, low, high):
    assert is_about(asked.removeprefix("about "), audit.tolerance)
    if kind == "within":
        assert high is not None
        assert high <= audit.tolerance
        assert is_tolerance(asked, audit.tolerance)
    elif kind == "not within":
        assert low > audit.tolerance or "refuted" in (
            audit.global_optimum.verdict.value if not audit.problem.asks_any_width else "",
            audit.global_any_width.verdict.value,
        )
        assert is_broken_tolerance(asked, audit.tolerance)
    else:
        assert low <= audit.tolerance
    times = "times" in said
    assert times == said.startswith("this network is ") == ((high or low) >= 10)
    said = said.removeprefix("this network is ")
    is_tiny = low <= min(audit.tolerance, SMALL) / 1000
    assert "at most" not in said or is_tiny or high < SMALL  # a lower end that is known is told

    def part(text: str) -> Fraction:
        assert times or text.endswith("%")
        return Fraction(text) - 1 if times else amount(text)

    told = [part(text) for text in re.findall(rf"{N}(?: %)?", said) and re.findall(r"-?\d[\d.e-]*(?: %)?", said)]
    if said.startswith("at most"):
        return high <= told[0]
    if said.startswith("at least"):
        return told[0] <= low
    *rough, least, most = told if len(told) > 1 else (told[0], told[0])
    assert least <= low <= high <= most
    return all(least * Fraction(99, 100) <= r <= most * Fraction(101, 100) for r in rough)


def _no_excess(audit, _, found):
    assert (found[1] is not None) == (audit.fits.subject is not None)
    return objective(audit.problem, audit.fits.subject or audit.network) == audit.asked_bracket[0]


def _excess_there(audit, _, found):
    lower, upper = audit.bracket_own_width
    assert audit.excess_own_width == (audit.objective / upper - 1, audit.objective / lower - 1)
    return _is_excess(audit, *found.groups(), *audit.excess_own_width)


OWN = r"(\d+) neurons?(?: with (?:these masks(?: one by one)?|this mask))?"
OWN_ENDS = rf"(?:{N} … {N}|(\S+(?: \(about {N[1:-1]}\))?|about {N[1:-1]}))"


def _own_width(audit, _, found):
    """Both ends, of a bound of that width and of a network that is no wider."""
    least, most, value, width = found.groups()
    lower, upper = audit.bracket_own_width
    assert int(width) == audit.network.width
    assert has_masks(audit) == ("mask" in found[0])
    bounds = [bound.bracket[0] for bound in audit.bounds if bound.KIND in ("lower-bound", "lower-bound-width")]
    assert lower == max(filter(None, bounds), default=0)
    assert audit.objective is None or upper <= audit.objective
    if value:
        return lower == upper and is_value(value, lower)
    return Fraction(least) <= lower <= upper <= Fraction(most)


def _no_width(audit, _, found):
    assert any(bound.KIND == "infeasible-width" for bound in audit.bounds)
    return int(found[1]) == audit.network.width and audit.fits.verdict.value == "refuted"


def _no_excess_there(audit, *_):
    return objective(audit.problem, audit.fits.subject or audit.network) == audit.bracket_own_width[0]


def _distance(audit, _, found):
    """Ends around those that are proved; none is nearer than the norms differ, nor farther than a best one known."""
    low, high = audit.distance_own_width
    least, most = audit.bracket_own_width
    weights = [z for row in audit.network.hidden_weights for z in row]
    assert high >= sqrt_lower(squared_norm(weights)) - sqrt_upper(2 * most)
    for known in filter(None, (audit.better_own_width, audit.fits.subject or audit.network)):
        if least == objective(audit.problem, known) and known.output_weights == audit.network.output_weights:
            there = [z for row in known.hidden_weights for z in row]
            assert low**2 <= squared_norm(a - b for a, b in zip(weights, there, strict=True))
    if found[1] is None:
        return high == 0
    ends, parts = re.findall(N, found[1]), re.findall(N, found[2] or "")
    assert ends or is_value(found[1], low)
    assert not ends or (Fraction(ends[0]) <= low and high <= Fraction(ends[-1]))
    if not parts:
        return not least
    few, many = (Fraction(part) / 100 for part in (parts[0], parts[-1]))
    return few <= low / sqrt_upper(2 * most) and high / sqrt_lower(2 * least) <= many


def _size_of_proof(audit, _, found):
    (bound,) = (bound for bound in audit.bounds if bound.KIND == "lower-bound-width")
    lower, upper = audit.asked_bracket or (bound.bracket[0], None)
    assert 0 < bound.bracket[0] == lower
    assert (found[3] == "better than that") == (lower == upper)
    size = len(json.dumps(bound.to_json(), sort_keys=True, separators=(",", ":"))) + 1
    return int(found[1]) == size if found[2] == "bytes" else 0 <= 1000 * int(found[1]) - size < 1000


def _witness(audit, _, found):
    is_own = "no wider" in found[0] or "its masks" in found[0]
    assert ("its masks" in found[0]) == (is_own and len(set(audit.network.architecture.masks)) > 1)
    network = audit.better_own_width if is_own else audit.asked_better
    assert len(network.output_weights) == int(found[1])
    return found[2] is None or is_value(found[2], objective(audit.problem, network))


def _balanced(problem, end):
    """The network whose balanced neurons have the products u_j = |v_j| w_j and the signs of v_j of `end`."""
    rows, outgoing = [], []
    with localcontext(prec=60):
        ratio = Decimal(1) * problem.decay.hidden.numerator / problem.decay.hidden.denominator
        ratio *= Decimal(1) * problem.decay.output.denominator / problem.decay.output.numerator
        for u, sign, mask in zip(end.hidden_weights, end.output_weights, end.architecture.masks, strict=True):
            square = squared_norm(u[: len(problem.norm_columns)])
            size = Fraction((ratio * square.numerator / square.denominator).sqrt().sqrt())
            size = size or Fraction(any(u), 10**30)  # a free bias alone
            rows += [u[c] / size if size else u[c] for c in mask]
            outgoing.append(sign * size)
    return Network(end.architecture, [rows, outgoing, *end.parameters[2:]])


def _falls(audit, _, found):
    """The objective at the end of the path, to 60 digits, is below that of the network, by as much as is told."""
    (proof,) = audit.local_optimum.certificates
    subject = subject_of(audit, audit.local_optimum)
    before = objective(audit.problem, subject)
    end = Network(subject.architecture, proof.end)
    counted = len(audit.problem.norm_columns)
    squares = [sum((x * x for x in row[:counted]), Fraction(0)) for row in end.hidden_weights]
    with localcontext(prec=60):
        roots = ((Decimal(square.numerator) / Decimal(square.denominator)).sqrt() for square in squares)
        size = sum(map(Fraction, roots), Fraction(0))
    values = outputs(audit.problem, subject)
    is_margin = audit.problem.goal is Goal.MAX_MARGIN
    margin = min(y * f for y, f in zip(audit.problem.targets, values, strict=True)) if is_margin else 1
    decay = audit.problem.decay
    after = size / margin + (decay.output_bias or 0) * (end.output_bias / margin) ** 2 / 2
    if not audit.problem.asks_fit:
        after = objective(audit.problem, _balanced(audit.problem, end))
    if not audit.problem.asks_any_width:
        assert "√" not in found[0]
        after = objective(audit.problem, end)
    assert before is None or after < before
    subject = audit.local_optimum.subject
    assert (found["whose"] is None) == (subject is None or subject == audit.network)
    if found["from"] is None and found["of"] is None:
        return None
    assert is_value(found["from"] or found["of"], before)
    if found["by"]:
        return Fraction(found["by"]) <= before - after
    return after <= Fraction(found["to"]) * (1 + Fraction(1, 10**50)) and Fraction(found["to"]) < before


def _conflict(audit, _, found):
    if found[1] is None:
        return audit.is_infeasible_at_width
    (proof,) = audit.bounds
    support = [i for i, _ in proof.multipliers]
    assert has_masks(audit) == ("mask" in found[0])
    named = re.findall(r"points? ([\d, and…]*\d)", found[0])
    assert all(int(i) in support for i in re.findall(r"\d+", named[0]))
    rows = audit.problem.rows
    if " is 0, where every" in found[0]:
        assert not any(rows[support[0]])
        assert not audit.problem.architecture.bias
    if "every network" in found[0] and "is 0 at" in found[0]:
        assert not any(rows[support[0]][c] for mask in audit.problem.mask_classes for c in mask)
    return None


def _files(audit, _, found):
    further = None if audit.relaxed is None else len(audit.relaxed.certificates)
    return int(found[1]) == len(audit.certificates) and (None if found[2] is None else int(found[2])) == further


def _relaxed_within(audit, _, found):
    easier, values = audit.relaxed.problem, outputs(audit.problem, audit.network)
    largest = max(abs(f - y) for f, y in zip(values, audit.problem.targets, strict=True))
    assert (easier.data, easier.goal, easier.bias) == (audit.problem.data, audit.problem.goal, audit.problem.bias)
    return audit.problem.fit_tolerance < largest <= Fraction(found[1]) == easier.fit_tolerance <= largest * SLACK


def _relaxed_to(audit, _, found):
    values = outputs(audit.problem, audit.network)
    pairs = zip(audit.problem.data.inputs, audit.problem.targets, values, strict=True)
    kept = [(x, y) for x, y, f in pairs if y * f > 0]
    easier = audit.relaxed.problem
    assert list(zip(easier.data.inputs, easier.targets, strict=True)) == kept
    return (int(found[1]), int(found[2])) == (len(values) - len(kept), len(kept))


def _infimum(audit, _, found):
    """A constant fits, of one sign for all; balanced networks v relu(b) with b to infinity have it for nothing."""
    problem = audit.problem
    targets, tolerance = problem.targets, problem.fit_tolerance
    bias = len(problem.rows[0]) - 1
    assert bias not in problem.norm_columns
    assert any(bias in mask for mask in problem.architecture.masks)
    if problem.goal is Goal.MAX_MARGIN:
        return len({y > 0 for y in targets}) == 1
    return max(targets) - min(targets) <= 2 * tolerance and any(abs(y) > tolerance for y in targets)


def _formula(audit, _, found):
    text, rounded, decimal, latex = found.groups()
    exact = audit.symbolic.exact
    assert is_formula_of(text, exact)
    assert is_formula_of(latex, exact)
    if decimal is not None and not rounded:
        return Fraction(decimal) == exact
    return decimal is None or is_decimal_of(decimal, exact)


def _multipliers(audit, _, found):
    lower = audit.symbolic.certificates["symbolic-lower-bound.json"]
    told = re.findall(r"λ_(\d+) = (.*?)(?=, λ_|$)", found[1])
    assert [int(i) for i, _ in told] == [i for i, _ in lower.multipliers]
    return all(is_formula_of(text, value) for (_, text), (_, value) in zip(told, lower.multipliers, strict=True))


def _exact_optimum(audit, _, found):
    if "closed form" in found[1]:
        return audit.objective == audit.symbolic.exact
    if found[2]:
        return audit.symbolic.moved <= Fraction(found[2])
    return found[3] is None or int(found[3]) == len(audit.symbolic.neurons) > audit.network.width


ASKED = ("stationary", "local_optimum", "global_optimum", "global_any_width")
SHORT = {"near": " (near)", "approximate": " (approx.)"}


def _verdicts_of_the_relaxed(audit, _, found):
    """Each verdict and its level, and that every level and every open question is explained in a row of its own."""
    names = ("stationary", "local optimum", "global optimum of its width", "of any width")
    findings = [getattr(audit.relaxed, key) for key in ASKED]
    told = [f"{n} {f.verdict.value}{SHORT.get(f.level, '')}" for n, f in zip(names, findings, strict=True)]
    rows = dict(quantities(audit, None))
    assert ("· undecided" in rows) == any(f.verdict.value == "undecided" for f in findings)
    assert ("· approx." in rows) == any(f.level == "approximate" for f in findings)
    assert ("· near" in rows) == any(f.level == "near" and f.moved for f in findings)
    is_proved = any(f.verdict.value == "proved" for f in findings[2:])
    within = re.search(r"; globally within (\S+) \(relative\)$", found[1])
    assert (within is not None) == (is_proved and audit.relaxed.tolerance > 0)
    assert within is None or is_tolerance(within[1], audit.relaxed.tolerance)
    return found[1] == ", ".join(told) + (within[0] if within else "")


def _open_of_the_relaxed(audit, _, found):
    findings = [getattr(audit.relaxed, key) for key in ASKED]
    reasons = [finding.reason for finding in findings if finding.verdict.value == "undecided"]
    return all(reason and f": {reason}" in found[1] for reason in reasons)


def _near_of_the_relaxed(audit, _, found):
    moved = [f.moved for f in (getattr(audit.relaxed, key) for key in ASKED) if f.level == "near"]
    return is_up(found[1], max(moved))


def _approximate_of_the_relaxed(audit, _, found):
    return legend_of_approximate(audit.relaxed, _, found)


NUMBERS = [
    *LOSS_NUMBERS,
    (r"this network: no objective: .*", lambda audit, *_: audit.objective is None),
    (r"closed form: best possible = (.*?)(?: \((about )?(\S+)\))?, proved exactly; LaTeX: (.*)", _formula),
    (r"multipliers: (.*)", _multipliers),
    (r"optimal neuron: .*", lambda *_: None),
    (rf"exact optimum: (.*?{N} of the norm away.*|.*has (\d+) neurons?|.*)", _exact_optimum),
    (
        rf"best possible: comes as near to 0 as asked, over networks of {WIDE}: .*",
        _infimum,
    ),
    (r"this network: (.*) = ½‖(?:θ|W)‖²(?: at margin 1)?(?: after the repair)?", _own),
    (
        rf"best possible: {N} … {N}, over networks of {WIDE}",
        _enclosed,
    ),
    (
        rf"best possible: (.*), over networks of {WIDE}",
        _one_value,
    ),
    (rf"best possible: (at most|at least) {N}; no .*", _one_end),
    (
        rf"best possible: none: no network of {WIDE} fits the data(: .*)?",
        _conflict,
    ),
    (
        (
            r"excess: (.*), (within|not within|whether within) (\S+|about \S+) \(relative\)(?: is open)?"
            r"(, after the repair)?"
        ),
        _excess,
    ),
    (r"excess: none: this network is the best possible(, after the repair)?", _no_excess),
    (
        rf"best of its width: {OWN_ENDS}, over networks of {OWN}",
        _own_width,
    ),
    (
        r"excess there: (.*), (within|not within|whether within) (\S+|about \S+) \(relative\)(?: is open)?",
        _excess_there,
    ),
    (
        (
            r"distance: (?:0: the weights W, as given, are those of a network of least norm|(.*?) = ‖W − W\*‖ from the "
            r"weights W, as given, to the nearest ones W\* of least norm(?:, (.*?) % of ‖W\*‖)?)"
        ),
        _distance,
    ),
    (
        (
            r"proof of it: lower-bound-width\.json, (\d+) (bytes|kB), proves that no network of this width is "
            r"(better than that|below the lower end)"
        ),
        _size_of_proof,
    ),
    (rf"best of its width: none: no network of {OWN} fits the data", _no_width),
    (r"excess there: none: this network is the best of its width", _no_excess_there),
    (r"better network(?:, (?:no wider|its masks))?: (\d+) neurons?(?:, objective (.*))?", _witness),
    (r"best network found(?:, (?:no wider|its masks))?: (\d+) neurons?(?:, objective (.*))?", _witness),
    (
        (
            r"descent path: for 0 < ε ≤ 1(?P<whose>, from the network (?:nearby|after the repair))?(?:,|:) .*?"
            rf"(?:; the objective (?:goes from (?P<from>.*?) to at most (?P<to>{N}) at ε = 1|at ε = 1 is at least "
            rf"(?P<by>{N}) below that at 0, (?P<of>.*?)))?(?:; where .*)?"
        ),
        _falls,
    ),
    (r"closed form: none found: .*", lambda audit, *_: audit.symbolic.exact is None),
    (r"certificates: (\d+) files?(?:, and (\d+) files? about what it fits)?, not written; .*", _files),
    (rf"what it fits: the same within {N} of every target, which this network meets", _relaxed_within),
    (
        (
            r"what it fits: the same without the (\d+) that it misses: on the (\d+) "
            r"(?:points that are on their sides|point that is on its side)"
        ),
        _relaxed_to,
    ),
    (r"· verdicts: (.*)", _verdicts_of_the_relaxed),
    (r"· undecided: (.*)", _open_of_the_relaxed),
    (rf"· near: proved exactly, of .* whose weights differ by at most {N} of their norm", _near_of_the_relaxed),
    (r"· approx\.: proved up to ε, what is left of the gradient.*", _approximate_of_the_relaxed),
    (r"time: \S+ s(?:; .*)?", lambda *_: None),
]
