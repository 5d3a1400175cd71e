"""Separable symmetric data: their max-margin separator, and the networks of largest margin, which are linear.

Source: arXiv:2110.13905, Assumptions 3.2, 4.1 and 4.5, and Theorem 4.2.
"""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.asking import audited, global_exactly
from verify.claims.exact_programs import least_norm
from verify.claims.predicates import is_fully_connected, is_margin_problem
from verify.claims.records import Instance, Judgement, failed, held, undecided
from verify.deciders.finding import Verdict
from verify.problem.problem import half_squared_norm
from verify.strategies import mean_signed

__all__ = [
    "has_linear_optimum",
    "has_width_two",
    "is_general",
    "is_leaky",
    "is_separable",
    "is_symmetric",
    "separator",
]

_Vector = list[Fraction]


def is_leaky(instance: Instance) -> bool:
    """A max-margin problem of a network without biases and masks, of a slope strictly between 0 and 1."""
    return is_margin_problem(instance) and is_fully_connected(instance) and 0 < instance.slope < 1


def is_general(instance: Instance) -> bool:
    """<mu, x_i> != 0 at every point."""
    mu = mean_signed(instance.data)
    return all(dot(mu, row) for row in instance.data.inputs)


def _signed(instance: Instance) -> list[_Vector]:
    data = instance.data
    return [[y * x for x in row] for row, y in zip(data.inputs, data.targets, strict=True)]


def separator(instance: Instance) -> _Vector | None:
    """The w of least norm with y_i w.x_i >= 1; 1 / |w| is the linear margin."""
    rows = _signed(instance)
    found = least_norm([], [], rows, [Fraction(1)] * len(rows))
    return None if found is None else found[0]


def is_separable(instance: Instance) -> bool:
    """Some w has y_i w.x_i > 0 at every point."""
    return separator(instance) is not None


def is_symmetric(instance: Instance) -> bool:
    """With each point its antipode, labelled oppositely."""
    data = instance.data
    points = {(row, y) for row, y in zip(data.inputs, data.targets, strict=True)}
    return all((tuple(-x for x in row), -y) in points for row, y in points)


def has_width_two(instance: Instance) -> bool:
    """More than one neuron."""
    return instance.network.width > 1


def has_linear_optimum(instance: Instance) -> Judgement:
    """The best objective is 2 / ((1 + a) g), g the linear margin, and the network is linear if it is optimal."""
    found, w = audited(instance), separator(instance)
    if w is None or found.infeasible:
        return failed("no linear classifier fits") if w is None else failed("no network fits")
    if found.bracket is None:
        return undecided("the best objective has no bracket")
    low, high = found.bracket
    square = 4 * dot(w, w) / (1 + instance.slope) ** 2
    if not low * low <= square <= high * high:
        return failed(
            f"the best objective lies in [{float(low):.9g}, {float(high):.9g}], not at {float(square) ** 0.5:.9g}"
        )
    if high > low * (1 + found.tolerance):
        return undecided("the bracket of the best objective is too wide")
    best = global_exactly(instance)
    if best.verdict is Verdict.UNDECIDED:
        return undecided(f"the value agrees; {best.reason}")
    if best.verdict is Verdict.REFUTED:
        return held("the value agrees; this network is not optimal")
    return _is_the_linear_one(instance, w)


def _is_the_linear_one(instance: Instance, w: _Vector) -> Judgement:
    """f(x) = (1 + a) / 4 <w*, x> at unit norm, exactly."""
    network = instance.network
    sides: dict[tuple[Fraction, ...], Fraction] = {}
    for row, v in zip(network.hidden_weights, network.output_weights, strict=True):
        lead = next((x for x in row if x), None)
        if lead is not None:
            line = tuple(x / lead for x in row)
            sides[line] = sides.get(line, Fraction(0)) + v * abs(lead)
    if instance.slope != 1 and any(sides.values()):
        return failed("an optimal network is not linear")
    total = [dot(network.output_weights, column) for column in zip(*network.hidden_weights, strict=True)]
    size = half_squared_norm(instance.problem, network)
    is_parallel = dot(total, w) > 0 and dot(total, w) ** 2 == dot(total, total) * dot(w, w)
    if not is_parallel or dot(total, total) != size * size:
        return failed("an optimal network is linear, but not (1 + a)/4 <w*, x> at unit norm")
    return held("optimal, and (1 + a)/4 <w*, x> at unit norm")
