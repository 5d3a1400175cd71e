"""JSON networks and data: exact numbers only, canonical forms, and each fault refused with its place."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.readers import read, read_data, read_data_with_notes, read_with_notes

NETWORK = {"W": [["0", "2"], [0, "-1/3"]], "v": [2, "0"]}
DATA = {"X": [["1", "1/4"], ["-1", "1/4"]], "y": [1, "1"]}


@pytest.fixture
def write(tmp_path):
    def written(value: object) -> Path:
        path = tmp_path / "file.json"
        text = value if isinstance(value, str | bytes) else json.dumps(value)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


def refusal(call, path: Path, **options) -> str:
    """The one sentence of the error, without the path in front."""
    with pytest.raises(InputError) as caught:
        call(path, **options)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


# ------------------------------------------------------------------------------------------------ what is accepted


def test_network(write):
    path = write(NETWORK | {"b": ["1/7", 3], "slope": "1/10"})
    network = read(path)
    assert network == Network.two_layer(
        [[0, 2], [0, Fraction(-1, 3)]], [2, 0], b=[Fraction(1, 7), 3], slope=Fraction(1, 10)
    )
    assert network.is_exact


def test_without_slope_it_is_relu_and_says_so(write):
    path = write(NETWORK)
    assert read_with_notes(path).notes == (f"{path} holds no slope: it is read as ReLU (slope 0)",)


def test_null_is_absent(write):
    assert read(write(NETWORK | {"b": None, "b2": None, "slope": None, "masks": None})) == read(write(NETWORK))


def test_a_double_agrees_with_the_decimal_that_it_rounds(write):
    assert read(write(NETWORK | {"slope": "1/10"}), slope=0.1).architecture.slope == Fraction(1, 10)


def test_masks(write):
    network = read(write(NETWORK | {"masks": [[1], [0, 1]]}))
    assert network.architecture.masks == ((1,), (0, 1))


def test_an_output_bias_becomes_a_neuron(write):
    network = read(write(NETWORK | {"b2": "-1/3"}), output_bias="neuron")
    assert network.hidden_weights[-1] == (0, 0, Fraction(1, 3))
    assert network.output_weights == (2, 0, -1)
    assert network((1, 5)) == read(write(NETWORK))((1, 5)) - Fraction(1, 3)


def test_data(write):
    data = read_data(write(DATA))
    assert data == Dataset([[1, Fraction(1, 4)], [-1, Fraction(1, 4)]], [1, 1])
    assert data.is_exact


def test_labels_0_and_1_become_signs_and_it_is_said(write):
    path = write(DATA | {"y": ["0", 1]})
    reading = read_data_with_notes(path)
    assert reading.data.targets == (-1, 1)
    assert reading.notes == (f"{path}: y holds the labels 0 and 1: they are read as -1 and 1",)
    assert read_data(path, as_stored=True).targets == (0, 1)


def test_canonical_network_of_any_depth(write):
    network = read(write(NETWORK | {"masks": [[1], [0, 1]]}))
    assert read(write(network.to_json())) == network
    assert read(write(network.canonical_text()), slope=0) == network
    assert refusal(read, write(network.canonical_text()), slope=1) == (
        " says slope 0 but slope 1 is given: leave it out, or correct one of them"
    )


def test_canonical_problem_as_data(write):
    data = Dataset([[1], [2]], [0, 1])
    problem = Problem(data, read({"W": [[1]], "v": [1]}).architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    path = write(problem.canonical_text())
    reading = read_data_with_notes(path)
    assert reading.data == data
    assert reading.notes == (
        f"{path} holds a problem: only its data are read, its goal and bias have to be given again",
    )


# ----------------------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0.5", 'is 0.5, a JSON float: write "1/2", or use .npz for the nearest double'),
        ("-0.1", 'is -0.1, a JSON float: write "-1/10", or use .npz for the nearest double'),
        ("1e-3", 'is 1e-3, a JSON float: write text such as "1/10", or use .npz for the nearest double'),
        ("0.12345678901234", ("is 0.12345678901234, a JSON float: "
                             'write text such as "1/10", or use .npz for the nearest double')),
        ("1e999999999", 'is 1e999999999, a JSON float: write text such as "1/10", or use .npz for the nearest double'),
        ("NaN", "is NaN: every number must be finite, so remove or repair that entry"),
        ("-Infinity", "is -Infinity: every number must be finite, so remove or repair that entry"),
        ("true", 'is true: write an integer, or text such as "1/3"'),
        ("null", 'is null: write an integer, or text such as "1/3"'),
        ("[1]", 'is a list or an object: write an integer there, or text such as "1/3"'),
        ("{}", 'is a list or an object: write an integer there, or text such as "1/3"'),
    ],
)  # fmt: skip
def test_numbers_that_are_not_exact(write, text, reason):
    assert refusal(read, write(f'{{"W": [[1, 2], [3, {text}]], "v": [1, 1]}}')) == f": W[1][1] {reason}"
    assert refusal(read_data, write(f'{{"X": [[1], [2]], "y": [1, {text}]}}')) == f": y[1] {reason}"


@pytest.mark.parametrize(
    "text", ["0.5", "2/4", "2/1", "1/0", "+1", "-0", "01", "1_0", " 1", "1\\n", "1/3\u0661", "", "nan"]
)
def test_text_that_is_not_canonical(write, text):
    message = refusal(read, write(f'{{"W": [[1, "{text}"]], "v": [1]}}'))
    assert message.startswith(": W[0][1] is ")
    assert "not a rational in canonical form such as '2' or '-1/3'" in message


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("0.5", "1/2"), ("2/4", "1/2"), ("2/1", "2"), ("+1", "1"), ("-0", "0"), ("01", "1"), (" 1", "1"), (".25", "1/4"),
     ("1e3", "1000"), ("-1.5e-1", "-3/20")],
)  # fmt: skip
def test_a_number_in_another_form_is_told_with_its_canonical_one(write, text, canonical):
    """Wherever it stands: in the shorthand, in a network and in a problem."""
    assert refusal(read, write({"W": [[1, text]], "v": [1]})).endswith(f"digits): write '{canonical}'")
    assert refusal(read_data, write({"X": [[text]], "y": [1]})).endswith(f"digits): write '{canonical}'")
    network = read(write(NETWORK)).to_json()
    network["parameters"][0][1] = text
    message = refusal(read, write(network))
    assert message.startswith(": network.parameters[0][1]: must be a rational")
    assert message.endswith(f"not '{text}': write '{canonical}'")
    problem = Problem(
        Dataset([[1]], [1]), Network.two_layer([[1]], [1]).architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE
    ).to_json()
    for key, place, value in (("inputs", "inputs[0][0]", [[text]]), ("targets", "targets[0]", [text])):
        message = refusal(read_data, write(problem | {key: value}))
        assert message.startswith(f": problem.{place}: must be a rational")
        assert message.endswith(f": write '{canonical}'")


@pytest.mark.parametrize("text", ["1/0", "1_0", "", "nan", "one", "1e999", "1." + "0" * 50])
def test_what_is_no_number_gets_no_canonical_form(write, text):
    assert ": write '" not in refusal(read, write({"W": [[1, text]], "v": [1]}))


def test_an_integer_in_a_canonical_network_is_text(write):
    network = read(write(NETWORK)).to_json()
    network["parameters"][0][1] = 2
    assert refusal(read, write(network)).endswith("not int: write '2'")


def test_long_integers(write):
    assert read(write(f'{{"W": [[{"9" * 20_000}]], "v": [1]}}')).hidden_weights == ((10**20_000 - 1,),)
    assert refusal(read, write(f'{{"W": [[-{"9" * 20_001}]], "v": [1]}}')) == (
        " holds an integer of 20002 digits: round it to at most 20000"
    )
    assert "not a rational in canonical form" in refusal(read, write(f'{{"W": [["{"9" * 20_001}"]], "v": [1]}}'))


# ------------------------------------------------------------------------------------------------------------ labels


def test_text_labels(write):
    assert refusal(read_data, write(DATA | {"y": ["dog", "cat"]})) == (
        ": y holds text ('cat', 'dog'): name the negative and the positive class "
        "(--classes NEGATIVE,POSITIVE, in Python classes=(negative, positive)), or write them as -1 and 1"
    )


def test_three_text_labels(write):
    assert refusal(read_data, write({"X": [[1], [2], [3]], "y": ["a", "b", "c"]})) == (
        ": y holds text ('a', 'b', 'c'): there are 3 classes and a margin is between two, "
        "so keep the points of two and name these"
    )


# ------------------------------------------------------------------------------------------------------ names, shapes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"v": [2]}, ": W has shape (2, 2) but v has 1 entry: W must be (neurons, inputs) and v (neurons,)"),
        ({"b": [2]}, ": W has 2 rows but b has 1 entry: b must hold one bias for each neuron"),
        ({"W": [[1, 2], [3]]}, ": W[1] has 1 entry, and the first row has 2: give rows of one length"),
        ({"W": [1, 2]}, ": W[0] must be a list of numbers: put it in square brackets"),
        ({"W": "1"}, ": W must be a list of rows of numbers: put it in square brackets"),
        ({"W": []}, ": W is empty: there must be at least one entry"),
        ({"W": [[], []]}, ": W[0] is empty: there must be at least one entry"),
        ({"v": []}, ": v is empty: there must be at least one entry"),
        ({"v": [[1, 2]]}, ': v[0] is a list or an object: write an integer there, or text such as "1/3"'),
        ({"v": {}}, ": v must be a list of numbers: put it in square brackets"),
        ({"slope": 2}, ": slope is 2: it must lie between 0 (ReLU) and 1 (linear)"),
        ({"slope": [1]}, ': slope is a list or an object: write an integer there, or text such as "1/3"'),
        ({"extra": 2}, " holds extra, which has no meaning here: leave only W, v, b, b2, slope, masks"),
        ({"masks": [[0]]}, ": masks has 1 entry, but W has 2 rows (one for each neuron)"),
        ({"masks": [[0, 1], [0, True]]},
         ": masks[1] must list the columns that neuron 1 sees: write them as integers from 0"),
        ({"masks": [[0, 1], [0, 2]]}, ": masks[1] names a column outside 0 ... 1"),
        ({"masks": [[0], [0, 1]]}, ": W[0] has a weight at a column that masks[0] hides; set it to 0"),
    ],
)  # fmt: skip
def test_network_faults(write, change, message):
    assert refusal(read, write(NETWORK | change)) == message


def test_an_output_bias_is_refused_with_the_command(write):
    path = write(NETWORK | {"b2": 1})
    assert refusal(read, path) == (
        ": the output bias b2 is 1, and a network with one is not homogeneous: train without it (in PyTorch "
        "Linear(..., bias=False)), or read the same function with another norm: isoptimal audit "
        f'{path} DATA --output-bias neuron (in Python output_bias="neuron")'
    )


def test_a_masked_network_keeps_its_output_bias(write):
    path = write(NETWORK | {"masks": [[1], [0, 1]], "b2": 1})
    assert refusal(read, path, output_bias="neuron") == (
        ": the output bias of a masked network cannot become a neuron: train without it"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [1]}, ": X has 2 points but y has 1 target: give one target for each point"),
        ({"y": [[1], [1]]}, ': y[0] is a list or an object: write an integer there, or text such as "1/3"'),
        ({"X": [[1, 2], [3]]}, ": X[1] has 1 entry, and the first row has 2: give rows of one length"),
        ({"X": []}, ": X is empty: there must be at least one entry"),
        ({"y": []}, ": y is empty: there must be at least one entry"),
        ({"slope": 0}, " holds slope, which has no meaning here: leave only X, y"),
    ],
)
def test_data_faults(write, change, message):
    assert refusal(read_data, write(DATA | change)) == message


def test_missing_names(write):
    assert refusal(read, write({"W": [[1]]})) == " lacks v: it must hold W and v, and it holds W"
    assert refusal(read, write({})) == " lacks W: it must hold W and v, and it holds nothing"
    assert refusal(read_data, write({"X": [[1]]})) == " lacks y: it must hold X and y, and it holds X"


def test_network_and_data_exchanged(write):
    assert refusal(read, write(DATA)) == " holds a data set (X, y): give the network first, then the data"
    assert refusal(read_data, write(NETWORK)) == " holds a network (W, v): data are expected here"
    canonical = read(write(NETWORK)).canonical_text()
    assert refusal(read_data, write(canonical)) == " holds a network, not data"
    assert refusal(read, write('{"schema": "problem-1"}')) == (
        " holds a problem, not a network: give the network first, then the data"
    )


# ------------------------------------------------------------------------------------------------------ canonical forms


def test_broken_canonical_forms(write):
    network = read(write(NETWORK)).to_json()
    assert refusal(read, write(network | {"parameters": [["0.5"]]})).startswith(
        ": network.parameters[0][0]: must be a rational"
    )
    assert refusal(read, write(network | {"extra": 1})) == ": network: has the unknown key 'extra'"
    assert refusal(read_data, write({"schema": "problem-1"})) == ": problem.inputs: is missing"


@pytest.mark.parametrize("call", [read, read_data])
def test_other_schemas(write, call):
    assert refusal(call, write({"schema": "case-1"})) == (
        " is a case file, which holds its own network and data: give it alone"
    )
    assert refusal(call, write({"schema": "certificate-1"})) == " is a certificate: check it with isoptimal check"
    for schema in ("network-2", 1, ["case-1"]):
        assert refusal(call, write({"schema": schema})).startswith(f" has the schema {schema!r}: leave the schema out")


# ------------------------------------------------------------------------------------------------------------ not JSON


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", " is not JSON (line 1, expecting value): mend it"),
        ('{"W": [[1]], "v": [1', " is not JSON (line 1, expecting ',' delimiter): mend it"),
        ('{"W": [[1]], "v": [1]} {}', " is not JSON (line 1, extra data): mend it"),
        (b"\xff\xfe{}", " is not UTF-8 text (byte 0): save it as UTF-8"),
        ("[1, 2]", ' must hold a JSON object with names and values, such as {"W": ..., "v": ...}'),
        ("1.5", ' must hold a JSON object with names and values, such as {"W": ..., "v": ...}'),
        ('{"W": [[1]], "v": [1], "W": [[2]]}', " holds the name 'W' twice in one object: leave one"),
        ('{"W": [[1]], "v": [{"a": 1, "a": 2}]}', " holds the name 'a' twice in one object: leave one"),
        ("[" * 100_000, " is nested too deeply: a file holds at most rows of numbers"),
        ('{"W":' * 100_000, " is nested too deeply: a file holds at most rows of numbers"),
    ],
)  # fmt: skip
def test_not_json(write, content, message):
    assert refusal(read, write(content)) == message
    assert refusal(read_data, write(content)) == message


def test_a_trailing_comma(write):
    assert refusal(read, write('{"W": [[1]],\n "v": [1],}')).startswith(" is not JSON (line 2, ")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["1/3", "-2", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["schema", "W", "v", "layers"]), inner),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(("W", "v", "b", "b2", "slope", "masks", "schema"), json_values))
)
def test_any_object_is_read_or_refused(tmp_path_factory, value):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(value))
    try:
        read(path)
    except InputError as error:
        assert str(error).startswith(str(path))
