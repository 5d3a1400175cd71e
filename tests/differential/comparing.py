"""What an audit says beside what the oracles know.

Each remark is one of: "agreed"; "wrong" (a verdict, a number or a network that is not true, or two that contradict);
"open" (undecided, and the oracles know the answer); "limit" (undecided for a reason that the documentation states);
"unknown" (the oracles cannot say).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tests.differential import local, optimum, stationary
from tests.differential.auditing import audited, is_float, with_network
from tests.differential.instances import Instance

BAND = Fraction(1, 10**6)
QUESTIONS = ("fits", "stationary", "local_optimum", "global_optimum", "global_any_width")
GLOBAL = ("global_optimum", "global_any_width")
LIMITS = (("global_optimum", "a wider network is better"),)


@dataclass(frozen=True)
class Remark:
    """One comparison: of a question or a quantity, with its kind and what there is to say."""

    about: str
    kind: str
    text: str = ""
    known: bool | None = None


is_stationary = lru_cache(maxsize=16)(stationary.is_stationary)
is_local_optimum = lru_cache(maxsize=16)(local.is_local_optimum)
is_feasible = lru_cache(maxsize=16)(optimum.is_feasible)


def compare(instance: Instance) -> list[Remark]:
    """All remarks on one audit of the instance."""
    result = audited(instance)
    return [*_verdicts(instance, result), *_numbers(instance, result), *_consequences(result)]


# ----------------------------------------------------------------------------------------------------- verdicts


def _verdicts(instance, result) -> Iterator[Remark]:
    fitting = result.fits.subject
    for question in QUESTIONS:
        finding = getattr(result, question)
        other = finding.subject or (fitting if question != "fits" else None)
        subject = instance if other is None else with_network(instance, other)
        if finding.verdict.value == "undecided" and result.fits.verdict.value == "refuted":
            subject = instance
        yield _verdict(instance, subject, question, finding, _has_better(subject, result, question))


def _has_better(subject, result, question):
    """Whether the audit's own witness, evaluated here, refutes that `subject` is optimal within the tolerance."""
    witness = {"global_optimum": result.better_own_width, "global_any_width": result.better}.get(question)
    if witness is None or not subject.fits:
        return False
    other = with_network(subject, witness)
    return other.fits and other.objective * (1 + subject.tol) < subject.objective


def _verdict(instance, subject, question, finding, has_better):
    said = finding.verdict.value
    if has_better:
        known = False
    elif question == "fits":
        known = subject.fits
    elif finding.level == "near" and finding.subject is None:
        return _near(instance, question, finding)
    elif not subject.fits:
        known = False
    else:
        known = truth(subject, question, _allowed(instance))
    if said == "undecided":
        reason = finding.reason
        if known is None:
            return Remark(question, "unknown", reason)
        is_stated = any(question == q and text in reason for q, text in LIMITS)
        kind = "limit" if is_stated or (question in GLOBAL and _is_too_sharp(instance)) else "open"
        return Remark(question, kind, f"{'yes' if known else 'no'}: {reason}", known)
    if known is None:
        return Remark(question, "unknown", said)
    is_right = known == (said == "proved")
    return Remark(question, "agreed" if is_right else "wrong", f"{said}: {finding.reason}", known)


def _is_too_sharp(instance):
    """Whether the exact optimum is asked for where no proof without a gap is sought: with kinks and a free bias."""
    return instance.tol < Fraction(1, 10**9) and instance.bias == "free" and instance.slope != 1


def _allowed(instance):
    if instance.stationary_tol is not None:
        return instance.stationary_tol
    return Fraction(1, 1000) if is_float(instance) else Fraction(0)


def truth(subject: Instance, question: str, allowed=Fraction(0)) -> bool | None:
    """The oracle's answer about a network that fits."""
    if question == "stationary":
        return _stationary(subject, allowed)
    if question == "local_optimum":
        return is_local_optimum(subject) if is_stationary(subject) else False
    mine, factor = subject.objective, 1 + subject.tol
    if mine == 0:
        return True
    if not subject.is_margin and not any(subject.y):
        return False  # the zero network is better, by any factor
    best = optimum.best_of_any_width(_problem(subject))
    if best is None or mine < BAND:
        return None
    unit = Fraction(best) * factor
    if mine <= unit * (1 - BAND) or (mine <= unit * (1 + BAND) and _is_known_best(subject, best)):
        return True
    if mine <= unit * (1 + BAND):
        return None
    if question == "global_any_width":
        return False
    beaten = optimum.beats_at_own_width(subject, float(mine / factor))
    return None if beaten is None else not beaten


def _is_known_best(subject, best):
    """At the edge of the tolerance: a KKT point with the best objective, as far as floats can tell, is the best."""
    is_same = abs(subject.objective - Fraction(best)) <= BAND / 10 * subject.objective
    return is_same and (subject.tol >= BAND or bool(is_stationary(subject)))


