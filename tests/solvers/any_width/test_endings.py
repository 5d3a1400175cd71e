"""How a search over all widths ends, and how long the proof of what it reached has then."""

import math

import pytest

from solvers.any_width.endings import SEARCH_SHARE, prove_reached, searched, time_left
from solvers.clock import TimeIsUpError, is_late, now, reading, seconds_left
from solvers.instance import SearchStatus


def failing(error):
    def search():
        raise error

    return search


@pytest.fixture
def still():
    """A clock that stands at 100."""
    with reading(lambda: 100.0):
        yield


@pytest.mark.parametrize(
    ("search", "status", "times_late"),
    [
        (lambda: SearchStatus.STALLED, SearchStatus.STALLED, 0),
        (failing(TimeIsUpError), SearchStatus.TIME, 1),
        (failing(KeyboardInterrupt), SearchStatus.INTERRUPTED, 0),
    ],
)
def test_how_a_search_ended(search, status, times_late):
    calls = []
    assert searched(search, now(), None, lambda: calls.append(1)) is status
    assert len(calls) == times_late
    assert searched(search, now(), None) is status


def test_other_errors_pass_on():
    with pytest.raises(ZeroDivisionError):
        searched(failing(ZeroDivisionError), now(), None)


@pytest.mark.usefixtures("still")
def test_the_search_has_its_share_of_the_time_since_it_began():
    left = []

    def search():
        left.append(seconds_left())
        return SearchStatus.OPTIMAL

    searched(search, 90.0, 110.0)
    assert left == [pytest.approx(90 + SEARCH_SHARE * 20 - 100)]
    assert time_left(110.0) == pytest.approx(SEARCH_SHARE * 10)
    assert time_left(50.0) == 0.1
    assert time_left(None) == math.inf


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize(
    ("status", "deadline", "seconds"),
    [
        (SearchStatus.INTERRUPTED, 200.0, 1.5),
        (SearchStatus.TIME, 103.0, 3.0),
        (SearchStatus.TIME, 50.0, 0.2),
        (SearchStatus.STALLED, None, 20.0),
    ],
)
def test_how_long_the_proof_has(status, deadline, seconds):
    given = []
    prove_reached(status, deadline, given.append)
    assert given == [pytest.approx(seconds)]


def test_without_a_deadline_the_proof_counts_its_work():
    given = []
    with reading(iter(range(0, 10**9, 10**6)).__next__):  # each look at the clock is a million seconds later
        prove_reached(SearchStatus.STALLED, None, lambda seconds: given.append(is_late(now() + seconds)))
    assert given == [False]
