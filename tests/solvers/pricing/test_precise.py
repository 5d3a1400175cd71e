"""Pricing in many digits: the least squares with bounds, the trees against brute force, violators and limits."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from solvers.pricing.dual_function import evaluate
from solvers.pricing.precise import bounded_least_squares, price
from solvers.pricing.search import bound_tree


def decimals(values):
    return np.vectorize(Decimal, otypes=[object])(np.array(values, float))


@pytest.fixture(autouse=True)
def _digits():
    with localcontext() as context:
        context.prec = 60
        yield


@pytest.mark.parametrize("seed", range(20))
def test_least_squares_with_bounds(seed):
    random = np.random.default_rng(seed)
    rows, base = random.standard_normal((6, 3)), random.standard_normal(3)
    kinds = random.integers(0, 3, 6)
    low = np.where(kinds == 0, -np.inf, np.where(kinds == 1, 0.3, -0.5))
    high = np.where(kinds == 1, np.inf, 0.0)
    wanted = lsq_linear(rows.T, -base, (low, high), method="bvls").cost
    start = decimals(np.where(np.isfinite(high), high, low))
    bounds = [[Decimal(float(end)) if np.isfinite(end) else None for end in ends] for ends in (low, high)]
    t = bounded_least_squares(decimals(rows), decimals(base), *bounds, start)
    for value, least, most in zip(t, *bounds, strict=True):
        assert least is None or value >= least
        assert most is None or value <= most
    p = decimals(base) + t @ decimals(rows)
    assert float(p @ p) / 2 == pytest.approx(wanted, abs=1e-9)


def walk(search, size):
    """(slopes, signs) of every leaf; fails when the nodes are no whole tree."""
    nodes = iter(search.nodes)

    def below(signs):
        node = next(nodes)
        if not isinstance(node, int):
            yield node, signs
            return
        assert node not in signs
        yield from below({**signs, node: 1})
        yield from below({**signs, node: -1})

    yield from below({})
    assert next(nodes, None) is None
    assert size


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("slope", [0.0, 0.25])
def test_trees_bound_what_floats_find(seed, slope):
    random = np.random.default_rng(seed)
    rows, weights = random.standard_normal((6, 2 + seed % 2)), random.standard_normal(6)
    directions = random.standard_normal((20_000, rows.shape[1]))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    reached = evaluate(rows, weights, slope, directions).max()
    best = max(reached, bound_tree(rows, weights, slope, max(reached, 0) * 1.001 + 1e-6).bound)
    low = price(decimals(rows), decimals(weights), Decimal(slope), Decimal(float(reached * 0.9)))
    if reached > 0:
        assert low.violators
        for p in low.violators:
            assert evaluate(rows, weights, slope, p.astype(float)[None])[0] > 0
        tops = [float(value) for value in evaluate(rows, weights, slope, np.array(low.violators, float))]
        sizes = [float((p @ p).sqrt()) for p in low.violators]
        assert max(top / size for top, size in zip(tops, sizes, strict=True)) == pytest.approx(float(low.largest))
    beta = Decimal(float(max(best, 1e-3) * 1.01))
    closed = price(decimals(rows), decimals(weights), Decimal(slope), beta)
    assert not closed.violators
    assert not closed.is_cut
    assert closed.largest <= beta
    for slopes, signs in walk(closed, len(rows)):
        for i, (t, weight) in enumerate(zip(slopes, weights, strict=True)):
            e, sign = (1 - Decimal(slope)) * Decimal(float(weight)), signs.get(i, 0)
            if sign:
                assert t >= e if sign > 0 else t <= 0
            else:
                assert min(e, Decimal(0)) <= t <= max(e, Decimal(0))


def test_limits():
    random = np.random.default_rng(2)
    rows, weights = decimals(random.standard_normal((6, 2))), decimals(np.ones(6))
    assert price(rows, weights, Decimal(0), Decimal(1), deadline=0.0).is_cut
    assert price(rows, weights, Decimal(0), Decimal(1), most_nodes=1).is_cut
    few = price(rows, weights, Decimal(0), Decimal("0.01"), most_violators=1)
    assert len(few.violators) == 1
    assert not few.is_cut


def test_rows_without_columns_add_nothing():
    """As a mask that hides every input leaves them."""
    found = price(np.zeros((2, 0), object), decimals([1, -1]), Decimal(0), Decimal(1))
    assert (found.violators, found.largest) == ([], 0)
