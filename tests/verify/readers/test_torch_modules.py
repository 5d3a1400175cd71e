"""PyTorch modules in memory: exact values, the order of `forward`, and each thing that is refused with its reason."""

from fractions import Fraction

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from verify.checker.errors import InputError  # noqa: E402
from verify.problem.network import Network  # noqa: E402
from verify.readers import read, read_with_notes  # noqa: E402

POINTS = ((0, 0), (1, -2), (Fraction(1, 3), 5), (-7, 1))


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def refusal(module, **options) -> str:
    with pytest.raises(InputError) as caught:
        read(module, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


def exact(numbers):
    """A tensor in rationals."""
    return [exact(row) for row in numbers] if isinstance(numbers, list) else Fraction(numbers)


def applied(module, x):
    """The value of a Sequential of Linear and activations in rationals, written down directly."""
    for layer in module.modules():
        match layer:
            case nn.Linear():
                biases = [0] * layer.out_features if layer.bias is None else exact(layer.bias.tolist())
                rows = exact(layer.weight.tolist())
                x = [sum(w * z for w, z in zip(row, x, strict=True)) + b for row, b in zip(rows, biases, strict=True)]
            case nn.ReLU():
                x = [max(z, 0) for z in x]
            case nn.LeakyReLU():
                x = [z if z > 0 else Fraction(layer.negative_slope) * z for z in x]
    (value,) = x
    return value


def two_layer(activation=None, dtype=torch.float32, width=3, **options):
    return nn.Sequential(nn.Linear(2, width, **options), activation or nn.ReLU(), nn.Linear(width, 1, bias=False)).to(
        dtype
    )


# ------------------------------------------------------------------------------------------------ what is accepted


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("bias", [True, False])
def test_every_float_type_is_exact(dtype, bias):
    module = two_layer(dtype=dtype, bias=bias)
    network = read(module)
    hidden, _, output = module
    assert network == Network.two_layer(
        hidden.weight.tolist(), output.weight.tolist()[0], b=hidden.bias.tolist() if bias else None, slope=0
    )
    assert not network.is_exact
    assert [network(x) for x in POINTS] == [applied(module, x) for x in POINTS]


def test_a_square_matrix_is_not_transposed():
    module = two_layer(width=2, bias=False)
    with torch.no_grad():
        module[0].weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert read(module).hidden_weights == ((1, 2), (3, 4))


def test_the_near_tie_of_float32_and_float64():
    for dtype, tie in ((torch.float32, -7.45e-9), (torch.float64, 2.8e-17)):
        module = nn.Sequential(nn.Linear(2, 1, bias=False), nn.ReLU(), nn.Linear(1, 1, bias=False)).to(dtype)
        with torch.no_grad():
            module[0].weight.copy_(torch.tensor([[0.1, -0.3]], dtype=torch.float64))
        (value,) = read(module).preactivations((Fraction(3), Fraction(1)))
        assert float(value) == pytest.approx(tie, rel=0.1)


def test_the_slope_is_the_exact_value_of_the_module():
    assert read(two_layer(nn.LeakyReLU())).architecture.slope == Fraction(0.01)
    assert read(two_layer(nn.LeakyReLU(0.25))).architecture.slope == Fraction(1, 4)
    assert read(two_layer(nn.ReLU())).architecture.slope == 0
    assert read(two_layer(nn.Identity())).architecture.slope == 1


def test_a_given_slope_must_agree():
    module = two_layer(nn.LeakyReLU())
    assert read(module, slope="0.01") == read(module, slope="1/100") == read(module)
    assert refusal(two_layer(), slope=1) == (
        "the Sequential given says slope 0 but slope 1 is given: leave it out, or correct one of them"
    )


@pytest.mark.parametrize("slope", [-0.1, 1.5, float("nan")])
def test_a_slope_out_of_range(slope):
    assert "negative_slope is" in refusal(two_layer(nn.LeakyReLU(slope)))


def test_activations_one_after_the_other_are_composed():
    module = two_layer(nn.Sequential(nn.LeakyReLU(0.5), nn.Identity(), nn.LeakyReLU(0.25)))
    assert read(module).architecture.slope == Fraction(1, 8)
    assert read(two_layer(nn.Sequential(nn.LeakyReLU(0.5), nn.ReLU()))).architecture.slope == 0


def test_no_activation_is_linear():
    module = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1, bias=False))
    assert read(module).architecture.slope == 1
    assert [read(module)(x) for x in POINTS] == [applied(module, x) for x in POINTS]


def test_one_layer():
    module = nn.Linear(2, 1)
    network = read(module)
    assert network.depth == 1
    assert [network(x) for x in POINTS] == [applied(module, x) for x in POINTS]


