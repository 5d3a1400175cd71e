"""The best that any network can do: a certified bracket, better networks, or a proof that no network fits.

The dual bound (any width) comes from multipliers lambda with |sum_i lambda_i y_i s_a(x_i . u)| <= beta ||u|| for all u;
the upper bound is the exact objective of an explicit network. `solvers.any_width.dual_cuts` guesses both in floats.

Source: `docs/mathematics.md`, 5.1 "Weak duality" and 5.7 "Bracket, gap and excess"; the problems are
those of arXiv:2110.02732, section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.dual_trees import Bound
from verify.checker.errors import CertificateError
from verify.checker.exact import common_integers, sqrt_upper, squared_norm
from verify.checker.local import NotLocal
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.statement import pattern
from verify.deciders.estimates import Estimates, estimate, exact_objective
from verify.deciders.fit.interpolation import interpolate
from verify.deciders.fit.within_tolerance import within_tolerance
from verify.deciders.global_optimality.lower_bound import coarse, lower_bound
from verify.deciders.global_optimality.precise_search import Precise, precise_bracket
from verify.deciders.global_optimality.warm_start import WarmStart
from verify.deciders.proposal import FLOAT_FAILURES, certified
from verify.deciders.rounding import primitive, solve_exactly
from verify.deciders.simplified import Simplified, distinct, simplified
from verify.deciders.time_limits import TimeIsUpError, is_late, now, poll, share, until, within
from verify.deciders.witnesses import (
    distance,
    float_near,
    float_rows,
    merge_directions,
    network_of_directions,
    norms,
)
from verify.numbers.counts import count
from verify.numbers.decimals import at_least, at_most
from verify.numbers.intervals import Interval
from verify.problem.members import has_margin, is_free
from verify.problem.network import Network
from verify.problem.problem import Problem, objective

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import Atoms, DualProof, Outcome, Progress
    from solvers.any_width.master import Column
    from solvers.instance import Instance

__all__ = ["Bracket", "bracket_optimum", "infeasibility"]


SEARCH_SHARE = 0.85
"""Of the time, for the search in floats; the rest is for making exact what it found, at least `LEAST_SECONDS`."""

LEAST_SECONDS = 0.25

DROPPED = (1e-4, 1e-6, 1e-8)
"""Neurons smaller than these parts of the largest are left out, in turn: an interior point leaves traces of all
columns."""

MOST_EQUATIONS = 100
"""Equations of a fit (or points on shared lines) that are solved exactly, whatever the linear program says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """What is known of the best objective over all widths; every certificate in it was accepted by the checker.

    lower, upper: certificates or None.   witnesses: networks that fit, the best first, and their objectives.
    own: the best network found with the activation patterns of the network in question, no wider than that.
    status: how the search ended ("optimal", "time", "interrupted", "stalled").   history: one float `Progress` a round.
    """

    lower: LowerBound | None
    upper: UpperBound | None
    witnesses: tuple[Network, ...]
    objectives: tuple[Fraction, ...] = ()
    status: str
    history: tuple[Progress, ...]
    own: Network | None = None

    def __repr__(self) -> str:
        low, high = self.ends
        ends = f"[{'?' if low is None else at_least(low, 10)}, {'?' if high is None else at_most(high, 10)}]"
        if low is not None and high is not None:
            ends = repr(Interval(low, high))
        return f"<Bracket: {ends}, {self.status}, {count(len(self.witnesses), 'network')} that fit>"

    def __bool__(self) -> NoReturn:
        raise TypeError("a bracket has no truth value: ask `.ends`, or whether `.lower` or `.upper` is None")

    @property
    def ends(self) -> tuple[Fraction | None, Fraction | None]:
        """The bracket's two ends."""
        return (
            None if self.lower is None else self.lower.bracket[0],
            None if self.upper is None else self.upper.bracket[1],
        )


def infeasibility(problem: Problem) -> Infeasible | None:
    """A certificate that no network of any width fits the data, or None.

    h vanishes iff, per mask class, sum c_i x_i = 0 and, for slope < 1, sum c_i |t_i| = 0 on every line {t r} of the
    data. That is a linear program in lambda; lines are grouped exactly, the vertex found in floats is solved for
    exactly. A point alone on its line has multiplier 0, so that data in general position cost nothing.
    Complete up to the accuracy of the linear program for max-margin, and for min-norm where few points share lines: to
    meet targets exactly is a matter of linear equations, which are solved without the program (targets that are
    contradictory by a rounding have a solution in floats, and none).
    """
    simple = distinct(problem)
    found = _infeasible(simple.problem)
    return found if found is None or simple.is_same else certified(problem, None, simple.returned_certificate(found))


