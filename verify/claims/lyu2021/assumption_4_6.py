"""Assumption 4.6 of arXiv:2110.13905, section 4.2: starts from which gradient flow is unique.

    theta is no branching start if its neurons are two groups, a_k = |w_k| along one direction near mu/|mu| and
    a_k = -|w_k| along another one near -mu/|mu|

Measured: what moves a start by epsilon moves the flow by the order of epsilon. At a start on a kink from which the flow
is pushed to both sides a move by any epsilon changes it by as much as a large one: such a start branches, as the
paper's Appendix I.2, which we do not have, says that some do.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from solvers.arrays import Floats
from verify.claims.lyu2021.clocks import course
from verify.claims.lyu2021.growth import FLOATS, NO_NUMBERS, measured_in_floats
from verify.claims.lyu2021.lemma_5_3 import is_off_kinks
from verify.claims.lyu2021.symmetric import is_leaky
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.claims.trainings import with_weights
from verify.numbers.floats import to_matrix
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal
from verify.strategies import balanced_pairs
from verify.strategies.numbers import positive_rationals, unit_vectors
from verify.training.conversion import parameters_of

__all__ = ["CLAIMS", "MOVES", "branching_starts", "does_not_branch"]

MOVES = (1e-4, 1e-7)
"""epsilon, relative to the largest weight."""

TIME = 4.0
"""In units of 1 / X, X = max |x_i|."""


def does_not_branch(instance: Instance) -> Judgement:
    """Moves by epsilon to both sides, in three directions, end apart by the order of epsilon.

    Held where a move a thousand times smaller ends a hundred times nearer at least, failed where it ends no nearer
    than half as far and that is 1 % of the weights. Measured: how far apart it ends over epsilon, at the smaller one.
    """
    start = parameters_of(instance.network)
    reach = float(np.linalg.norm(to_matrix(instance.data.inputs), axis=1).max())
    random = np.random.default_rng(0)
    hidden = np.arange(len(start)) < len(start) - instance.network.width
    worst = 0.0
    for _ in range(3):
        way = random.standard_normal(len(start)) * hidden
        apart: list[float] = []
        for move in MOVES:
            step = move * float(np.abs(start).max()) * way / float(np.linalg.norm(way))
            one, other = (_end(instance, start + side * step, TIME / reach) for side in (1, -1))
            if one is None or other is None:
                return undecided("the flow ended before")
            distance = float(np.linalg.norm(one - other))
            apart.append(distance / float(np.linalg.norm(start)))
        if not np.isfinite(apart).all():
            return undecided(NO_NUMBERS)
        if apart[1] > max(apart[0] / 2, 1e-2):
            return failed(f"moves of {MOVES[0]:g} and {MOVES[1]:g} end {apart[0]:.2g} and {apart[1]:.2g} apart")
        if apart[1] > max(apart[0] / 100, FLOATS * 1e-4):
            return undecided("what a move changes is not of its order")
        worst = max(worst, apart[1] / MOVES[1])
    return held(f"a move ends {worst:.2g} times as far at most", measured=measured_in_floats(worst))


def _end(instance: Instance, theta: Floats, time: float) -> Floats | None:
    found = course(with_weights(instance, theta), time)
    return None if found is None else found(time)


@st.composite
def branching_starts(draw: DrawFn) -> Instance:
    """A balanced neuron s p, on the kink of the point q, and the point c q + p of the other label, a < c < 1.

    p and q are orthonormal. On the side of q the neuron is pushed towards q, as 1 > c, on the other one away from it,
    as a < c, by about as much while s is small: on the kink it can go either way.
    """
    p = draw(unit_vectors(2))
    q, a = (-p[1], p[0]), Fraction(draw(st.integers(1, 2)), 4)
    c, s = (1 + a) / 2, draw(positive_rationals(1)) / 10
    network = Network.two_layer([[s * x for x in p]], [s], slope=a)
    data = Dataset([q, [c * x + y for x, y in zip(q, p, strict=True)]], [1, -1])
    return Instance.posed(network, data, goal=Goal.MAX_MARGIN, bias=Bias.NONE)


CLAIMS = (
    Claim(
        id="lyu2021.assumption4.6",
        source="arXiv:2110.13905, Assumption 4.6 and, of branching, Appendix I.2",
        statement="Gradient flow from two balanced neurons off the kinks, of output weights of both signs, does not "
        "branch: a small move of the start moves it little.",
        setting=is_leaky,
        hypotheses={"off-kinks": is_off_kinks},
        conclusion=does_not_branch,
        instances=balanced_pairs().map(lambda drawn: Instance(*drawn)).filter(is_off_kinks),
        sharp={"off-kinks": "max-margin/lyu2021-assumption-4-6-branches"},
        regime="on symmetric data, one neuron in each group, anywhere on its side of w*; to t = 4 / X; moves by 1e-4 "
        "and 1e-7 in three directions and back; in floats",
        quantity="how far a move ends, over the move",
        trains=True,
        examples=60,
        could_fail=always,
        variants=(
            Variant(
                name="kinks",
                statement="That is so from every start.",
                dropped=("off-kinks",),
                instances=branching_starts(),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
