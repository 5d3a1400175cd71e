"""The best objective over networks of one width, both layers trained: the search in floats, made exact.

Source: `docs/mathematics.md`, 12 "Own width, and only the hidden layer trained".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from verify.checker.width import LowerBoundWidth
from verify.deciders.exclusion import Exclusions
from verify.deciders.global_optimality.better import is_no_wider
from verify.deciders.global_optimality.candidates import ExactObjectives, networks_near
from verify.deciders.global_optimality.instance import as_instance
from verify.deciders.global_optimality.record import SMALLEST_GAP
from verify.deciders.own_width.certificates import earlier_tree, width_certificate
from verify.deciders.own_width.record import OnStates, WidthBracket
from verify.deciders.proposal import certified
from verify.deciders.simplified import distinct
from verify.deciders.time_limits import TimeIsUpError, now, share, until
from verify.numbers.floats import float_outgoing, float_weights, to_float
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

if TYPE_CHECKING:
    from solvers.own_width.incumbents import Neuron
    from solvers.own_width.records import WidthOutcome

__all__ = ["bracket_of_both_layers"]

SEARCH_SHARE = 0.85
"""Of the time, for the search in floats; the rest is for making exact what it found, at least `LEAST_SECONDS`."""

LEAST_SECONDS = 0.5


def bracket_of_both_layers(
    problem: Problem,
    networks: Iterable[Network],
    *,
    tol: Fraction,
    deadline: float | None = None,
    max_nodes: int | None = None,
    earlier: LowerBoundWidth | None = None,
    on_progress: OnStates | None = None,
) -> WidthBracket:
    """`bracket_at_width` where both layers are trained."""
    from solvers.own_width.search import search

    gap = max(to_float(tol), SMALLEST_GAP)
    simple = distinct(problem)
    given = [network for network in networks if is_no_wider(problem, network)]
    known = {
        network.sha256(): (value, network) for network in given if (value := objective(problem, network)) is not None
    }
    upper = min((value for value, _ in known.values()), default=None)
    exclusions = Exclusions(simple.problem)
    outcome = search(
        as_instance(simple.problem),
        [simple.problem.mask_classes.index(mask) for mask in problem.architecture.masks],
        [_neurons(problem, network) for network in given],
        upper=np.inf if upper is None else to_float(upper),
        tol=gap,
        deadline=share(deadline, SEARCH_SHARE),
        on_progress=on_progress,
        max_nodes=max_nodes,
        earlier=() if earlier is None else earlier_tree(simple, earlier),
        excludes=exclusions.has,
    )
    end = None if deadline is None else max(deadline, now() + LEAST_SECONDS)
    proof = None
    try:
        with until(end):
            for witness in _exact(simple.problem, outcome):
                if (value := ExactObjectives(problem)(witness)) is not None:
                    known[witness.sha256()] = (value, witness)
            found = width_certificate(simple, outcome, gap, earlier, exclusions) if outcome.tree else None
            proof = None if found is None else certified(problem, None, found)
    except TimeIsUpError:
        pass
    return WidthBracket.of(
        problem,
        proof,
        sorted(known.values(), key=lambda pair: (pair[0], pair[1].width)),
        earlier=earlier,
        status=outcome.status,
        nodes=outcome.nodes,
        left=outcome.left,
    )


def _neurons(problem: Problem, network: Network) -> list[Neuron]:
    """Mask class, sign and direction u_j = |v_j| w_j of each neuron that is not 0."""
    classes, found = problem.mask_classes, list[tuple[int, int, np.ndarray[tuple[int], np.dtype[np.float64]]]]()
    outgoing = float_outgoing(network)
    for w, v, mask in zip(float_weights(network), outgoing, network.architecture.masks, strict=True):
        if v:
            found.append((classes.index(mask), 1 if v > 0 else -1, abs(v) * w))
    return found


def _exact(problem: Problem, outcome: WidthOutcome) -> Iterator[Network]:
    """Exact networks near those of the search, at most as wide as the problem's."""
    instance = as_instance(problem)
    for atoms in outcome.networks:
        for network in networks_near(problem, instance, atoms):
            if is_no_wider(problem, network):
                yield network
