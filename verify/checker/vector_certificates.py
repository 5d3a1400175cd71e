"""The certificates about networks with several outputs: bounds, values, optimality.

A certificate holds the SHA-256 of its problem, and of its network where it speaks of one, and the claim that it proves.
Every kind is sound: what passes `check` is true over the real numbers; `check` raises CertificateError otherwise.

Source: `docs/vector.md`, and `docs/vector-certificates.md` for the fields.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from verify.checker.codec import Record, at, not_negative
from verify.checker.errors import CertificateError, require
from verify.checker.exact import value_text
from verify.checker.fit import REFUTED_ALL
from verify.checker.questions import NOTHING, PROVED, UP_TO_OWN, WITHIN_OWN, Answered, answered
from verify.checker.statement import Index
from verify.checker.vector_bounds import VectorDual
from verify.checker.vector_goals import ZERO, Ends
from verify.checker.vector_statement import (
    VectorNetwork,
    VectorProblem,
    objective_of,
    require_own_network,
    vector_outputs,
)

VectorTolerance = Annotated[Fraction, not_negative]


class VectorCertificate(Record):
    """SHA-256 of the canonical problem, of the network where it speaks of one ("" else), and the claim.

    CLAIM is filled in with the numbers of the certificate.   ANSWERS: what it says about the five questions, by
    `variant`.   IS_ABOUT_NETWORK: whether it speaks of a network.
    """

    SCHEMA = "vector-certificate-1"
    CLAIM: ClassVar[str] = ""
    ANSWERS: ClassVar[Mapping[str, Answered]] = MappingProxyType({"": NOTHING})
    IS_ABOUT_NETWORK: ClassVar[bool] = True

    problem: str = field(default="", kw_only=True)
    network: str = field(default="", kw_only=True)
    claim: str = field(default="", kw_only=True)

    def __init_subclass__(cls) -> None:
        cls.KIND = re.sub(r"\B(?=[A-Z])", "-", cls.__name__).lower()
        super().__init_subclass__()

    def examine(self, problem: VectorProblem, network: VectorNetwork | None) -> None:
        """Raise CertificateError unless this proves its claim about the problem and the network (None for none)."""
        require(self.problem == problem.sha256(), "problem", "the certificate is about another problem")
        require(self.claim == vector_claim(problem, self), "claim", "differs from what the certificate proves")
        if not self.IS_ABOUT_NETWORK:
            require(self.network == "", "network", "must be empty: the certificate speaks of none")
            self.check(problem, None)
            return
        if network is None:
            raise CertificateError("network", "the certificate speaks of a network, and none is given")
        require(self.network == network.sha256(), "network", "the certificate is about another network")
        require_own_network(problem, network, "network")
        self.check(problem, network)

    def check(self, problem: VectorProblem, network: Any) -> None:
        """Raise CertificateError unless the claim is true."""
        raise NotImplementedError

    def variant(self, problem: VectorProblem, network: VectorNetwork) -> str:  # noqa: ARG002
        """Which row of ANSWERS is this one's."""
        return ""

    @property
    def own_tolerance(self) -> Fraction:
        """T, the tolerance within which it answers."""
        return Fraction(0)

    @property
    def is_approximate(self) -> bool:
        """Whether it holds up to epsilon and delta only."""
        return False


class VectorBound(VectorDual, VectorCertificate):
    """No network of any width has an objective below `lower`."""

    CLAIM = "every network of any width has an objective of at least {lower}"
    IS_ABOUT_NETWORK = False
    lower: Annotated[Fraction, not_negative]

    def check(self, problem: VectorProblem, network: None) -> None:  # noqa: ARG002
        """Whether `lower` is what the multipliers prove, or, where that is irrational, at most what they do."""
        value = self.value(problem)
        is_bound = self.lower == value or (not problem.rules.IS_EXACT and self.lower <= value)
        require(is_bound, "lower", "must be the dual value of the scaled multipliers")


class VectorUpperBound(VectorCertificate):
    """`witness` has an objective of at most `upper`."""

    CLAIM = "a network of width {proof.witness.width} has an objective of at most {upper}"
    IS_ABOUT_NETWORK = False
    witness: VectorNetwork
    upper: Fraction

    def check(self, problem: VectorProblem, network: None) -> None:  # noqa: ARG002
        """Whether `upper` is at least the objective of the witness."""
        _, high = objective_of(problem, self.witness, "witness")
        require(self.upper >= high, "upper", "is below the objective of the witness")


class VectorValue(VectorCertificate):
    """The objective of the network is from `low` to `high`; of constraints, it fits."""

    CLAIM = "{fits}the objective of the network is from {low} to {high}"
    ANSWERS: ClassVar = {"": answered(PROVED)}
    low: Fraction
    high: Fraction

    def check(self, problem: VectorProblem, network: VectorNetwork) -> None:
        """Whether it is."""
        low, high = objective_of(problem, network, "network")
        require(self.low <= low and high <= self.high, "low", "the objective is not known to be in that interval")


class VectorDoesNotFit(VectorCertificate):
    """The network breaks the constraint of `point`."""

    CLAIM = "the network does not fit: it breaks the constraint of point {proof.point}"
    ANSWERS: ClassVar = {"": REFUTED_ALL}
    point: Index

    def check(self, problem: VectorProblem, network: VectorNetwork) -> None:
        """Whether the constraint of the point is broken."""
        require(not problem.rules.IS_LOSS, "problem", "has a loss, for which every network is compared")
        require(self.point < len(problem.targets), "point", "is none of the points")
        outputs = vector_outputs(problem, network)[self.point]
        is_broken = not problem.rules.is_met(problem.targets[self.point], outputs)
        require(is_broken, "point", "has its constraint met")


