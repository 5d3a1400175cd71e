"""Case files: what they hold, and each fault refused with its place."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from verify.checker.errors import InputError
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, Trained
from verify.readers import read_case

CASE = {
    "schema": "case-1",
    "comment": "A KKT point that wastes its second neuron.",
    "source": "arXiv:2110.02732, Theorem 3.2",
    "flags": ["dead-neuron", "kkt-not-local"],
    "problem": {
        "goal": "max-margin",
        "bias": "none",
        "slope": "0",
        "inputs": [["1", "1/4"], ["-1", "1/4"]],
        "targets": ["1", "1"],
    },
    "network": {"W": [["0", "2"], ["0", "0"]], "v": ["2", "0"]},
    "expect": {
        "fits": "proved",
        "stationary": "proved",
        "local_optimum": "refuted",
        "global_optimum": "refuted",
        "bracket": ["1.940284", "1.940286"],
    },
}


def changed(part: str, **change) -> dict[str, object]:
    return CASE | {part: CASE[part] | change}


@pytest.fixture
def write(tmp_path):
    def written(value: object) -> Path:
        path = tmp_path / "case.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return path

    return written


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_case(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


def test_case(write):
    case = read_case(write(CASE))
    network = Network.two_layer([[0, 2], [0, 0]], [2, 0])
    data = Dataset([[1, Fraction(1, 4)], [-1, Fraction(1, 4)]], [1, 1])
    assert case.network == network
    assert case.problem == Problem(data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    assert (case.comment, case.source, case.flags) == (CASE["comment"], CASE["source"], tuple(CASE["flags"]))
    assert dict(case.verdicts) == {k: v for k, v in CASE["expect"].items() if k != "bracket"}
    assert case.bracket == (Fraction("1.940284"), Fraction("1.940286"))
    assert case.infeasible is None


def test_hidden_layers_only_with_biases_and_a_slope(write):
    case = read_case(
        write(
            changed("problem", trained="hidden", bias="penalised", slope="1/3")
            | {"network": CASE["network"] | {"b": [1, "-1/2"]}, "expect": {"infeasible": True}}
        )
    )
    assert case.problem.trained is Trained.HIDDEN
    assert case.problem.bias is Bias.PENALISED
    assert case.network.architecture.slope == Fraction(1, 3)
    assert case.network.hidden_weights == ((0, 2, 1), (0, 0, Fraction(-1, 2)))
    assert (dict(case.verdicts), case.bracket, case.infeasible) == ({}, None, True)


def test_a_canonical_network(write):
    network = Network.two_layer([[0, 2], [0, 0]], [2, 0], masks=[[1], [0, 1]])
    assert read_case(write(CASE | {"network": network.to_json()})).network == network


@pytest.mark.parametrize(
    ("given", "bracket"),
    [
        (["1", None], (1, None)),
        ([None, "8/5"], (None, Fraction(8, 5))),
        (None, None),
        (["-0.50", "0.5"], (Fraction(-1, 2), Fraction(1, 2))),
    ],
)
def test_brackets(write, given, bracket):
    assert read_case(write(changed("expect", bracket=given))).bracket == bracket


def test_how_far_a_point_near_the_network_may_be(write):
    assert read_case(write(CASE)).near == 0
    assert read_case(write(changed("expect", near="1/1000"))).near == Fraction(1, 1000)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (changed("expect", near="-1/1000"), ": expect.near is a distance: it must be at least 0"),
        (CASE | {"schema": "case-2"}, " is not a case file: its schema must be case-1"),
        (CASE | {"extra": 1}, " holds 'extra', which has no meaning here: leave it out"),
        ({k: v for k, v in CASE.items() if k != "network"},
         " lacks network: a case needs schema, comment, source, flags, problem, network, expect"),
        (CASE | {"flags": ["a", 1]}, ": flags must be a list of texts: cases/README.md lists them"),
        (CASE | {"flags": "a"}, ": flags must be a list of texts: cases/README.md lists them"),
        (CASE | {"comment": 1}, ": comment must be text"),
        (CASE | {"problem": []}, ": problem must be a JSON object"),
        (CASE | {"network": []}, ": network must be a JSON object with W and v"),
        (CASE | {"network": {"W": [[1, 1]]}}, ": network lacks v: it must hold W and v, and it holds W"),
        (
            CASE | {"network": {"W": [[1]], "v": [1]}},
            ": the data have 2 columns, but the network takes 1 input: give the columns that it was trained on",
        ),
        (CASE | {"network": {"W": [[1, 1]], "v": [1], "slope": 1}},
         ": network says slope 1 but slope 0 is given: leave it out, or correct one of them"),
        (CASE | {"network": Network.two_layer([[1, 1]], [1], slope=1).to_json()},
         ": network has slope 1 but problem.slope is 0: make them equal"),
        (changed("problem", goal="margin"), ": problem.goal is 'margin': it must be one of max-margin, min-norm"),
        (changed("problem", goal=True), ": problem.goal is True: it must be one of max-margin, min-norm"),
        (changed("problem", bias="no"), ": problem.bias is 'no': it must be one of none, penalised, free"),
        (changed("problem", bias="free"), ": the first layer has no bias, which does not go with bias mode 'free'"),
        (changed("problem", trained="none"), ": problem.trained is 'none': it must be one of both, hidden"),
        (changed("problem", slope="2"), ": problem.slope is 2: it must lie between 0 (ReLU) and 1 (linear)"),
        (
            changed("problem", targets=["1", "2"]),
            (
                ": targets[1] is 2; max-margin needs targets 1 and -1: name the two classes (--classes "
                "NEGATIVE,POSITIVE, in Python classes=(negative, positive)), or ask for min-norm, "
                "which fits numbers"
            ),
        ),
        (changed("problem", targets=["1"]), ": targets has 1 entry, but inputs has 2 rows"),
        (changed("problem", inputs=[["1", "1"], ["1"]]),
         ": problem.inputs[1] has 1 entry, and the first row has 2: give rows of one length"),
        (changed("problem", masks=1), ": problem holds 'masks', which has no meaning here: leave it out"),
        (changed("expect", fits="yes"), ": expect.fits is 'yes': it must be one of proved, refuted, undecided"),
        (changed("expect", infeasible="no"), ": expect.infeasible must be true or false"),
        (changed("expect", optimum="1"), ": expect holds 'optimum', which has no meaning here: leave it out"),
        (changed("expect", bracket="1"),
         ": expect.bracket must be a list of two: the lower and the upper bound, null where there is none"),
        (changed("expect", bracket=[1, 2]),
         ': expect.bracket[0] is 1: write a bound as text, such as "1.940284" or "8/5", or null'),
        (changed("expect", bracket=["1", "1e9"]),
         ": expect.bracket[1] is '1e9': write a bound as text, such as \"1.940284\" or \"8/5\", or null"),
        (changed("expect", bracket=["2", "1"]),
         ": expect.bracket is empty: the lower bound must not exceed the upper one"),
    ],
)  # fmt: skip
def test_faults(write, case, message):
    assert refusal(write(case)) == message


def test_numbers_of_the_problem_are_exact(write):
    assert refusal(write(json.dumps(CASE).replace('"1/4"', "0.25", 1))).startswith(
        ": problem.inputs[0][1] is 0.25, a JSON float"
    )
