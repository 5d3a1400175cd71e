"""The best objective of deep networks over any widths, by the search of two layers on rows that stand for the points.

What is found is given back as bounds, and as networks, of the deep problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, final

from solvers.arrays import Floats
from solvers.instance import SearchStatus
from verify.checker.certificate import Sparse
from verify.checker.depth_bounds import LowerBoundOfDepth
from verify.checker.dual_trees import Nodes
from verify.deciders.global_optimality.candidates import DROPPED
from verify.deciders.global_optimality.instance import as_instance
from verify.deciders.global_optimality.lower_bound import Cone, coarse, dual_point
from verify.deciders.proposal import certified
from verify.deciders.time_limits import now, share, within
from verify.deciders.witnesses import merge_directions, norms
from verify.problem.network import Network
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import DualGuess, SearchOutcome
    from solvers.any_width.master import Column
    from solvers.instance import ProblemInstance

__all__ = ["AnyWidthSearch", "FlatProblem", "flat_search", "merged_atoms"]

LARGEST = 10_000
"""Entries of all rows up to which the search is begun."""

SEARCH_SHARE, LEAST_SECONDS = 0.8, 0.25
"""Of the time, for the search in floats; the rest is for making exact what it found, at least so many seconds."""

Bounding: TypeAlias = "Callable[[Sparse, Fraction, int, tuple[Nodes, ...]], LowerBoundOfDepth]"
"""The certificate of multipliers of points, beta^2, a denominator, and trees."""


@final
@dataclass(frozen=True, slots=True)
class AnyWidthSearch:
    """lower: a bound that the checker accepted.   witnesses: networks, not yet checked.   status: how it ended."""

    lower: LowerBoundOfDepth | None
    witnesses: tuple[Network, ...]
    status: SearchStatus


class FlatProblem(NamedTuple):
    """The problem of two layers, and how many rows stand for a point, whose outputs are added up."""

    whole: Problem
    many: int


def flat_search(
    problem: Problem, flat: FlatProblem, start: Sequence[Column], tolerance: float, deadline: float | None,
    bound: Bounding, networks: Callable[[ProblemInstance, SearchOutcome], Iterator[Network]],
) -> AnyWidthSearch:  # fmt: skip
    """Bracket the best objective over any widths, beginning with these neurons.

    tolerance: the relative gap of the objective.   Sound: the bound is checked; not complete: floats search.
    """
    from solvers.any_width.dual_cuts import solve
    from solvers.any_width.linear_networks import solve_linear

    if len(flat.whole.rows) * len(flat.whole.rows[0]) > LARGEST:
        return AnyWidthSearch(None, (), SearchStatus.LARGE)
    instance = replace(as_instance(flat.whole), bundle=flat.many)
    limit = share(deadline, SEARCH_SHARE)
    outcome = solve_linear(instance, tolerance / 2) or solve(instance, start, tol=tolerance / 2, deadline=limit)

    def end() -> float | None:
        return None if deadline is None else max(deadline, now() + LEAST_SECONDS)

    proofs = [*outcome.coarser, *([] if outcome.proof is None else [outcome.proof])]
    bounds = [within(end(), partial(_bound, problem, flat, proof, tolerance, bound)) for proof in proofs]
    if proofs and not any(bounds):
        bounds.append(_bound(problem, flat, coarse(proofs[-1]), tolerance, bound))
    best = max(filter(None, bounds), key=lambda found: found.bracket[0] or 0, default=None)
    witnesses = within(end(), lambda: tuple(networks(instance, outcome)))
    return AnyWidthSearch(best, witnesses or (), outcome.status)


def _bound(
    problem: Problem, flat: FlatProblem, proof: DualGuess, tolerance: float, bound: Bounding
) -> LowerBoundOfDepth | None:
    """The float proof as a certificate that the checker accepted."""
    whole, many = flat
    cones: list[Cone] = [(mask, sign, ()) for mask in range(len(whole.mask_classes)) for sign in (1, -1)]
    found = dual_point(whole, proof, cones, tolerance)
    if found is None:
        return None
    dual, _ = found
    multipliers = tuple((i // many, number) for i, number in dual.multipliers if not i % many)
    return certified(problem, None, bound(multipliers, dual.beta**2, dual.denominator, dual.trees))


def merged_atoms(
    instance: ProblemInstance, outcome: SearchOutcome, slope: float
) -> Iterator[tuple[Floats, list[int], list[int]]]:
    """Directions (J, c), signs and mask classes of networks that the search found: few neurons, merged, then more."""
    for atoms in (*outcome.candidates, *([] if outcome.own is None else [outcome.own])):
        sizes = norms(atoms.directions)
        kept = {int((sizes > part * sizes.max(initial=0.0)).sum()): part for part in DROPPED}
        for number, part in sorted(kept.items()):
            if not number:
                continue
            keep = sizes > part * sizes.max()
            signs, masks = [int(s) for s in atoms.signs[keep]], [int(m) for m in atoms.masks[keep]]
            yield merge_directions(instance.rows, atoms.directions[keep], signs, masks, slope, bias=False)
