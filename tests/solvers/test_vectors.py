"""`solvers.vectors`: the program on fixed directions, the search over all of them, and fans, in floats."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.clock import now
from solvers.vectors.fan import find_fan
from solvers.vectors.vector_instance import VectorInstance, activated
from solvers.vectors.vector_master import solve_master
from solvers.vectors.vector_search import longest, search_vectors

I3 = np.eye(3)
NONE = np.zeros((0, 3))


def instance(goal, targets=I3, rows=I3, slope=0.0, decays=(1.0, 1.0), output_bias=None):
    kind = goal if goal in ("squared", "cross-entropy") else ""
    targets = np.asarray(targets, float)
    return VectorInstance(rows, targets, slope, kind, decays, output_bias, margin=goal == "max-margin")


@pytest.mark.parametrize(("goal", "best"), [("min-norm", 3.0), ("max-margin", 6**0.5)])
def test_constraints_with_known_optima(goal, best):
    problem = instance(goal)
    found = search_vectors(problem, NONE, 1e-6, None)
    assert found.is_closed
    assert (found.multipliers * I3).sum() / found.largest == pytest.approx(best, rel=1e-6)
    decay = ((found.hidden**2).sum() + (found.output**2).sum()) / 2
    assert decay == pytest.approx(best, rel=1e-5)


def test_the_singular_values_of_a_linear_network_are_shrunk():
    problem = instance("squared", np.diag([3.0, 2.0]), np.eye(2), slope=1.0)
    found = search_vectors(problem, NONE[:, :2], 1e-6, None)
    assert problem.objective(found.hidden, found.output, found.shift) == pytest.approx(4.0, rel=1e-8)
    assert problem.outputs(found.hidden, found.output, None) == pytest.approx(np.diag([2.0, 1.0]), abs=1e-4)


@pytest.mark.parametrize("goal", ["squared", "cross-entropy"])
@pytest.mark.parametrize("output_bias", [None, 0.0, 0.5])
def test_the_gradient_is_that_of_the_objective(goal, output_bias):
    random = np.random.default_rng(1)
    problem = instance(goal, I3[[0, 1, 2, 0, 1]], random.normal(size=(5, 3)), 0.1, (0.3, 0.7), output_bias)
    hidden, output = random.normal(size=(4, 3)), random.normal(size=(4, 3))
    shift = None if output_bias is None else random.normal(size=3)
    parts = problem.gradient(hidden, output, shift)
    for k, (part, slope) in enumerate(zip((hidden, output, shift), parts, strict=True)):
        if part is None:
            continue
        move = random.normal(size=part.shape) * 1e-6
        moved = [hidden, output, shift]
        moved[k] = part + move
        back = [hidden, output, shift]
        back[k] = part - move
        change = (problem.objective(*moved) - problem.objective(*back)) / 2
        assert change == pytest.approx((slope * move).sum(), rel=1e-4)


@pytest.mark.parametrize("output_bias", [None, 0.0, 0.5])
@pytest.mark.parametrize("goal", ["squared", "cross-entropy"])
def test_the_program_ends_where_its_objective_is_least(goal, output_bias):
    """Its value is the objective of its network, balanced; no small change of that is better."""
    random = np.random.default_rng(2)
    problem = instance(goal, I3[[0, 1, 2, 0]], random.normal(size=(4, 3)), 0.0, (0.2, 0.2), output_bias)
    directions = random.normal(size=(7, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    point = solve_master(problem, directions)

    def cost(outputs, shift):
        f = activated(problem.rows @ directions.T, 0.0) @ outputs + (0 if shift is None else shift)
        decay = 0.0 if shift is None else (output_bias or 0.0) / 2 * (shift**2).sum()
        return problem.loss(f) + problem.price * np.linalg.norm(outputs, axis=1).sum() + decay

    assert point.value == pytest.approx(cost(point.outputs, point.shift), rel=1e-6)
    for _ in range(20):
        outputs = point.outputs + 1e-3 * random.normal(size=point.outputs.shape)
        shift = None if point.shift is None else point.shift + 1e-3 * random.normal(size=3)
        assert cost(outputs, shift) >= point.value - 1e-8


def test_ascents_find_the_longest():
    random = np.random.default_rng(0)
    problem = instance("squared", random.normal(size=(6, 2)), random.normal(size=(6, 2)))
    multipliers = random.normal(size=(6, 2))
    angles = np.linspace(0, 2 * np.pi, 20001)
    every = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    best = np.linalg.norm(problem.vector(multipliers, every), axis=1).max()
    _, lengths = longest(problem, multipliers, problem.rows, random)
    assert lengths[0] == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("slack", [0.1, 1e-3])
def test_a_fan_is_as_short_as_asked(slack):
    multipliers = 3 * I3 - 1
    basis = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    found = find_fan(instance("max-margin"), multipliers, basis, 6**0.5, slack, None, I3)
    assert 6**0.5 * (1 - 1e-9) <= found.largest <= 6**0.5 * (1 + slack)
    assert all(side.tree is not None for side in found.sides)
    low = find_fan(instance("max-margin"), multipliers, basis, 2.0, slack, None, I3)
    assert 6**0.5 * (1 - 1e-9) <= low.largest <= 6**0.5 * (1 + slack)
    assert find_fan(instance("max-margin"), multipliers, basis, 2.0, slack, now() - 1, I3) is None
