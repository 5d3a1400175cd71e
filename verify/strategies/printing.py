"""How hypothesis prints examples: exactly, as code that makes them again, where their own repr is one short line."""

from __future__ import annotations

from typing import Protocol

from hypothesis.vendor.pretty import for_type_by_name

from verify.problem.network import Network
from verify.problem.problem import Dataset, Problem

__all__ = ["print_exactly"]


class _Printer(Protocol):
    def text(self, obj: str) -> None: ...


def print_exactly() -> None:
    """Let hypothesis print networks, data sets and problems in full."""
    for kind in (Network, Problem):
        for_type_by_name(kind.__module__, kind.__name__, _record)  # pyright: ignore[reportArgumentType]
    for_type_by_name(Dataset.__module__, Dataset.__name__, _dataset)  # pyright: ignore[reportArgumentType]


def _record(value: Network | Problem, printer: _Printer, _: bool) -> None:
    printer.text(f"{type(value).__name__}.from_json({value.to_json()!r})")


def _dataset(value: Dataset, printer: _Printer, _: bool) -> None:
    points = [[str(entry) for entry in point] for point in value.inputs]
    printer.text(f"Dataset({points!r}, {[str(target) for target in value.targets]!r})")
