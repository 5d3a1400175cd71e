"""What makes the steps of gradient descent: plain numpy for layers of any kind, the kernel for two dense ones.

Plain numpy is the reference; the two differ by the rounding of their sums. Both keep the signs of the preactivations as
of the last step and tell of every change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Bits, Floats
from solvers.layers import Layers
from solvers.training.losses import Loss, rule_of, value

__all__ = ["CompiledSteps", "Note", "NumpySteps", "Rule", "Schedule", "Signs", "Stand"]

Signs: TypeAlias = list[NDArray[np.int8]]
"""For each hidden layer the signs of its preactivations, (n, outputs)."""

Note: TypeAlias = Callable[[float, int, int, int, int, int], None]
"""Told of a change: time, layer, unit, point, sign before, sign after."""

Schedule: TypeAlias = Literal["constant", "loss-scaled", "loss-adapted"]
"""See `solvers.training.descent.gradient_descent`."""

GROWTH: Final = 2 ** (1 / 5)  # of an adapted step after one that is kept
DECAY: Final = 2 ** (1 / 10)  # and after one that is taken back
HUGE: Final = 1e150  # outputs beyond this are called infinite
OFF: Final = 1e-12  # a neuron is off for good at a point when x.w is below minus this part of ||x|| ||w||


@dataclass(frozen=True)
class Rule:
    """What decides every step.

    rows (n, c), targets (n,).   trained (N,): which parameters move.
    at_zero: the derivative of the activations at 0, None for the left one.
    """

    layers: Layers
    rows: Floats
    targets: Floats
    loss: Loss
    step: float
    schedule: Schedule
    trained: Bits
    at_zero: float | None

    def slope_at_zero(self, layer: int) -> float:
        """The derivative of a layer's activation at 0."""
        return self.layers.slopes[layer] if self.at_zero is None else self.at_zero

    def pattern(self, preactivations: list[Floats]) -> list[Floats]:
        """The derivatives of the activations."""
        found = self.layers.pattern(preactivations[:-1])
        for layer, slopes in enumerate(found):
            slopes[preactivations[layer] == 0] = self.slope_at_zero(layer)
        return found

    @property
    def power(self) -> float:
        """Of log 1/L, by which a loss-scaled step is divided: the curvature of log L grows like it."""
        return 2.0 - 2.0 / len(self.layers.places)

    def factor(self, log_loss: float) -> float:
        """What -grad F is multiplied with, F = log L or L: the length of a step in the time of F."""
        if self.schedule == "loss-scaled":
            return self.step / max(1.0, -log_loss) ** self.power
        return self.step * float(np.exp(log_loss)) if rule_of(self.loss).is_for_margins else self.step

    def signs(self, theta: Floats) -> Signs:
        """The signs of the preactivations."""
        return [np.sign(z).astype(np.int8) for z in self.layers.preactivations(theta, self.rows)[:-1]]

    def fingerprint(self) -> NDArray[np.uint8]:
        """Of everything here, so that a checkpoint is not continued as another run."""
        found = hashlib.sha256(repr((self.loss, self.step, self.schedule, self.at_zero, self.layers.slopes)).encode())
        for array in (self.rows, self.targets, self.trained, *self.layers.places):
            found.update(repr((array.shape, str(array.dtype))).encode())
            found.update(np.ascontiguousarray(array).tobytes())
        return np.frombuffer(found.digest(), dtype=np.uint8)


@dataclass(frozen=True)
class Stand:
    """Where a run stands.

    made: steps tried, kept: those not taken back.   clock: the time of F.   step: the next one (loss-adapted).
    signs: of the preactivations at the last step.   active: neurons in the loops (compiled).
    """

    theta: Floats
    made: int
    kept: int
    clock: float
    step: float
    signs: Signs
    active: Bits


