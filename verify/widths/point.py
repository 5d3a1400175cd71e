"""What is known of the networks of one width."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, final

from solvers.instance import SearchStatus
from verify.checker.certificate import Certificate
from verify.checker.codec import rational_text
from verify.deciders.finding import Verdict
from verify.numbers.counts import count
from verify.numbers.decimals import at_least, at_most
from verify.numbers.intervals import Interval
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["WidthPoint", "number_text"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WidthPoint:
    """What is known of the networks of one width.

    problem: that question.   fits: whether one of them fits.   lower, upper: of their best objective, exact; None for
    an end that is not known.   network: one with the upper end.   certificates: what proves all that, each accepted.
    status: how the search ended.   nodes, left: states that it looked at, and left open; 0 where any width decides.
    """

    problem: Problem
    fits: Verdict
    lower: Fraction | None
    upper: Fraction | None
    network: Network | None
    certificates: tuple[Certificate, ...]
    status: SearchStatus
    nodes: int = 0
    left: int = 0

    def __repr__(self) -> str:
        proofs = ", ".join(proof.KIND for proof in self.certificates) or "no certificate"
        return f"<WidthPoint: {count(self.width, 'neuron')}, {self._known()}, {self.status.value}, {proofs}>"

    def _known(self) -> str:
        """Whether a network fits, and both ends of its best objective, in a few words."""
        if self.fits is Verdict.REFUTED:
            return "none fits"
        low, high = self.lower, self.upper
        ends = f"[{'?' if low is None else at_least(low, 10)}, {'?' if high is None else at_most(high, 10)}]"
        if low is not None and high is not None:
            ends = repr(Interval(low, high))
        return f"{'fits' if self.fits is Verdict.PROVED else 'not known to fit'} {ends}"

    @property
    def open_part(self) -> tuple[bool, bool, Fraction]:
        """How much of the row is open, to be compared: which ends are not known, and how far apart they are."""
        are_apart = Fraction(0) if self.upper is None or self.lower is None else self.upper - self.lower
        return self.upper is None, self.lower is None, are_apart

    def to_json(self) -> dict[str, object]:
        """The row as JSON; its certificates are those that `WidthCurve.save` writes."""
        return {
            "width": self.width,
            "fits": self.fits.value,
            "lower": number_text(self.lower),
            "upper": number_text(self.upper),
            "certificates": [proof.KIND for proof in self.certificates],
            "status": self.status.value,
            "nodes": self.nodes,
            "left": self.left,
        }

    @property
    def width(self) -> int:
        """The number of neurons."""
        return len(self.problem.architecture.masks)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a width has no truth value: ask whether `.fits is Verdict.PROVED`, or whether `.lower` or `.upper` is None"
        )


def number_text(number: Fraction | None) -> str | None:
    """The exact text of a number that may not be known."""
    return None if number is None else rational_text(number)
