"""The bundled inputs are what their README says."""

from pathlib import Path

from verify.problem.problem import Bias, Goal, Problem, outputs
from verify.readers import read_data_with_notes, read_with_notes

IRIS = Path(__file__).parent.parent / "examples" / "iris"


def test_the_iris_network_classifies_every_stored_point():
    network, data = read_with_notes(IRIS / "net.npz"), read_data_with_notes(IRIS / "data.npz")
    assert network.notes == data.notes == ()
    assert (network.network.width, len(data.data), len(set(data.data.inputs))) == (12, 100, 83)
    problem = Problem(data.data, network.network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)
    assert all(y * f > 0 for y, f in zip(problem.data.targets, outputs(problem, network.network), strict=True))
