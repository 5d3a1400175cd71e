"""What can be asked about a width: output weights that are given, or none."""

import pytest

from verify import InputError, width_curve
from verify.problem.problem import Bias, Dataset
from verify.widths.asking import WidthQuestion

POINTS = ([[1], [-1]], [1, 1])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"trained": "hidden"},
            "trained='hidden' needs output_weights, a number for each neuron of the widest network",
        ),
        ({"trained": "both", "output_weights": [1]}, "output_weights are given where only the hidden layer is trained"),
        ({"trained": "all"}, "trained must be one of both, hidden, not 'all'"),
        ({"output_weights": []}, "output_weights must hold at least one number"),
        ({"output_weights": [1, "x"]}, r"output_weights\[1\] is 'x', not a rational"),
        ({"output_weights": [1], "up_to": 2}, "up_to is 2, and output_weights has 1 number: give one each"),
        ({"up_to": 0}, "up_to must be a number of neurons, at least 1, not 0"),
        ({"bias": "some"}, "bias is 'some'; it must be one of none, penalised, free"),
        ({"bias": None}, "bias is None; it must be one of none, penalised, free"),
    ],
)
def test_what_is_not_one_question_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        width_curve(*POINTS, **options)


def test_the_problem_of_a_width_holds_its_output_weights():
    hidden = width_curve(*POINTS, bias="none", output_weights=["1", "2"])
    assert [point.problem.output_weights for point in hidden] == [(1,), (1, 2)]
    both = WidthQuestion(Dataset(*POINTS), None, Bias.FREE, 0, None)
    assert both.widest is both.problem(2).output_weights is None
    assert len(both.problem(2).architecture.masks) == 2
