"""The search for `deep-local`: what it finds, and where it says nothing."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from tests.depth_cases import CASES, case, shape
from verify import Goal
from verify.checker.depth_local import choices_of, second_order
from verify.checker.depth_states import gradient, states
from verify.checker.depth_stationary import DeepStationary, Part
from verify.deciders.depth.local import LARGEST, joined, local_optimum, second_order_at
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


def pulled(made, state, part):
    listed = {(l, j): slope for l, j, slope in part.slopes}
    return [part.multiplier * z for row in gradient(made.network, state, state.at(listed)) for z in row]


def test_one_part_has_the_gradients_of_several_also_where_ties_are_of_several_layers():
    """The mean of the slopes alone has not: of the ties below the weights are what is above them."""
    random, joined_ones, in_several_layers, unlike_the_mean = Random(3), 0, 0, 0
    for _ in range(2000):
        weights = [[random.choice([-1, 0, 1]) for _ in range(a * b)] for a, b in ((2, 2), (2, 2), (2, 1))]
        made = case(shape([2, 2, 2, 1], [0, 0]), weights, [[random.choice([0, 1]), 1]], [1])
        (state,) = states(made.problem, made.network)
        if len({l for l, _ in state.ties}) < 2:
            continue
        parts = several_parts_of(random, state)
        one = joined(made.network, state, parts)
        if one is None:
            continue
        joined_ones += 1
        sums = [sum(column) for column in zip(*(pulled(made, state, part) for part in parts), strict=True)]
        assert pulled(made, state, one) == sums
        total = sum(part.multiplier for part in parts)
        means = [sum(p.multiplier * p.slopes[k][2] for p in parts) / total for k in range(len(state.ties))]
        unlike_the_mean += means != [slope for *_, slope in one.slopes]
        in_several_layers += pulled(made, state, replace(one, slopes=with_slopes(one, means))) != sums
    assert joined_ones >= 100
    assert unlike_the_mean >= in_several_layers >= 20


def several_parts_of(random, state):
    """Parts with slopes at random."""
    return [
        Part(0, F(random.randint(1, 4)), tuple((l, j, F(random.randint(0, 4), 4)) for l, j in state.ties))
        for _ in range(3)
    ]


def with_slopes(part, slopes):
    return tuple((l, j, slope) for (l, j, _), slope in zip(part.slopes, slopes, strict=True))


def test_parts_that_no_slopes_replace():
    """f = s(z_1) - s(z_2), both of one unit at its kink: what is above it cancels on average, what it passes on not."""
    made = case(shape([1, 2, 2, 1], [0, 0]), [[0, 1], [1, 0, 1, 0], [1, -1]], [[1]], [0], goal=Goal.MIN_NORM)
    (state,) = states(made.problem, made.network)
    assert set(state.ties) == {(0, 0), (1, 0), (1, 1)}

    def part(below, one, other):
        slopes = {(0, 0): below, (1, 0): one, (1, 1): other}
        return Part(0, F(1), tuple((l, j, F(slopes[l, j])) for l, j in state.ties))

    assert joined(made.network, state, [part(1, 1, 0), part(0, 0, 1)]) is None  # 1 times 1, 0 times -1
    assert joined(made.network, state, [part(1, 1, 0), part(1, 0, 1)]) is not None
    assert joined(made.network, state, [part(1, 1, 0), part(0, 0, F(1, 2))]) is None  # 1 over 1/2 is above 1


@pytest.mark.parametrize("rho", [F(0), F(1), F(7, 3), F(65536)])
def test_the_matrix_is_linear_in_the_weight(rho):
    made = CASES["20 concave kinks"]()
    local = found(made).certificate
    pieces = choices_of(made.problem, made.network, local.parts)[0]
    at = [second_order(made.network, pieces, local.rotations, z) for z in (F(0), F(1), rho)]
    assert second_order_at((at[0], at[1]), rho) == at[2]
