"""Lai, Wang, Tao, Muthukumar: How Does the ReLU Activation Affect the Implicit Bias of Gradient Descent on
High-dimensional Neural Network Regression? (arXiv:2603.04895v2). Only the hidden layer is trained.

One neuron, program (7): minimise 1/2 |w|^2 subject to w.x_i = y_i where y_i > 0, and w.x_i <= 0 elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from verify.claims.exact_programs import least_squares_norm
from verify.claims.predicates import is_relu
from verify.claims.records import Claim, Instance, Judgement, failed, held, undecided
from verify.exact import dot
from verify.exactify import rank
from verify.problem import Bias, Goal, Trained
from verify.strategies import one_neuron_problems

__all__ = ["CLAIMS"]

_PAPER = "arXiv:2603.04895v2, "
_Vector = Sequence[Fraction]


def _is_one_neuron(instance: Instance) -> bool:
    """Min-norm, one ReLU neuron with v > 0, only its w trained."""
    problem, network = instance.problem, instance.network
    is_right = problem.goal is Goal.MIN_NORM and problem.trained is Trained.HIDDEN and problem.bias is Bias.NONE
    return is_right and is_relu(instance) and network.width == 1 and network.output_weights == (1,)


def _is_independent(instance: Instance) -> bool:
    """The points are linearly independent, so that (7) has a solution."""
    return rank(instance.data.inputs) == len(instance.data)


def _is_linear_on_a_subset(instance: Instance) -> Judgement:
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
        return failed(f"a point of (7) has |w|^2 = {float(better):.6g}, every subset at least {best}")
    return undecided("no subset is proved to be best, and no better point was found")


def _better_point(instance: Instance, positive: Sequence[int], others: Sequence[int]) -> Fraction | None:
    """|w|^2 of an exact point of (7) near its float optimum."""
    from scipy.optimize import minimize

    data = instance.data
    x = np.array([[float(q) for q in row] for row in data.inputs])
    y = np.array([float(q) for q in data.targets])
    limits = [{"type": "eq", "fun": lambda w: x[list(positive)] @ w - y[list(positive)]}] if positive else []
    limits += [{"type": "ineq", "fun": lambda w: -x[list(others)] @ w - 1e-9}] if others else []
    solved = minimize(lambda w: w @ w / 2, np.zeros(data.dimension), jac=lambda w: w, constraints=limits)
    guess = [Fraction(float(q)).limit_denominator(10**9) for q in solved.x]
    rows = [data.inputs[i] for i in positive]
    gaps = [data.targets[i] - dot(guess, data.inputs[i]) for i in positive]
    step = least_squares_norm(rows, gaps, data.dimension)
    if step is None:
        return None
    w: _Vector = [a + b for a, b in zip(guess, step[0], strict=True)]
    return None if any(dot(w, data.inputs[i]) > 0 for i in others) else dot(w, w)


CLAIMS = (
    Claim(
        id="lai2026.lem3",
        source=f"{_PAPER}Lemma 3",
        statement="The least-norm weights of one neuron are those of linear regression on a subset that holds all "
        "positive labels, with the others set to 0.",
        setting=_is_one_neuron,
        hypotheses={"independent": _is_independent},
        conclusion=_is_linear_on_a_subset,
        instances=one_neuron_problems().map(Instance.of),
        regime="up to 4 points and dimensions; the text that we have lost its formulas, and (7) is rebuilt from it",
    ),
    Claim(
        id="lai2026.lem4",
        source=f"{_PAPER}Lemma 4",
        statement="The least-norm weights of a positive and a negative neuron solve a convex program of one pattern.",
        needs="fixed width with the hidden layer only",
    ),
    *(
        Claim(id=f"lai2026.{name}", source=f"{_PAPER}{place}", statement=statement, needs="training")
        for name, place, statement in (
            ("lem1", "Lemma 1", "After the last change of pattern gradient descent is that of linear regression."),
            ("lem2", "Lemma 2", "It converges to the projection of the current weights."),
            ("lem5", "Lemma 5", "A positive primal variable of the right sign stays positive."),
            ("lem6", "Lemma 6", "A very negative dual variable freezes."),
            ("lem9-12", "Lemmas 9 to 12", "The invariant conditions carry over from step to step."),
            ("thm1", "Theorem 1", "In high dimension one neuron ends as linear regression on the positive labels."),
            ("thm2", "Theorem 2", "Its distance to the least-norm solution is of order sqrt(n/|lambda|_1)."),
            ("thm3", "Theorem 3", "Two neurons end as linear regressions on their labels, or one of them does."),
            ("thm4", "Theorem 4", "Their distance to the least-norm solution is of that order, and never 0."),
            ("thm5", "Theorem 5", "Several neurons of each sign behave likewise."),
            ("thm6", "Theorem 6", "Their distance to the least-norm solution is bounded likewise."),
            ("appF", "appendix F", "Moderate dimensions: dynamics, and starts that leave a positive label inactive."),
        )
    ),
)
