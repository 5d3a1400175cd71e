"""Audits of networks that fit within a tolerance: regressions that training left near their targets."""

import json
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner

from verify import Architecture, Bias, Dataset, Goal, Network, Problem, audit
from verify.auditing.loop import certified_bracket, pose
from verify.checker import Accepted, check
from verify.checker.errors import InputError
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.local import Local, NotLocal
from verify.checker.statement import half_squared_norm
from verify.checker.stationary import NotStationary, Stationary
from verify.cli import program
from verify.corpus.case_values import case_value
from verify.deciders.finding import Verdict
from verify.deciders.fit.output_rounding import output_rounding
from verify.deciders.local_optimality import local_optimality
from verify.deciders.stationarity import stationarity
from verify.problem.problem import outputs
from verify.readers import read_case

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED


def verdicts(result):
    return [finding.verdict for finding in result.findings.values()]


def ramps(size, *, kind=Fraction):
    return Network.two_layer([[kind(size)], [-kind(size)]], [kind(size), -kind(size)])


def regression(points=30, neurons=24, ridge=1e-4):
    """sin(3 x) by ReLU features and ridge regression, balanced: MSE about 1e-5, no interpolation."""
    x = np.linspace(-1, 1, points)
    y = np.sin(3 * x)
    w = np.where(np.arange(neurons) % 2, 1.0, -1.0)
    b = w * np.linspace(-0.97, 0.97, neurons)
    features = np.maximum(np.outer(x, w) + b, 0)
    v = np.linalg.solve(features.T @ features + ridge * np.eye(neurons), features.T @ y)
    size = np.sqrt(np.abs(v) / np.hypot(w, b))
    network = Network.two_layer((w * size)[:, None], v / size, b=b * size)
    return network, Dataset(x[:, None], y), features @ v - y


def run(*arguments):
    """The exit status of a command, and what it printed, as one line."""
    found = CliRunner().invoke(program, [str(argument) for argument in arguments], standalone_mode=False)
    return found.return_value or 0, " ".join(f"{found.output} {found.exception or ''}".split())


# ------------------------------------------------------------------------------------------------- what is asked


def test_all_five_answers_about_an_optimum_at_the_ends():
    """f must lie in [1, 3] at 1 and in [-3, -1] at -1: the ends 1 and -1 are reached."""
    result = audit(ramps(1), Dataset([[1], [-1]], [2, -2]), goal="min-norm", fit_tol=1)
    assert verdicts(result) == [PROVED] * 5
    assert result.bracket == (2, 2)
    assert isinstance(result.stationary.certificates[0], Stationary)
    assert "|f(x) − y| ≤ 1 at every point" in str(result)
    assert "every target is met within 1" in str(result)
    assert result.to_json()["problem"]["fit_tolerance"] == "1"


def test_the_same_network_is_far_from_the_best_of_a_wider_tolerance():
    result = audit(ramps(1), Dataset([[1], [-1]], [2, -2]), goal="min-norm", fit_tol="3/2")
    assert verdicts(result) == [PROVED, *[REFUTED] * 4]
    assert result.bracket == pytest.approx((1, 1), rel=1e-6)
    assert result.excess == pytest.approx((1, 1), rel=1e-5)


@pytest.mark.parametrize("given", [-1, "x", float("nan"), True, "-1/2"])
def test_a_tolerance_must_be_a_number_of_at_least_0(given):
    with pytest.raises(InputError, match="fit_tol"):
        audit(ramps(1), Dataset([[1], [-1]], [2, -2]), goal="min-norm", fit_tol=given)


def test_max_margin_has_none():
    with pytest.raises(InputError, match="max-margin asks for a margin and meets no targets"):
        audit(ramps(1), Dataset([[1], [-1]], [1, -1]), fit_tol=0.1)


def test_pose_takes_it():
    problem = pose(ramps(1), ([[1], [-1]], [2, -2]), fit_tol="1/3")
    assert problem.fit_tolerance == Fraction(1, 3)
    lower, upper = certified_bracket(problem).ends
    assert lower <= Fraction(10, 3) <= upper


