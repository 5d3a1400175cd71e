"""The bundled inputs are what their README says."""

from pathlib import Path

import pytest

from verify.problem.network import Architecture
from verify.problem.problem import Bias, Goal, Problem, outputs
from verify.readers import read_data_with_notes, read_with_notes

IRIS = Path(__file__).parent.parent / "examples" / "iris"
SIGNALS = IRIS.parent / "signals"


def test_the_iris_network_classifies_every_stored_point():
    network, data = read_with_notes(IRIS / "net.npz"), read_data_with_notes(IRIS / "data.npz")
    assert network.notes == data.notes == ()
    assert (network.network.width, len(data.data), len(set(data.data.inputs))) == (12, 100, 83)
    problem = Problem(data.data, network.network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)
    assert all(y * f > 0 for y, f in zip(problem.data.targets, outputs(problem, network.network), strict=True))


@pytest.mark.parametrize("name", ["cnn", "mlp"])
@pytest.mark.parametrize("stage", ["trained", "kkt"])
def test_the_networks_of_signals_are_of_their_shapes_and_fit(name, stage):
    shapes = {
        "cnn": Architecture.convolution(3, patches=10, channels=2, pool="sum"),
        "mlp": Architecture.dense([12, 6, 4, 1]),
    }
    network, data = read_with_notes(SIGNALS / f"{name}-{stage}.json"), read_data_with_notes(SIGNALS / "data.npz")
    assert network.network.architecture == shapes[name]
    assert "points of shape (1, 12) are taken as rows of 12 numbers" in data.notes[0]
    problem = Problem(data.data, network.network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    values = outputs(problem, network.network)
    assert min(y * f for y, f in zip(problem.data.targets, values, strict=True)) >= 1
