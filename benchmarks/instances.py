"""The data and networks of the jobs, all from seeds.

d counts the columns, of which the last is 1 (a penalised bias).
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import Floats
from verify.auditing.loop import certified_bracket
from verify.deciders.global_optimality.record import Bracket
from verify.problem.network import Architecture, Network
from verify.problem.problem import Bias, Dataset, Goal, Problem


def gaussian(points: int, columns: int, seed: int) -> Floats:
    """Rows, shape (points, columns), the last column 1."""
    rows = np.random.default_rng(seed).standard_normal((points, columns))
    rows[:, -1] = 1.0
    return rows


def bands(points: int, columns: int, seed: int, gap: float = 0.0) -> tuple[Floats, Floats]:
    """Rows and labels: +1 where |x_1| > 0.7, with x_1 moved away from there by half of `gap`."""
    rows = gaussian(points, columns, seed)
    outer = np.abs(rows[:, 0]) > 0.7
    rows[:, 0] += gap / 2 * np.where(outer, 1.0, -1.0) * np.sign(rows[:, 0])
    return rows, np.where(outer, 1.0, -1.0)


def linear(points: int, columns: int, seed: int, shift: float = 0.3) -> tuple[Floats, Floats]:
    """Rows and labels: sign x_1, the classes moved apart by twice `shift`."""
    rows = gaussian(points, columns, seed)
    labels = np.where(rows[:, 0] > 0, 1.0, -1.0)
    rows[:, 0] += shift * labels
    return rows, labels


def targets(points: int, columns: int, seed: int) -> tuple[Floats, Floats]:
    """Rows and Gaussian targets (min-norm)."""
    random = np.random.default_rng(seed)
    rows = random.standard_normal((points, columns))
    rows[:, -1] = 1.0
    return rows, random.standard_normal(points)


def max_margin(rows: Floats, labels: Floats) -> Problem:
    """The max-margin problem of ReLU networks on these rows."""
    shape = Architecture.two_layer(rows.shape[1] - 1, 1, bias=True)
    return Problem(Dataset(rows[:, :-1], labels), shape, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)


def min_norm(rows: Floats, values: Floats) -> Problem:
    """The min-norm problem of ReLU networks on these rows."""
    shape = Architecture.two_layer(rows.shape[1] - 1, 1, bias=True)
    return Problem(Dataset(rows[:, :-1], values), shape, goal=Goal.MIN_NORM, bias=Bias.PENALISED)


def relative_gap(bracket: Bracket | tuple[object, object] | None) -> float:
    """upper / lower - 1 of a bracket, inf where an end is missing."""
    lower, upper = bracket.ends if isinstance(bracket, Bracket) else bracket or (None, None)
    return float(upper / lower - 1) if lower and upper else float("inf")  # type: ignore[operator]


def best_network(problem: Problem, tol: float = 1e-6, time_limit: float | None = 60.0) -> Network:
    """The library's own better network."""
    return certified_bracket(problem, tol=tol, time_limit=time_limit).witnesses[0]


def weights(network: Network) -> tuple[Floats, Floats]:
    """W with the bias as its last column, and v, as floats."""
    hidden = [[float(weight) for weight in row] for row in network.hidden_weights]
    return np.array(hidden), np.array([float(weight) for weight in network.output_weights])


def outputs(hidden: Floats, outgoing: Floats, rows: Floats) -> Floats:
    """f at each row."""
    return np.maximum(rows @ hidden.T, 0.0) @ outgoing


def as_trained(network: Network, rows: Floats, labels: Floats, width: int, seed: int) -> Network:
    """A network of at least `width` neurons as training leaves them: `network` perturbed, and small random features.

    The perturbation (1e-4 relative at first) is halved until every point is on its side with half the margin.
    """
    hidden, outgoing = weights(network)
    random = np.random.default_rng(seed)
    extra = max(width - len(outgoing), 0)
    size = 1e-4
    while True:
        features = np.sqrt(size / 10) * random.standard_normal((extra, hidden.shape[1] + 1))
        W = np.concatenate([hidden * (1 + size * random.standard_normal(hidden.shape)), features[:, :-1]])
        v = np.concatenate([outgoing * (1 + size * random.standard_normal(outgoing.shape)), features[:, -1]])
        if (labels * outputs(W, v, rows)).min() > 0.5:
            return Network.two_layer(W[:, :-1], v, b=W[:, -1])
        size /= 2


def more_points(network: Network, rows: Floats, labels: Floats, points: int, seed: int) -> tuple[Floats, Floats]:
    """The data with further points, up to `points`, that `network` gets right with room to spare.

    `network` has margin 1 on the data. The optimum stays what it was: the same network fits, the same multipliers
    prove it.
    """
    found = [rows]
    names = [labels]
    random = np.random.default_rng(seed)
    missing = points - len(rows)
    while missing > 0:
        drawn = random.standard_normal((2 * missing, rows.shape[1]))
        drawn[:, -1] = 1.0
        values = outputs(*weights(network), drawn)
        clear = np.flatnonzero(np.abs(values) > 1.01)[:missing]
        found.append(drawn[clear])
        names.append(np.sign(values[clear]))
        missing -= len(clear)
    return np.concatenate(found), np.concatenate(names)
