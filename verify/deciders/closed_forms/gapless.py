"""A lower bound that equals the objective of a network, for questions that ask for the exact optimum (tolerance 0).

Float search leaves a gap, however small. Where the network is optimal, its own numbers often prove it without one.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from verify.checker.bounds import LowerBound
from verify.checker.dual_trees import Bound
from verify.checker.multipliers import coefficients, dual_value
from verify.deciders.closed_forms import find_closed_forms
from verify.deciders.proposal import certified
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

__all__ = ["gapless_bound"]


def gapless_bound(problem: Problem, subject: Network, multipliers: Iterable[tuple[int, Fraction]]) -> LowerBound | None:
    """An accepted bound of at least the objective of `subject`, or None.

    multipliers: (i, lambda_i), those of a proof that `subject` is a KKT point; used for linear networks.
    Linear networks: h(u) is linear, so that a KKT point with a nonzero neuron in every mask class is optimal by its
    own multipliers. Others: the closed form of the best objective, when one is found; no free bias there.

    Source: `docs/mathematics.md`, 5.6 "Linear networks" and 9.1 "What is proved".
    """
    mine = objective(problem, subject)
    if mine is None or problem.fit_tolerance:
        return None
    if problem.architecture.slope == 1:
        proof = _linear(problem, [(i, value) for i, value in multipliers if value])
        found = None if proof is None else certified(problem, None, proof)
    else:
        found = find_closed_forms(problem, subject).certificates.get("symbolic-lower-bound.json")
    if not isinstance(found, LowerBound) or found.bracket[0] is None or found.bracket[0] < mine:
        return None
    return found


def _linear(problem: Problem, multipliers: list[tuple[int, Fraction]]) -> LowerBound | None:
    """The bound with beta = 1 of multipliers for which ||sum c_i x_i|| <= 1 in every mask class."""
    value = dual_value(problem, coefficients(problem, tuple(multipliers)))
    if not multipliers or value <= 0:
        return None
    leaf = Bound((0,) * len(multipliers))
    return LowerBound(
        multipliers=tuple(multipliers),
        beta=Fraction(1),
        bracket=(value, None),
        denominator=1,
        trees=((leaf,),) * (2 * len(problem.mask_classes)),
    )
