"""Programs over the cells of small data, and how well a solution of one satisfies its stationarity condition."""

import numpy as np

from solvers.instance import ProblemInstance

ODD = np.array([(1, 0), (0, 1), (-1, -1), (-1, 0), (0, -1), (1, 1)])


def stationarity_error(instance, columns, solution):
    """The largest violation of u/|u| = s sum c a x + sum nu tau x over live columns, and of its norm being <= 1."""
    norms = np.linalg.norm(solution.primal, axis=1)
    worst = 0.0
    for column, u, nu in zip(columns, solution.primal, solution.cone_dual, strict=True):
        mask = instance.masks[column.mask]
        counted = instance.counted(column.mask)
        tau = np.where(column.pattern == 0, 1, column.pattern)
        slopes = np.where(column.pattern > 0, 1.0, instance.slope)
        pull = (column.output * solution.dual * instance.signs * slopes + nu * tau) @ instance.masked_rows(column.mask)
        norm = np.linalg.norm(u[mask][counted])
        if norm > 1e-3 * norms.max():
            pull = pull - np.where(counted, u[mask] / norm, 0.0)
            worst = max(worst, np.abs(pull).max())
        else:
            worst = max(worst, np.linalg.norm(pull[counted]) - 1, np.abs(pull[~counted]).max(initial=0.0))
    return worst


def random_instance(seed, free):
    """A feasible instance: the targets are the outputs of a random network, or their signs."""
    rng = np.random.default_rng(seed)
    points, dimension, slope = int(rng.integers(2, 7)), int(rng.integers(1, 4)), float(rng.choice([0.0, 0.25, 1.0]))
    margin = bool(rng.integers(2))
    rows = rng.standard_normal((points, dimension))
    if free:
        rows = np.column_stack([rows, np.ones(points)])
    values = rows @ rng.standard_normal((rows.shape[1], 5))
    targets = np.maximum(values, slope * values) @ rng.standard_normal(5)
    return ProblemInstance(
        rows, np.where(targets > 0, 1, -1) if margin else targets, slope=slope, margin=margin, free=free
    )
