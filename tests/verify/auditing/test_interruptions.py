"""Ctrl-C and the time limit: what they cut short is named in the audit, whenever they come."""

import signal
import subprocess
import sys
import threading
from fractions import Fraction
from inspect import CO_GENERATOR

import pytest

from solvers.clock import reading
from tests.depth_cases import diagonal_of_ones, pooled_tie
from tests.verify.auditing.test_loop import assert_sound
from verify import Network, Verdict, audit
from verify.auditing.clock import INTERRUPTED, LATE, Clock
from verify.auditing.interruptions import CtrlC

NETWORK = Network.two_layer([[2.0, 0.001], [0.0, 0.0]], [2.0, 0.0])
EXACT = Network.two_layer([[0, 2], [0, 0]], [2, 0])
NEAR = ([[1.0, 0.25], [1.0, -0.25]], [1, 1])
DEEP, SQUARE = diagonal_of_ones().network, ([[1, 1]], [1])
PAIR = ([[1, Fraction(1, 4)], [-1, Fraction(1, 4)]], [1, 1])

STEPS = {
    "verify.deciders.subjects.stationarity": (NETWORK, NEAR, "stationarity"),
    "verify.auditing.concluding.multiplier_dimension": (EXACT, PAIR, "the number of multipliers"),
    "verify.auditing.beaten.better_network": (EXACT, PAIR, "global optimality"),
    "verify.auditing.concluding.local_optimality": (EXACT, PAIR, "local optimality"),
    "verify.auditing.own_width.beaten_by": (
        Network.two_layer([[0, 2]], [2]),
        PAIR,
        "the search at the network's own width",
    ),
    "verify.deciders.enclosure.nearby_point": (NETWORK, NEAR, "the search for an exact KKT point near the network"),
    "verify.auditing.explaining.diagnose": (NETWORK, NEAR, "what is wrong with the network"),
    "verify.deciders.closed_forms.find_closed_forms": (EXACT, PAIR, "the closed form"),
    "verify.auditing.depth.stationarity": (DEEP, SQUARE, "stationarity"),
    "verify.auditing.depth.bounds": (DEEP, SQUARE, "the bound of the best objective"),
    "verify.auditing.depth.over_widths": (
        pooled_tie().network,
        ([[1, 0, 0, 1]], [1]),
        "the search over any widths",
    ),
    "verify.auditing.depth.searched": (DEEP, SQUARE, "the search for better networks"),
    "verify.auditing.depth.descent": (DEEP, SQUARE, "local and global optimality"),
}


def interrupt(*_, **__):
    raise KeyboardInterrupt


def note(result):
    return next(text for text in result.notes if text.startswith("interrupted; cut short or left out: "))


@pytest.mark.parametrize("place", STEPS)
def test_each_step_that_is_interrupted_is_named(place, monkeypatch):
    network, data, step = STEPS[place]
    monkeypatch.setattr(place, interrupt)
    result = audit(network, data, symbolic=True)
    assert_sound(result)
    assert result.status == "interrupted"
    assert step in note(result)
    assert step in " ".join(str(result).split())
    assert note(result) in result.to_json()["notes"]


def test_the_search_among_given_output_weights_is_named_too(monkeypatch):
    monkeypatch.setattr("verify.auditing.own_width.beaten_by", interrupt)
    result = audit(Network.two_layer([[0, 2]], [2]), PAIR, trained="hidden")
    assert_sound(result)
    assert result.status == "interrupted"
    assert "the search at the network's own width" in note(result)
    assert (result.global_optimum.verdict, result.global_optimum.reason) == (Verdict.UNDECIDED, INTERRUPTED)
    assert result.local_optimum.verdict is Verdict.PROVED


