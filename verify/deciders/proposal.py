"""What a decider hands over: a certificate with a sentence for people, or only the reason why there is none."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from threading import Lock
from typing import TypeVar, cast, final

from verify.checker import Accepted, Refused, check, statement
from verify.checker.certificate import AboutNetwork, Certificate, claim_text
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["FLOAT_FAILURES", "Proposal", "certified", "how_floats_failed"]

_C = TypeVar("_C", bound=Certificate)


FLOAT_FAILURES = (ArithmeticError, ValueError)
"""What a float search may fail with: overflow, a singular matrix, numbers too long for a certificate. Any other
exception is a bug and passes on."""


def how_floats_failed(error: Exception) -> str:
    """One clause for people: numbers beyond the range of floats as such, other failures as their text."""
    if isinstance(error, OverflowError) or "infs or NaNs" in str(error):
        return "numbers beyond the range of floating point"
    return f"{type(error).__name__}: {error}"[:200]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """certificate: None when the question stays open.   reason: one sentence, of what is proved or of why it is open.

    numbers: further exact values.
    beside: a further certificate, which the checker accepted: what holds where the answer is no.
    """

    certificate: Certificate | None = None
    reason: str
    numbers: Mapping[str, Fraction] = field(default_factory=dict[str, Fraction])
    beside: Certificate | None = None


def sealed(problem: statement.Problem, network: statement.Network | None, certificate: Certificate) -> Certificate:
    """`certificate` with the hashes of the problem and the network and the claim filled in; itself where they are.

    Each copy reads all its numbers again: one is made at most.
    """
    seals = {"problem": problem.sha256(), "claim": claim_text(problem, certificate)}
    if isinstance(certificate, AboutNetwork) and network is not None:
        seals["network"] = network.sha256()
    is_sealed = all(getattr(certificate, name) == seal for name, seal in seals.items())
    return certificate if is_sealed else replace(certificate, **seals)


def certified(problem: Problem, network: Network | None, certificate: _C) -> _C | None:
    """The certificate, sealed with hashes and claim, when the checker accepts it; else None."""
    proof = cast("_C", sealed(problem, network, certificate))
    return proof if isinstance(checked(problem, network, proof), Accepted) else None


def _is_same(one: Certificate, other: Certificate) -> bool:
    """Whether two certificates are equal; those of other claims, or of none, are told apart without their numbers."""
    return one is other or (one.KIND == other.KIND and one.claim == other.claim and one == other)


_RECENT: deque[tuple[str, str | None, Certificate, Accepted | Refused]] = deque(maxlen=12)
_RECENT_LOCK = Lock()


def checked(problem: Problem, network: Network | None, certificate: Certificate) -> Accepted | Refused:
    """What the checker says, asked once and remembered for the last few certificates: a decider asks before a verdict.

    The objects are immutable; an answer is reused for an equal certificate about a problem and a network of the same
    SHA-256 only, whichever objects hold them.
    """
    about, given = problem.sha256(), None if network is None else network.sha256()
    with _RECENT_LOCK:
        recent = tuple(_RECENT)
    for a_problem, a_network, known, result in recent:
        if a_problem == about and a_network == given and _is_same(known, certificate):
            return result
    result = check(problem, network, certificate)
    with _RECENT_LOCK:
        _RECENT.append((about, given, certificate, result))
    return result
