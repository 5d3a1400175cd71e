"""Ties and gradients at any depth, against gradients at networks nearby, which the second checker takes."""

from fractions import Fraction
from itertools import chain as chained
from itertools import product
from random import Random

import pytest

from tests.depth_cases import case, convolution, shape
from tests.second_checker import depth as second
from tests.second_checker.questions import Net
from verify.checker.depth_states import are_independent, gradient, rates, states, tie_inputs
from verify.checker.exact import Algebraic, Field
from verify.problem.network import Network

F = Fraction
NEAR = F(1, 10**6)
PATCHES = [[0, 1, None], [None, 0, 1]]
SHAPES = {
    "dense": shape([2, 3, 2, 1], [0, 0]),
    "leaky": shape([2, 2, 2, 1], ["1/2", "1/4"]),
    "mixed": shape([2, 2, 2, 1], [0, 1]),
    "shared": shape([3, 2, 2, 1], [0, 0], [PATCHES, None, [[0, 0]]]),
    "four": shape([2, 2, 2, 2, 1], [0, "1/2", 0]),
    "one": shape([3, 1], []),
}


def drawn(name, seed):
    """A network with many kinks, at points with zeros."""
    random = Random(f"{name}{seed}")
    architecture = SHAPES[name]
    small = [[random.choice([-1, 0, 0, 1]) for _ in range(layer.parameter_count)] for layer in architecture.layers]
    X = [[random.choice([-1, 0, 1]) for _ in range(architecture.inputs)] for _ in range(3)]
    return case(architecture, small, X, [1, 1, 1])


def moved(network, random):
    """The network a little off."""
    return [[w + NEAR * random.randint(-999, 999) / 1000 for w in layer] for layer in network.parameters]


def one_sided(found, i, parameters):
    """The slopes at a network nearby, and its gradient; None where a unit is at a kink there that matters."""
    net = Net(found.problem.architecture.to_json(), [[str(z) for z in layer] for layer in parameters])
    slopes, _ = second.units(None, net, found.problem.rows[i])
    return [[high for _, high in row] for row in slopes], second.gradient(
        net, found.problem.rows[i], [[g for g, _ in r] for r in slopes]
    )


@pytest.mark.parametrize(("name", "seed"), list(product(SHAPES, range(12))))
def test_every_gradient_nearby_lies_between_the_bounds(name, seed):
    found, random = drawn(name, seed), Random(seed)
    zs = [[[F(random.randint(-3, 3)) for _ in layer] for layer in found.network.parameters] for _ in range(4)]
    for i, state in enumerate(states(found.problem, found.network)):
        near = [one_sided(found, i, moved(found.network, random))[1] for _ in range(12)]
        for z in zs:
            direction = Network(found.network.architecture, z)
            low, high = rates(found.network, direction, state, state.slopes)
            flat = list(chained(*z))
            for row in near:
                value = sum(a * b for a, b in zip(flat, row, strict=True))
                assert low - F(1, 10**4) <= value <= high + F(1, 10**4)


@pytest.mark.parametrize(("name", "seed"), list(product(SHAPES, range(12))))
def test_every_pattern_of_independent_ties_occurs_nearby(name, seed):
    found, random = drawn(name, seed), Random(seed)
    for i, state in enumerate(states(found.problem, found.network)):
        layers = {l for l, _ in state.ties}
        if not all(are_independent(tie_inputs(found.network, state, l)) for l in layers) or len(state.ties) > 3:
            continue
        patterns = list(product(*[state.slopes[l][j] for l, j in state.ties]))
        wanted = {
            tuple(chained(*gradient(found.network, state, state.at(dict(zip(state.ties, p, strict=True))))))
            for p in patterns
        }
        sizes = [NEAR ** (len(found.network.parameters) - l) for l in range(len(found.network.parameters))]
        seen = set()
        for _ in range(60):
            steps = [
                [w + t * random.randint(-99, 99) for w in layer]
                for t, layer in zip(sizes, found.network.parameters, strict=True)
            ]
            _, row = one_sided(found, i, steps)
            for gradients in wanted:
                if all(abs(a - b) < F(1, 100) for a, b in zip(gradients, row, strict=True)):
                    seen.add(gradients)
        assert seen == wanted


