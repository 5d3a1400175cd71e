"""Which integrator follows a smooth piece of the flow, and with which tolerances it starts.

Explicit ones where the decay rates are about the flow's own, of low order while events are dense; an implicit one where
they are much larger.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from solvers.arrays import Floats, Indices
from solvers.layers import Layers
from solvers.training.flow.radau import StructuredRadau
from solvers.training.flow.smooth import Look, Mode
from solvers.training.flow.state import State

Method: TypeAlias = Literal["auto", "RK45", "DOP853", "Radau"]
METHODS: tuple[Method, ...] = ("auto", "RK45", "DOP853", "Radau")

CALM = 4  # steps without an event after which a method of high order pays
STIFF, SMOOTH = 60.0, 15.0  # decay rates, in units of the flow's own, above (below) which the method is implicit
WIDE = 400  # parameters from which the linear algebra of an implicit step counts, where it is dense
NEWTON = 0.01  # of the tolerance of a step: the error of the equations of an implicit one
SMALL = 1e-9  # norm of a neuron, in units of ||theta||, below which it is not followed at large margins


class Integrators:
    """Those of scipy (`Radau` with the structure of the Jacobian where it has one), for one network.

    rtol: of each step, relative to each neuron's own norm (depth 2), or each layer's.   method: the name of one, or
    "auto".
    """

    def __init__(self, layers: Layers, rtol: float, method: Method) -> None:
        self.depth, self.rtol, self.method = len(layers.places), rtol, method
        self.blocks = _blocks(layers)

    def choice(self, s: State, mode: Mode, y: Floats, look: Look) -> str:
        """The name of the method for what is ahead, after that of the state."""
        if self.method != "auto":
            return self.method
        if s.method not in {"", "Radau"} and s.calm < CALM:
            return "RK45"
        cost = 1.0 if mode.has_arrows else 1 + (len(y) / WIDE) ** 2
        is_stiff = mode.stiffness(y, look) / cost > (SMOOTH if s.method == "Radau" else STIFF)
        return "Radau" if is_stiff else "DOP853"

    def start(self, method: str, mode: Mode, y: Floats, first: float, start: float = 0.0, end: float = np.inf) -> Any:
        """The solver of scipy at y, from `start` to `end`, with the first step `first` at most."""
        from scipy.integrate import DOP853, RK45, Radau

        lengths = np.sqrt(np.bincount(self.blocks, weights=y[:-1] ** 2))
        if mode.frozen is not None:
            lengths = np.maximum(lengths, SMALL)
        if self.depth == 2:
            lengths[mode.asleep] = 1.0
        atol = np.append(self.rtol * np.maximum(0.1 * lengths[self.blocks], 1e-30), self.rtol)
        options: dict[str, Any] = {"rtol": self.rtol, "atol": atol, "first_step": min(first, end - start) or None}
        if method != "Radau":
            return {"RK45": RK45, "DOP853": DOP853}[method](mode, start, y, end, **options)
        if mode.has_arrows:
            solver = StructuredRadau(mode, start, y, end, derivative=mode.arrows, **options)
        else:
            solver = Radau(mode, start, y, end, jac=mode.jacobian, **options)
        solver.newton_tol = NEWTON
        return solver


def stepped(solver: Any) -> str | None:
    """One step; what went wrong, if anything did, as a sentence."""
    try:
        return solver.step()
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:  # not finite, or a singular system
        solver.status = "failed"
        return str(error)


def _blocks(layers: Layers) -> Indices:
    """For each parameter the number of what it is measured by: its neuron (depth 2), its layer otherwise."""
    owner = np.zeros(layers.size, dtype=np.intp)
    for l, places in enumerate(layers.places):
        by_neuron = np.arange(places.shape[0])[:, None] if l == 0 else np.arange(places.shape[1])[None, :]
        numbers = np.broadcast_to(by_neuron if len(layers.places) == 2 else np.array(l), places.shape)
        owner[places[places >= 0]] = numbers[places >= 0]
    return owner
