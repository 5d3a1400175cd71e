"""Is the network a Clarke KKT point, exactly or nearly? Multipliers prove it, a separating vector refutes it.

At theta with least margin m > 0 (max-margin) or interpolating (min-norm), N = ||theta||^2, gradients h_i of the
outputs:

    epsilon = ||theta - sum lambda_i h_i|| / sqrt N,      delta = sum lambda_i (q_i - m) / N,      lambda_i >= 0

with slopes in [a, 1] at kinks; both are 0 exactly at KKT points and do not change when theta is rescaled (depth 2).
With a fit tolerance eps > 0 each point has two constraints, q_i = f(x_i) >= y_i - eps and q_(n+i) = -f(x_i) >= -y_i -
eps, and what q_i has above its limit takes the place of q_i - m.
The floats of `solvers.kkt.residual` are guesses; the checker decides on their rational forms.

Source: arXiv:1906.05890v4, section 2; arXiv:2110.02732, Theorem 2.1;
`docs/mathematics.md`, 4.2 "A linear system, also with kinks" and 4.4 "Refutation by separating vectors".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from verify.checker.codec import rational_text
from verify.checker.errors import InputError
from verify.checker.exact import dot, sqrt_upper, squared_norm
from verify.checker.statement import Rows, pattern
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.proposal import Proposal, certified
from verify.deciders.rounding import ceil_dyadic, dyadic, solve_by_few, solve_exactly
from verify.deciders.simplified import without_copies
from verify.deciders.time_limits import is_late, poll
from verify.deciders.witnesses import distance, float_near, float_rows, float_weights, network_with, norms, reaches
from verify.numbers.counts import count
from verify.numbers.decimals import denied, small
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem, half_squared_norm, objective, outputs

if TYPE_CHECKING:
    from solvers.kkt.residual import KktFit, LocalModel

__all__ = ["exactly_refuted", "stationarity"]

KINK_TOLERANCES = (1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Preactivations below these parts of their reach (`verify.deciders.witnesses.reaches`) are tried as kinks."""

WEIGHTS = tuple(10.0**e for e in (4, 3, 2, 1.5, 1, 0.5, 0, -0.5, -1))
"""Weights rho on complementarity that are tried: small ones allow a larger delta for a smaller epsilon."""

HELD = Fraction(1, 1000)
"""Up to this it is told of a network that is refuted exactly what the KKT conditions do hold up to."""

MOST_TERMS = 2 * 10**6
"""Multipliers times weights beyond which it is not told what the conditions of a network far from them hold up to."""

ROUNDING = Fraction(1, 10**9)  # for multipliers that are rounded, relative and absolute

MODERATE = 200
"""Networks of norms from 2^-200 to 2^200 are put into floats as they are."""