def _stationary(subject, allowed):
    if is_stationary(subject):
        return True
    if allowed == 0:
        return False
    residual = stationary.least_residual(subject, allowed)
    if residual is None or abs(residual - float(allowed)) <= 1e-6 * float(allowed) + 1e-9:
        return None
    return residual < allowed


def _near(subject, question, finding):
    """A claim about a point within `moved` that is not given: what it implies for the given network."""
    known = None
    if question in GLOBAL:
        best = optimum.best_of_any_width(_problem(subject))
        room = 10 * finding.moved + subject.tol + BAND
        mine = subject.square_norm / 2 if subject.objective is None else subject.objective
        known = None if best is None else mine <= Fraction(best) * (1 + room)
    elif question == "stationary":
        room = 100 * finding.moved + BAND
        within = Fraction(float(subject.square_norm) ** 0.5) * finding.moved * 2
        residual = stationary.least_residual(subject, room, within)
        known = None if residual is None else residual <= room
    if known is None:
        return Remark(question, "unknown", "proved nearby")
    return Remark(question, "agreed" if known else "wrong", "proved nearby", known)


def _problem(instance):
    """The instance without its network's numbers: what the optimum of any width depends on."""
    return instance.with_network([[0 * x for x in w] for w in instance.W], [0 * x for x in instance.v])


# ------------------------------------------------------------------------------------------------------ numbers


def _numbers(instance, result) -> Iterator[Remark]:
    fitting = result.fits.subject
    subject = instance if fitting is None else with_network(instance, fitting)
    if result.objective != subject.objective:
        yield Remark("objective", "wrong", f"said {result.objective}, is {subject.objective}")
    feasible = is_feasible(_problem(instance))
    if result.infeasible:
        yield Remark("infeasible", "wrong" if feasible else "agreed")
        return
    if not feasible:
        yield Remark("infeasible", "open", f"no network fits; {result.status}", known=True)
        return
    yield from _witnesses(instance, result, subject)
    best = optimum.best_of_any_width(_problem(instance))
    if best is None:
        yield Remark("bracket", "unknown")
        return
    yield _bracket(instance, result, best)
    if result.excess is not None and subject.objective is not None and best > 1e-6:
        low, high = result.excess
        excess = subject.objective / Fraction(best) - 1
        room = BAND * (1 + excess)
        yield Remark("excess", "agreed" if low - room <= excess <= high + room else "wrong", f"{float(excess):.6g}")


def _bracket(instance, result, best):
    if result.bracket is None:
        return Remark("bracket", "open", f"no bracket, best {best:.9g}; {result.status}", known=True)
    low, high = result.bracket
    room = BAND * Fraction(best) + BAND / 100
    text = f"{float(low):.9g} ... {float(high):.9g}, best {best:.9g}; {result.status}"
    if not low - room <= Fraction(best) <= high + room:
        return Remark("bracket", "wrong", text)
    wanted = max(instance.tol, BAND)
    is_narrow = high <= low * (1 + wanted * Fraction(11, 10)) or high - low <= BAND / 100
    return Remark("bracket", "agreed" if is_narrow else "open", text, known=True)


def _witnesses(instance, result, subject) -> Iterator[Remark]:
    """Every better network fits and is better; one of the own width has no more neurons of any mask."""
    for name, network in (("better", result.better), ("better_own_width", result.better_own_width)):
        if network is None:
            continue
        other = with_network(instance, network)
        is_better = other.fits and (subject.objective is None or other.objective < subject.objective)
        if name == "better_own_width":
            free = list(instance.seen)
            for seen in other.seen:
                fitting = [mask for mask in free if set(seen) <= set(mask)]
                is_better = is_better and bool(fitting)
                if fitting:
                    free.remove(min(fitting, key=len))
        yield Remark(name, "agreed" if is_better else "wrong", "" if is_better else f"{other.fits} {other.objective}")


# ------------------------------------------------------------------------------------------------- consequences


def _consequences(result) -> Iterator[Remark]:
    """No verdict contradicts another about the same network."""
    said = {question: getattr(result, question).verdict.value for question in QUESTIONS}
    subjects = {question: getattr(result, question).subject for question in QUESTIONS}
    levels = {question: getattr(result, question).level for question in QUESTIONS}
    rules = [
        ("global_any_width", "global_optimum"),
        ("local_optimum", "stationary"),
        ("stationary", "fits"),
        ("global_optimum", "fits"),
    ]
    if result.tolerance == 0:
        rules.append(("global_optimum", "local_optimum"))
    for strong, weak in rules:
        is_same = subjects[strong] == subjects[weak] or weak == "fits"
        is_same = is_same and (levels[strong] == "near") == (levels[weak] == "near")
        if said[strong] == "proved" and said[weak] == "refuted" and is_same:
            yield Remark("consequences", "wrong", f"{strong} proved, {weak} refuted")
    if result.infeasible and "proved" in said.values():
        yield Remark("consequences", "wrong", "infeasible, yet something is proved")
    moved = {s for q, s in subjects.items() if s is not None and said[q] != "undecided"}
    if len(moved) > 1:
        yield Remark("consequences", "limit", "verdicts about several moved networks")
