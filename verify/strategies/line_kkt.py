"""KKT points on a line with many linear regions: patterns grow neuron by neuron, and what can be made exact is kept.

A pattern that was solved in floats is changed at random (a neuron more, one less, one moved onto a point or off it, a
point more or less) and solved again from there; patterns with more breakpoints are changed more often. A search, not a
construction: that it finds no more regions means nothing. What it returns is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from numpy.typing import NDArray

from verify.strategies.kkt import KKTPoint
from verify.strategies.line_equations import LineEquations
from verify.strategies.line_exact import exact_line_point
from verify.strategies.line_patterns import Place, breakpoints, is_plausible, places_of

__all__ = ["LineGrowth", "line_kkt_points", "switching_kkt_points"]

_KEPT, _MOST_KEPT = 250, 500
_FRESH = 0.03
_TRIES, _FIRST_TRIES = 60, 3000  # the first is for one label, and grows with the square of the number of stretches
_MOST_EXTRA_POINTS = 5


class _Grown(NamedTuple):
    """A pattern with a root of its equations."""

    labels: tuple[int, ...]
    places: tuple[Place, ...]
    z: NDArray[np.float64]

    @property
    def score(self) -> float:
        """Many breakpoints with few points; patterns with as many neurons as points can be made exact."""
        return breakpoints(self.places) - 0.3 * len(self.labels) - 0.3 * (len(self.places) != len(self.labels))


@final
class LineGrowth:
    """A pool of patterns with a given number of label switches, which the next draws build on."""

    def __init__(self, switches: int) -> None:
        self._switches = switches
        self._tries = _TRIES * (switches + 1) ** 2
        self._most = switches + 1 + _MOST_EXTRA_POINTS
        self._pool: list[_Grown] = []
        self._best: KKTPoint | None = None
        self._regions = 0

    def draw(self, seed: int) -> KKTPoint:
        """The first new KKT point with at least the breakpoints of the best; after some tries the best once more.

        Rejects the example, for hypothesis, when there is none yet after many tries.
        """
        random = np.random.default_rng(seed)
        for tries in range(self._tries if self._best is not None else _FIRST_TRIES):
            grown = self._attempt(random)
            if grown is None:
                continue
            self._keep(random, grown)
            if breakpoints(grown.places) < self._regions + (tries > 0 and random.random() < 0.9):
                continue
            exact = exact_line_point(LineEquations(grown.labels, grown.places), grown.z)
            if exact is not None:
                self._best, self._regions = exact, breakpoints(grown.places)
                return exact
        if self._best is None:
            reject()
        return self._best

    def _keep(self, random: np.random.Generator, grown: _Grown) -> None:
        self._pool.append(grown)
        if len(self._pool) > _MOST_KEPT:
            self._pool.sort(key=lambda one: 2.5 * random.random() - one.score)
            del self._pool[_KEPT:]

    def _attempt(self, random: np.random.Generator) -> _Grown | None:
        drawn = (
            self._fresh(random)
            if len(self._pool) < 20 or random.random() < _FRESH
            else _changed(random, self._parent(random), self._most)
        )
        if drawn is None or not is_plausible(drawn.labels, drawn.places):
            return None
        z = LineEquations(drawn.labels, drawn.places).solved(drawn.z)
        return None if z is None else drawn._replace(z=z)

    def _parent(self, random: np.random.Generator) -> _Grown:
        return max((self._pool[q] for q in random.integers(len(self._pool), size=3)), key=lambda one: one.score)

    def _fresh(self, random: np.random.Generator) -> _Grown | None:
        """One point of each label and as many neurons: of such patterns the largest share has a root."""
        label, n = int(random.choice((1, -1))), self._switches + 1
        labels, spots = [label * (-1) ** i for i in range(n)], places_of(n)
        for _ in range(200):
            chosen = random.choice(len(spots), n, replace=False)
            places = [Place(spots[q][0], int(random.choice((1, -1))), spots[q][1]) for q in chosen]
            if is_plausible(labels, places):
                draws = [random.normal(-1, 1.5, 1), random.normal(-0.3, 1, n - 1), random.normal(1, 0.7, n)]
                draws += [random.normal(0, 1, n), random.normal(0.5, 1, n)]
                return _Grown(tuple(labels), tuple(places), np.concatenate(draws))
        return None


def line_kkt_points(switches: int) -> SearchStrategy[KKTPoint]:
    """Exact KKT points on a line (max-margin, ReLU, a penalised bias) whose labels change `switches` times.

    Later draws have more linear regions: the strategy remembers what it drew. So the same draws in the same order give
    the same, but it is for searches and not for tests that shrink.
    """
    growth = LineGrowth(switches)
    return st.integers(0, 2**32 - 1).map(growth.draw)


@st.composite
def switching_kkt_points(draw: DrawFn, *, most: int = 3) -> KKTPoint:
    """Exact KKT points on a line whose labels change 1 to `most` times, each grown from nothing.

    Unlike `line_kkt_points` it remembers nothing, so that one seed gives the same points in every process.
    """
    switches = draw(st.integers(1, most))
    return LineGrowth(switches).draw(draw(st.integers(0, 2**32 - 1)))


class _Draft:
    """A grown pattern as lists, to be changed."""

    def __init__(self, grown: _Grown) -> None:
        n, k = len(grown.labels), len(grown.places)
        found = LineEquations(grown.labels, grown.places).values(grown.z)
        self.points, self.labels = found.points.tolist(), list(grown.labels)
        self.logs = grown.z[n : 2 * n].tolist()
        self.places = list(grown.places)
        self.shares, self.sizes = grown.z[2 * n : 2 * n + k].tolist(), grown.z[2 * n + k :].tolist()

    def grown(self, random: np.random.Generator) -> _Grown | None:
        """With all unknowns moved a little; None when two neurons are in one spot."""
        if len({place.spot for place in self.places}) < len(self.places) or not self.places:
            return None
        parts = [self.points[:1], np.log(np.diff(self.points)), self.logs, self.shares, self.sizes]
        z = np.concatenate(parts)
        z += random.normal(0, random.choice((0.03, 0.2, 0.6)), len(z))
        return _Grown(tuple(self.labels), tuple(self.places), z)

    def add_point(self, random: np.random.Generator) -> None:
        """Somewhere, with a small multiplier and the label of a neighbour."""
        x, k, n = self.points, int(random.integers(0, len(self.points) + 1)), len(self.points)
        label = int(random.choice((self.labels[max(k - 1, 0)], self.labels[min(k, n - 1)])))
        if k == 0:
            new = x[0] - random.exponential()
        elif k == n:
            new = x[-1] + random.exponential()
        else:
            new = x[k - 1] + random.uniform(0.05, 0.95) * (x[k] - x[k - 1])
        x.insert(k, new)
        self.labels.insert(k, label)
        self.logs.insert(k, -3.0)
        self.places = [
            place._replace(at=place.at + 2 * (place.at > 2 * k or (place.at == 2 * k and random.random() < 0.5)))
            for place in self.places
        ]

    def remove_point(self, random: np.random.Generator) -> None:
        """One with a neighbour of its label; a neuron on its kink is then in the gap."""
        k, labels = int(random.integers(len(self.points))), self.labels
        if labels[k] not in (*labels[max(k - 1, 0) : k], *labels[k + 1 : k + 2]):
            return
        for values in (self.points, labels, self.logs):
            del values[k]
        self.places = [
            place._replace(at=place.at - (place.at > 2 * k) - (place.at > 2 * k + 1)) for place in self.places
        ]

    def move_neuron(self, random: np.random.Generator) -> None:
        """From a gap onto a point next to it, or back."""
        j = int(random.integers(len(self.places)))
        at = self.places[j].at + int(random.choice((1, -1)))
        self.places[j] = self.places[j]._replace(at=min(max(at, 0), 2 * len(self.points)))

    def remove_neuron(self, random: np.random.Generator) -> None:
        """Any."""
        j = int(random.integers(len(self.places)))
        for values in (self.places, self.shares, self.sizes):
            del values[j]

    def add_neuron(self, random: np.random.Generator) -> None:
        """A small one in a free spot."""
        taken: Sequence[tuple[int, int]] = [place.spot for place in self.places]
        free = [spot for spot in places_of(len(self.points)) if spot not in taken]
        if free:
            facing, at = free[int(random.integers(len(free)))]
            self.places.append(Place(facing, int(random.choice((1, -1))), at))
            self.shares.append(float(random.normal()))
            self.sizes.append(-1.5)


def _changed(random: np.random.Generator, parent: _Grown, most: int) -> _Grown | None:
    draft, way = _Draft(parent), random.random()
    if way < 0.2 and len(draft.points) < most:
        draft.add_point(random)
    elif way < 0.3:
        draft.remove_point(random)
    elif way < 0.45:
        draft.move_neuron(random)
    if random.random() < 0.85:
        if random.random() < 0.35:
            for _ in range(min(int(random.integers(1, 3)), len(draft.places) - 1)):
                draft.remove_neuron(random)
        for _ in range(int(random.integers(1, 3))):
            draft.add_neuron(random)
    return draft.grown(random)
