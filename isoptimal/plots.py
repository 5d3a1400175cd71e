"""The public names of `verify.plots`."""

from verify.plots import *  # noqa: F403
