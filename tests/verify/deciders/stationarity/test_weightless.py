"""Networks without weights, for a loss: whether the subgradients can add up to what the biases ask for."""

from fractions import Fraction

import numpy as np
import pytest

from verify import Network, audit
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.stationarity.weightless import weightless
from verify.problem.objectives import LOSSES, loss_asked
from verify.problem.problem import Bias, Dataset, Problem

F = Fraction


def derivatives(loss, y, z):
    """The interval of -dl/dz of a mean-free loss, from its graph."""
    r = y - z
    if loss == "squared":
        return 2 * r, 2 * r
    if loss == "absolute":
        return (F(-1), F(1)) if r == 0 else (F(1), F(1)) if r > 0 else (F(-1), F(-1))
    assert loss == "hinge"
    q = 1 - y * z
    low, high = (F(0), F(1)) if q == 0 else (F(1), F(1)) if q > 0 else (F(0), F(0))
    return sorted((y * low, y * high))


def is_stationary(loss, targets, decay, biases, of_output, slope):
    """From the definition: with W = v = 0 all that is left is r_v = -s(b_j) sum c_i and r_b = mu b - sum c_i."""
    z = of_output or F(0)
    ends = [derivatives(loss, y, z) for y in targets]
    low, high = (sum(end[k] for end in ends) for k in (0, 1))
    wanted = {F(0) for b in biases if (b if b > 0 else slope * b)}
    if of_output is not None:
        wanted.add(decay * of_output)
    return len(wanted) < 2 and all(low <= pull <= high for pull in wanted)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.one_in(3)
def test_networks_of_biases_alone(seed):
    random = np.random.default_rng(seed)
    loss = ["squared", "absolute", "hinge"][seed % 3]
    n, k = int(random.integers(1, 4)), int(random.integers(1, 3))
    signs = [F(int(s)) for s in random.choice([-1, 1], size=n)]
    targets = signs if LOSSES[loss].labels else [F(int(y), 2) for y in random.integers(-3, 4, size=n)]
    of_output = [None, F(0), F(int(random.integers(-3, 4)), 2), F(int(random.integers(-2, 3)))][int(random.integers(4))]
    biases = [F(int(b)) for b in random.integers(-1, 2, size=k)]
    slope, is_free = [F(0), F(1, 2)][int(random.integers(2))], bool(random.integers(2))
    network = Network.two_layer([[0, 0]] * k, [0] * k, b=biases if is_free else None, b2=of_output, slope=slope)
    data = ([[int(x) for x in row] for row in random.integers(-2, 3, size=(n, 2))], targets)
    bias = "free" if is_free else "none"
    found = audit(network, data, loss=loss, decay="1/2", reduction="sum", bias=bias, time_limit=5)
    of_bias = 0 if is_free else F(1, 2)
    wanted = is_stationary(loss, targets, of_bias, biases if is_free else [], of_output, slope)
    assert found.stationary.verdict.value == ("proved" if wanted else "refuted"), found.stationary.reason


def test_what_the_decider_itself_proposes():
    """sum c_i is 3 at b = 0, and a free output bias asks for 0; at b = 3/2 it is 0."""
    for of_output, kind in ((0, NotStationary), ("3/2", Stationary)):
        network = Network.two_layer([[0]], [0], b2=of_output)
        asked = loss_asked("squared", 1, "sum").on(2, network, "free")
        problem = Problem(Dataset([[1], [2]], [1, 2]), network.architecture, goal=asked, bias=Bias.NONE)
        found = weightless(problem, asked, network, network, F(1, 100))
        assert isinstance(found.certificate, kind)


def test_a_penalised_bias_is_a_weight():
    network = Network.two_layer([[0]], [0], b=[1], b2=0)
    found = audit(network, ([[1], [2]], [1, 1]), loss="squared", decay=1, time_limit=5)
    assert found.stationary.verdict.value == "refuted"
