"""Certificates about several outputs with one entry altered: the checker and the second one agree on each.

Of `verify.checker.vector_checking`: what both accept is true by two sets of formulas; an altered claim, hash
or kind is refused in any case.
"""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.second_checker.texts import RefusedError
from tests.second_checker.vectors import check_vector as second_check
from tests.vector_cases import (
    PLAIN,
    both_pairs,
    classes_bound,
    first_pair,
    optimal,
    saddle,
    saddle_bound,
    saddle_move_proof,
    sealed_vector,
    step,
    step_bound,
    three_units,
    units_bound,
)
from verify.checker.errors import CertificateError
from verify.checker.objectives import Decay
from verify.checker.vector_certificates import VectorBetterNetwork, VectorUpperBound, VectorValue, vector_claim
from verify.checker.vector_checking import VectorAccepted, check_vector, read_vector_certificate
from verify.checker.vector_statement import VectorNetwork, VectorProblem
from verify.checker.vector_stationary import Move, VectorNotLocal, VectorNotStationary, VectorStationary


def samples():
    problem, network = saddle()
    units, own = three_units()
    margins, _ = three_units("max-margin")
    kinked = VectorProblem([["1", "0"], ["0", "1"]], [["2", "0"], ["0", "2"]], "0", "none", "squared", PLAIN)
    half = VectorNetwork("0", False, [["1/2", "0"]], [["1"], ["0"]], None)
    softmax = VectorProblem(
        [["1"], ["-1"]], [["1", "0"], ["0", "1"]], "1/4", "penalised", "cross-entropy", Decay("1/4", "1/4", "0")
    )
    biased = VectorNetwork("1/4", True, [["1", "1"]], [["1/2"], ["-1/2"]], ["0", "0"])
    up = Move([["0", "0"]], [["0"], ["0"]], ["1", "-1"])
    stepped, own_step = step()
    moved_bias = VectorNetwork("0", True, [["1", "1"]], [["1"], ["0"]], None)
    errors = VectorProblem([["1"], ["-1"]], [["1", "0"], ["0", "0"]], "0", "free", "squared", PLAIN)
    sides = VectorProblem([["1"], ["3"]], [["0", "1"], ["1", "0"]], "0", "none", "max-margin", Decay("1", "1", "0"))
    apart = VectorNetwork("0", False, [["2"]], [["1"], ["-1"]], ["-4", "4"])
    yield stepped, None, step_bound(stepped)
    yield stepped, own_step, VectorStationary([[0, ["3/10", "2/5"]], [1, ["-3/10", "-2/5"]]], [[1, 0, "1"]])
    yield errors, moved_bias, VectorNotStationary(Move([["0", "1"]], [["0"], ["0"]], None), "2/5", "1/100", "10")
    yield errors, moved_bias, VectorNotLocal(Move([["0", "-1"]], [["0"], ["0"]], None))
    yield sides, apart, VectorStationary([[0, ["-2/5", "2/5"]], [1, ["2/5", "-2/5"]]], epsilon="1/2")
    yield sides, apart, VectorValue("3/4", "3/4")
    leaning = VectorNetwork("0", False, [["1", "1/1000"]], [["1"], ["0"]], None)
    upright = VectorNetwork("0", False, [["1", "0"]], [["1"], ["0"]], None)
    kinks = VectorProblem([["1", "0"], ["0", "1"]], [["2", "0"], ["1", "1"]], "0", "none", "squared", PLAIN)
    near = VectorStationary(
        [[0, ["1", "0"]], [1, ["1", "1"]]], [[1, 0, "0"]], "1/100", "1/100", subject=upright, moved="1/1400"
    )
    yield kinks, leaning, near
    yield problem, None, saddle_bound(problem)
    yield units, None, units_bound(units)
    yield margins, None, classes_bound(margins)
    yield problem, network, VectorStationary([[0, ["3", "0"]], [1, ["0", "1"]]], epsilon="1/100", delta="1/100")
    yield problem, network, saddle_move_proof()
    yield kinked, half, VectorNotStationary(Move([["-1", "0"]], [["1/4"], ["0"]], None), "1/100", "1/100", "10")
    yield softmax, biased, VectorNotStationary(up, "1/100", "1/1000", "10")
    yield problem, network, VectorValue("6", "6")
    yield problem, None, VectorUpperBound(first_pair(), "5")
    yield problem, network, VectorBetterNetwork(first_pair(), "1/4", "own-width")
    yield problem, both_pairs(), optimal(problem, both_pairs(), saddle_bound(problem), "1/1000")
    yield units, own, optimal(units, own, units_bound(units), "0")


def altered(value):
    """The same JSON with one number, or one place of a number, changed; never what says what it is about."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in ("claim", "problem", "network", "schema", "kind", "scope", "bias"):
                yield from ({**value, key: other} for other in altered(part))
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from ([*value[:i], other, *value[i + 1 :]] for other in altered(part))
        yield value[:-1]
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        yield value + 1
    elif value != "e":
        number = Fraction(value)
        yield from map(str, {-number, number * 2, number + Fraction(1, 7)} - {number})


def resealed(problem, network, value):
    """The certificate with its own hashes and claims; None where it is none."""
    try:
        certificate = read_vector_certificate(json.dumps(value))
    except CertificateError:
        return None
    if getattr(certificate, "bound", None) is not None:
        bound = certificate.bound
        certificate = replace(certificate, bound=replace(bound, claim=vector_claim(problem, bound)))
    return sealed_vector(problem, certificate, network if certificate.IS_ABOUT_NETWORK else None)


@pytest.mark.parametrize("sample", [*samples()], ids=lambda sample: sample[2].KIND)
def test_both_checkers_agree_on_every_mutant(sample):
    problem, network, certificate = sample
    told = None if network is None else network.to_json()
    sealed = sealed_vector(problem, certificate, network if certificate.IS_ABOUT_NETWORK else None)
    assert isinstance(check_vector(problem, network, sealed), VectorAccepted)
    outcomes = []
    for value in altered(sealed.to_json()):
        mutant = resealed(problem, network, value)
        if mutant is None:
            continue
        is_accepted = isinstance(check_vector(problem, network, mutant), VectorAccepted)
        try:
            second_check(problem.to_json(), told, mutant.to_json())
            agrees = True
        except RefusedError:
            agrees = False
        assert agrees is is_accepted, mutant.to_json()
        outcomes.append(is_accepted)
    assert outcomes.count(False) > 2
    for key, wrong in (("claim", "it is perfect"), ("problem", "sha256:0"), ("network", "sha256:0")):
        forged = replace(sealed, **{key: wrong})
        assert not isinstance(check_vector(problem, network, forged), VectorAccepted)
        with pytest.raises(RefusedError):
            second_check(problem.to_json(), told, forged.to_json())
