"""What kind of KKT point a float point is: its directions, support, kinks and mirror pairs.

A point of the program is read as a root of the equations of `verify.checker.enclosure`: directions that are nearly
parallel are one, preactivations that are nearly 0 at points of the support are kinks, and where sum_i y_i lambda_i x_i
is nearly 0, opposite directions are mirrors of each other. What "nearly" means is a tolerance that the caller varies;
the checker decides whether the reading was right.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from solvers.any_width.convex_losses import ConvexLoss
from solvers.arrays import Bits, Floats, Indices
from solvers.instance import ProblemInstance
from solvers.kkt.pattern_polish import FloatNeurons, FloatPoint
from verify.checker.enclosed_points import Direction
from verify.deciders.rounding import dyadic
from verify.deciders.witnesses import dot_product_scales, norms

__all__ = ["Structure", "degrees_of_freedom", "directions_of", "identify"]


LEAST = 1e-10
"""Where amplitudes may be chosen they stay above this part of the largest, so that no direction disappears."""


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """A reading of a float point.

    support: indices of points.   p (C, c): directions of norm 1 on the counted columns.   amplitudes (C,).
    multipliers (S,), products (C, S): mu.   sides (C, S): 1, 0, -1.   mirrors (C,): -1, or the direction it mirrors.
    copies (C, S): kinks that another one of the same columns stands for.
    ends (S,): 1 or -1 where a loss holds the multiplier at its upper or lower end, else 0.   bias: of the output.
    fixed (C,): whether the amplitude is given, not an unknown.   signs, masks (C,).
    """

    support: Indices
    p: Floats
    amplitudes: Floats
    signs: Indices
    masks: Indices
    multipliers: Floats
    products: Floats
    sides: NDArray[np.int8]
    mirrors: Indices
    fixed: Bits
    ends: Indices
    copies: Bits
    bias: float = 0.0

    @property
    def reading(self) -> bytes:
        """What was read of the numbers; with the same reading the equations are the same."""
        parts = (self.support, self.signs, self.masks, self.sides, self.mirrors, self.fixed, self.ends, self.copies)
        return b"/".join(part.tobytes() for part in parts)

    @property
    def kinks(self) -> int:
        """The number of kinks, those of mirrors not counted again."""
        return int((self.sides[self.mirrors < 0] == 0).sum())


def identify(
    instance: ProblemInstance,
    point: FloatPoint,
    neurons: FloatNeurons,
    tolerance: float,
    loss: ConvexLoss | None = None,
) -> Structure | None:
    """The reading with this tolerance; None when nothing lives.

    loss: what stands at each point in the place of constraints.
    """
    counted = np.ones(instance.columns, bool)
    counted[-1] = not instance.free
    sizes = norms(point.u[:, counted])
    live = np.flatnonzero(sizes > tolerance * sizes.max(initial=0.0))
    if not live.size:
        return None
    u, signs, masks, products = _merged(instance, point, live, sizes, tolerance)
    sizes = norms(u[:, counted])
    p = u / sizes[:, None]
    z, reach = p @ instance.rows.T, dot_product_scales(instance.rows, p, bias=instance.free)
    near = np.abs(z) <= tolerance * reach
    if instance.slope == 1:
        near[:] = False
    largest, ends = np.abs(point.multipliers).max(), np.zeros(instance.points, int)
    if loss is not None:
        support, ends = _supported(loss, point.multipliers, tolerance)
    elif instance.margin:
        support = np.flatnonzero(point.multipliers > tolerance * largest)
    else:
        seen = np.abs(instance.rows).max(axis=1) > 0
        support = np.flatnonzero(((z > 0).any(axis=0) | near.any(axis=0) | (instance.slope > 0)) & seen)
    if not support.size:
        return None
    sides = np.where(near, 0, np.sign(z)).astype(np.int8)[:, support]
    factors = instance.signs if loss is None else loss.sides(instance.targets)
    mirrors = _mirrors(instance, factors * point.multipliers, p, signs, masks, tolerance)
    mirrored = mirrors >= 0
    p[mirrored] = -p[mirrors[mirrored]]
    amplitudes = _nearest(instance, p, signs, masks, sides, support, sizes, neurons)
    fixed = _fixed(instance, p, signs, sides, support, masks, mirrors)
    products = products[:, support]
    copies = np.zeros(sides.shape, bool)
    if loss is not None:
        copies, products = _shared(instance, sides, masks, factors[support], products, support)
    return Structure(
        support=support,
        p=p,
        amplitudes=amplitudes,
        signs=signs,
        masks=masks,
        multipliers=point.multipliers[support],
        products=products,
        sides=sides,
        mirrors=mirrors,
        fixed=fixed,
        ends=ends[support],
        copies=copies,
        bias=point.bias,
    )


def _supported(loss: ConvexLoss, multipliers: Floats, tolerance: float) -> tuple[Indices, Indices]:
    """The points whose multiplier is not 0 for want of a loss, and for all points at which end it is held."""
    if loss.is_logistic:
        return np.arange(len(multipliers)), np.zeros(len(multipliers), int)
    near = tolerance * max(float(np.abs(multipliers).max()), 1e-300)
    ends = np.zeros(len(multipliers), int)
    for end, side in ((loss.high, 1), (loss.low, -1)):
        if np.isfinite(end) and end != 0:
            ends[np.abs(multipliers - end) <= near] = side
    is_held_at_0 = loss.tube > 0 or loss.low == 0 or loss.high == 0
    return np.flatnonzero((np.abs(multipliers) > near) | (not is_held_at_0)), ends


def _shared(
    instance: ProblemInstance, sides: NDArray[np.int8], masks: Indices, factors: Floats, products: Floats,
    support: Indices,
) -> tuple[Bits, Floats]:  # fmt: skip
    """Of kinks at points of the same columns the first has the products of all, as only their sum is determined.

    factors (S,): what turns multipliers and products into c.
    """
    copies, found = np.zeros(sides.shape, bool), products.copy()
    for place, mask in enumerate(masks):
        kinks = np.flatnonzero(sides[place] == 0)
        _, groups = np.unique(instance.masked_rows(int(mask))[support[kinks]], axis=0, return_inverse=True)
        for group in range(int(groups.max(initial=-1)) + 1):
            mine = kinks[groups.ravel() == group]
            found[place, mine[0]] = factors[mine[0]] * (factors * products[place])[mine].sum()
            copies[place, mine[1:]] = True
    return copies, found


def _merged(
    instance: ProblemInstance, point: FloatPoint, live: Indices, sizes: Floats, tolerance: float
) -> tuple[Floats, Indices, Indices, Floats]:
    """Directions of one sign and mask that agree at all points, summed; the products of the largest are kept."""
    kept: list[int] = []
    sums: list[Floats] = []
    for j in sorted(live, key=lambda q: -sizes[q]):
        unit = point.u[j] / sizes[j]
        for place, k in enumerate(kept):
            apart = np.abs(instance.rows @ (unit - point.u[k] / sizes[k]))
            reach = dot_product_scales(instance.rows, unit[None], bias=instance.free)[0]
            alike = point.signs[j] == point.signs[k] and point.masks[j] == point.masks[k]
            if alike and (apart <= 10 * tolerance * reach).all():
                sums[place] = sums[place] + point.u[j]
                break
        else:
            kept.append(int(j))
            sums.append(point.u[j])
    return np.array(sums), point.signs[kept], point.masks[kept], point.products[kept]


def _mirrors(
    instance: ProblemInstance, c: Floats, p: Floats, signs: Indices, masks: Indices, tolerance: float
) -> Indices:
    mirrors = np.full(len(p), -1)
    if instance.slope == 1:
        return mirrors
    for mask in set(masks.tolist()):
        rows = np.zeros_like(instance.rows)
        rows[:, instance.masks[mask]] = instance.masked_rows(mask)
        pulls = c[:, None] * rows
        if norms(pulls.sum(axis=0)[None])[0] > 100 * tolerance * norms(pulls).max():
            continue
        for j in range(len(p)):
            for k in range(j):
                apart = np.abs(p[j] + p[k]).max()
                alike = signs[j] == signs[k] and masks[j] == masks[k] == mask
                if alike and mirrors[k] < 0 and k not in mirrors and apart <= 100 * tolerance * np.abs(p[j]).max():
                    mirrors[j] = k
                    break
    return mirrors


def _slopes(instance: ProblemInstance, sides: NDArray[np.int8]) -> Floats:
    """The slope of the activation on each side; 0 at a kink, which has a product of its own."""
    return np.where(sides > 0, 1.0, np.where(sides < 0, instance.slope, 0.0))


def _features(
    instance: ProblemInstance, p: Floats, signs: Indices, sides: NDArray[np.int8], support: Indices
) -> Floats:
    """What an amplitude of 1 of each direction adds to the outputs at the support, (S, C)."""
    slopes = _slopes(instance, sides) * signs[:, None]
    return (slopes * (p @ instance.rows[support].T)).T


def _nearest(
    instance: ProblemInstance,
    p: Floats,
    signs: Indices,
    masks: Indices,
    sides: NDArray[np.int8],
    support: Indices,
    sizes: Floats,
    neurons: FloatNeurons,
) -> Floats:
    """Of all positive amplitudes that fit the support equally well, those nearest to the network's own."""
    from verify.deciders.enclosure.matching import assign

    matrix = _features(instance, p, signs, sides, support)
    owners = assign(p, signs, masks, neurons)
    wanted = np.zeros(len(p))
    np.add.at(wanted, owners[owners >= 0], norms(neurons.u)[owners >= 0])
    _, spread, basis = np.linalg.svd(matrix, full_matrices=True)
    rank = int((spread > 1e-9 * spread[0]).sum())
    if rank == len(p):
        return sizes
    from scipy.optimize import lsq_linear

    least = np.minimum(sizes / 2, LEAST * sizes.max())
    found = lsq_linear(
        np.vstack([np.eye(len(p)), 1e4 * basis[:rank]]),
        np.concatenate([wanted, 1e4 * basis[:rank] @ sizes]),
        bounds=(least, np.inf),
    )
    return found.x


