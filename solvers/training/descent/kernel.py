"""Steps of gradient descent for a dense network of two layers, compiled; `solvers.training.descent.gradient_descent` is
the reference.

Arrays are laid out with the neurons last, so that every inner loop runs over neurons and is vectorised: W (c, k),
preactivations z and signs (n, k). Sums over neurons are taken in an order that only the sizes decide.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Floats
from solvers.compilation import summing

__all__ = ["DescentRoom", "KernelRule", "adapted_steps", "plain_steps"]


EXPONENTIAL, LOGISTIC, SQUARED = range(3)  # the numbers in the records of `solvers.training.losses`
TINY = -30.0  # log(1 + exp t) = exp t below this
HUGE = 1e150  # outputs beyond this are called infinite


class KernelRule(NamedTuple):
    """The data and how a step is made; see `solvers.training.descent.gradient_descent`. moves (c, k), outer_moves (k,):
    1 or 0.
    """

    rows: Floats  # (n, c)
    targets: Floats  # (n,)
    loss: int
    slope: float
    at_zero: float  # the derivative of the activation at 0
    moves: Floats
    outer_moves: Floats
    step: float
    power: float  # of log 1/L by which a step divided by the loss is divided too; negative: it is not divided
    growth: float  # of the step after one that is kept
    decay: float  # of the step after one that is taken back


class DescentRoom(NamedTuple):
    """Room, and what is kept from call to call."""

    z: Floats  # (n, k)
    pulls: Floats  # (n, k) c_i g_ij v_j
    inner: Floats  # (c, k) minus the derivative of F by W
    outer: Floats  # (k,) and by v
    trial: Floats  # (c, k)
    outer_trial: Floats  # (k,)
    outputs: Floats  # (n,)
    coefficients: Floats  # (n,) c_i
    signs: NDArray[np.int8]  # (n, k) of the preactivations at the last step
    changes: NDArray[np.int64]  # (M, 3): unit, point, sign after
    times: Floats  # (M,) of the changes
    clock: Floats  # (2,) time so far, the step that is tried next
    counts: NDArray[np.int64]  # (2,) changes, steps kept


@summing
def plain_steps(rule, work, W, v, count):
    """Up to `count` steps, in place; how many were made.

    Fewer when the outputs are not finite (-1 - those made), or when there may be no room for the changes of a step.
    """
    n, k = work.z.shape
    for done in range(count):
        if work.counts[0] + n * k > work.changes.shape[0]:
            return done
        _preactivations(rule.rows, W, work.z)
        _note_changes(work)
        if not _outputs(work.z, v, rule.slope, work.outputs):
            return -1 - done
        log_loss = _coefficients(rule.loss, rule.targets, work.outputs, work.coefficients)
        factor = rule.step
        if rule.power >= 0.0:
            factor /= max(1.0, -log_loss) ** rule.power
        elif rule.loss != SQUARED:
            factor *= np.exp(log_loss)
        _gradient(rule, work, v)
        _move(rule, work, factor, W, v, W, v)
        work.clock[0] += factor
        work.counts[1] += 1
    return count


@summing
def adapted_steps(rule, work, W, v, count):
    """`count` trials of steps divided by the loss, in place; the result as that of `plain_steps`."""
    n, k = work.z.shape
    _preactivations(rule.rows, W, work.z)
    if not _outputs(work.z, v, rule.slope, work.outputs):
        return -1
    log_loss = _coefficients(rule.loss, rule.targets, work.outputs, work.coefficients)
    _gradient(rule, work, v)
    for done in range(count):
        if work.counts[0] + n * k > work.changes.shape[0]:
            return done
        step = work.clock[1]
        _move(rule, work, step, W, v, work.trial, work.outer_trial)
        _preactivations(rule.rows, work.trial, work.z)
        after = np.inf
        if _outputs(work.z, work.outer_trial, rule.slope, work.outputs):
            after = _coefficients(rule.loss, rule.targets, work.outputs, work.coefficients)
        if after <= log_loss:
            log_loss = after
            for q in range(W.shape[0]):
                for j in range(k):
                    W[q, j] = work.trial[q, j]
            for j in range(k):
                v[j] = work.outer_trial[j]
            work.clock[0] += step
            work.clock[1] = step * rule.growth
            work.counts[1] += 1
            _note_changes(work)
            _gradient(rule, work, v)
        else:
            work.clock[1] = step / rule.decay
    return count


@summing
def _preactivations(rows, W, z):
    for i in range(z.shape[0]):
        _combine(rows[i], W, z[i])


@summing
def _combine(factors, lines, total):
    """The sum of the lines times the factors, four at a time."""
    total[:] = 0.0
    count, q = factors.shape[0], 0
    while q + 4 <= count:
        x0, x1, x2, x3 = factors[q], factors[q + 1], factors[q + 2], factors[q + 3]
        w0, w1, w2, w3 = lines[q], lines[q + 1], lines[q + 2], lines[q + 3]
        for j in range(total.shape[0]):
            total[j] += (x0 * w0[j] + x1 * w1[j]) + (x2 * w2[j] + x3 * w3[j])
        q += 4
    while q < count:
        x0, w0 = factors[q], lines[q]
        for j in range(total.shape[0]):
            total[j] += x0 * w0[j]
        q += 1


@summing
def _note_changes(work):
    n, k = work.z.shape
    for i in range(n):
        zi, signs = work.z[i], work.signs[i]
        other = 0
        for j in range(k):
            other += (np.int8(zi[j] > 0) - np.int8(zi[j] < 0)) != signs[j]
        if other:
            for j in range(k):
                sign = np.int8(zi[j] > 0) - np.int8(zi[j] < 0)
                if sign != signs[j]:
                    at = work.counts[0]
                    work.changes[at, 0] = j
                    work.changes[at, 1] = i
                    work.changes[at, 2] = sign
                    work.times[at] = work.clock[0]
                    work.counts[0] += 1
                    signs[j] = sign


@summing
def _outputs(z, v, slope, outputs):
    """f, and whether all are finite."""
    n, k = z.shape
    is_finite = True
    for i in range(n):
        zi = z[i]
        total = 0.0
        for j in range(k):
            total += v[j] * (zi[j] if zi[j] > 0.0 else slope * zi[j])
        outputs[i] = total
        is_finite = is_finite and abs(total) < HUGE
    return is_finite


@summing
def _coefficients(loss, targets, outputs, c):
    """c_i = -dF/df_i as in `solvers.training.losses`; log L."""
    n = targets.shape[0]
    if loss == SQUARED:
        total = 0.0
        for i in range(n):
            rest = targets[i] - outputs[i]
            total += rest * rest
            c[i] = rest / n
        return np.log(total / (2 * n)) if total > 0.0 else -np.inf
    top = -np.inf
    for i in range(n):
        t = -targets[i] * outputs[i]
        if loss == LOGISTIC and t >= TINY:
            t = np.log(np.log1p(np.exp(t)) if t <= 0.0 else t + np.log1p(np.exp(-t)))
        c[i] = t
        top = max(top, t)
    total = 0.0
    for i in range(n):
        total += np.exp(c[i] - top)
    log_sum = top + np.log(total)
    for i in range(n):
        if loss == LOGISTIC:
            q = targets[i] * outputs[i]
            log_sigmoid = -(np.log1p(np.exp(-q)) + q) if q >= 0.0 else -np.log1p(np.exp(q))
            c[i] = targets[i] * np.exp(log_sigmoid - log_sum)
        else:
            c[i] = targets[i] * np.exp(c[i] - log_sum)
    return log_sum - np.log(n)


@summing
def _gradient(rule, work, v):
    n, k = work.z.shape
    outer, pulls, rows = work.outer, work.pulls, rule.rows
    slope, at_zero = rule.slope, rule.at_zero
    outer[:] = 0.0
    for i in range(n):
        zi, pi, ci = work.z[i], pulls[i], work.coefficients[i]
        for j in range(k):
            g = 1.0 if zi[j] > 0.0 else (slope if zi[j] < 0.0 else at_zero)
            pi[j] = ci * g * v[j]
            outer[j] += ci * (zi[j] if zi[j] > 0.0 else slope * zi[j])
    for q in range(rows.shape[1]):
        _combine(rows[:, q], pulls, work.inner[q])


@summing
def _move(rule, work, factor, W, v, to_W, to_v):
    """W and v after a step, in to_W and to_v."""
    c, k = W.shape
    for q in range(c):
        w, to_w, moves, inner = W[q], to_W[q], rule.moves[q], work.inner[q]
        for j in range(k):
            to_w[j] = w[j] + factor * moves[j] * inner[j]
    for j in range(k):
        to_v[j] = v[j] + factor * rule.outer_moves[j] * work.outer[j]
