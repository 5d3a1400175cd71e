"""Settings of hypothesis for tests that audit: nothing in them depends on time, on luck, or on an earlier run."""

from __future__ import annotations

__all__ = ["CI", "DEV", "register_profiles"]

CI = "isoptimal-ci"
"""The same instances in every run, nothing kept between runs, no deadline, and a failure says how to repeat it."""

DEV = "isoptimal-dev"
"""Other instances in every run, 20 of each test, failures kept and tried first; no deadline."""


def register_profiles() -> None:
    """Make both profiles known to hypothesis; `settings.load_profile(CI)`, or --hypothesis-profile, takes one.

    No deadline in either: the first audit of a process compiles its kernels, and an audit takes as long as its problem
    is hard. The number of instances in CI is hypothesis's own, and that of a test which says how many it wants.
    """
    from hypothesis import settings

    base = settings.get_profile("default")  # else they would be what is loaded now, with changes
    settings.register_profile(CI, base, derandomize=True, database=None, deadline=None, print_blob=True)
    settings.register_profile(DEV, base, max_examples=20, deadline=None, print_blob=True)
