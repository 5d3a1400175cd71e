"""The rows of numbers of a report, its legend, what is wrong, and the status."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

from tests.words.reading import (
    AMOUNT,
    SLACK,
    N,
    amount,
    has_masks,
    is_up,
    is_value,
    subject_of,
)
from verify.network import Network
from verify.problem import Goal, objective, outputs


def _own(audit, _, found):
    return is_value(found[1], audit.objective)


def _ends(audit):
    return audit.bracket


def _enclosed(audit, _, found):
    lower, upper = _ends(audit)
    assert has_masks(audit) == ("with these masks" in found[0])
    return Fraction(found[1]) <= lower <= upper <= Fraction(found[2])


def _one_value(audit, _, found):
    lower, upper = _ends(audit)
    return lower == upper and is_value(found[1], lower)


def _one_end(audit, _, found):
    if found[1] == "at most":
        uppers = [b.bracket[1] for b in audit.bounds if getattr(b, "bracket", (None, None))[1] is not None]
        upper = audit.bracket[1] if audit.bracket else uppers[0]
        return upper <= Fraction(found[2])
    lowers = [b.bracket[0] for b in audit.bounds if getattr(b, "bracket", (None, None))[0] is not None]
    return Fraction(found[2]) <= lowers[0]


def _excess(audit, _, found):
    said, kind, asked = found[1], found[2], found[3]
    lower = None if audit.bracket is None else audit.bracket[0]
    uppers = [b.bracket[1] for b in audit.bounds if getattr(b, "bracket", (None, None))[1] is not None]
    upper = min([*uppers, audit.objective])
    low = audit.objective / upper - 1
    high = audit.objective / lower - 1 if lower else None
    tolerance = Fraction(asked.removeprefix("about "))
    if kind == "within":
        assert high is not None
        assert high <= tolerance
    elif kind == "not within":
        assert low > tolerance
        assert tolerance <= audit.tolerance
    else:
        assert low <= audit.tolerance
    times = "times" in said

    def part(text: str) -> Fraction:
        return Fraction(text) - 1 if times else amount(text)

    told = [part(text) for text in re.findall(rf"{N}(?: %)?", said) and re.findall(r"-?\d[\d.e-]*(?: %)?", said)]
    if said.startswith("at most"):
        return high <= told[0]
    if said.startswith("at least"):
        return told[0] <= low
    *rough, least, most = told if len(told) > 1 else (told[0], told[0])
    assert least <= low <= high <= most
    return all(least * Fraction(99, 100) <= r <= most * Fraction(101, 100) for r in rough)


def _witness(audit, _, found):
    network = audit.better_own_width if "no wider" in found[0] else audit.better
    assert len(network.output_weights) == int(found[1])
    return found[2] is None or is_value(found[2], objective(audit.problem, network))


def _falls(audit, _, found):
    (proof,) = audit.local_optimum.certificates
    subject = subject_of(audit, audit.local_optimum)
    before = objective(audit.problem, subject)
    assert is_value(found[1], before)
    end = Network(subject.architecture, proof.end)
    counted = len(audit.problem.norm_columns)
    size = sum(float(sum(x * x for x in row[:counted])) ** 0.5 for row in end.hidden_weights)
    values = outputs(audit.problem, subject)
    is_margin = audit.problem.goal is Goal.MAX_MARGIN
    margin = min(y * f for y, f in zip(audit.problem.targets, values, strict=True)) if is_margin else 1
    return size / float(margin) <= float(Fraction(found[2])) * (1 + 1e-12) and Fraction(found[2]) < before


def _conflict(audit, _, found):
    (proof,) = audit.bounds
    support = [i for i, _ in proof.multipliers]
    assert has_masks(audit) == ("with these masks" in found[0])
    named = re.findall(r"points? ([\d, and…]*\d)", found[0])
    assert all(int(i) in support for i in re.findall(r"\d+", named[0]))
    rows = audit.problem.rows
    if " is 0, where every" in found[0]:
        assert not any(rows[support[0]])
        assert not audit.problem.architecture.bias
    if "every network" in found[0] and "is 0 at" in found[0]:
        assert not any(rows[support[0]][c] for mask in audit.problem.mask_classes for c in mask)


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


NUMBERS = [
    (r"this network: (.*) = ½‖θ‖²(?: at margin 1)?(?: after the repair)?", _own),
    (rf"best possible: {N} … {N}, over networks of any width(?: with these masks)?", _enclosed),
    (r"best possible: (.*), over networks of any width(?: with these masks)?", _one_value),
    (rf"best possible: (at most|at least) {N}; no .*", _one_end),
    (r"best possible: none: no network of any width(?: with these masks)? fits the data: .*", _conflict),
    (r"excess: (.*), (within|not within|whether within) (\S+|about \S+)(?: is open)?", _excess),
    (r"better network(?:, no wider)?: (\d+) neurons?(?:, objective (.*))?", _witness),
    (r"best network found(?:, no wider)?: (\d+) neurons?(?:, objective (.*))?", _witness),
    (rf"descent path: .*; the objective falls from (.*) to at most {N} at ε = 1(?:; where .*)?", _falls),
    (r"certificates: (\d+) files?(?:, and (\d+) files? about what it fits)?, not written; .*", _files),
    (rf"what it fits: the same within {N} of every target, which this network meets", _relaxed_within),
    (r"what it fits: the same without the (\d+) that it misses: on the (\d+) points? that .*", _relaxed_to),
    (r"· verdicts: .*", lambda *_: None),
    (r"time: \S+ s(?:; .*)?", lambda *_: None),
]


# -- legend, what is wrong, status


def _legend(audit, _, found):
    near = [finding.moved for finding in audit.findings.values() if finding.level == "near" and finding.moved]
    return is_up(found[1], max(near))


def _furthest(audit, _, found):
    values = outputs(audit.problem, audit.network)
    margins = [y * f for y, f in zip(audit.problem.targets, values, strict=True)]
    return margins[int(found[1])] == min(margins) and is_value(found[2], min(margins))


def _zero_there(audit, _, found):
    assert outputs(audit.problem, audit.network)[int(found[2])] == 0
    row = audit.problem.rows[int(found[2])]
    network, slope = audit.network, audit.problem.architecture.slope
    z = [
        sum((a * b for a, b in zip(w, row, strict=True)), Fraction(0))
        for w, v in zip(network.hidden_weights, network.output_weights, strict=True)
        if v
    ]
    unseen = all(value == 0 or (value < 0 and not slope) for value in z)
    return unseen == found[1].startswith("no neuron")


def _dead(audit, _, found):
    dead = audit.diagnosis.neurons.dead
    assert (int(found[1]), int(found[2])) == (len(dead), len(audit.network.output_weights))
    network = audit.fits.subject or audit.network
    for j in dead:
        kept = [Fraction(0) if q == j else v for q, v in enumerate(network.output_weights)]
        without = Network(network.architecture, (network.parameters[0], kept))
        assert outputs(audit.problem, without) == outputs(audit.problem, network)
    return found[3] is None or abs(amount(found[3]) - audit.diagnosis.neurons.dead_share) < Fraction(1, 100)


def _unbalanced(audit, _, found):
    network = audit.fits.subject or audit.network
    counted = audit.problem.norm_columns
    neurons = zip(network.hidden_weights, network.output_weights, strict=True)
    pairs = [(sum((w[c] ** 2 for c in counted), Fraction(0)), v * v) for w, v in neurons]
    silent = {*audit.diagnosis.neurons.dead, *audit.diagnosis.neurons.zero}
    apart = [j for j, pair in enumerate(pairs) if j not in silent and min(pair) < Fraction(99, 100) ** 2 * max(pair)]
    several, single, worst, v, w = found.groups()
    j = int(single or worst)
    assert j in apart
    assert len(apart) == (1 if single else int(several))
    sizes = [(v, pairs[j][1]), (w, pairs[j][0])]
    return all(abs(float(said) - float(square) ** 0.5) <= 0.006 * float(said) for said, square in sizes)


def _no_turn(audit, *_):
    return audit.stationary.verdict.value != "proved"


def _slack(audit, _, found):
    values = outputs(audit.problem, audit.fits.subject or audit.network)
    margins = [y * f for y, f in zip(audit.problem.targets, values, strict=True)]
    least = min(margins)
    support = [i for bound in audit.bounds for i, m in getattr(bound, "multipliers", ()) if m]
    beyond = {i: margins[i] / least - 1 for i in support}
    assert int(found[2]) == len(support)
    assert int(found[1]) <= sum(value > Fraction(1, 100) for value in beyond.values())
    worst = beyond[int(found[3])]
    said = Fraction(found[4]) - 1 if found[5] == " times" else Fraction(found[4]) / 100
    return abs(said - worst) <= (1 + worst) * Fraction(1, 100)


def _ends_of_the_tolerance(audit, _, found):
    """A multiplier above 0 holds the lower end of what the tolerance leaves, one below 0 the upper end."""
    tolerance = audit.problem.fit_tolerance
    values = outputs(audit.problem, audit.fits.subject or audit.network)
    held = {i: m for bound in audit.bounds for i, m in getattr(bound, "multipliers", ()) if m}
    away = {i: tolerance + (values[i] - audit.problem.targets[i]) * (1 if m > 0 else -1) for i, m in held.items()}
    assert int(found[2]) == len(held)
    assert int(found[1]) <= sum(value > tolerance / 100 for value in away.values())
    worst = away[int(found[3])] / tolerance
    assert worst == max(away.values()) / tolerance
    return abs(Fraction(found[4]) / 100 - worst) <= worst / 100


def _ladder(audit, _, found):
    """The heights fall, and none is above what is proved."""
    rungs = audit.diagnosis.ladder
    networks = [rung for rung in rungs if rung.network is not None]
    assert all(a.objective > b.objective for a, b in pairwise(networks))
    for rung in rungs:
        if rung.network is not None:
            assert objective(audit.problem, rung.network) == rung.objective
    parts = re.findall(rf"(at most )?{N}( %| times|)", re.sub(r"\(\d+ neurons?\)", "", found[0]))
    if "objective" in found[0]:
        return
    highs = [rung.excess[1] for rung in rungs if rung.excess is not None]
    for most, number, unit in parts:
        part = Fraction(number) - 1 if unit == " times" else Fraction(number) / (100 if unit == " %" else 1)
        if most:
            assert any(high <= part for high in highs)
        else:
            rough = Fraction(1, 100) if unit else Fraction(1, 15)  # three digits, or two
            shift = 1 if unit == " times" else 0
            assert any(abs(part - high) <= rough * (part + shift) for high in highs)


def _stalled(audit, _, found):
    lower, upper = audit.bracket
    assert upper > (1 + audit.tolerance) * lower
    return not lower or upper / lower - 1 <= Fraction(found[1])


UNBALANCED = (
    rf"(?:(\d+) of \d+ live neurons are|neuron (\d+) is) unbalanced by more than 1 %"
    rf"(?:, neuron (\d+) at the highest cost)?: \|v\| = {N}, \|w\| = {N}"
)
SLACKS = (
    r"(\d+) of the (\d+) points? that holds? the lower bound ha(?:s|ve) over 1 % more than the least margin, "
    rf"point (\d+) most: {N}( times|.*)"
)
ENDS = (
    r"(\d+) of the (\d+) points? that holds? the lower bound ha(?:s|ve) an output over 1 % of the tolerance away from "
    rf"the end that holds it, point (\d+) most: about {N} % of the tolerance"
)


def _margins(audit):
    values = outputs(audit.problem, audit.network)
    return [y * f for y, f in zip(audit.problem.targets, values, strict=True)]


def _norm(audit):
    counted = audit.problem.norm_columns
    hidden = sum(row[c] ** 2 for row in audit.network.hidden_weights for c in counted)
    return (hidden + sum(v**2 for v in audit.network.output_weights)) / 2


def _unseen(audit, _, found):
    margins = _margins(audit)
    wrong = [i for i, margin in enumerate(margins) if margin <= 0]
    assert found[1] is None or int(found[2]) == len(wrong)
    told = [int(i) for i in re.findall(r"\d+", found[3])]
    neurons = list(zip(audit.network.hidden_weights, audit.network.output_weights, strict=True))
    for i in told:
        row = audit.problem.rows[i]
        assert margins[i] == 0
        assert all(sum(a * b for a, b in zip(w, row, strict=True)) <= 0 for w, v in neurons if v)
    return found[1] is None or len(told) == int(found[1]) or (len(told) < int(found[1]) and "…" in found[0])


def _best_margin(audit, _, found):
    lower, upper = audit.bracket or (None, next(b.bracket[1] for b in audit.bounds if b.bracket[1]))
    low, high = found[1] or found[3], found[2]
    assert Fraction(low) <= _norm(audit) / upper
    assert high is None or Fraction(high) >= _norm(audit) / lower
    return is_value(found[4], min(_margins(audit)))


def _missed_targets(audit, _, found):
    values, tolerance = outputs(audit.problem, audit.network), audit.problem.fit_tolerance
    apart = [abs(f - y) for f, y in zip(values, audit.problem.targets, strict=True)]
    missed = [i for i, miss in enumerate(apart) if miss > tolerance]
    far = [i for i in missed if apart[i] > max(apart) / 2]
    assert (int(found[1]), int(found[2]), int(found[4])) == (len(missed), len(apart), len(far))
    return all(int(i) in far for i in re.findall(r"\d+", found[5]))


def _least_norm(audit, _, found):
    lowers = [b.bracket[0] for b in audit.bounds if getattr(b, "bracket", (None, None))[0] is not None]
    return is_value(found[1], _norm(audit)) and Fraction(found[2]) <= lowers[0]


def _of_the_relaxed(audit, _, found):
    return _ladder(audit.relaxed, None, found)


UNSEEN = r"no neuron is active at (?:it|(\d+) of these (\d+) points?), so that f\(x\) = 0 there: points? (.*)"
MARGIN = (
    rf"at the norm of this network the best one has a least margin (?:between {N} and {N}|of at least {N}); "
    r"the least margin of this one is (.*)"
)
MISSED = (
    r"(\d+) of (\d+) targets? (?:is|are) missed(?: by more than (.*))?, (\d+) of them by more than half of the largest "
    r"residual: points? (.*)"
)
LEAST = rf"its ½‖θ‖² is (.*); a network that meets every target (?:exactly|within .*) has at least {N}"
OTHERS = [
    (UNSEEN, _unseen),
    (MARGIN, _best_margin),
    (MISSED, _missed_targets),
    (LEAST, _least_norm),
    (r"of what it fits: (.*)", _of_the_relaxed),
    (ENDS, _ends_of_the_tolerance),
    (rf"near: proved exactly, of .* whose weights differ by at most {N} of their norm", _legend),
    (r"no point is further on the wrong side than point (\d+), where y·f\(x\) is (.*)", _furthest),
    (r"(no neuron is active at|what the neurons give at) point (\d+).*", _zero_there),
    (rf"(\d+) of (\d+) neurons? (?:is|are) dead(?: and wastes? {AMOUNT} of the squared norm)?: neurons? .*", _dead),
    (UNBALANCED, _unbalanced),
    (r"neurons .* point the same way to within 1e-3.*", lambda *_: None),
    (r"at the multipliers that suit the network best .*° from its KKT direction", _no_turn),
    (r"\d+ preactivations? (?:is|are) at a kink or within 1e-6 of one, relative to .*", lambda *_: None),
    (SLACKS, _slack),
    (r"the excess comes from .*", lambda *_: None),
    (r".* would bring the network from .*", _ladder),
    (r"(?:another network|a network polished in its own activation patterns) \(\d+ neurons?\) fits, .*", _ladder),
    (rf"status: stalled \(the bracket is {N} wide \(relative\), and .* was asked\)", _stalled),
    (r"status: stalled \((?:the lower end of the bracket is 0.*|[^\d]*)\)", lambda *_: None),
    (r"status: failed .*", lambda *_: None),
]  # fmt: skip
