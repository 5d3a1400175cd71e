"""The rows about stationary points and local optima of losses of docs/certificates.md, "Faults that must be refused".

One test or more per row, each on a valid certificate; the place of the refusal is part of what is tested. A second
opinion on random alterations is at the end: the conditions in plain formulas, and what is accepted has to satisfy them.
"""

import itertools
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from tests.losses import PARAMETERS, defined, posed, random_problem
from tests.stationary_losses import stationary_network
from verify import Bias, Decay, Network, Objective, Problem
from verify.checker import Accepted, Refused, check
from verify.checker.dual_trees import Bound, Dual
from verify.checker.local import Local, NotLocal
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.local_optimality import local_optimality
from verify.deciders.proposal import sealed
from verify.deciders.stationarity import loss_stationarity

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
TIE = posed("squared", [[1, 1], [0, 1]], [Fraction(5, 4), -HALF], QUARTER), Network.two_layer([[1, 0]], [1])
HINGE = posed("hinge", [[1]], [1], HALF), Network.two_layer([[1]], [1])
PAIR = [[1, QUARTER], [-1, QUARTER]]
DECAYS = posed("squared", [[1]], [Fraction(5, 2)], 1, output=QUARTER), Network.two_layer([[1]], [2])


def place(problem, network, proof):
    """Where it is refused, sealed; None where it is accepted."""
    found = check(problem, network, sealed(problem, network, proof))
    return found.place if isinstance(found, Refused) else None


def proved(kind, problem, network, tolerance=Fraction(0)):
    found = loss_stationarity(problem, network, network, tolerance).certificate
    assert isinstance(found, kind)
    assert place(problem, network, found) is None
    return found


def decided(kind, problem, network):
    found = local_optimality(problem, network, network).certificate
    assert isinstance(found, kind)
    assert place(problem, network, found) is None
    return found


# ------------------------------------------------------------------------------------------------- 76


@pytest.mark.parametrize("change", [Fraction(1, 10**12), -Fraction(1, 10**12), 1])
def test_76_multipliers_that_are_no_subgradients(change):
    proof = proved(Stationary, *TIE)
    for i in range(2):
        listed = tuple((k, value + change * (k == i)) for k, value in proof.multipliers)
        assert place(*TIE, replace(proof, multipliers=listed)) in ("delta", "kink_products[0]")


def test_76_a_multiplier_left_out():
    """c = 0 where the loss has another slope: phi(0) = r^2 / 2."""
    proof = proved(Stationary, *TIE)
    assert place(*TIE, replace(proof, multipliers=proof.multipliers[:1], kink_products=())) == "delta"


@pytest.mark.parametrize("value", [Fraction(-1, 2), 2, 1 + Fraction(1, 10**12)])
def test_76_multipliers_beyond_an_end(value):
    proof = proved(Stationary, *HINGE)
    assert proof.multipliers == ((0, HALF),)
    forged = replace(proof, multipliers=((0, Fraction(value)),), delta=Fraction(100), epsilon=Fraction(100))
    assert place(*HINGE, forged) == "multipliers[0]"
    within = replace(forged, multipliers=((0, Fraction(1)),))
    assert place(*HINGE, within) is None


@pytest.mark.parametrize("name", ["hinge", "absolute", "epsilon-insensitive", "huber"])
def test_76_of_a_corner_only_what_is_between_the_slopes(name):
    """One point, w = v = t: c within the subdifferential at f = t^2, and not a bit beyond it, whatever fits the
    residual."""
    for t in (Fraction(1, 2), Fraction(1), Fraction(3, 2)):
        problem, network = posed(name, [[1]], [1], HALF), Network.two_layer([[t]], [t])
        for c in (Fraction(k, 8) for k in range(-9, 10)):
            is_slope = all(
                defined(name, z if PARAMETERS[name][0] else 1 - z)
                >= defined(name, t * t if PARAMETERS[name][0] else 1 - t * t) - c * (z - t * t)
                for z in (Fraction(k, 64) for k in range(-640, 641))
            )
            proof = Stationary(multipliers=((0, c),) if c else (), epsilon=Fraction(100))
            assert (place(problem, network, proof) is None) is is_slope, (name, t, c)


