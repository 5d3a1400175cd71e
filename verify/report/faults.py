"""What is wrong with a network that is not the best possible, and what would improve it: a few plain sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from verify.checker.exact import sqrt_upper
from verify.deciders.finding import Verdict
from verify.diagnosis import Diagnosis, Excess, Neurons, PointGroups, Rung, RungKind
from verify.numbers.counts import count
from verify.numbers.decimals import about, at_least, at_most, nearest
from verify.numbers.floats import to_float
from verify.problem.members import goal_words
from verify.problem.network import Network
from verify.problem.phrases import PER_CENT, SMALL, amount, has_infimum_0, named, no_neuron
from verify.problem.problem import outputs
from verify.report.audited import Audited
from verify.report.misfits import misfits, output_without_neurons, unseen_points
from verify.report.quantities import ends, is_repaired

CLEAR = 0.005  # parts of the excess below this are not worth a word
ROUNDED = 1e-9  # an excess below this is not split, as its parts are floats
CLOSE = 1e-6  # parts that differ by less may have the other order, as they are floats
TIMES = 10  # relative amounts from here on, all those of a sentence, are told as "11 times"
NEGLIGIBLE = Fraction(1, 10**6)  # heights up to this differ by what the search leaves open, and are told as one
SLACK = 0.01  # relative margin beyond the least one from which a point is called slack


def faults(audit: Audited) -> Iterator[str]:
    """The sentences, the ladder of improvements last; none for a network that is proved optimal."""
    diagnosis = audit.diagnosis
    best = audit.global_any_width if audit.problem.asks_any_width else audit.global_optimum
    if best.verdict is Verdict.PROVED:
        return
    if diagnosis is not None:
        yield from _furthest(audit, diagnosis.points)
    if audit.fits.verdict is Verdict.REFUTED:
        yield from misfits(audit)
    if diagnosis is None:
        return
    judged = audit.fits.subject or audit.network
    bias = " + |b|" if audit.problem.architecture.bias else ""
    told = list(_neurons(diagnosis, f"|w| |x|{bias}", is_stationary=audit.stationary.verdict is Verdict.PROVED))
    told += _constants(judged) if told else []
    ladder = [] if has_infimum_0(audit.problem) else list(_ladder(diagnosis))
    if is_repaired(audit.fits) and (told or ladder):
        yield _repaired(audit)
    yield from told
    if diagnosis.excess is not None and audit.asked_excess is not None and _is_narrow(*audit.asked_excess):
        yield from _points(diagnosis.excess, audit.problem.fit_tolerance)
        yield from _parts(diagnosis, diagnosis.excess, to_float(audit.asked_excess[1]))
    yield from ladder
    if audit.relaxed is None or has_infimum_0(audit.relaxed.problem):
        return
    if audit.relaxed.diagnosis is not None:
        for sentence in _ladder(audit.relaxed.diagnosis, diagnosis.neurons):
            yield f"{RELAXED}{sentence}"


RELAXED = "of what it fits: "
"""What a sentence about the relaxed question begins with."""


def _repaired(audit: Audited) -> str:
    """Which network the sentences that follow are about."""
    values = outputs(audit.problem, audit.network)
    apart = [abs(f - y) for f, y in zip(values, audit.problem.data.targets, strict=True)]
    most = max(range(len(apart)), key=apart.__getitem__)
    given = f"the network as given misses point {most} most, by {about(apart[most], 3)}"
    if not apart[most]:
        given = "the network as given meets them too"
    return f"what follows is about the network after the repair, which meets every target exactly; {given}"


def _furthest(audit: Audited, found: PointGroups) -> Iterator[str]:
    """The point that is furthest on the wrong side (max-margin), or why the output is 0 there."""
    if found.worst is None or found.least is None:
        return
    if found.worst_is_unseen and audit.fits.verdict is Verdict.REFUTED and found.worst in unseen_points(audit):
        return  # one sentence tells of all such points
    if found.least < 0:
        least, bounded = about(found.least, 3), goal_words(audit.problem.goal).bounded
        yield f"no point is further on the wrong side than point {found.worst}, where {bounded} is {least}"
    elif found.worst_is_unseen:
        nobody = no_neuron(audit.problem, audit.network, [found.worst])
        yield f"{nobody} is active at point {found.worst}, {output_without_neurons(audit.network)}"
    else:
        also = " and the output bias" if audit.network.output_bias else ""
        yield f"what the neurons{also} give at point {found.worst} cancels: f(x) = 0 there"


def _neurons(diagnosis: Diagnosis, reach: str, *, is_stationary: bool) -> Iterator[str]:
    """is_stationary: the network, or one near it, is proved to be a KKT point, so that no neuron is said to turn.

    reach: what kinks are measured by.   "at least": neurons of next to no size, which are left out, may be so too.
    """
    found = diagnosis.neurons
    live = found.count - len(found.silent)
    kind = f"{'contributing' if found.idle else 'live'} neurons"
    others = f"{live} {kind}"
    if found.dead:
        yield _silent(found, found.dead, found.dead_share, "is dead", "are dead")
    if found.idle:
        yield _silent(found, found.idle, found.idle_share, f"contributes {NOTHING}", f"contribute {NOTHING}")
    if found.unbalanced:
        worst = found.unbalanced[0]
        outgoing, hidden = (sqrt_upper(square) for square in (worst.outgoing_squared, worst.hidden_squared))
        sizes = f"|v| = {nearest(outgoing, 3)}, |w| = {nearest(hidden, 3)}"
        if len(found.unbalanced) == 1:
            yield f"neuron {worst.neuron} is unbalanced by more than 1{PER_CENT}: {sizes}"
        else:
            least = "at least " if found.dust else ""
            many = f"{least}{len(found.unbalanced)} of {others} are unbalanced by more than 1{PER_CENT}"
            yield f"{many}, neuron {worst.neuron} at the highest cost: {sizes}"
    if found.doubled_hints:
        first, *further = found.doubled_hints
        do = "does" if len(further) == 1 else "do"
        more = f"; so {do} {count(len(further), 'other group')}" if further else ""
        yield f"{named(first, 'neuron')} point the same way to within 1e-3{more}"
    if found.turn_hints and not is_stationary:
        neuron, angle = found.turn_hints[0]
        at = "at the multipliers that suit the network best"
        turned = f"{_number(angle)}° from its KKT direction"
        if len(found.turn_hints) == 1:
            yield f"{at} neuron {neuron} is {turned}"
        else:
            least = "at least " if found.asked_to_turn < live else ""
            many = f"{least}{len(found.turn_hints)} of {others} are more than 1° from their KKT directions"
            yield f"{at} {many}, neuron {neuron} at the highest cost: {turned}"
    if found.near_kink_hints:
        neuron, point = found.near_kink_hints[0]
        least = "at least " if found.has_more_kinks else ""
        pairs = f"{least}{count(len(found.near_kink_hints), 'preactivation')} of {kind}"
        are = "is" if len(found.near_kink_hints) == 1 else "are"
        near = f"at a kink or within 1e-6 of one, relative to {reach}"
        yield f"{pairs} {are} {near}, such as neuron {neuron} at point {point}"


NOTHING = "nothing (v = 0)"


def _silent(found: Neurons, which: tuple[int, ...], share: Fraction, one: str, several: str) -> str:
    are, waste = (one, "wastes") if len(which) == 1 else (several, "waste")
    part = amount(share, nearest)
    if share < 1 and part == amount(Fraction(1), nearest):
        part = f"over {amount(share, at_least)}"
    cost = f" and {waste} {part} of the squared norm" if share >= SMALL else ""
    return f"{len(which)} of {count(found.count, 'neuron')} {are}{cost}: {named(which, 'neuron')}"


def _silent_ones(found: Neurons) -> str:
    """What the neurons are called that add nothing."""
    if not found.idle:
        return "dead neurons"
    return "dead neurons and those with v = 0" if found.dead else "neurons with v = 0"


def _constants(network: Network) -> Iterator[str]:
    """Which neurons add a constant, as one that an output bias was turned into does."""
    for j in network.output_bias_neurons:
        constant = network.output_weights[j] * network.hidden_weights[j][-1]
        yield f"neuron {j} is constant: it adds {about(constant, 4)} to every output"


def _points(excess: Excess, tolerance: Fraction) -> Iterator[str]:
    slack = [(point, beyond) for point, beyond in excess.beyond_hints if beyond > SLACK]
    if slack:
        point, beyond = slack[0]
        are = "has" if len(slack) == 1 else "have"
        much = f"{_number(1 + beyond)} times" if beyond >= TIMES else f"{_number(100 * beyond)}{PER_CENT} more"
        hold = "holds" if excess.support == 1 else "hold"
        held = f"{len(slack)} of the {count(excess.support, 'point')} that {hold} the lower bound {are}"
        if tolerance:
            at = f"at {len(slack)} of the {count(excess.support, 'point')} that {hold} the lower bound"
            edge = f"over 1{PER_CENT} of the tolerance inside the edge that the bound presses it to, y − ε or y + ε"
            yield f"{at} the output is {edge}, point {point} most: about {_number(100 * beyond)}{PER_CENT} of ε"
            return
        yield f"{held} over 1{PER_CENT} more than the least margin, point {point} most: {much}"


def _is_narrow(low: Fraction, high: Fraction) -> bool:
    """Whether the multipliers are nearly those of the best network; what is open would count as directions."""
    return high - low <= high / 5


def _parts(diagnosis: Diagnosis, excess: Excess, whole: float) -> Iterator[str]:
    """Where the excess comes from; a single cause with all that have a part in it."""
    if whole < ROUNDED:
        return
    slack = [(point, part) for point, part, _ in excess.slack_hints]
    parts = [
        (excess.imbalance_hint, "imbalance", "neuron", ()),
        (excess.directions_hint, "directions", "neuron", excess.direction_hints),
        (excess.slack_hint, "slack points", "point", slack),
        (excess.bias_hint, "the output bias", "neuron", ()),
        (excess.dead_hint, _silent_ones(diagnosis.neurons), "neuron", ()),
    ]
    clear = sorted((part for part in parts if part[0] > CLEAR * whole), key=lambda part: -part[0])
    begin = "at the multipliers of the lower bound the excess comes from"
    told = [
        f"{name} ({_number(100 * part / whole, 2)}{PER_CENT}{_most(kind, those)})" for part, name, kind, those in clear
    ]
    if len(told) > 1:
        yield f"{begin} {', '.join(told[:-1])} and {told[-1]}"
    elif told:
        _, name, kind, those = clear[0]
        main = sorted(j for j, part in those if part > CLEAR * whole) or sorted(j for j, _ in those)
        yield f"{begin} {name}{f' ({named(main, kind)})' if main else ''}"


def _most(kind: str, parts: Sequence[tuple[int, float]]) -> str:
    """Whose part is the largest; "" where floats do not tell."""
    is_clear = len(parts) == 1 or (len(parts) > 1 and parts[0][1] > parts[1][1] * (1 + CLOSE))
    return f", most from {kind} {parts[0][0]}" if is_clear else ""


def _ladder(diagnosis: Diagnosis, told: Neurons | None = None) -> Iterator[str]:
    """One sentence, all of whose heights are in one unit.

    told: what was said before of the neurons at more points, where fewer of them may be dead.
    """
    found = [rung for rung in diagnosis.ladder if rung.step is not RungKind.BOUND]
    in_times = all(rung.excess is None or rung.excess[1] >= TIMES for rung in found)
    rungs: list[Rung] = []
    for rung in found:
        if not (rungs and _looks_as_high(rungs[-1], rung, in_times=in_times)):
            rungs.append(rung)
    heights = [_height(rung, in_times=in_times) for rung in rungs]
    silent, own = _silent_ones(diagnosis.neurons), diagnosis.neurons.silent
    if own and told is not None and own != told.silent:
        silent = f"neurons that add nothing at these points ({named(sorted(own), 'neuron')})"
    steps = _IMPROVEMENTS | {RungKind.WITHOUT_DEAD: f"removing the {silent}"}
    if len(rungs) > 1 and rungs[0].step is RungKind.GIVEN:
        begin = f" would bring the network from {heights[0]}{_above(rungs[0], in_times=in_times)}"
        yield "; then ".join(
            f"{steps[rung.step]}{_size(rung)}{verb} to {height}"
            for rung, verb, height in zip(rungs[1:], [begin, *[""] * (len(rungs) - 2)], heights[1:], strict=True)
        )
    elif rungs and rungs[0].step is not RungKind.GIVEN:
        first, *others = rungs
        what = _FITTING[first.step]
        further = "".join(
            f"; so does {steps[rung.step]}{_size(rung)}, {_with(rung, in_times=in_times)}" for rung in others
        )
        yield f"{what}{_size(first)} fits, {_with(first, in_times=in_times)}{further}"


_FITTING = {
    RungKind.WITHOUT_DEAD: "another network",
    RungKind.BALANCED: "another network",
    RungKind.POLISHED: "a polished network",
    RungKind.OWN_WIDTH: "another network",
    RungKind.ANY_WIDTH: "another network",
}
"""What may come first, where it is not the given network."""

_IMPROVEMENTS = {
    RungKind.GIVEN: "this network",
    RungKind.BALANCED: "balancing",
    RungKind.POLISHED: "polishing",
    RungKind.OWN_WIDTH: "the best network known of at most its width",
    RungKind.ANY_WIDTH: "the best network known of any width",
    RungKind.BOUND: "the lower bound",
}


def _size(rung: Rung) -> str:
    if rung.network is None or rung.step in (RungKind.WITHOUT_DEAD, RungKind.BALANCED):
        return ""
    return f" ({count(rung.network.width, 'neuron')})"


def _with(rung: Rung, *, in_times: bool) -> str:
    """Such as "28.3 % above the best possible"."""
    begin = "with " if rung.excess is None else ""
    return f"{begin}{_height(rung, in_times=in_times)}{_above(rung, in_times=in_times)}"


def _looks_as_high(rung: Rung, lower: Rung, *, in_times: bool) -> bool:
    """Whether the heights that are told of two rungs, or their upper ends in three digits, are the same."""
    if _height(rung, in_times=in_times) == _height(lower, in_times=in_times):
        return True
    told = _times if in_times else amount
    if rung.excess is None or lower.excess is None:
        return False
    return told(rung.excess[1], nearest) == told(lower.excess[1], nearest)


def _height(rung: Rung, *, in_times: bool) -> str:
    """How far the rung is above the best possible: "28.3 %", "311 times", "at most 3e-5 %", or its objective.

    Rounded to the nearest where the proved ends agree in three digits, else "at most", rounded up.
    """
    if rung.excess is None:
        return f"an objective of {about(rung.objective, 4)}"
    low, high = rung.excess
    if high == 0:
        return f"0{PER_CENT}"
    if high <= NEGLIGIBLE:
        return f"at most {amount(NEGLIGIBLE, at_most)}"
    told = _times if in_times else amount
    least, most = told(low, nearest), told(high, nearest)
    if least == most:
        return most
    if low <= 0 or high < SMALL:
        return f"at most {told(high, at_most)}"
    return (
        f"at most {ends(1 + low, 1 + high)[1]} times"
        if in_times
        else f"at most {ends(100 * low, 100 * high)[1]}{PER_CENT}"
    )


def _above(rung: Rung, *, in_times: bool) -> str:
    if rung.excess is None:
        return ""
    return " the best possible" if in_times else " above the best possible"


def _times(part: Fraction, rounded: Callable[[Fraction, int], str]) -> str:
    return f"{rounded(1 + part, 3)} times"


def _number(number: float, digits: int = 3) -> str:
    return nearest(Fraction(number), digits)