def test_nested_and_deep():
    def block(inputs, outputs):
        return nn.Sequential(nn.Linear(inputs, outputs, bias=False), nn.LeakyReLU(0.25))

    first = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    module = nn.Sequential(nn.Flatten(), first, block(3, 3), block(3, 4), nn.Linear(4, 1, bias=False)).double()
    network = read(module)
    assert network.depth == 4
    assert [layer.slope for layer in network.architecture.layers] == [0, Fraction(1, 4), Fraction(1, 4), None]
    assert [network(x) for x in POINTS] == [applied(module, x) for x in POINTS]


class Shuffled(nn.Module):
    """Children created in another order than they are applied in, functions for activations, an output squeezed."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 1, bias=False)
        self.unused = nn.ReLU()
        self.drop = nn.Dropout(0.5)
        self.body = nn.Linear(2, 2)

    def forward(self, x):
        return self.head(self.drop(functional.leaky_relu(self.body(x), 0.125))).squeeze(-1)


def test_the_order_is_that_of_forward_not_of_the_names():
    module = Shuffled().eval()
    reading = read_with_notes(module)
    assert reading.network.hidden_weights == tuple(
        (*row, bias)
        for row, bias in zip(exact(module.body.weight.tolist()), exact(module.body.bias.tolist()), strict=True)
    )
    assert reading.network.output_weights == tuple(exact(module.head.weight.tolist()[0]))
    assert reading.network.architecture.slope == Fraction(1, 8)
    assert reading.notes == ("the Shuffled given: drop: dropout is read as what it is in eval mode, nothing",)


class Mine(nn.Linear):
    """A Linear by another name."""


class Functional(nn.Module):
    """Bare parameters and one of several ways to write the activation and the output."""

    def __init__(self, activation, output):
        super().__init__()
        self.W, self.b, self.v = (nn.Parameter(torch.randn(*shape)) for shape in ((3, 2), (3,), (1, 3)))
        self.activation, self.output = activation, output

    def forward(self, x):
        return self.output(functional.linear(self.activation(functional.linear(x, self.W, bias=self.b)), self.v))


@pytest.mark.parametrize(
    ("activation", "slope"),
    [
        (torch.relu, 0), (functional.relu, 0), (lambda z: z.relu(), 0), (lambda z: z.clamp(min=0), 0),
        (lambda z: torch.clamp(z, 0), 0), (functional.leaky_relu, Fraction(0.01)),
        (lambda z: functional.leaky_relu(z, negative_slope=0.5), Fraction(1, 2)),
        (lambda z: functional.dropout(z, 0.5, training=False), 1), (lambda z: torch.flatten(z, 1), 1),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "output",
    [
        lambda z: z, lambda z: z.squeeze(-1), lambda z: z[:, 0], lambda z: z[..., -1], lambda z: z.view(-1),
        lambda z: z.flatten(), lambda z: torch.squeeze(z, 1).reshape(-1),
    ],
)  # fmt: skip
def test_functions(activation, slope, output):
    module = Functional(activation, output)
    network = read(module)
    expected = Network.two_layer(module.W.tolist(), module.v.tolist()[0], b=module.b.tolist(), slope=slope)
    assert network == expected


def test_a_subclass_of_linear():
    module = nn.Sequential(Mine(2, 2), nn.ReLU(), Mine(2, 1, bias=False))
    assert read(module) == read(module.state_dict(), slope=0)


def test_the_float_function_is_the_same():
    module = Shuffled().double().eval()
    network = read(module)
    x = torch.randn(50, 2, dtype=torch.float64)
    for row, value in zip(x.tolist(), module(x).tolist(), strict=True):
        assert float(network(row)) == pytest.approx(value, rel=1e-12, abs=1e-12)


def test_reading_leaves_the_module_alone():
    module = two_layer()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    read(module)
    assert module.training
    assert all(tensor.requires_grad for tensor in module.parameters())
    assert all(torch.equal(before[name], tensor) for name, tensor in module.state_dict().items())


# ---------------------------------------------------------------------------------------------------- output biases


def test_an_output_bias_is_refused_with_the_remedies():
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    with torch.no_grad():
        module[2].bias.fill_(0.5)
    assert refusal(module) == (
        "the Sequential given: the output bias 2.bias is not 0 (it holds 0.5), and a network with one is not "
        "homogeneous: train without it (Linear(..., bias=False)), or read the same function with another norm: "
        'read(model, output_bias="neuron")'
    )
    network = read(module, output_bias="neuron")
    assert network.width == 4
    assert [network(x) for x in POINTS] == [applied(module, x) for x in POINTS]
    with torch.no_grad():
        module[2].bias.zero_()
    assert read(module).width == 3


@pytest.mark.parametrize("bias", [True, False])
def test_later_biases_of_deep_networks(bias):
    module = nn.Sequential(
        nn.Linear(2, 3, bias=bias), nn.LeakyReLU(0.5), nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)
    ).double()
    assert "the bias of a later layer 2.bias is not 0" in refusal(module)
    reading = read_with_notes(module, output_bias="neuron")
    assert [layer.outputs for layer in reading.network.architecture.layers] == [4, 3, 1]
    assert [reading.network(x) for x in POINTS] == [applied(module, x) for x in POINTS]
    (note,) = reading.notes
    assert note.startswith("2.bias, 4.bias became the weights of one more neuron in each hidden layer")


# ----------------------------------------------------------------------------------------------- what is refused


def with_layer(layer, **options):
    return nn.Sequential(nn.Linear(2, 3, **options), layer, nn.ReLU(), nn.Linear(3, 1, bias=False))


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        (
            nn.BatchNorm1d(3),
            "the module '1' (BatchNorm1d) depends on the batch in training mode: call model.eval() first",
        ),
        (nn.LayerNorm(3), "1: LayerNorm divides by a number that depends on the point, so no weights make the same"),
        (nn.Conv1d(3, 3, 1), "1: it takes channels and 1 axis of positions, and is given a value of shape (3,)"),
        (nn.Tanh(), "1: Tanh is not max(z, a z) with a slope 0 <= a <= 1: train with ReLU"),
        (nn.Sigmoid(), "1: Sigmoid is not max(z, a z)"),
        (nn.GELU(), "1: GELU is not max(z, a z)"),
        (nn.ReLU6(), "1: ReLU6 is not max(z, a z)"),
        (nn.PReLU(), "1: the slope of PReLU is trained with the weights"),
        (nn.RReLU(), "1: the slope of RReLU is random"),
        (nn.LazyLinear(3), "the module '1' has no weights yet"),
        (nn.Unflatten(1, (3, 1)), "1: Unflatten is not read: only linear maps, ReLU, LeakyReLU, constant factors and"),
        (nn.Dropout(0.25), "1: dropout is random in training mode: call model.eval() first"),
    ],
)
def test_layers_that_are_refused(layer, reason):
    assert f"the Sequential given: {reason}" in refusal(with_layer(layer))


def test_dropout_of_nothing_is_nothing():
    assert read_with_notes(with_layer(nn.Dropout(0.0))).notes == ()
    assert read(with_layer(nn.Dropout(0.5)).eval()).width == 3


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ((nn.Linear(3, 2),), "it has two outputs (2.weight), one for each class; the output bias 2.bias is not 0"),
        ((nn.Linear(3, 3), nn.Softmax(1)), "3: Softmax is the head of a network with one output for each class"),
        ((nn.Linear(3, 2), nn.LogSoftmax(0)), "3: LogSoftmax is the head of a network with one output for each class"),
        ((nn.Linear(3, 1), nn.LogSoftmax(1)), "3: LogSoftmax is the head of a network with one output for each class"),
        ((nn.Linear(3, 2), nn.Sigmoid()), "3: Sigmoid is not max(z, a z)"),
        ((nn.Linear(3, 1), nn.Sigmoid(), nn.Sigmoid()), "4: Sigmoid turns the output"),
        ((nn.Linear(3, 2), nn.Softmax(1), nn.Linear(2, 1)), "its Softmax is not its last step"),
        ((nn.Linear(3, 1), nn.ReLU()), "an activation follows the last layer, 2.weight"),
    ],
)
def test_heads_that_are_refused(head, reason):
    assert f"the Sequential given: {reason}" in refusal(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), *head))


def test_an_activation_of_the_inputs():
    module = nn.Sequential(nn.ReLU(), nn.Linear(2, 1))
    assert "0: an activation acts on the inputs: apply it to the data" in refusal(module)


def test_no_layer_at_all():
    assert refusal(nn.Sequential(nn.Flatten())) == "the Sequential given has no Linear layer: give the whole network"


def in_place(module, x):
    hidden = module.first(x)
    hidden.relu_()
    return module.second(hidden)


class Bent(nn.Module):
    """A forward of one's own."""

    def __init__(self, bend):
        super().__init__()
        self.first, self.second, self.bend = nn.Linear(2, 2), nn.Linear(2, 1, bias=False), bend

    def forward(self, x):
        return self.bend(self, x)


