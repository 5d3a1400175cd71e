"""Is there an exact Clarke KKT point near a float network? A box that holds one, or what is missing.

The network is polished to the KKT point of its pattern, the point is read with several tolerances, Newton's method
makes it precise, and the first reading whose box the checker accepts is the proof. The distance from the network is
what the certificate states; it may be large when training stopped early.

Incomplete: points with non-unique multipliers, with more directions than their equations determine, with a slope at an
end of its interval or with a kink at a point without multiplier have no box; the reason says which of these was met.

Source: `docs/mathematics.md`, 8.1 "The equations of a point" and 8.2 "Krawczyk's test".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from solvers.instance import ProblemInstance
from solvers.kkt.pattern_polish import FloatNeurons, FloatPoint, polish
from verify.checker import Accepted, Refused
from verify.checker.enclosed_points import Point
from verify.checker.enclosure import StationaryNear
from verify.checker.goals import rules
from verify.deciders.enclosure.distance import apartness, distance_of, nearly_apart
from verify.deciders.enclosure.matching import assign, shares
from verify.deciders.enclosure.newton import SingularSystemError, find_root
from verify.deciders.enclosure.pricing import with_pricing
from verify.deciders.enclosure.recognising import recognised
from verify.deciders.enclosure.structure import Structure, degrees_of_freedom, directions_of, identify
from verify.deciders.global_optimality.instance import as_decay_instance, as_instance
from verify.deciders.proposal import checked, sealed
from verify.deciders.rounding import dyadic
from verify.deciders.time_limits import TimeIsUpError, is_late, now, poll, seconds_left
from verify.numbers.counts import count
from verify.numbers.floats import float_outgoing, float_weights, to_float
from verify.problem.members import has_margin, is_free, margins
from verify.problem.network import Network
from verify.problem.phrases import stationary_point
from verify.problem.problem import Problem, outputs

__all__ = ["Nearby", "Sought", "nearby_point"]

TOLERANCES = (1e-6, 1e-5, 1e-4, 1e-7, 1e-3)
"""What counts as zero when a float point is read, relative to the largest of its kind; tried in this order."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """What was found near a network.

    certificate: accepted by the checker, or None.   reason: what was found, or what is missing.   apart: what the
    distance is made of, in words.   structure: the reading.
    """

    certificate: StationaryNear | None
    reason: str
    apart: str = ""
    structure: Structure | None = None
    recognised: Network | None = None


MOST_PAIRS = 20_000
"""Pairs of a neuron and a point beyond which no point is looked for: its programs and its check would take minutes."""

LITTLE = 1e-3
"""How small an output bias counts, beside the largest multiplier."""

FEW = 30
"""Points of a support that is priced whatever is known of the best objective."""

SLACK = 1e-6
"""By this part an objective may be above another that it may equal."""

SECONDS = 1e-6
"""About what one term of the equations takes, in exact arithmetic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What an exact point near a network is sought for: no more is done about it than that.

    nearest: up to which distance, relative to the norm, it answers questions.   farthest: beyond which it is of no use.
    is_open: whether it is open which network of any width is the best, or of this width.
    least, most: between which ends the best objective of any width lies.   value: the objective of the float point that
    was found.   None where that is not known.
    """

    nearest: float = math.inf
    farthest: float = math.inf
    is_open: bool = True
    least: Fraction | None = None
    most: Fraction | None = None
    value: float | None = None

    @property
    def may_be_best(self) -> bool:
        """Whether the point may be an optimum of any width, by what is known of it in floats."""
        return self.value is None or self.most is None or self.value <= to_float(self.most) * (1 + SLACK)

    @property
    def is_best(self) -> bool:
        """Whether it is as good as any, by floats."""
        return self.value is not None and self.least is not None and self.value <= to_float(self.least) * (1 + SLACK)


def nearby_point(
    problem: Problem, network: Network, deadline: float | None = None, sought: Sought | None = None
) -> Nearby:
    """The exact KKT point to which the network's own pattern leads, enclosed and accepted by the checker.

    sought: None for all that can be said of it.

    Raises TimeIsUpError when the step that this thread is in has to end, or would during what comes next, and when the
    deadline ended the search for the point in floats.
    """
    if network.width * len(problem.rows) > MOST_PAIRS:
        return Nearby(None, f"it is not looked for beyond {MOST_PAIRS} pairs of a neuron and a point")
    if problem.fit_tolerance:
        return Nearby(None, "it is not looked for with a fit tolerance")
    poll(SECONDS * network.width * len(problem.rows) * len(problem.rows[0]))
    instance, firsts = as_instance(problem), np.arange(len(problem.rows))
    if problem.asks_fit:
        instance, firsts = _without_copies(instance)
    scale = _scale(problem, network)
    if scale is None:
        return Nearby(None, "the network does not fit the data")
    neurons = _neurons(problem, network, scale)
    point = _polished(problem, instance, neurons, deadline)
    if point is None and is_late(deadline):
        raise TimeIsUpError
    if point is None:
        may_miss = problem.asks_fit and not has_margin(problem.goal)
        why = ": no network with its pattern may meet the targets" if may_miss else ""
        return Nearby(None, f"the convex program of the network's pattern could not be solved{why}")
    sought = replace(sought or Sought(), value=point.value)
    exact = recognised(problem, network, point) if problem.asks_fit else None
    if point.outside:  # the slopes there are no Clarke slopes, so no certificate would be accepted
        change = "changes sides" if point.outside == 1 else "change sides"
        far = f"after {count(point.rounds, 'convex program')} {count(point.outside, 'preactivation')} still {change}"
        return Nearby(None, f"from its pattern, {far}", recognised=exact)
    reasons: list[str] = []
    tried: set[bytes] = set()
    loss = None if problem.asks_fit else as_decay_instance(problem).loss
    for tolerance in TOLERANCES:
        poll()
        structure = identify(instance, point, neurons, tolerance, loss)
        if structure is None or structure.reading in tried:
            continue
        tried.add(structure.reading)
        try:
            found = _certificate(problem, network, scale, structure, firsts, neurons, sought, deadline)
        except SingularSystemError as error:
            reasons.append(_singular(problem, instance, structure, error.nullity))
            continue
        if isinstance(found, str):
            reasons.append(found)
            continue
        certificate, unknown = found
        apart = apartness(problem, network, certificate, unknown)
        return Nearby(certificate, f"an exact {stationary_point(problem)}", apart, structure, exact)
    reason = reasons[0] if reasons else "the point could not be read"
    return Nearby(None, reason, recognised=exact)


def _without_copies(instance: ProblemInstance) -> tuple[ProblemInstance, NDArray[np.intp]]:
    """The instance without the copies of points with the same target, and the index of each point that is left."""
    table = np.column_stack([instance.rows, instance.targets])
    _, firsts = np.unique(table, axis=0, return_index=True)
    firsts = np.sort(firsts)
    return replace(instance, rows=instance.rows[firsts], targets=instance.targets[firsts]), firsts


def _scale(problem: Problem, network: Network) -> Fraction | None:
    """What brings the network to margin 1 (min-norm: 1); None when it does not fit."""
    if not problem.asks_fit or not has_margin(problem.goal):
        return Fraction(1)
    least = min(margins(problem, outputs(problem, network)))
    return dyadic(1 / math.sqrt(to_float(least)), 53) if least > 0 else None


def _neurons(problem: Problem, network: Network, scale: Fraction) -> FloatNeurons:
    weights, outgoing = float_weights(network), float_outgoing(network, clamp=False)
    classes = {mask: place for place, mask in enumerate(problem.architecture.mask_classes)}
    masks = np.array([classes[mask] for mask in network.architecture.masks])
    u, signs = np.abs(outgoing)[:, None] * weights * to_float(scale) ** 2, np.where(outgoing < 0, -1, 1)
    if problem.architecture.slope == 1:
        return FloatNeurons(signs[:, None] * u, np.ones_like(signs), masks)
    return FloatNeurons(u, signs, masks)


def _certificate(
    problem: Problem,
    network: Network,
    scale: Fraction,
    structure: Structure,
    firsts: NDArray[np.intp],
    neurons: FloatNeurons,
    sought: Sought,
    deadline: float | None,
) -> tuple[StationaryNear, Point] | str:
    """An accepted certificate and the point whose equations it solves, or why there is none.

    A check makes and evaluates these equations anew: it is not begun in less time than they took here.
    """
    owners = assign(structure.p, structure.signs, structure.masks, neurons)
    flips = np.ones(network.width, int)
    if problem.architecture.slope == 1:
        flips = np.array([-1 if value < 0 else 1 for value in network.output_weights])
    parts = shares(owners, neurons, len(structure.p), flips)
    if not all(parts):
        return f"the point has {count(len(structure.p), 'direction')}, and the network no neuron for one of them"
    apart = nearly_apart(problem, network, scale, structure, parts)
    if apart > sought.farthest:
        return f"the one that its pattern leads to is about {apart:.2g} of its norm away"
    start, sizes = _start(problem, structure)
    draft = StationaryNear(
        moved=Fraction(0),
        factor=scale,
        optimality="stationary point",
        support=tuple(int(firsts[i]) for i in structure.support),
        directions=directions_of(structure, parts, _unit(problem)),
        centre=tuple(dyadic(value, 60) for value in start.tolist()),
        radii=(),
        inverse=(),
        denominator=1,
        fixed=_fixed(problem, structure, firsts),
    )
    began, terms = now(), len(draft.directions) * len(draft.support) ** 2 * len(problem.rows[0])
    poll(SECONDS * terms)
    point = Point(problem, network, draft)
    if len(point.equations) != point.unknowns:
        are = "is" if len(point.equations) == 1 else "are"
        return f"there {are} {count(len(point.equations), 'equation')} for {count(point.unknowns, 'unknown')}"
    root = find_root(point.equations, start, sizes, point.logits)
    if root is None:
        return "Newton's method did not converge from the float point"
    draft = replace(draft, centre=root.centre, radii=root.radii, inverse=root.inverse, denominator=root.denominator)
    draft = replace(draft, moved=distance_of(problem, network, draft, point))
    took = now() - began
    poll(took)
    is_whole = sum(map(len, parts)) == network.width  # else it is no local optimum for that reason alone
    proof, result = _checked(problem, network, draft, may_be_local=is_whole and seconds_left() > 2 * took)
    if isinstance(result, Refused):
        return _refusal(result)
    is_asked = apart <= sought.nearest and (sought.is_open or proof.optimality == "stationary point")
    is_asked = is_asked or len(draft.support) <= FEW
    if is_free(problem.bias) or not (is_asked and sought.may_be_best):
        return proof, point
    return _priced(problem, network, draft, point, sought, took, deadline) or proof, point


def _priced(
    problem: Problem,
    network: Network,
    draft: StationaryNear,
    point: Point,
    sought: Sought,
    took: float,
    deadline: float | None,
) -> StationaryNear | None:
    """The draft as an optimum of any width, accepted by the checker; took: the seconds that a check takes."""
    cells = [cell for _, _, cell in point.parts]
    priced = with_pricing(problem, draft, cells, deadline, is_likely=sought.is_best)
    if priced is None or seconds_left() <= took:
        return None
    stronger = _sealed(problem, network, priced)
    return None if isinstance(checked(problem, network, stronger), Refused) else stronger


def _checked(
    problem: Problem, network: Network, draft: StationaryNear, *, may_be_local: bool
) -> tuple[StationaryNear, Accepted | Refused]:
    """The draft as a local optimum when the checker accepts it so, which is most often; else as a stationary point.

    may_be_local: whether it can be one, and there is time for two checks.
    """
    if may_be_local:
        local = _sealed(problem, network, replace(draft, optimality="local optimum"))
        result = checked(problem, network, local)
        if not isinstance(result, Refused):
            return local, result
    proof = _sealed(problem, network, draft)
    return proof, checked(problem, network, proof)


def _sealed(problem: Problem, network: Network, proof: StationaryNear) -> StationaryNear:
    return cast("StationaryNear", sealed(problem, network, proof))


def _polished(
    problem: Problem, instance: ProblemInstance, neurons: FloatNeurons, deadline: float | None
) -> FloatPoint | None:
    if problem.asks_fit:
        return polish(instance, neurons, deadline)
    from solvers.any_width.loss_polish import polish_with_losses

    return polish_with_losses(as_decay_instance(problem), neurons, deadline)


def _unit(problem: Problem) -> float:
    """How long u = |v| w is where the amplitude is 1: mu_w m."""
    decay = problem.decay
    return to_float(decay.hidden) * math.sqrt(to_float(decay.hidden * decay.output))


def _fixed(problem: Problem, structure: Structure, firsts: NDArray[np.intp]) -> tuple[tuple[int, Fraction], ...]:
    """The multipliers at an end of a loss."""
    loss = rules(problem.goal).loss(Fraction(0))
    found: list[tuple[int, Fraction]] = []
    for i, end in zip(structure.support, structure.ends, strict=True):
        value = loss.high if end > 0 else loss.low
        found += [(int(firsts[i]), value)] if end and value is not None else []
    return tuple(found)


def _start(problem: Problem, structure: Structure) -> tuple[np.ndarray, np.ndarray]:
    """The float point as a vector of unknowns, and their sizes, in the order of the certificate."""
    largest, unit, decay = np.abs(structure.multipliers).max(), _unit(problem), problem.decay
    length = math.sqrt(to_float(decay.hidden * decay.output))
    start = [*structure.multipliers[structure.ends == 0]]
    sizes = [largest] * len(start)
    if problem.has_output_bias:
        start.append(structure.bias)
        sizes.append(max(abs(structure.bias), largest * LITTLE))
    for place in range(len(structure.p)):
        if not structure.fixed[place]:
            start.append(structure.amplitudes[place] / unit)
            sizes.append(structure.amplitudes.max() / unit)
        if structure.mirrors[place] >= 0:
            continue
        kinks = (structure.sides[place] == 0) & ~structure.copies[place]
        start += [*structure.products[place][kinks]]
        sizes += [largest] * int(kinks.sum())
        mask = problem.architecture.mask_classes[structure.masks[place]]
        if is_free(problem.bias) and structure.p.shape[1] - 1 in mask:
            start.append(structure.p[place, -1] * length)
            sizes.append(max(1e-300, np.abs(structure.p[:, -1]).max() * length))
    return np.array(start), np.array(sizes)


def _singular(problem: Problem, instance: ProblemInstance, structure: Structure, nullity: int) -> str:
    multipliers, amplitudes = degrees_of_freedom(instance, structure)
    multipliers *= problem.asks_fit
    live, support = len(structure.p), len(structure.support)
    said: list[str] = []
    if multipliers:
        said.append(f"the multipliers at the point are not unique ({_dimensions(multipliers)})")
    if amplitudes:
        more = f", {live} directions for {count(support, 'point')} in the support" if live > support else ""
        said.append(f"its neurons' sizes are not unique ({_dimensions(amplitudes)}{more})")
    return (
        " and ".join(said) or f"the equations of the point are dependent: they leave {count(nullity, 'unknown')} open"
    )


def _dimensions(number: int) -> str:
    return count(number, "dimension")


def _refusal(refused: Refused) -> str:
    """What a refusal of the checker says about the point."""
    words = {
        "has a slope": "a kink has its slope at an end of its interval, or outside",
        "has a number": "a number that must be positive is not: a multiplier, a size, or a preactivation off its kinks",
        "has a multiplier": "a point is at the end of a piece of its loss",
        "leaves point": "a point outside the support has the least margin too, or is not fitted",
        "does not show": "the equations are too badly conditioned for their enclosure",
    }
    plain = next((text for start, text in words.items() if refused.reason.startswith(start)), "the checker refused it")
    return f"{plain} ({refused.place}: {refused.reason})"
