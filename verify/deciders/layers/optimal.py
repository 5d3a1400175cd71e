"""Is a layer a global optimum by itself: a tree of signs that bounds all others proves it, a better one refutes it.

In a case the least norm of the parameters that satisfy its terms g.u >= d is a bound from below. Where all units are
decided it is the best there is in the case, and a layer that fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, final

import numpy as np

from solvers.arrays import Floats
from solvers.programs.nonnegative import nonnegative_least_squares
from verify.checker.errors import CertificateError
from verify.checker.exact import dot, is_rational, squared_norm
from verify.checker.fit import slacks
from verify.checker.layer_facts import improved
from verify.checker.single_layers import (
    LayerBetter,
    LayerLeaf,
    LayerNodes,
    LayerNotLocal,
    LayerOptimal,
    Unit,
)
from verify.deciders.layers.terms import Path, SingleLayer, Term, gram, leaf_of, size_of, total
from verify.deciders.proposal import Proposal, certified
from verify.deciders.rounding import dyadic, solve_exactly
from verify.deciders.time_limits import poll
from verify.numbers.floats import to_float, to_matrix
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["BETTER_BY_ITSELF", "OPTIMAL_BY_ITSELF", "least_by_itself", "optimal_by_itself"]

OPTIMAL_BY_ITSELF = "no other parameters of the layer are better"
BETTER_BY_ITSELF = "other parameters of the layer are better"

MOST_LEAVES = 512
WORK = 5 * 10**4
"""Parameters of the layer times points times cases that are looked at, with those that are split, and 16 at least."""

STARTS, ROUNDS = 16, 8
"""Random parameters whose signs are tried, and how often the signs of what is found are."""

LARGEST = 4000
"""Parameters of the layer times points times units up to which other signs are tried."""

IMPROVEMENTS = 4
"""How often what a bound leaves above better parameters is looked for again."""

LARGER = (Fraction(1, 10), Fraction(1))
"""Tolerances within which a bound is tried where none within the one asked is found."""

USED = 1e-9
FLAT = 1e-7
"""A residual below which the terms of a case are taken to exclude each other."""


def optimal_by_itself(
    problem: Problem, network: Network, layer: int, tolerance: Fraction, down: LayerNotLocal | None = None
) -> Proposal:
    """A certificate that no other parameters are better by more than the tolerance, or parameters that are.

    down: a direction along which the layer is better, if one is known.
    """
    search = _GlobalTree(SingleLayer(problem, network, layer, near=False), tolerance)
    found = search.better(down)
    if found is not None:
        return Proposal(certificate=found, reason=BETTER_BY_ITSELF)
    nodes = search.proved({})
    if search.found is not None:
        return Proposal(certificate=search.found, reason=BETTER_BY_ITSELF)
    if nodes is None:
        return Proposal(reason=search.reason)
    for within in (Fraction(0), tolerance):
        accepted = certified(problem, network, LayerOptimal(layer=layer, nodes=nodes, tolerance=within))
        if accepted is not None:
            return Proposal(certificate=accepted, reason=OPTIMAL_BY_ITSELF)
    return Proposal(reason="the bound could not be made exact")


def least_by_itself(
    problem: Problem, network: Network, layer: int, tolerance: Fraction, better: LayerBetter | None
) -> Proposal:
    """A bound of how small the squared norm of the layer may be (`LayerOptimal`), and beside it the best parameters.

    better: parameters that are better by more than the tolerance; what a bound leaves above them is looked for again.
    Without, bounds within larger tolerances are tried.
    """
    own, current = squared_norm(network.parameters[layer]), network
    within = [tolerance] * IMPROVEMENTS if better is not None else [z for z in LARGER if z > tolerance]
    for allowed in within:
        poll()
        if better is not None:
            current = Network.of(improved(network, better))
        found = optimal_by_itself(problem, current, layer, allowed).certificate
        if isinstance(found, LayerBetter):
            proof = LayerBetter(layer=layer, parameters=found.parameters, tolerance=tolerance)
            better = certified(problem, network, proof) or better
        elif isinstance(found, LayerOptimal) and any(current.parameters[layer]):
            best = squared_norm(current.parameters[layer])
            room = (1 + found.tolerance) * own / best - 1
            bound = LayerOptimal(layer=layer, nodes=found.nodes, tolerance=room)
            return Proposal(certificate=certified(problem, network, bound), reason=OPTIMAL_BY_ITSELF, beside=better)
        elif better is not None:
            break
    return Proposal(reason="no bound was found", beside=better)


class _Least(NamedTuple):
    """The least parameters that satisfy terms, as a sum of them; square is None where none do.

    factors: as they weigh in that sum.   sizes: what each of them is times, exactly, as a factor of its term.
    square: the squared norm over that of `unit`, the scale of these parameters.
    """

    factors: Floats
    sizes: Sequence[Fraction]
    square: float | None
    unit: Fraction = Fraction(1)

    def factor(self, k: int) -> Fraction:
        """The factor of a term, nearly."""
        return dyadic(float(self.factors[k])) * self.sizes[k]

    def is_below(self, square: Fraction) -> bool:
        """Whether the squared norm is less, by more than rounding."""
        return self.square is not None and Fraction(self.square) * self.unit**2 < square * (1 - Fraction(1, 10**9))


@final
class _GlobalTree:
    """Trees and better parameters of one layer."""

    def __init__(self, layer: SingleLayer, tolerance: Fraction) -> None:
        self.layer, self.tolerance, self.leaves, self.looks = layer, tolerance, 0, 0
        self.most_looks = max(16, WORK // (len(layer.own) * len(layer.states) or 1))
        self.reason = "no better parameters were found, and the bound is lower"
        self.found: LayerBetter | None = None
        self.square = squared_norm(layer.own)
        self.points = sorted({i for i, _ in layer.constraints})

    # ------------------------------------------------------------------------------------------ better parameters

    def better(self, down: LayerNotLocal | None) -> LayerBetter | None:
        """Parameters that are better by more than the tolerance, by the signs of the layer's own and of random ones."""
        own = self.layer.own
        starts = [own]
        if down is not None:
            ahead = [z + down.until * d for z, d in zip(own, down.direction, strict=True)]
            starts.insert(0, tuple(ahead))
        units = sum(len(row) for row in self.layer.slopes[0]) or 1
        if len(own) * len(self.points) * units <= LARGEST:
            random = np.random.default_rng(0)
            unit = size_of(own)
            size = to_float(self.square / unit**2 / (len(own) or 1)) ** 0.5 or 1.0
            rows = (size * random.standard_normal((STARTS, len(own)))).tolist()
            starts += [tuple(unit * dyadic(z) for z in row) for row in rows]
        for start in starts:
            found = self._followed(start)
            if found is not None:
                return found
        return None

    def _followed(self, numbers: Sequence[Fraction]) -> LayerBetter | None:
        """Better parameters on the way from these to the best of their signs, then of the signs of those, and on."""
        best: LayerBetter | None = None
        for _ in range(ROUNDS):
            poll()
            path = self._signs(numbers)
            terms, _ = self.layer.terms(path)
            least = _least(terms, len(self.layer.own))
            if least is None or least.square is None:
                return best
            moved = next(self._points_of(terms, least), None)
            found = None if moved is None else self._tried(moved)
            if moved is None or (best is not None and found is None):
                return best
            if (
                found is not None
                and best is not None
                and squared_norm(found.parameters) >= squared_norm(best.parameters)
            ):
                return best
            best, numbers = found or best, moved
        return best

    def _signs(self, numbers: Sequence[Fraction]) -> dict[Unit, int]:
        """The sign of each unit at each point, with these parameters in the place of the layer; at 0 on."""
        shapes, path = self.layer.network.architecture.layers, dict[Unit, int]()
        for i in self.points:
            values = self.layer.states[i].inputs[self.layer.layer]
            for k in range(self.layer.layer, len(shapes) - 1):
                matrix = shapes[k].matrix(numbers) if k == self.layer.layer else self.layer.matrices[k]
                sums, a = [dot(row, values) for row in matrix], shapes[k].slope or Fraction(0)
                if a != 1:
                    path |= {(i, k, j): 1 if z >= 0 else -1 for j, z in enumerate(sums)}
                values = tuple(z if z > 0 else a * z for z in sums)
        return path

    def _points_of(self, terms: Sequence[Term], least: _Least) -> Iterator[tuple[Fraction, ...]]:
        """The least parameters, exactly where that is possible, and nearly."""
        used = [term for term, factor in zip(terms, least.factors, strict=True) if factor > 0]
        kept = used
        if not has_margin(self.layer.problem.goal) and not self.layer.problem.fit_tolerance:
            kept = [term for term in terms if term.sign > 0 or (term in used and not term.sign)]
        solved = solve_exactly(gram(kept), [term.value for term in kept]) if kept else None
        if solved is not None:
            yield total(kept, solved, len(self.layer.own))
        yield total(terms, list(map(least.factor, range(len(terms)))), len(self.layer.own))

    def _tried(self, numbers: Sequence[Fraction]) -> LayerBetter | None:
        """The certificate with these parameters, scaled to the margin of the layer."""
        layer = self.layer
        if layer.margin:
            parameters = list(layer.network.parameters)
            parameters[layer.layer] = tuple(numbers)
            try:
                margin = slacks(layer.problem, Network(layer.network.architecture, parameters))[0]
            except CertificateError:
                return None
            if not is_rational(margin):
                return None
            numbers = [z * (layer.margin / margin) for z in numbers]
        proof = LayerBetter(layer=layer.layer, parameters=tuple(numbers), tolerance=self.tolerance)
        return certified(layer.problem, layer.network, proof)

    # ------------------------------------------------------------------------------------------ trees

    def proved(self, path: Path) -> LayerNodes | None:
        """The nodes of a case; None where they are not found."""
        poll()
        self.looks += 1
        terms, blocked = self.layer.terms(path)
        least = _least(terms, len(self.layer.own))
        if least is None:
            return None
        leaf = self._closed(path, terms, least)
        if leaf is not None:
            self.leaves += 1
            return (leaf,)
        unit = self._next(path, terms, least, blocked)
        if unit is None:
            tried = (self._tried(numbers) for numbers in self._points_of(terms, least))
            self.found = next((proof for proof in tried if proof is not None), None)
            return None
        if self.leaves >= MOST_LEAVES or self.looks >= self.most_looks:
            self.reason = "no better parameters were found, and there are more cases of signs than are looked at"
            return None
        left = self.proved({**path, unit: 1})
        right = None if left is None else self.proved({**path, unit: -1})
        return None if left is None or right is None else (unit, *left, *right)

    def _closed(self, path: Path, terms: Sequence[Term], least: _Least) -> LayerLeaf | None:
        """A leaf whose bound is enough, if one is found; the tolerance is left for what is rounded."""
        if least.is_below(self.square / (1 + self.tolerance)):
            return None
        for pairs in self._factors(terms, least):
            p = total([term for term, _ in pairs], [z for _, z in pairs], len(self.layer.own))
            value = sum((z * term.value for term, z in pairs), Fraction(0))
            if (1 + self.tolerance) * (2 * value - squared_norm(p)) >= self.square:
                return leaf_of(self.layer, path, pairs)
        return None

    def _factors(self, terms: Sequence[Term], least: _Least) -> Iterator[list[tuple[Term, Fraction]]]:
        """Factors of terms: those of the least parameters, exactly and nearly; large ones where none satisfy them."""
        if not any(self.layer.own):
            yield []
        used = [k for k, factor in enumerate(least.factors) if factor > USED * least.factors.max()]
        chosen = [terms[k] for k in used]
        near = list(map(least.factor, used))
        if least.square is None:
            value = sum((z * term.value for term, z in zip(chosen, near, strict=True)), Fraction(0))
            for scale in (2, 1024):
                if value > 0:
                    yield [(term, z * scale * self.square / value) for term, z in zip(chosen, near, strict=True)]
            return
        solved = solve_exactly(gram(chosen), [term.value for term in chosen]) if chosen else None
        if solved is not None and min(solved) >= 0:
            yield list(zip(chosen, solved, strict=True))
        yield list(zip(chosen, near, strict=True))

    def _next(self, path: Path, terms: Sequence[Term], least: _Least, blocked: Sequence[Unit]) -> Unit | None:
        """The unit to decide: one that keeps a constraint out; else one of a constraint that is in use."""
        if blocked:
            return blocked[0]
        used = {term.point for term, factor in zip(terms, least.factors, strict=True) if factor > 0}
        open_units = self.layer.open_units(path, sorted(used))
        return next(open_units, None) or next(self.layer.open_units(path, self.points), None)


