"""Exact networks from floats: what keeps the outputs keeps them exactly, what is called a bound is one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify import Architecture, Bias, Dataset, Goal, Network, Problem
from verify.checker.exact import squared_norm
from verify.deciders.witnesses import distance, merge_directions, network_of_directions, network_with
from verify.numbers.floats import float_rows
from verify.problem.problem import half_squared_norm, outputs

BIASES = [Bias.NONE, Bias.PENALISED, Bias.FREE]


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
