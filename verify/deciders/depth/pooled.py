"""Pooled convolutions: the best value over any number of channels, by the search over any width on their patches.

The patches of a point are rows whose outputs are added up and whose multiplier is one (`ProblemInstance.bundle`); what
is found is given back as bounds and networks of the convolution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from verify.checker import pooled
from verify.checker.certificate import Sparse
from verify.checker.depth_bounds import LowerBoundPooled
from verify.checker.dual_trees import Nodes
from verify.checker.exact import dot
from verify.checker.multipliers import coefficients, dual_value
from verify.checker.pooled import Gather, channels, kinds
from verify.deciders.depth.any_width import AnyWidthSearch, FlatProblem, flat_search, merged_atoms
from verify.deciders.depth.improving import balanced, refitted
from verify.deciders.global_optimality.float_search import columns_of
from verify.deciders.rounding import solve_by_few
from verify.deciders.time_limits import poll
from verify.deciders.witnesses import network_of_directions, norms
from verify.numbers.floats import float_rows, float_weights, to_float
from verify.problem.members import has_margin
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Dataset, Problem

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import SearchOutcome
    from solvers.instance import ProblemInstance

__all__ = ["is_pooled", "of_channels", "on_patches", "patch_problem", "pooled_search"]

NEAR_AN_END = 1e-6
"""Outputs at less than this part of the fit tolerance from an end of it are taken to be there."""

NEAR_KINKS = (1e-7, 1e-10, 0.0)
"""Preactivations below these parts of what they can be are held at 0, in turn."""


def is_pooled(problem: Problem) -> bool:
    """Whether the problem is one of pooled convolutions."""
    return bool(channels(problem.architecture))


def patch_problem(problem: Problem) -> tuple[Problem, int]:
    """`verify.checker.pooled.patches` as a problem of searches."""
    found, many = pooled.patches(problem)
    data = Dataset(found.inputs, found.targets)
    shape = Architecture(found.architecture.layers)
    return Problem(data, shape, goal=found.goal, bias=found.bias, fit_tolerance=found.fit_tolerance), many


def on_patches(problem: Problem, network: Network) -> Network:
    """The two-layer network with the channels of a pooled one as its neurons, on the problem of patches."""
    whole, _ = patch_problem(problem)
    found, classes = kinds(problem.architecture), whole.mask_classes
    masks: list[Sequence[int]] = []
    hidden: list[Fraction] = []
    outgoing: list[Fraction] = []
    for channel in channels(network.architecture):
        masks.append(classes[found.index(channel.gather)])
        hidden += (network.parameters[0][i] for i in channel.parameters)
        outgoing.append(network.parameters[1][channel.output])
    return Network(whole.architecture.with_width_of(masks), (hidden, outgoing))


def of_channels(shape: Architecture, gathers: Sequence[Gather]) -> Architecture:
    """The pooled convolution with these channels, of the inputs, slope and bias of a shape."""
    first = shape.layers[0]
    rows: list[list[int | None]] = []
    reads: list[int] = []
    count = 0
    for c, gather in enumerate(gathers):
        for patch in gather:
            rows.append([None] * first.columns)
            for k, columns in enumerate(patch):
                for column in columns:
                    rows[-1][column] = count + k
            reads.append(c)
        count += len(gather[0])
    hidden = Layer(inputs=first.inputs, outputs=len(rows), slope=first.slope, bias=first.bias, entries=rows)
    return Architecture((hidden, Layer(inputs=len(rows), outputs=1, slope=None, entries=[reads])))


def pooled_search(problem: Problem, network: Network, tolerance: float, deadline: float | None) -> AnyWidthSearch:
    """Bracket the best objective over any number of channels, beginning with those of the network.

    tolerance: the relative gap of the objective.   Sound: the bound is checked; not complete: floats search.
    """
    whole, many = patch_problem(problem)
    start = columns_of(whole, on_patches(problem, network))

    def bound(multipliers: Sparse, square: Fraction, denominator: int, trees: tuple[Nodes, ...]) -> LowerBoundPooled:
        value = dual_value(problem, coefficients(problem, multipliers))
        return LowerBoundPooled(
            multipliers=multipliers, square=square, denominator=denominator, trees=trees, power=2,
            bracket=(value * value / square, None),
        )  # fmt: skip

    return flat_search(
        problem, FlatProblem(whole, many), start, tolerance, deadline, bound, partial(_networks, problem, whole)
    )


def _networks(problem: Problem, whole: Problem, instance: ProblemInstance, outcome: SearchOutcome) -> Iterator[Network]:
    """Networks near those that the search found that fit: with few channels, merged, and as they are."""
    found = kinds(problem.architecture)
    for directions, signs, masks in merged_atoms(instance, outcome, to_float(problem.architecture.slope)):
        for chosen in (range(len(signs)), _largest(problem, [found[mask] for mask in masks])):
            few = directions[chosen], [signs[j] for j in chosen], [masks[j] for j in chosen]
            yield from _fitted(problem, whole, network_of_directions(whole, *few), [found[mask] for mask in few[2]])


def _largest(problem: Problem, gathers: Sequence[Gather]) -> list[int]:
    """The first channels of these, the largest first, as many of each kind as the problem's networks have."""
    left, chosen = Counter(channel.gather for channel in channels(problem.architecture)), []
    for j, gather in enumerate(gathers):
        if left[gather] > 0:
            left[gather] -= 1
            chosen.append(j)
    return chosen


