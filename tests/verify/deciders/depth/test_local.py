"""The search for `deep-local`: what it finds, and where it says nothing."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.depth_cases import CASES, case, shape
from verify.checker.depth_stationary import DeepStationary, Part
from verify.deciders.depth.local import LARGEST, local_optimum
from verify.deciders.depth.stationarity import stationarity
from verify.problem.members import is_penalised

F = Fraction


def found(made, proof=None):
    kkt = proof or stationarity(made.problem, made.network, F(0)).certificate
    return local_optimum(made.problem, made.network, kkt)


@pytest.mark.parametrize("scale", [F(1, 10**9), F(7, 3), F(10**6)])
def test_the_scale_of_the_network_does_not_matter(scale):
    made = CASES["20 concave kinks"]()
    moved = case(
        made.network.architecture, [[scale * z for z in layer] for layer in made.network.parameters],
        [[*row] for row in made.problem.data.inputs], made.problem.targets,
    )  # fmt: skip
    assert found(moved) is not None


def test_biases_that_count_and_targets():
    """Min-norm, a chain with a bias: the only network of depth 3 on (1, 1) up to turns, and the least norm."""
    made = case(shape([1, 1, 1, 1], [1, 1]), [[1], [1], [1]], [[1]], [1], goal=CASES["19 chain"]().problem.goal)
    assert found(made) is not None
    assert not is_penalised(made.problem.bias)


def test_several_parts_of_a_point_are_joined():
    made = CASES["20 concave kinks"]()
    proof = stationarity(made.problem, made.network, F(0)).certificate
    assert isinstance(proof, DeepStationary)
    assert len(proof.parts) > len({part.point for part in proof.parts})
    local = found(made, proof)
    assert [part.point for part in local.certificate.parts] == [0, 1]


def test_what_is_known_nearly_or_large_or_by_a_direction_says_nothing():
    made = CASES["7 worse vertex"]()
    kkt = made.proofs["kkt"]
    assert found(made, replace(kkt, epsilon=F(1, 10))) is None
    wide = case(shape([1, LARGEST, 1], [1]), [[1] + [0] * (LARGEST - 1)] * 2, [[1]], [1])
    assert local_optimum(wide.problem, wide.network, DeepStationary(parts=(Part(0, F(1), ()),))) is None
    tie = CASES["12 pooled tie"]()
    (part, *_) = tie.proofs["kkt"].parts
    by_direction = replace(part, slopes=(), direction=((F(0), F(1)), (F(0),)))
    assert found(tie, DeepStationary(parts=(by_direction,))) is None
