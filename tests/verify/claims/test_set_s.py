"""What is drawn of the set S of arXiv:2306.06479, and of the larger sets that its false variants speak of."""

import numpy as np
import pytest

from tests.verify.claims.test_chistikov2023 import STARTS
from verify.claims.chistikov2023 import set_s_points
from verify.claims.chistikov2023.bundle_angles import has_two_positive_neurons
from verify.claims.chistikov2023.correlated import constants, yardsticks_of
from verify.claims.chistikov2023.set_s_points import SCALE, _Drawn
from verify.quantities import part_of_s


@pytest.fixture(scope="module")
def known():
    """eta and nu* of three dimensions, with the pull that belongs to them."""
    (instance,) = [start for start in STARTS if start.data.dimension == 3][:1]
    return constants(instance)


def test_points_are_in_s_and_in_every_part(known):
    parts = set()
    for r, _ in _Drawn().points(known):
        part = part_of_s(known.basis @ (r * known.teacher), known, SCALE)
        assert part is not None
        parts.add(part)
    assert parts == {1, 2, 3}


@pytest.mark.parametrize("larger", [_Drawn(has_psi_up=False), _Drawn(has_psi_down=False)])
def test_larger_sets_are_larger(known, larger):
    parts = [part_of_s(known.basis @ (r * known.teacher), known, SCALE) for r, _ in larger.points(known)]
    assert None in parts
    assert len(parts) <= set_s_points.TRIES * 3


def test_points_come_near_the_faces(known):
    eta = known.eta
    slack = []
    for r, _ in _Drawn().points(known):
        if r[0] < 1:
            ratio = eta[1] / eta[0]
            slack.append((r[1] / (ratio / 2 * r[0]) - 1, 1 - (1 - r[0]) ** (0.5 + ratio / 2) - r[1]))
    assert min(low for low, _ in slack) < 1e-3
    assert min(high for _, high in slack) < 1e-3


def test_pairs_of_positive_neurons():
    for start in STARTS:
        positive = [found.neuron for found in yardsticks_of(start) if found.sign > 0]
        assert has_two_positive_neurons(start) is (len(positive) > 1)
        assert np.sign([start.network.output_weights[j] for j in positive]).tolist() == [1.0] * len(positive)
