"""A folder of certificates about several outputs: what audit.json says is what they prove, or it is refused.

The folder holds vector-problem.json, vector-network.json, certificates whose names begin with "vector-", and
audit.json, which lists all others with their SHA-256. Everything in it but words is derived anew from the accepted
certificates: no question is left open that one of them answers, and none is answered by nothing.

Sound: every row of the table is proved, whoever wrote the folder.
"""

# Values of any type come in:
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from verify.checker.checking import Files
from verify.checker.codec import load_json, rational_of, rational_text, reader
from verify.checker.decision import Decision
from verify.checker.derived import VECTOR_FILE
from verify.checker.errors import CertificateError, InputError
from verify.checker.exact import value_text
from verify.checker.questions import Question, Verdict, asked_within
from verify.checker.told import bracket_and_excess
from verify.checker.vector_certificates import VectorCertificate, vector_bracket
from verify.checker.vector_checking import VectorAccepted, check_vector, read_vector_certificate, vector_answers
from verify.checker.vector_statement import (
    VectorNetwork,
    VectorProblem,
    require_own_network,
    vector_objective,
    vector_without_neurons,
)

VECTOR_PROBLEM, VECTOR_NETWORK, VECTOR_AUDIT = "vector-problem.json", "vector-network.json", "audit.json"

VECTOR_WORDS = frozenset({"files", "status", "notes", "seconds", "reasons"})
"""The keys of audit.json that hold words, and the list of files."""

Facts: TypeAlias = dict[str, Any]


def vector_facts(
    problem: VectorProblem,
    network: VectorNetwork,
    certificates: Mapping[str, VectorCertificate],
    tolerance: Fraction,
    stationary_tolerance: Fraction,
) -> Facts:
    """What accepted certificates say, by their file names: the certified part of audit.json.

    objective: the ends of its interval, null where the network does not fit.   without_neurons: of a network of zeros,
    whose output bias is 0.   lower: a bound of the best objective over all widths, 0 where none is proved.   bracket:
    that with an upper bound.
    """
    require_own_network(problem, network, "network")
    mine = vector_objective(problem, network)
    lower, upper = vector_bracket(problem, certificates, mine)
    high = None if mine is None else mine[1]
    rounded = Fraction(0) if mine is None else mine[1] - mine[0]
    bracket, excess = bracket_and_excess(lower, upper, high, rounded)
    zero = vector_without_neurons(problem)
    findings = {
        question.value: _vector_finding(
            problem, network, certificates, question, asked_within(question, tolerance, stationary_tolerance)
        )
        for question in Question
    }
    return {
        "schema": "vector-audit-1",
        "problem": {
            "goal": problem.goal, "points": len(problem.inputs), "dimension": len(problem.inputs[0]),
            "outputs": problem.outputs, "bias": problem.bias.value, "slope": rational_text(problem.slope),
            "sha256": problem.sha256(),
        },
        "network": {"width": network.width, "sha256": network.sha256()},
        "objective": _texts(mine),
        "without_neurons": _texts(zero),
        "findings": findings,
        "lower": rational_text(lower),
        "bracket": _texts(bracket),
        "excess": _texts(excess),
        "tolerance": rational_text(tolerance),
        "stationary_tolerance": rational_text(stationary_tolerance),
    }  # fmt: skip


def _texts(numbers: Sequence[Fraction] | None) -> list[str] | None:
    return None if numbers is None else [rational_text(number) for number in numbers]


def _vector_finding(
    problem: VectorProblem,
    network: VectorNetwork,
    certificates: Mapping[str, VectorCertificate],
    question: Question,
    within: Fraction,
) -> Facts:
    """The answer of the first certificate that gives one: exact ones first, then those that answer least besides."""
    found: Facts = {
        "verdict": Verdict.UNDECIDED.value, "claim": "", "level": None, "within": rational_text(within),
        "certificate": None,
    }  # fmt: skip
    given = {name: vector_answers(problem, network, proof) for name, proof in certificates.items()}
    for name in sorted(given, key=lambda name: (certificates[name].is_approximate, len(given[name]), name)):
        proof, answer = certificates[name], given[name].get(question)
        if answer is not None and answer.within(within) is not Verdict.UNDECIDED:
            level = "approximate" if proof.is_approximate and question is Question.STATIONARY else "exact"
            level = "near" if vars(proof).get("subject") is not None else level
            return found | {
                "verdict": answer.verdict.value, "claim": proof.claim, "level": level, "certificate": name,
            }  # fmt: skip
    return found


