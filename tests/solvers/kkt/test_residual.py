"""The float Clarke residual: gradients by differences, ends by enumeration, multipliers by duality over all columns."""

from itertools import product

import numpy as np
import pytest

from solvers.kkt import residual as kkt_residual
from solvers.kkt.residual import LocalModel, fit_multipliers


def model(rows, weights, outgoing, targets=None, *, slope=0.0, free=False, masks=None):
    """The model of a network on data: max-margin with these targets, min-norm without.

    On, off and kink by the sign of w.x: exact for small integers.
    """
    rows, weights, outgoing = (np.array(values, dtype=float) for values in (rows, weights, outgoing))
    counted = np.ones(rows.shape[1], dtype=bool)
    counted[-1] = not free
    allowed = np.ones(weights.shape, dtype=bool)
    if masks is not None:
        allowed = np.array([[c in mask for c in range(rows.shape[1])] for mask in masks])
    weights = np.where(allowed, weights, 0.0)
    signs = np.ones(len(rows)) if targets is None else np.array(targets, dtype=float)
    z = weights @ rows.T
    quantities = signs * (outgoing @ np.maximum(z, slope * z))
    return LocalModel(
        rows=rows,
        signs=signs,
        slope=slope,
        weights=weights,
        outgoing=outgoing,
        on=z > 0,
        kink=(z == 0) & (slope < 1),
        counted=counted,
        allowed=allowed,
        slacks=np.zeros(len(rows)) if targets is None else quantities - quantities.min(),
        norm=float((weights[:, counted] ** 2).sum() + (outgoing**2).sum()),
    )


def smooth(seed, **options):
    """A network and data in general position: no kinks."""
    rng = np.random.default_rng(seed)
    targets = rng.choice([-1, 1], 7) if seed % 2 else None
    return model(rng.standard_normal((7, 3)), rng.standard_normal((4, 3)), rng.standard_normal(4), targets, **options)


def kinked(seed, *, margin=True, dead=False, **options):
    """Small integers: many kinks."""
    rng = np.random.default_rng(seed)
    rows, weights = rng.integers(-1, 2, (7, 3)), rng.integers(-1, 2, (4, 3))
    rows[0] = weights[0, 1], -weights[0, 0], 0
    outgoing = rng.choice([-2, -1, 1, 2], 4)
    if dead:
        weights[1], outgoing[2] = 0, 0
    return model(rows, weights, outgoing, rng.choice([-1, 1], 7) if margin else None, **options)


def quantity(given, point, parameters):
    """q_i of the network with other parameters."""
    k, c = given.weights.shape
    z = parameters[: k * c].reshape(k, c) @ given.rows[point]
    return given.signs[point] * (parameters[k * c :] @ np.maximum(z, given.slope * z))


def every_column(given, point):
    """The gradients of a point at all ends of its kinks."""
    kinks = np.flatnonzero(given.kink[:, point] & (given.outgoing != 0))
    for chosen in product((False, True), repeat=len(kinks)):
        ends = given.on[:, point].copy()
        ends[kinks] = chosen
        yield given.gradient(point, ends), ends


# ------------------------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("masks", [None, [(0, 1), (2,), (0, 1, 2), (1, 2)]])
@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_those_of_differences(slope, masks, seed):
    given = smooth(seed, slope=slope, masks=masks)
    theta = np.concatenate([given.weights.ravel(), given.outgoing])
    visible = np.concatenate([given.allowed.ravel(), np.ones(len(given.outgoing), dtype=bool)])
    step = 1e-6
    for point in range(len(given.rows)):
        expected = [
            (quantity(given, point, theta + step * e) - quantity(given, point, theta - step * e)) / (2 * step)
            for e in np.eye(len(theta))
        ]
        found = given.gradient(point, np.zeros(4, dtype=bool)) * np.sqrt(given.norm)
        assert found == pytest.approx(np.where(visible, expected, 0.0), abs=1e-7)
        assert not found[~visible].any()


@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_gradients_at_kinks_are_limits(slope, seed):
    """At a kink the gradient with slope 1 (a) is that of the network moved to where the neuron is on (off)."""
    given = kinked(seed, slope=slope)
    for point in range(len(given.rows)):
        for gradient, ends in every_column(given, point):
            move = np.where(given.kink[:, point] & given.rows[point].any(), np.where(ends, 1e-9, -1e-9), 0.0)
            moved = given.weights + move[:, None] * given.rows[point]
            if not given.rows[point].any():
                assert not gradient.any()
                continue
            near = model(given.rows, moved, given.outgoing, given.signs, slope=slope)
            expected = near.gradient(point, ends) * np.sqrt(near.norm)
            assert gradient * np.sqrt(given.norm) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_euler(free, seed):
    """Degree 2: scaling . h_i = 2 q_i / sqrt(N) at every slope, also with a free bias, which theta leaves out."""
    given = kinked(seed, free=free, slope=0.3)
    theta = np.concatenate([given.weights.ravel(), given.outgoing])
    assert given.scaling() == pytest.approx(theta / np.sqrt(given.norm))
    hidden = given.parameters()[:12].reshape(4, 3) * np.sqrt(given.norm)
    assert hidden == pytest.approx(given.weights * [1, 1, not free])
    assert np.linalg.norm(given.parameters()) == pytest.approx(1.0)
    for point in range(7):
        for gradient, _ in every_column(given, point):
            assert gradient @ given.scaling() == pytest.approx(2 * quantity(given, point, theta) / given.norm)


