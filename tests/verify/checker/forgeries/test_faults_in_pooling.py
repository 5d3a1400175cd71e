"""Rows 93 to 96 of docs/certificates.md, "Faults that must be refused": pooled convolutions."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.depth_cases import (
    BOTH_ON,
    PATCHES,
    case,
    convolution,
    pooled,
    pooled_bound,
    pooled_optimum,
    pooled_tie,
    shape,
)
from tests.forging import accepted, refused
from verify import Goal, Network
from verify.checker.depth_bounds import DeepBetterNetwork, DeepUpperBound
from verify.checker.dual_trees import Bound, Together
from verify.checker.pooled import channels

F = Fraction
TINY = F(1, 10**30)
X = [[3, 0, 0, 4]]


def lower():
    found = pooled_optimum()
    accepted(found.problem, None, found.proofs["lower"])
    return found.problem, found.proofs["lower"]


@pytest.mark.parametrize(
    "other",
    [
        convolution(0),
        shape([4, 4, 1], [0], [[*PATCHES, *PATCHES], [[0, 0, 1, 1]]]),  # one filter with two output weights
        shape([4, 2, 1], [0], [PATCHES, [[0, None]]]),  # a patch that is not read
        shape([4, 3, 1], [0], [[*PATCHES, [None] * 4], [[0, 0, 1]]]),  # a channel without parameters
        shape([4, 2, 1, 1], [0, 0], [PATCHES, [[0, 0]], None]),
    ],
)
def test_93_problems_that_are_no_pooled_convolutions(other):
    assert channels(other) == ()
    _, proof = lower()
    parameters = [[0] * layer.parameter_count for layer in other.layers]
    refused(case(other, parameters, X, [1]).problem, None, proof, "problem")


def test_93_one_output_weight_for_two_filters_is_one_channel():
    """f = v (s(w_1 x_1) + s(w_2 x_2)): at x = (1, 1) J = 1/2, and not the 1 of two filters with a v each."""
    found = case(shape([2, 2, 1], [0], [[[0, None], [None, 1]], [[0, 0]]]), [[1, 1], [1]], [[1, 1]], [1])
    assert [channel.parameters for channel in channels(found.network.architecture)] == [(0, 1)]
    proof = pooled_bound(found.problem, [1], 2, BOTH_ON, F(1, 2))
    accepted(found.problem, None, proof)
    refused(found.problem, None, replace(proof, square=F(1), bracket=(F(1), None)), "trees[0][0]")
    accepted(found.problem, None, DeepUpperBound(witness=found.network, power=2, bracket=(None, F(1, 2))))


def test_94_a_patch_that_is_missing_or_of_another_point():
    problem, proof = lower()
    alone = ((Together(("e",), together=(0,)),), (Bound((0,)),))
    refused(problem, None, replace(proof, trees=alone), "trees[0][0].slopes")
    refused(problem, None, replace(proof, trees=((Together(("e", 0), together=(0,)),), BOTH_ON[1])), "trees[0][0]")
    refused(problem, None, replace(proof, trees=((Together(("e", "e"), together=(0, 2)),), BOTH_ON[1])),
            "trees[0][0].together")  # fmt: skip
    refused(problem, None, replace(proof, trees=((2, Bound((1, 1)), Bound((0, 0))), BOTH_ON[1])), "trees[0][0]")
    refused(problem, None, replace(proof, trees=BOTH_ON[:1]), "trees")
    refused(problem, None, replace(proof, trees=BOTH_ON[::-1]), "trees[0][0]")
    refused(problem, None, replace(proof, trees=BOTH_ON + BOTH_ON), "trees")
    apart = case(pooled(0), [["3/5", "4/5"], [1]], [[3, 0, -3, -4]], [1])  # patches that are never on together
    refused(apart.problem, None, proof, "trees[0][0].together")


def test_94_multipliers_are_of_points_and_all_patches_have_them():
    two = case(pooled(0), [[1, 1], [1]], [[3, 0, 0, 4], [3, 0, 0, 4]], [1, 1])
    _, proof = lower()
    accepted(two.problem, None, proof)  # the second point has no multiplier
    refused(two.problem, None, replace(proof, multipliers=((1, F(1)),)), "trees[0][0].together")
    last = tuple((Together(("e", "e"), together=(2, 3)),) if k == 0 else nodes for k, nodes in enumerate(BOTH_ON))
    accepted(two.problem, None, replace(proof, multipliers=((1, F(1)),), trees=last))
    refused(two.problem, None, replace(proof, multipliers=((2, F(1)),)), "multipliers[0]")
    refused(two.problem, None, replace(proof, multipliers=((0, F(-1)),)), "multipliers[0]")
    refused(two.problem, None, replace(proof, multipliers=((0, F(1)), (1, F(1)))), "trees[0][0].slopes")


def test_95_values_that_do_not_follow():
    problem, proof = lower()
    refused(problem, None, replace(proof, square=25 - TINY, bracket=(1 / (25 - TINY), None)), "trees[0][0]")
    refused(problem, None, replace(proof, bracket=(F(1, 25) + TINY, None)), "bracket")
    refused(problem, None, replace(proof, bracket=(F(1, 5), None)), "bracket")
    refused(problem, None, replace(proof, bracket=(F(1, 25), F(1))), "bracket")
    refused(problem, None, replace(proof, power=1), "power")
    refused(problem, None, replace(proof, multipliers=((0, F(2)),), bracket=(F(4, 25), None)), "trees[0][0]")
    targets = case(pooled(0), [[1, 1], [1]], X, [-1], goal=problem.goal)
    refused(targets.problem, None, proof, "trees[0][0].together")
    met = pooled_tie().problem
    refused(met, None, replace(pooled_tie().proofs["lower"], square=F(2) - TINY), "trees[0][0]")


def test_95_a_negative_dual_value():
    found = case(pooled(0), [[1, 1], [1]], X, [7], goal=Goal.MIN_NORM)
    _, proof = lower()
    accepted(found.problem, None, replace(proof, bracket=(F(49, 25), None)))
    minus = replace(proof, multipliers=((0, F(-1)),), trees=BOTH_ON[::-1], bracket=(F(49, 25), None))
    refused(found.problem, None, minus, "multipliers")


def test_95_another_pooling():
    """The average has rows of half the size, or its positions apart: the bound of the sum is no bound of it."""
    average = case(pooled(0), [["3/5", "4/5"], [1]], [["3/2", 0, 0, 2]], [1])
    _, proof = lower()
    accepted(average.problem, None, proof)  # true, and 4 times too low
    sharp = replace(proof, square=F(25, 4), bracket=(F(4, 25), None))
    accepted(average.problem, None, sharp)
    refused(pooled_optimum().problem, None, sharp, "trees[0][0]")


def test_96_networks_that_see_something_else():
    found = pooled_optimum()
    poor = Network(found.network.architecture, [[3, 4], [1]])
    swapped = shape([4, 2, 1], [0], [[[0, None, 1, None], [None, 0, None, 1]], [[0, 0]]])
    alone = shape([4, 1, 1], [0], [[[0, 1, None, None]], [[0]]])
    free = convolution(0)
    for other, parameters in ((swapped, [[1, 1], [1]]), (alone, [[1, 1], [1]]), (free, [[1, 1], [1, 1]])):
        witness = Network(other, parameters)
        refused(found.problem, None, DeepUpperBound(witness=witness, power=2, bracket=(None, F(99))), "witness")
        refused(found.problem, poor, DeepBetterNetwork(witness=witness, tolerance=F(0), scope="any-width"), "witness")


def test_96_more_channels_are_not_the_own_width_and_fewer_are():
    one, two = (
        pooled_optimum(),
        shape([4, 4, 1], [0], [[*PATCHES, [2, 3, None, None], [None, None, 2, 3]], [[0, 0, 1, 1]]]),
    )
    poor = Network(one.network.architecture, [[3, 4], [1]])
    wide = Network(two, [["3/5", "4/5", 0, 0], [1, 0]])
    proof = DeepBetterNetwork(witness=wide, tolerance=F(0), scope="own-width")
    refused(one.problem, poor, proof, "scope")
    accepted(one.problem, poor, replace(proof, scope="any-width"))
    asked = case(two, [[3, 4, 0, 0], [1, 0]], X, [1])
    accepted(asked.problem, asked.network, replace(proof, witness=one.network))
    turned = shape([4, 4, 1], [0], [[[0, 1, None, None], [2, 3, None, None], [None, None, 2, 3], [None, None, 0, 1]],
                                    [[1, 0, 0, 1]]])  # fmt: skip
    accepted(asked.problem, asked.network, replace(proof, witness=Network(turned, [["3/5", "4/5", 0, 0], [0, 1]])))
