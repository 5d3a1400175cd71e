"""Networks from random starts: those that are said to fit do, and a teacher's targets are met."""

import numpy as np
import pytest

from benchmarks.jobs.own_width import drawn
from solvers.own_width.fitted_starts import BATCHES, STARTS, fitted_networks, fitted_starts


def outputs_of(rows, signs, directions, slope):
    z = np.einsum("bkd,nd->bkn", directions, rows)
    return np.einsum("bk,bkn->bn", signs.astype(float), np.maximum(z, slope * z))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("slope", [0.0, 0.25])
def test_the_targets_of_a_teacher_are_met(seed, slope):
    random = np.random.default_rng(seed)
    rows, teacher = random.standard_normal((20, 3)) * [1, 100, 1e-3], random.standard_normal((1, 2, 3))
    targets = outputs_of(rows, np.array([[1, -1]]), teacher, slope)[0]
    signs = random.choice(np.array([1, -1], np.int8), (100, 2))
    fits, found = fitted_starts(rows, targets, signs, slope, random, margin=False)
    assert len(found) == np.count_nonzero(fits) > 0
    missed = outputs_of(rows, signs[fits], found, slope) - targets
    assert np.abs(missed).max() <= 2e-7 * np.abs(targets).max()


@pytest.mark.parametrize("seed", range(3))
def test_points_are_put_on_their_sides(seed):
    random = np.random.default_rng(seed)
    rows, targets = random.standard_normal((8, 3)), random.choice([-1.0, 1.0], 8)
    signs = np.tile(np.array([1, 1, -1], np.int8), (100, 1))
    fits, found = fitted_starts(rows, targets, signs, 0.0, random, margin=True)
    assert len(found) > 0
    assert (outputs_of(rows, signs[fits], found, 0.0) * targets > 0).all()


def test_a_neuron_has_no_weights_at_columns_that_it_does_not_see():
    random = np.random.default_rng(0)
    seen = np.array([[True, False], [False, True]])
    rows, signs = np.array([[1.0, 0.0], [0.0, 1.0]]), np.ones((50, 2), np.int8)
    fits, found = fitted_starts(rows, np.array([1.0, 2.0]), signs, 0.0, random, margin=False, seen=seen)
    assert fits.any()
    assert not found[:, ~seen].any()
    assert np.allclose(found[:, seen], [1.0, 2.0])


def test_more_starts_are_tried_where_few_fit():
    random, rooms = np.random.default_rng(0), []

    def signs(many):
        rooms.append(many)
        return random.choice(np.array([1, -1], np.int8), (many, 3))

    rows, targets, _ = drawn(0, 3, 3, 30, margin=False, bias=True)
    own, found = fitted_networks(rows, targets, signs, 0.0, random, margin=False)
    assert len(own) == len(found) > 0
    assert 1 < len(rooms) <= BATCHES
    assert set(rooms) == {STARTS}
    assert np.allclose(outputs_of(rows, own, found, 0.0), targets, atol=1e-5)
