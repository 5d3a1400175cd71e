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


def three_layers(torch):
    layers = [torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(2, 1)).double()


X, Y = np.random.default_rng(0).normal(size=(6, 2)), [1.0, -1.0, 1.0, -1.0, 1.0, 1.0]


@pytest.mark.parametrize("output_bias", ["penalised", "free"])
@pytest.mark.parametrize("bias", [None, "penalised", "free"])
def test_biases_of_later_layers_are_those_of_the_question(bias, output_bias):
    """As of the other layers by themselves, on the features: a bias of theirs is no neuron of a frozen layer."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    model = three_layers(torch)
    body = Network(
        Architecture([Layer(inputs=2, outputs=3, slope=0, bias=True), Layer(inputs=3, outputs=1, slope=None)]),
        [torch.cat([model[0].weight, model[0].bias[:, None]], 1).flatten().tolist(), [1, 1, 1]],
    )
    points = features(body, Dataset(X.tolist(), Y), 1)
    options = {"loss": "squared", "decay": "0.1", "bias": bias, "output_bias": output_bias}
    frozen = audit(model, X, Y, frozen=1, **options)
    by_hand = audit(model[2:], Dataset(points, Y), **options)
    assert verdicts(frozen) == verdicts(by_hand)
    assert frozen.problem.has_output_bias
    assert "the first layer is frozen" in " ".join(frozen.notes)


def test_a_bias_of_the_output_alone():
    """Its decay is ½·0.1·b²; with a neuron in its place it would be 2b more, more than the whole."""
    torch = pytest.importorskip("torch")
    model = three_layers(torch)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model[4].bias.fill_(61 / 64)
    result = audit(model, [[1.0, 2.0]], [1.0], loss="squared", decay="0.1", frozen=1, output_bias="penalised")
    assert result.objective == F(3, 64) ** 2 + F(1, 20) * F(61, 64) ** 2


def test_a_module_is_not_transposed():
    """Every layer of a model of PyTorch is stored in one way; a matrix by itself need not be."""
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.ReLU(), torch.nn.Linear(2, 1, bias=False))
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))
        model[2].weight.copy_(torch.tensor([[1.0, -1.0]]))
    data = Dataset([[0, -1], [1, 0]], [1, -1])
    arrays = {"W": [[0, 1], [-1, 0]], "v": [1, -1]}
    assert any("transpose" in note for note in audit(arrays, data, slope=0).notes)
    assert not any("transpose" in note for note in audit(model, data).notes)


def test_an_output_bias_is_refused_in_words():
    network = Network.two_layer([[1, 0], [0, 1]], [1, -1], b2="1/2")
    with pytest.raises(InputError, match="frozen is 1, and the network has an output bias"):
        audit(network, DATA, loss="squared", decay="0.25", frozen=1)
