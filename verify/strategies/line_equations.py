"""The equations of a KKT point on a line with a given pattern, in floats: residuals, derivatives, Newton's method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from solvers.arrays import Floats
from verify.strategies.line_patterns import Place

__all__ = ["LineEquations", "Values"]

_BOX = 9.0  # of the logarithms
_ACCURATE = 1e-11


@final
@dataclass(frozen=True, slots=True)
class Values:
    """What the unknowns mean.

    points: x, increasing, shape (n,).   multipliers: mu_i = lambda_i y_i.   breaks: t_j, shape (K,).
    shares: in (0, 1), of a kink the slope g_j, else how far the breakpoint is in its gap.   sizes: a_j.
    """

    points: Floats
    multipliers: Floats
    breaks: Floats
    shares: Floats
    sizes: Floats


@final
class LineEquations:
    """The unknowns are real numbers z such that all inequalities hold by themselves.

    x_1, the logarithms of the gaps and of |mu_i|, K numbers whose sigmoids are the shares, and the logarithms of the
    sizes. So 2 n + 2 K unknowns have n + 2 K equations:

        sum_i g_ij mu_i x~_i = s_j e_j,     e_j = facing_j (1, -t_j) / |(1, -t_j)|,        f(x_i) = y_i.
    """

    def __init__(self, labels: Sequence[int], places: Sequence[Place]) -> None:
        self.labels, self.places = list(labels), list(places)
        n, k = len(labels), len(places)
        self._y = np.array(labels, dtype=float)
        self._facing = np.array([place.facing for place in places], dtype=float)
        self._signs = np.array([place.sign for place in places], dtype=float)
        self._seen = np.array([[place.sees(i) for i in range(n)] for place in places], dtype=float).reshape(k, n)
        self._kinks = np.array([place.is_kink for place in places], dtype=bool)
        self._steps = np.tril(np.ones((n, n - 1)), -1)
        at = np.array([place.at for place in places], dtype=int)
        self._left = np.clip((at - 1) // 2, 0, n - 1)  # the point on the kink, or left of the gap
        self._right = np.where(self._kinks, self._left, np.clip(at // 2, 0, n - 1))
        self._outer = np.where(at == 0, -1.0, np.where(at == 2 * n, 1.0, 0.0))

    def values(self, z: Floats) -> Values:
        """What the unknowns mean."""
        n, k = len(self.labels), len(self.places)
        x = z[0] + self._steps @ np.exp(z[1:n])
        shares = _sigmoid(z[2 * n : 2 * n + k])
        breaks = (1 - shares) * x[self._left] + shares * x[self._right]
        breaks += self._outer * np.exp(z[2 * n : 2 * n + k] * (self._outer != 0))
        return Values(x, self._y * np.exp(z[n : 2 * n]), breaks, shares, np.exp(z[2 * n + k :]))

    def residuals(self, z: Floats) -> tuple[Floats, Floats]:
        """The residuals, shape (2 K + n,), and their derivatives, shape (2 K + n, len(z))."""
        n, k = len(self.labels), len(self.places)
        found, size = self.values(z), len(z)
        x, mu, t, shares = found.points, found.multipliers, found.breaks, found.shares
        own = np.arange(k)
        dx = np.zeros((n, size))
        dx[:, 0], dx[:, 1:n] = 1, self._steps * np.exp(z[1:n])
        dmu = np.zeros((n, size))
        dmu[np.arange(n), n + np.arange(n)] = mu
        dshares = shares * (1 - shares)
        dt = (1 - shares)[:, None] * dx[self._left] + shares[:, None] * dx[self._right]
        dt[own, 2 * n + own] += dshares * (x[self._right] - x[self._left])
        dt[own, 2 * n + own] += self._outer * np.exp(z[2 * n : 2 * n + k] * (self._outer != 0))
        seen = self._seen.copy()
        seen[own[self._kinks], self._left[self._kinks]] = shares[self._kinks]
        moments = mu * x
        dmoments = dmu * x[:, None] + mu[:, None] * dx
        sums, dsums = (seen @ moments, seen @ mu), [seen @ dmoments, seen @ dmu]
        for part, values in zip(dsums, (moments, mu), strict=True):
            part[own[self._kinks], 2 * n + own[self._kinks]] += (dshares * values[self._left])[self._kinks]
        c = 1 / np.sqrt(1 + t * t)
        units = (self._facing * c, -self._facing * t * c)
        dunits = ((-self._facing * t * c**3)[:, None] * dt, (-self._facing * c**3)[:, None] * dt)
        z_ij = np.outer(x, units[0]) + units[1]
        on = z_ij > 0
        scaled = found.sizes * self._signs
        df = x[:, None] * (on @ (scaled[:, None] * dunits[0])) + on @ (scaled[:, None] * dunits[1])
        df += (on @ (scaled * units[0]))[:, None] * dx
        df[:, 2 * n + k :] += on * z_ij * scaled
        s = self._signs
        parts = [sums[0] - s * units[0], sums[1] - s * units[1], (on * z_ij) @ scaled - self._y]
        lines = [dsums[0] - s[:, None] * dunits[0], dsums[1] - s[:, None] * dunits[1], df]
        return np.concatenate(parts), np.vstack(lines)

    def solved(self, z: Floats, steps: int = 60) -> Floats | None:
        """A root near z by damped least-norm steps (Levenberg-Marquardt); None when they do not arrive."""
        damping = 1e-2
        z = np.r_[z[:1], np.clip(z[1:], -_BOX, _BOX)]
        if not np.isfinite(z).all():
            return None
        r, lines = self.residuals(z)
        for step in range(steps):
            if np.abs(r).max() < _ACCURATE:
                return z
            square, gram = r @ r, lines @ lines.T
            for _ in range(5):
                try:
                    move = -lines.T @ np.linalg.solve(gram + damping * np.eye(len(r)), r)
                except np.linalg.LinAlgError:
                    return None
                move *= min(1.0, 1.5 / max(float(np.abs(move).max()), 1e-300))
                tried = np.r_[z[0] + move[0], np.clip(z[1:] + move[1:], -_BOX, _BOX)]
                r_tried, lines_tried = self.residuals(tried)
                if r_tried @ r_tried < square:
                    break
                damping = 5 * damping + 1e-12
            else:
                return None
            z, r, lines = tried, r_tried, lines_tried
            if step > 25 and r @ r > 0.98 * square:
                return None
            damping /= 4
        return None


def _sigmoid(z: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(z, -40, 40)))
