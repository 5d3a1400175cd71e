"""The master against `solvers.programs.restricted` (cvxpy) on the same patterns, and its multipliers against their
definition.
"""

from dataclasses import replace

import numpy as np
import pytest

from solvers.any_width.master import Column, solve_master
from solvers.instance import ProblemInstance, Status
from solvers.programs.restricted import NeuronFamily as Cone
from solvers.programs.restricted import all_columns, restricted_program, solve_all_cells

PENALTY = 1e4
REL = 1e-6


def required(instance):
    return np.ones(instance.points) if instance.margin else instance.targets


def master(instance, columns, *, sides=None, points=None, penalty=PENALTY):
    return solve_master(
        instance,
        required(instance) if sides is None else np.asarray(sides, dtype=float),
        columns,
        np.arange(instance.points) if points is None else np.asarray(points),
        penalty,
    )


def cones(columns):
    return [Cone(column.mask, column.sign, np.where(column.on, 1, -1).astype(np.int8)) for column in columns]


def everything(instance):
    """All cells of all mask classes with both signs; linear networks: one for each mask, as the others are the same."""
    columns = [Column(column.mask, column.output, column.pattern > 0) for column in all_columns(instance)]
    if instance.slope < 1:
        return columns
    return list({column.mask: column for column in reversed(columns)}.values())


def outputs(instance, columns, directions):
    z = instance.rows @ directions.T
    return np.maximum(z, instance.slope * z) @ np.array([float(column.sign) for column in columns])


def instance(seed, *, margin, free=False, masks=(), slope=None):
    """Feasible: the targets are the outputs of a random network with these masks, or their signs."""
    rng = np.random.default_rng([seed, margin, free])
    a = (0.0, 0.3, 1.0)[seed % 3] if slope is None else slope
    rows = rng.standard_normal((int(rng.integers(3, 8)), 3))
    if free:
        rows[:, -1] = 1.0
    weights = rng.standard_normal((4, 3))
    for j, row in enumerate(weights):
        if masks:
            row[np.setdiff1d(np.arange(3), masks[j % len(masks)])] = 0.0
    z = rows @ weights.T
    values = np.maximum(z, a * z) @ rng.standard_normal(4)
    targets = np.where(values > 0, 1.0, -1.0) if margin else values
    return ProblemInstance(rows, targets, slope=a, margin=margin, free=free, masks=tuple(map(np.array, masks)))


def some(instance, seed=0):
    """Random cells, nearly always enough to fit."""
    rng = np.random.default_rng(seed)
    return [column for column in everything(instance) if instance.slope == 1 or rng.random() < 0.7]


