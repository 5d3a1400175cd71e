"""Growth of small weights: G against its definition in floats and its own derivative, times against the flow."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from verify import Dataset, InputError, Network, quantities

X = [[Fraction(3, 2), Fraction(1)], [Fraction(1), Fraction(-1, 2)], [Fraction(2), Fraction(1, 3)]]
SYMMETRIC = Dataset([*X, *([-v for v in row] for row in X)], [1, 1, 1, -1, -1, -1])
NETWORK = Network.two_layer([[1, 2], [Fraction(-1, 2), 1], [3, 0]], [2, -1, Fraction(1, 2)], slope=Fraction(1, 4))


def test_mu_by_hand():
    assert quantities.mean_signed(SYMMETRIC) == (Fraction(3, 2), Fraction(5, 18))


def test_g_is_the_gradient_of_the_loss_at_0():
    """L(theta) = 1/n sum log(1 + e^(-y f)) ~ log 2 - sum v_k G(w_k): the derivative in v at v = 0 is -G(w)."""
    x, y = np.array(SYMMETRIC.inputs, float), np.array(SYMMETRIC.targets, float)
    for w in ([1.0, -3.0], [-0.25, 2.0], [0.0, 0.0]):
        z = x @ w
        s = np.maximum(z, z / 4)
        loss = lambda v, s=s: np.logaddexp(0, -y * v * s).mean()  # noqa: E731
        slope = (loss(1e-4) - loss(-1e-4)) / 2e-4
        assert float(quantities.g_function(w, SYMMETRIC, Fraction(1, 4))) == pytest.approx(-slope, abs=1e-7)


def test_g_is_linear_on_symmetric_data_with_a_quarter_of_1_plus_a():
    mu = quantities.mean_signed(SYMMETRIC)
    for a in (Fraction(0), Fraction(1, 4), Fraction(1)):
        for w in ([1, -3], [Fraction(-1, 4), 2]):
            expected = (1 + a) / 4 * sum(p * q for p, q in zip(w, mu, strict=True))
            assert quantities.g_function(w, SYMMETRIC, a) == expected


def test_the_m_norm():
    assert quantities.squared_m_norm(NETWORK) == 9
    assert quantities.m_norm(NETWORK) == 3.0
    assert quantities.m_norm(Network.two_layer([[1, 0]], [-4])) == 4.0


def test_drifts_by_their_definition():
    mu = np.array(quantities.mean_signed(SYMMETRIC), float)
    W, v = np.array(NETWORK.hidden_weights, float), np.array(NETWORK.output_weights, float)
    expected = (W @ mu / np.linalg.norm(mu) + v) / (2 * np.sqrt(3) * 3.0)
    assert quantities.drifts(NETWORK, SYMMETRIC) == pytest.approx(expected)
    assert quantities.drift_signs(NETWORK, quantities.mean_signed(SYMMETRIC)) == np.sign(expected).tolist()


def test_times_are_those_of_exponential_growth():
    """A small neuron along mu under the linear part of the flow: from sqrt(m) M to r in T_1(r)."""
    rate = quantities.growth_rate(SYMMETRIC, Fraction(1, 4))
    small = Network(NETWORK.architecture, [[x / 1000 for x in layer] for layer in NETWORK.parameters])
    time = quantities.alignment_time(small, SYMMETRIC, 0.1)
    assert np.sqrt(3) * 0.003 * exp(rate * time) == pytest.approx(0.1)
    assert quantities.embedding_time(SYMMETRIC, 0.1, Fraction(1, 4)) == pytest.approx(log(10) / rate)


def test_what_does_not_grow_is_refused():
    still = Dataset([[1], [1]], [1, -1])
    network = Network.two_layer([[1]], [1])
    for call in (
        lambda: quantities.drifts(network, still),
        lambda: quantities.alignment_time(network, still, 0.1),
        lambda: quantities.embedding_time(still, 0.1),
        lambda: quantities.embedding_time(SYMMETRIC, 0.0),
        lambda: quantities.drifts(Network.two_layer([[0, 0]], [0]), SYMMETRIC),
        lambda: quantities.g_function([1], SYMMETRIC),
    ):
        with pytest.raises(InputError):
            call()
