"""The claims of 2110.13905 that train: their conclusions tell right ends from wrong ones, and false versions fail."""

from dataclasses import replace
from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import find, given, settings
from scipy.special import expi

from solvers.training.flow.gradient_flow import gradient_flow
from tests.amount import UNSHRUNK
from verify import Dataset, Network
from verify.checker.exact import dot
from verify.claims import Instance, Outcome, failed, held, read_instance, registry, run, stationary
from verify.claims.lyu2021 import (
    clocks,
    ends,
    figure_1,
    growth,
    lemma_5_2,
    lemma_5_3,
    lemma_5_4,
    scales,
    symmetric,
    theorem_3_1,
    theorem_4_3,
    theorem_5_5,
    theorem_5_6,
    theorem_6_2,
)
from verify.claims.trainings import after, trained
from verify.deciders.finding import Verdict
from verify.problem.problem import Bias, Goal, Problem, half_squared_norm, outputs
from verify.strategies import (
    balanced_pairs,
    bent_networks,
    drift_signs,
    embedded_pairs,
    hinted_data,
    hinted_starts,
    mean_signed,
    symmetric_starts,
)
from verify.training.conversion import layers_of, parameters_of, rows_of

F = Fraction
ALL = registry()
PAIR = Dataset([[1], [-1]], [1, -1])
TINY = F(1, 10**6)


def posed(data, hidden, outgoing, slope="1/2"):
    network = Network.two_layer(hidden, outgoing, slope=F(slope))
    return Instance(Problem(data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE), network)


# ------------------------------------------------------------------------------------------------------ starts and data


@settings(max_examples=50, deadline=None)
@given(symmetric_starts())
def test_both_signs_of_drift_and_a_scale_ten_times_larger_is_not_small(start):
    problem, network = start
    instance = Instance(problem, network)
    assert set(drift_signs(network, mean_signed(problem.data))) == {1, -1}
    assert growth.is_small(instance)
    unit = max(abs(w) for layer in network.parameters for w in layer)
    assert unit > F(1, 100) or not growth.is_small(scales.scaled(instance, F(10)))


@pytest.mark.long
def test_starts_shrink_to_what_the_docstrings_say():
    _, pair = find(symmetric_starts(), lambda _: True, settings=settings(max_examples=50, database=None))
    assert pair == Network.two_layer([[F(-1, 100)], [F(1, 100)]], [F(1, 100), F(-1, 100)], slope=F(1, 2))
    _, best = find(balanced_pairs(), lambda _: True, settings=settings(max_examples=50, database=None))
    assert best == Network.two_layer([[-1], [1]], [1, -1], slope=F(1, 2))
    bent = find(bent_networks(), lambda _: True, settings=settings(max_examples=50, database=None)).network
    assert bent.architecture.slope == F(1, 2)
    assert bent.hidden_weights[0] == (F(-12, 13), F(5, 13))


def test_the_sign_of_the_drift_is_exact():
    network = Network.two_layer([[3, 4], [3, 4], [-3, 4], [0, 0]], [-5, F(-4999, 1000), 0, 1], slope=F(1, 2))
    assert drift_signs(network, (F(3), F(4))) == [0, 1, 1, 1]
    assert drift_signs(network, (F(-3), F(-4))) == [-1, -1, -1, 1]


@settings(max_examples=30, deadline=None)
@given(bent_networks())
def test_the_bent_kkt_points_have_their_multipliers_and_their_share_of_the_best_margin(point):
    instance = Instance.of(point)
    size = half_squared_norm(point.problem, point.network)
    assert size == sum(point.multipliers)  # all are at margin 1 where the multipliers are not 0
    assert min(y * f for y, f in zip(instance.data.targets, outputs(point.problem, point.network), strict=True)) == 1
    w = symmetric.separator(instance)
    first = instance.data.inputs[0]
    square = 1 - dot(first, w) ** 2 / (dot(first, first) * dot(w, w))  # S^2
    best = 4 * dot(w, w) / (1 + instance.slope) ** 2  # squared
    assert abs(2 * float(size) / float(best) ** 0.5 - 1 - float(square) ** -0.5) < 1e-12


@settings(max_examples=30, deadline=None)
@given(bent_networks(steep=False))
def test_bent_networks_that_are_not_steep_are_no_kkt_points(point):
    instance = Instance.of(point)
    assert not figure_1.is_steep(instance)
    assert stationary(instance).verdict is Verdict.REFUTED


