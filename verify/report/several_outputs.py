"""The report of an audit of a network with several outputs."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Protocol

from verify.checker.goals import is_free
from verify.checker.questions import Question, Verdict
from verify.checker.vector_certificates import (
    VectorBetterNetwork,
    VectorCertificate,
    VectorDoesNotFit,
    VectorOptimalWithin,
    VectorValue,
)
from verify.checker.vector_statement import VectorNetwork, VectorProblem, vector_objective, weight_of
from verify.checker.vector_stationary import VectorNotLocal, VectorNotStationary, VectorStationary
from verify.numbers.counts import count
from verify.numbers.decimals import allowed, at_least, at_most, denied, enclosure, open_at, small, value
from verify.problem.phrases import QUESTIONS
from verify.problem.vectors import VectorAsked
from verify.report import Report, drawn
from verify.report.wording import Wording

__all__ = ["AuditedVectors", "vector_as_html", "vector_as_text", "vector_reasons", "vector_wording"]

STATIONARY_ONLY = "it is stationary, which a saddle is as well; that no better network lies near it is not known"
NEARLY = "it is stationary nearly, and whether exactly is not known"
OPEN = "no {network} was found that is better by more than the tolerance, and {bound}"
LOWER, NO_BOUND = "the bound of the best is lower", "no lower bound above 0 is proved"
MAYBE = "it is not stationary exactly, and whether to within {asked} is not known"
LOCAL = "better networks lie arbitrarily near"

LEGEND = (
    "approx.: proved up to ε, what is left of the gradient, relative to that of the decay, and δ, by how much the "
    "multipliers miss the slopes of the loss, relative to twice the decay"
)
OF_SUBJECTS = (
    "near: proved of a network that is that near, relative to the norm of all parameters: neurons are put onto the "
    "kinks that they are nearly at, and to 0 where they are nearly nothing"
)
LEVELS = {"approximate": "approx.", "near": "near"}
OF_MARGINS = (
    "approx.: proved up to ε, what is left of the gradient, relative to the norm, and δ, the multipliers times what "
    "their margins are beyond the least one, relative to the squared norm"
)


class AuditedVectors(Protocol):
    """What the report reads of an audit."""

    @property
    def asked(self) -> VectorAsked:
        """The problem, and the user's terms."""
        ...

    @property
    def problem(self) -> VectorProblem:
        """The problem in the normal form."""
        ...

    @property
    def network(self) -> VectorNetwork:
        """The network."""
        ...

    @property
    def certificates(self) -> Mapping[str, VectorCertificate]:
        """By file names."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """What they prove."""
        ...

    @property
    def better(self) -> VectorNetwork | None:
        """The best network that is better."""
        ...

    @property
    def bracket(self) -> tuple[Fraction, Fraction] | None:
        """Of the best objective."""
        ...

    @property
    def excess(self) -> tuple[Fraction, Fraction] | None:
        """Above it."""
        ...

    @property
    def limit(self) -> str:
        """Why the bracket is wide."""
        ...

    @property
    def seconds(self) -> float:
        """How long it took."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed."""
        ...


def vector_reasons(audit: AuditedVectors) -> dict[str, str]:
    """A sentence for each question: what is proved, or why nothing is."""
    return {question.value: _reason(audit, question) for question in Question}


