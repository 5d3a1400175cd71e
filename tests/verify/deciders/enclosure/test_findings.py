"""What an audit makes of the exact KKT point near a network."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.differential.auditing import audited
from tests.differential.drawing import draw
from tests.losses import posed
from verify import Network, Verdict, audit, read
from verify.auditing.loop import pose
from verify.checker import Accepted, check
from verify.checker.enclosure import StationaryNear
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.enclosure import Sought, enclosing, nearby_point
from verify.deciders.enclosure.findings import FARTHEST, local_without_exact_point, strengthened
from verify.deciders.finding import Question, undecided
from verify.deciders.time_limits import TimeIsUpError
from verify.readers import read_data
from verify.report import as_text

MOONS = Path(__file__).parents[4] / "examples" / "moons-40"
POINTS = ([[1, Fraction(1, 4)], [-1, Fraction(1, 4)]], [1, 1])


def two_neurons(noise=0.0, wider=False):
    """The optimum of `POINTS`, of norm 8 / sqrt 17, in floats."""
    p = np.array([[4.0, 1.0], [-4.0, 1.0]]) / np.sqrt(17)
    size = 2 / 17**0.25
    W = p * size + noise
    rows = [*W.tolist(), [0.0, 0.0]] if wider else W.tolist()
    return Network.two_layer(rows, [size] * 2 + [0.0] * wider)


def test_a_near_point_is_a_stronger_statement_beside_epsilon_and_delta():
    result = audit(two_neurons(noise=1e-5), POINTS, tol=1e-9)
    found = result.stationary
    assert (found.verdict, found.level, found.subject) == (Verdict.PROVED, "near", None)
    assert [type(proof) for proof in found.certificates] == [StationaryNear, Stationary]
    assert found.numbers["distance"] == found.moved < 1e-4
    assert 0 < found.numbers["epsilon"] < 1e-3
    assert (result.local_optimum.verdict, result.local_optimum.level) == (Verdict.PROVED, "near")
    assert result.global_any_width.verdict is not Verdict.UNDECIDED


def test_both_certificates_are_saved(tmp_path):
    result = audit(two_neurons(noise=1e-5), POINTS, tol=1e-9)
    paths = result.save(tmp_path)
    assert {"stationary-near.json", "stationary.json"} <= set(paths)
    listed = result.to_json(paths)["findings"]["stationary"]["certificates"]
    assert sorted(Path(path).name for path in listed) == ["stationary-near.json", "stationary.json"]
    assert audit(two_neurons(), POINTS).save(tmp_path)  # the files of the earlier audit are removed first


def test_zero_neurons_do_not_hide_a_global_optimum():
    found = audit(two_neurons(noise=1e-5, wider=True), POINTS, tol=1e-9).local_optimum
    assert (found.verdict, found.level) == (Verdict.PROVED, "near")
    assert found.certificates[0].optimality == "optimum of any width"


def test_a_distant_point_is_told_but_proves_nothing():
    result = audit(two_neurons(noise=0.05), POINTS)
    assert result.stationary.verdict is Verdict.REFUTED
    assert "which is not called near; neuron" in result.stationary.reason
    assert 1e-3 < result.stationary.numbers["distance"] < 0.2
    assert result.local_optimum.verdict is Verdict.REFUTED


def test_nothing_is_looked_for_at_tolerance_0():
    exact = Network.two_layer([[2, 0], [0, 0]], [2, 0])
    result = audit(exact, ([[1, Fraction(1, 4)], [1, Fraction(-1, 4)]], [1, 1]))
    assert not any(isinstance(proof, StationaryNear) for proof in result.certificates.values())


def test_failures_leave_the_findings(monkeypatch):
    network, data = read(MOONS / "relu-kkt.npz"), read_data(MOONS / "data.npz")
    for error in (OverflowError, ValueError):

        def broken(*_, error=error):
            raise error

        monkeypatch.setattr("verify.deciders.enclosure.nearby_point", broken)
        found = audit(network, data, time_limit=20).stationary
        assert (found.verdict, found.level) == (Verdict.PROVED, "approximate")
        assert "the floating-point search failed" in found.reason


@pytest.mark.parametrize("case", ["two neurons", "regression-12"])
def test_a_stationary_point_of_unknown_optimality_leaves_local_optimality_open(monkeypatch, case):
    """Also where the network itself is refuted, as the regression: its kinks are not quite kinks."""
    network, data = two_neurons(noise=1e-6), POINTS
    if case == "regression-12":
        network, data = read(MOONS.parent / case / "relu-kkt.npz"), read_data(MOONS.parent / case / "data.npz")
    problem = pose(network, data)
    nearby = nearby_point(problem, network)
    weaker = replace(nearby.certificate, optimality="stationary point", pricing=None)
    monkeypatch.setattr("verify.deciders.enclosure.nearby_point", lambda *_: replace(nearby, certificate=weaker))
    result = audit(network, data)
    assert (result.stationary.verdict, result.stationary.level) == (Verdict.PROVED, "near")
    assert result.stationary.certificates[0].optimality == "stationary point"
    assert result.local_optimum.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("off", [1e-17, 1e-5])
def test_beside_an_exact_point_on_the_kinks_it_is_not_said_that_none_was_found(off):
    """A neuron that is moved onto its kink makes the network an exact KKT point; no box is found there."""
    result = audit(Network.two_layer([[1, off], [0, 1]], [1, -1]), ([[1, 0], [0, 1]], [1, -1]))
    found = result.stationary
    assert (found.verdict, found.level) == (Verdict.PROVED, "near")
    assert isinstance(found.certificates[0], Stationary)
    assert found.reason == "an exact KKT point with λ_0 = 1, λ_1 = 1"


def test_open_findings_are_answered_and_others_kept():
    network = two_neurons(noise=1e-6)
    result = audit(network, POINTS)
    open_ = {question: undecided(question, "open") for question in Question}
    found = strengthened(result.problem, network, open_, Fraction(1, 1000))
    assert [found[q].verdict for q in Question] == [Verdict.UNDECIDED, *[Verdict.PROVED] * 4]
    kept = strengthened(result.problem, network, open_, Fraction(0))
    assert kept == open_


@pytest.mark.parametrize("deadline", [0.0])
def test_a_deadline_in_the_past(deadline):
    network = two_neurons(noise=1e-6)
    result = audit(network, POINTS)
    open_ = {question: undecided(question, "open") for question in Question}
    with pytest.raises(TimeIsUpError):  # no word of the pattern, whose program was not solved
        strengthened(result.problem, network, open_, Fraction(1, 1000), deadline)


def near(weights, outgoing, noise, size=100.0):
    """A network about a KKT point, in floats, of another size."""
    random = np.random.default_rng(3)
    W, v = np.array(weights, float), np.array(outgoing, float)
    W, v = W + noise * random.normal(size=W.shape), v + noise * random.normal(size=v.shape)
    return Network.two_layer((size * W).tolist(), (size * v).tolist())


@pytest.mark.parametrize("noise", [1e-9, 1e-6, 1e-4])
def test_a_near_point_with_short_numbers_is_decided_also_when_it_is_no_local_optimum(noise):
    """Theorem 3.2 of arXiv:2110.02732: the neuron that is off can do better, however near training came."""
    result = audit(near([[0, 2], [0, 0]], [2, 0], noise), POINTS)
    assert (result.stationary.verdict, result.stationary.level) == (Verdict.PROVED, "near")
    assert 0 < result.stationary.moved < Fraction(1, 1000)
    assert (result.local_optimum.verdict, result.local_optimum.level) == (Verdict.REFUTED, "near")
    assert result.local_optimum.moved == result.stationary.moved
    assert "neurons 0 and 1" in result.local_optimum.reason
    assert result.global_optimum.verdict is Verdict.REFUTED


def test_a_near_local_optimum_with_short_numbers():
    """Two opposite points, a neuron each, and a third neuron that is off."""
    data, a = ([[Fraction(1, 2), 0], [Fraction(-1, 2), 0]], [1, 1]), np.sqrt(2)
    result = audit(near([[a, 0], [-a, 0], [0, 0]], [a, a, 0], 1e-7), data)
    assert result.local_optimum.subject is not None
    assert (result.local_optimum.verdict, result.local_optimum.level) == (Verdict.PROVED, "near")


def test_what_looks_rational_but_is_no_kkt_point_is_not_believed():
    result = audit(near([[0.25, 2.0], [0, 0]], [2, 0], 1e-7), POINTS)
    assert result.stationary.level != "near"
    assert result.local_optimum.verdict is not Verdict.PROVED


# ------------------------------------------------------------------------- nearly stationary, and exactly not


# The multipliers are not unique, or kinks are kinks nearly, or the exact point is too far away: given and repaired
# networks, moved onto kinks or not.
NEARLY = [(71, number) for number in (50, 199, 202, 433, 471, 537, 571, 583, 904)]


@pytest.mark.parametrize("drawn", NEARLY)
def test_what_is_nearly_stationary_and_exactly_not_is_no_local_optimum(drawn):
    result = audited(draw(*drawn))
    stationary, local = result.stationary, result.local_optimum
    assert (stationary.verdict, stationary.level) == (Verdict.PROVED, "approximate")
    assert local.verdict is Verdict.REFUTED
    assert (local.subject, local.moved) == (stationary.subject, stationary.moved)
    (proof,) = local.certificates
    assert isinstance(proof, NotStationary)
    assert proof.epsilon == 0
    assert isinstance(check(result.problem, result.network, proof), Accepted)
    assert "the KKT conditions do not hold exactly, so better networks lie arbitrarily near" in as_text(result, 200)


@pytest.mark.parametrize("tol", [0, Fraction(1, 10**6)])
def test_what_is_exactly_not_stationary_is_optimal_within_more_than_0_only(tol):
    network = Network.two_layer([[1 + Fraction(1, 10**9), 0]], [1])
    result = audit(network, ([[1, 0]], [1]), stationary_tol=1e-3, near=0, tol=tol)
    assert result.stationary.level == "approximate"
    assert result.local_optimum.verdict is Verdict.REFUTED
    for finding in (result.global_optimum, result.global_any_width):
        assert finding.verdict is (Verdict.REFUTED if tol == 0 else Verdict.PROVED), finding.reason


def test_more_time_might_find_an_exact_point(monkeypatch):
    """Then the network is not called a bad one for what rounding did to it."""

    def late(*_):
        raise TimeIsUpError

    monkeypatch.setattr("verify.auditing.concluding.strengthened", late)
    result = audited(draw(71, 904), time_limit=1000)
    assert result.stationary.level == "approximate"
    assert result.local_optimum.verdict is Verdict.UNDECIDED
    assert any("exact KKT point near" in note for note in result.notes)


def test_a_repair_that_lost_a_kink_is_not_refuted(monkeypatch):
    result = audited(draw(71, 904))
    findings = {
        Question.STATIONARY: result.stationary,
        Question.LOCAL_OPTIMUM: undecided(Question.LOCAL_OPTIMUM, "open"),
    }
    subject = result.stationary.subject
    found = local_without_exact_point(result.problem, result.network, findings, subject)
    assert found.verdict is Verdict.REFUTED
    monkeypatch.setattr("verify.deciders.enclosure.findings.lost_kinks", lambda *_: [(0, 0)])
    found = local_without_exact_point(result.problem, result.network, findings, subject)
    assert found is findings[Question.LOCAL_OPTIMUM]


def losing(*, noise):
    """Two neurons near a stationary point of 1/2 r^2 with decay 1/10, each at one side: 5 (1 - p) = 1/10, p = v w."""
    rows, targets = [[1], [2], [-1], [-2]], [1, 2, 1, 2]
    problem = posed("squared", rows, targets, "1/10", width=2)
    size = 0.98**0.5 * (1 + noise)
    return problem, Network.two_layer([[size], [-size]], [size, size])


def test_a_point_that_is_too_far_to_be_told_of_is_not_enclosed():
    problem, network = losing(noise=0.3)
    assert nearby_point(problem, network).certificate.moved > FARTHEST
    nearby = nearby_point(problem, network, sought=Sought(farthest=FARTHEST))
    assert nearby.certificate is None
    assert "of its norm away" in nearby.reason
    near = nearby_point(*losing(noise=0.01), sought=Sought(farthest=FARTHEST)).certificate
    assert near.moved < FARTHEST


@pytest.mark.parametrize(
    ("sought", "is_priced"),
    [
        (Sought(), True),
        (Sought(nearest=1e-9), False),  # it answers nothing
        (Sought(is_open=False), False),  # it is a local optimum anyway, and which is the best is known
        (Sought(most=Fraction(10)), True),
        (Sought(most=Fraction(1, 10)), False),  # something better is known
        (Sought(least=Fraction(10), most=Fraction(10)), True),
    ],
)
def test_trees_are_grown_where_the_point_may_be_the_best_and_that_answers_something(monkeypatch, sought, is_priced):
    monkeypatch.setattr(enclosing, "FEW", 0)
    proof = nearby_point(*losing(noise=0.001), sought=sought).certificate
    assert proof.optimality == ("optimum of any width" if is_priced else "local optimum")


def test_what_is_known_of_an_objective():
    assert Sought(value=1.0).may_be_best
    assert not Sought(value=1.0).is_best
    assert Sought(value=1.0, least=Fraction(1), most=Fraction(2)).is_best
    assert not Sought(value=1.5, least=Fraction(1), most=Fraction(2)).is_best
    assert Sought(value=1.5, most=Fraction(3, 2)).may_be_best
    assert not Sought(value=1.5, most=Fraction(1)).may_be_best


def test_a_reading_is_tried_once(monkeypatch):
    """All tolerances read this point alike."""
    tried = []
    monkeypatch.setattr(enclosing, "_certificate", lambda *given: tried.append(given) or "nothing")
    assert nearby_point(*losing(noise=0.001)).certificate is None
    assert len(tried) == 1
