"""Pooled convolutions as problems of their patches, by `verify.checker.pooled`."""

from fractions import Fraction
from itertools import product

import pytest

from tests.depth_cases import PATCHES, case, convolution, pooled, pooled_bound, shape
from tests.forging import accepted
from verify import Architecture, Bias, Dataset, Goal, Layer, Network, Problem
from verify.checker.dual_trees import Bound, Together
from verify.checker.pooled import channels, kinds, patches
from verify.checker.statement import outputs
from verify.deciders.depth.pooled import of_channels, on_patches, patch_problem

F = Fraction


def padded(slope=0):
    """Three places of a filter of three weights with a bias, on two inputs between zeros, and the whole input."""
    rows = [[1, 2, 3], [0, 1, 3], [None, 0, 3], [4, 5, None]]
    first = Layer(inputs=2, outputs=4, slope=slope, bias=True, entries=rows)
    return Architecture([first, Layer(inputs=4, outputs=1, slope=None, entries=[[1, 1, 1, 0]])])


def test_the_channels_of_a_convolution():
    (one,) = channels(pooled(0))
    assert one.gather == (((0,), (1,)), ((2,), (3,)))
    assert (one.parameters, one.output) == ((0, 1), 0)
    whole, filters = channels(padded())
    assert (whole.parameters, whole.output, whole.gather) == ((4, 5), 0, (((0,), (1,)),))
    assert filters.gather == (((), (0,), (1,), (2,)), ((0,), (1,), (), (2,)), ((1,), (), (), (2,)))
    assert kinds(padded()) == tuple(sorted({whole.gather, filters.gather}))
    assert kinds(pooled(0)) == (one.gather,)


@pytest.mark.parametrize(
    "other",
    [
        convolution(0),
        shape([2, 2, 1], [0]),
        shape([2, 1], []),
        shape([4, 4, 1], [0], [[*PATCHES, *PATCHES], [[0, 0, 1, 1]]]),
        shape([4, 2, 1], [0], [PATCHES, [[0, None]]]),
        shape([4, 3, 1], [0], [[*PATCHES, [None] * 4], [[0, 0, 1]]]),
    ],
)
def test_others_have_none(other):
    assert channels(other) == () == kinds(other)


@pytest.mark.parametrize("slope", [0, F(1, 3), 1])
def test_the_outputs_are_the_sums_over_the_patches(slope):
    weights = [F(k * k % 7 - 3, 2) for k in range(6)]
    network = Network(padded(slope), [weights, [2, F(-1, 3)]])
    inputs = [[F(a), F(b, 2)] for a, b in product((-2, 1, 3), (-3, 0, 1))]
    problem = Problem(Dataset(inputs, range(9)), network.architecture, goal=Goal.MIN_NORM, bias=Bias.PENALISED)
    whole, many = patches(problem)
    assert many == (1 if slope == 1 else 3)
    assert whole.targets == tuple(F(i) for i in range(9) for _ in range(many))
    assert whole.architecture.is_two_layer
    assert len(whole.architecture.mask_classes) == 2
    flat = on_patches(problem, network)
    values = outputs(whole, flat)
    assert [sum(values[i * many : (i + 1) * many]) for i in range(9)] == list(outputs(problem, network))
    assert patch_problem(problem)[0].to_json() == whole.to_json()


def test_channels_make_up_a_shape_again():
    seen = [channel.gather for channel in channels(padded())]
    again = of_channels(padded(), [*seen, seen[0]])
    assert [channel.gather for channel in channels(again)] == [*seen, seen[0]]
    assert again.bias


def test_repeated_columns_are_added_up():
    """One weight at both places of a unit: its input is the sum."""
    found = case(shape([2, 2, 1], [0], [[[0, 0], [0, None]], [[0, 0]]]), [[1], [1]], [[2, 3]], [1])
    whole, many = patches(found.problem)
    assert many == 2
    assert sorted(whole.rows) == [(2,), (5,)]
    both = (Together(("e", "e"), together=(0, 1)),), (Bound((0, 0)),)
    accepted(found.problem, None, pooled_bound(found.problem, [1], 49, both, F(1, 49)))


def test_linear_patches_are_added_up():
    """h(u) = (x_1 + x_2).u: one leaf with exactly that vector."""
    found = case(pooled(1), [[1, 0], [1]], [[1, 2, 3, -1]], [1])
    whole, many = patches(found.problem)
    assert (many, whole.rows) == (1, ((4, 1),))
    accepted(found.problem, None, pooled_bound(found.problem, [1], 17, ((Bound((0,)),), (Bound((0,)),)), F(1, 17)))
