"""Whatever is given to the public API, misuse is one sentence that names the argument, never a bare TypeError."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from verify import (
    Architecture,
    Bias,
    Dataset,
    Goal,
    InputError,
    IsoptimalError,
    Layer,
    Network,
    Problem,
    Verdict,
    audit,
    read,
)
from verify.auditing.loop import certified_bracket, pose
from verify.numbers.arguments import a_flag, a_path, a_time_limit, a_tolerance, instance_of, items_of
from verify.readers import read_case, read_data

NETWORK = Network.two_layer([[1, 0], [0, 1]], [1, 1])
DATA = Dataset([[1, 1], [-1, 2]], [1, 1])
SHAPE = NETWORK.architecture
PROBLEM = pose(NETWORK, DATA)
RESULT = audit(NETWORK, DATA)
ARRAYS = ([[1], [2]], [1, -1])
SELDOM = {"goal": Goal.MAX_MARGIN, "bias": Bias.NONE}

STRANGE = [
    None, 5, -1, "x", b"x", [], (), {}, object(), 1.5, True, [1], [[1]], [[[1]]], np.zeros(3), np.array(1.0), lambda: 0,
    float("nan"), {1: 2}, Verdict.PROVED,
]  # fmt: skip

CALLS = {
    "audit network": lambda given: audit(given, DATA),
    "audit data": lambda given: audit(NETWORK, given),
    "audit X": lambda given: audit(NETWORK, (given, [1, 1])),
    "audit y": lambda given: audit(NETWORK, ([[1, 1], [-1, 2]], given)),
    "read": read,
    "read_data": read_data,
    "read_case": read_case,
    "Dataset inputs": lambda given: Dataset(given, [1]),
    "Dataset row": lambda given: Dataset([given], [1]),
    "Dataset targets": lambda given: Dataset([[1]], given),
    "Problem data": lambda given: Problem(given, SHAPE, **SELDOM),
    "Problem architecture": lambda given: Problem(DATA, given, **SELDOM),
    "Network architecture": lambda given: Network(given, [[1], [1]]),
    "Network parameters": lambda given: Network(SHAPE, given),
    "Network layer": lambda given: Network(SHAPE, [given, [1, 1]]),
    "two_layer W": lambda given: Network.two_layer(given, [1]),
    "two_layer v": lambda given: Network.two_layer([[1]], given),
    "f(x)": NETWORK,
    "preactivations": NETWORK.preactivations,
    "Network.from_json": Network.from_json,
    "Problem.from_json": Problem.from_json,
    "Architecture": Architecture,
    "certified_bracket": certified_bracket,
    "certified_bracket tol": lambda given: certified_bracket(PROBLEM, given),
    "certified_bracket time_limit": lambda given: certified_bracket(PROBLEM, 1e-3, given),
    "save": RESULT.save,
    "plot": lambda given: None if given is None else RESULT.plot(given),
}
OPTIONS = {
    "audit": (
        lambda **option: audit(NETWORK, DATA, **option),
        [
            "goal",
            "bias",
            "trained",
            "tol",
            "stationary_tol",
            "time_limit",
            "progress",
            "warm_start",
            "symbolic",
            "notes",
        ],
    ),
    "read": (
        lambda **option: read({"W": [[1]], "v": [1]}, **option),
        ["slope", "output_bias", "two_logits", "fold", "trust_pickle"],
    ),
    "read_data": (lambda **option: read_data(ARRAYS, **option), ["target", "as_stored", "classes"]),
    "Problem": (lambda **option: Problem(DATA, SHAPE, **SELDOM | option), ["goal", "bias", "trained"]),
    "two_layer": (lambda **option: Network.two_layer([[1, 0]], [1], **option), ["b", "slope", "masks"]),
    "Architecture": (
        lambda **option: Architecture.two_layer(**{"inputs": 1, "width": 1} | option),
        ["inputs", "width", "slope", "bias", "masks"],
    ),
    "Layer": (
        lambda **option: Layer(**{"inputs": 1, "outputs": 1, "slope": 0} | option),
        ["inputs", "outputs", "slope", "bias", "entries"],
    ),
}
PLACES = [*CALLS, *(f"{call}({name}=)" for call, (_, names) in OPTIONS.items() for name in names)]


def called(place, given):
    if place in CALLS:
        return CALLS[place](given)
    call, _, name = place.removesuffix("=)").partition("(")
    return OPTIONS[call][0](**{name: given})


@pytest.mark.parametrize("place", PLACES)
def test_arguments_of_any_kind(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = 0
    for given in STRANGE:
        if place == "audit(progress=)" and callable(given):
            continue
        try:
            called(place, given)
        except IsoptimalError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused >= 5


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: audit(object(), DATA), "a network cannot be read from an object of type object: give a model"),
        (
            lambda: audit(NETWORK, None),
            "data cannot be read from an object of type NoneType: give the points and the targets",
        ),
        (lambda: audit(NETWORK, [1]), "data has 1 entry: give the points and the targets, X and y"),
        (lambda: audit(NETWORK, DATA, time_limit="1 s"), "time_limit is '1 s': give seconds"),
        (lambda: audit(NETWORK, DATA, time_limit=float("nan")), "time_limit is nan: give seconds"),
        (lambda: audit(NETWORK, DATA, progress=3), "progress is of type int: give a function of one argument, or None"),
        (lambda: audit(NETWORK, DATA, notes="hello"), "notes is of type str: give a list of sentences"),
        (lambda: audit(NETWORK, DATA, symbolic="no"), "symbolic is of type str: give True or False"),
        (lambda: audit(NETWORK, DATA, warm_start=3), "warm_start is of type int: give a path"),
        (lambda: audit(NETWORK, DATA, tol=10**400), "it must be at least 0, and at most 1000000000"),
        (lambda: audit(NETWORK, DATA, tol="1e99999999"), "tol is '1e99999999': give a decimal or a fraction"),
        (lambda: audit(NETWORK, DATA, tol="a"), "tol is 'a'; give a number of at least 0"),
        (lambda: audit(NETWORK, DATA, near="1e-99999999"), "near is '1e-99999999': give a decimal or a fraction"),
        (lambda: audit(NETWORK, DATA, goal="min-norm", fit_tol="1e999"), "fit_tol is '1e999', not a rational"),
        (lambda: Problem([[1]], SHAPE, **SELDOM), "data is of type list: give a Dataset, such as Dataset(X, y)"),
        (lambda: Problem(DATA, NETWORK, **SELDOM), "architecture is of type Network: give an Architecture"),
        (lambda: Network.two_layer([[1]], [1], masks=5), "masks is of type int: give a list of lists, one for each"),
        (lambda: Network.two_layer([[1]], [1], masks=[5]), "masks[0] is of type int: give a list there"),
        (lambda: Architecture([3]), "layers[0] is of type int: give a list of at least one Layer"),
        (lambda: read({"W": [[1]], "v": [1]}, trust_pickle="no"), "trust_pickle is of type str: give True or False"),
        (lambda: read_data(ARRAYS, classes=5), "classes is of type int: classes must be two different labels"),
        (lambda: RESULT.save(5), "folder is of type int: give a path"),
    ],
)
def test_the_sentence_names_the_argument_and_what_to_give(call, sentence):
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)


def test_what_is_meant_is_taken():
    assert [a_flag(value, "") for value in (True, False, np.True_, np.bool_(False))] == [True, False, True, False]
    assert [a_time_limit(value) for value in (None, 0, 1.5, np.float64(2), float("inf"))] == [
        None, 0, 1.5, 2, float("inf"),
    ]  # fmt: skip
    assert [a_tolerance(value, "") for value in ("0.05", " 1e-6 ", "1/3", 0.1, 0)] == [
        Fraction(1, 20), Fraction(1, 10**6), Fraction(1, 3), Fraction(1, 10), 0,
    ]  # fmt: skip
    within = [pose(NETWORK, DATA, goal="min-norm", fit_tol=value).fit_tolerance for value in ("0.05", "1/20", 0.5)]
    assert within == [Fraction(1, 20), Fraction(1, 20), Fraction(1, 2)]
    assert a_path("a/b", "") == a_path(Path("a/b"), "") == Path("a/b")
    assert items_of(iter("ab"), "", "") == ["a", "b"]
    assert instance_of(int, 3, "", "") == 3
