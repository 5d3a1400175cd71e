"""KKT points on a line that could have many linear regions: they are KKT points, of the same function, and large."""

from hypothesis import given, settings
from hypothesis import strategies as st

from verify import Bias
from verify.claims import Instance, is_kkt_point
from verify.claims.safran2022.regions import linear_regions
from verify.claims.trainings import margins
from verify.quantities.regions import label_switches
from verify.strategies import crowded, facing_pairs, searched_kkt_points
from verify.strategies.line_crowds import bending_places

few = settings(max_examples=25, deadline=None)


@few
@given(facing_pairs())
def test_facing_pairs_have_three_regions_and_no_switch(point):
    instance = Instance.of(point)
    assert is_kkt_point(instance)
    assert linear_regions(instance) == 3
    assert label_switches(instance.data) == 0


@few
@given(st.data())
def test_a_crowd_is_a_kkt_point_of_the_same_function(data):
    searched = searched_kkt_points(bias=Bias.PENALISED, dimension=1, neurons=3)
    point = data.draw(st.one_of(facing_pairs(), searched))
    large = data.draw(crowded(st.just(point), lambda _: 40))
    before, after = Instance.of(point), Instance.of(large)
    assert is_kkt_point(after)
    assert linear_regions(after) == linear_regions(before)
    assert label_switches(after.data) == label_switches(before.data)
    assert after.data.inputs[: len(before.data)] == before.data.inputs
    assert min(margins(after)) == min(margins(before))
    places = range(-9, 10)
    assert [after.network([x]) for x in places] == [before.network([x]) for x in places]


def test_most_crowds_could_have_more_regions():
    seen = []

    @settings(max_examples=30, deadline=None, database=None, derandomize=True)
    @given(crowded(facing_pairs(), lambda _: 40))
    def look(point):
        seen.append(1 + min(point.network.width, bending_places(len(point.problem.data))) > 40)

    look()
    assert 2 * sum(seen) > len(seen), seen


def test_places():
    """One point: left of it, on it and right of it, in two facings."""
    assert bending_places(1) == 6