def _infeasible(problem: Problem) -> Infeasible | None:
    """`infeasibility`, with the points as they are."""
    lines = [] if problem.architecture.slope == 1 else [exact_lines(problem, mask) for mask in problem.mask_classes]
    kept = _sharing_lines(lines, len(problem.rows))
    if not kept:
        return None
    is_linear = not has_margin(problem.goal) and problem.fit_tolerance == 0
    size = sum(map(len, problem.mask_classes)) + sum(map(len, lines))
    is_small = min(size, len(kept)) <= MOST_EQUATIONS
    for support in (_vanishing_support(problem, lines, kept), dict.fromkeys(kept if is_linear and is_small else [], 0)):
        proof = _vanishing(problem, lines, support) if support else None
        accepted = None if proof is None else certified(problem, None, proof)
        if accepted is not None:
            return accepted
    return None


def _vanishing_support(
    problem: Problem, lines: list[list[tuple[list[int], list[Fraction]]]], kept: list[int]
) -> dict[int, int]:
    """The points that a vertex of the linear program uses with the signs of their multipliers; none without one."""
    from solvers.programs.linear import infeasibility_multipliers

    place = {i: q for q, i in enumerate(kept)}
    instance = as_instance(problem)
    guess = infeasibility_multipliers(
        replace(instance, rows=instance.rows[kept], targets=instance.targets[kept]),
        [
            ([place[i] for i, _ in pairs], [float(size) for _, size in pairs])
            for group in lines
            for indices, sizes in group
            if (pairs := [(i, size) for i, size in zip(indices, sizes, strict=True) if i in place])
        ],
    )
    if guess is None:
        return {}
    used = np.flatnonzero(np.abs(guess) > 1e-9 * np.abs(guess).max())
    return {kept[q]: 1 if guess[q] > 0 else -1 for q in used}


def _vanishing(
    problem: Problem, lines: list[list[tuple[list[int], list[Fraction]]]], support: dict[int, int]
) -> Infeasible | None:
    """Exact multipliers on these points, or on some of them, with h = 0 and value 1; the checker judges their signs.

    support: each point with the sign that its multiplier has where a fit tolerance makes the value depend on it.
    """
    margin = has_margin(problem.goal)
    equations = _equations(problem, lines, list(support))
    eps, targets = problem.fit_tolerance, problem.data.targets
    value_row = [Fraction(1) if margin else targets[i] - eps * sign for i, sign in support.items()]
    exact = solve_exactly([*equations, value_row], [Fraction(0)] * len(equations) + [Fraction(1)])
    if exact is None:
        return None
    try:
        return Infeasible(multipliers=tuple((i, value) for i, value in zip(support, exact, strict=True) if value))
    except CertificateError:  # numbers longer than certificates may hold
        return None


def _sharing_lines(lines: list[list[tuple[list[int], list[Fraction]]]], count: int) -> list[int]:
    """The points that are, in every mask class, at 0 or on a line with another such point."""
    kept = set(range(count))
    alone = {-1}
    while alone:
        shared = ([i for i in indices if i in kept] for group in lines for indices, _ in group)
        alone = {points[0] for points in shared if len(points) == 1}
        kept -= alone
    return sorted(kept)


def as_instance(problem: Problem) -> Instance:
    """The problem as float arrays for the solvers."""
    from solvers.instance import Instance

    return Instance(
        rows=float_rows(problem),
        targets=np.array([float_near(y) for y in problem.data.targets]),
        slope=float(problem.architecture.slope),
        masks=tuple(np.array(mask, int) for mask in problem.mask_classes),
        margin=has_margin(problem.goal),
        free=is_free(problem.bias),
        tolerance=float(problem.fit_tolerance),
    )


