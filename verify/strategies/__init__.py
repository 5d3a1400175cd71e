"""hypothesis strategies: data sets, networks, kinks and KKT points by construction, in small exact fractions.

Every strategy builds what it promises and filters nothing. All numbers are Fractions with short denominators; examples
shrink to few points, few neurons and small integers.
"""

from verify.strategies.architectures import (
    architectures,
    convolutions,
    dense_shapes,
    diagonal_shapes,
    networks_of,
)
from verify.strategies.bent_kkt import bent_networks
from verify.strategies.deep_kkt import (
    deep_diagonals,
    deep_linear_kkt_points,
    deep_linear_starts,
    singular_convolutions,
)
from verify.strategies.feature_starts import (
    HIGH,
    aligned_duals,
    aligned_residuals,
    assigned_features,
    feature_pairs,
    inactive_features,
    positive_start,
    settled_features,
    signed_features,
    start_of_size,
)
from verify.strategies.features import features as random_features
from verify.strategies.features import posed
from verify.strategies.kkt import KKTPoint, kkt_points
from verify.strategies.line_crowds import crowded, facing_pairs
from verify.strategies.line_kkt import line_kkt_points, switching_kkt_points
from verify.strategies.line_starts import alternating_starts, fitted_starts
from verify.strategies.linear_kkt import linear_kkt_points, unequal_diagonals
from verify.strategies.margins import (
    Hinted,
    KnownMargin,
    hinted,
    hinted_data,
    known_margins,
    linear_networks,
    orthogonally_separable,
)
from verify.strategies.numbers import leaky_slopes, orthonormal, positive_rationals, rationals, slopes, unit_vectors
from verify.strategies.pair_starts import dead_neuron_starts, tilted_pairs
from verify.strategies.pairs import far_pairs, split_sizes, tied_pairs, wide_pairs
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
from verify.strategies.printing import print_exactly
from verify.strategies.random_kkt import random_kkt_points, searched_kkt_points
from verify.strategies.small_starts import (
    balanced_pairs,
    drift_signs,
    embedded_pairs,
    general_symmetric,
    hinted_starts,
    is_small_start,
    mean_signed,
    random_hinted_start,
    random_symmetric_start,
    symmetric_starts,
)
from verify.strategies.starts import separating_starts
from verify.strategies.teacher_starts import correlated_starts, two_teacher_starts
from verify.strategies.teachers import TeacherShape, single_teachers, teacher_shapes, z_matrix_teachers
from verify.strategies.univariate import constant_networks, switching
from verify.strategies.weights import networks, problems, with_dead_neurons, with_ties

__all__ = [
    "HIGH",
    "Hinted",
    "KKTPoint",
    "KnownMargin",
    "TeacherShape",
    "aligned_duals",
    "aligned_residuals",
    "alternating_starts",
    "architectures",
    "assigned_features",
    "balanced_pairs",
    "bent_networks",
    "collinear",
    "constant_networks",
    "contradictory",
    "convolutions",
    "correlated_starts",
    "crowded",
    "datasets",
    "dead_neuron_starts",
    "deep_diagonals",
    "deep_linear_kkt_points",
    "deep_linear_starts",
    "dense_shapes",
    "diagonal_shapes",
    "drift_signs",
    "duplicated",
    "embedded_pairs",
    "facing_pairs",
    "far_pairs",
    "feature_pairs",
    "fitted_starts",
    "general_symmetric",
    "hinted",
    "hinted_data",
    "hinted_starts",
    "inactive_features",
    "is_small_start",
    "kkt_points",
    "known_margins",
    "labelled",
    "leaky_slopes",
    "line_kkt_points",
    "linear_kkt_points",
    "linear_networks",
    "mean_signed",
    "nearly_orthogonal",
    "networks",
    "networks_of",
    "odd",
    "orthogonal",
    "orthogonally_separable",
    "orthonormal",
    "posed",
    "positive_rationals",
    "positive_start",
    "problems",
    "random_features",
    "random_hinted_start",
    "random_kkt_points",
    "random_symmetric_start",
    "rationals",
    "scaled",
    "searched_kkt_points",
    "separable",
    "separating_starts",
    "settled_features",
    "signed_features",
    "single_teachers",
    "singular_convolutions",
    "slopes",
    "split_sizes",
    "start_of_size",
    "switching",
    "switching_kkt_points",
    "symmetric",
    "symmetric_starts",
    "teacher_shapes",
    "tied_pairs",
    "tilted_pairs",
    "two_teacher_starts",
    "unequal_diagonals",
    "unit_vectors",
    "wide_pairs",
    "with_dead_neurons",
    "with_ties",
    "z_matrix_teachers",
]


def __dir__() -> list[str]:
    return sorted(__all__)


print_exactly()
