"""The sentences about a loss with weight decay, and what makes each true: the objective from its definition."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction

from tests.words.reading import is_value
from verify.auditing import certified_bracket
from verify.checker.local import NotLocal
from verify.checker.stationary import Stationary
from verify.problem.problem import Goal, Problem, outputs

__all__ = ["LOSS_NUMBERS", "LOSS_ROWS", "check_title"]

FORMULAS = {
    "(y − f(x))²": lambda y, f, _: (y - f) ** 2,
    "|y − f(x)|": lambda y, f, _: abs(y - f),
    "max(0, |y − f(x)| − {})": lambda y, f, e: max(Fraction(0), abs(y - f) - e),
    "((y − f(x))²/2 up to |y − f(x)| = {}, linear beyond)": lambda y, f, d: (
        (y - f) ** 2 / 2 if abs(y - f) <= d else d * abs(y - f) - d * d / 2
    ),
    "max(0, 1 − y·f(x))": lambda y, f, _: max(Fraction(0), 1 - y * f),
    "max(0, 1 − y·f(x))²": lambda y, f, _: max(Fraction(0), 1 - y * f) ** 2,
    "log(1 + exp(−y·f(x)))": lambda y, f, _: softplus(y * f),
}
"""What stands in the title, of a target and an output; {} for its number."""


def softplus(q):
    """log(1 + e^-q) to 90 digits."""
    context = Context(prec=100)
    q = context.divide(Decimal(q.numerator), Decimal(q.denominator))
    tail = context.ln(context.add(1, context.exp(context.minus(context.abs(q)))))
    return Fraction(tail) + max(Fraction(0), -Fraction(q))


BIASES = {
    "no biases": (False, False),
    "biases count in the norm (penalised)": (True, True),
    "biases do not count in the norm (free)": (False, False),
    "no hidden biases, the output bias b counts in the norm": (False, True),
    "no hidden biases, the output bias b does not count in the norm": (False, False),
    "hidden biases count in the norm (penalised), the output bias b does not": (True, False),
    "hidden biases do not count in the norm (free), the output bias b does": (False, True),
}
"""Whether hidden biases, and one on the output, count."""


def _parts(audit):
    """The mean or summed loss, and the decay, of the given network, from the numbers of the title alone."""
    title = audit_title(audit)
    found = re.fullmatch(
        r"least (mean|sum) over (\d+) points? of (½·|[\d.]+·)?(.*), plus ½·(.*?)(‖θ‖²|‖v‖²\)|b²\)); (.*)", title
    )
    assert found is not None, title
    kind, points, weight, formula, decays, last, biases = found.groups()
    assert int(points) == len(audit.problem.data)
    times = {None: Fraction(1), "½·": Fraction(1, 2)}.get(weight) or Fraction(weight[:-1])
    loss, number = _formula(formula)
    pairs = zip(audit.problem.targets, outputs(audit.problem, audit.network), strict=True)
    total = sum(loss(y, f, number) for y, f in pairs) * times / (len(audit.problem.data) if kind == "mean" else 1)
    of_hidden, of_output = BIASES[biases]
    hidden_weights = audit.network.hidden_weights
    if audit.problem.architecture.bias and not of_hidden:
        hidden_weights = [row[:-1] for row in hidden_weights]
    squares = sum(w * w for row in hidden_weights for w in row), sum(v * v for v in audit.network.output_weights)
    number = r"([\d./e-]+)"
    three = re.fullmatch(rf"\({number}·‖W‖² \+ {number}·(?:‖v‖² \+ {number}·)?", decays)
    hidden, output, bias = three.groups() if three else (decays[:-1],) * 3
    assert (bias is not None) == of_output or last == "‖θ‖²" or not audit.problem.has_output_bias
    of_bias = Fraction(bias) * audit.network.output_bias**2 if of_output and bias else 0
    return total, (Fraction(hidden) * squares[0] + Fraction(output) * squares[1] + of_bias) / 2


def _formula(text):
    for pattern, loss in FORMULAS.items():
        found = re.fullmatch(re.escape(pattern).replace(r"\{\}", r"([\d.]+)"), text)
        if found is not None:
            return loss, Fraction(found[1]) if found.groups() else None
    raise AssertionError(text)


def audit_title(audit):
    from verify.report.wording import wording

    return wording(audit).title[1].replace("\u00a0", " ")


def check_title(audit):
    """The objective is what the title says, where its numbers are not rounded."""
    loss, decay = _parts(audit)
    rounding = 0 if audit.problem.goal.loss.is_exact else Fraction(1, 10**60)
    assert abs(loss + decay - audit.objective) <= rounding, audit_title(audit)
    assert (audit.problem.bias.value == "penalised") == (BIASES[audit_title(audit).partition("; ")[2]][0])


def _own_parts(audit, _, found):
    loss, decay = _parts(audit)
    is_mean = "mean over" in audit_title(audit)
    assert (found[3] == "mean loss") is is_mean
    values = outputs(audit.problem, audit.network)
    open_by = audit.problem.goal.rounded_up(values, audit.problem.targets)
    if found[2].startswith("at most "):
        assert 0 <= loss <= Fraction(found[2].removeprefix("at most ")) < Fraction(1, 10**60)
        assert open_by * 10**9 > loss
    else:
        assert open_by * 10**8 <= loss
        assert is_value(found[2], loss)
    return is_value(found[1], loss + decay) and is_value(found[4], decay)


def _of_a_constant(audit, _, found):
    """No constant near the one that is told has less, and that has not more than is told, but for its rounding."""
    problem, near = audit.problem, Fraction(re.findall(r"[-\d./e]+", found[2])[-1])
    assert problem.has_output_bias

    def at(b):
        bias = [Fraction(0), Fraction(0), b * b]
        return problem.goal.of_outputs([b] * len(problem.data), problem.targets) + problem.goal.of_weights(bias)

    told, step = Fraction(found[1]), max(abs(near), Fraction(1)) / 10**6
    return at(near) <= told * Fraction(100001, 10**5) + Fraction(1, 10**12) and all(
        at(near + k * step) >= told * Fraction(99999, 10**5) - Fraction(1, 10**12) for k in (-1000, -1, 0, 1, 1000)
    )


def _of_zeros(audit, _, found):
    assert not audit.problem.has_output_bias
    title = audit_title(audit)
    formula = re.fullmatch(r"least (?:mean|sum) over \d+ points? of (?:½·|[\d.]+·)?(.*), plus ½·.*", title)[1]
    loss, number = _formula(formula)
    own, _ = _parts(audit)
    summed = sum(
        loss(y, f, number) for y, f in zip(audit.problem.targets, outputs(audit.problem, audit.network), strict=True)
    )
    nothing = sum(loss(y, Fraction(0), number) for y in audit.problem.targets)
    times = own / summed if summed else None
    return times is None or is_value(found[1], nothing * times)


def _is_hard(audit, _, found):
    """The optimum of the hard problem, bracketed on its own, is where the loss says."""
    goal = Goal.MAX_MARGIN if found[1] == "max-margin" else Goal.MIN_NORM
    problem, within = audit.problem, Fraction(found[2] or 0)
    hard = Problem(problem.data, problem.architecture, goal=goal, bias=problem.bias, fit_tolerance=within)
    lower, upper = certified_bracket(hard, 1e-6).ends
    least = Fraction(found[3].partition(" ")[0])
    most = Fraction(found[4] or least)
    return lower <= most and least <= upper


def _is_exact(audit, finding, found):
    proof = finding.certificates[0]
    assert isinstance(proof, Stationary)
    assert proof.epsilon == proof.delta == 0
    return len(proof.multipliers) == int(found[1])


def _is_zero(audit, finding, _):
    network = finding.subject or audit.network
    counted = network.hidden_weights
    if audit.problem.bias.value == "free":
        counted = [row[:-1] for row in counted]
    return not any(network.output_weights) and not any(w for row in counted for w in row)


def _all_or_nothing(audit, finding, _):
    """A neuron that is 0 for each mask, a stationary network, and a loss that is smooth at its outputs."""
    network = finding.subject or audit.network
    masks = {
        mask
        for mask, w, v in zip(network.architecture.masks, network.hidden_weights, network.output_weights, strict=True)
        if not any(w) and not v
    }
    assert masks == set(network.architecture.masks)
    assert audit.stationary.verdict.value == "proved"
    loss, step = audit.problem.goal.loss, Fraction(1, 10**9)
    for y, z in zip(audit.problem.targets, outputs(audit.problem, network), strict=True):
        left, here, right = (loss.value(y, z + t) for t in (-step, 0, step))
        assert abs(left + right - 2 * here) <= step**2 / (loss.curvature or 1)
    return isinstance(finding.certificates[0], NotLocal)


LOSS_ROWS = [
    (
        r"a wider network is better; a loss with weight decay is not searched at the network's own width yet",
        lambda audit, finding, _: (
            finding is audit.global_optimum
            and audit.global_any_width.verdict.value == "refuted"
            and not audit.problem.asks_fit
        ),
    ),
    (
        r"not asked: the loss says how well it fits, and no network is left out",
        lambda audit, finding, _: finding is audit.fits and not audit.problem.asks_fit,
    ),
    (r"an exact stationary point, with (\d+) multipliers?", _is_exact),
    (r"no weight changes the outputs at first order", _is_zero),
    (
        (
            r"no network that is written down is proved a local optimum of a loss whose values are irrational, and "
            r"rounded"
        ),
        lambda audit, *_: audit.problem.goal.loss.kind == "logistic",
    ),
    (r"the network is zero, or its numbers are out of the range of floats", lambda *_: None),
    (r"better networks lie arbitrarily near", lambda _, finding, __: isinstance(finding.certificates[0], NotLocal)),
    (
        (
            r"(better networks lie arbitrarily near: move .*); with a neuron that is 0 it would be a local optimum "
            r"only if no network of any width were better"
        ),
        _all_or_nothing,
    ),
]

LOSS_NUMBERS = [
    (r"this network: (.*?) = (.*?) (mean loss|loss) \+ (.*) decay", _own_parts),
    (r"without neurons: (.*), which is what a network of zeros has", _of_zeros),
    (r"without neurons: at most (.*), which the output bias (.*) alone has", _of_a_constant),
    (
        (
            r"without loss: (max-margin|min-norm)(?: within (.*?))?: (.*?)(?: … (.*?))?, as the best network known has "
            r"no loss at any point"
        ),
        _is_hard,
    ),
]
