"""From a problem to the closed form of its optimum, with the certificates that prove it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import cast

from verify.checker.bounds import LowerBound, UpperBound
from verify.checker.certificate import Certificate
from verify.checker.optimal import OptimalWithin
from verify.checker.stationary import Stationary
from verify.deciders.closed_forms.active_set import ActiveSet, direction_of, find_active_set
from verify.deciders.closed_forms.exact_trees import exact_lower_bound, kink_products
from verify.deciders.closed_forms.expressions import closed_form
from verify.deciders.closed_forms.networks import amplitudes, distance_bound, own_network, upper_bound
from verify.deciders.closed_forms.polishing import polish
from verify.deciders.closed_forms.recognition import MOST_DEGREE, in_digits, recognise, root_in_digits
from verify.deciders.closed_forms.records import Symbolic, SymbolicNeuron
from verify.deciders.proposal import certified, sealed
from verify.deciders.time_limits import poll
from verify.numbers.floats import float_rows
from verify.problem.members import has_margin, is_free, trains_all
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["find_closed_forms"]

FREE_ACCURACY = (Fraction(1, 10), Fraction(1, 1000))
"""How near to its float value a multiplier stays that the optimality conditions leave free."""

SAME = (1e-3, 1e-6, 1e-9)
"""Distances below which two directions are tried to be one."""

MOST_DIRECTIONS = 40


def find_closed_forms(problem: Problem, network: Network) -> Symbolic:
    """The best objective over all widths as a formula, with proofs; or the reason why there is none.

    When the architecture of `network` has room for an optimal network and its weights lie in a small field as well,
    there are also proofs that this one, in exact numbers, is stationary and optimal.

    For small problems of depth 2 without sharing, both layers trained, no free bias. Incomplete: fields of degree up
    to 8, and an active set that floats can tell.
    """
    limits = problem.architecture.limits()
    if limits is not None or not trains_all(problem.trained):
        return Symbolic(reason=limits or "closed forms are sought where all layers are trained")
    if is_free(problem.bias):
        return Symbolic(reason="closed forms are not sought yet when the bias is free")
    if problem.fit_tolerance:
        return Symbolic(reason="closed forms are not sought with a fit tolerance")
    reasons: list[str] = []
    tried: list[object] = []
    for same in SAME:
        poll()
        active = find_active_set(problem, same)
        if isinstance(active, str):
            return Symbolic(reason=active)
        if active.key in tried:
            continue
        tried.append(active.key)
        for accuracy in FREE_ACCURACY:
            found = _prove(problem, active, accuracy)
            if not isinstance(found, _Failure):
                return _record(problem, network, *found)
            reasons.append(found.reason)
            if found.is_final:
                break
    return Symbolic(reason=reasons[0])


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a closed form was not found; is_final: whether another choice of free unknowns would not help."""

    reason: str
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class _Optimum:
    """An active set with exact numbers: multipliers of the support, unit vectors of the directions, amplitudes."""

    active: ActiveSet
    multipliers: list[Fraction]
    vectors: list[list[Fraction]]
    sizes: dict[int, Fraction]


def _prove(
    problem: Problem, active: ActiveSet, accuracy: Fraction
) -> tuple[_Optimum, LowerBound, UpperBound] | _Failure:
    """The optimum in closed form with its two bounds; or why not."""
    rows = float_rows(problem)
    while len(active.directions) <= MOST_DIRECTIONS:
        poll()
        polished = polish(problem, active, accuracy)
        if polished is None:
            return _Failure("the optimality conditions could not be solved to many digits", is_final=True)
        exact = recognise([*chain(*polished.vectors), *polished.multipliers])
        if exact is None:
            reason = f"its numbers lie in no field of degree at most {MOST_DEGREE} with short coefficients"
            return _Failure(reason, polished.is_determined)
        multipliers, vectors = _split(exact, active)
        lower = exact_lower_bound(problem, active.support, multipliers, active.directions, vectors)
        if lower is None:
            return _Failure("no tree proves the bound that the closed form would have", polished.is_determined)
        if not isinstance(lower, LowerBound):  # the dual function is 1 along another direction too
            missing = direction_of(rows, lower.mask, lower.sign, lower.vector)
            active = replace(active, directions=(*active.directions, missing))
            continue
        margin = has_margin(problem.goal)
        points = list(active.support) if margin else list(range(len(problem.data)))
        sizes = amplitudes(problem, active.directions, vectors, points)
        if sizes is None:
            return _Failure("no network was found that attains the bound exactly", polished.is_determined)
        proved = certified(problem, None, lower)
        attained = certified(problem, None, upper_bound(problem, active.directions, vectors, sizes))
        if proved is None or attained is None or proved.bracket[0] != attained.bracket[1]:
            return _Failure("the checker refused the closed form", polished.is_determined)
        return _Optimum(active, multipliers, vectors, sizes), proved, attained
    return _Failure("too many directions reach the bound")


