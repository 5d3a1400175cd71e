"""Constraints as a loss whose ends are far away: the best network of any width that fits, with an output bias.

A loss that is 0 where a network fits, and grows with the slope P beyond, has the optimum and the networks of the
constraints as soon as their multipliers are at most P (exact penalties). So P is raised until no multiplier is near it.

Source: `docs/mathematics.md`, 14.9 "Soft and hard".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from solvers.any_width.convex_losses import ConvexLoss, DecayInstance, scaled_decay
from solvers.any_width.loss_search import solve_loss
from solvers.any_width.master import Column
from solvers.any_width.records import Progress, SearchOutcome
from solvers.arrays import Floats
from solvers.clock import is_late
from solvers.instance import SearchStatus

__all__ = ["solve_hard"]

PENALTIES = (1e2, 1e4, 1e6)
"""P in a scale in which rows, outputs and the price of a neuron are about 1."""

NEAR = 0.5
"""Multipliers above this part of the penalty may be held by it."""


def solve_hard(
    given: DecayInstance,
    start: Iterable[Column] = (),
    *,
    multipliers: Floats | None = None,
    further: Iterable[Column] = (),
    tol: float = 1e-6,
    deadline: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    seed: int = 0,
) -> SearchOutcome:
    """Bracket the optimum of constraints, ends of the loss that are infinite; arguments as of `solve_loss`.

    The networks of the outcome fit up to rounding, where its status is OPTIMAL and some network fits.
    """
    columns, more = list(start), list(further)
    found: SearchOutcome | None = None
    for penalty in PENALTIES:
        softened = _softened(given, penalty)
        found = solve_loss(
            softened, columns, multipliers=multipliers, further=more, tol=tol, deadline=deadline,
            on_progress=on_progress, seed=seed,
        )  # fmt: skip
        if found.status is not SearchStatus.OPTIMAL or found.proof is None or is_late(deadline):
            return found
        multipliers = found.proof.multipliers
        ends = [end for end in (softened.loss.high, -softened.loss.low) if end > 0]
        held = given.price / found.proof.beta  # what makes the dual point a feasible one
        if held * float(np.abs(multipliers).max(initial=0.0)) < NEAR * min(ends):
            return found
    return replace(found, status=SearchStatus.STALLED) if found is not None else solve_loss(given)


def _softened(given: DecayInstance, penalty: float) -> DecayInstance:
    """The same with finite ends."""
    scaled = scaled_decay(given)
    far = penalty * scaled.values / scaled.outputs
    loss: ConvexLoss = replace(given.loss, low=max(given.loss.low, -far), high=min(given.loss.high, far))
    return replace(given, loss=loss)
