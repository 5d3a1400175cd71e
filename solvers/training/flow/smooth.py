"""The flow within one mode: the slopes of all activations frozen, the kinks that are held kept at z = 0.

With theta = kappa u and depth m, f(theta) = kappa^m f(u), and in the time tau with ds = kappa^(2 - m) dtau

    du/dtau = V - (V.u) u,   d log(kappa) / dtau = V.u,   V = P sum_i c_i grad f_i(u),   c = -dF/df at f = B f(u)

with B = kappa^m, on ||u|| = 1; P is the orthogonal projector onto the tangent space of the held surfaces. Tiny and huge
networks are all the same to it, and as the direction settles the steps grow without bound. Where B f(u) is so large
that floats no longer see the differences of the margins, B is kept below kappa^m: the softmax weights c are then those
of a smaller network on the same ray, and the direction differs from the flow's by the order of 1 / q at that network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Bits, Floats
from solvers.layers import Layers
from solvers.training import losses
from solvers.training.flow import sliding
from solvers.training.flow.radau import ArrowJacobian
from solvers.training.flow.sliding import Classes, Surface, Tangency
from solvers.training.losses import Loss, Valued
from solvers.training.resting import Bundle, bundles

__all__ = ["Mode", "Task", "signs_of", "slopes_of", "with_tau"]

ROUNDS = 20  # in which slopes that depend on each other, in deep networks, are agreed on
SETTLED = 1e-12  # change of a tau in a round

Signs: TypeAlias = list[NDArray[np.int8]]
"""For each hidden layer (n, units): -1 off, 0 held or never moving, 1 on."""


@dataclass(frozen=True)
class Task:
    """What is trained on what: rows (n, columns), targets (n,); trained (N,): the parameters that move."""

    layers: Layers
    rows: Floats
    targets: Floats
    loss: Loss
    trained: Bits

    def classes(self, layer: int, unit: int) -> Classes:
        """The points whose kinks of this unit are at the same place."""
        seen = self.layers.places[0][unit] >= 0 if layer == 0 else np.ones(self.rows.shape[1], bool)
        key = layer == 0, seen.tobytes()
        if key not in self._classes:
            self._classes[key] = sliding.parallel(self.rows * seen, opposite=layer == 0)
        return self._classes[key]

    @cached_property
    def _classes(self) -> dict[tuple[bool, bytes], Classes]:
        return {}

    @cached_property
    def bundles(self) -> list[Bundle]:
        """The neurons of a depth-2 network, those that share weights together."""
        return bundles(self.layers)

    @cached_property
    def is_shared(self) -> bool:
        """Whether a weight stands at several places."""
        places = np.concatenate([p.ravel() for p in self.layers.places])
        return bool((np.bincount(places[places >= 0]) > 1).any())

    def value(self, outputs: Floats, temperature: float) -> Valued:
        """The loss at B times these outputs."""
        return losses.value(self.loss, self.targets, temperature * outputs)


def signs_of(layers: Layers, preactivations: Sequence[Floats]) -> Signs:
    """The signs at these preactivations."""
    return [np.sign(z).astype(np.int8) for z, _ in zip(preactivations, layers.slopes, strict=False)]


def slopes_of(layers: Layers, signs: Signs) -> list[Floats]:
    """The slopes at these signs, (1 + a) / 2 for 0."""
    return [(1 + a) / 2 + (1 - a) / 2 * s.astype(float) for s, a in zip(signs, layers.slopes, strict=True)]


def with_tau(
    task: Task, pattern: Sequence[Floats], surfaces: Sequence[Surface], tau: Floats | Sequence[float]
) -> list[Floats]:
    """The slopes with those on the surfaces set: a + (1 - a) tau, or 1 - (1 - a) tau at an opposite point."""
    changed = [slopes.copy() for slopes in pattern]
    for (layer, point, unit), part in zip(surfaces, tau, strict=True):
        same, a = task.classes(layer, unit), task.layers.slopes[layer]
        members = same.members(point)
        along = same.ratio[members] > 0
        changed[layer][members, unit] = a + (1 - a) * np.where(along, part, 1 - part)
    return changed


@dataclass(frozen=True, slots=True)
class Look:
    """The flow at one y: preactivations and loss at u, V = -P grad F (N,), its part along u, V.u / u.u, and dy/dtau."""

    preactivations: list[Floats]
    valued: Valued
    velocity: Floats
    growth: float
    rate: Floats


class Mode:
    """The vector field of one mode, y = (u, log kappa - log_start) -> dy/dtau, with its derivative.

    frozen: a fixed B, None for B = kappa^m. asleep (units,): the neurons of a depth-2 network that are, with all that
    share their weights, off at all points; theta does not move there.
    Counts its `evaluations` and `jacobians`.
    """

    def __init__(
        self,
        task: Task,
        u: Floats,
        log_start: float,
        pattern: Sequence[Floats],
        held: Sequence[Surface] = (),
        frozen: float | None = None,
    ) -> None:
        self.task, self.log_start, self.frozen = task, log_start, frozen
        self.pattern, self.held = list(pattern), tuple(held)
        self.evaluations = self.jacobians = 0
        self._seen = np.zeros(0), np.zeros(0)
        self._depth = len(task.layers.places)
        self._fixed = None if task.trained.all() else ~task.trained
        self.asleep = np.zeros(task.layers.places[0].shape[0], bool)
        if self._depth == 2:
            off = (self.pattern[0] == 0).all(axis=0)
            for bundle in task.bundles:
                self.asleep[bundle.units] = off[bundle.units].all()
        self._sleepers = np.zeros(len(u) + 1, bool)  # the last stands for "no weight"
        if self.asleep.any():
            for places in (task.layers.places[0][self.asleep], task.layers.places[-1][:, self.asleep]):
                self._sleepers[places] = True
        self._sleepers = self._sleepers[:-1] | ~task.trained
        self._asleep_at = u[self._sleepers]
        self._is_curved = any(layer for layer, _, _ in held)
        self._flat = self.tangency(u)

    @property
    def is_independent(self) -> bool:
        """Whether the normals of the held surfaces are linearly independent where the mode began."""
        return self._flat.is_independent

    def temperature(self, y: Floats) -> float:
        """B."""
        return float(np.exp(self._depth * (self.log_start + y[-1]))) if self.frozen is None else self.frozen

    def tangency(self, u: Floats, pattern: Sequence[Floats] | None = None) -> Tangency:
        """The geometry of the held surfaces at u; what their normals span does not depend on their own slopes."""
        if not self.held:
            return Tangency(np.zeros((0, len(u))))
        pattern = self.pattern if pattern is None else pattern
        return Tangency(self._masked(sliding.normals(self.task.layers, u, self.task.rows, pattern, self.held)))

    def drift(self, y: Floats, surface: Surface) -> float:
        """dz/dtau of another surface, the held ones kept."""
        normal = sliding.normals(self.task.layers, y[:-1], self.task.rows, self.pattern, [surface])[0]
        return float(normal @ self.look(y).velocity)

    def look(self, y: Floats) -> Look:
        """What there is to know at y."""
        self.evaluations += 1
        task, u = self.task, y[:-1]
        z = task.layers.preactivations_at(u, task.rows, self.pattern)
        valued = task.value(z[-1][:, 0], self.temperature(y))
        velocity = self._masked(task.layers.gradient(u, task.rows, self.pattern, valued.pull))
        velocity = self._tangency(u).projected(velocity)
        growth = float(velocity @ u) / float(u @ u)
        self._seen = y.copy(), np.append(velocity - growth * u, growth)
        return Look(z, valued, velocity, growth, self._seen[1])

    def __call__(self, _time: float, y: Floats) -> Floats:
        """dy/dtau."""
        if np.array_equal(y, self._seen[0]):
            return self._seen[1].copy()
        velocity, _ = self.unprojected(y)
        u = y[:-1]
        if self.held:
            velocity = self._tangency(u).projected(velocity)
        growth = float(velocity @ u) / float(u @ u)
        return np.append(velocity - growth * u, growth)

    def jacobian(self, _time: float, y: Floats) -> Floats:
        """Its derivative by y, without the turning of curved surfaces; (N + 1, N + 1)."""
        self.jacobians += 1
        task, u, hot = self.task, y[:-1], self.temperature(y)
        velocity, valued, outputs = self._pulled(y, self.pattern)
        gradients = self._masked(task.layers.jacobian(u, task.rows, self.pattern))
        inner = task.layers.hessian(u, task.rows, self.pattern, valued.pull)
        if self._fixed is not None:
            inner[self._fixed] = 0.0
            # the columns of what does not move are needed: u changes there as kappa grows
            gradients_by_all = task.layers.jacobian(u, task.rows, self.pattern)
        else:
            gradients_by_all = gradients
        inner -= (gradients.T * (hot * valued.diagonal)) @ gradients_by_all
        heat = -valued.diagonal * outputs
        if valued.is_ranked:
            inner += np.outer(hot * (valued.pull @ gradients), valued.pull @ gradients_by_all)
            heat += valued.pull * (valued.pull @ outputs)
        by_growth = (self._depth * hot) * (heat @ gradients) if self.frozen is None else np.zeros(len(u))
        if self.held:
            tangency = self._tangency(u)
            velocity, by_growth = tangency.projected(velocity), tangency.projected(by_growth)
            inner = tangency.projected(inner.T).T
        square = float(u @ u)
        growth = float(velocity @ u) / square
        turn = (velocity + u @ inner - 2 * growth * u) / square
        result = np.empty((len(y), len(y)))
        result[:-1, :-1] = inner - np.outer(u, turn)
        result[:-1, :-1].flat[:: len(y)] -= growth
        result[-1, :-1] = turn
        result[-1, -1] = float(by_growth @ u) / square
        result[:-1, -1] = by_growth - result[-1, -1] * u
        return result

    @property
    def has_arrows(self) -> bool:
        """Whether the derivative has the structure of an ArrowJacobian."""
        return self._depth == 2 and not self.task.is_shared

    def arrows(self, _time: float, y: Floats) -> ArrowJacobian:
        """The derivative of a depth-2 network without sharing; the same as `jacobian`."""
        self.jacobians += 1
        task, u, hot = self.task, y[:-1], self.temperature(y)
        velocity, valued, outputs = self._pulled(y, self.pattern)
        slopes = self.pattern[0]
        all_gradients = task.layers.jacobian(u, task.rows, self.pattern)
        gradients = self._masked(all_gradients)
        mixed = (slopes * valued.pull[:, None]).T @ task.rows
        into, out = task.layers.places[0], task.layers.places[1][0]
        mixed = np.where((into >= 0) & (out >= 0)[:, None], mixed, 0.0)
        moves = np.append(task.trained, False)  # the last stands for "no weight", as does an index of -1
        across, back = mixed * moves[into], mixed * moves[out][:, None]
        # H x for several x, the rows of `of`, of what does not move too
        tangency = self._tangency(u)
        weights = hot * valued.diagonal
        used = weights > 1e-20 * weights.max()
        lefts = [tangency.projected(-gradients[used] * weights[used, None])]
        rights = [all_gradients[used]]
        heat = -valued.diagonal * outputs
        if valued.is_ranked:
            lefts.append(tangency.projected(hot * (valued.pull @ gradients))[None, :])
            rights.append((valued.pull @ all_gradients)[None, :])
            heat += valued.pull * (valued.pull @ outputs)
        if self.held:
            padded = np.append(tangency.span, np.zeros((len(tangency.span), 1)), axis=1)
            turned = np.zeros_like(padded)  # span @ H
            turned[:, out] += np.einsum("rjk,jk->rj", padded[:, into], across)
            turned[:, into] += padded[:, out][:, :, None] * back
            lefts.append(-tangency.span)
            rights.append(turned[:, :-1])
            velocity = tangency.projected(velocity)
        left, right = np.concatenate(lefts), np.concatenate(rights)
        square = float(u @ u)
        growth = float(velocity @ u) / square
        inner = (left @ u) @ right  # u times the derivative of V
        padded = np.append(u, 0.0)
        bare = np.zeros(len(padded))
        bare[out] += (padded[into] * across).sum(axis=1)
        bare[into] += padded[out][:, None] * back
        turn = (velocity + bare[:-1] + inner - 2 * growth * u) / square
        by_growth = np.zeros(len(u))
        if self.frozen is None:
            by_growth = tangency.projected((self._depth * hot) * (heat @ gradients))
        last = float(by_growth @ u) / square
        zero = np.zeros(len(left))
        left = np.concatenate(
            [np.column_stack([left, zero]), [np.append(-u, 1.0)], [np.append(by_growth - last * u, last)]]
        )
        right = np.concatenate([np.column_stack([right, zero]), [np.append(turn, 0.0)], [np.eye(len(y))[-1]]])
        none = len(y)
        into, out = np.where(into >= 0, into, none), np.where(out >= 0, out, none)
        return ArrowJacobian(into, out, across, back, growth, left.T, right.T)

    def onto(self, y: Floats) -> Floats:
        """y on the held surfaces (curved: after two Newton steps), with ||u|| = 1, what does not move as it was."""
        u = y[:-1]
        if self.held and not self._is_curved:
            u = self._flat.projected(u)
        elif self.held:
            for _ in range(2):
                z = self.task.layers.preactivations_at(u, self.task.rows, self.pattern)
                off = np.array([z[layer][point, unit] for layer, point, unit in self.held])
                u = u - np.linalg.lstsq(self.tangency(u).normals, off, rcond=1e-12)[0]
        norm = float(np.linalg.norm(u))
        growth = y[-1] + np.log(norm)
        u = u / norm
        u[self._sleepers] = self._asleep_at * np.exp(-growth)
        return np.append(u, growth)

    def needed(self, y: Floats) -> tuple[Floats, float]:
        """The tau of the held surfaces with which the velocity is tangent, and how far they are inside [0, 1]."""
        if not self.held:
            return np.zeros(0), np.inf
        task, u, pattern, tau = self.task, y[:-1], self.pattern, self._tau()
        for _ in range(1 if self._depth == 2 else ROUNDS):  # slopes of one point in several layers are multiplied
            velocity, valued, _ = self._pulled(y, pattern)
            beta = sliding.strengths(task.layers, u, pattern, valued.pull, self.held, task.classes)
            tangency = self._flat if self._depth == 2 else self.tangency(u, pattern)
            before, (tau, inside) = tau, tangency.needed(velocity, beta, tau)
            if inside < 0 or np.abs(tau - before).max() < SETTLED:
                break
            pattern = with_tau(task, pattern, self.held, tau)
        return tau, inside

    def unprojected(self, y: Floats) -> tuple[Floats, Valued]:
        """-grad F by what moves, (N,), and the loss, at this mode's slopes."""
        return self._pulled(y, self.pattern)[:2]

    def parts(self, y: Floats, surfaces: Sequence[Surface]) -> tuple[Floats, Floats, Floats]:
        """The velocity at tau = 0 of these surfaces, their normals and betas; (N,), (surfaces, N), (surfaces,)."""
        task, u = self.task, y[:-1]
        off = with_tau(task, self.pattern, surfaces, [0.0] * len(surfaces))
        velocity, valued, _ = self._pulled(y, off)
        normals = self._masked(sliding.normals(task.layers, u, task.rows, self.pattern, surfaces))
        return velocity, normals, sliding.strengths(task.layers, u, self.pattern, valued.pull, surfaces, task.classes)

    def stiffness(self, y: Floats, look: Look) -> float:
        """The fastest decay that the loss imposes, in units of the rate at which y changes; `look` is that at y."""
        speed = float(np.linalg.norm(look.velocity))
        gradients = self._masked(self.task.layers.jacobian(y[:-1], self.task.rows, self.pattern))
        weighted = gradients * np.sqrt(look.valued.diagonal)[:, None]
        fastest = float(np.linalg.norm(weighted @ weighted.T, 2)) * self.temperature(y)
        return fastest / speed if speed else 0.0

    def cancellation(self, y: Floats, look: Look) -> float:
        """||sum c_i grad f_i|| in units of sum |c_i| max ||grad f_i||, projected; 0 where nothing moves.

        Small where the pulls of the points cancel, and where all the loss is at points that no neuron sees.
        """
        gradients = self._masked(self.task.layers.jacobian(y[:-1], self.task.rows, self.pattern))
        total = float(np.abs(look.valued.pull).sum() * np.linalg.norm(gradients, axis=1).max())
        return float(np.linalg.norm(look.velocity)) / total if total else 0.0

    def _pulled(self, y: Floats, pattern: Sequence[Floats]) -> tuple[Floats, Valued, Floats]:
        self.evaluations += 1
        task, hot, found = self.task, self.temperature(y), []

        def pull(outputs: Floats) -> Floats:
            found.append(task.value(outputs, hot))
            return found[0].pull

        outputs, velocity = task.layers.pulled(y[:-1], task.rows, pattern, pull)
        return self._masked(velocity), found[0], outputs

    def _masked(self, derivatives: Floats) -> Floats:
        if self._fixed is None:
            return derivatives
        derivatives = np.array(derivatives)
        derivatives[..., self._fixed] = 0.0
        return derivatives

    def _tau(self) -> Floats:
        """The tau in this mode's slopes."""
        slopes = np.array([self.pattern[layer][point, unit] for layer, point, unit in self.held])
        a = np.array([self.task.layers.slopes[layer] for layer, _, _ in self.held])
        return (slopes - a) / (1 - a)

    def _tangency(self, u: Floats) -> Tangency:
        return self.tangency(u) if self._is_curved else self._flat
