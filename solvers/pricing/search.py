"""The largest value of |h(u)| on the unit ball, h(u) = sum_i c_i s_a(x_i . u): local maxima, and a proof tree.

Each is found in one of two ways with the same arguments and the same kind of result: in numpy
(`solvers.pricing.reference`), or by kernels that numba compiles (`solvers.pricing.compiled`), where it is installed and
the problem is large enough to be worth its import and compilation. Here is decided which.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module

import numpy as np

from solvers.arrays import Floats, Signs
from solvers.clock import seconds_left
from solvers.pricing import reference
from solvers.pricing.dual_function import bias_frame, from_frame, normalise, to_frame
from solvers.pricing.tree import Leaf, Limits, Tree

KERNELS = "ISOPTIMAL_KERNELS"  # environment: "numpy" or "numba" forces the one or the other
COMPILATION_SECONDS = 10.0  # of the time that is left are enough to compile kernels that are not kept on disk
LARGE, LARGE_FREE = 1000, 100  # entries of the rows from which on compiled climbs save more time than they take to load
FIRST_NODES = 1000  # nodes of a tree up to which numpy is the quicker one


def ascend(
    rows: Floats,
    coefficients: Floats,
    slope: float,
    starts: Floats,
    *,
    free: bool = False,
    rounds: int = 6,
    sweeps: int = 4,
    finalists: int = 64,
    compiled: bool | None = None,
) -> tuple[Floats, Floats]:
    """Local maxima of h on the unit ball from many starts: (directions (B, D), values (B,)), best value first.

    All starts get a few rounds, the best `finalists` of them with distinct patterns many more.
    With the pattern on the points with c_i > 0 fixed, h is bounded below by a concave function that touches it: its
    maximiser is p / ||p||; the pattern is read off again there until nothing changes. Values never decrease.
    With a free bias the directions have ||w|| = 1 and the best bias for that w.
    compiled: whether to use the compiled kernels; None: where that is worthwhile.
    """
    middle, reach = np.zeros(rows.shape[1] - 1), 1.0
    if free:
        rows, middle, reach = bias_frame(rows)
        starts = to_frame(starts, middle, reach)
    wanted = _wanted(compiled)
    large = LARGE_FREE if free else LARGE
    if wanted is None:
        wanted = rows.size >= large and _is_compiled_in_time("climb_free" if free else "climb")
    climb = _climb(compiled=wanted)
    directions = normalise(rows, coefficients, slope, starts, free=free)
    directions, _ = climb(rows, coefficients, slope, directions, rounds, sweeps, free=free)
    on = directions @ rows[(1.0 - slope) * coefficients > 0].T > 0
    _, distinct = np.unique(on, axis=0, return_index=True)
    best = np.sort(distinct)[:finalists]
    directions, values = climb(rows, coefficients, slope, directions[best], 6 * rounds, 5 * sweeps, free=free)
    return (from_frame(directions, middle, reach) if free else directions), values


def bound_tree(
    rows: Floats,
    coefficients: Floats,
    slope: float,
    beta: float,
    *,
    free: bool = False,
    batch: int = 256,
    max_nodes: int = 500_000,
    deadline: float | None = None,
    truncate: bool = False,
    max_violators: int | None = None,
    compiled: bool | None = None,
    signs: Signs | None = None,
) -> Tree:
    """Prove h(u) <= beta on the unit ball by a tree of cones, or find violators.

    rows (S, D), coefficients (S,). free: the last column is a bias that does not count in ||u||.
    signs (S,): of x_i . u that hold in advance, 0 where there is none: the bound is then proved on that cone, and
    violators are in it; always in numpy.
    Stops early (nodes None) at `deadline` (of clock.now), at `max_nodes`, or with `max_violators` violators.
    truncate: at the deadline the open cones become leaves as they are; the tree then proves a larger `bound` than beta.
    The compiled kernels do so as well at `max_nodes`, and where a certificate would be too long.
    compiled: whether to use the compiled kernels (they know no batches); None: after `FIRST_NODES` nodes.
    Sound up to rounding (the checker decides exactly); complete for beta above the maximum.
    """
    if not len(rows):
        return Tree([Leaf(np.zeros(0))], 0.0, np.empty((0, rows.shape[1])), 1)
    limits = Limits(deadline, truncate, max_violators)
    known = np.zeros(len(rows), np.int8) if signs is None else signs
    if free:
        framed, middle, reach = bias_frame(rows)
        tree = reference.bound_tree(framed, coefficients, slope, beta, limits, max_nodes, known, free=True, batch=batch)
        tree.violators = from_frame(tree.violators, middle, reach)
        return tree
    given = rows, coefficients, slope, beta, limits
    wanted = False if known.any() else _wanted(compiled)
    if wanted is None:
        tree = reference.bound_tree(*given, min(FIRST_NODES, max_nodes), known, batch=batch)
        if tree.nodes is not None or tree.count <= FIRST_NODES:
            return tree
        wanted = _is_compiled_in_time("search", limits.deadline)
    if not wanted:
        return reference.bound_tree(*given, max_nodes, known, batch=batch)
    from solvers.pricing.compiled import bound_tree as search

    return search(*given, max_nodes)


def _wanted(compiled: bool | None) -> bool | None:
    """Whether the compiled kernels are to be used, by the caller or the environment; None: where they save time."""
    if compiled is not None:
        return compiled
    choice = os.environ.get(KERNELS)
    return choice == "numba" if choice else None


def _climb(*, compiled: bool) -> Callable[..., tuple[Floats, Floats]]:
    if not compiled:
        return reference.climb
    from solvers.pricing.compiled import climb

    return climb


def _is_compiled_in_time(name: str, deadline: float | None = None) -> bool:
    """Whether there is a kernel of that name: numba at all, and where it is yet to be compiled, the time for that."""
    if not _can_compile():
        return False
    left = seconds_left(deadline)
    if left > COMPILATION_SECONDS:
        return True
    kernel = getattr(import_module("solvers.pricing.kernels"), name)
    return left > 0 and import_module("solvers.compilation").is_at_hand(kernel)


@cache
def _can_compile() -> bool:
    """Whether there is a numba that works with this numpy."""
    try:
        import_module("solvers.pricing.kernels")
    except ImportError:
        return False
    return True