def bracket_optimum(
    problem: Problem,
    network: Network | None,
    *,
    subject: Network | None = None,
    tol: float = 1e-6,
    deadline: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    warm_start: WarmStart | None = None,
) -> Bracket:
    """Bracket the best objective over all widths to a relative gap `tol`, starting from the patterns of `network`.

    subject: a network that fits; it is a witness like those found (its own repair, for min-norm).
    warm_start: what an earlier audit of the same data knew.
    deadline: a moment of `solvers.clock.now()`; the best certified bracket so far is returned then, or at Ctrl-C.
    """
    simple = simplified(problem)
    if simple.is_same:
        return _bracket(problem, network, subject, tol, deadline, on_progress, warm_start or WarmStart())
    unit = float_near(simple.unit)

    def report(progress: Progress) -> None:
        if on_progress is not None:
            on_progress(replace(progress, lower=progress.lower * unit, upper=progress.upper * unit))

    found = _bracket(
        simple.problem,
        None if network is None else simple.carried(network),
        None if subject is None else simple.carried(subject),
        tol,
        deadline,
        report,
        _carried(simple, warm_start or WarmStart()),
    )
    return _returned(simple, found, warm_start)


def _carried(simple: Simplified, earlier: WarmStart) -> WarmStart:
    """What an earlier audit of the given problem knew, for the simpler one; its bound stays where it is."""
    witnesses = tuple(simple.carried(witness) for witness in earlier.witnesses)
    return WarmStart(multipliers=simple.gathered(earlier.multipliers), witnesses=witnesses)


def _returned(simple: Simplified, found: Bracket, earlier: WarmStart | None) -> Bracket:
    """The bracket of the simpler problem as one of the given problem, checked again."""
    problem, unit = simple.given, simple.unit
    lower = None if found.lower is None else certified(problem, None, simple.returned_bound(found.lower))
    known = None if earlier is None else earlier.lower
    if known is not None and (lower is None or _end(known) > _end(lower)):
        lower = known
    upper = None
    if found.upper is not None:
        value = found.upper.bracket[1]
        bracket = (None, None if value is None else value * unit)
        witness = simple.returned(Network.of(found.upper.witness))
        upper = certified(problem, None, UpperBound(witness=witness, bracket=bracket))
    floats = float_near(unit)
    return replace(
        found,
        lower=lower,
        upper=upper,
        witnesses=tuple(map(simple.returned, found.witnesses)),
        objectives=tuple(value * unit for value in found.objectives),
        own=None if found.own is None else simple.returned(found.own),
        history=tuple(replace(step, lower=step.lower * floats, upper=step.upper * floats) for step in found.history),
    )


def _bracket(
    problem: Problem,
    network: Network | None,
    subject: Network | None,
    tol: float,
    deadline: float | None,
    on_progress: Callable[[Progress], None] | None,
    earlier: WarmStart,
) -> Bracket:
    """`bracket_optimum` in the coordinates as they are: in floats, and in many digits where these do not suffice."""
    if _is_met_by_zero(problem):
        return _nothing_needed(problem)
    failure: Exception | None = None
    try:
        found = _float_bracket(problem, network, subject, tol, deadline, on_progress, earlier)
    except FLOAT_FAILURES as error:
        lower, failure = certified(problem, None, nothing_below_zero(problem)), error
        found = Bracket(lower=lower, upper=None, witnesses=(), status="failed", history=())
    if _is_closed(found, tol):
        return found if found.status == "interrupted" else replace(found, status="optimal")
    if found.status in ("time", "interrupted"):
        return found
    directions = [
        w for known in (*found.witnesses[:2], *([] if network is None else [network])) for w in _floats(known)
    ]
    try:
        precise = precise_bracket(problem, directions, tol / 4, deadline)
    except KeyboardInterrupt:
        return replace(found, status="interrupted")
    except FLOAT_FAILURES:
        precise = Precise()
    if failure is not None and not precise.witnesses:
        raise failure
    better = _with_precise(problem, found, precise, tol)
    return replace(better, status="time") if better.status != "optimal" and is_late(deadline) else better


def _is_closed(found: Bracket, tol: float) -> bool:
    low, high = found.ends
    return low is not None and high is not None and high <= low * (1 + Fraction(tol))


def _floats(network: Network) -> list[tuple[float, ...]]:
    return [tuple(map(float_near, row)) for row in network.hidden_weights]


