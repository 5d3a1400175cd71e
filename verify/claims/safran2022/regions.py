"""Networks of one input with penalised biases: how many linear pieces they have, and their limits."""

from __future__ import annotations

from collections.abc import Callable

from solvers.training.trajectory import TrainingStatus
from verify.claims.predicates import is_relu
from verify.claims.records import Instance, Judgement, Outcome, failed, held, undecided
from verify.claims.trainings import NEARLY, ended, is_nearly_stationary, nearby_certificate, trained
from verify.numbers.floats import to_float
from verify.problem.members import has_margin, is_penalised
from verify.quantities.regions import label_switches, region_bound
from verify.quantities.regions import linear_regions as pieces_of

__all__ = [
    "EVALUATIONS",
    "is_univariate",
    "limit_has_few_regions",
    "linear_regions",
    "region_bound",
    "switches",
]

EVALUATIONS = 20_000
"""Gradients of one training."""


def is_univariate(instance: Instance) -> bool:
    """Max-margin on a line, ReLU, a penalised bias."""
    problem = instance.problem
    is_wanted = has_margin(problem.goal) and is_penalised(problem.bias)
    return is_wanted and instance.data.dimension == 1 and is_relu(instance)


def switches(instance: Instance) -> int:
    """How often the labels change along the line."""
    return label_switches(instance.data)


def linear_regions(instance: Instance) -> int:
    """The number of linear pieces of the network of an instance."""
    return pieces_of(instance.network)


def limit_has_few_regions(instance: Instance, allowed: Callable[[int], int] = region_bound) -> Judgement:
    """Gradient flow from here ends near a KKT point, with a certificate, and that has at most 32 r + 67 linear pieces,
    or what is allowed for r.

    A limit of functions with m pieces has at most m. So the pieces are counted where the flow ends, and at the exact
    KKT point within 1e-3 of it: as many as its certificate has directions, and one. In finite time neurons with one
    direction in the limit still have two.
    """
    run = trained(instance, evaluations=EVALUATIONS)
    if run.status not in (TrainingStatus.CONVERGED, TrainingStatus.STOPPED):
        return undecided(f"training did not come to an end ({run.status})")
    end = ended(instance, run)
    near = is_nearly_stationary(end)
    if near.outcome is not Outcome.HELD:
        return near
    count, bound = linear_regions(end), allowed(switches(instance))
    point = nearby_certificate(end)
    if point is not None and point.moved <= NEARLY:
        count = min(count, 1 + len(point.directions))
        text = (
            f"at most {count} linear regions at an exact KKT point within {to_float(point.moved):.1e}, {bound} allowed"
        )
        return held(text, measured=count) if count <= bound else failed(text, measured=count)
    text = f"{count} linear regions where training ended, {bound} allowed"
    return held(text) if count <= bound else undecided(f"{text}, and no KKT point is known to be within 1e-3")
