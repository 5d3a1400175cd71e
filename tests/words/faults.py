"""The legend of a report, what is wrong, and the status."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

from tests.words.precision import legend_of_a_loss, legend_of_approximate
from tests.words.reading import SLACK, N, amount, is_about, is_up, is_value
from verify.diagnosis import RungKind
from verify.problem.phrases import SMALL
from verify.problem.problem import objective, outputs


def _legend(audit, _, found):
    near = [finding.moved for finding in audit.findings.values() if finding.level == "near" and finding.moved]
    return is_up(found[1], max(near))


def _furthest(audit, _, found):
    values = outputs(audit.problem, audit.network)
    margins = [y * f for y, f in zip(audit.problem.targets, values, strict=True)]
    return margins[int(found[1])] == min(margins) and is_value(found[2], min(margins))


def _preactivations(audit, point):
    row = audit.problem.rows[point]
    return [sum((a * b for a, b in zip(w, row, strict=True)), Fraction(0)) for w in audit.network.hidden_weights]


def _is_off(audit, z) -> bool:
    return z == 0 or (z < 0 and not audit.problem.architecture.slope)


def _nobody(audit, said, points) -> bool:
    """ "no neuron" means none at all, "no neuron with an output weight" that some with v = 0 are active."""
    weights = audit.network.output_weights
    on = [v for i in points for z, v in zip(_preactivations(audit, i), weights, strict=True) if not _is_off(audit, z)]
    return not any(on) and bool(on) == ("with an output weight" in said)


def _zero_there(audit, _, found):
    point = int(found[2])
    bias = audit.network.output_bias
    assert outputs(audit.problem, audit.network)[point] == (bias if "is the output bias" in found[0] else 0)
    assert ("output bias" in found[0]) == bool(bias)
    if found[1].startswith("no neuron"):
        return _nobody(audit, found[1], [point])
    zs = zip(_preactivations(audit, point), audit.network.output_weights, strict=True)
    return any(v and not _is_off(audit, z) for z, v in zs)


def _dead(audit, _, found):
    neurons, network = audit.diagnosis.neurons, audit.fits.subject or audit.network
    is_dead = "dead" in found[0]
    names, share = (neurons.dead, neurons.dead_share) if is_dead else (neurons.idle, neurons.idle_share)
    assert (int(found[1]), int(found[2])) == (len(names), len(audit.network.output_weights))
    assert all(int(j) in names for j in re.findall(r"\d+", found[4]))
    columns = len(audit.problem.rows[0])
    for j in names:
        w, v = network.hidden_weights[j][:columns], network.output_weights[j]
        assert bool(v) is is_dead
        rows = audit.problem.rows if is_dead else ()
        assert all(_is_off(audit, sum(a * b for a, b in zip(w, row, strict=True))) for row in rows)
    if found[3] is None:
        return True
    if found[3].startswith("over "):  # all but so little that the nearest is all of it
        return amount(found[3].removeprefix("over ")) < share < 1
    assert (found[3] == "100 %") == (share == 1)
    return abs(amount(found[3]) - share) <= share / 100


def _unbalanced(audit, _, found):
    network = audit.fits.subject or audit.network
    counted = audit.problem.norm_columns
    neurons = zip(network.hidden_weights, network.output_weights, strict=True)
    pairs = [(sum((w[c] ** 2 for c in counted), Fraction(0)), v * v) for w, v in neurons]
    silent = {*audit.diagnosis.neurons.silent, *audit.diagnosis.neurons.dust}
    assert ("at least" in found[0]) == bool(audit.diagnosis.neurons.dust) or "of" not in found[0].split()
    apart = [j for j, pair in enumerate(pairs) if j not in silent and min(pair) < Fraction(99, 100) ** 2 * max(pair)]
    assert found[3] is None or _waste(pairs[int(found[3])]) == max(_waste(pairs[j]) for j in apart)
    several, single, worst, v, w = found.groups()
    j = int(single or worst)
    assert j in apart
    assert len(apart) == (1 if single else int(several))
    sizes = [(v, pairs[j][1]), (w, pairs[j][0])]
    return all(abs(Fraction(said) ** 2 - square) <= Fraction(12, 1000) * square for said, square in sizes)


def _waste(pair) -> Decimal:
    """(|v| - |w|)^2 with so many digits that neurons are told apart."""
    with localcontext() as context:
        context.prec = 60
        v, w = ((Decimal(square.numerator) / square.denominator).sqrt() for square in pair)
        return round((v - w) ** 2, 40 - (v + w).adjusted() * 2)


def _turned(audit, _, found):
    """The angles are floats; which neurons they are about, and how they are rounded, is not."""
    neurons = audit.diagnosis.neurons
    live, hints = neurons.count - len(neurons.silent), neurons.turn_hints
    assert audit.stationary.verdict.value != "proved"
    assert Fraction(found[5]) == Fraction(f"{hints[0][1]:.3g}")
    assert int(found[3] or found[4]) == hints[0][0]
    if found[2] is None:
        return len(hints) == 1
    assert (int(found[2].split()[0]), int(found[2].split()[2])) == (len(hints), live)
    return bool(found[1]) == (neurons.asked_to_turn < live)


def _judged(audit):
    return audit.fits.subject or audit.network


def _kinks(audit, _, found):
    """Of the neurons that are not silent; those of no size, and points that a neuron does not see, may be left out."""
    network, rows, has_bias = _judged(audit), audit.problem.rows, audit.problem.architecture.bias
    assert found[4] == ("|w| |x| + |b|" if has_bias else "|w| |x|")
    near = set()
    for j, (w, v) in enumerate(zip(network.hidden_weights, network.output_weights, strict=True)):
        values = [sum((a * b for a, b in zip(w, row, strict=True)), Fraction(0)) for row in rows]
        if not v or all(_is_off(audit, z) for z in values):
            continue
        for i, (row, z) in enumerate(zip(rows, values, strict=True)):
            last = -1 if has_bias else len(row)
            reach = _size(w[:last]) * _size(row[:last]) + (abs(float(w[-1])) if has_bias else 0.0)
            if z == 0 or abs(float(z)) <= 1e-6 * reach:
                near.add((j, i))
    assert (int(found[5]), int(found[6])) in near
    told = int(found[2])
    assert told <= len(near)
    assert found[3] == ("contributing" if audit.diagnosis.neurons.idle else "live")
    sure = {(j, i) for j, i in near if j not in audit.diagnosis.neurons.dust}
    return bool(found[1]) or told == len(near) == len(sure)


def _size(row) -> float:
    largest = max((abs(x) for x in row), default=0)
    return float(largest) * float(sum((x / largest) ** 2 for x in row)) ** 0.5 if largest else 0.0


def _alike(audit, _, found):
    network, named = _judged(audit), [int(j) for j in re.findall(r"\d+", found[1])]
    rows = [network.hidden_weights[j] for j in named]
    units = [
        [float(x / max(map(abs, row))) / _size([x / max(map(abs, row)) for x in row]) for x in row] for row in rows
    ]
    apart = max(_size([a - b for a, b in zip(p, q, strict=True)]) for p in units for q in units)
    assert len({network.output_weights[j] > 0 for j in named}) == 1
    return apart <= 1e-3


def _repaired(audit, _, found):
    values = outputs(audit.problem, audit.network)
    apart = [abs(f - y) for f, y in zip(values, audit.problem.targets, strict=True)]
    assert audit.fits.subject is not None
    if found[1] is None:
        return not any(apart)
    return apart[int(found[1])] == max(apart) and is_value(found[2], max(apart))


def _slack(audit, _, found):
    values = outputs(audit.problem, audit.fits.subject or audit.network)
    margins = [y * f for y, f in zip(audit.problem.targets, values, strict=True)]
    least = min(margins)
    support = [i for bound in audit.bounds for i, m in getattr(bound, "multipliers", ()) if m]
    beyond = {i: margins[i] / least - 1 for i in support}
    assert int(found[2]) == len(support)
    assert int(found[1]) == sum(value > Fraction(1, 100) for value in beyond.values())
    assert beyond[int(found[3])] == max(beyond.values())
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
    assert int(found[1]) == sum(value > tolerance / 100 for value in away.values())
    worst = away[int(found[3])] / tolerance
    assert worst == max(away.values()) / tolerance
    return abs(Fraction(found[4]) / 100 - worst) <= worst / 100


STEPS = {
    "removing the ": RungKind.WITHOUT_DEAD,
    "balancing": RungKind.BALANCED,
    "polishing (": RungKind.POLISHED,
    "a polished network (": RungKind.POLISHED,
    "the best network known of at most": RungKind.OWN_WIDTH,
    "the best network known of any": RungKind.ANY_WIDTH,
}
HEIGHT = rf"(at most )?{N}( %| times)|an objective of (about )?{N}"


def _ladder(audit, _, found):
    return _climbs(audit, found[0])


def _climbs(audit, text):
    """The heights fall, and each is that of the rung that is named: rounded up, or to the nearest.

    Of a polished network no more is told than its size and height: nothing tests where its neurons are active.
    """
    rungs = audit.diagnosis.ladder
    networks = [rung for rung in rungs if rung.network is not None]
    assert all(a.objective > b.objective for a, b in pairwise(networks))
    for rung in networks:
        assert objective(audit.problem, rung.network) == rung.objective
    assert rungs[0].step is RungKind.GIVEN or "would bring" not in text
    for part in re.split(r"; then |; so does ", text):
        step = next((step for begin, step in STEPS.items() if part.startswith(begin)), None)
        assert step is not None or part.startswith("another network ("), part
        rung = networks[0] if step is None else next(rung for rung in networks if rung.step is step)
        if rung.step in (RungKind.POLISHED, RungKind.OWN_WIDTH):
            counted = zip(rung.network.architecture.masks, rung.network.output_weights, strict=True)
            assert Counter(mask for mask, v in counted if v) <= Counter(audit.network.architecture.masks)
        if size := re.search(r"\((\d+) neurons?\)", part):
            assert int(size[1]) == rung.network.width
        heights = list(re.finditer(HEIGHT, part))
        for height, at in zip(heights[::-1], (rung, networks[0]), strict=False):
            assert _is_height(at, *height.groups()), (height[0], at)


def _is_height(rung, most, number, unit, rough, value) -> bool:
    if value:
        return is_about(value, rung.objective) if rough else Fraction(value) == rung.objective
    low, high = rung.excess
    said = Fraction(number) - 1 if unit == " times" else Fraction(number) / 100
    if most:
        return high <= said <= max(high * SLACK, Fraction(1, 10**6))
    return all(
        abs(said - end) <= (end + (unit == " times")) * Fraction(6, 10**2 if end < SMALL else 10**3)
        for end in (low, high)
    )


def _comes(audit, _, found):
    """Each part with its share of the excess, and whose it is; of a single one all that have a part in it."""
    excess, whole = audit.diagnosis.excess, float(audit.asked_excess[1])
    neurons = audit.diagnosis.neurons
    v0 = "neurons with v = 0" if not neurons.dead else "dead neurons and those with v = 0"
    slack = [(i, part) for i, part, _ in excess.slack_hints]
    parts = {
        "imbalance": (excess.imbalance_hint, ()),
        "directions": (excess.directions_hint, excess.direction_hints),
        "slack points": (excess.slack_hint, slack),
        "the output bias": (excess.bias_hint, ()),
        v0 if neurons.idle else "dead neurons": (excess.dead_hint, ()),
    }
    text = found[1].replace("neurons and those", "neurons & those")
    told = re.findall(r"(?:, | and |^)([a-z&=0 ]+?)(?: \(([^)]*)\))?(?=, | and |$)", text)
    told = [(name.replace("&", "and"), inside) for name, inside in told]
    assert set(parts) >= {name for name, _ in told}, told
    for name, (part, _) in parts.items():
        assert (name in dict(told)) == (part > 0.005 * whole)
    for name, inside in told:
        part, owners = parts[name]
        if "%" in inside:
            assert abs(float(inside.split(" ")[0]) / 100 - part / whole) < 0.006 * max(1, part / whole)
        owned = [j for j, _ in owners]
        named = list(map(int, re.findall(r"\d+", inside.partition("%")[2] or ("" if "%" in inside else inside))))
        sizes = [size for _, size in owners]
        leads = len(sizes) == 1 or (len(sizes) > 1 and sizes[0] > sizes[1] * (1 + 1e-6))
        assert named == (owned[:1] if leads else []) if "%" in inside else set(named) <= set(owned)


def _stalled(audit, _, found):
    lower, upper = audit.asked_bracket
    assert upper > (1 + audit.tolerance) * lower
    return not lower or upper / lower - 1 <= Fraction(found[1])


UNBALANCED = (
    rf"(?:(?:at least )?(\d+) of \d+ (?:live|contributing) neurons are|neuron (\d+) is) unbalanced by more than 1 %"
    rf"(?:, neuron (\d+) at the highest cost)?: \|v\| = {N}, \|w\| = {N}"
)
TURNED = (
    r"at the multipliers that suit the network best (?:(at least )?(\d+ of \d+) (?:live|contributing) neurons are more "
    rf"than 1° from their KKT directions, neuron (\d+) at the highest cost:|neuron (\d+) is) {N}° from its KKT "
    "direction"
)
KINKS = (
    r"(at least )?(\d+) preactivations? of (live|contributing) neurons (?:is|are) at a kink or within 1e-6 of one, "
    r"relative to (.*?), such as neuron (\d+) at point (\d+)"
)
SLACKS = (
    r"(\d+) of the (\d+) points? that holds? the lower bound ha(?:s|ve) over 1 % more than the least margin, "
    rf"point (\d+) most: {N}( times|.*)"
)
ENDS = (
    r"at (\d+) of the (\d+) points? that holds? the lower bound the output is over 1 % of the tolerance inside the "
    rf"edge that the bound presses it to, y − ε or y \+ ε, point (\d+) most: about {N} % of ε"
)


def _margins(audit):
    values = outputs(audit.problem, audit.network)
    return [y * f for y, f in zip(audit.problem.targets, values, strict=True)]


def _norm(audit):
    counted = audit.problem.norm_columns
    hidden = sum(row[c] ** 2 for row in audit.network.hidden_weights for c in counted)
    if audit.problem.output_weights is not None:
        return hidden / 2
    of_bias = (audit.problem.decay.output_bias or 0) * audit.network.output_bias**2
    return (hidden + sum(v**2 for v in audit.network.output_weights) + of_bias) / 2


def _unseen(audit, _, found):
    margins = _margins(audit)
    wrong = [i for i, margin in enumerate(margins) if margin <= 0]
    some, many = found.group(1, 2)
    assert int(many) == len(wrong)
    told = [int(i) for i in re.findall(r"\d+", found[3])]
    bias = audit.network.output_bias
    assert ("is the output bias" in found[0]) == bool(bias)
    assert all(margins[i] == audit.problem.targets[i] * bias for i in told)
    assert _nobody(audit, found[0].partition(" is active")[0], told)
    lost = len(wrong) if some == "any" else int(some)
    return len(told) == lost or (len(told) < lost and "…" in found[0])


def _best_margin(audit, _, found):
    lower, upper = audit.asked_bracket or (None, next(b.bracket[1] for b in audit.bounds if b.bracket[1]))
    low, high = found[1] or found[3], found[2] or (None if "of at least" in found[0] else found[3])
    degree = 1 if audit.problem.output_weights is None else 2  # the power of a margin that is as a norm is
    assert Fraction(low) ** degree <= _norm(audit) / upper
    assert high is None or Fraction(high) ** degree >= _norm(audit) / lower
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
    assert audit.problem.output_weights is None
    return is_value(found[1], _norm(audit)) and Fraction(found[2]) <= lowers[0]


def _of_the_relaxed(audit, _, found):
    """The ladder of the relaxed question; neurons that add nothing there are named where others do for all points."""
    silent = [_adds_nothing(about) for about in (audit, audit.relaxed)]
    if "removing the" in found[1]:
        named = re.search(r"that add nothing at these points \(neurons? (.*?)\)", found[1])
        assert (named is None) == (silent[0] == silent[1])
        shown = silent[1] if len(silent[1]) <= 8 else silent[1][:6]
        assert named is None or [int(j) for j in re.findall(r"\d+", named[1])] == shown
    return _climbs(audit.relaxed, found[1])


def _adds_nothing(audit):
    values = [_preactivations(audit, i) for i in range(len(audit.problem.targets))]
    weights = enumerate(audit.network.output_weights)
    return [j for j, v in weights if not v or all(_is_off(audit, z[j]) for z in values)]


UNSEEN = (
    r"no neuron(?: with an output weight)? is active at (any|\d+) of the (\d+) points that are not on their sides, so "
    r"that f\(x\) (?:= 0|is the output bias) there: points (.*)"
)
MARGIN = (
    rf"at the norm of this network the best one has a least margin (?:between {N} and {N}|of (?:at least )?{N}); "
    r"the least margin of this one is (.*)"
)
MISSED = (
    r"(\d+) of (\d+) targets? (?:is|are) missed(?: by more than (.*))?, (\d+) of them by more than half of the largest "
    r"residual: points? (.*)"
)
LEAST = rf"its ½‖θ‖² is (.*); a network that meets every target (?:exactly|within .*) has at least {N}"


def _constant(audit, _, found):
    network = _judged(audit)
    row, v = network.hidden_weights[int(found[1])], network.output_weights[int(found[1])]
    return not any(row[:-1]) and is_about(found[2], row[-1] * v)


OTHERS = [
    (r"neuron (\d+) is constant: it adds (?:about )?(\S+) to every output", _constant),
    (
        (r"what follows is about the network after the repair, which meets every target exactly; the network as given "
        r"(?:meets them too|misses point (\d+) most, by (.*))"),
        _repaired,
    ),
    (UNSEEN, _unseen),
    (MARGIN, _best_margin),
    (MISSED, _missed_targets),
    (LEAST, _least_norm),
    (r"of what it fits: (.*)", _of_the_relaxed),
    (ENDS, _ends_of_the_tolerance),
    (rf"near: proved exactly, of .* whose weights differ by at most {N} of their norm", _legend),
    (
        r"approx\.: proved up to ε, what is left of the gradient, relative to the norm(?:, and δ, .*)?",
        legend_of_approximate,
    ),
    (
        (r"approx\.: proved up to ε, what is left of the gradient, relative to that of the decay, and δ, by how much "
        r"the multipliers miss the slopes of the loss, relative to twice the decay"),
        legend_of_a_loss,
    ),
    (r"no point is further on the wrong side than point (\d+), where y·f\(x\) is (.*)", _furthest),
    (
        (r"(no neuron(?: with an output weight)? is active at|what the neurons(?: and the output bias)? give at) "
        r"point (\d+)(?:, so that| cancels:) f\(x\) (?:= 0|is the output bias) there"),
        _zero_there,
    ),
    (
        (r"(\d+) of (\d+) neurons? (?:is dead|are dead|contributes? nothing \(v = 0\))"
        r"(?: and wastes? ((?:over )?\S+ %) of the squared norm)?: neurons? (.*)"),
        _dead,
    ),
    (UNBALANCED, _unbalanced),
    (r"neurons (.*) point the same way to within 1e-3.*", _alike),
    (TURNED, _turned),
    (KINKS, _kinks),
    (SLACKS, _slack),
    (r"at the multipliers of the lower bound the excess comes from (.*)", _comes),
    (r".* would bring the network from .*", _ladder),
    (r"(?:another network|a polished network) \(\d+ neurons?\) fits, .*", _ladder),
    (rf"status: stalled \(the bracket is {N} wide \(relative\), and .* was asked\)", _stalled),
    (r"status: stalled \((?:the lower end of the bracket is 0.*|[^\d]*)\)", lambda *_: None),
    (r"status: stalled \(with .* it has \d+ hidden layers?, .*\)", lambda audit, *_: audit.network.depth > 2),
    (r"status: failed .*", lambda *_: None),
    (
        r"status: infeasible at its width",
        lambda audit, *_: audit.is_infeasible_at_width and not audit.infeasible,
    ),
]  # fmt: skip
