"""Time limits, by a clock that a test advances: every loop looks at it, and little is done once it is late."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest

from solvers import clock
from tests.verify.auditing.test_loop import assert_sound
from verify import Dataset, Network, audit, train
from verify.auditing.loop import pose
from verify.checker import check
from verify.deciders.enclosure import enclosing, nearby_point
from verify.deciders.proposal import checked
from verify.deciders.rounding import solve_exactly
from verify.deciders.time_limits import TimeIsUpError, is_late, now, poll, share, until, within

CHECK = check.__code__


class Ticking:
    """A clock that advances by one with each look at it, and how many calls of our functions came between looks."""

    def __init__(self) -> None:
        self.time = 0.0
        self.calls = 0
        self.longest = 0
        self.where = ""
        self.checking = 0

    def __call__(self) -> float:
        self.calls = 0
        self.time += 1.0
        return self.time

    def note(self, frame, event, _) -> None:
        name = frame.f_code.co_filename
        if frame.f_code is CHECK:  # a certificate is checked in one go, by code that knows no clock
            self.checking += {"call": 1, "return": -1}.get(event, 0)
        if (
            event == "call"
            and not self.checking
            and ("/verify/" in name or "/solvers/" in name)
            and "/tests/" not in name
        ):
            self.calls += 1
            if self.calls > self.longest:
                self.longest, self.where = self.calls, f"{name}, {frame.f_code.co_name}"


def timed(network, data, limit, **options):
    """The audit under a ticking clock, and the clock."""
    ticking = Ticking()
    with clock.reading(ticking):
        sys.setprofile(ticking.note)
        try:
            found = audit(network, data, time_limit=limit, **options)
        finally:
            sys.setprofile(None)
    return found, ticking


def problem(goal, points=14, columns=3, width=6, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(points, columns))
    W, v = random.normal(size=(width, columns)), random.normal(size=width)
    y = np.maximum(X @ W.T, 0.0) @ v
    if goal == "max-margin":
        y = np.where(y > 0, 1.0, -1.0)
    return Network.two_layer(W, v), (X, y)


@pytest.mark.parametrize("goal", ["max-margin", "min-norm"])
@pytest.mark.parametrize("limit", [1, 5, 20, 100])
@pytest.mark.one_in(2)
def test_an_audit_ends_soon_after_its_limit_however_often_it_looks(goal, limit):
    network, data = problem(goal)
    found, ticking = timed(network, data, limit, goal=goal)
    assert_sound(found)
    whole = timed(network, data, 10**9, goal=goal)[1].time
    assert ticking.time < min(whole, 1.35 * limit + 150)
    if limit < whole / 3:
        assert found.status == "time" or found.bracket is None
        assert any("for want of time" in note for note in found.notes)


@pytest.mark.parametrize("goal", ["max-margin", "min-norm"])
def test_no_stretch_of_work_goes_without_a_look_at_the_clock(goal):
    network, data = problem(goal, points=20)
    _, ticking = timed(network, data, 10**9, goal=goal)
    assert ticking.longest < 8000, ticking.where  # some milliseconds


def test_an_elimination_ends_when_the_step_does():
    random = np.random.default_rng(1)
    matrix = [[Fraction(int(entry), 7) for entry in row] for row in random.integers(-99, 99, (30, 30))]
    right = [Fraction(int(entry)) for entry in random.integers(-9, 9, 30)]
    ticking = Ticking()
    with clock.reading(ticking), until(3.0):
        assert solve_exactly(matrix, right) is None
    assert ticking.time < 8
    with clock.reading(Ticking()), until(10.0**9):
        assert solve_exactly(matrix, right) is not None


@pytest.mark.parametrize(("needed", "is_begun"), [(0.0, True), (5.0, True), (50.0, False)])
def test_what_needs_longer_than_there_is_left_is_not_begun(needed, is_begun):
    with clock.reading(Ticking()):
        poll(needed)  # without a limit everything is
        with until(20.0):
            if is_begun:
                poll(needed)
            else:
                with pytest.raises(TimeIsUpError):
                    poll(needed)


class Slow:
    """A clock that stands still, until what a test says is slow takes its time."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time

    def takes(self, seconds, do):
        def slowly(*arguments):
            self.time += seconds
            return do(*arguments)

        return slowly


