"""The audit of a network that was trained for a loss with weight decay: no network is left out, and none has to fit.

The bracket of the objective over all widths says how far the network is from the best. Whether it is stationary or a
local optimum is answered where it is globally optimal without a gap, and is left open otherwise.
"""

from __future__ import annotations

from verify.auditing.asked import Asked
from verify.auditing.clock import Clock
from verify.auditing.concluding import FOLLOWED, GLOBAL_OPTIMALITY
from verify.auditing.searching import SEARCH
from verify.auditing.steps import Known, Step
from verify.deciders.finding import Question, undecided
from verify.deciders.global_optimality.warm_start import read_warm_start
from verify.deciders.subjects import Subject
from verify.deciders.time_limits import now
from verify.problem.phrases import FIT_NOT_ASKED
from verify.problem.problem import outputs

__all__ = ["STEPS", "begun"]

NOT_YET = "stationarity and local optimality are not decided yet for a loss with weight decay"


def begun(asked: Asked, clock: Clock) -> Known:
    """What is known at first: the network, and which questions are not asked or not decided."""
    began = now()
    outputs(asked.problem, asked.network)
    clock.expect(now() - began)
    earlier = None if asked.terms.warm_start is None else read_warm_start(asked.terms.warm_start, asked.problem)
    open_ones = dict.fromkeys((Question.STATIONARY, Question.LOCAL_OPTIMUM), NOT_YET)
    findings = {
        question: undecided(question, why) for question, why in {Question.FITS: FIT_NOT_ASKED, **open_ones}.items()
    }
    return Known(
        subject=Subject(asked.problem, asked.network, asked.network),
        findings=findings,
        fitting=(asked.network,),
        earlier=earlier,
        notes=() if earlier is None or not earlier.note else (earlier.note,),
    )


STEPS: tuple[Step, ...] = (SEARCH, GLOBAL_OPTIMALITY, FOLLOWED)
