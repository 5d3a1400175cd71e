"""Exact networks from float guesses: from directions u_j = |v_j| w_j; how near they are.

Everything returned is a candidate whose exact objective the checker recomputes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Floats
from verify.checker.exact import sqrt_upper
from verify.checker.objectives import Objective
from verify.deciders.rounding import dyadic
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = [
    "at_output_bias",
    "distance",
    "merge_directions",
    "network_of_directions",
    "with_output_bias",
]


CONSTANT_COST = 1e-10  # what a constant (free bias, w = 0) may cost, relative to the value


def norms(directions: Floats) -> Floats:
    """The norm of each row, without overflow or underflow on the way."""
    largest = np.abs(directions).max(axis=1, initial=0.0)
    return largest * np.linalg.norm(directions / np.where(largest > 0, largest, 1.0)[:, None], axis=1)


def dot_product_scales(rows: Floats, weights: Floats, *, bias: bool) -> Floats:
    """How large w_j.x_i could be, (k, n): ||w|| ||x||, plus |b| when the last column is a bias.

    What "near a kink" is measured by: it follows rotations, and rescaling x with the bias.
    """
    if not bias:
        return norms(weights)[:, None] * norms(rows)[None, :]
    heads = norms(weights[:, :-1])[:, None] * norms(rows[:, :-1])[None, :]
    return heads + np.abs(weights[:, -1:]) * np.abs(rows[:, -1])


def network_of_directions(
    problem: Problem, directions: Floats, signs: Sequence[int], masks: Sequence[int], bits: int = 53, bias: float = 0.0
) -> Network:
    """The balanced network with u_j = `directions`[j] (J, c), output signs and mask classes: v_j = s_j ||u_j||^(1/2),
    where both layers have one weight decay.

    With a free bias a direction without weights is a constant; it is made by one neuron with a large bias, nearly for
    free.
    """
    poll()
    counted = list(problem.norm_columns)
    sizes = norms(directions[:, counted])
    lean = _lean(problem)
    total = max(float(sizes.sum()), 1e-300)
    classes = problem.mask_classes
    hidden: list[Fraction] = []
    outgoing: list[Fraction] = []
    for u, size, sign, mask in zip(directions, sizes, signs, masks, strict=True):
        if size > 1e-9 * total or len(counted) == directions.shape[1]:
            root = float(np.sqrt(size))
            w = u / root if root > 0 else u * 0.0
            w, root = w * lean, root / lean
        else:
            w = np.where(np.isin(np.arange(len(u)), counted), 0.0, u)
            root = float(np.sqrt(2 * CONSTANT_COST * total))
            w = w / root
        hidden += [dyadic(float(w[column]), bits) for column in classes[mask]]
        outgoing.append(dyadic(float(sign) * root, bits))
    shape = problem.architecture.with_width_of([classes[mask] for mask in masks])
    return Network(shape, (hidden, outgoing, *([[dyadic(bias, bits)]] if problem.has_output_bias else [])))


def _lean(problem: Problem) -> float:
    """By what the weights of a balanced neuron are longer than its output weight: (mu_v / mu_w)^(1/4) twice, or 1."""
    asked = problem.goal
    if not isinstance(asked, Objective) or asked.decay.hidden == asked.decay.output:
        return 1.0
    return to_float(asked.decay.output / asked.decay.hidden) ** 0.25


def merge_directions(
    rows: Floats, directions: Floats, signs: Sequence[int], masks: Sequence[int], slope: float, *, bias: bool
) -> tuple[Floats, list[int], list[int]]:
    """Sum the directions that share an output sign, a mask and a closed cell: same function, fewer neurons, less norm.

    Linear networks (slope 1): s u and -s (-u) are one neuron, so all of a mask class merge.
    """
    merged: list[Floats] = []
    kept_signs: list[int] = []
    kept_masks: list[int] = []
    cells: list[NDArray[np.int8]] = []
    order = np.argsort(-norms(directions), kind="stable")
    for j in order:
        u, sign, mask = directions[j], int(signs[j]), int(masks[j])
        if slope == 1.0 and sign < 0:
            u, sign = -u, 1
        z = rows @ u
        tolerance = 1e-8 * dot_product_scales(rows, u[None], bias=bias)[0]
        cell = np.where(np.abs(z) <= tolerance, 0, np.sign(z)).astype(np.int8)
        if slope == 1.0:
            cell[:] = 0
        for q in range(len(merged)):
            if kept_signs[q] == sign and kept_masks[q] == mask and not (cells[q] * cell < 0).any():
                merged[q] = merged[q] + u
                cells[q] = np.where(cells[q] == 0, cell, cells[q])
                break
        else:
            merged.append(u)
            kept_signs.append(sign)
            kept_masks.append(mask)
            cells.append(cell)
    return np.array(merged), kept_signs, kept_masks


def network_with(network: Network, hidden: Sequence[Sequence[Fraction]]) -> Network:
    """The same depth-2 network with other hidden weights (k rows of c columns)."""
    masks = network.architecture.masks
    flat = [row[c] for row, mask in zip(hidden, masks, strict=True) for c in mask]
    return Network(network.architecture, (flat, *network.parameters[1:]))


def at_output_bias(problem: Problem, bias: Fraction) -> Problem:
    """Which networks without an output bias are to fit that fit with this one: min-norm, its targets less the bias."""
    if not problem.has_output_bias:
        return problem
    data = problem.data.mapped(targets=[y - bias for y in problem.data.targets])
    return Problem(
        data, problem.architecture, goal=problem.goal, bias=problem.bias, fit_tolerance=problem.fit_tolerance
    )


def with_output_bias(problem: Problem, network: Network, bias: Fraction) -> Network:
    """The network with this bias on its output, where the problem has one."""
    if not problem.has_output_bias:
        return network
    return Network(network.architecture, (*network.parameters[:2], [bias]))


def distance(network: Network, given: Network) -> Fraction:
    """An upper bound of ||network - given|| / ||given||."""
    if network is given:
        return Fraction(0)
    pairs = [
        (a, b) for la, lb in zip(network.parameters, given.parameters, strict=True) for a, b in zip(la, lb, strict=True)
    ]
    size = sum((b * b for _, b in pairs), Fraction(0))
    apart = sum(((a - b) ** 2 for a, b in pairs), Fraction(0))
    return sqrt_upper(apart / size, 20) if size else Fraction(0)
