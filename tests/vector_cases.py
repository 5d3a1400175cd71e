"""Problems with several outputs whose answers are known by hand, and certificates for them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from verify.checker.dual_trees import Bound
from verify.checker.objectives import Decay
from verify.checker.vector_bounds import Cells, Fan, Linear, Priced
from verify.checker.vector_certificates import VectorBound, VectorOptimalWithin, vector_claim
from verify.checker.vector_statement import VectorNetwork, VectorProblem
from verify.checker.vector_stationary import Move, VectorNotLocal

F = Fraction
PLAIN = Decay("1", "1")
UNITS = [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]]


def sealed_vector(problem, certificate, network=None):
    """The certificate with the hashes and the claim that it makes."""
    about = network.sha256() if network is not None else ""
    found = replace(certificate, problem=problem.sha256(), network=about)
    return replace(found, claim=vector_claim(problem, found))


def saddle(slope="1"):
    """The rank-one saddle: X = I, targets diag(3, 2), linear, and one neuron on the second singular pair; F = 6."""
    problem = VectorProblem([["1", "0"], ["0", "1"]], [["3", "0"], ["0", "2"]], slope, "none", "squared", PLAIN)
    return problem, VectorNetwork(slope, False, [["0", "1"]], [["0"], ["1"]], None)


def first_pair(slope="1"):
    """One neuron on the first singular pair: F = 9/2."""
    return VectorNetwork(slope, False, [["7/5", "0"]], [["10/7"], ["0"]], None)


def both_pairs():
    """Two neurons whose objective is near 4, the optimum: sqrt(2) is 7/5 here, and 10/7."""
    return VectorNetwork("1", False, [["7/5", "0"], ["0", "1"]], [["10/7", "0"], ["0", "1"]], None)


def saddle_bound(problem):
    """4, by C = I, whose H has norm ||u||."""
    proof = Cells([Linear([])])
    return sealed_vector(problem, VectorBound([[0, ["1", "0"]], [1, ["0", "1"]]], "1", proof, "4"))


def three_units(goal="min-norm"):
    """Three orthonormal points with targets e_i, and a neuron for each: min-norm 3."""
    problem = VectorProblem(UNITS, UNITS, "0", "none", goal, PLAIN)
    return problem, VectorNetwork("0", False, UNITS, UNITS, None)


def units_cells():
    """All signs of three points; on each cell H is a part of u."""
    third = [2, Linear([]), Linear([])]
    second = [1, *third, *third]
    return Cells([0, *second, *second])


def units_bound(problem):
    """3, by C_i = e_i: ||H(u)||^2 is the sum of max(u_i, 0)^2."""
    listed = [[i, row] for i, row in enumerate(UNITS)]
    return sealed_vector(problem, VectorBound(listed, "1", units_cells(), "3"))


def tree_of(point, others):
    """A tree for c = (q > 0 at `point`, <= 0 at the others) on orthonormal points: h(u) <= q ||u||."""
    on = Bound(["e" if i == point else 0 for i in range(others + 1)])
    off = Bound([0] * (others + 1))
    return [point, on, off]


RATE = F(20, 49)
"""lambda_ik of the three classes: 6 lambda^2 is just below 1, where sqrt(6) = 6 lambda would be 1."""


def classes_bound(problem, rate=RATE):
    """6 lambda, the optimum being sqrt(6), by a fan of six directions in the plane of sum 0."""
    listed = [[i, [2 * rate if k == i else -rate for k in range(3)]] for i in range(3)]
    basis = [["1", "-1", "0"], ["0", "1", "-1"]]
    coordinates = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, -1)]
    ups = [0, 1, 1, 2, 0, 2]  # where the direction is positive
    directions = [
        Priced([F(p), F(q)], 3 * rate, rate.denominator * 3, tree_of(up, 2))
        for (p, q), up in zip(coordinates, ups, strict=True)
    ]
    orthants = [[[4, 0, 1], None, None], [None], [None], [[5, 0, 1], None, None]]
    return sealed_vector(problem, VectorBound(listed, "1", Fan(basis, directions, orthants), 6 * rate))


def optimal(problem, network, bound, tolerance):
    return sealed_vector(problem, VectorOptimalWithin(tolerance, bound), network)


def saddle_move_proof():
    """Towards the first pair."""
    return VectorNotLocal(Move([["1", "0"]], [["1"], ["0"]], None))


def step():
    """From (0, 0) at -1 to (24/5, 32/5) at 1 with free biases, and the network of least norm: 4."""
    problem = VectorProblem([["1"], ["-1"]], [["24/5", "32/5"], ["0", "0"]], "0", "free", "min-norm", PLAIN)
    return problem, VectorNetwork("0", True, [["2", "2"]], [["6/5"], ["8/5"]], None)


def step_bound(problem):
    """4, by C = +-(3, 4) / 10: along (3, 4) / 5 H is s(w + b) / 2 - s(b - w) / 2, at most w where w + b >= 0."""
    on, off = Bound(["e", "e"]), Bound([0, 0])
    fan = Fan(
        [["3/5", "4/5"]],
        [Priced(["1"], "1", 1, [0, on, off]), Priced(["-1"], "1", 1, [1, on, off])],
        [[None], [None]],
    )
    return sealed_vector(problem, VectorBound([[0, ["3/10", "2/5"]], [1, ["-3/10", "-2/5"]]], "1", fan, "4"))
