"""A kink is a third state."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from verify.checker.errors import ShapeError
from verify.checker.statement import pattern
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem


def test_the_tie_of_the_clarke_case() -> None:
    network = Network.two_layer([[1, 0], [0, -1]], [1, 1])
    problem = Problem(Dataset([[1, 1], [0, -1]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    assert pattern(problem, network) == ((1, 0), (-1, 1))


@pytest.mark.parametrize(("dtype", "expected"), [(np.float32, -1), (np.float64, 1), (None, 0)])
def test_the_stored_value_decides(dtype: type | None, expected: int) -> None:
    weights = ["1/10", "-3/10"] if dtype is None else np.array([0.1, -0.3], dtype)
    network = Network.two_layer([weights], [1])
    problem = Problem(Dataset([[3, 1]], [1]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    assert pattern(problem, network) == ((expected,),)


def test_the_bias_is_the_last_column() -> None:
    network = Network.two_layer([[1], [1]], [1, 1], b=[Fraction(-1, 2), -1])
    problem = Problem(
        Dataset([[Fraction(1, 2)], [1]], [0, 1]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.FREE
    )
    assert pattern(problem, network) == ((0, 1), (-1, 0))
    with pytest.raises(ShapeError, match="2 columns"):
        pattern(problem, Network.two_layer([[1]], [1]))