@pytest.mark.parametrize(("name", "seed"), list(product(SHAPES, range(6))))
def test_gradients_are_those_of_the_second_checker(name, seed):
    found = drawn(name, seed)
    net = Net(found.problem.architecture.to_json(), [[str(z) for z in layer] for layer in found.network.parameters])
    for i, state in enumerate(states(found.problem, found.network)):
        slopes, inputs = second.units(None, net, found.problem.rows[i])
        assert [list(row) for row in state.slopes] == slopes
        assert [list(row) for row in state.inputs] == inputs
        at = state.at({tie: F(1, 3) for tie in state.ties})
        assert list(chained(*gradient(found.network, state, at))) == second.gradient(net, found.problem.rows[i], at)


def kinds(architecture, parameters, x):
    """The slopes of every hidden unit at a point."""
    found = case(architecture, parameters, [x], [1])
    return [list(row) for row in states(found.problem, found.network)[0].slopes]


def test_frozen_and_one_sided_units_are_no_ties():
    relu, on, off, tie = shape([2, 1, 1, 1], [0, 0]), (F(1), F(1)), (F(0), F(0)), (F(0), F(1))
    assert kinds(relu, [[1, 1], [1], [1]], [0, 0]) == [[on], [on]]  # 0 at a point of zeros
    assert kinds(relu, [[-1, 0], [1], [1]], [1, 0]) == [[off], [on]]  # behind a unit that is off
    assert kinds(relu, [[0, 1], [1], [1]], [1, 0]) == [[tie], [on]]  # z = s(z') >= 0
    assert kinds(relu, [[0, 1], [-1], [1]], [1, 0]) == [[tie], [off]]  # z = -s(z') <= 0
    assert kinds(relu, [[0, 1], [0], [1]], [1, 0]) == [[tie], [tie]]  # z = w s(z') with w of any sign
    assert kinds(relu, [[1, 0], [0], [1]], [1, 0]) == [[on], [tie]]
    two = shape([2, 2, 1, 1], [0, 0])
    assert kinds(two, [[0, 1, 0, 1], [1, 1], [1]], [1, 0]) == [[tie, tie], [on]]
    assert kinds(two, [[0, 1, 0, 1], [1, -1], [1]], [1, 0]) == [[tie, tie], [tie]]  # one of each sign
    leaky = shape([2, 1, 1, 1], ["1/2", "1/2"])
    half = (F(1, 2), F(1, 2))
    assert kinds(leaky, [[0, 1], [1], [1]], [1, 0]) == [[(F(1, 2), F(1))], [(F(1, 2), F(1))]]
    assert kinds(leaky, [[-1, 0], [0], [1]], [1, 0]) == [[half], [(F(1, 2), F(1))]]
    three = shape([2, 1, 1, 1, 1], [0, 0, 0])
    assert kinds(three, [[0, 1], [1], [1], [1]], [1, 0]) == [[tie], [on], [on]]  # >= 0 again
    assert kinds(three, [[0, 1], [-1], [1], [1]], [1, 0]) == [[tie], [off], [on]]  # behind one that is off near it
    mixed = shape([2, 1, 1, 1, 1], [0, "1/2", 0])
    assert kinds(mixed, [[0, 1], [-1], [1], [1]], [1, 0]) == [[tie], [half], [off]]  # <= 0, and leaky
    linear = shape([2, 1, 1, 1], [1, 0])
    assert kinds(linear, [[0, 1], [1], [1]], [1, 0]) == [[on], [tie]]
    masked = shape([2, 1, 1, 1], [0, 0], [[[0, None]], None, None])
    assert kinds(masked, [[1], [1], [1]], [0, 1]) == [[on], [on]]  # the other coordinate has no weight


def test_gathered_inputs_add_up_where_places_share():
    found = case(convolution(0), [[1, 0], [1, 1]], [[0, 1, 0, 1], [0, 1, 0, 2], [0, 1, 1, 0]], [1, 1, 1])
    first, second_, third = states(found.problem, found.network)
    assert tie_inputs(found.network, first, 0) == [[0, 1], [0, 1]]
    assert not are_independent(tie_inputs(found.network, first, 0))
    assert not are_independent(tie_inputs(found.network, second_, 0))
    assert third.ties == [(0, 0)]
    assert are_independent([])


def test_ranks_of_algebraic_numbers():
    t = Algebraic(Field((-2, 0, 1), (F(1), F(2))), (F(0), F(1)))  # the root of 2
    one, two = F(1), F(2)
    assert are_independent([[one, t], [t, one]])
    assert not are_independent([[one, t], [t, two]])
    assert not are_independent([[t, two], [one, t]])
    assert are_independent([[t, one], [one, t]])
    assert not are_independent([[F(0), F(0)]])
    assert are_independent(
        [
            [F(0), one],
            [one, F(0)],
        ]
    )
