"""Radau IIA of order 5 for derivatives whose shifted systems are solved by their structure, not as dense matrices.

The derivative of the flow of a depth-2 network is an arrow for each neuron, between w_j and v_j, plus a matrix of rank
about n + (kinks held): (shift - J) x = b costs O(N (n + held)) by the formula of Sherman, Morrison and Woodbury, where
a dense factorisation costs O(N^3). The step control and the formulas are scipy's; only its linear algebra is replaced.

Source: Hairer and Wanner, Solving Ordinary Differential Equations II (1996), section IV.8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import Radau
from scipy.sparse import csc_array

from solvers.arrays import Floats, Indices

__all__ = ["ArrowJacobian", "StructuredRadau"]

RealOrComplex: TypeAlias = NDArray[Any]  # real or complex


@dataclass(frozen=True)
class ArrowJacobian:
    """J = blockdiag(H - growth, 0) + left @ right.T for y = (u, one more), of size N + 1.

    H[into[j, k], out[j]] = across[j, k] and H[out[j], into[j, k]] = back[j, k], all others 0; the places `into`
    (units, columns) and `out` (units,) are indices, N + 1 for no weight. left, right: (N + 1, rank).
    """

    into: Indices
    out: Indices
    across: Floats
    back: Floats
    growth: float
    left: Floats
    right: Floats

    @cached_property
    def dense(self) -> Floats:
        """J as a matrix; for tests."""
        size = len(self.left)
        result = np.zeros((size + 1, size + 1))
        outs = np.broadcast_to(self.out[:, None], self.into.shape)
        result[self.into, outs], result[outs, self.into] = self.across, self.back
        result = result[:-1, :-1]
        result[: size - 1, : size - 1] -= self.growth * np.eye(size - 1)
        return result + self.left @ self.right.T

    def solver(self, shift: complex) -> Callable[[RealOrComplex], RealOrComplex]:
        """b -> (shift - J)^-1 b."""
        inverse_left = self._arrows(shift, self.left)
        small = np.eye(self.left.shape[1]) - self.right.T @ inverse_left

        def solve(b: RealOrComplex) -> RealOrComplex:
            first = self._arrows(shift, b[:, None])
            return (first + inverse_left @ np.linalg.solve(small, self.right.T @ first))[:, 0]

        return solve

    def _arrows(self, shift: complex, b: RealOrComplex) -> RealOrComplex:
        """The same without the low-rank part, for several b, (N + 1, many)."""
        turn = shift + self.growth
        padded = np.concatenate([b, np.zeros((1, b.shape[1]))])
        w, v = padded[self.into], padded[self.out]
        below = (self.back[:, None, :] @ w)[:, 0] / turn
        v_new = (v + below) / (turn - (self.across * self.back).sum(axis=1) / turn)[:, None]
        result = np.concatenate([b / turn, np.zeros((1, b.shape[1]))]).astype(np.result_type(b, turn))
        result[self.into] = (w + self.across[:, :, None] * v_new[:, None, :]) / turn
        result[self.out] = v_new
        result[-2] = b[-1] / shift
        return result[:-1]


class _One:
    """The identity, as scipy's Radau multiplies it by a number and takes a Jacobian from it."""

    __array_ufunc__ = None

    def __rmul__(self, shift: complex) -> _Shift:
        return _Shift(shift)


@dataclass(frozen=True)
class _Shift:
    shift: complex

    def __sub__(self, jacobian: ArrowJacobian) -> Callable[[RealOrComplex], RealOrComplex]:
        return jacobian.solver(self.shift)


class StructuredRadau(Radau):
    """scipy's Radau for a derivative given as an ArrowJacobian; `newton` is the error of the equations of a step, in
    units of its tolerance.
    """

    def __init__(
        self,
        fun: Callable[[float, Floats], Floats],
        t0: float,
        y0: Floats,
        t_bound: float,
        *,
        derivative: Callable[[float, Floats], ArrowJacobian],
        **options: Any,
    ) -> None:
        super().__init__(fun, t0, y0, t_bound, jac=csc_array((len(y0), len(y0))), **options)
        self.jac = lambda t, y, _f=None: derivative(t, y)
        self.J = derivative(t0, y0)
        self.I = _One()
        self.lu = self._factored
        self.solve_lu = lambda solve, b: solve(b)

    def _factored(self, solve: Callable[[RealOrComplex], RealOrComplex]) -> Callable[[RealOrComplex], RealOrComplex]:
        self.nlu += 1
        return solve
