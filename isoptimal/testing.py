"""The public names of `verify.testing`."""

from verify.testing import *  # noqa: F403
