"""Decisions that conclusions ask for: each answer is a verdict whose certificate the checker accepted.

`stationary` and `global_exactly` are exact (tolerance 0); `audited` is the audit within 1e-7, as for cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from verify.auditing.asking_several import of_one_output
from verify.auditing.loop import audit
from verify.auditing.record import Audit
from verify.auditing.steps import proposed
from verify.checker.bounds import LowerBound
from verify.checker.certificate import OTHER_DEPTH
from verify.checker.depth_stationary import DeepStationary
from verify.checker.exact import dot, sqrt_upper
from verify.checker.optimal import OptimalWithin
from verify.checker.stationary import Stationary
from verify.claims.records import Instance
from verify.deciders.closed_forms.active_set import UnitDirection, direction_of
from verify.deciders.closed_forms.exact_trees import exact_lower_bound
from verify.deciders.depth.descents import descent
from verify.deciders.depth.local import local_optimum
from verify.deciders.depth.stationarity import stationarity as stationarity_in_depth
from verify.deciders.finding import Ending, Finding, Question, Verdict, decide, undecided
from verify.deciders.local_optimality import local_optimality
from verify.deciders.proposal import FLOAT_FAILURES, Proposal, sealed
from verify.deciders.stationarity import stationarity
from verify.numbers.floats import float_rows, to_float, to_floats
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = [
    "audited",
    "global_exactly",
    "is_kkt_point",
    "is_local_optimum",
    "locally",
    "multipliers_of",
    "own_width_exactly",
    "stationary",
]

TOLERANCE = Fraction(1, 10**7)
_MOST_DIRECTIONS = 40


@lru_cache(maxsize=32)
def audited(instance: Instance, tolerance: Fraction = TOLERANCE, near: Fraction = Fraction(0)) -> Audit:
    """The audit within a relative gap of 1e-7, or `tolerance`; stationarity exactly, or up to `near`.

    Raises KeyboardInterrupt at Ctrl-C.
    """
    problem = instance.problem
    found = of_one_output(audit(
        instance.network, problem.data, goal=problem.goal, bias=problem.bias, trained=problem.trained, tol=tolerance,
        stationary_tol=near, fit_tol=problem.fit_tolerance or None, relax=False,
    ))  # fmt: skip
    if found.ending is Ending.INTERRUPTED:
        raise KeyboardInterrupt
    return found


@lru_cache(maxsize=128)
def stationary(instance: Instance, tolerance: Fraction = Fraction(0)) -> Finding:
    """Whether the network fits and is a Clarke KKT point, exactly, or up to `tolerance` relative to its norm."""
    problem, network = instance.problem, instance.network
    search = partial(stationarity, problem, network, network, tolerance)
    if OTHER_DEPTH.holds(problem):
        search = partial(stationarity_in_depth, problem, network, tolerance)
    proposal = proposed(search)
    return decide(Question.STATIONARY, problem, network, proposal, tolerance)


def is_kkt_point(instance: Instance) -> bool:
    """The network is proved to be a KKT point, exactly."""
    return stationary(instance).verdict is Verdict.PROVED


def is_local_optimum(instance: Instance) -> bool:
    """The network is proved to be a local optimum, exactly."""
    return locally(instance).verdict is Verdict.PROVED


@lru_cache(maxsize=128)
def locally(instance: Instance) -> Finding:
    """Whether the network is a local optimum: from its stationarity when that is refuted, else decided."""
    problem, network = instance.problem, instance.network
    question, found = Question.LOCAL_OPTIMUM, stationary(instance)
    if found.verdict is Verdict.REFUTED:
        proposal = Proposal(certificate=found.certificates[0], reason="it is not even stationary")
        return decide(question, problem, network, proposal)
    if found.verdict is Verdict.UNDECIDED:
        return undecided(question, f"it is not known whether the network is stationary ({found.reason})")
    search = partial(local_optimality, problem, network, network)
    if OTHER_DEPTH.holds(problem):
        search = partial(_at_depth, problem, network, found)
    return decide(question, problem, network, proposed(search))


def _at_depth(problem: Problem, network: Network, found: Finding) -> Proposal:
    """A curve of better networks of any depth that begins at a KKT point, or that second derivatives allow none."""
    multipliers = next((proof for proof in found.certificates if isinstance(proof, DeepStationary)), None)
    down = descent(problem, network, multipliers)
    if down is None and multipliers is not None:
        down = local_optimum(problem, network, multipliers)
    return down or Proposal(reason="no better network was found near it")


def multipliers_of(found: Finding) -> tuple[tuple[int, Fraction], ...]:
    """The multipliers of the certificate of an exact KKT point; empty when there is none."""
    proof = found.certificates[0] if found.certificates else None
    return tuple((i, Fraction(m)) for i, m in proof.multipliers) if isinstance(proof, Stationary) else ()


@lru_cache(maxsize=32)
def global_exactly(instance: Instance) -> Finding:
    """Whether no network of any width is better, with tolerance 0; refuted by the audit's better network.

    Proved by the network's own multipliers: sum lambda_i (y_i) / beta equals its objective, and trees show
    |h(u)| <= beta ||u||. Needs a KKT point whose live directions w_j / ||w_j|| are rational. Incomplete where several
    sets of multipliers exist and those found are not dual feasible. Of other depths than 2 the audit itself is asked,
    with tolerance 0: proved where the network is at the bound of its depth.
    """
    question, found = Question.GLOBAL_ANY_WIDTH, stationary(instance)
    if OTHER_DEPTH.holds(instance.problem):
        return audited(instance, Fraction(0)).global_any_width
    if found.verdict is Verdict.PROVED:
        lower = _own_lower_bound(instance, multipliers_of(found))
        if lower is not None:
            bound = sealed(instance.problem, None, lower)
            proof = OptimalWithin(tolerance=Fraction(0), lower=bound)  # pyright: ignore[reportArgumentType]
            proposal = Proposal(certificate=proof, reason="its own multipliers bound every network of any width")
            exact = decide(question, instance.problem, instance.network, proposal)
            if exact.verdict is Verdict.PROVED:
                return exact
    wide = audited(instance).global_any_width
    if wide.verdict is Verdict.REFUTED:
        return wide
    local = locally(instance)
    if local.verdict is Verdict.REFUTED:
        proposal = Proposal(
            certificate=local.certificates[0], reason="better networks of its architecture lie arbitrarily near"
        )
        return decide(question, instance.problem, instance.network, proposal)
    return undecided(question, f"not proved with tolerance 0 ({wide.verdict.value} within 1e-7)")


@lru_cache(maxsize=32)
def own_width_exactly(instance: Instance) -> Finding:
    """Whether no network of at most its own width is better, with tolerance 0.

    Refuted by the audit's better network, or by better networks arbitrarily near; proved where none of any width is.
    """
    question, known = Question.GLOBAL_OPTIMUM, audited(instance).global_optimum
    if known.verdict is Verdict.REFUTED:
        return known
    for found, reason in (
        (global_exactly(instance), "none of any width is better"),
        (locally(instance), "better networks of its architecture lie arbitrarily near"),
    ):
        if found.certificates:
            proposal = Proposal(certificate=found.certificates[0], reason=reason)
            exact = decide(question, instance.problem, instance.network, proposal)
            if exact.verdict is not Verdict.UNDECIDED:
                return exact
    return undecided(question, f"not decided with tolerance 0 ({known.verdict.value} within 1e-7)")


def _own_lower_bound(instance: Instance, multipliers: Sequence[tuple[int, Fraction]]) -> LowerBound | None:
    problem = instance.problem
    support = [i for i, value in multipliers if value]
    values = [value for _, value in multipliers if value]
    live = _directions(instance)
    if live is None or not support:
        return None
    directions, vectors = live
    rows = float_rows(problem)
    try:
        with np.errstate(all="ignore"):
            while len(directions) <= _MOST_DIRECTIONS:
                found = exact_lower_bound(problem, support, values, directions, vectors)
                if found is None or isinstance(found, LowerBound):
                    return found
                exact = _rational_unit(found.vector.tolist())
                if exact is None:
                    return None
                directions.append(direction_of(rows, found.mask, found.sign, found.vector))
                vectors.append(exact)
    except FLOAT_FAILURES:
        return None
    return None


def _directions(instance: Instance) -> tuple[list[UnitDirection], list[list[Fraction]]] | None:
    """The distinct live directions with their exact unit vectors; None when one is irrational."""
    problem, network = instance.problem, instance.network
    rows = float_rows(problem)
    directions: list[UnitDirection] = []
    vectors: list[list[Fraction]] = []
    kept: set[tuple[int, int, tuple[Fraction, ...]]] = set()
    shape = network.architecture
    classes = list(problem.mask_classes)
    for weights, v, mask in zip(network.hidden_weights, network.output_weights, shape.masks, strict=True):
        if not v or not any(weights):
            continue
        square = dot(weights, weights)
        norm = sqrt_upper(square)
        if norm * norm != square:
            return None
        unit = tuple(w / norm for w in weights)
        place, sign = classes.index(tuple(mask)), 1 if v > 0 else -1
        if (place, sign, unit) not in kept:
            kept.add((place, sign, unit))
            directions.append(direction_of(rows, place, sign, to_floats(unit)))
            vectors.append(list(unit))
    return directions, vectors


def _rational_unit(vector: Sequence[float]) -> list[Fraction] | None:
    """The exact unit vector with short entries near floats, if there is one."""
    for most in (1, 10, 100, 1000, 10000):
        exact = [Fraction(value).limit_denominator(most) for value in vector]
        if dot(exact, exact) == 1 and all(
            abs(to_float(x) - value) < 1e-7 for x, value in zip(exact, vector, strict=True)
        ):
            return exact
    return None
