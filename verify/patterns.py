"""The signs of a network's first-layer preactivations on the data. A kink is a third state, not a kind of OFF."""

from enum import IntEnum
from functools import lru_cache
from operator import mul
from typing import final

from verify.errors import ShapeError
from verify.exact import common_integers
from verify.network import Network
from verify.problem import Problem, integer_rows

__all__ = ["Sign", "pattern"]


@final
class Sign(IntEnum):
    """The sign of a preactivation."""

    OFF = -1
    KINK = 0
    ON = 1


@lru_cache(maxsize=4)
def pattern(problem: Problem, network: Network) -> tuple[tuple[Sign, ...], ...]:
    """The exact sign of w_j.x_i: one tuple per neuron, one entry per point."""
    if len(problem.rows[0]) != network.architecture.layers[0].columns:
        raise ShapeError(f"the rows have {len(problem.rows[0])} columns, which the network does not take")
    points = [row for row, _ in integer_rows(problem)]  # a positive factor does not change a sign
    weights = [common_integers([row])[0][0] for row in network.hidden_weights]
    signs = {True: Sign.ON, False: Sign.OFF}
    products = ([sum(map(mul, row, x)) for x in points] for row in weights)
    return tuple(tuple(signs[z > 0] if z else Sign.KINK for z in values) for values in products)
