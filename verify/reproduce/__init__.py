"""The figures of the papers, computed again: `reproduce("vardi2022-figure-1")`.

    names()                          what there is
    reproduce(name, full=, smoke=, out=)   computes, keeps the numbers, draws, and says what agrees

A figure is a module: its numbers, the statements read off them, and its drawing (`spec`).
"""

from verify.reproduce.figures import figure, names
from verify.reproduce.running import Reproduction, load, reproduce
from verify.reproduce.spec import Check, Figure, Numbers

__all__ = ["Check", "Figure", "Numbers", "Reproduction", "figure", "load", "names", "reproduce"]
