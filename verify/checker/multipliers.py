"""Multipliers lambda_i as coefficients c_i of the dual function, and what they are worth."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import mul

from verify.checker.certificate import Sparse
from verify.checker.errors import require
from verify.checker.exact import common_integers
from verify.checker.goals import rules
from verify.checker.objectives import Objective
from verify.checker.statement import Problem


def coefficients(problem: Problem, multipliers: Sparse) -> dict[int, Fraction]:
    """c_i for the listed points; refuses indices out of range and signs that the goal does not admit."""
    goal = rules(problem.goal)
    signs = goal.loss(problem.fit_tolerance).signs
    for place, (i, value) in enumerate(multipliers):
        is_allowed = i < len(problem.targets) and (not value or (1 if value > 0 else -1) in signs)
        require(is_allowed, f"multipliers[{place}]", f"must be of one of {len(problem.targets)} points, not negative")
    common_integers([[value for _, value in multipliers]])  # refuses numbers that are too long together
    factors = goal.factors(problem.targets)
    return {i: value * factors[i] for i, value in multipliers}


def dual_value(problem: Problem, c: Mapping[int, Fraction]) -> Fraction:
    """D <= sum_i c_i f(x_i) for every network that fits (at margin 1)."""
    return rules(problem.goal).dual_value(c, problem.targets, problem.fit_tolerance)


def gap_of(problem: Problem, values: Sequence[Fraction], c: Mapping[int, Fraction], asked: Objective) -> Fraction:
    """sum_i phi_i(c_i) over all points, at these outputs; refuses multipliers that the loss does not admit."""
    for place, (i, value) in enumerate(c.items()):
        is_allowed = asked.loss.admits(problem.targets[i], value)
        require(is_allowed, f"multipliers[{place}]", "is beyond what the loss admits")
    pairs = enumerate(zip(problem.targets, values, strict=True))
    return sum((asked.gap(y, z, c.get(i, Fraction(0))) for i, (y, z) in pairs), Fraction(0))


def bound_of(problem: Problem, c: Mapping[int, Fraction], beta: Fraction) -> Fraction:
    """D(t c) with t beta <= m: a lower bound of the objective of every network where |h(u)| <= beta ||u||.

    As |h| <= m ||u|| for t c, its part sum_j |v_j| h(w_j) is at most what the neurons cost. For constraints D is
    homogeneous and m = 1: the bound is D(c) / beta. Whether t c is admissible is asked of t c, not of c.
    An output bias b adds 1/2 mu_b b^2 - b sum c_i to the cost, at least -(sum c_i)^2 / (2 mu_b), or 0 for sum c_i = 0;
    for constraints too, mu_b = 1 or 0, b that of the network at margin 1.

    Source: `docs/mathematics.md`, 14.2 "The bound for any width" and 14.6 "An output bias".
    """
    goal = rules(problem.goal)
    loss, t = goal.loss(problem.fit_tolerance), goal.least_scale(beta)
    scaled = {i: t * value for i, value in c.items()}
    for place, (i, value) in enumerate(scaled.items()):
        is_allowed = loss.admits(problem.targets[i], value)
        require(is_allowed, f"multipliers[{place}]", "is beyond what the loss admits, once scaled to the price")
    value, total = goal.dual_value(scaled, problem.targets, problem.fit_tolerance), sum(scaled.values(), Fraction(0))
    decay = problem.decay.output_bias
    if decay is None:
        return value
    require(decay > 0 or not total, "multipliers", "do not add up to 0, as a free output bias needs")
    return value - total**2 / (2 * decay) if decay else value


def combine(factors: Sequence[int], rows: Sequence[Sequence[int]]) -> list[int]:
    """The linear combination of rows; empty for none."""
    return [sum(map(mul, factors, column)) for column in zip(*rows, strict=True)]
