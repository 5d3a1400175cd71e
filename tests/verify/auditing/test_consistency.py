"""Findings that contradict each other are not reported together; those that agree are left as they are."""

from dataclasses import replace
from fractions import Fraction

import pytest

from verify import Dataset, Network, Verdict, audit
from verify.auditing.consistency import consistent, contradictions
from verify.checker.local import NotLocal
from verify.checker.optimal import BetterNetwork
from verify.deciders.finding import Question

BEST = Network.two_layer([[0, 2]], [2])
WORSE = Network.two_layer([[1, 2]], [2])
DATA = Dataset([[1, 1], [-1, 1]], [1, 1])


def findings(network):
    result = audit(network, DATA)
    return result.problem, {question: result.findings[question.value] for question in Question}


def test_findings_that_agree_are_left():
    for network in (BEST, WORSE):
        problem, found = findings(network)
        assert list(contradictions(problem, network, found)) == []
        assert consistent(problem, network, found) == found


def mixed(*, subject_of_refuted=None, subject_of_proved=None):
    """What is refuted of one network, beside what is proved of another: put together by hand."""
    problem, good = findings(BEST)
    _, bad = findings(WORSE)
    assert bad[Question.STATIONARY].verdict is Verdict.REFUTED
    assert good[Question.GLOBAL_ANY_WIDTH].verdict is Verdict.PROVED
    found = dict(good)
    found[Question.STATIONARY] = replace(bad[Question.STATIONARY], subject=subject_of_refuted)
    for question in (Question.LOCAL_OPTIMUM, Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH):
        found[question] = replace(good[question], subject=subject_of_proved)
    return problem, found


def test_contradictions_about_one_network_leave_both_open():
    problem, found = mixed()
    assert (Question.STATIONARY, Question.LOCAL_OPTIMUM) in list(contradictions(problem, BEST, found))
    left = consistent(problem, BEST, found)
    assert left[Question.STATIONARY].verdict is Verdict.UNDECIDED
    assert left[Question.LOCAL_OPTIMUM].verdict is Verdict.UNDECIDED
    assert "contradict" in left[Question.STATIONARY].reason
    assert left[Question.FITS] == found[Question.FITS]


def test_what_is_refuted_of_a_network_that_the_audit_brought_up_gives_way():
    problem, found = mixed(subject_of_refuted=WORSE, subject_of_proved=BEST)
    left = consistent(problem, BEST, found)
    assert left[Question.STATIONARY].verdict is Verdict.UNDECIDED
    assert left[Question.LOCAL_OPTIMUM] == found[Question.LOCAL_OPTIMUM]
    assert left[Question.GLOBAL_ANY_WIDTH] == found[Question.GLOBAL_ANY_WIDTH]


def test_what_is_refuted_of_the_given_network_stands_beside_one_nearby():
    problem, found = mixed(subject_of_proved=BEST)
    assert consistent(problem, WORSE, found) == found


@pytest.mark.parametrize("tolerance", [Fraction(0), Fraction(1, 10**6)])
def test_an_optimum_of_any_width_is_one_of_its_own(tolerance):
    problem, good = findings(BEST)
    _, bad = findings(WORSE)
    assert isinstance(bad[Question.GLOBAL_OPTIMUM].certificates[0], BetterNetwork | NotLocal)
    numbers = {"tolerance": tolerance}
    found = {**good, Question.GLOBAL_OPTIMUM: replace(bad[Question.GLOBAL_OPTIMUM], numbers=numbers)}
    found[Question.GLOBAL_ANY_WIDTH] = replace(good[Question.GLOBAL_ANY_WIDTH], numbers=numbers)
    assert (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH) in list(contradictions(problem, BEST, found))
