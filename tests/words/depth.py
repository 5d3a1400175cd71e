"""The sentences about networks of other depths than 2, and with shared weights."""

from __future__ import annotations

import re
from fractions import Fraction

from tests.words.numbers import _is_excess
from tests.words.proofs import BESIDE, _beside
from tests.words.reading import AT_MARGIN, N, all_of, amount, is_at_margin, is_down, is_tolerance, is_up
from verify.auditing import depth
from verify.checker.certificate import OTHER_DEPTH
from verify.checker.curves import NotLocalCurve
from verify.checker.depth import power_objective, power_of, powered
from verify.checker.depth_bounds import DeepBetterNetwork, DeepOptimalWithin, LowerBoundLinear, LowerBoundPooled
from verify.checker.depth_duals import LowerBoundOneActivation, LowerBoundRelu
from verify.checker.depth_local import DeepLocal
from verify.checker.depth_stationary import DeepNotStationary, DeepStationary
from verify.checker.pooled import channels
from verify.deciders.finding import Verdict

SHARED = r"(?:, no weight of a layer at more than [\d, or]+? places)?"
FAMILY = rf"depth (\d+)( and any number of its channels|(?: and any widths)?{SHARED})"

FARTHER = r"(?:; an exact (?:KKT point|local optimum) lies farther away than what is called near)?"


def is_deep(audit) -> bool:
    return OTHER_DEPTH.holds(audit.problem)


def _family(audit, depth, widths) -> bool:
    layers = audit.problem.architecture.layers
    places = [layer.most_places for layer in layers]
    told = " and any widths" if len(layers) > 1 else ""
    if max(places) > 1:
        told += f", no weight of a layer at more than {' or '.join(map(str, places))} places"
    if channels(audit.problem.architecture):
        told = " and any number of its channels"
    return int(depth) == len(layers) and widths == told


def _judged(audit):
    return audit.fits.subject or audit.network


def _exactly(audit, finding, found):
    (proof,) = all_of(DeepStationary, finding)
    assert is_at_margin(found[3], audit, finding.subject or audit.network)
    assert proof.epsilon == proof.delta == 0
    total: dict[int, Fraction] = {}
    for part in proof.parts:
        total[part.point] = total.get(part.point, 0) + part.multiplier
    if found[1] is None:
        return int(found[2]) == len(total)
    listed = [Fraction(text) for text in found[1].split(", ")]
    return {i: z for i, z in enumerate(listed) if z} == total


def _nearly(_, finding, found):
    (proof,) = all_of(DeepStationary, finding)
    return all(
        is_up(text, z) if z else Fraction(text) == 0 for text, z in ((found[1], proof.epsilon), (found[2], proof.delta))
    )


def _not_stationary(audit, finding, found):
    (proof,) = all_of(DeepNotStationary, finding)
    within = proof.own_tolerance(audit.problem)
    _beside(finding, found.groupdict())
    return within == 0 if found[1] is None else is_down(found[1], within)


def _is_refuted(audit, finding, _):
    (proof,) = all_of(DeepNotStationary, finding)
    return proof.qualification != "nothing" and audit.stationary.verdict is Verdict.REFUTED


def _second_order(_, finding, __):
    return bool(all_of(DeepLocal, finding)) and finding.verdict is Verdict.PROVED


def _curve(_, finding, __):
    return bool(all_of(NotLocalCurve, finding)) and finding.verdict is Verdict.REFUTED


def _better(audit, finding, found):
    proof, *_ = all_of(DeepBetterNetwork, finding)
    shape = proof.witness.architecture
    hidden = " and ".join(str(layer.outputs) for layer in shape.layers[:-1])
    many = len(channels(shape))
    other = f"{many} channel{'s' * (many > 1)}" if many else f"{hidden} neurons"
    assert found[1] == ("this shape" if shape == audit.problem.architecture else other)
    (theirs, over), (mine, below) = powered(audit.problem, proof.witness), powered(audit.problem, _judged(audit))
    share = 0 if found[3] is None else amount(found[3])
    least, most = theirs * below, (1 - share) ** power_of(audit.problem) * mine * over
    return least == most if share and found[2] is None else least <= most


def _same(audit, finding, _):
    proof, other = (all_of(DeepBetterNetwork, one)[0] for one in (finding, audit.global_optimum))
    return proof.witness == other.witness


def _optimal(audit, finding, found):
    (proof,) = all_of(DeepOptimalWithin, finding)
    assert _family(audit, found[1], found[2])
    mine, over = powered(audit.problem, _judged(audit))
    within = 0 if found[3] is None else proof.tolerance
    assert found[3] is None or is_tolerance(found[3], proof.tolerance) or is_up(found[3], proof.tolerance)
    return mine <= (1 + within) ** power_of(audit.problem) * proof.lower.bracket[0] * over


def _is_open(_, finding, __):
    return finding.verdict is Verdict.UNDECIDED


def _no_rule(audit, finding, found):
    (proof,) = all_of(DeepNotStationary, audit.stationary)
    return _is_open(audit, finding, found) and proof.qualification == "nothing"


def _nearly_only(audit, finding, found):
    return _is_open(audit, finding, found) and audit.stationary.level == "approximate"


