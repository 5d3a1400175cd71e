"""A checker written from docs/certificates.md alone agrees on all stored certificates, true and forged, and on mutants.

What only one of the two refuses would be a condition that the page does not tell, or that the trusted checker lacks.
"""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

import verify.checker as trusted
from tests import second_checker
from tests.second_checker import questions
from tests.second_checker.texts import RefusedError, load
from verify.checker.codec import load_json, reader
from verify.checker.errors import CertificateError
from verify.checker.statement import Network, Problem

CASES = Path(__file__).parents[3] / "cases"
STORED = sorted(path for path in CASES.glob("*/*/certificates") if path.parts[-3] != "rejected")
FORGED = sorted((CASES / "rejected" / "certificates").iterdir())
FIXED = {"schema", "kind", "problem", "network", "claim", "architecture", "scope"}
MUTANTS = 6  # of each certificate


def read(path):
    return load(path.read_text(encoding="utf-8")) if path.is_file() else None


def refusal(problem, network, proof):
    """Why the second checker refuses, or None."""
    try:
        second_checker.check(problem, network, proof)
    except RefusedError as error:
        return str(error)
    return None


def proofs(folder):
    names = sorted({path.name for path in folder.glob("*.json")} - {"problem.json", "network.json"})
    assert names
    return {name: read(folder / name) for name in names}


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.parent.name)
def test_true_certificates_are_accepted(folder):
    problem, network = read(folder / "problem.json"), read(folder / "network.json")
    found = {name: refusal(problem, network, proof) for name, proof in proofs(folder).items()}
    assert found == dict.fromkeys(found)


@pytest.mark.parametrize("folder", FORGED, ids=lambda folder: folder.name)
def test_forged_certificates_are_refused(folder):
    with pytest.raises(RefusedError):
        second_checker.check(
            read(folder / "problem.json"), read(folder / "network.json"), read(folder / "certificate.json")
        )


# ------------------------------------------------------------------------------------------------- mutants


def places(value, path=()):
    """The paths to all numbers, texts of numbers and lists that may be changed."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        if key not in FIXED:
            yield (*path, key)
            yield from places(part, (*path, key))


def changed(value, random):
    """Another value of the same kind."""
    if isinstance(value, str) and value not in "+-e":
        number = Fraction(value)
        return str(random.choice((number + 1, number - 1, number * Fraction(1001, 1000), -number, 1 - number)))
    if type(value) is int:
        return random.choice((value + 1, value - 1, -value, 2 * value, 0))
    if isinstance(value, list) and value:
        return random.choice((value[1:], value[:-1], value[::-1], value + value[-1:]))
    return {"+": "-", "-": "+", "e": 0}.get(value, value) if isinstance(value, str) else value


def mutant(problem, proof, random):
    """The certificate with one place changed, its bracket and claims made to agree as a forger would."""
    made = copy.deepcopy(proof)
    *above, key = random.choice(list(places(made)))
    part = made
    for step in above:
        part = part[step]
    part[key] = changed(part[key], random)
    for inner in (made.get("lower"), made):
        if isinstance(inner, dict):
            inner["claim"] = second_checker.claim(questions.Question(problem), inner)
    return made


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.parent.name)
def test_the_two_agree_about_mutants(folder, monkeypatch):
    random, agreed = Random(folder.parent.name), 0
    problem, network = read(folder / "problem.json"), read(folder / "network.json")
    asked = reader(Problem)(load_json((folder / "problem.json").read_text(encoding="utf-8")))
    given = reader(Network)(load_json((folder / "network.json").read_text(encoding="utf-8")))
    for name, proof in proofs(folder).items():
        for _ in range(MUTANTS):
            try:
                made = mutant(problem, proof, random)
            except (RefusedError, ValueError, TypeError, KeyError):
                continue  # so odd that it has no claim
            mine = refusal(problem, network, made)
            try:
                result = trusted.check(asked, given, trusted.read_certificate(json.dumps(made)))
                said = None if isinstance(result, trusted.Accepted) else f"{result.place}: {result.reason}"
            except CertificateError as error:
                said = str(error)
            if mine is None and said is not None:  # the trusted checker rounds roots up at 40 bits
                with monkeypatch.context() as patch:
                    patch.setattr(questions, "COARSER", Fraction(1, 2**38))
                    mine = refusal(problem, network, made)
            assert (mine is None) == (said is None), (name, mine, said, made)
            agreed += 1
    assert agreed