def test_76_another_multiplier_for_the_loss_than_for_the_residual():
    """Kink products belong to the multiplier that the loss has: at c = 0 they are 0."""
    problem = posed("squared", [[1, 1], [0, 1]], [Fraction(5, 4), 0], QUARTER)
    proof = replace(proved(Stationary, *TIE), multipliers=((0, QUARTER),))
    assert place(problem, TIE[1], proof) == "kink_products[0]"


# ------------------------------------------------------------------------------------------------- 77


def test_77_the_residual_of_another_decay():
    for problem, network in (TIE, HINGE, DECAYS):
        proof, asked = proved(Stationary, problem, network), problem.goal
        for decay in (
            Decay(asked.decay.hidden * 2, asked.decay.output),
            Decay(asked.decay.hidden, asked.decay.output * 2),
            Decay(asked.decay.output, asked.decay.hidden / 3),
        ):
            goal = Objective(asked.loss, decay)
            other = Problem(problem.data, problem.architecture, goal=goal, bias=problem.bias)
            assert place(other, network, proof) == "epsilon"


def test_77_epsilon_is_relative_to_the_decay():
    """r = (1/2 - 1) w, the loss at its slope 1: ||r||^2 / mu = 1 and M = 1, though N = 2."""
    problem, network = posed("hinge", [[1]], [1], HALF), Network.two_layer([[1]], [1])
    proof = Stationary(multipliers=((0, Fraction(1)),), epsilon=Fraction(1))
    assert place(problem, network, proof) is None
    assert place(problem, network, replace(proof, epsilon=1 - Fraction(1, 10**12))) == "epsilon"


def test_77_delta_is_relative_to_the_decay():
    """x = 1, hinge, w = v = 1/2, f = 1/4: phi(c) = 3/4 (1 - c), M = 1/4."""
    problem, network = posed("hinge", [[1]], [1], HALF), Network.two_layer([[HALF]], [HALF])
    proof = Stationary(multipliers=((0, Fraction(2, 3)),), epsilon=Fraction(10), delta=Fraction(1))
    assert place(problem, network, proof) is None
    assert place(problem, network, replace(proof, delta=1 - Fraction(1, 10**12))) == "delta"


@pytest.mark.parametrize("product", [-HALF - Fraction(1, 10**12), Fraction(1, 10**12), QUARTER])
def test_77_a_slope_that_no_kink_has(product):
    proof = proved(Stationary, *TIE)
    assert place(*TIE, replace(proof, kink_products=((1, 0, product),))) == "kink_products[0]"


@pytest.mark.parametrize("product", [-HALF, Fraction(0)])
def test_77_the_other_slopes_of_a_kink_leave_a_residual(product):
    proof = proved(Stationary, *TIE)
    assert place(*TIE, replace(proof, kink_products=((1, 0, product),))) == "epsilon"


def test_77_a_free_bias_counts_in_the_residual():
    """sum c = 1/2 is not 0 at the bias."""
    problem = posed("squared", [[1], [3]], [HALF, 4], 1, bias=Bias.FREE)
    network = Network.two_layer([[1]], [1], b=[0])
    proof = Stationary(multipliers=((0, -HALF), (1, Fraction(1))))
    assert place(problem, network, proof) == "epsilon"


# ------------------------------------------------------------------------------------------------- 78


def refutable():
    return posed("squared", [[1], [-2]], [2, 1], QUARTER, width=2), Network.two_layer([[1], [-1]], [1, 1])


def test_78_no_vector_or_two():
    proof = proved(NotStationary, *refutable())
    for vectors in ((), proof.vectors * 2):
        assert place(*refutable(), replace(proof, vectors=vectors)) == "vectors"


def test_78_a_vector_the_other_way():
    proof = proved(NotStationary, *refutable())
    turned = tuple(tuple(tuple(-z for z in part) for part in vector) for vector in proof.vectors)
    assert place(*refutable(), replace(proof, vectors=turned)) == "vectors[0]"


