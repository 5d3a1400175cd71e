"""Gradient flow d theta / ds = -grad F(theta), F = log L (exponential, logistic loss) or L (squared), to its limit.

The flow of log L runs along the same curve as that of L, whose time is exp(q): it reaches in seconds what L needs
longer than the universe for. An activation pattern gives one smooth piece (`smooth_flow`); at the kink of a unit at a
point (`flow_events`) the flow goes through, or slides along it (`sliding`).
"""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from solvers.arrays import Bits, Floats
from solvers.layers import Layers
from solvers.shared_state import without_warnings
from solvers.training import trajectory
from solvers.training.balance import Balance
from solvers.training.flow.events import Event, Sides, earliest
from solvers.training.flow.integrators import CALM, METHODS, Integrators, Method, stepped
from solvers.training.flow.smooth import Look, Mode, Task
from solvers.training.flow.state import State, fingerprint
from solvers.training.losses import LOSSES, Loss, rule_of
from solvers.training.trajectory import Moment, Recorder, Training, TrainingStatus

__all__ = ["METHODS", "Method", "gradient_flow"]

RENEWAL = 200  # steps after which the integrator starts anew, so that a resumed run is the same computation
LOOK = 20  # steps after which the method, and whether anything moves, are looked at
REJECTIONS = 40  # of steps in a row that would raise the loss
STUCK = 200  # events in a row without progress
FINEST = 1e8  # the largest B whose softmax weights are taken: their rounding error is 1e-16 B
NEARLY_CANCELLED = 1e-6  # and the integrator does not go on
CANCELLED = 1e-12  # ||sum c_i grad f_i|| in units of sum |c_i| ||grad f_i||: nothing moves
INTERPOLATED = 1e-28  # squared loss in units of the mean of y^2
SMOOTH_PIECE = 2.0  # change of log(ds / dtau) over which the time is integrated at once
LONGEST = 20.0  # change of log ||theta|| after which the integrator starts anew


