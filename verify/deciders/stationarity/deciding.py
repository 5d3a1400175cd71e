"""Is the network a Clarke KKT point, exactly or nearly? Multipliers prove it, a separating vector refutes it.

At theta with least margin m > 0 (max-margin) or interpolating (min-norm), N = ||theta||^2, gradients h_i of the
outputs:

    epsilon = ||theta - sum lambda_i h_i|| / sqrt N,      delta = sum lambda_i (q_i - m) / N,      lambda_i >= 0

with slopes in [a, 1] at kinks; both are 0 exactly at KKT points and do not change when theta is rescaled (depth 2).
With a fit tolerance eps > 0 each point has two constraints, q_i = f(x_i) >= y_i - eps and q_(n+i) = -f(x_i) >= -y_i -
eps, and what q_i has above its limit takes the place of q_i - m.
The floats of `solvers.kkt.residual` are guesses; the checker decides on their rational forms.

Source: arXiv:1906.05890v4, section 2; arXiv:2110.02732, Theorem 2.1;
`docs/mathematics.md`, 4.2 "A linear system, also with kinks" and 4.4 "Refutation by separating vectors".
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

from verify.checker.fit import weighted_norm
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.hidden.stationary import hidden_stationarity
from verify.deciders.proposal import Proposal
from verify.deciders.simplified import without_copies
from verify.deciders.stationarity.approximate import HELD, as_it_is, prove_within, with_what_holds
from verify.deciders.stationarity.exact import exact_point, prove_exactly
from verify.deciders.stationarity.model import KktSubject, kkt_subject
from verify.deciders.stationarity.refutation import balance_separator, refute, refuted_by
from verify.deciders.time_limits import is_late
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["exact_hidden_point", "exactly_refuted", "stationarity"]


NOTHING_COUNTS = "every weight that counts is zero: nothing can be smaller"
"""Of a network whose objective is 0."""


def stationarity(
    problem: Problem, network: Network, given: Network, tolerance: Fraction, *, deadline: float | None = None
) -> Proposal:
    """Whether `network` (the given one or its repair) is a KKT point: epsilon, delta <= `tolerance`; 0: exactly.

    deadline: a moment of `solvers.clock.now()` after which no further guesses are tried.
    An exact proof is tried first. For tolerance > 0 near-kinks are then tried as kinks, which moves the network a
    little. A refutation has beside it what the conditions do hold up to, where that is found (exactly asked: up to
    `HELD`). Sound. Complete up to rounding for a given pattern of kinks; min-norm with more than `MAX_BRANCHES` points
    at kinks may stay UNDECIDED.
    """
    search = partial(_stationarity, network=network, given=given, tolerance=tolerance, deadline=deadline)
    return _told_of_all_points(without_copies(problem, given, search))


def _told_of_all_points(found: Proposal) -> Proposal:
    """With the multipliers of an exact KKT point at the points of the data, which copies may have moved."""
    proof = found.certificate
    if isinstance(proof, Stationary) and proof.multipliers and not (proof.epsilon or proof.delta):
        return replace(found, reason=exact_point(proof))
    return found


def _stationarity(
    problem: Problem, network: Network, given: Network, tolerance: Fraction, deadline: float | None
) -> Proposal:
    """`stationarity`, with the points as they are."""
    if not weighted_norm(problem, network):
        certificate = Stationary(multipliers=(), subject=None if network is given else network.parameters)
        return Proposal(certificate=certificate, reason=NOTHING_COUNTS)
    subject = kkt_subject(problem, network, given)
    if subject is None:
        return Proposal(reason="the network is zero or its numbers are out of the range of floats")
    unbalanced = balance_separator(problem, subject, tolerance)
    if unbalanced is not None:
        return (
            unbalanced if tolerance else with_what_holds(unbalanced, prove_within(problem, subject, HELD, deadline)[0])
        )
    direct = hidden_stationarity(problem, network, given, tolerance)
    if isinstance(direct, Stationary):
        return _exactly(direct)
    exact = prove_exactly(problem, subject, deadline) if direct is None else None
    if exact is not None:
        return exact
    nearly, best = prove_within(problem, subject, tolerance or HELD, deadline)
    if nearly is not None and tolerance:
        return nearly
    refuted = refuted_by(direct, tolerance) if direct is not None else refute(problem, subject, tolerance, deadline)
    if refuted.certificate is None and (levelled := _levelled(problem, subject, tolerance, deadline)) is not None:
        if isinstance(levelled.certificate, Stationary):
            return levelled
        refuted = levelled
    if nearly is None and tolerance and best is not None and refuted.certificate is not None:
        nearly = as_it_is(problem, *best)
    return with_what_holds(refuted, nearly)


def _exactly(proof: Stationary) -> Proposal:
    numbers = {"epsilon": Fraction(0), "delta": Fraction(0)}
    reason = exact_point(proof) if proof.multipliers else NOTHING_COUNTS
    return Proposal(certificate=proof, reason=reason, numbers=numbers)


def exact_hidden_point(problem: Problem, network: Network, given: Network) -> Proposal | None:
    """That `network` is an exact KKT point for given output weights, where its own shortest network shows it."""

    def search(distinct: Problem) -> Proposal:
        direct = hidden_stationarity(distinct, network, given, Fraction(0))
        return _exactly(direct) if isinstance(direct, Stationary) else Proposal(reason="")

    found = without_copies(problem, given, search)
    return None if found.certificate is None else _told_of_all_points(found)


def exactly_refuted(problem: Problem, network: Network, given: Network, *, deadline: float | None = None) -> Proposal:
    """That `network` (the given one or its repair) is exactly no KKT point, whatever it is within a tolerance.

    deadline: a moment of `solvers.clock.now()` after which no further guesses are tried. Sound; neither proofs nor what
    nearly holds are looked for.
    """

    def search(distinct: Problem) -> Proposal:
        subject = kkt_subject(distinct, network, given)
        if subject is None:
            return Proposal(reason="the network is zero or its numbers are out of the range of floats")
        unbalanced = balance_separator(distinct, subject, Fraction(0))
        direct = None if unbalanced else hidden_stationarity(distinct, network, given, Fraction(0))
        if isinstance(direct, NotStationary):
            return refuted_by(direct, Fraction(0))
        refuted = unbalanced or refute(distinct, subject, Fraction(0), deadline)
        is_open = refuted.certificate is None
        return (_levelled(distinct, subject, Fraction(0), deadline) if is_open else None) or refuted

    return without_copies(problem, given, search)


def _levelled(problem: Problem, subject: KktSubject, tolerance: Fraction, deadline: float | None) -> Proposal | None:
    """The exact question once more, with equations of one size: weights and columns may be of very different sizes."""
    if is_late(deadline):
        return None
    again = replace(subject, model=subject.model.levelled())
    exact = prove_exactly(problem, again, deadline)
    if exact is not None or tolerance:
        return exact
    refuted = refute(problem, again, tolerance, deadline)
    return None if refuted.certificate is None else refuted
