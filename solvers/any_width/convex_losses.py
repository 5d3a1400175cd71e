"""A convex loss at each point and a price on the neurons' norms: the problem that weight decay makes, in floats.

    minimise sum_i l(y_i, f(x_i)) + price sum_j ||u_j||,   f(x) = sum_j s_j s(u_j . x),   u_j = |v_j| w_j

with price = sqrt(mu_w mu_v), as 1/2 (mu_w ||w||^2 + mu_v v^2) is at least price |v| ||w||, with equality for one scale
of the neuron. A loss is l(y, z) = sup_c D(y, c) - c z (`verify.checker.objectives`), so that with |h(u)| <= price ||u||
and admissible c the dual value sum_i D(y_i, c_i) is a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solvers.any_width.records import Atoms, DualGuess
from solvers.any_width.scaling import Scaled, power_of_two
from solvers.arrays import Floats
from solvers.instance import ProblemInstance
from solvers.pricing.tree import Leaf


@dataclass(frozen=True, slots=True)
class ConvexLoss:
    """D(y, c) = y c - tube |c| - 1/2 curvature c^2 for low <= c <= high; with labels y c is bounded. inf: no bound.

    is_logistic: high log(1 + e^-q) instead, of labels, whose D is high times the entropy of y c / high.
    """

    labels: bool
    low: float
    high: float
    tube: float
    curvature: float
    is_logistic: bool = False

    @property
    def is_smooth(self) -> bool:
        """Whether there is one c for each output."""
        return self.curvature > 0 or self.is_logistic

    def sides(self, targets: Floats) -> Floats:
        """What turns c into what is bounded, (n,)."""
        return targets if self.labels else np.ones(len(targets))

    def rests(self, targets: Floats, outputs: Floats) -> Floats:
        """r, (n,): y - z, or 1 - y z."""
        return 1.0 - targets * outputs if self.labels else targets - outputs

    def slopes(self, targets: Floats, outputs: Floats) -> Floats:
        """The best c at these outputs, -dl/dz, (n,); 0 at a corner."""
        if self.is_logistic:
            return targets * self.high * sigmoid(-targets * outputs)
        rests = self.rests(targets, outputs)
        shrunk = rests - np.clip(rests, -self.tube, self.tube)
        ends = np.where(shrunk > 0, self.high, np.where(shrunk < 0, self.low, 0.0))
        best = np.clip(shrunk / self.curvature, self.low, self.high) if self.curvature else ends
        return best * self.sides(targets)

    def values(self, targets: Floats, outputs: Floats) -> Floats:
        """l, (n,)."""
        if self.is_logistic:
            return self.high * np.logaddexp(0.0, -targets * outputs)
        c = self.slopes(targets, outputs)
        return self.duals(targets, c) - c * outputs

    def duals(self, targets: Floats, c: Floats) -> Floats:
        """D, (n,), of admissible c."""
        if self.is_logistic:
            p = np.clip(targets * c / self.high, 0.0, 1.0)
            return self.high * (_entropy(p) + _entropy(1.0 - p))
        return targets * c - self.tube * np.abs(c) - 0.5 * self.curvature * c * c

    def admissible(self, targets: Floats, c: Floats) -> Floats:
        """The nearest admissible c, (n,)."""
        sides = self.sides(targets)
        return np.clip(sides * c, self.low, self.high) * sides

    def scaled(self, outputs: float, values: float) -> ConvexLoss:
        """The loss of outputs and targets over `outputs`, over `values`."""
        steep = values / outputs
        return replace(
            self,
            low=self.low / steep,
            high=self.high / steep,
            tube=self.tube / outputs,
            curvature=self.curvature * steep / outputs,
        )


@dataclass(frozen=True, slots=True, eq=False)
class DecayInstance:
    """rows, targets, slope, masks and free bias of `data`, whose `margin` is False; the loss and the price (> 0).

    bias: the decay mu_b of an output bias b, which costs 1/2 mu_b b^2; 0 where it is free, None where there is none.
    """

    data: ProblemInstance
    loss: ConvexLoss
    price: float
    bias: float | None = None

    def outputs(self, atoms: Atoms) -> Floats:
        """f at all points, (n,)."""
        z = self.data.rows @ atoms.directions.T
        return np.maximum(z, self.data.slope * z) @ atoms.signs.astype(float) + atoms.bias

    def value_of(self, atoms: Atoms) -> float:
        """The objective of a network."""
        body = atoms.directions[:, :-1] if self.data.free else atoms.directions
        losses = self.loss.values(self.data.targets, self.outputs(atoms))
        of_bias = 0.5 * (self.bias or 0.0) * atoms.bias**2
        return float(losses.sum() + self.price * np.linalg.norm(body, axis=1).sum() + of_bias)

    def bound(self, c: Floats, largest: float) -> float:
        """The lower bound of c where |h(u)| <= largest ||u||: that of t c, t <= 1 such that t largest <= price."""
        t = min(self.price / largest, 1.0) if largest > 0 else 1.0
        less = (t * c.sum()) ** 2 / (2 * self.bias) if self.bias else 0.0
        return float(self.loss.duals(self.data.targets, t * c).sum() - less)

    @property
    def nothing(self) -> Atoms:
        """The network without neurons."""
        empty = np.zeros((0, self.data.columns))
        atoms = Atoms(empty, np.zeros(0, np.int8), np.zeros(0, np.intp), 0.0)
        return replace(atoms, value=self.value_of(atoms))


@dataclass(frozen=True, slots=True, eq=False)
class ScaledDecay:
    """given, and an `instance` whose rows, outputs and price are about 1; the scales are powers of two.

    rows of the instance: `rows` times the given ones.   outputs, values: what outputs and objectives were divided by.
    """

    given: DecayInstance
    instance: DecayInstance
    rows: float
    outputs: float
    values: float

    @property
    def frame(self) -> Scaled:
        """The data as what ascents and columns look at, with c for multipliers."""
        data = self.instance.data
        ones = np.ones(data.points)
        return Scaled(data, data, data.targets, np.zeros(data.points), ones, ones, 1.0, 1.0)

    def unscaled(self, atoms: Atoms) -> Atoms:
        """A network of the instance as one of the given problem."""
        directions = atoms.directions * self.outputs
        counted = slice(None, -1) if self.given.data.free else slice(None)
        directions[:, counted] *= self.rows
        return replace(atoms, directions=directions, value=atoms.value * self.values, bias=atoms.bias * self.outputs)

    def unscaled_proof(self, proof: DualGuess) -> DualGuess:
        """A proof of the instance as one of the given problem, with multipliers for c."""
        steep = self.values / self.outputs
        trees = tuple(
            replace(
                tree,
                nodes=[
                    node if isinstance(node, int) else Leaf(node.slopes * steep, node.ranges)
                    for node in tree.nodes or []
                ],
            )
            for tree in proof.trees
        )
        multipliers = proof.multipliers * steep * self.given.loss.sides(self.given.data.targets)
        lower, beta = proof.lower * self.values, proof.beta * steep / self.rows
        return replace(proof, multipliers=multipliers, beta=beta, trees=trees, lower=lower)


def scaled_decay(given: DecayInstance) -> ScaledDecay:
    """The problem with rows, outputs and price of about 1."""
    data = given.data
    body = data.rows[:, :-1] if data.free else data.rows
    rows = power_of_two(float(np.abs(body).max(initial=0.0)))
    outputs = 1.0 if given.loss.labels else power_of_two(float(np.abs(data.targets).max()))
    values = power_of_two(given.price / rows) * outputs
    scaled = data.rows / rows
    if data.free:
        scaled[:, -1] = data.rows[:, -1]
    instance = DecayInstance(
        replace(data, rows=scaled, targets=data.targets / outputs),
        given.loss.scaled(outputs, values),
        given.price / rows * outputs / values,
        None if given.bias is None else given.bias * outputs / values * outputs,
    )
    return ScaledDecay(given, instance, 1.0 / rows, outputs, values)


def sigmoid(outputs: Floats) -> Floats:
    """1 / (1 + e^-z), to a small relative error for all z; scipy's takes long to import."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -outputs)))


def _entropy(parts: Floats) -> Floats:
    """-p log p, 0 at 0."""
    return -parts * np.log(np.where(parts > 0, parts, 1.0))
