"""KKT points of any depth and with shared weights: the checker accepts them, and they are what they promise to be."""

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from tests.amount import UNSHRUNK
from tests.forging import accepted
from verify import strategies
from verify.checker.depth_states import states
from verify.checker.depth_stationary import DeepStationary, Part
from verify.checker.exact import squared_norm
from verify.problem.problem import outputs

few = settings(max_examples=25, deadline=None)
POINTS = st.one_of(strategies.deep_linear_kkt_points(), strategies.deep_diagonals(), strategies.singular_convolutions())


@few
@given(POINTS)
def test_they_are_kkt_points_with_their_multipliers(point):
    parts = tuple(Part(i, value, ()) for i, value in enumerate(point.multipliers) if value)
    accepted(point.problem, point.network, DeepStationary(parts=parts))


@few
@given(POINTS)
def test_no_unit_is_at_a_kink_or_off(point):
    for state in states(point.problem, point.network):
        assert state.ties == []
        if any(layer.slope == 0 for layer in point.network.architecture.layers):
            assert all(all(values) for values in state.inputs)


@few
@given(strategies.deep_linear_kkt_points())
def test_layers_of_linear_ones_have_one_norm(point):
    assert len({squared_norm(row) for row in point.network.parameters}) == 1
    assert 3 <= point.network.architecture.depth <= 5


@pytest.mark.long
def test_shapes_and_widths_differ():
    def find_one(of, condition):
        find(of, condition, settings=UNSHRUNK)

    for depth in (3, 4, 5):
        find_one(
            strategies.deep_linear_kkt_points(), lambda point, depth=depth: point.network.architecture.depth == depth
        )
    find_one(strategies.deep_linear_kkt_points(), lambda point: [*map(len, point.network.parameters)] == [6, 6, 2])
    for depth, slope in ((3, 0), (4, 1), (6, 0)):
        find_one(
            strategies.deep_diagonals(),
            lambda point, depth=depth, slope=slope: (
                (point.network.architecture.depth, point.network.architecture.slope) == (depth, slope)
            ),
        )
    for size in (2, 3):
        find_one(strategies.singular_convolutions(), lambda point, size=size: len(point.network.parameters[0]) == size)


@few
@given(strategies.deep_linear_starts())
def test_starts_classify_every_point_with_a_margin(drawn):
    problem, network = drawn
    values = outputs(problem, network)
    assert all(y * f >= 4 for y, f in zip(problem.targets, values, strict=True))
    assert network.architecture.depth in (3, 4)
