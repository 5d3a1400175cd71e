"""Derivatives of layered networks against difference quotients and against plain loops over their matrices."""

import numpy as np
import pytest

from solvers.layers import Layers, two_layers

RANDOM = np.random.default_rng(5)
DIAGONAL = Layers((np.array([[0, -1], [-1, 1]]), np.array([[2, 3]])), (0.0,))
CONVOLUTION = Layers((np.array([[0, 1, -1, -1], [-1, -1, 0, 1]]), np.array([[2, 3]])), (0.25,))
DEEP = Layers((np.arange(12).reshape(4, 3), 12 + np.arange(8).reshape(2, 4), np.array([[20, 21]])), (0.0, 0.5))
DEEP_DIAGONAL = Layers((np.diag([1, 2]) - 1, np.diag([3, 4]) - 1, np.array([[4, 5]])), (0.0, 0.0))
LINEAR = Layers((np.arange(3)[None, :],), ())
NETWORKS = {
    "two layers": two_layers(3, 4, 0.1),
    "diagonal": DIAGONAL,
    "convolution": CONVOLUTION,
    "deep": DEEP,
    "deep diagonal": DEEP_DIAGONAL,
    "depth 1": LINEAR,
}


@pytest.fixture(params=NETWORKS, ids=list(NETWORKS))
def at(request):
    """A network, parameters, rows, slopes and a pull."""
    layers = NETWORKS[request.param]
    theta = RANDOM.normal(size=layers.size)
    rows = RANDOM.normal(size=(5, layers.places[0].shape[1]))
    return layers, theta, rows, layers.pattern(layers.preactivations(theta, rows)), RANDOM.normal(size=5)


def _frozen(layers, theta, rows, pattern):
    state = rows
    for l, matrix in enumerate(layers.matrices(theta)):
        state = state @ matrix.T
        if l < len(pattern):
            state = state * pattern[l]
    return state[:, 0]


def test_outputs_are_those_of_the_matrices(at):
    layers, theta, rows, pattern, _ = at
    for i, row in enumerate(rows):
        state = list(row)
        for l, places in enumerate(layers.places):
            state = [sum(0 if k < 0 else theta[k] * s for k, s in zip(line, state, strict=True)) for line in places]
            if l < len(layers.slopes):
                state = [max(z, layers.slopes[l] * z) for z in state]
        assert layers.outputs(theta, rows)[i] == pytest.approx(state[0], rel=1e-12, abs=1e-14)
    assert _frozen(layers, theta, rows, pattern) == pytest.approx(layers.outputs(theta, rows), rel=1e-12, abs=1e-14)


def test_derivatives_are_the_limits_of_differences(at):
    layers, theta, rows, pattern, pull = at
    jacobian, step = layers.jacobian(theta, rows, pattern), 1e-5
    gradient = layers.gradient(theta, rows, pattern, pull)
    assert gradient == pytest.approx(pull @ jacobian, rel=1e-12, abs=1e-13)
    outputs, pulled = layers.pulled(theta, rows, pattern, lambda outputs: outputs**2)
    assert outputs == pytest.approx(_frozen(layers, theta, rows, pattern), rel=1e-12, abs=1e-13)
    assert pulled == pytest.approx(outputs**2 @ jacobian, rel=1e-12, abs=1e-13)
    for kept, plain in zip(
        layers.preactivations_at(theta, rows, pattern), layers.preactivations(theta, rows), strict=True
    ):
        assert kept == pytest.approx(plain, rel=1e-12, abs=1e-13)
    hessian = layers.hessian_product(theta, rows, pattern, pull, np.eye(layers.size))
    assert hessian == pytest.approx(hessian.T, rel=1e-12, abs=1e-13)
    assert hessian == pytest.approx(layers.hessian(theta, rows, pattern, pull), rel=1e-12, abs=1e-13)
    for k, direction in enumerate(np.eye(layers.size)):
        after, before = theta + step * direction, theta - step * direction
        change = _frozen(layers, after, rows, pattern) - _frozen(layers, before, rows, pattern)
        assert jacobian[:, k] == pytest.approx(change / (2 * step), rel=1e-6, abs=1e-8)
        change = layers.gradient(after, rows, pattern, pull) - layers.gradient(before, rows, pattern, pull)
        assert hessian[k] == pytest.approx(change / (2 * step), rel=1e-6, abs=1e-8)


def test_a_hidden_unit(at):
    layers, theta, rows, pattern, _ = at
    step = 1e-6
    for l in range(len(pattern)):
        for unit in range(len(layers.places[l])):
            gradient, onwards = layers.unit_gradient(theta, rows, pattern, l, 2, unit)
            all_of_them = layers.by_activations(theta, len(rows), pattern)
            assert len(all_of_them) == len(pattern)
            assert all_of_them[l][2, unit] == pytest.approx(onwards, rel=1e-12)
            for k, direction in enumerate(np.eye(layers.size)):
                moved = [layers.preactivations(theta + s * step * direction, rows)[l][2, unit] for s in (1, -1)]
                assert gradient[k] == pytest.approx((moved[0] - moved[1]) / (2 * step), rel=1e-5, abs=1e-7)
            changed = [g.copy() for g in pattern]
            changed[l][2, unit] += step
            z = layers.preactivations(theta, rows)[l][2, unit]
            change = _frozen(layers, theta, rows, changed)[2] - _frozen(layers, theta, rows, pattern)[2]
            assert change == pytest.approx(onwards * z * step, rel=1e-6, abs=1e-13)


def test_the_pattern_has_a_third_state():
    layers = two_layers(1, 3, 0.5)
    theta = np.array([1.0, 0.0, -1.0, 1.0, 1.0, 1.0])
    assert layers.pattern(layers.preactivations(theta, np.ones((1, 1))))[0].tolist() == [[1.0, 0.75, 0.5]]
