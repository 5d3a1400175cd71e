"""How much of the random tests runs: a part of it, or all of it where `ISOPTIMAL_TESTS` is `long`.

`tests/conftest.py` reads two marks: of a test of many drawn instances that says `@pytest.mark.one_in(n)`, one in n is
run, spread evenly; one that says `@pytest.mark.long` waits for the long form. A test that draws in a loop asks `draws`
how often. What is named on the command line (`test_it[37]`) always runs.
"""

import os

from hypothesis import Phase, settings

LONG = os.environ.get("ISOPTIMAL_TESTS") == "long"
GOLDEN = (5**0.5 - 1) / 2
"""Its multiples are spread evenly modulo 1 along every progression: of a grid, every row and column is met."""
UNSHRUNK = settings(max_examples=2000, phases=[Phase.generate], database=None, deadline=None)
"""For `find`, where anything that is found will do: making it smaller takes longer than finding it."""


def draws(usual, long):
    """How many: `usual`, or `long` in the long form."""
    return long if LONG else usual


def is_among(k, n):
    """Whether instance k is one of those, one in n, that are run; instance 0 always is."""
    return k * GOLDEN % 1 < 1 / n


def part(items, named):
    """(kept, left out) of collected tests; `named` are the arguments of the command line."""
    kept, left, count = [], [], {}
    is_all = LONG or any("[" in name for name in named)
    for item in items:
        test = item.nodeid.partition("[")[0]
        k = count[test] = count.get(test, -1) + 1
        thinned = item.get_closest_marker("one_in")
        waits = item.get_closest_marker("long") is not None or (thinned is not None and not is_among(k, *thinned.args))
        (left if waits and not is_all else kept).append(item)
    return kept, left
