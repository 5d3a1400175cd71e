"""The problem in a scale in which rows and targets are about 1, and the way back: powers of two, which are exact."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from solvers.any_width.records import Atoms, DualGuess
from solvers.arrays import Floats, Indices
from solvers.instance import ProblemInstance
from solvers.pricing.tree import Leaf


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """instance: `given` with scaled rows, targets +1 or -1 for margins. required (n,): y_i f(x_i) >= r_i (margins),
    |f(x_i) - r_i| <= tolerances_i (min-norm); of bundles f is the mean over the rows, r_i what is asked of that.
    row_scales (n,), target_scale: powers of two; levels (n,): a multiplier of `given` for one of its rows and targets
    in this form. unit: a given value for one of the scaled problem.
    """

    given: ProblemInstance
    instance: ProblemInstance
    required: Floats
    tolerances: Floats
    row_scales: Floats
    levels: Floats
    target_scale: float
    unit: float

    def outputs(self, directions: Floats, signs: NDArray[np.int8]) -> Floats:
        """f at all points, (n,), of the network with these directions (J, D); at each row of a bundle its mean."""
        z = self.instance.rows @ directions.T
        return self._means(np.maximum(z, self.instance.slope * z) @ signs.astype(float))

    def _means(self, outputs: Floats) -> Floats:
        many = self.instance.bundle
        return outputs if many == 1 else np.repeat(outputs.reshape(-1, many).mean(axis=1), many)

    def coefficients(self, multipliers: Floats) -> Floats:
        """c (n,) in h(u) = sum_i c_i s(x_i . u)."""
        return multipliers * self.instance.targets if self.instance.margin else multipliers

    def dual_value(self, multipliers: Floats) -> float:
        """The lower bound of these multipliers where |h(u)| <= ||u||."""
        return float(multipliers @ self.required) - float(np.abs(multipliers) @ self.tolerances)

    def is_free(self, seen: Indices) -> bool:
        """Whether the mask's last column is a free bias; a mask may hide it."""
        return self.instance.free and len(seen) > 0 and int(seen[-1]) == self.instance.rows.shape[1] - 1

    def unscaled(self, atoms: Atoms) -> Atoms:
        """A network of the scaled problem as one of the given problem."""
        directions = atoms.directions / self.target_scale
        if self.instance.free:
            directions[:, :-1] *= self.row_scales[0]
        return replace(atoms, directions=directions, value=atoms.value * self.unit)

    def unscaled_proof(self, proof: DualGuess) -> DualGuess:
        """A proof of the scaled problem as one of the given problem."""
        return _rescaled(proof, self.row_scales, self.levels, self.unit)

    def scaled_multipliers(self, multipliers: Floats) -> Floats:
        """Multipliers (n,) of the given problem as some of the scaled one."""
        return multipliers / (self.row_scales * self.levels)

    def of_part(self, proof: DualGuess, chosen: Indices) -> DualGuess:
        """A proof over some of the given points as one over all, scaled."""
        multipliers = np.zeros(len(self.given.rows))
        multipliers[chosen] = proof.multipliers
        whole = replace(proof, multipliers=multipliers, support=chosen[proof.support])
        return _rescaled(whole, 1.0 / self.row_scales, 1.0 / self.levels, 1.0 / self.unit)


def scaled(given: ProblemInstance) -> Scaled:
    """The instance with rows and required outputs of about 1."""
    row_scales, target_scale = _scales(given)
    rows = given.rows * row_scales[:, None]
    levels = np.abs(given.targets) if given.margin else np.ones(len(rows))
    sides, targets = (levels, np.sign(given.targets)) if given.margin else (given.targets, given.targets)
    if given.free:
        rows[:, -1] = given.rows[:, -1]
        unit = float(row_scales[0]) / target_scale  # (s x, 1).(w, b) = (x, 1).(s w, b)
        required = sides * target_scale
        tolerances = np.full(len(rows), given.tolerance * target_scale)
    else:
        unit = 1.0 / target_scale
        required = sides * row_scales * target_scale / given.bundle
        tolerances = given.tolerance * row_scales * target_scale / given.bundle
    instance = replace(given, rows=rows, targets=targets)
    return Scaled(given, instance, required, tolerances, row_scales, levels, target_scale, unit)


def without_unseen_bias(instance: ProblemInstance) -> ProblemInstance:
    """The instance without its free bias where every mask hides it: multipliers need not balance then."""
    last = instance.rows.shape[1] - 1
    if not instance.free or any(last in seen for seen in instance.masks):
        return instance
    rows = instance.rows.copy()
    rows[:, last] = 0.0
    return replace(instance, rows=rows, free=False)


def _scales(instance: ProblemInstance) -> tuple[Floats, float]:
    """Powers of two (n,) that bring every row near norm 1, and one for the required outputs.

    s(x.u) is homogeneous in x, so a point may be scaled with what is required of it; a free bias needs one scale for
    all.
    """
    body = instance.rows[:, :-1] if instance.free else instance.rows
    sizes = np.abs(body).max(axis=1, initial=0.0)
    sizes = np.repeat(sizes.reshape(-1, instance.bundle).max(axis=1), instance.bundle)
    sizes[sizes == 0] = sizes.max(initial=0.0) or 1.0
    if instance.free:
        sizes[:] = sizes.max()
    scales = np.asarray(2.0 ** -np.round(np.log2(sizes)), np.float64)
    sides = np.maximum(np.abs(instance.targets) - instance.tolerance, 0.0)
    required = np.abs((scales if not instance.free else 1.0) * sides)
    return scales, 2.0 ** -np.round(np.log2(float(np.max(required)) or 1.0))


def _rescaled(proof: DualGuess, row_scales: Floats, levels: Floats, unit: float) -> DualGuess:
    """Multipliers and slopes scale with the rows, range multipliers with their quotients: powers of two."""
    scales = row_scales[proof.support]

    def rescaled(leaf: Leaf) -> Leaf:
        ranges = {
            i: tuple({k: m * float(scales[k] / scales[i]) for k, m in side.items()} for side in sides)
            for i, sides in leaf.ranges.items()
        }
        return Leaf(leaf.slopes * scales, ranges)

    trees = tuple(
        replace(tree, nodes=[node if isinstance(node, int) else rescaled(node) for node in tree.nodes or []])
        for tree in proof.trees
    )
    return replace(proof, multipliers=proof.multipliers * row_scales * levels, trees=trees, lower=proof.lower * unit)


def power_of_two(size: float) -> float:
    """The power of two that is nearest in size; 1 for 0."""
    return float(2.0 ** np.round(np.log2(size))) if size > 0 else 1.0
