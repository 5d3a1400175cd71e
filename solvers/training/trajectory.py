"""What training leaves behind: a sampled trajectory with the changes of its activation patterns, and how it ended.

    norm        of the parameters that count: of the layers that are trained; all, where a layer is trained in part
    margin      min_i y_i f(x_i) / norm^L (exponential and logistic loss), f being homogeneous of degree L in what
                counts: L layers are trained; max_i |f(x_i) - y_i| (squared)
    sign        of a hidden unit at a point: -1 off, 1 on, 0 held on the kink, where z = 0 and the slope is in between

A file holds a trajectory, and with it what training needs to go on from there. It is written beside itself and moved
into place: a run killed at any moment leaves the file of the last checkpoint, whole.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Bits, Floats
from solvers.layers import Layers
from solvers.training.losses import Loss, rule_of

__all__ = [
    "Kink",
    "Moment",
    "Recorder",
    "Training",
    "TrainingStatus",
    "Trajectory",
    "TrajectoryFileError",
    "alignments",
    "balances",
    "counted",
    "largest_angle",
    "load",
    "margin",
    "save",
]

Integers: TypeAlias = NDArray[np.int64]
Kink: TypeAlias = tuple[int, int, int]
"""(layer, point, unit), all from 0."""

STATE, DIGEST = "state_", "digest"
_BAD_ZIP = (zipfile.BadZipFile, zlib.error, MemoryError)
"""What reading raises as well where a damaged header asks for another compression, a password, or all memory."""
SPACING = 0.05  # of the first samples: in log ||theta||, in log |log L|, and in the direction (radians)
MOST_SAMPLES = 800  # then every other one is left out and the spacing doubled


class TrainingStatus(StrEnum):
    """How a training ended; its `reason` says more."""

    STOPPED = "stopped"
    """The caller's stop test said so."""
    CONVERGED = "converged"
    """Nothing moves any more."""
    LIMIT = "limit"
    """Time, steps or evaluations are used up."""
    FAILED = "failed"
    """NaN, overflow, vanishing steps."""
    INTERRUPTED = "interrupted"
    """Ctrl-C."""


class TrajectoryFileError(ValueError):
    """A file that is not, or no longer, a trajectory."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Training at one instant, as the stop test and the progress report see it.

    theta (N,), outputs f(x_i) (n,); `time` is that of the followed objective (log L, or L for the squared loss);
    residual: the sine of the angle between the velocity and theta, for the exponential and logistic loss the Clarke
    KKT residual of the direction with the loss's own multipliers; held: the kinks that are slid along, with their
    Clarke `slopes`; norm: of what counts (`counted`).
    """

    time: float
    theta: Floats
    outputs: Floats
    log_loss: float
    margin: float
    residual: float
    evaluations: int
    held: tuple[Kink, ...] = ()
    slopes: tuple[float, ...] = ()
    norm: float = np.nan

    def __repr__(self) -> str:
        return f"<Moment: time {self.time:.4g}, log loss {self.log_loss:.4g}, {self.evaluations:,} gradients>"


@dataclass(frozen=True)
class Trajectory:
    """Samples of a trajectory, T of them, and all C changes of its activation pattern.

    times (T,), thetas (T, N), log_losses, margins, norms (T,) (of what counts);
    evaluations, steps (T,): how many until then.
    change_times (C,); changes (C, 5): layer, unit, point, sign before, sign after.
    """

    times: Floats
    thetas: Floats
    log_losses: Floats
    margins: Floats
    norms: Floats
    evaluations: Integers
    steps: Integers
    change_times: Floats
    changes: Integers

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"<Trajectory: {len(self)} samples, {len(self.changes)} changes of the pattern>"


