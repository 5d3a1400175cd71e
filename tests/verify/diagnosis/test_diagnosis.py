"""Each fault on a network built to have it; every rung of the ladder really fits, with the objective that is stated."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from math import isclose
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.problems import random_problems
from tests.words import check_words
from verify import Dataset, Network, audit
from verify.auditing.loop import pose
from verify.deciders.estimates import estimate, exact_objective, is_silent, least_margins
from verify.deciders.finding import Verdict
from verify.deciders.global_optimality.bracket import bracket_optimum
from verify.deciders.global_optimality.infeasibility import infeasibility
from verify.diagnosis import RungKind, diagnose
from verify.diagnosis.ladder import balanced, without
from verify.diagnosis.neurons import Imbalance, _more_wasteful
from verify.numbers.decimals import nearest
from verify.problem.network import Architecture, Layer
from verify.problem.problem import Bias, Goal, Problem, half_squared_norm, objective, outputs
from verify.report.faults import faults

F = Fraction
ORTHOGONAL = Dataset([[1, 0], [0, 1]], [1, -1])


def diagnosed(network, X, y, **options):
    problem = pose(network, Dataset(X, y), **options)
    fits = objective(problem, network) is not None
    return diagnose(problem, network, network if fits else None)


# ------------------------------------------------------------------------------------------------------- neurons

FACING = [[1, 1], [1, 2], [2, 1]]


def test_neurons_that_are_off_everywhere_are_dead():
    network = Network.two_layer([[1, 1], [-1, 0], [0, 3], [0, 0]], [1, 2, 0, 0])
    found = diagnosed(network, FACING, [1, 1, 1]).neurons
    assert (found.dead, found.idle, found.zero, found.count) == ((1,), (2,), (3,), 4)
    assert (found.dead_share, found.idle_share) == (F(1 + 4, 2 + 1 + 1 + 4 + 9), F(9, 2 + 1 + 1 + 4 + 9))


def test_a_leaky_neuron_that_is_off_is_not_dead():
    network = Network.two_layer([[1, 1], [-1, 0]], [1, -2], slope=F(1, 10))
    assert diagnosed(network, FACING, [1, 1, 1]).neurons.dead == ()


@pytest.mark.parametrize("slope", [0, F(1, 3), 1])
def test_a_neuron_at_a_kink_of_every_point_is_dead(slope):
    network = Network.two_layer([[1, 0], [0, 5]], [1, 1], slope=slope)
    assert diagnosed(network, [[1, 0], [2, 0]], [1, 1]).neurons.dead == (1,)


def test_a_neuron_that_is_barely_on_is_not_dead():
    tiny = F(1, 10**40)  # 1 + tiny is 1 in floats
    network = Network.two_layer([[1, 0], [-1, 1 + tiny]], [1, 1])
    assert diagnosed(network, [[1, 1]], [1]).neurons.dead == ()
    network = Network.two_layer([[1, 0], [-1, 1 - tiny]], [1, 1])
    assert diagnosed(network, [[1, 1]], [1]).neurons.dead == (1,)


def test_unbalanced_neurons_come_with_their_exact_squares():
    network = Network.two_layer([[3, 4], [1, 0], [0, 2]], [1, 1, F(1, 2)])
    worst, second = diagnosed(network, FACING, [1, 1, 1]).neurons.unbalanced
    assert (worst.neuron, worst.outgoing_squared, worst.hidden_squared) == (0, 1, 25)
    assert (worst.outgoing_hint, worst.hidden_hint, worst.waste_hint) == (1, 5, 8)
    assert (second.neuron, second.outgoing_squared, second.hidden_squared) == (2, F(1, 4), 4)


@pytest.mark.parametrize(("w", "said"), [(5e-324, "4.94e-324"), (1e-200, "1e-200")])
def test_the_size_of_an_unbalanced_neuron_is_0_only_where_it_is(w, said):
    """Its square may be beyond doubles."""
    found = diagnosed(Network.two_layer([[w, 0], [1, 0]], [2, 1]), [[1, 0]], [1]).neurons.unbalanced[0]
    assert nearest(F(found.hidden_hint), 3) == said
    assert found.hidden_hint == w
    assert found.outgoing_hint == 2
    assert replace(found, hidden_squared=F(10) ** 400).hidden_hint == 1e200


def test_what_rounding_left_of_0_is_no_fault():
    """Neurons of no size are neither unbalanced, nor doubled, nor near their kinks; somewhat larger ones are."""
    for size, is_told in ((1e-29, False), (1e-8, True)):
        dust = [[size, -size], [size, -size]]
        network = Network.two_layer([[1, 1], *dust], [1, size / 3, size / 3])
        found = diagnosed(network, FACING, [1, 1, 1]).neurons
        assert {fault.neuron for fault in found.unbalanced} == ({0, 1, 2} if is_told else {0})
        assert found.doubled_hints == (((1, 2),) if is_told else ())
        assert found.near_kink_hints == (((1, 0), (2, 0)) if is_told else ())


def test_a_free_bias_does_not_count_in_the_balance():
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1], b=[7, 0])
    assert diagnosed(network, FACING, [1, 1, 1], bias=Bias.FREE).neurons.unbalanced == ()
    (found,) = diagnosed(network, FACING, [1, 1, 1]).neurons.unbalanced
    assert (found.neuron, found.hidden_squared) == (0, 50)


def test_doubled_neurons():
    W = [[1, 2], [2, 4.0001], [1, 2], [-1, 5], [2, 4]]
    found = diagnosed(Network.two_layer(W, [1, 2, -1, 1, 3]), FACING, [1, 1, 1]).neurons
    assert found.doubled_hints == ((0, 1, 4),)


def test_neurons_of_different_masks_are_not_doubled():
    network = Network.two_layer([[1, 0], [1, 0]], [1, 1], masks=[[0, 1], [0]])
    assert diagnosed(network, FACING, [1, 1, 1]).neurons.doubled_hints == ()


def test_near_kinks():
    network = Network.two_layer([[1, 1], [1, -1]], [1, 1])
    X = [[1, 1], [1, 1 + 1e-9], [1, 0.5], [0, 0], [1, 1.1]]
    assert diagnosed(network, X, [1, 1, 1, -1, 1]).neurons.near_kink_hints == ((1, 0), (1, 1))


def test_masked_neurons_have_no_kink_at_points_that_they_do_not_see():
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1], masks=[[0], [1]])
    assert diagnosed(network, [[1, 0], [1, 1]], [1, 1]).neurons.near_kink_hints == ()


def test_linear_neurons_have_no_kinks():
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1], slope=1)
    assert diagnosed(network, [[1, 0], [1, 1]], [1, 1]).neurons.near_kink_hints == ()


@pytest.mark.parametrize(("y", "goal"), [(1, None), (F(3, 2), Goal.MIN_NORM)])
def test_the_angle_by_which_a_neuron_has_to_turn(y, goal):
    network = Network.two_layer([[1, 1]], [y])  # one point: the KKT direction is the point itself
    ((neuron, angle),) = diagnosed(network, [[1, 0]], [y], goal=goal).neurons.turn_hints
    assert neuron == 0
    assert isclose(angle, 45, abs_tol=1e-6)
    assert diagnosed(Network.two_layer([[1, 0]], [y]), [[1, 0]], [y], goal=goal).neurons.turn_hints == ()


XOR, XOR_LABELS = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1]


def test_nothing_has_to_turn_near_the_optimum_of_xor_with_biases():
    """The kink at the origin is that of a bias of 0, which has no size to be compared with there."""
    a, b = 33.5722354, 37.1557161
    W, v = [[a, a], [b, -b], [-b, b], [-a, -a]], [-58.1488175, 52.54611762, 52.54611762, -58.1488175]
    near = Network.two_layer(W, v, b=[-a, 2.6e-15, -1.7e-15, a])
    assert diagnosed(near, XOR, XOR_LABELS, bias=Bias.PENALISED).neurons.turn_hints == ()


def test_multipliers_at_kinks_have_the_signs_that_suit_the_network_best():
    """XOR without biases, min-norm: all four points are at kinks, two of them with multipliers of either sign."""
    size = 2**-0.25
    network = Network.two_layer([[size, -size], [-size, size]], [2**0.25, 2**0.25])
    targets = outputs(pose(network, Dataset(XOR, [0] * 4), goal=Goal.MIN_NORM), network)
    assert diagnosed(network, XOR, targets, goal=Goal.MIN_NORM).neurons.turn_hints == ()


def test_a_point_where_no_neuron_is_active_is_not_called_wrong_by_zero():
    off, cancelled = [[1, 0]], [[1, 0], [1, 0]]
    (said_, *_) = said(audit(Network.two_layer(off, [1]), Dataset([[-1, 0]], [1])))
    assert said_ == "no neuron is active at point 0, so that f(x) = 0 there"
    (said_, *_) = said(audit(Network.two_layer(cancelled, [1, -1]), Dataset([[1, 0]], [1])))
    assert said_ == "what the neurons give at point 0 cancels: f(x) = 0 there"


def test_where_no_neuron_is_active_the_output_is_its_bias():
    """One point on the wrong side by the bias alone, two of them, and one where neuron and bias cancel."""
    step = [[Fraction(-1, 2)], [-1], [-1], [0]], [Fraction(-1, 2), 1, -1, Fraction(-3, 2)]
    points = [[2], [0], [Fraction(-3, 2)], [1], [0], [-2], [Fraction(1, 2)]]
    for labels in ([1, 1, 1, -1, 1, 1, 1], [-1, 1, 1, -1, 1, 1, 1]):
        for output_bias in ("penalised", "free"):
            asked = {"goal": Goal.MAX_MARGIN, "output_bias": output_bias, "time_limit": 5}
            found = audit(Network.two_layer(*step, b2=1), Dataset(points, labels), **asked)
            text = " ".join(said(found))
            assert "so that f(x) is the output bias there" in text
            assert "f(x) = 0" not in text
            check_words(found)
    cancels = audit(Network.two_layer([[1]], [1], b2=-1), Dataset([[1], [2]], [1, 1]), output_bias="free", time_limit=5)
    assert "what the neurons and the output bias give at point 0 cancels: f(x) = 0 there" in " ".join(said(cancels))
    check_words(cancels)


def test_a_kkt_point_that_needs_its_kinks_has_nothing_to_turn():
    tie = Network.two_layer([[1, 0], [0, -1]], [1, 1])
    assert diagnosed(tie, [[1, 1], [0, -1]], [1, 1]).neurons.turn_hints == ()
    assert diagnosed(tie, [[1, 1], [0, -1], [1, 0]], [1, 1, 1], goal=Goal.MIN_NORM).neurons.turn_hints == ()


# -------------------------------------------------------------------------------------------------------- points


def test_points_of_a_network_that_fits():
    network = Network.two_layer([[1, 0]], [1])
    X = [[2, 0], [2, 5], [2 + 1e-9, 1], [2.01, 0], [4, 0], [6, 0], [4, 0]]
    found = diagnosed(network, X, [1] * 7).points
    assert (found.violated, found.worst, found.least, found.active) == ((), None, 2, (0, 1))
    assert found.near_tie_hints == (2,)
    assert found.duplicates == ((4, 6),)
    assert isclose(found.close_share_hint, 4 / 7)
    assert isclose(found.median_slack_hint, 1.0)


def test_all_points_active():
    found = diagnosed(Network.two_layer([[1, 0]], [1]), [[1, 0], [1, 5]], [1, 1]).points
    assert (found.active, found.median_slack_hint, found.close_share_hint) == ((0, 1), None, 1.0)


def test_violated_points():
    network = Network.two_layer([[1, 0]], [1])
    found = diagnosed(network, [[2, 0], [-1, 0], [3, 0], [0, 4]], [1, 1, -1, 1]).points
    assert (found.violated, found.worst, found.least, found.active) == ((1, 2, 3), 2, -3, (2,))


def test_missed_targets():
    network = Network.two_layer([[1, 0]], [1])
    found = diagnosed(network, [[2, 0], [-1, 0], [3, 0]], [2, F(1, 10**30), 5], goal=Goal.MIN_NORM).points
    assert (found.violated, found.worst, found.least) == ((1, 2), 2, None)


# ------------------------------------------------------------------------------------------------------- ladder


def test_the_ladder_of_a_network_with_every_fault():
    """One point (1, 0): the best possible objective is |u| = 1, by one neuron; here there are three."""
    network = Network.two_layer([[2, 0], [0, 2], [-1, 1]], [F(1, 2), 2, 1])
    result = audit(network, Dataset([[1, 0]], [1]))
    ladder = {rung.step: rung for rung in result.diagnosis.ladder}
    assert list(ladder) == [RungKind.GIVEN, RungKind.WITHOUT_DEAD, RungKind.BALANCED, RungKind.BOUND]
    assert ladder[RungKind.GIVEN].objective == F(4 + F(1, 4) + 8 + 3, 2) == result.objective
    assert ladder[RungKind.WITHOUT_DEAD].objective == F(17, 8)
    assert ladder[RungKind.WITHOUT_DEAD].network == Network.two_layer([[2, 0]], [F(1, 2)])
    assert ladder[RungKind.BALANCED].objective == 1
    assert ladder[RungKind.BALANCED].network == Network.two_layer([[1, 0]], [1])
    assert ladder[RungKind.BALANCED].excess[0] == 0
    assert ladder[RungKind.BOUND].network is None
    assert ladder[RungKind.BOUND].objective == result.bracket[0]


def test_all_heights_of_a_sentence_are_in_one_unit():
    """In per cent, also what is many times the best possible, where something is not."""
    points = Dataset([[1, 0]], [1])
    far = audit(Network.two_layer([[40, 0], [0, 2]], [F(1, 40), 2]), points)
    assert "from 80300" in (told := list(faults(far))[-1])
    assert "times" not in told
    doubled = replace(
        far.diagnosis, ladder=tuple(rung for rung in far.diagnosis.ladder if rung.step is not RungKind.BALANCED)
    )
    told = list(faults(replace(far, diagnosis=doubled)))[-1]
    assert "from 804 times the best possible to 800 times" in told
    assert "%" not in told


def test_a_better_network_of_the_same_width():
    """The tie of arXiv:2110.02732: stationary with objective 2; once its kink is off, 1.7071 is possible."""
    result = audit(Network.two_layer([[1, 0], [0, -1]], [1, 1]), Dataset([[1, 1], [0, -1]], [1, 1]))
    first, second, last = result.diagnosis.ladder
    assert (first.step, first.objective) == (RungKind.GIVEN, 2)
    assert second.step is RungKind.OWN_WIDTH
    assert list(faults(result))[-1].startswith("the best network known of at most its width (2 neurons) would bring")
    assert result.diagnosis.to_json()["ladder"][1]["step"] == "best known of at most its width"
    assert isclose(second.objective, 1 + 2**-0.5, rel_tol=1e-6)
    assert second.network.width == 2
    assert (last.step, last.objective) == (RungKind.BOUND, result.bracket[0])


def test_a_wider_network_is_the_last_rung():
    """One neuron separates a far point on each side of 0 only with its bias; two neurons need less."""
    result = audit(Network.two_layer([[1]], [1], b=[10]), Dataset([[5], [-5]], [1, 1]))
    steps = {rung.step: rung for rung in result.diagnosis.ladder}
    assert list(steps) == [RungKind.GIVEN, RungKind.BALANCED, RungKind.POLISHED, RungKind.ANY_WIDTH, RungKind.BOUND]
    polished, wide = steps[RungKind.POLISHED], steps[RungKind.ANY_WIDTH]
    assert (polished.network.width, wide.network.width) == (1, 2)
    assert isclose(polished.objective, 1, rel_tol=1e-6)
    assert isclose(wide.objective, 2 / 26**0.5, rel_tol=1e-6)


RANDOM = list(random_problems(11, 64))


@pytest.mark.parametrize("number", range(len(RANDOM)))
@pytest.mark.one_in(3)
def test_every_rung_fits_with_its_objective(number):
    """Both goals, all biases and slopes, masks; the ladder falls, the excess brackets the truth."""
    problem, network = RANDOM[number]
    if infeasibility(problem) is not None:
        return
    subject = network if objective(problem, network) is not None else None
    bracket = bracket_optimum(problem, network, subject=subject)
    found = diagnose(problem, network, subject, bracket)
    lower = bracket.ends[0]
    best = min((objective(problem, witness) for witness in bracket.witnesses), default=None)
    for rung in found.ladder:
        if rung.step is RungKind.BOUND:
            assert (rung.objective, rung.network) == (lower, None)
            continue
        assert objective(problem, rung.network) == rung.objective
        assert set(rung.network.architecture.masks) <= set(problem.mask_classes)
        if rung.excess is not None:
            assert 0 <= rung.excess[0] <= rung.excess[1] == rung.objective / lower - 1
    values = [rung.objective for rung in found.ladder]
    assert all(a > b for a, b in pairwise(values[:-1]))
    assert values == sorted(values, reverse=True)
    if best is not None:
        lowest = min(rung.objective for rung in found.ladder if rung.network is not None)
        assert lowest <= best * (1 + F(1, 10**6))
    if subject is not None and len(found.neurons.dead) < network.width:
        assert found.ladder[0].step is RungKind.GIVEN
        assert found.ladder[0].network is network
        assert half_squared_norm(problem, network) * found.neurons.dead_share == sum(
            half_squared_norm(problem, network) - half_squared_norm(problem, without(network, frozenset([j])))
            for j in found.neurons.dead
        )
    json.dumps(found.to_json())


@pytest.mark.parametrize("number", range(len(RANDOM)))
@pytest.mark.one_in(3)
def test_the_parts_add_up_to_the_excess(number):
    problem, network = RANDOM[number]
    value = objective(problem, network)
    if value is None or not value:
        return
    bracket = bracket_optimum(problem, network, subject=network)
    found = diagnose(problem, network, network, bracket).excess
    if found is None:
        assert not bracket.ends[0]
        return
    whole = float(value / bracket.ends[0] - 1)
    parts = (found.dead_hint, found.imbalance_hint, found.directions_hint, found.slack_hint)
    assert all(part >= 0 for part in parts)
    assert isclose(sum(parts), whole, rel_tol=1e-9, abs_tol=1e-9)


def test_the_ladder_of_a_repaired_network_starts_at_the_repair():
    network = Network.two_layer([[0.1, 0.3], [0.2, -1.1]], [1.0, 0.7])
    result = audit(network, Dataset([[1, 1], [1, -2]], [0.4, 1.6800000000000002]))
    first = result.diagnosis.ladder[0]
    assert (first.step, first.network, first.objective) == (RungKind.GIVEN, result.fits.subject, result.objective)
    assert result.diagnosis.points.violated == ()
    assert all(
        outputs(result.problem, rung.network) == list(result.problem.data.targets)
        for rung in result.diagnosis.ladder[:-1]
    )


small = st.integers(-8, 8).map(lambda z: F(z, 4))


@given(st.lists(st.tuples(small, small, small, small), min_size=1, max_size=4), st.sampled_from([0, F(1, 2), 1]))
@settings(max_examples=60)
def test_balancing_keeps_the_function_and_never_costs(neurons, slope):
    network = Network.two_layer(
        [n[:2] for n in neurons], [n[3] for n in neurons], b=[n[2] for n in neurons], slope=slope
    )
    X = [[1, 2], [-3, 1], [0, 0], [2, -5]]
    for bias in (Bias.PENALISED, Bias.FREE):
        problem = pose(network, Dataset(X, [0, 1, 2, 3]), goal=Goal.MIN_NORM, bias=bias)
        new = balanced(problem, network)
        assert outputs(problem, new) == outputs(problem, network)
        assert half_squared_norm(problem, new) <= half_squared_norm(problem, network)
        for w, v in zip(new.hidden_weights, new.output_weights, strict=True):
            size = sum(w[c] ** 2 for c in problem.norm_columns)
            if size and v:
                assert F(999, 1000) < v * v / size < F(1001, 1000)


def test_balancing_is_within_1e_7_also_between_the_smooth_factors():
    random = np.random.default_rng(0)
    network = Network.two_layer(random.standard_normal((50, 3)), 100 * random.standard_normal(50))
    problem = pose(network, Dataset([[1, 2, 3]], [1]))
    best = sum(abs(float(v)) * np.linalg.norm([float(x) for x in w]) for w, v in zip(
        network.hidden_weights, network.output_weights, strict=True))  # fmt: skip
    assert 1 <= float(half_squared_norm(problem, balanced(problem, network))) / best + 1e-15 <= 1 + 1e-7


def test_a_constant_of_a_free_bias_becomes_nearly_free():
    network = Network.two_layer([[1], [0]], [1, 3], b=[0, 1])
    problem = pose(network, Dataset([[0], [1]], [3, 4]), goal=Goal.MIN_NORM, bias=Bias.FREE)
    new = balanced(problem, network)
    assert outputs(problem, new) == [3, 4]
    assert 1 < half_squared_norm(problem, new) < 1 + F(1, 10**8)


def test_what_cannot_be_removed():
    network = Network.two_layer([[1], [2]], [1, 1])
    assert without(network, frozenset()) is None
    assert without(network, frozenset({0, 1})) is None
    assert without(network, frozenset({0})) == Network.two_layer([[2]], [1])


# ---------------------------------------------------------------------------------------------------- estimates

scales = st.sampled_from([1, 2**-60, 2**60, 2**-1030, 2**-400, 2**300])
weird = st.tuples(st.integers(-(10**6), 10**6), scales).map(lambda pair: pair[0] * F(pair[1]) / 1000)


@given(
    st.lists(st.tuples(weird, weird), min_size=1, max_size=4),
    st.lists(st.tuples(weird, weird, weird), min_size=1, max_size=3),
    st.sampled_from([0, F(1, 3), 1]),
)
@settings(max_examples=150)
def test_estimates_bound_their_errors_and_decide_nothing_wrongly(X, neurons, slope):
    network = Network.two_layer([n[:2] for n in neurons], [n[2] for n in neurons], slope=slope)
    problem = pose(network, Dataset(X, [1] * len(X)))
    try:
        found = estimate(problem, network)
    except OverflowError:
        return
    values = outputs(problem, network)
    for i, value in enumerate(values):
        if np.isfinite(found.output_errors[i]):
            assert abs(F(float(found.outputs[i])) - value) <= F(float(found.output_errors[i]))
    with np.errstate(all="ignore"):
        least, active = least_margins(problem, network, found)
        assert (least, active) == (min(values), tuple(i for i, value in enumerate(values) if value == least))
        assert exact_objective(problem, network, found) == objective(problem, network)
        for j, neuron in enumerate(zip(network.hidden_weights, network.output_weights, strict=True)):
            w, v = neuron
            alone = Network.two_layer([w], [v], slope=slope)
            assert is_silent(problem, network, found, j) == (not any(outputs(problem, alone)))
        mine = Problem(Dataset(X, values), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
        assert exact_objective(mine, network, estimate(mine, network)) == half_squared_norm(mine, network)
        off = [values[0] + F(1, 10**500), *values[1:]]
        missed = Problem(Dataset(X, off), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
        assert exact_objective(missed, network, estimate(missed, network)) is None


# -------------------------------------------------------------------------------------- audits, JSON and reports


def test_no_diagnosis_of_deep_or_shared_networks():
    deep = Network(
        Architecture((
            Layer(inputs=1, outputs=1, slope=F(0), bias=True), Layer(inputs=1, outputs=1, slope=F(0)),
            Layer(inputs=1, outputs=1, slope=None),
        )), [[1, 0], [1], [1]],
    )  # fmt: skip
    result = audit(deep, Dataset([[1]], [1]), bias="free")
    assert result.diagnosis is None
    assert list(result.to_json()["diagnosis"]) == ["next"]
    decided = audit(deep, Dataset([[1]], [1]))
    assert decided.diagnosis is None
    assert list(decided.to_json()["diagnosis"]) == ["next"]
    assert diagnose(result.problem, deep, deep) is None


def test_nothing_is_out_of_balance_where_the_output_weights_are_given():
    network = Network.two_layer([[3, 0], [0, -1]], [1, 2])
    found = audit(network, Dataset([[1, 0], [1, 1]], [1, 1]), trained="hidden").diagnosis
    assert found is not None
    assert found.neurons.unbalanced == ()
    assert found.neurons.dead == (1,)
    assert found.neurons.dead_share == F(1, 10)
    assert [rung.step for rung in found.ladder][:2] == [RungKind.GIVEN, RungKind.WITHOUT_DEAD]
    assert RungKind.BALANCED not in {rung.step for rung in found.ladder}


def test_no_diagnosis_when_no_network_fits_or_floats_do_not_reach():
    assert audit(Network.two_layer([[1]], [1]), Dataset([[1], [1]], [1, -1])).diagnosis is None
    huge = Network.two_layer([[10**400]], [1])
    assert diagnosed(huge, [[1]], [1]) is None


def test_an_audit_keeps_its_diagnosis_as_json():
    network = Network.two_layer([[4, 0], [-1, 0]], [1, 3])
    result = audit(network, Dataset([[1, 0], [3, 0]], [1, 1]))
    written = json.loads(json.dumps(result.to_json()))["diagnosis"]
    assert set(written) == {"points", "neurons", "excess_parts", "ladder", "next"}
    assert written["points"]["active"] == [0]
    assert written["points"]["least_margin"] == "4"
    assert written["neurons"]["dead"] == [1]
    assert written["neurons"]["dead_share_of_squared_norm"] == "10/27"
    assert [rung["step"] for rung in written["ladder"]] == ["given", "dead neurons removed", "balanced", "lower bound"]
    assert written["ladder"][0]["objective"] == "27/8"
    assert written["ladder"][0]["neurons"] == 2
    assert written["excess_parts"]["points_with_a_multiplier"] == 1


def said(result):
    return [text.replace("\u00a0", " ") for text in faults(result)]


def test_an_excess_beyond_doubles_is_kept_as_a_text():
    found = audit(Network.two_layer([[1e-160], [-1.0]], [1e-160, -1.0]), ([[1.0], [-1.0]], [1.0, -1.0]))
    given = found.to_json()["diagnosis"]["ladder"][0]
    assert [Fraction(end) for end in given["excess_hint"]] == list(found.diagnosis.ladder[0].excess)
    assert Fraction(given["excess_hint"][0]) > 10**308


def test_a_neuron_that_is_pulled_nowhere_has_no_angle():
    """Both targets are met with room to spare, so that all multipliers are 0."""
    data = Dataset([[1], [2]], [1, "21/10"])
    found = audit(Network.two_layer([["11/10"]], [1]), data, fit_tol=Fraction(11, 100))
    assert found.stationary.verdict is Verdict.REFUTED
    assert found.diagnosis.neurons.turn_hints == ()
    sentences = said(found)
    assert not any("KKT direction" in sentence for sentence in sentences)
    assert any(
        sentence.startswith("at 1 of the 1 point that holds the lower bound the output is over")
        for sentence in sentences
    )


@pytest.mark.parametrize(("size", "share"), [(1, "33.3 %"), (1000, "over 99.9 %"), (10**6, "over 99.9 %")])
def test_what_dead_neurons_waste_is_all_only_where_nothing_else_is_there(size, share):
    dead = Network.two_layer([[1, 0], [0, 1], [-size, 0]], [1, -1, size])
    assert f"1 of 3 neurons is dead and wastes {share} of the squared norm: neuron 2" in said(audit(dead, ORTHOGONAL))
    idle = Network.two_layer([[-1, 0], [0, -1]], [size, size])
    assert "2 of 2 neurons are dead and waste 100 % of the squared norm: neurons 0 and 1" in said(
        audit(idle, ORTHOGONAL)
    )
    check_words(audit(dead, ORTHOGONAL))


def test_the_sentences_of_a_report():
    network = Network.two_layer([[2, 0], [0, 2], [-1, 1]], [F(1, 2), 2, 1])
    result = audit(network, Dataset([[1, 0]], [1]))
    assert said(result) == [
        "2 of 3 neurons are dead and waste 72.1 % of the squared norm: neurons 1 and 2",
        "neuron 0 is unbalanced by more than 1 %: |v| = 0.5, |w| = 2",
        "at the multipliers of the lower bound the excess comes from dead neurons (83 %) and imbalance (17 %)",
        (
            "removing the dead neurons would bring the network from 662 % above the best possible to 112 %; "
            "then balancing to 0 %"
        ),
    ]
    text = str(result)
    assert "what is wrong (neurons and points are counted from 0; amounts are rounded to the nearest)" in text
    assert "<li>neuron 0 is unbalanced" in result._repr_html_()


def test_the_sentences_about_turns_kinks_and_doubles():
    network = Network.two_layer([[1, 1], [2, 2], [0, 1]], [1, 2, 2**0.5])
    X, y = [[1, 0], [3, 0], [2, 1]], [1, 1, 1]
    text = "\n".join(said(audit(network, Dataset(X, y))))
    assert "neurons 0 and 1 point the same way to within 1e-3" in text
    assert "at the multipliers that suit the network best" in text
    assert "° from its KKT direction" in text
    assert "1 preactivation" not in text
    assert (
        "2 preactivations of live neurons are at a kink or within 1e-6 of one, relative to |w| |x|, "
        "such as neuron 2 at point 0" in text
    )
    assert "polishing (" in text


def test_the_sentence_about_slack_points():
    network = Network.two_layer([[1, 0], [0, 2]], [1, 2])
    text = "\n".join(said(audit(network, Dataset([[1, 0], [0, 1], [1, -30]], [1, 1, 1]))))
    held = "1 of the 3 points that hold the lower bound has over 1 % more than the least margin"
    assert f"{held}, point 1 most: 300 % more" in text


def test_a_wide_bracket_tells_nothing_of_where_the_excess_comes_from():
    network = Network.two_layer([[2, 0], [0, 2], [-1, 1]], [F(1, 2), 2, 1])
    result = audit(network, Dataset([[1, 0]], [1]))
    assert any(text.startswith("at the multipliers of the lower bound the excess comes from") for text in said(result))
    wide = replace(result, excess=(result.excess[0] / 2, result.excess[1]))
    assert not any("excess" in text for text in said(wide))


def test_sentences_about_a_network_that_does_not_fit():
    result = audit(Network.two_layer([[1, 1], [1, 0]], [1, 1]), Dataset([[1, 1], [1, 0], [0, 3]], [1, 1, -1]))
    first, *_, last, eased = said(result)
    assert first == "no point is further on the wrong side than point 2, where y·f(x) is -3"
    assert eased.startswith("of what it fits: ")
    assert last.startswith(("another network (", "a polished network ("))
    assert result.diagnosis.ladder[-1].step is RungKind.BOUND


def test_an_optimal_network_has_no_faults():
    result = audit(Network.two_layer([[1]], [1]), Dataset([[1]], [1]))
    assert result.global_any_width.verdict is Verdict.PROVED
    assert said(result) == []
    assert "what is wrong" not in str(result)


@pytest.mark.parametrize("number", range(0, len(RANDOM), 4))
def test_reports_stay_short_and_plain(number):
    problem, network = RANDOM[number]
    result = audit(network, problem.data, goal=problem.goal, bias=problem.bias, time_limit=5)
    lines = said(result)
    assert len(lines) <= 8
    assert all("Fraction" not in line and "nan" not in line and "None" not in line for line in lines)


def test_the_most_wasteful_neuron_comes_first_exactly():
    """Of neurons whose wastes agree as doubles, and in all orders of all sizes."""
    tiny = Fraction(1, 10**12)
    neurons = [(Fraction(10) ** 9, tiny), (Fraction(10) ** 9, tiny / 2), (Fraction(10) ** 9, 2 * tiny)]
    random = Random(3)
    sizes = [(random.randint(1, 9), 10 ** random.randint(0, 3), random.randint(1, 9)) for _ in range(300)]
    neurons += [(Fraction(w, part), Fraction(v)) for w, part, v in sizes]
    found = [
        Imbalance(neuron=j, outgoing_squared=v * v, hidden_squared=w * w) for j, (w, v) in enumerate(neurons) if w != v
    ]
    for turned in (found, found[::-1]):
        order = sorted(turned, key=cmp_to_key(_more_wasteful))
        wastes = [abs(neurons[q.neuron][0] - neurons[q.neuron][1]) for q in order]
        assert wastes == sorted(wastes, reverse=True)
    assert [q.neuron for q in sorted(found, key=cmp_to_key(_more_wasteful))[:3]] == [1, 0, 2]
    roots = [Imbalance(neuron=v, outgoing_squared=Fraction(v), hidden_squared=Fraction(2)) for v in (3, 5)]
    assert min(roots, key=cmp_to_key(_more_wasteful)).neuron == 5


def test_the_point_that_is_missed_most_is_found_exactly():
    """Residuals 1 and 1 + 10^-30 are the same as doubles."""
    data = Dataset([[1], [2], [3]], [0, 1 - Fraction(1, 10**30), 2])
    assert diagnosed(Network.two_layer([[1]], [1]), data.inputs, data.targets, goal="min-norm").points.worst == 1
