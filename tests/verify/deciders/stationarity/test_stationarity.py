"""Stationarity against the conditions themselves: exact, approximate, refuted, in every bias mode, with ties and masks.

Proofs are compared with `tests.naive.kkt` (the equations in Fractions), refutations with least squares over all Clarke
gradients and with random multipliers: none may do better than what was refuted.
"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.programs.nonnegative import nonnegative_least_squares
from tests import naive
from verify import Architecture, Bias, Dataset, Goal, Network, Problem, Verdict, audit
from verify.auditing import asked
from verify.auditing.clock import Clock
from verify.auditing.concluding import STATIONARITY
from verify.auditing.fitting import INFEASIBILITY, UNSUPPORTED
from verify.auditing.loop import answered
from verify.checker import Accepted, check
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.proposal import sealed
from verify.deciders.stationarity import stationarity
from verify.readers.given import given as read
from verify.strategies import kkt_points

PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED
STEPS = (UNSUPPORTED, INFEASIBILITY, STATIONARITY)


def ask(problem, network, tolerance=None):
    """The finding of this step alone and its certificate; what it says is compared with the conditions."""
    terms = asked.Terms(tol=Fraction(1, 10), stationary_tol=tolerance, relax=False)
    about = asked.posed(
        read(network, problem.data), terms, goal=problem.goal, bias=problem.bias, trained=problem.trained, fit_tol=None
    )
    finding = answered(about, Clock(), STEPS).stationary
    if finding.verdict is Verdict.UNDECIDED:
        return finding, None
    certificate, *beside = finding.certificates
    subject = network if certificate.subject is None else Network(network.architecture, certificate.subject)
    if finding.verdict is PROVED:
        assert isinstance(certificate, Stationary)
        assert beside == []
        products = {(i, j): value for i, j, value in certificate.kink_products}
        reached = naive.kkt(problem, subject, dict(certificate.multipliers), products)
        assert reached is not None
        assert reached[0] <= certificate.epsilon**2
        assert reached[1] <= certificate.delta
        if tolerance is not None:
            assert max(certificate.epsilon, certificate.delta) <= tolerance
    else:
        assert isinstance(certificate, NotStationary)
        assert tolerance is None or max(certificate.epsilon, certificate.delta) <= tolerance
        check_that_none_is_better(problem, subject, certificate)
        for held in beside:
            assert isinstance(held, Stationary)
            assert max(held.epsilon, held.delta) > certificate.epsilon
    return finding, certificate


def check_that_none_is_better(problem, subject, certificate):
    """Multipliers by least squares and at random, on gradients with every choice at kinks: none reaches both bounds."""
    generators, target = naive.gradients(problem, subject), naive.theta(problem, subject)
    matrix, points = np.array([h for _, h in generators]).T, [i for i, _ in generators]
    size, random = np.linalg.norm(target), np.random.default_rng(0)
    values = naive.quantities(problem, subject)
    is_margin = problem.goal is Goal.MAX_MARGIN
    slack = np.array([float(values[i] - min(values)) if is_margin else 0.0 for i in points])
    for signs in branches(problem, points):
        signed = np.hstack([matrix * signs, *([] if is_margin else [-matrix[:, singles(points)]])])
        loose = np.zeros(signed.shape[1])
        loose[: len(slack)] = slack
        tried = [
            nonnegative_least_squares(np.vstack([signed, weight * loose]), np.append(target, 0.0))
            for weight in ((0, 1e-2, 0.1, 1, 10, 1e3) if is_margin else (0,))
        ]
        for scale in (1e-6, 1e-3, 1e-1, 1.0):
            tried += [np.abs(best * (1 + scale * random.standard_normal(len(best)))) for best in tried[:6]]
        for multipliers in tried:
            epsilon = np.linalg.norm(target - signed @ multipliers) / size
            delta = loose @ multipliers / size**2
            assert epsilon > float(certificate.epsilon) * (1 - 1e-9) - 1e-12 or delta > float(certificate.delta) - 1e-12


def singles(points):
    return [q for q, i in enumerate(points) if points.count(i) == 1]


def branches(problem, points):
    """The signs of the multipliers of points with kinks, for min-norm all of them."""
    several = [] if problem.goal is Goal.MAX_MARGIN else sorted({i for i in points if points.count(i) > 1})
    for signs in product((1.0, -1.0), repeat=len(several)):
        chosen = dict(zip(several, signs, strict=True))
        yield np.array([chosen.get(i, 1.0) for i in points])


def posed(network, X, y, goal=Goal.MAX_MARGIN, bias=None):
    mode = bias or (Bias.PENALISED if network.architecture.bias else Bias.NONE)
    return Problem(Dataset(X, y), network.architecture, goal=goal, bias=mode), network


# ------------------------------------------------------------------------------------------------- exact


def test_theorem_3_2():
    """arXiv:2110.02732: lambda = (2, 2), although the second neuron is wasted."""
    problem, network = posed(Network.two_layer([[0, 2], [0, 0]], [2, 0]), [[1, "1/4"], [-1, "1/4"]], [1, 1])
    finding, certificate = ask(problem, network)
    assert (finding.verdict, finding.level) == (PROVED, "exact")
    assert certificate.multipliers == ((0, Fraction(2)), (1, Fraction(2)))
    assert certificate.epsilon == certificate.delta == 0


@pytest.mark.parametrize("slope", [Fraction(0), Fraction(1, 5)])
@pytest.mark.parametrize("g", [Fraction(1, 5), Fraction(1, 2), Fraction(2, 3), Fraction(1)])
def test_tie_needs_clarke(slope, g):
    """x_2 is on the kink of the first neuron, and only the slope g there makes it a KKT point.

    w_1 = e, w_2 = p, x_1 = e - g p, x_2 = p, lambda = (1, 1). A leaky neuron 2 sees x_1 too: no KKT point then.
    """
    if slope == 0:
        problem, network = posed(Network.two_layer([[1, 0], [0, 1]], [1, 1]), [[1, -g], [0, 1]], [1, 1])
        finding, certificate = ask(problem, network)
        assert (finding.verdict, finding.level) == (PROVED, "exact")
        assert certificate.kink_products == ((1, 0, g),)
        assert dict(certificate.multipliers) == {0: 1, 1: 1}
    else:
        problem, network = posed(Network.two_layer([[1, 0], [0, 1]], [1, 1], slope=slope), [[1, -g], [0, 1]], [1, 1])
        finding, _ = ask(problem, network)
        assert finding.verdict is REFUTED


@pytest.mark.parametrize("g", [Fraction(-1, 10**5), 1 + Fraction(1, 10**5), Fraction(2), Fraction(-1, 2)])
def test_a_tie_that_no_clarke_slope_mends(g):
    problem, network = posed(Network.two_layer([[1, 0], [0, 1]], [1, 1]), [[1, -g], [0, 1]], [1, 1])
    finding, _ = ask(problem, network)
    assert finding.verdict is REFUTED


@given(kkt_points())
@settings(max_examples=120)
def test_kkt_points_by_construction_are_proved(point):
    finding, certificate = ask(point.problem, point.network)
    assert (finding.verdict, finding.level) == (PROVED, "exact")
    assert certificate.epsilon == certificate.delta == 0
    reached = naive.kkt(
        point.problem,
        point.network,
        dict(enumerate(point.multipliers)),
        {(i, j): value for i, j, value in point.kink_products},
    )
    assert reached == (0, 0)


@given(kkt_points(Goal.MAX_MARGIN), st.sampled_from([Fraction(1, 10**9), Fraction(10**9), Fraction(2, 7)]))
@settings(max_examples=30)
def test_scaled_kkt_points_are_proved(point, scale):
    hidden, outgoing = point.network.parameters
    scaled = Network(point.network.architecture, ([scale * w for w in hidden], [scale * v for v in outgoing]))
    finding, certificate = ask(point.problem, scaled)
    assert (finding.verdict, finding.level) == (PROVED, "exact")
    assert certificate.delta == 0


@given(kkt_points(), st.data())
@settings(max_examples=60)
def test_kkt_points_moved_along_a_neuron_are_refuted(point, data):
    """(w, v) times 1 + t and 1 / (1 + t): the same outputs, but out of balance; every KKT point is balanced."""
    live = [j for j, v in enumerate(point.network.output_weights) if v]
    j = data.draw(st.sampled_from(live))
    t = 1 + data.draw(st.sampled_from([Fraction(1, 10**6), Fraction(-1, 1000), Fraction(1)]))
    rows = [[w * t if q == j else w for w in row] for q, row in enumerate(point.network.hidden_weights)]
    outgoing = [v / t if q == j else v for q, v in enumerate(point.network.output_weights)]
    network = Network.two_layer(rows, outgoing, slope=point.network.architecture.slope)
    finding, _ = ask(point.problem, network)
    assert finding.verdict is REFUTED
    assert finding.certificates[0].epsilon == 0


# ------------------------------------------------------------------------------------------------- random networks


def random_network(random, d, width, slope, *, bias=False, masks=None):
    def number():
        return Fraction(random.randint(-12, 12), 4)

    shape = Architecture.two_layer(d, width, slope=slope, bias=bias, masks=masks)
    hidden = [number() for _ in range(shape.layers[0].parameter_count)]
    return Network(shape, (hidden, [random.choice([-1, 1]) * Fraction(random.randint(1, 8), 4) for _ in range(width)]))


def own_targets(network, X, goal, bias):
    values = [network(x) for x in X]
    if goal is Goal.MAX_MARGIN and 0 in values:
        return None
    y = [1 if value > 0 else -1 for value in values] if goal is Goal.MAX_MARGIN else values
    return Problem(Dataset(X, y), network.architecture, goal=goal, bias=bias)


SETTINGS = [
    (goal, slope, bias, masked)
    for goal in Goal
    for slope in (Fraction(0), Fraction(1, 4), Fraction(1))
    for bias in Bias
    for masked in (False, True)
]


@cache
def random_cases(place):
    """Five networks that fit, for a goal, slope, bias and with or without masks."""
    goal, slope, bias, masked = SETTINGS[place]
    random, found = Random(place), []
    while len(found) < 5:
        d, width = random.randint(2, 3), random.randint(1, 3)
        columns = d + (bias is not Bias.NONE)
        masks = [sorted(random.sample(range(columns), random.randint(1, columns))) for _ in range(width)]
        network = random_network(random, d, width, slope, bias=bias is not Bias.NONE, masks=masks if masked else None)
        X = [[Fraction(random.randint(-4, 4), 2) for _ in range(d)] for _ in range(random.randint(2, 6))]
        problem = own_targets(network, X, goal, bias)
        if problem is not None:
            found.append((problem, network))
    return found


@pytest.mark.parametrize(
    "place", range(len(SETTINGS)), ids=lambda k: "-".join(str(getattr(x, "value", x)) for x in SETTINGS[k])
)
def test_random_networks_are_refuted(place):
    """With grid data, so that ties and duplicates occur; also to within 1e-3. All these networks are out of balance."""
    for problem, network in random_cases(place):
        for tolerance in (Fraction(0), Fraction(1, 1000)):
            finding, certificate = ask(problem, network, tolerance)
            assert finding.verdict is REFUTED
            assert certificate.epsilon == tolerance


# ------------------------------------------------------------------------------------------------- min-norm with ties


def balanced_with_ties(random):
    """A min-norm problem with a balanced network and points on kinks; whether it is stationary is not known."""
    axes = [[3, 4, 0], [0, 0, 1], [4, -3, 0], [5, 0, 12], [0, 1, 0]]
    chosen = random.sample(axes, 2)
    W = [[Fraction(random.choice([-1, 1]) * z) for z in row] for row in chosen]
    sizes = [{25: 5, 1: 1, 169: 13}[sum(z * z for z in row)] for row in chosen]
    X = [[random.randint(-2, 2) for _ in range(3)] for _ in range(random.randint(1, 3))]
    for w in W:
        x = [random.randint(-2, 2) for _ in range(3)]
        X.append(
            [
                a * int(sum(z * z for z in w)) - int(sum(p * q for p, q in zip(x, w, strict=True))) * int(b)
                for a, b in zip(x, w, strict=True)
            ]
        )
    network = Network.two_layer(W, [random.choice([-1, 1]) * size for size in sizes], slope=random.choice([0, "1/2"]))
    return own_targets(network, X, Goal.MIN_NORM, Bias.NONE), network


def distance_from_stationary(problem, network):
    """The least epsilon over all sign branches, in floats."""
    generators, target = naive.gradients(problem, network), naive.theta(problem, network)
    matrix, points = np.array([h for _, h in generators]).T, [i for i, _ in generators]
    found = []
    for signs in branches(problem, points):
        signed = np.hstack([matrix * signs, -matrix[:, singles(points)]])
        rest = target - signed @ nonnegative_least_squares(signed, target)
        found.append(np.linalg.norm(rest) / np.linalg.norm(target))
    return min(found), len(found)


def test_min_norm_with_ties_on_every_sign_branch():
    """Where least squares says 0 on some branch the audit proves it, else it refutes it with one vector a branch."""
    random, count = Random(3), {PROVED: 0, REFUTED: 0}
    branching = 0
    for _ in range(80):
        problem, network = balanced_with_ties(random)
        least, number = distance_from_stationary(problem, network)
        finding, certificate = ask(problem, network)
        assert finding.verdict is (PROVED if least < 1e-9 else REFUTED)
        count[finding.verdict] += 1
        if finding.verdict is REFUTED:
            assert len(certificate.vectors) == number
            branching += number > 1
    assert min(count.values()) >= 5
    assert branching >= 10


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("slope", [Fraction(0), Fraction(1, 3)])
def test_min_norm_multipliers_of_either_sign_at_a_tie(sign, slope):
    """w_1 = e, w_2 = s p, x_2 = p on the kink of neuron 1; x_1 = e - g p."""
    for share in (slope, (1 + slope) / 2, Fraction(1)):
        network = Network.two_layer([[1, 0, 0], [0, sign, 0]], [1, sign], slope=slope)
        X = [[1, -share, 0], [0, 1, 0]]
        problem = own_targets(network, X, Goal.MIN_NORM, Bias.NONE)
        least, _ = distance_from_stationary(problem, network)
        finding, _ = ask(problem, network)
        assert finding.verdict is (PROVED if least < 1e-9 else REFUTED)


def test_unbalanced_networks_with_many_ties_are_refuted():
    """||w|| != |v|: the direction (w, -v) changes no output whatever the slopes: one vector for all branches."""
    network = Network.two_layer([[0, 1, 1], [1, -1, 3]], [2, -1])
    X = [[1, 0, 2], [0, 1, -1], [1, 1, 0], [2, -1, 1]]
    finding, _ = ask(own_targets(network, X, Goal.MIN_NORM, Bias.NONE), network)
    assert finding.verdict is REFUTED


def test_two_balanced_neurons_with_a_tie():
    """lambda_1 = 1 is forced by neuron 1; then w_1 = e_2 = x_1 + lambda_2 g x_2 has no solution, x_2 = (2, 0, 2)."""
    network = Network.two_layer([[0, 1, 0], [0, 0, -1]], [1, -1])
    problem = own_targets(network, [[2, 1, 2], [2, 0, 2]], Goal.MIN_NORM, Bias.NONE)
    assert distance_from_stationary(problem, network)[0] > 0.7
    assert ask(problem, network)[0].verdict is REFUTED


def test_a_dead_point_with_an_output_weight():
    """w = 0, v = 1, f = 0: all points are kinks of a live neuron, and v = 0 would have to hold."""
    for goal, y in ((Goal.MIN_NORM, [0, 0]), (Goal.MIN_NORM, [1, 0])):
        W, v = ([[0, 0]], [1]) if y == [0, 0] else ([[1, 0], [0, 0]], [1, 1])
        problem, network = posed(Network.two_layer(W, v), [[1, 0], [0, 1]], y, goal)
        finding, _ = ask(problem, network)
        assert finding.verdict is REFUTED


# ------------------------------------------------------------------------------------------- biases, masks, slopes


def test_free_bias_by_hand():
    """f(x) = 1 and -1 at x = 0 and 1: w_1 = -1, b_1 = 1, v_1 = 1 and w_2 = 1, b_2 = 0, v_2 = -1.

    Point 0 is on the kink of neuron 2, point 1 on that of neuron 1; neuron 1 needs lambda_1 - lambda_2 g = 0 for its
    bias and lambda_2 g = 1 for its weight, so that lambda = (1, 1) and g = 1; neuron 2 the same.
    """
    network = Network.two_layer([[-1], [1]], [1, -1], b=[1, 0])
    problem = Problem(Dataset([[0], [1]], [1, -1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.FREE)
    finding, certificate = ask(problem, network)
    assert (finding.verdict, finding.level) == (PROVED, "exact")
    assert dict(certificate.multipliers) == {0: 1, 1: 1}
    assert certificate.kink_products == ((0, 1, 1), (1, 0, 1))
    penalised = Problem(problem.data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)
    assert ask(penalised, network)[0].verdict is REFUTED


def test_free_bias_that_is_not_in_balance():
    """One point: lambda v g = 0 for the bias contradicts w != 0."""
    network = Network.two_layer([[1]], [1], b=[0])
    problem = Problem(Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.FREE)
    for tolerance in (Fraction(0), Fraction(1, 1000), Fraction(1, 3)):
        assert ask(problem, network, tolerance)[0].verdict is REFUTED


def test_masked_neurons_have_no_equation_at_hidden_places():
    """Both see one coordinate; without masks the same weights are no KKT point."""
    X, y = [[1, 1], [-1, 1]], [1, 1]
    masked = Network.two_layer([[1, 0], [-1, 0]], [1, 1], masks=[[0], [0]])
    finding, certificate = ask(*posed(masked, X, y))
    assert (finding.verdict, finding.level) == (PROVED, "exact")
    assert dict(certificate.multipliers) == {0: 1, 1: 1}
    dense = Network.two_layer([[1, 0], [-1, 0]], [1, 1])
    assert ask(*posed(dense, X, y))[0].verdict is REFUTED


@pytest.mark.parametrize("slope", [Fraction(1, 4), Fraction(1, 2), Fraction(99, 100)])
def test_symmetric_data_with_a_leaky_slope(slope):
    """arXiv:2110.13905, Theorem 4.2: neurons w and -w with outputs 1 and -1, lambda = 1/(1 + a) each."""
    network = Network.two_layer([["3/5", "4/5"], ["-3/5", "-4/5"]], [1, -1], slope=slope)
    problem, _ = posed(network, [["3/5", "4/5"], ["-3/5", "-4/5"]], [1, -1])
    finding, certificate = ask(problem, network)
    assert (finding.verdict, finding.level) == (PROVED, "exact")
    assert dict(certificate.multipliers) == {0: 1 / (1 + slope), 1: 1 / (1 + slope)}


def test_linear_networks_have_no_kinks():
    network = Network.two_layer([[1, 0]], [1], slope=1)
    problem, _ = posed(network, [[1, 0], [0, 1]], [1, 0], Goal.MIN_NORM)
    finding, certificate = ask(problem, network)
    assert (finding.verdict, certificate.kink_products) == (PROVED, ())


# ------------------------------------------------------------------------------------------------- approximate


def perturbed(network, size, seed, *, keep_zeros):
    """A float network whose weights differ by relative errors of this size, or by absolute ones."""
    random = np.random.default_rng(seed)

    def moved(value):
        if value == 0 and keep_zeros:
            return 0.0
        return float(value) + size * random.uniform(-1, 1) * (abs(float(value)) if keep_zeros else 1.0)

    rows = [[moved(w) for w in row] for row in network.hidden_weights]
    return Network.two_layer(rows, [moved(v) for v in network.output_weights], slope=network.architecture.slope)


def smooth_points():
    """KKT points whose preactivations are far from 0: (problem, network)."""
    found = []
    for slope, second in product((Fraction(0), Fraction(1, 3)), (1, -1)):
        for w in ([Fraction(3, 5), Fraction(4, 5)], [Fraction(-5, 13), Fraction(12, 13)], [Fraction(1)]):
            X = [[z * side for z in w] for side in (1, -1)]
            if len(w) > 1:
                p = [w[1] / 2, -w[0] / 2]
                X = [[z * side + sense * q for z, q in zip(w, p, strict=True)] for side in (1, -1) for sense in (1, -1)]
            y = [1] * (len(X) // 2) + [second] * (len(X) // 2)
            network = Network.two_layer([w, [-z for z in w]], [1, second], slope=slope)
            found.append(posed(network, X, y))
    return found


@pytest.mark.parametrize("number", range(len(smooth_points())))
def test_networks_near_kkt_points_are_proved_approximately(number):
    """Weights off by 1e-6: within 1e-3, and the bounds stated are above what the conditions give and not far above."""
    problem, network = smooth_points()[number]
    assert ask(problem, network)[0].level == "exact"
    for seed in range(3):
        near = perturbed(network, 1e-6, seed, keep_zeros=False)
        finding, certificate = ask(problem, near, Fraction(1, 1000))
        assert (finding.verdict, finding.level) == (PROVED, "approximate")
        assert 0 < certificate.epsilon < Fraction(1, 1000)
        assert certificate.delta < Fraction(1, 1000)
        reached = naive.kkt(
            problem, near, dict(certificate.multipliers), {(i, j): q for i, j, q in certificate.kink_products}
        )
        assert reached[0] <= certificate.epsilon**2 <= reached[0] * Fraction(101, 100)
        assert reached[1] <= certificate.delta <= reached[1] * Fraction(101, 100)
        assert finding.numbers["epsilon"] == certificate.epsilon
        assert ask(problem, near, Fraction(0))[0].verdict is REFUTED


@pytest.mark.parametrize("number", range(0, len(smooth_points()), 3))
def test_approximate_stationarity_does_not_depend_on_the_scale(number):
    problem, network = smooth_points()[number]
    near = perturbed(network, 1e-4, 7, keep_zeros=False)
    verdicts, numbers = [], []
    for exponent in (-200, -20, 0, 20, 200):
        scale = 2.0**exponent
        rows = [[float(w) * scale for w in row] for row in near.hidden_weights]
        scaled = Network.two_layer(rows, [float(v) * scale for v in near.output_weights], slope=near.architecture.slope)
        for tolerance in (Fraction(1, 1000), Fraction(1, 10**9)):
            finding, _ = ask(problem, scaled, tolerance)
            verdicts.append(finding.verdict)
            if finding.verdict is PROVED:
                numbers.append(finding.numbers["epsilon"])
    assert verdicts == [PROVED, REFUTED] * 5
    assert max(numbers) <= min(numbers) * Fraction(101, 100)


def test_a_multiplier_on_a_slack_constraint_counts_in_delta():
    """x_2 = 2 x_1, margins 1 and 1 + t: weight on x_2 is allowed as far as delta lets it."""
    network = Network.two_layer([[1.0]], [1.0])
    problem, _ = posed(network, [[1.0], [1.0 + 2.0**-20]], [1, 1])
    finding, certificate = ask(problem, network, Fraction(1, 1000))
    assert finding.verdict is PROVED
    assert max(certificate.epsilon, certificate.delta) <= Fraction(1, 2**20)


@pytest.mark.parametrize("size", [1e-13, 1e-9, 1e-7])
@pytest.mark.parametrize("turned", [False, True])
def test_networks_that_slide_along_a_kink(size, turned):
    """tie-needs-clarke with w_1.x_2 = +-size: the network itself is not stationary, one on the kink is, `size` away."""
    for side in (size, -size):
        W, X = [[1.0, side], [0.0, 1.0]], [[1.0, -0.5], [0.0, 1.0]]
        if turned:  # by the rotation (3, -4; 4, 3)/5, so that no weight is small
            W, X = ([[0.6 * a - 0.8 * b, 0.8 * a + 0.6 * b] for a, b in rows] for rows in (W, X))
        network = Network.two_layer(W, [1.0, 1.0])
        problem, _ = posed(network, X, [1, 1])
        finding, certificate = ask(problem, network, Fraction(1, 1000))
        assert finding.verdict is PROVED
        assert finding.level == ("near" if certificate.epsilon == certificate.delta == 0 else "approximate")
        assert certificate.subject is not None
        assert 0 < certificate.moved < 2 * size + 1e-15
        moved = Network(network.architecture, certificate.subject)
        assert 0 in moved.preactivations(problem.rows[1])
        assert finding.moved == certificate.moved
        assert finding.subject == moved


def test_several_neurons_that_slide():
    """Three neurons on kinks of one point each, w_j = e_j, on data with slopes 1/2 there."""
    eye, half = np.eye(4), 0.5
    X = [[1.0, 0, 0, -half], [0, 1.0, 0, -half], [0, 0, 1.0, -half], [0, 0, 0, 1.0]]
    W = eye + 1e-8 * np.array([[0, 0, 0, 1], [0, 0, 0, -1], [0, 0, 0, 1], [0, 0, 0, 0]])
    network = Network.two_layer(W, [1.0] * 4)
    problem, _ = posed(network, X, [1] * 4)
    finding, certificate = ask(problem, network, Fraction(1, 1000))
    assert finding.verdict is PROVED
    assert certificate.moved < Fraction(1, 10**7)
    assert len(certificate.kink_products) == 3


def test_a_network_that_only_looks_like_sliding():
    """The slope needed at the kink is 2: moving onto it does not help."""
    network = Network.two_layer([[1.0, 1e-9], [0.0, 1.0]], [1.0, 1.0])
    problem, _ = posed(network, [[1.0, -2.0], [0.0, 1.0]], [1, 1])
    finding, _ = ask(problem, network, Fraction(1, 1000))
    assert finding.verdict is REFUTED


def test_the_tolerance_is_part_of_the_question():
    """v off by a factor 1 + t: epsilon is about t/2 (balance), so that it is PROVED above and REFUTED below."""
    network = Network.two_layer([[1]], [1 + Fraction(1, 1000)])
    problem, _ = posed(network, [[1]], [1])
    least, _ = min(
        ((naive.kkt(problem, network, {0: Fraction(k, 10**5)})[0], k) for k in range(99_800, 100_200)), default=None
    )
    epsilon = float(least) ** 0.5
    above, below = Fraction(epsilon * 1.01), Fraction(epsilon * 0.99)
    assert ask(problem, network, above)[0].verdict is PROVED
    assert ask(problem, network, below)[0].verdict is REFUTED


def test_float_input_is_asked_to_within_a_thousandth_and_exact_input_exactly():
    rows, v = [[1.0]], [1.0005]
    assert audit(Network.two_layer(rows, v), Dataset([[1.0]], [1.0])).stationary.verdict is PROVED
    exact = Network.two_layer([[1]], ["2001/2000"])
    assert audit(exact, Dataset([[1]], [1])).stationary.verdict is REFUTED


# ------------------------------------------------------------------------------------------------- constant neurons


def with_constant(seed):
    """Balanced neurons on the line with free biases, and one or two that are constant: w = 0, v = 0, b != 0."""
    random = Random(seed)
    slope = random.choice([0, 0, Fraction(1, 2), 1])
    weights = [random.choice([-2, -1, 1, 2]) for _ in range(random.randint(0, 3))]
    signs = [random.choice([-1, 1]) for _ in weights]
    biases = [Fraction(random.randint(-4, 4), 2) for _ in weights]
    constant = [random.choice([-1, 1, 2]) for _ in range(random.randint(1, 2))]
    network = Network.two_layer(
        [[w] for w in weights + [0] * len(constant)],
        [s * w for s, w in zip(signs, weights, strict=True)] + [0] * len(constant),
        b=biases + constant,
        slope=slope,
    )
    X = random.sample([[Fraction(q, 2)] for q in range(-4, 5)], random.randint(1, 4))
    values = [network(x) for x in X]
    is_margin = all(values) and random.random() < 0.5
    y = [1 if value > 0 else -1 for value in values] if is_margin else values
    goal = Goal.MAX_MARGIN if is_margin else Goal.MIN_NORM
    return Problem(Dataset(X, y), network.architecture, goal=goal, bias=Bias.FREE), network


@pytest.mark.parametrize("tolerance", [Fraction(0), Fraction(1, 1000)])
def test_constant_neurons_are_decided(tolerance):
    """Each output weight of a constant neuron asks for sum c_i = 0, or for nothing where it is off."""
    found = Counter()
    for seed in range(150):
        problem, network = with_constant(seed)
        proof = stationarity(problem, network, network, tolerance).certificate
        assert proof is not None, seed
        found[problem.goal, type(proof)] += 1
    assert min(found[goal, NotStationary] for goal in Goal) > 30
    assert found[Goal.MIN_NORM, Stationary] > 30


def test_a_constant_neuron_alone_refutes():
    """x = -1, 1 and a leaky neuron (1, 1) with c = (-1, 1/2): a constant neuron would gain by sum c_i = -1/2."""
    X, slope = [[-1], [1]], "1/2"
    alone = Network.two_layer([[1]], [1], b=[0], slope=slope)
    y = [alone(x) for x in X]
    problem = Problem(Dataset(X, y), alone.architecture, goal=Goal.MIN_NORM, bias=Bias.FREE)
    assert isinstance(stationarity(problem, alone, alone, Fraction(0)).certificate, Stationary)
    for b in (1, -1, "1/1000", 10**6):
        network = Network.two_layer([[1], [0]], [1, 0], b=[0, b], slope=slope)
        problem = Problem(Dataset(X, y), network.architecture, goal=Goal.MIN_NORM, bias=Bias.FREE)
        assert isinstance(stationarity(problem, network, network, Fraction(0)).certificate, NotStationary)


def test_nothing_counts_but_a_free_bias():
    """w = 0 and v = 0 everywhere: the norm is 0, whatever the biases are."""
    network = Network.two_layer([[0], [0]], [0, 0], b=[1, -2])
    problem = Problem(Dataset([[1], [2]], [0, 0]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.FREE)
    proposal = stationarity(problem, network, network, Fraction(0))
    assert isinstance(proposal.certificate, Stationary)
    assert isinstance(check(problem, network, sealed(problem, network, proposal.certificate)), Accepted)


# ------------------------------------------------------------------------------------------------ of mixed sizes


def mixed(size):
    """(network, data, options, whether it is a KKT point): neurons or points of very different sizes."""
    B = Fraction(size)
    two = Network.two_layer([[B, 0], [0, 1]], [B, 1])
    bad = Network.two_layer([[B, 0], [0, 5]], [B, 5])
    tied = Network.two_layer([[B], [-1]], [B, 1], b=[0, 1])
    unit, across = Network.two_layer([[1, 0], [0, 1]], [1, -1]), [[B, 0], [0, 1 / B]]
    optimal = Network.two_layer([[1 / B, 0], [0, B]], [1 / B, -B])
    return {
        "margin": (two, ([[1 / B**2, 0], [0, 1]], [1, 1]), {}, True),
        "norm": (two, ([[1 / B**2, 0], [0, 1]], [1, 1]), {"goal": "min-norm"}, True),
        "targets": (two, ([[1, 0], [0, 1]], [B**2, 1]), {}, True),
        "not margin": (bad, ([[1 / B**2, 0], [3, 4]], [1, 1]), {}, False),
        "not norm": (tied, ([[1 / B**2], [0]], [2 - 1 / B**2, 1]), {"bias": "free"}, False),
        "across": (unit, (across, [1, -1]), {}, False),
        "across, norm": (unit, (across, [B, -1 / B]), {}, True),
        "across, best": (optimal, ([[B**2, 0], [0, 1 / B**2]], [1, -1]), {}, True),
    }


@pytest.mark.parametrize(
    ("name", "exponent"),
    [(name, e) for name in mixed(2) for e in ((6, 12, 30, 150) if "across" in name else (6, 9, 12, 30))],
)
@pytest.mark.one_in(2)
def test_neurons_and_points_of_very_different_sizes(name, exponent):
    network, data, options, is_stationary = mixed(10**exponent)[name]
    result = audit(network, data, **options)
    assert result.stationary.verdict is (PROVED if is_stationary else REFUTED), result.stationary.reason
    assert result.local_optimum.verdict is not Verdict.UNDECIDED


def test_multipliers_are_named_by_the_points_of_the_data_not_of_the_data_without_copies():
    data = Dataset([[2], [2], [-1]], [0, 0, 1])
    found = audit(Network.two_layer([[-1]], [1]), data, goal="min-norm").stationary
    assert found.reason == "an exact KKT point with λ_2 = 1"
    (proof,) = found.certificates
    assert dict(proof.multipliers) == {2: 1}
