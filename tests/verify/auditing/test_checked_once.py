"""Each certificate is checked once in an audit, by the one function that asks the checker.

One that encloses another (an optimum within a tolerance its lower bound) is checked whole, by a checker that remembers
nothing.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from verify import audit
from verify.deciders import proposal
from verify.readers import read_case

ROOT = Path(__file__).parents[3]
EXAMPLES = (
    "signs-1d/relu-kkt",
    "signs-1d/relu-under-trained",
    "moons-40/leaky-kkt",
    "iris-linear/linear-trained",
    "trainings/xor",
)
CASES = (
    "max-margin/duplicates-share-multipliers",
    "max-margin/local-not-global-one-neuron",
    "max-margin/lyu2021-theorem-3-1-dead",
    "max-margin/degenerate-arrangement-without-duplicates",
    "max-margin/misclassified",
    "max-margin/decimal-weights",
)


@pytest.fixture
def checks(monkeypatch):
    """How often the checker was asked about each certificate, with its problem and its network."""
    counts, check = Counter(), proposal.check

    def counted(problem, network, certificate):
        about = problem.sha256(), None if network is None else network.sha256()
        counts[certificate.KIND, certificate.sha256(), *about] += 1
        return check(problem, network, certificate)

    monkeypatch.setattr(proposal, "check", counted)
    proposal._RECENT.clear()
    return counts


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_certificate_of_an_example_is_checked_once(name, checks):
    folder = ROOT / "examples" / name
    data = folder.with_name("xor.data.npz" if name == "trainings/xor" else "data.npz")
    audit(folder.with_suffix(".npz"), data)
    assert checks
    assert [key for key, times in checks.items() if times > 1] == []


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_each_certificate_of_a_case_is_checked_once(name, symbolic, checks):
    case = read_case(ROOT / "cases" / name / "case.json")
    problem = case.problem
    audit(case.network, problem.data, goal=problem.goal, bias=problem.bias, symbolic=symbolic)
    assert checks
    assert [key for key, times in checks.items() if times > 1] == []


def test_an_equal_network_is_the_same_one(checks):
    case = read_case(ROOT / "cases" / CASES[0] / "case.json")
    again = read_case(ROOT / "cases" / CASES[0] / "case.json")
    proof = audit(case.network, case.problem.data, goal=case.problem.goal, bias=case.problem.bias).fits.certificates[0]
    checks.clear()
    first = proposal.checked(case.problem, case.network, proof)
    assert proposal.checked(again.problem, again.network, proof) is first
    assert not checks


def test_one_function_of_the_deciders_and_of_the_audit_asks_the_checker():
    asking = re.compile(r"(?<![\w.])check\(|\bexamine\(|checking import .*\bcheck\b")
    files = [
        path for folder in ("auditing", "deciders", "diagnosis") for path in (ROOT / "verify" / folder).rglob("*.py")
    ]
    found = {path.name for path in files if asking.search(path.read_text(encoding="utf-8"))}
    assert found == {"proposal.py"}
