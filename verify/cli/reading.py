"""Options of how a network is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["refused_unless"]


def refused_unless(name: str, value: str, *, help: str) -> Callable[[Any], Any]:  # noqa: A002
    """The option `name` for what a reader refuses by default, and otherwise reads in the one way that `value` names."""
    return click.option(name, type=click.Choice(["refuse", value]), default="refuse", show_default=True, help=help)
