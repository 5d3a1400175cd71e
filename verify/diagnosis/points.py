"""Which points a network violates, which hold it (the least margin), and which are slack."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from solvers.arrays import Floats
from verify.checker.codec import rational_text
from verify.checker.exact import dot
from verify.deciders.estimates import Estimates, least_margins, outputs_at, residual_errors, residuals
from verify.numbers.floats import float_factors, to_float
from verify.problem.members import has_margin
from verify.problem.network import Network
from verify.problem.problem import Problem

CLOSE = 0.01
"""Points whose margin is at most this part above the least one are close to it."""

NEAR_TIE = 1e-6
"""Points whose margin is at most this part above the least one were probably meant to have it."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PointGroups:
    """The points by how the network meets them. Fields named `hint` come from floats; the others are exact.

    violated: y f(x) <= 0 (max-margin), |f(x) - y| above the fit tolerance (min-norm).
    worst: one of them that none is further off than.   worst_is_unseen: whether every neuron is 0 there.
    least: the least margin y f(x), active: the points that have exactly that (max-margin only; min-norm: None, none).
    duplicates: groups of points with equal inputs.
    near_tie_hints: points within `NEAR_TIE` of the least margin that do not have it.
    close_share_hint: the share of all points that are active or within `CLOSE` of the least margin.
    median_slack_hint: the median of y f(x) / least - 1 over the points that are not active; None when there are none.
    """

    violated: tuple[int, ...]
    worst: int | None
    worst_is_unseen: bool = False
    least: Fraction | None
    active: tuple[int, ...]
    duplicates: tuple[tuple[int, ...], ...]
    near_tie_hints: tuple[int, ...]
    close_share_hint: float | None
    median_slack_hint: float | None

    def __repr__(self) -> str:
        told = (("violated", self.violated), ("active", self.active), ("nearly so", self.near_tie_hints))
        return f"<PointGroups: {', '.join(f'{len(found)} {what}' for what, found in told)}>"

    def to_json(self) -> dict[str, object]:
        """The points as JSON: counts, and the first ten of each list."""
        return {
            "violated": len(self.violated),
            "first_violated": list(self.violated[:10]),
            "worst": self.worst,
            "least_margin": None if self.least is None else rational_text(self.least),
            "active": list(self.active[:10]),
            "active_count": len(self.active),
            "duplicate_groups": len(self.duplicates),
            "near_ties_hint": len(self.near_tie_hints),
            "close_share_hint": self.close_share_hint,
            "median_slack_hint": self.median_slack_hint,
        }


def study_points(problem: Problem, network: Network, estimates: Estimates) -> PointGroups:
    """The points of the problem, as `network` meets them."""
    duplicates = _duplicates(problem, estimates.rows)
    if not has_margin(problem.goal):
        violated, worst = _missed(problem, network, estimates)
        return PointGroups(
            violated=violated,
            worst=worst,
            least=None,
            active=(),
            duplicates=duplicates,
            near_tie_hints=(),
            close_share_hint=None,
            median_slack_hint=None,
        )
    least, active = least_margins(problem, network, estimates)
    margins = float_factors(problem, clamp=False) * estimates.outputs
    if least <= 0:
        return PointGroups(
            violated=_wrong(problem, network, estimates, margins),
            worst=active[0],
            worst_is_unseen=_is_unseen(problem, network, active[0]),
            least=least,
            active=active,
            duplicates=duplicates,
            near_tie_hints=(),
            close_share_hint=None,
            median_slack_hint=None,
        )
    slack = margins / to_float(least) - 1.0
    others = np.ones(len(slack), bool)
    others[list(active)] = False
    return PointGroups(
        violated=(),
        worst=None,
        least=least,
        active=active,
        duplicates=duplicates,
        near_tie_hints=tuple(int(i) for i in np.flatnonzero(others & (slack <= NEAR_TIE))),
        close_share_hint=float((slack <= CLOSE).mean()),
        median_slack_hint=float(np.median(slack[others])) if others.any() else None,
    )


def _wrong(problem: Problem, network: Network, estimates: Estimates, margins: Floats) -> tuple[int, ...]:
    sure = margins < -estimates.output_errors
    doubtful = np.flatnonzero(~sure & ~(margins > estimates.output_errors))
    exact = outputs_at(problem, network, doubtful)
    return tuple(
        sorted([*map(int, np.flatnonzero(sure)), *(i for i, f in exact.items() if f * problem.data.targets[i] <= 0)])
    )


def _is_unseen(problem: Problem, network: Network, point: int) -> bool:
    """Whether every neuron with an output weight is 0 at the point."""
    pairs = zip(network.hidden_weights, network.output_weights, strict=True)
    values = [dot(w, problem.rows[point]) for w, v in pairs if v]
    return all((z < 0 and not problem.architecture.slope) or z == 0 for z in values)


def _missed(problem: Problem, network: Network, estimates: Estimates) -> tuple[tuple[int, ...], int | None]:
    apart, sure = residuals(problem, estimates)
    exact = outputs_at(problem, network, np.flatnonzero(~sure))
    missed = sorted(
        [
            *map(int, np.flatnonzero(sure)),
            *(i for i, f in exact.items() if abs(f - problem.data.targets[i]) > problem.fit_tolerance),
        ]
    )
    if not missed:
        return (), None
    errors = residual_errors(problem, estimates)
    least = max(apart[i] - errors[i] for i in missed)
    nearly = [i for i in missed if not apart[i] + errors[i] < least]
    found = outputs_at(problem, network, nearly) if len(nearly) > 1 else dict.fromkeys(nearly, Fraction(0))
    return tuple(missed), max(found, key=lambda i: abs(found[i] - problem.data.targets[i]))


def _duplicates(problem: Problem, rows: Floats) -> tuple[tuple[int, ...], ...]:
    """Equal floats first (sorted by a random projection), then the exact inputs of those."""
    with np.errstate(all="ignore"):
        keys = (rows * np.random.default_rng(0).standard_normal(rows.shape[1])).sum(axis=1)
    order = np.argsort(keys, kind="stable")
    equal = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    groups: defaultdict[tuple[Fraction, ...], list[int]] = defaultdict(list)
    for i in sorted({int(order[p]) for place in equal for p in (place, place + 1)}):
        groups[problem.data.inputs[i]].append(i)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
