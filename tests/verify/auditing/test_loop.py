"""The audit as a user calls it: what it assumes, what it answers, what it leaves open, what it writes."""

import hashlib
import json
import re
import subprocess
import sys
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
    Layer,
    Network,
    Problem,
    Trained,
    Verdict,
    audit,
    check,
)
from verify.auditing.loop import certified_bracket, pose
from verify.checker import Accepted, read_certificate
from verify.checker.certificate import OTHER_DEPTH
from verify.checker.depth import power_objective, power_of

PROVED, REFUTED, UNDECIDED = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED
ROOT = Path(__file__).parents[3]

# arXiv:2110.02732, Theorem 3.2: a KKT point with a dead neuron; objective 4, the best possible 8 / sqrt(17) = 1.94
DEAD = Network.two_layer([[0, 2], [0, 0]], [2, 0])
PAIR = Dataset([["1", "1/4"], ["-1", "1/4"]], [1, 1])
TIE = Network.two_layer([[1, 0], [0, -1]], [1, 1])  # needs a slope of 1 at the kink
TIE_DATA = Dataset([[1, 1], [0, -1]], [1, 1])
ONE = Network.two_layer([[1]], [1])


def verdicts(result):
    return {name: finding.verdict.value for name, finding in result.findings.items()}


def expected(fits, stationary, local, own, wide):
    names = ("fits", "stationary", "local_optimum", "global_optimum", "global_any_width")
    return dict(zip(names, (fits, stationary, local, own, wide), strict=True))


def assert_sound(result):
    """Every verdict has its accepted certificate, and the numbers agree with one another."""
    for finding in result.findings.values():
        assert (finding.verdict is UNDECIDED) == (not finding.certificates)
        assert finding.reason
    for certificate in result.certificates.values():
        assert isinstance(check(result.problem, result.network, certificate), Accepted)
    if result.bracket is not None:
        lower, upper = result.bracket
        assert 0 <= lower <= upper
        assert result.objective is None or upper <= result.objective
        if OTHER_DEPTH.holds(result.problem):
            mine = power_objective(result.problem, result.fits.subject or result.network)
            assert lower ** power_of(result.problem) <= mine
            assert result.excess is None or result.excess[0] <= result.excess[1]
        elif result.excess is not None:
            assert result.excess == (result.objective / upper - 1, result.objective / lower - 1)


@pytest.fixture(scope="module")
def dead():
    return audit(DEAD, PAIR)


# ------------------------------------------------------------------------------------------------- answers


def test_theorem_3_2(dead):
    assert_sound(dead)
    assert verdicts(dead) == expected("proved", "proved", "refuted", "refuted", "refuted")
    assert dead.objective == 4
    lower, upper = dead.bracket
    assert lower**2 <= Fraction(64, 17) <= upper**2
    assert upper <= lower * (1 + Fraction(1, 10**6))
    assert dead.better == dead.better_own_width
    assert dead.better.width == 2
    assert (dead.status, dead.infeasible, dead.tolerance) == ("done", False, Fraction(1, 10**6))
    assert dead.stationary.level == "exact"
    assert dead.stationary.numbers == {"epsilon": 0, "delta": 0, "multiplier_dimension": 0}
    assert dead.seconds > 0
    assert dead.history


def test_beside_a_wider_network_the_best_of_the_own_width_is_searched():
    result = audit(Network.two_layer([[0, 2]], [2]), PAIR)
    assert_sound(result)
    assert verdicts(result) == expected("proved", "proved", "proved", "proved", "refuted")
    assert result.better.width == 2
    assert result.better_own_width is None
    assert result.bracket[1] < result.bracket_own_width[0] <= 4 == result.bracket_own_width[1]


def test_an_optimal_network():
    result = audit(Network.two_layer([[1, 0], [-1, 0]], [1, 1]), ([[1, 0], [-1, 0]], [1, 1]))
    assert_sound(result)
    assert verdicts(result) == expected("proved", "proved", "proved", "proved", "proved")
    assert result.objective == 2
    assert result.better is None
    assert result.excess[0] == 0


def test_a_tie():
    result = audit(TIE, TIE_DATA)
    assert_sound(result)
    assert verdicts(result) == expected("proved", "proved", "refuted", "refuted", "refuted")
    lower, upper = result.bracket
    assert (lower - 1) ** 2 <= Fraction(1, 2) <= (upper - 1) ** 2  # 1 + 1 / sqrt(2)


def test_what_is_not_stationary_is_no_local_optimum():
    result = audit(Network.two_layer([[2, 0], [-2, 0]], [1, 1]), ([[1, 0], [-1, 0]], [1, 1]))
    assert_sound(result)
    assert verdicts(result) == expected("proved", "refuted", "refuted", "refuted", "refuted")
    assert result.local_optimum.certificates == result.stationary.certificates


