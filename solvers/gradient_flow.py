"""Gradient flow d theta / ds = -grad F(theta), F = log L (exponential, logistic loss) or L (squared), to its limit.

The flow of log L runs along the same curve as that of L and reaches in seconds what the other needs t ~ exp(q) for. An
activation pattern gives one smooth piece; at the kink of a unit at a point the flow goes through or slides along it
(`solvers.sliding`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvers import sliding, trajectory
from solvers.balance import Balance
from solvers.flow_events import Event, Sides, earliest, scales
from solvers.layers import Layers
from solvers.losses import Loss
from solvers.smooth_flow import Look, Mode, Signs, Task, signs_of, slopes_of, with_tau
from solvers.sliding import Surface
from solvers.trajectory import Kink, Moment, Recorder, Status, Training

__all__ = ["METHODS", "Method", "gradient_flow"]

Floats: TypeAlias = NDArray[np.float64]
Method: TypeAlias = Literal["auto", "RK45", "DOP853", "Radau", "BDF"]
METHODS: tuple[Method, ...] = ("auto", "RK45", "DOP853", "Radau", "BDF")

HOTTEST = 1e8  # the largest least q at which the softmax weights are taken; their error in floats is 1e-16 q
RENEWAL = 200  # steps after which the integrator starts anew, so that a resumed run is the same computation
STIFF, SMOOTH = 60.0, 15.0  # decay rates, in units of the flow's own, above (below) which the method is implicit
WIDE = 400  # parameters from which an implicit step's linear algebra counts
REJECTIONS = 40
STUCK = 200  # events in a row without progress
CANCELLED = 1e-12  # ||sum c_i grad f_i|| in units of sum |c_i| ||grad f_i||: nothing moves


@dataclass
class _State:
    """All that the flow needs to go on: theta = kappa u at time s."""

    u: Floats
    kappa: float
    time: float
    signs: Signs
    held: list[Surface]
    tau: list[float]
    step: float = 0.0  # the next step to try, in tau; 0 for none known
    method: str = ""
    evaluations: int = 0
    jacobians: int = 0
    steps: int = 0
    events: int = 0
    stuck: int = 0


def gradient_flow(
    layers: Layers,
    rows: Floats,
    targets: Floats,
    theta0: Floats,
    *,
    loss: Loss,
    trained: NDArray[np.bool_] | None = None,
    rtol: float = 1e-8,
    method: Method = "auto",
    stop: Callable[[Moment], str | None] | None = None,
    residual: float = 1e-9,
    max_time: float = np.inf,
    max_steps: int = 1_000_000,
    max_evaluations: int = 10_000_000,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_progress: Callable[[Moment], None] | None = None,
) -> Training:
    task = Task(layers, rows, targets, loss, np.ones(layers.size, bool) if trained is None else trained)
    flow = _Flow(task, theta0, rtol, method, residual)
    flow.stop, flow.on_progress = stop, on_progress
    flow.limits = (max_time, max_steps, max_evaluations)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return flow.run()


class _Ended(Exception):
    def __init__(self, status: Status, reason: str) -> None:
        self.status, self.reason = status, reason


class _Flow:
    def __init__(self, task: Task, theta0: Floats, rtol: float, method: Method, residual: float) -> None:
        self.task, self.rtol, self.method, self.residual = task, rtol, method, residual
        self.depth = len(task.layers.places)
        self.balance = Balance(task.layers, task.trained)
        self.invariants = self.balance.values(theta0)
        kappa = float(np.linalg.norm(theta0))
        u = theta0 / kappa
        z = task.layers.preactivations(u, task.rows)
        self.state = _State(u, kappa, 0.0, signs_of(task.layers, z), [], [])
        self.recorder = Recorder()
        self.blocks = _blocks(task.layers)
        self.rejected = 0

    # ---------------------------------------------------------------- one run
    def run(self) -> Training:
        try:
            self.settle_start()
            while True:
                self.segment()
        except _Ended as end:
            status, reason = end.status, end.reason
        except KeyboardInterrupt:
            status, reason = "interrupted", "interrupted"
        s = self.state
        return Training(
            status, reason, s.kappa * s.u, s.time, self.recorder.trajectory(), s.evaluations,
            self.kinks(), tuple(s.tau), {"steps": s.steps, "jacobians": s.jacobians, "events": s.events},
        )

    def kinks(self) -> tuple[Kink, ...]:
        return tuple(self.state.held)

    def settle_start(self) -> None:
        s, task = self.state, self.task
        sizes = scales(task.layers, s.u, task.rows)
        z = task.layers.preactivations(s.u, task.rows)
        at = [
            (l, int(i), int(j))
            for l, size in enumerate(sizes)
            for i, j in np.argwhere((np.abs(z[l]) <= 1e-14 * size) & (size > 0))
            if task.classes[l].first[i] == i
        ]
        if at:
            self.decide(at, [0.5] * len(at))

    def frozen(self) -> float | None:
        s, task = self.state, self.task
        if task.loss == "squared":
            return None
        hot = s.kappa**self.depth
        top = float(np.min(task.targets * task.layers.outputs(s.u, task.rows)))
        return HOTTEST / top if hot * top >= HOTTEST else None

    def mode(self, held: Sequence[Surface]) -> Mode:
        s = self.state
        pattern = with_tau(self.task, slopes_of(self.task.layers, s.signs), s.held, s.tau)
        return Mode(self.task, s.u, s.kappa, pattern, held, self.frozen())

    def segment(self) -> None:
        s = self.state
        mode = self.mode(s.held)
        y = mode.onto(np.append(s.u, 0.0))
        sides = Sides(mode, s.signs, y[:-1])
        self.choose(mode, y)
        solver = self.solver(mode, y, s.step)
        objective, slack = self.objective(mode.look(y), mode, y)
        self.start_kappa, self.start_time = s.kappa, s.time
        try:
            for count in range(1, RENEWAL + 1):
                before, y_before = solver.t, solver.y.copy()
                message = solver.step()
                if solver.status == "failed" or not np.isfinite(solver.y).all():
                    raise _Ended("failed", f"the integrator cannot go on: {message}")
                s.steps += 1
                dense = solver.dense_output()
                event = earliest(mode, dense, before, solver.t, s.signs, sides)
                s.step = float(solver.h_abs)
                if event is not None:
                    y = dense(event.time) if event.time > before else y_before
                    if event.time - before <= 1e-13 * (solver.t - before):
                        s.stuck += 1
                        s.step = min(s.step, solver.t - before)
                        if s.stuck > STUCK:
                            raise _Ended("failed", f"stuck at {event}")
                    else:
                        s.stuck = 0
                    s.events += 1
                    self.arrive(mode, y, self.elapsed(dense, before, event.time))
                    self.handle(mode, event)
                    self.report(mode, mode.look(np.append(s.u, np.log(s.kappa / self.start_kappa))))
                    return
                s.stuck = 0
                y = self.restored(mode, solver.y)
                look = mode.look(y)
                now, slack = self.objective(look, mode, y)
                if not now <= objective + slack:
                    self.rejected += 1
                    if self.rejected > REJECTIONS:
                        raise _Ended("failed", f"the loss does not fall {objective} {now}")
                    s.step = (solver.t - before) / 4
                    return
                self.rejected = 0
                objective = now
                self.arrive(mode, y, self.elapsed(dense, before, solver.t))
                self.report(mode, look)
                solver.y = y
                if s.method == "BDF":
                    solver.D[0] = y
                else:
                    solver.f = np.append(look.velocity - look.growth * y[:-1], look.growth)
                if (count % 20 == 0 and self.should_change(mode, y)) or (mode.frozen is None) != (self.frozen() is None):
                    return
                if abs(y[-1]) > 20:
                    return
        finally:
            s.evaluations += mode.evaluations
            s.jacobians += mode.jacobians

    def elapsed(self, dense, start: float, end: float) -> float:
        if self.depth == 2 or end <= start:
            return end - start
        ends = [dense(t)[-1] for t in (start, (start + end) / 2, end)]
        powers = self.start_kappa ** (2 - self.depth) * np.exp((2 - self.depth) * np.array(ends))
        return float((end - start) * (powers @ [1, 4, 1]) / 6)

    def arrive(self, mode: Mode, y: Floats, elapsed: float) -> None:
        s = self.state
        y = self.restored(mode, y)
        s.u, s.kappa, s.time = y[:-1].copy(), self.start_kappa * float(np.exp(y[-1])), s.time + elapsed

    def restored(self, mode: Mode, y: Floats) -> Floats:
        y = mode.onto(y)
        kappa = self.start_kappa * float(np.exp(y[-1]))
        u = self.balance.restored(y[:-1], [b / kappa**2 for b in self.invariants])
        return np.append(u, y[-1])

    def objective(self, look: Look, mode: Mode, y: Floats) -> tuple[float, float]:
        outputs = mode.temperature(y) * look.preactivations[-1][:, 0]
        value, largest = look.valued.objective, float(np.abs(outputs).max())
        if self.task.loss == "squared":
            largest = max(largest, float(np.abs(self.task.targets).max()))
            return value, 1e-14 * largest * np.sqrt(value) + 1e-28 * largest**2
        return value, 1e-13 * (1 + largest)

    def report(self, mode: Mode, look: Look) -> None:
        s, task = self.state, self.task
        theta = s.kappa * s.u
        outputs = task.layers.outputs(theta, task.rows)
        valued = task.value(outputs, 1.0)
        m = trajectory.margin(task.layers, theta, task.targets, outputs, task.loss)
        evaluations = s.evaluations + mode.evaluations
        self.recorder.sample(s.time, theta, valued.log_loss, m, evaluations, s.steps, force=False)
        size = float(np.linalg.norm(look.velocity))
        rest = float(np.linalg.norm(look.velocity - look.growth * s.u)) / size if size else 0.0
        moment = Moment(s.time, theta, outputs, valued.log_loss, m, rest, evaluations, self.kinks(), tuple(s.tau))
        if self.on_progress:
            self.on_progress(moment)
        if self.stop and (reason := self.stop(moment)):
            raise _Ended("stopped", reason)
        if self.task.loss != "squared" and rest < self.residual and (task.targets * outputs).min() > 1e3:
            raise _Ended("converged", f"direction stationary {rest}")
        if s.time >= self.limits[0] or s.steps >= self.limits[1] or s.evaluations >= self.limits[2]:
            raise _Ended("limit", "limit")

    # ---------------------------------------------------------------- integrators
    def choose(self, mode: Mode, y: Floats) -> None:
        s = self.state
        if self.method != "auto":
            s.method = self.method
            return
        cost = 1 + (len(y) / WIDE) ** 2
        stiffness = mode.stiffness(y) / cost
        if stiffness > STIFF or (s.method == "Radau" and stiffness > SMOOTH):
            s.method = "Radau"
        else:
            s.method = "DOP853"

    def should_change(self, mode: Mode, y: Floats) -> bool:
        before = self.state.method
        self.choose(mode, y)
        return self.state.method != before

    def solver(self, mode: Mode, y: Floats, first: float):
        from scipy import integrate

        s = self.state
        kind = getattr(integrate, s.method)
        squares = np.bincount(self.blocks, weights=y[:-1] ** 2)
        atol = np.append(self.rtol * np.maximum(0.1 * np.sqrt(squares[self.blocks]), 1e-30), self.rtol)
        options = {"jac": mode.jacobian} if s.method in {"Radau", "BDF"} else {}
        return kind(mode, 0.0, y, np.inf, rtol=self.rtol, atol=atol, first_step=first or None, **options)

    # ---------------------------------------------------------------- events
    def handle(self, mode: Mode, event: Event) -> None:
        s, task = self.state, self.task
        if event.kink is None:
            y = np.append(s.u, np.log(s.kappa / self.start_kappa))
            tau = mode.needed(y)[0]
            surface = s.held[event.released]
            keep = [k for k in range(len(s.held)) if k != event.released]
            s.tau = [float(np.clip(tau[k], 0, 1)) for k in keep]
            s.held = [s.held[k] for k in keep]
            self.set_sign(surface, 1 if event.is_up else -1)
            return
        layer, point, unit = event.kink
        first = int(task.classes[layer].first[point])
        surface = (layer, first, unit)
        is_up = event.is_up == bool(task.classes[layer].ratio[point] > 0)
        near = self.related(surface)
        self.decide([*near, surface], [0.5] * len(near) + [1.0 if is_up else 0.0])

    def related(self, surface: Surface) -> list[Surface]:
        s = self.state
        if self.depth == 2:
            return [k for k in s.held if k[2] == surface[2]]
        return list(s.held)

    def decide(self, surfaces: Sequence[Surface], start: Sequence[float]) -> None:
        s = self.state
        others = [(k, t) for k, t in zip(s.held, s.tau, strict=True) if k not in surfaces]
        mode = self.mode([])
        y = np.append(s.u, 0.0)
        tau = np.array(start, dtype=float)
        for _ in range(1 if self.depth == 2 else 6):
            mode.pattern = with_tau(self.task, mode.pattern, surfaces, tau)
            tau = sliding.decide(*mode.parts(y, surfaces), np.array(start, dtype=float))
        s.evaluations += mode.evaluations
        s.held, s.tau = [k for k, _ in others], [t for _, t in others]
        for surface, part in zip(surfaces, tau, strict=True):
            if 0 < part < 1:
                self.set_sign(surface, 0)
                s.held.append(surface)
                s.tau.append(float(part))
            else:
                self.set_sign(surface, 1 if part else -1)

    def set_sign(self, surface: Surface, sign: int) -> None:
        s, (layer, point, unit) = self.state, surface
        members = self.task.classes[layer].members(point)
        for i in members:
            value = sign if self.task.classes[layer].ratio[i] > 0 else -sign
            before = int(s.signs[layer][i, unit])
            if before != value:
                self.recorder.change(s.time, layer, unit, int(i), before, value)
                s.signs[layer][i, unit] = value


def _blocks(layers: Layers) -> NDArray[np.intp]:
    """For each parameter the number of what it is measured with: its neuron (depth 2), its layer otherwise."""
    owner = np.zeros(layers.size, dtype=np.intp)
    if len(layers.places) == 2:
        for j, line in enumerate(layers.places[0]):
            owner[line[line >= 0]] = j
        for j, place in enumerate(layers.places[1][0]):
            if place >= 0:
                owner[place] = j
    else:
        for l, places in enumerate(layers.places):
            owner[places[places >= 0]] = l
    return owner
