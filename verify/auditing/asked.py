"""What an audit is asked: a problem, a network, and within what; made of what users give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, final

from verify.auditing.relaxing import relaxation_note
from verify.numbers.arguments import a_flag, a_tolerance, items_of, wrong
from verify.problem import posing
from verify.problem.members import has_bias, has_margin, is_regression
from verify.problem.network import Network
from verify.problem.problem import Bias, Goal, Objective, Problem, Trained
from verify.readers.given import Given, given, notes_about
from verify.readers.reading import Options

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import Progress

__all__ = ["Asked", "Terms", "pose", "posed"]

STATIONARY_TOLERANCE = Fraction(1, 1000)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Within what is asked, and what besides the five questions: the arguments of `audit` that say it, checked.

    tol: relative gap of the global questions.   stationary_tol: None for what the input asks for.
    near: how far another network may be moved from the given one to be spoken of, relative to its norm; None for
    `stationary_tol`, and by any amount for a repair.
    symbolic: whether the best objective is sought as a formula.   relax: whether what it does fit is asked as well.
    layers: whether each layer by itself is asked about.
    notes: what the caller says of how it came to ask.
    """

    tol: Fraction
    stationary_tol: Fraction | None = None
    near: Fraction | None = None
    progress: Callable[[Progress], None] | None = None
    warm_start: str | Path | None = None
    symbolic: bool = False
    relax: bool = True
    layers: bool = False
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        tol: object,
        stationary_tol: object,
        near: object,
        progress: Callable[[Progress], None] | None,
        warm_start: str | Path | None,
        symbolic: object,
        relax: object,
        layers: object,
        notes: Iterable[str],
    ) -> Terms:
        """The terms that a user gives. Raises InputError."""
        if progress is not None and not callable(progress):
            raise wrong(progress, "progress", "give a function of one argument, or None")
        return cls(
            progress=progress,
            symbolic=a_flag(symbolic, "symbolic"),
            relax=a_flag(relax, "relax"),
            layers=a_flag(layers, "layers"),
            tol=a_tolerance(tol, "tol"),
            notes=tuple(str(note) for note in items_of(notes, "notes", "give a list of sentences")),
            stationary_tol=None if stationary_tol is None else a_tolerance(stationary_tol, "stationary_tol"),
            near=None if near is None else a_tolerance(near, "near"),
            warm_start=warm_start,
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked about one network.

    stationary_tolerance: epsilon and delta of stationarity.
    counts_rounding: whether to miss targets by no more than the rounding of the outputs is to fit (min-norm).
    notes: what was chosen in reading and posing, a sentence each.
    is_model: as of `Given`.
    """

    problem: Problem
    network: Network
    terms: Terms
    stationary_tolerance: Fraction
    counts_rounding: bool = False
    notes: tuple[str, ...] = ()
    is_model: bool = False

    @property
    def reach(self) -> Fraction:
        """How far an exact KKT point may be from the network to be called near."""
        return self.stationary_tolerance if self.terms.near is None else self.terms.near

    @property
    def repairable(self) -> Fraction:
        """By how much of their size at the data a repair may change the neurons, where its distance is not bounded."""
        return max(self.stationary_tolerance, STATIONARY_TOLERANCE)

    def about(self, easier: Problem) -> Asked:
        """The same about a relaxed problem, which the network fits."""
        own = {*self.network.notes, *self.notes}  # a scaler that the caller gave did not come with the network
        told = [note for note in notes_about(self.network) if note in own]
        return replace(
            self,
            problem=easier,
            terms=replace(self.terms, warm_start=None, symbolic=False, relax=False, layers=False),
            counts_rounding=False,
            notes=tuple(dict.fromkeys((relaxation_note(self.problem, easier), *told))),
        )


def posed(
    found: Given,
    terms: Terms,
    *,
    goal: Goal | Objective | str | None,
    bias: Bias | str | None,
    trained: Trained | str,
    fit_tol: object,
    output_bias: Bias = Bias.NONE,
) -> Asked:
    """What is asked about a network and data that were read, on these terms. Raises InputError."""
    network, said = found.network, list(dict.fromkeys((*terms.notes, *found.notes)))
    problem = posing.pose(
        network, found.data, goal=goal, bias=bias, trained=trained, fit_tol=fit_tol, output_bias=output_bias, notes=said
    )
    is_exact = network.is_exact and problem.data.is_exact
    by_default = Fraction(0) if is_exact else STATIONARY_TOLERANCE
    return Asked(
        problem=problem,
        network=network,
        terms=terms,
        stationary_tolerance=by_default if terms.stationary_tol is None else terms.stationary_tol,
        counts_rounding=fit_tol is None and not is_exact and problem.asks_fit and not has_margin(problem.goal),
        notes=tuple(said),
        is_model=found.is_model,
    )


def pose(
    network: object,
    data: object,
    y: object = None,
    *,
    goal: Goal | Objective | str | None = None,
    bias: Bias | str | None = None,
    trained: Trained | str = Trained.BOTH,
    fit_tol: object = None,
    output_bias: Bias | str = Bias.NONE,
    notes: list[str] | None = None,
) -> Problem:
    """The problem that `audit` decides about this network and these data; what was chosen is appended to `notes`."""
    keeps = output_bias in set(Bias) and has_bias(Bias(output_bias))
    options = Options(output_bias="keep") if keeps else None
    found = given(network, data, y, options=options, is_regression=is_regression(goal))
    said = notes if notes is not None else []
    said += [note for note in found.notes if note not in said]
    return posing.pose(
        found.network, found.data, goal=goal, bias=bias, trained=trained, fit_tol=fit_tol, output_bias=output_bias,
        notes=said,
    )  # fmt: skip