def _reason(audit: AuditedVectors, question: Question) -> str:
    finding = audit.facts["findings"][question.value]
    if finding["certificate"] is None:
        return _why_open(audit, question)
    match audit.certificates[finding["certificate"]]:
        case VectorValue():
            margin = audit.problem.rules.HAS_MARGIN
            return "every point is on the side of its class" if margin else "every target is met exactly"
        case VectorDoesNotFit(point=point):
            if audit.problem.rules.HAS_MARGIN:
                return f"point {point} (counting from 0) is not on the side of its class"
            return f"the target of point {point} (counting from 0) is not met"
        case VectorStationary() as proof:
            if proof.subject is not None:
                return f"of a network within {small(proof.moved)} of it (relative): {_up_to(proof)}"
            if not proof.own_tolerance:
                return f"stationary exactly, with multipliers at {count(len(proof.multipliers), 'point')}"
            return _up_to(proof)
        case VectorNotStationary() as proof if question is Question.STATIONARY:
            within = proof.own_tolerance
            return f"no multipliers show it{f' to within {denied(within)}' if within else ''}"
        case VectorNotStationary() if question is Question.LOCAL_OPTIMUM:
            is_near = audit.facts["findings"][Question.STATIONARY.value]["verdict"] != Verdict.REFUTED.value
            return f"it is not stationary exactly, so {LOCAL}" if is_near else "it is not stationary"
        case VectorNotStationary():
            return LOCAL
        case VectorNotLocal():
            return "the objective falls along a straight way from it" if question is Question.LOCAL_OPTIMUM else LOCAL
        case VectorBetterNetwork() as proof:
            return _better(audit, proof)
        case VectorOptimalWithin() as proof:
            by = f" by more than {allowed(proof.tolerance)} (relative)" if proof.tolerance else ""
            return f"no network of any width is better{by}"
        case _:  # pragma: no cover - unreachable: other kinds answer nothing
            return ""


def _up_to(proof: VectorStationary) -> str:
    return f"up to ε\u00a0=\u00a0{small(proof.epsilon)} and δ\u00a0=\u00a0{small(proof.delta)}"


def _better(audit: AuditedVectors, proof: VectorBetterNetwork) -> str:
    mine, theirs = vector_objective(audit.problem, audit.network), vector_objective(audit.problem, proof.witness)
    much = ""
    if mine is not None and theirs is not None and mine[0] > 0:
        much = f": its objective is at least {at_least((1 - theirs[1] / mine[0]) * 100, 3)}\u00a0% lower"
    return f"a network of {count(proof.witness.width, 'neuron')} is better{much}"


def _why_open(audit: AuditedVectors, question: Question) -> str:
    if question is Question.FITS:
        return "not asked: a loss is traded for weight decay" if audit.problem.rules.IS_LOSS else "not decided"
    stationary = audit.facts["findings"][Question.STATIONARY.value]
    if question is Question.STATIONARY:
        known = audit.certificates.get("vector-stationary.json")
        if isinstance(known, VectorStationary):
            of = "" if known.subject is None else f"of a network within {small(known.moved)} of it "
            return f"proved only {of}{_up_to(known)}, which is more than asked"
        if "vector-not-stationary.json" in audit.certificates:
            return MAYBE.format(asked=open_at(Fraction(stationary["within"])))
        return "no multipliers were found, and no proof that there are none"
    if question is Question.LOCAL_OPTIMUM:
        if stationary["verdict"] == Verdict.PROVED.value:
            return STATIONARY_ONLY if stationary["level"] == "exact" else NEARLY
        return "whether it is stationary is not known"
    network = "network of its width or less" if question is Question.GLOBAL_OPTIMUM else "network"
    return OPEN.format(network=network, bound=LOWER if Fraction(audit.facts["lower"]) else NO_BOUND)


