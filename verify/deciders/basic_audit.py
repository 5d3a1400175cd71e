"""What reports and pictures both read of an audit: they draw findings, and know nothing of how they were made."""

# ruff: noqa: D102 (the fields are described where they are defined)

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from verify.checker.certificate import Certificate
from verify.deciders.finding import Finding
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["BasicAudit"]


class BasicAudit(Protocol):
    """What a report and a picture read of an audit."""

    @property
    def problem(self) -> Problem: ...
    @property
    def network(self) -> Network: ...
    @property
    def objective(self) -> Fraction | None: ...
    @property
    def fits(self) -> Finding: ...
    @property
    def stationary(self) -> Finding: ...
    @property
    def local_optimum(self) -> Finding: ...
    @property
    def asked_bracket(self) -> tuple[Fraction, Fraction] | None: ...
    @property
    def asked_excess(self) -> tuple[Fraction, Fraction] | None: ...
    @property
    def asked_better(self) -> Network | None: ...
    @property
    def infeasible(self) -> bool: ...
    @property
    def is_infeasible_at_width(self) -> bool: ...
    @property
    def tolerance(self) -> Fraction: ...
    @property
    def bounds(self) -> tuple[Certificate, ...]: ...
