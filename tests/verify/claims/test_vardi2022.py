"""Claims about where gradient flow arrives, of arXiv:2110.02732: their starts, and that wrong ends are noticed."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.depth_cases import shape as shape_of
from verify import Bias, Dataset, Goal, Network, Problem, Trained
from verify.checker.exact import dot
from verify.claims import Instance, Outcome, is_kkt_point, registry, run
from verify.claims.trainings import flowed, has_loss_below, margins
from verify.claims.vardi2022 import arrivals
from verify.claims.vardi2022.theorem_3_1 import ends_global
from verify.claims.vardi2022.theorem_3_2 import arrives_upwards
from verify.claims.vardi2022.theorem_4_2 import arrives_at_the_tie, tied
from verify.claims.vardi2022.widths import _curve, _is_above
from verify.readers import read_case
from verify.strategies import dead_neuron_starts, tilted_pairs
from verify.training import parameters_of

F = Fraction
CASES = Path(__file__).parents[3] / "cases"
ALL = registry()
few = settings(max_examples=30, deadline=None)


def posed(network, rows):
    return Instance.posed(network, Dataset(rows, [1] * len(rows)), goal=Goal.MAX_MARGIN, bias=Bias.NONE)


def first_draws(strategy, count):
    """A few draws of a strategy, always the same."""
    drawn = []

    @settings(max_examples=count, deadline=None, database=None, derandomize=True)
    @given(strategy)
    def collect(value):
        drawn.append(Instance(*value))

    collect()
    return drawn


# ---------------------------------------------------------------------------------------------------------- Theorem 3.2


@few
@given(dead_neuron_starts())
def test_starts_of_theorem_3_2_meet_its_conditions_in_floats_too(drawn):
    instance = Instance(*drawn)
    claim = ALL["vardi2022.thm3.2.flow"]
    assert claim.setting(instance)
    assert claim.broken(instance) == []
    theta = parameters_of(instance.network)
    z = theta[:4].reshape(2, 2) @ np.array([[1, -1], [0.25, 0.25]])
    assert (z[0] > 0).all()
    assert (z[1] < 0).all()
    assert theta[4] > 0
    assert np.linalg.norm(theta) <= 1e-7


@pytest.mark.parametrize(
    ("hypothesis", "options"),
    [("first-on", {"first": (1, -1)}), ("first-on", {"first": (-1, -1)}), ("positive-output", {"output": -1})],
)
def test_without_a_hypothesis_of_theorem_3_2_the_flow_can_go_elsewhere(hypothesis, options):
    claim = ALL["vardi2022.thm3.2.flow"]
    found = first_draws(dead_neuron_starts(**options), 6)
    assert all(hypothesis in claim.broken(instance) for instance in found)
    assert Outcome.FAILED in {arrives_upwards(instance).outcome for instance in found}


def test_a_second_neuron_that_is_on_moves_and_the_end_is_another_one():
    tiny = F(1, 10**8)
    network = Network.two_layer([(0, tiny), (tiny, 0)], [tiny, tiny])
    instance = posed(network, [(1, F(1, 4)), (-1, F(1, 4))])
    assert ALL["vardi2022.thm3.2.flow"].broken(instance) == ["second-off"]
    assert arrives_upwards(instance).outcome is Outcome.FAILED


def test_an_arrival_that_the_budget_does_not_allow_is_open(monkeypatch):
    instance = first_draws(dead_neuron_starts(), 1)[0]
    monkeypatch.setattr(arrivals, "flowed", lambda *args, **options: flowed(*args, **{**options, "evaluations": 20}))
    assert arrives_upwards(instance).outcome is Outcome.UNDECIDED


# ---------------------------------------------------------------------------------------------------------- Theorem 4.2


@few
@given(tilted_pairs())
def test_turned_back_the_start_is_a_kkt_point_on_a_kink(drawn):
    instance = Instance(*drawn)
    claim = ALL["vardi2022.thm4.2.2.flow"]
    assert claim.setting(instance)
    assert claim.broken(instance) == []
    point = tied(instance)
    assert is_kkt_point(point)
    second = instance.data.inputs[1]
    assert all(dot(w, second) == 0 for w in point.network.hidden_weights[:-1])
    assert all(dot(w, second) > 0 for w in instance.network.hidden_weights)
    assert len(set(margins(point))) == 1


def test_turned_off_the_second_point_the_flow_leaves_the_tie():
    claim = replace(
        ALL["vardi2022.thm4.2.2.flow"], id="planted.off", hypotheses={}, sharp={}, variants=(),
        instances=tilted_pairs(side=-1).map(lambda drawn: Instance(*drawn)),
    )  # fmt: skip
    result = run(claim, examples=40)
    assert result.outcome == "failed"
    assert result.faults == []
    assert result.counterexample.instance.size[:3] == (2, 2, 2)


def test_the_tie_is_approached_like_the_norm_to_the_power_that_the_linearised_flow_has():
    """With l_1 = l_2: tangent ~ ||theta||^(-1/2)."""
    e, p = np.array([1.0, 0.0]), np.array([0.0, -1.0])
    rows = [e - p, p]
    instance = posed(Network.two_layer([(4, -1), (0, -4)], [4, 4]), [tuple(map(int, row)) for row in rows])
    seen = []

    def note(moment):
        w = moment.theta[:2]
        seen.append((np.log(np.linalg.norm(moment.theta)), np.log(w @ p / (w @ e))))
        return "far enough" if seen[-1][0] > np.log(1e8) else None

    flowed(instance, loss="exponential", stop=note, evaluations=50_000, residual=1e-14)
    late = np.array([pair for pair in seen if pair[0] > np.log(1e4)])
    slope = np.polyfit(late[:, 0], late[:, 1], 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.02)


def test_the_tie_is_no_end_for_a_point_that_is_none():
    instance = first_draws(tilted_pairs(), 1)[0]
    data = Dataset([[2 * q for q in instance.data.inputs[0]], instance.data.inputs[1]], instance.data.targets)
    moved = Instance(
        Problem(data, instance.network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE), instance.network
    )
    assert not ALL["vardi2022.thm4.2.2.flow"].setting(moved)
    assert arrives_at_the_tie(moved).outcome is Outcome.FAILED  # not stationary: l_1 / l_2 is another one


# ---------------------------------------------------------------------------------------------------------- Theorem 3.1


def test_the_end_of_a_relu_network_need_not_be_global():
    instance = posed(Network.two_layer([(0, 8), (0, 0)], [8, 0]), [(1, F(1, 4)), (-1, F(1, 4))])
    assert ALL["vardi2022.thm3.1.flow"].broken(instance) == ["linear"]
    assert ends_global(instance).outcome is Outcome.FAILED


@pytest.mark.parametrize("seed", range(3))
def test_the_end_of_a_linear_network_is_the_support_vector_machine(seed):
    """||theta||^2 / 2 at margin 1 is the least ||beta||."""
    from sklearn.svm import SVC

    random = np.random.default_rng(seed)
    rows = np.round(random.normal(size=(6, 3)), 2)
    teacher = rows.T @ np.linalg.solve(rows @ rows.T + np.eye(6), np.ones(6))
    rows *= np.sign(rows @ teacher)[:, None]
    weights = np.round(random.normal(size=(2, 3)), 2)
    weights[0] += 4 * teacher / np.abs(rows @ teacher).min()
    network = Network.two_layer(weights.round(2).tolist(), [4, 1], slope=1)
    instance = posed(network, [tuple(map(F, map(str, row))) for row in rows.tolist()])
    assert has_loss_below(instance, F(69, 100))
    assert ends_global(instance).outcome is Outcome.HELD
    best = SVC(kernel="linear", C=1e6).fit(np.vstack([rows, -rows]), [1] * 6 + [-1] * 6)
    from verify.claims.trainings import ended, trained
    from verify.problem.problem import objective

    end = ended(instance, trained(instance, stop_at=1e-5))
    assert float(objective(end.problem, end.network)) == pytest.approx(np.linalg.norm(best.coef_), rel=2e-3)


def test_starts_above_the_loss_are_none_of_the_claim():
    instance = posed(Network.two_layer([(1,)], [F(1, 4)], slope=1), [(1,)])
    assert ALL["vardi2022.thm3.1.flow"].broken(instance) == ["loss-below-1"]


def test_shrunk_starts_have_small_numbers():
    from hypothesis import find

    problem, network = find(st.one_of(tilted_pairs()), lambda _: True, settings=settings(database=None))
    assert len(problem.data) == 2
    assert network.width == 2
    assert all(w.denominator == 1 for layer in network.parameters for w in layer)


# ------------------------------------------------------------------------------ how many neurons the best network needs


@pytest.mark.parametrize("name", ["three-points-need-three-neurons", "four-points-need-four-neurons"])
def test_so_many_points_need_so_many_neurons(name):
    case = read_case(CASES / "max-margin" / name / "case.json")
    instance = Instance.of(case)
    claim = ALL["vardi2022.widths.needed"]
    assert claim.setting(instance)
    assert claim.broken(instance) == []
    assert claim.conclusion(instance).outcome is Outcome.HELD
    assert ALL["vardi2022.widths.enough"].conclusion(instance).outcome is Outcome.HELD


def test_points_near_each_other_share_a_neuron():
    """The claim without its hypothesis is refuted; so is that three points never need more than two neurons."""
    claim = ALL["vardi2022.widths.needed"]
    found = first_draws(claim.without["apart"].map(lambda given: (given.problem, given.network)), 4)
    assert all(claim.broken(instance) == ["apart"] for instance in found)
    assert {claim.conclusion(instance).outcome for instance in found} == {Outcome.FAILED}
    three = Instance.of(read_case(CASES / "max-margin" / "three-points-need-three-neurons" / "case.json"))
    narrower = _is_above(_curve(three, 2).points[-1], _curve(three, 3).any_width.ends[1])
    assert narrower


def test_points_of_one_label_in_two_planes_are_not_apart():
    """One neuron sees a point of each plane, so that two neurons do for four points."""
    x = [[13, 0], [-9, 9]]
    rows = [[*p, 0, 0] for p in x] + [[0, 0, *p] for p in x]
    instance = Instance.posed(Network.two_layer(rows, [1] * 4), Dataset(rows, [1] * 4))
    claim = ALL["vardi2022.widths.needed"]
    assert claim.broken(instance) == ["apart"]
    assert claim.conclusion(instance).outcome is Outcome.FAILED


# -------------------------------------------------------------------------------------------- any depth, shared weights


def linear_layers(*sizes, entries=None):
    found = None if entries is None else [entries.get(l) for l in range(len(sizes) - 1)]
    return shape_of(sizes, [1] * (len(sizes) - 2), found)


def posed_in_depth(shape, parameters, rows, **options):
    data = Dataset(rows, [1] * len(rows))
    problem = Problem(data, shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE, **options)
    return Instance(problem, Network(shape, parameters))


FILTER = ((0, 1, None, None), (None, None, 0, 1))


def test_what_theorem_4_4_speaks_of():
    claim = ALL["vardi2022.thm4.4"]
    shape = linear_layers(4, 2, 1, entries={0: FILTER})
    patches = [4, "3/5", -3, "4/5"]
    smaller = posed_in_depth(shape, [[0, 1], ["3/5", "4/5"]], [patches])
    assert claim.setting(smaller)
    assert claim.broken(smaller) == []
    assert claim.conclusion(smaller).outcome is Outcome.HELD
    larger = posed_in_depth(shape, [[1, 0], ["4/5", "-3/5"]], [patches])
    assert claim.broken(larger) == ["smaller-value"]
    assert claim.conclusion(larger).outcome is Outcome.FAILED
    zero = posed_in_depth(shape, [[0, 1], [0, 1]], [[4, 0, 0, 1]])
    assert "non-zero-inputs" in claim.broken(zero)
    others = (
        posed_in_depth(linear_layers(4, 2, 1), [[0, 1, 0, 0, 0, 0, 0, 1], [1, 1]], [patches]),
        posed_in_depth(linear_layers(4, 2, 1, entries={0: FILTER, 1: ((0, 0),)}), [[0, 1], [1]], [patches]),
        posed_in_depth(shape, [[0, 1], ["3/5", "4/5"]], [patches] * 2),
        posed_in_depth(shape, [[0, 1], ["3/5", "4/5"]], [patches], trained=Trained.HIDDEN),
    )
    assert not any(map(claim.setting, others))


def test_what_theorem_5_1_speaks_of():
    claim, one = ALL["vardi2022.thm5.1"], ((0, None), (None, 1))
    shape = linear_layers(2, 2, 2, 1, entries={0: one, 1: one})
    ones = posed_in_depth(shape, [[1, 1]] * 3, [[1, 1]])
    assert claim.setting(ones)
    assert claim.broken(ones) == []
    assert claim.conclusion(ones).outcome is Outcome.HELD
    vertex = posed_in_depth(shape, [[1, 0]] * 3, [[1, 1]])
    assert claim.broken(vertex) == ["two-live"]
    assert claim.conclusion(vertex).outcome is Outcome.FAILED
    others = (
        posed_in_depth(linear_layers(2, 2, 1, entries={0: one}), [[1, 1]] * 2, [[1, 1]]),
        posed_in_depth(linear_layers(2, 2, 2, 1, entries={0: one}), [[1, 1], [1, 0, 0, 1], [1, 1]], [[1, 1]]),
        posed_in_depth(shape, [[1, 1]] * 3, [[1, 1]] * 2),
    )
    assert not any(map(claim.setting, others))


def test_deep_claims_of_theorem_3_1_are_of_depth_3_and_more():
    flat = posed(Network.two_layer([[1]], [1], slope=1), [[1]])
    for name in ("vardi2022.thm3.1.deep", "vardi2022.thm3.1.deep.flow"):
        assert not ALL[name].setting(flat)
    shared = posed_in_depth(linear_layers(2, 1, 2, 1, entries={0: ((0, 0),)}), [[1], [1, 1], [1, 1]], [[1, 0]])
    assert ALL["vardi2022.thm3.1.deep"].broken(shared)[0] == "fully-connected"


@pytest.mark.parametrize("sizes", [(2, 3, 2, 1), (3, 1, 2, 1), (1, 2, 2, 2, 1)])
def test_gradient_flow_of_deep_linear_networks_of_several_shapes_ends_global(sizes):
    """Layers of ones but for one weight of each: they are not balanced, and every point is on its side."""
    shape = linear_layers(*sizes)
    layers = [[2 if not k else 1 for k in range(layer.parameter_count)] for layer in shape.layers]
    rows = [[2 - (c == i) for c in range(sizes[0])] for i in range(3)]
    instance = posed_in_depth(shape, layers, rows)
    claim = ALL["vardi2022.thm3.1.deep.flow"]
    assert claim.broken(instance) == []
    assert claim.conclusion(instance).outcome is Outcome.HELD
