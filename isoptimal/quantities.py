"""The public names of `verify.quantities`."""

from verify.quantities import *  # noqa: F403
