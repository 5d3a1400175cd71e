"""Numbers of things, in words."""

import pytest

from verify.numbers.counts import count


@pytest.mark.parametrize(
    ("number", "names", "text"),
    [
        (0, ("point",), "0 points"),
        (1, ("point",), "1 point"),
        (2, ("point",), "2 points"),
        (1, ("entry", "entries"), "1 entry"),
        (3, ("entry", "entries"), "3 entries"),
    ],
)
def test_count(number, names, text):
    assert count(number, *names) == text
