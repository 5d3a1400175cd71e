"""Is the network a global optimum within a tolerance: its bound proves it, a better network refutes it."""

from collections import Counter
from fractions import Fraction
from typing import ClassVar, Literal

from verify.checker.bounds import LowerBound, witness_value
from verify.checker.certificate import ALL_TRAINED_WITH_LOSSES, WITH_LOSSES, NotNegative, WithSubject
from verify.checker.codec import at
from verify.checker.errors import require
from verify.checker.fit import objective_at, objective_least_at
from verify.checker.questions import PROVED, UP_TO_OWN, WITHIN_OWN, answered
from verify.checker.statement import Network, Problem, objective


class OptimalWithin(WithSubject):
    """The network's objective is at most (1 + `tolerance`) times the bound that `lower` proves."""

    DECIDES = ALL_TRAINED_WITH_LOSSES
    ANSWERS: ClassVar = {
        "": answered(PROVED, own_width=WITHIN_OWN, any_width=WITHIN_OWN),
        "at its bound": answered(PROVED, PROVED, PROVED, PROVED, PROVED),
    }
    CLAIM = "{who} fits, and its objective is at most 1 + {tolerance} times that of any network of any width that fits"
    LOSS_CLAIM = "the objective of {who} is at most 1 + {tolerance} times that of any network of any width"
    tolerance: NotNegative
    lower: LowerBound

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether objective(subject) <= (1 + tolerance) L, L proved by the lower bound."""
        at("lower", self.lower.examine, problem, None)
        is_within = objective_at(problem, subject) <= (1 + self.tolerance) * (self.lower.bracket[0] or 0)
        require(is_within, "tolerance", "the objective is farther above the lower bound")

    def variant(self, problem: Problem, network: Network) -> str:
        """Whether its objective is its bound: then no network is better, and none near it."""
        subject = network if self.subject is None else Network(network.architecture, self.subject)
        return "at its bound" if objective(problem, subject) == self.lower.bracket[0] else ""

    def own_tolerance(self, problem: Problem) -> Fraction:  # noqa: ARG002
        """`tolerance`."""
        return self.tolerance


class BetterNetwork(WithSubject):
    """`witness` fits, and its objective times 1 + `tolerance` is below the network's."""

    DECIDES = WITH_LOSSES
    ANSWERS: ClassVar = {
        "own-width": answered(PROVED, own_width=UP_TO_OWN, any_width=UP_TO_OWN),
        "any-width": answered(PROVED, any_width=UP_TO_OWN),
    }
    CLAIM = (
        "{who} is beaten ({proof.scope}): another of width {proof.witness.architecture.layers[0].outputs} fits, "
        "and its objective times 1 + {tolerance} is less"
    )
    LOSS_CLAIM = (
        "{who} is beaten ({proof.scope}): the objective of another of width "
        "{proof.witness.architecture.layers[0].outputs} times 1 + {tolerance} is less"
    )
    witness: Network
    tolerance: NotNegative
    scope: Literal["own-width", "any-width"]

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the witness is better by more than the tolerance. Own width: per mask class."""
        found = witness_value(problem, self.witness)
        is_narrow = Counter(self.witness.architecture.masks) <= Counter(problem.architecture.masks)
        is_narrow = is_narrow or self.scope == "any-width"
        require(is_narrow, "scope", "the witness is wider, by mask class")
        is_asked = self.scope == "own-width" or problem.asks_any_width
        require(is_asked, "scope", "any width is not asked where the output weights are not trained")
        mine = objective_least_at(problem, subject)
        require(found * (1 + self.tolerance) < mine, "witness", "is not better by that much")

    def variant(self, problem: Problem, network: Network) -> str:  # noqa: ARG002
        """`scope`."""
        return self.scope

    def own_tolerance(self, problem: Problem) -> Fraction:  # noqa: ARG002
        """`tolerance`."""
        return self.tolerance
