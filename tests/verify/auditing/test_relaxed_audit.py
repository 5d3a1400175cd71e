"""What the audit of the relaxed question proves of the question asked: its lower bound is one of that as well."""

from fractions import Fraction

import pytest

import verify.auditing.searching
from solvers.instance import SearchStatus
from tests.words import check_words
from verify.auditing.loop import audit
from verify.auditing.relaxing import bound_of_all, relaxed
from verify.checker import Accepted, check
from verify.checker.bounds import LowerBound
from verify.checker.folder import decide_folder
from verify.deciders.global_optimality.record import Bracket
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset
from verify.report.quantities import quantities

RAMPS = Network.two_layer([[1, 0], [0, 1], [-1, 0]], [1, -1, 2])
FREE = Network.two_layer([[1, 0], [0, 1], [-1, 0]], [1, -1, 2], b=[0, 0, 0])
HALF_SEEN = Network.two_layer([[1, 0], [0, 1], [-1, 0]], [1, -1, 2], masks=[[0], [1], [0, 1]])
POINTS = Dataset([[2, 0], [1, 3], [0, 1], [2, 0], [-1, 0], [3, 1]], [1, 1, -1, 1, 1, 1])  # one missed, one twice
TARGETS = Dataset([[2, 0], [0, 1], [-1, 0], [1, 3]], [2, -1, Fraction(9, 4), -2])
CASES = {
    "points": (RAMPS, POINTS, {}),
    "points, free biases": (FREE, POINTS, {"bias": "free"}),
    "points, biases": (FREE, POINTS, {}),
    "points, masks": (HALF_SEEN, POINTS, {}),
    "targets": (RAMPS, TARGETS, {"goal": "min-norm"}),
    "targets, free biases": (FREE, TARGETS, {"goal": "min-norm", "bias": "free"}),
    "targets within a tolerance": (RAMPS, TARGETS, {"goal": "min-norm", "fit_tol": Fraction(1, 100)}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_bound_of_the_relaxed_question_is_one_of_the_question_asked(name):
    network, data, options = CASES[name]
    problem = pose(network, data, **options)
    easier = relaxed(problem, network)
    (proof,) = (bound for bound in audit(network, data, **options).relaxed.bounds if isinstance(bound, LowerBound))
    moved = bound_of_all(problem, network, easier, proof)
    assert isinstance(check(problem, None, moved), Accepted)
    if "points" in name:
        assert 0 < proof.bracket[0] == moved.bracket[0]
        assert {i for i, _ in moved.multipliers} <= {0, 2, 3, 4, 5}
    else:
        weights = sum(abs(value) for _, value in proof.multipliers) / proof.beta
        spread = easier.fit_tolerance - problem.fit_tolerance
        assert 0 < proof.bracket[0] < moved.bracket[0] == proof.bracket[0] + spread * weights


def without_lower_end(monkeypatch, data, lower=None):
    """The search of the question asked ends at once with this lower end, that of the relaxed one is a whole search."""
    whole = verify.auditing.searching.bracketed

    def search(problem, *rest, **options):
        if problem.data != data or problem.fit_tolerance:
            return whole(problem, *rest, **options)
        return Bracket(lower=lower, upper=None, witnesses=(), status=SearchStatus.TIME, history=())

    monkeypatch.setattr(verify.auditing.searching, "bracketed", search)


@pytest.mark.parametrize("name", ["points", "points, masks", "targets"])
@pytest.mark.parametrize("limit", [None, 1000])
def test_the_higher_of_the_two_lower_ends_is_taken_with_its_proof(name, limit, monkeypatch, tmp_path):
    network, data, options = CASES[name]
    without_lower_end(monkeypatch, data)
    result = audit(network, data, time_limit=limit, **options)
    (proof,) = (bound for bound in result.bounds if isinstance(bound, LowerBound))
    assert proof.bracket[0] >= result.relaxed.bracket[0] > 0
    if "points" in name:  # of targets an exact repair is known, and with it an upper end
        assert dict(quantities(result, None))["best possible"].startswith("at least ")
    assert (result.bracket is None) is ("points" in name)
    check_words(result)
    result.save(tmp_path / "proofs")
    assert decide_folder(tmp_path / "proofs").is_accepted
    assert decide_folder(tmp_path / "proofs-relaxed").is_accepted


def test_a_higher_end_of_its_own_is_kept():
    result = audit(RAMPS, TARGETS, goal="min-norm")
    ends = [next(b.bracket[0] for b in found.bounds if isinstance(b, LowerBound)) for found in (result, result.relaxed)]
    assert ends[0] == result.bracket[0] > ends[1]


@pytest.mark.parametrize("name", CASES)
def test_no_report_proves_less_than_what_it_fits(name):
    network, data, options = CASES[name]
    for limit in (0.01, 0.2):
        result = audit(network, data, time_limit=limit, **options)
        lower = [b.bracket[0] for b in result.bounds if isinstance(b, LowerBound)]
        easier = [b.bracket[0] for b in result.relaxed.bounds if isinstance(b, LowerBound)]
        assert max(easier, default=0) <= max(lower, default=0)