def gradient_flow(
    layers: Layers,
    rows: Floats,
    targets: Floats,
    theta0: Floats,
    *,
    loss: Loss,
    trained: Bits | None = None,
    stop: Callable[[Moment], str | None] | None = None,
    residual: float = 1e-7,
    rtol: float = 1e-8,
    method: Method = "auto",
    resolution: float = 1e7,
    max_time: float = np.inf,
    max_steps: int = 1_000_000,
    max_evaluations: int = 10_000_000,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 2.0,
    resume: bool = False,
    on_progress: Callable[[Moment], None] | None = None,
) -> Training:
    """The gradient flow from theta0, until the stop test says so or nothing moves any more.

    rows (n, columns): the points, with a 1 appended where there is a bias. targets (n,): +-1, for the squared loss any
    numbers. theta0 (N,); trained (N,): the parameters that move, all by default.
    stop: called after each step and event; a sentence ends the run. It sees ||u' || / ||V|| as `residual`: for the
    exponential and logistic loss the Clarke KKT residual ||theta / ||theta|| - sum lambda_i y_i grad f_i(g)|| of the
    direction with the loss's own multipliers and the slopes g of the flow (by and of what is trained).
    residual: where the run ends by itself ("converged").
    rtol: of each step, relative to each neuron's own norm (depth 2), or each layer's.
    method: explicit (DOP853, RK45), implicit (Radau), or chosen by the stiffness.
    resolution: B = ||theta||^depth from which on the softmax weights are those of the network on the same ray with that
    B; the direction then differs from the flow's by the order of 1 / B. It is raised to 1e8 before the end.
    checkpoint: an .npz file (`solvers.training.trajectory.load` reads the trajectory in it), rewritten every
    `checkpoint_seconds`; with `resume` the run goes on from it, to the same end bit for bit. Another run's file is a
    ValueError, a damaged one a TrajectoryFileError; without a file the run starts at theta0.
    max_evaluations: of the gradient, the Jacobians' included.

    Time is s of the docstring above: log-loss time for the exponential and logistic loss. Two runs are the same bit for
    bit on one machine. Ctrl-C returns what was reached, as "interrupted"; the file is that of the last checkpoint.
    Beyond a norm of 1e200 (to the power of 1 / depth) theta is the point of that norm on the ray.

    This is floats: no proof. Guaranteed by construction: along accepted steps the loss does not increase; the balance
    of each unit is conserved to rounding. Not noticed: a unit that changes sign twice within a quarter of a step; in a
    network of depth 3 or more, that the inputs of a higher unit are parallel at several points, whose kinks are then
    met one by one though they are one. Where the flow is not unique (a start on a kink from which both sides push away;
    w_j = 0 with v_j != 0) one is chosen, in the same way each time: z > 0; the direction that grows fastest of those
    along and against the points, climbed from there.

    Source: arXiv:1906.05890v4, section 2; arXiv:2306.06479; Filippov (1988), chapter 2; Hairer and Wanner, Solving
    Ordinary Differential Equations II (1996), section IV.8.
    """
    rows, targets, theta0 = (np.array(part, dtype=float) for part in (rows, targets, theta0))
    moving = np.ones(layers.size, bool) if trained is None else np.array(trained, dtype=bool)
    _validate(layers, rows, targets, theta0, moving, loss, method)
    task = Task(layers, rows, targets, loss, moving)
    if not all(np.isfinite(part).all() for part in (rows, targets, theta0)):
        return _nothing(theta0, TrainingStatus.FAILED, "the data or the initial parameters contain NaN or infinity")
    if not theta0.any():
        return _nothing(theta0, TrainingStatus.CONVERGED, "all parameters are 0: nothing moves")
    flow = _Flow(task, theta0, rtol, method, residual, resolution)
    flow.stop, flow.on_progress = stop, on_progress
    flow.limits = (max_time, max_steps, max_evaluations)
    flow.file, flow.file_seconds = None if checkpoint is None else Path(checkpoint), checkpoint_seconds
    flow.mark = fingerprint(task, theta0, f"{rtol} {method} {residual} {resolution}")
    with np.errstate(all="ignore"), without_warnings():
        return flow.run(resume=resume)


class _EndedError(Exception):
    """The run is over."""

    def __init__(self, status: TrainingStatus, reason: str) -> None:
        super().__init__(reason)
        self.status: TrainingStatus = status
        self.reason = reason


