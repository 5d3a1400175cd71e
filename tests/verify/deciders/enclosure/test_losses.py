"""Exact stationary points near networks with a loss: what is proved of random problems is true, for every loss."""

from collections import Counter

import numpy as np
import pytest

from tests.enclosed_losses import NAMES, Floats, found
from tests.forging import accepted
from tests.losses import over_all_cells, posed
from tests.words import check_words
from verify import Bias, Network, Verdict, audit
from verify.deciders.enclosure.distance import centre_network

COUNT = 280
LEAST = 8
"""How many networks of each loss have an exact point at least."""


def test_every_loss_has_some_of_each_kind():
    kinds = Counter()
    for _, name, problem, _, nearby in found(COUNT):
        proof = nearby.certificate
        if proof is None:
            continue
        kinds[name] += 1
        kinds[proof.optimality] += 1
        kinds["kinks"] += any("0" in one.sides for one in proof.directions)
        kinds["copies"] += any("=" in one.sides for one in proof.directions)
        kinds["fixed"] += bool(proof.fixed)
        kinds["output bias"] += problem.has_output_bias
        kinds["free"] += problem.bias is Bias.FREE
    assert all(kinds[name] >= LEAST for name in NAMES), kinds
    assert min(kinds[each] for each in ("stationary point", "local optimum", "optimum of any width")) > 3, kinds
    assert min(kinds[each] for each in ("kinks", "copies", "fixed", "output bias", "free")) > 3, kinds


@pytest.mark.parametrize("name", NAMES)
def test_what_is_proved_of_random_networks_is_true(name):
    """The centre is stationary by the definitions in floats; no network is better where it is said to be an optimum."""
    random = np.random.default_rng(5)
    for seed, own, problem, network, nearby in found(COUNT):
        proof = nearby.certificate
        if own != name or proof is None:
            continue
        accepted(problem, network, proof)
        point = Floats(name, problem, network, proof)
        assert point.worst_subgradient() < 1e-8, seed
        assert point.residual() < 1e-6, seed
        value = point.value(point.W, point.v, point.b)
        if proof.optimality != "stationary point":
            for _ in range(100):
                step = 10.0 ** random.uniform(-5, -2)
                W = point.W + step * random.normal(size=point.W.shape) * (point.W != 0)
                v = point.v + step * random.normal(size=point.v.shape)
                b = point.b + step * random.normal() * problem.has_output_bias
                assert point.value(W, v, b) > value - 1e-9, seed
        if proof.optimality == "optimum of any width" and name != "logistic":
            assert abs(over_all_cells(problem, name) - value) < 1e-5 * (1 + value), seed


def test_the_distance_is_that_of_the_centre():
    for seed, name, problem, network, nearby in found(COUNT):
        proof = nearby.certificate
        if proof is None:
            continue
        point = Floats(name, problem, network, proof)
        pairs = zip(network.hidden_weights, network.output_weights, strict=True)
        given = np.array([[float(z) for z in (*w, v)] for w, v in pairs])
        apart = ((given - np.column_stack([point.W, point.v])) ** 2).sum() + (float(network.output_bias) - point.b) ** 2
        size = (given**2).sum() + float(network.output_bias) ** 2
        assert 0 <= float(proof.moved) - np.sqrt(apart / size) < 1e-4 + 1e-4 * np.sqrt(apart / size), seed


def test_an_audit_says_it_of_the_network_and_of_one_near_it():
    """The optimum has irrational weights, and floats are near it."""
    rows, targets = [[1], [2], [-1], [-2]], [1, 2, 1, 2]
    problem = posed("squared", rows, targets, "1/10", width=2)
    size = np.sqrt(0.98) * 1.0001  # each neuron serves one side: 5 (1 - p) = 1/10, p = v w
    network = Network.two_layer([[size], [-size]], [size, size])
    result = audit(network, rows, targets, goal=problem.goal)
    assert (result.stationary.level, result.local_optimum.level) == ("near", "near")
    assert result.local_optimum.certificates[0].optimality == "optimum of any width"
    assert result.stationary.moved < 0.01


def test_that_its_local_optimality_is_open_is_said_of_the_point():
    """Which lies on kinks that help one side: the network itself is nearly stationary, and that is not the question."""
    _, _, problem, network, nearby = found(COUNT)[8]
    assert nearby.certificate.optimality == "stationary point"
    whole = centre_network(problem, network, nearby.certificate)[: network.width]
    close = Network(problem.architecture, (whole[:, :-1].ravel().tolist(), whole[:, -1].tolist()))
    result = audit(close, problem.data, goal=problem.goal, bias=problem.bias)
    assert (result.stationary.level, result.local_optimum.verdict) == ("near", Verdict.UNDECIDED)
    assert result.local_optimum.reason == "whether the exact stationary point near it is a local optimum is open"
    check_words(result)


def test_numbers_that_are_not_determined_are_named():
    reasons = Counter(nearby.reason.split(" (")[0] for *_, nearby in found(COUNT) if nearby.certificate is None)
    assert all(reason for reason in reasons)
    assert sum(reasons.values()) < COUNT / 2, reasons
