import numpy as np
import pytest
from scipy import optimize
from scipy.optimize import OptimizeResult
from scipy.sparse import csr_array

from solvers.instance import ProblemInstance, Status
from solvers.programs.linear import infeasibility_multipliers, solve_lp
from solvers.programs.restricted import solve_all_cells


def test_a_vertex_with_its_multipliers():
    """Maximise x + 2 y subject to x + y <= 4, y <= 3 written as -y >= -3, x = y + z."""
    solution = solve_lp([-1, -2, 0], [[1, 1, 0], [0, 1, 0]], [4, 3], [[1, -1, 1]], [0])
    assert solution.status is Status.OPTIMAL
    assert solution.value == pytest.approx(-7)
    assert solution.primal == pytest.approx([1, 3, 2])
    assert solution.dual == pytest.approx([1, 1])
    assert solution.cone_dual == pytest.approx([0], abs=1e-12)
    assert solution.support.tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(40))
def test_multipliers_close_the_gap_on_random_programs(seed):
    rng = np.random.default_rng(seed)
    n, m, e = (int(size) for size in rng.integers(1, 7, 3))
    a, equal = rng.integers(-2, 3, (m, n)), rng.integers(-2, 3, (e // 3, n))
    point = rng.integers(0, 3, n)
    b, values = a @ point + rng.integers(0, 2, m), equal @ point
    cost = rng.integers(0, 3, n) - a.T @ rng.integers(0, 3, m)  # bounded below on x >= 0
    solution = solve_lp(cost, a, b, equal, values)
    reduced = cost + a.T @ solution.dual + equal.T @ solution.cone_dual
    assert solution.status is Status.OPTIMAL
    assert (reduced >= -1e-8).all()
    assert (solution.dual >= 0).all()
    assert solution.value == pytest.approx(-(b @ solution.dual) - values @ solution.cone_dual, abs=1e-8)
    assert (a @ solution.primal <= b + 1e-8).all()
    assert equal @ solution.primal == pytest.approx(values, abs=1e-8)
    assert (solution.primal[np.setdiff1d(np.arange(n), solution.support)] < 1e-8).all()


@pytest.mark.parametrize("seed", range(10))
def test_sparse_matrices_give_the_same(seed):
    rng = np.random.default_rng(seed)
    a, equal = rng.integers(-2, 3, (6, 5)) * rng.integers(0, 2, (6, 5)), rng.integers(-1, 2, (2, 5))
    b, values, cost = rng.integers(-1, 3, 6), rng.integers(-1, 2, 2), rng.integers(-1, 3, 5)
    dense = solve_lp(cost, a, b, equal, values)
    thin = solve_lp(cost, csr_array(a), b, csr_array(equal), values)
    assert thin.status is dense.status
    if dense.is_usable:
        assert thin.value == pytest.approx(dense.value, abs=1e-9)
        assert cost + a.T @ thin.dual + equal.T @ thin.cone_dual == pytest.approx(
            cost + a.T @ dense.dual + equal.T @ dense.cone_dual, abs=1e-7
        )


@pytest.mark.parametrize("power", range(-8, 9, 4))
def test_the_scale_of_rows_and_cost_does_not_matter(power):
    scale = 10.0**power
    solution = solve_lp([-scale, -2 * scale], [[1 / scale, 1 / scale], [0, scale]], [4 / scale, 3 * scale])
    assert solution.primal == pytest.approx([1, 3])
    assert solution.dual == pytest.approx([scale * scale, 1])


def test_solver_unbounded():
    """min -x with x <= 1e9 and 0 <= x <= 1e12 is bounded, whatever the sizes of the numbers."""
    solution = solve_lp([-1], [[1]], [1e9], bounds=[(0, 1e12)])
    assert solution.status is Status.OPTIMAL
    assert solution.primal == pytest.approx([1e9])
    assert solve_lp([-1], bounds=[(0, np.inf)]).status is Status.UNBOUNDED
    assert solve_lp([-1, 0], [[1, -1]], [0]).status is Status.UNBOUNDED


@pytest.mark.parametrize(("code", "bounds"), [(3, (0, 1e12)), (2, (0, 1e12)), (3, (0, np.inf))])
def test_a_false_word_of_the_solver_is_not_passed_on(code, bounds, monkeypatch):
    truth = optimize.linprog
    lies = iter([OptimizeResult(status=code, message="a lie", x=None, fun=None)])
    monkeypatch.setattr("scipy.optimize.linprog", lambda *a, **k: next(lies, None) or truth(*a, **k))
    solution = solve_lp([-1], [[1]], [1e9], bounds=[bounds])
    assert solution.status is Status.FAILED
    assert "not confirmed" in solution.message


def test_undecided_words_are_asked_again_without_presolve(monkeypatch):
    truth = optimize.linprog
    lies = iter([OptimizeResult(status=4, message="trouble", x=None, fun=None)])
    monkeypatch.setattr("scipy.optimize.linprog", lambda *a, **k: next(lies, None) or truth(*a, **k))
    assert solve_lp([1], [[-1]], [-2]).value == pytest.approx(2)


def test_infeasible():
    assert solve_lp([0], [[1]], [-1]).status is Status.INFEASIBLE
    assert solve_lp([0], None, None, [[0]], [1]).status is Status.INFEASIBLE
    assert solve_lp([0], bounds=[(1, 0)]).status is Status.INFEASIBLE


def lines_of(rows):
    """The lines of the points, each as (indices, |t|)."""
    groups = {}
    for i, row in enumerate(np.asarray(rows, dtype=float)):
        if row.any():
            unit = row / np.linalg.norm(row)
            key = tuple(np.round(unit * np.sign(unit[np.flatnonzero(unit)[0]]), 9))
            groups.setdefault(key, []).append((i, np.linalg.norm(row)))
    return [tuple(zip(*group, strict=True)) for group in groups.values()]


def vanishes(instance, multipliers):
    """Whether h is zero at random vectors, relative to the size of its terms."""
    u = np.random.default_rng(0).standard_normal((50, instance.columns))
    z = u @ instance.rows.T
    terms = multipliers * instance.signs * np.maximum(z, instance.slope * z)
    return np.abs(terms.sum(axis=1)).max() < 1e-9 * np.abs(terms).max(initial=1e-300)


ODD = np.array([(1, 0), (0, 1), (-1, -1), (-1, 0), (0, -1), (1, 1)])


@pytest.mark.parametrize("margin", [True, False])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize(
    ("rows", "targets"),
    [
        (ODD, [1, 1, 1, -1, -1, -1]),
        ([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1)], [1, -1, 1, -1, -1, 1]),
        ([(1, 1), (1, 1)], [1, -1]),
        ([(1, 2), (2, 4)], [1, -1]),
    ],
)
def test_infeasible_data_has_multipliers(rows, targets, scale, margin):
    rows = np.array(rows, dtype=float)
    instance = ProblemInstance(rows * scale, targets, margin=margin)
    multipliers = infeasibility_multipliers(instance, lines_of(rows * scale))
    assert multipliers is not None
    assert vanishes(instance, multipliers)
    assert (multipliers.sum() if margin else multipliers @ instance.targets) > 0
    assert not margin or (multipliers >= 0).all()


def test_a_zero_row_alone_is_the_reason():
    multipliers = infeasibility_multipliers(ProblemInstance([(0, 0), (1, 1)], [1, 1], margin=True), [([1], [1.0])])
    assert multipliers is not None
    assert (multipliers > 0).tolist() == [True, False]


@pytest.mark.parametrize("margin", [True, False])
def test_feasible_data_has_none(margin):
    instance = ProblemInstance(ODD[:5], [1, 1, 1, -1, -1], margin=margin)
    assert infeasibility_multipliers(instance, lines_of(ODD[:5])) is None


def test_masks_make_data_infeasible():
    rows = np.array([(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)])
    targets = [1, -1, -1, 1]  # exclusive or: not a sum of functions of one coordinate each
    alone = ProblemInstance(rows, targets, margin=True, masks=([0], [1]))
    lines = [((0, 1, 2, 3), (1.0, 1.0, 1.0, 1.0))] * 2
    multipliers = infeasibility_multipliers(alone, lines)
    assert multipliers == pytest.approx([0.25] * 4, rel=1e-9) or multipliers.sum() > 0
    assert vanishes(ProblemInstance(rows[:, :1], targets, margin=True), multipliers)
    assert vanishes(ProblemInstance(rows[:, 1:], targets, margin=True), multipliers)
    assert infeasibility_multipliers(ProblemInstance(rows, targets, margin=True), lines_of(rows)) is None


@pytest.mark.parametrize("seed", range(60))
def test_agrees_with_all_cells_on_small_integer_data(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 2, (int(rng.integers(2, 8)), int(rng.integers(1, 3)))).astype(float)
    slope = float(rng.choice([0.0, 0.25, 1.0]))
    margin = bool(rng.integers(2))
    targets = rng.choice([-1.0, 1.0], len(rows)) if margin else rng.integers(-1, 2, len(rows)).astype(float)
    instance = ProblemInstance(rows, targets, slope=slope, margin=margin)
    multipliers = infeasibility_multipliers(instance, lines_of(rows))
    status = solve_all_cells(instance).status
    assert status is (Status.OPTIMAL if multipliers is None else Status.INFEASIBLE)
    assert multipliers is None or vanishes(instance, multipliers)
