"""Chistikov, Englert, Lazic: Learning a Neuron by a Shallow ReLU Network (arXiv:2306.06479).

Training starts at lambda times the network of an instance, the paper's z_j with a_j = s_j |z_j|. Assumption 2 asks for
lambda <= (m n^(9 n Delta^2 / delta^3))^(-3 / epsilon), at best about 10^-700: beyond floats. So what is about small
lambda is tried at scales that are far larger, and at two or more of them where it may need smaller ones.
"""

from __future__ import annotations

__all__ = ["ORDER"]

ORDER = (
    "assumption1.m1",
    "assumption1.m2",
    "assumption1.m4",
    "prop1",
    "prop2",
    "lem3",
    "lem4",
    "lem5",
    "thm6",
    "setS",
    "setS.points",
    "setS.faces",
    "bundle",
    "angles",
    "thm7",
    "thm8",
    "zmatrix",
    "M.orthogonal",
    "fig1",
    "fig2",
    "two-teachers",
)
"""The claims as lists of them are sorted: what follows the paper's name in their ids."""