@pytest.mark.parametrize(
    ("bend", "reason"),
    [
        (lambda m, x: m.second(m.first(x).relu() + x), "does not apply one layer to the one before"),
        (lambda m, x: (m.second(m.first(x).relu()), x), "its forward must return one tensor"),
        (lambda m, x: [m.second(m.first(x).relu())], "its forward must return one tensor"),
        (lambda m, x: 0 * m.second(m.first(x).relu()), "multiplies by 0"),
        (lambda m, x: 1 / m.second(m.first(x).relu()), "truediv is not read"),
        (lambda m, x: m.second(m.first(x).relu()) // 2, "floordiv is not read"),
        (lambda m, x: m.second(m.first(x).relu()) * torch.ones(2, 1), "do not lie along the features"),
        (lambda m, x: m.second(m.first(x).relu() * torch.ones(3)), "3 numbers scale or shift the 2 features"),
        (lambda m, x: m.second(m.first(x).abs()), "abs is not max(z, a z)"),
        (lambda m, x: m.second(torch.maximum(m.first(x), torch.ones(2))), "maximum is not read"),
        (lambda m, x: m.second(torch.maximum(m.first(x), 0.1 * m.first(x))), "does not apply one layer"),
        (lambda m, x: m.second((m.first(x).relu() * torch.ones(2)).relu()), "with no Linear between them"),
        (lambda m, x: m.second(m.first(x).relu()).sum(), "sum is not read"),
        (lambda m, x: m.second(m.first(x).relu()).to(torch.int64), "to is not read"),
        (in_place, "changes a tensor in place"),
        (lambda m, x: m.second(m.first(x) * torch.rand_like(x)), "does not apply one layer to the one before"),
        (
            lambda m, x: m.second(m.first(x).relu() @ m.first.weight),
            "first.weight and first.weight (applied again) are one",
        ),
        (lambda m, x: functional.linear(x, m.second.weight * x), "does not apply one layer to the one before"),
        (lambda m, x: m.second(m.first(x).relu())[:, 1], "getitem is not read"),
        (lambda m, x: m.second(m.first(x).clamp(min=0, max=6)), "clamp is not read"),
        (lambda m, x: m.second(m.first(x).clamp(0.5)), "clamp is not read"),
        (lambda m, x: m.second(torch.flatten(m.first(x))), "flatten is not read"),
        (lambda m, x: m.second(functional.dropout(m.first(x))), "dropout is random in training mode"),
        (lambda m, x: m.second(torch.sigmoid(m.first(x))), "sigmoid is not max(z, a z)"),
        (lambda m, x: m.second(functional.batch_norm(m.first(x), x, x)), "does not apply one layer"),
        (lambda m, x: m.second(m.first(x)) if x.sum() > 0 else x, "as an if on the data does"),
        (lambda m, x: m.first(m.second(m.first(x)).view(-1)), "a layer after a reshaping is not read"),
        (lambda m, x: m.second(m.first(m.first(x)).relu()), "first.weight and first.weight (applied again) are one"),
    ],
)
def test_forwards_that_are_refused(bend, reason):
    assert reason in refusal(Bent(bend))


def test_tied_weights():
    first, second = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    second.weight = first.weight
    module = nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Linear(2, 1, bias=False))
    message = "0.weight and 2.weight are one tensor, and tied weights are not read yet: untie them"
    assert refusal(module) == f"the Sequential given: {message}"
    assert refusal(module.state_dict(), slope=0) == f"the state dict given: {message}"


