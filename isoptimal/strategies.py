"""The public names of `verify.strategies`."""

from verify.strategies import *  # noqa: F403
