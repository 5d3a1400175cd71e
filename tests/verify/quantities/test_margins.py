"""Margins and normalised margins by hand, and under scaling."""

from fractions import Fraction

import pytest

from verify import Architecture, Dataset, InputError, Layer, Network
from verify.quantities import margins, normalised_margin

DATA = Dataset([[1, 0], [0, 2], [-1, 0]], [1, 1, -1])
NETWORK = Network.two_layer([[1, 0], [-1, 0], [0, 1]], [1, -1, 1])


def test_by_hand():
    assert margins(NETWORK, DATA) == (1, 2, 1)
    assert normalised_margin(NETWORK, DATA) == Fraction(1, 6)


@pytest.mark.parametrize("factor", [Fraction(1, 3), Fraction(7), Fraction(10**40)])
def test_scaling_changes_margins_and_not_the_normalised_one(factor):
    scaled = Network(NETWORK.architecture, [[factor * x for x in layer] for layer in NETWORK.parameters])
    assert margins(scaled, DATA) == tuple(factor**2 * m for m in margins(NETWORK, DATA))
    assert normalised_margin(scaled, DATA) == normalised_margin(NETWORK, DATA)


def test_a_misclassified_point_is_negative():
    wrong = Dataset(DATA.inputs, [1, -1, -1])
    assert margins(NETWORK, wrong) == (1, -2, 1)
    assert normalised_margin(NETWORK, wrong) == Fraction(-1, 3)


def test_labels_0_and_1():
    assert margins(NETWORK, Dataset(DATA.inputs, [1, 1, 0])) == margins(NETWORK, DATA)


def test_biases_count():
    network = Network.two_layer([[1]], [1], b=[1])
    data = Dataset([[1]], [1])
    assert normalised_margin(network, data) == Fraction(2, 3)
    with pytest.raises(InputError, match="left out of the norm"):
        normalised_margin(network, data, bias="free")


def test_three_layers_are_rounded_towards_0():
    chain = [Layer(inputs=1, outputs=1, slope=slope) for slope in (0, 0, None)]
    network = Network(Architecture(chain), [[1], [1], [1]])
    for y in (1, -1):
        found = normalised_margin(network, Dataset([[1]], [y]))
        assert (found > 0) is (y > 0)
        assert Fraction(1, 27) * (1 - Fraction(1, 10**15)) < found**2 < Fraction(1, 27)


def test_nothing_and_targets_are_refused():
    with pytest.raises(InputError, match="0 / 0"):
        normalised_margin(Network.two_layer([[0, 0]], [0]), DATA)
    with pytest.raises(InputError):
        margins(NETWORK, Dataset(DATA.inputs, [1, 2, 3]))
    with pytest.raises(InputError, match="read"):
        margins("net.npz", DATA)