MAX_BRANCHES = 10
"""Min-norm: points with kinks beyond which the sign branches are not enumerated."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """A network with its exact pattern, and its float model.

    factors: what turns outputs into q_i.   slacks: how far each constraint is from being active, 0 for interpolation.
    Constraint i is one of point i, or i - n.   unit: the parameters of the model times this, a power of two, are those
    of the network.
    """

    network: Network
    given: Network
    moved: Fraction
    factors: tuple[Fraction, ...]
    slacks: tuple[Fraction, ...]
    kinks: tuple[tuple[int, int], ...]
    model: LocalModel
    unit: Fraction

    @property
    def parameters(self) -> Rows | None:
        return None if self.network is self.given else self.network.parameters


def stationarity(
    problem: Problem, network: Network, given: Network, tolerance: Fraction, *, deadline: float | None = None
) -> Proposal:
    """Whether `network` (the given one or its repair) is a KKT point: epsilon, delta <= `tolerance`; 0: exactly.

    deadline: a moment of `solvers.clock.now()` after which no further guesses are tried.
    An exact proof is tried first. For tolerance > 0 near-kinks are then tried as kinks, which moves the network a
    little. A refutation has beside it what the conditions do hold up to, where that is found (exactly asked: up to
    `HELD`). Sound. Complete up to rounding for a given pattern of kinks; min-norm with more than `MAX_BRANCHES` points
    at kinks may stay UNDECIDED.
    """
    search = partial(_stationarity, network=network, given=given, tolerance=tolerance, deadline=deadline)
    found = without_copies(problem, given, search)
    proof = found.certificate
    if isinstance(proof, Stationary) and proof.multipliers and not (proof.epsilon or proof.delta):
        return replace(found, reason=_exact_point(proof))
    return found


def _stationarity(
    problem: Problem, network: Network, given: Network, tolerance: Fraction, deadline: float | None
) -> Proposal:
    """`stationarity`, with the points as they are."""
    if not half_squared_norm(problem, network):
        certificate = Stationary(multipliers=(), subject=None if network is given else network.parameters)
        return Proposal(certificate=certificate, reason="every weight that counts is zero: nothing can be smaller")
    subject = _subject(problem, network, given)
    if subject is None:
        return Proposal(reason="the network is zero or its numbers are out of the range of floats")
    unbalanced = _balance_separator(problem, subject, tolerance)
    if unbalanced is not None:
        return unbalanced if tolerance else _with_what_holds(unbalanced, _nearly(problem, subject, HELD, deadline)[0])
    exact = _prove_exactly(problem, subject, deadline)
    if exact is not None:
        return exact
    nearly, best = _nearly(problem, subject, tolerance or HELD, deadline)
    if nearly is not None and tolerance:
        return nearly
    refuted = _refute(problem, subject, tolerance, deadline)
    if refuted.certificate is None and (levelled := _levelled(problem, subject, tolerance, deadline)) is not None:
        if isinstance(levelled.certificate, Stationary):
            return levelled
        refuted = levelled
    if nearly is None and tolerance and best is not None and refuted.certificate is not None:
        nearly = _as_it_is(problem, *best)
    return _with_what_holds(refuted, nearly)


def exactly_refuted(problem: Problem, network: Network, given: Network, *, deadline: float | None = None) -> Proposal:
    """That `network` (the given one or its repair) is exactly no KKT point, whatever it is within a tolerance.

    deadline: a moment of `solvers.clock.now()` after which no further guesses are tried. Sound; neither proofs nor what
    nearly holds are looked for.
    """

    def search(distinct: Problem) -> Proposal:
        subject = _subject(distinct, network, given)
        if subject is None:
            return Proposal(reason="the network is zero or its numbers are out of the range of floats")
        unbalanced = _balance_separator(distinct, subject, Fraction(0))
        refuted = unbalanced or _refute(distinct, subject, Fraction(0), deadline)
        is_open = refuted.certificate is None
        return (_levelled(distinct, subject, Fraction(0), deadline) if is_open else None) or refuted

    return without_copies(problem, given, search)


def _levelled(problem: Problem, subject: _Subject, tolerance: Fraction, deadline: float | None) -> Proposal | None:
    """The exact question once more, with equations of one size: weights and columns may be of very different sizes."""
    if is_late(deadline):
        return None
    again = replace(subject, model=subject.model.levelled())
    exact = _prove_exactly(problem, again, deadline)
    if exact is not None or tolerance:
        return exact
    refuted = _refute(problem, again, tolerance, deadline)
    return None if refuted.certificate is None else refuted


def _nearly(
    problem: Problem, subject: _Subject, tolerance: Fraction, deadline: float | None
) -> tuple[Proposal | None, tuple[_Subject, KktFit] | None]:
    """A proof that the conditions hold up to the tolerance, near-kinks tried as kinks; else the best fit that is found.

    The fit is of the network as it is, not moved onto kinks.
    """
    best: KktFit | None = None
    for candidate in itertools.chain([subject], _with_kinks(problem, subject, tolerance)):
        if is_late(deadline):
            break
        fits = list(_fits(problem, candidate, tolerance, deadline))
        if candidate is subject:
            best = min(fits, key=lambda fit: max(fit.epsilon, fit.delta), default=None)
        if fits and max(fits[-1].epsilon, fits[-1].delta) <= float(tolerance):
            nearly = _prove_nearly(problem, candidate, fits[-1], tolerance)
            if nearly is not None:
                return nearly, None
    return None, None if best is None else (subject, best)


def _with_what_holds(refuted: Proposal, nearly: Proposal | None) -> Proposal:
    """The refutation with the proof beside it of what the conditions do hold up to."""
    if nearly is None or not isinstance(nearly.certificate, Stationary):
        return refuted
    held = f"{refuted.reason}; the KKT conditions hold up to {_size(nearly.certificate)}"
    return replace(refuted, reason=held, beside=nearly.certificate, numbers={**refuted.numbers, **nearly.numbers})


def _subject(problem: Problem, network: Network, given: Network) -> _Subject | None:
    from solvers.kkt.residual import LocalModel

    signs = pattern(problem, network)
    norm = 2 * half_squared_norm(problem, network)
    if norm <= 0:
        return None
    factors, slacks = _constraints(problem, network)
    unit = _unit(norm)
    scaled = (
        network if unit == 1 else Network(network.architecture, [[z / unit for z in p] for p in network.parameters])
    )
    weights, allowed = float_weights(scaled)
    counted = np.zeros(weights.shape[1], bool)
    counted[list(problem.norm_columns)] = True
    slope = problem.architecture.slope
    grid, rows = np.array(signs, dtype=np.int8), float_rows(problem)
    if len(factors) > len(rows):
        grid, rows = np.hstack([grid, grid]), np.vstack([rows, rows])
    try:
        model = LocalModel(
            rows=rows,
            signs=np.array([float_near(factor) for factor in factors]),
            slope=float(slope),
            weights=weights,
            outgoing=np.array([float_near(value) for value in scaled.output_weights]),
            on=grid > 0,
            kink=(grid == 0) & (slope < 1),
            counted=counted,
            allowed=allowed,
            slacks=np.array([float_near(slack / unit**2) for slack in slacks]),
            norm=float(norm / unit**2),
        )
    except OverflowError:
        return None
    if not (np.isfinite(model.rows).all() and np.isfinite(model.weights).all()):
        return None
    kinks = tuple((int(i), int(j)) for j, i in np.argwhere(model.kink)) if slope < 1 else ()
    return _Subject(network, given, distance(network, given), factors, slacks, kinks, model, unit)


def _unit(norm: Fraction) -> Fraction:
    """1 for networks of a moderate size, else a power of two of about theirs, for N = ||theta||^2."""
    exponent = (norm.numerator.bit_length() - norm.denominator.bit_length()) // 2
    return Fraction(1) if abs(exponent) <= MODERATE else Fraction(2) ** exponent


def _constraints(problem: Problem, network: Network) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """The factors and slacks of a `_Subject`."""
    values, targets = outputs(problem, network), problem.data.targets
    if has_margin(problem.goal):
        margins = [value * y for value, y in zip(values, targets, strict=True)]
        least = min(margins)
        return targets, tuple(margin - least for margin in margins)
    apart = [value - y for value, y in zip(values, targets, strict=True)]
    if problem.fit_tolerance == 0:
        return (Fraction(1),) * len(values), (Fraction(0),) * len(values)
    rooms = [problem.fit_tolerance + sign * gap for sign in (1, -1) for gap in apart]
    return (Fraction(1),) * len(apart) + (Fraction(-1),) * len(apart), tuple(rooms)


def _is_one_sided(problem: Problem) -> bool:
    """Whether every multiplier has one sign: not of equations."""
    return has_margin(problem.goal) or problem.fit_tolerance > 0


# -- proofs ----------------------------------------------------------------------------------------------------


def _prove_exactly(problem: Problem, subject: _Subject, deadline: float | None) -> Proposal | None:
    """Exact multipliers on the support of the float ones, whose columns are independent: one solution at most."""
    active = _active(subject)
    if not len(active) or len(subject.kinks) > 400:
        return None
    for fit in _branches(problem, subject, 1.0, active):
        if is_late(deadline):
            return None
        if fit.epsilon > 1e-6:
            continue
        columns = [_exact_gradient(problem, subject, i, ends) for i, ends, _ in fit.basis]
        target = _exact_parameters(problem, subject)
        matrix = [list(entries) for entries in zip(*columns, strict=True)] if columns else []
        weights = solve_exactly(matrix, target, deadline=deadline) if columns else None
        if weights is None:
            continue
        multipliers: dict[int, Fraction] = {}
        products: dict[tuple[int, int], Fraction] = {}
        slope = problem.architecture.slope
        kinks = set(subject.kinks)
        for (i, ends, _), weight in zip(fit.basis, weights, strict=True):
            multipliers[i] = multipliers.get(i, Fraction(0)) + weight
            for j in range(len(subject.network.output_weights)):
                if (i, j) in kinks:
                    part = weight if ends[j] else slope * weight
                    products[i, j] = products.get((i, j), Fraction(0)) + part
        certificate = _stationary(problem, subject, multipliers, products, Fraction(0), Fraction(0))
        proof = certified(problem, subject.given, certificate)
        if proof is not None:
            return Proposal(
                certificate=proof,
                reason=_exact_point(certificate),
                numbers={"epsilon": Fraction(0), "delta": Fraction(0)},
            )
    return None


def _exact_point(proof: Stationary) -> str:
    """What the certificate proves, with its multipliers at the points that it is about."""
    used = proof.multipliers
    text = ", ".join(f"λ_{i} = {rational_text(multiplier)}" for i, multiplier in used)
    return (
        f"an exact KKT point with {text}"
        if len(text) <= 80
        else f"an exact KKT point with {count(len(used), 'multiplier')}"
    )


def _prove_nearly(problem: Problem, subject: _Subject, fit: KktFit, tolerance: Fraction) -> Proposal | None:
    multipliers, products = _rational(problem, fit)
    epsilon, delta = _exact_residual(problem, subject, multipliers, products)
    if max(epsilon, delta) > tolerance:
        return None
    return _approximate(problem, subject, _stationary(problem, subject, multipliers, products, epsilon, delta))


def _as_it_is(problem: Problem, subject: _Subject, fit: KktFit) -> Proposal | None:
    """The proof of what a fit leaves, a little above its floats; None where that would take long."""
    if np.count_nonzero(fit.multipliers) * subject.model.weights.size > MOST_TERMS:
        return None
    above = [ceil_dyadic(Fraction(size) * (1 + ROUNDING) + ROUNDING, 20) for size in (fit.epsilon, fit.delta)]
    epsilon, delta = above if has_margin(problem.goal) else (above[0], Fraction(0))
    return _approximate(problem, subject, _stationary(problem, subject, *_rational(problem, fit), epsilon, delta))


def _rational(problem: Problem, fit: KktFit) -> tuple[dict[int, Fraction], dict[tuple[int, int], Fraction]]:
    """The multipliers and kink products of a fit as short numbers, the products between a lambda_i and lambda_i."""
    slope = problem.architecture.slope
    multipliers = {int(i): dyadic(float(fit.multipliers[i]), 45) for i in np.flatnonzero(fit.multipliers)}
    products: dict[tuple[int, int], Fraction] = {}
    for (i, j), product in fit.kink_products.items():
        if i in multipliers:
            low, high = sorted((slope * multipliers[i], multipliers[i]))
            products[i, j] = min(max(dyadic(product, 45), low), high)
    return multipliers, products


def _approximate(problem: Problem, subject: _Subject, certificate: Stationary) -> Proposal | None:
    proof = certified(problem, subject.given, certificate)
    if proof is None:
        return None
    return Proposal(
        certificate=proof,
        reason=f"a KKT point to within {_size(proof)}",
        numbers={"epsilon": proof.epsilon, "delta": proof.delta},
    )


def _size(proof: Stationary) -> str:
    """Up to what the conditions hold, rounded up, and of which network."""
    moved = f" after moving it by at most {small(proof.moved)} onto its kinks" if proof.moved else ""
    return f"ε = {small(proof.epsilon)}, δ = {small(proof.delta)}{moved}"


def _stationary(
    problem: Problem,
    subject: _Subject,
    multipliers: dict[int, Fraction],
    products: dict[tuple[int, int], Fraction],
    epsilon: Fraction,
    delta: Fraction,
) -> Stationary:
    slope, points = problem.architecture.slope, len(problem.rows)
    found: dict[int, Fraction] = {}
    slopes: dict[tuple[int, int], Fraction] = {}  # what the products have beyond slope times the multiplier
    for i, multiplier in multipliers.items():
        sign = -1 if i >= points else 1
        found[i % points] = found.get(i % points, Fraction(0)) + sign * multiplier
    for (i, j), product in products.items():
        sign = -1 if i >= points else 1
        beyond = sign * (product - slope * multipliers.get(i, Fraction(0)))
        slopes[i % points, j] = slopes.get((i % points, j), Fraction(0)) + beyond
    return Stationary(
        subject=subject.parameters,
        moved=subject.moved,
        multipliers=tuple((i, found[i]) for i in sorted(found) if found[i]),
        kink_products=tuple((i, j, slopes[i, j] + slope * found[i]) for i, j in sorted(slopes) if slopes[i, j]),
        epsilon=epsilon,
        delta=delta,
    )


def _exact_parameters(problem: Problem, subject: _Subject) -> list[Fraction]:
    counted = set(problem.norm_columns)
    return [
        value if c in counted else Fraction(0)
        for row, mask in zip(subject.network.hidden_weights, subject.network.architecture.masks, strict=True)
        for c, value in enumerate(row)
        if c in mask
    ] + list(subject.network.output_weights)


def _exact_gradient(problem: Problem, subject: _Subject, point: int, ends: NDArray[np.bool_]) -> list[Fraction]:
    """h_i with slope 1 where `ends`[j] at kinks, in the order of `_exact_parameters`."""
    sign = subject.factors[point]
    poll()
    row, slope = problem.rows[point % len(problem.rows)], problem.architecture.slope
    kinks = set(subject.kinks)
    hidden: list[Fraction] = []
    outgoing: list[Fraction] = []
    network = subject.network
    for j, (w, v, mask) in enumerate(
        zip(network.hidden_weights, network.output_weights, network.architecture.masks, strict=True)
    ):
        z = dot(w, row)
        on = bool(ends[j]) if (point, j) in kinks else z > 0
        factor = sign * v * (1 if on else slope)
        hidden += [factor * row[c] for c in mask]
        outgoing.append(sign * (z if z > 0 else slope * z))
    return hidden + outgoing


def _exact_residual(
    problem: Problem,
    subject: _Subject,
    multipliers: dict[int, Fraction],
    products: dict[tuple[int, int], Fraction],
) -> tuple[Fraction, Fraction]:
    """Rational upper bounds of epsilon and delta (short ones)."""
    network, slope = subject.network, problem.architecture.slope
    counted = set(problem.norm_columns)
    kinks = set(subject.kinks)
    total = Fraction(0)
    signed = {i: m * subject.factors[i] for i, m in multipliers.items()}
    for j, (w, v, mask) in enumerate(
        zip(network.hidden_weights, network.output_weights, network.architecture.masks, strict=True)
    ):
        pull = [Fraction(0)] * len(w)
        push = Fraction(0)
        for i, weight in signed.items():
            poll()
            row = problem.rows[i % len(problem.rows)]
            z = dot(w, row)
            if (i, j) in kinks:
                share = products.get((i, j), slope * multipliers[i]) * (
                    weight / multipliers[i] if multipliers[i] else 0
                )
            else:
                share = weight if z > 0 else slope * weight
            for c in mask:
                pull[c] += share * row[c]
            push += weight * (z if z > 0 else slope * z)
        total += sum(((w[c] if c in counted else 0) - v * pull[c]) ** 2 for c in mask) + (v - push) ** 2
    norm = 2 * half_squared_norm(problem, network)
    delta = sum((m * subject.slacks[i] for i, m in multipliers.items()), Fraction(0)) / norm
    return sqrt_upper(total / norm, 20), sqrt_upper(delta * delta, 20) if delta > 0 else Fraction(0)


# -- fits ------------------------------------------------------------------------------------------------------


def _active(subject: _Subject) -> np.ndarray:
    return np.array([i for i, slack in enumerate(subject.slacks) if slack == 0], int)


def _branches(problem: Problem, subject: _Subject, rho: float, active: np.ndarray | None) -> Iterator[KktFit]:
    """The fits of every sign branch (min-norm with kinks), or the one fit; best first."""
    from solvers.kkt.residual import fit_multipliers

    if _is_one_sided(problem):
        yield fit_multipliers(subject.model, rho, candidates=active)
        return
    points = _kink_points(problem, subject)
    fits = []
    for negative in _sign_vectors(points):
        fits.append(fit_multipliers(subject.model, rho, candidates=active, free_signs=True, negative=negative))
        if fits[-1].epsilon < 1e-9:
            break
    yield from sorted(fits, key=lambda fit: fit.epsilon)


def _kink_points(problem: Problem, subject: _Subject) -> list[int]:
    if problem.architecture.slope == 1:
        return []
    outgoing = subject.network.output_weights
    return sorted({i for i, j in subject.kinks if outgoing[j] != 0})


def _sign_vectors(points: list[int]) -> Iterator[frozenset[int]]:
    if len(points) > MAX_BRANCHES:
        return
    for choice in itertools.product((False, True), repeat=len(points)):
        poll()
        yield frozenset(i for i, negative in zip(points, choice, strict=True) if negative)


def _fits(problem: Problem, subject: _Subject, tolerance: Fraction, deadline: float | None) -> Iterator[KktFit]:
    """Fits with smaller and smaller weight on complementarity, until one is within the tolerance or delta is too
    large.
    """
    weights = WEIGHTS if _is_one_sided(problem) else (1.0,)
    for rho in weights:
        if is_late(deadline):
            return
        for fit in itertools.islice(_branches(problem, subject, rho, None), 1):
            yield fit
            if max(fit.epsilon, fit.delta) <= float(tolerance) * 0.999999 or fit.delta > 2 * float(tolerance):
                return


def _with_kinks(problem: Problem, subject: _Subject, tolerance: Fraction) -> Iterator[_Subject]:
    """The network moved onto its near-kinks, for growing tolerances; at most `tolerance` away."""
    if problem.architecture.slope == 1 or not _is_one_sided(problem):
        return
    rows, weights = float_rows(problem), subject.model.weights
    sizes = reaches(rows, weights, bias=problem.architecture.bias)
    near = np.abs(weights @ rows.T) / np.maximum(sizes, 1e-300)
    near[sizes == 0] = np.inf
    is_kink = np.array(pattern(problem, subject.network)) == 0  # exactly, which a product of floats does not tell
    tried: bytes = (is_kink & (sizes > 0)).tobytes()
    for share in KINK_TOLERANCES:
        close = near <= share
        if close.tobytes() == tried:
            continue
        tried = close.tobytes()
        moved = _snap(problem, subject.network, close)
        if moved is None:
            continue
        candidate = _subject(problem, moved, subject.given)
        if candidate is None or candidate.moved > tolerance:
            continue
        if objective(problem, moved) is None:
            continue
        yield candidate


def _snap(problem: Problem, network: Network, close: np.ndarray) -> Network | None:
    """The network with x_i.w_j = 0 exactly where `close` (k, n), each neuron moved as little as floats can tell."""
    hidden = [list(row) for row in network.hidden_weights]
    for j, mask in enumerate(network.architecture.masks):
        poll()
        points = [int(i) for i in np.flatnonzero(close[j])]
        if not points:
            continue
        lines = [[problem.rows[i][c] for c in mask] for i in points]
        numbers = np.array([[float(value) for value in line] for line in lines])
        w = np.array([float(hidden[j][c]) for c in mask])
        step = np.linalg.lstsq(numbers, -numbers @ w, rcond=1e-10)[0]
        if np.linalg.norm(step) > 0.1 * np.linalg.norm(w):
            return None  # only the zero vector has all these kinks
        start = [dyadic(float(value), 53) for value in w + step]
        correction = solve_by_few(lines, [-dot(line, start) for line in lines])
        if correction is None:
            return None
        for c, value, change in zip(mask, start, correction, strict=True):
            hidden[j][c] = value + change
    try:
        return network_with(network, hidden)
    except InputError:
        return None


# -- refutations -----------------------------------------------------------------------------------------------


def _refute(
    problem: Problem,
    subject: _Subject,
    tolerance: Fraction,
    deadline: float | None,
) -> Proposal:
    within = _within(tolerance)
    if not _is_one_sided(problem):
        certificate = _min_norm_separators(problem, subject, tolerance)
    else:
        certificate = _one_sided_separator(problem, subject, tolerance, deadline)
    if certificate is None:
        late = "; the time limit was reached" if is_late(deadline) else ""
        return Proposal(reason=f"neither multipliers nor a separating vector were found{within}{late}")
    return Proposal(
        certificate=certificate,
        reason=f"not a KKT point{within}",
        numbers={"tolerance": tolerance},
    )


def _within(tolerance: Fraction) -> str:
    return f" to within {denied(tolerance)}" if tolerance else ", exactly"


def _balance_separator(problem: Problem, subject: _Subject, tolerance: Fraction) -> Proposal | None:
    """The refutation by the neuron that is out of balance the most, if it is enough.

    The vectors (w_j, -v_j) are orthogonal to every gradient, at kinks too, so |v_j| != ||w_j|| refutes alone; min-norm
    needs the same vector in every sign branch.
    """
    network = subject.network
    counted = set(problem.norm_columns)
    gaps = [
        sum((value * value for c, value in enumerate(w) if c in counted), Fraction(0)) - v * v
        for w, v in zip(network.hidden_weights, network.output_weights, strict=True)
    ]
    j = max(range(len(gaps)), key=lambda q: abs(gaps[q]))
    size = squared_norm(network.hidden_weights[j]) + network.output_weights[j] ** 2
    is_enough = gaps[j] ** 2 > 2 * tolerance**2 * half_squared_norm(problem, network) * size
    if not is_enough:
        return None
    sign = 1 if gaps[j] > 0 else -1
    masks = network.architecture.masks
    hidden = [
        sign * w[c] if q == j else Fraction(0)
        for q, (w, mask) in enumerate(zip(network.hidden_weights, masks, strict=True))
        for c in mask
    ]
    outgoing = [-sign * v if q == j else Fraction(0) for q, v in enumerate(network.output_weights)]
    certificate = NotStationary(
        subject=subject.parameters,
        moved=subject.moved,
        epsilon=tolerance,
        delta=tolerance if _is_one_sided(problem) else Fraction(0),
        vectors=((tuple(hidden), tuple(outgoing)),),
    )
    proof = certified(problem, subject.given, certificate)
    if proof is None:
        return None
    reason = f"not a KKT point{_within(tolerance)}: neuron {j} is not balanced (|v| is not ‖w‖)"
    return Proposal(certificate=proof, reason=reason, numbers={"tolerance": tolerance})


def _one_sided_separator(
    problem: Problem, subject: _Subject, tolerance: Fraction, deadline: float | None
) -> NotStationary | None:
    from solvers.kkt.residual import fit_multipliers, no_multipliers

    exact = tolerance == 0
    for rho in (1.0,) if exact else WEIGHTS:
        if is_late(deadline):
            return None
        active = _active(subject)
        if exact and not len(active):
            fit = no_multipliers(subject.model)
        else:
            fit = fit_multipliers(subject.model, rho, candidates=active if exact else None)
        tol = float(tolerance)
        gain = fit.epsilon**2 + fit.kappa * (fit.delta - tol)
        if gain <= tol * fit.epsilon * (1 + 1e-9) + 1e-13:
            continue
        inwards = _inwards(problem, subject, fit.residual)
        for nudge in (1e-12, 1e-10, 1e-8, 1e-6, 1e-5):
            direction = fit.residual - nudge * inwards
            kappa = fit.kappa / np.sqrt(subject.model.norm)
            if exact:
                ahead, _ = subject.model.best_ends(direction)
                slack = subject.model.slacks
                loose = slack > 0
                ratios = ahead[loose] / slack[loose] * np.sqrt(subject.model.norm)
                kappa = 2 * max(float(ratios.max(initial=0.0)), 0.0)
            certificate = NotStationary(
                subject=subject.parameters,
                moved=subject.moved,
                epsilon=tolerance,
                delta=tolerance,
                kappa=dyadic(kappa * (1 + 1e-9), 50) / subject.unit,
                vectors=(_parameters(subject, [dyadic(float(z), 45) for z in direction]),),
            )
            proof = certified(problem, subject.given, certificate)
            if proof is not None:
                return proof
    return None


def _inwards(problem: Problem, subject: _Subject, direction: np.ndarray) -> np.ndarray:
    """A direction (k c + k,) along which every constraint gets room, of about the size of theta.

    For max-margin that is theta. Within a tolerance it is the least one whose product with the gradient of each
    constraint that has little room is 1, at the kink slopes that `direction` favours.
    """
    model = subject.model
    if has_margin(problem.goal) and model.levels is None:
        return model.scaling()
    ahead, ends = model.best_ends(direction)
    units, levels = model.units(), np.ones(len(direction)) if model.levels is None else model.levels
    near = np.flatnonzero(
        (model.slacks <= float(problem.fit_tolerance / subject.unit**2) / 10) & (ahead > -1e-6 * units)
    )
    lines = np.array([model.gradient(int(i), ends[:, i]) * levels / units[i] for i in near])
    found = np.linalg.lstsq(lines.reshape(len(near), len(direction)), np.ones(len(near)), rcond=1e-10)[0]
    return found * levels


def _parameters(subject: _Subject, direction: list[Fraction]) -> Rows:
    """A direction (k c + k,) as parameters of the architecture."""
    k, c = subject.model.weights.shape
    masks = subject.network.architecture.masks
    hidden = tuple(direction[j * c + column] for j, mask in enumerate(masks) for column in mask)
    return hidden, tuple(direction[k * c :])


def _min_norm_separators(problem: Problem, subject: _Subject, tolerance: Fraction) -> NotStationary | None:
    """One separating vector per sign branch, made exactly orthogonal to every gradient.

    Two families are: (w_j, -v_j) for each neuron (it is unbalanced), and vectors without output part, but of constant
    neurons (w_j = 0, v_j = 0 with a free bias), that are orthogonal to the gradients with respect to those weights.
    """
    from solvers.kkt.residual import fit_multipliers

    points = _kink_points(problem, subject)
    vectors = []
    for negative in _sign_vectors(points):
        fit = fit_multipliers(subject.model, 1.0, free_signs=True, negative=negative)
        direction = _orthogonal(problem, subject, fit, negative)
        if direction is None:
            return None
        vectors.append(direction)
    if not vectors:
        return None
    certificate = NotStationary(
        subject=subject.parameters,
        moved=subject.moved,
        epsilon=tolerance,
        delta=Fraction(0),
        kappa=Fraction(0),
        vectors=tuple(vectors),
    )
    return certified(problem, subject.given, certificate)


def _orthogonal(problem: Problem, subject: _Subject, fit: KktFit, negative: frozenset[int]) -> Rows | None:
    network, model = subject.network, subject.model
    k, c = model.weights.shape
    z = fit.residual
    outgoing = network.output_weights
    shares: list[Fraction] = []
    flat = z[: k * c].reshape(k, c).copy()
    for j in range(k):  # z_w + (z_v / v) w has no output part left
        share = dyadic(float(-z[k * c + j] / model.outgoing[j]), 30) if model.outgoing[j] else Fraction(0)
        shares.append(share / subject.unit)
        flat[j] -= float(share) * model.weights[j]
    place = [(j, column) for j, mask in enumerate(network.architecture.masks) for column in mask]
    constant = [j for j in range(k) if not outgoing[j] and any(network.hidden_weights[j])]
    kinks = set(subject.kinks)
    lines: list[list[Fraction]] = []
    levels = np.ones((k, c)) if model.levels is None else model.levels[: k * c].reshape(k, c)
    ends, units = {sign: model.best_ends(sign * z) for sign in (1, -1)}, model.units()
    for i in range(len(problem.rows)):
        poll()
        here = [j for j in range(k) if (i, j) in kinks and outgoing[j] != 0]
        slopes = [Fraction(1) if (model.on[j, i] or (j in here)) else problem.architecture.slope for j in range(k)]
        if here:
            gain, best = ends[-1 if i in negative else 1]
            if gain[i] < -1e-9 * units[i]:
                continue
            slopes = [
                (Fraction(1) if best[j, i] else problem.architecture.slope) if j in here else slopes[j]
                for j in range(k)
            ]
        heads = [slopes[j] * dot(network.hidden_weights[j], problem.rows[i]) for j in constant]
        lines.append([*(outgoing[j] * slopes[j] * problem.rows[i][column] for j, column in place), *heads])
        reach = 1e-7 * norms(model.rows[i] * levels)
        level = [q for q in here if abs(float(model.rows[i] @ flat[q])) <= reach[q]]  # both ends active: each stays so
        idle = [Fraction(0)] * len(constant)
        lines += [[*(problem.rows[i][column] if j == q else Fraction(0) for j, column in place), *idle] for q in level]
    start = [dyadic(float(value), 30) for value in (*(flat[j, column] for j, column in place), *z[k * c :][constant])]
    zeros = [Fraction(0)] * len(start)
    sizes = [Fraction(float(levels[j, column])) for j, column in place] + [Fraction(1)] * len(constant)
    level_lines = [[entry * size for entry, size in zip(line, sizes, strict=True)] for line in lines]
    correction = solve_by_few(level_lines, [-dot(line, start) for line in lines]) if lines else zeros
    if correction is None:
        return None
    found = [value + change * size for value, change, size in zip(start, correction, sizes, strict=True)]
    weights = network.hidden_weights
    hidden = [value + shares[j] * weights[j][column] for value, (j, column) in zip(found, place, strict=False)]
    heads = dict(zip(constant, found[len(place) :], strict=True))
    return tuple(hidden), tuple(
        heads.get(j, -share * v) for j, (share, v) in enumerate(zip(shares, outgoing, strict=True))
    )
