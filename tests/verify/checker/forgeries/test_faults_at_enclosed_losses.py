"""The rows about exact stationary points near networks with a loss, of docs/certificates.md, "Faults that must be
refused".
"""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from tests.enclosed_losses import copied, enclosed, found, held
from tests.forging import accepted, refused
from tests.losses import posed
from verify import Bias, Dataset, Goal, Network, Problem
from verify.checker import Accepted, check
from verify.checker.certificate import ASKS_OUTPUT_BIAS
from verify.checker.enclosed_points import Direction
from verify.deciders.proposal import sealed

F = Fraction
HALF = F(1, 2)
PLUS = Direction(sign="+", sides="+", neurons=((0, F(1)),))
COUNT = 105


def near(problem, network, direction, support, start, **changes):
    """A certificate of whichever distance."""
    return enclosed(problem, network, [direction], support, start, moved=F(100), **changes)


# ------------------------------------------------------------------- 90: multipliers that are not those of the loss


@pytest.mark.parametrize("value", [HALF, F(3, 4), F(5, 4), F(-1)])
def test_90_a_fixed_multiplier_that_is_no_subgradient(value):
    """lambda_1 = 1 belongs to f = 1/2, and a root there is for every other number."""
    start = [float((2 - value) / 2), 0.125]
    problem, network = held()[:2]
    direction = Direction(sign="+", sides="++", neurons=((0, F(1)),))
    proof = near(problem, network, direction, (0, 1), start, fixed=((1, value),))
    refused(problem, network, proof, "support")


def test_90_a_point_left_out_that_has_a_loss():
    problem, network, _ = held()
    proof = near(problem, network, PLUS, (0,), [1.0, 0.125])
    refused(problem, network, proof, "support")


@pytest.mark.parametrize(
    ("name", "decay", "target", "multiplier", "f"),
    [
        ("huber", HALF, 3, 0.5, 2.5),  # beyond the quadratic piece, on its line
        ("absolute", F(2), 3, 2.0, 3.0),
        ("hinge", F(2), 1, 2.0, 1.0),
        ("epsilon-insensitive", F(2), 3, 2.0, 2.5),
    ],
)
def test_90_a_multiplier_beyond_an_end(name, decay, target, multiplier, f):
    """The equations have a root all the same."""
    problem = posed(name, [[1]], [target], decay)
    network = Network.two_layer([[f**0.5]], [f**0.5])
    proof = near(problem, network, PLUS, (0,), [multiplier, f / float(decay) ** 2])
    refused(problem, network, proof, "support")


def test_90_a_box_with_more_than_one_piece():
    """A box that is wide enough to leave the quadratic piece is refused, whatever its root is."""
    problem = posed("huber", [[1]], [3], F(1, 8))
    network = Network.two_layer([[F(23, 8) ** HALF]], [F(23, 8) ** HALF])
    proof = near(problem, network, PLUS, (0,), [0.125, 184.0])
    accepted(problem, network, proof)
    wide = replace(proof, radii=(F(1, 7), proof.radii[1] * 2**90))
    assert not isinstance(check(problem, network, sealed(problem, network, wide)), Accepted)
    place = check(problem, network, sealed(problem, network, wide)).place
    assert place in ("support", "inverse")


def test_90_the_tube_of_the_other_sign():
    """c < 0 with the line of c > 0: the root is where c > 0, and no network near it has that."""
    problem = posed("epsilon-insensitive", [[1]], [3], HALF)
    network = Network.two_layer([[1.58]], [1.58])
    proof = near(problem, network, PLUS, (0,), [0.5, 10.0])
    accepted(problem, network, proof)
    other = replace(proof, centre=(-proof.centre[0], proof.centre[1]))
    refused(problem, network, other, "inverse")


