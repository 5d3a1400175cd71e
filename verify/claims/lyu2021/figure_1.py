"""Figure 1 of arXiv:2110.13905, section 1: KKT directions with suboptimal margins, and better networks.

    left     data separable and symmetric:  some KKT direction is not linear, and its margin is smaller than the best
    middle   data not symmetric:            some KKT direction is linear, and one that is not has a larger margin
    right    hinted data of Theorem 6.2:    the same, and gradient flow goes there

Its data stand in an appendix that we could not read; these are ours. All with certificates.
"""

from __future__ import annotations

from fractions import Fraction

from verify.checker.exact import dot
from verify.claims.conclusions import is_global, judged
from verify.claims.decisions import audited, global_exactly, stationary
from verify.claims.lyu2021.hints import has_small_hints, has_wide_hints, is_one_neuron
from verify.claims.lyu2021.symmetric import SYMMETRIC, is_leaky
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Outcome, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.deciders.finding import Verdict
from verify.problem.network import Network
from verify.strategies import bent_networks, hinted

__all__ = ["CLAIMS", "bends", "is_beaten_by_bent", "is_bent_and_beaten", "is_steep"]


def bends(network: Network) -> bool:
    """The decision boundary is proved not to be linear: f(x) f(-x) > 0 at some x.

    f = u.x (1 + a)/2 + e(x) with u = sum v_k w_k and e(x) = (1 - a)/2 sum v_k |w_k.x|; at an x orthogonal to u both
    f(x) and f(-x) are e(x). With a linear boundary, f is 0 on it and of one sign on each side, f(x) f(-x) is never
    positive. Tried are the parts of the axes and of the w_k that are orthogonal to u: incomplete.
    """
    rows, weights = network.hidden_weights, network.output_weights
    total = [dot(weights, column) for column in zip(*rows, strict=True)]
    square = dot(total, total)
    axes = [[Fraction(i == j) for j in range(len(total))] for i in range(len(total))]
    for row in (*axes, *map(list, rows)):
        share = dot(row, total) / square if square else Fraction(0)
        x = [p - share * q for p, q in zip(row, total, strict=True)]
        if sum((v * abs(dot(w, x)) for w, v in zip(rows, weights, strict=True)), Fraction(0)):
            return network.architecture.slope != 1
    return False


def is_steep(instance: Instance) -> bool:
    """a (1 + S) <= (1 + a) (2 S^2 - 1), S the largest |sine| of a point to the separator w* (see `bent_networks`).

    With S^2 = c rational: a + 1 + a S <= 2 (1 + a) c. False where a point, or what would be w*, is 0: no angle then.
    """
    w = instance.network.hidden_weights[-1]
    if not any(w) or not all(map(any, instance.data.inputs)):
        return False
    squares = [1 - dot(x, w) ** 2 / (dot(x, x) * dot(w, w)) for x in instance.data.inputs]
    a, c = instance.slope, max(squares)
    rest = 2 * (1 + a) * c - (1 + a) - a
    return rest >= 0 and rest * rest >= a * a * c


def is_bent_and_beaten(instance: Instance) -> Judgement:
    """A KKT point, not linear, and another network has a larger margin. Measured: the better margin over its own."""
    if not bends(instance.network):
        return undecided("the decision boundary is not shown to be bent")
    return _beaten(instance)


def is_beaten_by_bent(instance: Instance) -> Judgement:
    """A KKT point, and a network without a linear boundary has a larger margin: how many times its own is measured."""
    if bends(instance.network):
        return failed("the decision boundary is not linear")
    found = _beaten(instance)
    if found.outcome is not Outcome.HELD:
        return found
    better = audited(instance).better
    if better is None or not bends(better):
        return undecided("the better network is not shown to be bent")
    return found


def _beaten(instance: Instance) -> Judgement:
    first = judged(stationary(instance))
    if first.outcome is not Outcome.HELD:
        return first
    found = audited(instance)
    second = judged(global_exactly(instance), Verdict.REFUTED)
    if second.outcome is not Outcome.HELD or found.bracket is None or found.objective is None:
        return second
    return held(second.reason, measured=found.objective / found.bracket[1])


CLAIMS = (
    Claim(
        id="lyu2021.fig1.left",
        source="arXiv:2110.13905, Figure 1, left",
        statement="Separable symmetric data can have KKT directions that are not linear and have a suboptimal margin.",
        setting=is_leaky,
        hypotheses={**SYMMETRIC, "steep": is_steep},
        conclusion=is_bent_and_beaten,
        instances=bent_networks().map(Instance.of),
        sharp={
            "symmetric": "max-margin/lyu2021-figure-1-one-side",
            "steep": "max-margin/lyu2021-figure-1-flat",
        },
        regime="a family in the plane (the paper's data could not be read): four points, and three neurons of which "
        "two are on kinks",
        quantity="margin of the better network over its own",
        could_fail=always,
        variants=(
            Variant(
                name="best-margin",
                statement="The KKT directions of separable symmetric data have the best margin.",
                conclusion=is_global,
            ),
        ),
    ),
    Claim(
        id="lyu2021.fig1.middle",
        source="arXiv:2110.13905, Figure 1, middle",
        statement="On data that are not symmetric a classifier with linear boundary can be along a KKT direction, with "
        "a smaller margin than one without.",
        setting=is_one_neuron,
        hypotheses={"small-epsilon": has_small_hints, "large-K": has_wide_hints},
        conclusion=is_beaten_by_bent,
        instances=hinted(first=False).map(Instance.of),
        sharp={
            "small-epsilon": "max-margin/lyu2021-figure-1-large-epsilon",
            "large-K": "max-margin/lyu2021-theorem-6-2-narrow-hints",
        },
        regime="a family (the paper's data could not be read): two points of label 1 far from w*, as in hinted data, "
        "and others; how much smaller the margin is, is measured",
        quantity="margin of the better network over its own",
        could_fail=always,
        variants=(
            Variant(
                name="best-margin",
                statement="The classifier with linear boundary has the best margin there.",
                conclusion=is_global,
            ),
        ),
    ),
    Claim(
        id="lyu2021.fig1.right",
        source="arXiv:2110.13905, Figure 1, right",
        statement="With three hints the classifier with linear boundary has a suboptimal margin, and one without a "
        "larger one.",
        setting=is_one_neuron,
        hypotheses={"small-epsilon": has_small_hints, "large-K": has_wide_hints},
        conclusion=is_beaten_by_bent,
        instances=hinted().map(Instance.of),
        sharp={
            "small-epsilon": "max-margin/lyu2021-theorem-6-2-large-epsilon",
            "large-K": "max-margin/lyu2021-theorem-6-2-narrow-hints",
        },
        regime="all hinted data of lyu2021.thm6.2.point; that the flow goes there is lyu2021.thm6.2",
        quantity="margin of the better network over its own",
        could_fail=always,
        variants=(
            Variant(
                name="best-margin",
                statement="With three hints the classifier with linear boundary has the best margin.",
                conclusion=is_global,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
