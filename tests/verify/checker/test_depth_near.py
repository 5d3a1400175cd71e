"""`deep-stationary-near`: what it proves, each condition of its check, its bounds, and points that are no optima."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, product
from math import prod
from operator import mul
from random import Random

import numpy as np
import pytest

from tests import second_checker
from tests.deep_starts import widest
from tests.depth_cases import CASES, Case, case, disturbed, near_vertex, parts, shape
from tests.second_checker.depth_near import steepest
from tests.second_checker.texts import RefusedError
from verify import Architecture, Bias, Goal, Network, Problem
from verify.checker.checking import Accepted, Refused, check
from verify.checker.copies import with_copies
from verify.checker.depth_ball import Ball, largest, norm_above
from verify.checker.depth_local import tangent_of, tie_gradients
from verify.checker.depth_near import NearPiece
from verify.checker.depth_states import gradient, matrices_of
from verify.checker.depth_stationary import Part
from verify.checker.errors import CertificateError
from verify.checker.exact import sqrt_upper, squared_norm
from verify.checker.questions import Question, Verdict
from verify.deciders.depth.local import factor_of, rounded_factor
from verify.deciders.depth.nearby import nearby
from verify.deciders.finding import decide
from verify.deciders.proposal import Proposal, sealed
from verify.problem.problem import outputs

F = Fraction
TINY = F(1, 10**9)


def decimals(rows):
    return [[F(str(z)) for z in row] for row in rows]


def trained(sizes, slope, weights, inputs, targets):
    """Networks of two digits that lie near local optima, as gradient descent left them."""
    return case(shape(sizes, [slope] * (len(sizes) - 2)), decimals(weights), decimals(inputs), targets)


TRAINED = {
    "kinks of two layers": lambda: trained(
        [2, 2, 2, 2, 1], "1/4",
        [[-0.71, -0.25, -0.13, -0.65], [0.0, 0.5, -0.75, -0.43], [-0.25, 0.85, 0.43, -0.17], [0.88, -0.47]],
        [[1.25, 0.78], [0.96, -1.08], [0.87, -0.17], [-0.19, 1.12]], [1, -1, 1, 1],
    ),
    "turned": lambda: trained(
        [2, 2, 2, 1], "1/4", [[0.53, -0.84, 0.07, -0.11], [0.86, 0.12, 0.49, 0.07], [0.87, 0.49]],
        [[-0.43, -1.13], [0.67, -1.11], [2.01, 0.92], [-0.36, 0.57]], [1, 1, 1, -1],
    ),
    "turned channels": lambda: case(
        Architecture.convolution(2, patches=2, channels=2, slope="1/5"),
        decimals([[0.39, -1.06, 0.2, -0.55], [0.41, -1.06, 0.21, -0.54]]),
        decimals([[-0.84, 0.19, -0.62], [-0.96, -2.15, -0.51], [-0.08, 0.21, -0.77]]), [-1, 1, -1],
    ),
    "an empty channel": lambda: case(
        Architecture.convolution(2, patches=3, channels=2),
        decimals([[0.58, -1.5, 0.0, 0.0], [1.12, 0.7, -0.92, 0.0, 0.0, 0.0]]),
        decimals([[-1.8, -0.7, -0.82, -1.49], [-1.53, 0.41, -1.06, -0.59], [-0.41, -1.43, -0.7, -1.17]]), [-1, 1, 1],
    ),
    "copies of a channel": lambda: case(
        Architecture.convolution(2, patches=3, channels=2),
        decimals([[0.348, -0.9, 0.464, -1.2], [0.672, 0.42, -0.552, 0.896, 0.56, -0.736]]),
        decimals([[-1.8, -0.7, -0.82, -1.49], [-1.53, 0.41, -1.06, -0.59], [-0.41, -1.43, -0.7, -1.17]]), [-1, 1, 1],
    ),
    "an empty unit of ReLU": lambda: trained(
        [2, 2, 2, 1], 0, [[-0.01, 0.0, -0.95, 0.31], [0.01, 1.0, 0.0, 0.0], [1.0, 0.0]],
        [[-1.74, -1.34], [-1.36, -0.35], [-2.31, -0.19], [-0.96, 0.89]], [1, 1, 1, 1],
    ),
}  # fmt: skip
DISTURBED = ("6 vertex", "7 worse vertex", "13 deep waste", "16 two of a kind", "19 chain")
VERTEX = "a vertex by hand"
COPIES = "copies of two layers"
NAMES = (*TRAINED, COPIES, *DISTURBED, VERTEX)


class Found:
    """A network with the certificate that is found, and with its ball enlarged, of which the theorem says most."""

    def __init__(self, problem, network, proof=None):
        self.problem, self.network = problem, network
        self.least = proof or nearby(problem, network)
        assert self.least is not None
        self.proof = self.least if proof else widest(problem, network, self.least, times=8)
        self.centre = Network(network.architecture, self.proof.centre)

    def told(self, **changed):
        """The place of what is refused, "" for what is accepted; the second checker says the same."""
        return told(self.problem, self.network, replace(self.proof, **changed))

    def pieces(self):
        proof = self.proof
        ball = Ball(self.centre, proof.radius, frozenset(proof.empty))
        least = min(y * ball.output(row) for row, y in zip(self.problem.rows, self.problem.targets, strict=True))
        return ball, least, [NearPiece(self.problem, ball, part, least) for part in proof.parts]


def with_copies_of_kinks():
    """A unit of each of the first two layers, at kinks, is given out to two."""
    made = TRAINED["kinks of two layers"]()
    numbers = [[[F(0)] * 3 for _ in range(3)] for _ in range(4)]
    for A, wider in zip(matrices_of(made.network), numbers, strict=True):
        for row, own in zip(A, wider, strict=False):
            own[: len(row)] = row
    rows, columns = (3, 3, 2, 1), (2, 3, 3, 2)
    wide = [[z for row in A[:r] for z in row[:c]] for A, r, c in zip(numbers, rows, columns, strict=True)]
    empty = Network(shape([2, 3, 3, 2, 1], [F(1, 4)] * 3), wide)
    ties = {(l, j) for part in found("kinks of two layers").proof.parts for l, j, _ in part.slopes}
    shares = [(l, j, k, F(c)) for l, j in sorted(ties) if l < 2 for k, c in ((j, "3/5"), (2, "4/5"))]
    given = with_copies(empty, {(0, 2), (1, 2)}, shares)
    return Case(Problem(made.problem.data, given.architecture, bias=Bias.NONE, goal=Goal.MAX_MARGIN), given)


@cache
def found(name):
    if name == COPIES:
        made = with_copies_of_kinks()
        return Found(made.problem, made.network)
    if name in TRAINED:
        made = TRAINED[name]()
        return Found(made.problem, made.network)
    if name == VERTEX:
        made = near_vertex()
        return Found(made.problem, made.network, made.proofs["near"])
    made = CASES[name]()
    return Found(made.problem, disturbed(made))


def told(problem, network, proof):
    proof = sealed(problem, network, proof)
    result = check(problem, network, proof)
    try:
        second_checker.check(problem.to_json(), network.to_json(), proof.to_json())
    except RefusedError as error:
        assert isinstance(result, Refused), f"the second checker refuses it: {error}"
    else:
        assert isinstance(result, Accepted), f"the second checker accepts it: {result}"
    return "" if isinstance(result, Accepted) else result.place


@pytest.mark.parametrize("name", NAMES)
def test_what_is_found_is_accepted(name):
    one = found(name)
    assert one.told() == told(one.problem, one.network, one.least) == ""
    is_local = one.proof.optimality == "local optimum"
    assert is_local is not bool(one.proof.empty)
    assert one.least.moved <= one.proof.moved < F(1, 7)
    assert one.least.moved < F(1, 10**6) or name in (*TRAINED, COPIES, VERTEX)
    answer = decide(Question.LOCAL_OPTIMUM, one.problem, one.network, Proposal(certificate=one.proof, reason=""), F(0))
    assert answer.verdict is (Verdict.PROVED if is_local else Verdict.UNDECIDED)
    assert answer.level == ("near" if is_local else None)


def test_the_kinks_and_rotations_that_are_tried():
    ties = {(l, j) for part in found("kinks of two layers").proof.parts for l, j, _ in part.slopes}
    assert {l for l, _ in ties} == {0, 1}, "of two layers, one above the other"
    assert {l for l, _, _ in found("turned").proof.rotations} == {0, 1}
    assert len(found("turned").proof.parts) < len(found("turned").problem.rows)
    assert found("an empty unit of ReLU").proof.empty


# ------------------------------------------------------------------------------------------------- what is refused


def test_the_problem():
    one = found("19 chain")
    problem = Problem(one.problem.data, one.problem.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    assert told(problem, one.network, one.proof) == "problem"
    wide = case(shape([1, 129, 1], [1]), [[1] + [0] * 128, [1] + [0] * 128], [[1]], [1])
    proof = replace(one.proof, centre=wide.network.parameters, parts=(), empty=(), rotations=())
    assert told(wide.problem, wide.network, proof) == "centre"


def test_the_centre():
    one = found("19 chain")
    assert one.told(centre=one.proof.centre[:2]) == "centre.parameters"
    assert one.told(centre=((F(1), F(1)), *one.proof.centre[1:])).startswith("centre")
    assert one.told(centre=((-one.proof.centre[0][0],), *one.proof.centre[1:])) == "centre", "fits no longer"
    flat = case(shape([2, 1, 1], [1]), [[1, 0], [1]], [[1, 0]], [1])
    biased = replace(one.proof, centre=((F(1), F(0)), (F(1),), (F(0),)), parts=parts(1))
    assert told(flat.problem, flat.network, biased) == "centre"


def test_a_linear_network_of_two_layers():
    """x = 1 and w = v = 1 by hand: L has the second derivative (1, -1; -1, 1), and (1, 1) counts rho / 4."""
    flat = case(shape([1, 1, 1], [1]), [[1], [1]], [["1"]], [1])
    proof = replace(
        found("19 chain").proof, centre=((F(1),), (F(1),)), parts=parts(1), rho=F(4), radius=F(1, 10), mu=F(1),
        rotations=(), empty=(), root=((1,), (0, 1)), bits=1, factor=F(1), moved=F(1, 10), optimality="local optimum",
    )  # fmt: skip
    assert Ball(flat.network, F(1, 10), frozenset()).third == 0
    assert told(flat.problem, flat.network, proof) == ""
    assert told(flat.problem, flat.network, replace(proof, mu=F(2))) == "root[0]"
    assert told(flat.problem, flat.network, replace(proof, rho=F(0))) == "root[0]", "along (1, 1) L is flat"
    assert told(flat.problem, flat.network, replace(proof, rho=F(100))) == "parts[0].multiplier"


@pytest.mark.parametrize("name", NAMES)
def test_numbers_that_may_not_be(name):
    one = found(name)
    assert one.told(radius=F(0)) == one.told(radius=-one.proof.radius) == one.told(mu=F(0)) == "radius"
    assert one.told(factor=F(0)) == one.told(factor=-one.proof.factor) == "factor"
    assert one.told(moved=F(0)) == "moved"
    assert one.told(factor=one.proof.factor * 2) == "moved"
    assert one.told(mu=one.proof.mu * 8).startswith("root")
    assert one.told(root=one.proof.root[:-1]) == "root"
    assert one.told(root=((one.proof.root[0][0] * 2,), *one.proof.root[1:])).startswith("root")
    assert one.told(bits=one.proof.bits - 1).startswith("root")
    assert one.told(parts=()) != ""
    for k in range(len(one.proof.parts)):
        raised = replace(one.proof.parts[k], multiplier=one.proof.parts[k].multiplier * 2)
        assert one.told(parts=(*one.proof.parts[:k], raised, *one.proof.parts[k + 1 :])) != ""


@pytest.mark.parametrize("name", NAMES)
def test_the_distance_is_to_where_the_norm_begins_to_rise(name):
    """However large the ball is: the point is much nearer to the centre than its edge, but not as near as one likes."""
    one = found(name)
    centre = with_copies(one.centre, one.proof.empty, one.proof.shares)
    scaled = [one.proof.factor * w for w in chain(*one.network.parameters)]
    apart = sqrt_upper(squared_norm(a - b for a, b in zip(scaled, chain(*centre.parameters), strict=True)))
    size = sqrt_upper(squared_norm(scaled))
    least = one.proof.moved
    while least > F(1, 10**30) and one.told(moved=least / 2) == "":
        least /= 2
    assert one.told(moved=least) == ""
    assert least * size > apart
    assert least <= F(1, 10**30) or one.told(moved=least / 2) == "moved"
    assert least * size - apart < one.proof.radius + apart + F(1, 10**6)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_within_the_clearance_is_smaller(name):
    """Random networks there with the margin of the centre, scaled to it where theirs is smaller."""
    one, random = found(name), np.random.default_rng(0)
    clearance = one.least.clearance(one.network)
    assert (clearance > 0) == (one.least.optimality == "local optimum" and one.least.radius > 0)
    norm = float(sqrt_upper(squared_norm(chain(*one.least.centre))))
    assert clearance * F(norm) <= one.least.radius * F("1.000001")
    centre = np.array([float(w) for w in chain(*one.least.centre)])
    sizes = [len(row) for row in one.least.centre]
    for _ in range(20 if clearance else 0):
        away = random.normal(size=len(centre))
        near = centre + away / np.linalg.norm(away) * float(clearance) * norm * random.random()
        other = Network(one.network.architecture, [map(F, row) for row in np.split(near, np.cumsum(sizes)[:-1])])
        margins = [
            min(y * f for y, f in zip(one.problem.targets, outputs(one.problem, net), strict=True))
            for net in (other, Network(one.network.architecture, one.least.centre))
        ]
        if margins[0] >= margins[1]:  # the optimum is no larger than the centre, and hardly smaller
            assert np.linalg.norm(near) >= norm * (1 - 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_balls_that_are_too_large_or_too_small(name):
    """So large that units change, or the norm may fall; so small that the distance to the optimum may be more."""
    one = found(name)
    assert one.told(radius=one.proof.radius * 64, moved=F(10)) != ""
    assert one.told(radius=F(1, 2**60)) in ({"radius"} if name in TRAINED else {"radius", ""}), "a rational one"
    (w, *others), *above = one.proof.centre
    away = ((w + F(1, 50), *others), *above)
    assert one.told(centre=away, radius=one.least.radius if name != VERTEX else F(1, 2**20), moved=F(10)) != ""


def test_optimality():
    empty = found(VERTEX)
    assert empty.told(optimality="local optimum") == "empty"
    full = found("19 chain")
    assert full.told(optimality="stationary point") == "", "that is less"
    less = sealed(full.problem, full.network, replace(full.proof, optimality="stationary point"))
    answer = decide(Question.LOCAL_OPTIMUM, full.problem, full.network, Proposal(certificate=less, reason=""), F(0))
    assert answer.verdict is Verdict.UNDECIDED


def test_parts():
    one = found("kinks of two layers")
    own = one.proof.parts
    assert len(own) > 1
    assert one.told(parts=own[::-1]) == one.told(parts=(own[0], *own)) == "parts"
    assert one.told(parts=(*own, Part(9, F(1), ()))) == "parts"
    assert one.told(parts=(*own[:-1], replace(own[-1], multiplier=-own[-1].multiplier))) == f"parts[{len(own) - 1}]"
    assert one.told(parts=(*own[:-1], replace(own[-1], direction=one.proof.centre))) == f"parts[{len(own) - 1}]"
    assert one.told(parts=own[1:]) != ""


def test_slopes():
    one = found("kinks of two layers")
    (k,) = [k for k, part in enumerate(one.proof.parts) if part.slopes]
    part = one.proof.parts[k]

    def with_slopes(*slopes, multiplier=part.multiplier):
        own = replace(part, slopes=slopes, multiplier=multiplier)
        return one.told(parts=(*one.proof.parts[:k], own, *one.proof.parts[k + 1 :]))

    (low, high), place = part.slopes, f"parts[{k}].slopes"
    assert with_slopes(low) == with_slopes(high) == with_slopes() == place, "a tie left out"
    for slope in (F(1, 4) - F(1, 100), F(11, 10), F(0), F(-1)):
        assert with_slopes((*low[:2], slope), high) == place
    assert with_slopes((*low[:2], F(1, 4)), high) != "", "another gradient"
    assert with_slopes((*low[:2], low[2] + F(1, 50)), high) != ""
    assert with_slopes(low, high, (3, 0, F(1, 2))) == with_slopes(low, high, (9, 0, F(1, 2))) == place
    with pytest.raises(CertificateError):
        with_slopes(high, low)
    with pytest.raises(CertificateError):
        with_slopes(low, low, high)
    linear = found("7 worse vertex")
    given = (replace(linear.proof.parts[0], slopes=((0, 0, F(1)),)),)
    assert linear.told(parts=given) == "parts[0].slopes", "no kink at slope 1"


def test_a_unit_whose_gain_is_above_0_is_no_tie():
    """The unit raises the margin of its point: at no slope below 1 is it concave there."""
    one = found("19 chain")
    part = one.proof.parts[0]
    for slope in (F(1, 2), F(3, 4), F(1)):
        assert one.told(parts=(replace(part, slopes=((0, 0, slope),)),)) == "parts[0].slopes"


def test_gains_and_multipliers_that_do_not_pay():
    one = found("kinks of two layers")
    assert one.told(rho=one.proof.rho * 10**6).startswith("parts[")
    _, _, pieces = one.pieces()
    (piece,) = [piece for piece in pieces if piece.ties]
    with pytest.raises(CertificateError, match="is too small for what the gradient costs"):
        piece.paid(one.proof.rho * 10**6)
    piece.size, piece.third = F(0), F(0)
    piece.gains = dict.fromkeys(piece.gains, F(1, 10**9))
    with pytest.raises(CertificateError, match="whose gain is too small for what its kink costs"):
        piece.paid(one.proof.rho)
    small = found(VERTEX)
    assert small.told(rho=small.proof.rho * 10**6) == "parts[0].multiplier"


def test_empty_units():
    one = found(VERTEX)
    assert one.proof.empty == ((0, 1), (1, 1))
    assert one.told(empty=((0, 1), (1, 1), (2, 0))) == one.told(empty=((0, 1), (0, 2), (1, 1))) == "empty"
    assert one.told(empty=((0, 0), (0, 1), (1, 1))) == "empty", "a parameter that is not 0"
    assert one.told(empty=((0, 1),)) != "", "the matrix has more rows"
    assert one.told(empty=()) != ""
    centre = [list(layer) for layer in one.proof.centre]
    centre[0][1] = F(1, 10**9)
    assert one.told(centre=tuple(map(tuple, centre))) == "empty"
    relu = found("an empty unit of ReLU")
    unit = relu.proof.empty[0]
    own = (replace(relu.proof.parts[0], slopes=((*unit, F(1, 2)),)), *relu.proof.parts[1:])
    assert relu.told(parts=own) == "parts[0].slopes", "an empty unit is at no kink"
    pooled = case(shape([2, 2, 1], [1], [None, [[0, 0]]]), [[0, 0, 0, 0], [0]], [[1, 0]], [1])
    shared = case(shape([2, 2, 1], [1], [None, [[0, 0]]]), [[1, 0, 0, 0], [1]], [[1, 0]], [1])
    proof = replace(one.proof, centre=shared.network.parameters, empty=((0, 1),))
    assert told(shared.problem, shared.network, proof) == "empty", "the weight of the other unit"
    proof = replace(one.proof, centre=pooled.network.parameters, empty=((0, 0), (0, 1)))
    assert told(shared.problem, shared.network, proof) == "centre", "all units empty: nothing fits"


def test_an_empty_unit_that_shares_a_weight_holds_nothing():
    """w_1 of the unit in use, which x = (1, 1) pulls at, stands at a place of the other unit too: no KKT point."""
    shared = case(shape([2, 2, 1], [1], [[[0, 1], [1, 2]], None]), [[1, 0, 0], [1, 0]], [[1, 1]], [1])
    alone = case(shape([2, 2, 1], [1], [[[0, None], [1, 2]], None]), [[1, 0, 0], [1, 0]], [[1, 1]], [1])
    proof = replace(
        found("19 chain").proof, centre=shared.network.parameters, parts=parts(1), rho=F(4), radius=F(1, 10), mu=F(1),
        rotations=(), empty=((0, 1),), root=((1,), (0, 1)), bits=1, factor=F(1), moved=F(1, 10),
        optimality="stationary point",
    )  # fmt: skip
    assert told(shared.problem, shared.network, proof) == "empty"
    assert told(alone.problem, alone.network, proof) == "", "with a weight of its own it is one"


def test_rotations():
    one = found("turned")
    assert one.told(rotations=one.proof.rotations[1:]).startswith("root")
    assert one.told(rotations=((0, 1, 0),)) == "rotations[0]"
    assert one.told(rotations=(*one.proof.rotations, (2, 0, 1))) == f"rotations[{len(one.proof.rotations)}]"
    far = [[w + F(1, 100) * (k == 0) for k, w in enumerate(layer)] for layer in one.proof.centre]
    assert one.told(centre=tuple(map(tuple, far))) != ""
    kinks = found("kinks of two layers")
    (tie, *_) = next(part.slopes for part in kinks.proof.parts if part.slopes)
    assert kinks.told(rotations=((tie[0], 0, 1),)) == "rotations[0]", "of a unit near a kink"
    apart = {k for piece in kinks.pieces()[2] for k in range(3) if len({*piece.piece.slopes[k]}) > 1}
    free = sorted(apart - {l for piece in kinks.pieces()[2] for l, _ in piece.ties})
    for l in free:
        assert kinks.told(rotations=((l, 0, 1),)) == "rotations[0]", "slopes that differ"
    assert free
    vertex = found(VERTEX)
    assert vertex.told(rotations=((0, 0, 1),)) == "rotations[0]", "of an empty one"


def test_channels_are_turned_as_a_whole():
    """Two channels with a kink at the second patch, which the rotation of their units of the first one turns too."""
    one = found("turned channels")
    assert one.proof.rotations == ((0, 0, 2),)
    assert one.told(rotations=((0, 1, 3),)) == "", "the same"
    assert one.told(rotations=()).startswith("root")
    assert {(0, 3), (0, 4), (0, 5)} == {*found("an empty channel").proof.empty}
    patches = shape(
        [4, 4, 1], [0], [[[0, 1, None, None], [None, None, 0, 1], [2, 3, None, None], [None, None, 2, 3]], None]
    )
    pair = case(patches, decimals([[3, 0, 4, 0], [3, -3, 4, -4]]), [[1, 0, 0, 1]], [1])
    for slopes in (("1/2", "1/2"), ("1/2", "1/3")):
        own = tuple((0, j, F(g)) for j, g in zip((1, 3), slopes, strict=True))
        proof = replace(one.proof, centre=pair.network.parameters, parts=(Part(0, F(1), own),), radius=F(1, 2**20))
        assert told(pair.problem, pair.network, proof) == "rotations[0]"
        assert told(pair.problem, pair.network, replace(proof, rotations=())).startswith("root")


@pytest.mark.parametrize("name", ["copies of a channel", COPIES])
def test_copies_are_given_out_again(name):
    one = found(name)
    shares = one.proof.shares
    assert {l for l, *_ in shares} == ({0} if "channel" in name else {0, 1})
    assert {(l, k) for l, j, k, _ in shares if j != k} <= {*one.proof.empty}
    assert {(l, j) for l, j, _, _ in shares} & {(l, j) for part in one.proof.parts for l, j, _ in part.slopes}
    assert one.told(shares=()) == "moved"
    assert one.told(shares=shares[:-1]) == "shares"
    assert one.told(shares=((*shares[0][:-1], shares[0][-1] + 1), *shares[1:])) == "shares"
    l, unit, _, _ = shares[0]
    own = tuple(
        (l, unit, k, F(c))
        for k, c in zip(sorted({k for _, j, k, _ in shares if j == unit}), ("4/5", "3/5"), strict=False)
    )
    assert one.told(shares=tuple(sorted((*own, *shares[2:])))) == "moved", "by other numbers"
    with pytest.raises(CertificateError):
        replace(one.proof, shares=shares[::-1])


def test_turned_units_ask_the_other_points_to_keep_their_margins():
    """A point without a multiplier that is at the margin itself may lose it by a turn; without turns it may not."""
    one = found("turned")
    active = one.proof.parts[0].point
    data = [*zip(one.problem.inputs, one.problem.targets, strict=True)]
    data.append((tuple(x * F(10001, 10000) for x in data[active][0]), data[active][1]))
    beside = case(one.problem.architecture, one.network.parameters, [x for x, _ in data], [y for _, y in data])
    assert told(beside.problem, beside.network, one.proof) == "rotations"
    chain_ = found("19 chain")
    twice = case(chain_.problem.architecture, chain_.network.parameters, [["1"], ["10001/10000"]], [1, 1])
    assert told(twice.problem, twice.network, chain_.proof) == ""


# ------------------------------------------------------------------------------------------------- no optima


@pytest.mark.parametrize("name", [name for name, made in CASES.items() if "curve" in made().proofs])
@pytest.mark.parametrize("size", [F(0), TINY, F(1, 1000)])
def test_nothing_is_said_to_be_a_local_optimum_near_what_is_none(name, size):
    made = CASES[name]()
    network = disturbed(made, size, seed=1)
    proof = nearby(made.problem, network)
    assert proof is None or proof.optimality == "stationary point" or proof.moved > F(1, 10)


def test_a_saddle_is_never_accepted():
    """5: whatever the weight of the squares, the matrix, and the radius."""
    made, vertex = CASES["5 diagonal of ones"](), found("7 worse vertex").proof
    identity = tuple(tuple(int(r == c) for c in range(r + 1)) for r in range(6))
    for rho, mu, bits, radius in product((0, 1, 100, 10**4), (F(1, 100), F(1, 2)), (0, 4, 9), (F(1, 10**6), F(1, 100))):
        proof = replace(
            vertex, centre=made.network.parameters, empty=(), optimality="stationary point", parts=parts(1),
            rho=F(rho), mu=mu, root=tuple(tuple(2**bits * z // 2 for z in row) for row in identity), bits=bits,
            radius=radius, factor=F(1), moved=F(1),
        )  # fmt: skip
        assert told(made.problem, made.network, proof).startswith(("root", "parts[0].multiplier"))


# ------------------------------------------------------------------------------------------------- oracles


def evaluated(network, row, slopes=None):
    """For each layer its preactivations; with slopes, or as they are."""
    h, values = list(row), []
    for l, (layer, own) in enumerate(zip(network.architecture.layers, network.parameters, strict=True)):
        z = [sum((own[i] * h[c] for c, i in enumerate(places) if i is not None), F(0)) for places in layer.places]
        values.append(z)
        if layer.slope is not None:
            h = [slopes[l][j] * v if slopes else max(v, layer.slope * v) for j, v in enumerate(z)]
    return values


def within(network, radius, random, held=()):
    """(d, network + d) of a network within the radius, exactly."""
    size = sum(map(len, network.parameters))
    d = random.normal(size=size) * (random.random(size) < random.choice([0.3, 1.0]))
    d[list(held)] = 0
    d = d / max(np.linalg.norm(d), 1e-300) * random.choice([1.0, 0.9, 0.1]) * (1 - 1e-12) * float(radius)
    d = [F(float(z)) for z in d]
    numbers = iter(map(sum, zip(chain(*network.parameters), d, strict=True)))
    return d, Network(network.architecture, [[next(numbers) for _ in layer] for layer in network.parameters])


def random_piece(random, sizes, slope, entries=None):
    """A point, a ball, and ties with gains below 0, near a kink or not; None where some are not."""
    layers = shape(sizes, [slope] * (len(sizes) - 2), entries)
    weights = [[F(int(z), 16) for z in random.integers(-16, 17, size=own.parameter_count)] for own in layers.layers]
    made = case(layers, weights, [[int(z) for z in random.integers(-3, 4, size=sizes[0])]], [1])
    ball = Ball(made.network, F(1, int(2 ** random.integers(7, 12))), frozenset())
    units = [(l, j) for l, size in enumerate(sizes[1:-1]) for j in range(size) if random.random() < 0.3]
    slopes = tuple((l, j, F(int(random.integers(3, 8)), 8)) for l, j in units)
    try:
        return made, ball, NearPiece(made.problem, ball, Part(0, F(1), slopes), F(0))
    except CertificateError:
        return None


SHARED = [[[0, 1], [1, 0]], [[0, 1], [2, 0]], [[0, 1], [1, 2]], None, None]


@pytest.mark.parametrize(
    ("sizes", "slope", "entries"),
    [([2, 2, 2, 2, 2, 1], "1/4", None), ([2, 3, 2, 1], 0, None), ([2, 2, 2, 2, 2, 1], "1/8", SHARED)],
)
def test_the_bounds_hold_on_the_ball(sizes, slope, entries):
    """In exact numbers, at random networks: changes, gains, what z^g is at most, and how far it is from linear."""
    random, tried, distances = np.random.default_rng(5), 0, set()
    for _ in range(400):
        made = random_piece(random, sizes, slope, entries)
        if made is None or not made[2].ties:
            continue
        for _ in range(3):
            distances |= judge_bounds(*made, *within(made[0].network, made[1].radius, random))
            tried += 1
    assert tried > 40
    assert distances >= {0, *range(1, len(sizes) - 2)}, "ties of each distance between layers"


def test_the_error_of_a_linearised_preactivation():
    """z = w_1 w_0 of a chain, w_0 = 1: where it ends at 0 it was w_1, and at w_1 = 0 it bends by d_0 d_1."""
    r = F(1, 16)
    for w, d, beyond in ((r / 2, (F(0), -r / 2), r / 2), (F(0), (-r * F(7, 10), r * F(7, 10)), (r * F(7, 10)) ** 2)):
        made = case(shape([1, 1, 1, 1], ["1/4"] * 2), [[1], [w], [-1]], [[1]], [1])
        piece = NearPiece(made.problem, Ball(made.network, r, frozenset()), Part(0, F(1), ((1, 0, F(1, 2)),)), F(0))
        ((tie, slopes),) = tie_gradients(made.network, piece.piece)
        along, there = slopes[0] * d[0] + slopes[1] * d[1], (1 + d[0]) * (w + d[1])
        assert abs(along) - abs(there) == beyond
        assert beyond <= piece._error(tie)


@pytest.mark.parametrize(("w", "slope", "stays"), [("-1/100", 0, False), ("-1/5", 0, True), ("-1/5", "1/4", False)])
def test_only_units_of_relu_that_stay_off_give_no_change(w, slope, stays):
    """At x = 1 the first unit of a chain is off by less than the radius 1/10, or by more; of a leaky one it moves."""
    made = case(shape([1, 1, 1, 1], [slope] * 2), [[w], [1], [1]], [[1]], [1])
    ball = Ball(made.network, F(1, 10), frozenset())
    other = Network(made.network.architecture, [[F(w) + F(1, 10)], [1], [1]])
    moves = abs(evaluated(other, made.problem.rows[0])[1][0] - evaluated(made.network, made.problem.rows[0])[1][0])
    change = ball.changes(made.problem.rows[0])[1][0]
    assert change >= moves
    assert (moves == 0) is (change == 0) is stays


def test_how_far_what_a_tie_gives_reaches():
    """Along a chain with positive preactivations: the product of the weights above it."""
    weights = [1, 4, 3, F(1, 5), 7, 1]
    made = case(shape([1] * 7, ["1/4"] * 5), [[w] for w in weights], [[1]], [1])
    piece = NearPiece(made.problem, Ball(made.network, F(1, 2**20), frozenset()), Part(0, F(1), ()), F(0))
    for low, high in combinations(range(5), 2):
        reach = piece._reach((low, 0), (high, 0))
        assert 1 < reach / prod(weights[low + 1 : high + 1]) < F(10001, 10000)


def test_what_linearisation_costs_at_a_chain_of_ones():
    """q = w_0 w_1 w_2: the derivative is paid by r_i = q - m_0 up to e = |q - m_0| + (m - 1) / 2 r^2 n."""
    made, r, least, rho = case(shape([1, 1, 1, 1], [1, 1]), [[1]] * 3, [[1]], [1]), F(1, 64), F(99, 100), F(1)
    piece = NearPiece(made.problem, Ball(made.network, r, frozenset()), Part(0, F(1), ()), least)
    error = F(1, 100) + r**2 * (1 + r)
    assert piece.paid(rho) == F(1, 4) * error**2 / 2
    for d in ((-r / 2, r / 2, r / 4), (-r / 2, -r / 2, r / 2), (-r / 3,) * 3, (r / 2, r / 3, -r / 3)):
        rises = (1 + d[0]) * (1 + d[1]) * (1 + d[2]) - least
        assert rises < 0 or abs(sum(d)) <= rises + error
    assert abs(piece.third - 6 * (1 + F(0)) / F(3 * 3**0.5)) < F(1, 10**6), "6 binom(3, 3) 3^(-3/2)"


def test_the_costs_count(monkeypatch):
    one = found(VERTEX)
    assert one.told() == ""
    monkeypatch.setattr(NearPiece, "paid", lambda *_: F(1))
    proof = sealed(one.problem, one.network, one.proof)
    assert check(one.problem, one.network, proof).place == "radius"
    monkeypatch.undo()
    assert one.told() == ""
    monkeypatch.setattr(Ball, "third", F(10**6))
    assert check(one.problem, one.network, proof).place == "radius", "third derivatives"


def test_a_point_of_a_larger_margin_costs_what_its_multiplier_is_worth():
    """Two points at 1 and 101/100 pull together as one at 1 does."""
    made = case(shape([1, 1, 1, 1], [1, 1]), [[1]] * 3, [["1"], ["101/100"]], [1, 1])
    own = parts("99/200", "1/2")
    matrix = np.eye(3) / 2 + (2.0201 - 1) * np.ones((3, 3))
    root = rounded_factor(*factor_of(matrix))
    proof = replace(found("19 chain").proof, parts=own, root=root, bits=factor_of(matrix)[1], rho=F(4), mu=F(3, 2),
                    centre=((F(1),),) * 3, radius=F(1, 64), factor=F(1), moved=F(1, 10))  # fmt: skip
    assert told(made.problem, made.network, proof) == "radius"
    alone = replace(proof, parts=parts(1), root=((1,), (0, 1), (0, 0, 1)), bits=1)
    assert told(made.problem, made.network, alone) == "", "the other point needs no multiplier"


def judge_bounds(made, ball, piece, d, other):
    """Between how many layers ties are looked at that are above one another."""
    slopes, row, seen = piece.piece.slopes, made.problem.rows[0], set()
    values, fixed = evaluated(other, row), evaluated(other, row, slopes)
    for ends in zip(evaluated(made.network, row), values, ball.changes(row), strict=True):
        assert all(abs(p - q) <= change for p, q, change in zip(*ends, strict=True))
    delta = {
        (l, j): max(values[l][j], made.problem.architecture.layers[l].slope * values[l][j]) - g * values[l][j]
        for (l, j), g in piece.ties.items()
    }
    gained = sum((piece.gains[tie] * delta[tie] for tie in piece.ties), F(0))
    assert fixed[-1][0] - values[-1][0] >= gained >= 0
    for tie, gradient_ in tie_gradients(made.network, piece.piece):
        shares, reach = piece._shares(tie)
        seen |= {tie[0] - one[0] for one in shares}
        paid = sum((share * delta[one] for one, share in shares.items()), F(0))
        assert abs(fixed[tie[0]][tie[1]]) <= paid <= reach
        along = sum(map(mul, gradient_, d), F(0))
        assert abs(along) <= abs(fixed[tie[0]][tie[1]]) + piece._error(tie)
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_what_the_squares_cost_is_paid(name):
    """At networks of the ball that keep the margin: the squares of the derivatives, and linearisation itself."""
    one, random, tried = found(name), np.random.default_rng(1), 0
    ball, least, pieces = one.pieces()
    rho = one.proof.rho
    for piece in pieces:
        own = list(chain(*gradient(one.centre, piece.piece.state, piece.piece.slopes)))
        weight = _weight(own, rho)
        for _ in range(40):
            d, other = within(one.centre, ball.radius, random)
            if _margins(one, other)[piece.part.point] < least:
                continue
            r = piece.target * evaluated(other, piece.row, piece.piece.slopes)[-1][0] - least
            along = sum(map(mul, own, d), F(0))
            assert weight * along**2 / 2 <= piece.part.multiplier * r / 2 + piece.paid(rho)
            tried += 1
    assert tried > 10


def _weight(row, rho):
    size, power = squared_norm(row), F(1)
    while power < size:
        power *= 4
    while power / 4 >= size:
        power /= 4
    return rho / power


def _margins(one, network):
    return [y * evaluated(network, row)[-1][0] for row, y in zip(one.problem.rows, one.problem.targets, strict=True)]


class Floating:
    """The same network in floats, for searches."""

    def __init__(self, one):
        self.layers = one.problem.architecture.layers
        self.rows = np.array([[float(x) for x in row] for row in one.problem.rows])
        self.targets = np.array([float(y) for y in one.problem.targets])

    def margin(self, theta):
        at, values = 0, self.rows
        for layer in self.layers:
            own = theta[at : at + layer.parameter_count]
            at += layer.parameter_count
            matrix = np.array([[0.0 if i is None else own[i] for i in row] for row in layer.places])
            values = values @ matrix.T
            if layer.slope is not None:
                values = np.where(values > 0, values, float(layer.slope) * values)
        return (values[:, 0] * self.targets).min()


def least_rise(one, distance):
    """By how much 1/2 ||.||^2 rises at least, by the theorem, for a d of this length orthogonal to the tangents."""
    ball, least, pieces = one.pieces()
    proof = one.proof
    held = _held_numbers(one)
    rest = list(chain(*proof.centre))
    for piece in pieces:
        own = chain(*gradient(one.centre, piece.piece.state, piece.piece.slopes))
        rest = [z - piece.piece.c * h for z, h in zip(rest, own, strict=True)]
    epsilon = float(sqrt_upper(squared_norm([z for k, z in enumerate(rest) if k not in held])))
    third = float(sum((piece.part.multiplier * piece.third for piece in pieces), F(0)))
    cost = float(sum((piece.paid(proof.rho) + piece.part.multiplier * (piece.value - least) for piece in pieces), F(0)))
    return (float(proof.mu) - third * float(ball.radius) / 3) * distance**2 / 2 - epsilon * distance - cost


def _held_numbers(one):
    held, start, empty = set(), 0, {*one.proof.empty}
    for l, layer in enumerate(one.problem.architecture.layers):
        for r, row in enumerate(layer.places):
            held |= {start + i for c, i in enumerate(row) if i is not None and {(l, r), (l - 1, c)} & empty}
        start += layer.parameter_count
    return held


@pytest.mark.parametrize("name", NAMES)
def test_no_network_of_the_ball_is_smaller_than_the_theorem_allows(name):
    """At random directions, along the tangents of the margins too, scaled to the margin, and after a short descent."""
    one, random = found(name), np.random.default_rng(2)
    floating, radius = Floating(one), float(one.proof.radius)
    theta = np.array([float(z) for z in chain(*one.proof.centre)])
    margin, depth = floating.margin(theta), len(floating.layers)
    pieces = [piece.piece for piece in one.pieces()[2]]
    turns = [tangent_of(one.centre, pieces, rotation) for rotation in one.proof.rotations]
    pulls = [list(chain(*gradient(one.centre, piece.state, piece.slopes))) for piece in pieces]
    keep = np.array([float(k not in _held_numbers(one)) for k in range(len(theta))])

    def cleared(d, rows):
        rows = np.array([[float(z) for z in row] for row in rows]).reshape(-1, len(theta)) * keep
        return d * keep - np.linalg.pinv(rows) @ (rows @ (d * keep)) if len(rows) else d * keep

    def judged(d):
        """The network of the margin along theta + d, if it is in the ball: whether it obeys, and its rise."""
        other = theta + d
        here = floating.margin(other)
        if here <= 0:
            return None
        other = other * (margin / here) ** (1 / depth)
        distance = np.linalg.norm(other - theta)
        if distance > radius:
            return None
        rise = (other @ other - theta @ theta) / 2
        assert rise >= least(distance) - 1e-12
        return other - theta, rise

    bend, floor = least_rise(one, 1.0), least_rise(one, 0.0)
    slope = (least_rise(one, 2.0) - 4 * bend + 3 * floor) / -2  # -epsilon, as it is quadratic

    def least(distance):
        return floor + slope * distance + (bend - floor - slope) * distance**2

    assert abs(least(0.5) - least_rise(one, 0.5)) < 1e-9
    assert least(radius) > 0, "on the edge"
    seen = 0
    for k in range(60):
        d = cleared(random.normal(size=theta.shape), [*turns, *(pulls if k % 2 else [])])
        d = d / np.linalg.norm(d) * radius * random.choice([0.99, 0.5, 0.05])
        at = judged(d)
        seen += at is not None
        for _ in range(20 if at is not None and k % 6 == 1 else 0):
            step = cleared(random.normal(size=theta.shape), [*turns, *pulls])
            trial = judged(at[0] + step / np.linalg.norm(step) * radius * random.choice([0.3, 0.03]))
            at = trial if trial is not None and trial[1] < at[1] else at
    assert seen > 5


def test_largest_and_norms():
    random = Random(3)
    for _ in range(50):
        count, k = random.randint(1, 6), random.randint(2, 3)
        norms, roots = ([F(random.randint(1, 20), 7) for _ in range(count)] for _ in range(2))
        assert largest(norms, roots, k) == steepest(norms, roots, k)
    assert largest([F(2), F(3)], [F(1), F(1)], 3) == 0
    for _ in range(20):
        matrix = [[F(random.randint(-9, 9), 4) for _ in range(3)] for _ in range(random.randint(1, 4))]
        top = np.linalg.norm(np.array(matrix, dtype=float), 2)
        assert top <= float(norm_above(matrix)) * (1 + 1e-12)
