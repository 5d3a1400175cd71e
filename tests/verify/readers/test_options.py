"""The options of `read`: every one that is missing is named at once, in a call or a command that works."""

import pickle
import shlex
import traceback
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from verify.auditing.loop import audit
from verify.checker.errors import InputError
from verify.cli import program
from verify.problem.network import Network
from verify.readers import read, read_with_notes
from verify.readers.chains import Chain, LinearLayer, chained
from verify.readers.reading import MissingOptionsError, Options
from verify.training import train

rng = np.random.default_rng(0)
W, B, V = rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=(2, 3))
TWO_LOGITS = {"0.weight": W, "0.bias": B, "2.weight": V, "2.bias": np.array([0.25, 1.0])}
POINTS = ((0, 0), (1, -2), (Fraction(1, 3), 5), (-7, 1))


def missing(source, **options) -> MissingOptionsError:
    with pytest.raises(MissingOptionsError) as caught:
        read(source, **options)
    assert "\n" not in str(caught.value)
    return caught.value


def called(error: MissingOptionsError, **names: object) -> Network:
    """What the call at the end of the message returns."""
    call = str(error)[str(error).index("read(") :]
    return eval(call, {"read": read, "Fraction": Fraction, **names})


def exact_difference(x):
    """The second logit minus the first, written down directly, in rationals."""
    hidden = [
        max(sum(Fraction(w) * z for w, z in zip(row, x, strict=True)) + Fraction(b), 0)
        for row, b in zip(W.tolist(), B.tolist(), strict=True)
    ]
    first, second = (sum(Fraction(v) * z for v, z in zip(row, hidden, strict=True)) for row in V.tolist())
    return second + 1 - first - Fraction(1, 4)


def test_an_audit_names_them_in_one_short_traceback():
    with pytest.raises(MissingOptionsError) as caught:
        audit(TWO_LOGITS, POINTS, [1, 1, -1, -1])
    assert str(caught.value).endswith('audit(state, X, y, slope=0, two_logits="difference")')
    with pytest.raises(MissingOptionsError) as hidden:  # of which no output bias is asked
        audit(TWO_LOGITS, POINTS, [1, 1, -1, -1], trained="hidden")
    assert str(hidden.value).endswith('audit(state, X, y, slope=0, two_logits="difference", output_bias="neuron")')
    assert len(traceback.TracebackException.from_exception(caught.value).stack) <= 2
    assert "During handling" not in (told := "".join(traceback.format_exception(caught.value)))
    assert "direct cause" not in told


def test_two_logits_with_biases_and_no_activation_need_one_call():
    error = missing(TWO_LOGITS)
    assert error.needed == {"slope": 0, "two_logits": "difference", "output_bias": "neuron"}
    assert str(error) == (
        "the state dict given: it holds weights but no activation (ReLU, leaky ReLU and none look alike in it); it has "
        "two outputs (2.weight), one for each class; the output bias 2.bias is not 0 (it holds 0.75), and a network "
        "with one is not homogeneous: give the slope, 0 for ReLU, and train one output without biases after the first "
        "layer, or read the same decisions with another norm: "
        'read(state, slope=0, two_logits="difference", output_bias="neuron")'
    )
    network = called(error, state=TWO_LOGITS)
    assert [network(x) for x in POINTS] == [exact_difference(x) for x in POINTS]
    assert not network.is_exact


def test_the_error_survives_pickling_as_between_processes():
    error = missing(TWO_LOGITS, slope=0)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(error.with_audit("X", "y")).endswith(
        'audit(state, X, y, slope=0, two_logits="difference", output_bias="neuron")'
    )


def test_train_names_its_own_call():
    for data in ((POINTS, [1] * len(POINTS)), ((POINTS, [1] * len(POINTS)),)):
        with pytest.raises(MissingOptionsError) as caught:
            train(*data, start=TWO_LOGITS, slope=0)
        names = "X, y" if len(data) == 2 else "data"
        assert str(caught.value).endswith(
            f'train({names}, start=state, slope=0, two_logits="difference", output_bias="neuron")'
        )


