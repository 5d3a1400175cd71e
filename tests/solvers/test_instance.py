"""Margins f(x_i) / y_i >= 1 with targets of any size: the labels of the points x_i / |y_i|, without a free bias.

Tests `solvers.instance` and what reads `signs` of it.
"""

import numpy as np
import pytest

from solvers.any_width.dual_cuts import solve
from solvers.instance import ProblemInstance, Status
from solvers.kkt.reading import kkt_reading
from solvers.layers import two_layers
from solvers.programs.linear import infeasibility_multipliers
from solvers.programs.restricted import solve_all_cells
from tests.solvers.pricing.trees import assert_proves

TOL = 1e-6


def sized(seed, *, slope=0.0, free=False, points=6):
    """Targets from 1/100 to 100, on the sides on which a random network has its outputs."""
    rng = np.random.default_rng([seed, free])
    rows = rng.standard_normal((points, 3))
    if free:
        rows[:, -1] = 1.0
    z = rows @ rng.standard_normal((3, 3))
    values = np.maximum(z, slope * z) @ rng.standard_normal(3)
    signs = np.where(values > (np.median(values) if free else 0.0), 1.0, -1.0)
    return ProblemInstance(rows, signs * 10.0 ** rng.uniform(-2, 2, points), slope=slope, margin=True, free=free)


def labelled(given):
    """The same problem with labels; the rows are divided by the sizes of the targets."""
    sizes = np.abs(given.targets)
    return ProblemInstance(given.rows / sizes[:, None], np.sign(given.targets), slope=given.slope, margin=True)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
def test_the_bracket_is_proved_by_its_trees_and_its_network(slope, free):
    given = sized(1, slope=slope, free=free, points=3 if slope == 1 else 6)
    outcome = solve(given, tol=TOL)
    proof, atoms = outcome.proof, outcome.candidates[0]
    z = given.rows @ atoms.directions.T
    outputs = np.maximum(z, slope * z) @ atoms.signs.astype(float)
    assert (outputs / given.targets).min() >= 1 - 1e-7
    assert atoms.value <= proof.lower * (1 + TOL)
    assert (proof.multipliers >= 0).all()
    assert proof.lower == pytest.approx(proof.multipliers.sum() / proof.beta, rel=1e-9)
    weights = (proof.multipliers / given.targets)[proof.support]
    for sign, tree in zip((1, -1), proof.trees, strict=True):
        assert_proves(tree, given.rows[proof.support], sign * weights, slope, proof.beta * (1 + 1e-9), free=free)


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
def test_the_optimum_is_that_of_the_labelled_points(slope):
    given = sized(2, slope=slope, points=3 if slope == 1 else 5)
    expected = solve_all_cells(labelled(given))
    assert expected.status is Status.OPTIMAL
    assert solve_all_cells(given).value == pytest.approx(expected.value, rel=1e-5)
    assert solve(given, tol=TOL).candidates[0].value == pytest.approx(expected.value, rel=1e-5)


def test_opposite_margins_on_one_line_are_infeasible_with_the_multipliers_of_their_sizes():
    given = ProblemInstance([[1.0, 2.0], [2.0, 4.0]], [3.0, -5.0], margin=True)
    found = infeasibility_multipliers(given, [([0, 1], [1.0, 2.0])])
    assert found is not None
    coefficients = found / given.targets
    assert coefficients @ given.rows == pytest.approx(np.zeros(2), abs=1e-9)
    assert (found > 0).all()


def test_a_reading_is_that_of_the_labelled_points():
    given = sized(3)
    rng, layers = np.random.default_rng(0), two_layers(3, 4, 0.0)
    same = labelled(given)
    theta = next(
        theta
        for theta in rng.standard_normal((10**4, layers.size))
        if (layers.outputs(theta, given.rows) * given.targets).min() > 0
    )
    mine, theirs = (kkt_reading(layers, one.rows, one.targets, theta, margin=True) for one in (given, same))
    assert mine.residual == pytest.approx(theirs.residual, rel=1e-5)
    assert mine.slack == pytest.approx(theirs.slack, rel=1e-4)


def test_a_target_of_0_has_no_side():
    with pytest.raises(ValueError, match="must not be 0"):
        ProblemInstance([[1.0]], [0.0], margin=True)


# ------------------------------------------------------------------------------------------------- bundles


def bundled(seed, *, margin, points=5, bundle=2, columns=2, tolerance=0.0):
    """Random bundles; for margins on the sides on which a random network has its outputs."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((points * bundle, columns))
    sums = np.maximum(rows @ rng.standard_normal((columns, 3)), 0.0) @ np.array([1.0, -1.0, 0.5])
    values = sums.reshape(points, bundle).sum(axis=1)
    targets = np.where(values > 0, 1.0, -1.0) if margin else values
    return ProblemInstance(rows, np.repeat(targets, bundle), margin=margin, bundle=bundle, tolerance=tolerance)


def sums_of(given, atoms):
    """f of each point, shape (points,)."""
    z = given.rows @ atoms.directions.T
    return (np.maximum(z, given.slope * z) @ atoms.signs.astype(float)).reshape(-1, given.bundle).sum(axis=1)


@pytest.mark.parametrize(
    ("margin", "points", "bundle", "tolerance"),
    [(True, 5, 3, 0.0), (False, 4, 2, 0.0), (False, 4, 3, 0.1), (True, 90, 2, 0.0)],
)
def test_bundles_have_one_multiplier_and_one_constraint(margin, points, bundle, tolerance):
    given = bundled(3, margin=margin, points=points, bundle=bundle, tolerance=tolerance)
    outcome = solve(given, tol=TOL)
    proof, atoms = outcome.proof, outcome.candidates[0]
    wanted = given.targets[::bundle]
    if margin:
        assert (sums_of(given, atoms) * wanted).min() >= 1 - 1e-7
    else:
        assert np.abs(sums_of(given, atoms) - wanted).max() <= tolerance + 1e-6
    assert atoms.value <= proof.lower * (1 + TOL)
    by_point = proof.multipliers.reshape(-1, bundle)
    assert (by_point == by_point[:, :1]).all()
    value = by_point[:, 0] @ (np.ones(points) if margin else wanted) - tolerance * np.abs(by_point[:, 0]).sum()
    assert proof.lower == pytest.approx(value / proof.beta, rel=1e-9)
    weights = (proof.multipliers * given.signs)[proof.support]
    for sign, tree in zip((1, -1), proof.trees, strict=True):
        assert_proves(tree, given.rows[proof.support], sign * weights, 0.0, proof.beta * (1 + 1e-9))


def test_bundles_that_are_none():
    rows, targets = np.ones((4, 2)), np.array([1.0, 1.0, -1.0, -1.0])
    assert ProblemInstance(rows, targets, margin=True, bundle=2).points == 4
    for bundle, free, sides in ((0, False, targets), (3, False, targets), (2, True, targets)):
        with pytest.raises(ValueError, match="whole bundles"):
            ProblemInstance(rows, sides, margin=True, bundle=bundle, free=free)
    with pytest.raises(ValueError, match="one target"):
        ProblemInstance(rows, targets[[0, 2, 1, 3]], margin=True, bundle=2)


def test_the_rows_of_whole_bundles():
    given = bundled(0, margin=True, points=4, bundle=3)
    assert given.whole(np.array([1, 2, 9])).tolist() == [0, 1, 2, 9, 10, 11]
    alone = sized(0)
    chosen = np.array([3, 1])
    assert alone.whole(chosen) is chosen