def test_what_does_not_fit_is_refuted_everywhere():
    result = audit(Network.two_layer([[1, 0], [0, 1]], [1, -1]), PAIR)
    assert_sound(result)
    assert set(verdicts(result).values()) == {"refuted"}
    assert len(result.certificates) == 3  # one for all findings, and both ends of the bracket
    assert (result.objective, result.excess) == (None, None)
    assert result.bracket is not None
    assert "point 1" in result.fits.reason
    assert result.better is not None


def test_infeasible_data():
    result = audit(ONE, ([[1], [2]], [1, -1]))
    assert_sound(result)
    assert result.infeasible
    assert result.status == "infeasible"
    assert set(verdicts(result).values()) == {"refuted"}
    assert (result.bracket, result.excess, result.objective, result.better) == (None,) * 4
    assert "infeasible.json" in result.certificates


def test_zero_is_the_best_of_zero_targets():
    result = audit(Network.two_layer([[0, 0]], [0]), ([[1, 2], [3, 4]], [0, 0]), goal="min-norm")
    assert_sound(result)
    assert result.bracket == (0, 0)
    assert result.excess is None
    assert (result.global_any_width.verdict, result.stationary.verdict) == (PROVED, PROVED)
    worse = audit(Network.two_layer([[1, -1]], [1]), ([[0, 1], [-1, 0]], [0, 0]), goal="min-norm")
    assert_sound(worse)
    assert worse.global_any_width.verdict is REFUTED


@pytest.mark.parametrize("label", [1, -1])
def test_one_class_with_a_free_bias(label):
    """The infimum 0 is not attained: no network is optimal, and the bracket is (0, tiny)."""
    network = Network.two_layer([[0]], [label], b=[1])
    result = audit(network, ([[1], [2]], [label, label]), bias="free")
    assert_sound(result)
    lower, upper = result.bracket
    assert lower == 0 < upper < Fraction(1, 10**6)
    assert result.excess is None
    assert result.global_any_width.verdict is REFUTED


@pytest.mark.parametrize("slope", [0, "1/3", 1])
@pytest.mark.parametrize("bias", [None, "penalised", "free"])
@pytest.mark.parametrize("goal", ["max-margin", "min-norm"])
def test_float_networks_of_every_kind(slope, bias, goal):
    rng = np.random.default_rng(3)
    network = Network.two_layer(
        rng.standard_normal((3, 2)),
        rng.standard_normal(3),
        b=None if bias is None else rng.standard_normal(3),
        slope=slope,
    )
    X = rng.standard_normal((2 if slope == 1 else 5, 2))  # rounded outputs of a linear network are not linear
    y = np.array([float(network(x)) for x in X])
    if goal == "max-margin":
        X, y = X[y != 0], np.sign(y[y != 0])
    result = audit(network, (X, y), goal=goal, bias=bias)
    assert_sound(result)
    assert result.fits.verdict is PROVED
    assert result.bracket is not None
    assert result.bracket[1] <= result.bracket[0] * (1 + Fraction(1, 10**5)) + Fraction(1, 10**6)


# ------------------------------------------------------------------------------------------------- the repair


def test_min_norm_after_a_repair():
    """f(1) = 0.3 * 10 misses 3 by rounding: the statements are about the network that meets it."""
    network = Network.two_layer([[0.1]], [30.0])
    result = audit(network, ([[1]], [3]), goal="min-norm")
    assert_sound(result)
    assert result.fits.verdict is PROVED
    assert result.fits.level == "near"
    assert 0 < result.fits.moved < Fraction(1, 10**15)
    assert result.fits.subject.parameters == ((Fraction(1, 10),), (Fraction(30),))
    assert result.objective == (Fraction(1, 100) + 900) / 2
    assert result.stationary.subject == result.global_optimum.subject == result.fits.subject
    assert verdicts(result) == expected("proved", "refuted", "refuted", "refuted", "refuted")


def test_what_is_too_far_does_not_fit():
    result = audit(Network.two_layer([[1]], [1]), ([[1]], [2]), goal="min-norm")
    assert result.fits.verdict is REFUTED
    assert "too far" in result.fits.reason
    none = audit(Network.two_layer([[1]], [1]), ([[-1]], [2]), goal="min-norm")
    assert "no network near it that fits" in none.fits.reason
    near = audit(Network.two_layer([[1]], [1]), ([[1]], [2]), goal="min-norm", stationary_tol=1)
    assert near.fits.verdict is PROVED


# ------------------------------------------------------------------------------------------------- assumptions


