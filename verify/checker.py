"""The trusted checker: whether a certificate proves its claim about a problem and a network.

    check(problem, network, certificate) -> Accepted(certificate) | Refused(place, reason)

Standard library and exact arithmetic only; what the kinds claim, and how each is checked, is in `verify.certificate`
and `verify.enclosure_checks`.

Alone: `python -m verify.checker PROBLEM NETWORK CERTIFICATE` (canonical JSON files, NETWORK "-" when the kind has none)
prints `accepted: claim` or `refused: place: reason`; exit status 0 accepted, 1 refused, 2 unreadable.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, cast

import verify.certificate as kinds
from verify.certificate import Certificate
from verify.codec import MAX_SIZE, load_json, reader
from verify.enclosure_checks import StationaryNear
from verify.errors import CertificateError, InputError
from verify.statement import Network, Problem

_OF_NETWORKS = (kinds.Fits, kinds.DoesNotFit, kinds.Stationary, kinds.NotStationary, kinds.Local, kinds.NotLocal)
_OF_BOUNDS = (kinds.LowerBound, kinds.UpperBound, kinds.BetterNetwork, kinds.OptimalWithin, kinds.Infeasible)
KINDS: dict[str, type[Certificate]] = {kind.KIND: kind for kind in (*_OF_NETWORKS, StationaryNear, *_OF_BOUNDS)}


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

    Sound for every kind: what is accepted is true over the real numbers. A bad certificate is refused, not raised.
    """
    if not any(type(certificate) is kind for kind in KINDS.values()):  # == may lie
        return Refused("certificate", "is none of the certificate kinds")
    try:
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


def main(arguments: Sequence[str]) -> int:
    """Check one certificate in a file; returns the exit status."""
    if len(arguments) != 3:
        print("usage: python -m verify.checker PROBLEM NETWORK CERTIFICATE  (NETWORK - for none)", file=sys.stderr)
        return 2
    try:
        problem, network, proof = (None if name == "-" else load_json(_read(name)) for name in arguments)
        given = None if network is None else reader(Network)(network)
        result = check(reader(Problem)(problem), given, from_json(proof))
    except (OSError, ValueError, MemoryError) as error:  # the errors of isoptimal are ValueErrors
        print(f"unreadable: {error}", file=sys.stderr)
        return 2
    is_accepted = isinstance(result, Accepted)
    print(f"accepted: {result.certificate.claim}" if is_accepted else f"refused: {result.place}: {result.reason}")
    return 0 if is_accepted else 1


def _read(path: str) -> str:
    place = Path(path)
    if place.exists() and not place.is_file():  # a pipe may never end
        raise InputError(f"{path} is no regular file")
    with place.open(encoding="utf-8") as file:
        return file.read(MAX_SIZE + 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
