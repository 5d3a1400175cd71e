"""Gradient descent as the papers ran it, from theta_0, by plain steps of a given size:

    constant      theta <- theta - step grad L(theta)
    loss-scaled   theta <- theta - step grad L / L / max(1, log 1/L)^p,   p = 2 - 2 / depth
    loss-adapted  theta <- theta - step grad L / L, kept if the loss does not rise, and then step <- 2^(1/5) step; else
                  taken back, and step <- 2^(-1/10) step

The curvature of log L grows like (log 1/L)^p with the margins, so that no fixed multiple of grad L / L serves for long.
The adapted steps find their size themselves, but come to rest where neurons slide along kinks: there, in the end, every
step raises the loss. The scaled ones go on, zigzagging.

L is the exponential, logistic or squared loss of `solvers.training.losses`; the gradients of the first two are taken
from log L, so that nothing vanishes however small the loss is. Autograd's convention at a kink is an argument:
`at_zero` is the derivative of the activation at 0, by default its left one (0 for ReLU, as the papers' software has
it).

Two dense layers run in a compiled kernel, all other layers in plain numpy, which is also the kernel's reference: the
two differ by the rounding of their sums only. Runs are reproducible bit for bit on one kind of processor, resumed or
not: what the arithmetic depends on is decided at fixed numbers of steps.

Source: arXiv:2306.06479, section 8 (constant, squared); arXiv:2603.04895, section 2 (the same, output weights fixed);
arXiv:1906.05890v4 (loss-scaled: the step sizes of its theorems on gradient descent, up to logarithms; loss-adapted: its
experiments, begun with 0.1).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final, get_args

import numpy as np

from solvers.arrays import Bits, Floats
from solvers.layers import Layers, two_layers
from solvers.training.descent.steps import CompiledSteps, NumpySteps, Rule, Schedule, Stand
from solvers.training.losses import LOSSES, Loss, rule_of, value
from solvers.training.trajectory import (
    Moment,
    Recorder,
    Training,
    TrainingStatus,
    TrajectoryFileError,
    counted,
    load,
    margin,
    save,
)

__all__ = ["SCHEDULES", "Schedule", "gradient_descent"]

SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)

KERNELS: Final = "ISOPTIMAL_KERNELS"  # environment: "numpy" leaves the compiled kernel out
PER_DECADE: Final = 40  # samples for every tenfold number of steps
BETWEEN: Final = 10_000  # steps at most between two looks at the stop test
SAVED_EVERY: Final = 10.0  # seconds between two checkpoints
STILL: Final = 200  # adapted steps that may be taken back, or too small, one after the other
MOST_CHANGES: Final = 100_000  # of the pattern, recorded; later ones are only counted


def gradient_descent(
    layers: Layers,
    rows: Floats,
    targets: Floats,
    theta0: Floats,
    *,
    loss: Loss,
    step: float = 0.01,
    schedule: Schedule = "constant",
    trained: Bits | None = None,
    at_zero: float | None = None,
    stop: Callable[[Moment], str | None] | None = None,
    max_steps: int = 1_000_000,
    max_evaluations: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_progress: Callable[[Moment], None] | None = None,
    compiled: bool | None = None,
) -> Training:
    """Up to `max_steps` steps of gradient descent, those that are taken back counted.

    rows (n, c), targets (n,): +-1 for the exponential and logistic loss.   trained (N,): which parameters move, all by
    default.   at_zero: the derivative of every activation at 0.   max_evaluations: of the gradient, one a step.
    stop: called at fixed numbers of steps, evenly in their logarithm and at least every 10 000; ends the run with its
    sentence.   on_progress: called there too.
    checkpoint: a file written now and then, and at the end; with `resume` the run goes on from it, if it is there.
    compiled: whether to use the kernel; None: where it can be used.

    The times of the trajectory are those of the objective F = log L (squared: L), so that dF/dt is about -||grad F||^2.
    Divergence, NaN, Ctrl-C and limits are a status with a sentence, and theta is the last finite one looked at. Raises
    ValueError where arguments do not fit each other, TrajectoryFileError for a file that is not of this run.
    """
    rule = Rule(
        layers=layers,
        rows=np.ascontiguousarray(rows, dtype=np.float64),
        targets=np.ascontiguousarray(targets, dtype=np.float64),
        loss=loss,
        step=float(step),
        schedule=schedule,
        trained=np.ones(layers.size, bool) if trained is None else np.asarray(trained, bool),
        at_zero=None if at_zero is None else float(at_zero),
    )
    theta = np.array(theta0, dtype=np.float64)
    _require(rule, theta)
    path = None if checkpoint is None else Path(checkpoint)
    steps = CompiledSteps(rule, theta) if _uses_kernel(layers, loss, compiled) else NumpySteps(rule, theta)
    run = _Run(rule, steps, path, stop, on_progress)
    if resume and path is not None and path.exists():
        run.restore(path)
    return run.train(max_steps if max_evaluations is None else min(max_steps, max_evaluations))


def _require(rule: Rule, theta: Floats) -> None:
    """Raise ValueError unless the arguments fit each other."""
    n, columns = rule.targets.size, rule.layers.places[0].shape[1]
    if rule.loss not in LOSSES:
        raise ValueError(f"there is no loss {rule.loss!r}; there are {', '.join(LOSSES)}")
    if rule.schedule not in SCHEDULES:
        raise ValueError(f"there is no schedule {rule.schedule!r}; there are {', '.join(SCHEDULES)}")
    if rule.schedule != "constant" and not rule_of(rule.loss).is_for_margins:
        raise ValueError("a step divided by the loss is for the exponential and the logistic loss")
    if not (np.isfinite(rule.step) and rule.step > 0):
        raise ValueError(f"the step must be positive, not {rule.step}")
    if rule.rows.shape != (n, columns) or rule.targets.shape != (n,) or not n:
        raise ValueError(f"{n} targets and a first layer of {columns} columns need rows of shape {(n, columns)}")
    if not (np.isfinite(rule.rows).all() and np.isfinite(rule.targets).all()):
        raise ValueError("rows and targets must be finite")
    if rule_of(rule.loss).is_for_margins and (np.abs(rule.targets) != 1).any():
        raise ValueError(f"the {rule.loss} loss needs targets -1 and 1")
    for name, array in (("theta0", theta), ("trained", rule.trained)):
        if array.shape != (rule.layers.size,) or not np.isfinite(array).all():
            raise ValueError(f"{name} must be {rule.layers.size} finite numbers")


class _Run:
    """Steps from look to look: samples, stop test, checkpoints. Between two looks nothing of it changes."""

    def __init__(
        self,
        rule: Rule,
        steps: NumpySteps | CompiledSteps,
        path: Path | None,
        stop: Callable[[Moment], str | None] | None,
        on_progress: Callable[[Moment], None] | None,
    ) -> None:
        self.rule, self.steps, self.path, self.stop, self.on_progress = rule, steps, path, stop, on_progress
        self.recorder = Recorder()
        self.changes, self.last_place = 0, -1
        self.saved = time.monotonic()
        self.stand = steps.stand()  # at the last look: there a run that breaks off later stands
        self.still_for = 0  # steps without any change of theta

    def train(self, limit: int) -> Training:
        """To the end."""
        log_loss = np.nan
        try:
            with np.errstate(all="ignore"):
                while True:
                    moment = self.look()
                    log_loss = moment.log_loss
                    status, reason = self.ended(moment, limit)
                    if status is None:
                        status, reason = self.advance(limit, log_loss)
                    if status is not None:
                        break
        except KeyboardInterrupt:
            status = TrainingStatus.INTERRUPTED
            reason = f"interrupted after step {self.stand.made}, log L = {log_loss:.6g}"
        self.write()
        return Training(
            status=status,
            reason=reason,
            theta=self.stand.theta,
            time=self.stand.clock,
            trajectory=self.recorder.trajectory(),
            evaluations=self.stand.made,
            counts={"steps": self.stand.kept, "changes": self.changes},
        )

    def look(self) -> Moment:
        """Record the network at this step."""
        rule, theta, made, clock = self.rule, self.stand.theta, self.stand.made, self.stand.clock
        z = rule.layers.preactivations(theta, rule.rows)
        outputs = z[-1][:, 0]
        valued = value(rule.loss, rule.targets, outputs)
        velocity = rule.layers.gradient(theta, rule.rows, rule.pattern(z), valued.pull)[rule.trained]
        size = margin(rule.layers, theta, rule.targets, outputs, rule.loss, rule.trained)
        norm, _ = counted(rule.layers, theta, rule.trained)
        place = _place(made)
        is_next = place > self.last_place
        self.recorder.sample(clock, theta, valued.log_loss, size, made, self.stand.kept, force=is_next, norm=norm)
        self.last_place = place
        return Moment(
            time=clock,
            theta=theta,
            outputs=outputs,
            log_loss=valued.log_loss,
            margin=size,
            residual=_sine(velocity, theta[rule.trained]),
            evaluations=made,
            norm=norm,
        )

    def ended(self, moment: Moment, limit: int) -> tuple[TrainingStatus | None, str]:
        """Whether the run is over at this moment, and why."""
        made = self.stand.made
        where = f"log L = {moment.log_loss:.6g} at step {made}"
        if self.on_progress is not None:
            self.on_progress(moment)
        sentence = self.stop(moment) if self.stop is not None else None
        status: TrainingStatus | None = None
        if sentence is not None:
            status = TrainingStatus.STOPPED
        elif self.still_for > (STILL if self.rule.schedule == "loss-adapted" else 0):
            takes = "is kept" if self.rule.schedule == "loss-adapted" else "changes any parameter"
            status, sentence = TrainingStatus.CONVERGED, f"no step {takes} any more, {where}"
        elif made >= limit:
            status, sentence = TrainingStatus.LIMIT, f"all {limit} steps are made, {where}"
        if status is not None:
            now = (moment.time, moment.theta, moment.log_loss, moment.margin, made, self.stand.kept)
            self.recorder.sample(*now, force=True, norm=moment.norm)
        elif self.path is not None and time.monotonic() - self.saved > SAVED_EVERY:
            self.write()
        return status, sentence or ""

    def advance(self, limit: int, log_loss: float) -> tuple[TrainingStatus | None, str]:
        """Steps to the next look; why not, if not."""
        before = self.stand
        until = min(_next_look(before.made), limit)
        if not before.made or _next_look(before.made - 1) == before.made:
            self.steps.prepare()
        stand, pending, room, noted = before, [], max(0, MOST_CHANGES - self.changes), 0

        def note(*change: float) -> None:
            nonlocal noted
            noted += 1
            if noted <= room:
                pending.append(change)

        while stand.made < until:
            is_finite = self.steps.advance(until - stand.made, note)
            stand = self.steps.stand()
            if not is_finite:
                return TrainingStatus.FAILED, (
                    f"the outputs are no longer finite at step {stand.made}: the step {self.rule.step:g} is too large; "
                    f"at step {before.made}, which is kept, log L was {log_loss:.6g}"
                )
        self.stand = stand
        same = np.array_equal(before.theta, stand.theta)
        self.still_for = self.still_for + stand.made - before.made if same else 0
        self.changes += noted
        for change in pending:
            self.recorder.change(*change)
        return None, ""

    def write(self) -> None:
        """Write the checkpoint."""
        if self.path is None:
            return
        stand = self.stand
        state = {
            "theta": stand.theta,
            "counts": np.array([stand.made, stand.kept, self.changes, self.last_place, self.still_for]),
            "numbers": np.array([stand.clock, stand.step, self.recorder.spacing]),
            "signs": np.concatenate([layer.ravel() for layer in stand.signs] or [np.zeros(0, np.int8)]),
            "active": stand.active,
            "fingerprint": self.rule.fingerprint(),
        }
        save(self.path, self.recorder.trajectory(), state)
        self.saved = time.monotonic()

    def restore(self, path: Path) -> None:
        """Go on from a checkpoint."""
        record, state = load(path)
        if not np.array_equal(state.get("fingerprint", np.zeros(0)), self.rule.fingerprint()):
            raise TrajectoryFileError(f"{path} is of another run: its data, network, loss, step or method differ")
        try:
            clock, step, spacing = state["numbers"].tolist()
            made, kept, self.changes, self.last_place, self.still_for = state["counts"].tolist()
            self.recorder = Recorder(record, spacing)
            shapes = self.stand.signs
            flat = np.split(state["signs"], np.cumsum([layer.size for layer in shapes])[:-1])
            signs = [part.reshape(layer.shape) for part, layer in zip(flat, shapes, strict=False)]
            active = state["active"].astype(bool)
            self.stand = Stand(state["theta"], made, kept, clock, step, signs, active)
            self.steps.restore(self.stand)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise TrajectoryFileError(f"{path} is damaged: the state in it cannot be read") from error


def _sine(velocity: Floats, theta: Floats) -> float:
    """Of the angle between the velocity and what is trained; 0 where nothing moves."""
    size, length = float(np.linalg.norm(velocity)), float(np.linalg.norm(theta))
    if not size or not length:
        return float(size > 0)
    unit, along = velocity / size, theta / length
    return float(np.linalg.norm(unit - (unit @ along) * along))


def _place(step: int) -> int:
    """The place of a number of steps on the logarithmic scale of the samples."""
    return -1 if step < 1 else int(np.floor(PER_DECADE * np.log10(step) + 1e-9))


def _next_look(step: int) -> int:
    """The next number of steps at which to look: evenly in the logarithm, then every `BETWEEN`."""
    place, following = _place(step), step
    while following <= step:
        place += 1
        following = int(np.ceil(10 ** (place / PER_DECADE) - 1e-9))
    return min(following, (step // BETWEEN + 1) * BETWEEN)


def _uses_kernel(layers: Layers, loss: Loss, compiled: bool | None) -> bool:
    """Whether the layers are two dense ones in their usual order, and the kernel is wanted, there, and has the loss."""
    wanted = os.environ.get(KERNELS) != "numpy" if compiled is None else compiled
    if not wanted or len(layers.places) != 2 or rule_of(loss).kernel is None:
        return False
    width, columns = layers.places[0].shape
    usual = two_layers(columns, width, 0.0).places
    is_usual = all(np.array_equal(mine, theirs) for mine, theirs in zip(layers.places, usual, strict=True))
    return is_usual and _can_compile()


@cache
def _can_compile() -> bool:
    """Whether there is a numba that works with this numpy."""
    try:
        import_module("solvers.training.descent.kernel")
    except ImportError:
        return False
    return True