def _fixed(
    instance: ProblemInstance,
    p: Floats,
    signs: Indices,
    sides: NDArray[np.int8],
    support: Indices,
    masks: Indices,
    mirrors: Indices,
) -> Bits:
    """The amplitudes that are no unknowns: as many as make the system square, the most dependent ones."""
    from scipy.linalg import qr

    fixed = np.zeros(len(p), bool)
    mirrored = set(masks[mirrors >= 0].tolist())
    surplus = int((mirrors >= 0).sum()) - sum(len(instance.masks[mask]) for mask in mirrored)
    if surplus > 0:
        pivots = qr(_features(instance, p, signs, sides, support), mode="economic", pivoting=True)[-1]
        fixed[np.asarray(pivots)[len(p) - surplus :]] = True
    return fixed


def degrees_of_freedom(instance: ProblemInstance, structure: Structure) -> tuple[int, int]:
    """In how many dimensions the multipliers (and the slopes at kinks) and the amplitudes of a float point are free."""
    rows = instance.rows[structure.support]
    factors = instance.signs[structure.support]
    kinks = np.argwhere((structure.sides == 0) & (structure.mirrors < 0)[:, None])
    count = len(structure.support)
    equations: list[Floats] = []
    for place in np.flatnonzero(structure.mirrors < 0):
        sides = structure.sides[place]
        slopes = _slopes(instance, sides) * factors
        for column in instance.masks[structure.masks[place]]:
            line = np.zeros(count + len(kinks))
            line[:count] = slopes * rows[:, column]
            for q, (owner, i) in enumerate(kinks):
                if owner == place:
                    line[count + q] = factors[i] * rows[i, column]
            equations.append(line)
    found = (np.array(equations), _features(instance, structure.p, structure.signs, structure.sides, structure.support))
    multipliers, amplitudes = (matrix.shape[1] - int(np.linalg.matrix_rank(matrix, rtol=1e-9)) for matrix in found)
    return multipliers, amplitudes


def _side_text(side: int, is_copy: bool) -> str:
    return "=" if is_copy else "-0+"[side + 1]


def directions_of(structure: Structure, shares: list[dict[int, Fraction]], unit: float) -> tuple[Direction, ...]:
    """The directions of a certificate; shares[C] maps neurons to their part of the amplitude.

    unit: how long a direction with an amplitude of 1 is, ||u|| = |v| ||w||.
    """
    found: list[Direction] = []
    for place, (sign, sides) in enumerate(zip(structure.signs, structure.sides, strict=True)):
        mirror = int(structure.mirrors[place])
        found.append(
            Direction(
                sign="+" if sign > 0 else "-",
                sides="" if mirror >= 0 else "".join(map(_side_text, sides, structure.copies[place])),
                amplitude=dyadic(float(structure.amplitudes[place] / unit), 40) if structure.fixed[place] else None,
                mirror=mirror if mirror >= 0 else None,
                neurons=tuple(sorted(shares[place].items())),
            )
        )
    return tuple(found)
