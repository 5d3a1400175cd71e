"""Lyu, Li, Wang, Arora: Gradient Descent on Two-layer Nets: Margin Maximization and Simplicity Bias (arXiv:2110.13905).

||x_i|| <= 1, which the paper assumes, is a matter of units and not asked for. That gradient flow is unique where it has
to be (Assumptions 4.6 and A.6) is not decided: the flow that is followed is one of them.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from hypothesis import strategies as st

from verify.claims.lyu2021.hints import (
    ends_at_one_neuron,
    has_far_hint,
    has_small_hints,
    has_wide_hints,
    is_balanced,
    is_hinted_start,
    is_live,
    is_one_neuron,
    is_suboptimal_kkt,
    is_tiny,
    posed_at_separator,
)
from verify.claims.lyu2021.limits import (
    ends_at_best_margin,
    ends_at_one_sign,
    ends_at_pair,
    ends_linear,
    has_one_sign,
    is_balanced_pair,
    is_local_optimum,
    keeps_the_margin,
    loss_vanishes_at_kkt,
    on_one_side,
)
from verify.claims.lyu2021.phases import (
    aligns,
    commutes,
    follows_two_neurons,
    is_embedded,
    is_good,
    is_off_kinks,
    is_small,
)
from verify.claims.lyu2021.pictures import is_beaten_by_bent, is_bent_and_beaten, is_steep
from verify.claims.lyu2021.symmetric import (
    has_linear_optimum,
    has_width_two,
    is_general,
    is_leaky,
    is_separable,
    is_symmetric,
)
from verify.claims.predicates import is_margin_problem
from verify.claims.records import Claim, Instance
from verify.claims.trainings import has_loss_below
from verify.strategies import (
    balanced_pairs,
    bent_networks,
    embedded_pairs,
    hinted,
    hinted_starts,
    linear_networks,
    random_hinted_start,
    random_symmetric_start,
    separating_starts,
    symmetric_starts,
    wide_pairs,
)
from verify.strategies.small_starts import Start

__all__ = ["CLAIMS"]

_PAPER = "arXiv:2110.13905, "
_CASES = "max-margin/lyu2021-"


def _posed(start: Start) -> Instance:
    return Instance(*start)


def _three_neurons(random: Random) -> Instance:
    return Instance(*random_symmetric_start(random, width=3, decades=4))


def _two_neurons(random: Random) -> Instance:
    return Instance(*random_symmetric_start(random, width=2, decades=4))


_SYMMETRIC = {"symmetric": is_symmetric, "separable": is_separable}
_GENERAL = {**_SYMMETRIC, "general": is_general, "small": is_small}
_SMALL = (
    "weights 10^4 times smaller than the linear part of the flow needs, and 10^3 times smaller still; that the flow is "
    "unique is not decided"
)
_HINTED = {
    "small-epsilon": lambda instance: has_small_hints(posed_at_separator(instance)),
    "large-K": lambda instance: has_wide_hints(posed_at_separator(instance)),
    "large-H": has_far_hint,
    "balanced": is_balanced,
    "small": is_tiny,
}
_LARGE = (
    "large and small enough (ours): K^2/e^2 > (3 + a)/(1 - a), e below the leaky margin of the other points, a H e >= "
    "2 K (K + R), R the sum of the 1-norms of their parts orthogonal to w*; weights of 1e-8, and 10^3 times smaller"
)

CLAIMS = (
    Claim(
        id="lyu2021.thm3.1",
        source=f"{_PAPER}Theorem 3.1",
        statement="From a loss below ln 2 / n, gradient flow of the logistic loss makes the loss fall and the weights "
        "grow without end, and converges in direction to a KKT point.",
        hypotheses={"small-loss": lambda instance: has_loss_below(instance, Fraction(69, 100))},
        conclusion=loss_vanishes_at_kkt,
        instances=separating_starts().map(_posed),
        sharp={"small-loss": f"{_CASES}theorem-3-1-dead"},
        regime="networks of depth 2 without masks, of any slope, with or without biases; up to 200,000 gradients, to "
        "residuals of 5e-4 or an activation pattern that has settled; stationary up to 1e-3, with a certificate",
        trains=True,
        examples=20,
    ),
    Claim(
        id="lyu2021.thm4.2",
        source=f"{_PAPER}Theorem 4.2",
        statement="On separable symmetric data the best objective is 2/((1+a) g) with the linear margin g, and every "
        "optimal network of width >= 2 is (1+a)/4 <w*, x> at unit norm.",
        setting=is_margin_problem,
        hypotheses={**_SYMMETRIC, "width": has_width_two},
        conclusion=has_linear_optimum,
        instances=linear_networks().map(Instance.of),
        sharp={
            "symmetric": "max-margin/lyu2021-theorem-6-2-hinted",
            "separable": "max-margin/lyu2021-theorem-4-2-not-separable",
        },
        regime="all slopes 0 <= a <= 1, though the paper has 0 < a < 1; the value within 1e-7 from both sides; "
        "linearity of the optimal networks that are drawn, exactly",
    ),
    Claim(
        id="lyu2021.thm4.3",
        source=f"{_PAPER}Theorem 4.3",
        statement="From a small Gaussian start on separable symmetric data, gradient flow converges to the classifier "
        "(1 + a)/4 <w*, x> with probability at least 1 - 2^-(m-1); m = 3.",
        setting=is_leaky,
        hypotheses=_GENERAL,
        conclusion=ends_linear,
        kind="chance",
        chance=Fraction(3, 4),
        trial=_three_neurons,
        sharp={"symmetric": f"{_CASES}theorem-4-3-one-point"},
        regime=f"Gaussian weights of two decimals, c_ainit = 1; 2 to 4 random points and their antipodes in the plane "
        f"or in space; {_SMALL}; within 3 % of the classifier, in floats",
        quantity="distance",
        trains=True,
        examples=40,
    ),
    Claim(
        id="lyu2021.thm4.3.good",
        source=f"{_PAPER}Theorem 4.3 and Lemma 5.4",
        statement="That is so whenever the <w_k, mu> + a_k |mu| at the start have both signs and none is 0.",
        setting=is_leaky,
        hypotheses={**_GENERAL, "good": is_good},
        conclusion=ends_linear,
        instances=symmetric_starts(decades=st.just(4)).map(_posed),
        sharp={"symmetric": f"{_CASES}theorem-4-3-one-point", "good": f"{_CASES}theorem-4-3-one-sign"},
        regime=f"{_SMALL}; within 3 % of the classifier, in floats",
        quantity="distance",
        trains=True,
        examples=20,
    ),
    Claim(
        id="lyu2021.cor4.4",
        source=f"{_PAPER}Corollary 4.4",
        statement="From there gradient flow converges to a global-max-margin direction with probability at least "
        "1 - 2^-(m-1); m = 2.",
        setting=is_leaky,
        hypotheses=_GENERAL,
        conclusion=ends_at_best_margin,
        kind="chance",
        chance=Fraction(1, 2),
        trial=_two_neurons,
        sharp={"symmetric": f"{_CASES}theorem-4-3-one-point"},
        regime=f"as lyu2021.thm4.3; {_SMALL}; the margin at the end at least 0.999 of the best, exactly",
        quantity="margin over the best",
        trains=True,
        examples=40,
    ),
    Claim(
        id="lyu2021.cor4.4.one-sign",
        source=f"{_PAPER}Corollary 4.4, the other starts",
        statement="If the <w_k, mu> + a_k |mu| have one sign, the flow converges to one leaky neuron, with 2a/(1 + a) "
        "of the best margin: the probability is 1 - 2^-(m-1) exactly.",
        setting=is_leaky,
        hypotheses={**_GENERAL, "one-sign": has_one_sign},
        conclusion=ends_at_one_sign,
        instances=symmetric_starts(both_signs=False, least_width=1, decades=st.just(4)).map(_posed),
        sharp={"one-sign": f"{_CASES}corollary-4-4-both-signs"},
        regime=f"ours, not the paper's; {_SMALL}; the margin at the end within 1e-3 of that, exactly",
        quantity="margin over the best",
        trains=True,
        examples=20,
    ),
    Claim(
        id="lyu2021.lem5.2",
        source=f"{_PAPER}Lemma 5.2",
        statement="In phase I all neurons align: w_k = r b_k mu/|mu| and a_k = r b_k at T_1(r), with an error of at "
        "most C r^3 / sqrt(m).",
        setting=is_leaky,
        hypotheses={**_SYMMETRIC, "small": is_small},
        conclusion=aligns,
        instances=symmetric_starts(decades=st.integers(0, 3)).map(_posed),
        sharp={"symmetric": f"{_CASES}theorem-4-3-one-point"},
        regime="C is universal in the paper; here it is sqrt(2) (1 + X^2 / (4 l) (1 - X^2 r^2 / (2 l))^(-3/2)), X = "
        "max |x_i|, which is proved; l = (1 + a)/4 |mu|, half of what the paper has; r with sigma = r^3 / (sqrt(m) "
        "|theta|_M) and twice that, where 4 r^2 X^2 <= l for the first; in floats",
        quantity="error over its bound",
        trains=True,
        examples=200,
    ),
    Claim(
        id="lyu2021.lem5.3",
        source=f"{_PAPER}Lemma 5.3",
        statement="Embedding two neurons into a wide network commutes with the flow.",
        setting=is_leaky,
        hypotheses={"embedded": is_embedded, "off-kinks": is_off_kinks},
        conclusion=commutes,
        instances=embedded_pairs().map(_posed),
        regime="starts off the kinks in place of non-branching ones, on separable data, symmetric or not; to t = "
        "8 / X; up to 10 times what two tolerances of the integrator differ by, at least 1e-9",
        quantity="difference",
        trains=True,
        examples=100,
    ),
    Claim(
        id="lyu2021.lem5.4",
        source=f"{_PAPER}Lemma 5.4",
        statement="As sigma -> 0 the flow at T_12 + t tends to the embedding of a flow of two neurons, itself a limit "
        "as r -> 0, if b has both signs and no entry is 0.",
        setting=is_leaky,
        hypotheses={**_GENERAL, "good": is_good},
        conclusion=follows_two_neurons,
        instances=symmetric_starts().map(_posed),
        sharp={"symmetric": f"{_CASES}theorem-4-3-one-point"},
        regime="t = 0, 2/l and 4/l, l as in lyu2021.lem5.2; three scales, each 16 times smaller, by the rate of the "
        "error; r = 1e-2, 1e-3, 1e-5; in floats; that b is good has probability 1 - 2^-(m-1) by symmetry",
        quantity="last error",
        trains=True,
        examples=60,
    ),
    Claim(
        id="lyu2021.thm5.5",
        source=f"{_PAPER}Theorem 5.5",
        statement="On separable symmetric data two balanced neurons with a_1 > 0 > a_2 and <w_1, w*> > 0 > <w_2, w*> "
        "converge in direction to (w*, -w*, 1, -1)/2, of global max margin.",
        setting=is_leaky,
        hypotheses={**_SYMMETRIC, "balanced": is_balanced_pair, "sides": on_one_side},
        conclusion=ends_at_pair,
        instances=balanced_pairs().map(_posed),
        sharp={
            "symmetric": f"{_CASES}theorem-5-5-one-point",
            "balanced": f"{_CASES}theorem-5-5-equal-signs",
            "sides": f"{_CASES}theorem-5-5-one-side",
        },
        regime="the paper prints 1/4 for 1/2, which is not of unit norm; norms of the start from 1/400 to 4; within "
        "3 % of the direction, in floats, and the margin at least 0.999 of the best, exactly",
        quantity="distance",
        trains=True,
        examples=80,
    ),
    Claim(
        id="lyu2021.thm5.6",
        source=f"{_PAPER}Theorem 5.6",
        statement="From near a local-max-margin direction with a large norm, the flow converges near it, with the same "
        "margin.",
        setting=is_margin_problem,
        hypotheses={"local": is_local_optimum},
        conclusion=keeps_the_margin,
        instances=st.one_of(linear_networks(optimal=True), hinted(), wide_pairs(splits=True)).map(Instance.of),
        sharp={"local": "max-margin/tie-needs-clarke"},
        regime="networks of depth 2; the network is the local optimum, and the flow starts beside it, at two opposite "
        "points; delta = 1/10, epsilon = 3e-2, 1e-2, 3e-3, 1e-3 until it is small enough; the margin to 1e-3",
        quantity="distance over epsilon",
        trains=True,
        examples=20,
    ),
    Claim(
        id="lyu2021.thm6.2",
        source=f"{_PAPER}Theorem 6.2",
        statement="On hinted data gradient flow from a small balanced Gaussian start converges to s(<w*, x>)/2, with a "
        "suboptimal margin, with probability at least 1 - 2^-m; m = 2.",
        setting=is_hinted_start,
        hypotheses=_HINTED,
        conclusion=ends_at_one_neuron,
        kind="chance",
        chance=Fraction(3, 4),
        trial=lambda random: Instance(*random_hinted_start(random, width=2)),
        sharp={"large-K": f"{_CASES}theorem-6-2-narrow-flow", "large-H": f"{_CASES}theorem-6-2-near-hint"},
        regime=f"{_LARGE}; three other points, in the plane; within 3 % of the classifier, in floats; a better network "
        "of any width and one of two neurons, with certificates",
        quantity="distance",
        trains=True,
        examples=40,
    ),
    Claim(
        id="lyu2021.thm6.2.live",
        source=f"{_PAPER}Theorem 6.2",
        statement="That is so whenever some output weight is positive (and that neuron not along -w*).",
        setting=is_hinted_start,
        hypotheses={**_HINTED, "live": is_live},
        conclusion=ends_at_one_neuron,
        instances=hinted_starts().map(_posed),
        sharp={
            "large-K": f"{_CASES}theorem-6-2-narrow-flow",
            "large-H": f"{_CASES}theorem-6-2-near-hint",
            "live": f"{_CASES}theorem-6-2-dead",
        },
        regime=f"{_LARGE}; 1 to 3 neurons; within 3 % of the classifier, in floats; a better network of any width, and "
        "of its own for two neurons or more, with certificates",
        quantity="distance",
        trains=True,
        examples=20,
    ),
    Claim(
        id="lyu2021.thm6.2.point",
        source=f"{_PAPER}Theorem 6.2, last sentence",
        statement="On hinted data the classifier s(<w*, x>)/2 is a KKT point of suboptimal margin.",
        setting=is_one_neuron,
        hypotheses={"small-epsilon": has_small_hints, "large-K": has_wide_hints},
        conclusion=is_suboptimal_kkt,
        instances=hinted().map(Instance.of),
        sharp={"large-K": "max-margin/lyu2021-theorem-6-2-narrow-hints"},
        regime="K^2/epsilon^2 > (3 + a)/(1 - a), epsilon below the leaky margin of the other points; any width, not "
        "only its own; that the flow converges there is lyu2021.thm6.2",
    ),
    Claim(
        id="lyu2021.fig1.left",
        source=f"{_PAPER}Figure 1, left",
        statement="Separable symmetric data can have KKT directions that are not linear and have a suboptimal margin.",
        setting=is_leaky,
        hypotheses={**_SYMMETRIC, "steep": is_steep},
        conclusion=is_bent_and_beaten,
        instances=bent_networks().map(Instance.of),
        sharp={"steep": f"{_CASES}figure-1-flat"},
        regime="a family in the plane (the paper's data could not be read): four points, and three neurons of which "
        "two are on kinks",
        quantity="margin of the better network over its own",
    ),
    Claim(
        id="lyu2021.fig1.middle",
        source=f"{_PAPER}Figure 1, middle",
        statement="On data that are not symmetric a classifier with linear boundary can be along a KKT direction, with "
        "a smaller margin than one without.",
        setting=is_one_neuron,
        hypotheses={"small-epsilon": has_small_hints, "large-K": has_wide_hints},
        conclusion=is_beaten_by_bent,
        instances=hinted(first=False).map(Instance.of),
        sharp={"large-K": f"{_CASES}theorem-6-2-narrow-hints"},
        regime="a family (the paper's data could not be read): two points of label 1 far from w*, as in hinted data, "
        "and others; how much smaller the margin is, is measured",
        quantity="margin of the better network over its own",
    ),
    Claim(
        id="lyu2021.fig1.right",
        source=f"{_PAPER}Figure 1, right",
        statement="With three hints the classifier with linear boundary has a suboptimal margin, and one without a "
        "larger one.",
        setting=is_one_neuron,
        hypotheses={"small-epsilon": has_small_hints, "large-K": has_wide_hints},
        conclusion=is_beaten_by_bent,
        instances=hinted().map(Instance.of),
        sharp={"large-K": f"{_CASES}theorem-6-2-narrow-hints"},
        regime="all hinted data of lyu2021.thm6.2.point; that the flow goes there is lyu2021.thm6.2",
        quantity="margin of the better network over its own",
    ),
)  # fmt: skip