def test_the_goal_follows_the_targets():
    for targets, goal in (([1, -1], "max-margin"), ([0, 1], "max-margin"), ([1, 1], "max-margin")):
        notes = []
        assert pose(ONE, ([[1], [-1]], targets), notes=notes).goal is Goal(goal)
        assert notes[0] == "the goal is max-margin, chosen from the labels"
    for targets in ([2, 2], [1, 2], ["1/2", "1"], [0, -1]):
        notes = []
        assert pose(ONE, ([[1], [-1]], targets), notes=notes).goal is Goal.MIN_NORM
        assert notes == ["the goal is min-norm, chosen from the targets"]


@pytest.mark.parametrize("label", [0, 1, -1])
def test_one_class_is_called_one_class(label):
    """Not a regression whose best network is zero; a goal that is given wins."""
    notes = []
    problem = pose(ONE, ([[1], [-1]], [label, label]), notes=notes)
    assert problem.goal is Goal.MAX_MARGIN
    assert set(problem.data.targets) == {1 if label == 1 else -1}
    assert notes[1].startswith(f"all labels are {label}: there is one class of two")
    assert notes[2:] == (["the label 0 was read as -1"] if label == 0 else [])
    notes.clear()
    asked = pose(ONE, ([[1], [-1]], [label, label]), goal="min-norm", notes=notes)
    assert (asked.goal, asked.data.targets, notes) == (Goal.MIN_NORM, (label, label), [])


def test_a_given_goal_is_not_noted():
    notes = []
    assert pose(ONE, ([[1]], [1]), goal="min-norm", notes=notes).goal is Goal.MIN_NORM
    assert pose(ONE, ([[1]], [1]), goal=Goal.MAX_MARGIN, notes=notes).goal is Goal.MAX_MARGIN
    assert notes == []


def test_labels_0_and_1():
    notes = []
    problem = pose(ONE, ([[1], [-1]], [1, 0]), notes=notes)
    assert problem.data.targets == (1, -1)
    assert notes[-1] == "labels 0 and 1 were read as -1 and 1"
    assert pose(ONE, ([[1], [-1]], [1, 0]), goal="min-norm").data.targets == (1, 0)
    result = audit(ONE, ([[1], [-1]], [1.0, 0.0]))
    assert result.notes == ("the goal is max-margin, chosen from the labels", "labels 0 and 1 were read as -1 and 1")


def test_the_bias_follows_the_network():
    biased = Network.two_layer([[1]], [1], b=[1])
    notes = []
    assert pose(ONE, ([[1]], [1]), goal="min-norm", notes=notes).bias is Bias.NONE
    assert notes == []
    assert pose(biased, ([[1]], [1]), goal="min-norm", notes=notes).bias is Bias.PENALISED
    assert notes == ["hidden biases count in the norm (bias: penalised)"]
    assert pose(biased, ([[1]], [1]), bias="free").bias is Bias.FREE
    assert pose(biased, ([[1]], [1]), bias=Bias.FREE, goal="min-norm", notes=notes).bias is Bias.FREE
    assert len(notes) == 1


def test_notes_of_the_caller_come_first():
    assert audit(ONE, ([[1]], [1]), notes=["read from a file"]).notes[0] == "read from a file"
    assert audit(ONE, ([[1]], [1]), goal="max-margin").notes == ()


def test_data_of_any_iterables():
    arrays = audit(ONE, (np.array([[1.0], [2.0]]), np.array([1, 1])))
    lists = audit(ONE, ([[1], [2]], (1, 1)))
    whole = audit(ONE, Dataset([["1"], ["2"]], ["1", "1"]))
    assert arrays.problem == lists.problem == whole.problem
    assert arrays.bracket == lists.bracket == whole.bracket


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goal": "maximum"}, "goal is 'maximum'; it must be one of max-margin, min-norm"),
        ({"bias": "some"}, "bias is 'some'; it must be one of none, penalised, free"),
        ({"trained": "none"}, "trained is 'none'; it must be one of both, hidden"),
        ({"bias": "free"}, "no bias"),
        ({"tol": -1e-6}, "tol is -1e-06; it must be at least 0"),
        ({"tol": float("nan")}, "tol is nan; give a number"),
        ({"tol": float("inf")}, "tol is inf; give a number"),
        ({"tol": None}, "tol is None; give a number"),
        ({"tol": "small"}, "tol is 'small'; give a number"),
        ({"tol": 1j}, "tol is 1j; give a number"),
        ({"stationary_tol": -1}, "stationary_tol is -1; it must be at least 0"),
        ({"stationary_tol": [1]}, r"stationary_tol is \[1\]; give a number"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(InputError, match=message):
        audit(ONE, ([[1]], [1]), **options)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (([[1, 2]], [1]), {}, "2 columns, but the network takes 1 input"),
        (([[1]], [2]), {"goal": "max-margin"}, r"targets\[0\] is 2; max-margin needs targets 1 and -1"),
        (([[1], [2]], [0, -1]), {"goal": "max-margin"}, r"targets\[0\] is 0"),
        (([[1]], [float("nan")]), {}, r"y\[0\] is nan"),
        (([[1], [2]], [1]), {}, "X has 2 points but y has 1 target"),
        (([], []), {}, "X is empty"),
    ],
)
def test_data_that_cannot_be(data, options, message):
    with pytest.raises(InputError, match=message):
        audit(ONE, data, **options)