class VectorBetterNetwork(VectorCertificate):
    """The objective of `witness`, times 1 + `tolerance`, is below that of the network."""

    CLAIM = (
        "the network is beaten ({proof.scope}): a network of width {proof.witness.width} has an objective that is less "
        "after multiplication by 1 + {tolerance}"
    )
    ANSWERS: ClassVar = {
        "own-width": answered(PROVED, own_width=UP_TO_OWN, any_width=UP_TO_OWN),
        "any-width": answered(PROVED, any_width=UP_TO_OWN),
    }
    witness: VectorNetwork
    tolerance: VectorTolerance
    scope: Literal["own-width", "any-width"]

    def check(self, problem: VectorProblem, network: VectorNetwork) -> None:
        """Whether F(witness) (1 + tolerance) < F(network). Own width: no more neurons than the network."""
        _, high = objective_of(problem, self.witness, "witness")
        low, _ = objective_of(problem, network, "network")
        is_narrow = self.witness.width <= network.width or self.scope == "any-width"
        require(is_narrow, "scope", "the witness has more neurons than the network")
        require(high * (1 + self.tolerance) < low, "witness", "is not better by that much")

    def variant(self, problem: VectorProblem, network: VectorNetwork) -> str:  # noqa: ARG002
        """`scope`."""
        return self.scope

    @property
    def own_tolerance(self) -> Fraction:
        """`tolerance`."""
        return self.tolerance


class VectorOptimalWithin(VectorCertificate):
    """The objective of the network is at most 1 + `tolerance` times that of every network of any width."""

    CLAIM = "the objective of the network is at most 1 + {tolerance} times that of any network of any width"
    ANSWERS: ClassVar = {
        "": answered(PROVED, own_width=WITHIN_OWN, any_width=WITHIN_OWN),
        "at its bound": answered(PROVED, None, PROVED, PROVED, PROVED),
    }
    tolerance: VectorTolerance
    bound: VectorBound

    def check(self, problem: VectorProblem, network: VectorNetwork) -> None:
        """Whether F(network) <= (1 + tolerance) L, L proved by the bound."""
        at("bound", self.bound.examine, problem, None)
        _, high = objective_of(problem, network, "network")
        require(
            high <= (1 + self.tolerance) * self.bound.lower, "tolerance", "the objective is farther above the bound"
        )

    def variant(self, problem: VectorProblem, network: VectorNetwork) -> str:
        """Whether its objective is its bound: then no network is better, and none near it."""
        _, high = objective_of(problem, network, "network")
        return "at its bound" if high == self.bound.lower else ""

    @property
    def own_tolerance(self) -> Fraction:
        """`tolerance`."""
        return self.tolerance


def vector_about(problem: VectorProblem) -> str:
    """The problem in words."""
    points, decay = len(problem.inputs), problem.decay
    norm = f"1/2 ({value_text(decay.hidden)} ||W||^2 + {value_text(decay.output)} ||V||^2"
    if decay.output_bias is not None:
        norm += f" + {value_text(decay.output_bias)} ||b||^2"
    of_output = ", an output bias" if problem.rules.IS_LOSS else ", a free output bias"
    output_bias = "" if decay.output_bias is None else of_output
    asked = problem.rules.WORDS + (f" plus {norm})" if problem.rules.IS_LOSS else "")
    return (
        f"for the problem of {asked} ({points} points in dimension {len(problem.inputs[0])}, "
        f"{problem.outputs} outputs, slope {value_text(problem.slope)}, bias {problem.bias.value}{output_bias})"
    )


def vector_claim(problem: VectorProblem, proof: VectorCertificate) -> str:
    """The one sentence that an accepted certificate proves."""
    found: dict[str, Any] = {**vars(proof)}
    numbers = {name: value_text(number) for name, number in found.items() if isinstance(number, Fraction)}
    fits = "" if problem.rules.IS_LOSS else "the network fits, and "
    is_moved = found.get("subject") is not None
    who = "the subject, within {moved} of the network relative to its norm," if is_moved else "the network"
    said = proof.CLAIM.format(proof=proof, fits=fits, who=who.format(**numbers), **numbers)
    return f"{vector_about(problem)}, {said}, over the real numbers, about the exact values of the stored numbers"


def vector_bracket(
    problem: VectorProblem, certificates: Mapping[str, VectorCertificate], mine: Ends | None
) -> tuple[Fraction, Fraction | None]:
    """Bounds of the best objective over all widths, by accepted certificates and the network's own; 0 where none is
    proved from below, None where no network is known that fits.
    """
    proofs = certificates.values()
    lower = [proof.lower for proof in proofs if isinstance(proof, VectorBound)]
    lower += [proof.bound.lower for proof in proofs if isinstance(proof, VectorOptimalWithin)]
    upper = [proof.upper for proof in proofs if isinstance(proof, VectorUpperBound)]
    upper += [] if mine is None else [mine[1]]
    for proof in proofs:
        if isinstance(proof, VectorBetterNetwork):
            upper.append(objective_of(problem, proof.witness, "witness")[1])
    return max(lower, default=ZERO), min(upper, default=None)
