"""Networks that interpolate exactly near float directions: repaired ones, and wider ones."""

import numpy as np
import pytest

from tests.verify.deciders.test_witnesses import BIASES, integers, network, posed
from verify import Bias, Dataset, Goal, Problem
from verify.deciders.fit.interpolation import interpolate
from verify.problem.problem import objective, outputs


@pytest.mark.parametrize("slope", [0, "1/3", 1])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seed", range(3))
def test_interpolating_networks_fit_exactly(slope, bias, seed):
    exact = network(seed, 3, 2 + (bias is not Bias.NONE), slope=slope, bias=bias is not Bias.NONE)
    rows = integers(seed + 20, 4, 2).tolist()
    shape = posed(rows, [0] * 4, slope=slope, bias=bias, width=3)
    problem = Problem(Dataset(rows, outputs(shape, exact)), exact.architecture, goal=Goal.MIN_NORM, bias=bias)
    pairs = zip(exact.hidden_weights, exact.output_weights, strict=True)
    directions = np.array([[float(abs(v) * w) for w in row] for row, v in pairs])
    signs = [1 if v > 0 else -1 for v in exact.output_weights]
    start = directions * (1 + 1e-9 * np.random.default_rng(seed).standard_normal(directions.shape))
    found = list(interpolate(problem, start, signs, [0, 0, 0]))
    assert found
    for candidate in found:
        assert objective(problem, candidate) is not None
        assert set(candidate.architecture.masks) <= set(problem.mask_classes)
    near = min(float(objective(problem, candidate)) for candidate in found)
    inner = list(problem.norm_columns)
    assert near <= np.linalg.norm(directions[:, inner], axis=1).sum() * (1 + 1e-3) + 1e-3
    narrow = list(interpolate(problem, start, signs, [0, 0, 0], wider=False))
    assert all(candidate.width == 3 for candidate in narrow)
    again = list(interpolate(problem, start, signs, [0, 0, 0]))
    assert [candidate.parameters for candidate in again] == [candidate.parameters for candidate in found]


def test_a_residual_that_the_neurons_cannot_meet_is_absorbed_by_more():
    """One neuron on one side, targets on both: only a wider network fits."""
    problem = posed([[1, 0], [-1, 0]], [1, 1])
    directions = np.array([[1.0, 0.0]])
    assert list(interpolate(problem, directions, [1], [0], wider=False)) == []
    (wide,) = interpolate(problem, directions, [1], [0])
    assert wide.width > 1
    assert outputs(problem, wide) == [1, 1]


def test_nothing_interpolates_what_contradicts_itself_or_is_of_another_goal():
    directions = np.array([[1.0, 0.0]])
    assert list(interpolate(posed([[1, 0], [1, 0]], [1, 2]), directions, [1], [0])) == []
    assert list(interpolate(posed([[1, 0]], [1], goal=Goal.MAX_MARGIN), directions, [1], [0])) == []


def test_absorbing_neurons_have_masks_of_the_problem():
    masks = [(0,), (1,)]
    problem = posed([[1, 0], [0, 1], [-1, 0]], [1, 1, 1], masks=masks)
    for candidate in interpolate(problem, np.array([[1.0, 0.0], [0.0, 1.0]]), [1, 1], [0, 1]):
        assert set(candidate.architecture.masks) <= {(0,), (1,)}
        assert outputs(problem, candidate) == [1, 1, 1]