def _fitted(problem: Problem, whole: Problem, flat: Network, gathers: Sequence[Gather]) -> Iterator[Network]:
    """The convolution with these channels near a network on the patches, where one that fits is found."""
    shape = of_channels(problem.architecture, gathers)
    posed = problem.posed_on(problem.data, architecture=shape)
    for hidden in moved_to_fit(problem, whole, flat):
        fitted = refitted(posed, Network(shape, [hidden, *flat.parameters[1:]]))
        if fitted is not None:
            yield balanced(posed, fitted)
            return


def moved_to_fit(problem: Problem, whole: Problem, flat: Network) -> Iterator[Sequence[Fraction]]:
    """First layers near that of a network on the patches, with which it meets the targets exactly, or nearly.

    Within its pattern f is linear in the first layer, and so is "this unit is at its kink": targets that were met up to
    rounding, or up to the ends of the fit tolerance, are equations, which are solved with those of the near kinks where
    that is possible. Last, the layer itself.   Incomplete: the pattern may have to change.
    """
    if has_margin(problem.goal):  # what misses its margin is scaled
        yield flat.parameters[0]
        return
    many, eps = len(whole.targets) // len(problem.targets), problem.fit_tolerance
    matrix, slope = flat.hidden_weights, flat.architecture.slope
    places = [(j, c) for j, mask in enumerate(flat.architecture.masks) for c in mask]
    scales = (norms(float_rows(whole))[None] * norms(float_weights(flat))[:, None]).tolist()
    sums = [[dot(row, w) for row in whole.rows] for w in matrix]
    for part in NEAR_KINKS:
        poll()
        lines: list[list[Fraction]] = []
        right: list[Fraction] = []
        slopes = [[Fraction(1) if z > 0 else slope for z in row] for row in sums]
        for i, y in enumerate(problem.targets):
            rows = range(i * many, (i + 1) * many)
            gains = [[v * slopes[j][r] for r in rows] for j, v in enumerate(flat.output_weights)]
            value = sum((dot(gain, sums[j][rows.start : rows.stop]) for j, gain in enumerate(gains)), Fraction(0))
            if abs(value - y) < eps * (1 - Fraction(NEAR_AN_END)):
                continue
            lines.append([dot(gains[j], [whole.rows[r][c] for r in rows]) for j, c in places])
            right.append(y + (eps if value > y else -eps) - value)
        for j, row in enumerate(sums):
            for r, z in enumerate(row):
                if abs(z) < Fraction(part * scales[j][r]):
                    lines.append([whole.rows[r][c] if j == q else Fraction(0) for q, c in places])
                    right.append(-z)
        change = solve_by_few(lines, right) if lines else None
        if change is not None:
            yield [w + d for w, d in zip(flat.parameters[0], change, strict=True)]
    yield flat.parameters[0]
