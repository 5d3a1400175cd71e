"""Optimal values as formulas, such as 8/sqrt(17), each with certificates that the checker accepted.

float optimum -> active set -> Newton to 200 digits -> one number field -> exact certificates without a gap. sympy and
mpmath only find the numbers; the checker substitutes them exactly. When no field of small degree is found, or a
certificate is refused, the answer is the reason why, never a guess.

Source: `docs/mathematics.md`, 9.1 "What is proved".
"""

from __future__ import annotations

from verify.deciders.closed_forms.records import ClosedForm, Symbolic, SymbolicNeuron
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["ClosedForm", "Symbolic", "SymbolicNeuron", "find_closed_forms"]


def find_closed_forms(problem: Problem, network: Network) -> Symbolic:
    """The best objective over all widths as a formula, with proofs; or the reason why there is none.

    When the architecture of `network` has room for an optimal network and its weights lie in a small field as well,
    there are also proofs that this one, in exact numbers, is stationary and optimal.

    For small problems of depth 2 without sharing, both layers trained, no free bias. Incomplete: fields of degree up
    to 8, and an active set that floats can tell.
    """
    from verify.deciders.closed_forms.search import find_closed_forms as find

    return find(problem, network)
