"""Is a layer a local optimum by itself: a tree of the signs of its ties proves it, a direction refutes it.

In a case of all ties the layer is to be the nearest point to 0 of a polyhedron: it is a sum of its constraints'
gradients, or what is left of it beside the nearest such sum leads down.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import final

import numpy as np

from solvers.arrays import Floats
from solvers.programs.nonnegative import nonnegative_least_squares
from verify.checker.exact import dot
from verify.checker.single_layers import LayerLocal, LayerNodes, LayerNotLocal
from verify.deciders.layers.terms import Path, SingleLayer, Term, leaf_of, of_size_one, size_of
from verify.deciders.proposal import Proposal, certified
from verify.deciders.rounding import solve_by_few, solve_exactly
from verify.deciders.time_limits import poll
from verify.numbers.counts import count
from verify.numbers.floats import to_matrix
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["LOCAL_BY_ITSELF", "NOT_LOCAL_BY_ITSELF", "local_by_itself"]

LOCAL_BY_ITSELF = "no other parameters of the layer near these are better"
NOT_LOCAL_BY_ITSELF = "better parameters of the layer lie arbitrarily near"
OPEN = "neither a proof nor a direction could be made exact"

MOST_LEAVES = 512
USED = 1e-9
"""Multipliers below this part of the largest one are taken as 0."""

STEPS = tuple(Fraction(1, 4**k) for k in range(0, 24, 2))
"""How far a direction is tried to reach."""


def local_by_itself(problem: Problem, network: Network, layer: int) -> Proposal:
    """A certificate that the layer is a local optimum by itself, or that it is none.

    Complete, up to rounding, where the signs of few ties are to be decided.
    """
    search = _LocalTree(SingleLayer(problem, network, layer, near=True))
    nodes = search.proved({})
    if search.descent is not None:
        return Proposal(certificate=search.descent, reason=NOT_LOCAL_BY_ITSELF)
    if nodes is None:
        return Proposal(reason=search.reason)
    accepted = certified(problem, network, LayerLocal(layer=layer, nodes=nodes))
    return Proposal(certificate=accepted, reason=LOCAL_BY_ITSELF if accepted is not None else OPEN)


@final
class _LocalTree:
    """The tree, until a direction is found or there are too many leaves."""

    def __init__(self, layer: SingleLayer) -> None:
        self.layer, self.leaves, self.reason = layer, 0, OPEN
        self.descent: LayerNotLocal | None = None
        self.active = sorted({i for i, _ in layer.constraints})

    def proved(self, path: Path) -> LayerNodes | None:
        """The nodes of a case; None where they are not found."""
        poll()
        terms, blocked = self.layer.terms(path)
        weights = _nearest(terms, self.layer.own)
        if weights is None:
            return None
        factors = self._exactly(terms, weights)
        if factors is not None:
            self.leaves += 1
            return (leaf_of(self.layer, path, factors),)
        unit = next(iter(blocked), None) or next(self.layer.open_units(path, self.active), None)
        if unit is None:
            self.descent = self._direction(terms, weights)
            return None
        if self.leaves >= MOST_LEAVES:
            self.reason = f"there are more than {count(MOST_LEAVES, 'case')} of signs at its kinks"
            return None
        left = self.proved({**path, unit: 1})
        right = None if left is None else self.proved({**path, unit: -1})
        return None if left is None or right is None else (unit, *left, *right)

    def _exactly(self, terms: Sequence[Term], weights: Floats) -> list[tuple[Term, Fraction]] | None:
        """The layer as a sum of terms, exactly."""
        if not any(self.layer.own):
            return []
        used = [terms[k] for k in np.flatnonzero(weights > USED * weights.max(initial=0.0)).tolist()]
        columns, sizes = of_size_one(used)
        own, unit = self.layer.own, size_of(self.layer.own)
        solved = solve_by_few(list(zip(*columns, strict=True)), [z / unit for z in own]) if used else None
        if solved is None or min(solved) < 0:
            return None
        found = zip(used, solved, sizes, strict=True)
        return [(term, value * unit / size) for term, value, size in found if value]

    def _direction(self, terms: Sequence[Term], weights: Floats) -> LayerNotLocal | None:
        """What is left of the layer beside the nearest sum, turned round: no constraint is broken along it."""
        used = [terms[k].gradient for k in np.flatnonzero(weights > USED * weights.max(initial=0.0)).tolist()]
        own = self.layer.own
        gram = [[dot(one, other) for other in used] for one in used]
        solved = solve_exactly(gram, [dot(one, own) for one in used]) if used else []
        if solved is None:
            return None
        rest = [sum((value * row[q] for value, row in zip(solved, used, strict=True)), -z) for q, z in enumerate(own)]
        size = max(map(abs, rest), default=Fraction(0))
        if not size:
            return None
        scale = Fraction(int(max(map(abs, own)) / size) or 1)
        direction = tuple(scale * z for z in rest)
        for until in STEPS:
            proof = LayerNotLocal(layer=self.layer.layer, direction=direction, until=until)
            accepted = certified(self.layer.problem, self.layer.network, proof)
            if accepted is not None:
                return accepted
        return None


def _nearest(terms: Sequence[Term], own: Sequence[Fraction]) -> Floats | None:
    """The factors >= 0 of the sum of terms, of the size of the layer, that is nearest to it; None where floats fail."""
    if not terms:
        return np.zeros(0)
    unit = size_of(own)
    try:
        return nonnegative_least_squares(to_matrix(of_size_one(terms)[0]).T, to_matrix([[z / unit for z in own]])[0])
    except RuntimeError:
        return None
