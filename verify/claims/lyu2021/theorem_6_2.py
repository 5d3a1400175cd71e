"""Theorem 6.2 of arXiv:2110.13905, section 6.

    data: separable with max-margin separator w*, and the hints H w*, epsilon w* + K w_, epsilon w* - K w_ of label 1,
    w_ orthogonal to w*; H, K large, epsilon small; |a_k| = |w_k|, Gaussian, sigma small
        ==>  f at unit norm -> s(<w*, x>)/2,  s the leaky ReLU,  with probability >= 1 - 2^-m

and this classifier is along a KKT direction whose margin is not the largest.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from verify.checker.exact import dot, sqrt_upper
from verify.claims.conclusions import is_global, judged
from verify.claims.decisions import global_exactly, own_width_exactly, stationary
from verify.claims.lyu2021.hints import has_small_hints, has_wide_hints, is_one_neuron
from verify.claims.lyu2021.scales import at_two_scales
from verify.claims.lyu2021.symmetric import is_leaky, separator
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Outcome, Variant, failed
from verify.claims.theorems import run_alone
from verify.claims.trainings import after, nearly_audited, trained
from verify.deciders.finding import Verdict
from verify.numbers.floats import to_float, to_floats, to_matrix
from verify.problem.network import Network
from verify.problem.problem import Dataset, Problem, objective
from verify.strategies import hinted, hinted_starts, random_hinted_start

__all__ = [
    "ALLOWED",
    "CLAIMS",
    "STOP_AT",
    "TILTS",
    "ends_at_one_neuron",
    "ends_at_the_best",
    "has_far_hint",
    "is_balanced",
    "is_hinted_start",
    "is_live",
    "is_suboptimal_kkt",
    "is_tiny",
    "posed_at_separator",
    "replace_data",
]

STOP_AT = 1e-5
"""KKT residuals at which training ends, relative to the norm."""


ALLOWED = Fraction(3, 100)
"""Of the classifier's distance, relative: ten times the square root of the residuals at the end."""


def is_suboptimal_kkt(instance: Instance) -> Judgement:
    """A KKT point that another network beats."""
    first = judged(stationary(instance))
    if first.outcome is not Outcome.HELD:
        return first
    return judged(global_exactly(instance), Verdict.REFUTED)


def posed_at_separator(instance: Instance) -> Instance:
    """The instance with neurons along w* in place of its network, all alike, as many as it has.

    w* is the direction of the first point; where that has an irrational norm, the neurons are not quite balanced.
    """
    first = instance.data.inputs[0]
    size = sqrt_upper(dot(first, first))  # exact where it is rational
    row, width = [x / size for x in first], instance.network.width
    network = Network.two_layer([row] * width, [1] * width, slope=instance.slope)
    return Instance(instance.problem, network)


def is_hinted_start(instance: Instance) -> bool:
    """The points H w, e w + K w_, e w - K w_ of label 1, and then separable data whose max-margin separator is w."""
    data = instance.data
    if not is_leaky(instance) or len(data) < 4 or data.targets[:3] != (1, 1, 1):
        return False
    far, up, down = data.inputs[:3]
    total = [p + q for p, q in zip(up, down, strict=True)]
    apart = [p - q for p, q in zip(up, down, strict=True)]
    w = separator(Instance(replace_data(instance, Dataset(data.inputs[3:], data.targets[3:])), instance.network))
    return (
        w is not None and dot(apart, far) == 0 and any(apart)
        and all(dot(v, far) > 0 and dot(v, far) ** 2 == dot(v, v) * dot(far, far) for v in (total, w))
    )  # fmt: skip


def replace_data(instance: Instance, data: Dataset) -> Problem:
    """The instance's problem on other data."""
    problem = instance.problem
    return Problem(data, problem.architecture, goal=problem.goal, bias=problem.bias)


def is_balanced(instance: Instance) -> bool:
    """|v_k| = |w_k| > 0."""
    network = instance.network
    pairs = zip(network.hidden_weights, network.output_weights, strict=True)
    return all(v and v * v == dot(row, row) for row, v in pairs)


def is_live(instance: Instance) -> bool:
    """Some output weight is positive, and the weights into that neuron are no multiple <= 0 of w*.

    A neuron of direction -w* exactly shrinks to 0 where nothing pushes it aside.
    """
    network, far = instance.network, instance.data.inputs[0]
    return any(
        v > 0 and (dot(row, far) > 0 or dot(row, far) ** 2 != dot(row, row) * dot(far, far))
        for row, v in zip(network.hidden_weights, network.output_weights, strict=True)
    )


