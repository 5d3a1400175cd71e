"""Theorems of arXiv:2110.02732 that wait for a feature: problems of single layers.

    5.2  linear, shared weights or none, any depth:         theta KKT  ==>  each u_l is a global optimum of (4)
    5.3  ReLU, fully connected, depth 2, 4 neurons:         for some KKT theta  u_1 is no local optimum of (4)
    5.4  ReLU, inputs of the neurons of layers >= l all != 0:  theta KKT  ==>  u_l is a local optimum of (4),
         and for some theta no global one

Problem (4) is (2), min 1/2 |theta|^2 subject to y_i Phi(theta; x_i) >= 1, over the weights u_l of layer l alone.
"""

from __future__ import annotations

from verify.claims.records import Claim
from verify.claims.theorems import run_alone

__all__ = ["CLAIMS"]

CLAIMS = (
    Claim(
        id="vardi2022.thm5.2",
        source="arXiv:2110.02732, Theorem 5.2",
        statement="At a KKT point of a linear network every layer is globally optimal by itself.",
        needs="problems of single layers",
    ),
    Claim(
        id="vardi2022.thm5.3",
        source="arXiv:2110.02732, Theorem 5.3",
        statement="At a KKT point of a ReLU network of depth 2 the first layer need not be locally optimal.",
        needs="problems of single layers",
    ),
    Claim(
        id="vardi2022.thm5.4",
        source="arXiv:2110.02732, Theorem 5.4",
        statement="With non-zero inputs from layer l on, layer l is locally optimal, not always globally.",
        needs="problems of single layers",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
