"""Decisions at kinks against the conditions of Filippov's convention, by hand and by enumeration."""

from itertools import product

import numpy as np
import pytest

from solvers.layers import Layers, two_layers
from solvers.training.flow import sliding
from solvers.training.resting import bundles, direction_out


def _is_filippov(tau, velocity, normals, beta, tolerance=1e-9):
    """z_s rises where tau = 1, falls where tau = 0, and stays where it is in between."""
    drift = normals @ (velocity + (tau * beta) @ normals)
    scale = tolerance * (1 + np.abs(normals @ velocity).max())
    return all(
        (t == 1 and d >= -scale) or (t == 0 and d <= scale) or (0 < t < 1 and abs(d) <= scale)
        for t, d in zip(tau, drift, strict=True)
    )


def test_one_kink_is_crossed_or_held():
    normal, beta = np.array([[2.0, 0.0]]), np.array([-1.0])  # the drift jumps by -4
    for drift, tau in ((6.0, 1.0), (1.0, 0.25), (-1.0, 0.0)):
        assert sliding.decide(np.array([drift / 2, 7.0]), normal, beta, np.array([0.5])).tolist() == [tau]


def test_where_both_sides_push_away_the_side_that_was_asked_for_is_taken():
    normal, beta = np.array([[1.0]]), np.array([4.0])
    for start, tau in ((0.0, 0.0), (1.0, 1.0), (0.5, 1.0)):
        assert sliding.decide(np.array([-1.0]), normal, beta, np.array([start])).tolist() == [tau]
    assert sliding.decide(np.array([-9.0]), normal, beta, np.array([1.0])).tolist() == [0.0]


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_several_kinks_satisfy_filippovs_conditions_and_give_the_only_such_velocity(seed, dependent):
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(3, 2 if dependent else 5))
    velocity, beta = rng.normal(size=normals.shape[1]), -rng.uniform(0.1, 2, size=3)
    tau = sliding.decide(velocity, normals, beta, np.full(3, 0.5))
    assert _is_filippov(tau, velocity, normals, beta)
    assert np.all((tau >= 0) & (tau <= 1))
    chosen, found = velocity + (tau * beta) @ normals, 0
    for ends in product((0.0, 1.0, None), repeat=3):  # None: held
        free = [s for s in range(3) if ends[s] is None]
        other = np.array([0.0 if end is None else end for end in ends])
        if free:
            products = np.linalg.lstsq(
                normals[free] @ normals[free].T, -normals[free] @ (velocity + (other * beta) @ normals)
            )
            other[free] = products[0] / beta[free]
        if np.all((other >= 0) & (other <= 1)) and _is_filippov(other, velocity, normals, beta):
            assert velocity + (other * beta) @ normals == pytest.approx(chosen, abs=1e-8)
            found += 1
    assert found or dependent


def test_a_jump_too_small_to_be_one_is_crossed():
    tau = sliding.decide(np.array([1e-3]), np.array([[1.0]]), np.array([-1e-279]), np.array([1.0]))
    assert tau.tolist() == [1.0]


def test_needed_slopes_are_those_of_the_decision_and_leave_their_interval_with_it():
    rng = np.random.default_rng(3)
    normals, beta = rng.normal(size=(3, 6)), -rng.uniform(0.5, 1, size=3)
    inner = np.array([0.2, 0.5, 0.9])
    tangent = sliding.Tangency(normals).projected(rng.normal(size=6))
    velocity = tangent - (inner * beta) @ normals
    tau, inside = sliding.Tangency(normals).needed(velocity, beta, np.zeros(3))
    assert tau == pytest.approx(inner)
    assert inside == pytest.approx(0.1)
    at_half = velocity + (0.5 * beta) @ normals
    assert sliding.Tangency(normals).needed(at_half, beta, np.full(3, 0.5))[0] == pytest.approx(inner)
    outside = tangent - (np.array([0.2, 1.5, 0.9]) * beta) @ normals
    assert sliding.Tangency(normals).needed(outside, beta, np.zeros(3))[1] == pytest.approx(-0.5)
    twice = np.concatenate([normals, normals[:1]])  # dependent
    betas = np.append(beta, beta[0])
    assert sliding.Tangency(twice).needed(velocity, betas, np.zeros(4))[1] > 0
    assert sliding.Tangency(twice).needed(outside, betas, np.zeros(4))[1] < 0


def test_parallel_points():
    rows = np.array([[1.0, 2], [3, 1], [-2, -4], [2, 4], [3, 1.0000001], [0, 0]])
    both = sliding.parallel(rows, opposite=True)
    assert both.first.tolist() == [0, 1, 0, 0, 4, 5]
    assert both.ratio[:4].tolist() == [1, 1, -2, 2]
    assert both.members(0).tolist() == [0, 2, 3]
    assert sliding.parallel(rows, opposite=False).first.tolist() == [0, 1, 2, 0, 4, 5]
    assert not both.is_trivial
    assert sliding.parallel(rows[:2], opposite=True).is_trivial


def test_a_neuron_at_zero_leaves_where_it_grows_and_stays_where_it_shrinks():
    around = np.array([[1.0, 0.1], [-0.6, 0.9], [-0.5, -1.0]])
    assert direction_out(around, 0.0, -np.ones(3)) is None
    u = direction_out(around, 0.0, np.array([1.0, -1.0, -1.0]))
    assert u @ around[0] > 0
    assert direction_out(np.zeros((2, 2)), 0.0, np.ones(2)) is None


def test_neurons_that_share_weights_are_one_bundle():
    places = np.array([[0, 1, -1], [-1, 0, 1], [2, -1, 3]])
    shared, alone = bundles(Layers((places, np.array([[4, 5, -1]])), (0.0,))), bundles(two_layers(2, 3, 0.0))
    assert [bundle.units.tolist() for bundle in shared] == [[0, 1]]  # the third has no outgoing weight
    assert shared[0].weights.tolist() == [0, 1]
    assert [bundle.units.tolist() for bundle in alone] == [[0], [1], [2]]
    rows = np.arange(6.0).reshape(2, 3)
    z = shared[0].seen(rows) @ np.array([2.0, 3.0])
    assert z.tolist() == [3.0, 18.0, 8.0, 23.0]
