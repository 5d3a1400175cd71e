"""Losses with weight decay, drawn on the instances that constraints are drawn on, beside oracles of their own.

F = sum_i l(y_i, f(x_i) + b) + 1/2 (mu_w ||W||^2 + mu_v ||v||^2 + mu_b b^2), by the formulas of books: exactly, but for
the logistic loss. The best of any width is one cone program over all cells, as for constraints.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, log1p
from random import Random

from tests.differential import optimum
from tests.differential.auditing import audited_for, output_bias_of, with_network
from tests.differential.comparing import BAND, Remark
from tests.differential.conic import ConeProgram
from tests.differential.drawing import draw
from tests.differential.instances import Instance

F = Fraction
OF_LABELS = ("hinge", "squared-hinge", "logistic")
OF_NUMBERS = ("absolute", "half-squared")
DECAYS = (F(1, 64), F(1, 8), F(1, 2), F(2))


@dataclass(frozen=True)
class Asked:
    """A loss, summed; both decays; b and mu_b, None where there is no output bias."""

    loss: str
    hidden: Fraction
    output: Fraction
    b: Fraction | None
    of_bias: Fraction | None


def drawn(seed, number):
    """Instance `number` of the series `seed`, and what is asked of it; the same for the same arguments."""
    random = Random(f"losses {seed}/{number}")
    instance = replace(draw(seed, number), tol=F(1, 10**6), stationary_tol=F(1, 1000), floats=False)
    hidden, output = random.choice(DECAYS), random.choice(DECAYS)
    of_bias = random.choice([None, None, F(0), hidden])
    b = None if of_bias is None else random.choice([F(0), F(1, 2), F(-1)])
    return instance, Asked(random.choice(OF_LABELS if instance.is_margin else OF_NUMBERS), hidden, output, b, of_bias)


def value(loss, y, z):
    """l(y, z); of the logistic loss in floats."""
    if loss == "half-squared":
        return (y - z) ** 2 / 2
    if loss == "absolute":
        return abs(y - z)
    if loss == "logistic":
        q = float(y * z)
        return F(log1p(exp(-abs(q))) + max(-q, 0.0))
    return max(F(0), 1 - y * z) if loss == "hinge" else max(F(0), 1 - y * z) ** 2


def objective(instance: Instance, asked: Asked, b):
    """F of the instance's network with the output bias b."""
    total = sum((value(asked.loss, y, f + (b or 0)) for y, f in zip(instance.y, instance.outputs, strict=True)), F(0))
    total += asked.hidden / 2 * sum((w[c] ** 2 for w in instance.W for c in instance.counted), F(0))
    total += asked.output / 2 * sum((v * v for v in instance.v), F(0))
    return total + (asked.of_bias or 0) / 2 * (b or 0) ** 2


def best(instance: Instance, asked: Asked):
    """The infimum of F over all widths in floats; None where it is not solved well."""
    chosen = [piece for seen in sorted(set(instance.seen)) for piece in optimum.pieces(instance, seen)]
    starts, size = [], 0
    for piece in chosen:
        starts.append(size)
        size += len(piece.seen) + 1
    n, bias = len(instance.y), size
    more = 1 + 4 * n + 1
    program = ConeProgram(size + more)
    lines = [{} if asked.b is None else {bias: F(1)} for _ in instance.y]
    signs, cones = [], []
    for start, piece in zip(starts, chosen, strict=True):
        t = start + len(piece.seen)
        program.cost[t] = float(asked.hidden * asked.output) ** 0.5
        for i, (row, side) in enumerate(zip(instance.rows, piece.sides, strict=True)):
            factor = piece.sign * (1 if side > 0 else instance.slope)
            for k, c in enumerate(piece.seen):
                lines[i][start + k] = factor * row[c]
            if side and instance.slope != 1:
                signs.append({start + k: -side * row[c] for k, c in enumerate(piece.seen)})
        counted = [start + k for k, c in enumerate(piece.seen) if c in instance.counted]
        cones.append([{t: -1}, *({k: -1} for k in counted)])
    program.block("nonnegative", signs, [0] * len(signs))
    for cone in cones:
        program.block("second-order", cone, [0] * len(cone))
    if asked.of_bias:
        _squared(program, {bias: -1}, 0, size + more - 1, float(asked.of_bias))
    for i, (line, y) in enumerate(zip(lines, instance.y, strict=True)):
        _add_loss(program, asked.loss, line, y, [bias + 1 + 4 * i + k for k in range(4)])
    solved = program.solve()
    if solved is None or (solved.gap > 1e-6 and abs(solved.value) > 1e-7):
        return None
    return max(0.0, solved.value)


