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
from solvers.kkt.pattern_polish import FloatNeurons, polish
from verify.checker import Accepted, Refused
from verify.checker.enclosure import Point, StationaryNear
from verify.deciders.enclosure.distance import apartness, distance_of
from verify.deciders.enclosure.matching import assign, shares
from verify.deciders.enclosure.newton import SingularSystemError, find_root
from verify.deciders.enclosure.pricing import with_pricing
from verify.deciders.enclosure.recognising import recognised
from verify.deciders.enclosure.structure import Structure, degrees_of_freedom, directions_of, identify
from verify.deciders.global_optimality.instance import as_instance
from verify.deciders.proposal import checked, sealed
from verify.deciders.rounding import dyadic
from verify.deciders.time_limits import TimeIsUpError, is_late, now, poll, seconds_left
from verify.numbers.counts import count
from verify.numbers.floats import float_outgoing, float_weights, to_float
from verify.problem.members import has_margin, is_free, margins
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs

__all__ = ["Nearby", "nearby_point"]

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

SECONDS = 1e-6
"""About what one term of the equations takes, in exact arithmetic."""


def nearby_point(problem: Problem, network: Network, deadline: float | None = None) -> Nearby:
    """The exact KKT point to which the network's own pattern leads, enclosed and accepted by the checker.

    Raises TimeIsUpError when the step that this thread is in has to end, or would during what comes next, and when the
    deadline ended the search for the point in floats.
    """
    if network.width * len(problem.rows) > MOST_PAIRS:
        return Nearby(None, f"it is not looked for beyond {MOST_PAIRS} pairs of a neuron and a point")
    if problem.fit_tolerance:
        return Nearby(None, "it is not looked for with a fit tolerance")
    poll(SECONDS * network.width * len(problem.rows) * len(problem.rows[0]))
    instance, firsts = _without_copies(as_instance(problem))
    scale = _scale(problem, network)
    if scale is None:
        return Nearby(None, "the network does not fit the data")
    neurons = _neurons(problem, network, scale)
    point = polish(instance, neurons, deadline)
    if point is None and is_late(deadline):
        raise TimeIsUpError
    if point is None:
        why = "" if has_margin(problem.goal) else ": no network with its pattern may meet the targets"
        return Nearby(None, f"the convex program of the network's pattern could not be solved{why}")
    exact = recognised(problem, network, point)
    if point.outside:  # the slopes there are no Clarke slopes, so no certificate would be accepted
        change = "changes sides" if point.outside == 1 else "change sides"
        far = f"after {count(point.rounds, 'convex program')} {count(point.outside, 'preactivation')} still {change}"
        return Nearby(None, f"from its pattern, {far}", recognised=exact)
    reasons: list[str] = []
    for tolerance in TOLERANCES:
        poll()
        structure = identify(instance, point, neurons, tolerance)
        if structure is None:
            continue
        try:
            found = _certificate(problem, network, scale, structure, firsts, neurons, deadline)
        except SingularSystemError as error:
            reasons.append(_singular(instance, structure, error.nullity))
            continue
        if isinstance(found, str):
            reasons.append(found)
            continue
        certificate, unknown = found
        apart = apartness(problem, network, certificate, unknown)
        return Nearby(certificate, "an exact KKT point", apart, structure, exact)
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
    if not has_margin(problem.goal):
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
    draft = StationaryNear(
        moved=Fraction(0),
        factor=scale,
        optimality="stationary point",
        support=tuple(int(firsts[i]) for i in structure.support),
        directions=directions_of(structure, parts),
        centre=(),
        radii=(),
        inverse=(),
        denominator=1,
    )
    began, terms = now(), len(draft.directions) * len(draft.support) ** 2 * len(problem.rows[0])
    poll(SECONDS * terms)
    point = Point(problem, network, draft)
    if len(point.equations) != point.unknowns:
        are = "is" if len(point.equations) == 1 else "are"
        return f"there {are} {count(len(point.equations), 'equation')} for {count(point.unknowns, 'unknown')}"
    start, sizes = _start(problem, structure)
    root = find_root(point.equations, start, sizes)
    if root is None:
        return "Newton's method did not converge from the float point"
    draft = replace(draft, centre=root.centre, radii=root.radii, inverse=root.inverse, denominator=root.denominator)
    draft = replace(draft, moved=distance_of(problem, network, draft, point))
    took = now() - began
    poll(took)
    proof, result = _checked(problem, network, draft, has_time=seconds_left() > 2 * took)
    if isinstance(result, Refused):
        return _refusal(result)
    if is_free(problem.bias):
        return proof, point
    priced = with_pricing(problem, draft, [cell for _, _, cell in point.parts], deadline)
    if priced is not None and seconds_left() > took:
        stronger = _sealed(problem, network, priced)
        if not isinstance(checked(problem, network, stronger), Refused):
            return stronger, point
    return proof, point


def _checked(
    problem: Problem, network: Network, draft: StationaryNear, *, has_time: bool
) -> tuple[StationaryNear, Accepted | Refused]:
    """The draft as a local optimum when the checker accepts it so, which is most often; else as a stationary point.

    has_time: whether there is time for two checks.
    """
    if has_time:
        local = _sealed(problem, network, replace(draft, optimality="local optimum"))
        result = checked(problem, network, local)
        if not isinstance(result, Refused):
            return local, result
    proof = _sealed(problem, network, draft)
    return proof, checked(problem, network, proof)


def _sealed(problem: Problem, network: Network, proof: StationaryNear) -> StationaryNear:
    return cast("StationaryNear", sealed(problem, network, proof))


def _start(problem: Problem, structure: Structure) -> tuple[np.ndarray, np.ndarray]:
    """The float point as a vector of unknowns, and their sizes, in the order of the certificate."""
    largest = np.abs(structure.multipliers).max()
    start, sizes = [*structure.multipliers], [largest] * len(structure.multipliers)
    for place in range(len(structure.p)):
        if not structure.fixed[place]:
            start.append(structure.amplitudes[place])
            sizes.append(structure.amplitudes.max())
        if structure.mirrors[place] >= 0:
            continue
        kinks = structure.sides[place] == 0
        start += [*structure.products[place][kinks]]
        sizes += [largest] * int(kinks.sum())
        mask = problem.architecture.mask_classes[structure.masks[place]]
        if is_free(problem.bias) and structure.p.shape[1] - 1 in mask:
            start.append(structure.p[place, -1])
            sizes.append(max(1e-300, np.abs(structure.p[:, -1]).max()))
    return np.array(start), np.array(sizes)


def _singular(instance: ProblemInstance, structure: Structure, nullity: int) -> str:
    multipliers, amplitudes = degrees_of_freedom(instance, structure)
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
        "leaves point": "a point outside the support has the least margin too, or is not fitted",
        "does not show": "the equations are too badly conditioned for their enclosure",
    }
    plain = next((text for start, text in words.items() if refused.reason.startswith(start)), "the checker refused it")
    return f"{plain} ({refused.place}: {refused.reason})"