def test_labels_may_be_fitted_within_a_tolerance():
    """Half of 1 is the optimum: a margin of 1/2 at either point."""
    result = audit(ramps(1), Dataset([[1], [-1]], [1, -1]), goal="min-norm", fit_tol="1/2")
    assert result.bracket == pytest.approx((1, 1), rel=1e-6)


# ------------------------------------------------------------------------------------------------- regressions


def test_a_regression_near_its_targets_is_told_what_to_ask():
    network, data, apart = regression()
    assert 3e-6 < np.mean(apart**2) < 3e-5
    result = audit(network, data)
    largest = np.abs(apart).max()
    tolerance = result.fits.reason.partition("--fit-tol ")[2].partition(" ")[0]
    assert largest <= float(tolerance) <= largest * 1.11
    assert audit(network, data, fit_tol=Fraction(tolerance)).fits.verdict is PROVED
    assert isinstance(result.fits.certificates[0], DoesNotFit)


def test_a_regression_has_an_excess_and_a_diagnosis(tmp_path):
    network, data, apart = regression()
    eps = Fraction(f"{np.abs(apart).max() * 1.01:.3g}")
    result = audit(network, data, fit_tol=eps)
    assert result.fits.verdict is PROVED
    assert result.objective == half_squared_norm(result.problem, network)
    lower, upper = result.bracket
    assert upper <= lower * (1 + Fraction(1, 10**6))
    assert result.excess[0] > 0
    assert all(verdict is REFUTED for verdict in verdicts(result)[1:])
    assert isinstance(result.stationary.certificates[0], NotStationary)
    parts = result.diagnosis.excess
    whole = parts.dead_hint + parts.imbalance_hint + parts.directions_hint + parts.slack_hint
    assert whole == pytest.approx(float(result.excess[1]), rel=1e-6)
    assert len(result.diagnosis.ladder) >= 2
    assert all(abs(f - y) <= eps for f, y in zip(outputs(result.problem, result.better), data.targets, strict=True))
    result.save(tmp_path / "proofs")
    for certificate in result.certificates.values():
        assert isinstance(check(result.problem, result.network, certificate), Accepted)
    again = audit(network, data, fit_tol=eps, warm_start=tmp_path / "proofs")
    assert again.bracket[0] >= lower
    assert not any("does not apply" in note for note in again.notes)
    other = audit(network, data, fit_tol=2 * eps, warm_start=tmp_path / "proofs")
    assert any("another fit tolerance, and does not apply" in note for note in other.notes)
    assert other.bracket[1] <= lower


def test_the_command(tmp_path, monkeypatch):
    network, data, apart = regression(points=12, neurons=8)
    monkeypatch.chdir(tmp_path)
    weights = np.array([[float(w) for w in row] for row in network.hidden_weights])
    np.savez("net.npz", W=weights[:, :1], b=weights[:, 1], v=[float(v) for v in network.output_weights], slope=0.0)
    np.savez("data.npz", X=[[float(x)] for (x,) in data.inputs], y=[float(y) for y in data.targets])
    tolerance = f"{np.abs(apart).max() * 1.01:.3g}"
    given = ["audit", "net.npz", "data.npz", "--fit-tol", tolerance]
    status, said = run(*given, "--json", "a.json", "--certificates", "proofs", "--plot", "a.png")
    assert status == 0
    assert f"|f(x) − y| ≤ {tolerance}" in said
    found = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert Fraction(found["problem"]["fit_tolerance"]) == Fraction(tolerance)
    assert found["excess"] is not None
    status, said = run("check", "proofs", "--network", "net.npz", "--data", "data.npz")
    assert status == 0
    assert "refused" not in said


