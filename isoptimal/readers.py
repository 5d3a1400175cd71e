"""The public names of `verify.readers`."""

from verify.readers import *  # noqa: F403
