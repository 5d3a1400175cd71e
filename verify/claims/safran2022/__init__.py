"""Safran, Vardi, Lee: On the Effective Number of Linear Regions in Shallow Univariate ReLU Networks (arXiv:2205.09072).

Univariate networks whose hidden biases count in the norm.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from verify.claims.asking import is_kkt_point
from verify.claims.conclusions import is_stationary_not_local
from verify.claims.predicates import has_a_zero_neuron
from verify.claims.records import Claim, Instance
from verify.claims.safran2022.learning import (
    SURE,
    classified_sample,
    classifies,
    generalises,
    generalises_at,
    is_sampled,
    is_wide_enough,
    is_wide_enough_to_the_limit,
    reaches_small_loss,
    wide_start,
)
from verify.claims.safran2022.lower_bound import (
    is_alternating,
    is_sampled_from_atoms,
    live_neurons_bound_the_loss,
    narrow_start,
    stays_above,
)
from verify.claims.safran2022.regions import (
    has_few_regions,
    has_fewer_regions,
    is_univariate,
    limit_has_few_regions,
    linear_regions,
    switches,
)
from verify.claims.trainings import ends_stationary
from verify.problem.problem import Bias
from verify.strategies import (
    alternating_starts,
    constant_networks,
    fitted_starts,
    searched_kkt_points,
    separating_starts,
    switching_kkt_points,
)

__all__ = ["CLAIMS", "linear_regions", "switches"]

_PAPER = "arXiv:2205.09072, "


def _is_constant_on_a_pair(instance: Instance) -> bool:
    """Two points +-c of one label, and live neurons that are constant, positive and balanced."""
    network, data = instance.network, instance.data
    if not is_univariate(instance) or len(data) != 2 or set(data.targets) != {Fraction(1)}:
        return False
    is_pair = data.inputs[0][0] == -data.inputs[1][0] != 0
    return is_pair and all(
        w == 0 and b == v >= 0 for (w, b), v in zip(network.hidden_weights, network.output_weights, strict=True)
    )


def _is_far(instance: Instance) -> bool:
    """|x| > sqrt(3): with the bias as a coordinate the points are more than 120 degrees apart."""
    return instance.data.inputs[0][0] ** 2 > 3


def _on_a_line() -> SearchStrategy[Instance]:
    """KKT points of all kinds, whose labels are nearly always alike, and as many whose labels change 1 to 3 times."""
    of_all_kinds = searched_kkt_points(bias=Bias.PENALISED, dimension=1, neurons=4)
    return st.one_of(of_all_kinds, switching_kkt_points()).map(Instance.of)


CLAIMS = (
    Claim(
        id="safran2022.ex1",
        source=f"{_PAPER}Example 1",
        statement="For points +-c with c > sqrt(3), a constant neuron and a zero neuron are a KKT point and neither a "
        "global nor a local optimum.",
        setting=_is_constant_on_a_pair,
        hypotheses={"far": _is_far, "zero-neuron": has_a_zero_neuron},
        conclusion=is_stationary_not_local,
        instances=constant_networks().map(Instance.of),
        sharp={
            "far": "max-margin/penalised-bias-scale-just-below",
            "zero-neuron": "max-margin/safran2022-example-1-split",
        },
        regime="all c > sqrt(3), of which the paper's c = 4 is one; not local is more than the paper says",
    ),
    Claim(
        id="safran2022.thm4.2",
        source=f"{_PAPER}Theorem 4.2",
        statement="A KKT point has at most 32 r + 67 linear regions when the labels change r times.",
        setting=is_univariate,
        hypotheses={"kkt": is_kkt_point},
        conclusion=has_few_regions,
        instances=_on_a_line(),
        sharp={"kkt": "max-margin/safran2022-theorem-4-2-not-stationary"},
        regime="all KKT points with few neurons, of which the limits of gradient flow are some; r = the number of "
        "changes, at most the width of a teacher, 1 to 3 on a third of the instances or more; so few neurons are far "
        "from the bound",
        quantity="linear regions",
        group=switches,
    ),
    Claim(
        id="safran2022.thm4.2.sharper",
        source=f"{_PAPER}Theorem 4.2, sharper",
        statement="A KKT point has at most 5 r + 7 linear regions when the labels change r times.",
        setting=is_univariate,
        hypotheses={"kkt": is_kkt_point},
        conclusion=has_fewer_regions,
        instances=_on_a_line(),
        sharp={"kkt": "max-margin/safran2022-theorem-4-2-not-stationary"},
        regime="ours, with a proof on the page of the paper; tried at KKT points with few neurons here, r <= 3, and by "
        "isoptimal search at those with the most regions that it finds",
        quantity="linear regions",
        group=switches,
    ),
    Claim(
        id="safran2022.thm4.2.flow",
        source=f"{_PAPER}Theorem 4.2",
        statement="Gradient flow that classifies every point converges in direction to a KKT point with at most 32 r + "
        "67 linear regions.",
        setting=is_univariate,
        hypotheses={"loss-below-1/n": classifies},
        conclusion=limit_has_few_regions,
        instances=fitted_starts().map(lambda drawn: Instance(*drawn)),
        sharp={"loss-below-1/n": "max-margin/safran2022-theorem-4-1-dead"},
        regime="r <= 2; up to 75 neurons, more than the bound allows where r = 0; the logistic loss, up to 20,000 "
        "gradients; regions at the exact KKT point that its certificate encloses within 1e-3 of the network",
        quantity="linear regions",
        group=switches,
        trains=True,
        examples=20,
    ),
    Claim(
        id="safran2022.thm4.1",
        source=f"{_PAPER}Theorem 4.1",
        statement="Gradient flow with a loss below 1/n converges in direction to a KKT point.",
        setting=is_univariate,
        hypotheses={"loss-below-1/n": classifies},
        conclusion=ends_stationary,
        instances=st.one_of(
            separating_starts(slope=st.just(Fraction(0)), bias=True, dimension=1), fitted_starts(most=8)
        ).map(lambda drawn: Instance(*drawn)),
        sharp={"loss-below-1/n": "max-margin/safran2022-theorem-4-1-dead"},
        regime="a sum of losses below log 2, so that every point is classified with the logistic loss too; up to "
        "200,000 gradients, to 5e-4 or an activation pattern that has settled; a KKT point up to 1e-3, with a "
        "certificate; that the loss tends to 0 and the norm to infinity is not judged",
        trains=True,
        examples=20,
    ),
    Claim(
        id="safran2022.thm3.1",
        source=f"{_PAPER}Theorem 3.1",
        statement="With enough width and large hidden weights gradient flow reaches a loss of 1/(2n), with probability "
        "at least 1 - delta.",
        setting=is_univariate,
        hypotheses={"sampled": is_sampled, "wide": is_wide_enough},
        conclusion=reaches_small_loss,
        regime="delta = 1/4, r = 2, R = 1, n = 12; density 3/4 on [-1, 0] and 1/4 on [0, 1]; 4 for 6144 in the width "
        "(32 neurons), 1/100 for 4200 in sigma_h, sigma_o as stated; both losses",
        quantity="way of the weights over their norm",
        kind="chance",
        chance=SURE,
        trial=wide_start,
        trains=True,
        examples=20,
    ),
    Claim(
        id="safran2022.thm3.2",
        source=f"{_PAPER}Theorem 3.2",
        statement="At width alpha r, gradient flow keeps a population loss of at least (1 - 0.75 alpha)/4 at all "
        "times, with probability at least 1/4.",
        setting=is_univariate,
        hypotheses={"sampled": is_sampled_from_atoms},
        conclusion=stays_above,
        regime="alpha = 1, r = 8, n = 40, deviations 1; the construction, rebuilt as ours has no appendix: atoms at "
        "equal distances in [-1, 1], where a neuron is off at all of them with probability 1/4; the logistic loss, "
        "until the flow rests",
        quantity="least population loss",
        kind="chance",
        chance=Fraction(1, 4),
        trial=narrow_start,
        trains=True,
        examples=20,
    ),
    Claim(
        id="safran2022.thm3.2.live",
        source=f"{_PAPER}Theorem 3.2",
        statement="When a neurons are on at some of r + 1 points of alternating labels at the start, at all times "
        "ceil((r - a - 1)/2) points are misclassified, each at a loss of log 2.",
        setting=is_univariate,
        hypotheses={"alternating": is_alternating},
        conclusion=live_neurons_bound_the_loss,
        instances=alternating_starts().map(lambda drawn: Instance(*drawn)),
        sharp={"alternating": "max-margin/safran2022-theorem-3-2-one-label"},
        regime="what the proof of Theorem 3.2 needs (our reconstruction); up to 9 points; exact at the end, in floats "
        "on the way, until the flow rests or 20,000 gradients",
        quantity="least population loss",
        group=switches,
        trains=True,
        examples=20,
    ),
    Claim(
        id="safran2022.cor5.1",
        source=f"{_PAPER}Corollary 5.1",
        statement="When n epsilon = C_0 (r log(1/epsilon) + log(1/delta)), gradient flow that classifies a sample has "
        "an error of at most epsilon in the limit, with probability at least 1 - delta.",
        setting=is_univariate,
        hypotheses={"sampled": is_sampled, "loss-below-1/n": classifies},
        conclusion=generalises,
        regime="C_0 = 1, delta = 1/4, r = 2, n = 8, 16 or 24 (epsilon 0.40, 0.26, 0.19); 16 neurons, from Gaussian "
        "weights of deviation 0.3 and the time at which the sample is classified on; the logistic loss, up to 20,000 "
        "gradients; the error where training ends, in rationals",
        quantity="error over epsilon",
        kind="chance",
        chance=SURE,
        trial=classified_sample,
        trains=True,
        examples=20,
    ),
    Claim(
        id="safran2022.thm2.3",
        source=f"{_PAPER}Theorem 2.3",
        statement="From the starts of Theorem 3.1 gradient flow converges in direction to a network of at most 32 r + "
        "67 linear regions and an error of at most epsilon, with probability at least 1 - delta.",
        setting=is_univariate,
        hypotheses={"sampled": is_sampled, "wide": is_wide_enough_to_the_limit},
        conclusion=generalises_at,
        regime="C_0 = 1, delta = 1/4, r = 2, n = 16 (epsilon 0.29); 2 for 6144 in the width (18 neurons), 1/8000 for "
        "8400 in sigma_h, sigma_o as stated; the logistic loss, up to 20,000 gradients; the error where training ends, "
        "in rationals",
        quantity="error over epsilon",
        kind="chance",
        chance=SURE,
        trial=partial(wide_start, to_the_limit=True),
        trains=True,
        examples=20,
    ),
)