@pytest.mark.parametrize(("last", "point"), [([0, 0], [1, 2]), ([1, 0], [0, 0])])
def test_without_an_angle_to_the_separator_nothing_is_steep(last, point):
    network = Network.two_layer([[1, 1], last], [1, -1], slope=Fraction(1, 2))
    assert not figure_1.is_steep(Instance.posed(network, Dataset([point, [1, 1]], [1, 1])))


@settings(max_examples=30, deadline=None)
@given(hinted_starts())
def test_hinted_starts_break_a_hypothesis_when_it_is_taken_away(start):
    problem, network = start
    instance = Instance(problem, network)
    assert theorem_6_2.is_hinted_start(instance)
    dead = Network(network.architecture, [network.parameters[0], [-abs(v) for v in network.parameters[1]]])
    assert not theorem_6_2.is_live(Instance(problem, dead))
    near = [[x / 10**6 for x in problem.data.inputs[0]], *problem.data.inputs[1:]]
    assert not theorem_6_2.has_far_hint(
        Instance(theorem_6_2.replace_data(instance, Dataset(near, problem.data.targets)), network)
    )
    assert not theorem_6_2.is_tiny(scales.scaled(instance, F(10**6)))
    turned = Dataset(problem.data.inputs, [-y for y in problem.data.targets])
    assert not theorem_6_2.is_hinted_start(Instance(theorem_6_2.replace_data(instance, turned), network))


@settings(max_examples=20, deadline=None)
@given(hinted_starts())
def test_two_tilted_neurons_beat_the_limit_only_between_wide_hints(start):
    limit = theorem_6_2.posed_at_separator(Instance(*start))
    assert theorem_6_2._is_beaten_by_two(limit)
    up, down = limit.data.inputs[1:3]
    along = [(p + q) / 2 for p, q in zip(up, down, strict=True)]
    narrow = [[p + (x - p) / 10**3 for p, x in zip(along, row, strict=True)] for row in (up, down)]
    data = Dataset([limit.data.inputs[0], *narrow, *limit.data.inputs[3:]], limit.data.targets)
    assert not theorem_6_2._is_beaten_by_two(Instance(theorem_6_2.replace_data(limit, data), limit.network))


@settings(max_examples=20, deadline=None)
@given(hinted_data(first=False))
def test_without_the_first_hint_two_points_of_one_label_are_least(found):
    heights = [y * dot(row, found.direction) for row, y in zip(found.data.inputs, found.data.targets, strict=True)]
    assert heights[:2] == [found.height] * 2
    assert min(heights[2:]) > found.height


# ------------------------------------------------------------------------------------------------------ the loss's time


def test_the_time_is_that_of_the_loss():
    """One balanced neuron, q = w^2: q' = 2 q / (1 + e^q), so that log q + Ei(q) grows by 2 t."""
    instance = posed(Dataset([[1]], [1]), [[F(1, 1000)]], [F(1, 1000)])
    found = clocks.course(instance, 20.0)
    for time in (0.5, 7.0, 20.0):
        q = found(time)[0] ** 2
        assert abs(log(q) + expi(q) - log(1e-6) - expi(1e-6) - 2 * time) < 1e-7


@settings(max_examples=10, deadline=None)
@given(symmetric_starts())
def test_the_course_is_on_the_curve_that_training_follows(start):
    instance = Instance(*start)
    found = clocks.course(instance, growth.Start(instance).time(0.5))
    aim = np.linalg.norm(found(found.ts[-1]))
    layers, rows = layers_of(instance.network.architecture), rows_of(instance.data, instance.network.architecture)
    targets = np.array([float(y) for y in instance.data.targets])
    run = gradient_flow(
        layers, rows, targets, parameters_of(instance.network), loss="logistic", rtol=1e-10,
        stop=lambda moment: "beyond" if np.linalg.norm(moment.theta) >= aim else None,
    )  # fmt: skip
    times = np.linspace(0, found.ts[-1], 2000)
    norms = [np.linalg.norm(found(time)) for time in times]
    samples = run.trajectory.thetas[:-1]
    assert len(samples) > 2
    for theta in samples:
        size = np.linalg.norm(theta)
        near = [found(time) for time, norm in zip(times, norms, strict=True) if abs(norm - size) < 0.02 * size]
        assert min(np.linalg.norm(other - theta) for other in near) < 0.02 * size


