"""What the search in floats finds, made exact: certificates that the checker accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from solvers.instance import SearchStatus
from verify.checker.bounds import LowerBound, UpperBound
from verify.checker.statement import pattern
from verify.deciders.global_optimality.better import is_no_wider
from verify.deciders.global_optimality.candidates import ExactObjectives, exact_candidates
from verify.deciders.global_optimality.instance import as_decay_instance, as_instance
from verify.deciders.global_optimality.lower_bound import coarse, lower_bound
from verify.deciders.global_optimality.record import Bracket, lower_end, narrow_first, trivial_lower_bound
from verify.deciders.global_optimality.warm_start import WarmStart
from verify.deciders.proposal import certified
from verify.deciders.time_limits import TimeIsUpError, is_late, now, poll, share, until, within
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import DualGuess, Progress, SearchOutcome
    from solvers.any_width.master import Column
    from solvers.instance import ProblemInstance

__all__ = ["columns_of", "float_bracket"]

SEARCH_SHARE = 0.85
"""Of the time, for the search in floats; the rest is for making exact what it found, at least `LEAST_SECONDS`."""


LEAST_SECONDS = 0.25


def float_bracket(
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
    from solvers.any_width.hard_losses import solve_hard
    from solvers.any_width.linear_networks import solve_linear
    from solvers.any_width.loss_search import solve_loss

    instance = as_instance(problem)
    if not problem.asks_fit:
        search = partial(solve_loss, as_decay_instance(problem))
    elif problem.has_output_bias:
        search = partial(solve_hard, as_decay_instance(problem))
    elif (linear := solve_linear(instance, tol / 2)) is not None:
        return _exact_bracket(problem, instance, linear, subject, earlier, tol, deadline)
    else:
        search = partial(solve, instance)
    outcome = search(
        () if network is None else columns_of(problem, network),
        multipliers=_dense(earlier.multipliers, len(problem.data)),
        further=[column for witness in earlier.witnesses for column in columns_of(problem, witness)],
        tol=tol / 2,
        deadline=share(deadline, SEARCH_SHARE),
        on_progress=on_progress,
    )
    try:
        return _exact_bracket(problem, instance, outcome, subject, earlier, tol, deadline)
    except KeyboardInterrupt:  # what was reached is still made exact; a second one is passed on
        found = _exact_bracket(problem, instance, outcome, subject, earlier, tol, deadline)
        return replace(found, status=SearchStatus.INTERRUPTED)


def _exact_bracket(
    problem: Problem,
    instance: ProblemInstance,
    outcome: SearchOutcome,
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
        proved = finer if finer is not None and (proved is None or lower_end(finer) > lower_end(proved)) else proved
    if proved is None and outcome.proof is not None and is_late(end):
        proved = _proved(problem, coarse(outcome.proof), tol)
    proved = proved or certified(problem, None, trivial_lower_bound(problem))
    if earlier.lower is not None and (proved is None or lower_end(earlier.lower) > lower_end(proved)):
        proved = earlier.lower
    witnesses: dict[str, tuple[Fraction, Network]] = {}
    value_of = ExactObjectives(problem)
    for witness in (*earlier.witnesses, *([] if subject is None else [subject])):
        if (value := value_of(witness)) is not None:
            witnesses[witness.sha256()] = (value, witness)
    polished: tuple[Fraction, Network] | None = None
    end = None if deadline is None else max(deadline, now() + LEAST_SECONDS)
    with suppress(TimeIsUpError), until(end):
        for atoms, candidate in exact_candidates(problem, instance, outcome):
            if (value := value_of(candidate)) is not None:
                witnesses[candidate.sha256()] = (value, candidate)
                best = polished is None or value < polished[0]
                if atoms is outcome.own and best and is_no_wider(problem, candidate):
                    polished = (value, candidate)
            if witnesses and is_late(deadline):
                break
    poll()
    ordered = narrow_first(witnesses.values(), Fraction(tol))
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


def _proved(problem: Problem, proof: DualGuess | None, tol: float) -> LowerBound | None:
    """The float proof as a certificate that the checker accepted."""
    lower = None if proof is None else lower_bound(problem, proof, tol)
    return None if lower is None else certified(problem, None, lower)


def _dense(multipliers: Iterable[tuple[int, Fraction]], size: int) -> NDArray[np.float64] | None:
    values = np.zeros(size)
    for i, value in multipliers:
        values[i] = to_float(value)
    return values if values.any() else None


def columns_of(problem: Problem, network: Network) -> list[Column]:
    """The activation patterns of the neurons of a two-layer network that count."""
    from solvers.any_width.master import Column

    classes = problem.mask_classes
    columns = []
    for signs, v, mask in zip(
        pattern(problem, network), network.output_weights, network.architecture.masks, strict=True
    ):
        if v != 0 and any(s > 0 for s in signs):
            columns.append(Column(classes.index(mask), 1 if v > 0 else -1, np.array([s >= 0 for s in signs])))
    return columns