def _split(exact: list[Fraction], active: ActiveSet) -> tuple[list[Fraction], list[list[Fraction]]]:
    """Multipliers and unit vectors out of one list."""
    size = len(active.support)
    flat = exact[:-size]
    columns = len(flat) // len(active.directions)
    return exact[-size:], [flat[start : start + columns] for start in range(0, len(flat), columns)]


def _record(problem: Problem, network: Network, optimum: _Optimum, lower: LowerBound, upper: UpperBound) -> Symbolic:
    directions = optimum.active.directions
    certificates: dict[str, Certificate] = {"symbolic-lower-bound.json": lower, "symbolic-upper-bound.json": upper}
    own = _about_own_network(problem, network, optimum)
    certificates |= own
    exact = upper.bracket[1] or Fraction(0)
    return Symbolic(
        value=closed_form(exact),
        exact=exact,
        multipliers=tuple(
            (i, closed_form(m)) for i, m in zip(optimum.active.support, optimum.multipliers, strict=True)
        ),
        neurons=tuple(
            SymbolicNeuron(
                sign=directions[q].sign,
                amplitude=closed_form(size),
                direction=tuple(map(closed_form, optimum.vectors[q])),
            )
            for q, size in optimum.sizes.items()
        ),
        certificates=certificates,
        moved=min((proof.moved for proof in own.values()), default=None) if len(own) == 2 else None,
    )


def _about_own_network(problem: Problem, network: Network, optimum: _Optimum) -> dict[str, Stationary | OptimalWithin]:
    """`stationary` and `optimal-within` 0 for the optimal network in the given architecture, where that can be said."""
    active, sizes = optimum.active, list(optimum.sizes.values())
    numbers = [*chain(*optimum.vectors), *optimum.multipliers]
    exact = recognise([*map(in_digits, numbers), *map(root_in_digits, sizes)])
    if exact is None:
        return {}
    multipliers, vectors = _split(exact[: len(numbers)], active)
    roots = dict(zip(optimum.sizes, exact[len(numbers) :], strict=True))
    placed = own_network(problem, network, active.directions, vectors, roots)
    if placed is None or (moved := distance_bound(placed[0], network)) is None:
        return {}
    products: dict[tuple[int, int], Fraction] = {}
    for j, q in enumerate(placed[1]):
        if q is not None:
            found = kink_products(problem, active.support, multipliers, active.directions[q], vectors[q])
            products |= {(i, j): value for i, value in (found or {}).items()}
    lower = exact_lower_bound(problem, active.support, multipliers, active.directions, vectors)
    if not isinstance(lower, LowerBound):
        return {}
    stationary = Stationary(
        subject=placed[0].parameters,
        moved=moved,
        multipliers=lower.multipliers,
        kink_products=tuple((i, j, value) for (i, j), value in sorted(products.items())),
    )
    bound = cast("LowerBound", sealed(problem, None, lower))
    within = OptimalWithin(subject=placed[0].parameters, moved=moved, tolerance=Fraction(0), lower=bound)
    named: dict[str, Stationary | OptimalWithin] = {
        "symbolic-stationary.json": stationary,
        "symbolic-global-optimum.json": within,
    }
    proofs = {name: certified(problem, network, certificate) for name, certificate in named.items()}
    return {name: proof for name, proof in proofs.items() if proof is not None}
