"""What is proved of a width is proved of narrower ones, with certificates of their own."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from solvers.instance import SearchStatus
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.finding import Verdict
from verify.problem.problem import Dataset, objective
from verify.widths import width_curve
from verify.widths.narrowing import handed_down, narrowed, with_rows
from verify.widths.point import number_text

F = Fraction
SWITCHING = Dataset([[1], [2], [3], [4], [5]], [1, -1, 1, -1, 1])
CROSS = Dataset([[1, 0], [0, 1], [-1, 0], [0, -1]], [1, -1, 1, -1])
CURVES = {
    "both layers": (SWITCHING, {"up_to": 4}),
    "given output weights": (CROSS, {"output_weights": [1, -1, 1, -1, 1], "bias": "none"}),
    "some of them alike, one 0": (SWITCHING, {"output_weights": [1, 1, 0, 1, -1]}),
    "leaky": (CROSS, {"output_weights": [1, 1, -1, -1], "slope": "1/10", "bias": "none"}),
}


def own(point):
    return next((c for c in point.certificates if isinstance(c, InfeasibleWidth | LowerBoundWidth)), None)


@pytest.fixture(scope="module", params=list(CURVES))
def curve(request):
    data, asked = CURVES[request.param]
    return width_curve(data, **asked)


def test_certificates_hold_of_one_neuron_less(curve):
    tried = [(wide, point) for point, wide in zip(curve.points, curve.points[1:], strict=False) if own(wide)]
    assert tried
    for wide, point in tried:
        found = narrowed(own(wide), wide.problem, point.problem)
        assert type(found) is type(own(wide))
        assert len(found.nodes) <= len(own(wide).nodes)
        if isinstance(found, LowerBoundWidth):
            assert found.bracket == own(wide).bracket


def test_open_rows_take_over_what_wider_ones_know(curve):
    forgotten = [
        replace(p, fits=Verdict.UNDECIDED, lower=None, upper=None, network=None, certificates=(), status="time")
        for p in curve.points[:-1]
    ]
    rows = handed_down([*forgotten, curve.points[-1]])
    proof = own(curve.points[-1])
    for row in rows[:-1]:
        if isinstance(proof, InfeasibleWidth):
            assert (row.fits, row.status) == (Verdict.REFUTED, SearchStatus.INFEASIBLE)
        elif proof is not None and row.certificates:
            assert row.lower == curve.points[-1].lower


def test_what_is_known_better_is_kept(curve):
    assert handed_down(curve.points) == curve.points


def test_what_the_checker_refuses_is_not_said():
    data = Dataset([[1, 2]], [1])
    curve = width_curve(data, output_weights=[0, 1], bias="none")
    wide, point = curve.points[1], curve.points[0]
    assert isinstance(own(wide), LowerBoundWidth)
    assert narrowed(own(wide), wide.problem, point.problem) is None  # nothing fits with output weight 0
    assert handed_down([replace(point, fits=Verdict.UNDECIDED, certificates=()), wide])[0].certificates == ()


def test_the_best_network_of_a_row_is_known_at_any_width():
    """With a wide tolerance the search over all widths stops early, and a row finds a better network."""
    curve = width_curve([[1], [3]], [-1, 1], goal="max-margin", bias="free", tol=10, time_limit=10)
    known = [point.upper for point in curve if point.upper is not None]
    assert curve.any_width.ends[1] == min(known)
    assert curve.any_width.objectives[0] == min(known)
    assert objective(curve.points[0].problem, curve.any_width.witnesses[0]) == min(known)
    assert curve.to_json()["any_width"][1] == number_text(min(known))


def test_a_bracket_that_is_better_than_the_rows_stays_as_it_is():
    curve = width_curve([[1], [3], [5]], [1, -1, 1], goal="max-margin", time_limit=10, up_to=1)
    assert with_rows(curve.any_width, curve.points) is curve.any_width
    assert with_rows(None, curve.points) is None
