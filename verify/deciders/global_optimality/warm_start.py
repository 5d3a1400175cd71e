"""Resuming a search from the certificates of an earlier audit: its multipliers, its bound and its networks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeVar, final

from verify.checker import read_certificate
from verify.checker.bounds import LowerBound, UpperBound
from verify.checker.codec import MAX_SIZE, load_json
from verify.checker.errors import CertificateError, InputError
from verify.checker.width import LowerBoundWidth
from verify.deciders.proposal import certified
from verify.files.reading import read_bytes
from verify.numbers.arguments import a_path
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["WarmStart", "read_warm_start"]

_NETWORKS = ("better.network.json", "better-own-width.network.json")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStart:
    """What an earlier audit knew of the problem.

    lower: its bound, when the checker accepts it for this problem.   multipliers: (point, lambda) to start from.
    witnesses: networks of the problem's inputs, slope and bias, whose activation patterns start the primal.
    lower_width: its bound of the width, likewise.
    note: what of it does not apply to this problem, "" when it is about the same data and question.
    """

    lower: LowerBound | None = None
    multipliers: tuple[tuple[int, Fraction], ...] = ()
    witnesses: tuple[Network, ...] = ()
    note: str = ""
    lower_width: LowerBoundWidth | None = None


def read_warm_start(folder: str | Path, problem: Problem) -> WarmStart:
    """Read `folder`, written by `Audit.save`; InputError when it is no such folder or a file in it is broken.

    An audit of another network, width or subset of the questions on the same data helps as well: only its bound is left
    out, unless it is about this very problem. Nothing is trusted: every bound is proved or checked again.
    """
    place = a_path(folder, "warm_start")
    if not (place / "problem.json").is_file():
        raise InputError(f"{folder} holds no problem.json: give a folder that --certificates or Audit.save wrote")
    lower = _read(place / "lower-bound.json", LowerBound)
    upper = _read(place / "upper-bound.json", UpperBound)
    found = [] if upper is None else [Network.of(upper.witness)]
    found += [_network(place / name) for name in _NETWORKS if (place / name).is_file()]
    shape = problem.architecture
    fitting = [
        network
        for network in dict.fromkeys(found)
        if (network.architecture.inputs, network.architecture.slope, network.architecture.bias)
        == (shape.inputs, shape.slope, shape.bias)
        and network.architecture.limits() is None
        and set(network.architecture.masks) <= set(problem.mask_classes)
    ]
    multipliers = () if lower is None else tuple((i, m) for i, m in lower.multipliers if i < len(problem.data))
    accepted = None
    if lower is not None and lower.problem == problem.sha256():
        accepted = certified(problem, None, lower)
    of_width = _read(place / "lower-bound-width.json", LowerBoundWidth)
    known = None
    if of_width is not None and of_width.problem == problem.sha256():
        known = certified(problem, None, of_width)
    note = _difference(_problem(place / "problem.json"), problem, str(folder))
    return WarmStart(lower=accepted, multipliers=multipliers, witnesses=tuple(fitting), note=note, lower_width=known)


def _difference(theirs: Problem, ours: Problem, folder: str) -> str:
    shapes = theirs.architecture, ours.architecture
    differences = {
        "other data": theirs.data != ours.data,
        "another goal": theirs.goal != ours.goal,
        "another bias mode": theirs.bias is not ours.bias,
        "another output bias": theirs.output_bias is not ours.output_bias,
        "another slope": shapes[0].slope != shapes[1].slope,
        "another fit tolerance": theirs.fit_tolerance != ours.fit_tolerance,
        "other layers trained": theirs.trained is not ours.trained,
        "other output weights": theirs.output_weights != ours.output_weights,
    }
    found = [what for what, differs in differences.items() if differs]
    if not found:
        return ""
    return (
        f"the warm start {folder} is of an audit with {' and '.join(found)}, and does not apply: its bound is left "
        "out, its multipliers and networks are a first guess only"
    )


def _problem(path: Path) -> Problem:
    try:
        return Problem.from_json(load_json(_text(path)), str(path))
    except CertificateError as error:
        raise InputError(f"{path}: {error}") from None


_C = TypeVar("_C", LowerBound, UpperBound, LowerBoundWidth)


def _read(path: Path, kind: type[_C]) -> _C | None:
    if not path.is_file():
        return None
    try:
        certificate = read_certificate(_text(path))
    except CertificateError as error:
        raise InputError(f"{path}: {error}") from None
    if not isinstance(certificate, kind):
        raise InputError(f"{path} is no {kind.__name__} certificate: give a folder that --certificates wrote")
    return certificate


def _network(path: Path) -> Network:
    try:
        return Network.from_json(load_json(_text(path)), str(path))
    except CertificateError as error:
        raise InputError(f"{path}: {error}") from None


def _text(path: Path) -> str:
    try:
        return read_bytes(path, MAX_SIZE, remedy="it was not written by isoptimal").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error}): give a folder that --certificates wrote") from None
