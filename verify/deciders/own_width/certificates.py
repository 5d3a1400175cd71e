"""From the float tree of `solvers.own_width` to a certificate of a lower bound at a width. Nothing here is trusted."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from verify.checker.dual_trees import Dual
from verify.checker.states import Split
from verify.checker.width import LowerBoundWidth
from verify.deciders.global_optimality.lower_bound import Cone, dual_point
from verify.deciders.simplified import Simplified
from verify.deciders.time_limits import poll
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.own_width.records import StateProof, WidthOutcome

__all__ = ["lower_bound_width"]


def lower_bound_width(simple: Simplified, outcome: WidthOutcome, tol: float) -> LowerBoundWidth | None:
    """The certificate for the tree of an outcome about the problem without copies, for the given problem; None without.

    Its bound is the least of its leaves.
    """
    nodes: list[Split | Dual] = []
    least: Fraction | None = None
    for node in outcome.tree:
        poll()
        if isinstance(node, tuple):
            neuron, point = node
            nodes.append((neuron, None if point is None else simple.kept[point]))
            continue
        found = _leaf(simple.problem, node, tol)
        if found is None:
            return None
        leaf, value = found
        least = value if least is None else min(least, value)
        nodes.append(simple.returned_point(leaf))
    return None if least is None else LowerBoundWidth(nodes=tuple(nodes), bracket=(least, None))


def _leaf(problem: Problem, proof: StateProof, tol: float) -> tuple[Dual, Fraction] | None:
    """The leaf and what it proves; None where its multipliers prove nothing."""
    points = {int(i): q for q, i in enumerate(proof.dual.support)}
    cones: list[Cone] = []
    for case in proof.cases:
        known = [0] * len(points)
        for i, side in case.cone:
            known[points[i]] = side
        cones.append((case.mask, case.sign, tuple(known)))
    found = dual_point(problem, proof.dual, cones, tol)
    return None if found is None else (found[0], found[1] / found[0].beta)
