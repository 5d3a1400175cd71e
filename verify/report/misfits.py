"""How far a network is from fitting, and what the best one would do: sentences for a network that does not fit."""

from __future__ import annotations

from collections.abc import Iterator

from verify.checker.bounds import LowerBound, UpperBound
from verify.checker.exact import sqrt_lower, sqrt_upper
from verify.numbers.counts import count
from verify.numbers.decimals import about, at_least, at_most, broken
from verify.problem.members import goal_words, has_margin, trains_all
from verify.problem.misfits import Misfit, misfit
from verify.problem.network import Network
from verify.problem.phrases import has_infimum_0, named, no_neuron
from verify.report.audited import Audited


def misfits(audit: Audited) -> Iterator[str]:
    """The sentences; none for a network that fits."""
    found = misfit(audit.problem, audit.network)
    if found is None:
        return
    if has_margin(audit.problem.goal):
        if audit.diagnosis is None and found.amount < 0:
            least, bounded = about(found.amount, 3), goal_words(audit.problem.goal).bounded
            yield f"no point is further on the wrong side than point {found.worst}, where {bounded} is {least}"
        yield from _unseen(audit, found)
        yield from _margin(audit, found)
        return
    yield from _residuals(audit, found)
    lower = next((bound.bracket[0] for bound in audit.bounds if isinstance(bound, LowerBound)), None)
    if lower:
        within = audit.problem.fit_tolerance
        met = f"within {broken(within)}" if within else "exactly"
        yield (
            f"its ½‖θ‖² is {about(found.norm)}; a network that meets every target {met} has at least {at_least(lower)}"
        )


def unseen_points(audit: Audited) -> tuple[int, ...]:
    """The points that the first layer has lost, where one sentence tells of several, or of one that is told nowhere."""
    found = misfit(audit.problem, audit.network)
    if found is None or audit.problem.architecture.slope:
        return ()
    is_told = len(found.unseen) == 1 and audit.diagnosis is not None and found.unseen[0] == audit.diagnosis.points.worst
    return () if is_told else found.unseen


def _unseen(audit: Audited, found: Misfit) -> Iterator[str]:
    """Where the first layer has lost points; a worst one that is alone is told of elsewhere."""
    unseen, total = unseen_points(audit), len(found.missed)
    if not unseen:
        return
    nobody = no_neuron(audit.problem, audit.network, unseen)
    if len(unseen) == 1:
        yield f"{nobody} is active at point {unseen[0]}, {output_without_neurons(audit.network)}"
        return
    some = "any" if len(unseen) == total else str(len(unseen))
    at = f"{some} of the {total} points that are not on their sides"
    yield f"{nobody} is active at {at}, {output_without_neurons(audit.network)}: {named(unseen, 'point')}"


def output_without_neurons(network: Network) -> str:
    """What the output is where no neuron is active."""
    return "so that f(x) is the output bias there" if network.output_bias else "so that f(x) = 0 there"


def _margin(audit: Audited, found: Misfit) -> Iterator[str]:
    """The least margin beside that of the best network of the same norm: norm / optimum, as f is homogeneous.

    Of degree two in all weights; of degree one in the hidden weights alone, where it is the square root.
    """
    upper = next((bound.bracket[1] for bound in audit.bounds if isinstance(bound, UpperBound)), None)
    lower = next((bound.bracket[0] for bound in audit.bounds if isinstance(bound, LowerBound)), None)
    is_homogeneous = not audit.problem.has_output_bias
    if not upper or not found.norm or not is_homogeneous or has_infimum_0(audit.problem):
        return
    low, high = found.norm / upper, found.norm / lower if lower else None
    if not trains_all(audit.problem.trained):
        low, high = sqrt_lower(low), None if high is None else sqrt_upper(high)
    low, high = at_least(low, 3), None if high is None else at_most(high, 3)
    best = f"of at least {low}" if high is None else f"of {low}" if low == high else f"between {low} and {high}"
    least = f"the least margin of this one is {about(found.amount, 3)}"
    yield f"at the norm of this network the best one has a least margin {best}; {least}"


def _residuals(audit: Audited, found: Misfit) -> Iterator[str]:
    are = "is" if len(found.missed) == 1 else "are"
    missed = f"{len(found.missed)} of {count(len(audit.problem.data), 'target')} {are} missed"
    within = f" by more than {broken(audit.problem.fit_tolerance)}" if audit.problem.fit_tolerance else ""
    half = "more than half of the largest residual"
    yield f"{missed}{within}, {len(found.far)} of them by {half}: {named(found.far, 'point')}"
