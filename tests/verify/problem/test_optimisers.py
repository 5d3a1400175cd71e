"""The decay of optimisers of PyTorch, which must hold the numbers of the network."""

from fractions import Fraction

import numpy as np
import pytest

from verify import Bias, InputError, Network, audit
from verify.problem.optimisers import COUPLED, decay_of_optimiser, is_optimiser

W, B, V, B2 = np.array([[1.0, 2.0], [-1.0, 0.5], [0.25, 3.0]]), np.array([0.5, 0.25, -1.0]), [1.0, -2.0, 4.0], [0.75]
V, B2 = np.array([V]), np.array(B2)
NETWORK = Network.two_layer(W, V[0], b=B, b2=B2[0])
DATA = ([[1.0, 0.0], [-2.0, 1.0], [0.5, 0.5]], [1.0, 2.0, -1.0])


class Frozen(np.ndarray):
    """A parameter that is not trained."""

    requires_grad = False


def optimiser(*groups, name="SGD", **more):
    """What an optimiser of this name says of itself.   groups: (decay, parameters)."""
    found = type(name, (), {})()
    found.param_groups = [{"weight_decay": decay, "params": list(arrays), **more} for decay, *arrays in groups]
    return found


ACCEPTED = {
    "one decay": ([(0.5, W, B, V, B2)], (0.5, 0.5), 0.5, Bias.PENALISED),
    "none of the biases": ([(0.5, W, V), (0, B, B2)], (0.5, 0.5), 0, Bias.FREE),
    "one of each layer": ([(0.5, W, B), (0.25, V, B2)], (0.5, 0.25), 0.25, Bias.PENALISED),
    "none of the hidden biases": ([(0.5, W, V, B2), (0, B)], (0.5, 0.5), 0.5, Bias.FREE),
    "none of the output bias": ([(0.5, W, B, V), (0, B2)], (0.5, 0.5), 0, Bias.PENALISED),
    "another one of the output bias": ([(0.5, W, B, V), (2, B2)], (0.5, 0.5), 2, Bias.PENALISED),
    "weights the other way round": ([(0.5, W.T, B, V.T, B2)], (0.5, 0.5), 0.5, Bias.PENALISED),
    "beside parameters that are not trained": (
        [(0.5, W, B, V, B2, np.ones(7).view(Frozen))], (0.5, 0.5), 0.5, Bias.PENALISED,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_decay_of_each_part(name):
    groups, layers, of_bias, bias = ACCEPTED[name]
    found = decay_of_optimiser(optimiser(*groups), NETWORK)
    assert (found.layers, found.output_bias, found.bias) == (layers, of_bias, bias)


@pytest.mark.parametrize("name", COUPLED)
def test_known_optimisers(name):
    assert decay_of_optimiser(optimiser((0.5, W, B, V, B2), name=name), NETWORK).layers == (0.5, 0.5)


@pytest.mark.parametrize("name", ["AdamW", "Adafactor", "Muon", "ASGD", "LBFGS", "Rprop", "SparseAdam", "Mine"])
def test_others_are_refused(name):
    with pytest.raises(InputError, match=f"{name} is no optimiser whose weight decay is known to be that of a loss"):
        decay_of_optimiser(optimiser((0.5, W, B, V, B2), name=name), NETWORK)


REFUSED = {
    "of another network": ([(0.5, 2 * W, B, V, B2)], "does not hold the hidden weights"),
    "of the last layer only": ([(0.5, V, B2)], "does not hold the hidden weights"),
    "of the weights only": ([(0.5, W, V)], "does not hold the output weights|does not hold the hidden biases"),
    "with frozen weights": ([(0.5, W.view(Frozen), B, V, B2)], "does not hold the hidden weights"),
    "of one more": ([(0.5, W, B, V, B2, np.ones(7))], "trains a parameter \\(7\\) that is none of this network"),
    "with another decay of the hidden biases": ([(0.5, W, V), (0.25, B, B2)], "0.5 for the hidden weights and 0.25"),
    "not a number": ([(float("nan"), W, B, V, B2)], "weight_decay of the optimiser is nan"),
    "without decay": ([(0, W, B, V, B2)], "SGD has weight_decay 0 for the hidden weights"),
    "of the output weights": ([(0.5, W), (0, V, B, B2)], "SGD has weight_decay 0 for the output weights"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_the_decay_of_this_network_is_refused(name):
    groups, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        decay_of_optimiser(optimiser(*groups), NETWORK)


def test_what_raises_its_objective_or_decouples_its_decay_is_refused():
    with pytest.raises(InputError, match="maximize=True"):
        decay_of_optimiser(optimiser((0.5, W, B, V, B2), maximize=True), NETWORK)
    with pytest.raises(InputError, match="decoupled"):
        decay_of_optimiser(optimiser((0.5, W, B, V, B2), name="Adam", decoupled_weight_decay=True), NETWORK)


def test_the_same_numbers_twice_with_two_decays_are_refused():
    network = Network.two_layer(np.ones((3, 2)), [1.0] * 3, b=[1.0] * 3)
    groups = [(0.5, np.ones((3, 2)), np.ones(3)), (0, np.ones(3))]
    with pytest.raises(InputError, match=r"holds the output weights twice|holds the hidden biases twice"):
        decay_of_optimiser(optimiser(*groups), network)


def test_without_biases():
    network = Network.two_layer(W, V[0])
    found = decay_of_optimiser(optimiser((0.5, W, V)), network)
    assert (found.output_bias, found.bias) == (None, Bias.NONE)
    with_output_bias = Network.two_layer(W, V[0], b2=B2[0])
    found = audit(with_output_bias, DATA, loss="squared", decay=optimiser((0.5, W, V), (0, B2)), time_limit=2)
    assert found.problem.bias is Bias.NONE
    assert found.problem.goal.decay.output_bias == 0


def test_an_optimiser_stands_for_its_decay():
    assert is_optimiser(optimiser())
    assert not is_optimiser(0.5)
    for groups, bias, of_bias in (
        ([(0.25, W, B, V, B2)], Bias.PENALISED, Fraction(1, 4)),
        ([(0.25, W, V), (0, B, B2)], Bias.FREE, 0),
        ([(0.25, W, B, V), (0, B2)], Bias.PENALISED, 0),
    ):
        found = audit(NETWORK, DATA, loss="squared", decay=optimiser(*groups), time_limit=2)
        assert found.problem.bias is bias
        assert found.problem.goal.decay.hidden == Fraction(1, 4)
        assert found.problem.goal.decay.output_bias == of_bias
    with pytest.raises(InputError, match="bias is penalised, and the optimiser trained with free"):
        audit(NETWORK, DATA, loss="squared", decay=optimiser((0.25, W, V), (0, B, B2)), bias="penalised")


def test_of_one_hidden_layer_only():
    torch = pytest.importorskip("torch")
    layers = [torch.nn.Linear(2, 3, bias=False), torch.nn.ReLU(), torch.nn.Linear(3, 3, bias=False), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(3, 1, bias=False))
    with pytest.raises(InputError, match="with one hidden layer"):
        audit(model, DATA, loss="squared", decay=torch.optim.SGD(model.parameters(), lr=1, weight_decay=0.1))


@pytest.mark.parametrize("name", [*COUPLED, "AdamW"])
def test_those_of_pytorch(name):
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    made = getattr(torch.optim, name)(model.parameters(), lr=0.1, weight_decay=0.25)
    if name == "AdamW":
        with pytest.raises(InputError, match="AdamW is no optimiser"):
            audit(model, DATA, loss="squared", decay=made)
        return
    found = audit(model, DATA, loss="squared", decay=made, time_limit=2).problem
    assert (found.bias, found.goal.decay.output_bias) == (Bias.PENALISED, Fraction(1, 4))
