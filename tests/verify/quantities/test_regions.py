"""Breakpoints along lines, against the slopes of the network itself."""

from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from verify import Architecture, Dataset, InputError, Layer, Network
from verify.quantities import breakpoints, label_switches, linear_regions, region_bound


def test_two_kinks_and_one_that_cancels():
    network = Network.two_layer([[1], [-1], [2], [2]], [1, 1, 1, -1], b=[1, 1, 0, 0])
    assert breakpoints(network) == (-1, 1)
    assert linear_regions(network) == 3


def test_a_linear_network_and_a_constant_one_have_one_piece():
    assert linear_regions(Network.two_layer([[1], [-2]], [1, 3], b=[1, 1], slope=1)) == 1
    assert linear_regions(Network.two_layer([[0], [0]], [1, 3], b=[1, -1])) == 1


@pytest.mark.parametrize("seed", range(20))
def test_the_slope_changes_at_each_and_nowhere_else(seed):
    random = Random(seed)
    d, k, bias = random.randint(1, 3), random.randint(1, 5), random.random() < 0.5
    number = lambda: Fraction(random.randint(-4, 4), random.choice([1, 2, 3]))  # noqa: E731
    network = Network.two_layer(
        [[number() for _ in range(d)] for _ in range(k)], [number() for _ in range(k)],
        b=[number() for _ in range(k)] if bias else None, slope=random.choice([0, Fraction(1, 3)]),
    )  # fmt: skip
    start, direction = [number() for _ in range(d)], [number() or Fraction(1) for _ in range(d)]
    value = lambda t: network([s + t * e for s, e in zip(start, direction, strict=True)])  # noqa: E731
    places = breakpoints(network, start, direction)
    assert sorted(set(places)) == list(places)
    gaps = [b - a for a, b in pairwise(places)]
    h = min(gaps, default=Fraction(1)) / 4
    for t in places:
        assert value(t + h) - value(t) != value(t) - value(t - h)
    ends = [min(places, default=Fraction(0)) - 7, *places, max(places, default=Fraction(0)) + 7]
    for a, b in pairwise(ends):
        quarters = [value(a + (b - a) * i / 4) for i in range(5)]
        assert len({y - x for x, y in pairwise(quarters)}) == 1


def test_labels_along_a_line():
    assert label_switches(Dataset([[3], [1], [2], [0]], [1, 1, -1, 1])) == 2
    assert label_switches(Dataset([[1], [1], [2]], [1, 1, -1])) == 1
    assert region_bound(0) == 67
    assert region_bound(2) == 131


def test_what_is_no_line_is_refused():
    plane = Network.two_layer([[1, 2]], [1])
    for arguments in ((), ([0, 0],), (None, [1, 0]), ([0], [1, 0]), ([0, 0], [0, 0]), ([0, 0], ["a", 1])):
        with pytest.raises(InputError):
            breakpoints(plane, *arguments)
    with pytest.raises(InputError, match="2 inputs"):
        label_switches(Dataset([[1, 2]], [1]))
    with pytest.raises(InputError, match="two labels"):
        label_switches(Dataset([[1], [1]], [1, -1]))
    chain = [Layer(inputs=1, outputs=1, slope=slope) for slope in (0, 0, None)]
    with pytest.raises(InputError, match="hidden layers"):
        breakpoints(Network(Architecture(chain), [[1], [1], [1]]))
