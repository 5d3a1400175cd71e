"""A folder of certificates, decided as a whole: what audit.json says is what its certificates prove, or it is refused.

Each certificate is checked; then everything that audit.json says is derived anew from the accepted ones
(`verify.checker.derived`) and compared (`verify.checker.differences`). Refused are: a certificate that proves nothing;
a file that is missing, changed, not listed, or no regular file, or has a name that an audit gives to no file; an entry
of audit.json that differs from what the certificates prove or that nothing proves; a question that is left open
although a certificate answers it. Words and hints are named as not certified. An audit that asked what its network does
fit says what that found, with a folder of its own beside this one: that folder is decided too, must be about the same
network and a part of the same question, and what is said of it must be what stands there.

Sound: every row of the table is proved, of the networks that it names, whoever wrote the folder. It says nothing about
files outside: whether the problem is the user's is a comparison of hashes (`isoptimal check --data --network`).
"""

# Values of any type come in:
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from verify.checker.answers import Question, Verdict, answers, distance, why_open
from verify.checker.certificate import AboutNetwork, Certificate
from verify.checker.checking import Accepted, Files, check, read_certificate
from verify.checker.codec import load_json, reader
from verify.checker.decision import Decision
from verify.checker.derived import (
    AUDIT_FILE,
    BOUNDS,
    SYMBOLIC,
    WITNESSES,
    Material,
    certified,
    judged,
    subject_file,
)
from verify.checker.differences import differences
from verify.checker.errors import CertificateError, InputError
from verify.checker.layer_facts import better_layers, is_better_layer, is_of_layer, misplaced
from verify.checker.proved_table import proved_table
from verify.checker.statement import Network, Problem

AUDIT, PROBLEM, NETWORK = "audit.json", "problem.json", "network.json"


