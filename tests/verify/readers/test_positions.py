"""Convolutions and pooling as matrices, against sums written down directly."""

from itertools import product

import numpy as np
import pytest

from verify.checker.errors import InputError, ShapeError
from verify.readers.positions import Convolution, pooled

CONVOLUTIONS = {
    "plain": {},
    "stride": {"stride": (2,)},
    "padding": {"padding": (2,)},
    "unequal padding": {"padding": (1,), "after": (2,)},
    "dilation": {"dilation": (3,)},
    "groups": {"inputs": (4, 8), "channels": 6, "groups": 2},
    "two axes": {
        "inputs": (2, 4, 5), "kernel": (2, 3), "stride": (1, 2), "padding": (1, 0), "dilation": (2, 1),
    },
}  # fmt: skip


def convolution(**changes):
    return Convolution(
        **{"inputs": (2, 8), "channels": 3, "kernel": (3,), "stride": (1,), "padding": (0,), "dilation": (1,)} | changes
    )


def directly(of, weights, x):
    """The convolution of a padded array, tap by tap."""
    after = of.after or of.padding
    padded = np.pad(x, [(0, 0), *zip(of.padding, after, strict=True)])
    outputs = np.zeros(of.outputs, dtype=int)
    seen, made = of.inputs[0] // of.groups, of.channels // of.groups
    for at in product(*map(range, of.outputs)):
        for channel, *tap in product(range(seen), *map(range, of.kernel)):
            place = [i * s + t * d for i, s, t, d in zip(at[1:], of.stride, tap, of.dilation, strict=True)]
            outputs[at] += weights[(at[0], channel, *tap)] * padded[(at[0] // made * seen + channel, *place)]
    return outputs


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_the_matrix_is_the_convolution(name):
    of, random = convolution(**CONVOLUTIONS[name]), np.random.default_rng(0)
    weights = random.integers(-9, 9, (of.channels, of.inputs[0] // of.groups, *of.kernel))
    x = random.integers(-9, 9, of.inputs)
    matrix = np.array([[0 if i is None else weights.ravel()[i] for i in row] for row in of.entries])
    assert (matrix @ x.ravel()).tolist() == directly(of, weights, x).ravel().tolist()


def test_a_kernel_that_does_not_fit():
    with pytest.raises(ShapeError, match="a kernel of 9 does not fit into a value of 8"):
        _ = convolution(kernel=(9,)).outputs


def test_too_many_places():
    with pytest.raises(InputError, match="its matrix has 29994 rows of 20000 places, and 10000000 is the most"):
        _ = convolution(inputs=(2, 10**4)).entries


def test_sums_of_windows():
    sums, shape = pooled((2, 5), (2,), (2,))
    assert (sums, shape) == ((0, 0, 1, 1, None, 2, 2, 3, 3, None), (2, 2))
    sums, shape = pooled((1, 2, 4), (2, 1), (2, 2))
    assert (sums, shape) == ((0, None, 1, None, 0, None, 1, None), (1, 1, 2))


def test_windows_that_overlap_or_do_not_fit():
    with pytest.raises(InputError, match="its windows of 3 overlap"):
        pooled((1, 8), (3,), (2,))
    with pytest.raises(ShapeError, match="a window of 9 does not fit into a value of 8"):
        pooled((1, 8), (9,), (9,))
