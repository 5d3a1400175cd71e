"""Stationary points of losses whose numbers are known: the equations of `verify.checker.enclosed_points`."""

from fractions import Fraction
from math import log, sqrt

import pytest

from tests.enclosed_losses import copied, enclosed, found, held
from tests.forging import accepted
from tests.losses import posed
from verify import Network
from verify.checker.enclosed_points import Direction, Point

F = Fraction
PLUS = Direction(sign="+", sides="+", neurons=((0, F(1)),))

# name, decay, target of x = 1, c, f: p = c = decay, c and f on the curve of the loss
ONE_POINT = [
    ("squared", F(1, 2), 3, F(1, 2), F(5, 2)),
    ("absolute", F(1, 2), 3, F(1, 2), F(3)),
    ("epsilon-insensitive", F(1, 2), 3, F(1, 2), F(5, 2)),
    ("epsilon-insensitive", F(1, 2), -3, F(-1, 2), F(-5, 2)),
    ("huber", F(1, 8), 3, F(1, 8), F(23, 8)),
    ("hinge", F(1, 2), 1, F(1, 2), F(1)),
    ("squared-hinge", F(1, 2), 1, F(1, 2), F(1, 2)),
    ("logistic", F(1, 4), 1, F(1, 4), F(log(3))),
    ("logistic", F(1, 4), -1, F(-1, 4), -F(log(3))),
]


@pytest.mark.parametrize(("name", "decay", "target", "c", "f"), ONE_POINT)
def test_one_point(name, decay, target, c, f):
    """x = 1: one neuron with |v| = w = sqrt |f|; lambda = c, times y for labels, and A = |f| / decay^2."""
    problem = posed(name, [[1]], [target], decay)
    root, sign = F(sqrt(abs(f))), 1 if f > 0 else -1
    network = Network.two_layer([[root]], [sign * root])
    direction = Direction(sign="+" if sign > 0 else "-", sides="+", neurons=((0, F(1)),))
    multiplier = c * (target if name in ("hinge", "squared-hinge", "logistic") else 1)
    start = [multiplier, abs(f) / decay**2]
    proof = enclosed(problem, network, [direction], (0,), start, moved=F(1, 10**6), optimality="local optimum")
    said = accepted(problem, network, proof).certificate
    assert "an exact local optimum of its shape, which is stationary in the sense of Clarke" in said.claim
    assert said.level == "near"
    assert abs(proof.centre[0] - multiplier) < F(1, 10**9)


def test_two_decays_and_an_output_bias():
    """x = ±1, y = 2, 0, 1/2 r^2, decays 1/4, 4 and 1/2 of b: c_0 = p = 1, b / 2 = c_0 + c_1, c_1 = -b: b = 2/3."""
    problem = posed("squared", [[1], [-1]], [2, 0], F(1, 4), output=4, b2=F(1, 2))
    c, b = F(1), F(2, 3)
    amplitude = (2 - c - b) / F(1, 4)
    root = sqrt(amplitude)
    network = Network.two_layer([[root]], [root / 4], b2=float(b))
    direction = Direction(sign="+", sides="+-", neurons=((0, F(1)),))
    proof = enclosed(problem, network, [direction], (0, 1), [c, -b, b, amplitude], optimality="local optimum")
    accepted(problem, network, proof)
    assert abs(proof.centre[2] - b) < F(1, 10**9)


def test_a_multiplier_at_an_end():
    problem, network, proof = held()
    accepted(problem, network, proof)
    assert proof.to_json()["fixed"] == [[1, "1"]]
    free = posed("squared", [[1]], [3], F(1, 2))
    other = enclosed(free, Network.two_layer([[1]], [1]), [PLUS], (0,), [0.5, 10])
    assert "fixed" not in other.to_json()


def test_a_kink_with_its_copies():
    problem, network, proof = copied()
    accepted(problem, network, proof)
    assert proof.directions[0].sides == "+0="


def test_what_random_certificates_hold():
    """A line for each multiplier that is an unknown, and an equation for each unknown."""
    checked = 0
    for _, _, problem, network, nearby in found(105):
        proof = nearby.certificate
        if proof is None:
            continue
        point = Point(problem, network, proof)
        assert len(point.lines) == len(proof.support) - len(proof.fixed)
        assert point.unknowns == len(point.equations) == len(proof.centre)
        accepted(problem, network, proof)
        checked += 1
    assert checked >= 60
