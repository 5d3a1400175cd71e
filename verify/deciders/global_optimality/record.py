"""What is known of the best objective over all widths: a record, its ends, and the bound that holds always."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

from solvers.instance import SearchStatus
from verify.checker.bounds import LowerBound, UpperBound
from verify.checker.dual_trees import Bound
from verify.numbers.counts import count
from verify.numbers.decimals import at_least, at_most
from verify.numbers.intervals import Interval
from verify.problem.network import Network
from verify.problem.phrases import constant_fits, has_infimum_0
from verify.problem.problem import Objective, Problem

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import Progress

__all__ = [
    "SMALLEST_GAP",
    "Bracket",
    "constant_by_bias",
    "free_constant",
    "lower_end",
    "narrow_first",
    "nearly_free",
    "trivial_lower_bound",
    "zero_network",
]

SMALLEST_GAP = 1e-9
"""What the float solvers are asked for at most, also when the question is sharper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """What is known of the best objective over all widths; every certificate in it was accepted by the checker.

    lower, upper: certificates or None.   witnesses: networks that fit, the best first, and their objectives.
    own: the best network found with the activation patterns of the network in question, no wider than that.
    status: how the search ended, and where it failed the `reason`.   history: one float `Progress` a round.
    """

    lower: LowerBound | None
    upper: UpperBound | None
    witnesses: tuple[Network, ...]
    objectives: tuple[Fraction, ...] = ()
    status: SearchStatus
    reason: str = ""
    history: tuple[Progress, ...]
    own: Network | None = None

    def __repr__(self) -> str:
        low, high = self.ends
        ends = f"[{'?' if low is None else at_least(low, 10)}, {'?' if high is None else at_most(high, 10)}]"
        if low is not None and high is not None:
            ends = repr(Interval(low, high))
        return f"<Bracket: {ends}, {self.ended}, {count(len(self.witnesses), 'network')} that fit>"

    def __bool__(self) -> NoReturn:
        raise TypeError("a bracket has no truth value: ask `.ends`, or whether `.lower` or `.upper` is None")

    @property
    def ended(self) -> str:
        """How the search ended, in words: "failed (the reason)", or the status alone."""
        return f"{self.status} ({self.reason})" if self.reason else self.status.value

    @property
    def ends(self) -> tuple[Fraction | None, Fraction | None]:
        """The bracket's two ends."""
        return (
            None if self.lower is None else self.lower.bracket[0],
            None if self.upper is None else self.upper.bracket[1],
        )


def lower_end(bound: LowerBound) -> Fraction:
    """What the bound proves every objective to be at least; 0 where it says nothing."""
    return bound.bracket[0] or Fraction(0)


NEARLY_THE_BEST = Fraction(1, 20_000_000)
"""Objectives this near (relative) to the lowest one found count as the best, however loose the tolerance is."""


def narrow_first(found: Iterable[tuple[Fraction, Network]], tolerance: Fraction) -> list[tuple[Fraction, Network]]:
    """By objective, but the narrowest first among those that are the best within a small part of the tolerance."""
    ordered = sorted(found, key=lambda pair: (pair[0], pair[1].width))
    near = 1 + min(tolerance / 20, NEARLY_THE_BEST)
    best = [pair for pair in ordered if pair[0] <= ordered[0][0] * near]
    return sorted(best, key=lambda pair: (pair[1].width, pair[0])) + ordered[len(best) :]


def trivial_lower_bound(problem: Problem) -> LowerBound:
    """The bound 0, by no multipliers at all: what is left where every network's objective may come close to 0."""
    trees = ((Bound(()),),) * (2 * len(problem.mask_classes))
    return LowerBound(multipliers=(), beta=Fraction(1), bracket=(Fraction(0), None), denominator=1, trees=trees)


def zero_network(problem: Problem) -> Network:
    """One neuron without weights."""
    mask = problem.mask_classes[0]
    return Network(problem.architecture.with_width_of([mask]), ([0] * len(mask), [0]))


def free_constant(problem: Problem) -> Network | None:
    """A network of zeros whose free output bias is a constant that fits, or that has no loss; None without one."""
    if problem.decay.output_bias != 0 or not constant_fits(problem):
        return None
    zero = zero_network(problem)
    return Network(zero.architecture, (*zero.parameters[:2], [(min(problem.targets) + max(problem.targets)) / 2]))


def nearly_free(problem: Problem, below: Fraction) -> Network | None:
    """A constant of one neuron, by a free bias, that fits and has an objective below this one, which is above 0.

    None where constants do not fit, or where they cost something (`has_infimum_0`).
    """
    decay = problem.goal.decay.output if isinstance(problem.goal, Objective) else 1

    def outgoing(wanted: Fraction) -> Fraction:
        ratio = decay * wanted**2 / below
        return wanted / 2 ** (max(ratio.numerator.bit_length() - ratio.denominator.bit_length(), 0) // 2 + 1)

    return constant_by_bias(problem, outgoing)


def constant_by_bias(problem: Problem, outgoing: Callable[[Fraction], Fraction]) -> Network | None:
    """The constant that fits, by one neuron with a free bias alone; None as for `nearly_free`.

    outgoing: the output weight, of the constant's sign, for the constant.
    """
    if not has_infimum_0(problem):
        return None
    bias = len(problem.rows[0]) - 1
    mask = next(mask for mask in problem.mask_classes if bias in mask)
    targets = problem.targets
    wanted = (min(targets) + max(targets)) / 2  # labels are all the same
    weight = outgoing(wanted)
    hidden = [wanted / weight if column == bias else Fraction(0) for column in mask]
    return Network(problem.architecture.with_width_of([mask]), (hidden, [weight]))
