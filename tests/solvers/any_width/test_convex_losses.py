"""Losses in floats against the exact ones, and problems in another scale."""

from fractions import Fraction

import numpy as np
import pytest

from solvers.any_width.convex_losses import ConvexLoss, scaled_decay, sigmoid
from solvers.any_width.records import Atoms, DualGuess
from solvers.pricing.tree import Leaf, Tree
from tests.losses import PARAMETERS, has_labels, posed, random_problem
from verify import Bias
from verify.deciders.global_optimality.instance import as_decay_instance


@pytest.mark.parametrize("name", [*PARAMETERS, "logistic"])
def test_values_slopes_and_duals_are_the_exact_ones(name):
    random = np.random.default_rng(1)
    targets = np.where(random.normal(size=40) > 0, 1.0, -1.0) if has_labels(name) else random.normal(size=40) * 2
    outputs = random.normal(size=40) * 2
    problem = posed(name, [[1]] * 40, [Fraction(float(y)) for y in targets])
    floats, exact = as_decay_instance(problem).loss, problem.goal.loss
    pairs = [(Fraction(float(y)), Fraction(float(z))) for y, z in zip(targets, outputs, strict=True)]
    assert np.allclose(floats.values(targets, outputs), [float(exact.value(y, z)) for y, z in pairs])
    c = floats.slopes(targets, outputs)
    assert np.allclose(floats.duals(targets, c) - c * outputs, floats.values(targets, outputs))
    assert np.array_equal(floats.admissible(targets, c), c)
    far = floats.admissible(targets, 100 * (c + 1))
    assert all(exact.admits(y, Fraction(float(d))) for (y, _), d in zip(pairs, far, strict=True))


@pytest.mark.parametrize("seed", range(30))
def test_the_scaled_problem_is_the_same_one(seed):
    """A network, its objective, a bound and its trees go over into those of the given problem."""
    random = np.random.default_rng(seed)
    problem, _ = random_problem(random)
    given = as_decay_instance(problem)
    scaled = scaled_decay(given)
    assert 0.5 <= scaled.instance.price <= 2
    assert np.abs(scaled.instance.data.rows[:, : problem.data.dimension]).max() <= 2
    directions = random.normal(size=(3, given.data.columns))
    atoms = Atoms(directions, np.array([1, -1, 1], np.int8), np.zeros(3, np.intp), scaled.instance.value_of(
        Atoms(directions, np.array([1, -1, 1], np.int8), np.zeros(3, np.intp), 0.0)
    ))  # fmt: skip
    back = scaled.unscaled(Atoms(directions.copy(), atoms.signs, atoms.masks, atoms.value))
    assert given.value_of(back) == pytest.approx(back.value)
    assert given.outputs(back) == pytest.approx(scaled.instance.outputs(atoms) * scaled.outputs)
    n = given.data.points
    c = scaled.instance.loss.slopes(scaled.instance.data.targets, np.zeros(n))
    largest = 3.0
    tree = Tree([Leaf(c.copy())], largest, np.empty((0, 0)), 1)
    guess = DualGuess(c, largest, np.arange(n), (tree, tree), scaled.instance.bound(c, largest))
    proof = scaled.unscaled_proof(guess)
    own = proof.multipliers * given.loss.sides(given.data.targets)
    assert given.bound(own, proof.beta) == pytest.approx(proof.lower)
    assert proof.trees[0].nodes[0].slopes == pytest.approx(own)


def test_without_neurons():
    problem = posed("squared", [[1], [2]], [1, 3], bias=Bias.PENALISED)
    assert as_decay_instance(problem).nothing.value == 5


def test_the_sigmoid_is_accurate_at_both_ends():
    """Beside scipy's, from outputs whose sigmoid is the least double to those where it is 1."""
    from scipy.special import expit

    outputs = np.concatenate([np.linspace(-700, 700, 1401), [-1e-300, 0.0, 1e-16, -1e5, 1e5]])
    np.testing.assert_allclose(sigmoid(outputs), expit(outputs), rtol=1e-13)


def test_the_logistic_dual_is_the_entropy():
    """D(c) = high H(y c / high), H(0) = H(1) = 0 and H(1/2) = log 2."""
    loss = ConvexLoss(labels=True, low=0.0, high=2.0, tube=0.0, curvature=0.0, is_logistic=True)
    found = loss.duals(np.array([1.0, 1.0, -1.0, 1.0]), np.array([0.0, 2.0, -1.0, 0.5]))
    quarter = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert found == pytest.approx([0.0, 0.0, 2 * np.log(2), 2 * quarter])
