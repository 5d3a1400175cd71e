"""A segment of better networks, for a choice of sides and signs that no dual point covers.

In u_j = |v_j| w_j the problem near the network is convex within the choice: minimise sum w_j.delta_j / |v_j| over live
neurons plus sum ||delta_j|| over others, such that every u_j + delta_j stays in its cell and no active constraint is
lost; where a loss is asked, with its derivatives in the place of constraints, and with the decays. A negative value is
a descent direction; a step along it that is short enough is checked as it is.

Source: `docs/mathematics.md`, 7.2 "Certificates of both answers" and 14.5 "Local optima of a loss".
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from verify.checker.exact import dot
from verify.checker.local import NotLocal
from verify.deciders.exact_systems import Vector, floats, solution_near
from verify.deciders.local_optimality.choices import Choice, KKTNeighbourhood, sides_of
from verify.deciders.proposal import certified
from verify.deciders.rounding import power_of_two
from verify.deciders.time_limits import poll
from verify.deciders.witnesses import distance
from verify.numbers.floats import to_float
from verify.problem.members import trains_all
from verify.problem.network import Network
from verify.problem.problem import Problem

SHORTEST = 60  # the step is halved so often, from about the longest within the cell
ROUNDINGS = (2, 4, 8, 16, 40)  # bits of a direction, short ones first: people read it
LOST = 1e-7  # what a constraint may seem to be lost by in floats, and is then kept exactly


def descent(nearby: KKTNeighbourhood, given: Network, path: Mapping[Choice, int]) -> NotLocal | None:
    """The certificate for a full choice, or None where no direction could be made exact."""
    program = _DescentProgram(nearby, path)
    guess = program.guess()
    if guess is None:
        return None
    for bits in ROUNDINGS:
        poll()
        direction = program.exact(guess, bits)
        proof = None if direction is None else _segment(nearby, given, path, direction)
        if proof is not None:
            return proof
    return None


def _segment(
    nearby: KKTNeighbourhood, given: Network, path: Mapping[Choice, int], direction: list[Vector]
) -> NotLocal | None:
    """The longest segment along the direction that the checker accepts, halving from about the largest ||u_j||."""
    subject = nearby.network
    *direction, bias = direction if nearby.bias_pull is not None else [*direction, []]
    signs = tuple(Fraction(nearby.signs(j, path)[0]) for j in range(len(direction)))
    about = None if subject is given else subject.parameters
    largest = max(v * v for v in subject.output_weights)
    unit = _longest(nearby, direction, largest)
    for k in range(SHORTEST):
        poll()
        rows = [
            abs(v) * w[c] + unit / 2**k * step[c]
            for w, v, step, mask in zip(
                subject.hidden_weights, subject.output_weights, direction, nearby.masks, strict=True
            )
            for c in mask
        ]
        more = [(subject.output_bias + unit / 2**k * step,) for step in bias]
        proof = NotLocal(end=(tuple(rows), signs, *more), subject=about, moved=distance(subject, given))
        if certified(nearby.problem, given, proof) is not None:
            return proof
    return None


def _longest(nearby: KKTNeighbourhood, direction: list[Vector], longest: Fraction) -> Fraction:
    """A power of two, about `longest` or the longest step along the direction that takes no preactivation across 0.

    Neurons may be of very different sizes: halving alone would take one step for each bit of their ratio.
    """
    for w, v, step in zip(nearby.network.hidden_weights, nearby.network.output_weights, direction, strict=True):
        poll()
        if v and any(step):
            values = ((abs(v) * dot(w, x), dot(step, x)) for x in nearby.problem.rows)
            longest = min([longest, *(-z / change for z, change in values if z * change < 0)])
    return power_of_two(longest)


def segment(problem: Problem, subject: Network, proof: NotLocal) -> tuple[list[Vector], list[Vector]]:
    """Where the segment begins and by what it moves, by neuron; shape (k, columns).

    In the variables u_j = |v_j| w_j, and in w_j where the output weights are not trained.
    """
    is_whole = trains_all(problem.trained)
    factors = [abs(v) if is_whole else Fraction(1) for v in subject.output_weights]
    start = [[factor * weight for weight in w] for w, factor in zip(subject.hidden_weights, factors, strict=True)]
    end = subject.architecture.layers[0].matrix(proof.end[0])
    return start, [[b - a for a, b in zip(w, u, strict=True)] for w, u in zip(start, end, strict=True)]


class _DescentProgram:
    def __init__(self, nearby: KKTNeighbourhood, path: Mapping[Choice, int]) -> None:
        self.nearby = nearby
        problem = nearby.problem
        network, rows = nearby.network, problem.rows
        counted = problem.norm_columns
        self.moving = [
            j for j in range(len(nearby.masks)) if not (nearby.is_zero(j) and any(network.hidden_weights[j]))
        ]
        self.places: dict[tuple[int, int], int] = {}
        for j in self.moving:
            poll()
            for c in nearby.masks[j]:
                self.places[j, c] = len(self.places)
        self.has_bias = nearby.bias_pull is not None
        self.cost = [Fraction(0)] * len(self.places) + [nearby.bias_pull or Fraction(0)] * self.has_bias
        self.kept: list[Vector] = []  # stay >= 0
        self.equal: list[Vector] = []  # stay 0
        constraints = [[Fraction(0)] * len(self.places) + [nearby.factors[i]] * self.has_bias for i in nearby.active]
        for j in self.moving:
            w, v = network.hidden_weights[j], network.output_weights[j]
            (cell,) = nearby.cells_of(j, path)
            (sign,) = nearby.signs(j, path)
            sides = sides_of(nearby.strict[j], nearby.ties[j], cell)
            for c in nearby.masks[j]:
                if v and c in counted:
                    self.cost[self.places[j, c]] = nearby.decay.hidden * w[c] / abs(v)
            for i in nearby.ties[j]:
                self.kept.append(self._line(j, [sides[i] * x for x in rows[i]]))
            for line, i in zip(constraints, nearby.active, strict=True):
                for c in nearby.masks[j]:
                    line[self.places[j, c]] += sign * nearby.factors[i] * nearby.gain(sides, i) * rows[i][c]
        self.bends: list[tuple[Vector, Fraction, Fraction]] = []  # the loss grows by the larger one of -end times line
        if not nearby.ranges:
            (self.kept if nearby.is_margin else self.equal).extend(constraints)
            return
        for line, i in zip(constraints, nearby.active, strict=True):
            low, high = nearby.ranges[i]
            if low == high:
                self.cost = [own - low * change for own, change in zip(self.cost, line, strict=True)]
            else:
                self.bends.append((line, low, high))

    def _line(self, j: int, row: list[Fraction]) -> Vector:
        line = [Fraction(0)] * len(self.cost)
        for c in self.nearby.masks[j]:
            line[self.places[j, c]] = row[c]
        return line

    def guess(self) -> np.ndarray | None:
        """The steepest direction in a box, in floats."""
        from solvers.instance import Status
        from solvers.programs.interior_point import Cone, solve_cone_program

        width = len(self.cost)
        zero = [j for j in self.moving if self.nearby.is_zero(j)]
        total = width + len(zero) + len(self.bends)

        def scaled(lines: list[Vector]) -> np.ndarray:
            found = floats(lines, width)
            found /= np.maximum(np.abs(found).max(axis=1, initial=0.0, keepdims=True), 1e-300)
            return np.hstack([found, np.zeros((len(lines), total - width))])

        equal, kept = scaled(self.equal), scaled(self.kept)
        box = np.zeros((2 * width, total))
        box[:width, :width], box[width:, :width] = np.eye(width), -np.eye(width)
        blocks, values = [equal, -kept, box], [np.zeros(len(equal)), np.zeros(len(kept)), np.ones(2 * width)]
        cones: list[tuple[Cone, int]] = [("zero", len(equal)), ("nonnegative", len(kept) + 2 * width)]
        counted = self.nearby.problem.norm_columns
        for k, j in enumerate(zero):
            columns = [self.places[j, c] for c in self.nearby.masks[j] if c in counted]
            block = np.zeros((1 + len(columns), total))
            block[0, width + k] = -1.0
            block[np.arange(1, 1 + len(columns)), columns] = -1.0
            blocks.append(block)
            values.append(np.zeros(1 + len(columns)))
            cones.append(("second-order", 1 + len(columns)))
        for k, (line, low, high) in enumerate(self.bends, width + len(zero)):
            block = np.zeros((2, total))
            block[:, :width] = [[-to_float(end * x) for x in line] for end in (low, high)]
            block[:, k] = -1.0
            blocks.append(block)
            values.append(np.zeros(2))
            cones.append(("nonnegative", 2))
        price = to_float(self.nearby.price)
        cost = np.array([*(to_float(x) for x in self.cost), *[price] * len(zero), *[1.0] * len(self.bends)])
        solution = solve_cone_program(cost, np.concatenate(blocks), np.concatenate(values), cones)
        if solution.status is Status.FAILED or solution.primal is None:
            return None
        value = float(cost @ solution.primal)
        size = max(price, float(np.abs(cost[:width]).max(initial=0.0))) if self.nearby.ranges else 1.0
        return solution.primal[:width] if value < -LOST * size else None

    def exact(self, guess: np.ndarray, bits: int) -> list[Vector] | None:
        """The direction with its tight constraints as equations, a row for each neuron, and one of the output bias."""
        tight = list(self.equal)
        for line in self.kept:
            size = max((abs(to_float(x)) for x in line), default=0.0)
            value = sum(to_float(x) * g for x, g in zip(line, guess, strict=True))
            if value <= LOST * size:
                tight.append(line)
        tight = [line for line in tight if any(line)]
        found = solution_near(tight, [Fraction(0)] * len(tight), guess, [False] * len(guess), bits=bits)
        if found is None or any(dot(line, found) < 0 for line in self.kept):
            return None
        columns = len(self.nearby.problem.rows[0])
        rows = [[Fraction(0)] * columns for _ in self.nearby.masks]
        for (j, c), place in self.places.items():
            rows[j][c] = found[place]
        return [*rows, *([[found[-1]]] if self.has_bias else [])]
