"""The audit of a network that was trained for a loss with weight decay: no network is left out, and none has to fit.

The bracket of the objective over all widths says how far the network is from the best. Stationarity may be proved of a
network near it, on the kinks that it nearly has; everything else is about the network itself.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from verify.auditing.asked import Asked
from verify.auditing.clock import Clock
from verify.auditing.concluding import EXACTLY_REFUTED, FOLLOWED, GLOBAL_OPTIMALITY, LOCAL_OPTIMALITY, NEARBY_POINT
from verify.auditing.layers import LAYERS
from verify.auditing.searching import SEARCH, WITNESSED
from verify.auditing.steps import Known, Step, proposed
from verify.checker.errors import InputError
from verify.deciders.finding import Question, decide, undecided
from verify.deciders.global_optimality.warm_start import read_warm_start
from verify.deciders.stationarity import loss_stationarity
from verify.deciders.subjects import Subject
from verify.deciders.time_limits import now
from verify.problem.phrases import FIT_NOT_ASKED
from verify.problem.problem import outputs

__all__ = ["STEPS", "begun"]


def begun(asked: Asked, clock: Clock) -> Known:
    """What is known at first: the network, and which question is not asked. Raises InputError."""
    if asked.terms.symbolic:
        raise InputError("symbolic is given, but no formula is sought for a loss with weight decay: leave it out")
    began = now()
    outputs(asked.problem, asked.network)
    clock.expect(now() - began)
    earlier = None if asked.terms.warm_start is None else read_warm_start(asked.terms.warm_start, asked.problem)
    return Known(
        subject=Subject(asked.problem, asked.network, asked.network),
        findings={Question.FITS: undecided(Question.FITS, FIT_NOT_ASKED)},
        fitting=(asked.network,),
        earlier=earlier,
        notes=() if earlier is None or not earlier.note else (earlier.note,),
    )


def _stationary(asked: Asked, clock: Clock, found: Known) -> Known:
    """Whether the network, or one near it on its near-kinks, is stationary."""
    problem, network, tolerance = asked.problem, asked.network, asked.stationary_tolerance
    search = partial(
        loss_stationarity, problem, network, network, tolerance, reach=asked.reach, deadline=clock.share(0.3)
    )
    proposal = proposed(search)
    finding = decide(Question.STATIONARY, problem, network, proposal, tolerance)
    if proposal.beside is not None:
        finding = replace(finding, certificates=(*finding.certificates, proposal.beside))
    return found.with_findings(finding)


def _without_stationary(_: Asked, found: Known, reason: str) -> Known:
    return replace(found, is_settled=False).with_findings(undecided(Question.STATIONARY, reason))


STATIONARITY = Step(
    name="stationarity",
    accepts=lambda _, found: found.fits,
    run=_stationary,
    without=_without_stationary,
    end=lambda clock: clock.share(0.35),
)

STEPS: tuple[Step, ...] = (
    LAYERS,
    STATIONARITY,
    SEARCH,
    WITNESSED,
    GLOBAL_OPTIMALITY,
    LOCAL_OPTIMALITY,
    NEARBY_POINT,
    EXACTLY_REFUTED,
    FOLLOWED,
)