@pytest.mark.parametrize("conclusion", [lemma_5_2.aligns, lemma_5_3.commutes, lemma_5_4.follows_two_neurons])
def test_too_few_evaluations_leave_it_undecided(conclusion, monkeypatch):
    monkeypatch.setattr(clocks, "EVALUATIONS", 5)
    instance = posed(PAIR, [[F(1, 77777)], [F(-1, 77777)]], [F(1, 77777), F(-1, 77777)])
    clocks.course.cache_clear()
    assert conclusion(instance).outcome is Outcome.UNDECIDED


# --------------------------------------------------------------------------------------------------------------- growth


class _Doubled(growth.Start):
    """With the rate that the paper prints, (1 + a)/2 |mu|."""

    def __init__(self, instance):
        super().__init__(instance)
        self.growth *= 2


def double_the_rate(monkeypatch):
    for theorem in (lemma_5_2, lemma_5_4):
        monkeypatch.setattr(theorem, "Start", _Doubled)


def test_lemma_5_2_with_the_rate_that_is_printed_is_refuted(monkeypatch):
    double_the_rate(monkeypatch)
    result = run(replace(ALL["lyu2021.lem5.2"], sharp={}), examples=50)
    assert result.outcome == "failed"
    assert result.counterexample.instance.size[:3] == (2, 2, 1)


def test_lemma_5_4_with_the_rate_that_is_printed_is_refuted(monkeypatch):
    double_the_rate(monkeypatch)
    instance = posed(PAIR, [[F(1, 1000)], [F(1, 2000)]], [F(1, 1000), F(-1, 1000)])
    assert lemma_5_4.follows_two_neurons(instance).outcome is Outcome.FAILED


@settings(max_examples=20, deadline=None)
@given(embedded_pairs().filter(lambda start: start[1].width > 2))
def test_a_network_with_other_shares_does_not_follow_the_two_neurons(start):
    problem, network = start
    instance = Instance(problem, network)
    assert lemma_5_3.is_embedded(instance)
    values = list(network.output_weights)
    k = next(j for sign in (1, -1) if sum(v * sign > 0 for v in values) > 1
             for j, v in enumerate(values) if v * sign > 0)  # fmt: skip
    values[k] *= F(3, 2)
    other = Instance(problem, Network(network.architecture, [network.parameters[0], values]))
    assert not lemma_5_3.is_embedded(other)
    assert lemma_5_3.commutes(other).outcome is Outcome.FAILED


# ----------------------------------------------------------------------------------------------------------------- ends


def test_ends_are_told_apart():
    best = posed(PAIR, [[1], [-1]], [1, -1])
    alone = posed(PAIR, [[1], [0]], [1, 0])
    assert theorem_4_3._is_linear(best).outcome is Outcome.HELD
    assert theorem_4_3._is_linear(alone).outcome is Outcome.FAILED
    assert ends.has_margin(best, F(1)).outcome is Outcome.HELD
    assert ends.has_margin(alone, F(1)).outcome is Outcome.FAILED
    assert ends.has_margin(alone, F(2, 3)).outcome is Outcome.HELD
    assert theorem_5_5._is_the_pair(best).outcome is Outcome.HELD
    assert theorem_5_5._is_the_pair(posed(PAIR, [[-1], [1]], [-1, 1])).outcome is Outcome.FAILED  # the other way round


def test_a_margin_above_the_best_is_a_failure():
    """Of one point, which is not symmetric, one neuron has more than (1 + a)/4 of the linear margin."""
    assert ends.has_margin(posed(Dataset([[1]], [1]), [[1]], [1]), F(1)).outcome is Outcome.FAILED


def test_a_training_that_is_cut_short_is_undecided():
    instance = posed(PAIR, [[TINY], [-TINY]], [TINY, -2 * TINY])
    run_ = trained(instance, stop_at=1e-9, evaluations=3)
    assert after(instance, run_, theorem_4_3._is_linear).outcome is Outcome.UNDECIDED


def test_two_scales_decide_and_a_third_where_they_differ():
    instance = posed(PAIR, [[1], [-1]], [1, -1])

    def below(bound):
        return lambda start: held() if start.network.output_weights[0] < bound else failed("too large")

    assert scales.at_two_scales(instance, below(2)).outcome is Outcome.HELD
    assert scales.at_two_scales(instance, below(F(1, 10))).outcome is Outcome.HELD
    assert scales.at_two_scales(instance, below(F(1, 10**5))).outcome is Outcome.FAILED
    switching = iter([held(), failed("no"), held()])
    assert scales.at_two_scales(instance, lambda _: next(switching)).outcome is Outcome.UNDECIDED


