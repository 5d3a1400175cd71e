"""Figure 2 of arXiv:2306.06479, section 8.

the training loss tends to 0, and the loss on other inputs is the lower, the smaller lambda
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np

from solvers.arrays import Floats
from verify.claims.chistikov2023.correlated import teacher_of
from verify.claims.chistikov2023.flows import flow_from
from verify.claims.chistikov2023.random_points import DIMENSION, SCALES, random_start
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_floats

__all__ = ["CLAIMS", "FAST", "TESTS", "has_falling_losses"]

TESTS = 64
"""Inputs N(0, I) on which the test loss is measured, as in Figure 2."""


FAST = 1e-9
"""Of the loss at the start, below which training ends: the target of the paper's own training."""


def has_falling_losses(instance: Instance, side: int = 1) -> Judgement:
    """The training loss falls below FAST of its start; the loss on other inputs ends lower from smaller scales.

    Measured: the last test loss over the first. side: -1 for a loss that rises.
    """
    teacher = to_floats(teacher_of(instance) or ())
    inputs, losses = _test_inputs(), []
    for scale in SCALES:
        flow = flow_from(instance, scale)
        if not flow.log_losses[-1] < flow.log_losses[0] + np.log(FAST):
            return failed(f"from scale {scale:g} the loss stays: {flow.reason}")
        outputs = np.maximum(inputs @ flow.hidden[-1].T, 0) @ flow.outgoing[-1]
        losses.append(float(((outputs - np.maximum(inputs @ teacher, 0)) ** 2).mean() / 2))
    words = ", ".join(f"{loss:.3g}" for loss in losses)
    if any(side * a <= side * b for a, b in pairwise(losses)):
        return failed(f"the test losses are {words}")
    return held(f"the test losses are {words}", measured=Fraction(losses[-1] / losses[0]))


@lru_cache(maxsize=1)
def _test_inputs() -> Floats:
    return np.random.default_rng(0).normal(size=(TESTS, DIMENSION))


CLAIMS = (
    Claim(
        id="chistikov2023.fig2",
        source="arXiv:2306.06479, Figure 2",
        statement="The training loss vanishes, and the loss on other inputs is the lower, the smaller the scale.",
        conclusion=has_falling_losses,
        regime="as fig1, in at least half of the draws; 64 inputs N(0, I)",
        quantity="test loss from 4^-8 over that from 4^-2",
        kind="chance",
        chance=Fraction(1, 2),
        trial=random_start,
        trains=True,
        examples=40,
        could_fail=always,
        variants=(
            Variant(
                name="rises",
                statement="The loss on other inputs is the higher, the smaller the scale, in every draw.",
                conclusion=partial(has_falling_losses, side=-1),
                chance=Fraction(1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
