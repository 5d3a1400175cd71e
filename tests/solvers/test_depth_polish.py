"""Newton's method at a support and held kinks: what it ends at is a KKT point, by the definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from solvers import depth_polish
from solvers.depth import DeepDescent, random_start
from solvers.depth_polish import DeepPoint, DeepPolish
from solvers.layers import Layers
from tests.deep_starts import start
from verify.deciders.depth.arrays import layers_of, parameters_of
from verify.numbers.floats import float_rows, float_targets


def dense(sizes: list[int], slope: float) -> Layers:
    places, count = [], 0
    for columns, outputs in pairwise(sizes):
        places.append(count + np.arange(outputs * columns).reshape(outputs, columns))
        count += outputs * columns
    return Layers(tuple(places), (slope,) * (len(sizes) - 2))


def trained(sizes: list[int], slope: float, seed: int, points: int = 4) -> tuple[DeepPolish, np.ndarray]:
    random = np.random.default_rng(seed)
    rows, signs = random.normal(size=(points, sizes[0])), random.choice([-1.0, 1.0], points)
    layers = dense(sizes, slope)
    end = DeepDescent(layers, rows, signs, True).ended(random_start(layers, random), 40.0)
    return DeepPolish(layers, rows, signs), end


def residuals(polish: DeepPolish, point: DeepPoint) -> tuple[float, float, float]:
    """Of stationarity at the slopes, of the margins, and of complementarity; kinks are at 0, slopes within [a, 1]."""
    layers, theta = polish.layers, point.theta
    values = layers.preactivations(theta, polish.rows)
    pattern = [np.where(z > 0, 1.0, a) for z, a in zip(values, layers.slopes, strict=False)]
    for (i, l, j), g in point.slopes.items():
        assert abs(values[l][i, j]) < 1e-9
        assert layers.slopes[l] <= g <= 1
        pattern[l][i, j] = g
    pull = point.multipliers * polish.signs
    gradient = layers.gradient(theta, polish.rows, pattern, pull)
    margins = polish.signs * values[-1][:, 0]
    return (
        float(np.abs(theta - gradient).max()),
        float(max(1 - margins.min(), 0.0)),
        float(np.abs(point.multipliers * (margins - 1)).max()),
    )


@pytest.mark.parametrize("slope", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("sizes", [[3, 3, 2, 1], [4, 3, 3, 1], [3, 4, 1]])
@pytest.mark.one_in(3)
def test_what_it_ends_at_is_a_kkt_point(sizes, slope):
    found = 0
    for seed in range(8):
        polish, end = trained(sizes, slope, seed)
        for point in polish.points(end):
            found += 1
            assert (point.multipliers >= 0).all()
            assert max(residuals(polish, point)) < 1e-8
    assert found >= (1 if slope == 0 else 3)


def test_a_kkt_point_stays_where_it_is():
    polish, end = trained([3, 3, 2, 1], 0.25, 1)
    point = next(iter(polish.points(end)))
    again = next(iter(polish.points(point.theta * 1.7)))
    np.testing.assert_allclose(again.theta, point.theta, atol=1e-9)
    assert again.slopes.keys() == point.slopes.keys()


def test_each_point_comes_once():
    for seed in range(6):
        polish, end = trained([3, 3, 2, 1], 0.25, seed)
        ends = [(point.theta, {*point.slopes}) for point in polish.points(end)]
        for k, (theta, kinks) in enumerate(ends):
            assert all(kinks != others or np.abs(theta - other).max() > 1e-9 for other, others in ends[:k])


def test_kinks_of_several_layers_are_held():
    held = set()
    for seed in range(12):
        polish, end = trained([3, 3, 2, 1], 0.0, seed)
        held |= {l for point in polish.points(end) for _, l, _ in point.slopes}
    assert held == {0, 1}


def test_units_that_were_turned_to_a_kink_are_turned_back(monkeypatch):
    """There its slope is that of a side: nothing holds them. Which ends a processor's rounding leads to differs."""

    def points() -> list[tuple[DeepPolish, DeepPoint]]:
        found = []
        for number in range(10):
            asked = start("leaky, depth 3", number)
            if asked is None:
                continue
            problem, network = asked
            polish = DeepPolish(layers_of(problem.architecture), float_rows(problem), float_targets(problem))
            found += [(polish, point) for point in polish.points(parameters_of(network))]
        return found

    opened = points()
    monkeypatch.setattr(depth_polish, "OPENINGS", ())
    held = points()
    assert len(opened) == len(held)
    turned = 0
    for (polish, point), (_, before) in zip(opened, held, strict=True):
        assert max(residuals(polish, point)) < 1e-8
        weights = polish.layers.matrices(point.theta)  # units without any are at 0 wherever they are turned
        ends = [
            (i, l, j) for (i, l, j), g in before.slopes.items() if min(g - 0.25, 1 - g) < 1e-9 and weights[l][j].any()
        ]
        if not ends or point.slopes.keys() == before.slopes.keys():  # none of them can be turned without a change
            continue
        values = polish.layers.preactivations(point.theta, polish.rows)
        assert all(abs(values[l][i, j]) > 1e-6 for i, l, j in ends)
        assert point.slopes.keys() == before.slopes.keys() - {*ends}
        turned += 1
    assert turned >= 2


def test_a_network_that_does_not_fit_has_none():
    polish, end = trained([3, 3, 2, 1], 0.25, 0)
    assert not list(DeepPolish(polish.layers, polish.rows, -polish.signs).points(end))
    assert not list(polish.points(0 * end))
