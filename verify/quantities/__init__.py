"""The quantities that the five papers speak of, for one's own networks and data.

    from verify import quantities, read, read_data

    network, data = read("net.npz"), read_data("data.npz")
    quantities.normalised_margin(network, data)

Each says whether it is exact (fractions) or a float, and where it is defined. Networks and data are those that
`verify.read` and `verify.read_data` return.
"""

from verify.quantities.correlated import (
    Constants,
    Yardstick,
    constants,
    m_bracket,
    m_sign,
    part_of_s,
    teacher,
    yardsticks,
)
from verify.quantities.growth import (
    alignment_time,
    drift_signs,
    drifts,
    embedding_time,
    g_function,
    growth_rate,
    m_norm,
    mean_signed,
    squared_m_norm,
)
from verify.quantities.margins import margins, normalised_margin
from verify.quantities.primal_dual import EffectiveDimensions, duals, effective_dimensions, primal_and_dual, primals
from verify.quantities.regions import breakpoints, label_switches, linear_regions, region_bound
from verify.quantities.teacher_cones import SignOfM
from verify.quantities.yardsticks import Stage

__all__ = [
    "Constants",
    "EffectiveDimensions",
    "SignOfM",
    "Stage",
    "Yardstick",
    "alignment_time",
    "breakpoints",
    "constants",
    "drift_signs",
    "drifts",
    "duals",
    "effective_dimensions",
    "embedding_time",
    "g_function",
    "growth_rate",
    "label_switches",
    "linear_regions",
    "m_bracket",
    "m_norm",
    "m_sign",
    "margins",
    "mean_signed",
    "normalised_margin",
    "part_of_s",
    "primal_and_dual",
    "primals",
    "region_bound",
    "squared_m_norm",
    "teacher",
    "yardsticks",
]


def __dir__() -> list[str]:
    return sorted(__all__)
