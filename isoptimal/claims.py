"""The public names of `verify.claims`."""

from verify.claims import *  # noqa: F403