def _least(terms: Sequence[Term], size: int) -> _Least | None:
    """The least u with g.u >= d for all terms: the nonnegative least squares problem of (G, d) and (0, 1).

    None where floats fail.

    Source: C. L. Lawson, R. J. Hanson, Solving Least Squares Problems (1974), chapter 23: least distance programming.
    """
    if not terms:
        return _Least(np.zeros(0), (), 0.0)
    unit = _reach(terms)
    heights = [size_of([unit * size_of(term.gradient) * any(term.gradient), term.value]) for term in terms]
    pairs = list(zip(terms, heights, strict=True))
    rows = to_matrix([unit * z / height for z in term.gradient] for term, height in pairs)
    system = np.vstack([rows.T, to_matrix([[term.value / height for term, height in pairs]])])
    try:
        weights = nonnegative_least_squares(system, np.append(np.zeros(size), 1.0))
    except RuntimeError:
        return None
    rest = 1.0 - float(system[-1] @ weights)
    sizes = [unit**2 / height for height in heights]
    if rest < FLAT:
        return _Least(weights, sizes, None)
    u = rows.T @ (weights / rest)
    return _Least(weights / rest, sizes, float(u @ u), unit)


def _reach(terms: Sequence[Term]) -> Fraction:
    """How large parameters have to be for each term by itself, about: the scale of the least ones that satisfy all."""
    needed = [term.value / size_of(term.gradient) for term in terms if term.value > 0 and any(term.gradient)]
    return size_of([max(needed, default=Fraction(0))])
