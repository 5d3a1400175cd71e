"""One row of a curve: what it says, and that it is no truth value."""

from __future__ import annotations

from fractions import Fraction

import pytest

from verify.problem.problem import Dataset
from verify.widths import width_curve
from verify.widths.point import number_text

F = Fraction


def test_a_row_says_what_is_known():
    curve = width_curve(Dataset([[1], [-1]], [1, 1]), bias="none", up_to=2)
    assert repr(curve.points[0]) == "<WidthPoint: 1 neuron, none fits, infeasible, infeasible-width>"
    assert curve.points[1].to_json()["width"] == curve.points[1].width == 2
    assert curve.points[0].to_json()["fits"] == "refuted"
    with pytest.raises(TypeError, match="no truth value"):
        bool(curve.points[0])


def test_numbers_are_exact_texts():
    assert number_text(F(1, 3)) == "1/3"
    assert number_text(None) is None
