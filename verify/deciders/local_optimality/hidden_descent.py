"""A segment of better networks where the output weights are given: towards the shortest network of a choice of sides.

Within a choice of sides f is linear in the hidden weights, so the shortest network there that fits as well is found
exactly; on the segment towards it the norm is smaller, and its first part takes no preactivation across 0.

Source: `docs/mathematics.md`, 12.3 "Given output weights: one network".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from verify.checker.exact import dot
from verify.checker.local import NotLocal
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.least_norm import least_norm
from verify.deciders.local_optimality.choices import Choice, KKTNeighbourhood, sides_of
from verify.deciders.proposal import certified
from verify.deciders.witnesses import distance, network_with
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import outputs

__all__ = ["hidden_descent"]


def hidden_descent(nearby: KKTNeighbourhood, given: Network, path: Mapping[Choice, int]) -> NotLocal | None:
    """The certificate for a full choice; None where the network is the shortest one there, or none was made exact."""
    problem, subject = nearby.problem, nearby.network
    margin = Fraction(1)
    if has_margin(problem.goal):
        margin = min(y * value for y, value in zip(problem.data.targets, outputs(problem, subject), strict=True))
    sides: list[list[int]] = []
    pairs: list[tuple[int, int]] = []
    for j in range(len(nearby.masks)):
        (cell, *_) = nearby.cells_of(j, path)
        found = sides_of(nearby.strict[j], nearby.ties[j], cell)
        sides.append([found.get(i, 0) for i in range(len(problem.rows))])
        pairs += [(j, i) for i in nearby.ties[j]]
    solved = least_norm(Geometry(problem), sides, pairs, margin)
    if solved is None:
        return None
    part = _part(nearby, solved.hidden)
    rows = [
        [a + part * (b - a) for a, b in zip(w, end, strict=True)]
        for w, end in zip(subject.hidden_weights, solved.hidden, strict=True)
    ]
    about = None if subject is given else subject.parameters
    proof = NotLocal(end=network_with(subject, rows).parameters, subject=about, moved=distance(subject, given))
    return proof if certified(problem, given, proof) is not None else None


def _part(nearby: KKTNeighbourhood, hidden: tuple[tuple[Fraction, ...], ...]) -> Fraction:
    """1, or a power of two: a part of the way on which preactivations that are not 0 keep their sign."""
    most = Fraction(1)
    for w, end in zip(nearby.network.hidden_weights, hidden, strict=True):
        for x in nearby.problem.rows:
            before, after = dot(w, x), dot(end, x)
            if before * after < 0:
                most = min(most, before / (before - after))
    return most if most == 1 else Fraction(1, 2 ** (math.ceil(1 / most) - 1).bit_length())
