"""What is proved, one sentence for each finding.

The words come from the certificate, which the checker accepted; only what is open, and which targets are missed, is
told in the words of the finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from verify.checker.bounds import Infeasible
from verify.checker.codec import rational_text
from verify.checker.depth_bounds import DeepBetterNetwork
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.enclosure import StationaryNear
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.stationary import NotStationary, Stationary
from verify.checker.width import OptimalWithinWidth
from verify.deciders.depth.crossing import distance_up_to_scale
from verify.deciders.finding import Finding, Question, Verdict
from verify.numbers.counts import count
from verify.numbers.decimals import allowed, at_least, denied, is_exactly, kept, room, small
from verify.problem.members import has_margin, margins
from verify.problem.phrases import any_width, at_own_margin, conditions, lower_by, not_exactly, of_width, points
from verify.problem.problem import Problem, objective, outputs
from verify.report.audited import Audited
from verify.report.depth import depth_statement
from verify.report.regularised import LOSS_LEGEND, loss_statement

POINTS = {
    "stationary point": "",
    "local optimum": " and is a local optimum",
    "optimum of any width": " and is optimal at any width",
}
"""What a report says further of an exact point that is not called near."""

BESIDE = Fraction(1, 50)
"""Better networks within this part of the norm are told with a local optimum."""

FAR = Fraction(1, 10)
"""Networks from this part of the norm on are not told of: at 1 there is the network of zeros."""


def statement(audit: Audited, finding: Finding) -> str:
    """What is proved by the certificate of `finding`, one of the audit's; why it is open when there is none."""
    if finding.verdict is Verdict.UNDECIDED or not finding.certificates:
        return finding.reason
    match finding.certificates[0]:
        case Fits() as proof:
            return _fits(audit.problem, proof)
        case DoesNotFit() if finding is audit.fits:
            return _misfit(audit, finding)
        case DoesNotFit():
            return "it does not fit the data"
        case Infeasible():
            return f"no network of {any_width(audit.problem)} fits the data"
        case Stationary() as proof:
            return _stationary(audit, finding, proof)
        case StationaryNear() | DeepStationaryNear() as proof:
            return _near(audit.problem, finding, proof) + _around(audit, finding, proof)
        case NotStationary() as proof if finding is audit.stationary:
            return _not_stationary(audit.problem, finding, proof)
        case NotStationary() as proof:
            return _not_optimal(audit, proof)
        case BetterNetwork() as proof:
            return _better(audit, finding, proof)
        case OptimalWithin() as proof:
            which = f"no network of {any_width(audit.problem)}"
            which += ", so none of its width," if finding is audit.global_optimum else ""
            if finding is audit.stationary or finding is audit.local_optimum:
                return f"{which} is better"
            return f"{which} is better by more than {allowed(proof.tolerance)} (relative)"
        case OptimalWithinWidth() if finding is audit.stationary or finding is audit.local_optimum:
            return f"no network of {of_width(audit.problem)} is better"
        case OptimalWithinWidth() as proof:
            return f"no network of {of_width(audit.problem)} is better{_by_more(proof.tolerance)}{_wider(audit)}"
        case _:
            told = depth_statement(audit, finding) or loss_statement(audit, finding) or finding.reason
            return told + (_beside(finding) if finding is audit.stationary else "")


def _by_more(tolerance: Fraction) -> str:
    return f" by more than {allowed(tolerance)} (relative)" if tolerance else ""


def _wider(audit: Audited) -> str:
    """Such as "; with 3 neurons one is, by 4.1 % lower", of a wider network that is better."""
    proof = next((c for c in audit.global_any_width.certificates if isinstance(c, BetterNetwork)), None)
    found = None if proof is None else objective(audit.problem, proof.witness)
    if proof is None or found is None or not audit.objective:
        return ""
    size = count(proof.witness.architecture.layers[0].outputs, "neuron")
    return f"; one of {size} is: its objective is {lower_by(found, audit.objective)}"


def _fits(problem: Problem, proof: Fits) -> str:
    if has_margin(problem.goal):
        least = at_least(proof.margin, 6)
        is_rounded = "" if is_exactly(proof.margin, least) else "at least "
        return f"every point is on its side; the least margin is {is_rounded}{least}"
    within = f"within {kept(problem.fit_tolerance)}" if problem.fit_tolerance else "exactly"
    return f"every target is met {within}" + _moved(proof.subject is not None, proof.moved)


def _misfit(audit: Audited, finding: Finding) -> str:
    if not has_margin(audit.problem.goal):
        return finding.reason
    values = outputs(audit.problem, audit.network)
    found = margins(audit.problem, values)
    missed = [i for i, margin in enumerate(found) if margin <= 0]
    if not any(values):
        return "the network is 0 at every point"
    kind = "is not on its side" if len(missed) == 1 else "are not on their sides"
    return f"{len(missed)} of {count(len(found), 'point')} {kind}: {points(missed)}"


def _stationary(audit: Audited, finding: Finding, proof: Stationary) -> str:
    problem, at = audit.problem, at_own_margin(audit.problem, finding.subject or audit.network)
    after = _moved(proof.subject is not None, proof.moved)
    held = f"the {conditions(problem)} hold"
    if proof.epsilon or proof.delta:
        return f"{held}{_up_to(proof)}{_beside(finding)}"
    multipliers, n = dict(proof.multipliers), len(problem.data)
    shown = ", ".join(rational_text(multipliers.get(i, Fraction(0))) for i in range(n)) if n <= 12 else ""
    which = (
        f"λ\u00a0=\u00a0({shown})"
        if 0 < len(shown) <= 40
        else f"multipliers at {len(multipliers)} of {count(n, 'point')}"
    )
    return f"{held} exactly, with {which}{at}{_choice(problem, finding.numbers)}{after}"


