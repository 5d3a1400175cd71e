"""Exact networks from floats: what keeps the outputs keeps them exactly, what is called a bound is one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify import Architecture, Bias, Dataset, Goal, Layer, Network, Problem
from verify.certificate import Fits
from verify.checker import Accepted, check
from verify.exact import squared_norm
from verify.exact_networks import (
    EXACT_EQUATIONS,
    distance,
    float_rows,
    interpolate,
    merge_directions,
    network_of_directions,
    network_with,
    repair,
)
from verify.problem import half_squared_norm, objective, outputs
from verify.proposal import sealed
from verify.statement import pattern


def posed(rows, targets, *, slope=0, bias=Bias.NONE, goal=Goal.MIN_NORM, masks=None, width=1):
    shape = Architecture.two_layer(
        len(rows[0]), len(masks or [0] * width), slope=slope, bias=bias is not Bias.NONE, masks=masks
    )
    return Problem(Dataset(rows, targets), shape, goal=goal, bias=bias)


def integers(seed, *shape, size=4):
    return np.random.default_rng(seed).integers(-size, size + 1, shape)


def network(seed, width, columns, *, slope=0, bias=False, masks=None):
    weights = [[Fraction(int(v), 4) for v in row] for row in integers(seed, width, columns)]
    if masks is not None:
        weights = [[w if c in mask else 0 for c, w in enumerate(row)] for row, mask in zip(weights, masks, strict=True)]
    outgoing = [Fraction(int(v) or 1, 2) for v in integers(seed + 1, width)]
    body, biases = weights, None
    if bias:
        body, biases = [row[:-1] for row in weights], [row[-1] for row in weights]
    return Network.two_layer(body, outgoing, b=biases, slope=slope, masks=masks)


def disturbed(given, size, seed=0):
    """The network with floating-point noise on every hidden weight."""
    rng = np.random.default_rng(seed)
    hidden = [[w and float(w) * (1 + size * rng.standard_normal()) for w in row] for row in given.hidden_weights]
    return network_with(given, hidden)


# ------------------------------------------------------------------------------------------------- directions


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bias", [Bias.NONE, Bias.PENALISED, Bias.FREE])
def test_a_network_of_directions_is_balanced(seed, bias):
    problem = posed(integers(seed, 5, 2).tolist(), [1] * 5, slope="1/3", bias=bias)
    columns = len(problem.rows[0])
    directions = np.random.default_rng(seed).standard_normal((3, columns))
    found = network_of_directions(problem, directions, [1, -1, 1], [0, 0, 0])
    inner = list(problem.norm_columns)
    for w, v, u, sign in zip(found.hidden_weights, found.output_weights, directions, [1, -1, 1], strict=True):
        assert float(v) == pytest.approx(sign * np.linalg.norm(u[inner]) ** 0.5, rel=1e-14)
        assert [float(abs(v) * x) for x in w] == pytest.approx(u.tolist(), rel=1e-13)
        assert all(x.denominator & (x.denominator - 1) == 0 for x in w)
    total = np.linalg.norm(directions[:, inner], axis=1).sum()
    assert float(half_squared_norm(problem, found)) == pytest.approx(total)
    z = float_rows(problem) @ directions.T
    expected = np.maximum(z, z / 3) @ [1, -1, 1]
    assert [float(value) for value in outputs(problem, found)] == pytest.approx(expected.tolist())


def test_directions_of_masked_neurons():
    masks = [(0, 2), (1,)]
    problem = posed([[1, 2, 3]], [1], masks=masks)
    found = network_of_directions(problem, np.array([[1.0, 0.0, 2.0], [0.0, 4.0, 0.0]]), [1, -1], [0, 1])
    assert found.architecture.masks == ((0, 2), (1,))
    assert found.hidden_weights[1] == (0, 2, 0)
    assert found.output_weights[1] == -2


def test_a_zero_direction_is_a_zero_neuron():
    found = network_of_directions(posed([[1, 2]], [1]), np.zeros((1, 2)), [1], [0])
    assert found.parameters == ((0, 0), (0,))


@pytest.mark.parametrize("others", [0, 1])
def test_a_constant_is_nearly_free_when_the_bias_is(others):
    """u = (0, 0, 3): f = 3, at a small part of the cost of the other neurons."""
    problem = posed([[1, 2], [-3, 1]], [1, 1], bias=Bias.FREE)
    directions = np.array([[0.0, 0.0, 3.0], [2.0, 0.0, 0.0]])[: 1 + others]
    found = network_of_directions(problem, directions, [1] * (1 + others), [0] * (1 + others))
    values = [float(value) for value in outputs(problem, found)]
    assert values == pytest.approx([3 + 2 * others, 3], rel=1e-9)
    assert float(half_squared_norm(problem, found)) == pytest.approx(2 * others, abs=1e-6)
    counted = posed([[1, 2], [-3, 1]], [1, 1], bias=Bias.PENALISED)
    whole = network_of_directions(counted, directions, [1] * (1 + others), [0] * (1 + others))
    assert float(half_squared_norm(counted, whole)) == pytest.approx(3 + 2 * others)


# ------------------------------------------------------------------------------------------------- merging


def values_of(rows, directions, signs, slope):
    z = rows @ np.array(directions).T
    return np.where(z > 0, z, slope * z) @ np.array(signs, dtype=float)


@pytest.mark.parametrize("slope", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(8))
def test_merging_keeps_the_outputs_on_the_data(slope, seed):
    """Small integers, so that floats are exact: equal, not nearly equal."""
    rows = integers(seed, 5, 2 + seed % 2).astype(float)
    directions = integers(seed + 100, 12, rows.shape[1], size=2).astype(float)
    rng = np.random.default_rng(seed)
    signs, masks = rng.choice([-1, 1], 12).tolist(), rng.choice([0, 1], 12).tolist()
    merged, new_signs, new_masks = merge_directions(rows, directions, signs, masks, slope, bias=False)
    assert values_of(rows, merged, new_signs, slope).tolist() == values_of(rows, directions, signs, slope).tolist()
    assert len(merged) == len(new_signs) == len(new_masks) < 12
    assert np.linalg.norm(merged, axis=1).sum() <= np.linalg.norm(directions, axis=1).sum() * (1 + 1e-12)
    for mask in (0, 1):
        mine = [k for k, m in enumerate(new_masks) if m == mask]
        theirs = [k for k, m in enumerate(masks) if m == mask]
        assert (
            values_of(rows, merged[mine], [new_signs[k] for k in mine], slope).tolist()
            == values_of(rows, directions[theirs], [signs[k] for k in theirs], slope).tolist()
        )


def test_only_one_sign_mask_and_cell_merge():
    rows = np.eye(2)
    together = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert len(merge_directions(rows, together, [1, 1], [0, 0], 0.0, bias=False)[0]) == 1
    assert len(merge_directions(rows, together, [1, -1], [0, 0], 0.0, bias=False)[0]) == 2
    assert len(merge_directions(rows, together, [1, 1], [0, 1], 0.0, bias=False)[0]) == 2
    assert len(merge_directions(rows, together * [1, -1], [1, 1], [0, 0], 0.0, bias=False)[0]) == 1
    apart = np.array([[1.0, 2.0], [2.0, -1.0]])
    assert len(merge_directions(rows, apart, [1, 1], [0, 0], 0.0, bias=False)[0]) == 2


def test_kinks_belong_to_both_sides_until_one_is_taken():
    """(3, 0) lies on the kink of the second point and joins (1, 1) or (1, -1), but then these two stay apart."""
    directions = np.array([[3.0, 0.0], [1.0, 1.0], [1.0, -1.0]])
    merged, signs, _ = merge_directions(np.eye(2), directions, [1, 1, 1], [0, 0, 0], 0.0, bias=False)
    assert len(merged) == 2
    assert values_of(np.eye(2), merged, signs, 0.0).tolist() == [5.0, 1.0]


def test_linear_neurons_are_all_one():
    directions = np.array([[1.0, 2.0], [3.0, -1.0], [1.0, 1.0]])
    merged, signs, masks = merge_directions(np.eye(2), directions, [1, -1, -1], [0, 0, 0], 1.0, bias=False)
    total = directions[0] - directions[1] - directions[2]
    assert (merged[0] * signs[0]).tolist() == total.tolist()
    assert masks == [0]


@pytest.mark.parametrize("bias", [False, True])
def test_rounding_does_not_keep_neurons_apart(bias):
    """A preactivation of 1e-12 on the other side is a kink."""
    rows = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    directions = np.array([[1.0, 1e-12, 0.0], [1.0, -1e-12, 0.0]])
    assert len(merge_directions(rows, directions, [1, 1], [0, 0], 0.0, bias=bias)[0]) == 1


# ------------------------------------------------------------------------------------------------- repair


BIASES = [Bias.NONE, Bias.PENALISED, Bias.FREE]


@pytest.mark.parametrize("slope", [0, "1/3", 1])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("size", [1e-9, 1e-4])
@pytest.mark.parametrize("seed", range(5))
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
    many = [[1, i] for i in range(EXACT_EQUATIONS + 1)]
    assert repair(posed(many, [1] * len(many)), one) is None


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


# ------------------------------------------------------------------------------------------------- distance


numbers = st.fractions(-5, 5, max_denominator=9)


@given(st.lists(numbers, min_size=6, max_size=6), st.lists(numbers, min_size=6, max_size=6))
def test_distance_is_an_upper_bound(a, b):
    first, second = (Network.two_layer([p[:2], p[2:4]], p[4:]) for p in (a, b))
    found, size = distance(first, second), squared_norm(b)
    if size:
        apart = squared_norm(x - y for x, y in zip(a, b, strict=True))
        assert apart <= found**2 * size <= apart * (1 + Fraction(1, 10**5))
    assert distance(second, second) == 0
    assert distance(Network.two_layer([b[:2], b[2:4]], b[4:]), second) == 0


def test_distance_of_all_parameters():
    """(3, 4) to (3, 4 + 5): 5 / 5, the output weight counted."""
    assert distance(Network.two_layer([[3]], [9]), Network.two_layer([[3]], [4])) == 1


# ------------------------------------------------------------------------------------------------- interpolation


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


def test_nothing_interpolates_what_contradicts_itself_or_is_too_much():
    directions = np.array([[1.0, 0.0]])
    assert list(interpolate(posed([[1, 0], [1, 0]], [1, 2]), directions, [1], [0])) == []
    assert list(interpolate(posed([[1, 0]], [1], goal=Goal.MAX_MARGIN), directions, [1], [0])) == []
    many = [[1, i] for i in range(EXACT_EQUATIONS + 1)]
    assert list(interpolate(posed(many, [1] * len(many)), directions, [1], [0])) == []


def test_absorbing_neurons_have_masks_of_the_problem():
    masks = [(0,), (1,)]
    problem = posed([[1, 0], [0, 1], [-1, 0]], [1, 1, 1], masks=masks)
    for candidate in interpolate(problem, np.array([[1.0, 0.0], [0.0, 1.0]]), [1, 1], [0, 1]):
        assert set(candidate.architecture.masks) <= {(0,), (1,)}
        assert outputs(problem, candidate) == [1, 1, 1]