class NumpySteps:
    """Steps in numpy, for layers of any kind."""

    def __init__(self, rule: Rule, theta: Floats) -> None:
        self.rule = rule
        self.restore(Stand(theta, 0, 0, 0.0, rule.step, rule.signs(theta), np.zeros(0, bool)))

    def restore(self, stand: Stand) -> None:
        """Stand there."""
        self._theta, self._made, self._kept = stand.theta.copy(), stand.made, stand.kept
        self._clock, self._step, self._active = stand.clock, stand.step, stand.active
        self._signs = [layer.copy() for layer in stand.signs]

    def stand(self) -> Stand:
        """A copy of where the run stands."""
        signs = [layer.copy() for layer in self._signs]
        return Stand(self._theta.copy(), self._made, self._kept, self._clock, self._step, signs, self._active.copy())

    def prepare(self) -> None:
        """Nothing has to be chosen."""

    def advance(self, count: int, note: Note) -> bool:
        """Up to `count` steps, at least one; whether the outputs stayed finite."""
        return self._adapted(count, note) if self.rule.schedule == "loss-adapted" else self._plain(count, note)

    def _plain(self, count: int, note: Note) -> bool:
        rule = self.rule
        for _ in range(count):
            z = rule.layers.preactivations(self._theta, rule.rows)
            self._compare(z, note)
            if not (np.abs(z[-1]) < HUGE).all():
                return False
            valued = value(rule.loss, rule.targets, z[-1][:, 0])
            factor = rule.factor(valued.log_loss)
            self._theta = self._theta + factor * self._descent(z, valued.pull)
            self._clock += factor
            self._made += 1
            self._kept += 1
        return True

    def _adapted(self, count: int, note: Note) -> bool:
        rule = self.rule
        z = rule.layers.preactivations(self._theta, rule.rows)
        if not (np.abs(z[-1]) < HUGE).all():
            return False
        valued = value(rule.loss, rule.targets, z[-1][:, 0])
        descent = self._descent(z, valued.pull)
        for _ in range(count):
            trial = self._theta + self._step * descent
            z = rule.layers.preactivations(trial, rule.rows)
            after = value(rule.loss, rule.targets, z[-1][:, 0]) if (np.abs(z[-1]) < HUGE).all() else None
            self._made += 1
            if after is None or after.log_loss > valued.log_loss:
                self._step /= DECAY
                continue
            self._theta, valued = trial, after
            self._clock += self._step
            self._step *= GROWTH
            self._kept += 1
            self._compare(z, note)
            descent = self._descent(z, valued.pull)
        return True

    def _descent(self, z: list[Floats], pull: Floats) -> Floats:
        """-grad F, 0 where nothing is trained."""
        rule = self.rule
        return np.where(rule.trained, rule.layers.gradient(self._theta, rule.rows, rule.pattern(z), pull), 0.0)

    def _compare(self, z: list[Floats], note: Note) -> None:
        for layer, before in enumerate(self._signs):
            now = np.sign(z[layer]).astype(np.int8)
            changed = now != before
            if changed.any():
                for point, unit in np.argwhere(changed).tolist():
                    note(self._clock, layer, unit, point, int(before[point, unit]), int(now[point, unit]))
                self._signs[layer] = now