@pytest.mark.parametrize("margin", [True, False])
@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("masks", [None, [(0, 1), (2,), (0, 1, 2), (1, 2)]])
@pytest.mark.parametrize("seed", range(5))
def test_best_ends_are_the_best_of_all(margin, slope, masks, seed):
    given = kinked(seed, margin=margin, slope=slope, masks=masks, dead=seed == 4)
    assert slope == 1 or given.kink.sum() > 2
    direction = np.random.default_rng(seed).standard_normal(16)
    for sign in (1, -1):
        gains, ends = given.best_ends(sign * direction)
        for point in range(len(given.rows)):
            best = max(gradient @ (sign * direction) for gradient, _ in every_column(given, point))
            assert gains[point] == pytest.approx(best, abs=1e-12)
            assert given.gradient(point, ends[:, point]) @ (sign * direction) == pytest.approx(best, abs=1e-12)
    assert (ends == given.on)[~given.kink].all()


# ------------------------------------------------------------------------------------------------- multipliers


def all_columns(given, candidates, free_signs=False, negative=frozenset()):
    """(column, slack / N) for every point, ends of its kinks and allowed sign."""
    found = []
    for point in candidates:
        has_kink = (given.kink[:, point] & (given.outgoing != 0)).any()
        allowed = (-1 if point in negative else 1,) if has_kink else (1, -1)
        for gradient, _ in every_column(given, point):
            found += [(sign * gradient, given.slacks[point] / given.norm) for sign in (allowed if free_signs else (1,))]
    return found


def assert_is_least(given, fit, rho, candidates=None, **signs):
    """The fit is the minimum of the module's text over all columns, by duality: no solver is asked.

    With b the target, r the residual and A the columns: if A'r <= 0, every x >= 0 has ||b - A x||^2 >= 2 r.b - ||r||^2
    (the square of ||b - A x - r|| is not negative), and that is ||r||^2 where r.(b - r) = 0.
    """
    target, residual = np.append(given.parameters(), 0.0), np.append(fit.residual, -rho * fit.delta)
    for column, slack in all_columns(given, range(len(given.rows)) if candidates is None else candidates, **signs):
        assert np.append(column, rho * slack) @ residual <= 1e-9
    assert residual @ (target - residual) == pytest.approx(0, abs=1e-9)


def assert_is_consistent(given, fit, rho):
    """The fit's numbers are those of its multipliers and kink products."""
    multipliers, pull = fit.multipliers, np.zeros(16)
    for point in range(len(given.rows)):
        on = given.gradient(point, np.ones(4, dtype=bool))
        off = given.gradient(point, np.zeros(4, dtype=bool))
        total = multipliers[point] * np.where(given.kink[:, point].repeat(3), 0.0, on[:12])
        for j in np.flatnonzero(given.kink[:, point]):
            product_ = fit.kink_products.get((point, int(j)), 0.0)
            ends = sorted((given.slope * multipliers[point], multipliers[point]))
            assert ends[0] - 1e-9 <= product_ <= ends[1] + 1e-9
            total[3 * j : 3 * j + 3] = product_ * on[3 * j : 3 * j + 3]
        pull += np.concatenate([total, multipliers[point] * off[12:]])
    assert fit.residual == pytest.approx(given.parameters() - pull, abs=1e-9)
    assert fit.epsilon == pytest.approx(np.linalg.norm(fit.residual))
    assert fit.delta == pytest.approx(multipliers @ given.slacks / given.norm, abs=1e-12)
    assert fit.kappa == pytest.approx(rho**2 * fit.delta)
    from_basis = np.zeros(len(given.rows))
    for point, _, weight in fit.basis:
        from_basis[point] += weight
    assert from_basis == pytest.approx(multipliers)
    matrix = np.array([given.gradient(point, ends) for point, ends, _ in fit.basis]).reshape(-1, 16)
    stacked = np.column_stack([matrix, rho * given.slacks[[point for point, _, _ in fit.basis]]])
    assert np.linalg.matrix_rank(stacked, tol=1e-9) == len(fit.basis)


