"""Above which weight decay nothing but a constant is left: between two decays, each with an audit that shows its side.

At the upper one a network without neurons is globally optimal among all widths, within `NEARLY`; at the lower one a
network with neurons is better by more than that. Without an output bias, or with a free one, the constant and what
pulls at it do not depend on the decay, so that this holds from the upper one on, and below the lower one.

Source: `docs/mathematics.md`, 14.2 "The bound for any width".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import final

from solvers.clock import now
from verify.auditing.asking_several import of_one_output
from verify.auditing.loop import audit
from verify.auditing.record import Audit
from verify.checker.errors import InputError
from verify.checker.goals import Bias, has_bias
from verify.checker.objectives import Objective
from verify.deciders.finding import Ending, Verdict
from verify.deciders.global_optimality.instance import as_decay_instance
from verify.deciders.rounding import dyadic
from verify.numbers.arguments import a_time_limit, a_tolerance
from verify.numbers.decimals import at_least, at_most, enclosure, nearest
from verify.problem.network import Network
from verify.problem.objectives import LossAsked, loss_asked
from verify.problem.problem import Dataset, Problem
from verify.readers import read_data_with_notes

__all__ = ["CriticalDecay", "critical_decay"]

NEARLY = Fraction(1, 10**12)
"""By less than this, relative, a network with neurons may be better than the constant: a decay nearer than its root to
the critical one cannot be told from it.
"""

TINY = Fraction(1, 10**6)
"""The decay that is asked about where every one seems to be too strong."""

SECONDS = 60.0
"""Where no time limit is given."""

DIGITS = 7
"""Of the decays that are asked about, so that those which are printed are those that were audited."""

NEED_NOT = "there need be none, or it takes more time"

TRIES = 6
ROUNDS = 60  # of the search for a constant that depends on the decay


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalDecay:
    """lower, upper: the decays, None where no audit showed one.   below, above: audits of a network of zeros at them.

    has_pulled_bias: whether there is an output bias under decay, so that nothing follows for other decays.
    """

    loss: str
    lower: Fraction | None
    upper: Fraction | None
    below: Audit | None
    above: Audit | None
    has_pulled_bias: bool

    def save(self, folder: str | Path) -> dict[str, dict[str, str]]:
        """Write the certificates of both audits, into the folders `below` and `above`; returns their files."""
        audits = {"below": self.below, "above": self.above}
        return {name: found.save(Path(folder) / name) for name, found in audits.items() if found is not None}

    def __str__(self) -> str:
        if self.upper is None and self.lower is None:
            return f"{self.loss}: no weight decay was shown to be too strong or not: give more time"
        own = self.has_pulled_bias
        said: list[str] = []
        if self.upper is not None:
            where = "at the weight decay" if own else "from the weight decay"
            on = "" if own else " on"
            said.append(f"{where} {at_most(self.upper)}{on} nothing is better than a constant, by more than 1e-12")
        if self.lower is not None:
            where = "at" if own else "below"
            than = "" if said else " better than a constant, by more than 1e-12"
            said.append(f"{where} {at_least(self.lower)} a network with neurons is{than}")
        if self.upper is None:
            said.append(f"no decay was shown to be too strong; {NEED_NOT}")
        if self.lower is None:
            said.append(f"a network with neurons was shown to be better at no decay; {NEED_NOT}")
        return f"{self.loss}: {'; '.join(said)}"

    @property
    def interval(self) -> str:
        """Both decays, such as "0.2008 … 0.2009"; where one is missing the other."""
        if self.lower is not None and self.upper is not None:
            return " … ".join(enclosure(self.lower, self.upper, 6))
        if self.lower is not None:
            return f"at least {at_least(self.lower)}"
        return "" if self.upper is None else f"at most {at_most(self.upper)}"


def critical_decay(
    data: object,
    y: object = None,
    *,
    loss: str,
    reduction: str = "mean",
    bias: Bias | str = Bias.PENALISED,
    output_bias: str = "penalised",
    slope: object = 0,
    tol: object = "1e-4",
    time_limit: float | None = None,
    target: str | None = None,
    classes: Sequence[object] | None = None,
) -> CriticalDecay:
    """The weight decay above which the least loss with weight decay is that of a constant.

    data, y: as `audit` takes them.   loss, reduction: as `audit` takes them.   slope: of the activation.
    bias: of the hidden layer.   output_bias: "penalised" as in PyTorch, "free" as in scikit-learn, or "none".
    tol: how far apart the two decays are to be, relative; where that is not shown they are farther apart.
    time_limit: of all audits together, in seconds; 60 by default.   target, classes: as `read_data` takes them.

    Raises InputError; KeyboardInterrupt at Ctrl-C.
    Sound: each decay has an audit whose certificates the checker accepted.
    """
    within = a_tolerance(tol, "tol")
    if within < Fraction(1, 10**5):
        raise InputError(f"tol is {within!s:.40}; decays are told apart to within 1e-5: give that, or more")
    if output_bias not in ("penalised", "free", "none"):
        raise InputError(f"output_bias is {output_bias!r:.60}; it must be penalised, free or none")
    asked = loss_asked(loss, 1, reduction)
    found = read_data_with_notes(data, y, target=target, as_stored=not asked.has_labels, classes=classes)
    question = _Question(asked, _labelled(found.data, asked), Bias(bias), output_bias, slope)
    if output_bias != "none" and not question.is_smooth:
        raise InputError(
            f"the loss {asked.name} has corners, where the best constant has several slopes: with an output bias its "
            "critical decay is not sought; give --output-bias none"
        )
    limit = a_time_limit(time_limit)
    seconds, start = SECONDS if limit is None else limit, now()
    guess = question.guess() or TINY  # 0 where no neuron pulls at the constant, at any decay
    above = _first(question, guess, [1 + within * share for share in _steps()], Verdict.PROVED, start + seconds / 2)
    below = _first(question, guess, [1 - within * share for share in _steps()], Verdict.REFUTED, start + seconds)
    return CriticalDecay(
        loss=loss,
        lower=None if below is None else below[0],
        upper=None if above is None else above[0],
        below=None if below is None else below[1],
        above=None if above is None else above[1],
        has_pulled_bias=output_bias == "penalised",
    )


def _labelled(data: Dataset, asked: LossAsked) -> Dataset:
    """The labels 0 and 1 as -1 and 1, where labels are asked for."""
    if not asked.has_labels or not set(data.targets) <= {Fraction(0), Fraction(1)}:
        return data
    return Dataset(data.inputs, [1 if y else -1 for y in data.targets])


def _steps() -> list[Fraction]:
    """By which parts of the tolerance decays are tried beside the guess, then farther away."""
    return [Fraction(1, 3) * 8**k for k in range(TRIES)]


def _first(
    question: _Question, guess: Fraction, factors: list[Fraction], wanted: Verdict, end: float
) -> tuple[Fraction, Audit] | None:
    """The first decay whose audit has this verdict, each with half of the time that is left until `end`."""
    for factor in factors:
        if (left := end - now()) <= 0:
            break
        decay = Fraction(nearest(guess * factor, DIGITS))
        if decay > 0:
            found = question.audited(decay, left / 2)
            if found.ending is Ending.INTERRUPTED:
                raise KeyboardInterrupt
            if found.global_any_width.verdict is wanted:
                return decay, found
    return None


@final
@dataclass(frozen=True, slots=True)
class _Question:
    asked: LossAsked
    data: Dataset
    bias: Bias
    output_bias: str
    slope: object

    @property
    def is_smooth(self) -> bool:
        loss = self.asked.on(1).loss
        return loss.curvature > 0 or not loss.is_exact

    def network(self, constant: Fraction = Fraction(0)) -> Network:
        """One neuron that is 0, and the constant."""
        columns = len(self.data.inputs[0])
        with_bias = has_bias(self.bias)
        return Network.two_layer(
            [[0] * columns], [0], b=[0] if with_bias else None, slope=self.slope,
            b2=None if self.output_bias == "none" else constant,
        )  # fmt: skip

    def goal(self, decay: Fraction) -> Objective:
        """The loss with this decay."""
        of_bias = {"penalised": decay, "free": Fraction(0), "none": None}[self.output_bias]
        asked = replace(self.asked, decay=(decay, decay), of_output_bias=of_bias)
        return asked.on(len(self.data), self.network(), self.bias)

    def at(self, decay: Fraction) -> tuple[float, float]:
        """The best constant at this decay, and the price from which on no neuron beats it, in floats."""
        from solvers.any_width.constants import without_neurons

        problem = Problem(self.data, self.network().architecture, goal=self.goal(decay), bias=self.bias)
        return without_neurons(as_decay_instance(problem))

    def guess(self) -> Fraction:
        """The decay that is the price from which on no neuron beats the constant that it leads to."""
        decay = Fraction(1)
        for _ in range(ROUNDS if self.output_bias == "penalised" else 1):
            before, decay = decay, dyadic(self.at(decay)[1], 50)
            if decay <= 0 or abs(decay - before) <= decay / 10**12:
                break
        return max(decay, Fraction(0))

    def audited(self, decay: Fraction, seconds: float) -> Audit:
        """The audit of a network of zeros, with the best constant, at this decay."""
        constant = dyadic(self.at(decay)[0], 60)
        return of_one_output(
            audit(
                self.network(constant), self.data, goal=self.goal(decay), bias=self.bias, tol=NEARLY, time_limit=seconds
            )
        )
