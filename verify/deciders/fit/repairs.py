"""Networks that meet every target exactly, near one that does so up to rounding (min-norm): same output weights.

Within a pattern f is linear in the w_j, and so is "this preactivation is 0". Training leaves many preactivations at
kinks up to rounding, and whether a network is stationary depends on them: so they are held at 0 exactly, together with
the equations of interpolation, as many as are consistent. Everything returned is a candidate that the checker judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np

from solvers.arrays import Bits, Floats, Indices
from verify.checker.codec import LIMIT
from verify.checker.errors import InputError
from verify.checker.exact import dot
from verify.checker.statement import pattern
from verify.deciders.rounding import dyadic, solve_exactly
from verify.deciders.time_limits import is_late, poll
from verify.deciders.witnesses import dot_product_scales, network_with, norms
from verify.numbers.floats import float_outgoing, float_rows, float_targets, float_weights, to_float, weight_places
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem, half_squared_norm, outputs

__all__ = ["repair", "repairs"]

NeuronAndInput = tuple[int, int]
"""(neuron, point)."""

NEAR_KINKS = (1e-7, 1e-9, 1e-12)
"""Preactivations below these parts of their `verify.deciders.witnesses.dot_product_scales` are held at 0."""

PUSH, LITTLE_PUSH = 1e-7, 1e-12
"""Preactivations that cannot be held at their kink are pushed to such a part of their reach, on their own side."""

CLOSE = 1e-13
"""Below this part of its reach the side of a preactivation that is not held is in doubt."""

LEAST_EFFECT = 1e-6
"""Neurons |v| ||w|| below this part of the largest one are moved as if they were of this size."""

ROUNDS = 6
DEPENDENT, NEARLY_DEPENDENT = 1e-11, 1e-7
"""An equation of length 1 of which no more is left beside the others depends on them: of interpolation, and others."""

MOST = 1e140
"""LAPACK may not come back from numbers that overflow."""


def repair(problem: Problem, network: Network, deadline: float | None = None) -> Network | None:
    """The first of the `repairs`; None where none was found."""
    return next(repairs(problem, network, deadline), None)


def repairs(problem: Problem, network: Network, deadline: float | None = None) -> Iterator[Network]:
    """Networks near `network` with f(x_i) = y_i exactly and the same v; itself, first, when it is one.

    For each of `NEAR_KINKS`: near kinks are held as equalities, the nearest first, where they agree with those before
    and with the targets; the weights move as little as that allows, and other preactivations keep their side or stop at
    their kink. Last, one whose preactivations all keep their side, by a visible distance where they were near 0.
    deadline: a moment of `solvers.clock.now()` after which no further one is looked for.
    Incomplete: the pattern may have to change, floats decide which equations are independent, and networks whose
    objective has more digits than certificates hold are left out (about a hundred equations between doubles).
    """
    if has_margin(problem.goal) or problem.architecture.limits() is not None:
        return
    if list(outputs(problem, network)) == list(problem.data.targets):
        yield network
    model = _model(problem, network)
    if model is None:
        return
    seen: list[Network] = []
    for share in (*NEAR_KINKS, None):
        if is_late(deadline):
            return
        found = _repaired(problem, model, share, deadline)
        if found is not None and found not in seen:
            seen.append(found)
            yield found


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """A network within its pattern, in floats.

    rows (n, c), weights (k, c), reach (k, n).   place (P,): which of the k c weights there are; units (P,): steps of
    the same size in these units count alike.   fit (n, P): f(x_i) = fit w.   on (k, n).   live (k, n): where a neuron
    that counts can have a kink.   exact (k, n): where it has one.
    """

    network: Network
    rows: Floats
    targets: Floats
    weights: Floats
    place: Indices
    units: Floats
    fit: Floats
    on: Bits
    live: Bits
    exact: Bits
    reach: Floats

    def line(self, place: NeuronAndInput) -> Floats:
        """The preactivation of a neuron at a point as a linear form in the weights (P,)."""
        form = np.zeros(self.weights.shape)
        form[place[0]] = self.rows[place[1]]
        return form.ravel()[self.place]


def _model(problem: Problem, network: Network) -> _Model | None:
    """The float model; None when numbers are out of range."""
    rows = float_rows(problem)
    targets = float_targets(problem)
    slope = to_float(problem.architecture.slope)
    v = float_outgoing(network)
    weights, allowed = float_weights(network), weight_places(network)
    if not all(
        np.isfinite(given).all() and np.abs(given).max(initial=0.0) < MOST for given in (rows, weights, v, targets)
    ):
        return None
    signs = np.array(pattern(problem, network), dtype=np.int8)
    place = np.flatnonzero(allowed.ravel())
    fit = np.einsum("j,ji,ic->ijc", v, np.where(signs > 0, 1.0, slope), rows).reshape(len(rows), -1)[:, place]
    columns = np.abs(rows).max(axis=0)
    columns[columns == 0] = 1.0
    ease = _ease(norms(weights * columns), np.abs(v))
    free = [column for column in range(weights.shape[1]) if column not in problem.norm_columns]
    columns[free] /= 1e4  # a free bias costs nothing: move it rather than the weights
    reach = dot_product_scales(rows, weights, bias=problem.architecture.bias)
    seen = np.array([[any(row[c] for c in mask) for row in problem.rows] for mask in network.architecture.masks])
    live = seen & (v != 0)[:, None] & (slope < 1)
    return _Model(
        network=network,
        rows=rows,
        targets=targets,
        weights=weights,
        place=place,
        units=(ease[:, None] / columns).ravel()[place],
        fit=fit,
        on=signs > 0,
        live=live,
        exact=live & (signs == 0),
        reach=np.maximum(reach, 1e-9 * reach.max(initial=0.0)),
    )


def _ease(sizes: Floats, outgoing: Floats) -> Floats:
    """How much the weights of each neuron may be moved, (k,): as much as if |v| = ||w|| everywhere.

    So repairs do not depend on how a neuron is balanced. sizes: ||w|| of each; next to nothing counts as a little.
    """
    with np.errstate(all="ignore"):
        effects = sizes * outgoing
        ease = np.sqrt(np.maximum(effects, LEAST_EFFECT * effects.max(initial=0.0))) / outgoing
    is_usual = np.isfinite(ease) & (ease > 0)
    return np.where(is_usual, ease, np.median(ease[is_usual]) if is_usual.any() else 1.0)


def _repaired(problem: Problem, model: _Model, share: float | None, deadline: float | None) -> Network | None:
    """The repair that holds kinks nearer than this share of their reach; None: that pushes them off."""
    z = model.weights @ model.rows.T
    ratio = np.where(model.exact, 0.0, np.abs(z) / np.where(model.reach > 0, model.reach, 1.0))
    wanted = [(int(j), int(i)) for j, i in np.argwhere(model.live & (ratio <= (share or 0.0)))]
    wanted = sorted((place for place in wanted if share is not None), key=lambda place: ratio[place])
    pushed: set[NeuronAndInput] = set()
    if share is None:
        pushed = {(int(j), int(i)) for j, i in np.argwhere(model.live & (ratio < PUSH / 2))}
    for _ in range(ROUNDS):
        if is_late(deadline):
            return None
        solved = _step(model, wanted, pushed, PUSH if share is None else LITTLE_PUSH)
        if solved is None:
            return None
        step, basis, held = solved
        moved = model.weights.ravel().copy()
        moved[model.place] += step
        z = moved.reshape(model.weights.shape) @ model.rows.T
        margin = CLOSE * model.reach
        lost = model.live & (np.where(model.on, z, -z) < margin)
        for place in [*held, *pushed]:
            lost[place] = False
        new = [(int(j), int(i)) for j, i in np.argwhere(lost)]
        if not new:
            return _exactly(problem, model, step, basis, held, deadline)
        refused = [place for place in new if place in wanted or share is None]
        pushed |= set(refused)
        wanted = [place for place in wanted if place not in pushed] + [place for place in new if place not in pushed]
    return None


def _step(
    model: _Model, wanted: list[NeuronAndInput], pushed: set[NeuronAndInput], push: float
) -> tuple[Floats, list[int], list[NeuronAndInput]] | None:
    """The least step (P,) that fits the targets and holds the wanted kinks as far as they are consistent.

    With the indices of independent equations of interpolation, and the kinks that are held. None when the targets
    cannot be met, or a pushed preactivation has no room.
    """
    start = model.weights.ravel()[model.place]
    system = _TargetEquations(model.units, len(model.fit) + len(wanted) + len(pushed))
    allowed = 1e-6 * max(float(np.abs(model.targets).max(initial=0.0)), 1e-300)
    basis: list[int] = []
    residual = model.targets - model.fit @ start
    for i in np.argsort(-norms(model.fit), kind="stable"):
        poll()
        added = system.add(model.fit[i], float(residual[i]), allowed)
        if added is None:
            return None
        if added:
            basis.append(int(i))
    held: list[NeuronAndInput] = []
    for place in wanted:
        poll()
        line = model.line(place)
        gap = 0.0 if model.exact[place] else -float(line @ start)
        if system.add(line, gap, CLOSE * model.reach[place], NEARLY_DEPENDENT) is not None:
            held.append(place)
    for place in sorted(pushed):
        line = model.line(place)
        goal = push * model.reach[place] * (1.0 if model.on[place] else -1.0)
        if system.add(line, float(goal - line @ start), push / 2 * model.reach[place], NEARLY_DEPENDENT) is None:
            return None
    return system.units * system.step, basis, held


class _TargetEquations:
    """Linear equations a.s = b by Gram-Schmidt, twice for each: the least solution s of those added so far.

    units: s is measured in these, so that the stored solution is that of (a units).(s / units) = b.
    """

    def __init__(self, units: Floats, most: int) -> None:
        self.units = units
        self.vectors = np.empty((min(most, len(units)), len(units)))
        self.size = 0
        self.step = np.zeros(len(units))

    def add(self, form: Floats, value: float, allowed: float, least: float = DEPENDENT) -> bool | None:
        """Whether the equation is independent of those before; None, and it is left out, when they contradict it.

        allowed: by how much a dependent equation may be missed.   least: what makes an equation independent.
        """
        line = form * self.units
        length = float(norms(line[None])[0])
        left = value - float(line @ self.step)
        if length > 0 and self.size < len(self.vectors):
            rest = line / length
            known = self.vectors[: self.size]
            for _ in range(2):
                rest = rest - (known @ rest) @ known
            size = float(np.linalg.norm(rest))
            if size > least:
                rest /= size
                self.step = self.step + left / length / size * rest
                self.vectors[self.size] = rest
                self.size += 1
                return True
        return False if abs(left) <= allowed else None


def _exactly(
    problem: Problem, model: _Model, step: Floats, basis: list[int], held: list[NeuronAndInput], deadline: float | None
) -> Network | None:
    """The float step, rounded, with one exact correction of as many weights as there are independent equations."""
    network, width = model.network, model.weights.shape[1]
    hidden = [list(row) for row in network.hidden_weights]
    for at, change in zip(model.place, step, strict=True):
        j, c = divmod(int(at), width)
        hidden[j][c] = _moved(hidden[j][c], float(model.weights[j, c]), float(change))
    poll()
    kept = _independent(model, basis, held)
    columns = _columns(np.array([*(model.fit[i] for i in basis), *map(model.line, kept)]).reshape(-1, len(step)))
    values = _within_pattern(problem, model, network_with(network, hidden))
    slope, v = problem.architecture.slope, network.output_weights
    at = [divmod(int(model.place[q]), width) for q in columns]
    lines: list[list[Fraction]] = []
    for i in basis:
        poll()
        row, factors = problem.rows[i], [w * (1 if model.on[j, i] else slope) for j, w in enumerate(v)]
        lines.append([factors[j] * row[c] if row[c] else row[c] for j, c in at])
    lines += [[problem.rows[i][c] if j == q else Fraction(0) for q, c in at] for j, i in kept]
    right = [problem.data.targets[i] - values[i] for i in basis]
    right += [-dot(problem.rows[i], hidden[j]) for j, i in kept]
    change = solve_exactly(lines, right, deadline=deadline) if any(right) else [Fraction(0)] * len(at)
    if change is None:
        return None
    for (j, c), value in zip(at, change, strict=True):
        hidden[j][c] += value
    try:
        repaired = network_with(network, hidden)
        is_short = max(half_squared_norm(problem, repaired).as_integer_ratio()) < LIMIT  # certificates state it
        return repaired if is_short and list(outputs(problem, repaired)) == list(problem.data.targets) else None
    except InputError:  # numbers longer than the core keeps
        return None


def _moved(weight: Fraction, number: float, change: float) -> Fraction:
    """The weight, of which the float is the number, after a step: a float again where it was one."""
    if not change:
        return weight
    return Fraction(number + change) if weight == number else weight + dyadic(change, 53)


def _within_pattern(problem: Problem, model: _Model, network: Network) -> list[Fraction]:
    """f at every point with the slopes of the pattern: its value, unless rounding moved a kink to the other side."""
    slope, values = problem.architecture.slope, list(outputs(problem, network))
    weights = float_weights(network)
    doubtful = model.live & (np.abs(weights @ model.rows.T) <= CLOSE * model.reach)
    for j, i in np.argwhere(doubtful).tolist():
        z = dot(problem.rows[i], network.hidden_weights[j])
        if (z > 0) != bool(model.on[j, i]):
            values[i] += network.output_weights[j] * (1 - slope) * (z if model.on[j, i] else -z)
    return values


def _independent(model: _Model, basis: list[int], held: list[NeuronAndInput]) -> list[NeuronAndInput]:
    """The held kinks that do not depend on the equations of interpolation and on those before."""
    system = _TargetEquations(model.units, len(basis) + len(held))
    for i in basis:
        system.add(model.fit[i], 0.0, 0.0)
    return [place for place in held if system.add(model.line(place), 0.0, 0.0, NEARLY_DEPENDENT)]


def _columns(matrix: Floats) -> list[int]:
    """As many columns as the matrix has rows, chosen by pivoting: the submatrix is well-conditioned."""
    from scipy.linalg import qr

    if not matrix.size:
        return []
    scaled = matrix / np.maximum(norms(matrix), 1e-300)[:, None]
    _, order = cast("tuple[Floats, Indices]", qr(scaled, mode="r", pivoting=True))
    return sorted(int(q) for q in order[: len(matrix)])
