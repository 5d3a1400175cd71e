"""Stationarity for losses: by construction, against a program over the definition, by its worth, and near kinks."""

from fractions import Fraction

import numpy as np
import pytest

from tests.losses import PARAMETERS, posed, random_problem
from tests.stationary_losses import least_residual, random_network, stationary_network
from verify import Bias, Dataset, Network, Problem
from verify.checker import Accepted, check
from verify.checker.fit import weighted_norm
from verify.checker.statement import objective
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.stationarity import loss_refuted_exactly, loss_stationarity
from verify.deciders.stationarity.losses import OUT_OF_RANGE

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
PAIR = [[1, QUARTER], [-1, QUARTER]]


def decided(problem, network, tolerance=Fraction(0)):
    found = loss_stationarity(problem, network, network, tolerance)
    if found.certificate is not None:
        assert isinstance(check(problem, network, found.certificate), Accepted)
    return found


@pytest.mark.parametrize(
    ("problem", "network", "is_stationary"),
    [
        (posed("squared", PAIR, [1, 1], Fraction(3, 8)), Network.two_layer([[0, 1]], [1]), True),
        (posed("squared", PAIR, [1, 1], Fraction(3, 8)), Network.two_layer([[0, 2]], [2]), False),
        (posed("hinge", [[1]], [1], HALF), Network.two_layer([[1]], [1]), True),
        (posed("hinge", [[1]], [-1], HALF), Network.two_layer([[1]], [-1]), True),
        (posed("hinge", [[1]], [1], 2), Network.two_layer([[1]], [1]), False),
        (posed("absolute", [[1]], [-1], HALF), Network.two_layer([[1]], [-1]), True),
        (posed("absolute", [[1]], [1], HALF), Network.two_layer([[HALF]], [HALF]), False),
        (posed("huber", [[1]], [3], QUARTER), Network.two_layer([[1]], [1]), True),
        (posed("squared", [[1]], [Fraction(5, 2)], 1, output=QUARTER), Network.two_layer([[1]], [2]), True),
        (posed("squared", [[1]], [Fraction(5, 2)], HALF), Network.two_layer([[1]], [2]), False),
        (posed("squared", [[2]], [3], 1), Network.two_layer([[0]], [0]), True),
    ],
)
def test_by_hand(problem, network, is_stationary):
    found = decided(problem, network).certificate
    assert isinstance(found, Stationary if is_stationary else NotStationary)
    assert found.epsilon == found.delta == 0
    exactly = loss_refuted_exactly(problem, network, network)
    assert (exactly.certificate is None) is is_stationary


@pytest.mark.parametrize("slope_at_kink", [-1, 1])
def test_slopes_at_kinks_that_are_neither_end(slope_at_kink):
    """Slope 1/2 at the kink: with c_2 > 0 and x_2 = (0, -1), with c_2 < 0 and x_2 = (0, 1)."""
    problem = posed("squared", [[1, 1], [0, slope_at_kink]], [Fraction(5, 4), -slope_at_kink * HALF], QUARTER)
    found = decided(problem, Network.two_layer([[1, 0]], [1])).certificate
    assert isinstance(found, Stationary)
    assert found.kink_products == ((1, 0, -slope_at_kink * QUARTER),)


@pytest.mark.parametrize("output", [None, "small", "large"])
@pytest.mark.parametrize("ties", [False, True])
def test_networks_that_are_stationary_by_construction(ties, output):
    many = 0
    for seed in range(60):
        made = stationary_network(seed, ties=ties, output=output)
        if made is not None:
            found = decided(*made).certificate
            assert isinstance(found, Stationary), seed
            assert found.epsilon == found.delta == 0
            many += 1
    assert many >= 10


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.one_in(3)
def test_against_a_program_over_the_definition(seed):
    """Proved where the least epsilon is well below the tolerance, refuted where it is well above, at the same delta."""
    random = np.random.default_rng(seed)
    problem, name = random_problem(random)
    columns = len(problem.rows[0])
    W, v = random_network(random, problem)
    network = (
        Network.two_layer(W, v, slope=problem.architecture.slope)
        if problem.bias is Bias.NONE
        else Network.two_layer([w[: columns - 1] for w in W], v, b=[w[-1] for w in W], slope=problem.architecture.slope)
    )
    problem = problem.posed_on(problem.data, architecture=network.architecture)
    if not weighted_norm(problem, network):
        return
    tolerance = Fraction(int(random.integers(1, 8)), 10)
    wanted = least_residual(problem, network, name, float(tolerance))
    found = loss_stationarity(problem, network, network, tolerance).certificate
    if isinstance(found, Stationary) and not found.moved:
        assert wanted <= float(tolerance) * 1.001 + 1e-6
    if isinstance(found, NotStationary):
        assert wanted >= float(tolerance) * 0.999 - 1e-6
    if found is None:
        assert wanted > 0.98 * float(tolerance)


