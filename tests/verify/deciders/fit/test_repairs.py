"""Repairs: networks near one in floats that meet every target exactly, and keep the kinks it has up to rounding."""

from fractions import Fraction

import numpy as np
import pytest

from tests.verify.deciders.test_witnesses import BIASES, disturbed, integers, network, posed
from verify import Architecture, Bias, Dataset, Goal, Layer, Network, Problem
from verify.checker import Accepted, check
from verify.checker.fit import Fits
from verify.checker.statement import pattern
from verify.deciders.fit.repairs import repair, repairs
from verify.deciders.proposal import sealed
from verify.deciders.witnesses import distance
from verify.problem.problem import outputs


@pytest.mark.parametrize("slope", [0, "1/3", 1])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("size", [1e-9, 1e-4])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.one_in(3)
def test_a_disturbed_network_is_repaired(slope, bias, size, seed):
    """The repair interpolates exactly, keeps v and the pattern, and lies near."""
    exact = network(seed, 4, 2 + (bias is not Bias.NONE), slope=slope, bias=bias is not Bias.NONE)
    rows = integers(seed + 50, 5, 2).tolist()
    shape = posed(rows, [0] * 5, slope=slope, bias=bias, width=4)
    problem = Problem(Dataset(rows, outputs(shape, exact)), exact.architecture, goal=Goal.MIN_NORM, bias=bias)
    start = disturbed(exact, size)
    repaired = repair(problem, start)
    if repaired is None:  # a kink of the exact network may be off or on after noise: then it cannot be reached
        assert any(0 in map(int, signs) for signs in pattern(problem, exact))
        return
    assert outputs(problem, repaired) == list(problem.data.targets)
    assert repaired.output_weights == start.output_weights
    if shape.architecture.slope < 1:
        assert_same_pattern(problem, repaired, start)
    assert distance(repaired, start) <= 100 * size + 1e-5  # kinks are left by a visible distance
    moved = sealed(
        problem, start, Fits(subject=repaired.parameters, moved=distance(repaired, start), margin=Fraction(0))
    )
    assert isinstance(check(problem, start, moved), Accepted)


def assert_same_pattern(problem, repaired, start):
    """No preactivation changes its side, though it may come from a kink or go to one."""
    for mine, theirs in zip(pattern(problem, repaired), pattern(problem, start), strict=True):
        assert all(new * old >= 0 for new, old in zip(mine, theirs, strict=True))


def test_some_are_repaired():
    """The first of the tests above is not empty: without kinks there is always a repair."""
    exact = Network.two_layer([["1", "1/2"], ["-1", "1/3"]], [1, 2])
    rows = [[1, 0], [0, 1], [2, 1]]
    problem = posed(rows, outputs(posed(rows, [0] * 3), exact), width=2)
    start = disturbed(exact, 1e-3)
    repaired = repair(problem, start)
    assert outputs(problem, repaired) == list(problem.data.targets)
    assert 0 < distance(repaired, start) < Fraction(1, 100)


def test_masked_weights_stay_zero():
    masks = [(0, 2), (1, 2), (0, 1)]
    exact = network(3, 3, 3, masks=masks)
    rows = integers(9, 3, 3).tolist()
    problem = posed(rows, outputs(posed(rows, [0] * 3, masks=masks), exact), masks=masks)
    repaired = repair(problem, disturbed(exact, 1e-6))
    assert repaired.architecture.masks == tuple(masks)
    assert outputs(problem, repaired) == list(problem.data.targets)


def test_a_network_that_fits_is_its_own_repair():
    exact = network(1, 3, 2)
    rows = integers(2, 4, 2).tolist()
    assert repair(posed(rows, outputs(posed(rows, [0] * 4), exact), width=3), exact) is exact


@pytest.mark.parametrize("scale", [Fraction(10) ** power for power in (-100, -8, 8, 100)])
def test_scales(scale):
    exact = Network.two_layer([[scale, scale / 2], [-scale, scale / 3]], [1, 2])
    rows = [[1, 0], [0, 1], [2, 1]]
    problem = posed(rows, outputs(posed(rows, [0] * 3), exact), width=2)
    repaired = repair(problem, disturbed(exact, 1e-6))
    assert outputs(problem, repaired) == list(problem.data.targets)


def test_what_has_no_repair():
    one = Network.two_layer([[1, 0]], [1])
    assert repair(posed([[1, 0], [1, 0]], [1, 2]), one) is None  # contradictory
    assert repair(posed([[1, 0], [-1, 0]], [1, 1]), one) is None  # the neuron is off at the second point
    assert (
        repair(posed([[1, 0], [0, 1], [1, 1]], [1, 1, 3], slope=1), Network.two_layer([[1, 0]], [1], slope=1)) is None
    )
    assert repair(posed([[1, 0]], [2]), Network.two_layer([[1, 0]], [0])) is None  # v = 0