class _Flow:
    """One run: its state, its record, and the integrator of the present segment."""

    stop: Callable[[Moment], str | None] | None = None
    on_progress: Callable[[Moment], None] | None = None
    limits: tuple[float, int, int] = (np.inf, 0, 0)
    file: Path | None = None
    file_seconds = 0.0
    mark = ""

    def __init__(
        self, task: Task, theta0: Floats, rtol: float, method: Method, residual: float, resolution: float
    ) -> None:
        self.task, self.residual = task, residual
        self.depth = len(task.layers.places)
        self.balance = Balance(task.layers, task.trained)
        self.invariants = self.balance.values(theta0)
        self.state = State.at(task, theta0, resolution)
        self.recorder = Recorder()
        self.integrators = Integrators(task.layers, rtol, method)
        self.log_start, self.rejected, self.written = 0.0, 0, -np.inf

    def run(self, *, resume: bool) -> Training:
        """The whole of it."""
        status: TrainingStatus
        try:
            if not (resume and self.file is not None and self._resumed(self.file)):
                self.state.resolve_initial_kinks(self.task, self.recorder)
                self._onto_held_surfaces()
            while True:
                self._save()
                self._segment()
        except _EndedError as end:
            status, reason = end.status, end.reason
            self._save(always=True)
        except KeyboardInterrupt:
            status, reason = TrainingStatus.INTERRUPTED, f"interrupted at {self._words()}"
        self._sample(self.state.evaluations, force=True)
        s = self.state
        counts = {"steps": s.steps, "jacobians": s.jacobians, "events": s.events}
        record, (kinks, slopes) = self.recorder.trajectory(), s.kinks(self.task)
        return Training(
            status, reason, s.theta(self.task), s.time, record, s.evaluations, held=kinks, slopes=slopes, counts=counts
        )

    def _segment(self) -> None:
        """Steps of one integrator: until an event, a change of method, or RENEWAL of them."""
        s = self.state
        if s.freeze_zero_neurons(self.task, self.recorder):
            self._onto_held_surfaces()
        mode, self.log_start = s.mode(self.task), s.log_kappa
        y = np.append(s.u, 0.0)
        sides = Sides(mode, s.signs, y[:-1])
        try:
            look = mode.look(y)
            self._report(mode, y, look)
            s.method = self.integrators.choice(s, mode, y, look)
            solver, s.calm = self.integrators.start(s.method, mode, y, s.step), 0
            objective = self._objective(look, mode, y)[0]
            for count in range(1, RENEWAL + 1):
                start, y_start = solver.t, solver.y.copy()
                message = stepped(solver)
                if solver.status == "failed" or not np.isfinite(solver.y).all():
                    if mode.cancellation(y, look) <= NEARLY_CANCELLED:
                        raise _EndedError(TrainingStatus.CONVERGED, f"the gradient vanishes at {self._words()}")
                    reason = f"the integrator cannot go on ({message}) at {self._words()}"
                    raise _EndedError(TrainingStatus.FAILED, reason)
                dense = solver.dense_output()
                event = earliest(mode, dense, start, solver.t, s.signs, sides)
                s.step, s.steps, s.calm = float(solver.h_abs), s.steps + 1, s.calm + 1
                if event is not None:
                    self._cross_event(mode, event, dense, (start, y_start, solver.t))
                    return
                s.stuck = 0
                s.flipped.clear()
                y = self._restored(mode, solver.y)
                look = mode.look(y)
                now, slack = self._objective(look, mode, y)
                if not now <= objective + slack:
                    self._reject((solver.t - start) / 4)
                    return
                self.rejected, objective = 0, now
                self._advance_to(y, self._elapsed(dense, start, solver.t))
                self._report(mode, y, look)
                solver.y, solver.f = y, look.rate
                if s.resting.any() and s.freeze_zero_neurons(self.task, self.recorder):
                    return
                if sides.is_provisional and count >= CALM:
                    return
                if abs(y[-1]) > LONGEST or s.frozen(self.task) != mode.frozen:
                    return
                if count % LOOK == 0 and mode.cancellation(y, look) <= CANCELLED:
                    raise _EndedError(TrainingStatus.CONVERGED, f"the gradient vanishes at {self._words()}")
                if count % LOOK == 0 or count == CALM:
                    before, s.method = s.method, self.integrators.choice(s, mode, y, look)
                    if s.method != before:
                        return
        finally:
            s.evaluations += mode.evaluations
            s.jacobians += mode.jacobians

    def _cross_event(self, mode: Mode, event: Event, dense: Any, step: tuple[float, Floats, float]) -> None:
        s, (start, y_start, end) = self.state, step
        if event.time - start <= 1e-13 * (end - start):
            s.stuck, s.step = s.stuck + 1, min(s.step, end - start)
            if s.stuck > STUCK:
                reason = f"the flow does not get away from a kink, {event.kink}, at {self._words()}"
                raise _EndedError(TrainingStatus.FAILED, reason)
        else:
            s.stuck = 0
            s.flipped.clear()
        s.events += 1
        self._advance_to(
            self._restored(mode, self._reached(mode, dense, start, y_start, event.time)),
            self._elapsed(dense, start, event.time),
        )
        y = np.append(s.u, s.log_kappa - self.log_start)
        s.cross_event(self.task, self.recorder, mode, y, event)
        self._onto_held_surfaces()

    def _onto_held_surfaces(self) -> None:
        """The state on the surfaces that are held now, with signs for all that moves."""
        s = self.state
        s.activate_zero_neurons(self.task, self.recorder)
        y = s.mode(self.task).onto(np.append(s.u, 0.0))
        s.u, s.log_kappa = y[:-1].copy(), s.log_kappa + float(y[-1])

    def _reached(self, mode: Mode, dense: Any, start: float, y_start: Floats, time: float) -> Floats:
        """y at an event: of an implicit method by steps that end there, for between steps c is not accurate."""
        if time <= start or self.state.method != "Radau":
            return dense(time) if time > start else y_start
        solver = self.integrators.start("Radau", mode, y_start, time - start, start, time)
        while solver.status == "running":
            solver.step()
        return solver.y if solver.status == "finished" and np.isfinite(solver.y).all() else dense(time)

    def _reject(self, step: float) -> None:
        self.rejected, self.state.step = self.rejected + 1, step
        if self.rejected > REJECTIONS:
            raise _EndedError(TrainingStatus.FAILED, f"the loss falls no more in floats, at {self._words()}")

    def _advance_to(self, y: Floats, elapsed: float) -> None:
        s = self.state
        s.u, s.log_kappa, s.time = y[:-1].copy(), self.log_start + float(y[-1]), s.time + elapsed

    def _restored(self, mode: Mode, y: Floats) -> Floats:
        """y with ||u|| = 1, on the held surfaces, with the balance of the beginning."""
        y = mode.onto(y)
        square = float(np.exp(-2 * (self.log_start + y[-1])))
        return np.append(self.balance.restored(y[:-1], [b * square for b in self.invariants]), y[-1])

    def _elapsed(self, dense: Any, start: float, end: float) -> float:
        """The time s of a step in tau."""
        if self.depth == 2 or end <= start:
            return end - start
        pieces = 1 + int(abs(dense(end)[-1] - dense(start)[-1]) * (self.depth - 2) / SMOOTH_PIECE)
        nodes, weights = np.polynomial.legendre.leggauss(12)
        edges = np.linspace(start, end, pieces + 1)
        total = 0.0
        for low, high in pairwise(edges):
            logs = [self.log_start + dense(low + (high - low) * (1 + node) / 2)[-1] for node in nodes]
            total += (high - low) / 2 * float(weights @ np.exp((2 - self.depth) * np.array(logs)))
        return total

    def _objective(self, look: Look, mode: Mode, y: Floats) -> tuple[float, float]:
        """F and its rounding error."""
        value = look.valued.objective
        largest = mode.temperature(y) * float(np.abs(look.preactivations[-1]).max())
        if not rule_of(self.task.loss).is_for_margins:
            largest = max(largest, float(np.abs(self.task.targets).max()))
            return value, 1e-14 * largest * np.sqrt(value) + 1e-28 * largest**2
        return value, 1e-13 * (1 + largest)

    # ------------------------------------------------------------------------------------- reports
    def _report(self, mode: Mode, y: Floats, look: Look) -> None:
        """Record the present state, tell the caller, and see whether this is the end."""
        s, task = self.state, self.task
        if s.held:
            s.tau = [float(part) for part in np.clip(mode.needed(y)[0], 0.0, 1.0)]
        evaluations = s.evaluations + mode.evaluations
        theta, outputs, log_loss, margin, norm = self._sample(evaluations)
        size = float(np.linalg.norm(look.velocity))
        moving = np.where(task.trained, s.u, 0.0)
        along = float(look.velocity @ moving) / max(float(moving @ moving), 1e-300)
        rest = float(np.linalg.norm(look.velocity - along * moving)) / size if size else 0.0
        moment = Moment(s.time, theta, outputs, log_loss, margin, rest, evaluations, *s.kinks(task), norm)
        if self.on_progress:
            self.on_progress(moment)
        if self.stop and (reason := self.stop(moment)):
            raise _EndedError(TrainingStatus.STOPPED, reason)
        if not size:
            raise _EndedError(TrainingStatus.CONVERGED, f"nothing moves at {self._words()}")
        if not rule_of(task.loss).is_for_margins:
            if look.valued.objective <= INTERPOLATED * float(task.targets @ task.targets) / len(task.targets):
                raise _EndedError(TrainingStatus.CONVERGED, f"the loss is 0 to rounding at {self._words()}")
        elif rest <= self.residual and (mode.frozen is not None or float((task.targets * outputs).min()) > FINEST):
            if mode.frozen is None or mode.frozen >= FINEST:
                reason = f"the direction is stationary to {rest:.1g} at {self._words()}"
                raise _EndedError(TrainingStatus.CONVERGED, reason)
            s.resolution = min(FINEST, 10 * s.resolution)
        names = ("the time", "the number of steps", "the number of evaluations")
        for name, limit, used in zip(names, self.limits, (s.time, s.steps, evaluations), strict=True):
            if used >= limit:
                raise _EndedError(TrainingStatus.LIMIT, f"{name} is used up at {self._words()}")

    def _sample(self, evaluations: int, *, force: bool = False) -> tuple[Floats, Floats, float, float, float]:
        s, task = self.state, self.task
        theta = s.theta(task)
        outputs = task.layers.outputs(theta, task.rows)
        log_loss = task.value(outputs, 1.0).log_loss
        margin = trajectory.margin(task.layers, theta, task.targets, outputs, task.loss, task.trained)
        norm, _ = trajectory.counted(task.layers, theta, task.trained)
        self.recorder.sample(s.time, theta, log_loss, margin, evaluations, s.steps, force=force, norm=norm)
        return theta, outputs, log_loss, margin, norm

    def _words(self) -> str:
        """What has been reached."""
        s, task = self.state, self.task
        outputs = task.layers.outputs(s.theta(task), task.rows)
        log_loss = task.value(outputs, 1.0).log_loss
        words = f"time {s.time:.6g}, ||theta|| = {np.exp(min(s.log_kappa, 700.0)):.4g}, log L = {log_loss:.6g}"
        wrong = int((task.targets * outputs <= 0).sum())
        if rule_of(task.loss).is_for_margins and wrong:
            words += f"; {wrong} of {len(outputs)} points are misclassified"
        return words

    # ------------------------------------------------------------------------------------- checkpoints
    def _save(self, *, always: bool = False) -> None:
        if self.file is None or (self.state.stuck and not always):
            return
        if not always and clock.monotonic() - self.written < self.file_seconds:
            return
        arrays = self.state.packed()
        arrays |= {"spacing": np.array(self.recorder.spacing), "mark": np.array(self.mark)}
        trajectory.save(self.file, self.recorder.trajectory(), arrays)
        self.written = clock.monotonic()

    def _resumed(self, file: Path) -> bool:
        try:
            record, arrays = trajectory.load(file)
        except FileNotFoundError:
            return False
        if str(arrays.get("mark")) != self.mark:
            raise ValueError(f"{file} is the checkpoint of another run: of other data, parameters or options")
        try:
            self.state.unpack(arrays)
            self.recorder = Recorder(record, float(arrays["spacing"]))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise trajectory.TrajectoryFileError(f"{file} is damaged: the state in it cannot be read") from error
        return True


def _nothing(theta: Floats, status: TrainingStatus, reason: str) -> Training:
    return Training(status, reason, theta, 0.0, Recorder().trajectory(), 0)


def _validate(
    layers: Layers,
    rows: Floats,
    targets: Floats,
    theta: Floats,
    trained: Bits,
    loss: Loss,
    method: Method,
) -> None:
    columns = layers.places[0].shape[1]
    if rows.ndim != 2 or rows.shape[1] != columns or not len(rows):
        raise ValueError(f"rows must have shape (n, {columns}), n > 0; got {rows.shape}")
    for name, array, shape in (
        ("targets", targets, (len(rows),)),
        ("theta0", theta, (layers.size,)),
        ("trained", trained, (layers.size,)),
    ):
        if array.shape != shape:
            raise ValueError(f"{name} must have shape {shape}; got {array.shape}")
    for name, given, known in (("loss", loss, LOSSES), ("method", method, METHODS)):
        if given not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}; got {given!r}")
