"""The audit of a network with several outputs: the five questions, the bracket over any width, certificates.

Certificates are of kinds of their own (`verify.checker.vector_checking`), and every verdict is read off one that was
accepted (`verify.checker.vector_folder.vector_facts`), as a folder is.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from solvers.vectors.vector_search import VectorGuess, search_vectors
from verify.auditing.clock import Clock
from verify.auditing.vector_audit import VectorAudit
from verify.checker.exact import root_ends
from verify.checker.vector_bounds import Cells, Linear
from verify.checker.vector_certificates import (
    VectorBetterNetwork,
    VectorBound,
    VectorCertificate,
    VectorDoesNotFit,
    VectorOptimalWithin,
    VectorUpperBound,
    VectorValue,
    vector_claim,
)
from verify.checker.vector_checking import VectorAccepted, check_vector
from verify.checker.vector_folder import vector_facts
from verify.checker.vector_statement import VectorNetwork, VectorProblem, vector_objective
from verify.checker.vector_stationary import VectorNotStationary
from verify.deciders.finding import Ending
from verify.deciders.proposal import FLOAT_FAILURES
from verify.deciders.time_limits import is_late, now
from verify.deciders.vectors.arrays import as_vector_instance, exact_network, float_network
from verify.deciders.vectors.bounds import MOST_RANK, TOO_MANY_DIMENSIONS, lower_bounds, span_of
from verify.deciders.vectors.descent import descents
from verify.deciders.vectors.multipliers import exact_multipliers
from verify.deciders.vectors.stationarity import stationary_proofs, ways_down
from verify.numbers.floats import to_float
from verify.problem.vectors import VectorAsked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["audited_vectors"]

SHARE, LEAST_SLACK = 0.35, 1e-4
"""Of the time for the search of a dual point; how near to the price its H is brought, relative to it."""

SECONDS = 120.0
"""Without a time limit."""

_C = TypeVar("_C", bound=VectorCertificate)


@dataclass(slots=True, eq=False)
class _Pending:
    """What is known on the way: certificates that were accepted, by file name."""

    problem: VectorProblem
    network: VectorNetwork
    tolerance: Fraction
    stationary_tolerance: Fraction
    certificates: dict[str, VectorCertificate]

    def accepted(self, proof: _C, suffix: str = "") -> _C | None:
        """The certificate with its hashes and claim, where the checker accepts it; then it is kept."""
        about = self.network.sha256() if proof.IS_ABOUT_NETWORK else ""
        made = replace(proof, problem=self.problem.sha256(), network=about)
        made = replace(made, claim=vector_claim(self.problem, made))
        if not isinstance(check_vector(self.problem, self.network, made), VectorAccepted):
            return None
        self.certificates[f"{made.KIND}{suffix}.json"] = made
        return made

    def first(self, proofs: Iterable[VectorCertificate]) -> VectorCertificate | None:
        """The first that is accepted."""
        return next((found for proof in proofs if (found := self.accepted(proof)) is not None), None)


def audited_vectors(
    asked: VectorAsked,
    network: VectorNetwork,
    *,
    tol: Fraction,
    stationary_tol: Fraction,
    time_limit: float | None,
    notes: Iterable[str] = (),
) -> VectorAudit:
    """The audit of a network with several outputs, of one hidden layer. Sound, as every verdict has a certificate."""
    clock = Clock(SECONDS if time_limit is None else time_limit)
    search = _Pending(asked.problem, network, tol, stationary_tol, {})
    mine = vector_objective(asked.problem, network)
    if mine is None:
        pairs = range(len(asked.problem.targets))
        search.first(VectorDoesNotFit(i) for i in pairs)
    else:
        search.accepted(VectorValue(*mine))
        with suppress(*FLOAT_FAILURES):
            _stationary(search)
    better, limit, is_interrupted = None, "", False
    try:
        guess = _guessed(search, clock)
        if guess is not None:
            better = _better(search, clock, guess, mine)
            limit = _bounded(search, clock, guess, better)
    except FLOAT_FAILURES:
        limit = "the arithmetic of floats failed in the search"
    except KeyboardInterrupt:
        limit, is_interrupted = "the search was interrupted", True
    facts = vector_facts(asked.problem, network, search.certificates, tol, stationary_tol)
    ending = Ending.TIME if is_late(clock.deadline) else Ending.STALLED if limit else Ending.DONE
    ending = Ending.INTERRUPTED if is_interrupted else ending
    return VectorAudit(
        asked=asked, network=network, certificates=search.certificates, facts=facts, better=better, ending=ending,
        limit=limit, seconds=now() - clock.began, notes=(*asked.notes, *notes),
    )  # fmt: skip


def _stationary(search: _Pending) -> None:
    """Whether it is stationary, and whether a way down begins at it."""
    tolerance = search.stationary_tolerance
    for proof in stationary_proofs(search.problem, search.network, tolerance):
        found = search.accepted(proof)
        if found is not None and (found.KIND == VectorNotStationary.KIND or not found.is_approximate):
            break
    search.first(proof for proof, _ in ways_down(search.problem, search.network))


def _guessed(search: _Pending, clock: Clock) -> VectorGuess | None:
    """A dual point and a network of any width, in floats."""
    instance = as_vector_instance(search.problem)
    hidden, _, _ = float_network(search.network)
    slack = min(max(to_float(search.tolerance), 1e-7), LEAST_SLACK)
    return search_vectors(instance, hidden, slack, clock.share(SHARE))


def _better(
    search: _Pending, clock: Clock, guess: VectorGuess, mine: tuple[Fraction, Fraction] | None
) -> VectorNetwork | None:
    """The best network found, with what it proves: of any width, and of the network's own by descent from it."""
    problem = search.problem
    known = [exact_network(problem, guess.hidden, guess.output, guess.shift)]
    if mine is not None:
        known += descents(problem, search.network, guess.hidden, guess.output, clock.deadline)
    values = [(found, value) for found in known if (value := vector_objective(problem, found)) is not None]
    if not values:
        return None
    best, (_, high) = min(values, key=lambda pair: pair[1][1])
    near = [pair for pair in values if pair[1][1] <= high * (1 + search.tolerance / 10)]
    if mine is None or high < mine[1]:
        search.accepted(VectorUpperBound(best, _above(high)))
    if mine is None:
        return best
    narrow = [pair for pair in values if pair[0].width <= search.network.width and pair[1][1] < mine[0]]
    if narrow:
        found, _ = min(narrow, key=lambda pair: pair[1][1])
        search.accepted(VectorBetterNetwork(found, search.tolerance, "own-width"), "-own")
    if best.width > search.network.width or not narrow:
        search.accepted(VectorBetterNetwork(best, search.tolerance, "any-width"))
    smallest, least = min(near, key=lambda pair: pair[0].width)
    return smallest if least[1] < mine[0] else best if high < mine[0] else None


