"""Max-margin and min-norm with an output bias, from a network to its report."""

import re
from fractions import Fraction

import numpy as np
import pytest

from tests.losses import over_all_cells, random_constraints
from tests.words import check_words
from verify import Bias, Dataset, Goal, InputError, Network, Problem, Verdict, audit, sweep
from verify.auditing.asked import pose
from verify.checker.folder import decide_folder
from verify.deciders.global_optimality.bracket import bracket_optimum
from verify.deciders.global_optimality.infeasibility import infeasibility, meetable_bias
from verify.problem.phrases import NO_OUTPUT_BIAS, OUTPUT_BIAS_REACHES
from verify.problem.problem import objective

LINE, SIGNS = [[1], [3]], [-1, 1]
BEST = Network.two_layer([[1]], [1], b2=-2)


@pytest.mark.parametrize("seed", range(80))
@pytest.mark.one_in(4)
def test_brackets_and_refusals_against_a_program_over_all_cells(seed):
    """The bracket holds the optimum, from both sides exactly; a proof that none fits only where none does."""
    problem = random_constraints(np.random.default_rng(seed))
    wanted, nothing = over_all_cells(problem, ""), infeasibility(problem)
    assert (nothing is None) == (wanted is not None)
    if wanted is None:
        return
    found = bracket_optimum(problem, None)
    low, high = found.ends
    assert low <= wanted * (1 + 1e-6) + 1e-7
    assert wanted * (1 - 1e-6) - 1e-7 <= high <= low * (1 + 2e-6) + Fraction(1, 10**6)
    for witness in found.witnesses:
        assert objective(problem, witness) >= low


@pytest.mark.parametrize(("mode", "value", "multipliers"), [("free", 1, (1, 1)), ("penalised", 3, (7, 3))])
@pytest.mark.parametrize("g", [1, 4])
def test_the_best_network_at_any_margin(mode, value, multipliers, g):
    root = {1: 1, 4: 2}[g]
    found = audit(Network.two_layer([[root]], [root], b2=-2 * g), LINE, SIGNS, output_bias=mode)
    assert found.objective == value
    assert {finding.verdict for finding in found.findings.values()} == {Verdict.PROVED}
    assert found.stationary.level == found.local_optimum.level == "exact"
    stationary = next(proof for proof in found.stationary.certificates if proof.KIND == "stationary")
    assert stationary.multipliers == tuple(enumerate(Fraction(m, 2) for m in multipliers))
    assert found.bracket[0] <= value == found.bracket[1]
    assert OUTPUT_BIAS_REACHES in found.notes


def test_how_a_bias_is_asked_about():
    """As it is said; kept, as the hidden biases are, also without a word, which a note says."""
    hidden = Network.two_layer([[1]], [1], b=[0], b2=-2)
    for network, options, wanted in (
        (BEST, {"output_bias": "free"}, Bias.FREE),
        (BEST, {"output_bias": "penalised"}, Bias.PENALISED),
        (BEST, {"output_bias": "keep"}, Bias.PENALISED),
        (BEST, {}, Bias.PENALISED),
        (hidden, {}, Bias.PENALISED),
        (hidden, {"bias": "free"}, Bias.FREE),
        ({"W": [[1.0]], "v": [1.0], "b2": -2.0, "slope": 0}, {}, Bias.PENALISED),
        (hidden, {"output_bias": "keep"}, Bias.PENALISED),
        (hidden, {"output_bias": "keep", "bias": "free"}, Bias.FREE),
        (hidden, {"output_bias": "penalised", "bias": "free"}, Bias.PENALISED),
    ):
        found = audit(network, LINE, SIGNS, time_limit=5, **options)
        assert found.problem.output_bias is wanted
        assert found.problem.has_output_bias
        counts = "counts" if wanted is Bias.PENALISED else "does not count"
        told = f"the output bias b {counts} in the norm ({wanted.value})"
        assert told in found.notes
        assert told in found.to_json()["notes"]
    with pytest.raises(InputError, match="say whether it counts"):
        audit(BEST, LINE, SIGNS, output_bias="refuse")
    plain = audit(Network.two_layer([[1]], [1]), LINE, SIGNS, output_bias="keep").problem
    assert not plain.has_output_bias
    assert pose(BEST, LINE, SIGNS, output_bias="free").output_bias is Bias.FREE


