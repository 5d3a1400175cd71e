"""The record of an audit of a network with several outputs: its findings, the bracket; as JSON and as a folder."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, final

from verify.checker.derived import is_of_audit
from verify.checker.questions import Question, Verdict
from verify.checker.vector_certificates import VectorCertificate
from verify.checker.vector_folder import VECTOR_AUDIT, VECTOR_NETWORK, VECTOR_PROBLEM
from verify.checker.vector_statement import VectorNetwork, VectorProblem
from verify.deciders.finding import Ending
from verify.files.writing import replace_folder
from verify.numbers.arguments import a_path
from verify.problem.vectors import VectorAsked
from verify.report.several_outputs import vector_as_html, vector_as_text, vector_reasons

__all__ = ["VectorAudit", "VectorFinding"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class VectorFinding:
    """An answer to one question: read off a certificate that was accepted.

    claim: what it proves, "" when undecided.   reason: a sentence for people.   level: "exact",
    "approximate", or "near" about a network near it; None when undecided.   certificate: None when undecided.
    """

    question: Question
    verdict: Verdict
    reason: str
    claim: str
    level: str | None
    certificate: VectorCertificate | None

    def __bool__(self) -> NoReturn:
        raise TypeError("a finding has no truth value: ask `.verdict is Verdict.PROVED`")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class VectorAudit:
    """The answers about one network with several outputs.

    asked: the problem, in the normal form and in the user's terms.   certificates: accepted ones, by file names.
    facts: what they prove, as in audit.json: "findings" by question, "objective", "bracket", "excess".
    better: the best network found that is better; None for none.   ending: how the search ended; limit: why the bracket
    is wider than asked, "" where it is not.
    """

    asked: VectorAsked
    network: VectorNetwork
    certificates: dict[str, VectorCertificate]
    facts: dict[str, Any]
    better: VectorNetwork | None
    ending: Ending
    limit: str
    seconds: float
    notes: tuple[str, ...] = ()

    def __bool__(self) -> NoReturn:
        raise TypeError("an audit has no truth value: ask its findings, such as `.fits.verdict is Verdict.PROVED`")

    @property
    def problem(self) -> VectorProblem:
        """The problem in the normal form."""
        return self.asked.problem

    def verdict(self, question: Question) -> Verdict:
        """What is known about one of the five questions."""
        return Verdict(self.facts["findings"][question.value]["verdict"])

    @property
    def findings(self) -> dict[str, VectorFinding]:
        """The five findings by the name of their question."""
        reasons, found = vector_reasons(self), dict[str, VectorFinding]()
        for question in Question:
            told = self.facts["findings"][question.value]
            proof = None if told["certificate"] is None else self.certificates[told["certificate"]]
            found[question.value] = VectorFinding(
                question=question, verdict=Verdict(told["verdict"]), reason=reasons[question.value],
                claim=told["claim"], level=told["level"], certificate=proof,
            )  # fmt: skip
        return found

    @property
    def fits(self) -> VectorFinding:
        """Whether it meets the constraints; undecided where a loss is asked."""
        return self.findings[Question.FITS.value]

    @property
    def stationary(self) -> VectorFinding:
        """Whether it is stationary."""
        return self.findings[Question.STATIONARY.value]

    @property
    def local_optimum(self) -> VectorFinding:
        """Whether no better network lies near."""
        return self.findings[Question.LOCAL_OPTIMUM.value]

    @property
    def global_optimum(self) -> VectorFinding:
        """Whether none with at most its neurons is better, within the tolerance."""
        return self.findings[Question.GLOBAL_OPTIMUM.value]

    @property
    def global_any_width(self) -> VectorFinding:
        """Whether none of any width is better, within the tolerance."""
        return self.findings[Question.GLOBAL_ANY_WIDTH.value]

    @property
    def bracket(self) -> tuple[Fraction, Fraction] | None:
        """Of the best objective over all widths, in the user's terms; None where it is not known."""
        return _pair(self.facts["bracket"], self.asked.scale)

    @property
    def excess(self) -> tuple[Fraction, Fraction] | None:
        """How far above the best the network is, relative to it; None where that is not known."""
        return _pair(self.facts["excess"], Fraction(1))

    @property
    def objective(self) -> tuple[Fraction, Fraction] | None:
        """Ends of the objective of the network, in the user's terms; None where it does not fit."""
        return _pair(self.facts["objective"], self.asked.scale)

    def to_json(self) -> dict[str, Any]:
        """The audit as a JSON object of schema "vector-audit-1": what is proved, and words beside it."""
        return {
            **self.facts,
            "reasons": vector_reasons(self),
            "status": self.ending.value,
            "notes": [*self.notes, *([self.limit] if self.limit else [])],
            "seconds": round(self.seconds, 3),
        }

    def files(self) -> dict[str, bytes]:
        """What `save` writes into the folder: the content of each file by its name."""
        records = {VECTOR_PROBLEM: self.problem, VECTOR_NETWORK: self.network, **self.certificates}
        contents = {name: record.canonical_text().encode() + b"\n" for name, record in records.items()}
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        audit = json.dumps(self.to_json() | {"files": hashes}, indent=2, ensure_ascii=False) + "\n"
        return contents | {VECTOR_AUDIT: audit.encode("utf-8")}

    def save(self, folder: str | Path) -> dict[str, str]:
        """Write the problem, the network, each certificate and audit.json into `folder`: file name -> path.

        `isoptimal check FOLDER` decides it.
        """
        target, files = a_path(folder, "folder"), self.files()
        replace_folder(target, files, is_of_audit, VECTOR_AUDIT)
        return {name: str(target / name) for name in files if name != VECTOR_AUDIT}

    def __str__(self) -> str:
        return vector_as_text(self)

    def __repr__(self) -> str:
        told = [f"{q.value.replace('_', ' ')} {self.verdict(q).value}" for q in Question]
        return f"<VectorAudit: {', '.join(told)}; {self.ending.value}>"

    def _repr_html_(self) -> str:
        return vector_as_html(self)


def _pair(texts: list[str] | None, scale: Fraction) -> tuple[Fraction, Fraction] | None:
    return None if texts is None else (Fraction(texts[0]) * scale, Fraction(texts[1]) * scale)