@pytest.mark.parametrize("tol", [1e-2, Fraction(1, 100), "1/100", np.float64(0.01)])
def test_types_of_tolerances(tol):
    result = audit(Network.two_layer([[0, 2]], [2]), PAIR, tol=tol, stationary_tol=tol)
    assert result.tolerance in (Fraction(1, 100), Fraction(0.01))
    assert result.bracket[1] <= result.bracket[0] * (1 + result.tolerance)
    assert result.stationary.verdict is PROVED


def test_a_tolerance_of_0_asks_for_the_exact_optimum():
    result = audit(Network.two_layer([[1, 0], [-1, 0]], [1, 1]), ([[1, 0], [-1, 0]], [1, 1]), tol=0)
    assert_sound(result)
    assert result.global_any_width.verdict is not REFUTED


LINEAR = {"slope": 1}
EXACT_OPTIMA = {
    "linear, free bias": (
        Network.two_layer([[0, "3/2"]], ["3/2"], b=["3/2"], **LINEAR),
        Dataset([[-1, "-13/9"], [-2, "-5/9"], [1, "-5/9"], [1, "-5/9"]], [-1, 1, 1, 1]),
        {"bias": "free"},
    ),
    "linear, min-norm": (Network.two_layer([[2, 0]], [2], **LINEAR), Dataset([[1, 0], [2, 0], [0, 0]], [4, 8, 0]), {}),
    "linear, at half the margin": (Network.two_layer([[1]], [1], **LINEAR), Dataset([["1/2"], [1]], [1, 1]), {}),
    "two rays": (
        Network.two_layer([["-3/2"], ["3/2"]], ["3/2", "3/2"]),
        Dataset([["1/2"], [-2], [-2], [0], [0]], ["9/8", "9/2", "9/2", 0, 0]),
        {},
    ),
    "oblique": (Network.two_layer([["-3/5", "4/5"]], [1]), Dataset([[0, "5/4"], ["-8/3", "-3/4"]], [1, 1]), {}),
    "a penalised bias alone": (
        Network.two_layer([[0, 0]], [1], b=[1], masks=[(0, 2)]),
        Dataset([[0, -1], [-2, 1], [1, 1], [-1, -2], [0, "-1/2"]], [1] * 5),
        {"bias": "penalised"},
    ),
}


@pytest.mark.parametrize("name", EXACT_OPTIMA)
def test_an_exact_optimum_is_proved_without_a_gap(name):
    network, data, options = EXACT_OPTIMA[name]
    result = audit(network, data, tol=0, **options)
    assert result.global_any_width.verdict is result.global_optimum.verdict is PROVED
    assert result.local_optimum.verdict is PROVED
    assert result.bracket == (result.objective, result.objective)
    assert result.excess == (0, 0)


def test_what_is_no_optimum_gets_no_bound_without_a_gap():
    better = audit(Network.two_layer([[2, 0], [0, 2]], [2, 2], slope="1/4"), EDGE_DATA, tol=0)
    assert better.global_any_width.verdict is REFUTED


def test_a_failure_of_the_bound_without_a_gap_leaves_the_question_open(monkeypatch):
    from verify.deciders.closed_forms import gapless

    def fail(*_):
        raise FloatingPointError("planted")

    monkeypatch.setattr(gapless, "gapless_bound", fail)
    network, data, options = EXACT_OPTIMA["linear, free bias"]
    assert audit(network, data, tol=0, **options).global_any_width.verdict is UNDECIDED


def test_no_bound_without_a_gap_for_a_network_that_does_not_fit():
    from verify.deciders.closed_forms.gapless import gapless_bound

    network, data, _ = EXACT_OPTIMA["linear, min-norm"]
    problem = pose(network, data)
    assert gapless_bound(problem, network, ()) is None
    assert gapless_bound(problem, Network.two_layer([[1, 0]], [2], **LINEAR), ((0, Fraction(1)),)) is None
    assert gapless_bound(problem, network, ((0, Fraction(2)),)) is None  # ||sum|| is 2, not at most 1
    assert gapless_bound(problem, network, ((0, Fraction(1, 2)),)) is None  # a true bound, but a lower one
    assert gapless_bound(problem, network, ((0, Fraction(1)),)).bracket[0] == 4


