"""Appendix F and Remark 1 of arXiv:2603.04895v2.

    one neuron, y_i > 0, z_i(0) < 0, random features, d >= C n^2
        ==>  with high probability z_i(t) < 0 for all t, so that y_i is never met

The text that we have lost its formulas; this is rebuilt from the proof. A neuron that comes back at such a label
violates it: with z_i(0) barely below 0 some do.
"""

from __future__ import annotations

from random import Random

from verify.claims.lai2026.ends import MISSED
from verify.claims.lai2026.exact_descent import captured
from verify.claims.lai2026.hypotheses import duals, is_one_neuron, label_range, primal_of
from verify.claims.lai2026.theorem_1 import HIGH_DIMENSION, LIKELY
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.strategies import HIGH, inactive_features

__all__ = ["CLAIMS", "is_off_at_a_positive_label", "stays_off", "trial"]


def is_off_at_a_positive_label(instance: Instance) -> bool:
    """At some point of positive label z <= -min |y| / 4, elsewhere 0 < z <= min |y| / 16; in the span of the points."""
    low, _ = label_range(instance)
    (z,) = primal_of(instance)
    off = [i for i, value in enumerate(z) if value <= 0]
    is_far = all(instance.data.targets[i] > 0 and 4 * z[i] <= -low for i in off)
    is_small = all(0 < 16 * value <= low for i, value in enumerate(z) if i not in off)
    return bool(off) and is_far and is_small and duals(instance) is not None


def stays_off(instance: Instance) -> Judgement:
    """Descent ends with the neuron off at a positive label, so that it is not met: no global minimum of the loss."""
    found = captured(instance)
    if found is None:
        return undecided(MISSED)
    off = [i for i, value in enumerate(found.primal[0][0]) if value <= 0]
    if any(found.pattern[0][i] for i in off):
        return failed("the neuron is on there in the end")
    return held(f"it is for ever off at {off}", measured=found.steps)


def trial(random: Random) -> Instance:
    """One neuron on random features, off at one positive label."""
    n, d = random.choice(HIGH)
    return Instance(*inactive_features(random.randrange(2**31), n, d, random.choice([0.26, 1.0, 2.0])))


CLAIMS = (
    Claim(
        id="lai2026.appF",
        source="arXiv:2603.04895v2, appendix F and Remark 1",
        statement="A neuron that starts off at a positive label stays off there, with high probability over random "
        "features, so that the label is never met.",
        setting=is_one_neuron,
        hypotheses={"starts-off": is_off_at_a_positive_label},
        sharp={"starts-off": "min-norm/lai2026-comes-back"},
        conclusion=stays_off,
        kind="chance",
        chance=LIKELY,
        trial=trial,
        regime=f"{HIGH_DIMENSION}; off by 1/4 to 2 min |y|; the paper has simulations, and expects a proof by Lemma 6",
        quantity="steps",
        examples=60,
        could_fail=always,
        variants=(
            Variant(
                name="barely-off",
                statement="The same of a neuron that is off by min |y| / 100.",
                trial=lambda random: Instance(*inactive_features(random.randrange(2**31), 8, 256, 0.01)),
                dropped=("starts-off",),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
