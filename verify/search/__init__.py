"""Counterexamples: the smallest one when a hypothesis is dropped, or the extreme of what a claim measures.

Nothing found here is trusted more than elsewhere: an instance counts when the hypotheses that are left are shown to
hold and the conclusion is proved to be false, by the same certificates as in `verify.claims`.
"""

from verify.search.searching import Found, Search, search

__all__ = ["Found", "Search", "search"]
