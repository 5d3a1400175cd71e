"""Gradient flow of the squared loss from a small multiple of an instance's network, step by step.

The loss is L = 1/(2n) sum (f(x_i) - y_i)^2, and the time that of dtheta/dt = -grad L, as in arXiv:2306.06479.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

import numpy as np

from solvers.arrays import Floats
from solvers.training.trajectory import Moment, TrainingStatus
from verify.claims.records import Instance
from verify.claims.trainings import EVALUATIONS, flowed
from verify.training import rows_of, targets_of

__all__ = ["FITTED", "Flow", "flow_from", "velocity"]


FITTED = 1e-18
"""Of the mean square of the targets: the loss at which a flow is stopped."""


@final
@dataclass(frozen=True)
class Flow:
    """A flow with all its steps.

    rows (n, d), targets (n,).   times (T,), hidden (T, m, d), outgoing (T, m), log_losses (T,).
    changes: (time, neuron, point, sign of w.x before, and after).
    is_fitted: the loss fell to what was asked.   has_converged: nothing moves any more.
    """

    rows: Floats
    targets: Floats
    times: Floats
    hidden: Floats
    outgoing: Floats
    log_losses: Floats
    changes: tuple[tuple[float, int, int, int, int], ...]
    is_fitted: bool
    has_converged: bool
    reason: str

    @cached_property
    def norms(self) -> Floats:
        """|w_j|, shape (T, m)."""
        return np.linalg.norm(self.hidden, axis=2)

    def at(self, time: float) -> tuple[Floats, Floats]:
        """Hidden and output weights at any time: integrated anew from the last step before it."""
        from scipy.integrate import solve_ivp

        k = int(np.searchsorted(self.times, time, side="right")) - 1
        hidden, outgoing = self.hidden[k], self.outgoing[k]
        if k == len(self.times) - 1 or time == self.times[k]:
            return hidden, outgoing
        scale = max(float(self.norms[k].max()), 1e-300)
        shape = hidden.shape

        def rate(_: float, y: Floats) -> Floats:
            w, a = y[: hidden.size].reshape(shape), y[hidden.size :]
            return np.concatenate([part.ravel() for part in velocity(self.rows, self.targets, w, a, scale)])

        start = np.concatenate([hidden.ravel(), outgoing]) / scale
        small = np.concatenate([np.repeat(self.norms[k], shape[1]), self.norms[k]]) / scale
        end = solve_ivp(
            rate, (self.times[k], time), start, method="DOP853", rtol=1e-10, atol=1e-11 * np.maximum(small, 1e-30)
        ).y[:, -1]
        return scale * end[: hidden.size].reshape(shape), scale * end[hidden.size :]


def velocity(
    rows: Floats, targets: Floats, hidden: Floats, outgoing: Floats, scale: float = 1.0
) -> tuple[Floats, Floats]:
    """(dw, da) / dt of the flow of L at scale times these weights, divided by scale; slope 0 at a kink."""
    z = rows @ hidden.T
    on = z > 0
    rest = targets - scale**2 * (z * on) @ outgoing
    pulls = (on * rest[:, None]).T @ rows / len(rows)  # g_j, shape (m, d)
    return outgoing[:, None] * pulls, (hidden * pulls).sum(axis=1)


@lru_cache(maxsize=128)
def flow_from(instance: Instance, scale: float, accuracy: float = 1e-8, fitted: float = FITTED) -> Flow:
    """The flow from `scale` times the network, until it fits, nothing moves or the evaluations end.

    accuracy: of each step, relative to each neuron.   fitted: the loss that fits, relative to the mean square of the
    targets.   Raises KeyboardInterrupt at Ctrl-C.
    """
    shape = instance.network.architecture
    rows = rows_of(instance.data, shape)
    targets = targets_of(instance.data)
    m, d = shape.width, instance.data.dimension
    bound = float(np.log(fitted * (targets**2).mean()))
    moments: list[tuple[float, Floats, float]] = []

    def note(moment: Moment) -> None:
        moments.append((moment.time, moment.theta.copy(), moment.log_loss))

    run = flowed(
        instance, loss="squared", scale=scale, evaluations=EVALUATIONS, on_progress=note, rtol=accuracy,
        stop=lambda moment: "it fits" if moment.log_loss <= bound else None,
    )  # fmt: skip
    note(Moment(run.time, run.theta, np.array([]), run.trajectory.log_losses[-1], 0.0, 0.0, 0))
    thetas = np.array([theta for _, theta, _ in moments])
    changes = tuple(
        (float(t), int(unit), int(point), int(before), int(after))
        for t, (_, unit, point, before, after) in zip(run.trajectory.change_times, run.trajectory.changes, strict=True)
    )
    return Flow(
        rows=rows,
        targets=targets,
        times=np.array([time for time, _, _ in moments]),
        hidden=thetas[:, : m * d].reshape(len(moments), m, d),
        outgoing=thetas[:, m * d :],
        log_losses=np.array([loss for _, _, loss in moments]),
        changes=changes,
        is_fitted=moments[-1][2] <= bound,
        has_converged=run.status is TrainingStatus.CONVERGED,
        reason=run.reason,
    )
