"""Lemma 3 of arXiv:2603.04895v2, section 3.2.

    argmin of (7) = argmin |w|^2 subject to w.x_i = max(y_i, 0) for i in S,  for some S that holds all i with y_i > 0

where (7) is to minimise 1/2 |w|^2 subject to w.x_i = y_i where y_i > 0, and w.x_i <= 0 elsewhere. The text that we
have lost its formulas; this is rebuilt from the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from verify.checker.exact import dot
from verify.claims.exact_programs import least_squares_norm
from verify.claims.lai2026.exact_descent import Vector
from verify.claims.lai2026.hypotheses import is_one_neuron
from verify.claims.records import Claim, Instance, Judgement, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_float, to_floats, to_matrix
from verify.strategies import one_neuron_problems

__all__ = ["CLAIMS", "is_linear_on_a_subset"]


def is_linear_on_a_subset(instance: Instance) -> Judgement:
    """The w of (7) is the least-norm w with w.x_i = max(y_i, 0) on some subset S that holds the positive labels.

    Every S is tried. Held: one such w meets (7), and its multipliers, >= 0 off the positive labels, prove that it is
    the best (weak duality). Failed: a point of (7), found in floats and repaired, is better than all of them.
    """
    data = instance.data
    positive = [i for i, y in enumerate(data.targets) if y > 0]
    others = [i for i, y in enumerate(data.targets) if y <= 0]
    best: Fraction | None = None
    for count in range(len(others) + 1):
        for more in combinations(others, count):
            rows = [data.inputs[i] for i in (*positive, *more)]
            values = [max(data.targets[i], Fraction(0)) for i in (*positive, *more)]
            found = least_squares_norm(rows, values, data.dimension)
            if found is None or any(dot(found[0], data.inputs[i]) > 0 for i in others):
                continue
            w, multipliers = found
            if all(m <= 0 for m in multipliers[len(positive) :]):
                return held(f"S = {sorted((*positive, *more))}")
            best = dot(w, w) if best is None else min(best, dot(w, w))
    better = _better_point(instance, positive, others)
    if better is not None and (best is None or better < best):
        return failed(f"a point of (7) has |w|^2 = {to_float(better):.6g}, every subset at least {best}")
    return undecided("no subset is proved to be best, and no better point was found")


def _better_point(instance: Instance, positive: Sequence[int], others: Sequence[int]) -> Fraction | None:
    """|w|^2 of an exact point of (7) near its float optimum."""
    from scipy.optimize import minimize

    data = instance.data
    x = to_matrix(data.inputs)
    y = to_floats(data.targets)
    limits = [{"type": "eq", "fun": lambda w: x[list(positive)] @ w - y[list(positive)]}] if positive else []
    limits += [{"type": "ineq", "fun": lambda w: -x[list(others)] @ w - 1e-9}] if others else []
    solved = minimize(lambda w: w @ w / 2, np.zeros(data.dimension), jac=lambda w: w, constraints=limits)
    guess = [Fraction(float(q)).limit_denominator(10**9) for q in solved.x]
    rows = [data.inputs[i] for i in positive]
    gaps = [data.targets[i] - dot(guess, data.inputs[i]) for i in positive]
    step = least_squares_norm(rows, gaps, data.dimension)
    if step is None:
        return None
    w: Vector = [a + b for a, b in zip(guess, step[0], strict=True)]
    return None if any(dot(w, data.inputs[i]) > 0 for i in others) else dot(w, w)


CLAIMS = (
    Claim(
        id="lai2026.lem3",
        source="arXiv:2603.04895v2, Lemma 3",
        statement="The least-norm weights of one neuron are those of linear regression on a subset that holds all "
        "positive labels, with the others set to 0.",
        setting=is_one_neuron,
        conclusion=is_linear_on_a_subset,
        instances=one_neuron_problems().map(Instance.of),
        regime="up to 4 points and dimensions; the text that we have lost its formulas, and (7) is rebuilt from it",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
