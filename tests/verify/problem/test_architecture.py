"""The shapes of networks by name: fully connected, diagonal, and convolutions."""

from fractions import Fraction

import pytest

from tests.depth_cases import DIAGONAL, PATCHES, shape
from verify import Architecture, InputError, Network


def test_dense() -> None:
    assert Architecture.dense([2, 3, 4, 1]) == shape([2, 3, 4, 1], [0, 0])
    assert Architecture.dense([2, 3, 4, 1], slope=[0, "1/2"]) == shape([2, 3, 4, 1], [0, "1/2"])
    assert Architecture.dense([2, 3, 1], slope=0.25, bias=True) == Architecture.two_layer(
        2, 3, slope=Fraction(1, 4), bias=True
    )
    assert Architecture.dense([5, 1]).depth == 1


def test_diagonal() -> None:
    assert Architecture.diagonal(2, depth=3) == shape([2, 2, 2, 1], [1, 1], [DIAGONAL, DIAGONAL, None])
    assert Architecture.diagonal(3, depth=1) == Architecture.dense([3, 1])
    assert Network(Architecture.diagonal(2, depth=3), [[1, 2], [3, 4], [5, 6]])([1, 10]) == 15 + 480


def test_convolution() -> None:
    disjoint = Architecture.convolution(2, patches=2, stride=2, slope=1)
    assert disjoint == shape([4, 2, 1], [1], [PATCHES, None])
    pooled = Architecture.convolution(2, patches=2, stride=2, pool="sum")
    assert pooled == shape([4, 2, 1], [0], [PATCHES, [[0, 0]]])
    overlapping = Architecture.convolution(3, patches=8, channels=4, pool="sum")
    assert (overlapping.inputs, overlapping.width, overlapping.parameter_count) == (10, 32, 16)
    network = Network(Architecture.convolution(2, patches=2, channels=2), [[1, 2, -1, 0], [1, 10, 100, 1000]])
    assert network([3, 4, -5]) == 11 + 10 * 0 + 100 * 0 + 1000 * 0


def test_a_convolution_of_one_patch_without_pooling_is_dense() -> None:
    assert Architecture.convolution(3, patches=1, channels=2) == Architecture.dense([3, 2, 1])


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda: Architecture.dense([2]), r"sizes has 1 number: give the inputs"),
        (lambda: Architecture.dense([2, 0, 1]), r"sizes\[1\] is 0: it must be a whole number of at least 1"),
        (lambda: Architecture.dense([2, 3, 2]), r"end in one output"),
        (lambda: Architecture.dense(3), r"sizes"),
        (
            lambda: Architecture.dense([2, 3, 1], slope=[0, 0]),
            r"slope has 2 numbers, and the network has 1 hidden layer: give one for each",
        ),
        (lambda: Architecture.dense([2, 3, 1], slope=2), r"must lie between 0 \(ReLU\) and 1"),
        (lambda: Architecture.diagonal(2, depth=0), r"depth is 0"),
        (lambda: Architecture.diagonal(True, depth=2), r"inputs is True"),
        (lambda: Architecture.convolution(0, patches=2), r"kernel is 0"),
        (lambda: Architecture.convolution(2, patches=2, pool="max"), r'pool is \'max\': it must be "none" or "sum"'),
    ],
)
def test_what_is_refused(made, reason) -> None:
    with pytest.raises(InputError, match=reason):
        made()
