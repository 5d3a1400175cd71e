"""Networks out again and back: arrays, files, estimators, modules; exactly, or the nearest doubles and said so."""

from fractions import Fraction

import numpy as np
import pytest

from verify import read
from verify.checker.errors import InputError
from verify.problem.network import Architecture, Layer, Network
from verify.writers import SUFFIXES, check_savable

rng = np.random.default_rng(2)
W, V, B = rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=4)
THIRD = Fraction(1, 3)
NETWORKS = {
    "relu": Network.two_layer(W, V),
    "biases": Network.two_layer(W, V, b=B),
    "leaky": Network.two_layer(W, V, b=B, slope=Fraction(1, 4)),
    "linear": Network.two_layer(W, V, slope=1),
    "one": Network.two_layer([[2.0]], [-1.5], b=[0.5]),
    "thirds": Network.two_layer([[THIRD, -2 * THIRD], [1, 0]], [THIRD, 7], b=[THIRD, 0]),
}
DEEP = Network(
    Architecture([
        Layer(inputs=2, outputs=3, slope=0, bias=True), Layer(inputs=3, outputs=2, slope=Fraction(1, 2)),
        Layer(inputs=2, outputs=1, slope=None),
    ]),
    [range(1, 10), [1, -1, 2, THIRD, 0, 1], [1, -2]],
)  # fmt: skip
MASKED = Network.two_layer([[1, 0], [0, 1]], [1, 1], masks=[[0], [1]])
SHARED = Network(
    Architecture([Layer(inputs=2, outputs=2, slope=0, entries=[[0, None], [None, 0]]),
                  Layer(inputs=2, outputs=1, slope=None)]), [[2], [1, 1]],
)  # fmt: skip


def points(network):
    return rng.normal(size=(9, network.architecture.inputs)).tolist()


def rounds(network) -> bool:
    return any(Fraction(float(weight)) != weight for layer in network.parameters for weight in layer)


@pytest.mark.parametrize("name", NETWORKS)
def test_arrays(name):
    network = NETWORKS[name]
    arrays = network.to_arrays()
    assert all(array.dtype == np.float64 for array in arrays.values())
    assert set(arrays) == {"W", "v", "slope"} | ({"b"} if network.architecture.bias else set())
    assert read(arrays) == network.rounded()
    exact = network.to_arrays(exact=True)
    own = {key: array.tolist() for key, array in exact.items()}
    assert Network.two_layer(own["W"], own["v"], b=own.get("b"), slope=own["slope"]) == network


def test_rounded_says_whether_something_is_lost():
    assert all((network.rounded() == network) is not rounds(network) for network in (*NETWORKS.values(), DEEP, MASKED))
    third = NETWORKS["thirds"].rounded()
    assert third.hidden_weights[0][0] == Fraction(1 / 3)
    assert not third.is_exact
    assert Network.two_layer([[1]], [1], slope=THIRD).rounded().architecture.slope == Fraction(1 / 3)
    assert MASKED.rounded().architecture == MASKED.architecture


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("suffix", [".npz", ".json", ".safetensors"])
def test_files_and_back(name, suffix, tmp_path):
    network = NETWORKS[name]
    held = network.save(tmp_path / f"net{suffix}")
    assert read(tmp_path / f"net{suffix}") == held == (network if suffix == ".json" else network.rounded())


@pytest.mark.parametrize("name", ["relu", "biases", "linear", "one", "thirds"])
def test_skops_and_back(name, tmp_path):
    network = NETWORKS[name]
    held = network.save(tmp_path / "net.skops")
    again = read(tmp_path / "net.skops")
    assert all(again(x) == held(x) for x in points(network))


@pytest.mark.parametrize("name", [*NETWORKS, "deep"])
def test_onnx_and_back(name, tmp_path):
    pytest.importorskip("onnx")
    network = NETWORKS.get(name, DEEP)
    held = network.save(tmp_path / "net.onnx")
    assert read(tmp_path / "net.onnx") == held == network.rounded()


