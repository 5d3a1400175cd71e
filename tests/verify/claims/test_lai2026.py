"""Exact descent of the hidden layer: against floats, by hand, and the claims about it without a hypothesis."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify import Bias, Dataset, Goal, Network, Problem
from verify.claims import Instance, Outcome, registry, run
from verify.claims.lai2026.ends import ends_as_regressions
from verify.claims.lai2026.exact_descent import captured, preactivations, step_size
from verify.claims.lai2026.hypotheses import duals, is_nearly_orthogonal, is_small_and_positive
from verify.claims.lai2026.least_norms import stays_near_the_least_norm
from verify.claims.lai2026.lemma_4 import interpolates
from verify.problem.problem import Trained
from verify.strategies import hidden_starts

F = Fraction
ALL = registry()


def posed(rows, labels, weights, signs):
    network = Network.two_layer(weights, signs)
    problem = Problem(
        Dataset(rows, labels), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE, trained=Trained.HIDDEN
    )
    return Instance(problem, network)


def in_floats(instance, steps):
    """The same descent, written with arrays."""
    x = np.array(instance.data.inputs, float)
    y = np.array(instance.data.targets, float)
    s = np.array(instance.network.output_weights, float)
    w = np.array(instance.network.hidden_weights, float)
    h = float(step_size(instance.data.inputs))
    for _ in range(steps):
        z = x @ w.T
        residuals = np.maximum(z, 0) @ s - y
        w = w - h * ((z > 0) * residuals[:, None] * s).T @ x
    return w


@settings(max_examples=40)
@given(hidden_starts.hidden_networks())
def test_the_exact_limit_is_where_floats_go(drawn):
    instance = Instance(*drawn)
    found = captured(instance)
    z = [line for w in found.path for line in preactivations(w, instance.data.inputs)] if found else []
    if found is None or any(0 in line for line in z):  # floats would miss that it is exactly 0
        return
    scale = 1 + np.abs(np.array(found.limit, float)).max()
    assert np.allclose(in_floats(instance, 10_000), np.array(found.limit, float), atol=1e-9 * scale, rtol=0)
    assert np.allclose(in_floats(instance, found.steps), np.array(found.path[-1], float), atol=1e-9 * scale, rtol=0)


def test_one_point_by_hand():
    """z <- z - h (z - 1) on the point (1): from z = 1/16 to 1, for ever on. With a negative label: off after a step."""
    found = captured(posed([[1]], [1], [[F(1, 16)]], [1]))
    assert found.limit == [[1]]
    assert found.pattern == ((True,),)
    assert step_size([(F(1),)]) == F(1, 2)
    assert found.path[1] == [[F(1, 16) + F(1, 2) * F(15, 16)]]
    found = captured(posed([[1]], [-1], [[F(1, 16)]], [1]))
    assert found.limit == [[F(1, 16) - F(1, 2) * F(17, 16)]]
    assert found.pattern == ((False,),)


def test_where_nothing_moves_a_kink_does_not_matter():
    """Off at the first point with a preactivation of 0, on at the second, whose label is met: at rest."""
    found = captured(posed([[-3, 0], [1, -3]], [2, 1], [[0, F(-1, 3)]], [1]))
    assert found.limit == found.path[0] == [[0, F(-1, 3)]]
    assert found.pattern == ((False, True),)


def test_three_neurons_on_one_point_may_overshoot():
    """h K = 3/2: the residual changes its sign and is halved at each step."""
    instance = posed([[1]], [1], [[F(1, 2)]] * 3, [1, 1, 1])
    found = captured(instance)
    outputs = [sum(w for (w,) in weights) - 1 for weights in found.path]
    assert outputs[:3] == [F(1, 2), F(-1, 4), F(1, 8)]
    assert found.limit == [[F(1, 3)]] * 3


def test_a_pattern_that_does_not_stay_is_not_taken_for_one():
    """On at both points for ten steps; then the one of label -1 goes off, and the other is gone with it."""
    found = captured(posed([[1, 0], [1, F(1, 4)]], [1, -1], [[F(1, 2), F(1, 2)]], [1]))
    on = [tuple(value > 0 for value in preactivations(w, [[1, 0], [1, F(1, 4)]])[0]) for w in found.path]
    assert on[:11] == [(True, True)] * 11
    assert on[11] != (True, True)
    assert found.steps > 11
    assert found.pattern == ((False, False),)


def test_the_step_is_the_largest_power_of_two_that_is_allowed():
    for rows in ([[F(3), F(0)]], [[F(1, 100)]], [[F(1), F(1)], [F(1), F(-2)]]):
        most = max(sum(abs(sum(a * b for a, b in zip(p, q, strict=True))) for q in rows) for p in rows)
        h = step_size(rows)
        assert 2 * h * most <= 1 < 4 * h * most
        assert h.numerator == 1 or h.denominator == 1


@pytest.mark.parametrize("name", [name for name in ALL if name.startswith("lai2026.")])
def test_a_hundred_instances_hold(name):
    result = run(ALL[name], examples=100)
    assert result.outcome == "held", result.faults
    assert result.undecided <= 10


# ---------------------------------------------------------------------------------------- what a hypothesis is good for


def without(name, hypothesis, instances):
    claim = ALL[name]
    kept = {key: value for key, value in claim.hypotheses.items() if key != hypothesis}
    return replace(claim, id="planted.false", hypotheses=kept, instances=instances.map(lambda drawn: Instance(*drawn)))


@st.composite
def small_starts_anywhere(draw):
    """Any independent points, and one neuron that is on, barely, at all of them."""
    problem, _ = draw(hidden_starts.hidden_networks())
    rows, labels = problem.data.inputs, problem.data.targets
    small = min(map(abs, labels)) / 16
    w = hidden_starts._at(rows, [small] * len(rows))
    return posed(rows, labels, [w], [1]).problem, Network.two_layer([w], [1])


@pytest.mark.parametrize(
    ("name", "hypothesis", "instances"),
    [
        ("lai2026.thm1", "nearly-orthogonal", small_starts_anywhere()),
        ("lai2026.thm1", "small-positive-start", hidden_starts.inactive_starts()),
        ("lai2026.thm2", "nearly-orthogonal", small_starts_anywhere()),
    ],
)
def test_without_a_hypothesis_it_is_refuted(name, hypothesis, instances):
    result = run(without(name, hypothesis, instances), examples=300, time_limit=30)
    assert result.outcome == "failed", result.faults
    points, neurons, dimension, _ = result.counterexample.instance.size
    assert (points, neurons) <= (2, 1)
    assert dimension <= 2


def test_a_negative_label_keeps_the_limit_away_from_the_least_norm():
    instance = posed([[1]], [-1], [[F(1, 16)]], [1])
    judgement = stays_near_the_least_norm(instance)
    assert judgement.outcome is Outcome.HELD
    assert judgement.measured == F(15, 32) ** 2  # |w| = 15/32, w* = 0
    assert stays_near_the_least_norm(posed([[1]], [1], [[F(1, 16)]], [1])).measured == 0


def test_hypotheses_by_hand():
    near = posed([[1, 0], [F(1, 64), 1]], [1, -1], [[F(1, 32), F(1, 32)]], [1])
    assert is_nearly_orthogonal(near)  # 32 * 2 / 64 <= 1
    assert not is_nearly_orthogonal(posed([[1, 0], [F(1, 63), 1]], [1, -1], [[0, 0]], [1]))
    assert is_small_and_positive(near)
    assert not is_small_and_positive(posed([[1]], [1], [[F(1, 15)]], [1]))
    assert not is_small_and_positive(posed([[1, 0]], [1], [[F(1, 16), 1]], [1]))  # not in the span
    assert duals(near, [[F(1), F(0)], [F(1, 64), F(1)]]) == [[1, 0], [0, 1]]
    assert interpolates(posed([[1]], [2], [[3], [1]], [1, -1]))
    assert ends_as_regressions(near).outcome is Outcome.HELD