def test_a_bias_of_0_is_none_unless_it_is_asked_about():
    """That a layer has a place for a bias says nothing of the question; a loss is asked with it all the same."""
    zero, arrays = Network.two_layer([[1]], [1], b2=0), {"W": [[1.0]], "v": [1.0], "b2": 0.0, "slope": 0}
    for network in (zero, arrays):
        found = audit(network, LINE, SIGNS, time_limit=5)
        assert not found.problem.has_output_bias
        assert len(found.network.parameters) == 2
        assert audit(network, LINE, SIGNS, output_bias="free", time_limit=5).problem.has_output_bias
        assert audit(network, LINE, SIGNS, loss="hinge", decay=1, time_limit=5).problem.has_output_bias
    assert not audit(arrays, LINE, SIGNS, time_limit=5).network.is_exact


@pytest.mark.parametrize("options", [{"trained": "hidden"}, {"frozen": 1}, {"symbolic": True}])
def test_where_it_is_not_asked_about_it_is_refused_by_default(options):
    with pytest.raises(InputError, match="neuron"):
        audit({"W": [[1.0]], "v": [1.0], "b2": -2.0, "slope": 0}, LINE, SIGNS, **options)


@pytest.mark.parametrize(("said", "wanted"), [(None, "penalised"), ("keep", "penalised"), ("free", "free")])
def test_sweeps_ask_as_audits_do(tmp_path, said, wanted):
    source = tmp_path / "net.json"
    BEST.save(source)
    (row,), own = (
        sweep([(source, (LINE, SIGNS))], output_bias=said, jobs=1),
        audit(BEST, LINE, SIGNS, output_bias=wanted),
    )
    assert (row.outcome, row.neurons, row.objective) == ("audited", 1, float(own.objective))
    assert row.global_any_width == own.global_any_width.verdict.value == "proved"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"trained": "hidden"}, "an output bias is asked of networks of which both layers are trained"),
        ({"frozen": 1}, "the network has an output bias, which is asked of two trained layers"),
        ({"symbolic": True}, "no formula is sought with an output bias"),
        ({"goal": "trained"}, "goal is 'trained'"),
    ],
)
def test_what_it_does_not_reach_is_said(options, words):
    with pytest.raises(InputError, match=words):
        audit(BEST, LINE, SIGNS, output_bias="free", **options)


def test_a_wider_network_that_is_better_leaves_the_own_width_open():
    """x = -1, 1 on two sides of 0, which has the other label."""
    points, labels = [[-1], [1], [0]], [1, 1, -1]
    network = Network.two_layer([[-2], [2]], [1, 1], b2=-1)
    found = audit(network, points, labels, output_bias="free")
    assert found.global_any_width.verdict is Verdict.REFUTED
    assert found.bracket[0] <= 4 <= found.bracket[1]
    assert found.diagnosis.excess is not None
    steps = [step.command for step in found.next_steps]
    assert steps
    assert not any("train" in command for command in steps)


@pytest.mark.parametrize("mode", ["free", "penalised"])
@pytest.mark.parametrize("goal", list(Goal))
def test_the_parts_of_the_excess_add_up(mode, goal):
    """Dead and unbalanced neurons, a slack point, other directions, and a bias that is not what the bound asks for."""
    network = Network.two_layer([[2], [1], [-1]], [1, Fraction(1, 2), 3], b2=-3)
    points = [[1], [3], [4]]
    labels = [-1, 1, 1] if goal is Goal.MAX_MARGIN else [network(x) for x in points]
    found = audit(network, points, labels, goal=goal.value, output_bias=mode)
    parts = found.diagnosis.excess
    shares = (parts.dead_hint, parts.imbalance_hint, parts.directions_hint, parts.slack_hint, parts.bias_hint)
    low, high = (float(end) for end in found.excess)
    assert low * (1 - 1e-9) <= sum(shares) <= high * (1 + 1e-9)
    assert min(shares) >= 0
    assert (parts.bias_hint > 0) == (mode == "penalised")
    assert found.diagnosis.neurons.dead == (2,)
    scale = Fraction(1, 2) if goal is Goal.MAX_MARGIN else 1  # of margin 1/2, the bias counts as at margin 1
    norm = Fraction(4 + 1 + 1 + 1 + Fraction(1, 4) + 9) + (Fraction(9) / scale if mode == "penalised" else 0)
    assert found.diagnosis.neurons.dead_share == 10 / norm
    falling = [rung.objective for rung in found.diagnosis.ladder]
    assert falling == sorted(falling, reverse=True)
    for rung in found.diagnosis.ladder[:-1]:
        assert rung.objective == objective(found.problem, rung.network)
        assert rung.network.output_bias != 0


def test_one_class_needs_no_weights():
    found = audit(Network.two_layer([[1]], [1], b2=0), LINE, [1, 1], output_bias="free")
    assert found.bracket == (0, 0)
    assert found.excess is None
    assert found.global_any_width.verdict is Verdict.REFUTED
    assert objective(found.problem, found.better) == 0