@pytest.mark.parametrize("rho", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("options", [{}, {"slope": 0.3}, {"slope": 1.0}, {"free": True}, {"dead": True}])
@pytest.mark.parametrize("seed", range(4))
def test_max_margin_multipliers_are_the_best_of_all_columns(rho, options, seed):
    given = kinked(seed, **options)
    fit = fit_multipliers(given, rho)
    assert (fit.multipliers >= 0).all()
    assert_is_least(given, fit, rho)
    assert_is_consistent(given, fit, rho)


@pytest.mark.parametrize("options", [{}, {"slope": 0.3}, {"slope": 1.0}, {"free": True}, {"dead": True}])
@pytest.mark.parametrize("seed", range(4))
def test_every_sign_branch_of_min_norm(options, seed):
    given = kinked(seed, margin=False, **options)
    kinks = [int(i) for i in np.flatnonzero((given.kink & (given.outgoing != 0)[:, None]).any(axis=0))]
    branches = [frozenset(), frozenset(kinks), frozenset(kinks[::2]), frozenset(kinks[1::2])]
    for negative in branches:
        fit = fit_multipliers(given, 1.0, free_signs=True, negative=negative)
        assert_is_least(given, fit, 1.0, free_signs=True, negative=negative)
        assert all(fit.multipliers[i] <= 0 if i in negative else fit.multipliers[i] >= 0 for i in kinks)
        assert fit.delta == 0
        assert_is_consistent(given, fit, 1.0)


def test_min_norm_multipliers_of_points_without_kinks_have_any_sign():
    """x = 1 and f = -1 with v = -1, w = 1: lambda = -1."""
    fit = fit_multipliers(model([[1.0]], [[1.0]], [-1.0]), 1.0, free_signs=True)
    assert fit.multipliers == pytest.approx([-1.0])
    assert fit.epsilon == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_only_candidates_have_multipliers(seed):
    given = kinked(seed)
    candidates = np.array([1, 4, 6])
    fit = fit_multipliers(given, 1.0, candidates=candidates)
    assert set(np.flatnonzero(fit.multipliers)) <= {1, 4, 6}
    assert_is_least(given, fit, 1.0, candidates)


def test_the_tie_that_needs_clarke():
    """x = (1, 1), (0, -1), network s(u_1) + s(-u_2): lambda = (1, 1), mu = 1 at the kink."""
    given = model([[1, 1], [0, -1]], [[1, 0], [0, -1]], [1, 1], [1, 1])
    fit = fit_multipliers(given, 1.0)
    assert fit.epsilon == pytest.approx(0, abs=1e-9)
    assert fit.multipliers == pytest.approx([1, 1])
    assert fit.kink_products == {(1, 0): pytest.approx(1.0)}


@pytest.mark.parametrize("seed", range(6))
def test_the_residual_separates(seed):
    """z . h_i(g) <= kappa s_i for all i and g, and z . theta = epsilon^2 + kappa delta: a refutation."""
    rho = 2.0
    given = kinked(seed)
    fit = fit_multipliers(given, rho)
    gains, _ = given.best_ends(fit.residual)
    assert (gains <= fit.kappa * given.slacks / given.norm + 1e-8).all()
    assert fit.residual @ given.parameters() == pytest.approx(fit.epsilon**2 + fit.kappa * fit.delta, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_more_weight_on_complementarity_means_less_slack(seed):
    given = smooth(2 * seed + 1)
    fits = [fit_multipliers(given, rho) for rho in (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1e4)]
    epsilon, delta = (np.array([getattr(fit, name) for fit in fits]) for name in ("epsilon", "delta"))
    assert (np.diff(delta) <= 1e-9).all()
    assert (np.diff(epsilon) >= -1e-9).all()
    assert delta[-1] <= 1e-6
    tight = fit_multipliers(given, 1.0, candidates=np.flatnonzero(given.slacks == 0))
    assert epsilon[-1] <= tight.epsilon + 1e-9
    assert epsilon[-1] == pytest.approx(tight.epsilon, abs=1e-3)


@pytest.mark.parametrize("first", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_columns_are_added_as_they_are_needed(first, seed, monkeypatch):
    given = kinked(seed, slope=0.3)
    monkeypatch.setattr(kkt_residual, "FIRST_COLUMNS", first)
    monkeypatch.setattr(kkt_residual, "COLUMNS_PER_ROUND", first)
    fit = fit_multipliers(given, 1.0)
    assert_is_least(given, fit, 1.0)
    assert_is_consistent(given, fit, 1.0)


def test_a_search_that_gives_up_returns_what_it_has(monkeypatch):
    monkeypatch.setattr(kkt_residual, "MAX_ROUNDS", 1)
    monkeypatch.setattr(kkt_residual, "FIRST_COLUMNS", 1)
    given = kinked(0)
    assert_is_consistent(given, fit_multipliers(given, 1.0), 1.0)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_the_network_does_not_matter(scale):
    rng = np.random.default_rng(1)
    rows, weights, outgoing = rng.standard_normal((7, 3)), rng.standard_normal((4, 3)), rng.standard_normal(4)
    targets = rng.choice([-1, 1], 7)
    one, grown = (fit_multipliers(model(rows, s * weights, s * outgoing, targets), 1.0) for s in (1.0, scale))
    assert grown.epsilon == pytest.approx(one.epsilon)
    assert grown.delta == pytest.approx(one.delta)
    assert grown.multipliers == pytest.approx(one.multipliers)
