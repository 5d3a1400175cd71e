"""What every generator returns, and the draws that several of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from solvers.arrays import Floats

__all__ = ["PaperData", "on_sphere", "positive", "whole"]


@dataclass(frozen=True)
class PaperData:
    """A data set.

    inputs: (n, d).   targets: (n,); labels are -1 and 1.   about: what else defines it, by name: the teacher, the
    separator, the margin, ... as arrays.
    """

    inputs: Floats
    targets: Floats
    about: Mapping[str, Floats] = field(default_factory=dict)

    def arrays(self) -> dict[str, Floats]:
        """X, y and `about` under the names that a data file has, for `numpy.savez`."""
        return {"X": self.inputs, "y": self.targets, **self.about}


def on_sphere(random: np.random.Generator, dimension: int) -> Floats:
    """A uniform point of the unit sphere in R^d."""
    direction = random.normal(size=dimension)
    return direction / np.linalg.norm(direction)


def whole(value: int, name: str, least: int) -> int:
    """`value`, if it is at least `least`; else ValueError."""
    if value < least:
        raise ValueError(f"{name} is {value}: it has to be at least {least}")
    return value


def positive(value: float, name: str, below: float = np.inf) -> float:
    """`value`, if it is in (0, below); else ValueError."""
    if not 0 < value < below:
        raise ValueError(f"{name} is {value:g}: it has to lie between 0 and {below:g}")
    return value
