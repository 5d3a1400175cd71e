"""From the float tree of `solvers.own_width` to a certificate about a width. Nothing here is trusted."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from verify.checker.dual_trees import Dual
from verify.checker.states import HiddenDual, Nothing, Split, bound_of, cases_in, states
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.exclusion import Exclusions
from verify.deciders.global_optimality.lower_bound import Cone, dual_point
from verify.deciders.simplified import Simplified
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_float
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.own_width.records import KeptLeaf, StateProof, WidthOutcome

__all__ = ["earlier_tree", "width_certificate"]


def width_certificate(
    simple: Simplified,
    outcome: WidthOutcome,
    tol: float,
    earlier: LowerBoundWidth | None = None,
    exclusions: Exclusions | None = None,
) -> LowerBoundWidth | InfeasibleWidth | None:
    """The certificate for the tree of an outcome about the problem without copies, for the given problem; None without.

    Its bound is the least of its leaves; that nothing fits, where no leaf has one.   earlier: of which leaves are kept.
    exclusions: of the problem without copies, found during the search.
    """
    from solvers.own_width.records import KeptLeaf, StateProof

    exclusions = Exclusions(simple.problem) if exclusions is None else exclusions
    kept = [] if earlier is None else _leaves(simple.given, earlier)

    nodes: list[Split | Dual | HiddenDual | Nothing] = []
    bounds: list[Fraction] = []
    for node in outcome.tree:
        poll()
        if isinstance(node, tuple):
            neuron, point = node
            nodes.append((neuron, None if point is None else simple.kept[point]))
        elif isinstance(node, KeptLeaf):
            nodes.append(kept[node.number][0])
            bounds += filter(None, [kept[node.number][1]])
        elif isinstance(node, StateProof):
            found = _leaf(simple.problem, node, tol)
            if found is None:
                return None
            nodes.append(simple.returned_point(found[0]))
            bounds.append(found[1])
        else:
            excluded = exclusions.leaf(node)
            if excluded is None:
                return None
            nodes.append(_returned(simple, excluded))
    if bounds:
        return LowerBoundWidth(nodes=tuple(nodes), bracket=(min(bounds), None))
    excluding = tuple(node for node in nodes if not isinstance(node, Dual | HiddenDual))
    return InfeasibleWidth(nodes=excluding) if nodes else None


def earlier_tree(simple: Simplified, earlier: LowerBoundWidth) -> list[Split | KeptLeaf]:
    """The tree of an earlier certificate of the given problem, for a search about the one without copies."""
    from solvers.own_width.records import KeptLeaf

    values = iter(_leaves(simple.given, earlier))
    tree: list[Split | KeptLeaf] = []
    for node in earlier.nodes:
        if isinstance(node, tuple):
            tree.append((node[0], None if node[1] is None else simple.groups[node[1]]))
        else:
            value = next(values)[1]
            bound = math.inf if value is None else to_float(value)
            tree.append(KeptLeaf(sum(isinstance(found, KeptLeaf) for found in tree), bound))
    return tree


def _leaves(problem: Problem, proof: LowerBoundWidth) -> list[tuple[Dual | HiddenDual | Nothing, Fraction | None]]:
    """The leaves of a certificate that was accepted, with what each proves; None: that nothing fits."""
    return [
        (leaf, None if isinstance(leaf, Nothing) else bound_of(problem, leaf, cases_in(problem, known)))
        for leaf, known, _ in states(proof.nodes, problem)
    ]


def _returned(simple: Simplified, leaf: Nothing) -> Nothing:
    """The leaf for the given problem."""
    moved = simple.returned_point(Dual(leaf.multipliers, Fraction(1), leaf.denominator, leaf.trees))
    return Nothing(moved.multipliers, moved.denominator, moved.trees)


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