def test_78_the_way_of_the_decay_alone():
    """Where the network is stationary z = theta makes the decay grow, and the losses fall by as much."""
    for problem, network in (TIE, HINGE, DECAYS):
        for kappa in (Fraction(0), Fraction(1), Fraction(1000)):
            forged = NotStationary(vectors=(network.parameters,), kappa=kappa)
            assert place(problem, network, forged) == "vectors[0]"


def test_78_kappa_0_where_the_loss_has_no_end():
    proof = replace(proved(NotStationary, *refutable()), kappa=Fraction(0))
    found = check(*refutable(), sealed(*refutable(), proof))
    assert found.reason == "is not bounded, as the loss has no such end and kappa is 0"


def test_78_kappa_0_is_the_whole_range_of_a_bounded_loss():
    """Hinge, x = 1, decay 2: c in [0, 1] never reaches 2; with decay 1/2 it does, and kappa = 0 proves nothing."""
    network = Network.two_layer([[1]], [1])
    vector = ((Fraction(1),), (Fraction(1),))
    for decay, is_accepted in ((2, True), (HALF, False)):
        problem = posed("hinge", [[1]], [1], decay)
        assert (place(problem, network, NotStationary(vectors=(vector,))) is None) is is_accepted


@pytest.mark.parametrize("field", ["epsilon", "delta"])
def test_78_more_than_is_excluded(field):
    proof = proved(NotStationary, *refutable(), Fraction(1, 100))
    assert place(*refutable(), replace(proof, **{field: Fraction(10)})) == "vectors[0]"


def test_78_a_free_bias_counts_in_the_norm_of_a_vector():
    """c sums to 1/2, along the bias alone: (1/2)^2 > epsilon^2 M mu_w, and no more than that."""
    problem = posed("squared", [[1], [3]], [HALF, 4], 1, bias=Bias.FREE)
    network = Network.two_layer([[1]], [1], b=[0])
    vector = ((Fraction(0), Fraction(-1)), (Fraction(0),))
    for epsilon, is_accepted in ((Fraction(3, 10), True), (Fraction(4, 10), False)):
        proof = NotStationary(vectors=(vector,), epsilon=epsilon, kappa=Fraction(10**6))
        assert (place(problem, network, proof) is None) is is_accepted


# ------------------------------------------------------------------------------------------------- 79


def test_79_multipliers_of_another_point():
    problem, network = posed("squared", PAIR, [1, 1], Fraction(3, 8)), Network.two_layer([[0, 1]], [1])
    proof = decided(Local, problem, network)
    (leaf,) = proof.nodes
    for listed in (((0, Fraction(3, 2)),), ((0, Fraction(3, 2)), (1, Fraction(0))), leaf.multipliers[:1]):
        slopes = tuple(["e"] * len(listed))
        forged = replace(leaf, multipliers=listed, trees=((Bound(slopes),),))
        assert place(problem, network, replace(proof, nodes=(forged,))).startswith("nodes[0]")


def test_79_a_value_below_the_objective():
    """A bound that is true, and of another network: the lower bound of the optimum."""
    problem, network = posed("squared", [[1]], [2], 1), Network.two_layer([[1]], [1])
    proof = decided(Local, problem, network)
    worse = Network.two_layer([[HALF]], [HALF])
    assert place(problem, worse, proof) == "nodes[0]"


def test_79_a_smaller_or_larger_beta():
    problem, network = posed("squared", [[1]], [2], 1), Network.two_layer([[1]], [1])
    proof = decided(Local, problem, network)
    (leaf,) = proof.nodes
    for beta in (leaf.beta / 2, leaf.beta * 2, leaf.beta * (1 - Fraction(1, 10**12))):
        assert place(problem, network, replace(proof, nodes=(replace(leaf, beta=beta),))).startswith("nodes[0]")


