"""Where gradient flow arrives, for two points in the plane: the ends that arXiv:2110.02732 proves to be no optima."""

from __future__ import annotations

import numpy as np

from solvers.arrays import Floats
from solvers.training.losses import Loss
from solvers.training.stop_tests import any_of
from solvers.training.trajectory import Moment, Training, TrainingStatus
from verify.claims.records import Instance, Judgement, failed, undecided
from verify.claims.trainings import at_rest, flowed

__all__ = ["LOSSES", "flow_to"]


LOSSES: tuple[Loss, ...] = ("exponential", "logistic")
"""Those of which the paper speaks."""


FAR, MUCH = 1e-2, 1e30
"""A direction that is as far as this at such a norm is another one."""


def flow_to(instance: Instance, goal: Floats, loss: Loss, near: float) -> tuple[Training, Judgement | None]:
    """The flow until its direction is near the goal's; a judgement when it does not come there."""

    def arrived(moment: Moment) -> str | None:
        if distance(moment.theta, goal) <= near:
            return "the direction is near enough"
        return "another direction" if float(np.linalg.norm(moment.theta)) > MUCH else None

    test = any_of(arrived, at_rest(instance))
    run = flowed(instance, loss=loss, stop=test, evaluations=50_000, residual=1e-14)
    apart = distance(run.theta, goal)
    if apart <= near:
        return run, None
    text = f"{loss} loss: {run.status} at a distance of {apart:.3g} from the direction ({run.reason})"
    is_over = run.status in (TrainingStatus.STOPPED, TrainingStatus.CONVERGED)
    return run, failed(text) if is_over and apart > FAR else undecided(text)


def distance(first: Floats, second: Floats) -> float:
    """||a/|a| - b/|b|||."""
    return float(np.linalg.norm(first / np.linalg.norm(first) - second / np.linalg.norm(second)))
