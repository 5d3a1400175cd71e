"""Whether anything fits with given output weights: proofs, networks, and agreement with all choices of sides."""

from fractions import Fraction

import numpy as np
import pytest

from tests.exact_states import posed
from tests.verify.deciders.hidden.test_search import best_of_all_sides, drawn, on_gaussian_points
from verify.deciders.hidden.fitting import whether_fits
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.networks import KnownNetworks
from verify.deciders.proposal import certified

F = Fraction


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.one_in(3)
def test_it_agrees_with_all_choices_of_sides(seed):
    problem = drawn(seed)
    if problem.architecture.slope == 1 or not any(problem.targets):
        return
    found = whether_fits(Geometry(problem), None, 200)
    if np.isfinite(best_of_all_sides(problem)):
        assert found.nothing is None
        known = KnownNetworks(problem)
        for sides in found.sides:
            known.walk_from(sides)
        assert known.upper is not None
    else:
        assert found.sides == ()
        assert certified(problem, None, found.nothing) is not None


@pytest.mark.parametrize("v", [[1, -1], [2, -1], [1, 0, -3]])
@pytest.mark.parametrize("goal", ["max-margin", "min-norm"])
def test_weights_of_any_size_and_of_0_are_told_apart(goal, v):
    """+, -, +, - on a line takes more than one neuron of each sign."""
    rows = [[x, 1] for x in (-2, -1, 1, 2)]
    problem = posed(rows, [1, -1, 1, -1], goal, v)
    found = whether_fits(Geometry(problem), None, 200)
    assert certified(problem, None, found.nothing) is not None


def test_cells_share_multipliers_where_one_leaf_for_each_case_takes_many_states():
    taught = on_gaussian_points(3, 2, 3, 20, "min-norm")
    rows = [list(row) for row in taught.data.inputs]
    problem = posed(rows, list(taught.targets), "min-norm", list(taught.output_weights[:2]))
    found = whether_fits(Geometry(problem), None, 60)
    assert certified(problem, None, found.nothing) is not None
    assert found.nodes <= 25
    assert len(found.nothing.canonical_text()) < 8000