def test_more_hidden_layers_are_named_before_options_are_offered():
    deep = {f"{i}.{name}": np.ones((1, 1) if name == "weight" else 1) for i in range(3) for name in ("weight", "bias")}
    error = missing(deep, slope=0)
    assert "it has 2 hidden layers, of which less is decided than of one; the bias" in str(error)


def test_the_call_keeps_what_was_given():
    error = missing(TWO_LOGITS, slope="1/4", output_bias="neuron")
    assert str(error).endswith('read(state, slope="1/4", two_logits="difference", output_bias="neuron")')
    assert called(error, state=TWO_LOGITS).architecture.slope == Fraction(1, 4)


def test_one_bias_for_both_logits_is_none_of_the_difference():
    state = TWO_LOGITS | {"2.bias": np.array([0.5, 0.5])}
    assert missing(state, slope=0).needed == {"two_logits": "difference"}
    network = read(state, slope=0, two_logits="difference")
    assert network.width == 3
    assert network.output_weights == tuple(Fraction(b) - Fraction(a) for a, b in zip(*V.tolist(), strict=True))


def test_the_notes_say_that_the_norm_is_another():
    notes = read_with_notes(TWO_LOGITS, slope=0, two_logits="difference", output_bias="neuron").notes
    assert "of its two outputs the second minus the first is read, positive where class 1 is the larger" in notes[0]
    assert "the norm is not the one that was trained" in notes[0]
    assert notes[1].startswith("the output bias 3/4 became hidden neuron 3")


def test_integers_stay_exact():
    layers = (LinearLayer(weights=[[1, 2]], bias=None, weights_name="a", bias_name="b"),
              LinearLayer(weights=[[1], [3]], bias=None, weights_name="c", bias_name="d"))  # fmt: skip
    chain = Chain(layers=layers, slopes=(0,), remedy="")
    assert chained(chain, "it", Options(two_logits="difference")).network == Network.two_layer([[1, 2]], [2])
    assert chained(chain, "it", Options(two_logits="difference")).network.is_exact


def test_three_logits_are_refused_whatever_is_allowed():
    state = {"0.weight": W, "2.weight": np.ones((3, 3))}
    with pytest.raises(InputError, match=r"the last layer \(2.weight\) has 3 outputs"):
        read(state, slope=0, two_logits="difference", output_bias="neuron", fold=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"two_logits": "yes"}, 'two_logits is \'yes\': it must be "refuse" or "difference"'),
        ({"output_bias": True}, 'output_bias is True: it must be "refuse" or "neuron" or "keep"'),
        ({"fold": "yes"}, "fold is of type str: give True or False"),
    ],
)
def test_wishes_that_do_not_exist(options, message):
    with pytest.raises(InputError) as caught:
        read({"W": [[1]], "v": [1]}, **options)
    assert str(caught.value) == message


def test_the_command_line_is_printed_whole_and_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("my net.npz", W=[[1.0], [-1.0]], v=[1.0, -1.0], b2=0.25)
    np.savez("data.npz", X=[[-1.0], [1.0]], y=[-1, 1])
    words = ["audit", "my net.npz", "data.npz", "--goal", "max-margin", "--trained", "hidden", "--time-limit", "5"]
    refused = CliRunner().invoke(program, words, prog_name="isoptimal")
    assert refused.exit_code == 2
    message = " ".join(refused.stderr.split())
    command = message[message.index("isoptimal audit") :]
    assert shlex.split(command) == ["isoptimal", *words, "--output-bias", "neuron"]
    accepted = CliRunner().invoke(program, shlex.split(command)[1:])
    assert accepted.exit_code == 0
    assert "became hidden neuron 2" in " ".join(accepted.stderr.split() + accepted.stdout.split())
