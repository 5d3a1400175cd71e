"""What must be refused: certificates that do not prove their claim, and files that are no certificate or no input."""

from __future__ import annotations

from pathlib import Path

from verify.auditing.loop import pose
from verify.checker import Accepted, check, read_certificate
from verify.checker.errors import InputError
from verify.corpus.case_files import read_canonical, read_strictly
from verify.problem.network import Network
from verify.problem.problem import Problem
from verify.readers import read, read_data
from verify.readers.json_files import parse

__all__ = ["rejection_fault"]


def rejection_fault(folder: Path) -> str | None:
    """Why the item in `folder` is not refused as its meta.json expects; None when it is.

    `{"refused": place}`: its certificate can be read, and the checker refuses it at exactly that place.
    `{"unreadable": text}`: reading it is an error whose message contains the text. What is read is `certificate.json`
    with its `problem.json` and `network.json`, or else `case.json`, or `network.*` and `data.*`.

    Raises InputError for a malformed meta.json.
    """
    kind, expected, target = _meta(folder / "meta.json")
    try:
        got, where = _judged(folder) if (folder / "certificate.json").exists() else _taken(folder, target)
    except (OSError, ValueError) as error:
        got, where = "unreadable", str(error)
    is_as_expected = got == kind and (where == expected if kind == "refused" else expected in where)
    return None if is_as_expected else f"expected {kind} ({expected}), got {got} ({where})"


def _judged(folder: Path) -> tuple[str, str]:
    problem = read_canonical(Problem, folder / "problem.json")
    network = read_canonical(Network, folder / "network.json") if (folder / "network.json").exists() else None
    certificate = read_certificate((folder / "certificate.json").read_text(encoding="utf-8"))
    outcome = check(problem, network, certificate)
    return ("accepted", certificate.claim) if isinstance(outcome, Accepted) else ("refused", outcome.place)


def _taken(folder: Path, target: str | None) -> tuple[str, str]:
    if (folder / "case.json").exists():
        read_strictly(folder / "case.json")
        return "read", "case.json"
    networks = [read(file) for file in sorted(folder.glob("network.*"))]
    data = [read_data(file, target=target) for file in sorted(folder.glob("data.*"))]
    for network, points in zip(networks, data, strict=False):
        pose(network, points)
    return "read", ", ".join(sorted(file.name for file in folder.iterdir() if file.name != "meta.json"))


def _meta(file: Path) -> tuple[str, str, str | None]:
    value = parse(file.read_bytes(), str(file))
    if unknown := value.keys() - {"schema", "comment", "target", "expect"}:
        raise InputError(f"{file} holds {min(unknown)!r:.40}, which has no meaning here: leave it out")
    expect, target = value.get("expect"), value.get("target")
    if value.get("schema") != "rejected-1" or not isinstance(value.get("comment"), str):
        raise InputError(f"{file} must have the schema rejected-1 and a comment")
    if not isinstance(target, str | None):
        raise InputError(f"{file}: target must be the name of a CSV column")
    match expect:
        case {"refused": str(place), **rest} if not rest:
            return "refused", place, target
        case {"unreadable": str(text), **rest} if not rest:
            return "unreadable", text, target
        case _:
            raise InputError(f"{file}: expect must name the place where it is refused, or the text of the error")