@dataclass(frozen=True)
class Training:
    """How training ended: its status, and as `reason` a sentence with what was reached.

    held: the kinks that are slid along at the end, `slopes` theirs.
    """

    status: TrainingStatus
    reason: str
    theta: Floats
    time: float
    trajectory: Trajectory
    evaluations: int
    held: tuple[Kink, ...] = ()
    slopes: tuple[float, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Training: {self.status}, {self.evaluations:,} gradients, {self.trajectory!r}>"


def counted(layers: Layers, theta: Floats, trained: Bits | None = None) -> tuple[float, int]:
    """The norm of the parameters that count, and the degree in which f is homogeneous in them.

    trained (N,): which parameters move; None for all. The others are numbers of the problem. Where a layer is trained
    in part, or shares weights with one that is not, f is homogeneous in all parameters only, and all count.
    """
    places = [np.unique(layer[layer >= 0]) for layer in layers.places]
    if trained is None or trained.all():
        return float(np.linalg.norm(theta)), len(places)
    moving = [bool(trained[layer].any()) for layer in places]
    if any(moves != bool(trained[layer].all()) for moves, layer in zip(moving, places, strict=True)) or not any(moving):
        return float(np.linalg.norm(theta)), len(places)
    return float(np.linalg.norm(theta[trained])), sum(moving)


def margin(
    layers: Layers, theta: Floats, targets: Floats, outputs: Floats, loss: Loss, trained: Bits | None = None
) -> float:
    """The normalised margin, or for the squared loss the largest residual.   trained: as for `counted`."""
    if not rule_of(loss).is_for_margins:
        return float(np.abs(outputs - targets).max())
    norm, degree = counted(layers, theta, trained)
    return float((targets * outputs).min()) / norm**degree if norm else 0.0


class Recorder:
    """Samples a trajectory evenly in the logarithms of the norm and of the loss and in the direction, not in steps.

    Its state is the trajectory itself and the spacing: a recorder made of a loaded trajectory goes on as the first did.
    """

    def __init__(self, trajectory: Trajectory | None = None, spacing: float = SPACING) -> None:
        self.spacing = spacing
        names = [item.name for item in fields(Trajectory)]
        self._columns: dict[str, list] = {
            name: [] if trajectory is None else list(getattr(trajectory, name)) for name in names
        }
        self._last: tuple[float, float, Floats] | None = None
        if self._columns["times"]:
            self._last = _place(self._columns["thetas"][-1], float(self._columns["log_losses"][-1]))

    def sample(
        self,
        time: float,
        theta: Floats,
        log_loss: float,
        margin: float,
        evaluations: int,
        steps: int,
        *,
        force: bool,
        norm: float | None = None,
    ) -> bool:
        """Record this moment if it is far enough from the last one recorded, or if told to; whether it did.

        norm: of what counts; by default of all parameters.
        """
        place = _place(theta, log_loss)
        if not force and self._last is not None and not self._is_far(place):
            return False
        columns = self._columns
        if columns["times"] and columns["times"][-1] == time:
            for name in ("times", "thetas", "log_losses", "margins", "norms", "evaluations", "steps"):
                columns[name].pop()
        size = float(np.linalg.norm(theta)) if norm is None else norm
        row = (time, np.array(theta), log_loss, margin, size, evaluations, steps)
        names = ("times", "thetas", "log_losses", "margins", "norms", "evaluations", "steps")
        for name, entry in zip(names, row, strict=True):
            columns[name].append(entry)
        if len(columns["times"]) > MOST_SAMPLES:
            self.spacing *= 2
            for name in names:
                columns[name] = columns[name][::2]
        self._last = place
        return True

    def change(self, time: float, layer: int, unit: int, point: int, before: int, after: int) -> None:
        """Record that a hidden unit changed sign at a point."""
        self._columns["change_times"].append(time)
        self._columns["changes"].append(np.array([layer, unit, point, before, after]))

    def trajectory(self) -> Trajectory:
        """What has been recorded so far."""
        columns = self._columns
        size = len(columns["thetas"][0]) if columns["thetas"] else 0
        return Trajectory(
            times=np.array(columns["times"], dtype=float),
            thetas=np.array(columns["thetas"], dtype=float).reshape(len(columns["thetas"]), size),
            log_losses=np.array(columns["log_losses"], dtype=float),
            margins=np.array(columns["margins"], dtype=float),
            norms=np.array(columns["norms"], dtype=float),
            evaluations=np.array(columns["evaluations"], dtype=np.int64),
            steps=np.array(columns["steps"], dtype=np.int64),
            change_times=np.array(columns["change_times"], dtype=float),
            changes=np.array(columns["changes"], dtype=np.int64).reshape(-1, 5),
        )

    def _is_far(self, place: tuple[float, float, Floats]) -> bool:
        last = self._last
        if last is None:
            return True
        return (
            abs(place[0] - last[0]) > self.spacing
            or abs(place[1] - last[1]) > self.spacing
            or float(np.linalg.norm(place[2] - last[2])) > self.spacing
        )


def save(path: str | os.PathLike[str], trajectory: Trajectory, state: Mapping[str, NDArray] | None = None) -> None:
    """Write the trajectory, and with it the arrays of `state`, to an .npz file, wholly or not at all."""
    target = Path(path)
    arrays = {item.name: getattr(trajectory, item.name) for item in fields(Trajectory)}
    arrays |= {STATE + name: np.asarray(entry) for name, entry in (state or {}).items()}
    arrays[DIGEST] = _digest(arrays)
    beside = target.with_name(f"{target.name}.{os.getpid()}.writing")
    try:
        with beside.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> tuple[Trajectory, dict[str, NDArray]]:
    """The trajectory and the state in a file written by `save`.

    Raises TrajectoryFileError when the file is damaged or something else, FileNotFoundError when there is none.
    """
    names = [item.name for item in fields(Trajectory)]
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        columns = {name: arrays.pop(name) for name in names}
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, EOFError, AttributeError, RuntimeError, *_BAD_ZIP) as error:
        why = "it is no .npz file" if "pickle" in str(error) or "No data" in str(error) else str(error)
        why = f"it holds no {error}" if isinstance(error, KeyError) else why
        raise TrajectoryFileError(f"{os.fspath(path)} is damaged or not a trajectory: {why}") from error
    if not np.array_equal(arrays.pop(DIGEST, np.zeros(0)), _digest(columns | arrays)):
        raise TrajectoryFileError(f"{os.fspath(path)} is damaged: it is not what was written into it")
    return Trajectory(**columns), {name.removeprefix(STATE): arrays[name] for name in arrays if name.startswith(STATE)}