def _squared(program, line, right, place, cost):
    """cost times 1/2 (right - line)^2 at most, in one more variable."""
    program.cost[place] = cost
    program.block("second-order", [{place: -1}, line, {place: -1}], [0.5, right, -0.5])


def _add_loss(program, loss, line, y, places):
    """The loss at one point, in four more variables."""
    e, q, one, other = places
    toward = {k: -y * x for k, x in line.items()}
    if loss == "half-squared":
        _squared(program, line, y, e, 1.0)
    elif loss == "absolute":
        program.cost[e] = 1.0
        program.block("nonnegative", [{e: -1, **{k: -x for k, x in line.items()}}, {e: -1, **line}], [-y, y])
    elif loss in ("hinge", "squared-hinge"):
        program.block("nonnegative", [{e: -1}, {e: -1, **toward}], [0, -1])
        if loss == "hinge":
            program.cost[e] = 1.0
        else:
            _squared(program, {e: -1}, 0, q, 2.0)
    else:
        program.cost[e] = 1.0
        program.block("nonnegative", [{one: 1, other: 1}], [1])
        program.block("exponential", [{e: 1}, {}, {one: -1}], [0, 1, 0])
        program.block("exponential", [{e: 1, **{k: -x for k, x in toward.items()}}, {}, {other: -1}], [0, 1, 0])


def compare(seed, number):
    """All remarks on one audit: its objective, bracket, verdicts and better networks, by the oracles."""
    instance, asked = drawn(seed, number)
    result = audited_for(instance, asked)
    mine, wanted = objective(instance, asked, asked.b), best(instance, asked)
    remarks = [_same("objective", float(result.objective), float(mine), exactly=result.objective == mine)]
    if wanted is not None and result.bracket is not None:
        low, high = map(float, result.bracket)
        room = 1e-5 * wanted + 1e-7
        holds = low <= wanted + room and high >= wanted - room
        remarks.append(Remark("bracket", "agreed" if holds else "wrong", f"{low} ... {high}, best {wanted}"))
        remarks.append(_global(result, float(mine), wanted))
    for network in filter(None, (result.better, result.better_own_width)):
        other, own = _value_of(instance, asked, network), float(mine)
        is_better = other < own * (1 + 1e-12)
        remarks.append(Remark("better", "agreed" if is_better else "wrong", f"{other} beside {own}"))
    for strong, weak in (("global_any_width", "global_optimum"), ("local_optimum", "stationary")):
        said = [getattr(result, name).verdict.value for name in (strong, weak)]
        if said == ["proved", "refuted"]:
            remarks.append(Remark("consequences", "wrong", f"{strong} proved, {weak} refuted"))
    return remarks


def _same(about, said, known, *, exactly):
    is_near = exactly or abs(said - known) <= 1e-9 * max(1.0, abs(known))
    return Remark(about, "agreed" if is_near else "wrong", f"said {said}, is {known}")


def _global(result, mine, wanted):
    verdict, room = result.global_any_width.verdict.value, float(BAND) * 20
    if verdict == "undecided":
        return Remark("global_any_width", "unknown", result.global_any_width.reason)
    if verdict == "proved":
        is_true = mine <= wanted * (1 + room) + 1e-7
    else:
        is_true = mine >= wanted * (1 - room) - 1e-7
    return Remark("global_any_width", "agreed" if is_true else "wrong", f"{verdict}: {mine} beside {wanted}")


def _value_of(instance, asked, network):
    return float(objective(with_network(instance, network), asked, output_bias_of(network)))
