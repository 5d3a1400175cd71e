"""Forwards as people write them: whatever row of operations is drawn, the network read computes what it computes."""

import itertools
import shlex
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from click.testing import CliRunner  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from verify import audit  # noqa: E402
from verify.checker.errors import InputError  # noqa: E402
from verify.cli import program  # noqa: E402
from verify.problem.network import Network  # noqa: E402
from verify.readers import read, read_with_notes  # noqa: E402

INPUTS, WIDTH = 3, 4

CONSTANTS = st.sampled_from([2.0, 0.5, -0.5, -3, 3**0.5, 1 / 3])


class Forward(nn.Module):
    """The steps of a list, one after the other; each is a function of the module and the value so far."""

    def __init__(self, steps, parts):
        super().__init__()
        self.steps = steps
        self.tensors = nn.ParameterList(part for part in parts if isinstance(part, nn.Parameter))
        self.parts = nn.ModuleList(part for part in parts if isinstance(part, nn.Module))

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x


PARTS = []
"""The parameters and modules of the forward that is drawn."""


def parameter(*shape):
    PARTS.append(nn.Parameter(torch.randn(*shape, dtype=torch.float64)))
    return PARTS[-1]


@st.composite
def linear_maps(draw, inputs, outputs):
    """A linear map in one of the ways in which it is written, with or without a bias."""
    W, b = parameter(outputs, inputs), parameter(outputs)
    layer = nn.Linear(inputs, outputs, bias=draw(st.booleans())).double()
    PARTS.append(layer)
    return draw(
        st.sampled_from(
            [
                (layer, layer), (W, lambda x: x @ W.T), (W, lambda x: torch.matmul(x, W.t()) + b),
                (W, lambda x: functional.linear(x, W, b)), (W, lambda x: torch.einsum("nd,kd->nk", x, W) - b),
                (W, lambda x: torch.einsum("kd,nd->nk", W, x)), (W, lambda x: torch.addmm(b, x, W.transpose(0, 1))),
            ]
        )
    )[1]  # fmt: skip


@st.composite
def changes(draw, size):
    """Scales and shifts, by one number or one for each feature."""
    c = draw(CONSTANTS)
    vector = torch.linspace(-1.0, 2.0, size, dtype=torch.float64) + 0.25
    norm = nn.BatchNorm1d(size).double()
    norm(torch.randn(20, size, dtype=torch.float64) * 3 + 1)
    norm.weight.data.copy_(vector)
    norm.bias.data.fill_(0.5)
    PARTS.append(norm.eval())
    return draw(
        st.sampled_from(
            [
                lambda x: x * c, lambda x: c * x, lambda x: x / c, lambda x: -x, lambda x: x + c, lambda x: x - c,
                lambda x: c - x, lambda x: x * vector, lambda x: vector + x, lambda x: x / vector, lambda x: vector - x,
                norm, lambda x: torch.sub(x, vector), lambda x: torch.div(x, c),
            ]
        )
    )  # fmt: skip


ACTIVATIONS = st.sampled_from(
    [
        torch.relu, functional.relu, nn.ReLU(), lambda z: z.clamp(min=0), lambda z: torch.maximum(z, torch.zeros(())),
        nn.LeakyReLU(0.25), lambda z: functional.leaky_relu(z, 0.5), lambda z: functional.threshold(z, 0, 0),
        nn.Threshold(0, 0),
        nn.Identity(),
    ]
)  # fmt: skip


@st.composite
def heads(draw, inputs):
    """The last linear map, to one number."""
    v, c = parameter(inputs), parameter(1)
    dense = draw(linear_maps(inputs, 1))
    return draw(
        st.sampled_from(
            [
                dense, lambda x: dense(x).squeeze(-1), lambda x: dense(x)[:, 0], lambda x: x @ v, lambda x: x @ v + c,
                lambda x: (x * v).sum(-1), lambda x: (v * x).sum(dim=1, keepdim=True), lambda x: x.mean(1),
                lambda x: x.sum(1) / 3, lambda x: torch.einsum("nk,k->n", x, v), lambda x: x.matmul(v[:, None]),
            ]
        )
    )  # fmt: skip


