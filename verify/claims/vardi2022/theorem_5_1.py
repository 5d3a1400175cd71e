"""Theorem 5.1 of arXiv:2110.02732, section 5.

    x = (1, 1), y = 1, Phi(x) = sum_c prod_l w_l,c x_c, diagonal of depth m >= 3, linear or ReLU:
    w_l = 2^(-1/m) (1, 1) for all layers is KKT and not a local optimum, although no neuron has the input 0

Weights may be scaled together, so here w_l = (1, 1), of margin 2. Any coordinates: sum_c |beta_c|^(2/m) is strictly
concave where the signs of beta are kept, so that a KKT point with two live coordinates is none of its minima.
"""

from __future__ import annotations

from verify.claims.conclusions import is_stationary_not_local
from verify.claims.decisions import is_kkt_point
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.claims.vardi2022.settings import is_homogeneous_margin_problem, with_louder_outputs
from verify.strategies import deep_diagonals

__all__ = ["CLAIMS", "has_two_live_coordinates", "is_deep_diagonal"]


def is_deep_diagonal(instance: Instance) -> bool:
    """A diagonal network of depth >= 3, linear or ReLU, on one point."""
    if not is_homogeneous_margin_problem(instance) or len(instance.data) != 1:
        return False
    *hidden, last = instance.network.architecture.layers
    d = instance.data.dimension
    places = tuple(tuple(j if c == j else None for c in range(d)) for j in range(d))
    slopes = {layer.slope for layer in hidden}
    is_plain = all(layer.places == places for layer in hidden) and [tuple(row) for row in last.places] == [(*range(d),)]
    return is_plain and len(hidden) >= 2 and slopes in ({0}, {1})


def has_two_live_coordinates(instance: Instance) -> bool:
    """Two coordinates of the point at least have weights other than 0 in every layer."""
    columns = zip(*instance.network.parameters, instance.data.inputs[0], strict=True)
    return sum(all(column) for column in columns) >= 2


CLAIMS = (
    Claim(
        id="vardi2022.thm5.1",
        source="arXiv:2110.02732, Theorem 5.1",
        statement="A diagonal network of depth m >= 3, linear or ReLU, that is a KKT point with two live coordinates "
        "of the only point is no local optimum.",
        setting=is_deep_diagonal,
        hypotheses={"kkt": is_kkt_point, "two-live": has_two_live_coordinates},
        conclusion=is_stationary_not_local,
        instances=deep_diagonals().map(Instance.of),
        sharp={
            "kkt": "max-margin/diagonal-depth-3-not-stationary",
            "two-live": "max-margin/diagonal-depth-3-worse-vertex",
        },
        regime="m = 3 to 6, points of dimension 2 and 3, of which the paper's (1, 1) is one; not the flow",
        could_fail=always,
        variants=(
            Variant(
                name="unbalanced",
                statement="The same of every network with these directions, balanced or not.",
                dropped=("kkt",),
                instances=deep_diagonals().map(Instance.of).map(with_louder_outputs),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