def test_what_an_interruption_leaves_open_says_so(monkeypatch):
    for place, name, network in (
        ("verify.deciders.subjects.stationarity", "stationary", EXACT),
        ("verify.auditing.beaten.better_network", "global_any_width", Network.two_layer([[0, 2]], [2])),
        ("verify.auditing.concluding.local_optimality", "local_optimum", EXACT),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(place, interrupt)
            finding = audit(network, PAIR).findings[name]
        assert (finding.verdict, finding.reason) == (Verdict.UNDECIDED, INTERRUPTED)


def test_an_interrupted_bracket_leaves_out_the_point_near_the_network_and_says_so():
    result = audit(NETWORK, NEAR, progress=interrupt)
    assert result.status == "interrupted"
    assert "the search for the best network, the search for an exact KKT point near the network" in note(result)
    assert f"no exact KKT point near it was found: {INTERRUPTED}" in result.stationary.reason


def test_the_time_limit_leaves_out_the_point_near_the_network_and_says_so():
    result = audit(NETWORK, NEAR, time_limit=0)
    assert f"no exact KKT point near it was found: {LATE}" in result.stationary.reason
    assert any(text.startswith("for want of time cut short or left out: ") for text in result.notes)


def test_an_audit_that_is_not_interrupted_says_nothing_of_it():
    result = audit(NETWORK, NEAR)
    assert result.status == "done"
    assert not any("left out" in text for text in result.notes)


def test_left_out():
    left_out = Clock()
    assert (left_out.attempt("a", lambda: 1, lambda _: 2), list(left_out.notes())) == (1, [])
    assert (left_out.attempt("a", interrupt, lambda reason: reason), left_out.is_interrupted) == (INTERRUPTED, True)
    left_out.add("a")
    left_out.add("b", LATE)
    assert list(left_out.notes()) == [
        "interrupted; cut short or left out: a",
        "for want of time cut short or left out: b",
    ]


def test_where_one_look_at_the_data_takes_long_searches_end_earlier():
    with reading(lambda: 100.0):
        clock = Clock(20.0)
        assert (clock.before(0.1), Clock().before(0.1)) == (118.0, None)
        clock.expect(0.25)  # what is left to do takes a second, less than is kept anyway
        assert clock.before(0.1) == 118.0
        clock.expect(1.5)
        assert clock.before(0.1) == 114.0


def interrupted_at(call, network, data):
    """The audit, with a KeyboardInterrupt at the `call`-th call of a function of ours; whether it came."""
    left = [call]

    def profile(frame, event, _):
        name = frame.f_code.co_filename
        is_generator = frame.f_code.co_flags & CO_GENERATOR  # one that is thrown away passes nothing on
        if (
            event == "call"
            and not is_generator
            and ("/verify/" in name or "/solvers/" in name)
            and "/tests/" not in name
        ):
            left[0] -= 1
            if left[0] == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        return audit(network, data), left[0] <= 0
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize(("network", "data"), [(NETWORK, NEAR), (EXACT, PAIR)])
def test_an_interrupt_at_any_moment_is_passed_on_or_told(network, data):
    whole = audit(network, data)
    seen = {"passed on": 0, "told": 0}
    for call in (int(1.35**k) for k in range(10, 36)):
        try:
            result, came = interrupted_at(call, network, data)
        except KeyboardInterrupt:
            seen["passed on"] += 1
            continue
        if not came:
            break
        assert_sound(result)
        assert result.status == "interrupted", call
        assert note(result)
        for name, finding in result.findings.items():
            assert finding.verdict in (whole.findings[name].verdict, Verdict.UNDECIDED), (call, name)
        seen["told"] += 1
    assert min(seen.values()) > 2


def pressed(ctrl_c, reached, error=None):
    """Ctrl-C in a part that is held, within another one."""
    with ctrl_c.held():
        with ctrl_c.held():
            signal.raise_signal(signal.SIGINT)
        reached.append("the end")
        if error is not None:
            raise error


def test_ctrl_c_waits_for_the_end_of_what_is_held_once():
    ctrl_c, reached = CtrlC(), []
    with ctrl_c.noticed():
        with pytest.raises(KeyboardInterrupt):
            pressed(ctrl_c, reached)
        with ctrl_c.held():
            reached.append("the next part")
        with pytest.raises(KeyboardInterrupt):  # another one waits for nothing
            pressed(ctrl_c, reached)
    assert reached == ["the end", "the next part"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_is_raised_at_once_where_nothing_is_held():
    ctrl_c = CtrlC()
    with ctrl_c.noticed():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        ctrl_c.answered()
        with ctrl_c.held():
            pass


def test_an_error_goes_before_ctrl_c():
    ctrl_c = CtrlC()
    with ctrl_c.noticed(), pytest.raises(ValueError, match="first"):
        pressed(ctrl_c, [], ValueError("first"))


def test_ctrl_c_that_somebody_else_handles_is_left_to_them():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append("theirs"))
    try:
        ctrl_c = CtrlC()
        with ctrl_c.noticed(), ctrl_c.held():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == ["theirs"]
    other = threading.Thread(target=lambda: seen.extend(_entered(CtrlC())))
    other.start()
    other.join()
    assert seen == ["theirs", "entered"]


def _entered(ctrl_c):
    with ctrl_c.noticed():
        yield "entered"


def test_imports_are_no_work_of_a_step():
    """With a time limit what is imported late is there before the clock starts; without one it may never be needed."""
    told = (
        "import sys; from verify.auditing.clock import IMPORTED_LATE, Clock; Clock(); "
        "print(any(name in sys.modules for name in IMPORTED_LATE)); Clock(5.0); "
        "print(all(name in sys.modules for name in IMPORTED_LATE))"
    )
    ended = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout.split() == ["False", "True"]
