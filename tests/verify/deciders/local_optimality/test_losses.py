"""Local optimality for losses: by hand, and against what is found near networks that are stationary by construction."""

from fractions import Fraction
from math import sqrt
from random import Random

import numpy as np
import pytest

from tests.losses import posed
from tests.stationary_losses import stationary_network
from verify import Bias, Network
from verify.checker import Accepted, check
from verify.checker.local import Local, NotLocal
from verify.checker.statement import objective
from verify.deciders.local_optimality import local_optimality
from verify.deciders.proposal import sealed

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
PAIR = [[1, QUARTER], [-1, QUARTER]]


def decided(problem, network):
    found = local_optimality(problem, network, network)
    if found.certificate is not None:
        assert isinstance(check(problem, network, sealed(problem, network, found.certificate)), Accepted)
    return found


@pytest.mark.parametrize(
    ("problem", "network", "kind"),
    [
        (posed("squared", PAIR, [1, 1], Fraction(3, 8)), Network.two_layer([[0, 1]], [1]), Local),
        (
            posed("squared", PAIR, [1, 1], Fraction(3, 8), width=2),
            Network.two_layer([[0, 1], [0, 0]], [1, 0]),
            NotLocal,
        ),
        (posed("hinge", [[1]], [1], HALF), Network.two_layer([[1]], [1]), Local),
        (posed("hinge", [[1]], [1], HALF), Network.two_layer([[0]], [0]), NotLocal),
        (posed("hinge", [[1]], [1], Fraction(3, 2)), Network.two_layer([[0]], [0]), Local),
        (posed("absolute", [[1]], [-1], HALF), Network.two_layer([[1]], [-1]), Local),
        (posed("absolute", [[1], [-1]], [0, 0], HALF), Network.two_layer([[0]], [0]), Local),
        (posed("epsilon-insensitive", [[1]], [Fraction(3, 2)], HALF), Network.two_layer([[1]], [1]), Local),
        (posed("huber", [[1]], [3], QUARTER), Network.two_layer([[1]], [1]), Local),
        (posed("squared", [[1]], [Fraction(5, 2)], 1, output=QUARTER), Network.two_layer([[1]], [2]), Local),
        (posed("squared", [[2]], [3], 1, output=QUARTER), Network.two_layer([[0]], [0]), NotLocal),
        (
            posed("squared", [[1, 1], [0, -1]], [Fraction(5, 4), HALF], QUARTER),
            Network.two_layer([[1, 0]], [1]),
            NotLocal,
        ),
        (posed("squared", [[1, 1], [0, 1]], [Fraction(5, 4), -HALF], QUARTER), Network.two_layer([[1, 0]], [1]), Local),
        (
            posed("squared", [[1], [3]], [HALF, Fraction(7, 2)], 1, bias=Bias.FREE),
            Network.two_layer([[1]], [1], b=[0]),
            Local,
        ),
    ],
)
def test_by_hand(problem, network, kind):
    assert isinstance(decided(problem, network).certificate, kind)


def test_corners_of_the_loss_at_kinks_of_a_neuron():
    """|r| is at its corner at the second point, f = 0 = y, where the neuron has its kink: any c, and any slope."""
    problem = posed("absolute", [[1, 1], [0, -1]], [2, 0], HALF)
    found = decided(problem, Network.two_layer([[1, 0]], [1]))
    assert found.certificate is None or isinstance(found.certificate, NotLocal)


def test_irrational_prices():
    """Decays 2 and 1, m = sqrt 2. Zeros are decided; w = (1, 1), v = 2 has ||p|| = m, which no rational beta is."""
    zero = Network.two_layer([[0]], [0])
    assert isinstance(decided(posed("hinge", [[2]], [1], 2, output=1), zero).certificate, NotLocal)
    assert isinstance(decided(posed("hinge", [[1]], [1], 2, output=1), zero).certificate, Local)
    found = decided(posed("squared", [[1, 1]], [5], 2, output=1), Network.two_layer([[1, 1]], [2]))
    assert found.certificate is None
    assert "refused" in found.reason


def near(problem, network, random, size):
    """F at networks near, in floats: neurons that are 0 enter with both signs, balanced."""
    decay = problem.goal.decay
    lean = float(decay.output / decay.hidden) ** 0.25
    W, v = np.array(network.hidden_weights, float), np.array(network.output_weights, float)
    W, v = W.copy(), v.copy()
    for j in range(len(v)):
        step = np.array([random.gauss(0, 1) for _ in W[j]]) * size
        if v[j]:
            u = abs(v[j]) * W[j] + step * abs(v[j])
            root = sqrt(np.linalg.norm(u))
            W[j], v[j] = u / root * lean, np.sign(v[j]) * root / lean
        else:
            root = sqrt(np.linalg.norm(step))
            W[j], v[j] = step / root * lean, random.choice((1, -1)) * root / lean
    exact = Network.two_layer([[Fraction(float(z)) for z in row] for row in W], [Fraction(float(z)) for z in v])
    return objective(problem, exact)


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.one_in(2)
def test_against_networks_nearby(ties, zero):
    """Local: none of many nearby is better. Not local: the segment leads to networks that are, by their objectives."""
    seen = {Local: 0, NotLocal: 0}
    for seed in range(40):
        made = stationary_network(seed, ties=ties, zero=zero, output=[None, "small", "large"][seed % 3])
        if made is None:
            continue
        problem, network = made
        proof = decided(problem, network).certificate
        if proof is None:
            continue
        seen[type(proof)] += 1
        mine, random = objective(problem, network), Random(seed)
        if isinstance(proof, Local):
            assert all(near(problem, network, random, 10.0 ** -(k % 5)) >= mine for k in range(1, 60) if k % 5 > 1)
            continue
        assert better_on_the_way(problem, network, proof) < mine
    assert seen[NotLocal if zero or ties else Local] >= 5, seen


def better_on_the_way(problem, network, proof):
    """The objective of a network halfway to the end of the segment, in exact numbers."""
    decay = problem.goal.decay
    lean = Fraction(float(decay.output / decay.hidden) ** 0.25)
    end = network.architecture.layers[0].matrix(proof.end[0])
    W, v = [], []
    for w, out, u, sign in zip(network.hidden_weights, network.output_weights, end, proof.end[1], strict=True):
        middle = [(abs(out) * a + b) / 2 for a, b in zip(w, u, strict=True)]
        root = Fraction(float(np.linalg.norm([float(z) for z in middle])) ** 0.5) or Fraction(1)
        W.append([z / root * lean for z in middle])
        v.append(sign * root / lean if any(middle) else Fraction(0))
    return objective(problem, Network.two_layer(W, v))