def _with_precise(problem: Problem, found: Bracket, precise: Precise, tol: float) -> Bracket:
    """The bracket with what the search in many digits found, where that is better."""
    lower = found.lower
    if precise.lower is not None and (lower is None or _end(precise.lower) > _end(lower)):
        lower = precise.lower
    known = {
        witness.sha256(): (value, witness) for value, witness in zip(found.objectives, found.witnesses, strict=True)
    }
    for witness in precise.witnesses:
        if (value := objective(problem, witness)) is not None:
            known[witness.sha256()] = (value, witness)
    ordered = _narrow_first(known.values(), 1 + Fraction(tol) / 20)
    upper = found.upper
    if ordered:
        value, witness = min(ordered, key=lambda pair: pair[0])
        upper = certified(problem, None, UpperBound(witness=witness, bracket=(None, value))) or upper
    better = replace(
        found,
        lower=lower,
        upper=upper,
        witnesses=tuple(witness for _, witness in ordered),
        objectives=tuple(value for value, _ in ordered),
    )
    if _is_closed(better, tol):
        return replace(better, status="optimal")
    return replace(better, status="stalled" if found.status == "optimal" else found.status)


def _float_bracket(
    problem: Problem,
    network: Network | None,
    subject: Network | None,
    tol: float,
    deadline: float | None,
    on_progress: Callable[[Progress], None] | None,
    earlier: WarmStart,
) -> Bracket:
    """What the search in floats finds."""
    from solvers.any_width.dual_cuts import solve
    from solvers.any_width.linear_networks import solve_linear

    instance = as_instance(problem)
    if (linear := solve_linear(instance, tol / 2)) is not None:
        return _exact_bracket(problem, instance, linear, subject, earlier, tol, deadline)
    outcome = solve(
        instance,
        () if network is None else _columns(problem, network),
        multipliers=_dense(earlier.multipliers, len(problem.data)),
        further=[column for witness in earlier.witnesses for column in _columns(problem, witness)],
        tol=tol / 2,
        deadline=share(deadline, SEARCH_SHARE),
        on_progress=on_progress,
    )
    try:
        return _exact_bracket(problem, instance, outcome, subject, earlier, tol, deadline)
    except KeyboardInterrupt:  # what was reached is still made exact; a second one is passed on
        found = _exact_bracket(problem, instance, outcome, subject, earlier, tol, deadline)
        return replace(found, status="interrupted")


def _exact_bracket(
    problem: Problem,
    instance: Instance,
    outcome: Outcome,
    subject: Network | None,
    earlier: WarmStart,
    tol: float,
    deadline: float | None,
) -> Bracket:
    """What the float search found and what was known before, as certificates that the checker accepted."""
    end = None if deadline is None else max(deadline, now() + LEAST_SECONDS)
    proved: LowerBound | None = None
    for proof in (*outcome.coarser, outcome.proof):
        finer = within(end, partial(_proved, problem, proof, tol))
        proved = finer if finer is not None and (proved is None or _end(finer) > _end(proved)) else proved
    if proved is None and outcome.proof is not None and is_late(end):
        proved = _proved(problem, coarse(outcome.proof), tol)
    proved = proved or certified(problem, None, nothing_below_zero(problem))
    if earlier.lower is not None and (proved is None or _end(earlier.lower) > _end(proved)):
        proved = earlier.lower
    witnesses: dict[str, tuple[Fraction, Network]] = {}
    value_of = _Objectives(problem)
    for witness in (*earlier.witnesses, *([] if subject is None else [subject])):
        if (value := value_of(witness)) is not None:
            witnesses[witness.sha256()] = (value, witness)
    polished: tuple[Fraction, Network] | None = None
    end = None if deadline is None else max(deadline, now() + LEAST_SECONDS)
    with suppress(TimeIsUpError), until(end):
        for atoms, candidate in _candidates(problem, instance, outcome):
            if (value := value_of(candidate)) is not None:
                witnesses[candidate.sha256()] = (value, candidate)
                best = polished is None or value < polished[0]
                if atoms is outcome.own and best and is_no_wider(problem, candidate):
                    polished = (value, candidate)
            if witnesses and is_late(deadline):
                break
    poll()
    ordered = _narrow_first(witnesses.values(), 1 + Fraction(tol) / 20)
    upper = None
    if ordered:
        value, witness = min(ordered, key=lambda pair: pair[0])
        upper = certified(problem, None, UpperBound(witness=witness, bracket=(None, value)))
    return Bracket(
        lower=proved,
        upper=upper,
        witnesses=tuple(witness for _, witness in ordered),
        objectives=tuple(value for value, _ in ordered),
        status=outcome.status,
        history=outcome.history,
        own=None if polished is None else polished[1],
    )