def is_tiny(instance: Instance) -> bool:
    """|w_k|^2 |x_i| <= 10^-6."""
    reach = max(dot(row, row) for row in instance.data.inputs)
    return all(dot(row, row) ** 2 * reach <= Fraction(1, 10**12) for row in instance.network.hidden_weights)


def has_far_hint(instance: Instance) -> bool:
    """a H e >= 2 K (K + R), R the sum of the 1-norms of the other points' parts orthogonal to w*.

    Then near 0, on the side w*.u > 0 and wherever its kinks are, a neuron of direction u is pushed along a vector with
    a part of at least H along w* and of at most K + R across: it ends in the cone between the kinks of the two hints.
    """
    data, a = instance.data, instance.slope
    far, up, down = data.inputs[:3]
    square = dot([p - q for p, q in zip(up, down, strict=True)], [p - q for p, q in zip(up, down, strict=True)]) / 4
    across = Fraction(0)
    for row in data.inputs[3:]:
        share = dot(row, far) / dot(far, far)
        across += sum((abs(x - share * y) for x, y in zip(row, far, strict=True)), Fraction(0))
    left = a * dot(up, far) - 2 * square
    return left >= 0 and left * left >= 4 * square * across * across


def ends_at_one_neuron(instance: Instance) -> Judgement:
    """The flow ends at s(<w*, x>)/2, which has a suboptimal margin, with a certificate about that limit itself.

    From a thousandth of the start as well. For two neurons or more, another network of that width is better too.
    """
    return at_two_scales(instance, _ends_at_one_neuron)


def _ends_at_one_neuron(instance: Instance) -> Judgement:
    return after(instance, trained(instance, stop_at=STOP_AT), _is_the_one_neuron)


def _is_the_one_neuron(end: Instance) -> Judgement:
    distance = _from_one_neuron(end)
    if distance > ALLOWED:
        return failed(f"the classifier at the end is {to_float(distance):.2g} from s(<w*, x>)/2", measured=distance)
    limit = posed_at_separator(end)
    first = judged(global_exactly(limit), Verdict.REFUTED)
    if first.outcome is not Outcome.HELD or end.network.width == 1 or _is_beaten_by_two(limit):
        return Judgement(first.outcome, first.reason, distance)
    second = judged(own_width_exactly(limit), Verdict.REFUTED)
    return Judgement(second.outcome, second.reason, distance)


def ends_at_the_best(instance: Instance) -> Judgement:
    """The flow ends at a network that no other beats by 1 % of the norm, with a certificate."""
    nearly = partial(nearly_audited, tolerance=Fraction(1, 100))
    return after(instance, trained(instance, stop_at=STOP_AT), lambda end: judged(nearly(end).global_any_width))


TILTS = (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(5))


def _is_beaten_by_two(limit: Instance) -> bool:
    """Two neurons along w +- t w_, t = s e / K for some s > 1, have a smaller objective, exactly.

    On each of the two hints the one is on and the other off: both have ((1 + a) e + (1 - a) K t) c^2 / sqrt(1 + t^2),
    c^2 the product of a neuron's weights. The other points are where they were for small t.
    """
    up, down = limit.data.inputs[1:3]
    along = [(p + q) / 2 for p, q in zip(up, down, strict=True)]  # e w
    across = [(p - q) / 2 for p, q in zip(up, down, strict=True)]  # K w_
    known = objective(limit.problem, limit.network)
    shape = Network.two_layer([along, along], [1, 1], slope=limit.slope).architecture
    problem = Problem(limit.data, shape, goal=limit.problem.goal, bias=limit.problem.bias)
    for tilt in TILTS:
        share = tilt * dot(along, along) / dot(across, across)
        rows = [[p + side * share * q for p, q in zip(along, across, strict=True)] for side in (1, -1)]
        size = sqrt_upper(dot(rows[0], rows[0]))
        found = objective(problem, Network.two_layer(rows, [size, size], slope=limit.slope))
        if known is not None and found is not None and found < known:
            return True
    return False


def _from_one_neuron(end: Instance) -> Fraction:
    """A bound of |f(x) - s(<w*, x>)/2| on the unit sphere, relative to 1/2, at unit norm; in floats."""
    network = end.network
    W = to_matrix(network.hidden_weights)
    v = to_floats(network.output_weights)
    norm = float((W**2).sum() + (v**2).sum())
    if not norm:
        return Fraction(1)
    w = to_floats(end.data.inputs[0])
    w /= np.linalg.norm(w)
    sizes, positive = np.linalg.norm(W, axis=1), v > 0
    total = abs(float((v * sizes)[positive].sum()) / norm - 0.5)
    total += float((-v * sizes)[~positive].sum()) / norm
    total += float((v[positive] * np.linalg.norm(W[positive] - sizes[positive, None] * w, axis=1)).sum()) / norm
    return Fraction(2 * total).limit_denominator(10**9)


