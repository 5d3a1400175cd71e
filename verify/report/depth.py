"""What is said of networks of other depths than 2, and with shared weights: what is proved, and the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verify.checker.certificate import OTHER_DEPTH, Certificate
from verify.checker.codec import rational_text
from verify.checker.curves import NotLocalCurve
from verify.checker.depth import power_objective, power_of
from verify.checker.depth_bounds import (
    DeepBetterNetwork,
    DeepOptimalWithin,
    LowerBoundCrude,
    LowerBoundLinear,
    LowerBoundPooled,
)
from verify.checker.depth_duals import LowerBoundOneActivation, LowerBoundRelu
from verify.checker.depth_local import DeepLocal
from verify.checker.depth_stationary import DeepNotStationary, DeepStationary
from verify.checker.exact import root_ends
from verify.deciders.finding import Finding, Verdict
from verify.numbers.counts import count
from verify.numbers.decimals import allowed, denied, nearest, small, value
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.phrases import any_width, at_own_margin, lower_by_root, shape_of
from verify.problem.problem import Problem
from verify.report.audited import Audited

__all__ = [
    "CRUDE",
    "depth_statement",
    "is_of_other_depth",
    "lower_end",
    "own_objective",
    "witness_words",
]

CRUDE = "the lower end is a crude bound"
DOWN = "better networks lie arbitrarily near, along a curve"
NONE_NEAR = "no better network lies near it, by the second order of its Lagrangian"
WITHOUT = "it is not stationary"


def is_of_other_depth(problem: Problem) -> bool:
    """Whether what is said here is said of this problem."""
    return OTHER_DEPTH.holds(problem)


def depth_statement(audit: Audited, finding: Finding) -> str | None:
    """What is proved by a certificate of any depth; None for others."""
    match finding.certificates[0]:
        case DeepStationary() as proof:
            return _stationary(audit, finding, proof)
        case DeepNotStationary() as proof if finding is audit.stationary:
            within = proof.own_tolerance(audit.problem)
            return (
                f"no multipliers satisfy the KKT conditions{f' to within {denied(within)}' if within else ' exactly'}"
            )
        case DeepNotStationary():
            return WITHOUT
        case DeepLocal():
            return NONE_NEAR
        case NotLocalCurve():
            return DOWN
        case DeepBetterNetwork() as proof:
            return _better(audit, finding, proof)
        case DeepOptimalWithin() as proof:
            which = f"no network of {any_width(audit.problem)} is better"
            is_whole = finding is audit.stationary or finding is audit.local_optimum
            return which if is_whole else f"{which}{_by_more(proof.tolerance)}"
        case _:
            return None


def _by_more(tolerance: Fraction) -> str:
    return f" by more than {allowed(tolerance)} (relative)" if tolerance else ""


def _stationary(audit: Audited, finding: Finding, proof: DeepStationary) -> str:
    if proof.epsilon or proof.delta:
        return (
            f"the KKT conditions hold up to ε\u00a0=\u00a0{small(proof.epsilon)} and δ\u00a0=\u00a0{small(proof.delta)}"
        )
    multipliers: dict[int, Fraction] = {}
    for part in proof.parts:
        multipliers[part.point] = multipliers.get(part.point, Fraction(0)) + part.multiplier
    n, at = len(audit.problem.data), at_own_margin(audit.problem, finding.subject or audit.network)
    shown = ", ".join(rational_text(multipliers.get(i, Fraction(0))) for i in range(n)) if n <= 12 else ""
    if 0 < len(shown) <= 40:
        return f"the KKT conditions hold exactly, with λ\u00a0=\u00a0({shown}){at}"
    return f"the KKT conditions hold exactly, with multipliers at {len(multipliers)} of {count(n, 'point')}{at}"


def _better(audit: Audited, finding: Finding, proof: DeepBetterNetwork) -> str:
    if finding is audit.global_any_width:
        others = audit.global_optimum.certificates
        if others and isinstance(others[0], DeepBetterNetwork) and others[0].witness == proof.witness:
            return "the same network is better"
    judged = audit.fits.subject or audit.network
    theirs, mine = (power_objective(audit.problem, network) for network in (proof.witness, judged))
    much = ""
    if theirs is not None and mine:
        lower = lower_by_root(theirs / mine, power_of(audit.problem))
        much = f": its objective is {lower}" if lower else ""
    return f"a network of {shape_of(audit.problem, Network.of(proof.witness).architecture)} fits and is better{much}"


def own_objective(audit: Audited) -> str | None:
    """The objective of the network, and its exact power; None where it does not fit."""
    if audit.fits.verdict is not Verdict.PROVED:
        return None
    power = power_objective(audit.problem, audit.fits.subject or audit.network)
    if power is None:
        return None
    m = power_of(audit.problem)
    low, high = root_ends(power, m)
    at = " at margin 1" if has_margin(audit.problem.goal) else ""
    told = value(low) if low == high else f"about {nearest(low, 8)}"
    return f"{told} = ½‖θ‖²{at}{'' if low == high else f'; its power {m} is {value(power)}'}"


def witness_words(audit: Audited, witness: Network) -> str:
    """A network that is known, with its objective."""
    power = power_objective(audit.problem, witness)
    told = shape_of(audit.problem, witness.architecture)
    if power is None:
        return told
    low, high = root_ends(power, power_of(audit.problem))
    return f"{told}, objective {value(low) if low == high else f'about {nearest(low, 8)}'}"


def lower_end(bounds: tuple[Certificate, ...]) -> Iterator[str]:
    """That the lower end of the bracket is crude, where it is."""
    kinds = {type(bound) for bound in bounds}
    if LowerBoundCrude in kinds and not kinds & {
        LowerBoundLinear,
        LowerBoundPooled,
        LowerBoundOneActivation,
        LowerBoundRelu,
    }:
        yield CRUDE
