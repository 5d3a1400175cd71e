"""Theorem 4.1 of arXiv:2110.02732, section 4.

    Phi(x) = sum_j v_j s(w_j x_j), s linear or ReLU; for some single point, such as x = (1, 2), y = 1:
        w = v = (1, 0) is a KKT point to whose direction gradient flow converges from some start, and no local optimum

Here any live coordinate smaller than another one; the flow is not followed.
"""

from __future__ import annotations

from verify.checker.exact import dot
from verify.claims.conclusions import is_stationary_not_local
from verify.claims.power import always
from verify.claims.predicates import is_relu
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.claims.vardi2022.settings import is_diagonal
from verify.strategies import unequal_diagonals

__all__ = ["CLAIMS", "has_one_live_neuron", "is_diagonal_point", "sees_the_smaller"]


def is_diagonal_point(instance: Instance) -> bool:
    """A diagonal network, linear or ReLU, on one point."""
    return is_diagonal(instance) and len(instance.data) == 1 and instance.slope in (0, 1)


def has_one_live_neuron(instance: Instance) -> bool:
    """One neuron is live and balanced; all others have only weights 0."""
    network = instance.network
    sizes = [(dot(w, w), v * v) for w, v in zip(network.hidden_weights, network.output_weights, strict=True)]
    return all(w == v for w, v in sizes) and sum(v > 0 for _, v in sizes) == 1


def sees_the_smaller(instance: Instance) -> bool:
    """Some coordinate of the point is larger than one that a live neuron sees."""
    network, (x,) = instance.network, instance.data.inputs
    seen = [mask[0] for mask, v in zip(network.architecture.masks, network.output_weights, strict=True) if v]
    largest = max((value if is_relu(instance) else abs(value)) for value in x)
    return bool(seen) and largest > min(abs(x[c]) for c in seen)


CLAIMS = (
    Claim(
        id="vardi2022.thm4.1",
        source="arXiv:2110.02732, Theorem 4.1",
        statement="A diagonal network, linear or ReLU, with its weight on a smaller coordinate of the only point is a "
        "KKT point and no local optimum.",
        setting=is_diagonal_point,
        hypotheses={"one-live-neuron": has_one_live_neuron, "smaller-coordinate": sees_the_smaller},
        conclusion=is_stationary_not_local,
        instances=unequal_diagonals().map(Instance.of),
        sharp={
            "one-live-neuron": "max-margin/vardi2022-theorem-4-1-both-live",
            "smaller-coordinate": "max-margin/vardi2022-theorem-4-1-larger",
        },
        regime="points of dimension 2 to 4, of which the paper's (1, 2) is one; not the flow",
        could_fail=always,
        variants=(
            Variant(
                name="larger-coordinate",
                statement="The same of a network with its weight on the largest coordinate of the only point.",
                dropped=("smaller-coordinate",),
                instances=unequal_diagonals(larger=True).map(Instance.of),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
