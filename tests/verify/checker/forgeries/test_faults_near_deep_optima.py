"""Rows 97 to 100 of docs/certificates.md, "Faults that must be refused": local optima near a network of any depth."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.depth_cases import beside, case, deep_waste, diagonal_of_ones, near_vertex, parts, shape
from tests.forging import accepted, refused
from tests.verify.checker.test_depth_near import found
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.depth_stationary import Part
from verify.checker.errors import CertificateError

F = Fraction
ONES = ((F(1),),) * 3


def chain(slope=1, weight="1001/1000", points=((1,),)):
    """Weights beside 1, where q = 1; along scaled weights of another product the norm falls."""
    return case(shape([1, 1, 1, 1], [slope] * 2), [[weight]] * 3, points, [1] * len(points))


def proof(**changed):
    """1/2 the unit matrix is left of M at rho = 4 and mu = 3/2."""
    numbers = {
        "moved": F(1, 50), "factor": F(1), "optimality": "local optimum", "centre": ONES, "radius": F(1, 64),
        "empty": (), "parts": parts(1), "rotations": (), "rho": F(4), "mu": F(3, 2),
        "root": ((1,), (0, 1), (0, 0, 1)), "bits": 1,
    }  # fmt: skip
    return DeepStationaryNear(**(numbers | changed))


# ------------------------------------------------------------------------------------------------- the ball


def test_97_the_example_is_accepted():
    made = chain()
    accepted(made.problem, made.network, proof())
    accepted(made.problem, made.network, proof(radius=F(1, 2**40), moved=F(1, 999)))


def test_97_balls():
    """Off the balanced weights the optimum of the margin is farther away than the ball reaches."""
    made, off = chain(), ((F(101, 100),), (F(1),), (F(1),))
    for radius in (F(1, 10**4), F(1, 500)):  # it is about 1/120 away
        refused(made.problem, made.network, proof(centre=off, radius=radius, moved=F(1, 10)), "radius")
    refused(made.problem, made.network, proof(radius=F(1)), "parts[0].multiplier")
    refused(made.problem, made.network, proof(radius=F(2), rho=F(0)), "root[0]")
    refused(made.problem, made.network, proof(radius=F(0)), "radius")
    refused(made.problem, made.network, proof(radius=F(-1, 64)), "radius")


def test_97_distances():
    """The optimum (1, 1, 1) is at 1 / 1001 of the norm."""
    made = chain()
    for moved in (F(0), F(1, 2000), F(1, 1002)):
        refused(made.problem, made.network, proof(radius=F(1, 2**40), moved=moved), "moved")
    refused(made.problem, made.network, proof(factor=F(2)), "moved")
    refused(made.problem, made.network, proof(factor=F(-1)), "factor")
    accepted(made.problem, made.network, proof(radius=F(1, 2**40), factor=F(1000, 1001), moved=F(1, 10**9)))


def test_97_what_is_said_of_the_matrix():
    made = chain()
    for changed in ({"mu": F(2)}, {"root": ((2,), (0, 1), (0, 0, 1))}, {"rho": F(0)}, {"rho": F(1)}, {"bits": 0}):
        refused(made.problem, made.network, proof(**changed), "root[0]")
    refused(made.problem, made.network, proof(mu=F(0)), "radius")
    refused(made.problem, made.network, proof(root=((1,), (0, 1))), "root")
    refused(made.problem, made.network, proof(rho=F(400)), "parts[0].multiplier")


def test_97_no_multipliers_that_are_those_of_the_centre():
    made = chain()
    for value in ("101/100", "9/10"):  # M is definite, and the norm falls on one side
        refused(made.problem, made.network, proof(parts=parts(value), mu=F(5, 4)), "radius")
    refused(made.problem, made.network, proof(parts=()), "root[0]")
    wide = chain(points=((1,), (2,)))
    refused(wide.problem, wide.network, proof(parts=parts(1, "1/1000")), "parts[1].multiplier")


def test_97_a_saddle():
    """5: M is not definite, with whatever squares."""
    made = diagonal_of_ones()
    for rho in (F(0), F(8), F(100)):
        root = tuple(tuple(int(r == c) for c in range(r + 1)) for r in range(6))
        small = proof(centre=made.network.parameters, radius=F(1, 1000), rho=rho, mu=F(1, 100), root=root, bits=4)
        refused(made.problem, made.network, small, "root[0]")


# ------------------------------------------------------------------------------------------------- kinks


KINKS = "kinks of two layers"


def with_slopes(one, slopes, **changed):
    """The proof with other slopes at the point that has kinks."""
    own = [replace(part, slopes=tuple(slopes), **changed) if part.slopes else part for part in one.proof.parts]
    return replace(one.proof, parts=tuple(own))


def test_98_kinks():
    one = found(KINKS)
    (k,) = [k for k, part in enumerate(one.proof.parts) if part.slopes]
    low, high = one.proof.parts[k].slopes
    for slopes in ((low,), (high,), ()):
        refused(one.problem, one.network, with_slopes(one, slopes), f"parts[{k}].slopes")
    for g in (F(1, 4) - F(1, 10**9), 1 + F(1, 10**9), F(0), F(-1, 4)):
        refused(one.problem, one.network, with_slopes(one, (low, (*high[:2], g))), f"parts[{k}].slopes")
    refused(one.problem, one.network, with_slopes(one, (low, high, (3, 0, F(1)))), f"parts[{k}].slopes")
    with pytest.raises(CertificateError):
        with_slopes(one, (high, low))
    with pytest.raises(CertificateError):
        with_slopes(one, (low, low, high))


def test_98_gains_above_0():
    """A unit that helps its point has a convex kink: taken for a tie of any slope it is refused."""
    leaky = chain("1/2")
    accepted(leaky.problem, leaky.network, proof())
    for l, g in ((0, F(1)), (1, F(1)), (0, F(3, 4))):
        refused(leaky.problem, leaky.network, proof(parts=(Part(0, F(1), ((l, 0, g),)),)), "parts[0].slopes")


def test_98_a_unit_that_changes_its_side_in_the_ball():
    """Off at a distance of 1/10, and in the ball on."""
    made = case(shape([1, 2, 1, 1], ["1/2", 1]), [[1, "-1/100"], [1, "-1/100"], [1]], [[1]], [1])
    given = proof(centre=made.network.parameters, radius=F(1, 10), root=(), moved=F(1))
    refused(made.problem, made.network, given, "parts[0].slopes")


def test_98_multipliers():
    one = found(KINKS)
    for k, part in enumerate(one.proof.parts):
        for value, place in ((F(0), f"parts[{k}]"), (-part.multiplier, f"parts[{k}]")):
            changed = [replace(p, multiplier=value) if p is part else p for p in one.proof.parts]
            refused(one.problem, one.network, replace(one.proof, parts=tuple(changed)), place)
    refused(one.problem, one.network, replace(one.proof, parts=one.proof.parts[::-1]), "parts")


# ------------------------------------------------------------------------------------------------- units


def test_99_empty_units():
    """13: with its second unit, which has no weights, the network is no local optimum, and without it is one."""
    one = beside(deep_waste())
    near = one.proofs["near"]
    accepted(one.problem, one.network, near)
    assert near.empty == ((0, 1),)
    refused(one.problem, one.network, replace(near, optimality="local optimum"), "empty")
    place = "parts[0].slopes"
    refused(one.problem, one.network, replace(near, empty=(), optimality="local optimum"), place)
    vertex = near_vertex()
    given = vertex.proofs["near"]
    refused(vertex.problem, vertex.network, replace(given, empty=((0, 0), (1, 0))), "empty")
    refused(vertex.problem, vertex.network, replace(given, empty=((0, 1), (1, 1), (2, 0))), "empty")
    refused(vertex.problem, vertex.network, replace(given, empty=((0, 1),)), "root")
    centre = tuple((*layer[:-1], F(1, 10**30)) for layer in given.centre)
    refused(vertex.problem, vertex.network, replace(given, centre=centre), "empty")


def test_99_rotations():
    one = found("turned")
    turns = one.proof.rotations
    refused(one.problem, one.network, replace(one.proof, rotations=turns[:1]), re.compile(r"root\[\d\]"))
    refused(one.problem, one.network, replace(one.proof, rotations=((0, 1, 0),)), "rotations[0]")
    kinks = found(KINKS)
    unit = next(part.slopes[0] for part in kinks.proof.parts if part.slopes)
    refused(kinks.problem, kinks.network, replace(kinks.proof, rotations=((unit[0], 0, 1),)), "rotations[0]")
    saddle = diagonal_of_ones()
    given = proof(centre=saddle.network.parameters, radius=F(1, 1000), rotations=((0, 0, 1),), root=())
    refused(saddle.problem, saddle.network, given, "rotations[0]")


def test_100_copies():
    """Of a channel of three units with a kink, given out to an empty one."""
    one = found("copies of a channel")
    (mine, its), more = one.proof.shares, F(1, 10**9)

    def told(*shares, place="shares", **changed):
        given = replace(one.proof, shares=shares, **changed)
        refused(one.problem, one.network, given, re.compile(re.escape(place) + r"(\[\d\])?$"))

    told((*mine[:-1], mine[-1] + more), its)
    told((*mine[:-1], mine[-1] - more), its)
    told(mine, (*its[:-1], -its[-1]))
    told((*mine[:-1], F(1)), place="moved")
    told((*its[:-1], F(1)))
    told((*mine[:-1], F(3, 5)), (0, 0, its[2] + 1, F(4, 5)))
    told((*mine[:-1], F(4, 5)), (*its[:-1], F(3, 5)), place="moved")
    told(place="moved")
    told(mine, its, empty=(), place="parts[0].slopes")
    used = tuple((l, 3 - j, k, c) for l, j, k, c in one.proof.shares)
    told(*used, place="shares")