def _digest(arrays: Mapping[str, NDArray]) -> NDArray[np.uint8]:
    """BLAKE2 of all arrays with their names, types and shapes: a file that passes holds what `save` was given."""
    total = hashlib.blake2b()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {arrays[name].shape} ".encode())
        total.update(array.tobytes())
    return np.frombuffer(total.digest(), np.uint8)


def largest_angle(layers: Layers, theta: Floats, rows: Floats) -> float:
    """The largest angle, in radians, between two neurons of a depth-2 network that are active, w.x_i > 0 for some i.

    0 when fewer than two are; accurate for small angles also in relative terms.

    Source: arXiv:2306.06479, Figure 1.
    """
    from scipy.spatial.distance import pdist

    weights = _two(layers, theta)[0]
    weights = weights[(weights @ rows.T > 0).any(axis=1)]
    if len(weights) < 2:
        return 0.0
    scaled = weights / np.abs(weights).max(axis=1, keepdims=True)
    chords = pdist(scaled / np.linalg.norm(scaled, axis=1, keepdims=True))
    return float(2 * np.arcsin(min(1.0, chords.max() / 2)))


def balances(layers: Layers, theta: Floats) -> Floats:
    """v_j^2 - ||w_j||^2 for each neuron of a depth-2 network: invariant under the flow of all weights."""
    weights, outgoing = _two(layers, theta)
    return outgoing**2 - (weights**2).sum(axis=1)


def alignments(layers: Layers, theta: Floats, vector: Floats) -> Floats:
    """The cosine between each neuron w_j of a depth-2 network and a vector; nan where w_j = 0."""
    weights = _two(layers, theta)[0]
    lengths = np.linalg.norm(weights, axis=1) * np.linalg.norm(vector)
    return np.divide(weights @ vector, lengths, out=np.full(len(weights), np.nan), where=lengths > 0)


def _two(layers: Layers, theta: Floats) -> tuple[Floats, Floats]:
    if len(layers.places) != 2:
        raise ValueError(f"a network of depth 2 is needed, this one has depth {len(layers.places)}")
    weights, outgoing = layers.matrices(theta)
    return weights, outgoing[0]


def _place(theta: Floats, log_loss: float) -> tuple[float, float, Floats]:
    """log ||theta||, log (1 + |log L|) with the sign of log L, and the direction."""
    norm = float(np.linalg.norm(theta))
    height = float(np.copysign(np.log1p(abs(log_loss)), log_loss)) if np.isfinite(log_loss) else 0.0
    return (float(np.log(norm)) if norm else 0.0), height, (theta / norm if norm else theta)