def _above(number: Fraction) -> Fraction:
    """The number, or one that is a little larger and shorter."""
    return number if number.denominator.bit_length() < 200 else root_ends(number, 1, 64)[1]


def _bounded(search: _Pending, clock: Clock, guess: VectorGuess, better: VectorNetwork | None) -> str:
    """The lower bounds, until one is as near as asked, or the time is up; why it is not, "" where it is."""
    problem = search.problem
    mine = vector_objective(problem, search.network)
    upper = [value[1] for one in (search.network, better) if one and (value := vector_objective(problem, one))]
    upper += [proof.upper for proof in search.certificates.values() if isinstance(proof, VectorUpperBound)]
    if upper and not min(upper):  # no objective is below 0
        best = search.accepted(VectorBound((), Fraction(1), Cells((Linear(()),)), Fraction(0)))
        if best is not None and mine is not None and not mine[1]:
            search.accepted(VectorOptimalWithin(Fraction(0), best))
        return ""
    candidates = [c for c in exact_multipliers(problem, guess.multipliers) if c]
    starts = np.concatenate([guess.hidden, np.random.default_rng(0).normal(size=(40, guess.hidden.shape[1]))])
    sizes = np.linalg.norm(starts, axis=1, keepdims=True)
    starts = starts[sizes[:, 0] > 0] / sizes[sizes[:, 0] > 0]
    tol = max(to_float(search.tolerance) / 10, LEAST_SLACK / 5)
    best: VectorBound | None = None
    try:
        for bound in lower_bounds(problem, guess.multipliers, starts, tol, clock.deadline):
            best = search.accepted(bound) or best
            if best is not None and _is_settled(search, best.lower, mine, min(upper, default=None)):
                break
    except FLOAT_FAILURES:
        return "the arithmetic of floats failed in the proof of a lower bound"
    if best is None:
        many = len(span_of(candidates[-1])) if candidates else 0
        return TOO_MANY_DIMENSIONS.format(rank=many) if many > MOST_RANK else "no lower bound above 0 was proved"
    if mine is not None:
        tolerance = _least_tolerance(mine[1], best.lower, search.tolerance)
        if tolerance is not None:
            search.accepted(VectorOptimalWithin(tolerance, best))
    is_narrow = bool(upper) and min(upper) <= (1 + search.tolerance) * best.lower
    return "" if is_narrow else "the bracket is wider than the tolerance"


def _is_settled(
    search: _Pending, lower: Fraction, mine: tuple[Fraction, Fraction] | None, upper: Fraction | None
) -> bool:
    """Whether nothing is left to prove: within the tolerance, the network is the best or is not, or where it does not
    fit, the bracket is as narrow.
    """
    most = (1 + search.tolerance) * lower
    if mine is None:
        return upper is not None and upper <= most
    return mine[1] <= most or (upper is not None and upper * (1 + search.tolerance) < mine[0] and upper <= most)


def _least_tolerance(value: Fraction, lower: Fraction, asked: Fraction) -> Fraction | None:
    """0 where the value is its bound, the tolerance that is asked where it is within it, else None."""
    if value == lower:
        return Fraction(0)
    return asked if value <= (1 + asked) * lower else None
