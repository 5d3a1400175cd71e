"""Rows 86 to 89 of docs/certificates.md, "Faults that must be refused": one layer by itself."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.depth_cases import (
    case,
    chain,
    concave_kinks,
    diagonal,
    doubled_neuron,
    linear_of_ones,
    narrow_margins,
    optimal_without_multipliers,
    pooled_tie,
    shape,
    sums,
)
from tests.forging import accepted, refused
from verify import Goal, Network
from verify.checker.single_layers import LayerBetter, LayerLeaf, LayerLocal, LayerOptimal

F = Fraction
TINY = F(1, 10**30)


def leaf(multipliers, *weights):
    """A leaf with these numbers."""
    listed = tuple((i, F(value)) for i, value in enumerate(multipliers) if value)
    return LayerLeaf(multipliers=listed, weights=tuple((*unit, F(t)) for *unit, t in weights))


# ------------------------------------------------------------------------------------------------- weights


def test_86_weights_on_the_wrong_side_of_a_kink():
    """x = (1, 0 | 0, 1), pooled: w = (1, 0) is at 0 at the second patch, b = 1; on: t >= 1, off: t <= 0."""
    found, unit = pooled_tie(), (0, 0, 1)
    for nodes, place in (
        ((unit, leaf([1], (*unit, 1)), leaf([1])), "nodes[1]"),  # bounds, and is another sum
        ((unit, leaf([1], (*unit, 1 - TINY)), leaf([1])), "nodes[1].weights"),
        ((leaf([1]),), "nodes[0].weights"),
        ((leaf([1], (*unit, 0)),), "nodes[0].weights"),
        ((leaf([1], (*unit, 1)),), "nodes[0].weights"),
    ):
        refused(found.problem, found.network, LayerLocal(layer=0, nodes=nodes), place)
    refused(found.problem, found.network, LayerOptimal(layer=0, nodes=(leaf([1]),)), "nodes[0].weights")


def test_86_weights_of_a_unit_that_is_off():
    """A leaky chain: f = w v at x = 1 for w >= 0, and half of it for w <= 0."""
    found, unit = case(shape([1, 1, 1], ["1/2"]), [[1], [1]], [[1]], [1]), (0, 0, 0)
    for t, is_bound in ((0, True), ("-1/2", True), ("1/2", True), (F(1, 2) + TINY, False), (1, False)):
        nodes = (unit, leaf([1]), leaf([4], (*unit, 4 * F(t))))
        proof = LayerOptimal(layer=0, nodes=nodes)
        closes = 2 * 4 - (4 * F(t)) ** 2 >= 1
        if is_bound and closes:
            accepted(found.problem, found.network, proof)
        else:
            refused(found.problem, found.network, proof, "nodes[2]" if is_bound else "nodes[2].weights")


def test_86_open_kinks_where_the_margin_falls_on_both_sides():
    """20: b = -5/4, and t from -5/4 to 0 bounds it on both sides."""
    found = concave_kinks()
    proof = found.proofs["kinks"]
    listed = proof.nodes[0].weights
    for t in (F(-5, 4) - TINY, TINY):
        worse = replace(proof.nodes[0], weights=((*listed[0][:3], t), *listed[1:]))
        refused(found.problem, found.network, replace(proof, nodes=(worse,)), "nodes[0].weights")
    for t in (F(-5, 4), F(0), F(-1)):
        other = replace(proof.nodes[0], weights=((*listed[0][:3], t), *listed[1:]))
        refused(found.problem, found.network, replace(proof, nodes=(other,)), "nodes[0]")
    less = replace(proof.nodes[0], weights=listed[1:])
    refused(found.problem, found.network, replace(proof, nodes=(less,)), "nodes[0]")


@pytest.mark.parametrize("unit", [(0, 0, 0), (1, 0, 1), (2, 0, 0), (0, 1, 0), (0, 0, 2), (0, 5, 0)])
def test_86_weights_of_units_that_are_at_no_kink(unit):
    found = narrow_margins()
    proof = LayerLocal(layer=0, nodes=(leaf([1, 1], (*unit, 1)),))
    refused(found.problem, found.network, proof, "nodes[0].weights[0]")
    refused(found.problem, found.network, replace(proof, layer=1), "nodes[0].weights[0]")


def test_86_weights_of_layers_below():
    found = chain()
    proof = LayerOptimal(layer=1, nodes=((0, 1, 0), leaf([1]), leaf([2], (0, 1, 0, 0))))
    accepted(found.problem, found.network, proof)
    refused(found.problem, found.network, replace(proof, nodes=((0, 0, 0), *proof.nodes[1:])), "nodes[0]")
    below = leaf([1], (0, 0, 0, 1))
    refused(found.problem, found.network, replace(proof, nodes=(proof.nodes[0], below, proof.nodes[2])),
            "nodes[1].weights[0]")  # fmt: skip


# ------------------------------------------------------------------------------------------------- local


def test_87_multipliers_of_points_that_are_not_active():
    found = case(diagonal(2), [[1, 1], [1, 1]], [[1, 0], [0, 2]], [1, 1])
    refused(found.problem, found.network, LayerLocal(layer=0, nodes=sums(1, "1/2")), "nodes[0].multipliers[1]")
    active = case(diagonal(2), [[1, 1], [1, 1]], [[1, 0], [0, 1]], [1, 1])
    accepted(active.problem, active.network, LayerLocal(layer=0, nodes=sums(1, 1)))
    refused(active.problem, active.network, LayerLocal(layer=0, nodes=sums(1, 1 + TINY)), "nodes[0]")
    refused(active.problem, active.network, LayerLocal(layer=0, nodes=sums(-1, 1)), "nodes[0].multipliers[0]")
    refused(active.problem, active.network, LayerLocal(layer=0, nodes=sums(1, 1, 1)), "nodes[0].multipliers[2]")
    zero = LayerLocal(layer=0, nodes=(LayerLeaf(((0, F(1)), (1, F(0)))),))
    refused(found.problem, found.network, zero, "nodes[0]")


def test_87_the_wrong_end_of_a_fit_tolerance():
    """f(x) = 1 for the target 3/2 within 1/2: multipliers > 0 stand for f >= 1."""
    found = case(shape([1, 1, 1], [1]), [[1], [1]], [[1]], ["3/2"], goal=Goal.MIN_NORM, fit_tolerance="1/2")
    accepted(found.problem, found.network, LayerLocal(layer=0, nodes=sums(1)))
    accepted(found.problem, found.network, LayerOptimal(layer=0, nodes=sums(1)))
    upper = case(shape([1, 1, 1], [1]), [[1], [1]], [[1]], ["1/2"], goal=Goal.MIN_NORM, fit_tolerance="1/2")
    refused(upper.problem, upper.network, LayerLocal(layer=0, nodes=sums(1)), "nodes[0].multipliers[0]")
    refused(upper.problem, upper.network, LayerOptimal(layer=0, nodes=sums(1)), "nodes[0]")
    exact = (
        optimal_without_multipliers()
    )  # of the whole problem; layer 0: (1, 2) = c_1 (4, 2) + c_2 (-2, 1) + c_3 (0, 1)
    for kind in (LayerLocal, LayerOptimal):
        accepted(exact.problem, exact.network, kind(layer=0, nodes=sums("1/4", 0, "3/2")))
        accepted(exact.problem, exact.network, kind(layer=0, nodes=sums("1/8", "-1/4", 2)))
        refused(exact.problem, exact.network, kind(layer=0, nodes=sums("1/4", 0, 1)), "nodes[0]")


def test_87_cases_that_are_left_out():
    """14: the first neuron is at 0 at the second point; on it is a sum, off it is none."""
    found = narrow_margins()
    on, off, unit = leaf([1, 1]), leaf([1, 1]), (1, 0, 0)
    for nodes, place in (
        ((unit, on, off), "nodes[2]"),
        ((unit, on), "nodes"),
        ((), "nodes"),
        ((unit, unit, on, on, off), "nodes[1]"),
        (((0, 0, 0), on, off), "nodes[0]"),
        ((on,), "nodes[0].weights"),
    ):
        refused(found.problem, found.network, LayerLocal(layer=0, nodes=nodes), place)
    smooth = doubled_neuron()
    twice = LayerLocal(layer=0, nodes=(leaf([2, 2]), leaf([2, 2])))
    refused(smooth.problem, smooth.network, twice, "nodes[1]")
    refused(smooth.problem, smooth.network, LayerLocal(layer=0, nodes=((0, 0, 0), on, off)), "nodes[0]")


# ------------------------------------------------------------------------------------------------- global


def test_88_slopes_near_the_network_taken_for_all():
    """15: local by its own multipliers, and not global: no unit keeps its sign anywhere."""
    found = doubled_neuron()
    refused(found.problem, found.network, LayerOptimal(layer=0, nodes=sums(2, 2)), "nodes[0].weights")


def test_88_bounds_that_do_not_close():
    found = linear_of_ones()
    for layer in range(3):
        proof = LayerOptimal(layer=layer, nodes=sums("1/2", "1/2"))
        accepted(found.problem, found.network, proof)
        refused(found.problem, found.network, replace(proof, nodes=sums("1/2", F(1, 2) - TINY)), "nodes[0]")
        accepted(found.problem, found.network, replace(proof, nodes=sums("1/2", "2/5"), tolerance=F(1, 48)))
        refused(found.problem, found.network, replace(proof, nodes=sums("-1", "1/2")), "nodes[0].multipliers[0]")
        refused(found.problem, found.network, replace(proof, nodes=sums(0, 0)), "nodes[0]")
    above = Network(found.network.architecture, [["11/10", "9/10"], [1, 1], [1, 1]])
    refused(found.problem, above, LayerOptimal(layer=0, nodes=sums("1/2", "1/2")), "nodes[0]")


def test_88_the_dual_value_is_at_the_margin_of_the_network():
    """Margin 2 with all weights 1; at margin 1 the bound would be a quarter, at twice the weights too much."""
    found = linear_of_ones()
    doubled = Network(found.network.architecture, [[2, 2], [2, 2], [2, 2]])
    accepted(found.problem, doubled, LayerOptimal(layer=0, nodes=sums("1/4", "1/4")))
    refused(found.problem, doubled, LayerOptimal(layer=0, nodes=sums("1/2", "1/2")), "nodes[0]")


# ------------------------------------------------------------------------------------------------- refutations


def test_89_layers_that_are_not_there():
    found = narrow_margins()
    for name in ("last", "best", "down", "shorter"):
        refused(found.problem, found.network, replace(found.proofs[name], layer=2), "layer")
    for name, field in (("down", "direction"), ("shorter", "parameters")):
        refused(found.problem, found.network, replace(found.proofs[name], layer=1), field)


def test_89_directions_that_lead_nowhere():
    found = narrow_margins()
    proof = found.proofs["down"]
    for direction, until, place in (
        (proof.direction, F(0), "until"),
        (proof.direction, F(2), "direction"),
        ((F(0),) * 4, F(1, 8), "direction"),
        ((F(1), F(0), F(0), F(-1)), F(1, 8), "direction"),
        ((F(-1), F(0), F(0), F(1)), F(1, 8), "points[0]"),
        ((F(-1), F(1), F(0), F(1)), F(1, 8), "points[1]"),
        ((F(-1), F(-1), F(1), F(1)), F(1, 8), "points[0]"),
    ):
        refused(found.problem, found.network, replace(proof, direction=direction, until=until), place)


def test_89_parameters_that_are_not_better():
    found = doubled_neuron()
    proof = found.proofs["shorter"]
    accepted(found.problem, found.network, replace(proof, tolerance=F(13, 4) - TINY))
    refused(found.problem, found.network, replace(proof, tolerance=F(13, 4)), "parameters")
    least = [z * (1 - TINY) for z in proof.parameters]
    refused(found.problem, found.network, replace(proof, parameters=tuple(least)), "parameters")
    refused(found.problem, found.network, replace(proof, parameters=tuple(-z for z in least)), "parameters")
    own = LayerBetter(layer=0, parameters=found.network.parameters[0])
    refused(found.problem, found.network, own, "parameters")