def _choice(problem: Problem, numbers: Mapping[str, Fraction]) -> str:
    """How many multipliers there are, where that is known."""
    if "multiplier_dimension" not in numbers:
        return ""
    dimension = numbers["multiplier_dimension"]
    what = "polytope" if has_margin(problem.goal) else "set"
    return f"; all multipliers are a {what} of dimension {dimension}" if dimension else ", the only multipliers"


def _near(problem: Problem, finding: Finding, proof: StationaryNear | DeepStationaryNear) -> str:
    what = {
        Question.STATIONARY: f"satisfies the {conditions(problem)} exactly",
        Question.LOCAL_OPTIMUM: "is a local optimum",
    }.get(finding.question, f"is optimal among networks of {any_width(problem)}, without a gap")
    text = f"a network within {small(proof.moved)} of this one (relative to its norm) {what}"
    held = next((c for c in finding.certificates[1:] if isinstance(c, Stationary)), None)
    if held is None:
        return text
    where = (
        f"at one whose weights were moved by at most {small(held.moved)} of its norm" if held.moved else "at this one"
    )
    return f"{text}; {where} they hold{_sizes(held)}"


def _around(audit: Audited, finding: Finding, proof: StationaryNear | DeepStationaryNear) -> str:
    """In what surroundings a local optimum of another depth is the smallest, and whether a better network is near."""
    if finding is not audit.local_optimum or not isinstance(proof, DeepStationaryNear):
        return ""
    clearance = proof.clearance(audit.network)
    text = f", the smallest with its margin within {room(clearance)} of it" if clearance else ""
    better = (c for c in audit.global_optimum.certificates if isinstance(c, DeepBetterNetwork))
    apart = min((distance_up_to_scale(audit.network, c.witness) for c in better), default=FAR)
    return text + (f"; but a better network lies within {small(apart)} of this one" if apart <= BESIDE else "")


def _held(finding: Finding) -> str:
    """Up to what the KKT conditions hold, by another certificate than the first; "" without one."""
    held = next((c for c in finding.certificates[1:] if isinstance(c, Stationary)), None)
    return "" if held is None else _up_to(held)


def _up_to(proof: Stationary) -> str:
    return _sizes(proof) + _moved(proof.subject is not None, proof.moved)


def _sizes(proof: Stationary) -> str:
    return f" up to ε\u00a0=\u00a0{small(proof.epsilon)} and δ\u00a0=\u00a0{small(proof.delta)}"


def _not_stationary(problem: Problem, finding: Finding, proof: NotStationary) -> str:
    within = proof.own_tolerance(problem)
    text = f"no multipliers satisfy the {conditions(problem)}" + (
        f" to within {denied(within)}" if within else " exactly"
    )
    if held := _held(finding):
        text += f"; the conditions hold{held}"
    return text + _beside(finding)


def _beside(finding: Finding) -> str:
    """What is known of an exact point that is not called near: how far it is at most, and whether it is an optimum."""
    point = next((c for c in finding.certificates[1:] if isinstance(c, StationaryNear | DeepStationaryNear)), None)
    if point is None or point.moved >= FAR:
        return ""
    return f"; a network within {small(point.moved)} of its norm satisfies them exactly{POINTS[point.optimality]}"


def _not_optimal(audit: Audited, proof: NotStationary) -> str:
    """Why it is no optimum; exactly, where it is nearly stationary or no more than that is proved."""
    if _held(audit.stationary) or not proof.epsilon:
        return f"{not_exactly(audit.problem)}, so better networks lie arbitrarily near"
    return "it is not stationary"


def _better(audit: Audited, finding: Finding, proof: BetterNetwork) -> str:
    if finding is audit.global_any_width:
        others = audit.global_optimum.certificates
        if others and isinstance(others[0], BetterNetwork) and others[0].witness == proof.witness:
            return "the same network is better"
    width = proof.witness.architecture.layers[0].outputs
    size = count(width, "neuron")
    wider = ", wider than this one," if width > audit.network.width else ""
    found, own = objective(audit.problem, proof.witness), audit.objective
    much = ""
    if found is not None and own:
        much = f": its objective is {lower_by(found, own)}"
    fits = "fits and " if audit.problem.asks_fit else ""
    return f"a network of {size}{wider} {fits}is better{much}"


def _moved(is_moved: bool, distance: Fraction) -> str:
    return f", after the weights were moved by at most {small(distance)} of their norm" if is_moved and distance else ""


def level(finding: Finding) -> str:
    """The level in short, "" for exact proofs."""
    return {"near": "near", "approximate": "approx."}.get(finding.level or "", "")


def legend(problem: Problem, findings: Iterable[Finding]) -> Iterator[str]:
    """What the levels that occur mean."""
    findings = list(findings)
    distances = [found.moved for found in findings if found.level == "near" and found.moved]
    if distances:
        yield (
            "near: proved exactly, of a network of the same shape whose weights differ by at most "
            f"{small(max(distances))} of their norm"
        )
    if any(found.level == "approximate" for found in findings) and not problem.asks_fit:
        yield LOSS_LEGEND
    elif any(found.level == "approximate" for found in findings):
        what = {
            True: "the multipliers at points beyond the least margin times what these are beyond it",
            False: "the multipliers times how far the outputs are inside the end of the tolerance that they are of",
        }
        delta = f", and δ, {what[has_margin(problem.goal)]}, relative to the squared norm"
        is_exact = not has_margin(problem.goal) and not problem.fit_tolerance
        yield f"approx.: proved up to ε, what is left of the gradient, relative to the norm{'' if is_exact else delta}"
