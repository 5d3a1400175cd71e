"""The networks that a search among given output weights knows: found by walks in floats, made exact, the best first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

import numpy as np

from solvers.arrays import Signs
from solvers.hidden.cells import Cell
from solvers.hidden.inner_cells import ByCells, without_chords
from solvers.instance import SearchStatus
from solvers.own_width.fitted_starts import fitted_networks
from verify.checker.statement import pattern
from verify.deciders.hidden.geometry import Geometry
from verify.deciders.hidden.least_norm import Solved, least_norm, shape_of
from verify.deciders.hidden.leaves import StateLeaf, digits, exact_leaf, excesses, shortened_leaf
from verify.deciders.hidden.sharp import sharp_leaf
from verify.deciders.hidden.states import NeuronState, float_neurons, float_points
from verify.deciders.time_limits import TimeIsUpError, is_late, share, until
from verify.deciders.witnesses import network_with
from verify.numbers.floats import float_near
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

__all__ = ["KnownNetworks"]

LONG = 3000
"""Digits of multipliers beyond which rounded ones take their place, where that is within the tolerance."""

START_SHARE = 0.5
"""Of the time, for the walks to the first networks; a longer one is cut short, and the search goes on without it."""

STARTS = 24
"""Random choices of sides from which walks begin."""

WALKS, MOST_ENTRIES = 40, 4000
"""Walks that begin at networks that fit, found from random weights, the shortest ones first; and the entries of the
points of all neurons beyond which none are sought.
"""


class KnownNetworks:
    """networks: that may fit; those with other masks or output weights are left out.
    given: the first of them that fits, None without one.   found: objectives and networks, the best first.

    least: the least objective in floats.   champion: the best exact optimum of a choice of sides, with its pattern.
    """

    def __init__(self, problem: Problem, networks: Iterable[Network] = ()) -> None:
        self.problem = problem
        self.geometry = Geometry(problem)
        self.points = float_points(problem)
        self.neurons = float_neurons(self.geometry)
        self.shape = shape_of(self.geometry)
        self.found: list[tuple[Fraction, Network]] = []
        self.least = float("inf")
        self.champion: tuple[Solved, Signs] | None = None
        self._exact: dict[bytes, Solved | None] = {}
        known = [network for network in (_in_order(problem, other) for other in networks) if network is not None]
        self.given = next((network for network in known if objective(problem, network) is not None), None)
        for network in known:
            self.take(network)
            self.take(_without_silent(problem, network))
        for network in self._constants():
            self.take(network)

    @property
    def upper(self) -> Fraction | None:
        """The least objective that is known."""
        return self.found[0][0] if self.found else None

    def take(self, network: Network) -> None:
        """Add a network, when it fits."""
        value = objective(self.problem, network)
        if value is not None and network not in (found for _, found in self.found):
            self.found.append((value, network))
            self.found.sort(key=lambda pair: pair[0])
            self.least = min(self.least, float_near(value))

    def _constants(self) -> Iterator[Network]:
        """The zero network, and those of one free bias whose constant is wanted at every point: each costs nothing."""
        if not self.geometry.live:
            yield self.shape
        problem, free = self.problem, self.geometry.free
        lowest, highest = min(problem.targets), max(problem.targets)
        wanted = (lowest + highest) / 2
        if free is None or not wanted:
            return
        for j in self.geometry.live:
            slope = 1 if wanted * self.geometry.outgoing[j] > 0 else problem.architecture.slope
            if slope and self.geometry.sees_free(self.geometry.masks[j]):
                rows = [list(w) for w in self.shape.hidden_weights]
                rows[j][free] = wanted / (self.geometry.outgoing[j] * slope)
                yield network_with(self.shape, rows)

    def walk_from(self, sides: Signs, fixed: Signs | None = None) -> None:
        """A walk from this choice of sides; where it ends lower than all before the end is made exact."""
        start = self.neurons.settled(sides)
        if start is None:
            return
        end = self.neurons.walk(start, None if fixed is None or (start.sides * fixed < 0).any() else fixed)
        if end.value < self.least * (1 - 1e-12) or (self.champion is None and end.value <= self.least * (1 + 1e-9)):
            self._make_exact(end)

    def _make_exact(self, cell: Cell) -> None:
        found = self.solve(cell.sides)
        if found is None:
            return
        network = found.network(self.shape)
        if network is None:
            return
        self.take(network)
        if self.found[0][1] == network or self.found[0][0] == objective(self.problem, network):
            self.champion = found, self.pattern(found)

    def solve(self, sides: Signs) -> Solved | None:
        """The exact optimum of a choice of sides of the live neurons."""
        key = sides.tobytes()
        if key not in self._exact:
            n = len(self.problem.rows)
            whole = [[-1] * n for _ in self.geometry.masks]
            for row, j in zip(sides, self.geometry.live, strict=True):
                whole[j] = [int(side) for side in row]
            pairs = [(j, i) for j in self.geometry.live for i in range(n)] if self.points.slope < 1 else []
            self._exact[key] = least_norm(self.geometry, whole, pairs)
        return self._exact[key]

    def pattern(self, found: Solved) -> Signs:
        """The exact sides of the live neurons (k, n), 0 at kinks."""
        network = found.network(self.shape)
        if network is None:
            return np.zeros((len(self.geometry.live), len(self.problem.rows)), np.int8)
        return np.array(pattern(self.problem, network), np.int8)[self.geometry.live]

    @property
    def is_long(self) -> bool:
        """Whether the exact multipliers of the best network are longer than is worth while."""
        return self.champion is not None and digits(self.champion[0].multipliers.values()) > LONG

    def started(self, deadline: float | None) -> SearchStatus | None:
        """Walks to the first networks, in a share of the time; why the search ends there, None when it goes on."""
        end = share(deadline, START_SHARE)
        try:
            with until(end):
                self.start(end)
        except KeyboardInterrupt:
            return SearchStatus.INTERRUPTED
        except TimeIsUpError:
            return SearchStatus.TIME if is_late(deadline) else None
        return None

    def start(self, deadline: float | None) -> None:
        """Walks from the network that is to be beaten, and from random choices of sides."""
        n = len(self.problem.rows)
        if self.given is not None:
            signs = np.array(pattern(self.problem, self.given), np.int8)[self.geometry.live]
            for kinks in (-1, 1):
                self.walk_from(np.where(signs == 0, kinks, signs).astype(np.int8))
        random = np.random.default_rng(0)
        for sides in self._fitted(random):
            if is_late(deadline):
                return
            self.walk_from(sides)
        for k in range(STARTS if self.points.slope < 1 else 1):
            if is_late(deadline):
                return
            sides = np.empty((len(self.geometry.live), n), np.int8)
            for q, (rows, free) in enumerate(zip(self.neurons.rows, self.neurons.free, strict=True)):
                direction = random.standard_normal(rows.shape[1])
                if k % 3 == 0:  # towards the points that the neuron can serve
                    wanted = self.points.targets * np.sign(self.neurons.outgoing[q]) > 0
                    chosen = wanted & (random.random(n) < 0.7)
                    direction = rows[chosen].sum(axis=0) if chosen.any() else direction
                values = rows @ direction + (0 if free is None else random.standard_normal() * np.abs(rows).max())
                sides[q] = np.where(values > 0, 1, -1)
            self.walk_from(sides)

    def _fitted(self, random: np.random.Generator) -> list[Signs]:
        """The sides (k, n) of networks that fit, found from random weights, those of the least norm first."""
        neurons, points = self.neurons, self.points
        has_one_mask = len({self.geometry.masks[j] for j in self.geometry.live}) == 1
        if not has_one_mask or points.slope == 1 or neurons.rows[0].size * len(neurons.rows) > MOST_ENTRIES:
            return []
        rows = neurons.rows[0] if neurons.free[0] is None else np.column_stack([neurons.rows[0], neurons.free[0]])
        signs = np.where(neurons.outgoing > 0, 1, -1).astype(np.int8)
        _, found = fitted_networks(
            rows, points.targets, lambda many: np.tile(signs, (many, 1)), points.slope, random, margin=points.margin
        )
        sizes = np.linalg.norm(found / neurons.outgoing[:, None], axis=(1, 2))
        order = np.argsort(sizes, kind="stable")[:WALKS]
        return [np.where(found[at] @ rows.T > 0, 1, -1).astype(np.int8) for at in order]

    def leaf_of(self, state: NeuronState, found: Solved, signs: Signs, bits: int | None = None) -> StateLeaf | None:
        """The leaf by the multipliers of an exact optimum of a choice of sides: p_j = w_j / |v_j| in every case.

        The neurons are matched with those of the state such that each lies in the cone of its case.
        bits: round all numbers to so many bits of the largest one.
        """
        matched = self._matched(state, signs)
        if matched is None:
            return None
        order = {q: own[0] for q, own in matched.items()}
        problem, geometry = self.problem, self.geometry
        slopes: list[dict[int, Fraction]] = []
        squares: list[Fraction] = []
        for q, case in enumerate(state.cases):
            owner = order[q]
            row = geometry.live.index(owner)
            v = abs(geometry.outgoing[owner])
            excess = excesses(problem, case, found.multipliers)
            own: dict[int, Fraction] = {}
            for i in range(len(problem.rows)):
                is_on = found.sides[owner][i] > 0 or signs[row][i] > 0
                t = excess.get(i, Fraction(0)) if is_on else Fraction(0)
                nu = found.pairs.get((owner, i), Fraction(0)) / v
                own[i] = t + nu * found.sides[owner][i]
            slopes.append({i: t for i, t in own.items() if t})
            squares.append(sum((found.hidden[owner][c] ** 2 for c in geometry.counted(case[0])), Fraction(0)) / v**2)
        if bits is not None:
            return shortened_leaf(geometry, state.cases, found.multipliers, slopes, bits)
        return exact_leaf(problem, state.cases, found.multipliers, slopes, squares)

    def sharp_leaf(self, state: NeuronState, cells: ByCells, poll: Callable[[], None]) -> StateLeaf | None:
        """The leaf of a relaxation by cells that proves the objective of the best network itself; None without one.

        poll: called before each program; may raise.
        """
        if self.champion is None or self.is_long or self.points.slope == 1:
            return None
        network = self.champion[0].network(self.shape)
        matched = self._matched(state, self.champion[1])
        if network is None or matched is None or objective(self.problem, network) != self.upper:
            return None
        sides = dict(zip(self.geometry.live, self.champion[1], strict=True))
        owners = [matched[q] for q in range(len(state.cases))]
        cut = without_chords(self.points, cells, state.cell, [[sides[j] for j in own] for own in owners], poll)
        return None if cut is None else sharp_leaf(self.geometry, state.cases, cut, network, owners, sides)

    def _matched(self, state: NeuronState, signs: Signs) -> dict[int, list[int]] | None:
        """For each case neurons of the optimum that lie in its cone, as many as it has; None where there are none."""
        kinds = self.problem.neurons
        rows = dict(zip(self.geometry.live, signs, strict=True))
        free = set(self.geometry.live)
        order: dict[int, list[int]] = {}
        for j in self.geometry.live:
            cone = np.array([state.known.get((j, i), 0) for i in range(len(self.problem.rows))])
            able = [
                m for m in sorted(free, key=lambda m: m != j) if kinds[m] == kinds[j] and (rows[m] * cone >= 0).all()
            ]
            if not able:
                return None
            free.discard(able[0])
            order.setdefault(state.case_of(j), []).append(able[0])
        return order


def _in_order(problem: Problem, network: Network) -> Network | None:
    """The network with its neurons in the order of the problem's; None where they are no neurons of the problem."""
    masks = network.architecture.masks
    theirs = list(zip(masks, network.output_weights, strict=True))
    if theirs == list(problem.neurons) or not problem.has_neurons_of(network):
        return network if theirs == list(problem.neurons) else None
    rows = {
        neuron: [w for w, own in zip(network.hidden_weights, theirs, strict=True) if own == neuron] for neuron in theirs
    }
    ordered = [(mask, rows[mask, v].pop()) for mask, v in problem.neurons if v is not None]
    hidden = [w[c] for mask, w in ordered for c in mask]
    return Network(problem.architecture, (hidden, list(problem.output_weights or ())))


def _without_silent(problem: Problem, network: Network) -> Network:
    """The same function at the data, with the rows of neurons that add nothing there put to 0."""
    signs, slope = pattern(problem, network), problem.architecture.slope
    adds = [
        v and any(sign > 0 or (slope and sign) for sign in row)
        for v, row in zip(network.output_weights, signs, strict=True)
    ]
    return network_with(
        network, [[z if kept else Fraction(0) for z in w] for kept, w in zip(adds, network.hidden_weights, strict=True)]
    )
