"""The files of `torch.save`: state dicts and checkpoints safely, whole modules only when they are trusted."""

import io
import sys
from fractions import Fraction

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn.utils import parametrizations, prune  # noqa: E402

from verify.checker.errors import InputError  # noqa: E402
from verify.readers import read, read_with_notes  # noqa: E402


@pytest.fixture
def module():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), nn.LeakyReLU(0.25), nn.Linear(3, 1, bias=False))


def save(folder, found, name="net.pt", **options):
    path = folder / name
    torch.save(found, path, **options)
    return path


def refusal(path, **options) -> str:
    with pytest.raises(InputError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


@pytest.mark.parametrize("name", ["net.pt", "net.pth", "NET.PT", "net.ckpt"])
@pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}])
def test_a_state_dict(tmp_path, module, name, options):
    path = save(tmp_path, module.state_dict(), name, **options)
    assert read(path, slope="1/4") == read(module)
    assert read(path, slope=0).architecture.slope == 0


def test_float64_stays(tmp_path, module):
    module.double()
    with torch.no_grad():
        module[0].weight.fill_(0.1)
    assert read(save(tmp_path, module.state_dict()), slope=0).hidden_weights[0][0] == Fraction(0.1)


def test_a_state_dict_holds_no_activation(tmp_path, module):
    path = save(tmp_path, module.state_dict())
    assert refusal(path) == (
        ": it holds weights but no activation (ReLU, leaky ReLU and none look alike in it): give the slope, 0 for "
        f"ReLU, or read the module itself: isoptimal audit {path} DATA --slope 0 (in Python slope=0)"
    )


def test_a_checkpoint(tmp_path, module):
    optimizer = torch.optim.Adam(module.parameters())
    found = {"epoch": 3, "model_state_dict": module.state_dict(), "optimizer_state_dict": optimizer.state_dict()}
    path = save(tmp_path, found)
    reading = read_with_notes(path, slope="1/4")
    assert reading.network == read(module)
    assert reading.notes == (f"{path} is a checkpoint, of which 'model_state_dict' is read",)


def test_a_checkpoint_of_two_networks(tmp_path, module):
    path = save(tmp_path, {"net": module.state_dict(), "ema": module.state_dict()})
    assert refusal(path, slope=0) == " holds several networks (net, ema): give, or save, that alone"


def test_arrays_by_the_names_of_the_npz(tmp_path, module):
    arrays = {"W": module[0].weight.detach(), "b": module[0].bias.detach(), "v": module[2].weight.detach()[0]}
    assert read(save(tmp_path, arrays), slope=0.25) == read(module)


def test_a_whole_module_only_when_trusted(tmp_path, module):
    path = save(tmp_path, module)
    assert refusal(path) == (
        " holds Python objects and not only tensors, and loading them can run any code: save model.state_dict(), or "
        "pass --trust-pickle (trust_pickle=True) if you made the file yourself"
    )
    reading = read_with_notes(path, trust_pickle=True)
    assert reading.network == read(module)
    assert reading.notes == (
        f"{path} was unpickled, which runs any code that it holds: do this with files of your own only",
    )


def test_trust_changes_nothing_for_a_state_dict(tmp_path, module):
    assert read_with_notes(save(tmp_path, module.state_dict()), slope=0, trust_pickle=True).notes == ()


def test_no_code_runs_without_trust(tmp_path):
    marker = tmp_path / "ran"
    path = save(tmp_path, Opens(marker))
    refusal(path)
    assert not marker.exists()


class Opens:
    """Pickles to a call that makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_class_that_is_gone(tmp_path, monkeypatch):
    home = type(sys)("a_module_of_mine")
    home.Net = type("Net", (nn.Sequential,), {"__module__": "a_module_of_mine"})
    monkeypatch.setitem(sys.modules, "a_module_of_mine", home)
    path = save(tmp_path, home.Net(nn.Linear(2, 1)))
    assert read(path, trust_pickle=True).depth == 1
    monkeypatch.delitem(sys.modules, "a_module_of_mine")
    assert " needs something that is not importable here (No module named 'a_module_of_mine')" in refusal(
        path, trust_pickle=True
    )


@pytest.mark.parametrize("found", [torch.ones(2), [1, 2], 3])
def test_something_else(tmp_path, found):
    assert refusal(save(tmp_path, found))


def test_a_dict_of_something_else(tmp_path):
    assert " lacks W: it must hold W and v, and it holds epoch, optimizer" in refusal(
        save(tmp_path, {"epoch": 1, "optimizer": {}})
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch.jit
def test_torchscript(tmp_path, module):
    path = tmp_path / "net.pt"
    torch.jit.save(torch.jit.script(module), path)
    assert refusal(path) == (
        " is a TorchScript archive: save the state_dict() of the module that it was made from, or pass --trust-pickle "
        "(trust_pickle=True), which runs the code in it, if you made the file yourself"
    )
    reading = read_with_notes(path, trust_pickle=True)
    assert reading.network == read(module)
    assert reading.notes[0] == (
        f"{path} is a TorchScript archive, and reading it runs its code: do this with files of your own only"
    )


@pytest.mark.parametrize("trust_pickle", [False, True])
def test_damaged(tmp_path, module, trust_pickle):
    buffer = io.BytesIO()
    torch.save(module.state_dict(), buffer)
    whole = buffer.getvalue()
    path = tmp_path / "net.pt"
    for content in (b"", b"abc", b"PK\3\4", whole[: len(whole) // 2], whole[:-30], b"\x80\x02}q\x00." + whole):
        path.write_bytes(content)
        assert refusal(path, slope=0, trust_pickle=trust_pickle)


def test_an_old_pytorch_is_not_trusted(tmp_path, module, monkeypatch):
    path = save(tmp_path, module.state_dict())
    monkeypatch.setattr(torch, "__version__", "2.5.1+cu121")
    assert "is not loaded by PyTorch 2.5.1+cu121, which files can make run code: install 2.6" in refusal(path, slope=0)
    monkeypatch.setattr(torch, "__version__", "2.10.0")
    assert read(path, slope=0).width == 3


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        (nn.BatchNorm1d(3), "a batch normalisation (1.running_mean) makes the function depend on"),
        (nn.LayerNorm(3), "1.weight is not a matrix"),
        (nn.PReLU(), "1.weight is not a matrix"),
        (nn.Conv1d(3, 3, 1), "1.weight, of 3 dimensions, shares its weights between places"),
        (parametrizations.weight_norm(nn.Linear(3, 3)), "1.parametrizations.weight.original0 belongs to a reparam"),
        (prune.l1_unstructured(nn.Linear(3, 3), "weight", 0.5), "1.weight_orig belongs to a reparametrised or pruned"),
        (nn.LSTM(3, 3), "1.weight_ih_l0 is neither the weight nor the bias of a Linear layer"),
    ],
)
def test_other_layers(tmp_path, layer, reason):
    state = nn.Sequential(nn.Linear(2, 3), layer, nn.Linear(3, 1, bias=False)).state_dict()
    assert f": {reason}" in refusal(save(tmp_path, state), slope=0)


def test_a_standardisation_kept_in_buffers(tmp_path, module):
    module.register_buffer("mean", torch.zeros(2))
    assert ": mean is neither the weight nor the bias of a Linear layer, and a buffer" in refusal(
        save(tmp_path, module.state_dict()), slope=0
    )


def test_an_output_bias(tmp_path):
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    path = save(tmp_path, module.state_dict())
    assert ": the output bias 2.bias is not 0" in refusal(path, slope=0)
    assert read(path, slope=0, output_bias="neuron") == read(module, output_bias="neuron")
