"""Whether a certificate about several outputs proves its claim, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, cast

from verify.checker.checking import Refused
from verify.checker.codec import load_json, reader
from verify.checker.errors import CertificateError, InputError
from verify.checker.questions import Answer, Question
from verify.checker.vector_certificates import (
    VectorBetterNetwork,
    VectorBound,
    VectorCertificate,
    VectorDoesNotFit,
    VectorOptimalWithin,
    VectorUpperBound,
    VectorValue,
)
from verify.checker.vector_statement import VectorNetwork, VectorProblem
from verify.checker.vector_stationary import VectorNotLocal, VectorNotStationary, VectorStationary

VECTOR_KINDS: Mapping[str, type[VectorCertificate]] = {
    kind.KIND: kind
    for kind in (
        VectorBound, VectorUpperBound, VectorValue, VectorDoesNotFit, VectorStationary, VectorNotStationary,
        VectorNotLocal, VectorBetterNetwork, VectorOptimalWithin,
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class VectorAccepted:
    """The certificate proves its claim."""

    certificate: VectorCertificate

    def __bool__(self) -> NoReturn:
        raise TypeError("what the checker says has no truth value: ask isinstance(result, VectorAccepted)")


def check_vector(
    problem: VectorProblem, network: VectorNetwork | None, certificate: VectorCertificate
) -> VectorAccepted | Refused:
    """Whether `certificate` proves its claim about `problem` and `network` (None for kinds that speak of none).

    Sound for every kind: what is accepted is true over the real numbers. A bad certificate is refused, not raised, and
    so are a problem and a network of classes that are derived from theirs.
    """
    if type(problem) is not VectorProblem or not (network is None or type(network) is VectorNetwork):
        return Refused("problem", "must be a VectorProblem, with a VectorNetwork or None")
    if not any(type(certificate) is kind for kind in VECTOR_KINDS.values()):
        return Refused("certificate", "is none of the certificate kinds of several outputs")
    try:
        certificate.examine(problem, network)
    except CertificateError as error:
        return Refused(error.place, error.reason)
    except InputError as error:  # of numbers that are too long
        return Refused("certificate", str(error))
    return VectorAccepted(certificate)


def read_vector_certificate(text: str) -> VectorCertificate:
    """The certificate that a JSON text holds; CertificateError names the place of the first fault."""
    value = load_json(text)
    kind = cast("dict[str, object]", value).get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in VECTOR_KINDS:
        raise CertificateError("kind", f"{kind!r:.60} is not one of {', '.join(VECTOR_KINDS)}")
    return reader(VECTOR_KINDS[kind])(value)


def vector_answers(
    problem: VectorProblem, network: VectorNetwork, certificate: VectorCertificate
) -> dict[Question, Answer]:
    """The answers of an accepted certificate; nothing about fitting where a loss is asked."""
    limits = {"0": Fraction(0), "T": certificate.own_tolerance, "any": None}
    row = certificate.ANSWERS[certificate.variant(problem, network)]
    left_out = {Question.FITS} if problem.rules.IS_LOSS else set[Question]()
    return {
        question: Answer(reply, limits[limit]) for question, (reply, limit) in row.items() if question not in left_out
    }