def test_a_large_tolerance_proves_what_a_small_one_refutes(dead):
    result = audit(DEAD, PAIR, tol=2)
    assert_sound(result)
    assert result.global_any_width.verdict is result.global_optimum.verdict is PROVED
    assert dead.global_any_width.verdict is REFUTED


EDGE = Network.two_layer([[2, 0], [0, 2]], [2, 2], slope=Fraction(1, 4))
EDGE_DATA = Dataset([[1, 0], [2, 0], [0, "1/2"], [-2, 2], ["1/2", -2], [-6, 6]], [4, 8, 2, 6, 0, 18])


@pytest.mark.parametrize("tol", ["1/20", "0.0487", "0.0486", "0.0488", "1/25", "1/16"])
def test_the_search_goes_on_where_the_network_is_at_the_edge_of_the_tolerance(tol):
    """8 beside the best possible 7.6287, 4.867 % lower: a bracket as wide as the tolerance would not decide."""
    result = audit(EDGE, EDGE_DATA, tol=Fraction(tol))
    expected = PROVED if Fraction(tol) >= Fraction("0.0487") else REFUTED
    assert result.global_any_width.verdict is expected
    assert result.status == "done"


def test_a_failure_at_the_edge_leaves_the_first_bracket(monkeypatch):
    from verify.auditing import searching as auditing

    calls = []

    def search(*arguments, **options):
        calls.append(options["tol"])
        if len(calls) > 1:
            raise FloatingPointError("planted")
        return bracket_optimum(*arguments, **options)

    bracket_optimum = auditing.bracket_optimum
    monkeypatch.setattr(auditing, "bracket_optimum", search)
    result = audit(EDGE, EDGE_DATA, tol=Fraction(1, 20))
    assert len(calls) == 2
    assert result.global_any_width.verdict is UNDECIDED
    assert result.status == "done"
    low, high = result.bracket
    assert low < 8 / Fraction(21, 20) <= high


def test_exact_input_is_asked_for_exact_stationarity():
    """|w| = 1.0001 |v|: not stationary as given exactly, near a stationary network when it is a float."""
    w = Fraction(10001, 10000)
    exact = audit(Network.two_layer([[w, 0], [-w, 0]], [1, 1]), ([[1, 0], [-1, 0]], [1, 1]))
    floats = audit(Network.two_layer([[float(w), 0], [-float(w), 0]], [1, 1]), ([[1, 0], [-1, 0]], [1, 1]))
    strict = audit(
        Network.two_layer([[float(w), 0], [-float(w), 0]], [1, 1]), ([[1, 0], [-1, 0]], [1, 1]), stationary_tol=0
    )
    assert (exact.stationary.verdict, floats.stationary.verdict, strict.stationary.verdict) == (
        REFUTED,
        PROVED,
        REFUTED,
    )
    assert floats.stationary.level == "near"  # a KKT point of short weights lies there
    assert 0 < floats.stationary.moved < Fraction(1, 1000)


# ------------------------------------------------------------------------------------------------- left open


def deep(parameters):
    layers = (
        Layer(inputs=1, outputs=1, slope=Fraction(0)),
        Layer(inputs=1, outputs=1, slope=Fraction(0)),
        Layer(inputs=1, outputs=1, slope=None),
    )
    return Network(Architecture(layers), parameters)


def shared():
    layers = (
        Layer(inputs=2, outputs=2, slope=Fraction(0), entries=((0, 1), (1, 0))),
        Layer(inputs=2, outputs=1, slope=None),
    )
    return Network(Architecture(layers), [[1, 2], [1, 1]])


@pytest.mark.parametrize(
    ("network", "data", "reason"),
    [
        (deep([[1], [1], [1]]), ([[1]], [1]), "it has 2 hidden layers, and not one"),
        (shared(), ([[1, 1]], [1]), "it shares weights"),
    ],
)
def test_deep_and_shared_networks_with_layers_that_are_not_trained(network, data, reason):
    result = audit(network, data, trained="hidden")
    reason = f"with layers that are not trained only whether a network of this shape fits is decided: {reason}"
    assert_sound(result)
    assert verdicts(result) == expected("proved", *["undecided"] * 4)
    assert {finding.reason for name, finding in result.findings.items() if name != "fits"} == {reason}
    assert (result.bracket, result.excess, result.better, result.infeasible) == (None, None, None, False)
    json.dumps(result.to_json())


@pytest.mark.parametrize("network", [deep([[-1], [1], [1]]), deep([[1], [1], [-1]])])
def test_a_deep_network_that_does_not_fit(network):
    result = audit(network, ([[1]], [1]))
    assert result.fits.verdict is REFUTED
    assert_sound(result)
    result = audit(network, ([[1]], [3]), goal="min-norm")
    assert result.fits.verdict is REFUTED
    assert_sound(result)


