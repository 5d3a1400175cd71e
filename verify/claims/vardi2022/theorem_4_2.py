"""Theorem 4.2 of arXiv:2110.02732, section 4.

(1)  Phi linear of depth 2, no shared weights, theta a KKT point, w_j != 0 for all j  ==>  theta a global optimum
(2)  for ReLU, fully connected, that is false: some theta with w_j != 0 for all j to whose direction gradient flow
converges is a KKT point and no local optimum
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

import numpy as np

from verify.checker.exact import dot
from verify.checker.statement import pattern
from verify.claims.conclusions import is_global, is_stationary_not_local
from verify.claims.decisions import is_kkt_point
from verify.claims.power import always
from verify.claims.predicates import has_no_zero_neuron, is_linear, is_margin_problem
from verify.claims.records import Claim, Instance, Judgement, Outcome, Variant, held, undecided
from verify.claims.theorems import run_alone
from verify.claims.vardi2022.arrivals import LOSSES, flow_to
from verify.claims.vardi2022.settings import ALL_KKT_POINTS, is_pair, is_plane_relu
from verify.problem.network import Network
from verify.strategies import (
    linear_kkt_points,
    searched_kkt_points,
    tied_pairs,
    tilted_pairs,
    unequal_diagonals,
    wide_pairs,
)
from verify.training import parameters_of

__all__ = [
    "CLAIMS",
    "TIED",
    "arrives_at_the_tie",
    "has_a_kink",
    "is_turned_onto_the_second",
    "is_two_neuron_tie",
    "tied",
]


def has_a_kink(instance: Instance) -> bool:
    """A point is on the kink of a live neuron."""
    signs = pattern(instance.problem, instance.network)
    return any(v and 0 in row for row, v in zip(signs, instance.network.output_weights, strict=True))


TIED = 1e-3
"""The same for the tie, which is approached like the norm to a power between -1/2 and -2/7."""


def is_two_neuron_tie(instance: Instance) -> bool:
    """Two points x_1 = (e - p) / l_1, x_2 = p / l_2 with orthonormal e, p; neurons (r e', r) and (s p, s), and

    sum r^2 / s^2 = l_1 / l_2: where e' = e the direction of a KKT point with x_2 on the kink of the first neurons. The
    first have one direction e', and their margin with e' = e is at least 16.
    """
    if not is_plane_relu(instance) or not is_pair(instance):
        return False
    frame = _frame(instance)
    if frame is None:
        return False
    e, p, first, second = frame
    network = instance.network
    rows = list(zip(network.hidden_weights, network.output_weights, strict=True))
    *group, (last, size) = rows
    tilts = {(dot(w, e) / v, dot(w, p) / v) for w, v in group if v > 0}
    is_grouped = all(v > 0 for _, v in group) and len(tilts) == 1 and next(iter(tilts))[0] == 1
    total = sum((v * v for _, v in group), Fraction(0))
    is_balanced = size > 0 and tuple(last) == tuple(size * q for q in p) and total * second == size * size * first
    return is_grouped and is_balanced and total >= 16 * first and 4 * first >= second and 4 * second >= first


def is_turned_onto_the_second(instance: Instance) -> bool:
    """The first neurons are on at the second point, at a tangent of 1/8 to 1/2 beyond its kink."""
    frame = _frame(instance)
    if frame is None:
        return False
    e, p, _, _ = frame
    w = instance.network.hidden_weights[0]
    return dot(w, e) > 0 and dot(w, e) <= 8 * dot(w, p) <= 4 * dot(w, e)


def _frame(instance: Instance) -> tuple[list[Fraction], list[Fraction], Fraction, Fraction] | None:
    """e, p, l_1, l_2 of the points; None when they are not rational, or the points not of this kind."""
    x, y = instance.data.inputs
    length = _root(dot(y, y))
    if not length:
        return None
    p = [q / length for q in y]
    along = dot(x, p)
    if along >= 0:
        return None
    e = [q / -along + r for q, r in zip(x, p, strict=True)]
    return (e, p, -1 / along, 1 / length) if dot(e, e) == 1 and dot(e, p) == 0 else None


def _root(square: Fraction) -> Fraction | None:
    found = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return found if found * found == square else None


def tied(instance: Instance) -> Instance | None:
    """The instance's network with its first neurons turned back, onto the kink at the second point."""
    frame = _frame(instance)
    if frame is None:
        return None
    e, p, _, _ = frame
    v = instance.network.output_weights
    hidden: list[Sequence[Fraction]] = [[r * q for q in e] for r in v[:-1]]
    network = Network.two_layer([*hidden, [v[-1] * q for q in p]], v)
    return Instance(instance.problem, network)


def arrives_at_the_tie(instance: Instance) -> Judgement:
    """The flow of both losses comes within 1e-3 of the direction of the tie, which is a KKT point and no local optimum.

    The verdicts are about the exact point, and that no neuron is zero is seen. Measured: the norm of the end.
    """
    point = tied(instance)
    if point is None:
        return undecided("the points are not of this kind")
    verdict = is_stationary_not_local(point)
    if verdict.outcome is not Outcome.HELD:
        return verdict
    norm = Fraction(0)
    for loss in LOSSES:
        run, missed = flow_to(instance, parameters_of(point.network), loss, TIED)
        if missed is not None:
            return missed
        norm = max(norm, Fraction(float(np.linalg.norm(run.theta))))
    return held(f"the direction is within {TIED:g} of the tie; {verdict.reason}", measured=norm)


CLAIMS = (
    Claim(
        id="vardi2022.thm4.2.2.flow",
        source="arXiv:2110.02732, Theorem 4.2 (2)",
        statement="Gradient flow converges in direction to a KKT point without zero neurons that is no local "
        "optimum, from starts near it at which the neurons of the kink are on.",
        setting=is_two_neuron_tie,
        hypotheses={"on-at-the-kink": is_turned_onto_the_second},
        conclusion=arrives_at_the_tie,
        instances=tilted_pairs().map(lambda drawn: Instance(*drawn)),
        sharp={"on-at-the-kink": "max-margin/vardi2022-theorem-4-2-2-flow-off"},
        regime="two points and 2 to 4 neurons of two directions (the paper's own are in its appendix); "
        "starts of margin at least 16, turned from the point by a tangent of 1/8 to 1/2, multipliers within a factor "
        "of 4; both losses, until the direction is within 1e-3; the verdicts are about the exact point",
        quantity="norm at the end",
        trains=True,
        examples=20,
        could_fail=always,
        variants=(
            Variant(
                name="off-at-the-kink",
                statement="The same from starts at which the neurons of the kink are off.",
                dropped=("on-at-the-kink",),
                instances=tilted_pairs(side=-1).map(lambda drawn: Instance(*drawn)),
            ),
        ),
    ),
    Claim(
        id="vardi2022.thm4.2.1",
        source="arXiv:2110.02732, Theorem 4.2 (1)",
        statement="A KKT point of a linear network with any masks and no zero neuron is a global optimum.",
        setting=is_margin_problem,
        hypotheses={"linear": is_linear, "nonzero-weights": has_no_zero_neuron, "kkt": is_kkt_point},
        conclusion=is_global,
        instances=linear_kkt_points().map(Instance.of),
        sharp={
            "linear": "max-margin/vardi2022-theorem-4-3-local-not-global",
            "nonzero-weights": "max-margin/vardi2022-theorem-4-1-linear",
            "kkt": "max-margin/vardi2022-theorem-4-1-both-live",
        },
        regime=ALL_KKT_POINTS,
        could_fail=lambda instance: len(instance.data) > 1 or instance.network.width > 1,
        variants=(
            Variant(
                name="relu",
                statement="A KKT point of a ReLU network with any masks and no zero neuron is a global optimum.",
                dropped=("linear",),
                instances=searched_kkt_points(zeros=False).map(Instance.of),
            ),
            Variant(
                name="zero-neurons",
                statement="A KKT point of a linear network with any masks is a global optimum.",
                dropped=("nonzero-weights",),
                instances=unequal_diagonals(slopes=(1,)).map(Instance.of),
            ),
        ),
    ),
    Claim(
        id="vardi2022.thm4.2.2",
        source="arXiv:2110.02732, Theorem 4.2 (2)",
        statement="There are fully connected ReLU networks in the plane without zero neurons, with a point on a kink "
        "that needs slope 1, that are KKT points and no local optima: two neurons suffice.",
        setting=is_plane_relu,
        hypotheses={"kink": has_a_kink},
        conclusion=is_stationary_not_local,
        instances=tied_pairs().map(Instance.of),
        sharp={"kink": "max-margin/vardi2022-theorem-4-3-local-not-global"},
        regime="as a family: orthonormal directions, 2 to 4 neurons (the paper has 4); the flow is "
        "vardi2022.thm4.2.2.flow",
        could_fail=always,
        variants=(
            Variant(
                name="no-kink",
                statement="Fully connected ReLU networks in the plane that are KKT points are no local optima.",
                dropped=("kink",),
                instances=wide_pairs(splits=True).map(Instance.of),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
