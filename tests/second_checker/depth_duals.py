"""Bounds of deep networks by trees: docs/certificates.md, "lower-bound-one-activation"."""

from __future__ import annotations

from copy import copy
from fractions import Fraction
from math import prod

from tests.second_checker.depth import depth, has_power, most_places
from tests.second_checker.dual_points import Square, dual_value, multipliers, prove_trees
from tests.second_checker.texts import need, rational

F = Fraction


def places_of_all(question):
    """P_1 ... P_m."""
    return prod(most_places(layer) for layer in question.architecture["layers"])


def lower_bound_one_activation(question, net, proof):
    slopes = [layer["slope"] for layer in question.architecture["layers"] if layer["slope"] not in (None, "1")]
    need(len(slopes) <= 1, "several activations")
    value, square = dual_value(question, multipliers(question, proof["multipliers"])), rational(proof["square"])
    need(value >= 0 and square > 0, "dual value or square")
    flat = copy(question)
    flat.a, flat.size, flat.bias = rational((slopes or ["1"])[0]), len(question.X[0]), "none"
    cases = [(tuple(range(flat.size)), {}, s) for s in (1, -1)]
    prove_trees(flat, proof, cases, [Square(square)] * 2)
    has_power(question, proof)
    m, (lower, upper) = depth(question), proof["bracket"]
    least = F(m, 2) ** m * value**2 / square / places_of_all(question)
    need(upper is None and rational(lower) == least, "bracket")
