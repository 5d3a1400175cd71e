"""Every text of a picture and of its panels, taken apart by its kind and compared with exact numbers.

Texts without numbers are of a known kind too: whoever draws a new one says here what it means.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import hypot, isclose

from matplotlib.legend import Legend

from tests.words.reading import N, is_about, is_tolerance, is_value
from tests.words.standing import STANDING
from verify.checker.bounds import Infeasible, LowerBound
from verify.checker.stationary import Stationary
from verify.numbers.floats import to_float
from verify.plots.figure import figure
from verify.plots.panels import panels
from verify.problem.problem import objective, outputs

__all__ = ["check_pictures"]


def check_pictures(audit) -> int:
    """Assert that every text is true; returns how many there were."""
    seen = 0
    for drawn, titles in [(figure(audit, rounds=True), True), *((panel.figure, False) for panel in panels(audit))]:
        for text in texts(drawn):
            seen += _check(text, [*TEXTS, *HEADS] if titles else TEXTS, audit, drawn)
    for panel in panels(audit):
        seen += _check(panel.title, TITLES, audit, panel)
        seen += _check(panel.words, WORDS, audit, panel)
    return seen


def texts(drawn):
    """Those that say something: no ticks, in the order in which they are found."""
    if drawn.get_suptitle():
        yield from drawn.get_suptitle().split(":\n", 1)
    for axes in drawn.axes:
        yield axes.get_title(loc="left")
        yield from (axes.get_xlabel(), axes.get_ylabel())
        yield from (text.get_text() for text in axes.texts)
    for legend in drawn.findobj(Legend):
        yield from (text.get_text() for text in legend.get_texts())


def _check(text: str, kinds, audit, drawn) -> int:
    text = text.replace("\u00a0", " ")
    if not text:
        return 0
    for pattern, check in kinds:
        if (found := re.fullmatch(pattern, text)) is not None:
            assert check(audit, drawn, found) is not False, text
            return 1
    raise AssertionError(f"a text of no known kind: {text}")


def _standing(audit, _, found):
    for pattern, check in STANDING:
        if (inner := re.fullmatch(pattern, found[0])) is not None:
            return check(audit, None, inner)
    raise AssertionError(f"a sentence of no known kind: {found[0]}")


def _headline(audit, _, found):
    problem, shape = audit.problem, audit.network.architecture
    assert (found[1] == "Max-margin") == (problem.goal.value == "max-margin")
    assert (found[2] is not None) == bool(problem.fit_tolerance)
    told, tolerance = found[2], problem.fit_tolerance
    assert told is None or is_value(told, tolerance) or is_tolerance(told, tolerance)
    assert (int(found[3]), int(found[4])) == (len(problem.targets), len(problem.inputs[0]))
    kind = {0: "ReLU", 1: "linear"}.get(shape.slope, "leaky ReLU")
    assert int(found[5]) == len(audit.network.output_weights)
    assert (found[6] is not None) == any(len(mask) < shape.layers[0].columns for mask in shape.masks)
    assert found[7] == kind
    return found[8] == {"none": "", "penalised": " with biases", "free": " with free biases"}[problem.bias.value]


def _own(audit, _, found):
    value = objective(audit.problem, audit.fits.subject or audit.network)
    assert (found[2] is not None) == (found[1] is not None and audit.fits.subject is not None)
    return value is None if found[1] is None else is_about_or_is(found[1], value)


def is_about_or_is(said, value):
    return is_about(said.removeprefix("about "), value) if "about" in said else Fraction(said) == value


def _better(audit, _, found):
    value, own = (
        objective(audit.problem, audit.asked_better),
        objective(audit.problem, audit.fits.subject or audit.network),
    )
    assert int(found[2]) == len(audit.asked_better.output_weights)
    assert (found[1] == "better network") == (own is not None)
    assert own is None or value is None or value < own
    return value is None if found[3] is None else is_about_or_is(found[3], value)


def _remarks(audit, _, found):
    """Of the given network: neurons without size, with nothing but a bias, or 0 at every point."""
    inputs, rows = len(audit.problem.inputs[0]), audit.problem.rows
    zero = constant = off = 0
    for w, v in zip(audit.network.hidden_weights, audit.network.output_weights, strict=True):
        values = [sum((a * b for a, b in zip(w, row, strict=True)), Fraction(0)) for row in rows]
        is_dead = all(z <= 0 and not z * audit.problem.architecture.slope for z in values)
        if not v or not any(w):
            zero += 1
        elif not any(w[:inputs]):
            constant += 1
        elif is_dead:
            off += 1
    told = {what: int(number) for number, what in re.findall(r"(\d+) (zero|constant|off at every point)", found[1])}
    return told == {
        what: number for what, number in (("zero", zero), ("constant", constant), ("off at every point", off)) if number
    }


def _missed(audit) -> list[int]:
    """Exactly; where targets are to be met exactly, by more than a thousandth of the largest."""
    problem = audit.problem
    pairs = list(zip(problem.targets, outputs(problem, audit.network), strict=True))
    if problem.goal.value == "max-margin":
        return [i for i, (y, f) in enumerate(pairs) if y * f <= 0]
    within = problem.fit_tolerance or max(abs(y) for y in problem.targets) / 1000
    return [i for i, (y, f) in enumerate(pairs) if abs(f - y) > within]


def _crosses(audit, drawn, found):
    """The legend: there are such points, and as many crosses as there are, in the panel of the given network."""
    crossed = [art for axes in drawn.axes for art in axes.collections if art.get_gid() == "missed"]
    assert len(crossed[0].get_offsets()) == len(_missed(audit))
    return _missed_by(audit, found[1])


def _missed_by(audit, said) -> bool:
    if audit.problem.goal.value == "max-margin":
        return said == "not classified correctly"
    tolerance = audit.problem.fit_tolerance
    told = said.removeprefix("missed by more than ")
    return is_value(told, tolerance) if tolerance else told == "1/1000 of the largest target"


def _ringed(audit, *, of_network: bool) -> list[int]:
    """The points of the multipliers of a KKT point, of a bound, or of a conflict, but for those of next to no size."""
    for proof in (*(audit.stationary.certificates if of_network else ()), *audit.bounds):
        if isinstance(proof, Stationary | LowerBound | Infeasible):
            largest = max((abs(m) for _, m in proof.multipliers), default=0)
            return [i for i, m in proof.multipliers if abs(m) >= largest / 1000]
    return []


def _seen(audit, panel, found):
    """The words below the picture of a network over the data."""
    text = found[0]
    of_network = panel.title.startswith("this network")
    assert int(re.search(r"over (\d+) point", text)[1]) == len(audit.problem.targets)
    labels = [text.get_text() for legend in panel.figure.findobj(Legend) for text in legend.get_texts()]
    for said, label in (
        ("f = 0 is", "$f = 0$"),
        ("f = ± the least margin", "$f = \\pm$ the least margin"),
        ("a mark where", "breakpoint"),
    ):
        assert (said in text) == (label in labels and ("graph" not in text or label == "breakpoint"))
    if ringed := re.search(RINGED, text):
        held = any(isinstance(proof, Stationary) for proof in audit.stationary.certificates)
        assert (ringed[3] is None) == (ringed[2] == "in conflict" or (of_network and held))
        assert int(ringed[1]) == len(_ringed(audit, of_network=of_network))
        assert (ringed[2] == "in conflict") == any(isinstance(bound, Infeasible) for bound in audit.bounds)
    if crossed := re.search(r"Crossed: (\d+) points? ([^.]*)", text):
        assert of_network
        assert int(crossed[1]) == len(_missed(audit)) > 0
        assert _missed_by(audit, crossed[2])


RINGED = (
    r"Ringed: (\d+) points?, as (?:it is|they are|it has|they have) (in conflict|a multiplier λ ≠ 0)"
    r"( in the lower bound)?(?=\.|$)"
)


def _counted(audit, _, found):
    """The norm of all weights, or of the hidden ones alone; of classifiers at margin 1."""
    assert bool(found[2]) == (audit.problem.goal.value == "max-margin")
    return (found[1] == "W") == (audit.problem.output_weights is not None)


def _rings(audit, _, found):
    is_conflict = any(isinstance(bound, Infeasible) for bound in audit.bounds)
    return is_conflict == ("conflict" in found[0]) and any(_ringed(audit, of_network=own) for own in (True, False))


def _level(audit, _, found):
    """The excess from above, in per cent or as a ratio, of the network or of the repaired one."""
    value, said = audit.asked_excess[1], Fraction(found[1])
    assert (found[3] is not None) == (audit.fits.subject is not None)
    told = said / 100 if "%" in found[2] else said - 1
    return value <= told <= value * Fraction(102, 100) + (0 if "%" in found[2] else Fraction(2, 100))


def _tolerance(audit, _, found):
    return is_about_or_is(found[1], audit.tolerance)


def _bound(audit, _, found):
    lower = 0 if audit.asked_bracket is None else audit.asked_bracket[0]
    return lower * (1 - Fraction(1, 10**5)) <= Fraction(found[1]) <= lower


def _bar(audit, _, found):
    """To the nearest of six digits: an objective that is known."""
    networks = [audit.fits.subject or audit.network, audit.asked_better]
    values = [objective(audit.problem, network) for network in networks if network is not None]
    return any(v is not None and abs(Fraction(found[1]) - v) <= v * Fraction(6, 10**6) for v in values)


def _has_kinks(audit, *_):
    return audit.problem.architecture.slope != 1


def _is_linear(audit, *_):
    return audit.problem.architecture.slope == 1


def _sign(audit, _, found):
    networks = [audit.network, *([] if audit.asked_better is None else [audit.asked_better])]
    return any((v > 0) == (found[1] == ">") for network in networks for v in network.output_weights if v)


def _margin_one(audit, *_):
    """Of a classifier that has every point on its side."""
    networks = [audit.network, *([] if audit.asked_better is None else [audit.asked_better])]
    return audit.problem.goal.value == "max-margin" and any(
        min(y * f for y, f in zip(audit.problem.targets, outputs(audit.problem, network), strict=True)) > 0
        for network in networks
    )


def _descends(audit, _, found):
    return (audit.local_optimum.subject is None) == ("from this network" in found[0] or "at this network" in found[0])


def _lines(audit, panel, found):
    marked = {line.get_gid() for axes in panel.figure.axes for line in axes.lines}
    assert (
        ("excess" in found[0])
        == ("objective" in marked)
        == (audit.asked_excess is not None and audit.asked_excess[1] > 0)
    )
    return ("tolerance" in found[0]) == ("tolerance" in marked) == (audit.tolerance > 0)


def _classifies(audit, *_):
    return audit.problem.goal.value == "max-margin"


def _fits_values(audit, *_):
    return audit.problem.goal.value == "min-norm"


def _power(audit, _, found):
    """An axis in units of a power of ten: the largest number in them has one digit before the point."""
    numbers = [x for row in audit.problem.inputs for x in row] if found[1].startswith("$x") else audit.problem.targets
    largest = max(abs(x) for x in numbers)
    return found[2] is None or 1 - Fraction(1, 100) <= largest / Fraction(10) ** int(found[2]) < 10 + Fraction(1, 100)


def _unit(audit, told) -> Fraction:
    """What outputs and sizes are divided by: of classifiers the least margin, or, where a point is misclassified or
    doubles do not hold its quotient, the largest output.
    """
    if audit.problem.goal.value != "max-margin":
        assert not told
        return Fraction(1)
    values = outputs(audit.problem, audit.network)
    least = min(y * f for y, f in zip(audit.problem.targets, values, strict=True))
    largest = max(map(abs, values))
    is_lost = abs(least) < largest / 10**300
    assert is_lost or told == (" at margin 1" if least > 0 else ", rescaled")
    return least if told == " at margin 1" else largest or Fraction(1)


def _size_of_neurons(audit, drawn, found):
    """Each bar or stem of the network, times the power of ten on its axis, is |v| times the norm of w; at margin 1."""
    network, unit = audit.network, _unit(audit, found[2])
    if audit.problem.goal.value == "max-margin" and not any(outputs(audit.problem, network)):
        return True  # of a network that is 0 at every point the picture has no unit
    has_stems = found[0].startswith("$v_j")
    inputs = network.architecture.inputs
    sizes = [
        to_float(abs(v) / unit) * hypot(*map(to_float, row[:inputs] if has_stems else row))
        for row, v in zip(network.hidden_weights, network.output_weights, strict=True)
    ]
    axes = next(one for one in drawn.axes if one.get_ylabel() == found[0])
    shown = [bar.get_height() for bar in axes.patches if bar.get_gid() == "neurons given"]
    for art in axes.collections:
        if art.get_gid() == "neurons given":
            shown += [abs(float(height)) for _, height in art.get_offsets()]
    factor = 10.0 ** int(found[1] or 0)
    return all(any(isclose(factor * height, size, rel_tol=1e-6) for size in sizes) for height in shown)


def _true(*_):
    return True


def _is_scaled(audit, _, found):
    return _unit(audit, found[1]) > 0


def _is_linear_and_scaled(audit, panel, found):
    return _is_linear(audit, panel, found) and _is_scaled(audit, panel, found)


def _has_kinks_and_scaled(audit, panel, found):
    return _has_kinks(audit, panel, found) and _is_scaled(audit, panel, found)


NAMED = r"(?:\([a-e]\) )?"
HEADS = [
    (
        (
            r"(Max-margin|Min-norm)(?: interpolation| within ([^:]*))?: (\d+) points? in dimension (\d+), (\d+) "
            r"(masked )?(ReLU|linear|leaky ReLU) neurons?( with biases| with free biases|)"
        ),
        _headline,
    ),
    (r"(?:this network|no network|the objective of|how far this|it is not known).*", _standing),
]
OWN = r"this network(?:: objective (\S+|about \S+?)(, after the repair)?)?"
BETTER = r"(better network|best network found): (\d+) neurons?(?:, objective (\S+|about \S+))?"
SCALED = r"( at margin 1|, rescaled|)"
NOT_SCALED = ", not to the scale of the axes"
AXIS = r"(?:  \(\$\\times 10\^\{(-?\d+)\}\$\))?"
TEXTS = [
    (NAMED + OWN, _own),
    (NAMED + BETTER, _better),
    (rf"{NAMED}neurons \$u_j = \|v_j\|\\,w_j\$", _true),
    (rf"{NAMED}neurons by the norm of \$u_j = \|v_j\|\\,w_j\$", _true),
    (rf"{NAMED}neurons: where they bend", _has_kinks),
    (rf"{NAMED}neurons: where they are 0", _is_linear),
    (rf"{NAMED}(?:the bracket of the best possible|objectives)", _true),
    (rf"{NAMED}a way down from (?:this network|a network near this one)", _descends),
    (r"neurons: (.*)", _remarks),
    (rf"this network, at most {N}( % above| times the best)(, after the repair)?", _level),
    (rf"tolerance asked, ((?:about )?{N})", _tolerance),
    (rf"proved bound {N}", _bound),
    (N, _bar),
    (rf"(\$x(?:_[12])?\$){AXIS}", _power),
    (rf"(\$f\(x\)\$){AXIS}", _power),
    (r"\$f\(x\)\$ at margin 1", _margin_one),
    (r"\$f\(x\)\$, rescaled", _classifies),
    (r"\$f(?:\(x\))?\$", _true),
    (r"\$f = 0\$", _classifies),
    (r"\$f = \\pm\$ the least margin", _margin_one),
    (r"target|point, coloured by its target", _fits_values),
    (r"label \$([-+])1\$", lambda audit, _, found: any((y > 0) == (found[1] == "+") for y in audit.problem.targets)),
    (r"breakpoint|kink line, this network", _has_kinks),
    (r"support point, \$\\lambda \\neq 0\$|point in conflict", _rings),
    (r"(not classified correctly|missed by more than .*)", _crosses),
    (r"neuron, \$v_j ([<>]) 0\$ \(points to where it is on\)", _sign),
    (r"\$(?:u_j|\|u_j\|)\$, \$v_j ([<>]) 0\$(?: \(not to scale\))?", _sign),
    (
        r"(?:neuron|\$u_j\$|\$\|u_j\|\$), better network(?: \(hollow\))?",
        lambda audit, *_: audit.asked_better is not None,
    ),
    (r"share of points where it is on|neuron, largest first", _true),
    (rf"(?:norm \$\|u_j\|\$|\$v_j\\,\|w_j\|\$){AXIS}{SCALED}", _size_of_neurons),
    (
        r"width of the bracket, estimated|\.\.\. and proved|round of the search|seconds|relative to the best possible",
        _true,
    ),
    (r"objective \$\\frac\{1\}\{2\}\\\|(\\theta|W)\\\|\^2\$( at margin 1|)", _counted),
    (r"objective|objective along the descent|best known", _true),
    (r"\$\\varepsilon\$: from the start \(0\) to the end of the segment \(1\)", _true),
    (r"component \d+(?: \(\d+ % of variance\))?" + AXIS, _true),
    (r"Neurons are drawn for one hidden layer;\nthis network has .*\.", lambda audit, *_: audit.network.depth != 2),
]
TITLES = [
    (OWN, _own),
    (BETTER, _better),
    (
        r"neurons u = \|v\| w|neurons by the norm of u = \|v\| w|neurons|objectives|the bracket of the best possible",
        _true,
    ),
    (r"neurons: where they bend", _has_kinks),
    (r"neurons: where they are 0", _is_linear),
    (r"a way down from (?:this network|a network near this one)", _descends),
]
OVER = r"; those of the other network are hollow"
WORDS = [
    (r"The (?:graph|signs|levels) of the network over .*", _seen),
    (rf"Each neuron as an arrow u = \|v\| w{SCALED}{NOT_SCALED}(?:{OVER})?", _is_linear_and_scaled),
    (
        rf"Each neuron as an arrow u = \|v\| w{SCALED}{NOT_SCALED}, with the line where it bends(?:{OVER})?",
        _has_kinks_and_scaled,
    ),
    (rf"Each neuron as a stem of height v \|w\|{SCALED} at the input where it is 0(?:{OVER})?", _is_linear_and_scaled),
    (rf"Each neuron as a stem of height v \|w\|{SCALED} at the input where it bends(?:{OVER})?", _has_kinks_and_scaled),
    (
        rf"The norm of each neuron{SCALED}, largest first, and the share of the points where it is on(?:{OVER})?",
        _is_scaled,
    ),
    (r"Neurons are drawn for one hidden layer", lambda audit, *_: audit.network.depth != 2),
    (r"The relative width of the bracket during the search, .* as proved in the end(?:; .*)?", _lines),
    (r"The objectives as bars, and the proved lower bound as a dashed line", _true),
    (r"The objective along the segment of better networks that starts at .* \(ε = 0\)", _descends),
]
