"""Whether a certificate proves its claim about a problem and a network: the kinds that there are, and the check.

    check(problem, network, certificate) -> Accepted(certificate) | Refused(place, reason)

What a certificate is, is in `verify.checker.certificate`; what the kinds claim, and how each is checked, is in `fit`,
`stationary`, `local`, `bounds`, `optimal`, `width` and `enclosure` beside this file, and of any depth in
`depth_stationary`, `depth_local`, `curves`, `depth_bounds` and `depth_duals`, of single layers in `single_layers`.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, cast

from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.certificate import Certificate
from verify.checker.codec import MAX_SIZE, load_json, reader
from verify.checker.curves import NotLocalCurve
from verify.checker.depth_bounds import (
    DeepBetterNetwork,
    DeepOptimalWithin,
    DeepUpperBound,
    LowerBoundCrude,
    LowerBoundLinear,
    LowerBoundPooled,
)
from verify.checker.depth_duals import LowerBoundOneActivation, LowerBoundRelu
from verify.checker.depth_local import DeepLocal
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.depth_stationary import DeepNotStationary, DeepStationary
from verify.checker.enclosure import StationaryNear
from verify.checker.errors import CertificateError, InputError
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.given import require_own
from verify.checker.local import Local, NotLocal
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.single_layers import LayerBetter, LayerLocal, LayerNotLocal, LayerOptimal
from verify.checker.statement import Network, Problem
from verify.checker.stationary import NotStationary, Stationary
from verify.checker.width import DoesNotFitWidth, InfeasibleWidth, LowerBoundWidth, OptimalWithinWidth

_OF_NETWORKS = (Fits, DoesNotFit, Stationary, NotStationary, Local, NotLocal, StationaryNear)
_OF_BOUNDS = (LowerBound, UpperBound, BetterNetwork, OptimalWithin, Infeasible)
_OF_WIDTHS = (LowerBoundWidth, OptimalWithinWidth, InfeasibleWidth, DoesNotFitWidth)
_OF_ANY_DEPTH = (
    DeepStationary, DeepNotStationary, DeepLocal, DeepStationaryNear, NotLocalCurve,
    LowerBoundCrude, LowerBoundLinear, LowerBoundPooled, LowerBoundOneActivation, LowerBoundRelu,
    DeepUpperBound, DeepBetterNetwork, DeepOptimalWithin,
    LayerLocal, LayerNotLocal, LayerOptimal, LayerBetter,
)  # fmt: skip
KINDS: dict[str, type[Certificate]] = {
    kind.KIND: kind for kind in (*_OF_NETWORKS, *_OF_BOUNDS, *_OF_WIDTHS, *_OF_ANY_DEPTH)
}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The certificate proves its claim."""

    certificate: Certificate

    def __bool__(self) -> NoReturn:
        raise TypeError("what the checker says has no truth value: ask isinstance(result, Accepted)")


@dataclass(frozen=True, slots=True)
class Refused:
    """The certificate proves nothing: the first broken condition and its place."""

    place: str
    reason: str

    def __bool__(self) -> NoReturn:
        raise TypeError("what the checker says has no truth value: ask isinstance(result, Accepted)")


def check(problem: Problem, network: Network | None, certificate: Certificate) -> Accepted | Refused:
    """Whether `certificate` proves its claim about `problem` and `network` (None for kinds that speak of none).

    Sound for every kind: what is accepted is true over the real numbers. A bad certificate is refused, not raised, as
    are a problem and a network whose classes redefine what their fields say (`verify.checker.given`).
    """
    if not any(type(certificate) is kind for kind in KINDS.values()):  # == may lie
        return Refused("certificate", "is none of the certificate kinds")
    try:
        require_own(problem, network)
        certificate.examine(problem, network)
    except CertificateError as error:
        return Refused(error.place, error.reason)
    except InputError as error:  # of numbers that are too long
        return Refused("certificate", str(error))
    return Accepted(certificate)


def read_certificate(text: str) -> Certificate:
    """The certificate that a JSON text holds; CertificateError names the place of the first fault."""
    return from_json(load_json(text))


def from_json(value: object) -> Certificate:
    """The certificate that a JSON object describes; CertificateError names the place of the first fault."""
    kind = cast("dict[str, object]", value).get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise CertificateError("kind", f"{kind!r:.60} is not one of {', '.join(KINDS)}")
    return reader(KINDS[kind])(value)


class Files:
    """The files of a folder, where a file is read as what its SHA-256 is of: one that changes meanwhile is refused."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._digests: dict[str, str] = {}

    def has(self, name: str) -> bool:
        """Whether this is a regular file, or a link to one."""
        return (self.folder / name).is_file()

    def sha256(self, name: str) -> str:
        """The SHA-256 of the bytes that were read, or are read now, in hexadecimal."""
        if name not in self._digests:
            with (self.folder / name).open("rb") as file:
                self._digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._digests[name]

    def text(self, name: str) -> str:
        """The text of a file; InputError where it is too long to be taken, or has changed since it was read."""
        if not self.has(name):
            raise InputError(f"{self.folder / name} is no regular file")
        with (self.folder / name).open("rb") as file:
            content = file.read(MAX_SIZE + 1)
        if len(content) > MAX_SIZE:
            raise InputError(f"is longer than {MAX_SIZE} bytes")
        digest = hashlib.sha256(content).hexdigest()
        if self._digests.setdefault(name, digest) != digest:
            raise InputError("has changed while the folder was read")
        return content.decode("utf-8")


def read_text(path: Path) -> str:
    """The text of a regular file, up to one character more than is taken: a pipe may never end."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no regular file")
    with path.open(encoding="utf-8") as file:
        return file.read(MAX_SIZE + 1)
