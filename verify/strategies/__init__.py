"""hypothesis strategies: data sets, networks, kinks and KKT points by construction, in small exact fractions.

Every strategy builds what it promises and filters nothing. All numbers are Fractions with short denominators; examples
shrink to few points, few neurons and small integers.
"""

from verify.strategies.kkt import KKTPoint, kkt_points
from verify.strategies.numbers import orthonormal, positive_rationals, rationals, slopes, unit_vectors
from verify.strategies.points import (
    collinear,
    contradictory,
    datasets,
    duplicated,
    labelled,
    nearly_orthogonal,
    odd,
    orthogonal,
    scaled,
    separable,
    symmetric,
)
from verify.strategies.weights import networks, problems, with_dead_neurons, with_ties

__all__ = [
    "KKTPoint",
    "collinear",
    "contradictory",
    "datasets",
    "duplicated",
    "kkt_points",
    "labelled",
    "nearly_orthogonal",
    "networks",
    "odd",
    "orthogonal",
    "orthonormal",
    "positive_rationals",
    "problems",
    "rationals",
    "scaled",
    "separable",
    "slopes",
    "symmetric",
    "unit_vectors",
    "with_dead_neurons",
    "with_ties",
]