ROWS = [
    (r"no better network lies near it, by the second order of its Lagrangian", _second_order),
    (
        r"the KKT conditions hold exactly, with (?:λ = \(([^)]*)\)|multipliers at (\d+)(?: of \d+)? points?)"
        + AT_MARGIN,
        _exactly,
    ),
    (rf"the KKT conditions hold up to (?:ε =|epsilon) {N} and (?:δ =|delta) {N}", _nearly),
    (rf"no multipliers satisfy the KKT conditions(?: exactly| to within {N}){BESIDE}", _not_stationary),
    (r"it is not (?:even )?stationary", _is_refuted),
    (r"better networks lie arbitrarily near, along a curve", _curve),
    (r"the same network is better", _same),
    (r"a network of (.*?) fits and is better(?:: its objective is (at least )?(.*?) lower)?", _better),
    (rf"no network of {FAMILY} is better(?: by more than {N} \(relative\))?", _optimal),
    (r"no better network was found near it; that there is none is not proved yet at this depth", _is_open),
    (r"it has no multipliers, and whether a local optimum needs any there is not known", _no_rule),
    (r"it satisfies the KKT conditions nearly, and whether exactly is not known", _nearly_only),
    (
        r"no network was found that is better(?: by more than the tolerance)?, and the bound of the best .* is lower",
        _is_open,
    ),
    (r"no bound above 0 of the best objective is known", _is_open),
    (
        r"better networks of the same shape lie arbitrarily near(?:, but none was found that is better by .*)?",
        lambda audit, *_: audit.local_optimum.verdict is Verdict.REFUTED,
    ),
    (rf"it is no exact KKT point, and whether it is one to within {N} is open{FARTHER}", _is_open),
    (
        r"the network has too many parameters, or the data too many points, to look at each gradient exactly",
        lambda audit, *_: audit.network.architecture.parameter_count * len(audit.problem.data) > depth.LARGEST,
    ),
    (r"a point is on the kinks of more units than are looked at", _is_open),
    (rf"neither multipliers nor a separating vector could be made exact{FARTHER}", _is_open),
]


def _own(audit, _, found):
    power, m = power_objective(audit.problem, _judged(audit)), power_of(audit.problem)
    told = Fraction(re.sub(r"^about | \(about .*", "", found[1]))
    if found[2] is None and "about" not in found[1]:
        return told**m == power
    if found[2] is None:
        found = {2: m}
    assert int(found[2]) == m
    near = told * (1 - Fraction(1, 10**6)), told * (1 + Fraction(1, 10**6))  # seven digits, where the root is exact
    return near[0] ** m <= power <= near[1] ** m


def _best(audit, _, found):
    least, most = found[1], found[2]
    lower, upper = audit.bracket
    assert _family(audit, found[3], found[4])
    exact = LowerBoundLinear | LowerBoundPooled | LowerBoundOneActivation | LowerBoundRelu
    is_crude = lower < upper and not any(isinstance(bound, exact) for bound in audit.bounds)
    assert (found[5] is not None) == is_crude
    return Fraction(least) <= lower and upper <= Fraction(most or least) and (most is not None or lower == upper)


def _witness(audit, _, found):
    known = [network for network in (audit.better, audit.better_own_width) if network is not None]
    values = [power_objective(audit.problem, network) for network in known]
    told, m = Fraction(found[3].partition(" ")[0]), power_of(audit.problem)
    if found[2] is None:
        return told**m in values
    return any(value and abs(told**m / value - 1) < Fraction(1, 10**5) for value in values)


def _excess(audit, _, found):
    return _is_excess(audit, *found.groups(), *audit.excess)


def _no_excess(audit, *_):
    mine, over = powered(audit.problem, _judged(audit))
    return audit.excess[1] == 0 and any(bound.bracket[0] and bound.bracket[0] * over == mine for bound in audit.bounds)


NUMBERS = [
    (r"excess: none: this network is the best possible", _no_excess),
    (r"excess: (.*), (within|not within|whether within) (\S+|about \S+) \(relative\)(?: is open)?", _excess),
    (r"this network: (.*?) = ½‖θ‖²(?: at margin 1)?(?:; its power (\d+) is (?:.*))?", _own),
    (
        (
            rf"best possible: (\d+/\d+|{N[1:-1]})(?: \(about \S+\))?(?: … {N})?, over networks of {FAMILY}"
            r"(; the lower end is a crude bound)?"
        ),
        _best,
    ),
    (r"better network(?:, no wider)?: (.*), objective (about )?(\S+(?: \(about \S+\))?)", _witness),
]


def _told(audit, _, found):
    """How far above the best possible, as the excess says, over which networks."""
    assert _family(audit, *found.groups()[-2:])
    if audit.excess is None:  # of 0 there is no excess
        return audit.bracket == (0, 0) and found[1] == "the best possible"
    low, high = audit.excess
    said = [
        Fraction(text.split()[0]) / (100 if "%" in text else 1) for text in re.findall(rf"{N[1:-1]}(?: %)?", found[1])
    ]
    if found[1].startswith("within"):
        return high <= said[0]
    if found[1] == "the best possible":
        return high == 0
    return all(low * Fraction(98, 100) - 1 <= z <= 1 + high * Fraction(102, 100) for z in said)


def _not_zero(audit, _, found):
    return _family(audit, found[1], found[2]) and audit.bracket == (0, 0) and powered(audit.problem, _judged(audit))[0]


STANDING = [
    (rf"this network is not the best possible, over networks of {FAMILY}, which has the objective 0", _not_zero),
    (rf"this network is (.*?)(?: above)?(?: the best possible)?, over networks of {FAMILY}", _told),
    (r"how far this network is above the best possible is not known", lambda audit, *_: audit.excess is None),
]
STEPS = [
    (
        r"write the better network from the folder of --certificates PROOFS \(in Python \.better\w*\.save\): .*",
        lambda audit, *_: audit.better is not None or audit.better_own_width is not None,
    ),
]
