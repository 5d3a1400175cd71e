"""How small weights grow on labelled points: G, mu, the M-norm and the times of the first two phases.

    G(w) = 1/2n sum_i y_i s(w.x_i),     d w_k/dt ~ v_k dG(w_k),     d v_k/dt ~ G(w_k)     near 0.

On symmetric data (with x_i, y_i also -x_i, -y_i) G is linear, G(w) = w.mu~ with mu~ = (1 + a)/4 mu,
mu = 1/n sum y_i x_i, and every neuron grows like e^(lambda_0 t), lambda_0 = |mu~|, along +- mu with the sign of b_k.

The paper has (1 + a)/2 for (1 + a)/4, which counts every pair of points twice.

Source: arXiv:2110.13905, sections 5.1 and 5.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log, sqrt

from verify.checker.exact import dot
from verify.errors import InputError
from verify.numbers.floats import to_float
from verify.numbers.values import rational, vector
from verify.problem.network import Network
from verify.problem.problem import Dataset

__all__ = [
    "alignment_time",
    "drift_signs",
    "drifts",
    "embedding_time",
    "g_function",
    "growth_rate",
    "m_norm",
    "mean_signed",
    "squared_m_norm",
]


def mean_signed(data: Dataset) -> tuple[Fraction, ...]:
    """mu = 1/n sum y_i x_i, exactly; its direction is the paper's mu-bar."""
    columns = zip(*data.inputs, strict=True)
    return tuple(dot(data.targets, column) / len(data) for column in columns)


def g_function(w: object, data: Dataset, slope: object = 0) -> Fraction:
    """G(w) = 1/2n sum_i y_i s(w.x_i), exactly, with s(z) = max(z, slope z). Raises InputError.

    w: as many numbers as there are inputs.
    """
    weights, a = vector(w, "w"), rational(slope, "slope")
    if len(weights) != data.dimension:
        raise InputError(f"w has {len(weights)} numbers, and the points have {data.dimension}")
    seen = (dot(weights, x) for x in data.inputs)
    total = sum((y * max(z, a * z) for y, z in zip(data.targets, seen, strict=True)), Fraction(0))
    return total / (2 * len(data))


def growth_rate(data: Dataset, slope: object = 0) -> float:
    """lambda_0 = (1 + a)/4 |mu|, of symmetric data; a float."""
    mu = mean_signed(data)
    return to_float(1 + rational(slope, "slope")) / 4 * sqrt(to_float(dot(mu, mu)))


def squared_m_norm(network: Network) -> Fraction:
    """The square of the largest |w_k| or |v_k|, exactly."""
    return max(*(dot(row, row) for row in network.hidden_weights), *(v * v for v in network.output_weights))


def m_norm(network: Network) -> float:
    """max_k max(|w_k|, |v_k|); a float."""
    return sqrt(to_float(squared_m_norm(network)))


def drift_signs(network: Network, mu: Sequence[Fraction]) -> list[int]:
    """The signs of <w_k, mu> + v_k |mu|, which are those of b_k, exactly."""
    square = dot(mu, mu)
    found: list[int] = []
    for row, v in zip(network.hidden_weights, network.output_weights, strict=True):
        along = dot(row, mu)
        first, second = along * abs(along), v * abs(v) * square  # x |x| is increasing: compare with its opposite
        found.append((first > -second) - (first < -second))
    return found


def drifts(network: Network, data: Dataset) -> list[float]:
    """b_k = (<w_k, mu>/|mu| + v_k) / (2 sqrt(m) M) for m neurons, M the M-norm; floats. Raises InputError."""
    mu = mean_signed(data)
    size, largest = sqrt(to_float(dot(mu, mu))), m_norm(network)
    if not size or not largest:
        raise InputError("the points have no mean direction" if largest else "all weights are 0")
    pairs = zip(network.hidden_weights, network.output_weights, strict=True)
    unit = 2 * sqrt(network.width) * largest
    return [(to_float(dot(row, mu)) / size + to_float(v)) / unit for row, v in pairs]


def alignment_time(network: Network, data: Dataset, r: float) -> float:
    """T_1(r) = 1/lambda_0 log(r / (sqrt(m) M)), from this network: the weights are then about r b_k along mu.

    r > 0.   Raises InputError.
    """
    rate, largest = growth_rate(data, network.architecture.slope), sqrt(network.width) * m_norm(network)
    if not rate or not largest or not r > 0:
        raise InputError("no growth: give r > 0, weights that are not all 0, and points with a mean direction")
    return log(r / largest) / rate


def embedding_time(data: Dataset, r: float, slope: object = 0) -> float:
    """T_2(r) = 1/lambda_0 log(1/r): after T_1(r) and T_2(r) the network follows one of two neurons. r > 0.

    Raises InputError.
    """
    rate = growth_rate(data, slope)
    if not rate or not r > 0:
        raise InputError("no growth: give r > 0 and points with a mean direction")
    return -log(r) / rate
