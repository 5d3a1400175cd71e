"""Lyu, Li, Wang, Arora: Gradient Descent on Two-layer Nets: Margin Maximization and Simplicity Bias (arXiv:2110.13905).

||x_i|| <= 1, which the paper assumes, is a matter of units and not asked for. That gradient flow is unique where it
has to be (Assumptions 4.6 and A.6) is not decided: the flow that is followed is one of them. What small moves of a
start change is measured (assumption4.6).
"""

from __future__ import annotations

__all__ = ["ORDER"]

ORDER = (
    "thm3.1",
    "thm4.2",
    "thm4.2.found",
    "thm4.3",
    "thm4.3.good",
    "cor4.4",
    "cor4.4.one-sign",
    "assumption4.6",
    "lem5.2",
    "lem5.3",
    "lem5.4",
    "thm5.5",
    "thm5.6",
    "thm6.2",
    "thm6.2.live",
    "thm6.2.point",
    "appH",
    "fig1.left",
    "fig1.middle",
    "fig1.right",
)
"""The claims as lists of them are sorted: what follows the paper's name in their ids."""
