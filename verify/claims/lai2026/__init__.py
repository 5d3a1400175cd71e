"""Lai, Wang, Tao, Muthukumar: How Does the ReLU Activation Affect the Implicit Bias of Gradient Descent on
High-dimensional Neural Network Regression? (arXiv:2603.04895v2). Only the hidden layer is trained.

One neuron, program (7): minimise 1/2 |w|^2 subject to w.x_i = y_i where y_i > 0, and w.x_i <= 0 elsewhere.
"""

from __future__ import annotations

__all__ = ["ORDER"]

ORDER = (
    "lem3",
    "lem4",
    "lem1",
    "lem2",
    "lem5",
    "lem6",
    "lem7",
    "cor1",
    "lem9",
    "lem10",
    "lem12",
    "thm1",
    "thm2",
    "thm3",
    "thm4",
    "thm5",
    "thm6",
    "appF",
    "thmA",
    "thmB",
    "thm6-sharp",
    "relative-gap",
    "step-size",
)
"""The claims as lists of them are sorted: what follows the paper's name in their ids."""
