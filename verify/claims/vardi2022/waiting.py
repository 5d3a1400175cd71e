"""Theorems of arXiv:2110.02732 that wait for a feature: depth >= 3, shared weights, problems of single layers.

    3.1  linear, fully connected, depth m >= 3:             theta(t)/|theta(t)| -> a global optimum of (2)
    4.4  x = (4, 1/sqrt 2, -4, 1/sqrt 2), y = 1, Phi(x) = v_1 s(w.(x_1, x_2)) + v_2 s(w.(x_3, x_4)), linear or ReLU:
         w = (0, 1), v = (1/sqrt 2, 1/sqrt 2) is KKT and not a local optimum
    5.1  x = (1, 1), y = 1, diagonal of depth m >= 3:       w_l = 2^(-1/m) (1, 1), l = 1 .. m, is KKT and not local
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
        id="vardi2022.thm3.1.deep",
        source="arXiv:2110.02732, Theorem 3.1",
        statement="Every KKT point of gradient flow on a fully connected linear network of depth >= 3 is global.",
        needs="depth >= 3",
    ),
    Claim(
        id="vardi2022.thm4.4",
        source="arXiv:2110.02732, Theorem 4.4",
        statement="A convolutional network of depth 2 with non-zero inputs can be KKT and not local.",
        needs="sharing",
    ),
    Claim(
        id="vardi2022.thm5.1",
        source="arXiv:2110.02732, Theorem 5.1",
        statement="Diagonal networks of depth m >= 3 can be KKT and not local.",
        needs="depth >= 3",
    ),
    Claim(
        id="vardi2022.thm5.2",
        source="arXiv:2110.02732, Theorem 5.2",
        statement="At a KKT point of a linear network every layer is globally optimal by itself.",
        needs="sharing, depth >= 3 and problems of single layers",
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
        needs="sharing, depth >= 3 and problems of single layers",
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
