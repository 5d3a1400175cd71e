"""Vardi, Shamir, Srebro: On Margin Maximization in Linear and ReLU Networks (arXiv:2110.02732).

The theorems speak of the limits of gradient flow, which are KKT points. What their proofs take from the flow is just
that, so the positive results are tested at KKT points of all kinds, and the negative ones at the points in question.
"""

from __future__ import annotations

__all__ = ["ORDER", "TABLES"]

ORDER = (
    "thm2.1",
    "thm3.1.flow",
    "thm3.1.deep.flow",
    "thm3.2.flow",
    "thm3.2.gaussian",
    "thm4.2.2.flow",
    "thm3.1",
    "thm3.1.deep",
    "thm3.2",
    "rem3.1",
    "rem3.1.diagonal",
    "rem3.1.local",
    "rem3.1.convolution",
    "rem3.2",
    "widths.enough",
    "widths.needed",
    "thm4.1",
    "thm4.2.1",
    "thm4.2.2",
    "rem4.1",
    "predictor-norm",
    "thm4.3",
    "thm4.3.not-global",
    "thm4.3.linear",
    "thm4.4",
    "thm5.1",
    "thm5.2",
    "thm5.3",
    "thm5.4",
    "thm5.4.not-global",
)
"""The claims as lists of them are sorted: what follows the paper's name in their ids."""

_DEEP, _SPARSE = "N, non-zero inputs", "no sharing, non-zero inputs"
TABLES = {
    "Table 1: depth 2": {
        "fully connected": (("Global", "vardi2022.thm3.1"), ("Not local", "vardi2022.thm3.2")),
        "no sharing": (("Not local", "vardi2022.thm4.1"), ("Not local", "vardi2022.thm3.2")),
        "no sharing, non-zero weights": (("Global", "vardi2022.thm4.2.1"), ("Not local", "vardi2022.thm4.2.2")),
        _SPARSE: (
            ("Global", "vardi2022.thm4.2.1"),
            ("Local, not global", "vardi2022.thm4.3", "vardi2022.thm4.3.not-global"),
        ),
        _DEEP: (("Not local", "vardi2022.thm4.4"), ("Not local", "vardi2022.thm4.4")),
    },
    "Table 2: deep networks": {
        "fully connected": (
            ("Global", "vardi2022.thm3.1.deep.flow", "vardi2022.thm3.1.deep"),
            ("Not local", "vardi2022.thm3.2"),
        ),
        _SPARSE: (("Not local", "vardi2022.thm5.1"), ("Not local", "vardi2022.thm5.1")),
        "N, each layer by itself": (("Global", "vardi2022.thm5.2"), ("Not local", "vardi2022.thm5.3")),
        "N, each layer by itself, non-zero inputs": (
            ("Global", "vardi2022.thm5.2"),
            ("Local, not global", "vardi2022.thm5.4", "vardi2022.thm5.4.not-global"),
        ),
    },
}
"""The paper's tables: row -> (linear, ReLU), each what the paper says and the claims that stand for it."""
