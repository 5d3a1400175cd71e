"""Remark 4.1 of arXiv:2110.02732, section 4.

Phi(x) = sum_j v_j w_j x_j = b.x, theta a KKT point, w_j != 0 for all j
==>  |b|_1 = min |b'|_1 subject to y_i b'.x_i >= 1
"""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.decisions import is_kkt_point
from verify.claims.exact_programs import least_l1_norm
from verify.claims.predicates import has_no_zero_neuron, is_linear
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.claims.vardi2022.settings import ALL_KKT_POINTS, is_diagonal
from verify.problem.problem import outputs
from verify.strategies import linear_kkt_points, unequal_diagonals

__all__ = ["CLAIMS", "is_l1_optimal", "is_linear_diagonal"]


def is_l1_optimal(instance: Instance) -> Judgement:
    """The predictor at margin 1 has the least l1 norm, in rationals, by the simplex method."""
    network, data = instance.network, instance.data
    predictor = [dot(network.output_weights, column) for column in zip(*network.hidden_weights, strict=True)]
    margin = min(y * value for y, value in zip(data.targets, outputs(instance.problem, network), strict=True))
    if margin <= 0:
        return failed("the network does not fit")
    mine = sum(map(abs, predictor), Fraction(0)) / margin
    best = least_l1_norm([[y * x for x in row] for row, y in zip(data.inputs, data.targets, strict=True)])
    if best is None:
        return undecided("the linear program has no solution, though the network is one")
    return held(f"l1 norm {best}") if mine == best else failed(f"l1 norm {mine}, the least is {best}")


def is_linear_diagonal(instance: Instance) -> bool:
    """A linear diagonal network."""
    return is_diagonal(instance) and is_linear(instance)


CLAIMS = (
    Claim(
        id="vardi2022.rem4.1",
        source="arXiv:2110.02732, Remark 4.1",
        statement="The predictor of a KKT point without zero neurons of a linear diagonal network has the least l1 "
        "norm at margin 1.",
        setting=is_linear_diagonal,
        hypotheses={"nonzero-weights": has_no_zero_neuron, "kkt": is_kkt_point},
        conclusion=is_l1_optimal,
        instances=linear_kkt_points(diagonal=True).map(Instance.of),
        sharp={
            "nonzero-weights": "max-margin/vardi2022-theorem-4-1-linear",
            "kkt": "max-margin/vardi2022-theorem-4-1-both-live",
        },
        regime=f"{ALL_KKT_POINTS}; that it is false with zero neurons, as the remark says too, is the variant",
        could_fail=lambda instance: instance.data.dimension > 1,
        variants=(
            Variant(
                name="zero-neurons",
                statement="The predictor of every KKT point of a linear diagonal network has the least l1 norm.",
                dropped=("nonzero-weights",),
                instances=unequal_diagonals(slopes=(1,)).map(Instance.of),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
