"""Which network an audit is about: near enough, fitting exactly, and the one of which most is proved."""

import random
from fractions import Fraction

import numpy as np
import pytest

from tests.verify.deciders.test_witnesses import posed
from tests.words import check_words
from verify import Dataset, Goal, Network, audit
from verify.checker.statement import pattern
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.proposal import Proposal, how_floats_failed
from verify.deciders.subjects import Chosen, candidates, choose
from verify.deciders.witnesses import distance
from verify.problem.posing import pose
from verify.problem.problem import objective, outputs

NEAR = Fraction(1, 1000)
ROOT = 2.0**-0.25
XOR = posed([[0, 1], [1, 0], [1, 1]], [1, 1, 0], width=2)
ROUNDED = Network.two_layer([[ROOT, -ROOT], [-ROOT * (1 + 1e-15), ROOT]], [2**0.25] * 2)


def test_candidates_fit_and_are_near():
    found, farther = candidates(XOR, XOR, ROUNDED, NEAR)
    assert found
    assert not farther
    for network in found:
        assert outputs(XOR, network) == [1, 1, 0]
        assert distance(network, ROUNDED) <= NEAR
    near, farther = candidates(XOR, XOR, ROUNDED, Fraction(0))
    assert not near
    assert farther
    assert all(objective(XOR, network) is not None for network in farther)
    assert candidates(XOR, XOR, ROUNDED, NEAR, deadline=0.0) == ([], [])


def test_a_network_that_fits_comes_first():
    exact = Network.two_layer([[1, -1], [-1, 1]], [1, 1])
    found, _ = candidates(XOR, XOR, exact, NEAR)
    assert found[0] is exact
    subject = choose(XOR, exact, found, NEAR, None)
    assert subject.network is exact
    margin = posed([[1, 0], [0, 1]], [1, 1], goal=Goal.MAX_MARGIN, width=2)
    assert candidates(margin, margin, exact, NEAR) == ([exact], [])
    assert candidates(margin, margin, Network.two_layer([[1, 0], [0, -1]], [1, 1]), NEAR) == ([], [])


def test_within_a_fit_tolerance_no_repair_is_looked_for():
    loose = XOR.within(Fraction(1, 100))
    assert candidates(loose, loose, ROUNDED, NEAR) == ([ROUNDED], [])


def test_the_kkt_point_is_chosen_among_the_repairs():
    """Given in the wrong order: the one off its kinks is refuted, the one on them proved."""
    found, _ = candidates(XOR, XOR, ROUNDED, NEAR)
    on = [network for network in found if sum(row.count(0) for row in pattern(XOR, network)) == 2]
    off = [network for network in found if network not in on]
    assert on
    assert off
    subject = choose(XOR, ROUNDED, [*off, *on], NEAR, None)
    assert subject.network is on[0]
    assert isinstance(subject.stationary.certificate, Stationary)


def test_what_is_refuted_after_a_kink_was_lost_is_not_said():
    found, _ = candidates(XOR, XOR, ROUNDED, NEAR)
    off = [network for network in found if not any(row.count(0) for row in pattern(XOR, network))]
    subject = choose(XOR, ROUNDED, off, NEAR, None)
    assert subject.stationary.certificate is None
    assert "kink" in subject.stationary.reason


def test_imbalance_is_said_of_any_repair():
    skew = Network.two_layer([[ROOT / 2, -ROOT / 2], [-ROOT, ROOT]], [2**1.25, 2**0.25])
    found, _ = candidates(XOR, XOR, skew, NEAR)
    off = [network for network in found if not any(row.count(0) for row in pattern(XOR, network))]
    for part in (found, off):
        assert isinstance(choose(XOR, skew, part, NEAR, None).stationary.certificate, NotStationary)


@pytest.mark.parametrize("bias", ["penalised", "free"])
def test_what_moves_the_output_bias_is_no_imbalance_of_a_neuron(bias):
    """A repair of a network with an output bias may be refuted by a vector with a part along it."""
    network = Network.two_layer([[2, "1/2"]], [-1], b=[3], b2=1)
    data = Dataset([[0, 3], ["1/3", 0]], ["-9/2", "-11/3"])
    found = audit(network, data, goal="min-norm", bias=bias, tol=1e-12, stationary_tol=0.5)
    assert (found.fits.verdict.value, found.fits.level) == ("proved", "near")
    check_words(found)


