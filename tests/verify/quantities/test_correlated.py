"""The constants of arXiv:2306.06479 from their definitions, S in the plane, and M."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.verify.claims.test_parts import m_by_sampling, m_in_the_plane
from verify import Dataset, InputError, quantities, strategies
from verify.quantities.correlated import EPSILON
from verify.quantities.teacher_cones import inverse_columns


@given(strategies.correlated_starts(dimensions=(2, 3)))
def test_constants_by_their_definitions(drawn):
    problem, network = drawn
    known = quantities.constants(network, problem.data)
    X, y = np.array(problem.data.inputs, float), np.array(problem.data.targets, float)
    n, d = X.shape
    assert np.allclose(X.T @ X / n @ known.basis, known.basis * known.eta, atol=1e-9)
    assert (np.diff(known.eta) <= 0).all()
    v = np.array(quantities.teacher(problem.data), float)
    assert np.allclose(known.teacher, v @ known.basis, atol=1e-9)
    assert (known.teacher > 0).all()
    assert np.allclose(known.gamma, X.T @ y / n)
    sizes = np.linalg.norm(X, axis=1)
    assert known.bound == pytest.approx(
        max(sizes.max(), np.linalg.norm(np.array(network.hidden_weights, float), axis=1).max(), 1)
    )
    assert 0 < known.delta <= min(sizes.min(), np.sqrt(known.eta[-1]) + 1e-12)
    assert known.aligned(1e-9) == pytest.approx(EPSILON * np.log(1e9) / np.linalg.norm(known.gamma))
    assert known.fitted(1e-9) == pytest.approx(np.log(1e9) * 4.25 * d * known.bound**2 / known.delta**6)
    for found in quantities.yardsticks(network, problem.data):
        assert found.sign == np.sign(network.output_weights[found.neuron])
        assert found.times == sorted(found.times)


def test_parts_of_s_in_the_plane():
    """eta = (1, 1/5) and v* = (3/5, 4/5): what belongs to S is worked out by hand from the six constraints."""
    known = quantities.Constants(
        np.array([1.0, 0.2]), np.eye(2), np.array([0.6, 0.8]), np.array([0.6, 0.16]), 0.1, 1.0, 1.0
    )
    at = lambda r: quantities.part_of_s(np.array(r) * known.teacher, known, 1e-24)  # noqa: E731
    assert at([0.5, 0.2]) == 1
    assert at([1.01, 0.2]) == 2
    assert at([0.5, 0.5]) is None
    assert at([0.5, 0.01]) is None
    assert at([1.01, 0.01]) is None
    assert at([1.01, 1.01]) is None
    assert at([1.5, 0.2]) is None


def test_a_teacher_is_the_only_one_or_none():
    assert quantities.teacher(Dataset([[1, 0]], [1])) is None
    assert quantities.teacher(Dataset([[1, 0], [0, 1], [1, 1]], [1, 1, 3])) is None
    assert quantities.teacher(Dataset([[1, 0], [0, 1], [1, 1]], [1, 1, 2])) == (1, 1)


@given(st.data(), st.booleans())
def test_m_lies_in_its_bracket(data, within):
    drawn = data.draw(strategies.single_teachers(within_45_degrees=within))
    points = drawn.problem.data
    low, high = quantities.m_bracket(points, 1e-2)
    assert low <= high <= low + 1.1e-2
    chi, teacher = inverse_columns(points.inputs), quantities.teacher(points)
    if len(teacher) == 2:
        assert low <= m_in_the_plane(chi, teacher) <= high
    assert m_by_sampling(chi, teacher, np.random.default_rng(0), 500) <= high
    sign = quantities.m_sign(points).sign
    assert sign >= 0 or low < 0
    assert sign <= 0 or high > 0


def test_m_needs_a_basis():
    for data in (Dataset([[1, 0]], [1]), Dataset([[1]], [1]), Dataset([[1, 0], [2, 0]], [1, 2])):
        with pytest.raises(InputError):
            quantities.m_bracket(data)