def test_deep_networks_are_not_repaired():
    layers = (Layer(inputs=1, outputs=1, slope=Fraction(0)),) * 2 + (Layer(inputs=1, outputs=1, slope=None),)
    deep = Network(Architecture(layers), [[1], [1], [1]])
    problem = Problem(Dataset([[1]], [2]), deep.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    assert repair(problem, deep) is None


def test_zero_points_and_zero_neurons():
    start = Network.two_layer([[1.1, 0], [0, 0]], [1, 0])
    repaired = repair(posed([[0, 0], [2, 1]], [0, 2], width=2), start)
    assert outputs(posed([[0, 0], [2, 1]], [0, 2], width=2), repaired) == [0, 2]
    assert max(map(abs, repaired.hidden_weights[1])) < Fraction(1, 10**12)
    assert repair(posed([[0, 0], [2, 1]], [1, 2], width=2), start) is None


# ------------------------------------------------------------------------------------------------- near kinks


def kinks(problem, given):
    """(neuron, point) of every preactivation that is 0 exactly, at points that are not 0."""
    signs = pattern(problem, given)
    return {(j, i) for j, row in enumerate(signs) for i, sign in enumerate(row) if not sign and any(problem.rows[i])}


@pytest.mark.parametrize("slope", [0, "1/10"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("size", [1e-16, 1e-14, 1e-12, 1e-10])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.one_in(3)
def test_kinks_up_to_rounding_are_kept(slope, bias, size, seed):
    """Neurons with a kink at a point each, disturbed: the first repair has all these kinks, and is very near."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-9, 10, (5, 3)).tolist()
    lifted = [[*row, 1] if bias is not Bias.NONE else row for row in rows]
    weights = []
    for j in range(4):  # orthogonal to point j
        w = [Fraction(int(value)) for value in rng.integers(-9, 10, len(lifted[0]))]
        x = [Fraction(value) for value in lifted[j]]
        along = sum(a * b for a, b in zip(w, x, strict=True)) / sum(b * b for b in x)
        weights.append([a - along * b for a, b in zip(w, x, strict=True)])
    body, biases = (weights, None) if bias is Bias.NONE else ([w[:-1] for w in weights], [w[-1] for w in weights])
    exact = Network.two_layer(body, [1, -2, 1, 3], b=biases, slope=slope)
    shape = posed(rows, [0] * 5, slope=slope, bias=bias, width=4)
    problem = Problem(Dataset(rows, outputs(shape, exact)), exact.architecture, goal=Goal.MIN_NORM, bias=bias)
    assert kinks(problem, exact) >= {(j, j) for j in range(4)}
    start = disturbed(exact, size, seed)
    repaired = repair(problem, start)
    assert outputs(problem, repaired) == list(problem.data.targets)
    assert kinks(problem, repaired) >= kinks(problem, exact)
    assert distance(repaired, start) <= 1000 * size + 1e-13


def test_the_last_repair_leaves_its_kinks_by_a_visible_distance():
    """(1, 0) has its kink at (0, 1): held there, or turned off there, where the target 0 allows both."""
    problem = posed([[0, 1], [1, 0]], [0, 1])
    start = Network.two_layer([[1 + 1e-9, -1e-15]], [1])
    held, *others = repairs(problem, start)
    assert kinks(problem, held) == {(0, 0)}
    assert distance(held, start) < 2e-9
    assert not any(kinks(problem, other) for other in others)
    assert others


def test_kinks_that_contradict_the_targets_are_let_go():
    """At both points the preactivation is 0 up to rounding; the target of one is not."""
    tiny = Fraction(1, 2**45)
    problem = posed([[0, 1], [1, 0], [1, 1]], [tiny, 1, 1 + tiny])
    start = Network.two_layer([[1 + 1e-9, 2.0**-46]], [1])
    for repaired in repairs(problem, start):
        assert outputs(problem, repaired) == list(problem.data.targets)
        assert not kinks(problem, repaired)
    assert repair(problem, start) is not None


def test_exact_weights_that_need_no_change_keep_their_fractions():
    start = Network.two_layer([["1/3", "2/3"], [1 + 1e-9, 0]], [1, 1])
    rows = [[2, -1], [-2, 1], [3, 0]]
    problem = posed(rows, [2, 0, 4], width=2)
    repaired = repair(problem, start)
    assert outputs(problem, repaired) == [2, 0, 4]
    assert {(0, 0), (0, 1)} <= kinks(problem, repaired)


# ------------------------------------------------------------------------------------------------- hundreds of points


@pytest.mark.parametrize(("points", "dimension"), [(61, 80), (80, 80), (90, 100)])
def test_linear_interpolants_of_many_points(points, dimension):
    rng = np.random.default_rng(points)
    X, y = rng.standard_normal((points, dimension)), rng.standard_normal(points)
    w = np.linalg.lstsq(X, y, rcond=None)[0]
    v = float(np.linalg.norm(w)) ** 0.5
    start = Network.two_layer([w / v], [v], slope=1)
    problem = posed(X.tolist(), y.tolist(), slope=1)
    repaired = repair(problem, start)
    assert outputs(problem, repaired) == list(problem.data.targets)
    assert distance(repaired, start) < 1e-12


def test_objectives_longer_than_certificates_hold_are_left_out(monkeypatch):
    start = Network.two_layer([[1.1, 0.3]], [1])
    problem = posed([[1, 0.7], [0.3, 1]], [1, 0.7])
    assert repair(problem, start) is not None
    monkeypatch.setattr("verify.deciders.fit.repairs.LIMIT", 10**20)
    assert repair(problem, start) is None


def test_relu_networks_of_many_points():
    """80 points, 100 neurons: each interpolates in its own pattern."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 3)), rng.standard_normal(80)
    W = rng.standard_normal((100, 3))
    features = np.maximum(X @ W.T, 0)
    v = np.linalg.lstsq(features, y, rcond=None)[0]
    start = Network.two_layer(W.tolist(), v.tolist())
    problem = posed(X.tolist(), y.tolist(), width=100)
    repaired = repair(problem, start)
    assert outputs(problem, repaired) == list(problem.data.targets)
    assert distance(repaired, start) < 1e-9


def test_no_repair_is_begun_after_the_deadline():
    start = Network.two_layer([[1.1, 0]], [1])
    assert repair(posed([[1, 0]], [1]), start, deadline=0.0) is None
    assert repair(posed([[1, 0]], [1]), start) is not None