def without_the_best(instance):
    """All cells but those of the largest directions of the optimum."""
    columns = everything(instance)
    sizes = np.linalg.norm(solve_all_cells(instance).primal, axis=1)
    return [columns[k] for k in np.argsort(sizes)[: -max(1, len(columns) // 6)]]


# ------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("masks", [(), ((0, 1), (1, 2), (0, 1, 2))])
@pytest.mark.parametrize("choose", [some, without_the_best])
@pytest.mark.parametrize("seed", [0, 1, 3, 4])  # slopes below 1: the master does not keep linear neurons in cones
def test_min_norm_is_the_same_program(free, masks, choose, seed):
    given = instance(seed, margin=False, free=free, masks=masks)
    columns = choose(given)
    reference = restricted_program(given, cones(columns))
    found = master(given, columns)
    if reference.status is not Status.OPTIMAL:  # these cells cannot fit
        assert found.slack > 1e-3
        return
    assert found.status is Status.OPTIMAL
    assert found.slack == pytest.approx(0, abs=1e-7)
    assert found.value == pytest.approx(reference.value, rel=REL, abs=1e-7)
    assert outputs(given, columns, found.directions) == pytest.approx(given.targets, abs=1e-6)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("masks", [(), ((0, 1), (1, 2), (0, 1, 2))])
@pytest.mark.parametrize("choose", [some, without_the_best])
@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_max_margin_lies_between_all_cells_and_the_same_cones(free, masks, choose, seed):
    given = instance(seed, margin=True, free=free, masks=masks)
    columns = choose(given)
    best, reference = solve_all_cells(given), restricted_program(given, cones(columns))
    found = master(given, columns)
    if reference.status is Status.OPTIMAL:
        assert found.value <= reference.value * (1 + REL) + 1e-7
    if found.slack < 1e-7:
        assert best.value * (1 - REL) - 1e-7 <= found.value
        assert (given.targets * outputs(given, columns, found.directions) >= 1 - 1e-6).all()


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("margin", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_all_cells_give_the_optimum(free, margin, seed):
    given = instance(seed, margin=margin, free=free)
    columns = everything(given)
    found = master(given, columns)
    assert found.status is Status.OPTIMAL
    assert found.value == pytest.approx(solve_all_cells(given).value, rel=REL, abs=1e-7)
    body = found.directions[:, :-1] if free else found.directions
    assert np.linalg.norm(body, axis=1).sum() == pytest.approx(found.value, rel=REL, abs=1e-6)


@pytest.mark.parametrize("margin", [False, True])
def test_required_outputs_scale_with_the_points(margin):
    """y_i f(x_i) >= r_i is y_i f(x_i / r_i) >= 1; for min-norm f(x_i) = r_i is f(x_i / t_i) = r_i / t_i."""
    given = instance(5, margin=margin, slope=0.3)
    columns = everything(given)
    factors = np.random.default_rng(0).uniform(0.5, 3.0, given.points)
    one = master(given, columns, sides=factors * required(given))
    two = master(replace(given, rows=given.rows / factors[:, None]), columns)
    assert one.value == pytest.approx(two.value, rel=REL)
    assert one.multipliers * factors == pytest.approx(two.multipliers, rel=1e-4, abs=1e-5)


def test_what_the_columns_see():
    """A mask hides a column from its neurons only: x = (1, 1) is fitted by the mask (0,) with u = (1, 0)."""
    given = ProblemInstance([[1.0, 1.0]], [1.0], margin=True, masks=(np.array([0]), np.array([0, 1])))
    on = np.ones(1, dtype=bool)
    narrow, wide = (master(given, [Column(mask, 1, on)]) for mask in (0, 1))
    assert narrow.value == pytest.approx(1)
    assert narrow.directions == pytest.approx(np.array([[1.0, 0.0]]), abs=1e-6)
    assert narrow.directions[0, 1] == 0
    assert wide.value == pytest.approx(1 / np.sqrt(2))
    both = master(given, [Column(0, 1, on), Column(1, 1, on)])
    assert both.directions[0] == pytest.approx([0, 0], abs=1e-5)


def test_a_free_bias_costs_nothing():
    given = ProblemInstance([[1.0, 1.0], [2.0, 1.0]], [1.0, 1.0], margin=True, free=True)
    on = np.ones(2, dtype=bool)
    assert master(given, [Column(0, 1, on)]).value == pytest.approx(0, abs=1e-7)
    counted = replace(given, free=False)
    assert master(counted, [Column(0, 1, on)]).value == pytest.approx(1 / np.sqrt(2), rel=REL)


def test_a_mask_without_the_free_bias():
    """The neurons of mask (0,) do not see the bias, and their whole norm counts."""
    given = ProblemInstance([[2.0, 1.0]], [1.0], margin=True, free=True, masks=(np.array([0]),))
    found = master(given, [Column(0, 1, np.ones(1, dtype=bool))])
    assert found.value == pytest.approx(0.5)
    assert found.directions[0].tolist() == [pytest.approx(0.5), 0]


def test_points_off_the_working_set_are_not_asked():
    given = instance(3, margin=True, slope=0.0)
    columns = everything(given)
    points = np.array([0, 2])
    found = master(given, columns, points=points)
    part = ProblemInstance(given.rows[points], given.targets[points], margin=True)
    assert found.value == pytest.approx(solve_all_cells(part).value, rel=REL)
    assert found.multipliers.shape == (given.points,)
    assert set(np.flatnonzero(found.multipliers)) <= {0, 2}


# ------------------------------------------------------------------------------------------------- multipliers


@pytest.mark.parametrize("margin", [False, True])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_multipliers_are_a_dual_point(margin, free, seed):
    """sum lambda r = value, and on the cell of each column s sum c_i a_i x_i.u <= |u|.

    For max-margin that column bounds the points that its neuron hurts by s(x.u) itself, anywhere.
    """
    given = instance(seed, margin=margin, free=free)
    columns = some(given, seed)
    found = master(given, columns)
    assert found.multipliers @ required(given) == pytest.approx(found.value, rel=REL, abs=1e-6)
    assert not margin or (found.multipliers >= 0).all()
    assert np.abs(found.multipliers).max() <= PENALTY * (1 + 1e-6)
    if not free:
        assert_dual(given, columns, found.multipliers, seed)
    else:  # the multipliers balance, or a constant would help
        assert found.multipliers @ given.signs == pytest.approx(0, abs=1e-5 * (1 + np.abs(found.multipliers).max()))


def assert_dual(given, columns, multipliers, seed):
    u = np.random.default_rng(seed).standard_normal((2000, given.columns))
    u /= np.linalg.norm(u, axis=1)[:, None]
    z = u @ given.rows.T
    coefficients = multipliers * given.signs
    for column in columns:
        slopes = np.where(column.on, 1.0, given.slope)
        if given.margin:
            hurts = column.sign * given.targets < 0
            values = np.where(hurts, np.maximum(z, given.slope * z), slopes * z)
            inside = np.ones(len(u), dtype=bool)
        else:
            values = slopes * z
            inside = ((z > 0) == column.on).all(axis=1) | (given.slope == 1)
        assert (column.sign * values @ coefficients <= 1 + 1e-6)[inside].all()


@pytest.mark.parametrize(("target", "sign"), [(4.0, 1), (-4.0, -1)])
@pytest.mark.parametrize("margin", [False, True])
def test_sign_of_the_multipliers(target, sign, margin):
    """x = 2: u/|u| = s c x with c = lambda y = +-1/2 (min-norm: lambda = +-1/2)."""
    given = ProblemInstance([[2.0]], [np.sign(target) if margin else target], slope=1.0, margin=margin)
    found = master(given, [Column(0, sign, np.ones(1, dtype=bool))])
    assert found.value == pytest.approx(0.5 if margin else 2.0)
    assert found.multipliers == pytest.approx([0.5 if margin else 0.5 * sign])


# ------------------------------------------------------------------------------------------------- what cannot fit


def test_contradictory_points_pay_the_penalty():
    """x = 1 with both labels: u = 0, xi = (1, 1), and both multipliers reach the penalty."""
    given = ProblemInstance([[1.0], [1.0]], [1.0, -1.0], margin=True)
    on = np.ones(2, dtype=bool)
    found = master(given, [Column(0, 1, on), Column(0, -1, on)], penalty=10.0)
    assert found.value == pytest.approx(20.0)
    assert found.slack == pytest.approx(2.0)
    assert found.multipliers == pytest.approx([10.0, 10.0], rel=1e-4)
    assert found.directions == pytest.approx(np.zeros((2, 1)), abs=1e-6)


def test_contradictory_targets_pay_the_difference():
    given = ProblemInstance([[1.0], [1.0]], [1.0, 4.0], margin=False)
    found = master(given, [Column(0, 1, np.ones(2, dtype=bool))], penalty=10.0)
    assert found.slack == pytest.approx(3.0)
    assert found.value == pytest.approx(30.0 + 1.0)
    assert found.multipliers == pytest.approx([-9.0, 10.0], rel=1e-4)


@pytest.mark.parametrize("penalty", [0.25, 0.5, 2.0, 100.0])
@pytest.mark.parametrize("margin", [False, True])
def test_a_penalty_below_the_multiplier_buys_slack(penalty, margin):
    """x = 2, y = 1: lambda = 1/2, so that xi = 1 is cheaper as long as the penalty is below 1/2."""
    given = ProblemInstance([[2.0]], [1.0], margin=margin)
    found = master(given, [Column(0, 1, np.ones(1, dtype=bool))], penalty=penalty)
    assert found.value == pytest.approx(min(penalty, 0.5), rel=1e-6)
    assert found.multipliers == pytest.approx([min(penalty, 0.5)], rel=1e-5)
    if penalty != 0.5:
        assert found.slack == pytest.approx(1.0 if penalty < 0.5 else 0.0, abs=1e-6)


@pytest.mark.parametrize("margin", [False, True])
def test_the_value_grows_with_the_penalty_up_to_the_optimum(margin):
    given = instance(1, margin=margin)
    columns = everything(given)
    values = [master(given, columns, penalty=penalty).value for penalty in (0.01, 0.1, 1.0, 10.0, 1e3, 1e5)]
    assert (np.diff(values) >= -1e-6 * values[-1]).all()
    assert values[0] <= 0.01 * np.abs(required(given)).sum() * (1 + 1e-6)
    assert values[-1] == pytest.approx(solve_all_cells(given).value, rel=REL)


@pytest.mark.parametrize("margin", [False, True])
def test_no_columns(margin):
    given = ProblemInstance([[1.0], [2.0]], [1.0, -1.0], margin=margin)
    found = master(given, [], penalty=3.0)
    assert found.value == pytest.approx(6.0)
    assert found.directions.shape == (0, 1)
    assert found.multipliers * given.signs == pytest.approx([3.0, -3.0], rel=1e-5)


# ------------------------------------------------------------------------------------------------- keys


def test_keys_of_max_margin_see_the_points_that_the_neuron_helps():
    given = ProblemInstance([[1.0], [2.0], [3.0]], [1.0, -1.0, 1.0], margin=True)
    points = np.arange(3)
    plus = [Column(0, 1, np.array(on)).key(given, points) for on in ([1, 0, 1], [1, 1, 1], [1, 0, 0])]
    assert plus[0] == plus[1] != plus[2]
    minus = [Column(0, -1, np.array(on)).key(given, points) for on in ([1, 0, 1], [0, 0, 0], [1, 1, 1])]
    assert minus[0] == minus[1] != minus[2]
    assert not set(plus) & set(minus)


def test_keys_of_min_norm_see_every_working_point():
    given = ProblemInstance([[1.0], [2.0], [3.0]], [1.0, -1.0, 1.0], margin=False)
    columns = [Column(0, 1, np.array(on, dtype=bool)) for on in ([1, 0, 1], [1, 1, 1], [1, 0, 0])]
    assert len({column.key(given, np.arange(3)) for column in columns}) == 3
    assert len({column.key(given, np.array([0, 1])) for column in columns}) == 2
    assert len({column.key(given, np.array([0])) for column in columns}) == 1


def test_equal_keys_are_the_same_program():
    """Max-margin: what a pattern says of the points that its neuron hurts does not matter."""
    given = instance(2, margin=True, slope=0.3)
    points = np.arange(given.points)
    columns = everything(given)
    turned = [
        replace(column, on=np.where(column.sign * given.targets < 0, ~column.on, column.on)) for column in columns
    ]
    assert [a.key(given, points) for a in columns] == [b.key(given, points) for b in turned]
    assert master(given, columns).value == pytest.approx(master(given, turned).value, rel=REL)


@pytest.mark.parametrize("margin", [False, True])
def test_linear_networks_have_one_column_for_each_mask(margin):
    given = instance(0, margin=margin, slope=1.0, masks=((0, 1), (1, 2)))
    points = np.arange(given.points)
    columns = everything(given)
    assert len({column.key(given, points) for column in columns}) == 2
    two = [Column(mask, 1, np.ones(given.points, dtype=bool)) for mask in (0, 1)]
    assert master(given, two).value == pytest.approx(solve_all_cells(given).value, rel=REL)
    assert master(given, two).value == pytest.approx(master(given, columns).value, rel=REL)
