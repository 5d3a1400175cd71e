"""The outer loop: the best value that networks of any width can reach, bracketed by a network and a dual point.

    master over a few columns and points  ->  primal network (upper bound), multipliers lambda
    pricing at lambda                     ->  columns that the master lacks; none: a proof tree (lower bound)

The dual point lambda / beta is feasible as soon as |h(u)| <= beta ||u|| for all u, whatever the master was; so the loop
may stop at any time with the best bracket so far. Values are floats: `verify.deciders.rounding` and the checker make
them exact.
Source: arXiv:2110.02732 section 2 states the max-margin problem; the dual is derived in
`docs/mathematics.md`, 5.1 "Weak duality".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from solvers.any_width.loop import Loop
from solvers.any_width.master import Column
from solvers.any_width.records import Atoms, DualGuess, Progress, SearchOutcome
from solvers.any_width.scaling import without_unseen_bias
from solvers.arrays import Floats
from solvers.instance import ProblemInstance

__all__ = ["Atoms", "DualGuess", "Progress", "SearchOutcome", "solve"]


def solve(
    instance: ProblemInstance,
    start: Iterable[Column] = (),
    *,
    multipliers: Floats | None = None,
    further: Iterable[Column] = (),
    tol: float = 1e-6,
    deadline: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    seed: int = 0,
) -> SearchOutcome:
    """Bracket the optimum of the any-width problem to a relative gap `tol`; see the module.

    start: the columns of the network in question, solved on their own first (`SearchOutcome.own`).
    multipliers (n,), further: a dual point and columns to begin with, from an earlier search.
    deadline: clock.now() at which to stop; about a fifth of the remaining time is kept for the proof.
    Ctrl-C ends the loop the same way (a second one is passed on).
    """
    loop = Loop(without_unseen_bias(instance), tol, deadline, on_progress, seed)
    return loop.run(list(start), list(further), multipliers)
