"""Better networks just beyond the ball in which a local optimum is the smallest (`verify.deciders.depth.crossing`)."""

from fractions import Fraction
from functools import cache

import pytest

from tests.depth_cases import CASES, case, disturbed
from tests.words import check_words
from verify import Architecture, Network, audit
from verify.checker import Accepted, check
from verify.checker.depth_bounds import DeepBetterNetwork
from verify.checker.questions import Verdict
from verify.deciders.depth.crossing import better_beside, distance_up_to_scale
from verify.deciders.depth.nearby import nearby
from verify.problem.problem import power_of_objective

F = Fraction
TOL = F(1, 10**6)


def decimals(rows):
    return [[F(str(z)) for z in row] for row in rows]


@cache
def beside_a_kink():
    """A convolution as training left it: the smallest within 3e-5, and a better one 4.7e-3 away."""
    return case(
        Architecture.convolution(2, patches=3, channels=2),
        decimals([[-0.226374, 1.844855, -0.000535, 0.004357], [1.254836, 0.0, -1.371176, 0.002963, 0.0, -0.003238]]),
        decimals([[1.109, 1.828, -0.359, 1.109], [-0.016, 0.031, -0.281, 0.391], [-0.438, -0.484, -2.797, 0.328],
                  [-0.234, 2.094, -0.828, 0.625]]), [1, -1, -1, 1],
    )  # fmt: skip


def value(problem, network):
    above, below = power_of_objective(problem, network)
    return above / below


def test_a_better_network_lies_just_beyond_a_local_optimum():
    made = beside_a_kink()
    proof = nearby(made.problem, made.network)
    assert proof.optimality == "local optimum"
    beside = better_beside(made.problem, made.network, proof, TOL, None)
    assert isinstance(check(made.problem, made.network, beside), Accepted)
    assert value(made.problem, beside.witness) * (1 + TOL) ** 2 < value(made.problem, made.network)
    apart = distance_up_to_scale(made.network, beside.witness)
    assert proof.clearance(made.network) < F(1, 1000) < apart < F(1, 100)


def test_the_audit_says_so_with_the_local_optimum():
    made = beside_a_kink()
    found = audit(made.network, made.problem.data, goal="max-margin", bias="none", stationary_tol=F(1, 1000))
    assert found.local_optimum.verdict is Verdict.PROVED
    assert found.global_optimum.verdict is Verdict.REFUTED
    witnesses = [c.witness for c in found.global_optimum.certificates if isinstance(c, DeepBetterNetwork)]
    assert min(distance_up_to_scale(made.network, one) for one in witnesses) < F(1, 100)
    text = " ".join(str(found).split())
    assert (
        "is a local optimum, the smallest with its margin within 3e-5 of it; but a better network lies within" in text
    )
    assert "a better network lies within" in found.local_optimum.reason
    check_words(found)


@pytest.mark.parametrize("name", ["6 vertex", "16 two of a kind"])
def test_nothing_is_said_where_none_is_better(name):
    made = CASES[name]()
    network = disturbed(made)
    proof = nearby(made.problem, network)
    assert better_beside(made.problem, network, proof, TOL, None) is None


def test_none_is_better_than_one_that_does_not_fit():
    made = beside_a_kink()
    proof = nearby(made.problem, made.network)
    opposite = Network(made.network.architecture, [[-w for w in row] for row in made.network.parameters])
    turned = Network(made.network.architecture, [made.network.parameters[0], opposite.parameters[1]])
    assert better_beside(made.problem, turned, proof, TOL, None) is None


@pytest.mark.parametrize(
    ("own", "other", "least"),
    [([[3]], [[6]], 0), ([[3]], [[-3]], 1), ([[0]], [[1]], 0), ([[1]], [[0]], 1)],
)
def test_the_distance_up_to_scale(own, other, least):
    """|own - t other| / |own|, the least over t > 0."""
    one, two = (Network.two_layer(w, [0]) for w in (own, other))
    assert distance_up_to_scale(one, two) == least


def test_the_distance_of_networks_at_an_angle():
    one, two = Network.two_layer([[1, 0]], [0]), Network.two_layer([[2, 2]], [0])
    assert F(1, 2) <= distance_up_to_scale(one, two) ** 2 <= F(1, 2) + F(1, 10**9)
