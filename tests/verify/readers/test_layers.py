"""Networks of layers that share weights: one parameter for all places of it, biases carried by a neuron that is 1."""

from fractions import Fraction

import pytest

from verify.checker.errors import InputError
from verify.readers.layers import deep
from verify.readers.linear_layer import LinearLayer

F = Fraction
PATCHES = ((0, 1, None), (None, 0, 1))
"""One filter of two weights at two positions of three inputs."""


def layer(weights, bias=None, entries=None, bias_entries=None):
    return LinearLayer(
        weights=weights, bias=bias, weights_name="w", bias_name="b", entries=entries, bias_entries=bias_entries
    )


def test_a_weight_is_one_parameter_wherever_it_stands():
    first = layer([[2, 3, 0], [0, 2, 3]], entries=PATCHES)
    network = deep([first, layer([[5, 5]], entries=((0, 0),))], [F(0)], "here").network
    assert network.parameters == ((2, 3), (5,))
    assert network.architecture.layers[0].entries == PATCHES
    assert network([1, 1, -1]) == 5 * (5 + 0)


def test_biases_of_a_filter_are_one_parameter():
    first = layer([[2, 3, 0], [0, 2, 3]], bias=[7, 7], entries=PATCHES, bias_entries=[0, 0])
    network = deep([first, layer([[5, 1]])], [F(0)], "here").network
    assert network.parameters[0] == (2, 3, 7)
    assert network.architecture.layers[0].entries == ((0, 1, None, 2), (None, 0, 1, 2))
    assert network([0, 0, -2]) == 5 * 7 + 1


def test_later_biases_are_carried():
    first = layer([[2, 3, 0], [0, 2, 3]], entries=PATCHES, bias_entries=[0, 0])
    second = layer([[1, 0], [0, 1]], bias=[-4, -4], entries=((0, None), (None, 0)), bias_entries=[0, 0])
    reading = deep([first, second, layer([[1, 1]])], [F(0), F(1, 2)], "here")
    assert reading.network([1, 1, -1]) == 1 - 2
    assert [len(numbers) for numbers in reading.network.parameters] == [2 + 1 + 4, 1 + 1 + 3, 3]
    assert "always 1" in reading.notes[0]


def test_weights_at_no_place_are_left_out():
    network = deep([layer([[3]], entries=((1,),)), layer([[1]])], [F(0)], "here").network
    assert network.parameters == ((3,), (1,))


def test_shared_weights_that_came_to_differ():
    with pytest.raises(InputError, match="here: what scales or shifts beside w makes the weights differ"):
        deep([layer([[2, 3, 0], [0, 2, 4]], entries=PATCHES), layer([[1, 1]])], [F(0)], "here")
