"""Frozen layers: the audit of the rest, on what the first layers give; the same to the bit as of these features."""

import json
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from tests.depth_cases import shape
from tests.words import check_words
from verify import Architecture, Dataset, InputError, Layer, Network, audit
from verify.auditing.frozen import features, head
from verify.cli import program

F = Fraction
BODY = [[1, -1, 0, 1, 2, 1], [1, 0, 1, -1, 1, 0]]
DEEP = Network(shape([2, 3, 2, 2, 1], [0, "1/2", 0]), [*BODY, [1, 0, 1, 1], [1, -1]])
DATA = Dataset([[1, 0], [0, 1], [2, -1], [-1, -1]], [1, 1, -1, -1])


def verdicts(result):
    """All that an audit proves, with its certificates, and the sentences of its findings."""
    said = {key: value for key, value in result.to_json().items() if key not in ("notes", "seconds", "diagnosis")}
    return json.dumps([said, {name: proof.to_json() for name, proof in result.certificates.items()}])


@pytest.mark.parametrize(
    ("layers", "targets"), [(2, [1, 1, -1, -1]), (2, [0, 2, "3/2", 0]), (1, [1, 1, -1, -1]), (3, [1, 1, 1, -1])]
)
def test_a_frozen_body_is_the_audit_of_its_features(layers, targets):
    data = Dataset(DATA.inputs, targets)
    frozen = audit(DEEP, data, frozen=layers)
    by_hand = audit(head(DEEP, layers), Dataset(features(DEEP, data, layers), data.targets))
    assert verdicts(frozen) == verdicts(by_hand)
    assert "frozen: the data are what" in frozen.notes[0]
    check_words(frozen)


def test_frozen_identity_layers_change_nothing():
    """A depth-2 network behind linear layers that are the identity."""
    plain = Network.two_layer([[0, 2], [0, 0]], [2, 0])
    data = Dataset([["1", "1/4"], ["-1", "1/4"]], [1, 1])
    identity = [1, 0, 0, 1]
    deep = Network(shape([2, 2, 2, 2, 1], [1, 1, 0]), [identity, identity, *plain.parameters])
    assert verdicts(audit(deep, data, frozen=2)) == verdicts(audit(plain, data))


def test_floats_stay_floats():
    floats = Network(DEEP.architecture, [[float(w) + 1e-3 for w in layer] for layer in DEEP.parameters])
    frozen = audit(floats, np.array([[1.0, 0.0], [0.0, 1.0]]), [1, -1], frozen=2)
    assert frozen.stationary_tolerance == F(1, 1000)
    exact = audit(DEEP, DATA, frozen=2)
    assert exact.stationary_tolerance == 0


def test_a_bias_is_evaluated_with_the_body():
    layers = [
        Layer(inputs=1, outputs=2, slope=0, bias=True),
        Layer(inputs=2, outputs=2, slope=0),
        Layer(inputs=2, outputs=1, slope=None),
    ]
    network = Network(Architecture(layers), [[1, 1, -1, 1], [1, 0, 0, 1], [1, -1]])
    assert features(network, Dataset([[2], [-3]], [1, -1]), 1) == [(3, 0), (0, 4)]
    result = audit(network, Dataset([[2], [-3]], [1, -1]), frozen=1)
    assert result.fits.verdict.value == "proved"
    assert result.problem.bias.value == "none"


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        (-1, "frozen is -1: give the number of first layers"),
        (True, "frozen"),
        (1.5, "frozen"),
        ("2", "frozen"),
        (4, "has 4 layers"),
        (9, "has 4 layers"),
    ],
)
def test_what_cannot_be_frozen(layers, words):
    with pytest.raises(InputError, match=words):
        audit(DEEP, DATA, frozen=layers)
    line = Network(shape([2, 1], []), [[1, 0]])
    with pytest.raises(InputError, match="has 1 layer"):
        audit(line, DATA, frozen=1)


def test_none_frozen_is_the_audit_itself():
    assert verdicts(audit(DEEP, DATA, frozen=0)) == verdicts(audit(DEEP, DATA))


def test_on_the_command_line(tmp_path):
    network, data = tmp_path / "net.json", tmp_path / "data.json"
    DEEP.save(network)
    rows = [[str(x) for x in row] for row in DATA.inputs]
    data.write_text(json.dumps({"X": rows, "y": [str(y) for y in DATA.targets]}), encoding="utf-8")
    found = CliRunner().invoke(program, ["audit", str(network), str(data), "--frozen", "2"], standalone_mode=False)
    assert found.return_value == 0, found.output
    assert "the first 2 layers are frozen" in found.output
    assert "isoptimal train" not in found.output
    wrong = CliRunner().invoke(program, ["audit", str(network), str(data), "--frozen", "4"], standalone_mode=False)
    assert wrong.exception is not None or wrong.return_value != 0


def test_biases_of_later_layers_become_neurons_only_where_that_is_asked():
    """Their weights would be counted in the decay; the report of who asks for it says so."""
    torch = pytest.importorskip("torch")
    layers = [torch.nn.Linear(1, 1, bias=False), torch.nn.ReLU(), torch.nn.Linear(1, 1), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(1, 1, bias=False)).double()
    with pytest.raises(InputError, match=r"output_bias=.neuron."):
        audit(model, [[0.0], [1.0]], [0.5, 0.5], loss="squared", decay=0.5, frozen=1)


def test_an_output_bias_is_refused_in_words():
    network = Network.two_layer([[1, 0], [0, 1]], [1, -1], b2="1/2")
    with pytest.raises(InputError, match="frozen is 1, and the network has an output bias"):
        audit(network, DATA, loss="squared", decay="0.25", frozen=1)