def decide_vector_folder(folder: Path, *, bare: bool = False) -> Decision:
    """Decide a folder about several outputs; with `bare` without audit.json, and then without a table."""
    found, files = Decision(None, None), Files(folder)
    try:
        problem: VectorProblem = reader(VectorProblem)(load_json(files.text(VECTOR_PROBLEM)))
        network: VectorNetwork = reader(VectorNetwork)(load_json(files.text(VECTOR_NETWORK)))
    except (InputError, CertificateError, UnicodeDecodeError) as error:
        found.refuse(VECTOR_PROBLEM, f"or {VECTOR_NETWORK} is none that isoptimal wrote ({error})")
        return found
    entries = sorted(folder.iterdir())
    certificates: dict[str, VectorCertificate] = {}
    for path in entries:
        if path.is_symlink() or not path.is_file():
            found.refuse(path.name, "is no regular file, and isoptimal writes no other")
        elif path.name not in (VECTOR_PROBLEM, VECTOR_NETWORK, VECTOR_AUDIT):
            _decide(found, files, path.name, problem, network, certificates)
    if not bare:
        _compare(found, files, [path.name for path in entries], problem, network, certificates)
    return found


def _decide(
    found: Decision, files: Files, name: str, problem: VectorProblem, network: VectorNetwork,
    certificates: dict[str, VectorCertificate],
) -> None:  # fmt: skip
    """A line for the certificate, which is kept where it is accepted."""
    if not VECTOR_FILE.fullmatch(name):
        found.refuse(name, "is a name that isoptimal audit --certificates gives to no file")
        return
    try:
        certificate = read_vector_certificate(files.text(name))
    except (InputError, CertificateError, UnicodeDecodeError) as error:
        found.refuse(name, f"cannot be read: {error}")
        return
    result = check_vector(problem, network, certificate)
    if isinstance(result, VectorAccepted):
        certificates[name] = certificate
        found.accept(name, certificate.claim)
    else:
        found.refuse(name, f"{result.place}: {result.reason}")


def _compare(
    found: Decision, files: Files, names: Sequence[str], problem: VectorProblem, network: VectorNetwork,
    certificates: Mapping[str, VectorCertificate],
) -> None:  # fmt: skip
    """Whether audit.json says what is proved, and lists what is there; then the table."""
    try:
        audit = load_json(files.text(VECTOR_AUDIT), allow_floats=True)
        tolerances = [reader(Fraction)(audit[key]) for key in ("tolerance", "stationary_tolerance")]
        listed = dict(audit["files"])
    except (InputError, CertificateError, UnicodeDecodeError, TypeError, KeyError, ValueError) as error:
        found.refuse(VECTOR_AUDIT, f"is missing, or is not what isoptimal writes ({error})")
        return
    if min(tolerances) < 0:
        found.refuse(VECTOR_AUDIT, "has a tolerance below 0")
        return
    there = {name: files.sha256(name) for name in names if name != VECTOR_AUDIT and files.has(name)}
    if listed != there:
        wrong = sorted(name for name in {*listed, *there} if listed.get(name) != there.get(name))
        found.refuse(VECTOR_AUDIT, f"lists other files than are here, or with another SHA-256: {', '.join(wrong)}")
    try:
        proved = vector_facts(problem, network, certificates, *tolerances)
    except CertificateError as error:
        found.refuse(VECTOR_NETWORK, f"is no network of the problem: {error}")
        return
    said = {key: value for key, value in audit.items() if key not in VECTOR_WORDS}
    for key in sorted({*said, *proved}):
        if json.dumps(said.get(key), sort_keys=True) != json.dumps(proved.get(key), sort_keys=True):
            found.refuse(VECTOR_AUDIT, f"{key} is not what the certificates prove")
    found.audit = audit
    found.table += _table(proved)


def _table(proved: Facts) -> list[tuple[str, str, str]]:
    """(question or quantity, verdict or value, about what), all of it proved."""
    rows: list[tuple[str, str, str]] = []
    for name, finding in proved["findings"].items():
        within = "" if finding["within"] == "0" else f"within {value_text(rational_of(finding['within']))}"
        rows.append((name, finding["verdict"], ", ".join(filter(None, (within, finding["certificate"])))))
    rows.append(("lower", value_text(rational_of(proved["lower"])), "of the best objective over all widths"))
    for name in ("objective", "without_neurons", "bracket", "excess"):
        ends = proved[name]
        shown = " to ".join(dict.fromkeys(value_text(rational_of(end)) for end in ends)) if ends else "not known"
        rows.append((name, shown, ""))
    rows.append(("not certified", ", ".join(sorted(VECTOR_WORDS - {"files"})), "words, and what floats found"))
    return rows
