"""How near descent ends to the least norm, exactly, and the programs of one pattern that have it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from verify.checker.exact import dot
from verify.claims.exact_programs import least_norm
from verify.claims.lai2026.ends import MISSED
from verify.claims.lai2026.exact_descent import Vector, captured
from verify.claims.lai2026.hypotheses import label_range, stacked
from verify.claims.records import Instance, Judgement, failed, held, undecided

__all__ = ["OF_THAT_ORDER", "pattern_program", "stays_near_the_least_norm"]


def stays_near_the_least_norm(instance: Instance) -> Judgement:
    """min |y| / 25 <= ||limit - w*|| |x| / sqrt(m) <= max |y|, m the pairs of a neuron and a label of the other sign.

    w* has the least norm of all that meet the positive labels and are at most 0 at others (one neuron), or that meet
    all labels (two). |x|^2 is the largest, and the smallest, of the points. Without such pairs the limit is w*.
    """
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    best = _least(instance)
    if best is None:
        return undecided("there is no least-norm solution")
    low, high = label_range(instance)
    signs, squares = instance.network.output_weights, [dot(x, x) for x in instance.data.inputs]
    across = sum(s * y < 0 for s in signs for y in instance.data.targets)
    limit = stacked(found.limit)
    far = [sum(((a - b) ** 2 for a, b in zip(limit, w, strict=True)), Fraction(0)) for w in best]
    if not across:
        return held("the limit is w*", measured=0) if not max(far) else failed("the limit is not w*")
    least, most = min(far) * max(squares), max(far) * min(squares)
    ratio = min(far) * min(squares) / (high * high * across)
    if not least:
        return failed("the limit is w*", measured=0)
    if 625 * least < low * low * across or most > high * high * across:
        return failed("the distance is not of the order sqrt(m) |y| / |x|", measured=ratio)
    return held("the distance is of that order", measured=ratio)


def _least(instance: Instance) -> list[Vector] | None:
    """All w of least norm, the weights of the neurons one after the other."""
    data = instance.data
    if len(instance.network.output_weights) == 1:
        positive = [i for i, y in enumerate(data.targets) if y > 0]
        above = [[-entry for entry in x] for x, y in zip(data.inputs, data.targets, strict=True) if y <= 0]
        found = least_norm(
            [data.inputs[i] for i in positive], [data.targets[i] for i in positive], above, [Fraction(0)] * len(above)
        )
        return None if found is None else [found[0]]
    best: list[Vector] = []
    for both in product((False, True), repeat=len(data)):
        found = pattern_program(instance, both)
        if found is None:
            continue
        if not best or dot(found, found) < dot(best[0], best[0]):
            best = [found]
        elif dot(found, found) == dot(best[0], best[0]) and found not in best:
            best.append(found)
    return best or None


def pattern_program(instance: Instance, both: Sequence[bool]) -> Vector | None:
    """(9): the least-norm weights of a positive and a negative neuron that meet all labels.

    both: at which points both neurons are on; at the others one of them is.
    """
    equal: list[Vector] = []
    above: list[Vector] = []
    for x, y, is_both in zip(instance.data.inputs, instance.data.targets, both, strict=True):
        zero = [Fraction(0)] * len(x)
        mine, other = ([*x, *zero], [*zero, *x]) if y > 0 else ([*zero, *x], [*x, *zero])
        equal.append([a - b for a, b in zip(mine, other, strict=True)] if is_both else mine)
        above.append(other if is_both else [-entry for entry in other])
    found = least_norm(equal, [abs(y) for y in instance.data.targets], above, [Fraction(0)] * len(above))
    return None if found is None else found[0]


OF_THAT_ORDER = (
    "; of that order: from min |y| / 25 to max |y| times sqrt(m) / |x|, m the pairs of a neuron and a label of the "
    "other sign"
)