@st.composite
def forwards(draw):
    """A module with one or two hidden layers, and changes anywhere."""
    PARTS.clear()
    steps, size = [], INPUTS
    for _ in range(draw(st.integers(1, 2))):
        steps += draw(st.lists(changes(size), max_size=1))
        steps.append(draw(linear_maps(size, WIDTH)))
        size = WIDTH
        steps += draw(st.lists(changes(size), max_size=1))
        steps.append(draw(ACTIVATIONS))
        PARTS.extend(steps[-1:] if isinstance(steps[-1], nn.Module) else [])
        steps += draw(st.lists(changes(size), max_size=1))
    steps.append(draw(heads(size)))
    c = draw(CONSTANTS)
    steps += draw(
        st.lists(st.sampled_from([lambda y: y * c, lambda y: y / c, lambda y: y + c, lambda y: -y]), max_size=2)
    )
    return Forward(steps, PARTS)


class Batch(nn.Module):
    """A forward that looks at the shape of its inputs, so that a run has to be recorded."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        if x.dim() != 2:
            raise ValueError("points in rows")
        return self.inner(x)


@settings(max_examples=80)
@given(forwards(), st.booleans(), st.integers(0, 2**32 - 1))
def test_the_network_read_is_the_function_computed(module, is_recorded, seed):
    module.eval()
    network = read(Batch(module) if is_recorded else module, fold=True, output_bias="neuron")
    assert not network.is_exact
    points = torch.randn(5, INPUTS, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        values = module(points).reshape(-1).tolist()
    for point, value in zip(points.tolist(), values, strict=True):
        assert float(network(point)) == pytest.approx(value, rel=1e-9, abs=1e-9)


def constants_in(does):
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.W, self.v = parameter(WIDTH, INPUTS), parameter(WIDTH)

        def forward(self, x):
            return does(torch.relu(x @ self.W.T) @ self.v)

    return Scaled()


@pytest.mark.parametrize("factor", [0.25, 4, 3**0.5, 2, -0.5])
def test_a_constant_factor_is_shared_equally_so_that_norms_keep_their_proportions(factor):
    module = constants_in(lambda y: factor * y)
    network = read(module)
    shares = {
        new / Fraction(old)
        for new, old in zip(network.parameters[0], module.W.flatten().tolist(), strict=True)
    }  # fmt: skip
    outer = {new / Fraction(old) for new, old in zip(network.output_weights, module.v.tolist(), strict=True)}
    (share,), (last,) = shares, outer
    assert share * last == Fraction(factor)
    assert float(share) == pytest.approx(abs(factor) ** 0.5, rel=1e-15)


def test_a_factor_moves_no_network_off_a_kkt_point():
    """The tie of two points, an optimum, divided by sqrt(2): as stationary as without."""
    module = constants_in(lambda y: y / 2**0.5)
    with torch.no_grad():
        module.W = nn.Parameter(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
        module.v = nn.Parameter(torch.tensor([1.0, 1.0]))
    data = ([[1, 0], [0, 1]], [1, 1])
    result = audit(read(module), data)
    plain = audit(read([module.W, module.v]), data)
    assert result.stationary.verdict == plain.stationary.verdict
    assert str(result.stationary.verdict) == str(plain.stationary.verdict)
    assert result.status == plain.status


def test_points_in_columns():
    W, b, v = parameter(WIDTH, INPUTS), parameter(WIDTH, 1), parameter(WIDTH)

    class Columns(nn.Module):
        def __init__(self):
            super().__init__()
            self.W, self.b, self.v = W, b, v

        def forward(self, x):
            return self.v @ torch.relu(self.W @ x.T + self.b)

    expected = Network.two_layer(W.tolist(), v.tolist(), b=b.flatten().tolist())
    assert read(Columns()) == expected


def test_random_numbers_in_a_forward_are_refused():
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.W, self.v = nn.Linear(3, 4), nn.Linear(4, 1, bias=False)

        def forward(self, x):
            return self.v(torch.relu(self.W(x) + torch.randn(4)))

    with pytest.raises(InputError, match="random"):
        read(Noisy(), fold=True)


class Optional(nn.Module):
    """A stand-in for the second argument is not None, and one for the first is no tensor."""

    def __init__(self, does):
        super().__init__()
        self.W, self.v, self.does = nn.Linear(3, 4), nn.Linear(4, 1, bias=False), does

    def forward(self, x, scale=None):
        return self.does(self, x, scale)


def test_branches_on_what_stand_ins_are_not():
    plain = Optional(lambda m, x, scale: m.v(torch.relu(m.W(x))))
    branches = [
        lambda m, x, scale: m.v(torch.relu(m.W(x))) if scale is None else 2 * m.v(torch.relu(m.W(x))),
        lambda m, x, scale: m.v(torch.relu(m.W(x))) if isinstance(x, torch.Tensor) else m.v(m.W(x)),
    ]
    for does in branches:
        module = Optional(does)
        module.load_state_dict(plain.state_dict())
        assert read(module) == read(plain)


def test_what_no_graph_shows_is_refused():
    calls = itertools.count(1)
    module = Optional(lambda m, x, _: next(calls) * m.v(torch.relu(m.W(x))))
    with pytest.raises(InputError, match="computes something else than the layers"):
        read(module)


def test_fixed_output_weights_are_told():
    class Signs(nn.Module):
        def __init__(self):
            super().__init__()
            self.W = parameter(4, 3)
            self.register_buffer("a", torch.tensor([1.0, 1.0, -1.0, -1.0]))

        def forward(self, x):
            return (torch.relu(x @ self.W.T) * self.a).sum(1) / 4**0.5

    reading = read_with_notes(Signs())
    assert reading.network.output_weights == (Fraction(1, 2), Fraction(1, 2), -Fraction(1, 2), -Fraction(1, 2))
    assert any("a was not trained" in note for note in reading.notes)


@pytest.mark.parametrize(
    "wrap", [torch.nn.utils.parametrizations.spectral_norm, torch.nn.utils.parametrizations.weight_norm]
)
def test_reading_leaves_a_reparametrised_module_alone(wrap):
    module = nn.Sequential(wrap(nn.Linear(3, 4)), nn.ReLU(), nn.Linear(4, 1, bias=False)).train()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    attributes = [sorted(vars(part)) for part in module.modules()]
    assert read(module) == read(module)
    assert all(part.training for part in module.modules())
    assert all(torch.equal(before[name], tensor) for name, tensor in module.state_dict().items())
    assert [sorted(vars(part)) for part in module.modules()] == attributes


def cross_entropy(steps=200):
    """Two logits and all biases, trained on two clouds."""
    torch.manual_seed(0)
    X = torch.cat([torch.randn(6, 2) + 2, torch.randn(6, 2) - 2])
    y = torch.tensor([1] * 6 + [0] * 6)
    module = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        functional.cross_entropy(module(X), y).backward()
        optimizer.step()
    return module, X, y


@pytest.mark.parametrize("name", ["net.pt", "my net.ckpt"])
def test_from_cross_entropy_to_a_verdict_by_the_command_in_the_first_message(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    module, X, y = cross_entropy()
    torch.save({"state_dict": module.state_dict()}, name)
    np.savez("data.npz", X=X.numpy(), y=y.numpy())
    refused = CliRunner().invoke(program, ["audit", name, "data.npz"], prog_name="isoptimal")
    assert refused.exit_code == 2
    message = " ".join(refused.stderr.split())
    words = shlex.split(message[message.index("isoptimal audit") :])
    assert words == [
        "isoptimal",
        "audit",
        name,
        "data.npz",
        "--slope",
        "0",
        "--two-logits",
        "difference",
    ]
    accepted = CliRunner().invoke(program, [*words[1:], "--time-limit", "10"], prog_name="isoptimal")
    assert accepted.exit_code == 0
    report = " ".join(accepted.stdout.split())
    assert "fits the data proved" in report
    assert "of its two outputs the second minus the first is read" in report


def test_from_cross_entropy_to_a_verdict_by_the_call_in_the_first_message():
    model, X, y = cross_entropy()
    with pytest.raises(InputError) as caught:
        audit(model, X, y)
    call = str(caught.value)[str(caught.value).index("audit(") :]
    assert call == 'audit(model, X, y, two_logits="difference")'
    result = eval(call.replace(")", ", time_limit=10)"), {"audit": audit, "model": model, "X": X, "y": y})
    assert result.fits.verdict.value == "proved"
    assert any("of its two outputs" in note for note in result.notes)
