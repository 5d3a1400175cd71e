"""Corollary 4.4 of arXiv:2110.13905, section 4.2.

    as in Theorem 4.3  ==>  theta(t)/|theta(t)| -> a direction of global max margin  with probability >= 1 - 2^-(m-1)

Ours: in the other starts, where the <w_k, mu> + a_k |mu| have one sign, the margin in the limit is 2a/(1 + a) of the
best, so that the probability is 1 - 2^-(m-1) exactly.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from hypothesis import strategies as st

from verify.claims.lyu2021.ends import STOP_AT, has_margin
from verify.claims.lyu2021.growth import GENERAL
from verify.claims.lyu2021.scales import TWO_SCALES, at_two_scales
from verify.claims.lyu2021.symmetric import is_leaky
from verify.claims.power import has_points
from verify.claims.records import Claim, Instance, Judgement, Variant
from verify.claims.theorems import run_alone
from verify.claims.trainings import after, trained
from verify.strategies import drift_signs, mean_signed, random_symmetric_start, symmetric_starts

__all__ = ["CLAIMS", "ends_at_best_margin", "ends_at_one_sign", "has_one_sign"]


def ends_at_best_margin(instance: Instance) -> Judgement:
    """The normalised margin at the end is at least 0.999 of the best, exactly, from here and from a thousandth of it.

    It cannot exceed the best: that it does falsifies Theorem 4.2, and is a failure.
    """
    return at_two_scales(instance, lambda start: _ends_at(start, Fraction(1)))


def has_one_sign(instance: Instance) -> bool:
    """Every <w_k, mu> + v_k |mu| is positive, or every one negative."""
    signs = set(drift_signs(instance.network, mean_signed(instance.data)))
    return signs in ({1}, {-1})


def ends_at_one_sign(instance: Instance) -> Judgement:
    """The normalised margin at the end is 2 a / (1 + a) of the best, that of the one neuron s(<w*, x>)/2, to 1e-3."""
    share = 2 * instance.slope / (1 + instance.slope)
    return at_two_scales(instance, lambda start: _ends_at(start, share))


def _ends_at(start: Instance, share: Fraction) -> Judgement:
    return after(start, trained(start, stop_at=STOP_AT), lambda end: has_margin(end, share))


def _two_neurons(random: Random) -> Instance:
    return Instance(*random_symmetric_start(random, width=2, decades=4))


CLAIMS = (
    Claim(
        id="lyu2021.cor4.4",
        source="arXiv:2110.13905, Corollary 4.4",
        statement="From there gradient flow converges to a global-max-margin direction with probability at least "
        "1 - 2^-(m-1); m = 2.",
        setting=is_leaky,
        hypotheses=GENERAL,
        conclusion=ends_at_best_margin,
        kind="chance",
        chance=Fraction(1, 2),
        trial=_two_neurons,
        sharp={
            "symmetric": "max-margin/lyu2021-theorem-4-3-one-point",
            "separable": "max-margin/lyu2021-theorem-4-3-not-separable",
        },
        regime=f"as lyu2021.thm4.3; {TWO_SCALES}; the margin at the end at least 0.999 of the best, exactly",
        quantity="margin over the best",
        trains=True,
        examples=40,
        could_fail=has_points(4),
        variants=(
            Variant(
                name="surely",
                statement="It converges to a global-max-margin direction with probability 1.",
                chance=Fraction(1),
            ),
        ),
    ),
    Claim(
        id="lyu2021.cor4.4.one-sign",
        source="arXiv:2110.13905, Corollary 4.4, the other starts",
        statement="If the <w_k, mu> + a_k |mu| have one sign, the flow converges to 2a/(1 + a) of the best margin, "
        "that of one leaky neuron: the probability is 1 - 2^-(m-1) exactly.",
        setting=is_leaky,
        hypotheses={**GENERAL, "one-sign": has_one_sign},
        conclusion=ends_at_one_sign,
        instances=symmetric_starts(both_signs=False, least_width=1, decades=st.just(4)).map(
            lambda drawn: Instance(*drawn)
        ),
        sharp={
            "symmetric": "max-margin/lyu2021-corollary-4-4-one-point",
            "separable": "max-margin/lyu2021-corollary-4-4-not-separable",
            "one-sign": "max-margin/lyu2021-corollary-4-4-both-signs",
        },
        regime=f"ours, not the paper's; {TWO_SCALES}; only the margin at the end is decided, within 1e-3 of that, "
        "exactly",
        quantity="margin over the best",
        trains=True,
        examples=20,
        could_fail=has_points(4),
        variants=(
            Variant(
                name="both-signs",
                statement="The flow converges to that margin from every small start.",
                dropped=("one-sign",),
                instances=symmetric_starts(decades=st.just(4)).map(lambda drawn: Instance(*drawn)),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
