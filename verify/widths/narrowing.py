"""What is proved of a width, for the width of one neuron less: whose networks are those with a last neuron of zeros.

In the tree of a certificate that neuron is on both sides of everything. Where the tree splits at it while others are
the same so far, one of these stands in for it; where there is none, one child is enough. What comes out is checked
like any other certificate, so that a mistake here wastes time and proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from solvers.instance import SearchStatus
from verify.checker.bounds import UpperBound
from verify.checker.states import HiddenDual, Known, Split, cases_in
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.finding import Verdict
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.proposal import certified
from verify.problem.problem import Problem
from verify.widths.point import WidthPoint

__all__ = ["handed_down", "narrowed", "with_rows"]

Names: TypeAlias = Mapping[int, int | None]
"""The neurons of the wider problem as those of the narrower one; None for the one of zeros."""


def handed_down(points: Sequence[WidthPoint]) -> tuple[WidthPoint, ...]:
    """What is proved of a width, for narrower ones that know less: their networks are among its own."""
    found = list(points[-1:])
    for point in reversed(points[:-1]):
        found.insert(0, _with_wider(point, found[0]))
    return tuple(found)


def _with_wider(point: WidthPoint, wider: WidthPoint) -> WidthPoint:
    proof = next((c for c in wider.certificates if isinstance(c, InfeasibleWidth | LowerBoundWidth)), None)
    is_more = wider.fits is Verdict.REFUTED or (wider.lower or 0) > (point.lower or 0)
    if proof is None or point.fits is Verdict.REFUTED or not is_more:
        return point
    own = narrowed(proof, wider.problem, point.problem)
    if own is None:
        return point
    if isinstance(own, InfeasibleWidth):
        nothing = SearchStatus.INFEASIBLE
        return replace(point, fits=Verdict.REFUTED, lower=None, certificates=(own,), status=nothing)
    upper = tuple(c for c in point.certificates if isinstance(c, UpperBound))
    return replace(point, lower=wider.lower, certificates=(own, *upper))


def narrowed(
    proof: InfeasibleWidth | LowerBoundWidth, wide: Problem, narrow: Problem
) -> InfeasibleWidth | LowerBoundWidth | None:
    """The same of `narrow`, the problem without the last neuron of `wide`; None where the checker refuses it."""
    nodes = tuple(_nodes(proof.nodes, wide, narrow))
    if isinstance(proof, InfeasibleWidth):
        return certified(narrow, None, InfeasibleWidth(nodes=nodes))
    return certified(narrow, None, LowerBoundWidth(nodes=nodes, bracket=proof.bracket))


def _nodes(nodes: tuple[Any, ...], wide: Problem, narrow: Problem) -> Iterator[Any]:
    """The nodes that are left, in pre-order."""
    last = len(wide.neurons) - 1
    begun: Names = {j: j if j < last else None for j in range(last + 1)}
    waiting: list[tuple[dict[Split, int], Names, bool]] = [({}, begun, True)]
    for node in nodes:
        known, names, is_kept = waiting.pop()
        if not isinstance(node, tuple):
            if is_kept:
                yield _leaf(node, wide, narrow, known, names)
            continue
        j, i = node
        own = [(kind, {p: side for (m, p), side in known.items() if m == n}) for n, kind in enumerate(wide.neurons)]
        alike = [n for n, all_of_it in enumerate(own) if all_of_it == own[j]]
        others = [n for n in alike if n != j]
        if names[j] is None and others:
            names = {**names, j: names[others[0]], others[0]: None}
        name = names[j]
        if is_kept and name is not None:
            yield (name, i)
        right = known | {(n, i): -1 for n in alike}
        waiting += [(right, names, is_kept and name is not None), (known | {(j, i): 1}, names, is_kept)]


def _leaf(leaf: Any, wide: Problem, narrow: Problem, known: Known, names: Names) -> Any:
    """The leaf with the trees of those cases alone that neurons are still in."""
    places = {case: place for place, case in enumerate(cases_in(wide, known))}
    left = {(name, i): side for (j, i), side in known.items() if (name := names[j]) is not None}
    kept = [places[case] for case in cases_in(narrow, left)]
    parts = {"multipliers": leaf.multipliers, "denominator": leaf.denominator}
    parts["trees"] = tuple(leaf.trees[place] for place in kept)
    if isinstance(leaf, HiddenDual):
        parts["squares"] = tuple(leaf.squares[place] for place in kept)
    elif hasattr(leaf, "beta"):
        parts["beta"] = leaf.beta
    return type(leaf)(**parts)


def with_rows(best: Bracket | None, points: Sequence[WidthPoint]) -> Bracket | None:
    """The bracket of all widths with the best network of the rows, where that is better than those of the search."""
    known = (
        (point.upper, point.network, bound)
        for point in points
        for bound in point.certificates
        if isinstance(bound, UpperBound) and point.upper is not None and point.network is not None
    )
    found = min(known, key=lambda row: row[0], default=None)
    if best is None or found is None or (best.ends[1] is not None and found[0] >= best.ends[1]):
        return best
    upper, network, bound = found
    return replace(best, upper=bound, witnesses=(network, *best.witnesses), objectives=(upper, *best.objectives))