def test_a_deep_network_that_interpolates():
    result = audit(deep([[1], [2], [1]]), ([[1]], [2]), goal="min-norm")
    assert result.fits.verdict is PROVED
    assert result.objective == 3


def test_hidden_only():
    result = audit(DEAD, PAIR, trained="hidden")
    assert result.problem.trained is Trained.HIDDEN
    assert verdicts(result) == expected("proved", "proved", "proved", "proved", "undecided")
    assert "the output weights are part of the question" in result.global_any_width.reason


def test_no_time_leaves_the_bracket_wide():
    result = audit(DEAD, PAIR, time_limit=0)
    assert_sound(result)
    assert result.fits.verdict is PROVED
    assert result.status == "time"
    assert result.bracket is None or result.bracket[0] <= Fraction(194029, 100000)


def test_an_interrupt_gives_what_is_known():
    def interrupt(_):
        raise KeyboardInterrupt

    result = audit(DEAD, PAIR, progress=interrupt)
    assert_sound(result)
    assert result.status == "interrupted"
    assert result.fits.verdict is PROVED
    assert result.bracket is not None


def test_progress_is_told():
    rounds = []
    result = audit(DEAD, PAIR, progress=rounds.append)
    assert tuple(rounds) == result.history


def fail(*_, **__):
    raise FloatingPointError("overflow on purpose")


def test_a_failure_of_the_search_leaves_global_questions_open(monkeypatch):
    monkeypatch.setattr("solvers.any_width.dual_cuts.solve", fail)
    network = Network.two_layer([[0, 2]], [2])
    assert audit(network, PAIR).status == "done"  # the search in many digits stands in for the one in doubles
    monkeypatch.setattr("verify.deciders.global_optimality.bracket.precise_bracket", fail)
    result = audit(network, PAIR)
    assert_sound(result)
    assert verdicts(result) == expected("proved", "proved", "proved", "undecided", "undecided")
    assert "overflow on purpose" in result.global_optimum.reason
    assert result.status.startswith("failed")
    assert result.bracket is None


def test_a_descent_refutes_global_optimality_too(monkeypatch):
    monkeypatch.setattr("solvers.any_width.dual_cuts.solve", fail)
    result = audit(DEAD, PAIR)
    assert_sound(result)
    assert verdicts(result) == expected("proved", "proved", "refuted", "refuted", "refuted")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (FloatingPointError, "on purpose"),
        (OverflowError, "numbers beyond the range of floating point"),
        (ZeroDivisionError, "on purpose"),
        (np.linalg.LinAlgError, "on purpose"),
    ],
)
def test_a_failure_of_the_fit_leaves_stationarity_open(monkeypatch, error, told):
    def fail(*_, **__):
        raise error("on purpose")

    monkeypatch.setattr("solvers.kkt.residual.fit_multipliers", fail)
    result = audit(DEAD, PAIR)
    assert_sound(result)
    assert verdicts(result) == expected("proved", "undecided", "undecided", "refuted", "refuted")
    assert told in result.stationary.reason


def test_a_failure_of_the_linear_program_leaves_feasibility_open(monkeypatch):
    monkeypatch.setattr("solvers.programs.linear.infeasibility_multipliers", fail)
    assert not audit(ONE, ([[1], [2]], [1, -1])).infeasible
    assert_sound(audit(DEAD, PAIR))


def test_a_failure_of_rounding_leaves_the_bracket_open(monkeypatch):
    monkeypatch.setattr("verify.deciders.global_optimality.float_search.lower_bound", fail)
    monkeypatch.setattr("verify.deciders.own_width.certificates.dual_point", fail)
    result = audit(Network.two_layer([[0, 2]], [2]), PAIR)
    assert_sound(result)
    assert result.global_optimum.verdict is UNDECIDED


@pytest.mark.parametrize(
    ("network", "data"),
    [
        (Network.two_layer([[1.0, 1.0]], [1.0]), ([[1e308, 1e308]], [1.0])),
        (Network.two_layer([[0.0], [0.0]], [1e308, -1e308], slope="1/3"), ([[8.0], [-1.0]], [1.0, 2.0])),
        (ONE, ([[Fraction(10) ** 400]], [1])),
        (Network.two_layer([[Fraction(10) ** 400]], [1]), ([[1]], [1])),
        (ONE, ([[1]], [Fraction(10) ** 400])),
    ],
)
def test_numbers_at_the_end_of_the_floats(network, data):
    assert_sound(audit(network, data, goal="min-norm", time_limit=10))


def test_a_tolerance_beyond_floats():
    assert audit(DEAD, PAIR, tol=10**9).global_optimum.verdict is PROVED
    with pytest.raises(InputError, match=r"tol is 1e400 \(rounded\)"):
        audit(DEAD, PAIR, tol=Fraction(10) ** 400)


