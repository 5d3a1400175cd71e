"""What a picture reads of an audit: it draws findings, and knows nothing of how they were made."""

# ruff: noqa: D102 (the fields are described where they are defined)

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from verify.deciders.basic_audit import BasicAudit

__all__ = ["AuditInPictures", "Round"]


class Round(Protocol):
    """One round of the search: what it held the best objective to lie between, and when, in seconds."""

    @property
    def round(self) -> int: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def seconds(self) -> float: ...


class AuditInPictures(BasicAudit, Protocol):
    """What a picture reads of an audit."""

    @property
    def history(self) -> Sequence[Round]: ...
