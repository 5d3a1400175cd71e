"""Phuong and Lampert, ICLR 2021, as arXiv:2110.13905 quotes it in section 2: orthogonally separable data.

    x_i.x_j > 0 where y_i = y_j, x_i.x_j <= 0 elsewhere; ReLU, a small balanced start, for each label a neuron of its
    sign that is on at one of its points  ==>  gradient flow converges in direction to the largest margin of any width

Of the statement only this is used: that it converges to a maximum of the margin. That each KKT point is one is
lyu2021.appH.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot, sqrt_upper
from verify.claims.conclusions import judged
from verify.claims.lyu2021.appendix_h import is_bent_margin_problem, is_orthogonally_separable, separable_points
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant
from verify.claims.theorems import run_alone
from verify.claims.trainings import after, nearly_audited, trained
from verify.problem.network import Network
from verify.problem.problem import Problem
from verify.strategies.numbers import times, unit_vectors

__all__ = ["CLAIMS", "ends_at_the_largest_margin", "has_seeing_neurons"]

NEARLY = Fraction(1, 100)
"""Of the objective: what a direction that is still turning may miss."""

STOP_AT = 1e-5
"""KKT residuals at which training ends, relative to the norm."""

SMALL = Fraction(1, 10**4)


def is_small_and_balanced(instance: Instance) -> bool:
    """|v_j| = |w_j| <= 1e-4, ReLU."""
    network = instance.network
    pairs = zip(network.hidden_weights, network.output_weights, strict=True)
    is_right = is_bent_margin_problem(instance) and not instance.slope
    return is_right and all(v * v == dot(w, w) <= SMALL**2 for w, v in pairs)


def has_seeing_neurons(instance: Instance) -> bool:
    """For each label a neuron of its sign that is on at one of its points."""
    network, data = instance.network, instance.data
    pairs = list(zip(network.hidden_weights, network.output_weights, strict=True))
    return all(
        any(v * label > 0 and dot(w, x) > 0 for w, v in pairs for x, y in points if y == label)
        for points in [list(zip(data.inputs, data.targets, strict=True))]
        for label in {*data.targets}
    )


def ends_at_the_largest_margin(instance: Instance) -> Judgement:
    """The network at the end is within 1 % of the best objective of any width, with a certificate."""

    def concluded(end: Instance) -> Judgement:
        return judged(nearly_audited(end, NEARLY).global_any_width)

    return after(instance, trained(instance, stop_at=STOP_AT), concluded)


@st.composite
def _starts(draw: DrawFn, *, is_seen: bool = True) -> Instance:
    """Points of `separable_points` and two to four small balanced neurons; one along a point of each label.

    is_seen: False turns the neurons of one label away from all of its points.
    """
    found = draw(separable_points())
    data, d = found.data, found.data.dimension
    labels = sorted({*data.targets})
    hidden: list[tuple[Fraction, ...]] = []
    outgoing: list[Fraction] = []
    for k, label in enumerate(labels):
        x = next(x for x, y in zip(data.inputs, data.targets, strict=True) if y == label)
        c = max(range(d), key=lambda c, x=x: abs(x[c]))
        way = tuple(Fraction((x[c] > 0) - (x[c] < 0)) if c == i else Fraction(0) for i in range(d))
        hidden.append(way if is_seen or k else times(-1, way))
        outgoing.append(Fraction(label))
    if is_seen:
        for _ in range(draw(st.integers(0, 2))):
            hidden.append(tuple(draw(unit_vectors(d))))
            outgoing.append(Fraction(draw(st.sampled_from([1, -1]))))
    factor = SMALL / draw(st.integers(1, 5))
    rows = [times(factor / sqrt_upper(dot(w, w)), w) for w in hidden]
    network = Network.two_layer(rows, [factor * v for v in outgoing])
    problem = Problem(data, network.architecture, goal=found.problem.goal, bias=found.problem.bias)
    return Instance(problem, network)


CLAIMS = (
    Claim(
        id="followups.phuong2021.flow",
        source="arXiv:2110.13905, section 2, of Phuong and Lampert 2021",
        statement="On orthogonally separable data gradient flow from a small balanced start with a neuron for each "
        "label that sees it converges in direction to the largest margin of any width.",
        setting=is_small_and_balanced,
        hypotheses={"orthogonally-separable": is_orthogonally_separable, "seen": has_seeing_neurons},
        conclusion=ends_at_the_largest_margin,
        instances=_starts(),
        sharp={
            "orthogonally-separable": "max-margin/followups-between-two-points",
            "seen": "max-margin/followups-unseen",
        },
        regime="ReLU, weights of at most 1e-4, two to four neurons; the margin at the end within 1 % of the best of "
        "any width, with a certificate; the paper's first claim in our words, as we have its text only from the other "
        "paper; what is asked of the start is our reading",
        trains=True,
        examples=60,
        could_fail=always,
        variants=(
            Variant(
                name="unseen",
                statement="That is so from every small balanced start.",
                dropped=("seen",),
                instances=_starts(is_seen=False),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