@pytest.mark.parametrize("scale", [1e-100, 1e-9, 1e9, 1e100])
def test_verdicts_do_not_depend_on_the_scale(scale):
    """x s, w / s: another problem with the same answers."""
    X = scale * np.array([[1.0, 0.25], [-1.0, 0.25]])
    result = audit(Network.two_layer([[0.0, 2.0], [0.0, 0.0]], [2.0, 0.0]), (X, [1, 1]))
    assert_sound(result)
    assert verdicts(result) == expected("proved", "proved", "refuted", "refuted", "refuted")
    assert float(result.bracket[0]) * scale == pytest.approx(8 / 17**0.5)  # the goal is a float's, the proof is not


# ------------------------------------------------------------------------------------------------- JSON and files


FINDING_KEYS = {"verdict", "reason", "claim", "level", "moved", "subject", "certificates"}
AUDIT_KEYS = {
    "schema", "problem", "network", "objective", "findings", "bracket", "excess", "infeasible", "seconds",
}  # fmt: skip


def near_repair():
    return audit(Network.two_layer([[0.1], [-0.2]], [30.0, 1.0]), ([[1], [-1]], [3, 0.2]), goal="min-norm")


AUDITS = {
    "dead": lambda: audit(DEAD, PAIR),
    "does not fit": lambda: audit(Network.two_layer([[1, 0], [0, 1]], [1, -1]), PAIR),
    "infeasible": lambda: audit(ONE, ([[1], [2]], [1, -1])),
    "deep": lambda: audit(deep([[1], [1], [1]]), ([[1]], [1])),
    "repaired": near_repair,
    "free": lambda: audit(
        Network.two_layer([[1, 2], [2, -1]], [1, -1], b=[0, 1]), ([[1, 1], [0, 2], [3, -1]], [1, 1, -1]), bias="free"
    ),
}


@pytest.mark.parametrize("name", AUDITS)
def test_the_json_object(name, tmp_path):
    result = AUDITS[name]()
    paths = result.save(tmp_path)
    for value in (result.to_json(), result.to_json(paths)):
        assert json.loads(json.dumps(value, allow_nan=False)) == value
        assert value.keys() >= AUDIT_KEYS
        assert value["schema"] == "audit-1"
        assert value["network"] == {
            "width": result.network.width,
            "depth": result.network.depth,
            "parameters": result.network.architecture.parameter_count,
            "sha256": result.network.sha256(),
        }
        assert value["problem"]["sha256"] == result.problem.sha256()
        assert value["objective"] == (None if result.objective is None else str(result.objective))
        for key in ("bracket", "excess"):
            ends = getattr(result, key)
            assert value[key] == (None if ends is None else [str(end) for end in ends])
        assert value["infeasible"] is result.infeasible
        assert isinstance(value["seconds"], float)
        assert list(value["findings"]) == list(verdicts(result))
        for key, found in value["findings"].items():
            assert_json_of(result.findings[key], found)
    for key, found in result.to_json(paths)["findings"].items():
        assert [read_certificate(Path(path).read_text("utf-8")) for path in found["certificates"]] == list(
            result.findings[key].certificates
        )
        subject = result.findings[key].subject
        assert (found["subject"] is None) == (subject is None)
        if subject is not None:
            assert Network.from_json(json.loads(Path(found["subject"]).read_text("utf-8"))) == subject
    written = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    files = {path.name: path for path in tmp_path.iterdir() if path.name != "audit.json"}
    hashes = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    assert written == result.to_json({name: name for name in paths}) | {"files": hashes}


def assert_json_of(finding, found):
    assert found.keys() >= FINDING_KEYS
    assert found["verdict"] == finding.verdict.value
    assert (found["reason"], found["claim"], found["level"]) == (finding.reason, finding.claim, finding.level)
    assert found["moved"] is None or isinstance(found["moved"], float)
    assert (found["moved"] is None) == (finding.moved is None)
    assert found["level"] in (None, "exact", "near", "approximate")


def test_without_files_there_are_no_paths(dead):
    found = dead.to_json()["findings"].values()
    assert all(finding["certificates"] == [] and finding["subject"] is None for finding in found)


