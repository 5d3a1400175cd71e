"""The maxima of all faces: none is missed that ascents or many directions find, whatever lies in one plane."""

import numpy as np
import pytest

from solvers.pricing.dual_function import evaluate
from solvers.pricing.faces import are_few, maxima_of_faces
from solvers.pricing.search import ascend


def drawn(number):
    random = np.random.default_rng(number)
    columns = int(random.integers(3, 5))
    size = int(random.integers(columns, 14))
    kinds = random.standard_normal((size, columns)), random.integers(-2, 3, (size, columns)).astype(float)
    rows = kinds[number % 2]
    signs = np.zeros(size, np.int8)
    if number % 3 == 0:
        inside = random.standard_normal(columns)
        for i in random.choice(size, 2):
            signs[i] = np.sign(rows[i] @ inside)
    return random, rows, random.standard_normal(size), float(random.choice([0.0, 0.3])), signs


@pytest.mark.parametrize("number", range(60))
def test_no_direction_is_above_the_best(number):
    random, rows, weights, slope, signs = drawn(number)
    if np.linalg.matrix_rank(rows) < rows.shape[1]:
        pytest.skip("the rows do not span all directions")
    assert are_few(rows)
    directions, values = maxima_of_faces(rows, weights, slope, signs)
    assert np.allclose(np.linalg.norm(directions, axis=1), 1)
    assert np.allclose(values, evaluate(rows, weights, slope, directions))
    assert (np.diff(values) <= 0).all()
    assert (signs * (directions @ rows.T) >= -1e-7).all()
    tried = random.standard_normal((5000, rows.shape[1]))
    tried /= np.linalg.norm(tried, axis=1)[:, None]
    if not signs.any():
        tried = np.concatenate([tried, ascend(rows, weights, slope, tried[:40], compiled=False)[0]])
    tried = tried[(signs * (tried @ rows.T) >= 0).all(axis=1)]
    reached = evaluate(rows, weights, slope, tried).max(initial=-np.inf)
    assert values.max(initial=-np.inf) >= reached - 1e-7 * np.abs(weights).sum()


def test_what_is_few():
    assert are_few(np.ones((40, 3)))
    assert not are_few(np.ones((400, 3)))
    assert not are_few(np.ones((10, 2)))
    assert not are_few(np.ones((10, 5)))
    assert not are_few(np.ones((1, 3)))


def test_rows_that_span_fewer_directions():
    plane = np.array([[1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0]])
    assert maxima_of_faces(plane, np.ones(3), 0.0, np.zeros(3, np.int8))[1].max() == pytest.approx(8**0.5)
    line = np.array([[1.0, 0, 0], [-2.0, 0, 0], [0, 0, 0]])
    assert len(maxima_of_faces(line, np.ones(3), 0.0, np.zeros(3, np.int8))[0]) == 0