def test_a_network_in_floats_is_repaired_with_its_bias():
    """f(1) = 0, f(3) = 2 up to rounding; three points on a ray fix the bias, which is moved to it."""
    weights = Network.two_layer([[0.1 + 0.9]], [1.0], b2=-0.7 - 0.3 + 1e-13)
    found = audit(weights, [[1], [3], [5]], [0, 2, 4], goal="min-norm", output_bias="penalised", fit_tol=0)
    assert found.fits.verdict is Verdict.PROVED
    assert found.fits.subject.output_bias == -1
    assert found.stationary.verdict is Verdict.PROVED
    problem = Problem(
        Dataset([[1], [3]], [0, 2]), weights.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE, output_bias=Bias.FREE
    )
    assert meetable_bias(problem, Fraction(-999, 1000)) == -1
    assert meetable_bias(problem, Fraction(-1)) == -1


def test_what_does_not_fit_is_asked_on_what_it_fits():
    found = audit(Network.two_layer([[2]], [2], b2=-4), LINE, SIGNS, output_bias="penalised")
    assert found.fits.verdict is Verdict.REFUTED
    easier = found.relaxed.problem
    assert easier.output_bias is Bias.PENALISED
    assert len(easier.targets) == 1
    low, high = found.relaxed.bracket
    assert low <= Fraction(5, 18) <= high  # u = 2/9, b = 1/3
    assert not any("norm of this network" in line for line in str(found).splitlines())


def test_the_folder_is_decided_again(tmp_path):
    found = audit(BEST, LINE, SIGNS, output_bias="penalised")
    found.save(tmp_path / "proofs")
    decided = decide_folder(tmp_path / "proofs")
    assert decided.audit is not None
    assert decided.audit["problem"]["output_bias"] == "penalised"
    assert all(line.is_accepted for line in decided.lines)


@pytest.mark.parametrize("mode", ["free", "penalised"])
@pytest.mark.parametrize(
    ("W", "v", "b", "b2", "points", "targets", "goal"),
    [
        ([[0, 0]], [0], [0], 3, [[4, 3], [1, 3], [-2, 3], [-2, 3]], [3, 3, 3, 3], Goal.MIN_NORM),
        ([[0, 0]], [0], [0], 3, [[4, 3], [1, 3], [-2, 3]], [1, 1, 1], Goal.MAX_MARGIN),
    ],
)
def test_the_end_of_a_descent_path_costs_its_output_bias(mode, W, v, b, b2, points, targets, goal):
    """The objective that is told of the end is not below the best possible one of the same report."""
    network = Network.two_layer(W, v, b=b, b2=b2)
    found = audit(network, points, targets, goal=goal.value, bias="penalised", output_bias=mode, time_limit=10)
    text = " ".join(str(found).split())
    told = re.search(r"the objective goes from (?:about )?\S+ to at most (\S+) at ε = 1", text)
    if mode == "penalised":
        assert found.local_optimum.verdict is Verdict.REFUTED
        assert told
    if told:
        assert Fraction(told[1]) >= found.bracket[0]
    check_words(found)


def test_a_network_without_an_output_bias_is_asked_about_beside_those_that_have_one():
    """So that the better network of a question is one of its networks, also where all of it is 0."""
    none = Network.two_layer([[1]], [1])
    for mode in ("free", "penalised"):
        found = audit(none, LINE, SIGNS, output_bias=mode, time_limit=5)
        assert found.problem.output_bias is Bias(mode)
        assert NO_OUTPUT_BIAS in found.notes
        check_words(found)
    wasted = Network.two_layer([[-1], [-2], [1], [-1]], [1, 1, 1, -1], b=[2, 3, -2, -3], b2=0)
    asked = {"goal": "min-norm", "bias": "free", "output_bias": "penalised", "time_limit": 5}
    better = audit(wasted, [[2]], [0], **asked).better
    again = audit(better, [[2]], [0], **asked)
    assert again.objective == 0
    assert again.global_any_width.verdict is Verdict.PROVED
    with pytest.raises(InputError, match="the network has none: leave it out"):
        audit(none, LINE, SIGNS, loss="squared", decay="1/10", output_bias="penalised")


def test_only_what_is_read_gets_a_neuron_for_its_output_bias():
    """A network that is built stays as it is; what the message advises works."""
    arrays, data = {"W": [[1, 1], [-1, 1]], "v": [1, 1], "b2": -0.5}, ([[1, 1], [-1, 2], [0, -1]], [1, 1, -1])
    built = Network.two_layer(arrays["W"], arrays["v"], b2=arrays["b2"])
    with pytest.raises(InputError, match="give its arrays or its file, rather than a Network that is built"):
        audit(built, data, output_bias="neuron")
    assert audit(arrays, data, output_bias="neuron").network.width == 3
