"""What is asked of several outputs (`verify.problem.vectors`), in the normal form."""

from fractions import Fraction

import pytest

from verify.checker.errors import InputError
from verify.checker.vector_statement import VectorNetwork
from verify.problem.vectors import vector_asked

F = Fraction
NETWORK = VectorNetwork("0", True, [["1", "0"]], [["1"], ["2"], ["3"]], ["1", "0", "0"])
INPUTS = ((F(1),), (F(2),))
CLASSES = ((F(1), F(0), F(0)), (F(0), F(0), F(1)))
NONE = dict.fromkeys(("goal", "loss", "decay", "reduction", "bias", "output_bias"))


def asked(network=NETWORK, are_classes=True, **options):
    return vector_asked(network, INPUTS, CLASSES, are_classes=are_classes, **NONE | options)


def test_losses_in_the_normal_form():
    entropy, _ = asked(loss="cross-entropy", decay="0.5")
    assert entropy.problem.goal == "cross-entropy"
    assert (entropy.problem.decay.hidden, entropy.problem.decay.output_bias, entropy.scale) == (1, 1, F(1, 2))
    squared, _ = asked(are_classes=False, loss="squared", decay="0.5,1")
    assert squared.scale == F(2, 6)
    assert (squared.problem.decay.hidden, squared.problem.decay.output) == (F(3, 2), 3)
    half, _ = asked(are_classes=False, loss="half-squared", decay=1, reduction="sum", output_bias="free")
    assert (half.scale, half.problem.decay.output_bias) == (1, 0)
    assert half.problem.bias.value == "penalised"


def test_constraints():
    bare = VectorNetwork("0", True, [["1", "0"]], [["1"], ["2"], ["3"]], ["0", "0", "0"])
    found, network = asked(bare)
    assert found.problem.goal == "max-margin"
    assert network.output_bias is None
    assert found.notes
    assert asked(bare, goal="min-norm")[0].problem.goal == "min-norm"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "output bias"),
        ({"bias": "free"}, "bias is free"),
        ({"bias": "none"}, "hidden biases"),
        ({"bias": "sometimes"}, "must be one of"),
        ({"reduction": "sum"}, "without a loss"),
        ({"loss": "logistic"}, "without weight decay"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        asked(**options)
