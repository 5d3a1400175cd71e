"""Theorem 4.4 of arXiv:2110.02732, section 4.

    x = (4, 1/sqrt 2, -4, 1/sqrt 2), y = 1, Phi(x) = v_1 s(w.(x_1, x_2)) + v_2 s(w.(x_3, x_4)), linear or ReLU:
    w = (0, 1), v = (1/sqrt 2, 1/sqrt 2) is KKT and not a local optimum, although no neuron has the input 0

With X the matrix whose rows are the patches, w and v are its singular vectors of the smaller value. Here any two
patches with rational singular vectors, of two or three numbers.
"""

from __future__ import annotations

from verify.checker.depth_states import states
from verify.checker.exact import dot, squared_norm
from verify.claims.conclusions import is_stationary_not_local
from verify.claims.decisions import is_kkt_point
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Variant
from verify.claims.theorems import run_alone
from verify.claims.vardi2022.settings import is_homogeneous_margin_problem, with_louder_outputs
from verify.strategies import singular_convolutions

__all__ = ["CLAIMS", "gives_nothing_zero", "is_convolution_of_two_patches", "sees_a_larger_singular_value"]


def is_convolution_of_two_patches(instance: Instance) -> bool:
    """One filter on the two halves of the only point, an output weight for each; linear or ReLU."""
    if not is_homogeneous_margin_problem(instance) or len(instance.data) != 1:
        return False
    first, *others = instance.network.architecture.layers
    size = first.inputs // 2
    halves = tuple(tuple(c - p * size if c // size == p else None for c in range(2 * size)) for p in range(2))
    is_filter = first.inputs == 2 * size and first.places == halves and first.slope in (0, 1)
    return is_filter and len(others) == 1 and [tuple(row) for row in others[0].places] == [(0, 1)]


def gives_nothing_zero(instance: Instance) -> bool:
    """Both neurons have an input and an output other than 0."""
    ((_, outputs),) = (state.inputs for state in states(instance.problem, instance.network))
    return all(outputs)


def sees_a_larger_singular_value(instance: Instance) -> bool:
    """The filter, a singular vector, has the smaller value: the squares of both sum up to ||X||^2."""
    (x,), (w, _) = instance.data.inputs, instance.network.parameters
    size = len(w)
    along = [dot(w, x[:size]), dot(w, x[size:])]
    return squared_norm(x) * squared_norm(w) > 2 * squared_norm(along)


CLAIMS = (
    Claim(
        id="vardi2022.thm4.4",
        source="arXiv:2110.02732, Theorem 4.4",
        statement="A convolutional network of depth 2, linear or ReLU, whose weights are singular vectors of the "
        "smaller value of its two patches is a KKT point and no local optimum, although no neuron has the input 0.",
        setting=is_convolution_of_two_patches,
        hypotheses={
            "kkt": is_kkt_point,
            "non-zero-inputs": gives_nothing_zero,
            "smaller-value": sees_a_larger_singular_value,
        },
        conclusion=is_stationary_not_local,
        instances=singular_convolutions().map(Instance.of),
        sharp={"kkt": "max-margin/vardi2022-theorem-4-4-shape"},
        regime="two patches of two or three numbers with rational singular values and vectors; not the paper's point, "
        "which has sqrt(2), and not the flow",
        could_fail=always,
        variants=(
            Variant(
                name="unbalanced",
                statement="The same of every network with these directions, balanced or not.",
                dropped=("kkt",),
                instances=singular_convolutions().map(Instance.of).map(with_louder_outputs),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
