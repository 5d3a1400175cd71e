"""Row 101 of docs/certificates.md, "Faults that must be refused": deep networks with one activation."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.depth_cases import ONE_SIDE_EACH, case, concave_kinks, convolution, one_activation_bound, shape
from tests.forging import accepted, refused
from verify import Goal, Network
from verify.checker.depth_bounds import DeepOptimalWithin, DeepUpperBound
from verify.checker.depth_duals import LowerBoundOneActivation, activations
from verify.checker.dual_trees import Bound, Together

F = Fraction
TINY = F(1, 10**30)
X, Y = [[1, 0], ["3/5", "4/5"]], [1, -1]


def lower():
    found = concave_kinks()
    accepted(found.problem, None, found.proofs["lower"])
    return found.problem, found.proofs["lower"]


def zeros(architecture, inputs=X, targets=Y, **options):
    return case(
        architecture, [[0] * layer.parameter_count for layer in architecture.layers], inputs, targets, **options
    )


def test_the_case_is_optimal_by_it():
    found = concave_kinks()
    accepted(found.problem, found.network, found.proofs["optimal"])
    within = DeepOptimalWithin(tolerance=F(0), lower=replace(found.proofs["lower"], bracket=(F(675, 32) + TINY, None)))
    refused(found.problem, found.network, within, "lower.claim")


def test_101_several_activations():
    for slopes in ([0, 0], [0, "1/2"]):
        assert len(activations(shape([2, 4, 1, 1], slopes))) == 2
        refused(zeros(shape([2, 4, 1, 1], slopes)).problem, None, lower()[1], "problem")


@pytest.mark.parametrize("slopes", [[0, 1], [1, 0]])
def test_101_any_layer_may_have_it(slopes):
    accepted(zeros(shape([2, 2, 2, 1], slopes)).problem, None, lower()[1])


def test_101_trees_of_another_slope():
    """Of a leaky layer h is larger where x_1.u < 0: it is -u.x_1 / 2 + ... there."""
    _, proof = lower()
    refused(zeros(shape([2, 4, 1, 1], ["1/2", 1])).problem, None, proof, "trees[0][1].slopes[1]")
    refused(zeros(shape([2, 4, 1, 1], [1, 1])).problem, None, proof, "trees[0][1].slopes[1]")
    linear = zeros(shape([2, 1, 1, 1], [1, 1])).problem  # no activation: h(u) = (x_1 - x_2).u, of length^2 4/5
    best = one_activation_bound(linear, [1, 1], F(4, 5), ((Bound(("e", "e")),), (Bound(("e", "e")),)), F(27, 8) * 5)
    accepted(linear, None, best)
    refused(linear, None, replace(best, square=F(4, 5) - TINY), "trees[0][0]")


def test_101_trees_of_the_other_sign_or_of_one():
    problem, proof = lower()
    refused(problem, None, replace(proof, trees=ONE_SIDE_EACH[::-1]), "trees[0][1].slopes[0]")
    refused(problem, None, replace(proof, trees=ONE_SIDE_EACH[:1]), "trees")
    refused(problem, None, replace(proof, trees=ONE_SIDE_EACH + ONE_SIDE_EACH), "trees")


def test_101_units_that_see_all_columns_are_of_the_family():
    """Of masked networks the bound is that of the family: each column alone would have a smaller beta."""
    masked = shape([2, 2, 1, 1], [0, 1], [[[0, None], [None, 1]], None, None])
    one = zeros(masked, [[1, 1]], [1])
    whole = ((Bound(("e",)),), (Bound((0,)),))
    up = ((0, Bound(("e",)), Bound((0,))), whole[1])
    accepted(one.problem, None, one_activation_bound(one.problem, [1], 2, up, F(27, 16)))
    refused(one.problem, None, one_activation_bound(one.problem, [1], 1, up, F(27, 8)), "trees[0][1]")
    better = Network(shape([2, 1, 1, 1], [0, 1]), [[1, 1], [1], [1]])
    accepted(one.problem, None, DeepUpperBound(witness=better, power=3, bracket=(None, F(27, 16))))


def test_101_values_that_do_not_follow():
    problem, proof = lower()
    for changes, place in (
        ({"square": F(16, 25) - TINY, "bracket": (F(27, 2) / (F(16, 25) - TINY), None)}, "trees[0][1]"),
        ({"bracket": (F(675, 32) + TINY, None)}, "bracket"),
        ({"bracket": (F(675, 32), F(1000))}, "bracket"),
        ({"bracket": (None, None)}, "bracket"),
        ({"bracket": (F(5, 2), None)}, "bracket"),
        ({"power": 2}, "power"),
        ({"power": 4}, "power"),
        ({"multipliers": ((0, F(2)), (1, F(1))), "bracket": (F(675, 32) * F(9, 4), None)}, "trees[0][1]"),
        ({"multipliers": ((0, F(1)), (1, F(-1)))}, "multipliers[1]"),
        ({"multipliers": ((0, F(1)), (2, F(1)))}, "multipliers[1]"),
        ({"trees": ((0, Together(("e", -3), together=(1,)), Bound((0, 0))), ONE_SIDE_EACH[1])}, "trees[0][1].together"),
    ):
        refused(problem, None, replace(proof, **changes), place)


def test_101_the_depth_counts():
    """With one more linear layer the power is 4 and the factor (4/2)^4."""
    _, proof = lower()
    deep = zeros(shape([2, 4, 1, 1, 1], [0, 1, 1])).problem
    refused(deep, None, proof, "power")
    accepted(deep, None, replace(proof, power=4, bracket=(F(16) * F(25, 4), None)))
    refused(deep, None, replace(proof, power=4), "bracket")


def test_101_a_weight_at_two_places_counts_twice():
    """f = v_1 s(w.x_1) + v_2 s(w.x_2): at x = (1, 0 | 0, 1) J is 1/2 at least, by w = (1, 1), and not 1."""
    shared = zeros(convolution(0), [[1, 0, 0, 1]], [1]).problem
    whole = ((0, Bound(("e",)), Bound((0,))), (Bound((0,)),))
    accepted(shared, None, one_activation_bound(shared, [1], 2, whole, F(1, 4)))
    refused(shared, None, one_activation_bound(shared, [1], 2, whole, F(1, 2)), "bracket")


def test_101_a_negative_dual_value():
    found = zeros(shape([1, 1, 1, 1], [0, 1]), [[1]], [2], goal=Goal.MIN_NORM).problem
    up, down = (0, Bound(("e",)), Bound((0,))), (Bound((0,)),)
    accepted(found, None, one_activation_bound(found, [1], 1, (up, down), F(27, 2)))
    refused(found, None, one_activation_bound(found, [-1], 1, (down, up), F(27, 2)), "multipliers")


def test_101_of_two_layers_without_sharing_another_kind_decides():
    two = zeros(shape([2, 1, 1], [0])).problem
    proof = LowerBoundOneActivation(
        multipliers=((0, F(1)),), square=F(1), denominator=1, power=2, bracket=(F(1), None),
        trees=((0, Bound(("e",)), Bound((0,))), (Bound((0,)),)),
    )  # fmt: skip
    refused(two, None, proof, "problem")
