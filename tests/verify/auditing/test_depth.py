"""Audits of networks of any depth and with shared weights: verdicts, brackets, reports, and what is left open."""

import json
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from solvers.depth import DeepDescent, random_start
from tests import depth_cases
from tests.depth_cases import CASES, case, diagonal_of_ones, shape
from tests.words import check_words
from verify import Architecture, Bias, Dataset, Goal, Layer, Network, Verdict, audit
from verify.auditing.depth import is_of_other_depth
from verify.checker.depth_bounds import DeepOptimalWithin, LowerBoundCrude, LowerBoundLinear
from verify.checker.folder import decide_folder
from verify.cli import program
from verify.deciders.depth.arrays import layers_of, network_of
from verify.report.depth import CRUDE

F = Fraction
PROVED, REFUTED, UNDECIDED = (verdict.value for verdict in Verdict)
# fits, stationary, local, own width, any width
EXPECTED = {
    "1 aligned linear": "PPPPP",
    "2 linear of ones": "PPPPP",
    "3 ReLU of ones": "PPPPP",
    "4 both labels": "PPPPP",
    "5 diagonal of ones": "PPRRR",
    "6 vertex": "PPPUU",
    "7 worse vertex": "PPPRR",
    "16 two of a kind": "PPPRR",
    "15 doubled neuron": "PPPRR",
    "20 concave kinks": "PPPPP",
    "an empty unit": "PPPPP",
    "9 wrong singular vector": "PPRRR",
    "10 wrong singular vector, ReLU": "PPRRR",
    "12 pooled tie": "PPRRR",
    "a pooled optimum": "PPPPP",
    "13 deep waste": "PPRRR",
    "17 optimal without multipliers": "PRUUU",
    "19 chain": "PPPPP",
    "21 unbalanced layers": "PRRRR",
    "8 flat vertex": "PPRRR",
    "14 narrow margins": "PPRRR",
}


def audited(found, **options):
    problem = found.problem
    return audit(found.network, problem.data, goal=problem.goal, fit_tol=problem.fit_tolerance or None, **options)


@pytest.mark.parametrize("name", CASES)
def test_the_verdicts_of_the_cases(name):
    result = audited(CASES[name]())
    words = {"P": PROVED, "R": REFUTED, "U": UNDECIDED}
    expected = [words[letter] for letter in EXPECTED[name]]
    if name.startswith(("6", "17")):  # a fully connected one may be better: it is open, or found
        expected[4] = result.global_any_width.verdict.value
    assert [finding.verdict.value for finding in result.findings.values()] == expected
    check_words(result)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.one_in(4)
def test_their_reports_and_pages(name, tmp_path):
    result = audited(CASES[name]())
    assert "<html" in result.to_html(tmp_path / "page.html")
    assert repr(result).startswith("<Audit: fits proved")
    result.plot(tmp_path / "picture.png")
    first = " ".join(str(result).split("max-margin:")[0].split())
    if is_of_other_depth(result.problem):
        assert "compared with networks of depth" in first
    json.dumps(result.to_json())


def test_the_family_stands_in_the_first_line_and_crude_bounds_are_called_so():
    shared = " ".join(str(audited(depth_cases.wrong_singular_vector(0))).split())
    assert "compared with networks of depth 2 and any widths, no weight of a layer at more than 2 or 1 places" in shared
    assert CRUDE in shared
    channels = " ".join(str(audited(depth_cases.pooled_tie())).split())
    assert "compared with networks of depth 2 and any number of its channels" in channels
    assert CRUDE not in channels
    exact = " ".join(str(audited(depth_cases.linear_of_ones())).split())
    assert "about 1.8898816 = ½‖θ‖² at margin 1; its power 3 is 6.75" in exact
    assert CRUDE not in exact


def test_brackets_enclose_the_root():
    result = audited(diagonal_of_ones())
    lower, upper = result.bracket
    assert lower**3 <= F(27, 16)
    assert F(27, 8) <= upper**3 < F(27, 8) * (1 + F(1, 10**8))
    assert result.excess[0] <= F(12599211, 10**7) - 1 < F(4, 10) < result.excess[1]
    assert {type(bound) for bound in result.bounds} >= {LowerBoundCrude, LowerBoundLinear}


def test_a_linear_network_of_floats_is_optimal_within_its_distance():
    network = Network(shape([2, 2, 1, 1], [1, 1]), [[1.0, 0.0, 0.0, 1e-7], [1.0, 1e-8], [1.0]])
    result = audit(network, Dataset([[1, 0], [-1, 0]], [1, -1]), near=0)
    assert result.stationary.level == "approximate"
    proof = result.global_any_width.certificates[0]
    assert isinstance(proof, DeepOptimalWithin)
    assert 0 < proof.tolerance < F(1, 10**6)
    assert result.local_optimum.verdict is Verdict.UNDECIDED
    check_words(result)
    near = audit(network, Dataset([[1, 0], [-1, 0]], [1, -1]))
    assert near.stationary.level == near.local_optimum.level == "near"
    check_words(near)


