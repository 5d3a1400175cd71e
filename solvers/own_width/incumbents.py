"""Networks of the width near the pieces of a relaxed problem: pieces are summed until there are no more than neurons.

Then the network is the best one with its own patterns, again and again while that improves it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from solvers.any_width.columns import column_of
from solvers.any_width.master import Column, solve_master
from solvers.any_width.records import Atoms
from solvers.arrays import Floats
from solvers.instance import Status
from solvers.own_width.fitted_starts import fitted_networks
from solvers.own_width.setting import Setting

__all__ = ["Incumbents", "Neuron"]

Neuron = tuple[int, int, Floats]
"""Mask class, output sign, direction (D,)."""

STEPS = 12  # of one descent
MOST_WALKED = 40  # choices of patterns, one after the other, each better
LESS = 1e-9  # of the value is less
KINK = 1e-6  # of the largest |x_i . u|: less is 0
PENALTY = 1e4
FITS = 1e-7  # of the required outputs, about 1
MOST = 4  # networks that are kept
MOST_PIECES = 40  # are summed, the longest
DESCENTS = 40  # networks from random starts that are improved
MOST_ENTRIES = 4000  # of the rows of all neurons: beyond that no starts are tried


class Incumbents:
    """networks: of the scaled problem that fit and have the width, at most `MOST`, best value first."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.networks: list[Atoms] = []
        self.tried: set[tuple[tuple[int, int, bytes], ...]] = set()

    def from_starts(self) -> None:
        """Descend from networks that fit, found from random starts, those of the least norm first."""
        problem, masks, random = self.setting.problem, self.setting.masks, self.setting.random
        instance = problem.instance
        seen = np.zeros((len(masks), instance.rows.shape[1]), bool)
        for j, mask in enumerate(masks):
            seen[j, instance.masks[mask]] = True
        if instance.rows.size * len(masks) > MOST_ENTRIES or not seen.any():
            return
        targets = instance.targets if instance.margin else problem.required
        signs, found = fitted_networks(
            instance.rows,
            targets,
            lambda many: random.choice(np.array([1, -1], np.int8), (many, len(masks))),
            instance.slope,
            random,
            margin=instance.margin,
            seen=seen,
        )
        body = found[:, :, :-1] if instance.free else found
        order = np.argsort(np.linalg.norm(body, axis=2).sum(axis=1), kind="stable")
        for at in order[:DESCENTS]:
            self.descend([(mask, int(signs[at, j]), found[at, j]) for j, mask in enumerate(masks)])

    def descend(self, neurons: Sequence[Neuron]) -> None:
        """The best network with these patterns, then with those that it has, while it gets better."""
        best, columns, kept, found = np.inf, self._columns(neurons), list[Column](), list[Neuron]()
        for _ in range(STEPS):
            value = self._tried(columns)
            if value is None or value >= best * (1.0 - LESS):
                break
            best, kept, found = value, columns, self._neurons
            columns = self._columns(found)
        self._walk(best, kept, found)

    def _tried(self, columns: list[Column]) -> float | None:
        """The value of the best network with these columns; None where that fails, or was looked at before."""
        instance = self.setting.problem.instance
        self.setting.poll()
        key = tuple(sorted(column.key(instance, np.arange(len(instance.rows))) for column in columns))
        if not columns or key in self.tried:
            return None
        self.tried.add(key)
        return self._best_of(columns)

    def _walk(self, best: float, columns: list[Column], neurons: Sequence[Neuron]) -> None:
        """From one choice of patterns to another that differs at one kink of the best network, while that is better."""
        for _ in range(MOST_WALKED):
            for other in self._beside(columns, neurons):
                value = self._tried(other)
                if value is not None and value < best * (1.0 - LESS):
                    best, columns, neurons = value, other, self._neurons
                    break
            else:
                return

    def _beside(self, columns: list[Column], neurons: Sequence[Neuron]) -> Iterator[list[Column]]:
        """The columns with one of them on the other side of a point that is a kink of its neuron."""
        instance = self.setting.problem.instance
        for q, (column, (mask, _, u)) in enumerate(zip(columns, neurons, strict=True)):
            if not u.any():
                continue
            z = np.abs(instance.rows[:, instance.masks[mask]] @ u[instance.masks[mask]])
            for i in np.flatnonzero(z <= KINK * z.max()):
                on = column.on.copy()
                on[i] = not on[i]
                yield [*columns[:q], Column(column.mask, column.sign, on), *columns[q + 1 :]]

    def _columns(self, neurons: Sequence[Neuron]) -> list[Column]:
        instance = self.setting.problem.instance
        return [
            Column(mask, sign, column_of(instance, mask, sign, u[instance.masks[mask]]).on)
            for mask, sign, u in neurons
            if len(instance.masks[mask])
        ]

    def _best_of(self, columns: list[Column]) -> float | None:
        """The value of the best network with these columns, noted where it fits; its penalised value else."""
        problem = self.setting.problem
        points = self.setting.working.points
        solution = solve_master(
            problem.instance,
            problem.required,
            columns,
            points,
            PENALTY,
            tolerances=problem.tolerances if problem.instance.tolerance else None,
        )
        if solution.status is Status.FAILED:
            return None
        self._neurons = [(c.mask, c.sign, u) for c, u in zip(columns, solution.directions, strict=True)]
        self._note([neuron for neuron in self._neurons if neuron[2].any()])
        return solution.value

    def _note(self, neurons: Sequence[Neuron]) -> None:
        """Keep the network, scaled to its margin, when it fits."""
        if not neurons:
            return
        problem = self.setting.problem
        directions = np.array([u for _, _, u in neurons])
        signs = np.array([sign for _, sign, _ in neurons], np.int8)
        body = directions[:, :-1] if problem.instance.free else directions
        value = float(np.linalg.norm(body, axis=1).sum())
        outputs = problem.outputs(directions, signs)
        if problem.instance.margin:
            margin = float((problem.instance.targets * outputs / problem.required).min())
            if margin <= 0:
                return
            directions, value = directions / margin, value / margin
        elif float((np.abs(outputs - problem.required) - problem.tolerances).max()) > FITS:
            return
        masks = np.array([mask for mask, _, _ in neurons], np.intp)
        self.networks.append(Atoms(directions, signs, masks, value))
        self.networks.sort(key=lambda atoms: atoms.value)
        del self.networks[MOST:]
        self.setting.upper = min(self.setting.upper, value)

    def from_pieces(self, pieces: Sequence[Neuron]) -> None:
        """Sum the pieces that are most alike until each neuron has one at most, and descend from there."""
        room = Counter(self.setting.masks)
        kept = sorted(pieces, key=lambda piece: -float(np.linalg.norm(piece[2])))[:MOST_PIECES]
        for mask in {mask for mask, _, _ in kept}:
            while sum(own == mask for own, _, _ in kept) > room[mask]:
                pair = self._most_alike([q for q, (own, _, _) in enumerate(kept) if own == mask], kept)
                if pair is None:
                    smallest = min(
                        (q for q, (own, _, _) in enumerate(kept) if own == mask),
                        key=lambda q: float(np.linalg.norm(kept[q][2])),
                    )
                    kept.pop(smallest)
                    continue
                a, b = pair
                kept[a] = (*kept[a][:2], kept[a][2] + kept[b][2])
                kept.pop(b)
        self.descend(kept)

    def _most_alike(self, places: Sequence[int], pieces: Sequence[Neuron]) -> tuple[int, int] | None:
        """Two pieces of one sign with the least angle at the data; None without."""
        instance, best, found = self.setting.problem.instance, -np.inf, None
        for at, a in enumerate(places):
            for b in places[at + 1 :]:
                if pieces[a][1] != pieces[b][1]:
                    continue
                za, zb = instance.rows @ pieces[a][2], instance.rows @ pieces[b][2]
                alike = float(za @ zb) / max(float(np.linalg.norm(za) * np.linalg.norm(zb)), 1e-300)
                if alike > best:
                    best, found = alike, (a, b)
        return found
