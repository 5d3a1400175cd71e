"""Theorem 5 of arXiv:2603.04895v2, appendix D.

    m neurons, each label assigned to one of its sign, S_k those of neuron k, random features, d >= C n^2
        ==>  with high probability lim w_k(t) = argmin |w - w_k|^2 subject to w.x_i = |y_i| for i in S_k, z_ki < 0 else

with w_k the weights after the first step. The text that we have lost its formulas; this is rebuilt from the proof. A
neuron that ends on at a point of another one, or off at its own, violates it.
"""

from __future__ import annotations

from random import Random

from verify.claims.lai2026.ends import ends_on
from verify.claims.lai2026.hypotheses import assigned, has_both_labels, is_assigned, is_hidden_regression
from verify.claims.lai2026.theorem_1 import HIGH_DIMENSION, LIKELY
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant
from verify.claims.theorems import run_alone
from verify.strategies import HIGH, assigned_features

__all__ = ["CLAIMS", "SIGNS", "ends_as_assigned"]

SIGNS = ((1, -1), (1, 1, -1), (1, 1, -1, -1), (1, 1, 1, -1, -1))
"""Output weights of the neurons."""


def ends_as_assigned(instance: Instance) -> Judgement:
    """From the first step on each neuron is linear regression on the labels of its sign at which it is on; else off."""
    return ends_on(instance, assigned(instance))


def trial(random: Random) -> Instance:
    """Two to five neurons on random features, each label with one of them."""
    n, d = random.choice(HIGH[:-2])
    return Instance(*assigned_features(random.randrange(2**31), n, d, random.choice(SIGNS)))


CLAIMS = (
    Claim(
        id="lai2026.thm5",
        source="arXiv:2603.04895v2, Theorem 5",
        statement="Neurons with disjoint sets of labels end, with high probability over random features, as linear "
        "regressions on them; they fit, with a certificate, and training ends there.",
        setting=is_hidden_regression,
        hypotheses={"both-labels": has_both_labels, "assigned": is_assigned},
        sharp={"assigned": "min-norm/lai2026-pair-starts-off"},
        conclusion=ends_as_assigned,
        kind="chance",
        chance=LIKELY,
        trial=trial,
        regime=f"two to five neurons; {HIGH_DIMENSION}; n up to 12 here",
        quantity="steps",
        examples=60,
        could_fail=always,
        variants=(
            Variant(
                name="moderate",
                statement="The same in dimension n^2.",
                trial=lambda random: Instance(*assigned_features(random.randrange(2**31), 8, 64, (1, 1, -1, -1))),
                examples=80,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
