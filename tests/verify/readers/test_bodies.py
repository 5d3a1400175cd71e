"""Frozen first layers: what they give is computed exactly, and the other layers are read as if they stood alone."""

from fractions import Fraction

import pytest

from verify.checker.errors import InputError
from verify.problem.problem import Dataset
from verify.readers.bodies import Body, check_frozen, note_on_frozen
from verify.readers.chains import Chain, chained
from verify.readers.linear_layer import LinearLayer
from verify.readers.reading import MissingOptionsError, Options

F = Fraction


def layer(weights, bias=None):
    return LinearLayer(weights=weights, bias=bias, weights_name="W", bias_name="b")


FIRST, SECOND, LAST = layer([[1, -1], [2, 0]], [0, -1]), layer([[1, 1]], [F(1, 3)]), layer([[2]], [5])
DATA = Dataset([[1, 2], [F(1, 4), 0]], [1, -1])
"""Sums of the first layer: (-1, 1) and (1/4, -1/2)."""


def test_what_the_layers_give_is_exact():
    assert Body((FIRST,), (F(0),)).data(DATA).inputs == ((0, 1), (F(1, 4), 0))
    assert Body((FIRST,), (F(1, 2),)).data(DATA).inputs == ((F(-1, 2), 1), (F(1, 4), F(-1, 4)))
    two = Body((FIRST, SECOND), (F(0), F(0))).data(DATA)
    assert two.inputs == ((F(4, 3),), (F(7, 12),))
    assert two.targets == DATA.targets


def test_a_float_anywhere_makes_it_one_of_floats():
    assert not Body((FIRST, SECOND), (F(0), F(0))).has_floats
    assert Body((layer([[0.5]]),), (F(0),)).has_floats
    assert Body((layer([[1]], [0.5]),), (F(0),)).has_floats


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_last_layer_is_not_frozen(depth):
    check_frozen(depth - 1, depth)
    with pytest.raises(InputError, match=f"frozen is {depth}, but the network has {depth} layer"):
        check_frozen(depth, depth)


def test_the_note_counts_layers_and_features():
    body = Body((FIRST,), (F(0),))
    assert note_on_frozen(1, body.data(DATA)).startswith("the first layer is frozen: the data are what it gives, 2 f")
    assert "the first 2 layers are frozen" in note_on_frozen(2, DATA)


def read(frozen, output_bias="keep"):
    chain = Chain(layers=(FIRST, SECOND, LAST), slopes=(0, 0), remedy="")
    return chained(chain, "model", Options(frozen=frozen, output_bias=output_bias))


def test_biases_after_the_frozen_layers_are_kept():
    found = read(1)
    assert found.body == Body((FIRST,), (F(0),))
    assert found.network.architecture.bias
    assert found.network.output_bias == 5
    assert found.network.hidden_weights == ((1, 1, F(1, 3)),)
    alone = read(2)
    assert alone.network.architecture.depth == 1
    assert alone.network.parameters == ((2, 5),)
    with pytest.raises(MissingOptionsError, match="output bias"):
        read(1, "refuse")


def test_rational_layers_after_floats_are_no_exact_network():
    chain = Chain(layers=(layer([[0.5, 1.0]]), layer([[1]], [1]), LAST), slopes=(0, 0), remedy="")
    assert not chained(chain, "model", Options(frozen=1, output_bias="keep")).network.is_exact
    assert read(1).network.is_exact