def test_what_a_stationary_network_is_worth():
    """F - sum D(y_i, c_i) <= (delta + epsilon / 2) M, in exact numbers: proposition 14.4."""
    many = 0
    for seed in range(80):
        random = np.random.default_rng(500 + seed)
        problem, _ = random_problem(random)
        if problem.bias is not Bias.NONE:
            continue
        network = Network.two_layer(*random_network(random, problem), slope=problem.architecture.slope)
        problem = problem.posed_on(problem.data, architecture=network.architecture)
        for tolerance in (Fraction(1, 2), Fraction(1), Fraction(2)):
            proof = loss_stationarity(problem, network, network, tolerance).certificate
            if not isinstance(proof, Stationary) or proof.moved:
                continue
            loss, targets = problem.goal.loss, problem.targets
            c = {i: value * (targets[i] if loss.labels else 1) for i, value in proof.multipliers}
            below = sum(loss.dual(targets[i], value) for i, value in c.items())
            M = weighted_norm(problem, network)
            assert objective(problem, network) - below <= (proof.delta + proof.epsilon / 2) * M
            many += 1
    assert many >= 20


def trained(X, y, slope, decay, *, k=6, steps=6000, seed=0):
    """Gradient descent on 1/2 r^2 with decay, biases penalised, in floats."""
    random = np.random.default_rng(seed)
    rows = np.hstack([X, np.ones((len(X), 1))])
    W, v = random.normal(size=(k, rows.shape[1])), random.normal(size=k)
    for step in range(steps):
        z = rows @ W.T
        h = np.maximum(z, slope * z)
        c = y - h @ v
        rate = 0.01 * (1 - step / steps)
        W, v = (
            W - rate * (decay * W - (c[:, None] * v * np.where(z > 0, 1.0, slope)).T @ rows),
            v - rate * (decay * v - h.T @ c),
        )
    return Network.two_layer(W[:, :-1].tolist(), v.tolist(), b=W[:, -1].tolist(), slope=slope)


@pytest.mark.parametrize("slope", [0.25, 0])
def test_a_network_that_gradient_descent_leads_to_is_nearly_stationary(slope):
    """As it is, or on its near-kinks; one that training has hardly begun with is not."""
    X = np.linspace(-2, 2, 9)[:, None]
    y = np.abs(X[:, 0]) + 0.25
    network = trained(X, y, slope, 0.3)
    goal = posed("squared", [[1]], [1], Fraction(3, 10)).goal
    problem = Problem(Dataset(X, y), network.architecture, goal=goal, bias=Bias.PENALISED)
    found = decided(problem, network, Fraction(1, 20)).certificate
    assert isinstance(found, Stationary)
    assert found.moved <= Fraction(1, 20)
    early = trained(X, y, slope, 0.3, steps=3)
    found = decided(problem.posed_on(problem.data, architecture=early.architecture), early, Fraction(1, 20)).certificate
    assert isinstance(found, NotStationary)


def test_a_network_off_its_kink_is_moved_onto_it():
    """Off by 2^-30 the slope at the second point is 0 or 1, and 1/2 is what it takes; balanced all the same."""
    shift = Fraction(1, 2**20)
    size = 1 + shift**2
    w = [(1 - shift**2) / size, 2 * shift / size]
    problem = posed("squared", [[1, 1], [0, 1]], [Fraction(5, 4), -HALF], QUARTER)
    network = Network.two_layer([w], [1])
    found = decided(problem, network, Fraction(1, 1000))
    assert isinstance(found.certificate, Stationary)
    assert 0 < found.certificate.moved <= Fraction(1, 2**18)
    assert "onto its kinks" in found.reason
    exactly = decided(problem, network)
    assert isinstance(exactly.certificate, NotStationary)
    assert isinstance(exactly.beside, Stationary)


def test_neurons_that_vanished_are_left_out():
    problem = posed("squared", PAIR, [1, 1], Fraction(3, 8), width=2)
    network = Network.two_layer([[0, 1], [Fraction(1, 10**9), 0]], [1, Fraction(1, 10**8)])
    found = decided(problem, network, Fraction(1, 10**7)).certificate
    assert isinstance(found, Stationary)


def test_where_nothing_can_be_said():
    """Constants of a free bias have no decay, and are decided all the same; not so numbers beyond floats."""
    problem = posed("squared", [[1], [2]], [1, 1], bias=Bias.FREE)
    network = Network.two_layer([[0]], [0], b=[3])
    assert isinstance(decided(problem, network).certificate, NotStationary)
    assert isinstance(loss_refuted_exactly(problem, network, network).certificate, NotStationary)
    tiny = Network.two_layer([[Fraction(1, 10**200)]], [Fraction(1, 10**200)], b=[3])
    assert decided(problem, tiny).reason == OUT_OF_RANGE
    assert loss_refuted_exactly(problem, tiny, tiny).reason == OUT_OF_RANGE
    huge = Network.two_layer([[Fraction(10) ** 200]], [Fraction(10) ** 200])
    problem = posed("squared", [[1]], [1])
    found = decided(problem, huge)
    assert found.certificate is None or isinstance(found.certificate, NotStationary)


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_deadline_that_has_passed_leaves_it_open(name):
    problem, _ = random_problem(np.random.default_rng(3), name)
    problem = posed(name, [[1, 0], [0, 1]], [1, -1])
    network = Network.two_layer([[1, HALF]], [1])
    found = loss_stationarity(problem, network, network, Fraction(1, 10**9), deadline=0.0)
    assert found.certificate is None or isinstance(found.certificate, NotStationary)