_HINTED = {
    "small-epsilon": lambda instance: has_small_hints(posed_at_separator(instance)),
    "large-K": lambda instance: has_wide_hints(posed_at_separator(instance)),
    "large-H": has_far_hint,
    "balanced": is_balanced,
    "small": is_tiny,
}


_LARGE = (
    "large and small enough (ours): K^2/e^2 > (3 + a)/(1 - a), e below the leaky margin of the other points, a H e >= "
    "2 K (K + R), R the sum of the 1-norms of their parts orthogonal to w*; weights of 1e-8 to 1e-6, and 10^3 times "
    "smaller"
)


CLAIMS = (
    Claim(
        id="lyu2021.thm6.2",
        source="arXiv:2110.13905, Theorem 6.2",
        statement="On hinted data gradient flow from a small balanced Gaussian start converges to s(<w*, x>)/2 at unit "
        "norm, with a suboptimal margin, with probability at least 1 - 2^-m; m = 2.",
        setting=is_hinted_start,
        hypotheses=_HINTED,
        conclusion=ends_at_one_neuron,
        kind="chance",
        chance=Fraction(3, 4),
        trial=lambda random: Instance(*random_hinted_start(random, width=2)),
        sharp={
            "small-epsilon": "max-margin/lyu2021-theorem-6-2-large-epsilon-flow",
            "large-K": "max-margin/lyu2021-theorem-6-2-narrow-flow",
            "large-H": "max-margin/lyu2021-theorem-6-2-near-hint",
            "balanced": "max-margin/lyu2021-theorem-6-2-unbalanced",
            "small": "max-margin/lyu2021-theorem-6-2-large-start",
        },
        regime=f"{_LARGE}; three other points, in the plane; within 3 % of the classifier, in floats; a better network "
        "of any width and one of two neurons, with certificates",
        quantity="distance",
        trains=True,
        examples=40,
        could_fail=always,
        variants=(
            Variant(
                name="surely",
                statement="There it converges to s(<w*, x>)/2 with probability 1.",
                chance=Fraction(1),
            ),
        ),
    ),
    Claim(
        id="lyu2021.thm6.2.live",
        source="arXiv:2110.13905, Theorem 6.2",
        statement="That is so whenever some output weight is positive (and that neuron not along -w*).",
        setting=is_hinted_start,
        hypotheses={**_HINTED, "live": is_live},
        conclusion=ends_at_one_neuron,
        instances=hinted_starts().map(lambda drawn: Instance(*drawn)),
        sharp={
            "small-epsilon": "max-margin/lyu2021-theorem-6-2-large-epsilon-flow",
            "large-K": "max-margin/lyu2021-theorem-6-2-narrow-flow",
            "large-H": "max-margin/lyu2021-theorem-6-2-near-hint",
            "balanced": "max-margin/lyu2021-theorem-6-2-unbalanced",
            "small": "max-margin/lyu2021-theorem-6-2-large-start",
            "live": "max-margin/lyu2021-theorem-6-2-dead",
        },
        regime=f"{_LARGE}; 1 to 3 neurons; within 3 % of the classifier, in floats; a better network of any width, and "
        "of its own for two neurons or more, with certificates",
        quantity="distance",
        trains=True,
        examples=20,
        could_fail=always,
        variants=(
            Variant(
                name="best-margin",
                statement="There it converges to a classifier of the best margin.",
                conclusion=ends_at_the_best,
            ),
        ),
    ),
    Claim(
        id="lyu2021.thm6.2.point",
        source="arXiv:2110.13905, Theorem 6.2, last sentence",
        statement="On hinted data the classifier s(<w*, x>)/2 is a KKT point of suboptimal margin.",
        setting=is_one_neuron,
        hypotheses={"small-epsilon": has_small_hints, "large-K": has_wide_hints},
        conclusion=is_suboptimal_kkt,
        instances=hinted().map(Instance.of),
        sharp={
            "small-epsilon": "max-margin/lyu2021-theorem-6-2-large-epsilon",
            "large-K": "max-margin/lyu2021-theorem-6-2-narrow-hints",
        },
        regime="for K large and epsilon small enough (ours): K^2/epsilon^2 > (3 + a)/(1 - a), epsilon below the leaky "
        "margin of the other points; H does not matter; any width, not only its own; that the flow converges there is "
        "lyu2021.thm6.2",
        could_fail=always,
        variants=(
            Variant(
                name="best-margin",
                statement="On hinted data the classifier s(<w*, x>)/2 has the best margin.",
                conclusion=is_global,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
