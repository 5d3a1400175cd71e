"""The words of a picture: what is asked, how the network stands, and the titles of the panels."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from verify.checker.bounds import UpperBound
from verify.checker.certificate import OTHER_DEPTH
from verify.deciders.finding import Verdict
from verify.numbers.counts import count
from verify.numbers.decimals import about, at_least, at_most, kept, nearest, small
from verify.plots.audited import AuditInPictures
from verify.problem.members import goal_words
from verify.problem.network import Architecture, Network
from verify.problem.phrases import PER_CENT, any_width, has_infimum_0, neurons_of, of_width, with_masks
from verify.problem.problem import Bias, objective
from verify.report.quantities import is_repaired

__all__ = ["after_repair", "headline", "network_title", "standing", "start", "value_of"]

Rounding: TypeAlias = Callable[[Fraction, int], str]

BEST = "this network is the best possible"


def headline(audit: AuditInPictures) -> str:
    """Such as "Max-margin problem: 100 points in dimension 2, 12 ReLU neurons with biases"."""
    problem = audit.problem
    goal = goal_words(problem.goal).title
    if problem.fit_tolerance:
        goal = f"Min-norm within {kept(problem.fit_tolerance)}"
    points = f"{count(len(problem.data), 'point')} in dimension {problem.data.dimension}"
    bias = {Bias.NONE: "", Bias.PENALISED: " with biases", Bias.FREE: " with free biases"}[problem.bias]
    return f"{goal}: {points}, {_network(audit.network.architecture)}{bias}"


def _network(architecture: Architecture) -> str:
    hidden = architecture.layers[:-1]
    if not hidden:
        return "a linear network without hidden neurons"
    slopes = {layer.slope for layer in hidden if layer.slope is not None}
    names = {Fraction(0): "ReLU", Fraction(1): "linear"}
    kinds = " and ".join(names.get(slope, "leaky ReLU") for slope in sorted(slopes))
    masked = "masked " if architecture.has_masks else ""
    shared = " with shared weights" if architecture.has_sharing else ""
    if len(hidden) == 1:
        return count(architecture.width, f"{masked}{kinds} neuron") + shared
    return f"a {masked}{kinds} network of depth {architecture.depth} and width {architecture.width}{shared}"


def standing(audit: AuditInPictures) -> str:
    """One sentence on how far the network is above the best possible."""
    widths = f"all widths{with_masks(audit.problem)}"
    is_deep = OTHER_DEPTH.holds(audit.problem) and audit.fits.verdict is Verdict.PROVED
    if is_deep:
        widths = f"networks of {any_width(audit.problem)}"
    if not audit.problem.asks_any_width:
        widths = f"networks of {of_width(audit.problem)}"
    over = f", over {widths}{after_repair(audit)}"
    if audit.is_infeasible_at_width and not audit.problem.asks_any_width:
        return f"no network of {of_width(audit.problem)} fits these points"
    if audit.infeasible:
        return f"no network of {any_width(audit.problem)} fits these points"
    if audit.objective is None and not is_deep:
        match audit.fits.verdict:
            case Verdict.REFUTED:
                return "this network does not fit the data"
            case Verdict.PROVED:
                return "this network fits the data; nothing more is decided"
            case Verdict.UNDECIDED:
                return "it is not known whether this network fits the data"
    if has_infimum_0(audit.problem):
        return f"no network{with_masks(audit.problem)} is the best possible: the objective comes as near to 0 as asked"
    if audit.asked_bracket is not None and audit.objective == audit.asked_bracket[0]:
        return BEST + over
    if audit.asked_bracket is not None and audit.asked_bracket[1] == 0:
        return f"this network is not the best possible{over}, which has the objective 0"
    if audit.objective == 0:
        return "the objective of this network is 0, and that of no network is less"
    if (told := _how_far(audit)) is None:
        return "how far this network is above the best possible is not known"
    return f"{told}{over}"


def _how_far(audit: AuditInPictures) -> str | None:
    """How far above the best possible, which is not 0, a network that fits is; None where that is not known."""
    if audit.asked_excess is None:
        upper = next((bound.bracket[1] for bound in audit.bounds if isinstance(bound, UpperBound)), None)
        if upper and audit.objective is not None and audit.objective > upper:
            return f"this network is at least {_above(audit.objective / upper - 1, at_least)}"
        return None
    low, high = audit.asked_excess
    if high == 0:
        return BEST
    if high <= audit.tolerance:
        return f"this network is within {small(high)} (relative) of the best possible"
    if low <= 0:
        return f"this network is at most {_above(high, at_most)}"
    if high - low <= high / 200:
        return f"this network is about {_above((low + high) / 2, nearest)}"
    if high >= 10:
        ends = f"{at_least(1 + low, 3)} and {at_most(1 + high, 3)} times the best possible"
        return f"this network is between {ends}"
    return f"this network is between {_amount(low, at_least)} and {_above(high, at_most)}"


def _above(excess: Fraction, rounded: Rounding) -> str:
    if excess >= 10:
        return f"{rounded(1 + excess, 3)} times the best possible"
    return f"{_amount(excess, rounded)} above the best possible"


def _amount(excess: Fraction, rounded: Rounding) -> str:
    return f"{rounded(100 * excess, 3)}{PER_CENT}"


def after_repair(audit: AuditInPictures) -> str:
    """What is added to amounts that are those of the repaired network."""
    return ", after the repair" if is_repaired(audit.fits) else ""


def network_title(audit: AuditInPictures, network: Network | None = None) -> str:
    """Such as "better network: 2 neurons, objective 4.937"; of this network by default."""
    if network is None:
        value = audit.objective
        return "this network" + ("" if value is None else f": objective {about(value, 5)}{after_repair(audit)}")
    is_one = audit.objective is not None or audit.fits.verdict is Verdict.PROVED  # of other depths it has no objective
    name = "better network" if is_one else "best network found"
    value = value_of(audit, network)
    reached = "" if value is None else f", objective {about(value, 5)}"
    return f"{name}: {neurons_of(network.architecture)}{reached}"


def start(audit: AuditInPictures) -> str:
    """Where a way down begins: at a network near this one where that is what is no local optimum."""
    return "this network" if audit.local_optimum.subject is None else "a network near this one"


def value_of(audit: AuditInPictures, network: Network) -> Fraction | None:
    """The objective of a network found on the way: that of the upper bound, when it is its witness."""
    for bound in audit.bounds:
        if isinstance(bound, UpperBound) and bound.witness == network:
            return bound.bracket[1]
    return objective(audit.problem, network)
