"""What is wrong with a network that is not optimal: its points, its neurons, and what each improvement would bring.

Floats find, exact arithmetic states: a field named `hint` is a float or was decided by floats; the others are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from verify.checker.bounds import LowerBound
from verify.deciders.estimates import estimate
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.own_width.record import WidthBracket
from verify.diagnosis.excess import Excess, study_excess
from verify.diagnosis.ladder import Rung, RungKind, climb, improvements, measured
from verify.diagnosis.neurons import Imbalance, Neurons, study_neurons
from verify.diagnosis.points import PointGroups, study_points
from verify.diagnosis.summary import HEAD, RELAXED, noticed, rungs
from verify.numbers.counts import count
from verify.problem.network import Network
from verify.problem.problem import Problem
from verify.shown import as_html, as_text
from verify.surroundings import Surroundings

__all__ = ["Diagnosis", "Excess", "Imbalance", "Neurons", "PointGroups", "Rung", "RungKind", "diagnose", "explained_by"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """points, neurons: what is noticed about them.   excess: where it comes from; None when it is not known.

    ladder: networks that fit, from the given one (the repaired one, for min-norm) to the best known, each better than
    the one before, then the lower bound.   relaxed: of a network that does not fit, the diagnosis of what it does fit,
    that of the audit `.relaxed`; its ladder is shown with this one.
    """

    points: PointGroups
    neurons: Neurons
    excess: Excess | None
    ladder: tuple[Rung, ...]
    relaxed: Diagnosis | None = None

    def __repr__(self) -> str:
        found = self.neurons
        told = [f"{len(found.dead)} dead", f"{len(found.unbalanced)} unbalanced"]
        points = f"{count(len(self.points.violated), 'point')} missed, " if self.points.violated else ""
        further = "" if self.relaxed is None else f", {len(self.relaxed.ladder)} on what it fits"
        found_neurons = f"{count(found.count, 'neuron')} ({', '.join(told)})"
        return f"<Diagnosis: {points}{found_neurons}, {count(len(self.ladder), 'rung')}{further}>"

    def __str__(self) -> str:
        text = as_text(repr(self)[1:-1], HEAD, rungs(self.ladder), noticed(self.points, self.neurons))
        return text if self.relaxed is None else f"{text}\n{as_text(RELAXED, HEAD, rungs(self.relaxed.ladder))}"

    def _repr_html_(self) -> str:
        page = as_html(repr(self)[1:-1], HEAD, rungs(self.ladder), noticed(self.points, self.neurons))
        return page if self.relaxed is None else f"{page}{as_html(RELAXED, HEAD, rungs(self.relaxed.ladder))}"

    def placed(self, surroundings: Surroundings | None) -> Diagnosis:
        """The same diagnosis, its networks with these surroundings."""
        rungs = (
            rung if rung.network is None else replace(rung, network=rung.network.placed(surroundings))
            for rung in self.ladder
        )
        return replace(self, ladder=tuple(rungs))

    def to_json(self) -> dict[str, object]:
        """The diagnosis as JSON; what comes from floats has a key that ends in "hint"."""
        return {
            "points": self.points.to_json(),
            "neurons": self.neurons.to_json(),
            "excess_parts": None if self.excess is None else self.excess.to_json(),
            "ladder": [rung.to_json() for rung in self.ladder],
        }


def diagnose(
    problem: Problem,
    network: Network,
    subject: Network | None,
    bracket: Bracket | WidthBracket | None = None,
    *,
    is_stationary: bool = False,
    improved: tuple[Rung, ...] | None = None,
) -> Diagnosis | None:
    """What is wrong with `network`, and how much better it could be.

    subject: what the audit's questions are about: the network itself, its repair (min-norm), None when it does not fit.
    is_stationary: whether the network, or one near it, is known to be a KKT point: then no neuron has to turn.
    improved: the first rungs of the ladder, where they are known: the `improvements` of the subject.
    bracket: with it the ladder goes up to the best networks known, and the excess is split into parts.

    None where nothing but whether a network fits is decided, and beyond the range of floats. With given output weights
    nothing is balanced, and the excess is not split.
    Everything that is not a hint is exact. Cost: a few products of the weights with the data in floats, and exact
    arithmetic at the points that they leave in doubt.
    """
    if not problem.is_decided:
        return None
    try:
        return _diagnosed(problem, network, subject, bracket, improved, is_stationary=is_stationary)
    except OverflowError:
        return None


def explained_by(
    found: Diagnosis,
    problem: Problem,
    judged: Network,
    bound: LowerBound,
    ends: tuple[Fraction | None, Fraction | None],
) -> Diagnosis:
    """The same diagnosis with the excess split by this lower bound, and the ladder measured by these ends of the
    bracket, and not by those of the search.
    """
    found = replace(found, ladder=measured(found.ladder, *ends))
    if found.excess is None:
        return found
    with np.errstate(all="ignore"):
        estimates = estimate(problem, judged)
        excess = study_excess(problem, judged, estimates, bound, found.neurons.silent, found.points.least)
    return replace(found, excess=excess)


def _diagnosed(
    problem: Problem,
    network: Network,
    subject: Network | None,
    bracket: Bracket | WidthBracket | None,
    improved: tuple[Rung, ...] | None,
    *,
    is_stationary: bool,
) -> Diagnosis:
    judged = network if subject is None else subject
    estimates = estimate(problem, judged)
    with np.errstate(all="ignore"):
        points = study_points(problem, judged, estimates)
        neurons = study_neurons(problem, judged, estimates, may_turn=subject is not None and not is_stationary)
        excess = None
        if subject is not None and isinstance(bracket, Bracket) and bracket.lower is not None:
            excess = study_excess(problem, judged, estimates, bracket.lower, neurons.silent, points.least)
        if improved is None:
            improved = () if subject is None else improvements(problem, subject, estimates)
        ladder = climb(problem, improved, bracket, estimates)
    return Diagnosis(points=points, neurons=neurons, excess=excess, ladder=ladder)
