"""Where descent ends, exactly: at linear regression on some of the labels; and where the product's training ends."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from solvers.training.trajectory import TrainingStatus
from verify.claims.lai2026.audited_limits import certified_fit
from verify.claims.lai2026.exact_descent import Descent, Primal, Vector, captured, gram, step_size
from verify.claims.lai2026.hypotheses import STEP, by_sign
from verify.claims.records import Instance, Judgement, Outcome, failed, held, undecided
from verify.deciders.rounding import solve_exactly
from verify.numbers.floats import to_float, to_matrix
from verify.training import train

__all__ = ["MISSED", "UNTIL_CAPTURED", "ends_as_regressions", "ends_on", "is_regression", "trained_there"]

MISSED = "no step up to 150 shows that the pattern stays"

UNTIL_CAPTURED = (
    f"one to three neurons, n up to 32 and d up to 4096, also with neurons that see the same points; {STEP}; that "
    "the pattern stays for ever is proved, and open where no step up to 150 shows it"
)
"""The regime of claims about what follows once the pattern stays."""

NEAR = 1e-6
"""Relative distance within which the product's training has to end at the exact limit."""

GRADIENTS = 400
"""After which training is looked at, unless it ended before."""


def ends_as_regressions(instance: Instance) -> Judgement:
    """From the first step on each neuron is linear regression on the labels of its sign; it is off elsewhere.

    So positive labels are met by the positive neuron, negative ones by the negative neuron; a positive neuron alone is
    0 at negative labels, which is the least loss that it can have. The certificate `fits` says the same of the limit.
    """
    return ends_on(instance, by_sign(instance))


def ends_on(instance: Instance, sets: Sequence[Sequence[int]]) -> Judgement:
    """From the first step on neuron k is linear regression on the labels of sets[k], and it is off elsewhere."""
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    for k, seen in enumerate(sets):
        if [i for i, on in enumerate(found.pattern[k]) if on] != list(seen):
            return failed(f"neuron {k} ends on at other points than {seen}")
    if not is_regression(instance, found, sets):
        return failed("a neuron does not end where linear regression on its points does")
    fits = certified_fit(instance, found.limit)
    if fits.outcome is not Outcome.HELD:
        return fits
    return trained_there(instance, held(f"the pattern is for ever that of step {found.steps}", measured=found.steps))


def is_regression(instance: Instance, found: Descent, sets: Sequence[Sequence[int]]) -> bool:
    """Whether each limit is the projection of the weights after step 1 onto {w: w.x_i = |y_i| for i in S_k}."""
    products_of, labels = gram(instance), instance.data.targets
    for k, seen in enumerate(sets):
        gaps = [abs(labels[i]) - found.primal[1][k][i] for i in seen]
        m = solve_exactly([[products_of[i][j] for j in seen] for i in seen], gaps) if seen else []
        if m is None:
            return False
        steps: Vector = [Fraction(0)] * len(labels)
        for value, i in zip(m, seen, strict=True):
            steps[i] = value
        if [a + b for a, b in zip(found.moves[1][k], steps, strict=True)] != found.end[k]:
            return False
    return True


def trained_there(instance: Instance, judgement: Judgement) -> Judgement:
    """The judgement where the product's training ends at the exact limit, up to 1e-6 of its norm.

    Open where training had not come to an end, and is elsewhere.
    """
    gap, has_ended = _gap_of_training(instance)
    if gap <= NEAR:
        return judgement
    where = f"training in floats is {gap:.1e} of the norm away"
    return failed(where) if has_ended else undecided("training had not come to an end")


@lru_cache(maxsize=32)
def _gap_of_training(instance: Instance) -> tuple[float, bool]:
    """How far `verify.train` by gradient descent is from the exact limit, relative to that, and whether it stopped."""
    found = captured(instance)
    if found is None:
        return float("inf"), False
    step = to_float(step_size(instance)) * len(instance.data)
    run = train(
        instance.data, start=instance.network, loss="squared", method="descent", step=step, schedule="constant",
        hidden_only=True, max_evaluations=GRADIENTS,
    )  # fmt: skip
    exact, ended = _floats(found.limit), _floats([list(w) for w in run.network.hidden_weights])
    gap = float(np.linalg.norm(ended - exact) / (np.linalg.norm(exact) or 1.0))
    return gap, run.status in (TrainingStatus.CONVERGED, TrainingStatus.STOPPED)


def _floats(weights: Primal) -> np.ndarray:
    return to_matrix(weights)
