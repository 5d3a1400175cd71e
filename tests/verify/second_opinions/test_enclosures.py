"""The second checker agrees about exact points near networks: of random problems, of mutants, and of other readings.

A mutant has one number changed. Another reading has the side of a point, the sign of a direction, a multiplier that is
fixed, or a point of the support changed, and a zero of the equations that follow is looked for: it may well be one, and
then everything but the equations has to be asked for. What both accept is also true by the definitions, in floats.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import pytest

from tests.amount import draws
from tests.enclosed_losses import Floats, enclosed, found
from tests.second_checker.questions import root_down
from tests.verify.checker.test_enclosure import CASES
from tests.verify.deciders.enclosure.test_enclosing import found as found_of_norms
from tests.verify.second_opinions.test_second_checker import mutant, refusal
from verify import Goal
from verify.checker import Accepted, check, read_certificate
from verify.checker.errors import CertificateError
from verify.deciders.enclosure.distance import distance_of
from verify.deciders.enclosure.newton import SingularSystemError
from verify.deciders.proposal import sealed

COUNT, OF_NORMS = draws(42, 105), draws(24, 60)
LARGE, MIDDLE = 30, 12  # unknowns that take too long at all, and for mutants
MUTANTS, READINGS = 6, 6  # of each certificate


def plain(record):
    return json.loads(record.canonical_text())


@cache
def proofs():
    """(name of the loss or "", problem, network, certificate): of random problems, and made by hand."""
    return [one for one in _proofs() if len(one[-1].centre) < LARGE]


def _proofs():
    for problem, network, proof in (case() for case in CASES):
        yield "", problem, network, sealed(problem, network, proof)
    for _, name, problem, network, nearby in found(COUNT):
        if nearby.certificate is not None:
            yield name, problem, network, sealed(problem, network, nearby.certificate)
    for _, problem, network, nearby in found_of_norms(OF_NORMS):
        if nearby.certificate is not None:
            yield "", problem, network, sealed(problem, network, nearby.certificate)


def verdicts(problem, network, proof):
    """Why each of the two refuses it, None where it does not: the trusted one, and the second one."""
    try:
        result = check(problem, network, read_certificate(json.dumps(proof)))
        said = None if isinstance(result, Accepted) else f"{result.place}: {result.reason}"
    except CertificateError as error:
        said = str(error)
    return said, refusal(plain(problem), plain(network), proof)


def is_rounded(problem):
    """Whether the price of a neuron is irrational."""
    square = problem.decay.hidden * problem.decay.output
    return root_down(square) ** 2 != square


def test_both_accept_what_was_found():
    kinds = Counter()
    for name, problem, network, proof in proofs():
        assert verdicts(problem, network, plain(proof)) == (None, None), (name, proof)
        kinds["losses"] += bool(name)
        kinds["mirrors"] += any(one.mirror is not None for one in proof.directions)
        kinds["amplitudes"] += any(one.amplitude is not None for one in proof.directions)
        kinds["fixed"] += bool(proof.fixed)
        kinds["copies"] += any("=" in one.sides for one in proof.directions)
        kinds["kinks that fit"] += problem.goal is Goal.MIN_NORM and any("0" in one.sides for one in proof.directions)
        kinds["against the direction"] += any(share < 0 for one in proof.directions for _, share in one.neurons)
    names = ("losses", "mirrors", "amplitudes", "fixed", "copies", "kinks that fit", "against the direction")
    assert all(kinds[name] for name in names), kinds
    assert len(proofs()) > COUNT / 2


def test_both_say_the_same_of_mutants():
    random, agreed, refused = Random(11), 0, 0
    for _, problem, network, proof in proofs():
        for _ in range(MUTANTS * (len(proof.centre) < MIDDLE)):
            try:
                made = mutant(plain(problem), plain(proof), random)
            except (ValueError, TypeError, KeyError, ArithmeticError):
                continue  # so odd that it has no claim
            said, mine = verdicts(problem, network, made)
            if said is not None and said.startswith("pricing: must be at") and is_rounded(problem):
                continue  # to which bits the price is rounded down is known to the trusted one alone
            assert (said is None) == (mine is None), (said, mine, made)
            agreed += 1
            refused += said is not None
    assert agreed > 200
    assert refused > agreed / 2


def other_readings(random, problem, network, proof):
    """The certificate with one thing read otherwise, solved again from near its centre."""
    for _ in range(READINGS):
        made = _read_otherwise(random, problem, proof)
        if made is None:
            continue
        support, directions, fixed, start = made
        claim = random.choice(("stationary point", "local optimum"))
        try:
            with np.errstate(all="ignore"):
                again = enclosed(
                    problem, network, directions, support, start, fixed=fixed, optimality=claim, factor=proof.factor
                )
                yield replace(again, moved=distance_of(problem, network, again) + 1)
        except (SingularSystemError, CertificateError, AttributeError, IndexError, np.linalg.LinAlgError):
            continue  # no zero, or none that is isolated


def _read_otherwise(random, problem, proof):
    """(support, directions, fixed, start) with one change; None where it cannot be made."""
    sides = [list(one.sides) for one in proof.directions]
    places = [(c, k) for c, row in enumerate(sides) for k in range(len(row))]
    directions, start, given = list(proof.directions), [float(z) for z in proof.centre], dict(proof.fixed)
    free = [i for i in proof.support if i not in given]
    what = random.choice(("side", "sign", "fixed"))
    if what == "side" and places:
        c, k = random.choice(places)
        if sides[c][k] not in "+-":
            return None
        sides[c][k] = "-" if sides[c][k] == "+" else "+"
        directions[c] = replace(directions[c], sides="".join(sides[c]))
    elif what == "sign" and directions:
        c = random.randrange(len(directions))
        directions[c] = replace(directions[c], sign="-" if directions[c].sign == "+" else "+")
    elif what == "fixed" and free and not problem.asks_fit:
        i = random.choice(free)
        place = free.index(i)
        value = random.choice((Fraction(0), Fraction(1), Fraction(-1), Fraction(round(16 * start[place]), 16)))
        given[i] = value
        start = start[:place] + start[place + 1 :]
    else:
        return None
    start = [z * (1 + random.gauss(0, 0.3)) for z in start]
    return proof.support, directions, tuple(sorted(given.items())), start


@pytest.mark.parametrize("part", range(2))
def test_both_say_the_same_of_other_readings_and_what_they_accept_is_true(part):
    random, tried, accepted = Random(part), 0, 0
    for number, (name, problem, network, proof) in enumerate(proofs()):
        if number % 2 != part:
            continue
        for other in other_readings(random, problem, network, proof):
            made = sealed(problem, network, other)
            said, mine = verdicts(problem, network, plain(made))
            assert (said is None) == (mine is None), (said, mine, made)
            tried += 1
            if said is not None or not name:
                continue
            accepted += 1
            point = Floats(name, problem, network, made)
            assert point.worst_subgradient() < 1e-8
            assert point.residual() < 1e-6
    assert tried > 20
    assert accepted