@pytest.mark.parametrize("name", AUDITS)
def test_saved_files_pass_the_checker_alone(name, tmp_path):
    result = AUDITS[name]()
    paths = result.save(tmp_path / "new" / "folder")
    assert Problem.from_json(json.loads(Path(paths["problem.json"]).read_text("utf-8"))) == result.problem
    assert Network.from_json(json.loads(Path(paths["network.json"]).read_text("utf-8"))) == result.network
    assert result.certificates
    run = "sys.exit(max(main([*sys.argv[1:3], c]) for c in sys.argv[3:]))"
    script = f"import sys; from verify.checker.__main__ import main; {run}"
    certificates = [paths[file] for file in result.certificates]
    checked = subprocess.run(
        [sys.executable, "-c", script, paths["problem.json"], paths["network.json"], *certificates],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.count("accepted: ") == len(certificates)


def test_one_saved_file_passes_the_module_on_the_command_line(tmp_path, dead):
    paths = dead.save(tmp_path)
    for network, name in ((paths["network.json"], "stationary.json"), ("-", "lower-bound.json")):
        checked = subprocess.run(
            [sys.executable, "-m", "verify.checker", paths["problem.json"], network, paths[name]],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert (checked.returncode, checked.stderr) == (0, "")
        assert checked.stdout.startswith("accepted: ")


def test_saving_again_replaces_the_files_of_the_audit_and_no_others(tmp_path, dead):
    (tmp_path / "mine.txt").write_text("keep me")
    dead.save(tmp_path)
    before = {path.name for path in tmp_path.iterdir()}
    audit(deep([[1], [1], [1]]), ([[1]], [1]), trained="hidden").save(tmp_path)
    after = {path.name for path in tmp_path.iterdir()}
    assert after == {"mine.txt", "problem.json", "network.json", "fits.json", "audit.json"}
    assert {"better.network.json", "lower-bound.json", "upper-bound.json"} <= before


def test_better_networks_are_saved(tmp_path, dead):
    dead.save(tmp_path)
    found = Network.from_json(json.loads((tmp_path / "better.network.json").read_text("utf-8")))
    assert found == dead.better


def test_the_text_of_an_audit(dead):
    assert "refuted" in str(dead).lower()


# ------------------------------------------------------------------------------------------------- the bracket alone


def test_a_bracket_without_a_network():
    problem = Problem(PAIR, DEAD.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    for network in (None, DEAD):
        found = certified_bracket(problem, 1e-4, network=network)
        lower, upper = found.ends
        assert lower**2 <= Fraction(64, 17) <= upper**2
        assert upper <= lower * (1 + Fraction(1, 10**4))
    assert certified_bracket(problem, time_limit=0).status == "time"


def test_an_optimum_written_with_seventeen_digits_is_stationary_up_to_its_rounding(tmp_path):
    """Exact input is judged exactly; what the conditions hold up to is proved beside, and stays in the folder."""
    size = Fraction("0.70710678118654752")
    network = Network.two_layer([[size, -size]], [1])
    result = audit(network, Dataset([[1, -1]], [1]))
    exact, held = result.stationary.certificates
    assert (result.stationary.verdict, exact.epsilon, exact.delta) == (Verdict.REFUTED, 0, 0)
    assert 0 < held.epsilon < Fraction(1, 10**13)
    assert result.stationary.reason.endswith("; the KKT conditions hold up to ε = 8.1e-15, δ = 0")
    assert result.global_any_width.verdict is Verdict.PROVED
    assert {"stationary.json", "stationary-approximate.json"} <= set(result.save(tmp_path))
    far = audit(Network.two_layer([[1, 0]], [1]), Dataset([[1, 1]], [1]))
    assert [certificate.KIND for certificate in far.stationary.certificates] == ["not-stationary"]


def test_an_audit_is_done_only_when_the_bracket_is_as_narrow_as_asked():
    network, data = Network.two_layer([[1, 0], [0, -1]], [1, 1]), Dataset([[1, 1], [0, -1]], [1, 1])
    assert audit(network, data).status == "done"
    sharp = audit(network, data, tol=0)
    assert sharp.bracket[0] < sharp.bracket[1]
    assert re.fullmatch(r"stalled \(the bracket is \S+e-1\d wide \(relative\), and 0 was asked\)", sharp.status)
    assert audit(Network.two_layer([[1]], [1]), Dataset([[1]], [1]), tol=0).status == "done"
    constant = audit(Network.two_layer([[1]], [1], b=[1]), Dataset([[1], [2]], [1, 1]), bias="free")
    assert constant.status == "stalled (the lower end of the bracket is 0, and the upper one is not)"
    layers = [Layer(inputs=1, outputs=1, slope=Fraction(0)), Layer(inputs=1, outputs=1, slope=Fraction(0))]
    deep = Network(Architecture((*layers, Layer(inputs=1, outputs=1, slope=None))), ([1], [1], [1]))
    undecided_ = audit(deep, Dataset([[1]], [1]), trained="hidden")
    assert undecided_.status == f"stalled ({undecided_.stationary.reason})"
    assert str(undecided_.status) in json.dumps(undecided_.to_json(), ensure_ascii=False)


def test_a_tolerance_is_the_decimal_that_it_prints():
    network, data = Network.two_layer([[1]], [1]), Dataset([[1]], [1])
    assert audit(network, data, tol=0.1).tolerance == Fraction(1, 10)