class CompiledSteps:
    """Steps in the kernel, for two dense layers.

    A neuron of a ReLU network that is off at every point never moves again: such neurons are left out of the loops.
    Raises ImportError where there is no numba.
    """

    def __init__(self, rule: Rule, theta: Floats) -> None:
        self.rule = rule
        self.k, self.c = rule.layers.places[0].shape
        self.restore(Stand(theta, 0, 0, 0.0, rule.step, rule.signs(theta), np.ones(self.k, bool)))

    def restore(self, stand: Stand) -> None:
        """Stand there."""
        self._theta, self._made, self._kept = stand.theta.copy(), stand.made, stand.kept
        self._clock, self._step = stand.clock, stand.step
        self._active = stand.active.copy() if stand.active.size == self.k else np.ones(self.k, bool)
        self._signs = stand.signs[0].copy()
        self._place()

    def stand(self) -> Stand:
        """A copy of where the run stands."""
        self._gather()
        return Stand(
            self._theta.copy(), self._made, self._kept, self._clock, self._step, [self._signs.copy()],
            self._active.copy(),
        )  # fmt: skip

    def prepare(self) -> None:
        """Choose the neurons to run over. Sums depend on it, so this is done at fixed numbers of steps only."""
        if self.rule.layers.slopes[0] != 0:
            return
        self._gather()
        weights, rows = self._parts(self._theta)[0], self.rule.rows
        reach = np.linalg.norm(weights, axis=1)[:, None] * np.linalg.norm(rows, axis=1)
        active = self._active & ~(weights @ rows.T < -OFF * reach).all(axis=1)
        if (active != self._active).any():
            self._active = active
            self._place()

    def advance(self, count: int, note: Note) -> bool:
        """Up to `count` steps, at least one; whether the outputs stayed finite."""
        from solvers.training.descent.kernel import adapted_steps, plain_steps

        steps = adapted_steps if self.rule.schedule == "loss-adapted" else plain_steps
        work, signs, places = self._work, self._signs, np.flatnonzero(self._active)
        work.clock[:], work.counts[:] = (self._clock, self._step), 0
        made = int(steps(self._kernel_rule, work, self._W, self._v, count))
        self._made += made if made >= 0 else -1 - made
        self._kept += int(work.counts[1])
        self._clock, self._step = work.clock.tolist()
        changes = work.changes[: int(work.counts[0])].tolist()
        for clock, (unit, point, after) in zip(work.times.tolist(), changes, strict=False):
            j = int(places[unit])
            note(clock, 0, j, point, int(signs[point, j]), after)
            signs[point, j] = after
        return made >= 0

    def _parts(self, theta: Floats) -> tuple[Floats, Floats]:
        """W (k, c) and v (k,), views."""
        return theta[: self.k * self.c].reshape(self.k, self.c), theta[self.k * self.c :]

    def _gather(self) -> None:
        """The active neurons back into theta."""
        weights, outgoing = self._parts(self._theta)
        weights[self._active], outgoing[self._active] = self._W.T, self._v

    def _place(self) -> None:
        """Arrays for the active neurons."""
        from solvers.training.descent.kernel import DescentRoom, KernelRule

        rule, active, number = self.rule, self._active, rule_of(self.rule.loss).kernel
        if number is None:
            raise ValueError(f"the compiled kernel does not have the {rule.loss} loss")
        n, k = len(rule.rows), int(active.sum())
        weights, outgoing = self._parts(self._theta)
        moves, outer_moves = self._parts(rule.trained.astype(np.float64))
        self._W, self._v = np.ascontiguousarray(weights[active].T), outgoing[active].copy()
        self._kernel_rule: Any = KernelRule(
            rows=rule.rows,
            targets=rule.targets,
            loss=number,
            slope=float(rule.layers.slopes[0]),
            at_zero=float(rule.slope_at_zero(0)),
            moves=np.ascontiguousarray(moves[active].T),
            outer_moves=outer_moves[active],
            step=rule.step,
            power=rule.power if rule.schedule == "loss-scaled" else -1.0,
            growth=GROWTH,
            decay=DECAY,
        )
        room = 2 * n * k + 4096
        self._work: Any = DescentRoom(
            z=np.zeros((n, k)),
            pulls=np.zeros((n, k)),
            inner=np.zeros((self.c, k)),
            outer=np.zeros(k),
            trial=np.zeros((self.c, k)),
            outer_trial=np.zeros(k),
            outputs=np.zeros(n),
            coefficients=np.zeros(n),
            signs=np.ascontiguousarray(self._signs[:, active]),
            changes=np.zeros((room, 3), dtype=np.int64),
            times=np.zeros(room),
            clock=np.zeros(2),
            counts=np.zeros(2, dtype=np.int64),
        )