def vector_wording(audit: AuditedVectors, folder: str | None = None) -> Wording:
    """The text of the report. folder: where the certificates were written, None when they are only in memory."""
    problem, network = audit.problem, audit.network
    reasons = vector_reasons(audit)
    asked = [question for question in Question if question is not Question.FITS or not problem.rules.IS_LOSS]
    rows = []
    for question in asked:
        finding = audit.facts["findings"][question.value]
        level = LEVELS.get(finding["level"] or "", "")
        rows.append((QUESTIONS[question.value], Verdict(finding["verdict"]), level, reasons[question.value]))
    kind = {Fraction(0): "ReLU ", Fraction(1): "linear "}.get(problem.slope, f"leaky ReLU (slope {problem.slope}) ")
    counts = "do not count in the norm (free)" if is_free(problem.bias) else "count in the norm (penalised)"
    biases = f"biases {counts}" if network.bias else "no hidden biases"
    if network.output_bias is not None:
        biases += ", the output biases " + ("count" if problem.decay.output_bias else "do not count")
    neurons = f"{network.width} {kind}neuron{'s' if network.width != 1 else ''}"
    points = f"{count(len(problem.inputs), 'point')} in dimension {len(problem.inputs[0])}"
    title = f"Network of {neurons} and {problem.outputs} outputs, on {points}", f"{audit.asked.words}; {biases}"
    legend = (LEGEND if problem.rules.IS_LOSS else OF_MARGINS,) if any(row[2] for row in rows) else ()
    legend += (OF_SUBJECTS,) if any(row[2] == LEVELS["near"] for row in rows) else ()
    return Wording(
        title=title, notes=audit.notes, rows=tuple(rows), legend=legend, numbers=tuple(_numbers(audit, folder)),
        faults=(), steps=(),
    )  # fmt: skip


def _numbers(audit: AuditedVectors, folder: str | None) -> Iterator[tuple[str, str]]:
    problem, scale = audit.problem, audit.asked.scale
    mine = vector_objective(problem, audit.network)
    if mine is None:
        yield "this network", "no objective: it does not fit"
    elif problem.rules.IS_LOSS:
        decay = weight_of(problem, audit.network) / 2 * scale
        yield "this network", f"{value(mine[1] * scale)} = {value(mine[1] * scale - decay)} loss + {value(decay)} decay"
    else:
        yield "this network", f"{value(mine[1])} = ½‖θ‖²{' at margin 1' if problem.rules.HAS_MARGIN else ''}"
    zero = audit.facts["without_neurons"]
    if zero is not None:
        yield "without neurons", f"{value(Fraction(zero[1]) * scale)}, which is what a network of zeros has"
    found, lower = audit.bracket, Fraction(audit.facts["lower"]) * scale
    if found is None and lower > 0:
        yield "best possible", f"at least {at_least(lower)}, over networks of any width; no upper end is proved"
    if found == (0, 0):
        yield "best possible", "0, over networks of any width: no objective is below 0"
    elif found is not None and found[0] > 0:
        yield "best possible", f"{' … '.join(dict.fromkeys(enclosure(*found)))}, over networks of any width"
    elif found is not None:
        yield "best possible", f"at most {at_most(found[1])}; no lower bound above 0 is proved"
    if audit.excess is not None:
        low, high = (100 * end for end in audit.excess)
        least, most = f"{at_least(low, 4)}\u00a0%", f"{at_most(high, 4)}\u00a0%"
        told = most if least == most else f"between {least} and {most}" if low else f"at most {most}"
        yield "excess", f"{told} above the best possible" if high else "none: this network is the best possible"
    if audit.better is not None:
        theirs = vector_objective(problem, audit.better)
        told = "" if theirs is None else f", objective {value(theirs[1] * scale)}"
        yield "better network", f"{count(audit.better.width, 'neuron')}{told}"
    if audit.limit:
        yield "search", audit.limit
    files = count(len(audit.certificates), "certificate")
    where = f"in {folder}" if folder else "not written; --certificates DIR writes them (in Python: .save(DIR))"
    yield "certificates", f"{files}, {where}"
    yield "time", f"{audit.seconds:.2f} s"


def vector_as_text(
    audit: AuditedVectors, width: int = 100, *, folder: str | None = None, encoding: str | None = None
) -> str:
    """The report as plain lines of at most `width` characters."""
    return drawn(Report(vector_wording(audit, folder)), width, encoding)


def vector_as_html(audit: AuditedVectors) -> str:
    """The same as a piece of HTML for notebooks."""
    return f"<pre>{html.escape(vector_as_text(audit, encoding='utf-8'))}</pre>"
