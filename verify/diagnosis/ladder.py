"""What each improvement would bring: a ladder of explicit networks that fit, each better than the one before.

    given > without its dead neurons > balanced > polished > best of at most its width > best known > bound

Removing dead neurons and balancing keep the outputs at the data as they are. Balancing turns (w_j, v_j) into
(c w_j, v_j / c) with c^2 = |v_j| / ||w_j||, which makes 1/2 (||w_j||^2 + v_j^2) as small as it gets, |v_j| ||w_j||.
Polishing is a convex program in floats that begins with the activation patterns of the network; nothing is said of the
patterns of what it ends at, which rounding to rationals may change: only that it fits, is no wider, and its objective.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import final

from verify.checker.codec import rational_text
from verify.checker.errors import InputError
from verify.checker.exact import squared_norm
from verify.checker.told import decimal
from verify.deciders.estimates import Estimates, estimate, exact_objective, is_silent
from verify.deciders.global_optimality.better import is_no_wider
from verify.deciders.global_optimality.record import Bracket
from verify.deciders.own_width.record import WidthBracket
from verify.deciders.time_limits import poll
from verify.deciders.witnesses import CONSTANT_COST, network_with
from verify.numbers.counts import count
from verify.numbers.decimals import about
from verify.numbers.intervals import Interval
from verify.numbers.values import rational
from verify.problem.members import trains_all
from verify.problem.network import Network
from verify.problem.problem import Problem, half_squared_norm

SMALLEST_STEP = Fraction(1, 10**7)
"""A rung must lower the objective by more than this part."""

POWERS = 40  # factors are 2^a 3^b 5^c with |b|, |c| up to this: within 2e-4 of any number, with few primes


@final
class RungKind(Enum):
    """What a rung of the ladder stands for."""

    GIVEN = "given"
    WITHOUT_DEAD = "dead neurons removed"
    BALANCED = "balanced"
    POLISHED = "polished"
    OWN_WIDTH = "best known of at most its width"
    ANY_WIDTH = "best known of any width"
    BOUND = "lower bound"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """A network that fits, with its exact objective; only the lower bound has no network.

    excess: how far the objective is above the best possible one, as a bracket; None when no bracket is known, and of
    the lower bound, which is no network.
    """

    step: RungKind
    objective: Fraction
    network: Network | None
    excess: tuple[Fraction, Fraction] | None

    def __repr__(self) -> str:
        width = "" if self.network is None else f", {count(self.network.width, 'neuron')}"
        excess = "" if self.excess is None else f", excess {Interval(*self.excess)}"
        return f"<Rung: {self.step.value}{width}, objective {about(self.objective)}{excess}>"

    def to_json(self) -> dict[str, object]:
        """The rung as JSON, without the weights."""
        return {
            "step": self.step.value,
            "objective": rational_text(self.objective),
            "neurons": None if self.network is None else self.network.width,
            "excess_hint": None if self.excess is None else [decimal(end) for end in self.excess],
        }


def improvements(problem: Problem, subject: Network, like: Estimates) -> tuple[Rung, ...]:
    """The first rungs, from `subject`, which fits: without its dead neurons, and balanced; no excess is known yet.

    like: estimates of the subject.   A step that does not lower the objective by `SMALLEST_STEP` is left out, as is all
    whose numbers are too long to be kept.
    """
    silent = frozenset(j for j in range(subject.width) if is_silent(problem, subject, like, j))
    if not trains_all(problem.trained):
        return _falling(problem, (), _at_given_outputs(subject, silent), like)
    kept = without(subject, silent)
    made = [(RungKind.GIVEN, subject)]
    if kept is not None:
        made.append((RungKind.WITHOUT_DEAD, kept))
    made.append((RungKind.BALANCED, balanced(problem, kept or subject)))
    first = _falling(problem, (), made[:1], like)
    if not first:
        return _falling(problem, (), made[1:], like)
    return _lower(first, ((step, network, _with_its_outputs(problem, first[0], network)) for step, network in made[1:]))


def climb(
    problem: Problem, first: tuple[Rung, ...], bracket: Bracket | WidthBracket | None, like: Estimates
) -> tuple[Rung, ...]:
    """The rungs to the lower bound, each below the one before, and their excess.

    first: the `improvements` of a network that fits, if there is one.   like: estimates on the same data.
    """
    found = _falling(problem, first, () if bracket is None else _known(problem, bracket), like)
    if not found:
        return ()
    return measured(found, *((None, None) if bracket is None else bracket.ends))


def measured(rungs: tuple[Rung, ...], lower: Fraction | None, upper: Fraction | None) -> tuple[Rung, ...]:
    """The same networks, as far above the best possible as these ends of a bracket say, and the lower end."""
    made = [rung for rung in rungs if rung.step is not RungKind.BOUND]
    if not made:
        return ()
    upper = min(made[-1].objective, made[-1].objective if upper is None else upper)
    found = tuple(replace(rung, excess=_excess(rung.objective, lower, upper)) for rung in made)
    if lower is None:
        return found
    return (*found, Rung(step=RungKind.BOUND, objective=lower, network=None, excess=None))


def _falling(
    problem: Problem, first: tuple[Rung, ...], more: Iterable[tuple[RungKind, Network]], like: Estimates
) -> tuple[Rung, ...]:
    """The first rungs and those of the others that are lower by `SMALLEST_STEP` than the one before."""
    return _lower(first, ((step, network, kept_objective(problem, network, like)) for step, network in more))


def _lower(first: tuple[Rung, ...], more: Iterable[tuple[RungKind, Network, Fraction | None]]) -> tuple[Rung, ...]:
    """The first rungs and those of the others, with their objectives, that are lower than the one before."""
    found = list(first)
    for step, network, value in more:
        poll()
        if value is not None and (not found or value < found[-1].objective * (1 - SMALLEST_STEP)):
            found.append(Rung(step=step, objective=value, network=network, excess=None))
    return tuple(found)


def _with_its_outputs(problem: Problem, given: Rung, network: Network) -> Fraction | None:
    """The objective of a network with the outputs of a given one at the data: it goes with the norm alone."""
    if given.network is None:
        return None
    if problem.has_output_bias:  # which has a share of its own
        return kept_objective(problem, network)
    before = half_squared_norm(problem, given.network)
    try:
        return rational(given.objective * half_squared_norm(problem, network) / before) if before else given.objective
    except (InputError, OverflowError):
        return None


def kept_objective(problem: Problem, network: Network, like: Estimates | None = None) -> Fraction | None:
    """The exact objective; None when the network does not fit, or the value is too long to be kept."""
    try:
        value = exact_objective(problem, network, estimate(problem, network, like))
        return None if value is None else rational(value)
    except (InputError, OverflowError):
        return None


def _excess(value: Fraction, lower: Fraction | None, upper: Fraction) -> tuple[Fraction, Fraction] | None:
    if not lower:
        return None
    return max(value / upper - 1, Fraction(0)), value / lower - 1


def _known(problem: Problem, bracket: Bracket | WidthBracket) -> Iterator[tuple[RungKind, Network]]:
    """The best networks of the search."""
    if not isinstance(bracket, Bracket):
        if bracket.witnesses:
            yield RungKind.OWN_WIDTH, bracket.witnesses[0]
        return
    if bracket.own is not None:
        yield RungKind.POLISHED, bracket.own
    narrow = next((witness for witness in bracket.witnesses if is_no_wider(problem, witness)), None)
    if narrow is not None:
        yield RungKind.OWN_WIDTH, narrow
    if bracket.witnesses:
        yield RungKind.ANY_WIDTH, bracket.witnesses[0]


def _at_given_outputs(subject: Network, silent: frozenset[int]) -> Iterator[tuple[RungKind, Network]]:
    """Those where the output weights are given: a neuron that adds nothing is put to 0, and nothing is balanced."""
    yield RungKind.GIVEN, subject
    rows = [[z * (j not in silent) for z in w] for j, w in enumerate(subject.hidden_weights)]
    yield RungKind.WITHOUT_DEAD, network_with(subject, rows)


def without(network: Network, neurons: frozenset[int]) -> Network | None:
    """The network without these neurons; None when there is nothing to remove, or nothing would be left."""
    kept = [j for j in range(network.width) if j not in neurons]
    if not kept or len(kept) == network.width:
        return None
    masks, weights = network.architecture.masks, network.hidden_weights
    hidden = [weights[j][c] for j in kept for c in masks[j]]
    shape = network.architecture.with_width_of([masks[j] for j in kept])
    return Network(shape, (hidden, [network.output_weights[j] for j in kept], *network.parameters[2:]))


def balanced(problem: Problem, network: Network) -> Network:
    """The same function with |v_j| = ||w_j|| nearly, and exactly where the factor is of the form 2^a 3^b 5^c.

    The norm never grows, and is within a factor 1 + 1e-7 of balance. A neuron without weights that count (free bias)
    has no balance; it is made nearly free.
    """
    counted = problem.norm_columns
    spare = Fraction(CONSTANT_COST) * squared_norm(value for layer in network.parameters for value in layer)
    factors: list[Fraction] = []
    for w, v in zip(network.hidden_weights, network.output_weights, strict=True):
        size, factor = squared_norm(w[c] for c in counted), Fraction(1)
        if size and v:
            factor = _smooth(_log2(v * v / size) / 4)
        elif v and any(w) and v * v > spare:
            factor = _smooth(_log2(v * v / spare) / 2)
        if size * factor**2 + v * v / factor**2 >= size + v * v:
            factor = Fraction(1)
        factors.append(factor)
    return rescaled(network, factors)


def rescaled(network: Network, factors: Iterable[Fraction]) -> Network:
    """The same function with each w_j times its factor, which is above 0, and v_j divided by it."""
    hidden: list[Fraction] = []
    outgoing: list[Fraction] = []
    neurons = zip(network.hidden_weights, network.output_weights, network.architecture.masks, factors, strict=True)
    for w, v, mask, factor in neurons:
        hidden += [w[c] * factor for c in mask]
        outgoing.append(v / factor)
    return Network(network.architecture, (hidden, outgoing, *network.parameters[2:]))


def _log2(number: Fraction) -> float:
    return math.log2(number.numerator) - math.log2(number.denominator)


def _smooth(logarithm: float) -> Fraction:
    """A number 2^a 3^b 5^c near 2^`logarithm`: products of such numbers stay short."""
    table = _smooth_table()
    place = bisect_left(table, (logarithm % 1.0,))
    _, three, five = min(
        (table[q % len(table)] for q in (place - 1, place)),
        key=lambda entry: abs((entry[0] - logarithm + 0.5) % 1.0 - 0.5) + 1e-12 * (abs(entry[1]) + abs(entry[2])),
    )
    two = round(logarithm - three * math.log2(3) - five * math.log2(5))
    return Fraction(2) ** two * Fraction(3) ** three * Fraction(5) ** five


@lru_cache(maxsize=1)
def _smooth_table() -> list[tuple[float, int, int]]:
    span = range(-POWERS, POWERS + 1)
    return sorted(((b * math.log2(3) + c * math.log2(5)) % 1.0, b, c) for b in span for c in span)