def test_deep_networks(tmp_path):
    assert DEEP.save(tmp_path / "net.json") == read(tmp_path / "net.json") == DEEP
    one_slope = Network(
        Architecture([Layer(inputs=2, outputs=3, slope=0, bias=True), Layer(inputs=3, outputs=2, slope=0),
                      Layer(inputs=2, outputs=1, slope=None)]), DEEP.parameters,
    )  # fmt: skip
    assert read(_state(one_slope), slope=0) == one_slope.rounded()
    held = one_slope.save(tmp_path / "net.safetensors")
    assert read(tmp_path / "net.safetensors", slope=0) == held


def _state(network):
    from verify.writers.torch_modules import state_of

    return state_of(network)


@pytest.mark.parametrize("network", [MASKED, SHARED], ids=["masks", "sharing"])
def test_masks_and_sharing_are_for_json(network, tmp_path):
    assert read_json(network, tmp_path) == network
    for suffix in set(SUFFIXES) - {".json", ".pt", ".pth", ".onnx"}:
        with pytest.raises(InputError, match="json"):
            network.save(tmp_path / f"net{suffix}")
        assert not (tmp_path / f"net{suffix}").exists()
    for out in (network.to_arrays, network.to_sklearn):
        with pytest.raises(InputError, match="masks or shared weights"):
            out()


def read_json(network, tmp_path):
    network.save(tmp_path / "net.json")
    return read(tmp_path / "net.json")


@pytest.mark.parametrize("name", ["relu", "biases", "linear", "one", "thirds"])
def test_sklearn_predicts_the_same(name):
    network = NETWORKS[name]
    X = points(network)
    values = [float(network(x)) for x in X]
    regressor = network.to_sklearn()
    assert regressor.predict(X) == pytest.approx(values, rel=1e-9, abs=1e-9)
    back = read(regressor)
    assert all(back(x) == network.rounded()(x) for x in X)
    for classes in ((-1, 1), ("no", "yes"), (0, 1)):
        classifier = network.to_sklearn(classes)
        assert classifier.predict(X).tolist() == [classes[value > 0] for value in values]
        probabilities = classifier.predict_proba(X)[:, 1]
        assert probabilities == pytest.approx(1 / (1 + np.exp(-np.array(values))), rel=1e-9)
        assert list(classifier.classes_) == list(classes)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (NETWORKS["leaky"].to_sklearn, "ReLU and identity only"),
        (lambda: NETWORKS["relu"].to_sklearn((1, 2, 3)), "two different labels"),
        (lambda: NETWORKS["relu"].to_sklearn("ab"), "two different labels"),
        (DEEP.to_arrays, "other depth"),
        (lambda: Network.two_layer([[10**400]], [1]).to_arrays(), r"W\[0\] is beyond the range of floats"),
        (lambda: Network.two_layer([[10**400]], [1]).rounded(), r"parameters\[0\]\[0\] is beyond the range"),
        (lambda: NETWORKS["relu"].to_arrays(exact=1), "give True or False"),
        (lambda: NETWORKS["relu"].save(3), "give a path"),
        (lambda: NETWORKS["relu"].save("net.csv"), "end its name in .npz, .json"),
        (lambda: DEEP.save("net.npz"), "only networks of two dense layers"),
        (lambda: NETWORKS["leaky"].save("net.skops"), "ReLU and identity only"),
        (lambda: check_savable(Architecture.two_layer(1, 1, slope=THIRD), "net.npz"), "the slope 1/3 is no float"),
    ],
)
def test_refusals(call, why):
    with pytest.raises(InputError, match=why):
        call()


@pytest.mark.parametrize("name", [*NETWORKS, "deep"])
def test_torch_and_back(name, tmp_path):
    torch = pytest.importorskip("torch")
    network = NETWORKS.get(name, DEEP)
    module = network.to_torch()
    assert read(module) == network.rounded()
    X = points(network)
    with torch.no_grad():
        found = module(torch.tensor(X, dtype=torch.float64)).reshape(-1).tolist()
    assert found == pytest.approx([float(network(x)) for x in X], rel=1e-9, abs=1e-9)
    if name != "deep":
        held = network.save(tmp_path / "net.pt")
        assert read(tmp_path / "net.pt", slope=network.architecture.slope) == held == network.rounded()
