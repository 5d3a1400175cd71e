"""Better networks of any depth just across kinks that a network nearly touches, by programs in a small ball around it.

A local optimum may have a ball in which nothing is better and that ends at a preactivation which is nearly 0. From the
mirror image of the network at each such kink, the nearest first, sequential quadratic programs (SLSQP) go down in the
ball with the margins of the network.

Heuristic: what is returned has to be checked by the caller, and that nothing is returned proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from solvers.arrays import Floats
from solvers.clock import is_late, poll
from solvers.layers import Layers

__all__ = ["DeepCrossings"]

MOST = 12
"""Kinks that are crossed."""

BEYOND = 2.0
"""How far a start is, in times of the distance to the kink: 2 is its mirror image."""

BETTER = 1e-9
"""By how much the squared norm has to be smaller, relative to that of the network."""

ITERATIONS = 60


@dataclass(frozen=True)
class DeepCrossings:
    """rows (n, columns), signs (n,) of 1 and -1: the data of a max-margin problem.

    reach: the radius of the ball, relative to the norm.
    """

    layers: Layers
    rows: Floats
    signs: Floats
    reach: float = 1e-2

    def better(self, theta: Floats, deadline: float | None = None) -> Iterator[Floats]:
        """Networks in the ball around theta with at least its margin and a smaller norm, none or a few."""
        least = self._margins(theta).min()
        if not least > 0:
            return
        theta = theta * least ** (-1 / len(self.layers.places))
        for start in self._starts(theta):
            poll()
            if is_late(deadline):
                return
            found = self._ended(theta, start)
            if found is not None:
                yield found

    def _margins(self, theta: Floats) -> Floats:
        return self.signs * self.layers.outputs(theta, self.rows)

    def _starts(self, theta: Floats) -> Iterator[Floats]:
        """theta itself, and beyond the kinks that lie in the ball."""
        yield theta
        size, crossed = float(np.linalg.norm(theta)), []
        values = self.layers.preactivations(theta, self.rows)
        pattern = self.layers.pattern(values)
        for l, z in enumerate(values[:-1]):
            if self.layers.slopes[l] == 1:
                continue
            for i, j in np.argwhere(z).tolist():
                rate, _ = self.layers.unit_gradient(theta, self.rows, pattern, l, i, j)
                square = float(rate @ rate)
                if abs(z[i, j]) * BEYOND < self.reach * size * np.sqrt(square):
                    crossed.append((abs(z[i, j]) / np.sqrt(square), theta - BEYOND * z[i, j] / square * rate))
        crossed.sort(key=lambda pair: pair[0])
        yield from (start for _, start in crossed[:MOST])

    def _ended(self, theta: Floats, start: Floats) -> Floats | None:
        """Where programs lead from a start, at the margin 1; None where that is no better than theta."""
        from scipy.optimize import minimize

        reach = self.reach * float(np.linalg.norm(theta)) / np.sqrt(len(theta))
        square = float(theta @ theta)

        def rates(u: Floats) -> Floats:
            now = theta + reach * u
            pattern = self.layers.pattern(self.layers.preactivations(now, self.rows))
            return self.signs[:, None] * self.layers.jacobian(now, self.rows, pattern)

        found = minimize(
            lambda u: (float((theta + reach * u) @ (theta + reach * u)) - square) / reach**2,
            np.clip((start - theta) / reach, -1, 1), method="SLSQP", jac=lambda u: 2 * (theta + reach * u) / reach,
            bounds=[(-1.0, 1.0)] * len(theta),
            constraints={"type": "ineq", "fun": lambda u: (self._margins(theta + reach * u) - 1) / reach, "jac": rates},
            options={"maxiter": ITERATIONS, "ftol": 1e-6},
        )  # fmt: skip
        end = theta + reach * found.x
        least = float(self._margins(end).min())
        if not least > 0:
            return None
        end = end * least ** (-1 / len(self.layers.places))
        return end if float(end @ end) < square * (1 - BETTER) else None