def _proved(problem: Problem, proof: DualProof | None, tol: float) -> LowerBound | None:
    """The float proof as a certificate that the checker accepted."""
    lower = None if proof is None else lower_bound(problem, proof, tol)
    return None if lower is None else certified(problem, None, lower)


def _candidates(problem: Problem, instance: Instance, outcome: Outcome) -> Iterator[tuple[Atoms, Network]]:
    """Exact networks near those that the search found, with where they come from."""
    for atoms in (*outcome.candidates, *([] if outcome.own is None else [outcome.own])):
        for found in _networks(problem, instance, atoms):
            poll()
            yield atoms, found


class _Objectives:
    """Exact objectives of many networks on the same data: only the points that floats leave in doubt cost something."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.like: Estimates | None = None

    def __call__(self, network: Network) -> Fraction | None:
        try:
            self.like = estimate(self.problem, network, self.like)
        except OverflowError:
            return objective(self.problem, network)
        return exact_objective(self.problem, network, self.like)


def _end(bound: LowerBound) -> Fraction:
    return bound.bracket[0] or Fraction(0)


def _dense(multipliers: Iterable[tuple[int, Fraction]], size: int) -> NDArray[np.float64] | None:
    values = np.zeros(size)
    for i, value in multipliers:
        values[i] = float(value)
    return values if values.any() else None


def nothing_below_zero(problem: Problem) -> LowerBound:
    """The bound 0, by no multipliers at all: what is left where every network's objective may come close to 0."""
    trees = ((Bound(()),),) * (2 * len(problem.mask_classes))
    return LowerBound(multipliers=(), beta=Fraction(1), bracket=(Fraction(0), None), denominator=1, trees=trees)


def _is_met_by_zero(problem: Problem) -> bool:
    return not has_margin(problem.goal) and max(map(abs, problem.data.targets)) <= problem.fit_tolerance


def _nothing_needed(problem: Problem) -> Bracket:
    """The bracket [0, 0], where the network without weights fits."""
    zero = zero_network(problem)
    return Bracket(
        lower=certified(problem, None, nothing_below_zero(problem)),
        upper=certified(problem, None, UpperBound(witness=zero, bracket=(None, Fraction(0)))),
        witnesses=(zero,),
        objectives=(Fraction(0),),
        status="optimal",
        history=(),
    )


def zero_network(problem: Problem) -> Network:
    """One neuron without weights."""
    mask = problem.mask_classes[0]
    return Network(problem.architecture.with_width_of([mask]), ([0] * len(mask), [0]))


def better_network(
    problem: Problem,
    given: Network,
    subject: Network,
    witnesses: Iterable[Network],
    tolerance: Fraction,
    *,
    own_width: bool,
) -> BetterNetwork | None:
    """The best witness that beats `subject` by more than the tolerance (with at most its neurons, for `own_width`)."""
    mine = objective(problem, subject)
    for witness in witnesses:
        value = objective(problem, witness)
        if value is None or (mine is not None and value * (1 + tolerance) >= mine):
            continue
        if own_width and not is_no_wider(problem, witness):
            continue
        moved = subject is not given
        return BetterNetwork(
            subject=subject.parameters if moved else None,
            moved=distance(subject, given),
            witness=witness,
            tolerance=tolerance,
            scope="own-width" if own_width else "any-width",
        )
    return None


def end_of_descent(problem: Problem, network: Network, proof: NotLocal) -> Network:
    """The network at the end of the segment, in the variables (w_j, v_j): u_j = |v_j| w_j, nearly balanced.

    With a free bias a neuron may have one without weights there; its v_j is small instead, and costs little.
    """
    end = Network(network.architecture, proof.end)
    size = len(problem.norm_columns)
    hidden: list[Fraction] = []
    outgoing: list[Fraction] = []
    for u, sign, mask in zip(end.hidden_weights, end.output_weights, network.architecture.masks, strict=True):
        root = sqrt_upper(sqrt_upper(squared_norm(u[:size]))) or Fraction(int(any(u)), 2**30)
        hidden += [u[c] / root if root else u[c] for c in mask]
        outgoing.append(sign * root)
    return Network(network.architecture, (hidden, outgoing))


