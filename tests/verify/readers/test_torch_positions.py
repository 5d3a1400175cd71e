"""Convolutions and pooling of PyTorch: the shape of the points, what is one parameter, and what is refused."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import verify  # noqa: E402
from verify.checker.errors import InputError  # noqa: E402
from verify.readers import read  # noqa: E402
from verify.readers.given import given  # noqa: E402
from verify.readers.reading import InputShapeError  # noqa: E402

X = np.random.default_rng(0).normal(size=(6, 2, 8))
Y = np.array([1, -1, 1, -1, 1, -1])


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def cnn(*rest, width, **options):
    first = nn.Conv1d(2, 3, 3, **{"bias": False, **options})
    return nn.Sequential(first, nn.ReLU(), *rest, nn.Flatten(), nn.Linear(width, 1, bias=False)).double()


class Forward(nn.Module):
    def __init__(self, does, width=3, channels=2):
        super().__init__()
        self.c, self.v, self.does = nn.Conv1d(channels, 3, 3, bias=False), nn.Linear(width, 1, bias=False), does

    def forward(self, x):
        return self.does(self, x)


def scripted(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.script(module)


MODULES = {
    "pooled": cnn(nn.AdaptiveAvgPool1d(1), width=3),
    "one weight for each place": cnn(width=18),
    "padding, stride, dilation, biases": cnn(padding=2, stride=2, dilation=2, bias=True, width=12),
    "padding='same'": cnn(padding="same", width=24),
    "padding='valid'": cnn(padding="valid", width=18),
    "windows that leave places over": cnn(nn.AvgPool1d(4), width=3),
    "ceil_mode of whole windows": cnn(nn.AvgPool1d(2, ceil_mode=True), width=9),
    "two convolutions": cnn(nn.AvgPool1d(2), nn.Conv1d(3, 2, 2, bias=False), nn.LeakyReLU(0.5), width=4),
    "groups": cnn(nn.Conv1d(3, 3, 2, groups=3, bias=False), width=15),
    "pooling of the inputs": nn.Sequential(
        nn.AvgPool1d(2), nn.Conv1d(2, 2, 2, bias=False), nn.ReLU(), nn.Flatten(), nn.Linear(6, 1, bias=False)
    ),
    "no Flatten at the end": nn.Sequential(nn.Conv1d(2, 3, 3, bias=False), nn.ReLU(), nn.Conv1d(3, 1, 6, bias=False)),
    "functions": Forward(
        lambda m, x: m.v(functional.avg_pool1d(functional.relu(functional.conv1d(x, m.c.weight)), 6).flatten(1))
    ),
    "adaptive": Forward(lambda m, x: m.v(functional.adaptive_avg_pool1d(torch.relu(m.c(x)), 1).squeeze(-1))),
    "mean": Forward(lambda m, x: m.v(torch.relu(m.c(x)).mean(dim=2))),
    "sum, keepdim": Forward(lambda m, x: m.v(torch.relu(m.c(x)).sum(-1, keepdim=True).squeeze(2))),
    "view": Forward(lambda m, x: m.v(torch.relu(m.c(x)).view(x.size(0), -1)), 18),
    "a branch on the shape": Forward(
        lambda m, x: m.v(functional.avg_pool1d(torch.relu(m.c(x if x.ndim == 3 else x[None])), 6).reshape(len(x), -1))
    ),
    "scripted": scripted(cnn(nn.AdaptiveAvgPool1d(2), width=6)),
}


@pytest.mark.parametrize("name", MODULES)
def test_the_function_is_that_of_the_module(name):
    module = MODULES[name].double().eval()
    found = given(module, X, Y)
    with torch.no_grad():
        expected = module(torch.tensor(X)).reshape(-1).tolist()
    assert [float(found.network(x)) for x in found.data.inputs] == pytest.approx(expected, rel=1e-12, abs=1e-13)
    assert any("points of shape (2, 8) are taken as rows of 16 numbers" in note for note in found.notes)


def test_a_filter_is_counted_once():
    network = read(MODULES["one weight for each place"], input_shape=(2, 8))
    assert [len(numbers) for numbers in network.parameters] == [3 * 2 * 3, 18]
    assert [len(numbers) for numbers in read(MODULES["pooled"], input_shape=(2, 8)).parameters] == [18, 3]


def test_units_that_nothing_reads_are_left_out():
    assert read(MODULES["windows that leave places over"], input_shape=(2, 8)).width == 12


def test_an_average_is_a_factor_and_no_weight():
    module = cnn(nn.AvgPool1d(4), width=3)
    network = read(module, input_shape=(2, 8))
    weights = module[0].weight.reshape(-1).tolist()
    assert [2 * w for w in network.parameters[0]] == weights  # half of each layer makes the quarter of the mean
    assert [2 * w for w in network.parameters[1]] == module[-1].weight[0].tolist()


def test_the_shape_of_points_in_a_file(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=Y)
    assert given(MODULES["pooled"], str(path)).network == given(MODULES["pooled"], X, Y).network


def test_rows_that_a_forward_gives_channels():
    net = Forward(lambda m, x: m.v(torch.relu(m.c(x.reshape(-1, 2, 8))).sum(-1))).double()
    assert read(net) == read(net, input_shape=(16,))
    net = Forward(lambda m, x: m.v(torch.relu(m.c(x.unsqueeze(1))).sum(-1)), channels=1).double()
    with pytest.raises(InputShapeError):
        read(net)
    assert given(net, X[:, 0], Y).network.architecture.inputs == 8


REFUSED = {
    "without a shape": (MODULES["pooled"], None, "how many places it has depends on the shape of a point"),
    "without a shape, recorded": (MODULES["scripted"], None, "depends on the shape of a point"),
    "other channels": (MODULES["pooled"], (1, 8), "it takes 2 channels and is given 1"),
    "other length": (MODULES["one weight for each place"], (2, 9), "gives 21 outputs"),
    "other axes": (MODULES["pooled"], (2, 8, 8), "is given a value of shape (2, 8, 8)"),
    "too short": (MODULES["pooled"], (2, 2), "0: a kernel of 3 does not fit into a value of 2"),
    "no Flatten": (
        nn.Sequential(nn.Conv1d(2, 3, 3), nn.ReLU(), nn.Linear(6, 1)), (2, 8), "it acts on each channel by itself",
    ),
    "padding of a pool": (cnn(nn.AvgPool1d(2, padding=1), width=12), (2, 8), "its windows at the borders"),
    "ceil_mode": (cnn(nn.AvgPool1d(4, ceil_mode=True), width=6), (2, 8), "its windows at the borders"),
    "adaptive windows of two sizes": (cnn(nn.AdaptiveAvgPool1d(4), width=12), (2, 8), "differ in size"),
    "overlapping windows": (cnn(nn.AvgPool1d(2, 1), width=15), (2, 8), "2: its windows of 2 overlap"),
    "a window too large": (cnn(nn.AvgPool1d(9), width=3), (2, 8), "2: a window of 9 does not fit"),
    "two pools": (cnn(nn.AvgPool1d(2), nn.AvgPool1d(3), width=3), (2, 8), "pooling follows other pooling"),
    "pooling last": (nn.Sequential(nn.Conv1d(2, 1, 3), nn.AdaptiveAvgPool1d(1)), (2, 8), "the pooling 1 follows"),
    "batch normalisation after the activation and padding": (
        nn.Sequential(
            nn.Conv1d(2, 3, 3), nn.ReLU(), nn.BatchNorm1d(3), nn.Conv1d(3, 2, 3, padding=1), nn.ReLU(), nn.Flatten(),
            nn.Linear(12, 1),
        ).eval(),
        (2, 8),
        "makes the weights differ that it shares",
    ),
    "sum over channels": (Forward(lambda m, x: m.v(torch.relu(m.c(x)).sum(1))), (2, 8), "it goes over other axes"),
    "constants of two axes": (
        Forward(lambda m, x: m.v((torch.relu(m.c(x)) * torch.ones(3, 6)).sum(-1))), (2, 8),
        "constants beside channels and positions are not read",
    ),
    "features made positions": (
        Forward(lambda m, x: m.v(torch.relu(m.c(x)).reshape(-1, 9, 2).sum(-1))), (2, 8), "reshape the points",
    ),
    "weights from the flow": (
        Forward(lambda m, x: m.v(functional.conv1d(m.c.weight, x).sum(-1))), (2, 8), "",
    ),
    "squeezed channels": (Forward(lambda m, x: m.v(torch.relu(m.c(x)).squeeze(1).sum(-1))), (2, 8), "squeeze"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    module, shape, said = REFUSED[name]
    if name.startswith("batch"):
        with torch.no_grad():
            module[2].running_mean.copy_(torch.tensor([1.0, 2.0, 3.0]))
    with pytest.raises(InputError) as caught:
        read(module, input_shape=shape, fold=True, output_bias="neuron")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [(), (0,), (1, 2.5), "18", 3])
def test_shapes_that_are_none(shape):
    with pytest.raises(InputError, match="give the shape of a point"):
        read(MODULES["pooled"], input_shape=shape)


def test_a_small_network_is_audited():
    module = nn.Sequential(
        nn.Conv1d(1, 1, 2, bias=False), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(1, 1, bias=False)
    ).double()
    with torch.no_grad():
        module[0].weight.copy_(torch.tensor([[[1.0, 0.0]]]))
        module[-1].weight.copy_(torch.tensor([[1.0]]))
    found = verify.audit(module, [[[1.0, 0.0, 1.0]]], [1], time_limit=20)
    assert found.fits.verdict.value == "proved"
    assert found.stationary.verdict.value != "undecided"
    assert found.global_any_width.verdict.value == "refuted"
