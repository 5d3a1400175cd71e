"""Is a network with several outputs stationary, and does a way down begin at it?

Multipliers of a loss are those of its gradient; of constraints the best ones of a least squares problem. What floats
find is written down in exact numbers, and epsilon and delta are computed from these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from operator import sub
from typing import TYPE_CHECKING

import numpy as np

from solvers.vectors.vector_instance import VectorInstance, activated
from solvers.vectors.vector_search import longest
from verify.checker.errors import IsoptimalError
from verify.checker.exact import sqrt_upper, squared_norm
from verify.checker.vector_certificates import VectorCertificate
from verify.checker.vector_statement import (
    VectorNetwork,
    VectorProblem,
    vector_margin,
    vector_outputs,
    vector_preactivations,
    weight_of,
)
from verify.checker.vector_stationary import Move, VectorNotLocal, VectorNotStationary, VectorStationary
from verify.deciders.rounding import ceil_dyadic, dyadic
from verify.deciders.vectors.arrays import as_vector_instance, float_network
from verify.deciders.vectors.kinks import networks_at_kinks
from verify.numbers.floats import to_float, to_floats, to_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["stationary_proofs", "ways_down"]

BITS, SHORT = 60, 10**4
MOST_PARAMETERS = 400
"""Up to which the matrix of second derivatives is looked at."""

DOWN = 1e-4
"""How negative a second derivative has to be, relative to the decay, to be followed."""


def stationary_proofs(
    problem: VectorProblem, network: VectorNetwork, tolerance: Fraction
) -> Iterator[VectorCertificate]:
    """Candidates: stationary exactly, or up to epsilon and delta; not up to `tolerance`, or not exactly."""
    best = _best(problem, network)
    if problem.rules.IS_LOSS and tolerance and (best is None or best.own_tolerance > tolerance):
        best = _near(problem, network, tolerance, best)
    if best is not None:
        yield best
    if problem.rules.IS_LOSS and (best is None or best.own_tolerance):
        is_near = best is not None and best.own_tolerance <= tolerance
        yield from _refuted(problem, network, Fraction(0) if is_near else tolerance)


def _best(problem: VectorProblem, network: VectorNetwork) -> VectorStationary | None:
    """Of the candidates the one with the least epsilon and delta."""
    ended = (_with_ends(problem, network, proof) for proof in _stationary(problem, network))
    return min((proof for proof in ended if proof is not None), key=lambda one: one.own_tolerance, default=None)


def _near(
    problem: VectorProblem, network: VectorNetwork, tolerance: Fraction, best: VectorStationary | None
) -> VectorStationary | None:
    """That of a network with near-kinks as kinks, at most `tolerance` away, where it is better than `best`."""
    size = squared_norm(_parameters(network))
    for subject in networks_at_kinks(problem, network):
        apart = squared_norm(map(sub, _parameters(subject), _parameters(network)))
        moved = ceil_dyadic(sqrt_upper(apart / size), 30) if size and apart else Fraction(0)
        found = _best(problem, subject) if 0 < moved <= tolerance else None
        found = None if found is None else replace(found, subject=subject, moved=moved)
        if found is not None and (best is None or found.own_tolerance < best.own_tolerance):
            best = found
    return best


def _parameters(network: VectorNetwork) -> list[Fraction]:
    return [*chain(*network.hidden, *network.output, network.shift)]


def _stationary(problem: VectorProblem, network: VectorNetwork) -> Iterator[VectorStationary]:
    """With multipliers, and slopes at kinks, of least squares."""
    if problem.rules.IS_LOSS:
        pairs = zip(problem.targets, vector_outputs(problem, network), strict=True)
        rows = [problem.rules.steepest(y, f) for y, f in pairs]
        exact = [[low if low == high else dyadic(to_float(low), BITS) for low, high in row] for row in rows]
        multipliers = [_admitted(problem, i, row) for i, row in enumerate(exact)]
        listed = tuple((i, row) for i, row in enumerate(multipliers) if any(row))
        kinks = _kinks(problem, network, multipliers)
        yield VectorStationary(listed, kinks)
        return
    if vector_margin(problem, network) is None:
        return
    found = _constrained(problem, network)
    for short in (True, False):
        rows = [
            tuple(Fraction(z).limit_denominator(SHORT) if short else dyadic(z, BITS) for z in row)
            for row in found.tolist()
        ]
        rows = [_admitted(problem, i, list(row)) for i, row in enumerate(rows)]
        yield VectorStationary(tuple((i, row) for i, row in enumerate(rows) if any(row)))


def _admitted(problem: VectorProblem, point: int, row: list[Fraction]) -> tuple[Fraction, ...]:
    """The row, with a sum of 0 where the goal asks for it."""
    if not problem.rules.HAS_CLASSES:
        return tuple(row)
    k = problem.targets[point].index(Fraction(1))
    found = [min(entry, Fraction(0)) for entry in row]
    found[k] = Fraction(0)
    found[k] = -sum(found, Fraction(0))
    return tuple(found)


def _kinks(
    problem: VectorProblem, network: VectorNetwork, multipliers: list[tuple[Fraction, ...]]
) -> tuple[tuple[int, int, Fraction], ...]:
    """The slopes at kinks that make the residual of each neuron least, by bounded least squares."""
    from scipy.optimize import lsq_linear

    values = vector_preactivations(problem, network)
    instance = as_vector_instance(problem)
    hidden, output, _ = float_network(network)
    c = to_matrix(multipliers)
    found: list[tuple[int, int, Fraction]] = []
    for j in range(network.width):
        at = [i for i, row in enumerate(values) if row[j] == 0]
        pulls = c @ output[j]
        at = [i for i in at if pulls[i] and problem.slope < 1]
        if not at:
            continue
        sides = to_floats(row[j] for row in values)
        slopes = np.where(sides > 0, 1.0, instance.slope)
        slopes[sides == 0] = 0.0
        own = np.where(np.arange(hidden.shape[1]) < problem.counted, hidden[j], 0.0)
        rest = instance.decays[0] * own - (slopes * pulls) @ instance.rows
        matrix = (instance.rows[at] * pulls[at][:, None]).T
        solved = lsq_linear(matrix, rest, bounds=(instance.slope, 1.0)).x
        for i, g in zip(at, solved.tolist(), strict=True):
            near = Fraction(g).limit_denominator(SHORT)
            found.append((i, j, min(max(near, problem.slope), Fraction(1))))
    return tuple(sorted(found))


def _constrained(problem: VectorProblem, network: VectorNetwork) -> Array:
    """C_i that make the residual least; for pairwise margins of lambda >= 0 at the pairs of least margin."""
    from scipy.optimize import lsq_linear

    instance = as_vector_instance(problem)
    hidden, output, _ = float_network(network)
    values = instance.rows @ hidden.T
    slopes, active = np.where(values > 0, 1.0, instance.slope), activated(values, instance.slope)
    points, many = instance.targets.shape
    columns: list[Array] = []  # what each adds to the residuals of W, of V and of a free output bias
    sources: list[tuple[int, Array]] = []
    f = active @ output
    weight = 0.0 if problem.decay.output_bias is None else to_float(vector_margin(problem, network) or 0) ** 0.5
    counted = np.where(np.arange(hidden.shape[1]) < problem.counted, hidden, 0.0)
    for i in range(points):
        sides = list(np.eye(many))
        if problem.rules.HAS_MARGIN:
            k = int(instance.targets[i].argmax())
            least = to_float(vector_margin(problem, network) or 0)
            near = [j for j in range(many) if j != k and f[i, k] - f[i, j] < least * (1 + 1e-9)]
            sides = [np.eye(many)[k] - np.eye(many)[j] for j in near]
        for side in sides:
            of_hidden = (slopes[i] * (output @ side))[:, None] * instance.rows[i]
            of_output = active[i][:, None] * side
            columns.append(np.concatenate([of_hidden.ravel(), of_output.ravel(), weight * side]))
            sources.append((i, side))
    target = np.concatenate([counted.ravel(), output.ravel(), np.zeros(many)])
    low = 0.0 if problem.rules.HAS_MARGIN else -np.inf
    found = np.zeros((points, many))
    solved = lsq_linear(np.array(columns).T, target, bounds=(low, np.inf)).x
    for (i, side), weight in zip(sources, solved, strict=True):
        found[i] += weight * side
    return found


def _with_ends(problem: VectorProblem, network: VectorNetwork, proof: VectorStationary) -> VectorStationary | None:
    """The same with the least epsilon and delta, rounded up; None where it holds for none."""
    weight = weight_of(problem, network)
    try:
        gap, square = proof.misses(problem, network)
    except IsoptimalError:
        return None
    if weight == 0:
        return proof if gap <= 0 and square == 0 else None
    delta = ceil_dyadic(gap / weight, 20) if gap > 0 else Fraction(0)
    epsilon = ceil_dyadic(sqrt_upper(square / weight), 20) if square else Fraction(0)
    return replace(proof, epsilon=epsilon, delta=delta)


def _refuted(problem: VectorProblem, network: VectorNetwork, tolerance: Fraction) -> Iterator[VectorNotStationary]:
    """With the residual as the vector: at the tolerance, and at 0."""
    instance = as_vector_instance(problem)
    hidden, output, shift = float_network(network)
    of_hidden, of_output, of_shift = instance.gradient(hidden, output, shift)
    mu_w, mu_v = instance.decays
    move = _move(
        of_hidden / mu_w, of_output / mu_v, None if of_shift is None else of_shift / (instance.output_bias or mu_v)
    )
    if tolerance > 0:
        weight = to_float(weight_of(problem, network))
        square = float((of_hidden**2).sum() / mu_w + (of_output**2).sum() / mu_v)
        spread = _spread(instance, hidden, output, of_hidden / mu_w, of_output / mu_v)
        curved = to_float(problem.rules.CURVATURE) / 2 * spread
        kappa = np.sqrt(max(curved, 1e-300) / max(to_float(tolerance) * weight, 1e-300))
        if square > 0 and np.isfinite(kappa):
            yield VectorNotStationary(move, tolerance, tolerance, dyadic(float(kappa), 20) or Fraction(1))
    yield VectorNotStationary(move)


def _spread(instance: VectorInstance, hidden: Array, output: Array, dw: Array, dv: Array) -> float:
    """The sum over the points of the squared change of the outputs along a move."""
    values = instance.rows @ hidden.T
    slopes = np.where(values > 0, 1.0, instance.slope)
    change = activated(values, instance.slope) @ dv + (slopes * (instance.rows @ dw.T)) @ output
    return float((change**2).sum())


def _move(hidden: Array, output: Array, shift: Array | None, bits: int = 40) -> Move:
    def rows(matrix: Array) -> tuple[tuple[Fraction, ...], ...]:
        return tuple(tuple(dyadic(entry, bits) for entry in row) for row in matrix.tolist())

    return Move(rows(hidden), rows(output.T), None if shift is None else rows(shift[None])[0])


def ways_down(problem: VectorProblem, network: VectorNetwork) -> Iterator[tuple[VectorNotLocal, str]]:
    """Moves along which the objective falls in the second order, and why, of a loss: a neuron without weights that is
    woken, and a direction of negative curvature.
    """
    if not problem.rules.IS_LOSS:
        return
    yield from _woken(problem, network)
    yield from _curved(problem, network)


def _woken(problem: VectorProblem, network: VectorNetwork) -> Iterator[tuple[VectorNotLocal, str]]:
    instance = as_vector_instance(problem)
    hidden, output, shift = float_network(network)
    zero = next((j for j in range(len(hidden)) if not hidden[j].any() and not output[j].any()), None)
    if zero is None:
        return
    c = instance.steepest(instance.outputs(hidden, output, shift))
    peaks, lengths = longest(instance, c, instance.rows, np.random.default_rng(0))
    if not len(peaks) or lengths[0] <= instance.price:
        return
    vector = instance.vector(c, peaks[:1])[0]
    mu_w, mu_v = instance.decays
    dw, dv = np.zeros_like(hidden), np.zeros_like(output)
    dw[zero], dv[zero] = peaks[0] * np.sqrt(np.sqrt(mu_v / mu_w)), vector / lengths[0] * np.sqrt(np.sqrt(mu_w / mu_v))
    yield (
        VectorNotLocal(_move(dw, dv, None if shift is None else np.zeros_like(shift))),
        ("a neuron without weights lowers the objective where it gets some"),
    )


def _curved(problem: VectorProblem, network: VectorNetwork) -> Iterator[tuple[VectorNotLocal, str]]:
    """Along the eigenvector of the least eigenvalue of the second derivatives, to the side where F does not rise."""
    instance = as_vector_instance(problem)
    hidden, output, shift = float_network(network)
    parts = [hidden.ravel(), output.ravel(), *([] if shift is None else [shift])]
    start, sizes = np.concatenate(parts), np.cumsum([part.size for part in parts])[:-1]
    if start.size > MOST_PARAMETERS:
        return

    def gradient(parameters: Array) -> Array:
        w, v, *b = np.split(parameters, sizes)
        found = instance.gradient(w.reshape(hidden.shape), v.reshape(output.shape), b[0] if b else None)
        return np.concatenate([part.ravel() for part in found if part is not None])

    step = 1e-6 * max(float(np.abs(start).max(initial=0.0)), 1e-3)
    identity = np.eye(start.size)
    hessian = np.array([gradient(start + step * e) - gradient(start - step * e) for e in identity]) / (2 * step)
    values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    if values[0] > -DOWN * min(instance.decays):
        return
    move = vectors[:, 0]
    for z in (move, -move) if gradient(start) @ move <= 0 else (-move, move):
        w, v, *b = np.split(np.where(np.abs(z) < 1e-9, 0.0, z), sizes)
        found = _move(w.reshape(hidden.shape), v.reshape(output.shape), b[0] if b else None, bits=20)
        yield VectorNotLocal(found), "the objective falls along a direction of negative curvature"
