"""The signs of a network's first-layer preactivations on the data. A kink is a third state, not a kind of OFF."""

from enum import IntEnum
from functools import lru_cache
from operator import mul

from verify.exact import common_integers
from verify.statement import Network, Problem, integer_rows


class Sign(IntEnum):
    """The sign of a preactivation."""

    OFF = -1
    KINK = 0
    ON = 1


@lru_cache(maxsize=4)
def pattern(problem: Problem, network: Network) -> tuple[tuple[Sign, ...], ...]:
    """The exact sign of w_j.x_i: one tuple per neuron, one entry per point."""
    columns = network.architecture.layers[0].columns
    weights = [common_integers([row])[0][0] for row in network.hidden_weights]  # a positive factor keeps the sign
    products = ([sum(map(mul, row, x)) for x, _ in integer_rows(problem, columns)] for row in weights)
    return tuple(tuple(Sign((z > 0) - (z < 0)) for z in values) for values in products)
