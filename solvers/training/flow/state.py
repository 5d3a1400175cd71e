"""What a gradient flow needs to go on from: where it is, the signs of all units, the kinks it slides along."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Bits, Floats
from solvers.training.flow import sliding
from solvers.training.flow.events import Event, blind, scales
from solvers.training.flow.sliding import Surface
from solvers.training.flow.smooth import Mode, Signs, Task, signs_of, slopes_of, with_tau
from solvers.training.losses import rule_of
from solvers.training.resting import Bundle, direction_out
from solvers.training.trajectory import Kink, Recorder

__all__ = ["State", "fingerprint"]


LARGEST = 460.0  # log of the largest norm to the power of the depth
ON_A_KINK = 1e-14  # of ||w_j|| ||x_i||: an initial preactivation this small is zero
NEAR = 1e-9  # ||w_j|| in units of |v_j|: here a neuron is at 0 when 0 attracts it
BLIND = 1e-12  # of ||normal|| ||velocity||: a drift that is none
START = 1e-13  # ||w_j|| in units of |v_j| of a neuron that leaves 0
ROUNDS = 8  # in which slopes that depend on each other, in deep networks, are agreed on
NUMBERS = ("log_kappa", "time", "step", "resolution")
COUNTS = ("evaluations", "jacobians", "steps", "events", "calm")


@dataclass
class State:
    """theta = kappa u at `time`, from `origin`. step: the next to try, 0 for none known. resolution: the largest B.

    tau: those of the held surfaces when they were last computed. flipped: surfaces tried on their other side at this
    very instant, `stuck` events long.
    """

    origin: Floats
    u: Floats
    log_kappa: float
    signs: Signs
    resolution: float
    time: float = 0.0
    held: list[Surface] = field(default_factory=list)
    tau: list[float] = field(default_factory=list)
    step: float = 0.0
    method: str = ""
    evaluations: int = 0
    jacobians: int = 0
    steps: int = 0
    events: int = 0
    calm: int = 0  # steps since the last event
    stuck: int = 0
    flipped: set[Surface] = field(default_factory=set)
    resting: Bits = field(default_factory=lambda: np.zeros(0, bool))

    @classmethod
    def at(cls, task: Task, theta: Floats, resolution: float) -> State:
        """The state at these parameters, not all zero."""
        kappa = float(np.linalg.norm(theta))
        z = task.layers.preactivations(theta / kappa, task.rows)
        resting = np.zeros(len(task.layers.places[0]), bool)
        return cls(theta, theta / kappa, float(np.log(kappa)), signs_of(task.layers, z), resolution, resting=resting)

    def theta(self, task: Task) -> Floats:
        """The parameters, what does not move to the bit; beyond a norm of 1e200^(1 / depth) the point of that norm."""
        most = LARGEST / len(task.layers.places)
        theta = float(np.exp(min(self.log_kappa, most))) * self.u
        if self.log_kappa <= most:
            theta[~task.trained] = self.origin[~task.trained]
        return theta

    def kinks(self, task: Task) -> tuple[tuple[Kink, ...], tuple[float, ...]]:
        """The kinks that are slid along, and their slopes; of parallel points each one."""
        kinks: list[Kink] = []
        slopes: list[float] = []
        pattern = self.pattern(task)
        for layer, first, unit in self.held:
            for point in task.classes(layer, unit).members(first):
                kinks.append((layer, int(point), unit))
                slopes.append(float(pattern[layer][point, unit]))
        return tuple(kinks), tuple(slopes)

    def pattern(self, task: Task) -> list[Floats]:
        """The slopes of all units; 0 for those that rest at w_j = 0, which nothing moves."""
        pattern = with_tau(task, slopes_of(task.layers, self.signs), self.held, self.tau)
        if self.resting.any():
            pattern[0][:, self.resting] = 0.0
        return pattern

    def mode(self, task: Task, *, is_held: bool = True) -> Mode:
        """The smooth flow that goes on from here; without projection for all that is to be decided."""
        return Mode(task, self.u, self.log_kappa, self.pattern(task), self.held if is_held else (), self.frozen(task))

    def frozen(self, task: Task) -> float | None:
        """The B that the loss takes when kappa^depth is above the resolution and all points are right, else None."""
        if (
            not rule_of(task.loss).is_for_margins
            or not task.trained.all()
            or len(task.layers.places) * self.log_kappa < np.log(self.resolution)
        ):
            return None
        is_right = bool((task.targets * task.layers.outputs(self.u, task.rows) > 0).all())
        return self.resolution if is_right else None

    def resolve_initial_kinks(self, task: Task, recorder: Recorder) -> None:
        """Decide where the flow goes from the kinks on which it starts, and from units with w_j = 0."""
        sizes = scales(task.layers, self.u, task.rows)
        z = task.layers.preactivations(self.u, task.rows)
        surfaces = [
            (l, int(i), int(j))
            for l, size in enumerate(sizes)
            for i, j in np.argwhere((np.abs(z[l]) <= ON_A_KINK * size) & (size > 0))
            if task.classes(l, int(j)).first[i] == i and task.layers.slopes[l] < 1
        ]
        self.freeze_zero_neurons(task, recorder, START)
        if surfaces:
            self.decide(task, recorder, surfaces, [0.5] * len(surfaces))

    def freeze_zero_neurons(self, task: Task, recorder: Recorder, near: float = NEAR) -> bool:
        """Put neurons with ||w_j|| <= near |v_j| to rest at 0 where that attracts them, start those that it does not.

        Only for depth 2, and neurons all of whose incoming weights move. Whether anything changed.
        """
        if len(task.layers.places) != 2:
            return False
        close: list[tuple[Bundle, float, float]] = []
        for bundle in task.bundles:
            length = float(np.linalg.norm(self.u[bundle.weights]))
            height = float(np.linalg.norm(self.u[bundle.out]))
            if height > 0 and length <= near * height and task.trained[bundle.weights].all():
                close.append((bundle, length, height))
        if not close:
            return False
        mode = self.mode(task, is_held=False)
        pull = mode.unprojected(np.append(self.u, 0.0))[1].pull
        self.evaluations += 1
        outgoing = np.append(self.u, 0.0)[task.layers.places[1][0]]
        changed = False
        for bundle, length, height in close:
            seen = bundle.seen(task.rows)
            way = direction_out(seen, task.layers.slopes[0], (outgoing[bundle.units][:, None] * pull).ravel())
            if way is None and not self.resting[bundle.units].all():
                self.u[bundle.weights] = 0.0
            elif way is not None and length < START / 2 * height:
                self.u[bundle.weights] = START * height * way
            else:
                continue
            signs = np.sign(seen @ self.u[bundle.weights]).astype(np.int8).reshape(len(bundle.units), -1)
            for unit, line in zip(bundle.units, signs, strict=True):
                self._drop(recorder, int(unit), line)
            self.resting[bundle.units], changed = way is None, True
        return changed

    def activate_zero_neurons(self, task: Task, recorder: Recorder) -> None:
        """Give units of higher layers, at points at which all their inputs are 0, the sign in which they start to move.

        As the units below go off and on again, nothing else says on which side such a unit comes out. Where one below
        is held at its kink, it is the side on which that one is on that counts: on the other the inputs stay 0.
        """
        for layer in range(1, len(task.layers.places) - 1):
            surfaces = [
                (layer, int(i), int(j))
                for i, j in np.argwhere(blind(task.layers, self.u, task.rows)[layer])
                if task.classes(layer, int(j)).first[i] == i and (layer, int(i), int(j)) not in self.held
            ]
            if not surfaces or task.layers.slopes[layer] == 1:
                continue
            mode = self.mode(task)
            velocity = mode.look(np.append(self.u, 0.0)).velocity
            self.evaluations += mode.evaluations
            normals = sliding.normals(task.layers, self.u, task.rows, mode.pattern, surfaces)
            matrix = task.layers.matrices(self.u)[layer]
            for surface, normal in zip(surfaces, normals, strict=True):
                _, point, unit = surface
                below = [j for l, i, j in self.held if l == layer - 1 and i == point]
                drift = float(normal @ velocity)
                is_moving = abs(drift) > BLIND * float(np.linalg.norm(normal) * np.linalg.norm(velocity))
                side = float(matrix[unit, below].sum()) if below else drift * is_moving
                if side:
                    self._set_sign(task, recorder, surface, int(np.sign(side)))

    def cross_event(self, task: Task, recorder: Recorder, mode: Mode, y: Floats, event: Event) -> None:
        """Go on after an event at y, the present state."""
        if event.kink is None and event.released < 0:
            self.decide(task, recorder, list(self.held), [0.5] * len(self.held))
        elif event.kink is None:
            tau = mode.needed(y)[0]
            surface = self.held[event.released]
            keep = [k for k in range(len(self.held)) if k != event.released]
            self.held, self.tau = [self.held[k] for k in keep], [float(np.clip(tau[k], 0.0, 1.0)) for k in keep]
            self._set_sign(task, recorder, surface, 1 if event.is_up else -1)
        else:
            layer, point, unit = event.kink
            same = task.classes(layer, unit)
            self._cross(task, recorder, (layer, int(same.first[point]), unit), event.is_up == (same.ratio[point] > 0))

    def decide(self, task: Task, recorder: Recorder, surfaces: Sequence[Surface], start: Sequence[float]) -> None:
        """Choose for surfaces on which the flow is whether it slides along them and on which side it leaves."""
        kept = [(k, t) for k, t in zip(self.held, self.tau, strict=True) if k not in surfaces]
        mode, y = self.mode(task, is_held=False), np.append(self.u, 0.0)
        tau = np.array(start, dtype=float)
        for _ in range(1 if len(task.layers.places) == 2 else ROUNDS):
            mode.pattern = with_tau(task, mode.pattern, surfaces, tau)
            before, tau = tau, sliding.decide(*mode.parts(y, surfaces), np.array(start, dtype=float))
            if np.array_equal(before, tau):
                break
        self.evaluations += mode.evaluations
        self.held, self.tau = [k for k, _ in kept], [t for _, t in kept]
        for surface, part in zip(surfaces, tau, strict=True):
            if 0 < part < 1:
                self._hold(task, recorder, surface, float(part))
            else:
                self._set_sign(task, recorder, surface, 1 if part else -1)

    def packed(self) -> dict[str, NDArray]:
        """All of it as arrays."""
        return {
            "u": self.u,
            "numbers": np.array([getattr(self, name) for name in NUMBERS]),
            "counts": np.array([getattr(self, name) for name in COUNTS]),
            "signs": np.concatenate([np.zeros(0, np.int8), *(part.ravel() for part in self.signs)]),
            "held": np.array(self.held, dtype=np.int64).reshape(-1, 3),
            "tau": np.array(self.tau),
            "method": np.array(self.method),
            "resting": self.resting,
        }

    def unpack(self, arrays: dict[str, NDArray]) -> None:
        """Become what was packed."""
        self.u = arrays["u"]
        for names, key, kind in ((NUMBERS, "numbers", float), (COUNTS, "counts", int)):
            for name, number in zip(names, arrays[key], strict=True):
                setattr(self, name, kind(number))
        ends = np.cumsum([part.size for part in self.signs])[:-1]
        parts = np.split(arrays["signs"], ends) if self.signs else []
        self.signs = [part.reshape(old.shape).copy() for part, old in zip(parts, self.signs, strict=True)]
        self.held = [(int(l), int(i), int(j)) for l, i, j in arrays["held"]]
        self.resting = arrays["resting"]
        self.tau, self.method = [float(t) for t in arrays["tau"]], str(arrays["method"])

    def _cross(self, task: Task, recorder: Recorder, surface: Surface, is_up: bool) -> None:
        layer, first, unit = surface
        before = int(self.signs[layer][first, unit])
        if len(task.layers.places) > 2:
            self._cross_deep(task, recorder, surface, is_up=is_up)
        else:
            near = [k for k in self.held if k[2] == unit or task.is_shared]
            self.decide(task, recorder, [*near, surface], [0.5] * len(near) + [1.0 if is_up else 0.0])
        if not self.stuck or int(self.signs[layer][first, unit]) != before:
            return
        # the integrator, which sees past the fast decay of the loss, says that this side does not last
        if surface in self.flipped:
            self._hold(task, recorder, surface, 0.5)
        else:
            self.flipped.add(surface)
            self._set_sign(task, recorder, surface, -before)

    def _drop(self, recorder: Recorder, unit: int, signs: NDArray[np.int8]) -> None:
        """Give a first-layer unit these signs at all points, and let go of its kinks."""
        keep = [k for k, (_, _, j) in enumerate(self.held) if j != unit]
        self.held, self.tau = [self.held[k] for k in keep], [self.tau[k] for k in keep]
        for point, sign in enumerate(signs):
            before = int(self.signs[0][point, unit])
            if before != sign:
                recorder.change(self.time, 0, unit, point, before, int(sign))
                self.signs[0][point, unit] = sign

    def _cross_deep(self, task: Task, recorder: Recorder, surface: Surface, *, is_up: bool) -> None:
        """One more surface in a network of any depth, those that are held staying so until their slopes say otherwise.

        The velocity is linear in one slope alone: its values on the two sides decide.
        """
        drifts: list[float] = []
        for tau in (0.0, 1.0):
            mode, y = self.mode(task), np.append(self.u, 0.0)
            mode.pattern = with_tau(task, mode.pattern, [surface], [tau])
            drifts.append(mode.drift(y, surface))
            self.evaluations += mode.evaluations
        if drifts[0] > 0 > drifts[1]:
            self._hold(task, recorder, surface, drifts[0] / (drifts[0] - drifts[1]))
        elif drifts[int(is_up)] * (1 if is_up else -1) > 0:
            self._set_sign(task, recorder, surface, 1 if is_up else -1)

    def _hold(self, task: Task, recorder: Recorder, surface: Surface, tau: float) -> None:
        self._set_sign(task, recorder, surface, 0)
        self.held.append(surface)
        self.tau.append(tau)

    def _set_sign(self, task: Task, recorder: Recorder, surface: Surface, sign: int) -> None:
        layer, first, unit = surface
        classes = task.classes(layer, unit)
        for point in classes.members(first):
            before, after = int(self.signs[layer][point, unit]), sign if classes.ratio[point] > 0 else -sign
            if before != after:
                recorder.change(self.time, layer, unit, int(point), before, after)
                self.signs[layer][point, unit] = after


def fingerprint(task: Task, theta0: Floats, options: str) -> str:
    """What tells one run from another."""
    digest = hashlib.sha256(f"{task.loss} {task.layers.slopes} {options}".encode())
    for array in (task.rows, task.targets, task.trained, theta0, *task.layers.places):
        digest.update(np.ascontiguousarray(array).tobytes() + str(array.shape).encode())
    return digest.hexdigest()