def test_79_a_zero_neuron_without_its_cases():
    """The local optimum's proof, with a neuron that is 0 added: its two trees are missing, and there are none."""
    problem = posed("squared", PAIR, [1, 1], Fraction(3, 8))
    leaf = decided(Local, problem, Network.two_layer([[0, 1]], [1])).nodes[0]
    wider, network = (
        posed("squared", PAIR, [1, 1], Fraction(3, 8), width=2),
        Network.two_layer([[0, 1], [0, 0]], [1, 0]),
    )
    assert isinstance(leaf, Dual)
    for trees in (leaf.trees, leaf.trees * 2, leaf.trees * 3):
        forged = Local(nodes=(replace(leaf, trees=trees),))
        assert place(wider, network, forged).startswith("nodes[0]")


# ------------------------------------------------------------------------------------------------- 80


def moved(problem, network, end):
    return place(problem, network, NotLocal(end=end))


def test_80_a_network_out_of_balance():
    """w = v = 1 is balanced by equal decays only."""
    end = ((Fraction(9, 10),), (Fraction(1),))
    network = Network.two_layer([[1]], [1])
    assert moved(posed("squared", [[1]], [1], 1), network, end) is None
    assert moved(posed("squared", [[1]], [1], 1, output=QUARTER), network, end) == "subject"
    halved = Network.two_layer([[1]], [2])
    assert moved(posed("squared", [[1]], [1], 1, output=QUARTER), halved, ((Fraction(1),), (Fraction(1),))) is None


def test_80_a_cost_without_the_price_or_the_loss():
    """Stationary at u = 1, F = 3/2: nearer to 0 the decay is less, nearer to y = 2 the loss is."""
    problem, network = posed("squared", [[1]], [2], 1), Network.two_layer([[1]], [1])
    for u in (0, HALF, 1 - Fraction(1, 10**9), 1 + Fraction(1, 10**9), Fraction(3, 2), 2):
        assert moved(problem, network, ((Fraction(u),), (Fraction(1),))) == "end"


def test_80_a_preactivation_that_changes_its_sign():
    """Beyond 0 the other point is fit instead: better, and not on a segment without a kink."""
    problem, network = posed("squared", [[1], [-1]], [1, 9], QUARTER), Network.two_layer([[1]], [1])
    assert moved(problem, network, ((Fraction(-8),), (Fraction(1),))) == "end"


def test_80_another_sign():
    problem, network = posed("squared", [[1]], [-2], QUARTER), Network.two_layer([[1]], [1])
    assert moved(problem, network, ((Fraction(1),), (Fraction(-1),))) == "end"
    assert moved(problem, network, ((HALF,), (Fraction(1),))) is None


def test_80_a_price_that_is_rounded_up():
    """Decays 2 and 1, hinge at 0, x = m = sqrt 2 but for 10^-6: no way down, and one a little beyond."""
    zero = Network.two_layer([[0]], [0])
    for x, is_accepted in ((Fraction(14142, 10**4), False), (Fraction(14143, 10**4), True)):
        problem = posed("hinge", [[x]], [1], 2, output=1)
        assert (moved(problem, zero, ((HALF,), (Fraction(1),))) is None) is is_accepted


# ------------------------------------------------------------------------------------------------- random alterations


