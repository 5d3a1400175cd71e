"""The best constant and what pulls at it, by hand and against many directions."""

from fractions import Fraction

import numpy as np
import pytest

from solvers.any_width.constants import constant_output, without_neurons
from solvers.pricing.dual_function import evaluate
from tests.losses import posed, random_problem
from verify.deciders.global_optimality.instance import as_decay_instance


@pytest.mark.parametrize(
    ("name", "X", "y", "b2", "constant", "price"),
    [
        ("squared", [[2]], [3], None, 0, 6),
        ("squared", [[1], [-1]], [2, 0], 0, 1, 1),
        ("squared", [[1], [-1]], [2, 0], 2, Fraction(1, 2), Fraction(3, 2)),
        ("logistic", [[4]], [-1], None, 0, 2),
        ("logistic", [[1], [-1]], [1, -1], 0, 0, Fraction(1, 2)),
    ],
)
def test_by_hand(name, X, y, b2, constant, price):
    problem = posed(name, X, y, b2=b2)
    found = without_neurons(as_decay_instance(problem))
    if b2 is not None:
        assert constant_output(as_decay_instance(problem)) == found[0]
    assert found == (pytest.approx(float(constant), abs=1e-12), pytest.approx(float(price), rel=1e-9))


@pytest.mark.parametrize("seed", range(20))
def test_no_direction_pulls_more(seed):
    random = np.random.default_rng(seed)
    problem, _ = random_problem(random, ["squared", "logistic", "huber"][seed % 3], [None, Fraction(1, 2)][seed % 2])
    instance = as_decay_instance(problem)
    constant, price = without_neurons(instance)
    data = instance.data
    c = instance.loss.slopes(data.targets, np.full(data.points, constant))
    if data.free and abs(c.sum()) > 1e-9:
        return
    directions = random.normal(size=(2000, data.columns))
    body = directions[:, :-1] if data.free else directions
    reached = np.abs(evaluate(data.rows, c, data.slope, directions)) / np.linalg.norm(body, axis=1)
    assert reached.max(initial=0.0) <= price * (1 + 1e-6) + 1e-9
