"""Deciders of several outputs (`verify.deciders.vectors`): bounds against an independent program, stationarity."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from solvers.vectors.vector_search import search_vectors
from tests.second_checker.vectors import check_vector as second_check
from tests.vector_cases import UNITS, both_pairs, first_pair, saddle, sealed_vector, three_units
from verify.checker.objectives import Decay
from verify.checker.vector_bounds import Cells, Fan
from verify.checker.vector_certificates import VectorBound
from verify.checker.vector_checking import VectorAccepted, check_vector
from verify.checker.vector_statement import VectorNetwork, VectorProblem, vector_objective
from verify.checker.vector_stationary import VectorNotStationary, VectorStationary
from verify.deciders.time_limits import now
from verify.deciders.vectors.arrays import as_vector_instance, exact_network, float_network
from verify.deciders.vectors.bounds import lower_bounds, span_of
from verify.deciders.vectors.cells import find_cells
from verify.deciders.vectors.descent import descents
from verify.deciders.vectors.kinks import networks_at_kinks
from verify.deciders.vectors.multipliers import exact_multipliers
from verify.deciders.vectors.stationarity import stationary_proofs, ways_down

F = Fraction


def accepted(problem, network, proof):
    sealed = sealed_vector(problem, proof, network if proof.IS_ABOUT_NETWORK else None)
    return isinstance(check_vector(problem, network, sealed), VectorAccepted)


def bracket(problem, tol=1e-3):
    """(lower, upper, the best certificate), by the search and its proofs."""
    instance = as_vector_instance(problem)
    guess = search_vectors(instance, np.zeros((0, instance.rows.shape[1])), 1e-6, None)
    network = exact_network(problem, guess.hidden, guess.output, guess.shift)
    starts = np.concatenate(
        [guess.hidden, instance.rows, np.random.default_rng(0).normal(size=(20, guess.hidden.shape[1]))]
    )
    starts /= np.maximum(np.linalg.norm(starts, axis=1, keepdims=True), 1e-9)
    found = [
        bound for bound in lower_bounds(problem, guess.multipliers, starts, tol, None) if accepted(problem, None, bound)
    ]
    value = vector_objective(problem, network)
    return found[-1].lower, None if value is None else value[1], sealed_vector(problem, found[-1])


# ------------------------------------------------------------------------------------------------- exact answers


def test_least_norm_of_three_orthonormal_points_is_3_exactly():
    lower, _, bound = bracket(three_units()[0])
    assert lower == 3
    assert isinstance(bound.proof, Cells)


def test_pairwise_margins_of_three_orthonormal_points_have_sqrt_6():
    lower, upper, bound = bracket(three_units("max-margin")[0], 1e-5)
    assert lower**2 <= 6 <= upper**2
    assert upper / lower - 1 < 1e-4
    assert isinstance(bound.proof, Fan)


@pytest.mark.parametrize("slope", ["0", "1"])
def test_the_optimum_beside_the_saddle_is_4(slope):
    problem, _ = saddle(slope)
    lower, upper, _ = bracket(problem)
    assert lower == 4
    assert upper / 4 - 1 < 1e-6


# ------------------------------------------------------------------------------------------- an independent program


def grid(instance, many):
    """Directions of norm 1 in one or two columns that count; with free biases each with its kink at each point."""
    rows, counted = instance.rows, instance.counted
    angles = np.linspace(0, 2 * np.pi, many, endpoint=False)
    heads = np.array([[1.0], [-1.0]]) if counted == 1 else np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if not instance.is_free:
        turned = rows[:, ::-1] * [1, -1] if counted == 2 else rows
        turned = turned[np.linalg.norm(turned, axis=1) > 0]
        turned = turned / np.linalg.norm(turned, axis=1, keepdims=True)
        return np.concatenate([heads, turned, -turned])
    apart = np.array([p - q for p in rows[:, :-1] for q in rows[:, :-1] if (p != q).any()])
    apart = apart / np.linalg.norm(apart, axis=1, keepdims=True)
    heads = np.concatenate([heads, apart, apart[:, ::-1] * [1, -1]]) if counted == 2 else heads
    return np.array([[*w, -w @ x] for w in heads for x in rows[:, :-1]])


def on_a_grid(problem, many=720):
    """The least objective with directions of a grid, and of kinks, by cvxpy: at least the optimum, and near it.

    Free hidden biases give every constant for nothing in the limit.
    """
    instance = as_vector_instance(problem)
    directions = grid(instance, many)
    z = instance.rows @ directions.T
    active = np.maximum(z, instance.slope * z)
    V = cp.Variable((len(directions), instance.targets.shape[1]))
    f = active @ V
    cost, constraints = instance.price * cp.sum(cp.norm(V, axis=1)), []
    if instance.is_free or instance.output_bias is not None:
        shift = cp.Variable((1, instance.targets.shape[1]))
        f = f + np.ones((len(z), 1)) @ shift
        if not instance.is_free:
            cost += instance.output_bias / 2 * cp.sum_squares(shift)
    if problem.goal == "squared":
        cost += 0.5 * cp.sum_squares(f - instance.targets)
    elif problem.goal == "cross-entropy":
        cost += cp.sum([cp.log_sum_exp(f[i]) - f[i] @ instance.targets[i] for i in range(len(z))])
    elif problem.goal == "min-norm":
        constraints.append(f == instance.targets)
    else:
        for i, k in enumerate(instance.targets.argmax(axis=1)):
            constraints += [f[i, k] - f[i, j] >= 1 for j in range(instance.targets.shape[1]) if j != k]
    return cp.Problem(cp.Minimize(cost), constraints).solve(solver=cp.CLARABEL)


def random_problem(seed):
    random = np.random.default_rng(seed)
    goal = ("squared", "cross-entropy", "min-norm", "max-margin")[seed % 4]
    outputs, points = 2 + seed % 2, int(random.integers(2, 6))
    has_bias = bool(random.integers(2))
    inputs = [[F(int(z), 4) for z in row] for row in random.integers(-8, 9, size=(points, 1 if has_bias else 2))]
    inputs = [row if any(row) else [F(1)] * len(row) for row in inputs]
    if goal in ("min-norm", "max-margin"):  # different points on different rays can be met
        inputs = [[F(i + 1)] if has_bias else [F(i + 1), F((-1) ** i * i)] for i in range(min(points, 3))]
    if goal in ("squared", "min-norm"):
        targets = [[F(int(z), 2) for z in row] for row in random.integers(-4, 5, size=(len(inputs), outputs))]
    else:
        targets = [[F(int(j == i % outputs)) for j in range(outputs)] for i in range(len(inputs))]
    decay = Decay(F(1), F(1))
    if goal in ("squared", "cross-entropy"):
        decay = Decay(F(int(random.integers(1, 5)), 8), F(int(random.integers(1, 5)), 8))
    slope = (F(0), F(1, 4), F(1))[int(random.integers(3))] if goal in ("squared", "cross-entropy") else F(0)
    return VectorProblem(inputs, targets, slope, "penalised" if has_bias else "none", goal, decay)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.one_in(4)
def test_the_bracket_holds_the_value_of_an_independent_program(seed):
    problem = random_problem(seed)
    lower, _, bound = bracket(problem)
    second_check(problem.to_json(), None, bound.to_json())
    reference = on_a_grid(problem)
    assert float(lower) <= reference * (1 + 1e-6) + 1e-9
    assert reference <= float(lower) * (1 + 4e-3) + 1e-6, (float(lower), reference)


def biased_problem(seed):
    """Free hidden biases, or output biases that are free or count."""
    random = np.random.default_rng(1000 + seed)
    goal = ("squared", "cross-entropy", "min-norm", "max-margin")[seed % 4]
    outputs = 2 + (seed // 4) % 2 if goal in ("squared", "max-margin") else 2
    points, is_loss = int(random.integers(3, 6)), goal in ("squared", "cross-entropy")
    bias = "free" if seed % 3 or goal == "min-norm" else "none"
    columns = 2 if goal == "cross-entropy" or bias == "none" else 1 + seed // 8 % 2
    inputs = [[F(int(z), 4) for z in row] for row in random.integers(-8, 9, size=(points, columns))]
    if not is_loss:
        inputs = [[F(i + 1), *[F(int(random.integers(-3, 4)), 2)] * (columns - 1)] for i in range(points)]
    if goal in ("squared", "min-norm"):
        targets = [[F(int(z), 2) for z in row] for row in random.integers(-4, 5, size=(points, outputs))]
    else:
        targets = [[F(int(j == i % outputs)) for j in range(outputs)] for i in range(points)]
    of_bias = (None, F(0), F(1, 2))[seed // 2 % 3] if is_loss else (None, F(0))[seed // 2 % 2]
    of_bias = F(0) if bias == "none" and of_bias is None else of_bias
    numbers = [F(int(z), 8) for z in random.integers(1, 5, size=2)] if is_loss else [F(1), F(1)]
    slope = (F(0), F(1, 4), F(1))[int(random.integers(3))] if is_loss else F(0)
    return VectorProblem(inputs, targets, slope, bias, goal, Decay(*numbers, of_bias))


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(24))
def test_the_bracket_with_biases_holds_the_value_of_an_independent_program(seed):
    problem = biased_problem(seed)
    lower, upper, bound = bracket(problem, 1e-2)
    second_check(problem.to_json(), None, bound.to_json())
    reference = on_a_grid(problem, 240)
    assert float(lower) <= reference * (1 + 1e-6) + 1e-9
    assert reference <= float(lower) * (1 + 1e-2) + 1e-6, (float(lower), reference)
    assert upper is None or float(upper) <= reference * (1 + 1e-4) + 1e-6  # the grid is no better than the search


# ------------------------------------------------------------------------------------------------- parts


def test_the_span_of_multipliers():
    plane = {0: (F(1), F(-1), F(0)), 1: (F(0), F(2), F(-2))}
    assert span_of(plane) == [(1, -1, 0), (0, 1, -1)]
    assert span_of({0: (F(2), F(1)), 1: (F(0), F(3))}) == [(1, 0), (0, 1)]
    assert span_of({0: (F(2), F(4), F(0)), 1: (F(-1), F(-2), F(0))}) == [(F(1, 2), 1, 0)]


def test_multipliers_are_admitted():
    problem, _ = three_units("cross-entropy")
    floats = np.array([[0.9, -0.5, -0.4000001], [1e-13, 0.3, -0.3], [0.0, 1e-12, -1e-12]])
    *_, last = exact_multipliers(problem, floats)
    for i, c in last.items():
        problem.rules.dual(problem.targets[i], c)
    assert set(last) <= {0, 1}
    free = replace(problem, decay=Decay("1", "1", "0"))
    for c in exact_multipliers(free, np.array([[0.5, -0.2, -0.3], [-0.2, 0.5, -0.3], [-0.3, -0.3, 0.6000001]])):
        assert not any(sum(column) for column in zip(*c.values(), strict=True))


def test_cells_of_two_points_on_a_line():
    problem = VectorProblem([["1"], ["2"]], [["1", "0"], ["0", "1"]], "0", "none", "min-norm", Decay("1", "1"))
    c = {0: (F(1, 3), F(0)), 1: (F(0), F(1, 3))}
    nodes, square = find_cells(problem, c, None)
    assert square == 1
    assert accepted(problem, None, VectorBound([[0, ["1/3", "0"]], [1, ["0", "1/3"]]], "1", Cells(nodes), "2/3"))


def test_networks_as_floats_and_back():
    problem, network = three_units()
    assert exact_network(problem, *float_network(network)) == network


# ------------------------------------------------------------------------------------------------- stationarity


def test_stationary_networks():
    problem, network = saddle()
    (proof,) = stationary_proofs(problem, network, F(0))
    assert proof.own_tolerance == 0
    assert accepted(problem, network, proof)
    units, own = three_units()
    assert any(p.own_tolerance == 0 and accepted(units, own, p) for p in stationary_proofs(units, own, F(0)))


def test_networks_that_are_not_stationary():
    problem, _ = saddle()
    near, refuted, _ = stationary_proofs(problem, first_pair(), F(1, 1000))
    assert isinstance(near, VectorStationary)
    assert near.own_tolerance > F(1, 1000)
    assert isinstance(refuted, VectorNotStationary)
    assert refuted.own_tolerance == F(1, 1000)
    assert accepted(problem, first_pair(), near)
    assert accepted(problem, first_pair(), refuted)


def test_a_kink_on_which_stationarity_rests():
    """V.C_2 = 1 at the kink x_2 = (1, 1)/2 needs the slope 1/2 of what pulls w."""
    problem = VectorProblem([["1", "0"], ["0", "1"]], [["2", "0"], ["1", "1"]], "0", "none", "squared", Decay("1", "1"))
    network = VectorNetwork("0", False, [["1", "0"]], [["1"], ["0"]], None)
    proofs = list(stationary_proofs(problem, network, F(0)))
    assert accepted(problem, network, proofs[0])
    assert proofs[0].kinks == ((1, 0, F(0)),)
    assert proofs[0].own_tolerance == 0


def near_kink():
    """The same with w that leans by 1/1000, and a neuron of which decay has left nearly nothing."""
    problem = VectorProblem([["1", "0"], ["0", "1"]], [["2", "0"], ["1", "1"]], "0", "none", "squared", Decay("1", "1"))
    hidden = [[F(1), F(1, 1000)], [F(1, 10**9), F(1, 10**9)]]
    return problem, VectorNetwork("0", False, hidden, [[F(1), F(1, 10**9)], [F(0), F(0)]], None)


def test_a_network_near_a_kink_is_told_of_at_it():
    problem, network = near_kink()
    proofs = list(stationary_proofs(problem, network, F(1, 100)))
    near, exact = proofs
    assert near.subject.hidden == ((1, 0), (0, 0))
    assert near.subject.output == ((1, 0), (0, 0))
    assert near.epsilon == near.delta == 0
    assert F(1, 1500) < near.moved < F(1, 1400)
    assert accepted(problem, network, near)
    assert exact.own_tolerance == 0
    assert accepted(problem, network, exact)  # as it is it is not stationary
    literal, *_ = stationary_proofs(problem, network, F(0))
    assert literal.subject is None
    assert literal.epsilon > F(1, 2)
    strict, *_ = stationary_proofs(problem, network, F(1, 10**4))
    assert strict.subject is None  # it is farther than that


def test_networks_at_kinks():
    problem, network = near_kink()
    assert [*networks_at_kinks(replace(problem, slope="1"), network)] == []
    *_, last = networks_at_kinks(problem, network)
    assert last.hidden == ((1, 0), (0, 0))
    leaning = replace(network, hidden=[[F(1), F(1, 3)], network.hidden[1]])  # no kink is near
    assert all(found.hidden[0] == leaning.hidden[0] for found in networks_at_kinks(problem, leaning))
    both = VectorProblem([["1", "0"], ["1", "1/1000"]], [["2", "0"]] * 2, "0", "none", "squared", Decay("1", "1"))
    stuck = replace(network, hidden=[[F(1, 10**4), F(1)], network.hidden[1]])
    found = [one.hidden[0] for one in networks_at_kinks(both, stuck)]
    assert found[-1] == stuck.hidden[0]  # at both kinks nothing would be left
    assert any(w != stuck.hidden[0] and w[0] == 0 for w in found)


def test_ways_down():
    problem, network = saddle()
    assert any(accepted(problem, network, proof) for proof, _ in ways_down(problem, network))
    zero = VectorNetwork("0", False, [["0"] * 3] * 2, [["0"] * 2] * 3, None)
    softmax = replace(three_units("cross-entropy")[0], decay=Decay("1/10", "1/10"))
    found = [(proof, why) for proof, why in ways_down(softmax, zero) if accepted(softmax, zero, proof)]
    assert found[0][1].startswith("a neuron without weights")
    assert list(ways_down(*three_units())) == []
    assert [*ways_down(problem, both_pairs())] == []


def test_a_descent_ends_lower():
    problem, network = saddle()
    start = replace(network, hidden=[["1/10", "1"]], output=[["1/10"], ["1"]])
    w, v, _ = float_network(both_pairs())
    found = list(descents(problem, start, w, v))
    assert all(one.width == 1 and vector_objective(problem, one)[1] < F(4501, 1000) for one in found)
    stuck, *others = descents(problem, network, w, v)
    assert vector_objective(problem, stuck) == (6, 6)
    assert all(vector_objective(problem, one)[1] < F(4501, 1000) for one in others)
    assert list(descents(*three_units(), w, v)) == []
    late = next(descents(problem, start, w, v, now() - 1))
    assert F(4501, 1000) < vector_objective(problem, late)[1] < vector_objective(problem, start)[1]
    assert UNITS[0] == ["1", "0", "0"]
