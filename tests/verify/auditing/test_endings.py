"""How a search ended, for the audit and in words, for every member of its status."""

from dataclasses import replace
from fractions import Fraction

import pytest

from solvers.instance import SearchStatus
from tests.exact_states import posed
from verify.auditing.endings import ending_of, why_ended, why_open, why_open_at_width
from verify.deciders.finding import Ending
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.own_width.record import WidthBracket
from verify.deciders.own_width.searching import bracket_at_width

F = Fraction
ONE = posed([[1, 0]], [1], "max-margin", [1])
TIGHT = bracket_at_width(ONE, ())
BY_ITSELF = {SearchStatus.OPTIMAL, SearchStatus.NODES, SearchStatus.STALLED}


@pytest.mark.parametrize("status", SearchStatus)
def test_every_ending_is_told(status):
    found = replace(TIGHT, status=status, reason="why")
    ending, reason = ending_of(found, (F(1, 2), F(1, 2)), F(0), "")
    if status in BY_ITSELF:
        assert (ending, reason) == (Ending.DONE, "")
        wide = ending_of(found, (F(1, 2), F(1)), F(0), "")
        assert wide == (Ending.STALLED, "the bracket is 1 wide (relative), and 0 was asked")
    elif status is SearchStatus.LARGE:
        assert (ending, reason) == (Ending.STALLED, "too large for a search at its width")
    else:
        assert ending.value == status.value
        assert reason == ("" if status is SearchStatus.INFEASIBLE else "why")


def test_what_is_not_searched_or_proved_is_told():
    assert ending_of(None, None, F(0), "it was not asked") == (Ending.STALLED, "it was not asked")
    nothing = WidthBracket(status=SearchStatus.STALLED)
    assert ending_of(nothing, None, F(0), "")[1] == "no lower and no upper end of the bracket was proved"
    assert (
        ending_of(nothing, (F(0), F(1)), F(0), "")[1] == "the lower end of the bracket is 0, and the upper one is not"
    )


WORDS = {
    SearchStatus.OPTIMAL: "the search ended after 3 states of the neurons, 2 left open",
    SearchStatus.INFEASIBLE: "the search ended after 3 states of the neurons, 2 left open",
    SearchStatus.NODES: "the search ended after 3 states of the neurons, 2 left open",
    SearchStatus.TIME: "the time limit was reached after 3 states of the neurons, 2 left open",
    SearchStatus.INTERRUPTED: "the search was interrupted after 3 states of the neurons, 2 left open",
    SearchStatus.STALLED: "floating point could not decide the rest after 3 states of the neurons, 2 left open",
    SearchStatus.LARGE: "the network has too many neurons, or the data too many points, for a search at its width",
    SearchStatus.FAILED: "the floating-point search failed (overflow)",
}


@pytest.mark.parametrize("status", SearchStatus)
def test_words_for_every_ending_at_a_width(status):
    assert why_ended(status, 3, 2, reason="overflow") == WORDS[status]


def test_words_where_little_was_searched():
    assert why_ended(SearchStatus.TIME, 0, 0) == "the time limit was reached before the search at this width"
    bounded = "the search ended before the first state of the neurons was bounded"
    assert why_ended(SearchStatus.NODES, 0, 0) == bounded
    assert why_ended(SearchStatus.INTERRUPTED, 0, 0) == "the search was interrupted"
    assert why_ended(SearchStatus.FAILED, 0, 0) == "the floating-point search failed"


def test_both_ends_are_told_and_the_network_where_it_is_apart():
    found = replace(TIGHT, status=SearchStatus.NODES, nodes=1)
    ended, of = "the search ended after 1 state of the neurons", "the best of 1 neuron with these output weights"
    assert why_open_at_width(ONE, found, F(1, 4), F(1, 2)) == f"{of} is between 0.25 and 0.5; {ended}"
    assert why_open_at_width(ONE, found, F(1, 4), F(2)) == f"{of} is between 0.25 and 0.5 (this one 2); {ended}"
    assert why_open_at_width(ONE, found, None, F(2)) == ended


@pytest.mark.parametrize("status", SearchStatus)
def test_words_for_every_ending_over_all_widths(status):
    told = why_open(Bracket(lower=None, upper=None, witnesses=(), status=status, history=()))
    before = {SearchStatus.TIME: "the time limit was reached", SearchStatus.INTERRUPTED: "the search was interrupted"}
    if status in before:
        assert told == f"{before[status]} before the bracket was narrow enough"
    elif status is SearchStatus.FAILED:
        assert told == "the floating-point search failed"
    else:
        assert told == "the search could not narrow the bracket far enough"


def test_a_bracket_of_a_width_is_shown_and_has_no_truth_value():
    assert repr(TIGHT).startswith("<WidthBracket: [0.5, 0.5], optimal, ")
    assert repr(WidthBracket(status=SearchStatus.FAILED, reason="why")).startswith(
        "<WidthBracket: [?, ?], failed (why)"
    )
    with pytest.raises(TypeError, match="no truth value"):
        bool(TIGHT)