@pytest.mark.parametrize(
    ("limit", "optimality", "checks"),
    [(None, "optimum of any width", 2), (75, "optimum of any width", 2), (45, "stationary point", 1), (35, None, 0)],
)
def test_the_check_of_a_nearby_point_is_not_begun_when_it_would_end_too_late(monkeypatch, limit, optimality, checks):
    """Each check takes as long as making the equations did: 20 seconds."""
    problem, network = posed([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    clocked, begun = Slow(), []
    monkeypatch.setattr(enclosing, "Point", clocked.takes(20.0, enclosing.Point))
    monkeypatch.setattr(enclosing, "checked", clocked.takes(20.0, lambda *all: begun.append(all) or checked(*all)))
    with clock.reading(clocked), until(limit):
        if optimality is None:
            with pytest.raises(TimeIsUpError):
                nearby_point(problem, network)
        else:
            assert nearby_point(problem, network).certificate.optimality == optimality
    assert len(begun) == checks


def test_no_nearby_point_is_looked_for_in_less_time_than_reading_the_data_takes(monkeypatch):
    problem, network = posed([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    monkeypatch.setattr(enclosing, "polish", lambda *_: pytest.fail("the search was begun"))
    with clock.reading(Slow()), until(1e-6), pytest.raises(TimeIsUpError):
        nearby_point(problem, network)


def posed(X):
    """The interpolation of targets 1, 2, ... by a linear network near the one of least norm."""
    y = np.arange(1.0, len(X) + 1.0)
    X = np.column_stack([X, np.ones(len(X))])
    w = np.linalg.lstsq(X, y, rcond=None)[0]
    size = np.sqrt(np.linalg.norm(w))
    network = Network.two_layer([w / size], [size], slope=1)
    return pose(network, Dataset(X, y), goal="min-norm"), network


def test_an_audit_in_decimals_reads_the_same_clock():
    """A clock that starts at 0 and gives a second is not one by which the search is late from its first step."""
    X, y = [[1.0, 1.0], [1.0, 1.0 + 2.0**-27]], [1.0, -1.0]
    network = Network.two_layer([[1e9, 0.0], [0.0, 1e9]], [1.0, -1.0])
    with clock.reading(Slow()):
        found = audit(network, (X, y), goal="max-margin", time_limit=1.0)
    low, high = found.bracket
    assert high <= low * Fraction(1000002, 1000000)


def test_steps_within_steps():
    with clock.reading(Ticking()):
        assert not is_late(None)
        poll()
        with until(100.0):
            with until(200.0):  # the earlier one counts
                poll()
                assert clock.seconds_left() < 100.0
            with until(1.0):
                assert is_late(None)
                assert is_late(10.0**9)
                with pytest.raises(TimeIsUpError):
                    poll()
            poll()
        assert clock.seconds_left() == float("inf")
        assert share(None, 0.5) is None
        assert share(now() + 101.0, 0.5) == now() + 49.0
        assert share(0.0, 0.5) == now() - 1.0


def test_what_a_step_within_a_limit_gives():
    def endless():
        while True:
            poll()

    with clock.reading(Ticking()):
        assert within(None, lambda: 5) == 5
        assert within(20.0, endless) is None
        with until(60.0), pytest.raises(TimeIsUpError):  # the step around it is over too
            within(80.0, endless)


def test_another_thread_has_limits_and_a_clock_of_its_own():
    import threading

    seen = []
    with clock.reading(Ticking()), until(-1.0):
        thread = threading.Thread(target=lambda: seen.append((is_late(None), now() > 1000.0 or now() > 0.0)))
        thread.start()
        thread.join()
        assert is_late(None)
    assert seen == [(False, True)]


def polished(limit):
    """A training that is polished, of labels at random, under a clock that ticks with each look; and the clock."""
    random = np.random.default_rng(3)
    points, labels = random.normal(size=(24, 3)), random.choice([-1.0, 1.0], 24)
    ticking = Ticking()
    with clock.reading(ticking):
        run = train(points, labels, width=8, bias=True, polish=True, time_limit=limit, max_evaluations=60)
    return run, ticking.time


def test_polishing_ends_with_the_time_of_the_training():
    whole, ticks = polished(1e9)
    assert whole.polished is not None
    assert ticks > 1000
    assert not any("time limit" in note for note in whole.notes)
    for part in (0.3, 0.6, 0.9, 0.98):
        run, taken = polished(part * ticks)
        assert taken <= part * ticks + 40
        assert "time limit was reached" in " ".join(run.notes)
        assert run.network.width == 8


def test_a_training_that_took_all_the_time_is_not_polished():
    run, _ = polished(3.0)
    assert run.polished is None
    assert run.status == "limit"
    assert "not polished: the time limit was reached before" in str(run)


class Busy:
    """A clock on which 1000 seconds pass between two looks at it, as on a machine that does much else."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += 1000.0
        return self.time


def test_work_is_counted_where_time_is_not():
    with clock.reading(Busy()):
        with clock.by_work():
            assert now() == now() == 0
            clock.spend(0.25)
            with clock.by_work(), until(1.0):
                clock.spend(0.25)
                assert (now(), clock.seconds_left(), clock.real_seconds_left()) == (0.5, 0.5, np.inf)
                assert not is_late(0.5)
                assert is_late(0.49)
                clock.spend(1.0)
                assert is_late(None)
            assert not is_late(None)
            assert clock.elapsed() > 0
        clock.spend(1.0)
        assert clock.now() >= 1000


def test_the_end_of_the_step_around_it_holds_for_work_as_well():
    with clock.reading(Busy()), until(now() + 4000), clock.by_work():
        assert not is_late(None)
        assert 0 < clock.real_seconds_left() == clock.seconds_left() + 1000 < 4000
        assert not is_late(0.0)
        with pytest.raises(TimeIsUpError):
            clock.poll()
