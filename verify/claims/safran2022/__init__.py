"""Safran, Vardi, Lee: On the Effective Number of Linear Regions in Shallow Univariate ReLU Networks (arXiv:2205.09072).

Univariate networks whose hidden biases count in the norm.
"""

from __future__ import annotations

from verify.claims.safran2022.regions import linear_regions, switches

__all__ = ["ORDER", "linear_regions", "switches"]

ORDER = (
    "ex1",
    "teachers",
    "thm4.2",
    "thm4.2.sharper",
    "thm4.2.flow",
    "thm4.1",
    "thm3.1",
    "thm3.1.few",
    "thm3.1.descent",
    "thm3.2",
    "thm3.2.measured",
    "thm3.2.live",
    "cor5.1",
    "thm2.3",
)
"""The claims as lists of them are sorted: what follows the paper's name in their ids."""
