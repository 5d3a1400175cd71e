"""Exact networks near the float directions of a search, and their exact objectives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from verify.deciders.estimates import Estimates, estimate, exact_objective
from verify.deciders.fit.interpolation import interpolate
from verify.deciders.fit.within_tolerance import within_tolerance
from verify.deciders.global_optimality.infeasibility import meetable_bias
from verify.deciders.global_optimality.record import zero_network
from verify.deciders.rounding import dyadic
from verify.deciders.time_limits import poll
from verify.deciders.witnesses import (
    at_output_bias,
    merge_directions,
    network_of_directions,
    norms,
    with_output_bias,
)
from verify.numbers.floats import to_float
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import Atoms, SearchOutcome
    from solvers.instance import ProblemInstance

__all__ = ["ExactObjectives", "exact_candidates", "networks_near"]

SHORT = 10**4
"""The largest denominator of a short output bias near the one that was found."""

DROPPED = (1e-4, 1e-6, 1e-8)
"""Neurons smaller than these parts of the largest are left out, in turn: an interior point leaves traces of all
columns."""


def exact_candidates(
    problem: Problem, instance: ProblemInstance, outcome: SearchOutcome
) -> Iterator[tuple[Atoms, Network]]:
    """Exact networks near those that the search found, with where they come from."""
    for atoms in (*outcome.candidates, *([] if outcome.own is None else [outcome.own])):
        for found in networks_near(problem, instance, atoms):
            poll()
            yield atoms, found


def networks_near(problem: Problem, instance: ProblemInstance, atoms: Atoms) -> Iterable[Network]:
    """Exact networks near the float directions: merged as far as possible, and as they are."""
    slope = to_float(problem.architecture.slope)
    sizes = norms(atoms.directions)
    if not sizes.any() and (problem.has_output_bias or not problem.asks_fit):
        yield with_output_bias(problem, zero_network(problem), dyadic(atoms.bias, 53))
    kept = {int((sizes > part * sizes.max(initial=0.0)).sum()): part for part in reversed(DROPPED)}
    kept.pop(0, None)
    for number, part in sorted(kept.items()):
        keep = sizes > part * sizes.max(initial=0.0)
        directions, signs = atoms.directions[keep], [int(s) for s in atoms.signs[keep]]
        masks = [int(m) for m in atoms.masks[keep]]
        merged = merge_directions(instance.rows, directions, signs, masks, slope, bias=problem.architecture.bias)
        if problem.asks_fit and not has_margin(problem.goal):
            guessed = within_tolerance if problem.fit_tolerance else interpolate
            for bias in _biases(problem, atoms.bias):
                for found in guessed(at_output_bias(problem, bias), *merged, wider=number == max(kept)):
                    yield with_output_bias(problem, found, bias)
            continue
        yield network_of_directions(problem, *merged, bias=atoms.bias)
        if len(merged[0]) < len(directions):
            yield network_of_directions(problem, directions, signs, masks, bias=atoms.bias)


def _biases(problem: Problem, bias: float) -> list[Fraction]:
    """Output biases near this one with which targets may be met; 0 where there is none."""
    if not problem.has_output_bias:
        return [Fraction(0)]
    near = dyadic(bias, 53)
    return list(dict.fromkeys((meetable_bias(problem, near), near.limit_denominator(SHORT))))


class ExactObjectives:
    """Exact objectives of many networks on the same data: only the points that floats leave in doubt cost something."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.like: Estimates | None = None

    def __call__(self, network: Network) -> Fraction | None:
        """The objective of one of them, None where it does not fit."""
        if not self.problem.asks_fit:
            return objective(self.problem, network)
        try:
            self.like = estimate(self.problem, network, self.like)
        except OverflowError:
            return objective(self.problem, network)
        return exact_objective(self.problem, network, self.like)
