"""What is asked of several outputs (`verify.problem.vectors`), in the normal form."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
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
        ({"bias": "free", "output_bias": "penalised"}, "counts in the norm of max-margin"),
        ({"output_bias": "neuron"}, "penalised"),
        ({"goal": "trained"}, "fitted MLPRegressor"),
        ({"bias": "none"}, "hidden biases"),
        ({"bias": "sometimes"}, "must be one of"),
        ({"bias": ["free"]}, "must be one of"),
        ({"output_bias": np.zeros(2)}, "penalised"),
        ({"loss": np.zeros(2), "decay": 1}, "must be one of"),
        ({"reduction": "sum"}, "without a loss"),
        ({"loss": "logistic"}, "without weight decay"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        asked(**options)


def test_free_biases():
    """Of a loss the output bias goes with the hidden ones, unless it is said; of constraints one is left out so."""
    free, _ = asked(loss="cross-entropy", decay="0.5", bias="free")
    assert (free.problem.bias.value, free.problem.decay.output_bias, free.problem.counted) == ("free", 0, 1)
    counted, _ = asked(loss="cross-entropy", decay="0.5", bias="free", output_bias="penalised")
    assert counted.problem.decay.output_bias == 1
    margins, network = asked(output_bias="free")
    assert (margins.problem.decay.output_bias, network.output_bias) == (0, (1, 0, 0))
    assert asked(bias="free")[0].problem.decay.output_bias == 0
    with pytest.raises(InputError, match="the network has none"):
        asked(VectorNetwork("0", True, [["1", "0"]], [["1"], ["2"], ["3"]], None), output_bias="free")


def optimiser(decays, **options):
    """Of the parameters of NETWORK, as PyTorch has them."""
    parameters = {"W": [[1.0]], "b": [0.0], "v": [[1.0], [2.0], [3.0]], "b2": [1.0, 0.0, 0.0]}
    groups = [{"params": [np.array(parameters[name])], "weight_decay": decay} for name, decay in decays.items()]
    return type("Adam", (), {"param_groups": groups, **options})()


def test_the_decay_of_an_optimiser():
    free, _ = asked(loss="cross-entropy", decay=optimiser({"W": 0.5, "b": 0, "v": 0.25, "b2": 0}))
    assert free.problem.bias.value == "free"
    assert (free.problem.decay.hidden, free.problem.decay.output, free.problem.decay.output_bias) == (1, F(1, 2), 0)
    every, _ = asked(loss="cross-entropy", decay=optimiser({"W": 0.5, "b": 0.5, "v": 0.5, "b2": 0.5}))
    assert (every.problem.bias.value, every.problem.decay.output_bias) == ("penalised", 1)
    with pytest.raises(InputError, match="does not hold the output bias"):
        asked(loss="cross-entropy", decay=optimiser({"W": 0.5, "b": 0.5, "v": 0.5}))
    with pytest.raises(InputError, match="trained with free"):
        asked(loss="cross-entropy", decay=optimiser({"W": 0.5, "b": 0, "v": 0.5, "b2": 0}), bias="penalised")
    with pytest.raises(InputError, match="leave it out"):
        asked(loss="cross-entropy", decay=optimiser({"W": 0.5, "b": 0, "v": 0.5, "b2": 0}), output_bias="free")


def test_what_an_estimator_was_trained_for():
    """alpha over the points of a batch, both biases free: F / n is the mean loss and 1/2 alpha / n ||W||^2."""
    estimator = SimpleNamespace(alpha=0.5, solver="lbfgs", batch_size="auto", loss="log_loss", coefs_=[])
    found, _ = asked(goal="trained", source=estimator)
    assert (found.problem.bias.value, found.problem.decay.output_bias, found.scale) == ("free", 0, F(1, 2))
    assert found.problem.decay.hidden == found.problem.decay.output == F(1, 2)
    estimator.loss = "squared_error"
    squared, _ = asked(goal="trained", source=estimator, are_classes=False)
    assert squared.problem.goal == "squared"
    assert squared.problem.decay.hidden == F(1, 2)
    assert "averaged over them in its loss_" in squared.notes[0]
    with pytest.raises(InputError, match="trained with free"):
        asked(goal="trained", source=estimator, are_classes=False, bias="penalised")
