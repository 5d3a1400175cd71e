"""What is wrong with a network that is not the best possible, and what would improve it: a few plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from verify.counts import count
from verify.decimals import about, allowed, at_most, nearest
from verify.diagnosis import Diagnosis, Excess, Points, Rung, Step
from verify.finding import Verdict
from verify.phrases import PER_CENT, SMALL, amount, named
from verify.report.audited import Audited
from verify.report.misfits import misfits

CLEAR = 0.005  # parts of the excess below this are not worth a word
TIMES = 10  # relative amounts from here on are told as "11 times"
SLACK = 0.01  # relative margin beyond the least one from which a point is called slack


def faults(audit: Audited) -> Iterator[str]:
    """The sentences, the ladder of improvements last; none for a network that is proved optimal."""
    diagnosis = audit.diagnosis
    if audit.global_any_width.verdict is Verdict.PROVED:
        return
    if diagnosis is not None:
        yield from _furthest(diagnosis.points)
    if audit.fits.verdict is Verdict.REFUTED:
        yield from misfits(audit)
    if diagnosis is None:
        return
    yield from _neurons(diagnosis, is_stationary=audit.stationary.verdict is Verdict.PROVED)
    if diagnosis.excess is not None and audit.excess is not None and _is_narrow(*audit.excess):
        yield from _points(diagnosis.excess, audit.problem.fit_tolerance)
        yield from _parts(diagnosis.excess, float(audit.excess[1]))
    yield from _ladder(diagnosis.ladder, audit.tolerance)
    if audit.relaxed is not None and audit.relaxed.diagnosis is not None:
        for sentence in _ladder(audit.relaxed.diagnosis.ladder, audit.relaxed.tolerance):
            yield f"{RELAXED}{sentence}"


RELAXED = "of what it fits: "
"""What a sentence about the relaxed question begins with."""


def _furthest(found: Points) -> Iterator[str]:
    """The point that is furthest on the wrong side (max-margin), or why the output is 0 there."""
    if found.worst is None or found.least is None:
        return
    if found.least < 0:
        least = about(found.least, 3)
        yield f"no point is further on the wrong side than point {found.worst}, where y·f(x) is {least}"
    elif found.worst_is_unseen:
        yield f"no neuron is active at point {found.worst}, so that f(x) = 0 there"
    else:
        yield f"what the neurons give at point {found.worst} cancels: f(x) = 0 there"


def _neurons(diagnosis: Diagnosis, *, is_stationary: bool) -> Iterator[str]:
    """is_stationary: the network, or one near it, is proved to be a KKT point, so that no neuron is said to turn."""
    found = diagnosis.neurons
    live = found.count - len(found.dead) - len(found.zero)
    if found.dead:
        are, waste = ("is", "wastes") if len(found.dead) == 1 else ("are", "waste")
        share = amount(found.dead_share, nearest)
        cost = f" and {waste} {share} of the squared norm" if found.dead_share >= SMALL else ""
        yield f"{len(found.dead)} of {count(found.count, 'neuron')} {are} dead{cost}: {named(found.dead, 'neuron')}"
    if found.unbalanced:
        worst = found.unbalanced[0]
        sizes = f"|v| = {_number(worst.outgoing_hint)}, |w| = {_number(worst.hidden_hint)}"
        if len(found.unbalanced) == 1:
            yield f"neuron {worst.neuron} is unbalanced by more than 1{PER_CENT}: {sizes}"
        else:
            many = f"{len(found.unbalanced)} of {live} live neurons are unbalanced by more than 1{PER_CENT}"
            yield f"{many}, neuron {worst.neuron} at the highest cost: {sizes}"
    if found.doubled_hints:
        first, *others = found.doubled_hints
        do = "does" if len(others) == 1 else "do"
        more = f"; so {do} {count(len(others), 'other group')}" if others else ""
        yield f"{named(first, 'neuron')} point the same way to within 1e-3{more}"
    if found.turn_hints and not is_stationary:
        neuron, angle = found.turn_hints[0]
        at = "at the multipliers that suit the network best"
        turned = f"{_number(angle, 2)}° from its KKT direction"
        if len(found.turn_hints) == 1:
            yield f"{at} neuron {neuron} is {turned}"
        else:
            many = f"{len(found.turn_hints)} of {live} live neurons are more than 1° from their KKT directions"
            yield f"{at} {many}, neuron {neuron} at the highest cost: {turned}"
    if found.near_kink_hints:
        neuron, point = found.near_kink_hints[0]
        pairs = count(len(found.near_kink_hints), "preactivation")
        are = "is" if len(found.near_kink_hints) == 1 else "are"
        near = "at a kink or within 1e-6 of one, relative to |w| |x|"
        yield f"{pairs} {are} {near}, such as neuron {neuron} at point {point}"


def _points(excess: Excess, tolerance: Fraction) -> Iterator[str]:
    slack = [(point, beyond) for point, _, beyond in excess.slack_hints if beyond > SLACK]
    if slack:
        point, beyond = max(slack, key=lambda pair: pair[1])
        are = "has" if len(slack) == 1 else "have"
        much = f"{_number(1 + beyond)} times" if beyond >= TIMES else f"{_number(100 * beyond)}{PER_CENT} more"
        hold = "holds" if excess.support == 1 else "hold"
        held = f"{len(slack)} of the {count(excess.support, 'point')} that {hold} the lower bound {are}"
        if tolerance:
            far = f"about {_number(100 * beyond)}{PER_CENT} of the tolerance"
            off = f"an output over 1{PER_CENT} of the tolerance away from the end that holds it"
            yield f"{held} {off}, point {point} most: {far}"
            return
        yield f"{held} over 1{PER_CENT} more than the least margin, point {point} most: {much}"


def _is_narrow(low: Fraction, high: Fraction) -> bool:
    """Whether the multipliers are nearly those of the best network; what is open would count as directions."""
    return high - low <= high / 5


def _parts(excess: Excess, whole: float) -> Iterator[str]:
    turned = f", most from neuron {excess.direction_hints[0][0]}" if excess.direction_hints else ""
    slack = f", most from point {excess.slack_hints[0][0]}" if excess.slack_hints else ""
    parts = [
        (excess.imbalance_hint, "imbalance", ""),
        (excess.directions_hint, "directions", turned),
        (excess.slack_hint, "slack points", slack),
        (excess.dead_hint, "dead neurons", ""),
    ]
    told = [
        f"{name} ({_number(100 * part / whole, 2)}{PER_CENT}{most})"
        for part, name, most in sorted(parts, key=lambda entry: -entry[0])
        if part > CLEAR * whole
    ]
    if len(told) > 1:
        yield f"the excess comes from {', '.join(told[:-1])} and {told[-1]}"


def _ladder(ladder: tuple[Rung, ...], tolerance: Fraction) -> Iterator[str]:
    rungs: list[Rung] = []
    for rung in ladder:
        if rung.step is not Step.BOUND and not (rungs and _height(rungs[-1], tolerance) == _height(rung, tolerance)):
            rungs.append(rung)
    if len(rungs) > 1 and rungs[0].step is Step.GIVEN:
        start = f"would bring the network from {_height(rungs[0], tolerance)}{_above(rungs[0])}"
        verbs = [f" {start}", *[""] * (len(rungs) - 2)]
        yield "; then ".join(
            f"{_IMPROVEMENTS[rung.step]}{_size(rung)}{verb} to {_height(rung, tolerance)}"
            for rung, verb in zip(rungs[1:], verbs, strict=True)
        )
    elif rungs and rungs[0].step is not Step.GIVEN:
        rung = rungs[0]
        what = "a network polished in its own activation patterns" if rung.step is Step.POLISHED else "another network"
        with_ = "with " if rung.excess is None else ""
        yield f"{what}{_size(rung)} fits, {with_}{_height(rung, tolerance)}{_above(rung)}"


_IMPROVEMENTS = {
    Step.GIVEN: "this network",
    Step.WITHOUT_DEAD: "removing the dead neurons",
    Step.BALANCED: "balancing",
    Step.POLISHED: "polishing in its own activation patterns",
    Step.OWN_WIDTH: "the best network known of at most its width",
    Step.ANY_WIDTH: "the best network known of any width",
    Step.BOUND: "the lower bound",
}


def _size(rung: Rung) -> str:
    if rung.network is None or rung.step in (Step.WITHOUT_DEAD, Step.BALANCED):
        return ""
    return f" ({count(rung.network.width, 'neuron')})"


def _height(rung: Rung, tolerance: Fraction) -> str:
    """How far the rung is above the best possible: "28.3 %", "311 times", "at most 1e-6", or its objective.

    Rounded to the nearest where the proved ends agree in three digits, else "at most", rounded up.
    """
    if rung.excess is None:
        return f"an objective of {about(rung.objective, 4)}"
    low, high = rung.excess
    if high == 0:
        return "0"
    if high <= tolerance:
        return f"at most {allowed(tolerance)}"
    least, most = _relative(low, nearest), _relative(high, nearest)
    return most if least == most else f"at most {_relative(high, at_most)}"


def _above(rung: Rung) -> str:
    if rung.excess is None:
        return ""
    return " the best possible" if rung.excess[1] >= TIMES else " above the best possible"


def _relative(part: Fraction, rounded: Callable[[Fraction, int], str]) -> str:
    return f"{rounded(1 + part, 3)} times" if part >= TIMES else amount(part, rounded)


def _number(number: float, digits: int = 3) -> str:
    return nearest(Fraction(number), digits)
