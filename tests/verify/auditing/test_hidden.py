"""Audits in which only the hidden layer is trained, at given output weights (`verify.auditing.own_width`)."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.exact_states import network, posed
from tests.width_cases import CASES, H16_ROWS, H16_TARGETS, equal_neurons
from tests.words import check_words
from verify import Bias, Dataset, Network, audit, train
from verify.checker.folder import decide_folder
from verify.cli import program
from verify.deciders.finding import Verdict
from verify.problem.phrases import ANY_WIDTH_NOT_ASKED
from verify.problem.problem import Trained, objective
from verify.report import as_text

F = Fraction
PROVED, REFUTED, UNDECIDED = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED
QUESTIONS = ("fits", "stationary", "local_optimum", "global_optimum")
LINE = [[1], [-1]]

HIDDEN = {name: known for name, known in CASES.items() if known.problem.trained is Trained.HIDDEN}


def asked(problem, net, **options):
    """The audit of a network about the question of a problem."""
    data, goal, bias = problem.data, problem.goal, problem.bias
    result = audit(net, data, goal=goal, bias=bias, trained="hidden", **options)
    assert result.problem.output_weights == net.output_weights
    assert result.global_any_width.verdict is UNDECIDED
    assert result.global_any_width.reason == ANY_WIDTH_NOT_ASKED
    assert "not decided yet" not in str(result)
    assert "not available yet" not in str(result)
    assert check_words(result)
    return result


def verdicts(result):
    return tuple(getattr(result, name).verdict for name in QUESTIONS)


@pytest.mark.parametrize("name", [name for name, known in HIDDEN.items() if known.weights])
def test_the_best_network_is_proved_best_without_a_gap(name):
    known = HIDDEN[name]
    result = asked(known.problem, network(known.problem, known.weights), tol=0)
    assert verdicts(result) == (PROVED,) * 4
    assert result.objective == known.best
    assert result.bracket_own_width == (known.best, known.best)
    assert result.excess_own_width == (0, 0)
    assert result.status == "done"


def test_h5_no_weights_fit_a_label_of_the_other_sign():
    known = HIDDEN["H5 a label of the other sign"]
    result = asked(known.problem, network(known.problem, [[1, 0]]))
    assert verdicts(result) == (REFUTED,) * 4
    assert result.is_infeasible_at_width
    assert result.status == "infeasible at its width"
    assert "no network of 1 neuron with these output weights" in str(result)


def test_h12_a_strictly_inactive_point_lets_nothing_pull():
    known = HIDDEN["H1 a point to be off at"]
    result = asked(known.problem, network(known.problem, [[1, -2]]))
    assert verdicts(result) == (PROVED, REFUTED, REFUTED, REFUTED)
    assert result.objective == F(5, 2)
    assert result.better_own_width == network(known.problem, [[1, -1]])
    assert result.better is None
    assert result.excess_own_width == (F(3, 2), F(3, 2))


def test_h13_local_and_not_global():
    problem = HIDDEN["H13 three"].problem
    local = asked(problem, network(problem, [[2], ["-1/2"], ["-1/2"]]))
    assert verdicts(local) == (PROVED, PROVED, PROVED, REFUTED)
    assert local.objective == F(9, 4)
    assert local.bracket_own_width.upper == F(3, 2)


def test_h13_a_kkt_point_that_is_not_local():
    problem = HIDDEN["H13 three"].problem
    result = asked(problem, network(problem, [[2], [-1], [0]]))
    assert verdicts(result) == (PROVED, PROVED, REFUTED, REFUTED)
    assert result.objective == F(5, 2)
    assert "neuron" in result.local_optimum.reason


def test_h16_neurons_that_are_equal():
    problem, _, best, weights = equal_neurons(H16_ROWS, H16_TARGETS, 2, 1)
    result = asked(problem, network(problem, weights))
    assert best == F(1596757, 31760450)
    assert verdicts(result) == (PROVED,) * 4
    assert result.bracket_own_width == (best, best)


def test_h17_the_order_of_neurons_is_part_of_the_question_and_not_of_the_value():
    one = posed(LINE, [1, 1], "max-margin", [2, 1])
    other = posed(LINE, [1, 1], "max-margin", [1, 2])
    assert one.sha256() != other.sha256()
    first, second = asked(one, network(one, [["1/2"], [-1]])), asked(other, network(other, [[1], ["-1/2"]]))
    assert first.objective == second.objective == F(5, 8)
    assert first.bracket_own_width.lower == second.bracket_own_width.lower == F(5, 8)
    split = posed(LINE, [1, 1], "max-margin", [1, 1, 1])  # 2 as 1 + 1 costs another amount
    assert asked(split, network(split, [["1/2"], ["1/2"], [-1]])).objective == F(3, 4)


def test_the_margin_counts_twice():
    problem = posed(LINE, [1, 1], "max-margin", [1, 1])
    for size in (F(1, 3), F(1), F(7)):
        result = asked(problem, network(problem, [[size], [-size]]))
        assert result.objective == 1
        assert verdicts(result) == (PROVED,) * 4


def test_nothing_is_balanced():
    problem = posed([[1]], [1], "min-norm", [F(1, 10)])
    result = asked(problem, network(problem, [[10]]))
    assert result.objective == 50
    assert verdicts(result) == (PROVED,) * 4


@pytest.mark.parametrize("slope", [0, "1/2", 1])
@pytest.mark.parametrize("bias", [Bias.NONE, Bias.PENALISED, Bias.FREE])
@pytest.mark.parametrize("goal", ["max-margin", "min-norm"])
@pytest.mark.one_in(2)
def test_every_kind_of_problem_is_decided(goal, bias, slope):
    rows, targets = [[1, 0], [0, 1], [1, 2]], [1, -1, -1]
    problem = posed(rows, targets, goal, [1, -1, 1], slope=slope, bias=bias)
    columns = len(problem.rows[0])
    start = network(problem, [[1, 0, 0][:columns], [-1, 1, 0][:columns], [0, 1, 1][:columns]])
    found = asked(problem, start)
    best = found.better_own_width or start
    assert found.bracket_own_width is not None
    assert objective(problem, best) is not None
    again = asked(problem, best)
    assert verdicts(again) == (PROVED,) * 4
    assert again.bracket_own_width.upper <= (1 + again.tolerance) * again.bracket_own_width.lower


def test_masks():
    problem = posed([[1, 1], [1, -1]], [2, 1], "min-norm", [1, 1], masks=[[0], [1]])
    result = asked(problem, network(problem, [[1], [1]]))
    assert verdicts(result) == (PROVED,) * 4
    assert result.objective == 1
    assert "with these masks and output weights" in as_text(result)


def test_an_output_weight_that_is_0_is_left_at_0():
    problem = posed([[1, 0], [0, 1]], [1, 1], "min-norm", [1, 0])
    best = asked(problem, network(problem, [[1, 1], [0, 0]]))
    assert verdicts(best) == (PROVED,) * 4
    worse = asked(problem, network(problem, [[1, 1], [3, 0]]))
    assert verdicts(worse) == (PROVED, REFUTED, REFUTED, REFUTED)
    assert worse.excess_own_width.upper == F(9, 2)


def test_within_a_fit_tolerance():
    problem = posed([[1, 0], [0, 1]], [1, 0], "min-norm", [1])
    result = asked(problem, network(problem, [["1/2", 0]]), fit_tol=F(1, 2))
    assert verdicts(result) == (PROVED,) * 4
    assert result.objective == F(1, 8)


def test_targets_that_zero_meets():
    problem = posed([[1], [2]], [0, 0], "min-norm", [1])
    result = asked(problem, network(problem, [[0]]))
    assert verdicts(result) == (PROVED,) * 4
    assert asked(problem, network(problem, [[-1]])).global_optimum.verdict is REFUTED


def test_a_network_in_floats_is_repaired_to_an_exact_kkt_point():
    known = HIDDEN["H4 both on"]
    near = Network.two_layer(np.array([[2.0, -1.5], [1e-10, 1.5 + 1e-11]]) + 1e-12, [1.0, -1.0])
    result = audit(near, known.problem.data, goal="min-norm", trained="hidden")
    assert verdicts(result) == (PROVED,) * 4
    assert result.stationary.level == "near"
    assert result.objective == F(17, 4)


def test_a_margin_network_in_floats_has_an_exact_kkt_point_near_it():
    near = Network.two_layer(np.array([[0.3], [-0.3 * (1 + 1e-9)]]), [1.0, 1.0])
    result = audit(near, (LINE, [1, 1]), trained="hidden")
    assert verdicts(result) == (PROVED,) * 4
    assert result.local_optimum.level == "near"


@pytest.mark.parametrize(
    ("size", "options"), [("1/2", {"stationary_tol": F(1, 2)}), ("9/10000", {"near": 1}), ("9/10000", {"tol": 0})]
)
def test_only_stationarity_speaks_of_another_network_near_one_that_fits(size, options, tmp_path):
    given = Network.two_layer([[1.0, float(F(size))]], [1.0])
    result = audit(given, ([[1, 0]], [1]), trained="hidden", **{"stationary_tol": F(1, 1000), **options})
    assert (result.stationary.level, result.local_optimum.level) == ("near", "near")
    assert result.objective == objective(result.problem, given) > F(1, 2)
    assert result.bracket_own_width.lower == F(1, 2)
    assert result.excess_own_width.lower > 0
    assert result.global_optimum.subject is None
    assert result.global_optimum.verdict is (PROVED if options == {"near": 1} else REFUTED)
    assert "this network is the best possible" not in str(result)
    result.save(tmp_path / "proofs")
    assert decide_folder(tmp_path / "proofs").is_accepted


def test_a_dead_neuron_is_never_what_makes_the_best_known_network():
    """Free biases, one point: floats do not close the search, and the network without its dead row is better."""
    given = Network.two_layer([[1.0, 0.0], [-3.0, 0.0]], [1.0, 1.0], b=[0.5, -1.0])
    result = asked_as_given(given, ([[1, 0]], [1]), bias="free", time_limit=0)
    assert result.bracket_own_width is None or result.bracket_own_width.upper <= F(2, 9)
    assert result.global_optimum.verdict is REFUTED
    assert "none was found" not in str(result)


def test_output_weights_that_are_all_0():
    result = asked_as_given(Network.two_layer([[1], [2]], [0, 0]), ([[1], [2]], [1, 1]))
    assert result.is_infeasible_at_width
    assert verdicts(result) == (REFUTED,) * 4
    assert "failed" not in str(result)


def test_another_near_point_of_what_it_fits_has_other_dead_neurons():
    rows = [[0, 0], [0, 0], [-1.01835515, 1.58508205], [0.27236486, -2.39956229]]
    given = Network.two_layer([row[:1] for row in rows], [0.5, 0.5, 1, 0.5], b=[row[1] for row in rows])
    result = asked_as_given(given, ([[-0.8180092], [0.71244862]], [-1, 1]), near=2)
    assert result.relaxed.stationary.level == "near"
    assert result.relaxed.objective == objective(result.relaxed.problem, given)


def test_multipliers_are_told_at_the_points_of_the_data_where_some_are_copies():
    result = asked_as_given(Network.two_layer([[1, 0], [0, 1]], [1, 1]), ([[1, 0], [1, 0], [0, 1]], [1, 1, 1]))
    assert result.stationary.reason == "an exact KKT point with λ_0 = 1, λ_2 = 1"
    assert dict(result.stationary.certificates[0].multipliers) == {0: 1, 2: 1}


def test_the_least_margin_is_not_too_large_where_the_norm_is_smaller_than_the_best():
    given = Network.two_layer([["1/100", 0], ["1/100", 0]], [1, 1])
    result = asked_as_given(given, ([[1, 0], [0, 1], [-1, 1]], [1, 1, 1]))
    assert "a least margin of at least 0.0109;" in " ".join(str(result).split())


def asked_as_given(net, data, **options):
    result = audit(net, data, trained="hidden", goal="max-margin", **options)
    assert check_words(result)
    return result


def test_the_least_margin_of_the_best_is_of_degree_one_in_the_hidden_weights():
    given = Network.two_layer([[100, 0], [100, 0]], [1, 1])
    result = audit(given, ([[1, 0], [0, 1], [-1, 1]], [1, 1, 1]), trained="hidden")
    assert result.bracket_own_width == (F(5, 6), F(5, 6))
    assert "a least margin of at least 109;" in " ".join(str(result).split())  # sqrt(10000 / (5/6)) = 109.5


def test_a_network_that_does_not_fit_is_told_what_the_best_of_width_is():
    known = HIDDEN["H1 a point to be off at"]
    result = asked(known.problem, network(known.problem, [[1, 1]]))
    assert verdicts(result) == (REFUTED,) * 4
    assert result.bracket_own_width == (1, 1)
    assert result.relaxed is not None
    assert result.relaxed.problem.output_weights == (1,)
    assert result.relaxed.global_optimum.verdict in (PROVED, REFUTED)


def test_no_time_leaves_a_bracket_that_is_proved():
    random = np.random.default_rng(3)
    rows = random.integers(-9, 10, (12, 3)).tolist()
    net = Network.two_layer(random.integers(-3, 4, (4, 3)).tolist(), [1, 1, -1, -1])
    targets = [sum(v * max(np.dot(w, x), 0) for w, v in zip(net.hidden_weights, (1, 1, -1, -1), strict=True))
               for x in rows]  # fmt: skip
    result = audit(net, (rows, targets), goal="min-norm", trained="hidden", time_limit=0)
    assert result.fits.verdict is PROVED
    assert result.status == "time"


@pytest.mark.parametrize("name", ["H1 a point to be off at", "H6 three", "H5 a label of the other sign"])
def test_the_folder_is_accepted_and_says_what_is_proved(name, tmp_path):
    known = HIDDEN[name]
    weights = known.weights or [[1, 0]]
    result = asked(known.problem, network(known.problem, [[2 * F(z) for z in w] for w in weights]))
    result.save(tmp_path / "proofs")
    decision = decide_folder(tmp_path / "proofs")
    assert decision.is_accepted, [line for line in decision.lines if not line.is_accepted]
    said = json.loads((tmp_path / "proofs" / "audit.json").read_text())
    assert said["bracket"] is None
    assert said["own_width"]["infeasible"] is (known.best is None)
    if known.best is not None:
        assert said["own_width"]["bracket"] == [str(known.best)] * 2


def test_pictures_and_pages(tmp_path):
    known = HIDDEN["H4 both on"]
    result = asked(known.problem, network(known.problem, [[3, -2], [-1, 2]]))
    result.plot(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000
    page = result.to_html()
    assert "over networks of 2 neurons with these output weights" in page
    assert "all widths" not in page


# ------------------------------------------------------------------------------------------- the command line


def run(*arguments):
    found = CliRunner().invoke(program, list(map(str, arguments)), prog_name="isoptimal", catch_exceptions=False)
    return found.exit_code, found.output


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("net.json").write_text(json.dumps({"W": [["1", "-2"]], "v": ["1"], "slope": "0"}))
    Path("data.json").write_text(json.dumps({"X": [["1", "0"], ["1", "1"]], "y": ["1", "0"]}))


def test_the_command_asks_about_the_hidden_layer(files):
    ask = ("audit", "net.json", "data.json", "--goal", "min-norm", "--trained", "hidden")
    code, text = run(*ask, "--certificates", "proofs")
    assert code == 0
    assert "only the hidden layer is trained" in " ".join(text.split())
    assert "output weights 1 fixed" in text.replace("\n", " ")
    assert "150 % above the best possible" in text.replace("\u00a0", " ")
    assert run("check", "proofs")[0] == 0
    assert run("better", "proofs", "--out", "better.json")[0] == 0
    code, text = run("audit", "better.json", *ask[2:], "--require", "global")
    assert code == 0, text


def test_training_of_the_hidden_layer_is_audited_as_such(files):
    code, text = run(
        "train", "data.json", "--width", "2", "--hidden-only", "--loss", "squared", "--out", "net.npz", "--audit"
    )
    assert code == 0
    assert "only the hidden layer is trained" in " ".join(text.split())
    assert ANY_WIDTH_NOT_ASKED.split(":")[0] in text


def test_training_towards_a_margin_stops_by_the_conditions_of_the_hidden_layer():
    result = train(([[1, 0], [0, 1]], [1, -1]), width=4, hidden_only=True, seed=1)
    assert result.status in ("stopped", "converged", "limit")
    assert result.audit().problem.trained is Trained.HIDDEN
    assert result.audit(trained="both").problem.trained is Trained.BOTH


@pytest.mark.parametrize("method", ["flow", "descent"])
def test_the_margin_that_training_tells_is_that_of_the_hidden_weights(method):
    """f is homogeneous of degree 1 in them: the objective of the audit is 1 / (2 gamma^2), however long they are."""
    steps = {"step": 0.1} if method == "descent" else {}
    run = train(([[1, 0], [0, 1]], [1, -1]), width=4, hidden_only=True, seed=1, method=method, **steps)
    gamma, weights = run.trajectory.margins[-1], run.network.hidden_weights
    assert run.trajectory.norms[-1] == pytest.approx(float(sum(w * w for row in weights for w in row)) ** 0.5)
    assert 1 / (2 * gamma**2) == pytest.approx(float(run.audit(time_limit=5).objective), rel=1e-9)
    assert f"normalised margin {gamma:.6g}, norm of the hidden weights " in str(run)
    assert "\\|W\\|$" in [panel.get_ylabel() for panel in run.plot().axes][1]


def test_both_layers_are_polished_or_none(tmp_path):
    from verify.checker.errors import InputError

    with pytest.raises(InputError, match="polishing looks for a KKT point of all layers"):
        train(([[1, 0], [0, 1]], [1, -1]), width=2, hidden_only=True, polish=True)


def test_points_of_high_dimension_have_a_short_proof():
    random = np.random.default_rng(0)
    n, d = 8, 256
    rows = random.standard_normal((n, d)) / np.sqrt(d)
    targets = np.where(random.random(n) < 0.5, -1.0, 1.0) * random.uniform(0.5, 2, n)
    signs, weights = np.array([1.0, -1.0]), np.tile(1e-3 * np.linalg.lstsq(rows, np.ones(n), rcond=None)[0], (2, 1))
    for _ in range(400):  # gradient descent from a small start that is on everywhere
        z = rows @ weights.T
        weights = weights - 0.2 * ((z > 0) * ((np.maximum(z, 0) @ signs - targets)[:, None] * signs)).T @ rows
    result = audit(Network.two_layer(weights, [1.0, -1.0]), Dataset(rows, targets), goal="min-norm", trained="hidden")
    assert result.fits.verdict is PROVED
    lower = result.certificates["lower-bound-width.json"]
    assert len(json.dumps(lower.to_json())) < 10_000
    assert result.bracket_own_width.upper <= (1 + result.tolerance) * result.bracket_own_width.lower
    assert result.global_optimum.verdict is REFUTED
    assert 0.01 < result.excess_own_width.lower < 0.1


def test_no_formula_is_sought_with_given_output_weights():
    data = Dataset([[1, 0], [0, 1]], [1, 1])
    result = audit(Network.two_layer([[1, 0], [0, 2]], [1, 1]), data, trained="hidden", symbolic=True)
    assert "closed form     none found: with given output weights" in str(result)
    check_words(result)
