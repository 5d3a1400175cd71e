"""Margins, and the normalised margin, which does not change when a homogeneous network is scaled.

y_i f(x_i), and min_i y_i f(x_i) / |theta|^L for a network of L layers.

Source: arXiv:2110.02732, section 2; arXiv:2110.13905, section 3.
"""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import root_ends
from verify.checker.statement import squared_norms
from verify.errors import InputError
from verify.numbers.arguments import instance_of
from verify.problem import members
from verify.problem.members import is_free
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Bias, Dataset, Goal, Problem, outputs

__all__ = ["margins", "normalised_margin"]


def margins(network: Network, data: Dataset) -> tuple[Fraction, ...]:
    """y_i f(x_i) of each point, exactly; negative where it is misclassified.

    data: with labels -1 and 1, or 0 and 1 (0 becomes -1). Raises InputError.
    """
    return _margins(_posed(network, data, None), network)


def normalised_margin(network: Network, data: Dataset, *, bias: Bias | str | None = None) -> Fraction:
    """min_i y_i f(x_i) / |theta|^L, for L layers: exact for even L, else rounded towards 0 in the 60th binary digit.

    data: as in `margins`.   bias: "penalised" counts hidden biases in the norm, which is the default where there are
    any; a norm that leaves biases out does not scale with the network, and is refused.
    Raises InputError, also for a network without weights.
    """
    problem = _posed(network, data, bias)
    if is_free(problem.bias):
        raise InputError("with biases left out of the norm there is no normalised margin: let them count (penalised)")
    least = min(_margins(problem, network))
    square = sum(squared_norms(problem, network), Fraction(0))
    if not square:
        raise InputError("all weights are 0: the normalised margin is 0 / 0")
    half, is_odd = divmod(len(network.architecture.layers), 2)
    if not is_odd:
        return least / square**half
    return least / (square**half * root_ends(square, 2, 60)[1])


def _posed(network: Network, data: Dataset, bias: Bias | str | None) -> Problem:
    given = instance_of(Network, network, "network", "read it with read(...)")
    points = instance_of(Dataset, data, "data", "read it with read_data(...)")
    return pose(given, points, goal=Goal.MAX_MARGIN, bias=bias)


def _margins(problem: Problem, network: Network) -> tuple[Fraction, ...]:
    return tuple(members.margins(problem, outputs(problem, network)))
