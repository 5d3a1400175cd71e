"""The sentences about what is proved, in reports and as reasons, and what makes each true."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import chain

from tests.words.layers import is_down_a_layer
from tests.words.losses import LOSS_ROWS
from tests.words.reading import (
    AT_MARGIN,
    LOWER,
    WIDE,
    N,
    all_of,
    has_masks,
    is_at_margin,
    is_broken_tolerance,
    is_down,
    is_lower,
    is_tolerance,
    is_up,
    is_value,
    subject_of,
)
from verify.checker.answers import answers
from verify.checker.bounds import Infeasible
from verify.checker.depth_bounds import DeepBetterNetwork
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.dual_trees import Dual
from verify.checker.enclosure import StationaryNear
from verify.checker.exact import dot, sqrt_upper
from verify.checker.fit import Fits
from verify.checker.local import Local
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.states import HiddenDual
from verify.checker.stationary import NotStationary, Stationary
from verify.checker.width import OptimalWithinWidth
from verify.deciders.finding import Question
from verify.deciders.global_optimality.better import is_no_wider
from verify.problem.phrases import ANY_WIDTH_NOT_ASKED, of_width
from verify.problem.problem import Goal, objective, outputs

NEAR_KINDS = (StationaryNear, DeepStationaryNear)
"""The kinds about an exact point near the network."""


def _is_smallest(audit, finding, _):
    return objective(audit.problem, subject_of(audit, finding)) == 0


def _margin(audit, finding, found):
    (proof,) = all_of(Fits, finding)
    least = min(y * f for y, f in zip(audit.problem.targets, outputs(audit.problem, audit.network), strict=True))
    assert least == proof.margin
    return is_down(found[2], least) if found[1] else Fraction(found[2]) == least


def _moved(proof, text) -> bool:
    return text is None or (proof.subject is not None and is_up(text, proof.moved))


def _met(audit, finding, found):
    (proof,) = all_of(Fits, finding)
    assert outputs(audit.problem, subject_of(audit, finding)) == list(audit.problem.targets)
    return _moved(proof, found[1])


def _within(audit, finding, found):
    values, tolerance = outputs(audit.problem, subject_of(audit, finding)), audit.problem.fit_tolerance
    apart = [abs(f - y) for f, y in zip(values, audit.problem.targets, strict=True)]
    assert max(apart) <= tolerance
    assert is_tolerance(found[1], tolerance)
    return _moved(all_of(Fits, finding)[0], found[2])


def _residual_within(audit, finding, found):
    values, tolerance = outputs(audit.problem, audit.network), audit.problem.fit_tolerance
    largest = max(abs(f - y) for f, y in zip(values, audit.problem.targets, strict=True))
    assert largest <= tolerance
    assert is_tolerance(found[1], tolerance)
    return is_value(found[2], largest)


def _residual(audit, finding, found):
    values = outputs(audit.problem, audit.network)
    apart = [abs(f - y) for f, y in zip(values, audit.problem.targets, strict=True)]
    return apart[int(found[2])] == max(apart) and is_value(found[1], max(apart))


def _missed(audit, finding, found):
    values = outputs(audit.problem, audit.network)
    margins = [y * f for y, f in zip(audit.problem.targets, values, strict=True)]
    wrong = [i for i, margin in enumerate(margins) if margin <= 0]
    assert (int(found[1]), int(found[2])) == (len(wrong), len(margins))
    if (none := found.groupdict().get("none")) is not None:
        assert none == of_width(audit.problem)
        assert audit.is_infeasible_at_width
    return all(int(i) in wrong for i in re.findall(r"\d+", found[3]))


def _held(proof, epsilon, delta) -> bool:
    return is_up(epsilon, proof.epsilon) and is_up(delta, proof.delta)


def _exactly(audit, finding, found):
    proof = all_of(Stationary, finding)[0]
    assert proof.epsilon == proof.delta == 0
    given = dict(proof.multipliers)
    if found[1]:
        assert [Fraction(q) for q in found[1].split(", ")] == [
            given.get(i, 0) for i in range(len(audit.problem.targets))
        ]
    else:
        assert (int(found[2]), int(found[3])) == (len(given), len(audit.problem.targets))
    assert is_at_margin(found[4], audit, subject_of(audit, finding))
    if found[5]:
        assert finding.numbers["multiplier_dimension"] == (0 if "only" in found[5] else int(found[6]))
    return _moved(proof, found[7])


def _listed(audit, finding, found):
    proof = all_of(Stationary, finding)[0]
    text, distance = found[1], found[2]
    if "λ" in text:
        told = {int(i): Fraction(q) for i, q in re.findall(r"λ_(\d+) = ([^,\s]+)", text)}
        assert told == dict(proof.multipliers)
    else:
        assert int(re.findall(r"\d+", text)[0]) == len(proof.multipliers)
    return distance is None or is_up(distance, proof.moved)


def _nearly(audit, finding, found):
    proof = all_of(Stationary, finding)[0]
    _beside(finding, found.groupdict())
    return _held(proof, found[1], found[2]) and _moved(proof, found[3])


def _near(audit, finding, found):
    proof = all_of(NEAR_KINDS, finding)[0]
    assert is_up(found[1], proof.moved)
    clear, beside = found["clear"], found["beside"]
    is_told = isinstance(proof, DeepStationaryNear) and finding is audit.local_optimum
    assert is_down(clear, proof.clearance(audit.network)) if clear else not (is_told and proof.clearance(audit.network))
    assert beside is None or (is_told and _lies_beside(audit, beside))
    if found["e"]:
        (held,) = all_of(Stationary, finding)
        assert _held(held, found["e"], found["d"])
        assert (found["m"] is None) == (held.subject is None)
        assert _moved(held, found["m"])


def _near_reason(audit, finding, found):
    proof = all_of(NEAR_KINDS, finding)[0]
    assert found["local"] is None or proof.optimality == "local optimum"
    assert found["beside"] is None or _lies_beside(audit, found["beside"])
    return is_up(found["far"], proof.moved)


def _lies_beside(audit, within):
    """A better network that is known lies there, up to its scale."""
    own = [*chain(*audit.network.parameters)]
    known = [c.witness for c in audit.global_optimum.certificates if isinstance(c, DeepBetterNetwork)]
    apart = []
    for other in known:
        there = [*chain(*other.parameters)]
        scale = dot(own, there) / dot(there, there)
        apart.append(sum((a - scale * b) ** 2 for a, b in zip(own, there, strict=True)) / dot(own, own))
    return is_up(within, sqrt_upper(min(apart)))


def _not_stationary(audit, finding, found):
    proof = all_of(NotStationary, finding)[0]
    is_margin = audit.problem.goal is Goal.MAX_MARGIN
    refuted = min(proof.epsilon, proof.delta) if is_margin else proof.epsilon
    within, epsilon, delta, moved, distance = (found.groupdict().get(k) for k in ("w", "e", "d", "m", "far"))
    assert refuted == 0 if within is None else is_broken_tolerance(within, refuted)
    if epsilon:
        (held,) = all_of(Stationary, finding)
        assert _held(held, epsilon, delta)
        assert _moved(held, moved)
        beyond = max(held.epsilon, held.delta) > refuted
        assert beyond or held.subject != proof.subject
    _beside(finding, found.groupdict())
    if distance:
        (near,) = all_of(NEAR_KINDS, finding)
        assert near.moved < Fraction(1, 10) or "its norm satisfies" not in found[0]


def _beside(finding, found):
    """What is said of an exact point that is not near."""
    if not found.get("far"):
        return
    (near,) = all_of(NEAR_KINDS, finding)
    assert is_up(found["far"], near.moved)
    said = {"stationary point": None, "local optimum": "is a local", "optimum of any width": "at any width"}
    point, told = said[near.optimality], found.get("point")
    assert "point" not in found or (told is None if point is None else point in told)


def _open_stationary(audit, finding, found):
    held = all_of(Stationary, finding)
    return not found["e"] or _held(held[0], found["e"], found["d"])


def _better(audit, finding, found):
    (proof,) = all_of(BetterNetwork, finding)
    assert len(proof.witness.output_weights) == int(found[1])
    assert (found[2] is None) or len(proof.witness.output_weights) > len(audit.network.output_weights)
    assert (found[3] is not None) is audit.problem.asks_fit
    if found[5]:
        value, own = objective(audit.problem, proof.witness), objective(audit.problem, subject_of(audit, finding))
        assert is_lower(found[4], found[5], 1 - value / own)
        assert value * (1 + audit.tolerance) < own


def _optimal(audit, finding, found):
    (proof,) = all_of(OptimalWithin | OptimalWithinWidth, finding)
    own = objective(audit.problem, subject_of(audit, finding))
    assert own <= (1 + proof.tolerance) * proof.lower.bracket[0]
    assert has_masks(audit) == ("mask" in found[0])
    return is_tolerance(found[1], proof.tolerance)


def _best_of_width(audit, finding, found):
    """By the bound of its width, and what a wider network that is better saves."""
    (proof,) = all_of(OptimalWithinWidth, finding)
    own = objective(audit.problem, subject_of(audit, finding))
    assert own <= (1 + proof.tolerance) * proof.lower.bracket[0]
    width, factor, relative, wider, least, saved = found.groups()
    assert int(width) == audit.network.width
    assert has_masks(audit) == ("mask" in found[0])
    if wider:
        (other,) = all_of(BetterNetwork, audit.global_any_width)
        assert len(other.witness.output_weights) == int(wider) > int(width)
        assert is_lower(least, saved, 1 - objective(audit.problem, other.witness) / own)
    within = factor or relative
    if within is None:
        return proof.tolerance == 0
    return proof.tolerance <= Fraction(within) <= proof.tolerance * Fraction(100001, 10**5)


def _open_at_width(audit, finding, found):
    """Between a bound that is proved and the objective of a network that is known."""
    wider, size, least, most, mine = found.groups()
    assert bool(wider) == audit.problem.asks_any_width
    assert not wider or audit.global_any_width.verdict.value == "refuted"
    if size is not None:
        assert size == of_width(audit.problem)
        bounds = [bound.bracket[0] for bound in audit.bounds if bound.KIND in ("lower-bound", "lower-bound-width")]
        assert Fraction(least) <= max(bounds)
        better = None if audit.better_own_width is None else objective(audit.problem, audit.better_own_width)
        best = min(value for value in (audit.objective, better) if value is not None)
        assert best <= Fraction(most) <= best * Fraction(100001, 10**5)
        assert audit.objective <= Fraction(mine or most) <= audit.objective * Fraction(100001, 10**5)
    return _is_open(audit, finding, found)


def _at_a_kink(audit, _, found):
    """What is next to 0 beside the neuron and the point, at the given network; not so at what is judged."""
    j, i = int(found[1]), int(found[2])
    row, w = audit.problem.rows[i], audit.network.hidden_weights[j]
    z = sum((a * b for a, b in zip(w, row, strict=True)), Fraction(0))
    return z * z <= Fraction(1, 10**18) * sum(a * a for a in w) * sum(a * a for a in row)


def _deep(audit, _, found):
    shape = audit.network.architecture
    if found[1] is not None:
        return int(found[1]) == shape.depth - 1 > 1
    return {
        "has no hidden layer": shape.depth == 1,
        "shares weights": shape.depth == 2 and shape.has_sharing,
        "s output layer is not dense": shape.depth == 2 and None in shape.layers[1].places[0],
    }[found[2]]


def _best(audit, finding, _):
    (proof,) = all_of(OptimalWithin | OptimalWithinWidth, finding)
    return objective(audit.problem, subject_of(audit, finding)) == proof.lower.bracket[0]


def _one_set(audit, finding, _):
    (proof,) = all_of(Local, finding)
    return sum(isinstance(node, Dual | HiddenDual) for node in proof.nodes) == 1


def _no_ties(audit, finding, found):
    """No neuron that counts is 0 at a point that it sees, or there is no kink at all."""
    problem, subject = audit.problem, subject_of(audit, finding)
    for w, v, mask in zip(subject.hidden_weights, subject.output_weights, problem.architecture.masks, strict=True):
        for row in problem.rows if v and any(w) and problem.architecture.slope != 1 else ():
            z = sum((a * b for a, b in zip(w, row, strict=True)), Fraction(0))
            assert z or not any(row[c] for c in mask)
    return _one_set(audit, finding, found)


def _sets(audit, finding, found):
    (proof,) = all_of(Local, finding)
    return int(found[1]) == sum(isinstance(node, Dual | HiddenDual) for node in proof.nodes)


def _movers(audit, finding, found):
    (proof,) = finding.certificates
    end = audit.network.architecture.layers[0].matrix(proof.end[0])
    subject = subject_of(audit, finding)
    moved = [
        j
        for j, (w, v, u) in enumerate(zip(subject.hidden_weights, subject.output_weights, end, strict=True))
        if list(u) != [(abs(v) if audit.problem.asks_any_width else 1) * x for x in w]
    ]
    told = [int(j) for j in re.findall(r"\d+", found[0])]
    return told == moved if "…" not in found[0] else len(moved) > len(told) and told == moved[: len(told)]


def _right(audit, finding, _):
    values = outputs(audit.problem, subject_of(audit, finding))
    return all(y * f > 0 for y, f in zip(audit.problem.targets, values, strict=True))


def _is_refuted(audit, *_):
    """Exactly, by whatever certificate: of the network itself or of the one that counts for it."""
    refuted = [proof for finding in audit.findings.values() for proof in all_of(NotStationary, finding)]
    return bool(refuted) and audit.stationary.verdict.value != "proved"


def _is_open(_, finding, __):
    return finding.verdict.value == "undecided"


def _is_nearly(audit, finding, found):
    """No exact proof, beside one up to epsilon and delta."""
    return _is_open(audit, finding, found) and audit.stationary.level == "approximate"


def _is_beside_exact(audit, finding, found):
    return _is_open(audit, finding, found) and bool(all_of(NEAR_KINDS, audit.stationary))


def _is_open_too(audit, finding, found):
    return _is_open(audit, finding, found) and _is_open(audit, audit.stationary, found)


def _none_found(audit, finding, found):
    """Nothing that the audit knows, of its width, beats the network by more than the tolerance."""
    assert re.fullmatch(rf"{OPEN}|{AT_WIDTH}|{A_LOSS_AT_WIDTH}|{A_BIAS_AT_WIDTH}", found[1])
    rungs = () if audit.diagnosis is None else audit.diagnosis.ladder
    known = [audit.asked_better, audit.better_own_width, *(rung.network for rung in rungs)]
    mine = objective(audit.problem, subject_of(audit, finding))
    for network in (network for network in known if network is not None and mine is not None):
        if finding.question is Question.GLOBAL_ANY_WIDTH or is_no_wider(audit.problem, network):
            assert objective(audit.problem, network) * (1 + audit.tolerance) >= mine
    return _is_open(audit, finding, found) and audit.local_optimum.verdict.value == "refuted"


def _same_network(audit, finding, _):
    (proof,), (other,) = all_of(BetterNetwork, finding), all_of(BetterNetwork, audit.global_optimum)
    values = objective(audit.problem, proof.witness), objective(audit.problem, subject_of(audit, finding))
    return proof.witness == other.witness and None not in values and values[0] < values[1]


def _is_exactly_refuted(audit, finding, _):
    return any(isinstance(proof, NotStationary) for proof in finding.certificates)


def _follows(audit, finding, found):
    question = next(q for q in Question if q.value.replace("_", " ") == found[1])
    shared = set(finding.certificates) & set(audit.findings[question.value].certificates)
    asked = {Question.STATIONARY: audit.stationary_tolerance, Question.LOCAL_OPTIMUM: 0}
    within = Fraction(asked.get(finding.question, audit.tolerance))
    given = [answers(audit.problem, audit.network, proof).get(finding.question) for proof in shared]
    return finding.question is not question and any(
        a is not None and a.within(within) is finding.verdict for a in given
    )


def _none_fits(audit, *_):
    return objective(audit.problem, audit.network) is None and any(isinstance(b, Infeasible) for b in audit.bounds)


CUT = r"the time limit was reached|the search was interrupted"
OPEN = (
    r"(?:the time limit was reached|the search was interrupted) before the bracket was narrow enough"
    r"|the search could not narrow the bracket far enough|the floating-point search failed.*"
)
NOR = r"(?:; no network of (?P<none>\d+ neurons?[a-z ]*?) fits the data)?"
ENDED = (
    r"(?:(?:the time limit was reached|the search was interrupted|the search ended"
    r"|floating point could not decide the rest) after [1-9]\d* states? of the neurons(?:, [1-9]\d* left "
    r"open)?|the search was interrupted|the time limit was reached before the search at this width|the floating-point "
    r"search failed(?: \(.*\))?|the network has too many neurons, or the data too many points, for a search at its "
    r"width|the search ended before the first state of the neurons was bounded)"
)
AT_WIDTH = (
    r"(a wider network is better(?:; .* but none was found that is better by more than the tolerance)?; )?"
    rf"(?:the best of (\d+ neurons?[a-z ]*) is between {N} and {N}(?: \(this one (?:about )?{N}\))?; )?{ENDED}"
)
A_BIAS_AT_WIDTH = r"a wider network is better; with an output bias the network's own width is not searched yet"

A_LOSS_AT_WIDTH = r"a wider network is better; a loss with weight decay is not searched at the network's own width yet"
CONDITIONS = r"(?:KKT conditions|conditions of stationarity)"
KIND = r"(?:KKT|stationary) point"
AFTER = rf"(?:, after the weights were moved by at most {N} of their norm)?"
TOLD = rf"(\d+/\d+(?= )|{N[1:-1]})(?: \(about {N[1:-1]}\))?"  # a fraction with its decimal, or a decimal
UP_TO = rf"ε = {N}(?:,| and) δ = {N}"
HELD = (
    rf"(?:; the (?:KKT )?conditions hold up to ε = (?P<e>{N})(?: and|,) δ = (?P<d>{N})"
    rf"(?:, after the weights were moved by at most (?P<m>{N}) of their norm"
    rf"| after moving it by at most {N} onto its kinks)?)?"
)
FAR = (
    rf"(?:; an exact {KIND} lies within (?P<far>{N}) of its norm, which is not called near; "
    rf"(?:neuron \d+|the output bias), which [^;]*|; no exact {KIND} near it was found: .*"
    rf"|; an exact {KIND} lies farther away .*)?"
)
WITHIN = rf"a (?:KKT|stationary) point to within {UP_TO}(?: after moving it by at most {N} onto its kinks)?"
BETTER = r"a network of (\d+) neurons?(, wider than this one,)?( fits and)? is better"
NEAR = (
    rf"a network within {N} of this one \(relative to its norm\) (satisfies the {CONDITIONS} exactly|is .*?)"
    rf"(?:, the smallest with its margin within (?P<clear>{N[1:-1]}) of it)?"
    rf"(?:; but a better network lies within (?P<beside>{N[1:-1]}) of this one)?"
    rf"(?:; at (?:this one|one whose weights were moved by at most (?P<m>{N[1:-1]}) of its norm) they hold up to "
    rf"ε = (?P<e>{N[1:-1]})(?:,| and) δ = (?P<d>{N[1:-1]}))?"
)
POINT = (
    rf"an exact (?:{KIND}|(?P<local>local optimum)) lies within (?P<far>{N[1:-1]}) of its norm"
    rf"(?:; a better network lies within (?P<beside>{N[1:-1]}) of this one)?"
)
BESIDE = (
    rf"(?:; a network within (?P<far>{N}) of its norm satisfies them exactly"
    r"(?P<point> and is a local optimum| and is optimal at any width)?)?"
)
NO_MULTIPLIERS = (
    rf"no multipliers satisfy the {CONDITIONS}(?: exactly| to within (?P<w>{N})){HELD}"
    rf"{BESIDE}"
)
OWN = r"(\d+) neurons?(?: with (?:these masks(?: one by one)?|this mask))?"
EXACTLY = (
    rf"the {CONDITIONS} hold exactly, with (?:λ = \(([^)]*)\)|multipliers at (\d+) of (\d+) points?){AT_MARGIN}"
    r"(, the only multipliers|; all multipliers are a (?:polytope|set) of dimension (\d+))?" + AFTER
)
ROWS = [
    *LOSS_ROWS,
    (r"every point is classified correctly", _right),
    (r"(?:it|the network) does not fit the data", lambda audit, *_: objective(audit.problem, audit.network) is None),
    (r"it is not (?:even )?stationary", _is_refuted),
    (r"the same network is better", _same_network),
    (r"it follows from the certificate about ([a-z ]+)", _follows),
    (rf"no network of {WIDE} fits the data", _none_fits),
    (
        (
            rf"the {CONDITIONS} do not hold exactly, so that better networks of the same architecture lie "
            r"arbitrarily near"
        ),
        _is_exactly_refuted,
    ),
    (
        (
            r"(.*); better networks of the same architecture lie arbitrarily near, "
            r"but none was found that is better by more than the tolerance"
        ),
        _none_found,
    ),
    (rf"(?:{CUT}); better networks of the same architecture lie arbitrarily near", _is_open),
    (OPEN, _is_open),
    (r"the time limit was reached among the choices of sides", _is_open),
    (rf"(?:{CUT})(?:; no exact {KIND} near it was found: .*)?", _is_open),
    (r"it is not known whether the network is stationary", _is_open_too),
    (rf"it satisfies the {CONDITIONS} nearly, and whether exactly is not known", _is_nearly),
    (rf"whether the exact {KIND} near it is a local optimum is open", _is_beside_exact),
    (r"every weight that counts is zero: nothing can be smaller", _is_smallest),
    (re.escape(ANY_WIDTH_NOT_ASKED), lambda audit, *_: audit.problem.output_weights is not None),
    (AT_WIDTH, _open_at_width),
    (r"at one choice of sides neither multipliers nor a descent could be made exact", _is_open),
    (
        r"better parameters of layer (\d+) alone \(counting from 0\) lie arbitrarily near(?:, but none was found .*)?",
        is_down_a_layer,
    ),
    (r"the network is 0 at every point", lambda audit, *_: not any(outputs(audit.problem, audit.network))),
    (rf"every point is on its side; the least margin is (at least )?{N}", _margin),
    (rf"every target is met exactly{AFTER}", _met),
    (rf"every target is met within {TOLD}{AFTER}", _within),
    (rf"every target is met within {TOLD}; the largest residual is (.*)", _residual_within),
    (rf"every target is met exactly after moving the weights by at most {N} of their norm", _met),
    (r"the largest residual is (.*), at point (\d+) \(counting from 0\);.*", _residual),
    (r"(\d+) of (\d+) points? (?:is|are) not on (?:its side|their sides): points? (.*) \(counting from 0\)", _missed),
    (
        rf"(\d+) of (\d+) points? (?:is|are) not classified correctly, worst is point (\d+) \(counting from 0\){NOR}",
        _missed,
    ),
    (EXACTLY, _exactly),
    (rf"an exact KKT point with ((?:λ_\d+ = \S+(?:, )?)+|\d+ multipliers?)(?: lies within {N} of its norm)?", _listed),
    (rf"the {CONDITIONS} hold up to {UP_TO}{AFTER}{BESIDE}", _nearly),
    (rf"{WITHIN}(?:; (?:no|an) exact {KIND} .*)?", _nearly),
    (NEAR, _near),
    (POINT, _near_reason),
    (NO_MULTIPLIERS, _not_stationary),
    (
        (
            rf"not (?:a KKT point|stationary)(?:, exactly| to within (?P<w>{N}))"
            rf"(?:: neuron \d+ is not balanced .*?)?{HELD}{FAR}"
        ),
        _not_stationary,
    ),
    (rf"neither multipliers nor a separating vector were found.*?{HELD}(?:; no exact .*)?", _open_stationary),
    (rf"{BETTER}(?:: its objective is {LOWER})?", _better),
    (rf"no network of {WIDE}(?:, so none of its width,)? is better by more than {N} \(relative\)", _optimal),
    (rf"no network (?:of {WIDE}|at all) is better", _best),
    (
        (
            rf"no network of {OWN} is better(?: by more than (?:a factor 1 \+ {N}|{N} \(relative\)))?"
            rf"(?:; one of (\d+) neurons? is: its objective is {LOWER})?"
        ),
        _best_of_width,
    ),
    (r"neuron (\d+) has its kink at point (\d+) up to rounding, and no network near it was found .*", _at_a_kink),
    (
        (
            r"with (?:biases that do not count|layers that are not trained) only whether a network of this shape fits "
            r"is decided: it ?(?:has (\d+) hidden layers?, and not one|"
            r"(has no hidden layer|shares weights|s output layer is not dense))"
        ),
        _deep,
    ),
    (rf"no network of {WIDE}(?:, so none of its width,)? is better by more than a factor 1 \+ {N}", _optimal),
    (r"no neuron can cross a kink at a data point, and one set of multipliers serves every network nearby", _no_ties),
    (r"one set of multipliers serves every way in which .* that they touch", _one_set),
    (r"(?:.*, and )?(\d+) sets of multipliers serve every .*", _sets),
    (r"better networks lie arbitrarily near: move .*", _movers),
    (
        rf"the {CONDITIONS} do not hold exactly, so (?:that )?better networks lie arbitrarily near",
        lambda audit, finding, *_: isinstance(finding.certificates[0], NotStationary),
    ),
    (r"more than 4000 choices of sides would have to be decided", lambda *_: None),
    (r"the floating-point search failed .*", lambda *_: None),
]  # fmt: skip
