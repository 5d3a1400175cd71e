"""The search for a local optimum near a network of any depth: what it proves, and where it says nothing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from solvers.clock import now
from solvers.depth import DeepDescent, random_start
from verify.auditing.loop import pose
from verify.checker.checking import Accepted, check
from verify.checker.copies import with_copies
from verify.deciders.depth import nearby as module
from verify.deciders.depth.arrays import layers_of, network_of
from verify.deciders.depth.channels import channels, with_copies_as_one, without_empty
from verify.deciders.depth.nearby import nearby
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Problem


def trained(shape: Architecture, seed: int, points: int = 4) -> tuple[Problem, Network] | None:
    """A random problem and a network that descent ends at; None where that does not fit."""
    random, layers = np.random.default_rng(seed), layers_of(shape)
    rows = np.round(random.normal(size=(points, shape.layers[0].inputs)) * 64) / 64
    signs = random.choice([-1.0, 1.0], points)
    end = DeepDescent(layers, rows, signs, True).ended(random_start(layers, random), 40.0)
    if (signs * layers.outputs(end, rows)).min() < 0.5:
        return None
    network = network_of(shape, end)
    return pose(network, (rows, signs)), network


KINDS = {
    "ReLU": (Architecture.dense([3, 3, 2, 1]), 1),
    "leaky": (Architecture.dense([3, 3, 2, 1], slope="1/4"), 6),
    "depth 4": (Architecture.dense([3, 2, 2, 2, 1], slope="1/2"), 5),
    "linear": (Architecture.dense([3, 3, 2, 1], slope=1), 6),
    "convolution": (Architecture.convolution(2, patches=3, channels=2), 6),
    "pooled": (Architecture.convolution(2, patches=3, channels=2, pool="sum"), 1),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.one_in(3)
def test_trained_networks_are_near_local_optima(kind):
    shape, least = KINDS[kind]
    proved = 0
    for seed in range(8):
        asked = trained(shape, seed)
        proof = None if asked is None else nearby(*asked)
        if asked is None or proof is None:
            continue
        assert isinstance(check(*asked, proof), Accepted)
        assert proof.radius > 0
        assert (proof.optimality == "local optimum") == (not proof.empty)
        proved += 1
    assert proved >= least


def test_a_unit_without_weights_is_left_out():
    for seed in range(12):
        problem, network = trained(Architecture.dense([3, 3, 2, 1], slope="1/4"), seed) or (None, None)
        assert problem is not None
        assert network is not None
        if (own := nearby(problem, network)) is None or own.empty:
            continue
        wide = Architecture.dense([3, 4, 2, 1], slope="1/4")
        first, second, last = network.parameters
        more = [*first, 0, 0, 0], [*second[:3], 0, *second[3:], 0], last
        proof = nearby(pose(Network(wide, more), problem.data), Network(wide, more))
        assert proof is not None
        assert proof.empty == ((0, 3),)
        assert proof.optimality == "stationary point"
        return
    raise AssertionError("no network without empty units was proved")


def test_channels_share_no_parameter():
    layers = Architecture.convolution(2, patches=2, channels=2).layers
    both = [({(0, 0), (0, 1)}, {(0, 0), (0, 1), (1, 0), (1, 1)}), ({(0, 2), (0, 3)}, {(0, 2), (0, 3), (1, 2), (1, 3)})]
    assert [*channels(layers, 0)] == both
    chained = [[0, None, None], [None, 1, None], [0, 1, None], [None, None, 2]]
    masked = Layer(inputs=3, outputs=4, slope=0, entries=chained), Layer(inputs=4, outputs=1, slope=None)
    assert [units for units, _ in channels(masked, 0)] == [{(0, 0), (0, 1), (0, 2)}, {(0, 3)}]


def test_channels_without_weights_are_left_out_as_a_whole():
    shape = Architecture.convolution(2, patches=2, channels=3)
    numbers = [[1, 2, Fraction(1, 10**9), 0, 0, Fraction(1, 100)], [1, 2, 0, 0, 0, 0]]
    found, empty = without_empty(Network(shape, numbers))
    assert empty == {(0, 2), (0, 3)}
    assert found.parameters == ((1, 2, 0, 0, 0, Fraction(1, 100)), (1, 2, 0, 0, 0, 0))


def test_copies_are_made_one_and_are_given_out_again():
    """Of three copies and another unit; a turned one, and one of another size on one side, are none."""
    numbers = [[1, 2, 2, 4, 3, 6, 2, -1, -1, -2, 1, 2], [2, 4, 6, 1, -2, 4]]
    given = Network(Architecture.dense([2, 6, 1]), numbers)
    one, held, shares = with_copies_as_one(given, frozenset())
    assert held == {(0, 1), (0, 2)}
    assert {(l, j, k) for l, j, k, _ in shares} == {(0, 0, 0), (0, 0, 1), (0, 0, 2)}
    assert sum(c * c for *_, c in shares) == 1
    again = with_copies(one, held, shares)
    far = max(
        abs(a - b) for rows in zip(again.parameters, given.parameters, strict=True) for a, b in zip(*rows, strict=True)
    )
    assert far < Fraction(1, 10**9)
    assert with_copies_as_one(one, held) == (one, held, ())
    assert with_copies_as_one(given, frozenset({(0, 0)}))[1] == {(0, 0), (0, 2)}


def test_saddles_are_no_local_optima():
    """All weights 1 on x = (1, 1): stationary, and better where one coordinate grows and the other shrinks."""
    shape = Architecture.diagonal(2, depth=3)
    for scale in (0, 1e-9, 1e-6):
        random = np.random.default_rng(1)
        theta = 1 + scale * random.normal(size=shape.parameter_count)
        network = network_of(shape, theta)
        assert nearby(pose(network, ([[1, 1]], [1])), network) is None


def test_what_is_not_asked(monkeypatch):
    problem, network = trained(Architecture.dense([3, 3, 2, 1], slope="1/4"), 1) or (None, None)
    assert problem is not None
    assert network is not None
    assert nearby(problem, network) is not None
    assert nearby(problem, network, now() - 1) is None
    regression = pose(network, (np.eye(4)[:, :3], [Fraction(1, 3), 2, 3, 4]), goal="min-norm")
    assert nearby(regression, network) is None
    two = Network.two_layer([[1, 0], [0, 1]], [1, -1])
    assert nearby(pose(two, ([[1, 0], [0, 1]], [1, -1])), two) is None
    monkeypatch.setattr(module, "LARGEST", 16)
    assert nearby(problem, network) is None