def holds(problem, network, proof):
    """The conditions of `stationary`, in formulas of its own, about the given network."""
    loss, decay = problem.goal.loss, problem.goal.decay
    name = next(name for name in PARAMETERS if name == problem_name(loss))
    X, y, a = problem.rows, problem.targets, problem.architecture.slope
    f = [
        sum(v * max(z := dot(w, x), a * z) for w, v in zip(network.hidden_weights, network.output_weights, strict=True))
        for x in X
    ]
    d = dict(proof.multipliers)
    c = [d.get(i, 0) * (y[i] if loss.labels else 1) for i in range(len(y))]
    chosen = {(i, j): value * (y[i] if loss.labels else 1) for i, j, value in proof.kink_products}
    M = decay.output * sum(v * v for v in network.output_weights)
    M += decay.hidden * sum(w[q] ** 2 for w in network.hidden_weights for q in problem.norm_columns)
    gap = Fraction(0)
    for i, (target, out) in enumerate(zip(y, f, strict=True)):
        bounded = d.get(i, Fraction(0))
        if (loss.low is not None and bounded < loss.low) or (loss.high is not None and bounded > loss.high):
            return False
        value = defined(name, target * out if loss.labels else target - out)
        gap += value - (target * c[i] - loss.tube * abs(c[i]) - loss.curvature * c[i] ** 2 / 2) + c[i] * out
    total = Fraction(0)
    for j, (w, v) in enumerate(zip(network.hidden_weights, network.output_weights, strict=True)):
        pull, push = [Fraction(0)] * len(w), Fraction(0)
        for i, x in enumerate(X):
            z = dot(w, x)
            slope = c[i] if z > 0 else a * c[i]
            if (i, j) in chosen:
                if z != 0 or not min(c[i], a * c[i]) <= chosen[i, j] <= max(c[i], a * c[i]):
                    return False
                slope = chosen[i, j]
            pull = [p + slope * t for p, t in zip(pull, x, strict=True)]
            push += c[i] * max(z, a * z)
        for q in range(len(w)):
            total += ((decay.hidden * w[q] if q in problem.norm_columns else 0) - v * pull[q]) ** 2 / decay.hidden
        total += (decay.output * v - push) ** 2 / decay.output
    return gap <= proof.delta * M and total <= proof.epsilon**2 * M


def problem_name(loss):
    table = {(False, False, False): "absolute", (False, True, False): "epsilon-insensitive"}
    if loss.labels:
        return "hinge" if loss.curvature == 0 else "squared-hinge"
    if loss.curvature:
        return "squared" if loss.low is None else "huber"
    return table[False, loss.tube > 0, False]


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def altered(proof, random):
    """With one number changed, or one left out."""
    field = random.choice(["multipliers", "kink_products", "epsilon", "delta"])
    value = getattr(proof, field)
    if isinstance(value, Fraction):
        return replace(proof, **{field: max(Fraction(0), value * random.choice([0, HALF, Fraction(999, 1000), 2]))})
    if not value:
        return proof
    k = random.randrange(len(value))
    if random.random() < 0.3:
        return replace(proof, **{field: value[:k] + value[k + 1 :]})
    *place, number = value[k]
    number = random.choice([-number, number * Fraction(1001, 1000), number / 2, Fraction(0), 1 - number])
    return replace(proof, **{field: (*value[:k], (*place, number), *value[k + 1 :])})


def test_what_is_accepted_of_altered_certificates_is_true():
    import numpy as np

    told = {True: 0, False: 0}
    made = [stationary_network(seed, ties=seed % 2 == 0, output=[None, "small"][seed % 2]) for seed in range(20)]
    for seed in range(60):
        problem, _ = random_problem(np.random.default_rng(900 + seed))
        columns, random = len(problem.rows[0]), Random(seed)
        W = [[Fraction(random.randint(-8, 8), 4) for _ in range(columns)] for _ in range(2)]
        v = [Fraction(random.choice([-3, -1, 1, 2]), 2) for _ in W]
        options = {} if problem.bias is Bias.NONE else {"b": [w[-1] for w in W]}
        rows = W if problem.bias is Bias.NONE else [w[:-1] for w in W]
        network = Network.two_layer(rows, v, slope=problem.architecture.slope, **options)
        made.append((problem.posed_on(problem.data, architecture=network.architecture), network))
    for seed, pair in enumerate(filter(None, made)):
        problem, network = pair
        for tolerance in (Fraction(0), HALF, Fraction(2)):
            proof = loss_stationarity(problem, network, network, tolerance).certificate
            if not isinstance(proof, Stationary) or proof.subject is not None:
                continue
            random = Random(seed)
            for one in itertools.chain([proof], (altered(proof, random) for _ in range(12))):
                is_accepted = isinstance(check(problem, network, sealed(problem, network, one)), Accepted)
                assert is_accepted is holds(problem, network, one), one
                told[is_accepted] += 1
    assert min(told.values()) > 100