def test_corollary_4_4_with_a_larger_probability_is_refuted():
    def trial(random):
        W = [[F(random.choice([-1, 1]) * random.randint(1, 300), 10**8)] for _ in range(2)]
        return posed(PAIR, W, [F(random.choice([-1, 1]) * random.randint(1, 300), 10**8) for _ in range(2)])

    claim = replace(ALL["lyu2021.cor4.4"], id="planted.chance", chance=F(99, 100), trial=trial, sharp={}, examples=100)
    result = run(claim, examples=40)
    assert result.tried == 20
    assert result.outcome == "failed"
    assert run(replace(claim, chance=F(1, 2), could_fail=None), examples=40).outcome == "consistent"  # two points


def test_a_kkt_point_that_is_no_local_optimum_loses_its_margin():
    saddle = read_instance("max-margin/tie-needs-clarke")
    assert stationary(saddle).verdict is Verdict.PROVED
    assert theorem_5_6.keeps_the_margin(saddle).outcome is Outcome.FAILED


def test_a_dead_start_has_no_vanishing_loss():
    dead = posed(Dataset([[1]], [1]), [[-1]], [1], slope=0)
    assert theorem_3_1.loss_vanishes_at_kkt(dead).outcome is Outcome.FAILED


# ------------------------------------------------------------------------------------------------------------- figure 1


def test_bent_boundaries():
    half = F(1, 2)
    assert not figure_1.bends(Network.two_layer([[1, 0]], [1], slope=half))
    assert not figure_1.bends(Network.two_layer([[1, 0], [-1, 0]], [1, -1], slope=half))
    assert figure_1.bends(Network.two_layer([[1, 1], [1, -1]], [1, 1], slope=half))
    assert not figure_1.bends(Network.two_layer([[1, 1], [1, -1]], [1, 1], slope=1))
    assert figure_1.bends(Network.two_layer([[1, 0], [-1, 0], [0, 1]], [1, 1, 1], slope=half))


def test_a_linear_kkt_point_is_no_example_of_the_left_picture():
    assert figure_1.is_bent_and_beaten(posed(PAIR, [[1], [-1]], [1, -1])).outcome is Outcome.UNDECIDED
    bent = posed(Dataset([[1, 1], [1, -1]], [1, 1]), [[1, 1], [1, -1]], [1, 1])
    assert figure_1.is_beaten_by_bent(bent).outcome is Outcome.FAILED


def test_weights_that_are_no_numbers_and_flows_that_stand_still_are_never_held(monkeypatch):
    """max(0, nan) is 0: an error that is no number was once an error of 0, and so below every bound."""
    start = Instance(*find(symmetric_starts(), lambda _: True, settings=UNSHRUNK))
    nothing = np.full(len(parameters_of(start.network)), np.nan)
    assert growth.m_norm(nothing, start.network.width) == float("inf")
    assert growth.m_norm(np.append(np.ones(len(nothing) - 1), np.nan), start.network.width) == float("inf")
    monkeypatch.setattr(lemma_5_2, "course", lambda *_: lambda _: nothing)
    assert lemma_5_2.aligns(start).outcome is not Outcome.HELD
    pair = Instance(*find(embedded_pairs(), lambda _: True, settings=UNSHRUNK))
    monkeypatch.setattr(lemma_5_3, "course", lambda instance, *_: lambda _: parameters_of(instance.network) * np.nan)
    assert lemma_5_3.commutes(pair).outcome is Outcome.UNDECIDED
    monkeypatch.setattr(lemma_5_3, "course", lambda instance, *_: lambda _: parameters_of(instance.network))
    assert lemma_5_3.commutes(pair).reason == "the weights move by 0 only"


def test_an_integration_that_ends_in_no_numbers_is_none(monkeypatch):
    import scipy.integrate

    class Found:
        success, y, sol = True, np.array([[1.0, np.nan]]), print

    monkeypatch.setattr(scipy.integrate, "solve_ivp", lambda *_, **__: Found())
    clocks.course.cache_clear()
    assert clocks.course(posed(PAIR, [[1]], [1]), 1.0) is None
    clocks.course.cache_clear()
