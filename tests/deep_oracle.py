"""Is a network of any depth nearly a KKT point, and is another one near it better? In floats, from the definitions.

Nothing here imports `verify` or `solvers`: a forward pass, gradients by the chain rule, least squares over the
gradients of all patterns of kinks, and sequential quadratic programs (SLSQP) in a ball from many starts.
"""

from itertools import product

import numpy as np
from scipy.optimize import minimize, nnls

MOST_KINKS = 8
"""Of one point, whose patterns of sides are all looked at."""


class Chain:
    """A network without its parameters, of an architecture in JSON, on max-margin data X (n, columns), y (n,)."""

    def __init__(self, architecture, X, y):
        layers = architecture["layers"]
        self.X, self.y = np.asarray(X, float), np.asarray(y, float)
        self.slopes = [_number(one["slope"]) for one in layers[:-1]]
        self.places, start = [], 0
        for one in layers:
            rows, columns = one["outputs"], one["inputs"] + one["bias"]
            entries = one["entries"] or np.arange(rows * columns).reshape(rows, columns).tolist()
            places = np.array([[-1 if i is None else start + i for i in row] for row in entries])
            self.places.append(places)
            start = max(start, int(places.max()) + 1)
        self.size, self.depth = start, len(layers)

    def matrices(self, theta):
        padded = np.append(theta, 0.0)
        return [padded[places] for places in self.places]

    def states(self, theta):
        """The preactivations of each layer, (n, units), at the rows of X."""
        h, found = self.X, []
        for A, a in zip(self.matrices(theta), [*self.slopes, 1.0], strict=True):
            z = h @ A.T
            found.append(z)
            h = np.where(z > 0, z, a * z)
        return found

    def margins(self, theta):
        return self.y * self.states(theta)[-1][:, 0]

    def gradient(self, theta, i, slopes):
        """Of the margin of point i, where the units of the hidden layers have these slopes."""
        matrices, inputs = self.matrices(theta), [self.X[i]]
        for A, g in zip(matrices, slopes, strict=False):
            inputs.append(g * (A @ inputs[-1]))
        found, back = np.zeros(self.size + 1), np.array([self.y[i]])
        for l in range(self.depth - 1, -1, -1):
            np.add.at(found, self.places[l], np.outer(back, inputs[l]))
            if l:
                back = slopes[l - 1] * (matrices[l].T @ back)
        return found[:-1]

    def sides(self, theta, i):
        """The slopes of the units of each hidden layer at point i."""
        return [np.where(z[i] > 0, 1.0, a) for z, a in zip(self.states(theta), self.slopes, strict=False)]

    def patterns(self, theta, i, width):
        """All choices of sides of the units of point i with |z| at most `width` times the largest of their layer."""
        states, sides, ties = self.states(theta), self.sides(theta, i), []
        for l, a in enumerate(self.slopes):
            z = states[l][i]
            small = np.abs(z) <= width * np.abs(states[l]).max()
            used = self._is_used(theta, l)
            ties += [(l, j) for j in np.flatnonzero(small & used) if a != 1]
        if len(ties) > MOST_KINKS:
            return None
        found = []
        for choice in product((0, 1), repeat=len(ties)):
            slopes = [own.copy() for own in sides]
            for (l, j), on in zip(ties, choice, strict=True):
                slopes[l][j] = 1.0 if on else self.slopes[l]
            found.append(slopes)
        return found

    def _is_used(self, theta, l):
        """Whether what comes into a unit, or what it gives, has a weight."""
        A, above = self.matrices(theta)[l : l + 2]
        return np.any(A, axis=1) | np.any(above, axis=0)


def _number(text):
    top, _, bottom = str(text).partition("/")
    return float(top) / float(bottom or 1)


def distance_from_stationary(chain, theta, width=1e-9):
    """How far theta is, relative to its norm, from all sums of multipliers >= 0 and gradients of active margins.

    A lower bound of what is left of the KKT conditions: all patterns of sides, whether they occur near theta or not.
    Not a number where a point has too many kinks; 1 where it does not fit.
    """
    margins = chain.margins(theta)
    if margins.min() <= 0:
        return 1.0
    columns = []
    for i in np.flatnonzero(margins <= margins.min() * (1 + 1e3 * width)):
        patterns = chain.patterns(theta, i, width)
        if patterns is None:
            return float("nan")
        columns += [chain.gradient(theta, i, slopes) for slopes in patterns]
    _, left = nnls(np.array(columns).T, theta)
    return left / np.linalg.norm(theta)


def best_near(chain, theta, radius, rng, starts=4, held=()):
    """The least squared norm, over that of theta, less 1, of networks near theta with no smaller margins.

    theta is scaled to the margin 1, and so is each network that is found; parameters `held` stay as they are. From
    theta itself and from points of a cube that the ball contains. Minus infinity where theta does not fit.
    """
    least = chain.margins(theta).min()
    if least <= 0:
        return -np.inf
    theta = theta * least ** (-1 / chain.depth)
    reach = radius * least ** (-1 / chain.depth) / np.sqrt(chain.size)
    free = np.array([k for k in range(chain.size) if k not in set(held)])
    best = 0.0

    def whole(u):
        found = theta.copy()
        found[free] += reach * u
        return found

    def slack(u):
        return chain.margins(whole(u)) - 1

    def rates(u):
        now = whole(u)
        return reach * np.array([chain.gradient(now, i, chain.sides(now, i))[free] for i in range(len(chain.y))])

    size = float(theta @ theta)
    for k in range(starts):
        begun = np.zeros(len(free)) if k == 0 else rng.uniform(-1, 1, len(free))
        found = minimize(
            lambda u: (whole(u) @ whole(u) - size) / reach**2, begun, method="SLSQP",
            jac=lambda u: 2 * whole(u)[free] / reach, bounds=[(-1, 1)] * len(free),
            constraints={"type": "ineq", "fun": lambda u: slack(u) / reach, "jac": lambda u: rates(u) / reach},
            options={"maxiter": 60, "ftol": 1e-6},
        )  # fmt: skip
        end = whole(found.x)
        margin = chain.margins(end).min()
        if margin > 0:
            best = min(best, float(end @ end) * margin ** (-2 / chain.depth) / size - 1)
    return best
