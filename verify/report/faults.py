"""What is wrong with a network that is not the best possible, and what would improve it: a few plain sentences."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verify.counts import count
from verify.decimals import nearest
from verify.diagnosis import Diagnosis, Excess, Rung, Step
from verify.finding import Verdict
from verify.report.audited import Audited
from verify.report.phrases import PER_CENT, SMALL, amount, named

CLEAR = 0.005  # parts of the excess below this are not worth a word
TIMES = 10  # relative amounts from here on are told as "11 times"
SLACK = 0.01  # relative margin beyond the least one from which a point is called slack


def faults(audit: Audited) -> Iterator[str]:
    """The sentences, the ladder of improvements last; none for a network that is proved optimal."""
    diagnosis = audit.diagnosis
    if diagnosis is None or audit.global_any_width.verdict is Verdict.PROVED:
        return
    if diagnosis.points.worst is not None and diagnosis.points.least is not None:
        worst = nearest(diagnosis.points.least, 3)
        yield f"point {diagnosis.points.worst} is the furthest on the wrong side: y·f(x) = {worst}"
    is_exact = audit.stationary.verdict is Verdict.PROVED and audit.stationary.level == "exact"
    yield from _neurons(diagnosis, is_stationary=is_exact)
    if diagnosis.excess is not None and audit.excess is not None and _is_narrow(*audit.excess):
        yield from _points(diagnosis.excess)
        yield from _parts(diagnosis.excess, float(audit.excess[1]))
    yield from _ladder(diagnosis.ladder, audit.tolerance)


def _neurons(diagnosis: Diagnosis, *, is_stationary: bool) -> Iterator[str]:
    """is_stationary: exactly proved, so that no neuron has to turn, whatever floats guess."""
    found = diagnosis.neurons
    if found.dead:
        are, waste = ("is", "wastes") if len(found.dead) == 1 else ("are", "waste")
        share = amount(found.dead_share, nearest)
        cost = f" and {waste} {share} of the squared norm" if found.dead_share >= SMALL else ""
        yield f"{len(found.dead)} of {count(found.count, 'neuron')} {are} dead{cost}: {named(found.dead, 'neuron')}"
    if found.unbalanced:
        worst = found.unbalanced[0]
        sizes = f"|v| = {_number(worst.outgoing_hint)}, |w| = {_number(worst.hidden_hint)}"
        if len(found.unbalanced) == 1:
            yield f"neuron {worst.neuron} is unbalanced: {sizes}"
        else:
            many = f"{len(found.unbalanced)} of {found.count} neurons are unbalanced"
            yield f"{many}, neuron {worst.neuron} most: {sizes}"
    if found.doubled_hints:
        first, *others = found.doubled_hints
        do = "does" if len(others) == 1 else "do"
        more = f"; so {do} {count(len(others), 'other group')}" if others else ""
        yield f"{named(first, 'neuron')} point the same way and could be one{more}"
    if found.turn_hints and not is_stationary:
        neuron, angle = found.turn_hints[0]
        turned = f"{_number(angle, 2)}° from its KKT direction"
        if len(found.turn_hints) == 1:
            yield f"neuron {neuron} has to turn: it is {turned}"
        else:
            yield f"{len(found.turn_hints)} of {found.count} neurons have to turn, neuron {neuron} most: {turned}"
    if found.near_kink_hints:
        neuron, point = found.near_kink_hints[0]
        pairs = count(len(found.near_kink_hints), "preactivation")
        are = "is" if len(found.near_kink_hints) == 1 else "are"
        yield f"{pairs} {are} at a kink or within 1e-6 of one, such as neuron {neuron} at point {point}"


def _points(excess: Excess) -> Iterator[str]:
    slack = [(point, beyond) for point, _, beyond in excess.slack_hints if beyond > SLACK]
    if slack:
        point, beyond = slack[0]
        are = "has" if len(slack) == 1 else "have"
        much = f"{_number(1 + beyond)} times" if beyond >= TIMES else f"{_number(100 * beyond)}{PER_CENT} more"
        held = f"{len(slack)} of the {count(excess.support, 'point')} that hold the best possible network {are}"
        yield f"{held} more than the least margin, point {point} most: {much}"


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
        what = "training on in its own activation patterns" if rung.step is Step.POLISHED else "another network"
        yield f"{what}{_size(rung)} would fit, at {_height(rung, tolerance)}{_above(rung)}"


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
    """How far the rung is above the best possible: "28.3 %", "311 times", "0"; its objective where that is open."""
    if rung.excess is None:
        return f"an objective of {nearest(rung.objective, 4)}"
    low, high = rung.excess
    if high <= tolerance:
        return "0"
    most = "at most " if high - low > high / 20 else ""
    return f"{most}{nearest(1 + high, 3)} times" if high >= TIMES else f"{most}{_relative(high)}"


def _above(rung: Rung) -> str:
    if rung.excess is None:
        return ""
    return " the best possible" if rung.excess[1] >= TIMES else " above the best possible"


def _relative(part: Fraction) -> str:
    return f"{nearest(1 + part, 3)} times" if part >= TIMES else amount(part, nearest)


def _number(number: float, digits: int = 3) -> str:
    return nearest(Fraction(number), digits)
