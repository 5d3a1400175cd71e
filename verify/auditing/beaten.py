"""Global questions that a network which is known, and is better, refutes."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from verify.deciders.finding import Finding, Question, decide
from verify.deciders.global_optimality.better import better_network
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.proposal import Proposal
from verify.deciders.subjects import Subject
from verify.deciders.time_limits import poll
from verify.numbers.counts import count
from verify.problem.network import Network
from verify.problem.phrases import lower_by
from verify.problem.problem import objective

__all__ = ["all_beaten", "beaten_by"]


def all_beaten(
    subject: Subject, bracket: Bracket | None, tolerance: Fraction, questions: Iterable[Question]
) -> dict[Question, Finding]:
    """Those of the global questions that a network of the bracket refutes."""
    found: dict[Question, Finding] = {}
    if bracket is None or subject.network is None:
        return found
    for question in questions:
        poll()
        own_width = question is Question.GLOBAL_OPTIMUM
        refuted = beaten_by(question, subject, bracket.witnesses, tolerance, own_width=own_width)
        if refuted is not None:
            found[question] = refuted
    return found


def beaten_by(
    question: Question, subject: Subject, witnesses: Iterable[Network], tolerance: Fraction, *, own_width: bool
) -> Finding | None:
    """A global question refuted by the first witness that is better by more than the tolerance; None without one.

    own_width: only by those with at most the neurons of the problem.
    """
    better = better_network(subject.problem, subject.given, subject.asked, witnesses, tolerance, own_width=own_width)
    if better is None:
        return None
    value, mine = objective(subject.problem, better.witness), subject.objective
    saved = f": its objective is {lower_by(value, mine)}" if value is not None and mine else ""
    neurons = better.witness.architecture.layers[0].outputs
    fits = "fits and " if subject.problem.asks_fit else ""
    reason = f"a network of {count(neurons, 'neuron')} {fits}is better{saved}"
    proposal = Proposal(certificate=better, reason=reason, numbers={"tolerance": tolerance})
    return decide(question, subject.problem, subject.given, proposal, tolerance)
