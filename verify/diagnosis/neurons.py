"""Which neurons are dead, unbalanced or doubled, which sit at kinks, and which point the wrong way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import product
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import Floats
from verify.checker.codec import rational_text
from verify.checker.fit import bias_scale
from verify.checker.statement import squared_bias
from verify.deciders.estimates import Estimates, is_silent
from verify.deciders.witnesses import dot_product_scales, norms
from verify.numbers.floats import to_float
from verify.problem.members import has_margin, trains_all
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

if TYPE_CHECKING:
    from solvers.kkt.residual import KktFit, LocalModel

UNBALANCED = Fraction(1, 100)
"""A neuron is called unbalanced when |v| and ||w|| differ by more than this part of the larger one."""

DUST = Fraction(1, 10**20)
"""A neuron whose |v|^2 + |w|^2 is at most this part of the squared norm is what rounding left of 0: it is no fault."""

DOUBLED = 1e-3
"""Neurons of one output sign are called doubled when the angle between their weights is at most this (radians)."""

NEAR_KINK = 1e-6
"""A preactivation is near its kink when it is at most this part of `verify.deciders.witnesses.dot_product_scales`."""

UNDERFLOW = 1e-280
"""Sizes from here down lose digits as doubles, or are 0: nothing is told of what is measured by them."""

TOLD_APART = 1e-9
"""Wastes in floats that differ by more, relative to their sum, differ so exactly."""

SURELY = 1 - 1e-6
"""What is within a bound in floats, with this factor, is within it."""

TURNED = 1.0
"""A neuron is said to have to turn when its weights and its KKT direction are more degrees apart than this."""

UNPULLED = 1e-9
"""A neuron that the multipliers pull by less than this part of its size has no KKT direction."""

TURN_KINK, TURN_SHARE = 1e-3, 1e-3
"""For the angles, preactivations within this part of their reach, or of the neuron's largest, are kinks (training steps
to and fro across them), and neurons with less than this part of sum ||u_j|| are left out."""

MOST_TURNING, SETTLED = 8, 1e-9
"""Min-norm: points at kinks beyond which the signs of multipliers are not tried; a fit that need not be better."""

NEAREST_POINTS = 2000  # max-margin: only so many points of least margin are given multipliers for the angles


def _root(square: Fraction) -> float:
    """The root of a number whose square may be beyond doubles, where the root is none of them too large or small."""
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(to_float(square / Fraction(4) ** half)), half) if square else 0.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Imbalance:
    """A neuron with |v| != ||w||: their exact squares (a free bias does not count in ||w||)."""

    neuron: int
    outgoing_squared: Fraction
    hidden_squared: Fraction

    def __repr__(self) -> str:
        return f"<Imbalance: neuron {self.neuron}, |v| {self.outgoing_hint:.4g}, |w| {self.hidden_hint:.4g}>"

    @property
    def outgoing_hint(self) -> float:
        """|v|."""
        return _root(self.outgoing_squared)

    @property
    def hidden_hint(self) -> float:
        """||w||."""
        return _root(self.hidden_squared)

    @property
    def waste_hint(self) -> float:
        """What balance would take off 1/2 ||theta||^2: 1/2 (|v| - ||w||)^2."""
        return (self.outgoing_hint - self.hidden_hint) ** 2 / 2


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Neurons:
    """The neurons by what is wrong with them. Fields named `hint` come from floats; the others are exact.

    dead: they have an output weight, are 0 at every point of the data, and cost norm.   dead_share: their share of
    ||theta||^2, an output bias at the scale at which it counts beside the weights (`docs/mathematics.md`, 2.5 "Output
    biases").   idle, idle_share: the same of those that cost norm and have no output weight, v = 0, active or not.
    zero: neurons whose weights are all zero (they cost nothing).   Together they are the `silent` ones.
    unbalanced: beyond `UNBALANCED`, the most wasteful first; silent ones and those of no size (`DUST`) are left out.
    doubled_hints: groups that point the same way (`DOUBLED`), with the same output sign and mask: one would do.
    near_kink_hints: (neuron, point) with a preactivation within `NEAR_KINK` of 0, the exact kinks among them.
    has_more_kinks: whether there may be others, of neurons of no size (`DUST`) or at points that are 0 for a neuron, or
    where doubles have no room for the sizes (`UNDERFLOW`).
    turn_hints: (neuron, degrees) beyond `TURNED` between w_j and v_j sum_i lambda_i y_i g_ij x_i, at the multipliers,
    their signs and the slopes at kinks and near them that suit the balanced network best; first those with the largest
    ||u_j|| (1 - cos). None where the network, or one near it, is known to be a KKT point.
    asked_to_turn: of how many neurons the angle was found; small ones, and what is pulled nowhere, are left out.
    dust: neurons of no size (`DUST`) that are not silent.
    """

    count: int
    dead: tuple[int, ...]
    dead_share: Fraction
    idle: tuple[int, ...]
    idle_share: Fraction
    zero: tuple[int, ...]
    unbalanced: tuple[Imbalance, ...]
    doubled_hints: tuple[tuple[int, ...], ...]
    near_kink_hints: tuple[tuple[int, int], ...]
    turn_hints: tuple[tuple[int, float], ...]
    dust: tuple[int, ...] = ()
    has_more_kinks: bool = False
    asked_to_turn: int = 0

    def __repr__(self) -> str:
        told = (
            ("dead", self.dead),
            ("idle", self.idle),
            ("zero", self.zero),
            ("unbalanced", self.unbalanced),
            ("turned", self.turn_hints),
        )
        return f"<Neurons: {self.count}; {', '.join(f'{len(found)} {what}' for what, found in told)}>"

    @property
    def silent(self) -> frozenset[int]:
        """The neurons that add exactly 0 to the output at every point of the data."""
        return frozenset((*self.dead, *self.idle, *self.zero))

    def to_json(self) -> dict[str, object]:
        """The neurons as JSON; of the near-kinks the first ten."""
        return {
            "count": self.count,
            "dead": list(self.dead),
            "dead_share_of_squared_norm": rational_text(self.dead_share),
            "idle": list(self.idle),
            "idle_share_of_squared_norm": rational_text(self.idle_share),
            "zero": list(self.zero),
            "unbalanced": [
                {"neuron": q.neuron, "outgoing_hint": q.outgoing_hint, "hidden_hint": q.hidden_hint}
                for q in self.unbalanced
            ],
            "doubled_hint": [list(group) for group in self.doubled_hints],
            "near_kinks_hint": [list(pair) for pair in self.near_kink_hints[:10]],
            "near_kinks_count_hint": len(self.near_kink_hints),
            "turn_degrees_hint": [[neuron, round(angle, 3)] for neuron, angle in self.turn_hints],
        }


def study_neurons(problem: Problem, network: Network, estimates: Estimates, *, may_turn: bool) -> Neurons:
    """The neurons of `network`.   may_turn: whether it fits, and may not be a KKT point: else no angles are found."""
    counted = problem.norm_columns
    hidden = [sum((w[c] * w[c] for c in counted), Fraction(0)) for w in network.hidden_weights]
    outgoing = [v * v for v in network.output_weights]
    is_whole = trains_all(problem.trained)
    costs = [a + b for a, b in zip(hidden, outgoing, strict=True)] if is_whole else hidden
    silent = [j for j in range(len(costs)) if is_silent(problem, network, estimates, j)]
    dead = tuple(j for j in silent if costs[j] and outgoing[j])
    idle = tuple(j for j in silent if costs[j] and not outgoing[j])
    total = sum(costs, squared_bias(problem, network) / _scale_of_bias(problem, network))
    live = np.ones(len(costs), bool)
    live[silent] = False
    sized = live & np.array([cost > DUST * total for cost in costs], bool)
    held = sized & (norms(estimates.weights) > UNDERFLOW)
    scales = dot_product_scales(estimates.rows, estimates.weights, bias=problem.architecture.bias)
    kinks = _near_kinks(problem, network, estimates, held, NEAR_KINK, scales)
    turns, asked = _turns(problem, network, estimates, live, scales) if may_turn and live.any() else ((), 0)
    return Neurons(
        count=len(costs),
        dead=dead,
        dead_share=sum((costs[j] for j in dead), Fraction(0)) / (total or 1),
        idle=idle,
        idle_share=sum((costs[j] for j in idle), Fraction(0)) / (total or 1),
        zero=tuple(j for j in silent if not costs[j]),
        unbalanced=_unbalanced(hidden, outgoing, sized) if is_whole else (),
        doubled_hints=_doubled(network, estimates, held),
        near_kink_hints=tuple((int(j), int(i)) for j, i in np.argwhere(kinks)),
        turn_hints=turns,
        dust=tuple(int(j) for j in np.flatnonzero(live & ~sized)),
        has_more_kinks=bool((live & ~held).any()) or _are_points_unseen(network, estimates, live, scales),
        asked_to_turn=asked,
    )


def _scale_of_bias(problem: Problem, network: Network) -> Fraction:
    """What the square of an output bias is divided by beside the weights of the network: its margin, where it fits."""
    is_fitting = objective(problem, network) is not None
    return bias_scale(problem, network) if is_fitting else Fraction(1)


def _unbalanced(hidden: list[Fraction], outgoing: list[Fraction], live: NDArray[np.bool_]) -> tuple[Imbalance, ...]:
    found = [
        Imbalance(neuron=j, outgoing_squared=v, hidden_squared=w)
        for j, (v, w) in enumerate(zip(outgoing, hidden, strict=True))
        if live[j]
    ]
    share = (1 - UNBALANCED) ** 2
    apart = [
        q
        for q in found
        if min(q.outgoing_squared, q.hidden_squared) < share * max(q.outgoing_squared, q.hidden_squared)
    ]
    return tuple(sorted(apart, key=cmp_to_key(_more_wasteful)))


def _more_wasteful(first: Imbalance, second: Imbalance) -> int:
    """-1 where the first one wastes more, 1 where the second one does, 0 where they waste the same; exactly.

    (|v| - ||w||)^2 = s - 2 sqrt(p) with the sum s and the product p of the squares: the sign of s - t - 2 sqrt(p) +
    2 sqrt(q) is that of two numbers, one of them a square root, after squaring.
    """
    one, other = first.waste_hint, second.waste_hint
    if abs(one - other) > max(TOLD_APART * (one + other), UNDERFLOW):  # never so with infinities
        return -1 if one > other else 1
    p, q = (4 * x.outgoing_squared * x.hidden_squared for x in (first, second))
    apart = first.outgoing_squared + first.hidden_squared - second.outgoing_squared - second.hidden_squared
    # the sign of (apart + sqrt(q)) - sqrt(p): of the square of the first less p, where the first is not negative
    if apart < 0 and apart**2 > q:
        return 1
    rest = apart**2 + q - p  # and 2 apart sqrt(q) beside it
    root = 4 * apart**2 * q * (1 if apart > 0 else -1)  # its square, with its sign
    beyond = rest**2 * (1 if rest > 0 else -1) + root
    return -1 if beyond > 0 else 1 if beyond < 0 else 0


def _doubled(network: Network, estimates: Estimates, live: NDArray[np.bool_]) -> tuple[tuple[int, ...], ...]:
    sizes = norms(estimates.weights)
    units = estimates.weights / np.where(sizes > 0, sizes, 1.0)[:, None]
    masks = network.architecture.masks
    groups: list[list[int]] = []
    for j in np.flatnonzero(live & (sizes > 0)):
        for group in groups:
            i = group[0]
            same = masks[i] == masks[j] and estimates.outgoing[i] * estimates.outgoing[j] > 0
            if same and np.linalg.norm(units[group] - units[j], axis=1).max() <= DOUBLED * SURELY:
                group.append(int(j))
                break
        else:
            groups.append([int(j)])
    return tuple(tuple(group) for group in groups if len(group) > 1)


def _near_kinks(
    problem: Problem,
    network: Network,
    estimates: Estimates,
    live: NDArray[np.bool_],
    share: float,
    scales: Floats,
) -> NDArray[np.bool_]:
    """(k, n): where a live neuron is within `share` of the scales from its kink, at points that it sees at all."""
    if problem.architecture.slope == 1:
        return np.zeros(estimates.preactivations.shape, bool)
    near = (np.abs(estimates.preactivations) <= SURELY * share * scales) & (scales > UNDERFLOW)
    for mask in problem.mask_classes:
        here = np.array([seen == mask for seen in network.architecture.masks])
        near[np.ix_(here, ~estimates.rows[:, list(mask)].any(axis=1))] = False
    return near & live[:, None]


def _are_points_unseen(network: Network, estimates: Estimates, live: NDArray[np.bool_], scales: Floats) -> bool:
    """Whether a point is 0 in all that some live neuron sees: its preactivation is 0 there whatever the weights.

    Or whether doubles cannot tell, as their product is next to none.
    """
    if (scales[live] <= UNDERFLOW).any():
        return True
    seen = {mask for mask, is_live in zip(network.architecture.masks, live, strict=True) if is_live}
    return any(not estimates.rows[:, list(mask)].any(axis=1).all() for mask in seen)


def _turns(
    problem: Problem, network: Network, estimates: Estimates, live: NDArray[np.bool_], scales: Floats
) -> tuple[tuple[tuple[int, float], ...], int]:
    """The angles at the live neurons, balanced, and of how many: there a KKT residual is about directions alone."""
    counted = np.zeros(estimates.weights.shape[1], bool)
    counted[list(problem.norm_columns)] = True
    sizes = norms(np.where(counted, estimates.weights, 0.0)) * np.abs(estimates.outgoing)
    places = np.flatnonzero(live & (sizes > TURN_SHARE * sizes[live].sum()))
    if not len(places):
        return (), 0
    largest = np.abs(estimates.preactivations).max(axis=1, keepdims=True)  # where x is 0, b has nothing else beside it
    kinks = _near_kinks(problem, network, estimates, live, TURN_KINK, np.maximum(scales, largest))
    model = _balanced_model(problem, network, estimates, places, counted, kinks)
    fit = _best_fit(model, free_signs=not has_margin(problem.goal) and not problem.fit_tolerance)
    if fit is None:
        return (), 0
    own = np.where(counted, model.weights, 0.0) / np.sqrt(model.norm)
    pull = np.where(counted, own - fit.residual[: own.size].reshape(own.shape), 0.0)
    cosine = (own * pull).sum(axis=1) / np.maximum(norms(own) * norms(pull), 1e-300)
    angles = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
    costs = norms(own) ** 2 * (1.0 - cosine)
    is_pulled = norms(pull) > UNPULLED * norms(own)  # what is pulled nowhere has no direction to differ from
    order = [int(q) for q in np.argsort(-costs, kind="stable") if angles[q] > TURNED and is_pulled[q]]
    return tuple((int(places[q]), float(angles[q])) for q in order), int(is_pulled.sum())


def _best_fit(model: LocalModel, *, free_signs: bool) -> KktFit | None:
    """The best multipliers and slopes, over all signs of multipliers at kinks; None where these are too many.

    For each vector of signs what the multipliers pull is a projection onto a convex cone, so that there is one best.
    """
    from solvers.kkt.residual import fit_multipliers

    turning = [int(i) for i in np.flatnonzero(model.kink.any(axis=0))] if free_signs else []
    if len(turning) > MOST_TURNING:
        return None
    best: KktFit | None = None
    for signs in product((False, True), repeat=len(turning)):
        negative = frozenset(i for i, is_negative in zip(turning, signs, strict=True) if is_negative)
        fit = fit_multipliers(model, 1.0, free_signs=free_signs, negative=negative)
        if best is None or fit.epsilon < best.epsilon:
            best = fit
        if best.epsilon < SETTLED:
            break
    return best


def _balanced_model(
    problem: Problem,
    network: Network,
    estimates: Estimates,
    places: NDArray[np.intp],
    counted: NDArray[np.bool_],
    kinks: NDArray[np.bool_],
) -> LocalModel:
    """The neurons at `places`, balanced, on the points of least margin; near-kinks count as kinks.

    With given output weights they are as they are.
    """
    from solvers.kkt.residual import LocalModel, OutputBias

    margin = has_margin(problem.goal)
    weights, outgoing = estimates.weights[places], estimates.outgoing[places]
    sizes = norms(np.where(counted, weights, 0.0))
    is_whole = trains_all(problem.trained)
    factor = np.sqrt(np.abs(outgoing) / sizes) if is_whole else np.ones(len(sizes))
    signs = estimates.targets if margin else np.ones(len(estimates.outputs))
    slacks = signs * estimates.outputs
    slacks = slacks - slacks.min() if margin else np.zeros(len(slacks))
    if problem.fit_tolerance:  # the nearer end of each interval
        apart = estimates.outputs - estimates.targets
        signs, slacks = np.where(apart > 0, -1.0, 1.0), np.maximum(to_float(problem.fit_tolerance) - np.abs(apart), 0.0)
    norm = float(2 * (np.abs(outgoing) * sizes).sum()) if is_whole else float((sizes**2).sum())
    bias = None
    if problem.has_output_bias:
        least = float((signs * estimates.outputs).min()) if margin else 1.0
        b, of_bias = to_float(network.output_bias), to_float(problem.decay.output_bias or Fraction(0))
        bias = OutputBias(value=b, pull=of_bias * b / least, weight=least**0.5)
        norm += of_bias * b * b / least
    chosen = np.argsort(slacks, kind="stable")[:NEAREST_POINTS]
    allowed = np.zeros(weights.shape, bool)
    for q, j in enumerate(places):
        allowed[q, list(network.architecture.masks[j])] = True
    return LocalModel(
        rows=estimates.rows[chosen],
        signs=signs[chosen],
        slope=to_float(problem.architecture.slope),
        weights=weights * factor[:, None],
        outgoing=outgoing / factor,
        on=estimates.preactivations[np.ix_(places, chosen)] > 0,
        kink=kinks[np.ix_(places, chosen)],
        counted=counted,
        allowed=allowed,
        slacks=slacks[chosen],
        norm=norm,
        trains_outputs=is_whole,
        bias=bias,
    )
