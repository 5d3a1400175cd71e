"""Primal and dual variables, and effective dimensions."""

from fractions import Fraction

import numpy as np
import pytest

from verify import Dataset, InputError, Network, quantities

DATA = Dataset([[1, 0, 2], [0, 1, -1]], [1, -1])


def test_duals_give_the_weights_and_primals_the_preactivations():
    network = Network.two_layer([[2, 3, 1], [Fraction(1, 2), 0, 1]], [1, -1])
    z, b = quantities.primals(network, DATA), quantities.duals(network, DATA)
    assert b == ((2, 3), (Fraction(1, 2), 0))
    assert z == ((4, 2), (Fraction(5, 2), -1))
    columns = list(zip(*DATA.inputs, strict=True))
    for w, line in zip(network.hidden_weights, b, strict=True):
        assert w == tuple(line[0] * first + line[1] * second for first, second in columns)


def test_a_weight_outside_of_the_span_has_no_dual():
    assert quantities.duals(Network.two_layer([[2, 3, 2]], [1]), DATA) is None


def test_a_run_in_floats_is_the_same():
    network = Network.two_layer([[2, 3, 1], [Fraction(1, 2), 0, 1]], [1, -1])
    weights = np.array(network.hidden_weights, float)
    z, b = quantities.primal_and_dual(np.stack([weights, 2 * weights]), np.array(DATA.inputs, float))
    assert z.shape == b.shape == (2, 2, 2)
    assert np.allclose(z[0], np.array(quantities.primals(network, DATA), float))
    assert np.allclose(b[1], 2 * np.array(quantities.duals(network, DATA), float))
    with pytest.raises(InputError, match="shape"):
        quantities.primal_and_dual(weights, np.ones(3))


def test_effective_dimensions():
    assert quantities.effective_dimensions([3] * 7) == (7, 7)
    assert quantities.effective_dimensions([1, Fraction(1, 2), 0]) == (Fraction(9, 5), Fraction(3, 2))
    for wrong in ([0, 0], [1, -1], []):
        with pytest.raises(InputError):
            quantities.effective_dimensions(wrong)


def test_biases_are_refused():
    network = Network.two_layer([[1, 0, 0]], [1], b=[1])
    for call in (quantities.primals, quantities.duals):
        with pytest.raises(InputError, match="without biases"):
            call(network, DATA)
