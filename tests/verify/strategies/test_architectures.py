"""Shapes and networks of any depth are what their strategies promise."""

from hypothesis import given
from hypothesis import strategies as st

from verify import strategies as own


@given(st.data())
def test_networks_are_of_the_shape_and_homogeneous(data):
    shape = data.draw(own.architectures())
    network = data.draw(own.networks_of(shape))
    x = [3, -2, 5, 7, -1, 4, 2, -6, 1][: shape.inputs]
    assert network.architecture == shape
    if not shape.bias:
        assert network([2 * z for z in x]) == 2 * network(x)


@given(own.diagonal_shapes())
def test_diagonals_have_a_weight_for_each_coordinate_and_layer(shape):
    assert shape.parameter_count == shape.depth * shape.inputs
    assert all(mask == (j,) for j, mask in enumerate(shape.masks))


@given(own.convolutions(), st.data())
def test_a_convolution_is_the_sum_over_its_patches(shape, data):
    network = data.draw(own.networks_of(shape))
    first, last = shape.layers
    x = list(range(1, shape.inputs + 1))
    slope, total = first.slope, 0
    for mask, row, v in zip(shape.masks, network.hidden_weights, last.matrix(network.parameters[1])[0], strict=True):
        z = sum(row[c] * x[c] for c in mask)
        total += v * max(z, slope * z)
    assert network(x) == total


@given(own.dense_shapes(depth=3))
def test_dense_shapes_have_no_sharing(shape):
    assert shape.depth == 3
    assert not shape.has_sharing
    assert not shape.has_masks