def test_what_changes_the_outputs_behind_forward():
    hooked = two_layer()
    hooked[0].register_forward_hook(lambda *_: None)
    assert "module '0' has a forward hook" in refusal(hooked)
    patched = two_layer()
    patched[1].forward = torch.tanh
    assert "module '1' has a forward of its own beside its class's" in refusal(patched)


@pytest.mark.parametrize(
    "prepare", [lambda m: m, nn.DataParallel, torch.compile, lambda m: nn.DataParallel(torch.compile(m))]
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch.jit, which torch.compile imports
def test_wrappers(prepare):
    module = two_layer()
    assert read(prepare(module)) == read(module)
    inside = nn.Sequential(prepare(module), nn.Identity())
    assert read(inside) == read(module)


def test_other_objects_of_torch():
    assert refusal(torch.ones(2)) == (
        "the Tensor given holds numbers, and is no network: "
        "give the module, its state dict, or the path of a file first, then the data"
    )
    assert "cannot be traced" in refusal(nn.ModuleList([nn.Linear(2, 1)]))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite(value):
    module = two_layer()
    with torch.no_grad():
        module[0].weight[2, 1] = value
    assert f"the Sequential given: 0.weight[2, 1] is {value}: every number must be real and finite" in refusal(module)
    module = two_layer()
    with torch.no_grad():
        module[0].bias[1] = value
    assert f"0.bias[1] is {value}" in refusal(module)


@pytest.mark.filterwarnings("ignore:Complex modules")
def test_tensors_without_numbers():
    assert "0.weight holds no numbers that can be read" in refusal(two_layer().to("meta"))
    assert "0.weight[0, 0] is" in refusal(two_layer(nn.Identity(), dtype=torch.complex64))
