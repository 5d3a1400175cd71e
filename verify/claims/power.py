"""The test of the tests: false statements beside claims, each of which instances of the claim's kind must refute."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from verify.claims.records import Claim, Instance
from verify.claims.running import Run, RunOutcome

__all__ = ["always", "has_points", "is_survivor", "variants_of"]


def variants_of(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The false variants of these claims, each a claim itself."""
    return tuple(variant.of(claim) for claim in claims for variant in claim.variants)


def is_survivor(result: Run) -> bool:
    """Whether a run of a false variant did not refute it: then the claim's own instances may show as little.

    A fault is no refutation, as it says nothing.
    """
    return bool(result.faults) or result.outcome is not RunOutcome.FAILED


def always(_: Instance) -> bool:
    """Every instance could fail: nothing but the hypotheses keeps the conclusion from being false."""
    return True


def has_points(least: int) -> Callable[[Instance], bool]:
    """So many points at least: with fewer, hypotheses like these leave nothing to be wrong."""
    return lambda instance: len(instance.data) >= least
