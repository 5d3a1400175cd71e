"""A loss with weight decay without any neuron: the best constant output, and the price from which on no neuron pays."""

from __future__ import annotations

import numpy as np

from solvers.any_width.ascents import Ascents
from solvers.any_width.columns import ColumnPool
from solvers.any_width.convex_losses import DecayInstance, scaled_decay
from solvers.any_width.working_set import WorkingSet

__all__ = ["best_constant", "constant_output", "without_neurons"]

DOUBLINGS, HALVINGS = 12, 200  # of the interval in which the constant is sought


def without_neurons(given: DecayInstance, *, seed: int = 0) -> tuple[float, float]:
    """The best constant (0 without an output bias), and the largest |h(u)| / ||u|| that ascents find at its c.

    A neuron costs at least price ||u|| and lowers the losses by h(u) at first order. With a loss of corners there may
    be other c at that constant, and what is found is one of several prices.
    """
    scaled = scaled_decay(given)
    problem, frame, random = scaled.instance, scaled.frame, np.random.default_rng(seed)
    targets = problem.data.targets
    constant = 0.0 if problem.bias is None else best_constant(problem)
    c = problem.loss.slopes(targets, np.full(len(targets), constant))
    if problem.bias == 0:
        c = c - c.sum() * np.abs(c) / max(float(np.abs(c).sum()), 1e-300)
    pool = ColumnPool(frame.instance, WorkingSet(frame, random))
    _, largest = Ascents(frame, pool, 1e-9, random).columns(c, problem.price, seeds=None)
    return constant * scaled.outputs, largest / problem.price * given.price


def constant_output(given: DecayInstance) -> float:
    """The best constant alone, of a problem with an output bias."""
    scaled = scaled_decay(given)
    return best_constant(scaled.instance) * scaled.outputs


def best_constant(problem: DecayInstance) -> float:
    """By bisection of what pulls at it; far out where all targets pull the same way."""
    targets = problem.data.targets

    def pull(b: float) -> float:
        slopes = problem.loss.slopes(targets, np.full(len(targets), b))
        return float(slopes.sum()) - (problem.bias or 0.0) * b

    far = max(float(np.abs(targets).max()), 1.0)
    for _ in range(DOUBLINGS):
        if pull(-far) >= 0 >= pull(far):
            break
        far *= 2
    low, high = -far, far
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if pull(middle) > 0 else (low, middle)
    return (low + high) / 2
