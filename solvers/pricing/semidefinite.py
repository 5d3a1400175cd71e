"""The largest ||H(u)|| on the unit ball, H(u) = sum_r w_r s(x_r.u) with vectors w_r >= 0, bounded by a tree.

On a leaf's cell b ||u||^2 - ||H||^2 is compared with products of what is known to be at least 0 there, the ends
s(x_r.u) - a x_r.u and s(x_r.u) - x_r.u, both of one row having the product 0: a semidefinite program in b and the
weights of the products, solved by a barrier method. The tree splits on a row of which neither end is small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from solvers.arrays import Floats
from solvers.clock import is_late, poll

__all__ = ["MOST_WORK", "Closed", "Weight", "climbed", "squared_bound"]

Weight: TypeAlias = tuple[int, str, int, str, float]
"""(r, end, t, end, n), an end "+" or "-"."""

MOST_PRODUCTS = 120
"""Of ends of different rows, those of the rows that are least at right angles."""

MOST_LEAVES, MOST_WORK = 256, 5 * 10**7
"""Leaves, and the sum over them of the square of products times variables, beyond which nothing is split: seconds."""

STEPS, SHRINK = 30, 0.1
"""Newton steps for each barrier, and how much smaller the next one is."""

GAP = 1e-9
"""Relative, at which a leaf is solved."""


@dataclass(frozen=True, slots=True)
class Closed:
    """A leaf: what b is there, and the weights of its products."""

    bound: float
    products: list[Weight] = field(default_factory=list)


def climbed(rows: Floats, weights: Floats, slope: float, starts: Floats) -> tuple[float, Floats]:
    """The largest ||H(u)||^2 of unit u that ascents from the rows of `starts` reach, and that u.

    rows (R, d), weights (R, P), all at least 0, slope at most 1: each component is convex, and u <- the gradient of
    ||H||^2, normalised, never goes down.
    """
    u = starts / np.maximum(np.linalg.norm(starts, axis=1, keepdims=True), 1e-300)
    for _ in range(200):
        poll()
        z = u @ rows.T
        values = np.maximum(z, slope * z) @ weights
        slopes = np.where(z > 0, 1.0, slope)
        gradient = ((values @ weights.T) * slopes) @ rows
        sizes = np.linalg.norm(gradient, axis=1, keepdims=True)
        following = np.where(sizes > 0, gradient / np.maximum(sizes, 1e-300), u)
        if np.abs(following - u).max(initial=0.0) < 1e-13:
            break
        u = following
    z = u @ rows.T
    squares = ((np.maximum(z, slope * z) @ weights) ** 2).sum(axis=1)
    best = int(np.argmax(squares))
    return float(squares[best]), u[best]


def squared_bound(
    rows: Floats, weights: Floats, slope: float, target: float, deadline: float | None = None, work: float = MOST_WORK
) -> tuple[float, list[int | Closed]]:
    """(b, tree in pre-order): ||H(u)||^2 <= b ||u||^2, up to rounding, b at most `target` where that was reached.

    work: that of leaves, beyond which nothing is split. A number r splits into x_r.u >= 0, then x_r.u <= 0. Not
    complete: of a cell where all rows are decided the products may prove less than is true.
    """
    tree: list[int | Closed] = []
    count, spent = 0, 0

    def grow(path: Mapping[int, int]) -> None:
        nonlocal count, spent
        leaf = _Leaf(rows, weights, slope, path)
        bound, split = leaf.solved()
        count, spent = count + 1, spent + leaf.work
        is_long = count >= MOST_LEAVES or spent >= work or is_late(deadline)
        if bound <= target or split is None or is_long:
            tree.append(Closed(bound, leaf.products()))
            return
        tree.append(split)
        grow({**path, split: 1})
        grow({**path, split: -1})

    grow({})
    return max(node.bound for node in tree if isinstance(node, Closed)), tree


class _Leaf:
    """The program of a cell: M(b, n) = b I_u - H'H - sum_k n_k A_k is to be positive definite, b small."""

    def __init__(self, rows: Floats, weights: Floats, slope: float, path: Mapping[int, int]) -> None:
        self.open = [r for r in range(len(rows)) if r not in path and slope < 1.0]
        self.size, whole = rows.shape[1], rows.shape[1] + len(self.open)
        sizes = np.linalg.norm(rows, axis=1)
        self.sizes = np.where(sizes > 0, sizes, 1.0)
        before = np.zeros((len(rows), whole))
        before[:, : self.size] = rows / self.sizes[:, None]
        after = before * np.array([1.0 if path.get(r, 0) > 0 else slope for r in range(len(rows))])[:, None]
        for k, r in enumerate(self.open):
            after[r] = np.eye(whole)[self.size + k]
        scaled = weights * self.sizes[:, None]
        self.scale = float(np.linalg.norm(scaled)) ** 2 or 1.0
        image = (scaled.T @ after) / np.sqrt(self.scale)
        self.ends = {(r, end): after[r] - (slope if end == "+" else 1.0) * before[r] for r, end in _ends(len(rows))}
        cosines = np.abs(before @ before.T)
        self.names = list(_pairs(self.open, path, slope, cosines))
        self.is_free = np.array([True, *(r == t and one != other for r, one, t, other in self.names)])
        unit = np.zeros((whole, whole))
        unit[: self.size, : self.size] = np.eye(self.size)
        forms = [np.outer(self.ends[r, one], self.ends[t, other]) for r, one, t, other in self.names]
        self.matrices = np.array([unit, *(-(form + form.T) / 2 for form in forms)])
        self.constant = -image.T @ image
        self.y = np.zeros(0)
        self.work = (len(self.matrices) * whole) ** 2

    def _start(self) -> Floats:
        """Strictly inside: the weight of the product 0 of each open row far below 0, b large."""
        y = np.full(len(self.matrices), 1e-3 / max(len(self.matrices), 1))
        y[1:][self.is_free[1:]] = -3.0
        y[0] = 4.0
        while not self._is_inside(y):
            y[0] *= 2.0
        return y

    def _matrix(self, y: Floats) -> Floats:
        return self.constant + np.tensordot(y, self.matrices, axes=1)

    def _is_inside(self, y: Floats) -> bool:
        if (y[~self.is_free] <= 0).any():
            return False
        try:
            np.linalg.cholesky(self._matrix(y))
        except np.linalg.LinAlgError:
            return False
        return True

    def solved(self) -> tuple[float, int | None]:
        """The least b, and the row to split on, None where all are decided."""
        y = self._start()
        barrier, count = 1.0, len(self.constant) + int((~self.is_free).sum())
        while True:
            y = self._centred(y, barrier)
            if barrier * count <= GAP * max(abs(y[0]), 1e-12):
                break
            barrier *= SHRINK
        self.y = y
        moments = np.linalg.pinv(self._matrix(y), hermitian=True)
        shares = {r: min(float(self.ends[r, end] @ moments @ self.ends[r, end]) for end in "+-") for r in self.open}
        return float(y[0]) * self.scale, max(shares, key=shares.__getitem__, default=None)

    def _centred(self, y: Floats, barrier: float) -> Floats:
        for _ in range(STEPS):
            poll()
            try:
                inverse = np.linalg.inv(self._matrix(y))
            except np.linalg.LinAlgError:
                return y
            turned = inverse @ self.matrices
            flat = turned.reshape(len(y), -1)
            gradient = -barrier * np.trace(turned, axis1=1, axis2=2)
            hessian = barrier * (flat @ turned.transpose(0, 2, 1).reshape(len(y), -1).T)
            gradient[0] += 1.0
            kept = ~self.is_free
            gradient[kept] -= barrier / y[kept]
            hessian[kept, kept] += barrier / y[kept] ** 2
            scales = 1.0 / np.sqrt(np.maximum(np.diag(hessian), 1e-300))
            scaled = hessian * scales[:, None] * scales + 1e-13 * np.eye(len(y))
            step = -scales * np.linalg.solve(scaled, scales * gradient)
            decrease = float(-gradient @ step) / barrier
            length = 1.0 if decrease < 0.25 else 1.0 / (1.0 + np.sqrt(max(decrease, 0.0)))
            while length > 1e-9 and not self._is_inside(y + length * step):
                length /= 2
            if length <= 1e-9:
                return y
            y = y + length * step
            if decrease < 1e-8:
                return y
        return y

    def products(self) -> list[Weight]:
        """Those of the solution, on the given rows."""
        return [
            (*name, float(n) * self.scale / float(self.sizes[name[0]] * self.sizes[name[2]]))
            for name, n in zip(self.names, self.y[1:], strict=True)
        ]


def _ends(count: int) -> Iterator[tuple[int, str]]:
    return ((r, end) for r in range(count) for end in "+-")


def _pairs(
    open_rows: Sequence[int], path: Mapping[int, int], slope: float, cosines: Floats
) -> Iterator[tuple[int, str, int, str]]:
    """The products that may help: both ends of open rows, and ends of different rows, not too many."""
    if slope == 1.0:
        return
    yield from ((r, "+", r, "-") for r in open_rows)
    ends = [(r, end) for r, end in _ends(len(cosines)) if r not in path or (path[r] > 0) == (end == "+")]
    pairs = [(r, a, t, b) for k, (r, a) in enumerate(ends) for t, b in ends[k + 1 :] if r != t]
    yield from sorted(pairs, key=lambda pair: -cosines[pair[0], pair[2]])[:MOST_PRODUCTS]