def test_a_network_whose_kinks_are_not_exact_is_judged_on_them():
    """It fits as it is, by a preactivation just below 0; with the kink it is nearly stationary."""
    exact = Network.two_layer([[1, -1], [-1, 1]], [1, 1])
    skew = Network.two_layer([[1, -1 - Fraction(1, 10**15)], [-1, 1]], [1, 1])
    found, _ = candidates(XOR, XOR, skew, NEAR)
    assert found[0] is skew
    assert exact in found
    assert choose(XOR, skew, found, Fraction(0), None).network is skew
    balanced = Network.two_layer([[2, -2], [-2, 2]], [Fraction(2), Fraction(2)])
    assert choose(XOR, balanced, [balanced], NEAR, None).network is balanced


@pytest.mark.parametrize("error", [FloatingPointError("overflow"), ValueError("too long")])
def test_a_failed_search_leaves_the_question_open(error, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("verify.deciders.subjects.stationarity", fail)
    subject = choose(XOR, ROUNDED, candidates(XOR, XOR, ROUNDED, NEAR)[0], NEAR, None)
    assert subject.stationary.certificate is None
    assert type(error).__name__ in subject.stationary.reason
    monkeypatch.setattr("verify.deciders.subjects.repairs", fail)
    assert candidates(XOR, XOR, ROUNDED, NEAR) == ([], [])


def test_linear_networks_have_no_kinks_to_lose():
    rows = np.eye(2).tolist()
    problem = posed(rows, [1, 1], slope=1)
    start = Network.two_layer([[1 + 1e-9, 1]], [1], slope=1)
    found, _ = candidates(problem, problem, start, NEAR)
    subject = choose(problem, start, found, NEAR, None)
    assert isinstance(subject, Chosen)
    assert isinstance(subject.stationary, Proposal)
    assert subject.network in found


def rescaled(draw, W, v, X, y):
    """The same question in other units: of outputs, of inputs, and of each neuron by itself."""
    power = [2.0 ** draw.randint(-60, 60) for _ in range(2)]
    yield W, [power[0] * a for a in v], X, [power[0] * t for t in y]
    yield [[a / power[1] for a in w] for w in W], v, [[power[1] * a for a in x] for x in X], y
    each = [2.0 ** draw.randint(-20, 20) for _ in v]
    yield (
        [[c * a for a in w] for c, w in zip(each, W, strict=True)],
        [a / c for c, a in zip(each, v, strict=True)],
        X,
        y,
    )


@pytest.mark.parametrize("number", range(40))
def test_what_is_near_does_not_depend_on_units(number):
    """Targets are off by parts from rounding to a half, about the limit too."""
    draw = random.Random(number)
    width, dimension, points = draw.randint(1, 3), draw.randint(1, 2), draw.randint(1, 3)
    W = [[draw.choice([-1.0, 1.0, draw.gauss(0, 1)]) for _ in range(dimension)] for _ in range(width)]
    v = [draw.choice([-1.0, 1.0, draw.gauss(0, 1)]) for _ in range(width)]
    X = [[draw.choice([-1.0, 1.0, draw.gauss(0, 1)]) for _ in range(dimension)] for _ in range(points)]
    exact = Network.two_layer(W, v)
    off = draw.choice([1e-15, 1e-6, 1e-4, 1e-3, 1e-2, 0.5])
    y = [float(exact(x)) + off * draw.gauss(0, 1) for x in X]

    def found(W, v, X, y):
        network = Network.two_layer(W, v)
        problem = pose(network, Dataset(X, y), goal="min-norm")
        return bool(candidates(problem, problem, network, NEAR)[0])

    own = found(W, v, X, y)
    assert all(found(*other) == own for other in rescaled(draw, W, v, X, y))
    if off == 0.5 and own:
        largest = max(map(abs, y))
        assert all(abs(float(exact(x)) - t) <= 1e-3 * largest for x, t in zip(X, y, strict=True))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OverflowError("integer division result too large for a float"), "numbers beyond the range of floating point"),
        (ValueError("array must not contain infs or NaNs"), "numbers beyond the range of floating point"),
        (ZeroDivisionError("x"), "ZeroDivisionError: x"),
    ],
)
def test_numbers_beyond_floats_are_told_as_such(error, said):
    assert how_floats_failed(error) == said
