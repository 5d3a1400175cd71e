"""Assertions for test suites: what passes is proved, what fails says why."""

import pytest

from verify import Architecture, Audit, InputError, Layer, Network
from verify.testing import assert_fits, assert_globally_optimal, assert_locally_optimal, assert_stationary

POINTS = (((1, 0), (-1, 0)), (1, 1))
BEST = Network.two_layer([[1, 0], [-1, 0]], [1, 1])
WORSE = Network.two_layer([[2, 0], [-1, 0]], [2, 1])
DEAD = Network.two_layer([[0, 2], [0, 0]], [2, 0])
THEOREM_3_2 = (((1, 0.25), (-1, 0.25)), (1, 1))


@pytest.mark.parametrize("check", [assert_fits, assert_stationary, assert_locally_optimal, assert_globally_optimal])
def test_an_optimum_passes_every_assertion(check):
    assert isinstance(check(BEST, POINTS), Audit)


def test_what_fails_says_why_and_shows_the_report():
    with pytest.raises(
        AssertionError, match=r"was to be a global optimum within 1e-06: refuted, a network of"
    ) as caught:
        assert_globally_optimal(WORSE, POINTS)
    assert "best possible" in str(caught.value)
    assert_globally_optimal(WORSE, POINTS, within=2)
    with pytest.raises(AssertionError, match="was to be a KKT point: refuted"):
        assert_stationary(WORSE, POINTS)
    with pytest.raises(AssertionError, match="was to fit the data: refuted"):
        assert_fits(Network.two_layer([[1, 0]], [1]), POINTS)


def test_a_kkt_point_that_is_no_local_optimum():
    assert_stationary(DEAD, THEOREM_3_2)
    with pytest.raises(AssertionError, match="was to be a local optimum: refuted, better networks lie"):
        assert_locally_optimal(DEAD, THEOREM_3_2)


def test_what_is_open_fails_too():
    """Networks of depth 3 are not decided yet, beyond whether they fit."""
    layers = (
        Layer(inputs=1, outputs=1, slope=0),
        Layer(inputs=1, outputs=1, slope=0),
        Layer(inputs=1, outputs=1, slope=None),
    )
    deep = Network(Architecture(layers), ((1,), (1,), (1,)))
    assert_fits(deep, (((1,),), (1,)))
    with pytest.raises(AssertionError, match="was to be a KKT point: undecided, only depth 2"):
        assert_stationary(deep, (((1,),), (1,)))


def test_networks_and_data_are_read():
    assert_fits({"W": [[1.0, 0.0], [-1.0, 0.0]], "v": [1.0, 1.0], "slope": 0}, {"X": POINTS[0], "y": POINTS[1]})
    with pytest.raises(InputError):
        assert_fits("nowhere.npz", POINTS)


def test_own_width_is_another_question():
    assert_globally_optimal(BEST, POINTS, any_width=False)