def decide_folder(folder: Path, *, bare: bool = False) -> Decision:
    """Decide a folder that an audit wrote; with `bare`, certificates beside problem.json and network.json only.

    A folder without audit.json is refused unless it is said to be bare: then no table is made. Raises InputError for a
    folder without problem.json and at least one certificate. A folder about several outputs is decided by
    `verify.checker.vector_folder`.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}: give a folder of certificates, or PROBLEM NETWORK CERTIFICATE")
    if (folder / "vector-problem.json").is_file():
        from verify.checker.vector_folder import decide_vector_folder  # others need not wait for it

        return decide_vector_folder(folder, bare=bare)
    entries = sorted(folder.iterdir())
    if not (folder / PROBLEM).is_file():
        raise InputError(f"{folder} holds no problem.json: give a folder that isoptimal audit --certificates wrote")
    names = [path.name for path in entries if path.suffix == ".json" and not is_known(path.name) and path.is_file()]
    if not names:
        raise InputError(f"{folder} holds no certificate: give a folder that isoptimal audit --certificates wrote")
    found, files = Decision(None, None), Files(folder)
    found.problem = _given(found, Problem, files, PROBLEM, "problem")
    found.network = _given(found, Network, files, NETWORK, "network")
    certificates = _certificates(found, files, names)
    for path in entries:
        if path.is_symlink() or not path.is_file():
            found.refuse(path.name, "is no regular file, and isoptimal writes no other")
    if bare:
        for path in entries:
            if path.is_file() and path.name not in (PROBLEM, NETWORK, *names):
                found.refuse(path.name, "is no certificate, and is not looked at in a bare folder")
        return found
    found.audit = _audit(found, files)
    if found.audit is not None:
        _compare_files(found, files, entries, found.audit)
        _compare_answers(found, files, certificates, found.audit)
        _compare_relaxed(found, folder, found.audit)
    return found


def relaxed_folder(folder: Path) -> Path:
    """Where the audit of what the network does fit stands, beside that of the question asked."""
    place = folder.resolve() if folder.name in ("", "..") else folder
    return place.with_name(f"{place.name}-relaxed")


def is_known(name: str) -> bool:
    """Files of an audit that are no certificates; every other one must be one, so that none is passed over."""
    return name in (PROBLEM, NETWORK, AUDIT) or name.endswith((".subject.json", ".network.json"))


NO_MEMORY = "takes more memory than there is"


def _record(kind: type[Any], files: Files, name: str, what: str) -> Any:
    try:
        return reader(kind)(load_json(files.text(name)))
    except (InputError, CertificateError, UnicodeDecodeError) as error:
        raise InputError(f"is no {what} that isoptimal wrote ({error})") from error
    except MemoryError as error:
        raise InputError(NO_MEMORY) from error


def _given(found: Decision, kind: type[Any], files: Files, name: str, what: str) -> Any:
    """The problem or the network of the folder; None, and a refused line, where the file is none."""
    if not files.has(name):
        return None
    try:
        return _record(kind, files, name, what)
    except InputError as error:
        found.refuse(name, str(error))
        return None


def _certificates(found: Decision, files: Files, names: Sequence[str]) -> dict[str, Certificate]:
    """The accepted certificates by file name, with a line for each."""
    accepted: dict[str, Certificate] = {}
    if found.problem is None:
        return accepted
    for name in names:
        try:
            certificate = read_certificate(files.text(name))
            given = found.network if isinstance(certificate, AboutNetwork) else None
            result = check(found.problem, given, certificate)
        except (InputError, CertificateError, UnicodeDecodeError) as error:
            found.refuse(name, f"cannot be read: {error}")
            continue
        except MemoryError:
            found.refuse(name, NO_MEMORY)
            continue
        if isinstance(result, Accepted):
            accepted[name] = certificate
            found.accept(name, certificate.claim)
        else:
            found.refuse(name, f"{result.place}: {result.reason}")
    return accepted


def _audit(found: Decision, files: Files) -> dict[str, Any] | None:
    if not files.has(AUDIT):
        found.refuse(AUDIT, "is missing: nothing says what these certificates are meant to answer, so no table is made")
        return None
    try:
        value = load_json(files.text(AUDIT), allow_floats=True)
    except (InputError, CertificateError, UnicodeDecodeError) as error:
        found.refuse(AUDIT, f"cannot be read: {error}")
        return None
    if not isinstance(value, dict):
        found.refuse(AUDIT, "is not the JSON object that isoptimal writes")
        return None
    return cast("dict[str, Any]", value)


def _compare_files(found: Decision, files: Files, entries: Sequence[Path], audit: Mapping[str, Any]) -> None:
    """The files that are there must be those that are listed, with the content that is listed."""
    listed = _listed(audit)
    if listed is None:
        found.refuse(AUDIT, "lists no files with their SHA-256: write it anew with isoptimal audit --certificates")
        return
    there = {path.name for path in entries if path.is_file()} - {AUDIT}
    for name in sorted(there):
        if not AUDIT_FILE.fullmatch(name):
            found.refuse(name, "is a name that isoptimal audit --certificates gives to no file")
    for name in sorted(there - listed.keys()):
        found.refuse(name, "is not listed in audit.json")
    for name, sha256 in listed.items():
        if name not in there:
            found.refuse(name, "is named in audit.json and is missing")
        elif sha256 != files.sha256(name):
            found.refuse(name, "is not the file that audit.json names: its SHA-256 differs")


def _listed(audit: Mapping[str, Any]) -> dict[str, str] | None:
    """The SHA-256 of each file, as it is listed; None where that is no such list."""
    listed = audit.get("files")
    is_list = isinstance(listed, dict) and all(isinstance(sha256, str) for sha256 in listed.values())
    return cast("dict[str, str]", listed) if is_list else None


def _compare_answers(
    found: Decision, files: Files, certificates: Mapping[str, Certificate], audit: Mapping[str, Any]
) -> None:
    """Everything else that audit.json says must be what the certificates prove."""
    if found.problem is None:
        return
    if found.network is None:
        if not files.has(NETWORK):
            found.refuse(NETWORK, "is missing: audit.json speaks of a network")
        return
    if found.network.architecture != found.problem.architecture:  # of which no certificate of the problem speaks
        found.refuse(NETWORK, "has another architecture than the problem")
        return
    tolerances = [_tolerance(found, audit, key) for key in ("tolerance", "stationary_tolerance")]
    listed = {question: _names(found, audit, question, certificates) for question in Question}
    material = Material(
        problem=found.problem,
        network=found.network,
        certificates=certificates,
        listed=listed,
        witnesses=_witnesses(found, files),
        tolerance=tolerances[0],
        stationary_tolerance=tolerances[1],
        asks_layers="layers" in audit,
    )
    if (proved := _proved(found, material)) is None:
        return
    proved = json.loads(json.dumps(proved))
    if audit.get("symbolic") is None and not proved["symbolic"]["certificates"]:
        proved["symbolic"] = None
    for place, text in differences(audit, proved):
        found.refuse(AUDIT, f"{place} {text}")
    _compare_uses(found, material)
    subjects = {subject_file(q): proved["findings"][q.value]["subject_sha256"] for q in Question}
    none = {name: None for name in _listed(audit) or () if is_better_layer(name)}
    _compare_networks(found, files, subjects | none | better_layers(proved))
    found.table += proved_table(proved, certificates)


def _proved(found: Decision, material: Material) -> dict[str, Any] | None:
    """What follows, without witnesses where one of them is none; None where the numbers are too long to be told."""
    for witnesses in [material.witnesses, {}] if material.witnesses else [{}]:
        try:
            return certified(replace(material, witnesses=witnesses))
        except CertificateError as error:
            found.refuse(error.place.removesuffix(".witness"), error.reason)
        except (InputError, MemoryError) as error:
            found.refuse(AUDIT, f"cannot be compared: {str(error) or NO_MEMORY}")
    return None


def _tolerance(found: Decision, audit: Mapping[str, Any], key: str) -> Fraction:
    """A tolerance is part of the question: it is taken as it is given, and the answers must hold for it."""
    try:
        tolerance: Fraction = reader(Fraction)(audit.get(key))
    except CertificateError as error:
        found.refuse(AUDIT, f"{key} {error.reason}")
        return Fraction(0)
    if tolerance < 0:
        found.refuse(AUDIT, f"{key} must be at least 0")
    return abs(tolerance)


def _names(
    found: Decision, audit: Mapping[str, Any], question: Question, certificates: Mapping[str, Certificate]
) -> list[str]:
    """The accepted certificates that audit.json lists for a question; each must say something about it."""
    place = f"findings.{question.value}.certificates"
    entries: object = audit.get("findings")
    for key in (question.value, "certificates"):
        entries = cast("dict[str, object]", entries).get(key) if isinstance(entries, dict) else None
    if not isinstance(entries, list):
        found.refuse(AUDIT, f"{place} is no list of files")
        return []
    names: list[str] = []
    for name in cast("list[object]", entries):
        proof = certificates.get(name) if isinstance(name, str) else None
        if not isinstance(name, str) or proof is None or name in names:
            found.refuse(AUDIT, f"{place} names {name!r:.60}, which is no certificate here that was accepted")
        elif (
            found.problem is None
            or found.network is None
            or question not in answers(found.problem, found.network, proof)
        ):
            found.refuse(name, f"is listed in {place}: {why_open(question, proof, None, Fraction(0))}")
        else:
            names.append(name)
    return names


def _witnesses(found: Decision, files: Files) -> dict[str, Network]:
    witnesses: dict[str, Network] = {}
    for key, name in WITNESSES.items():
        if files.has(name):
            try:
                witnesses[key] = _record(Network, files, name, "network")
            except InputError as error:
                found.refuse(name, str(error))
    return witnesses


def _compare_uses(found: Decision, material: Material) -> None:
    """Every certificate is of use, under the name of its kind, and no question is open that one of them answers."""
    used = {name for names in material.listed.values() for name in names}
    for name, kind in {**BOUNDS, **SYMBOLIC}.items():
        if name in material.certificates and not isinstance(material.certificates[name], kind):
            found.refuse(name, f"is no certificate of kind {kind.KIND}")
    for name, reason in misplaced(judged(material), material.certificates, material.tolerance):
        found.refuse(name, reason)
    for name in material.certificates.keys() - used - BOUNDS.keys() - SYMBOLIC.keys():
        if not is_of_layer(name):
            found.refuse(name, "answers no question in audit.json")
    for question, names in material.listed.items():
        for name in used if not names else ():
            proof = material.certificates[name]
            answer = answers(material.problem, material.network, proof).get(question)
            is_answer = answer is not None and answer.within(material.within(question)) is not Verdict.UNDECIDED
            if is_answer and not distance(proof):
                found.refuse(AUDIT, f"findings.{question.value} is open, and {name} answers it")


def _compare_networks(found: Decision, files: Files, networks: Mapping[str, str | None]) -> None:
    """Each network that an answer is about, or that has a better layer, is written down as the certificate has it.

    networks: the SHA-256 of the network in each file; None where there is to be none.
    """
    for name, sha256 in networks.items():
        if not files.has(name):
            if sha256 is not None:
                found.refuse(name, "is missing: the answer is about another network than the given one")
            continue
        try:
            other: Network = _record(Network, files, name, "network")
        except InputError as error:
            found.refuse(name, str(error))
            continue
        if other.sha256() != sha256:
            found.refuse(name, "is not the network that the certificate speaks of")


def _compare_relaxed(found: Decision, folder: Path, audit: Mapping[str, Any]) -> None:
    """What audit.json says of what the network does fit is what the folder beside it says, and that is proved there."""
    said = _relaxed_in(audit)
    if said is None:
        return
    beside = relaxed_folder(folder)
    to_prove = f"diagnosis.relaxed is what the folder beside this one, {beside}, is to prove"
    if not beside.is_dir():
        found.refuse(AUDIT, f"{to_prove}, and there is no such folder: move it back to its place, or audit again")
        return
    try:
        easier = decide_folder(beside)
    except InputError as error:
        found.refuse(AUDIT, f"{to_prove}: {error}")
        return
    found.relaxed = easier
    if easier.audit is None or found.problem is None or found.network is None:
        return
    if _relaxed_in(easier.audit) is not None:
        easier.refuse(AUDIT, "diagnosis.relaxed is more than isoptimal says about what a network does fit")
    if easier.problem is not None and not _is_part(easier.problem, found.problem):
        easier.refuse(PROBLEM, f"asks no part of what {folder.name} asks")
    if easier.network != found.network:
        easier.refuse(NETWORK, f"is not the network of {folder.name}")
    proved = {key: value for key, value in easier.audit.items() if key != "files"}
    if json.dumps(said, sort_keys=True) != json.dumps(proved, sort_keys=True):
        found.refuse(AUDIT, f"diagnosis.relaxed is not what {beside.name} says")


def _relaxed_in(audit: Mapping[str, Any]) -> object:
    """What an audit says of what its network does fit; None for nothing."""
    known = audit.get("diagnosis")
    return cast("dict[str, object]", known).get("relaxed") if isinstance(known, dict) else None


def _is_part(easier: Problem, problem: Problem) -> bool:
    """Whether every network that fits `problem` fits `easier`: some of its points, within no smaller a tolerance."""
    if replace(easier, inputs=problem.inputs, targets=problem.targets, fit_tolerance=problem.fit_tolerance) != problem:
        return False
    remaining = iter(zip(problem.inputs, problem.targets, strict=True))
    is_there = all(point in remaining for point in zip(easier.inputs, easier.targets, strict=True))
    return is_there and easier.fit_tolerance >= problem.fit_tolerance