def optimal_within(
    problem: Problem, given: Network, subject: Network, lower: LowerBound, tolerance: Fraction
) -> OptimalWithin | None:
    """The certificate that the subject's objective is at most (1 + tolerance) times the lower bound, when it is."""
    mine, bound = objective(problem, subject), lower.bracket[0]
    if mine is None or bound is None or mine > (1 + tolerance) * bound:
        return None
    return OptimalWithin(
        subject=subject.parameters if subject is not given else None,
        moved=distance(subject, given),
        tolerance=tolerance,
        lower=lower,
    )


def _narrow_first(found: Iterable[tuple[Fraction, Network]], near: Fraction) -> list[tuple[Fraction, Network]]:
    """By objective, but the narrowest first among those that are nearly the best."""
    ordered = sorted(found, key=lambda pair: (pair[0], pair[1].width))
    best = [pair for pair in ordered if pair[0] <= ordered[0][0] * near]
    return sorted(best, key=lambda pair: (pair[1].width, pair[0])) + ordered[len(best) :]


def is_no_wider(problem: Problem, witness: Network) -> bool:
    """Whether `witness` has at most as many neurons of each mask as the problem's architecture."""
    have, may = list(witness.architecture.masks), list(problem.architecture.masks)
    return all(have.count(mask) <= may.count(mask) for mask in set(have))


def _columns(problem: Problem, network: Network) -> list[Column]:
    from solvers.any_width.master import Column

    classes = problem.mask_classes
    columns = []
    for signs, v, mask in zip(
        pattern(problem, network), network.output_weights, network.architecture.masks, strict=True
    ):
        if v != 0 and any(s > 0 for s in signs):
            columns.append(Column(classes.index(mask), 1 if v > 0 else -1, np.array([s >= 0 for s in signs])))
    return columns


def _networks(problem: Problem, instance: Instance, atoms: Atoms) -> Iterable[Network]:
    """Exact networks near the float directions: merged as far as possible, and as they are."""
    slope = float(problem.architecture.slope)
    sizes = norms(atoms.directions)
    kept = {int((sizes > part * sizes.max(initial=0.0)).sum()): part for part in reversed(DROPPED)}
    kept.pop(0, None)
    for number, part in sorted(kept.items()):
        keep = sizes > part * sizes.max(initial=0.0)
        directions, signs = atoms.directions[keep], [int(s) for s in atoms.signs[keep]]
        masks = [int(m) for m in atoms.masks[keep]]
        merged = merge_directions(instance.rows, directions, signs, masks, slope, bias=problem.architecture.bias)
        if not has_margin(problem.goal):
            guessed = within_tolerance if problem.fit_tolerance else interpolate
            yield from guessed(problem, *merged, wider=number == max(kept))
            continue
        yield network_of_directions(problem, *merged)
        if len(merged[0]) < len(directions):
            yield network_of_directions(problem, directions, signs, masks)


def exact_lines(problem: Problem, mask: tuple[int, ...]) -> list[tuple[list[int], list[Fraction]]]:
    """Group the points by line: x_i = t_i r with r the primitive integer vector of the line; points at 0 drop out."""
    groups: dict[tuple[int, ...], tuple[list[int], list[Fraction]]] = {}
    for i, row in enumerate(problem.rows):
        part = [row[column] for column in mask]
        if not any(part):
            continue
        (whole,), denominator = common_integers([part])
        direction, size = primitive(whole)
        indices, sizes = groups.setdefault(direction, ([], []))
        indices.append(i)
        sizes.append(Fraction(size, denominator))
    return list(groups.values())


def _equations(
    problem: Problem, lines: list[list[tuple[list[int], list[Fraction]]]], support: list[int]
) -> list[list[Fraction]]:
    """The rows of h = 0 as a linear system in the multipliers of `support`."""
    margin = has_margin(problem.goal)
    signs = [problem.data.targets[i] if margin else Fraction(1) for i in support]
    equations = [
        [sign * problem.rows[i][column] for sign, i in zip(signs, support, strict=True)]
        for mask in problem.mask_classes
        for column in mask
    ]
    for group in lines:
        for indices, sizes in group:
            on_line = dict(zip(indices, sizes, strict=True))
            if any(i in on_line for i in support):
                zero = Fraction(0)
                equations.append([s * on_line.get(i, zero) for s, i in zip(signs, support, strict=True)])
    return equations
