"""The questions of an audit, and how far an accepted certificate answers one.

Each question is asked within a tolerance t >= 0:

    FITS               the network meets every constraint                                             (asked at t = 0)
    STATIONARY         it satisfies the Clarke KKT conditions up to epsilon = t and delta = t, relative to its norm
    LOCAL_OPTIMUM      no network near it that fits has a smaller objective                           (asked at t = 0)
    GLOBAL_OPTIMUM     none with at most its neurons, by mask, has an objective that is smaller by more than 1 + t
    GLOBAL_ANY_WIDTH   none of any width with these masks has

So what is proved for a tolerance is proved for every larger one, and what is refuted for one is refuted for every
smaller one. An answer says from where on: proved for t >= limit, or refuted for t <= limit (None: whatever t is).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal, NoReturn, TypeAlias, final


@final
class Verdict(Enum):
    """What is known; UNDECIDED is not a no. It is no truth value: compare with `is Verdict.PROVED`."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict has three values and no truth value: compare it, such as `is Verdict.PROVED`")


@final
class Question(Enum):
    """The questions of an audit, in the order in which they are asked."""

    FITS = "fits"
    STATIONARY = "stationary"
    LOCAL_OPTIMUM = "local_optimum"
    GLOBAL_OPTIMUM = "global_optimum"
    GLOBAL_ANY_WIDTH = "global_any_width"


def asked_within(question: Question, tolerance: Fraction, stationary_tolerance: Fraction) -> Fraction:
    """The t within which an audit with these tolerances asks the question."""
    asked = {Question.FITS: Fraction(0), Question.LOCAL_OPTIMUM: Fraction(0), Question.STATIONARY: stationary_tolerance}
    return asked.get(question, tolerance)


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """PROVED for every tolerance from `limit` on, or REFUTED for every one up to `limit`; for each one when None."""

    verdict: Verdict
    limit: Fraction | None

    def within(self, tolerance: Fraction) -> Verdict:
        """The answer to the question with this tolerance; UNDECIDED where the certificate leaves it open."""
        is_proof = self.verdict is Verdict.PROVED
        holds = self.limit is None or (tolerance >= self.limit if is_proof else tolerance <= self.limit)
        return self.verdict if holds else Verdict.UNDECIDED

    def __bool__(self) -> NoReturn:
        raise TypeError("an answer has no truth value: ask `.within(tolerance) is Verdict.PROVED`")


Limit: TypeAlias = Literal["0", "T", "any"]
"""From or up to where: t = 0, the certificate's own tolerance, or whatever t is."""

Reply: TypeAlias = tuple[Verdict, Limit]
Answered: TypeAlias = Mapping[Question, Reply]
"""What a kind answers about its subject."""

PROVED: Reply = (Verdict.PROVED, "0")
WITHIN_OWN: Reply = (Verdict.PROVED, "T")
REFUTED: Reply = (Verdict.REFUTED, "0")
UP_TO_OWN: Reply = (Verdict.REFUTED, "T")
NEVER: Reply = (Verdict.REFUTED, "any")


def answered(
    fits: Reply | None = None,
    stationary: Reply | None = None,
    local: Reply | None = None,
    own_width: Reply | None = None,
    any_width: Reply | None = None,
) -> Answered:
    """The questions that a kind answers, in their order; None: it does not."""
    cells = zip(Question, (fits, stationary, local, own_width, any_width), strict=True)
    return MappingProxyType({question: cell for question, cell in cells if cell is not None})


NOTHING: Final = answered()