def test_90_fixed_where_nothing_is():
    problem, network, proof = held()
    refused(problem, network, replace(proof, fixed=((0, F(1)), (1, F(1)), (2, F(1)))), "fixed")
    margin = Problem(Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    one = near(margin, network, PLUS, (0,), [1.0, 1.0])
    accepted(margin, network, one)
    refused(margin, network, replace(one, fixed=((0, F(1)),)), "fixed")


# ------------------------------------------------------------------- 91: kinks and their copies


@pytest.mark.parametrize("product", [0.5, -1.5])
def test_91_products_beyond_the_sum_of_a_kink_and_its_copies(product):
    """x_0 = (1, -product / c_0): the root has this product, outside of the interval from -1 to 0 of both copies."""
    problem = posed("squared", [[1, F(-2 * product)], [0, 1], [0, 1]], [3, 1, -2], HALF)
    network = Network.two_layer([[1.5, 0]], [1.5])
    direction = Direction(sign="+", sides="+0=", neurons=((0, F(1)),))
    proof = near(problem, network, direction, (0, 1, 2), [0.5, 1, -2, 10, product])
    refused(problem, network, proof, "directions[0].sides")


@pytest.mark.parametrize("sides", ["+==", "+=0", "0=="])
def test_91_a_copy_of_no_kink(sides):
    problem, network, proof = copied()
    direction = replace(proof.directions[0], sides=sides)
    if sides == "+=0":  # the other one of the two may stand for both
        accepted(problem, network, copied(sides)[2])
        return
    refused(problem, network, replace(proof, directions=(direction,)), "directions[0].sides")


def test_91_a_copy_beside_two_kinks_or_of_constraints():
    problem, network, proof = copied()
    direction = replace(proof.directions[0], sides="+00")
    double = replace(proof, directions=(direction,), centre=(*proof.centre, F(0)), radii=(*proof.radii, F(1)))
    size = len(double.centre)
    identity = tuple(tuple(int(p == q) for q in range(size)) for p in range(size))
    refused(problem, network, replace(double, inverse=identity), "inverse")
    margin = Problem(
        Dataset([[1, 0], [0, 1], [0, 1]], [1, 1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE
    )
    refused(margin, network, proof, "directions[0].sides")


def test_91_a_local_optimum_at_a_kink_whose_copies_it_helps():
    """The sum of c at the copies is positive: stationary, and better on the side where both are on."""
    problem, network, proof = copied(targets=(3, 2, -1), products=0.25)
    flipped = posed("squared", [[1, F(-1, 2)], [0, 1], [0, 1]], (3, 2, -1), HALF)
    direction = proof.directions[0]
    other = near(flipped, network, direction, (0, 1, 2), [0.5, 2, -1, 10, 0.25])
    accepted(flipped, network, other)
    refused(flipped, network, replace(other, optimality="local optimum"), "directions[0].sides")
    assert problem.goal == flipped.goal


# ------------------------------------------------------------------- 92: the output bias, the scale, any width


def biased():
    """1/2 r^2, x = ±1, y = 2, 0, decays 1/2, mu_b = 1/2: c_0 = 1/2, b / 2 = c_0 + c_1, c_1 = -b: b = 1/3."""
    problem = posed("squared", [[1], [-1]], [2, 0], HALF, b2=HALF)
    b = F(1, 3)
    f = 2 - HALF - b
    network = Network.two_layer([[float(f) ** 0.5]], [float(f) ** 0.5], b2=float(b))
    direction = Direction(sign="+", sides="+-", neurons=((0, F(1)),))
    return problem, network, enclosed(problem, network, [direction], (0, 1), [0.5, -b, b, 4 * f])


def test_92_the_output_bias_left_out():
    problem, network, proof = biased()
    accepted(problem, network, proof)
    without = {"centre": (*proof.centre[:2], proof.centre[3]), "radii": (*proof.radii[:2], proof.radii[3])}
    rows = tuple(tuple(row[:3]) for row in proof.inverse[:3])
    refused(problem, network, replace(proof, **without, inverse=rows), "centre")
    far = Network.two_layer(network.hidden_weights, network.output_weights, b2=2)
    refused(problem, far, proof, "moved")


def test_92_the_output_bias_at_margin_1():
    one = near(posed("squared", [[1]], [3], HALF), Network.two_layer([[1]], [1]), PLUS, (0,), [0.5, 10])
    network = Network.two_layer([[1]], [1], b2=0)
    for goal in Goal:
        data = Dataset([[1], [-1]], [1, -1])
        problem = Problem(data, network.architecture, goal=goal, bias=Bias.NONE, output_bias=Bias.FREE)
        refusal = check(problem, network, sealed(problem, network, one))
        assert (refusal.place, refusal.reason) == ("problem", ASKS_OUTPUT_BIAS)


@pytest.mark.parametrize("factor", [F(2), F(1, 2), F(-1)])
def test_92_another_scale(factor):
    problem, network, proof = biased()
    refused(problem, network, replace(proof, factor=factor), "factor")


def test_92_pricing_up_to_1_or_at_other_multipliers():
    tried = 0
    for _, _, problem, network, nearby in found(COUNT):
        proof = nearby.certificate
        if proof is None or proof.pricing is None:
            continue
        dual, tried = proof.pricing, tried + 1
        for beta in (F(1), dual.beta + F(1, 2**90), dual.beta - F(1, 2**90)):
            refused(problem, network, replace(proof, pricing=replace(dual, beta=beta)), "pricing")
        refused(problem, network, replace(proof, pricing=replace(dual, multipliers=dual.multipliers[1:])), "pricing")
        refused(problem, network, replace(proof, pricing=None), "pricing")
        refused(problem, network, replace(proof, optimality="stationary point"), "pricing")
    assert tried > 3


def test_92_a_distance_that_is_less():
    for _, _, problem, network, nearby in found(COUNT):
        proof = nearby.certificate
        if proof is not None and proof.moved > F(1, 1000):
            refused(problem, network, replace(proof, moved=proof.moved * F(9, 10)), "moved")


def test_92_another_loss_or_decay():
    """The same numbers: the equations are others, and so is the claim."""
    for name, decay, place in (
        ("squared", F(1, 3), "inverse"),
        ("absolute", HALF, "inverse"),
        ("huber", HALF, "support"),
    ):
        problem = posed(name, [[1]], [3], decay)
        network = Network.two_layer([[2.5**0.5]], [2.5**0.5])
        proof = near(posed("squared", [[1]], [3], HALF), network, PLUS, (0,), [0.5, 10])
        refused(problem, network, proof, place)


# ------------------------------------------------------------------- alterations at random


def test_92_random_alterations_are_refused():
    """A number of the centre, a radius, a sign."""
    random, tried = Random(3), 0
    for _, _, problem, network, nearby in found(COUNT):
        proof = nearby.certificate
        if proof is None:
            continue
        for altered in alterations(random, problem, proof):
            result = check(problem, network, sealed(problem, network, altered))
            assert not isinstance(result, Accepted), altered
            tried += 1
    assert tried > 150


def alterations(random, problem, proof):
    """Some that are false, as the root is a regular one; without kinks -p with the other sign may be another one."""
    k = random.randrange(len(proof.centre))
    size = max(map(abs, proof.centre))
    yield replace(proof, centre=(*proof.centre[:k], proof.centre[k] + size, *proof.centre[k + 1 :]))
    yield replace(proof, radii=(*proof.radii[:k], -proof.radii[k], *proof.radii[k + 1 :]))
    if proof.directions and problem.architecture.slope < 1:
        one = proof.directions[0]
        turned = replace(one, sign="-" if one.sign == "+" else "+")
        yield replace(proof, directions=(turned, *proof.directions[1:]))
