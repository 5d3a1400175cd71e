"""What a figure is: how its numbers are computed, what is read off them, and how they are drawn.

The three are kept apart: `compute` makes numbers, `checks` and `draw` see nothing but these numbers, so that whatever
is said about a figure was measured, and a stored figure can be drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

__all__ = ["Check", "Done", "Figure", "NamedValues", "Numbers", "RunSize", "plain"]

RunSize: TypeAlias = Literal["smoke", "default", "full"]
NamedValues: TypeAlias = dict[str, Any]
"""JSON: numbers, texts, and lists and dictionaries of these."""


@dataclass
class Numbers:
    """All that a figure is drawn from: arrays for the .npz file, values for the .json file."""

    arrays: dict[str, NDArray] = field(default_factory=dict)
    values: NamedValues = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """A statement of the paper, in our words, whether the numbers agree, and what was measured.

    chance: of a probability, how likely it is that no more runs than these do what it promises; None for others.
    """

    statement: str
    holds: bool
    measured: str
    chance: float | None = None

    @property
    def word(self) -> str:
        """How it stands with the statement: a probability is never more than consistent with some runs."""
        if not self.holds:
            return "DOES NOT AGREE"
        return "Agrees" if self.chance is None else "Consistent"


class Done(Protocol):
    """Results that are kept, by key, as soon as they are there, so that a run that is killed goes on from them."""

    def __call__(self, key: str, compute: Callable[[], NamedValues]) -> NamedValues:
        """The stored result under this key; computed and stored if there is none."""
        ...


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

    paper: what the paper shows, in our words.   caption: how to read our picture.
    sizes: the parameters of each size, plain JSON values.
    compute(parameters, done): the numbers.   checks: what the paper states, compared with them.   notes: what else they
    show.   draw: the picture.
    scaled: what is smaller than in the paper, given parameters; empty when nothing is.
    ours: what the text of the paper does not say or we could not read, and was chosen here.
    """

    name: str
    title: str
    source: str
    paper: str
    caption: str
    sizes: Mapping[RunSize, NamedValues]
    compute: Callable[[NamedValues, Done], Numbers]
    checks: Callable[[Numbers], list[Check]]
    draw: Callable[[Numbers], MatplotlibFigure]
    scaled: Callable[[NamedValues], list[str]]
    ours: tuple[str, ...] = ()
    notes: Callable[[Numbers], list[str]] = lambda _: []


def plain(value: object) -> Any:
    """`value` as JSON: numpy's numbers and arrays as numbers and lists, what is not finite as text."""
    match value:
        case np.ndarray():
            return plain(value.tolist())
        case np.generic():
            return plain(value.item())
        case dict():
            return {str(key): plain(entry) for key, entry in value.items()}
        case list() | tuple():
            return [plain(entry) for entry in value]
        case float() if not np.isfinite(value):
            return str(value)
    return value
