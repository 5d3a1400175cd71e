"""Stationarity for given output weights, from the shortest network with the same sides and kinks.

Let W° be the shortest network with the sides and the kinks of W that fits (max-margin: with the margin of W). If W = W°
its multipliers are those of the KKT conditions, when those at kinks are Clarke slopes. Else z = W - W° excludes all
multipliers: along it each output that has no room does not fall, kinks stay, and z.W >= ||z||^2 > 0.

Source: `docs/mathematics.md`, 12.3 "Given output weights: one network" and 4.4 "Refutation by separating vectors".
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verify.checker.statement import pattern
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.least_norm import Solved, least_norm
from verify.deciders.proposal import certified
from verify.deciders.witnesses import distance
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs

__all__ = ["hidden_stationarity"]

MOST = 4000
"""WantedOutputs times neurons beyond which it is left to floats."""


def hidden_stationarity(
    problem: Problem, network: Network, given: Network, tolerance: Fraction
) -> Stationary | NotStationary | None:
    """A certificate that the checker accepts; None where none of the two ways leads to one.

    tolerance: up to which a refutation excludes multipliers.
    """
    if problem.output_weights is None or len(problem.rows) * len(problem.neurons) > MOST:
        return None
    margin = Fraction(1)
    if has_margin(problem.goal):
        margin = min(y * value for y, value in zip(problem.data.targets, outputs(problem, network), strict=True))
    signs = pattern(problem, network)
    is_bent = problem.architecture.slope < 1
    pairs = [(j, i) for j, row in enumerate(signs) for i, sign in enumerate(row) if not sign and is_bent]
    solved = least_norm(Geometry(problem), signs, pairs, margin)
    if solved is None:
        return None
    counted = problem.norm_columns
    rows = [
        [w[c] - (end[c] if v else 0) for c in range(len(w))]
        for w, end, v in zip(network.hidden_weights, solved.hidden, network.output_weights, strict=True)
    ]
    subject = None if network is given else network.parameters
    moved = distance(network, given)
    if not any(row[c] for row in rows for c in counted):
        proved = replace(_proof(problem, network, solved), subject=subject, moved=moved)
        return certified(problem, given, proved)
    masks = network.architecture.masks
    vector = tuple(row[c] for row, mask in zip(rows, masks, strict=True) for c in mask)
    has_room = has_margin(problem.goal) or problem.fit_tolerance > 0
    proof = NotStationary(
        vectors=((vector, (Fraction(0),) * len(masks)),),
        epsilon=tolerance,
        delta=tolerance if has_room else Fraction(0),
        kappa=Fraction(int(has_room)),
        subject=subject,
        moved=moved,
    )
    return certified(problem, given, proof)


def _proof(problem: Problem, network: Network, solved: Solved) -> Stationary:
    """The multipliers of the shortest network, with what neurons take of them at kinks."""
    factors = problem.data.targets if has_margin(problem.goal) else [Fraction(1)] * len(problem.data)
    products: list[tuple[int, int, Fraction]] = []
    for (j, i), nu in solved.pairs.items():
        if nu and network.output_weights[j]:
            products.append((i, j, nu / (network.output_weights[j] * factors[i])))
    return Stationary(
        multipliers=tuple((i, value) for i, value in sorted(solved.multipliers.items()) if value),
        kink_products=tuple(sorted(products)),
    )
