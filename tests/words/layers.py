"""The sentences about each layer by itself."""

from __future__ import annotations

import re
from fractions import Fraction

from tests.words.reading import N, amount, is_tolerance, is_up
from verify.checker.exact import squared_norm
from verify.checker.single_layers import LayerBetter, LayerLocal, LayerNotLocal, LayerOptimal
from verify.deciders.finding import Verdict
from verify.problem.members import has_margin

OTHERS = r"(with no smaller margin|that fit)"
LEAST = rf"(?:; the least (?:is {N}|lies between {N} and {N}))?"


def others_are_right(audit, text):
    return (text == "with no smaller margin") == has_margin(audit.problem.goal)


def least_is_right(one, exactly, low, high):
    """Between the ends of the bracket, rounded outward; said wherever there is a bracket."""
    if exactly is None and low is None:
        return one.bracket is None
    ends = (exactly, exactly) if exactly else (low, high)
    lower, upper = one.bracket
    return Fraction(ends[0]) <= lower and upper <= Fraction(ends[1]) and (not exactly or lower == upper)


def _near(kind, verdict):
    def check(audit, one, found):
        proof = one.local.certificate
        is_one = isinstance(proof, kind) and one.local.verdict is verdict and proof.layer == one.layer
        return is_one and others_are_right(audit, found[1])

    return check


def _optimal(audit, one, found):
    proof = one.optimal.certificate
    assert isinstance(proof, LayerOptimal)
    assert proof.layer == one.layer
    assert one.optimal.verdict is Verdict.PROVED
    assert others_are_right(audit, found[1])
    if found[2] is None:
        return proof.tolerance == 0
    return is_tolerance(found[2], proof.tolerance) or is_up(found[2], proof.tolerance)


def _better(audit, one, found):
    proof = one.optimal.certificate
    assert isinstance(proof, LayerBetter)
    assert proof.layer == one.layer
    assert one.optimal.verdict is Verdict.REFUTED
    assert others_are_right(audit, found[1])
    own = squared_norm((audit.fits.subject or audit.network).parameters[one.layer])
    share = 1 - squared_norm(proof.parameters) / own
    assert amount(found[3]) <= share
    assert found[2] is not None or amount(found[3]) == share
    return least_is_right(one, *found.groups()[3:])


def _open(which):
    def check(_, one, found):
        finding = getattr(one, which)
        is_open = finding.verdict is Verdict.UNDECIDED and finding.certificate is None
        return is_open and (which == "local" or least_is_right(one, *found.groups()))

    return check


def is_down_a_layer(audit, _, found):
    """What follows from a layer that is no local optimum, said of the network."""
    one = audit.layers[int(found[1])]
    proofs = audit.local_optimum.certificates
    return audit.local_optimum.verdict is Verdict.REFUTED and one.local.certificate in proofs


CUT = r"the time limit was reached|the search was interrupted"
LARGE = r"the network has too many parameters, or the data too many points, to look at the layer exactly"

LOCAL_ROWS = [
    (rf"near it, no parameters of the layer {OTHERS} have a smaller norm", _near(LayerLocal, Verdict.PROVED)),
    (
        rf"arbitrarily near it, parameters of the layer {OTHERS} have a smaller norm",
        _near(LayerNotLocal, Verdict.REFUTED),
    ),
    (
        (
            rf"neither a proof nor a direction could be made exact|there are more than \d+ cases of signs at its kinks"
            rf"|{CUT}|{LARGE}"
        ),
        _open("local"),
    ),
]
OPTIMAL_ROWS = [
    (
        rf"no parameters of the layer {OTHERS} have a smaller squared norm(?: by more than {N} \(relative\))?",
        _optimal,
    ),
    (
        rf"the squared norm of other parameters {OTHERS} is (at least )?(\S+ %) lower{LEAST}",
        _better,
    ),
    (
        (
            rf"(?:no better parameters were found, and (?:the bound is lower|there are more cases of signs than are "
            rf"looked at)|the bound could not be made exact|{CUT}|{LARGE}){LEAST}"
        ),
        _open("optimal"),
    ),
]


def check_layers(audit, rows) -> int:
    """Assert that every row about a layer is true; returns how many there were."""
    if audit.layers is None:
        assert rows == ()
        return 0
    told = iter(rows)
    for one in audit.layers:
        for name, finding, kinds in (("local", one.local, LOCAL_ROWS), ("global", one.optimal, OPTIMAL_ROWS)):
            label, verdict, level, text = next(told)
            assert (label, verdict) == (f"layer {one.layer}: {name} optimum", finding.verdict)
            is_moved = finding.certificate is not None and audit.fits.subject not in (None, audit.network)
            assert level == ("near" if is_moved else "")
            plain = text.replace("\u00a0", " ")
            found = [(check, match) for pattern, check in kinds if (match := re.fullmatch(pattern, plain))]
            assert found, f"a sentence of no known kind: {plain}"
            assert found[0][0](audit, one, found[0][1]) is not False, plain
    assert next(told, None) is None
    return len(rows)