def test_a_better_network_is_written(tmp_path):
    result = audited(depth_cases.wrong_singular_vector())
    result.save(tmp_path / "proofs")
    assert all(line.is_accepted for line in decide_folder(tmp_path / "proofs").lines)
    out = tmp_path / "better.json"
    asked = ["better", str(tmp_path / "proofs"), "--own-width", "--out", str(out)]
    found = CliRunner().invoke(program, asked, standalone_mode=False)
    assert found.return_value == 0, found.output
    assert "80 % lower" in found.output or "79.9" in found.output
    again = audit(str(out), result.problem.data)
    assert again.global_optimum.verdict is not Verdict.PROVED
    assert again.bracket[1] < F(21, 100)


def test_a_network_of_another_depth_that_does_not_fit():
    found = depth_cases.chain()
    off = Network(found.network.architecture, [[-1], [1], [1]])
    result = audit(off, found.problem.data, goal=Goal.MAX_MARGIN)
    assert {finding.verdict for finding in result.findings.values()} == {Verdict.REFUTED}
    check_words(result)


def test_where_zeros_fit_they_are_the_best():
    """Targets of 0, or within the tolerance of it, by ReLUs of depth 3: no descent ends at 0 exactly."""
    network = Network(shape([2, 1, 1, 1], [0, "1/10"]), [[-1, 3], [2], [0]])
    result = audit(network, Dataset([[-1, 0]], [0]), goal="min-norm")
    assert result.bracket == (0, 0)
    assert "better network no wider" not in str(result)
    text = " ".join(str(result).split())
    assert "best possible 0, over networks" in text
    assert "better network this shape, objective 0" in text
    check_words(result)


def test_free_biases_are_left_as_they_were():
    layers = [
        Layer(inputs=1, outputs=1, slope=0, bias=True),
        Layer(inputs=1, outputs=1, slope=0),
        Layer(inputs=1, outputs=1, slope=None),
    ]
    network = Network(Architecture(layers), [[1, 0], [1], [1]])
    result = audit(network, Dataset([[1]], [1]), goal="max-margin", bias=Bias.FREE)
    assert result.stationary.verdict is Verdict.UNDECIDED
    assert not is_of_other_depth(result.problem)
    penalised = audit(network, Dataset([[1]], [1]), goal="max-margin")
    assert penalised.stationary.verdict is not Verdict.UNDECIDED
    check_words(penalised)


def test_a_large_network_is_asked_what_takes_no_gradients(monkeypatch):
    monkeypatch.setattr("verify.auditing.depth.LARGEST", 5)
    result = audited(depth_cases.unbalanced_layers())
    assert "too many parameters" in result.stationary.reason
    assert "too many parameters" in result.local_optimum.reason
    assert result.global_optimum.verdict is Verdict.REFUTED
    check_words(result)


def test_a_network_at_kinks_up_to_rounding_is_left_open():
    rows = np.random.default_rng(0).normal(size=(20, 2))
    labels = np.where(rows[:, 0] * rows[:, 1] > 0, 1, -1)
    layers = layers_of(shape([2, 8, 8, 1], [0, 0]))
    start = random_start(layers, np.random.default_rng(1))
    theta = DeepDescent(layers, rows, labels.astype(float), margin=True).ended(start, 100.0)
    result = audit(network_of(shape([2, 8, 8, 1], [0, 0]), theta), rows, labels)
    check_words(result)
    assert result.stationary.verdict is not Verdict.PROVED or result.stationary.level == "approximate"


def test_the_time_limit_leaves_the_rest_open():
    result = audited(diagonal_of_ones(), time_limit=0)
    assert result.fits.verdict is Verdict.PROVED
    check_words(result)


@pytest.mark.parametrize("tolerance", [F(0), F(1, 4), F(26, 100), F(1)])
def test_tolerances_are_of_the_objective_and_not_of_its_power(tolerance):
    """J = 27/4 against 27/8: better by 2^(1/3) - 1 = 0.2599."""
    result = audited(diagonal_of_ones(), tol=tolerance)
    verdict = result.global_optimum.verdict
    assert (verdict is Verdict.REFUTED) is (tolerance < F(26, 100))
    assert (verdict is Verdict.PROVED) is (tolerance >= F(6, 10))
    check_words(result)


def test_min_norm_within_a_fit_tolerance():
    found = case(shape([2, 2, 1, 1], [0, 0]), [[1, 0, 0, 1], [1, 1], [1]], [[1, 0], [0, 1]], [1, 1], goal=Goal.MIN_NORM)
    result = audit(found.network, found.problem.data, goal="min-norm", fit_tol=F(1, 10))
    assert result.fits.verdict is Verdict.PROVED
    assert result.stationary.verdict is Verdict.REFUTED
    check_words(result)


def test_without_an_active_constraint_a_local_optimum_needs_multipliers():
    """Every residual is 0, strictly within the tolerance: (1 - t) theta is better, and the gradients do not matter."""
    deep = Network(shape([1, 1, 1, 1], [0, 0]), [[1], [2], [2]])
    found = audit(deep, Dataset([[1], [2]], [4, 8]), goal="min-norm", fit_tol="1/2", time_limit=3)
    assert found.local_optimum.verdict is Verdict.REFUTED
    exact = audit(deep, Dataset([[1], [2]], [4, 8]), goal="min-norm", time_limit=3)
    assert exact.stationary.certificates