def test_what_the_commands_refuse(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("net.npz", W=[[1.0]], v=[1.0], slope=0.0)
    np.savez("data.npz", X=[[1.0]], y=[1.0])
    _, said = run("audit", "net.npz", "data.npz", "--fit-tol", "0.1")
    assert "max-margin" in said
    _, said = run("audit", "net.npz", "data.npz", "--goal", "min-norm", "--fit-tol", "-0.1")
    assert "not a number of at least 0" in said
    _, said = run("train", "data.npz", "--width", "3", "--out", "new.npz", "--fit-tol", "0.1")
    assert "--fit-tol is for the audit: add --audit" in said


def test_training_passes_it_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", X=[[1.0], [-1.0]], y=[2.0, -0.5])
    given = ["train", "data.npz", "--width", "20", "--out", "new.npz", "--stop-at", "1e-4", "--audit"]
    status, said = run(*given, "--fit-tol", "0.1")
    assert status == 0
    assert "|f(x) − y| ≤ 0.1" in said
    assert "every target is met within 0.1" in said


# ------------------------------------------------------------------------------------------------- rounding


def rounded(targets_off):
    """Five points on the one piece of a neuron: outputs that no floats give exactly, and no repair meets all."""
    W, v = [[0.1, 0.3]], [0.7]
    X = [[0.1, 0.2], [0.3, 0.7], [1.1, 0.9], [2.3, 0.4], [0.6, 0.5]]
    y = [0.7 * (0.1 * a + 0.3 * b) + targets_off for a, b in X]
    return Network.two_layer(W, v), Dataset(X, y)


def test_what_rounding_explains_is_asked_about_with_that_tolerance():
    network, data = rounded(0.0)
    assert any(f != y for f, y in zip(outputs(pose(network, data), network), data.targets, strict=True))
    result = audit(network, data)
    eps = result.problem.fit_tolerance
    assert 0 < eps < Fraction(1, 10**14)
    assert result.fits.verdict is PROVED
    assert isinstance(result.fits.certificates[0], Fits)
    assert any("the rounding of its outputs in float64" in note for note in result.notes)
    assert result.bracket is not None
    assert audit(network, data, fit_tol=0).fits.verdict is REFUTED
    exact = Network.two_layer([[Fraction(1, 10), Fraction(3, 10)]], [Fraction(7, 10)])
    points = Dataset([[Fraction(str(float(x))) for x in row] for row in data.inputs], [0] * len(data))
    assert audit(exact, points).problem.fit_tolerance == 0


def test_more_than_rounding_is_not_explained():
    network, data = rounded(1e-13)
    result = audit(network, data)
    assert result.problem.fit_tolerance == 0
    assert result.fits.verdict is REFUTED


def test_the_rounding_bounds_what_floats_do():
    """Random networks in float32 and float64, summed in any order."""
    random = np.random.default_rng(3)
    for kind, bits in ((np.float32, 24), (np.float64, 53)):
        for trial in range(40):
            k, d, n, a = (*random.integers(1, 9, 3), 0.25 * (trial % 2))
            W, v, X = (random.standard_normal(size).astype(kind) for size in ((k, d), k, (n, d)))
            network = Network.two_layer(W, v, slope=a)
            order = random.permutation(k)
            z = np.zeros((n, k), kind)
            for c in random.permutation(d):
                z = z + X[:, c : c + 1] * W[:, c]
            computed = np.zeros(n, kind)
            for j in order:
                computed = computed + v[j] * np.maximum(z[:, j], kind(a) * z[:, j])
            problem = Problem(Dataset(X, computed), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
            found = output_rounding(problem, network)
            off = max(abs(f - y) for f, y in zip(outputs(problem, network), problem.targets, strict=True))
            assert off <= found.bound <= (k + d + 3) * Fraction(1, 2**bits) * 200
            assert found.precision == f"float{kind(0).nbytes * 8}"


def test_data_that_the_arithmetic_cannot_hold_are_rounded_first():
    network = Network.two_layer(np.array([[1.5]], np.float32), np.array([1.0], np.float32))
    y = Fraction(float(np.float32(0.1) * np.float32(1.5)))
    held = Problem(Dataset([[float(np.float32(0.1))]], [y]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    given = held.posed_on(Dataset([[0.1]], [0.15]))
    assert output_rounding(given, network).bound > output_rounding(held, network).bound
    assert abs(outputs(given, network)[0] - y) <= output_rounding(given, network).bound
    for size in (Fraction(10) ** 400, Fraction(17) * 10**307):
        assert output_rounding(held.posed_on(Dataset([[size]], [1])), network) is None


# ------------------------------------------------------------------------------------------------- KKT, local optima


def kkt_instance(random, slope):
    """An exact KKT point: a neuron for each of points on orthogonal axes, whose outputs are at ends of their intervals;
    at the kinks of the other neurons the slope 0 of ReLU is right.
    """
    n = 1 if slope else random.randint(1, 3)
    sizes = [Fraction(random.randint(1, 5), random.randint(1, 3)) for _ in range(n)]
    signs = [random.choice([1, -1]) for _ in range(n)]
    X = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    eps = Fraction(random.randint(1, 6), 7)
    y = [sign * (size**2 + eps) for size, sign in zip(sizes, signs, strict=True)]
    network = Network.two_layer(
        [[size * x for x in row] for size, row in zip(sizes, X, strict=True)],
        [sign * size for sign, size in zip(signs, sizes, strict=True)],
        slope=slope,
    )
    return Problem(Dataset(X, y), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE, fit_tolerance=eps), network


@pytest.mark.parametrize("slope", [0, Fraction(1, 3)])
def test_kkt_points_by_construction(slope):
    random = Random(11)
    for _ in range(15):
        problem, network = kkt_instance(random, slope)
        found = stationarity(problem, network, network, Fraction(0))
        assert isinstance(found.certificate, Stationary), found.reason
        local = local_optimality(problem, network, network)
        assert isinstance(local.certificate, Local | NotLocal), local.reason
        inside = problem.within(problem.fit_tolerance + Fraction(1, 50))
        assert isinstance(stationarity(inside, network, network, Fraction(0)).certificate, NotStationary)
        nearly = problem.within(problem.fit_tolerance + Fraction(1, 10**9))
        assert isinstance(stationarity(nearly, network, network, Fraction(1, 1000)).certificate, Stationary)


def test_a_multiplier_of_the_wrong_sign_makes_no_kkt_point():
    """f = 1 is at the upper end of [-1, 1]: it may fall, and lowers the norm."""
    problem = Problem(
        Dataset([[1]], [0]), Architecture.two_layer(1, 1), goal=Goal.MIN_NORM, bias=Bias.NONE, fit_tolerance=1
    )
    network = Network.two_layer([[1]], [1])
    assert isinstance(stationarity(problem, network, network, Fraction(0)).certificate, NotStationary)


def test_a_tie_decides():
    """The first neuron touches (-1, 1), where nothing is at its end: it may cross."""
    X, y = [[1, 1], [-1, 1]], [3, 0]
    network = Network.two_layer([[1, 1]], [1])
    result = audit(network, Dataset(X, y), goal="min-norm", fit_tol=1, stationary_tol=0)
    assert result.fits.verdict is PROVED
    assert result.stationary.verdict is not Verdict.UNDECIDED
    assert result.local_optimum.verdict is not Verdict.UNDECIDED


# ------------------------------------------------------------------------------------------------- cases


def test_a_case_file_keeps_it(tmp_path):
    problem = pose(ramps(1), ([[1], [-1]], [2, -2]), fit_tol="1/3")
    value = case_value(problem, ramps(1), comment="c", source="s", flags=[])
    path = tmp_path / "case.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    found = read_case(path)
    assert found.problem == problem
    assert "fit_tolerance" not in case_value(problem.within(0), ramps(1), comment="c", source="s", flags=[])["problem"]
    status, said = run("audit", path)
    assert status == 0
    assert "every point; no biases" in said
    _, said = run("audit", path, "--fit-tol", "1")
    assert "holds its own: leave --fit-tol out" in said
